//! Messages: to whom they go, now or while they are kept.
//!
//! All that wait for a message, and all messages of the same name and correlation key that are kept, are one **group**, loaded as a
//! whole: who comes first is decided in memory. A message goes to each process at most once, and starts one only if no instance
//! that a message with this correlation key started is running.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::{Document, InstanceKey, MessageThrown, Triggered, WaitKey};
use model::{Process, Trigger};
use store::log::{Answer, Code, Publish};
use store::row::{self, LockName, SubscriptionState};
use store::{MessageGroup, MessageTaken, Millis};

use super::Partition;
use super::needs::Needs;
use super::tick::Tick;
use super::unit::Stop;
use crate::hot::Lock;

/// How many messages of one name and correlation key are kept.
const MESSAGES_MAX: usize = store::GROUP_MAX - 1;

/// Groups are kept in memory by their number; of those whose messages have more bytes of variables than this the bytes are counted too.
const GROUP_BYTES_MAX: usize = 512;

/// Who waits for messages of one name and correlation key, and those that are kept.
#[derive(Debug, Clone, Default)]
pub(crate) struct Group {
    /// In the order in which they began to wait.
    pub(super) subscriptions: Vec<WaitKey>,
    /// In the order in which they came.
    pub(super) messages: Vec<Arc<row::Message>>,
}

impl Group {
    pub(super) fn bytes(&self) -> usize {
        let variables = self.messages.iter().flat_map(|message| &message.variables);
        variables.map(|(name, value)| name.len() + value.len()).sum()
    }
}

/// The large groups in memory, with their bytes.
#[derive(Debug, Default)]
pub(super) struct LargeGroups {
    bytes: BTreeMap<MessageGroup, usize>,
    total: usize,
}

impl LargeGroups {
    pub(super) fn note(&mut self, name: &MessageGroup, bytes: usize) {
        self.total -= self.bytes.remove(name).unwrap_or_default();
        if GROUP_BYTES_MAX < bytes {
            self.total += bytes;
            self.bytes.insert(name.clone(), bytes);
        }
    }

    /// All of them, if they are more than memory has room for: they are read again when they are needed.
    pub(super) fn too_many(&mut self, bytes_max: usize) -> Vec<MessageGroup> {
        if self.total <= bytes_max {
            return Vec::new();
        }
        self.total = 0;
        std::mem::take(&mut self.bytes).into_keys().collect()
    }
}

pub(super) fn group_of(row: &row::Subscription) -> MessageGroup {
    MessageGroup { tenant: row.tenant.clone(), name: row.name.clone(), correlation_key: row.correlation_key.clone() }
}

impl Partition {
    pub(super) fn publish(&mut self, tick: &mut Tick, publish: &Publish) -> Result<Answer, Stop> {
        let (message, _) = self.distribute(tick, publish)?;
        Ok(Answer::Published { key: message, tenant: publish.tenant.clone() })
    }

    /// A message that somebody must be waiting for.
    pub(super) fn correlate(&mut self, tick: &mut Tick, publish: &Publish) -> Result<Answer, Stop> {
        let publish = Publish { time_to_live: 0, ..publish.clone() };
        let (key, first) = self.distribute(tick, &publish)?;
        let missing = || {
            let Publish { name, correlation_key, .. } = &publish;
            Stop::not_found(format!(
                "Expected to find subscription for message with name '{name}' and correlation key '{correlation_key}', but none was \
                 found"
            ))
        };
        let instance = first.ok_or_else(missing)?;
        Ok(Answer::Correlated { key, instance, tenant: publish.tenant.clone() })
    }

    /// A message that an instance throws; one whose id is taken has been thrown already.
    pub(super) fn publish_thrown(&mut self, tick: &mut Tick, instance: InstanceKey, thrown: &MessageThrown) -> Result<(), Stop> {
        let Some(hot) = self.hot.get(instance) else { return Ok(()) };
        let publish = Publish {
            tenant: hot.definition.row.tenant.clone(),
            name: thrown.name.clone(),
            correlation_key: thrown.correlation_key.clone(),
            id: thrown.id.clone(),
            time_to_live: thrown.time_to_live,
            variables: thrown.variables.clone(),
        };
        match self.distribute(tick, &publish) {
            Err(Stop::Refused(rejection)) if rejection.code == Code::AlreadyExists => Ok(()),
            Err(stop) => Err(stop),
            Ok(_) => Ok(()),
        }
    }

