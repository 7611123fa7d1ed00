//! Timers, subscriptions, messages and signals: what a tick needs of them, and their upkeep.

use std::collections::BTreeMap;

use engine::{DefinitionKey, ElementKey, InstanceKey, PartitionId, TimerKey, WaitKey};
use model::ElementIx;
use store::row::{
    LockName, Message, MessageLock, Signal, Subscription, SubscriptionKind, SubscriptionState, Timer, TimerState, WaitOrigin,
};
use store::{Broken, Error, GROUP_MAX, Loaded, LoadedGroup, MessageGroup, Millis, Wanted, format, words};
use tokio_postgres::Row;

use crate::Postgres;
use crate::call::Call;
use crate::load::{broken, by_keys};
use crate::reading::{Reading, cell};
use crate::user_tasks;

/// The statements of these, each with what it is for: nothing is sent for what nobody wants.
pub(crate) struct Asked<'a> {
    pub(crate) calls: Vec<Call<'a>>,
    parts: Vec<Part>,
    groups: Vec<&'a MessageGroup>,
}

#[derive(Debug, Clone, Copy)]
enum Part {
    Timers,
    Subscriptions,
    UserTasks,
    GroupSubscriptions,
    GroupMessages,
    Messages,
    Locks,
    Signals,
}

impl<'a> Asked<'a> {
    pub(crate) fn of(partition: PartitionId, wanted: &'a Wanted, now: Millis) -> Self {
        let mut groups: Vec<&MessageGroup> = wanted.groups.iter().collect();
        let mut asked = std::collections::BTreeSet::new();
        groups.retain(|group| asked.insert(*group));
        let keyed = |sql, keys: Vec<u64>| by_keys(sql, partition, keys.into_iter()).pop();
        let (timers, subscriptions) = (wanted.timers.iter().map(|key| key.0), wanted.subscriptions.iter().map(|key| key.0));
        let user_tasks = wanted.user_tasks.iter().map(|key| key.0);
        let locks_of = wanted.locks_of.iter().map(|key| key.0);
        let parts = [
            (Part::Timers, keyed(include_str!("../sql/load_timers.sql"), timers.collect())),
            (Part::Subscriptions, keyed(include_str!("../sql/load_subscriptions.sql"), subscriptions.collect())),
            (Part::Subscriptions, starts(partition, wanted)),
            (Part::UserTasks, keyed(include_str!("../sql/load_user_tasks.sql"), user_tasks.collect())),
            (Part::GroupSubscriptions, of_groups(include_str!("../sql/load_group_subscriptions.sql"), partition, &groups)),
            (
                Part::GroupMessages,
                of_groups(include_str!("../sql/load_group_messages.sql"), partition, &groups).map(|call| call.int(now)),
            ),
            (Part::Messages, keyed(include_str!("../sql/load_messages.sql"), wanted.messages.clone()).map(|call| call.int(now))),
            (Part::Locks, locks(partition, wanted)),
            (Part::Locks, keyed(include_str!("../sql/load_locks_of.sql"), locks_of.collect())),
            (Part::Signals, keyed(include_str!("../sql/load_signals.sql"), wanted.signals.clone())),
        ];
        let (parts, calls) = parts.into_iter().filter_map(|(part, call)| Some((part, call?))).unzip();
        Self { calls, parts, groups }
    }

    /// Reads the answers to the calls. A row that cannot be read is named, and left out.
    pub(crate) fn read(self, answers: &[Vec<Row>], loaded: &mut Loaded) -> Result<(), Error> {
        let groups = self.groups.into_iter().cloned();
        loaded.groups = groups.map(|group| LoadedGroup { group, subscriptions: Vec::new(), messages: Vec::new() }).collect();
        let Loaded { timers, subscriptions, user_tasks, groups, messages, locks, signals, broken, .. } = loaded;
        let (mut open, mut held) = (BTreeMap::<WaitKey, Subscription>::new(), BTreeMap::<LockName, MessageLock>::new());
        for (part, rows) in self.parts.into_iter().zip(answers) {
            for row in rows {
                match part {
                    Part::Timers => timers.extend(whole("timers", row, timer, broken)?),
                    Part::Subscriptions => {
                        open.extend(whole("subscriptions", row, alone, broken)?.map(|row| (row.key, row)));
                    }
                    Part::UserTasks => user_tasks.extend(whole("user_tasks", row, user_tasks::user_task, broken)?),
                    Part::GroupSubscriptions => {
                        let group = &mut groups[cell::<i64>(row, ALONE_COLUMNS)? as usize - 1];
                        group.subscriptions.extend(whole("subscriptions", row, alone, broken)?);
                    }
                    Part::GroupMessages => {
                        let group = &mut groups[cell::<i64>(row, MESSAGE_COLUMNS)? as usize - 1];
                        group.messages.extend(whole("messages", row, message, broken)?);
                    }
                    Part::Messages => messages.extend(whole("messages", row, message, broken)?),
                    Part::Locks => {
                        let row = lock(row)?;
                        held.insert(row.name(), row);
                    }
                    Part::Signals => signals.extend(whole("signals", row, signal, broken)?),
                }
            }
        }
        subscriptions.extend(open.into_values());
        locks.extend(held.into_values());
        Ok(())
    }
}

