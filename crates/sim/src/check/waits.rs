//! Timers and subscriptions as rows, and what ended instances leave: invariants 3, 6 and 15.

use std::collections::BTreeSet;

use engine::{InstanceKey, TimerKey, WaitKey};
use rustc_hash::{FxHashMap, FxHashSet};
use store::row::{Subscription, SubscriptionState, Timer, TimerState};
use store::{Changes, Commit, Loaded, MigratedRow, MigratedTable, Millis};

use super::{Check, ensure};

#[derive(Default)]
pub(crate) struct Waits {
    timers: FxHashMap<TimerKey, Timer>,
    pending: BTreeSet<(Millis, TimerKey)>,
    pub(super) subscriptions: FxHashMap<WaitKey, Subscription>,
    open: BTreeSet<WaitKey>,
    /// Timers that somebody asked to fire early, or at another time.
    asked: FxHashSet<TimerKey>,
}

impl Waits {
    /// Somebody wants a timer to fire at another time than planned.
    pub(crate) fn ask(&mut self, timer: TimerKey) {
        self.asked.insert(timer);
    }

    pub(super) fn landed(&mut self, commit: &Commit) -> Check {
        let Changes { timers_new, timers_changed, subscriptions_new, subscriptions_changed, .. } = &commit.changes;
        for row in timers_new {
            let fresh = !self.timers.contains_key(&row.key);
            ensure(3, fresh && row.key.0 == row.wait.0 || row.origin.is_none(), || format!("timer {} is there twice", row.key))?;
            self.put_timer(row, commit)?;
        }
        for row in timers_changed {
            let before = self.timers.get(&row.key);
            let was_pending = before.is_some_and(|before| before.state == TimerState::Pending);
            ensure(6, was_pending, || format!("timer {} was {before:?} and becomes {row:?}", row.key))?;
            let same_due = before.is_some_and(|before| before.due == row.due) || self.asked.contains(&row.key);
            ensure(6, same_due, || format!("timer {} was due at another time: {before:?}, now {row:?}", row.key))?;
            self.put_timer(row, commit)?;
        }
        for row in subscriptions_new {
            let known = self.subscriptions.insert(row.key, row.clone());
            ensure(3, known.is_none(), || format!("subscription {} is there twice", row.key))?;
            keep(&mut self.open, row.key, row.state == SubscriptionState::Open);
        }
        for change in subscriptions_changed {
            let was_open = self.open.contains(&change.key);
            ensure(3, was_open, || format!("subscription {} is not open and becomes {:?}", change.key, change.state))?;
            if let Some(row) = self.subscriptions.get_mut(&change.key) {
                row.state = change.state;
            }
            keep(&mut self.open, change.key, change.state == SubscriptionState::Open);
        }
        Ok(())
    }

    fn put_timer(&mut self, row: &Timer, commit: &Commit) -> Check {
        let now = commit.now;
        let wished = self.asked.contains(&row.key) && commit.log.iter().any(|row| row.kind == "fire-timer");
        let early = row.state == TimerState::Fired && now < row.due && !wished;
        ensure(6, !early, || format!("timer {} fired at {now}, before {}", row.key, row.due))?;
        if let Some(before) = self.timers.insert(row.key, row.clone()) {
            self.pending.remove(&(before.due, row.key));
        }
        keep(&mut self.pending, (row.due, row.key), row.state == TimerState::Pending);
        Ok(())
    }

    pub(super) fn migrated(&mut self, row: &MigratedRow) {
        let place = match row.table {
            MigratedTable::Timers => {
                self.timers.get_mut(&TimerKey(row.key)).map(|timer| (&mut timer.definition, &mut timer.element))
            }
            MigratedTable::Subscriptions => {
                self.subscriptions.get_mut(&WaitKey(row.key)).map(|wait| (&mut wait.definition, &mut wait.element))
            }
            _ => None,
        };
        if let Some((definition, element)) = place {
            (*definition, *element) = (row.definition, row.element);
        }
    }

    /// What the store shows of what a commit named.
    pub(super) fn compare(&self, commit: &Commit, loaded: &Loaded) -> Check {
        let named = wanted_timers(&commit.changes);
        let pending = named.iter().filter(|key| self.timers[key].state == TimerState::Pending).map(|key| &self.timers[key]);
        let (pending, stored): (Vec<_>, Vec<_>) = (pending.collect(), loaded.timers.iter().collect());
        ensure(3, pending == stored, || format!("timers by history {pending:?}, by the store {stored:?}"))?;
        let named = wanted_subscriptions(&commit.changes);
        let open: Vec<_> = named.into_iter().filter(|key| self.open.contains(key)).collect();
        let stored: Vec<_> = loaded.subscriptions.iter().map(|row| row.key).collect();
        ensure(3, open == stored, || format!("open subscriptions by history {open:?}, by the store {stored:?}"))
    }

    pub(super) fn is_open(&self, key: WaitKey) -> bool {
        self.open.contains(&key)
    }

    /// Open subscriptions, in the order in which they began.
    pub(crate) fn open(&self) -> impl Iterator<Item = &Subscription> {
        self.open.iter().map(|key| &self.subscriptions[key])
    }

    /// Pending timers, the first due first.
    pub(crate) fn pending(&self) -> impl Iterator<Item = &Timer> {
        self.pending.iter().map(|(_, key)| &self.timers[key])
    }

    /// An instance that has ended waits for nothing.
    pub(super) fn left_by(&self, instance: InstanceKey) -> Check {
        let is_its = |origin: Option<store::row::WaitOrigin>| origin.is_some_and(|origin| origin.instance == instance);
        let timer = self.pending().find(|timer| is_its(timer.origin)).map(|timer| timer.key);
        let open = self.open().find(|row| is_its(row.origin)).map(|row| row.key);
        ensure(15, timer.is_none() && open.is_none(), || {
            format!("instance {instance} has ended and leaves timer {timer:?}, subscription {open:?}")
        })
    }
}

pub(crate) fn wanted_timers(changes: &Changes) -> BTreeSet<TimerKey> {
    changes.timers_new.iter().chain(&changes.timers_changed).map(|row| row.key).collect()
}

pub(crate) fn wanted_subscriptions(changes: &Changes) -> BTreeSet<WaitKey> {
    let new = changes.subscriptions_new.iter().map(|row| row.key);
    new.chain(changes.subscriptions_changed.iter().map(|change| change.key)).collect()
}

fn keep<T: Ord>(set: &mut BTreeSet<T>, one: T, keep: bool) {
    match keep {
        true => set.insert(one),
        false => set.remove(&one),
    };
}
