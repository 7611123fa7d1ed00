//! Timers, subscriptions, messages and signals.

use std::collections::{BTreeMap, BTreeSet};

use engine::{DefinitionKey, ElementKey, InstanceKey, PartitionId, TimerKey, WaitKey};
use model::ElementIx;
use rusqlite::{Connection, Params, Row, params};
use store::row::{
    LockName, Message, MessageLock, Signal, Subscription, SubscriptionKind, SubscriptionState, Timer, TimerState, WaitOrigin,
};
use store::{Broken, Error, GROUP_MAX, Loaded, LoadedGroup, Millis, Wanted, format, words};

use super::load::{key_at, key_maybe, text_at};
use crate::failure::Failure;
use crate::statement;

/// Adds what is wanted of these. A row that cannot be read is named, and left out.
pub(super) fn load(
    connection: &Connection,
    partition: PartitionId,
    wanted: &Wanted,
    now: Millis,
    loaded: &mut Loaded,
) -> Result<(), Failure> {
    let Loaded { timers, subscriptions, groups, messages, locks, signals, broken, .. } = loaded;
    let mut rows = Rows { connection, broken };
    let of = partition.0;
    for key in BTreeSet::from_iter(&wanted.timers) {
        timers.extend(rows.read(statement::PENDING_TIMER, "timers", params![of, key.0 as i64], timer)?);
    }
    let mut found: BTreeMap<WaitKey, Subscription> = BTreeMap::new();
    for key in BTreeSet::from_iter(&wanted.subscriptions) {
        let one = rows.read(statement::OPEN_SUBSCRIPTION, "subscriptions", params![of, key.0 as i64], subscription)?;
        found.extend(one.into_iter().map(|row| (row.key, row)));
    }
    for (tenant, name) in BTreeSet::from_iter(&wanted.starts) {
        let which = params![of, tenant, name, GROUP_MAX as i64];
        let starts = rows.read(statement::MESSAGE_STARTS, "subscriptions", which, subscription)?;
        found.extend(starts.into_iter().map(|row| (row.key, row)));
    }
    subscriptions.extend(found.into_values());
    let mut asked = BTreeSet::new();
    for group in wanted.groups.iter().filter(|group| asked.insert(*group)) {
        let (tenant, name, correlation_key, max) = (&group.tenant, &group.name, &group.correlation_key, GROUP_MAX as i64);
        let which = params![of, tenant, name, correlation_key, max];
        let subscriptions = rows.read(statement::GROUP_SUBSCRIPTIONS, "subscriptions", which, subscription)?;
        let which = params![of, tenant, name, correlation_key, now, max];
        let messages = rows.read(statement::GROUP_MESSAGES, "messages", which, message)?;
        groups.push(LoadedGroup { group: group.clone(), subscriptions, messages });
    }
    for key in BTreeSet::from_iter(&wanted.messages) {
        messages.extend(rows.read(statement::MESSAGE, "messages", params![of, *key as i64, now], message)?);
    }
    let mut held: BTreeMap<LockName, MessageLock> = BTreeMap::new();
    for (tenant, process_id, correlation_key) in &wanted.locks {
        let which = params![of, tenant, process_id, correlation_key];
        held.extend(rows.read(statement::LOCK, "message_locks", which, lock)?.into_iter().map(|row| (row.name(), row)));
    }
    for key in &wanted.locks_of {
        let of_instance = rows.read(statement::LOCKS_OF_INSTANCE, "message_locks", params![of, key.0 as i64], lock)?;
        held.extend(of_instance.into_iter().map(|row| (row.name(), row)));
    }
    locks.extend(held.into_values());
    for key in BTreeSet::from_iter(&wanted.signals) {
        signals.extend(rows.read(statement::SIGNAL, "signals", params![of, *key as i64], signal)?);
    }
    Ok(())
}

pub(crate) fn starts_of(connection: &Connection, definition: DefinitionKey) -> Result<(Vec<Timer>, Vec<Subscription>), Failure> {
    let which = [definition.0 as i64];
    let timers = all(connection, statement::STARTING_TIMERS, which, timer)?;
    Ok((timers, all(connection, statement::STARTING_SUBSCRIPTIONS, which, subscription)?))
}

pub(crate) fn signal_subscriptions(
    connection: &Connection,
    partition: PartitionId,
    (tenant, name): (&str, &str),
    (after, up_to): (WaitKey, WaitKey),
    limit: usize,
) -> Result<Vec<Subscription>, Failure> {
    let which = params![partition.0, tenant, name, after.0 as i64, up_to.0 as i64, limit as i64];
    all(connection, statement::SIGNAL_SUBSCRIPTIONS, which, subscription)
}

