//! Timers, subscriptions, messages and signals.

use std::collections::{BTreeMap, BTreeSet};

use engine::{DefinitionKey, TimerKey, WaitKey};

use super::database::{Database, Tables};
use crate::row::{LockName, Message, MessageLock, Subscription, SubscriptionKind, SubscriptionState, Timer, TimerState};
use crate::{
    Changes, Due, DueKind, GROUP_MAX, Loaded, LoadedGroup, MessageGroup, MessageTaken, Millis, SubscriptionChange, Wanted,
};

impl Tables {
    pub(super) fn change_waits(&mut self, changes: &mut Changes) {
        for row in changes.timers_new.drain(..).chain(changes.timers_changed.drain(..)) {
            self.put_timer(row);
        }
        for row in changes.user_tasks_new.drain(..).chain(changes.user_tasks_changed.drain(..)) {
            if let Some(running) = self.running.get_mut(&row.instance) {
                keep(&mut running.user_tasks, row.key, !row.is_over());
            }
            self.user_tasks.insert(row.key, row);
        }
        for row in changes.subscriptions_new.drain(..) {
            self.put_subscription(row);
        }
        for SubscriptionChange { key, state, updated } in changes.subscriptions_changed.drain(..) {
            if let Some(row) = self.subscriptions.get(&key) {
                let row = Subscription { state, updated, ..row.clone() };
                self.put_subscription(row);
            }
        }
        self.messages.extend(changes.messages_new.drain(..).map(|row| (row.key, row)));
        for MessageTaken { message, process_id } in changes.messages_taken.drain(..) {
            if let Some(row) = self.messages.get_mut(&message) {
                row.taken_by.push(process_id);
            }
        }
        for key in changes.messages_gone.drain(..) {
            self.messages.remove(&key);
        }
        self.correlations.extend(changes.correlations_new.drain(..).map(|row| (row.key, row)));
        for name in changes.locks_gone.drain(..) {
            self.locks.remove(&name);
        }
        self.locks.extend(changes.locks_new.drain(..).map(|row| (row.name(), row)));
        self.signals.extend(changes.signals_put.drain(..).map(|row| (row.key, row)));
        for key in changes.signals_done.drain(..) {
            self.signals.remove(&key);
        }
    }

    fn put_timer(&mut self, row: Timer) {
        if let Some(before) = self.timers.get(&row.key) {
            self.pending.remove(&(before.due, row.key));
        }
        let is_pending = row.state == TimerState::Pending;
        if is_pending {
            self.pending.insert((row.due, row.key));
        }
        if let Some(running) = row.origin.and_then(|origin| self.running.get_mut(&origin.instance)) {
            keep(&mut running.timers, row.key, is_pending);
        }
        self.timers.insert(row.key, row);
    }

    fn put_subscription(&mut self, row: Subscription) {
        let is_open = row.state == SubscriptionState::Open;
        keep(&mut self.open, row.key, is_open);
        if let Some(running) = row.origin.and_then(|origin| self.running.get_mut(&origin.instance)) {
            keep(&mut running.subscriptions, row.key, is_open);
        }
        self.subscriptions.insert(row.key, row);
    }

    fn open_subscriptions(&self) -> impl Iterator<Item = &Subscription> {
        self.open.iter().map(|key| &self.subscriptions[key])
    }

    /// What of it is due by itself.
    pub(super) fn due_waits(&self) -> impl Iterator<Item = Due> {
        let timers = self.pending.iter().map(|(at, key)| {
            let instance = self.timers[key].origin.map(|origin| origin.instance);
            Due { at: *at, key: key.0, what: DueKind::Timer { instance } }
        });
        let messages = self.messages.values().map(|row| Due { at: row.expires, key: row.key, what: DueKind::MessageExpires });
        let signals = self.signals.values().map(|row| Due { at: row.due, key: row.key, what: DueKind::Signal });
        let batches = self.batches.values().filter_map(|row| Some(Due { at: row.due?, key: row.key, what: DueKind::Batch }));
        let schedules = self.schedules.values();
        let schedules = schedules.filter_map(|row| Some(Due { at: row.due?, key: row.key, what: DueKind::Schedule }));
        timers.chain(messages).chain(signals).chain(batches).chain(schedules)
    }
}

fn keep<T: Ord>(set: &mut BTreeSet<T>, one: T, keep: bool) {
    match keep {
        true => set.insert(one),
        false => set.remove(&one),
    };
}

