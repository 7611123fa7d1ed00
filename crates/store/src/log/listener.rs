//! Those who listen to all user tasks, as they are asked for.

use std::sync::Arc;

use model::{GlobalListener, ListenerEvent};

/// Somebody is to listen to all user tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct PutListener {
    pub listener: GlobalListener,
    /// Whether it is new, or there must be one with its id.
    pub is_new: bool,
}

/// What a global listener listens to where it listens to everything that happens to user tasks.
pub const ALL_EVENTS: &str = "all";

impl PutListener {
    /// Events by their words.
    pub fn new(listener: NewListener<'_>, is_new: bool) -> Self {
        let NewListener { id, job_type, retries, events, after_own, priority } = listener;
        let is_named = |event: &ListenerEvent| events.contains(&ALL_EVENTS) || events.contains(&event.word());
        let events = ListenerEvent::ALL.into_iter().filter(|event| event.is_of_task() && is_named(event)).collect();
        Self { listener: GlobalListener { id, job_type, retries, events, after_own, priority, configured: false }, is_new }
    }
}

/// As a caller describes it.
#[derive(Debug, Clone)]
pub struct NewListener<'a> {
    pub id: Arc<str>,
    pub job_type: Arc<str>,
    pub retries: i32,
    pub events: &'a [&'a str],
    pub after_own: bool,
    pub priority: i32,
}