pub(crate) fn condition_starts(
    connection: &Connection,
    partition: PartitionId,
    tenant: &str,
    limit: usize,
) -> Result<Vec<Subscription>, Failure> {
    all(connection, statement::CONDITION_STARTS, params![partition.0, tenant, limit as i64], subscription)
}

type Read<T> = fn(&Row<'_>) -> Result<T, Failure>;

fn all<T>(connection: &Connection, sql: &str, which: impl Params, read: Read<T>) -> Result<Vec<T>, Failure> {
    let mut select = connection.prepare_cached(sql)?;
    let mut rows = select.query(which)?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        all.push(read(row)?);
    }
    Ok(all)
}

struct Rows<'a> {
    connection: &'a Connection,
    broken: &'a mut Vec<Broken>,
}

impl Rows<'_> {
    fn read<T>(&mut self, sql: &str, table: &str, which: impl Params, read: Read<T>) -> Result<Vec<T>, Failure> {
        let mut select = self.connection.prepare_cached(sql)?;
        let mut rows = select.query(which)?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            match read(row).map_err(Error::from) {
                Ok(one) => all.push(one),
                Err(Error::Corrupt { what }) => {
                    let key = key_at(row, 0).unwrap_or(0);
                    self.broken.push(Broken { key, what: format!("{table} {key}: {what}") });
                }
                Err(other) => return Err(other.into()),
            }
        }
        Ok(all)
    }
}

pub(super) fn timer(row: &Row<'_>) -> Result<Timer, Failure> {
    Ok(Timer {
        key: TimerKey(key_at(row, 0)?),
        wait: WaitKey(key_at(row, 1)?),
        origin: origin(row, 2)?,
        definition: DefinitionKey(key_at(row, 4)?),
        tenant: row.get(5)?,
        element: ElementIx(row.get(6)?),
        kind: words::timer_kind_from_word(text_at(row, 7)?)?,
        text: row.get(8)?,
        armed: row.get(9)?,
        number: row.get(10)?,
        due: row.get(11)?,
        state: TimerState::from_word(text_at(row, 12)?)?,
        created: row.get(13)?,
        ended: row.get(14)?,
    })
}

pub(super) fn subscription(row: &Row<'_>) -> Result<Subscription, Failure> {
    Ok(Subscription {
        key: WaitKey(key_at(row, 0)?),
        kind: SubscriptionKind::from_word(text_at(row, 1)?)?,
        name: row.get(2)?,
        correlation_key: row.get(3)?,
        child: key_maybe(row, 4)?.map(InstanceKey),
        tenant: row.get(5)?,
        definition: DefinitionKey(key_at(row, 6)?),
        process_id: row.get(7)?,
        element: ElementIx(row.get(8)?),
        catches: row.get(9)?,
        origin: origin(row, 10)?,
        state: SubscriptionState::from_word(text_at(row, 12)?)?,
        created: row.get(13)?,
        updated: row.get(14)?,
    })
}

/// Two columns, which are both there or neither.
fn origin(row: &Row<'_>, column: usize) -> Result<Option<WaitOrigin>, Failure> {
    let Some(instance) = key_maybe(row, column)? else { return Ok(None) };
    let element_instance = ElementKey(key_at(row, column + 1)?);
    Ok(Some(WaitOrigin { instance: InstanceKey(instance), element_instance }))
}

fn message(row: &Row<'_>) -> Result<Message, Failure> {
    Ok(Message {
        key: key_at(row, 0)?,
        tenant: row.get(1)?,
        name: row.get(2)?,
        correlation_key: row.get(3)?,
        message_id: row.get(4)?,
        variables: format::decode_document(row.get_ref(5)?.as_blob().map_err(rusqlite::Error::from)?)?,
        published: row.get(6)?,
        expires: row.get(7)?,
        taken_by: words::tags_from_text(text_at(row, 8)?).into_iter().map(Into::into).collect(),
    })
}

fn lock(row: &Row<'_>) -> Result<MessageLock, Failure> {
    let (tenant, process_id, correlation_key) = (row.get(0)?, row.get(1)?, row.get(2)?);
    Ok(MessageLock { tenant, process_id, correlation_key, instance: InstanceKey(key_at(row, 3)?) })
}

fn signal(row: &Row<'_>) -> Result<Signal, Failure> {
    Ok(Signal {
        key: key_at(row, 0)?,
        tenant: row.get(1)?,
        name: row.get(2)?,
        variables: format::decode_document(row.get_ref(3)?.as_blob().map_err(rusqlite::Error::from)?)?,
        after: key_at(row, 4)?,
        due: row.get(5)?,
    })
}
