//! Listeners to all user tasks, whatever their process.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{Element, Kind, ListenerEvent};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobalListener {
    pub id: Arc<str>,
    pub job_type: Arc<str>,
    pub retries: i32,
    pub events: Vec<ListenerEvent>,
    /// Whether those of the process are asked first.
    pub after_own: bool,
    /// Higher ones are asked first.
    pub priority: i32,
    /// Whether the configuration of a server names it, and not a caller.
    pub configured: bool,
}

/// Every version of them that may still count: what has begun to be listened to goes on as it began.
#[derive(Debug, Clone, Default)]
pub struct Globals {
    versions: BTreeMap<u32, Vec<GlobalListener>>,
}

impl Globals {
    pub fn put(&mut self, version: u32, mut listeners: Vec<GlobalListener>) {
        in_order(&mut listeners);
        self.versions.insert(version, listeners);
    }

    /// 0 before the first.
    pub fn latest(&self) -> u32 {
        self.versions.last_key_value().map_or(0, |(version, _)| *version)
    }

    /// Those of the latest version.
    pub fn now(&self) -> &[GlobalListener] {
        self.versions.last_key_value().map_or(&[], |(_, listeners)| listeners)
    }

    /// Those that listen to this, before or after those of the process, in the order in which they are asked.
    pub fn listening_to(&self, version: u32, event: ListenerEvent, after_own: bool) -> impl Iterator<Item = &GlobalListener> {
        let listeners = self.versions.get(&version).into_iter().flatten();
        listeners.filter(move |listener| listener.after_own == after_own && listener.events.contains(&event))
    }

    /// How many listen to this in all, of the process and of everybody.
    pub fn count(&self, version: u32, element: &Element, event: ListenerEvent) -> usize {
        let own = element.listening_to(event).count();
        match element.kind {
            Kind::UserTask(_) if version != 0 => {
                own + self.listening_to(version, event, false).count() + self.listening_to(version, event, true).count()
            }
            _ => own,
        }
    }
}

/// As they are asked.
pub fn in_order(listeners: &mut [GlobalListener]) {
    listeners.sort_by_key(|listener| (Reverse(listener.priority), listener.id.clone()));
}