    /// Gives a message to all that wait for it, one of each process, and keeps it while it lives. Gives its key and who took it first.
    fn distribute(&mut self, tick: &mut Tick, publish: &Publish) -> Result<(u64, Option<InstanceKey>), Stop> {
        let name = MessageGroup {
            tenant: publish.tenant.clone(),
            name: publish.name.clone(),
            correlation_key: publish.correlation_key.clone(),
        };
        self.check_room(tick, &name, publish)?;
        self.foresee_receivers(tick, &name)?;
        let message = row::Message {
            key: self.keys.take(),
            tenant: publish.tenant.clone(),
            name: publish.name.clone(),
            correlation_key: publish.correlation_key.clone(),
            message_id: publish.id.clone(),
            variables: publish.variables.clone(),
            published: tick.now,
            expires: tick.now.saturating_add(publish.time_to_live.max(0)),
            taken_by: Vec::new(),
        };
        let key = message.key;
        let is_kept = tick.now < message.expires;
        if is_kept {
            tick.unit.changes.messages_new.push(message.clone());
            tick.bytes += bytes_of(&message.variables);
        }
        let message = Arc::new(message);
        self.groups.change(&name, tick.number, |group| group.messages.push(message.clone()));
        let mut first = None;
        let waiting = self.groups.get(&name).map(|group| group.subscriptions.clone()).unwrap_or_default();
        for wait in waiting {
            let taken = self.offer(tick, &name, key, wait)?;
            first = first.or(taken);
        }
        for start in self.starts_by_message(&publish.tenant, &publish.name)? {
            let taken = self.offer_start(tick, &name, key, &start)?;
            first = first.or(taken);
        }
        if !is_kept {
            self.groups.change(&name, tick.number, |group| group.messages.retain(|kept| kept.key != key));
        }
        Ok((key, first))
    }

    fn check_room(&mut self, tick: &Tick, name: &MessageGroup, publish: &Publish) -> Result<(), Stop> {
        let now = tick.now;
        let Some(group) = self.groups.get(name) else { return Err(Needs::group(name.clone()).into()) };
        if group.messages.iter().any(|kept| kept.expires <= now) {
            self.groups.change(name, tick.number, |group| group.messages.retain(|kept| now < kept.expires));
        }
        let group = self.groups.get(name).expect("it was just there");
        if !publish.id.is_empty() && group.messages.iter().any(|kept| kept.message_id == publish.id) {
            let reason = format!(
                "Expected to publish a new message with id '{}', but a message with that id was already published",
                publish.id
            );
            return Err(Stop::refused(Code::AlreadyExists, reason));
        }
        if MESSAGES_MAX <= group.messages.len() {
            let reason = format!(
                "Expected to publish message '{}' with correlation key '{}', but {MESSAGES_MAX} of them are kept already",
                publish.name, publish.correlation_key
            );
            return Err(Stop::refused(Code::Exhausted, reason));
        }
        Ok(())
    }

    /// All that giving the message needs, asked for at once.
    fn foresee_receivers(&mut self, tick: &Tick, name: &MessageGroup) -> Result<(), Stop> {
        let mut needs = Needs::default();
        for wait in &self.groups.get(name).expect("it was checked").subscriptions {
            match self.subscriptions.get(wait) {
                Some(row) => {
                    let instance = row.origin.map(|origin| origin.instance);
                    needs.wanted.instances.extend(instance.filter(|key| self.is_unknown(tick, *key)));
                }
                None if !self.subscriptions.knows(wait) => needs.wanted.subscriptions.push(*wait),
                None => {}
            }
        }
        match needs.is_empty() {
            true => Ok(()),
            false => Err(needs.into()),
        }
    }

    fn is_unknown(&self, tick: &Tick, key: InstanceKey) -> bool {
        !self.hot.contains(key) && !tick.known.absent.contains(&key.0) && !tick.known.unusable.contains_key(&key.0)
    }