fn whole<T>(
    table: &str,
    row: &Row,
    read: fn(&Row) -> Result<T, Error>,
    unreadable: &mut Vec<Broken>,
) -> Result<Option<T>, Error> {
    match read(row) {
        Ok(one) => Ok(Some(one)),
        Err(error) => {
            unreadable.push(broken(table, row, cell::<i64>(row, 0)? as u64, error)?);
            Ok(None)
        }
    }
}

fn starts(partition: PartitionId, wanted: &Wanted) -> Option<Call<'_>> {
    wanted.starts.first()?;
    let call = Call::new(include_str!("../sql/load_message_starts.sql"))
        .int(partition.0.into())
        .texts(wanted.starts.iter().map(|(tenant, _)| &**tenant))
        .texts(wanted.starts.iter().map(|(_, name)| &**name))
        .limit(GROUP_MAX);
    Some(call)
}

fn of_groups<'a>(sql: &'static str, partition: PartitionId, groups: &[&'a MessageGroup]) -> Option<Call<'a>> {
    groups.first()?;
    let call = Call::new(sql)
        .int(partition.0.into())
        .texts(groups.iter().map(|group| &*group.tenant))
        .texts(groups.iter().map(|group| &*group.name))
        .texts(groups.iter().map(|group| &*group.correlation_key))
        .limit(GROUP_MAX);
    Some(call)
}

fn locks(partition: PartitionId, wanted: &Wanted) -> Option<Call<'_>> {
    wanted.locks.first()?;
    let call = Call::new(include_str!("../sql/load_locks.sql"))
        .int(partition.0.into())
        .texts(wanted.locks.iter().map(|(tenant, _, _)| &**tenant))
        .texts(wanted.locks.iter().map(|(_, process_id, _)| &**process_id))
        .texts(wanted.locks.iter().map(|(_, _, correlation_key)| &**correlation_key));
    Some(call)
}

impl Postgres {
    pub(crate) async fn starts_of_definition(&self, definition: DefinitionKey) -> Result<(Vec<Timer>, Vec<Subscription>), Error> {
        let timers = self.owner.query(Call::new(include_str!("../sql/starting_timers.sql")).key(definition.0)).await?;
        let subscriptions = Call::new(include_str!("../sql/starting_subscriptions.sql")).key(definition.0);
        let subscriptions = self.owner.query(subscriptions).await?;
        let timers = timers.iter().map(timer).collect::<Result<_, _>>()?;
        Ok((timers, subscriptions.iter().map(alone).collect::<Result<_, _>>()?))
    }

    pub(crate) async fn subscriptions_to_signal(
        &self,
        partition: PartitionId,
        (tenant, name): (&str, &str),
        (after, up_to): (WaitKey, WaitKey),
        limit: usize,
    ) -> Result<Vec<Subscription>, Error> {
        let call = Call::new(include_str!("../sql/signal_subscriptions.sql"))
            .int(partition.0.into())
            .text(tenant)
            .text(name)
            .key(after.0)
            .key(up_to.0)
            .limit(limit);
        self.owner.query(call).await?.iter().map(alone).collect()
    }

    pub(crate) async fn starts_by_condition(
        &self,
        partition: PartitionId,
        tenant: &str,
        limit: usize,
    ) -> Result<Vec<Subscription>, Error> {
        let call = Call::new(include_str!("../sql/condition_starts.sql")).int(partition.0.into()).text(tenant).limit(limit);
        self.owner.query(call).await?.iter().map(alone).collect()
    }
}