/// Adds what is wanted of these.
pub(super) fn load(tables: &Tables, wanted: &Wanted, now: Millis, loaded: &mut Loaded) {
    let pending = |key: &TimerKey| tables.timers.get(key).filter(|row| row.state == TimerState::Pending);
    let timers: BTreeSet<_> = wanted.timers.iter().collect();
    loaded.timers = timers.into_iter().filter_map(pending).cloned().collect();
    let user_tasks: BTreeSet<_> = wanted.user_tasks.iter().collect();
    let user_tasks = user_tasks.into_iter().filter_map(|key| tables.user_tasks.get(key));
    loaded.user_tasks = user_tasks.filter(|task| !task.is_over()).cloned().collect();
    let mut subscriptions: BTreeSet<WaitKey> =
        wanted.subscriptions.iter().copied().filter(|key| tables.open.contains(key)).collect();
    for (tenant, name) in &wanted.starts {
        let starts = tables.open_subscriptions().filter(|row| {
            row.kind == SubscriptionKind::Message && row.origin.is_none() && row.tenant == *tenant && row.name == *name
        });
        subscriptions.extend(starts.take(GROUP_MAX).map(|row| row.key));
    }
    loaded.subscriptions = subscriptions.iter().map(|key| tables.subscriptions[key].clone()).collect();
    for group in &wanted.groups {
        if !loaded.groups.iter().any(|one| one.group == *group) {
            loaded.groups.push(load_group(tables, group, now));
        }
    }
    let messages: BTreeSet<_> = wanted.messages.iter().collect();
    let messages = messages.into_iter().filter_map(|key| tables.messages.get(key));
    loaded.messages = messages.filter(|row| now < row.expires).cloned().collect();
    let mut locks: BTreeMap<LockName, &MessageLock> =
        wanted.locks.iter().filter_map(|name| tables.locks.get(name)).map(|row| (row.name(), row)).collect();
    locks.extend(tables.locks.values().filter(|row| wanted.locks_of.contains(&row.instance)).map(|row| (row.name(), row)));
    loaded.locks = locks.into_values().cloned().collect();
    let signals: BTreeSet<_> = wanted.signals.iter().collect();
    loaded.signals = signals.into_iter().filter_map(|key| tables.signals.get(key)).cloned().collect();
}

fn load_group(tables: &Tables, group: &MessageGroup, now: Millis) -> LoadedGroup {
    let MessageGroup { tenant, name, correlation_key } = group;
    let waits_for = |row: &&Subscription| {
        row.kind == SubscriptionKind::Message
            && row.origin.is_some()
            && (&row.tenant, &row.name, &row.correlation_key) == (tenant, name, correlation_key)
    };
    let is_of =
        |row: &&Message| now < row.expires && (&row.tenant, &row.name, &row.correlation_key) == (tenant, name, correlation_key);
    LoadedGroup {
        group: group.clone(),
        subscriptions: tables.open_subscriptions().filter(waits_for).take(GROUP_MAX).cloned().collect(),
        messages: tables.messages.values().filter(is_of).take(GROUP_MAX).cloned().collect(),
    }
}

pub(super) fn starts_of(database: &Database, definition: DefinitionKey) -> (Vec<Timer>, Vec<Subscription>) {
    let (mut timers, mut subscriptions) = (Vec::new(), Vec::new());
    for tables in database.tables() {
        let is_its = |row: &&Timer| row.state == TimerState::Pending && row.origin.is_none() && row.definition == definition;
        timers.extend(tables.timers.values().filter(is_its).cloned());
        let is_its = |row: &&Subscription| row.origin.is_none() && row.definition == definition;
        subscriptions.extend(tables.open_subscriptions().filter(is_its).cloned());
    }
    (timers, subscriptions)
}

pub(super) fn signal_subscriptions(
    tables: &Tables,
    (tenant, name): (&str, &str),
    (after, up_to): (WaitKey, WaitKey),
    limit: usize,
) -> Vec<Subscription> {
    let waits_for = |row: &&Subscription| row.kind == SubscriptionKind::Signal && *row.tenant == *tenant && *row.name == *name;
    let within = |row: &&Subscription| after < row.key && row.key <= up_to;
    tables.open_subscriptions().filter(within).filter(waits_for).take(limit).cloned().collect()
}

pub(super) fn condition_starts(tables: &Tables, tenant: &str, limit: usize) -> Vec<Subscription> {
    let starts = |row: &&Subscription| row.kind == SubscriptionKind::Condition && row.origin.is_none() && *row.tenant == *tenant;
    tables.open_subscriptions().filter(starts).take(limit).cloned().collect()
}
