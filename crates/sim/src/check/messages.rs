//! Messages: to whom each goes, in which order, and which instances one may start. Invariant 13.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::{Event, InstanceKey, On, WaitEnd, WaitKey, Waited};
use rustc_hash::{FxHashMap, FxHashSet};
use store::row::{Correlation, LockName, Message, Subscription, SubscriptionKind};
use store::{Commit, Loaded, Millis};

use super::waits::Waits;
use super::{Check, Happened, ensure};

/// Name and correlation key: there is one tenant.
type Group = (Arc<str>, Arc<str>);

#[derive(Default)]
pub(crate) struct Messages {
    /// Those that are kept, by key: in the order in which they came.
    kept: BTreeMap<u64, Message>,
    /// Which message went to which process, ever.
    taken: FxHashSet<(u64, Arc<str>)>,
    /// Who waits, in the order in which they began.
    waiting: FxHashMap<Group, BTreeSet<WaitKey>>,
    groups: FxHashMap<WaitKey, Group>,
    /// Instances that a message with a correlation key started and that run, by process and key.
    running: BTreeMap<Group, InstanceKey>,
    locks: BTreeMap<LockName, InstanceKey>,
}

impl Messages {
    pub(super) fn landed(
        &mut self,
        commit: &Commit,
        happened: &[Happened],
        waits: &Waits,
        unreadable: &FxHashSet<InstanceKey>,
    ) -> Check {
        for row in &commit.changes.messages_new {
            self.published(row)?;
        }
        for row in &commit.changes.correlations_new {
            self.correlated(row, commit, waits, unreadable)?;
        }
        for key in &commit.changes.messages_gone {
            let early = self.kept.remove(key).is_some_and(|row| commit.now < row.expires);
            ensure(13, !early, || format!("message {key} was dropped while it lives"))?;
        }
        let starts = commit.changes.correlations_new.iter().filter(|row| row.element_instance.is_none());
        let starts: FxHashMap<_, _> =
            starts.map(|row| (row.instance, (row.process_id.clone(), row.correlation_key.clone()))).collect();
        for Happened { instance, events, .. } in happened {
            for event in events {
                self.followed(*instance, event, &starts, waits, unreadable)?;
            }
        }
        for name in &commit.changes.locks_gone {
            self.locks.remove(name);
        }
        self.locks.extend(commit.changes.locks_new.iter().map(|row| (row.name(), row.instance)));
        let locked = self.locks.iter().map(|((_, process, key), instance)| ((process.clone(), key.clone()), *instance));
        let locked: BTreeMap<Group, InstanceKey> = locked.collect();
        ensure(13, locked == self.running, || format!("locks are {locked:?}, instances started by key {:?}", self.running))?;
        self.none_is_passed_over(commit.now, waits, unreadable)
    }

    fn published(&mut self, row: &Message) -> Check {
        let same = |kept: &&Message| {
            kept.message_id == row.message_id && group_of(kept) == group_of(row) && row.published < kept.expires
        };
        let again = self.kept.values().find(same).filter(|_| !row.message_id.is_empty());
        ensure(13, again.is_none(), || format!("message {} has the id of {:?}, which lives", row.key, again.map(|m| m.key)))?;
        self.kept.insert(row.key, Message { taken_by: Vec::new(), ..row.clone() });
        Ok(())
    }

    fn correlated(&mut self, row: &Correlation, commit: &Commit, waits: &Waits, unreadable: &FxHashSet<InstanceKey>) -> Check {
        let (message, process) = (row.message, row.process_id.clone());
        ensure(13, self.taken.insert((message, process.clone())), || format!("message {message} went to {process} twice"))?;
        let lives = match self.kept.get(&message) {
            Some(kept) => row.at < kept.expires,
            None => commit.first_key <= message,
        };
        ensure(13, lives, || format!("message {message} went to {process} after its life"))?;
        let start = row.element_instance.is_none().then_some(row.subscription.0);
        let group = (row.name.clone(), row.correlation_key.clone());
        let older = self.kept.range(..message).find(|(key, kept)| {
            let could = commit.now < kept.expires && group_of(kept) == group && start.is_none_or(|start| start < **key);
            could && !self.taken.contains(&(**key, process.clone()))
        });
        ensure(13, older.is_none(), || format!("{process} got message {message} before {:?}", older.map(|(key, _)| key)))?;
        if start.is_none() && waits.is_open(row.subscription) {
            self.is_first(row.subscription, &group, waits, unreadable)?;
        }
        Ok(())
    }

