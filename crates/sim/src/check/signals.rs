//! Signals: each reaches exactly those that waited when it was accepted. Invariant 14.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::{Event, InstanceKey, WaitEnd, WaitKey, Waited};
use rustc_hash::FxHashSet;
use store::Commit;
use store::row::SubscriptionKind;

use super::waits::Waits;
use super::{Check, Happened, ensure};

#[derive(Default)]
pub(crate) struct Signals {
    under_way: BTreeMap<u64, UnderWay>,
}

struct UnderWay {
    name: Arc<str>,
    /// All that waited for it when it was accepted.
    waited: BTreeSet<WaitKey>,
    told: BTreeSet<WaitKey>,
}

impl Signals {
    pub(super) fn landed(
        &mut self,
        commit: &Commit,
        happened: &[Happened],
        waits: &Waits,
        unreadable: &FxHashSet<InstanceKey>,
    ) -> Check {
        let advanced = commit.changes.signals_put.iter().map(|signal| (signal.key, signal.after));
        let done = commit.changes.signals_done.iter().map(|key| (*key, u64::MAX));
        let advanced: Vec<(u64, u64)> = advanced.chain(done).filter(|(key, _)| self.under_way.contains_key(key)).collect();
        let by_message = commit.changes.correlations_new.iter().filter(|row| row.element_instance.is_none());
        let by_message: BTreeSet<_> = by_message.map(|row| row.instance).collect();
        for happened in happened.iter().filter(|happened| happened.kind == "signal-due") {
            for event in &happened.events {
                let starts = !by_message.contains(&happened.instance);
                self.followed(&advanced, happened.instance, event, starts, waits)?;
            }
        }
        for (key, after) in &advanced {
            let signal = &self.under_way[key];
            let reached = signal.waited.iter().filter(|wait| wait.0 <= *after && !signal.told.contains(wait));
            let readable =
                |wait: &&WaitKey| waits.subscriptions[*wait].origin.is_none_or(|origin| !unreadable.contains(&origin.instance));
            let passed = reached.filter(|wait| waits.is_open(**wait)).find(readable);
            ensure(14, passed.is_none(), || format!("signal {key} passed over subscription {passed:?}"))?;
        }
        for key in &commit.changes.signals_done {
            ensure(14, self.under_way.remove(key).is_some(), || format!("signal {key} ended twice"))?;
        }
        for signal in &commit.changes.signals_put {
            let waited = waits.open().filter(|row| row.kind == SubscriptionKind::Signal && row.name == signal.name);
            let waited = waited.map(|row| row.key).filter(|wait| wait.0 < signal.key).collect();
            let new = || UnderWay { name: signal.name.clone(), waited, told: BTreeSet::new() };
            self.under_way.entry(signal.key).or_insert_with(new);
        }
        Ok(())
    }

    fn followed(&mut self, advanced: &[(u64, u64)], instance: InstanceKey, event: &Event, starts: bool, waits: &Waits) -> Check {
        match event {
            Event::WaitClosed { key, on: Waited::Signal, end: WaitEnd::Completed, .. } => {
                let told = self.tell(advanced, |wait| wait == *key);
                ensure(14, told, || format!("subscription {key} was told a signal that it did not wait for, or twice"))
            }
            Event::Started { definition, parent: None, .. } if starts => {
                let is_it = |wait: WaitKey| {
                    let row = &waits.subscriptions[&wait];
                    row.origin.is_none() && row.definition == *definition
                };
                let told = self.tell(advanced, is_it);
                ensure(14, told, || format!("instance {instance} was started by a signal that its start did not wait for"))
            }
            // What does not interrupt goes on waiting.
            Event::Entered { element, .. } => {
                let is_it = |wait: WaitKey| {
                    let row = &waits.subscriptions[&wait];
                    row.catches && row.element == *element && row.origin.is_some_and(|origin| origin.instance == instance)
                };
                self.tell(advanced, is_it);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Notes who was told by one of these signals; `false` if there is none to be told.
    fn tell(&mut self, advanced: &[(u64, u64)], is_it: impl Fn(WaitKey) -> bool) -> bool {
        for (key, _) in advanced {
            let Some(signal) = self.under_way.get_mut(key) else { continue };
            if let Some(wait) = signal.waited.iter().copied().find(|wait| is_it(*wait) && !signal.told.contains(wait)) {
                signal.told.insert(wait);
                return true;
            }
        }
        false
    }

    pub(crate) fn under_way(&self) -> Option<String> {
        (!self.under_way.is_empty()).then(|| {
            let names: Vec<_> = self.under_way.iter().map(|(key, signal)| format!("{key} {}", signal.name)).collect();
            format!("signals {names:?}")
        })
    }
}