    /// Gives a kept message to one that waits, unless its process has had it.
    fn offer(&mut self, tick: &mut Tick, name: &MessageGroup, key: u64, wait: WaitKey) -> Result<Option<InstanceKey>, Stop> {
        let open = self.subscriptions.get(&wait).filter(|row| row.state == SubscriptionState::Open).cloned();
        let message = self.groups.get(name).and_then(|group| group.messages.iter().find(|kept| kept.key == key)).cloned();
        let (Some(row), Some(message)) = (open, message) else { return Ok(None) };
        let Some(origin) = row.origin else { return Ok(None) };
        if message.taken_by.contains(&row.process_id)
            || !self.can_go_on(tick, origin.instance)?
            || self.is_suspended(origin.instance)
        {
            return Ok(None);
        }
        let variables = message.variables.clone();
        let triggered = Triggered { element: origin.element_instance, wait, variables, next: None };
        if self.step(tick, origin.instance, &engine::Command::Trigger(triggered))?.is_err() {
            return Ok(None);
        }
        let (now, number) = (tick.now, tick.number);
        // Later than it began, also within a millisecond: by that one that still waits is seen to have had a message.
        self.subscriptions.change(&wait, number, |row| row.updated = now.max(row.created + 1));
        self.take_message(tick, name, &message, &row, origin.instance);
        Ok(Some(origin.instance))
    }

    /// Starts an instance for a kept message, unless the process has had it or one with its correlation key runs.
    fn offer_start(
        &mut self,
        tick: &mut Tick,
        name: &MessageGroup,
        key: u64,
        start: &row::Subscription,
    ) -> Result<Option<InstanceKey>, Stop> {
        let message = self.groups.get(name).and_then(|group| group.messages.iter().find(|kept| kept.key == key)).cloned();
        let Some(message) = message.filter(|message| !message.taken_by.contains(&start.process_id)) else { return Ok(None) };
        let lock = (start.tenant.clone(), start.process_id.clone(), name.correlation_key.clone());
        let locks = !name.correlation_key.is_empty();
        if locks && self.lock_holder(&lock)?.is_some() {
            return Ok(None);
        }
        let Some(definition) = self.compiled(tick, start.definition)? else { return Ok(None) };
        let instance = self.start_at(tick, &definition, start.element, &message.variables)?;
        if locks {
            self.locks.put(lock, Some(instance), tick.number);
            if let Some(hot) = self.hot.get_mut(instance, tick.number) {
                hot.lock = Lock::Key(name.correlation_key.clone());
            }
        }
        self.take_message(tick, name, &message, start, instance);
        Ok(Some(instance))
    }

    fn lock_holder(&self, lock: &LockName) -> Result<Option<InstanceKey>, Stop> {
        match self.locks.get(lock) {
            Some(holder) => Ok(*holder),
            None if self.locks.knows(lock) => Ok(None),
            None => Err(Needs::lock(lock.clone()).into()),
        }
    }

    /// The message is this process's now.
    fn take_message(
        &mut self,
        tick: &mut Tick,
        name: &MessageGroup,
        message: &row::Message,
        row: &row::Subscription,
        instance: InstanceKey,
    ) {
        let process = row.process_id.clone();
        self.groups.change(name, tick.number, |group| {
            for kept in group.messages.iter_mut().filter(|kept| kept.key == message.key) {
                Arc::make_mut(kept).taken_by.push(process.clone());
            }
        });
        if tick.now < message.expires {
            let taken = MessageTaken { message: message.key, process_id: process.clone() };
            tick.unit.changes.messages_taken.push(taken);
        }
        let root = self.hot.get(instance).map_or(instance, |hot| hot.row.root);
        tick.unit.changes.correlations_new.push(row::Correlation {
            key: self.keys.take(),
            message: message.key,
            subscription: row.key,
            tenant: row.tenant.clone(),
            name: message.name.clone(),
            correlation_key: message.correlation_key.clone(),
            definition: row.definition,
            process_id: process,
            instance,
            root,
            element: row.element,
            element_instance: row.origin.map(|origin| origin.element_instance),
            at: tick.now,
        });
        self.metrics.messages_correlated.inc();
    }

    /// Somebody has begun to wait: what is kept goes to it, as long as it waits.
    pub(super) fn offer_kept(&mut self, tick: &mut Tick, wait: WaitKey) -> Result<(), Stop> {
        let Some(row) = self.subscriptions.get(&wait).filter(|row| row.state == SubscriptionState::Open).cloned() else {
            return Ok(());
        };
        let name = group_of(&row);
        loop {
            let Some(group) = self.groups.get(&name) else { return Err(Needs::group(name).into()) };
            let Some(key) = next_kept(group, &row.process_id, tick.now) else { return Ok(()) };
            if self.offer(tick, &name, key, wait)?.is_none() {
                return Ok(());
            }
        }
    }