/// What timers and subscriptions have in common comes first.
struct Common {
    key: u64,
    origin: Option<WaitOrigin>,
    definition: DefinitionKey,
    tenant: std::sync::Arc<str>,
    element: ElementIx,
}

fn common(row: &mut Reading<'_>) -> Result<Common, Error> {
    Ok(Common {
        key: row.key()?,
        origin: origin(row)?,
        definition: DefinitionKey(row.key()?),
        tenant: row.text()?,
        element: ElementIx(row.get::<i32>()? as u32),
    })
}

/// Both columns are there, or neither.
fn origin(row: &mut Reading<'_>) -> Result<Option<WaitOrigin>, Error> {
    match (row.key_maybe()?, row.key_maybe()?) {
        (None, None) => Ok(None),
        (Some(instance), Some(element)) => {
            Ok(Some(WaitOrigin { instance: InstanceKey(instance), element_instance: ElementKey(element) }))
        }
        (None, Some(_)) | (Some(_), None) => Err(Error::corrupt("a part of where it belongs is missing")),
    }
}

pub(crate) fn timer(row: &Row) -> Result<Timer, Error> {
    let mut row = Reading::of(row);
    let Common { key, origin, definition, tenant, element } = common(&mut row)?;
    let (state, kind, created) = (TimerState::from_word(row.get()?)?, words::timer_kind_from_word(row.get()?)?, row.get()?);
    Ok(Timer {
        key: TimerKey(key),
        wait: WaitKey(row.key()?),
        origin,
        definition,
        tenant,
        element,
        kind,
        text: row.text()?,
        armed: row.get()?,
        number: row.get::<i32>()? as u32,
        due: row.get()?,
        state,
        created,
        ended: row.get()?,
    })
}

/// How many columns timers have of their own.
const TIMER_COLUMNS: usize = 6;
/// How many columns there are of a subscription that is not among other waits, and of a message.
const ALONE_COLUMNS: usize = 15;
const MESSAGE_COLUMNS: usize = 9;

/// A subscription among other waits: a timer's columns come before its own.
pub(crate) fn subscription(row: &Row) -> Result<Subscription, Error> {
    subscription_after(row, TIMER_COLUMNS)
}

fn alone(row: &Row) -> Result<Subscription, Error> {
    subscription_after(row, 0)
}

fn subscription_after(row: &Row, others: usize) -> Result<Subscription, Error> {
    let mut row = Reading::of(row);
    let Common { key, origin, definition, tenant, element } = common(&mut row)?;
    let (state, kind) = (SubscriptionState::from_word(row.get()?)?, SubscriptionKind::from_word(row.get()?)?);
    let created = row.get()?;
    row.skip(others);
    Ok(Subscription {
        key: WaitKey(key),
        kind,
        name: row.text()?,
        correlation_key: row.text()?,
        child: row.key_maybe()?.map(InstanceKey),
        tenant,
        definition,
        process_id: row.text()?,
        element,
        catches: row.get()?,
        origin,
        state,
        created,
        updated: row.get()?,
    })
}

fn message(row: &Row) -> Result<Message, Error> {
    let mut row = Reading::of(row);
    Ok(Message {
        key: row.key()?,
        tenant: row.text()?,
        name: row.text()?,
        correlation_key: row.text()?,
        message_id: row.text()?,
        variables: format::decode_document(row.get()?)?,
        published: row.get()?,
        expires: row.get()?,
        taken_by: words::tags_from_text(row.get()?).into_iter().map(Into::into).collect(),
    })
}

fn lock(row: &Row) -> Result<MessageLock, Error> {
    let mut row = Reading::of(row);
    let (tenant, process_id, correlation_key) = (row.text()?, row.text()?, row.text()?);
    Ok(MessageLock { tenant, process_id, correlation_key, instance: InstanceKey(row.key()?) })
}

fn signal(row: &Row) -> Result<Signal, Error> {
    let mut row = Reading::of(row);
    Ok(Signal {
        key: row.key()?,
        tenant: row.text()?,
        name: row.text()?,
        variables: format::decode_document(row.get()?)?,
        after: row.key()?,
        due: row.get()?,
    })
}