    fn followed(
        &mut self,
        instance: InstanceKey,
        event: &Event,
        starts: &FxHashMap<InstanceKey, Group>,
        waits: &Waits,
        unreadable: &FxHashSet<InstanceKey>,
    ) -> Check {
        match event {
            Event::WaitOpened(opened) => {
                if let On::Message { name, correlation_key } = &opened.on {
                    let group = (name.clone(), correlation_key.clone());
                    self.waiting.entry(group.clone()).or_default().insert(opened.key);
                    self.groups.insert(opened.key, group);
                }
            }
            Event::WaitClosed { key, on: Waited::Message, end, .. } => {
                let Some(group) = self.groups.remove(key) else { return Ok(()) };
                if *end == WaitEnd::Completed {
                    self.is_first(*key, &group, waits, unreadable)?;
                }
                self.waiting.entry(group).or_default().remove(key);
            }
            Event::Started { .. } => {
                if let Some((process, key)) = starts.get(&instance).filter(|(_, key)| !key.is_empty()) {
                    let other = self.running.insert((process.clone(), key.clone()), instance);
                    ensure(13, other.is_none(), || format!("{other:?} and {instance} of {process} run with key {key}"))?;
                }
            }
            Event::Ended { .. } => self.running.retain(|_, running| *running != instance),
            _ => {}
        }
        Ok(())
    }

    /// Nobody of the same process waited longer.
    fn is_first(&self, key: WaitKey, group: &Group, waits: &Waits, unreadable: &FxHashSet<InstanceKey>) -> Check {
        let process = &waits.subscriptions[&key].process_id;
        let before = self.waiting.get(group).into_iter().flatten().take_while(|other| **other < key);
        let mut before = before.map(|other| &waits.subscriptions[other]);
        let passed = before.find(|row| row.process_id == *process && !is_unreadable(row, unreadable)).map(|row| row.key);
        ensure(13, passed.is_none(), || format!("subscription {key} got a message before {passed:?} of {process}"))
    }

    /// Nobody waits for what is kept.
    fn none_is_passed_over(&self, now: Millis, waits: &Waits, unreadable: &FxHashSet<InstanceKey>) -> Check {
        for message in self.kept.values().filter(|message| now < message.expires) {
            let mut open = waits.open().filter(|row| row.kind == SubscriptionKind::Message && row.name == message.name);
            let passed = open.find(|row| {
                let may = match row.origin {
                    Some(_) => row.correlation_key == message.correlation_key && !is_unreadable(row, unreadable),
                    None => row.key.0 < message.key && !self.is_running(&row.process_id, &message.correlation_key),
                };
                may && !self.taken.contains(&(message.key, row.process_id.clone()))
            });
            ensure(13, passed.is_none(), || format!("message {} is kept though {passed:?} waits for it", message.key))?;
        }
        Ok(())
    }

    fn is_running(&self, process: &Arc<str>, key: &Arc<str>) -> bool {
        self.running.contains_key(&(process.clone(), key.clone()))
    }

    /// What the store shows of the messages and locks that a commit named.
    pub(super) fn compare(&self, commit: &Commit, loaded: &Loaded) -> Check {
        for row in &loaded.messages {
            let taken: BTreeSet<_> = row.taken_by.iter().cloned().collect();
            let mut ours = self.taken.iter().filter(|(message, _)| *message == row.key);
            let known = self.kept.contains_key(&row.key) && ours.all(|(_, process)| taken.contains(process));
            ensure(3, known, || format!("message {row:?} went to others than its row says"))?;
        }
        for lock in &loaded.locks {
            let holder = self.locks.get(&lock.name()).copied();
            ensure(3, holder == Some(lock.instance), || format!("{lock:?} is held by {holder:?}"))?;
        }
        let gone = commit.changes.locks_gone.iter().filter(|name| !self.locks.contains_key(*name));
        let mut gone = gone.filter(|name| loaded.locks.iter().any(|lock| lock.name() == **name));
        ensure(3, gone.next().is_none(), || "a lock that is gone is still there".to_owned())
    }

    /// Locks that are held, and messages kept past their time.
    pub(crate) fn left(&self, now: Millis) -> Option<String> {
        let overdue: Vec<_> = self.kept.values().filter(|kept| kept.expires <= now).map(|kept| kept.key).collect();
        (!self.locks.is_empty() || !overdue.is_empty()).then(|| format!("locks {:?}, messages {overdue:?}", self.locks))
    }
}

fn group_of(message: &Message) -> Group {
    (message.name.clone(), message.correlation_key.clone())
}

fn is_unreadable(row: &Subscription, unreadable: &FxHashSet<InstanceKey>) -> bool {
    row.origin.is_some_and(|origin| unreadable.contains(&origin.instance))
}