    /// A message is kept no longer. Who looks into its group sees by itself that it has expired.
    pub(super) fn message_expired(&mut self, tick: &mut Tick, message: u64) -> Result<Answer, Stop> {
        tick.unit.changes.messages_gone.push(message);
        Ok(Answer::Done)
    }

    /// An instance that a message started has ended: the next message with its correlation key may start the next.
    pub(super) fn unlock(&mut self, tick: &mut Tick, instance: InstanceKey) -> Result<(), Stop> {
        let Some(hot) = self.hot.get(instance) else { return Ok(()) };
        if !is_started_by_messages(&hot.definition.process) {
            return Ok(());
        }
        let definition = hot.definition.clone();
        let correlation_key = match &hot.lock {
            Lock::None => return Ok(()),
            Lock::Key(key) => key.clone(),
            Lock::Unknown => match tick.known.locks_of.get(&instance) {
                Some(Some(lock)) => lock.2.clone(),
                Some(None) => return Ok(()),
                None => return Err(Needs::lock_of(instance).into()),
            },
        };
        let (tenant, process) = (definition.row.tenant.clone(), definition.row.process_id.clone());
        self.locks.put((tenant.clone(), process.clone(), correlation_key.clone()), None, tick.number);
        let Some(latest) = self.latest_process(&(process.clone(), tenant.clone()))?.map(|latest| latest.key) else {
            return Ok(());
        };
        let Some(latest) = self.compiled(tick, latest)? else { return Ok(()) };
        let mut next: Option<(u64, MessageGroup, row::Subscription)> = None;
        for name in message_starts(&latest.process, tick.now) {
            let group = MessageGroup { tenant: tenant.clone(), name: name.clone(), correlation_key: correlation_key.clone() };
            let Some(kept) = self.groups.get(&group) else { return Err(Needs::group(group).into()) };
            let Some(key) = next_kept(kept, &process, tick.now) else { continue };
            let starts = self.starts_by_message(&tenant, &name)?;
            let Some(start) = starts.into_iter().find(|start| start.process_id == process) else { continue };
            if next.as_ref().is_none_or(|(first, ..)| key < *first) {
                next = Some((key, group, start));
            }
        }
        if let Some((key, group, start)) = next {
            self.offer_start(tick, &group, key, &start)?;
        }
        Ok(())
    }

    /// The message start events of a name, of the latest version of each process.
    pub(super) fn starts_by_message(&self, tenant: &Arc<str>, name: &Arc<str>) -> Result<Vec<row::Subscription>, Stop> {
        let key = (tenant.clone(), name.clone());
        match self.starts.get(&key) {
            Some(starts) => Ok(starts.clone()),
            None if self.starts.knows(&key) => Ok(Vec::new()),
            None => Err(Needs::starts(key).into()),
        }
    }
}

/// The first message that this process has not had.
fn next_kept(group: &Group, process: &Arc<str>, now: Millis) -> Option<u64> {
    let mut kept = group.messages.iter().filter(|kept| now < kept.expires && !kept.taken_by.contains(process));
    kept.next().map(|kept| kept.key)
}

pub(super) fn is_started_by_messages(process: &Process) -> bool {
    let starts = process.scope(Process::ROOT).map(|scope| &*scope.triggered).unwrap_or_default();
    starts.iter().any(|start| matches!(process.catch(*start), Some(Trigger::Message(_))))
}

/// The names of the messages that start a process.
fn message_starts(process: &Process, now: Millis) -> Vec<Arc<str>> {
    let starts = process.scope(Process::ROOT).map(|scope| &*scope.triggered).unwrap_or_default();
    let on = starts.iter().filter_map(|start| engine::start_trigger(process, *start, now).ok().flatten());
    on.filter_map(|on| match on {
        engine::On::Message { name, .. } => Some(name),
        _ => None,
    })
    .collect()
}

/// Variables as a message or a signal carries them.
pub(super) fn bytes_of(variables: &Document) -> usize {
    variables.iter().map(|(name, value)| name.len() + value.len()).sum()
}
