//! What came about in a run, counted: a test sees that seeds reach it all.

use std::collections::BTreeMap;

use engine::{Event, Thrown, WaitEnd, Waited};
use store::Commit;
use store::row::{TimerState, UserTaskState};

use super::Happened;

/// What was seen, how often.
pub type Seen = BTreeMap<&'static str, u64>;

/// All that is counted.
pub const SEEN: [&str; 34] = [
    "timer fired",
    "timer cancelled",
    "occurrence followed",
    "timer started an instance",
    "message taken",
    "kept message taken",
    "message started an instance",
    "kept message started the next",
    "message expired",
    "signal told",
    "signal started an instance",
    "signal told the next page",
    "child completed",
    "child cancelled",
    "error crossed a call",
    "escalation crossed a call",
    "instance suspended",
    "instance resumed",
    "instance modified",
    "instance migrated",
    "task done",
    "task cancelled",
    "policy put",
    "execution started",
    "execution completed",
    "execution waits for its next try",
    "execution waited too long",
    "held back by a limit",
    "held back by a rate",
    "held back by a quota",
    "read outlived a lease",
    "owner of the same name followed",
    "committed beside a slow search",
    "search was too slow",
];

pub(super) fn count(seen: &mut Seen, commit: &Commit, happened: &[Happened]) {
    let mut add = |what: &'static str, times: usize| *seen.entry(what).or_default() += times as u64;
    let changes = &commit.changes;
    let timers = || changes.timers_new.iter().chain(&changes.timers_changed);
    add("timer fired", timers().filter(|row| row.state == TimerState::Fired).count());
    add("timer cancelled", timers().filter(|row| row.state == TimerState::Cancelled).count());
    add("timer started an instance", timers().filter(|row| row.state == TimerState::Fired && row.origin.is_none()).count());
    add("occurrence followed", changes.timers_new.iter().filter(|row| 1 < row.number).count());
    let taken = || changes.correlations_new.iter();
    let old = |row: &&store::row::Correlation| row.message < commit.first_key;
    let starts = |row: &&store::row::Correlation| row.element_instance.is_none();
    add("message taken", taken().count());
    add("kept message taken", taken().filter(old).count());
    add("message started an instance", taken().filter(starts).count());
    add("kept message started the next", taken().filter(starts).filter(old).count());
    add("message expired", changes.messages_gone.len());
    add("signal told the next page", changes.signals_put.iter().filter(|signal| 0 < signal.after).count());
    let ended = |state: UserTaskState| changes.user_tasks_changed.iter().filter(|row| row.state == state).count();
    add("task done", ended(UserTaskState::Completed));
    add("task cancelled", ended(UserTaskState::Cancelled));
    add("instance modified", happened.iter().filter(|row| row.kind == "modify" && !row.events.is_empty()).count());
    add("instance migrated", happened.iter().filter(|row| row.kind == "migrate" && !row.events.is_empty()).count());
    for Happened { kind, events, .. } in happened {
        let is_signal = *kind == "signal-due";
        for event in events {
            match event {
                Event::WaitClosed { on: Waited::Signal, end: WaitEnd::Completed, .. } => add("signal told", 1),
                Event::Started { parent: None, .. } if is_signal => add("signal started an instance", 1),
                Event::WaitClosed { on: Waited::Child { .. }, end: WaitEnd::Completed, .. } => add("child completed", 1),
                Event::WaitClosed { on: Waited::Child { .. }, end: WaitEnd::Cancelled, .. } => add("child cancelled", 1),
                Event::Suspended => add("instance suspended", 1),
                Event::Resumed => add("instance resumed", 1),
                Event::ThrownOut(thrown) if thrown.what == Thrown::Error => add("error crossed a call", 1),
                Event::ThrownOut(_) => add("escalation crossed a call", 1),
                _ => {}
            }
        }
    }
}
