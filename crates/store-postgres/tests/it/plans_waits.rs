//! Waits that are no jobs, for the crowd of `plans`.

use engine::{CompensationKey, DefinitionKey, WaitKey};
use store::conformance::rows::{self, TENANT};
use store::row::{
    Correlation, Element, Instance, MessageLock, Subscription, SubscriptionKind, SubscriptionState, Timer, TimerState, UserTask,
    UserTaskState,
};
use store::{Changes, MessageGroup, MessageTaken, SubscriptionChange};

use super::{CROWD, DEFINITION, FEW, FORMER_DEFINITION, INSTANCE};

pub(super) const TIMER: u64 = 0;
pub(super) const MESSAGE_WAIT: u64 = 1;
pub(super) const SIGNAL_WAIT: u64 = 2;
pub(super) const MESSAGE: u64 = 3;
pub(super) const SIGNAL: u64 = 4;
const CORRELATION: u64 = 5;
const START_TIMER: u64 = 6;
const START_WAIT: u64 = 7;
pub(super) const COMPENSATION: u64 = 8;
pub(super) const USER_TASK: u64 = 9;

/// Beside the keys of everything else.
pub(super) fn key(number: u64, place: u64) -> u64 {
    super::key(100_000 + number, place)
}

pub(super) fn few(place: u64) -> impl Iterator<Item = u64> {
    (0..FEW).map(move |number| key(CROWD / 2 + number, place))
}

/// All messages have the same name; each has a correlation key of its own.
pub(super) fn group(number: u64) -> MessageGroup {
    MessageGroup { tenant: TENANT.into(), name: "m".into(), correlation_key: number.to_string().into() }
}

pub(super) fn lock(number: u64) -> MessageLock {
    rows::lock("p", &number.to_string(), super::key(number, INSTANCE))
}

/// A pending timer of an instance, its wait for a message and for a signal, a message, a signal and a lock.
pub(super) fn running(changes: &mut Changes, number: u64, instance: &Instance, task: &Element) {
    let at = 1_000 + number as i64;
    changes.timers_new.push(rows::timer(key(number, TIMER), task, at));
    let message = rows::subscription(key(number, MESSAGE_WAIT), task, "m");
    let message = Subscription { correlation_key: group(number).correlation_key, ..message };
    let correlation = rows::correlation(key(number, CORRELATION), key(number, MESSAGE), &message, instance);
    changes.correlations_new.push(Correlation { at, ..correlation });
    changes.subscriptions_new.push(message);
    let signal = rows::subscription(key(number, SIGNAL_WAIT), task, "s");
    changes.subscriptions_new.push(Subscription { kind: SubscriptionKind::Signal, ..signal });
    changes.messages_new.push(rows::message(key(number, MESSAGE), "m", &number.to_string(), at));
    changes.signals_put.push(rows::signal(key(number, SIGNAL), "s", at));
    changes.locks_new.push(lock(number));
    changes.compensations_put.push(rows::compensation(key(number, COMPENSATION), instance, 1));
    changes.user_tasks_new.push(user_task(key(number, USER_TASK), task));
}

/// Everybody may do it.
fn user_task(key: u64, task: &Element) -> UserTask {
    let (candidate_groups, candidate_users) = (vec!["all".into(), "some".into()], vec!["ann".into()]);
    UserTask { assignee: Some("ann".into()), candidate_groups, candidate_users, ..rows::user_task(key, task) }
}

/// A timer that has fired, and a message that came.
pub(super) fn went_by(changes: &mut Changes, number: u64, instance: &Instance, task: &Element) {
    let at = 1_000 + number as i64;
    let timer = rows::timer(key(number, TIMER), task, at);
    changes.timers_new.push(Timer { state: TimerState::Fired, ended: Some(at), ..timer });
    let done = user_task(key(number, USER_TASK), task);
    changes.user_tasks_new.push(UserTask { state: UserTaskState::Completed, ended: Some(at), ..done });
    let message = rows::subscription(key(number, MESSAGE_WAIT), task, "m");
    let message = Subscription { state: SubscriptionState::Correlated, updated: at, ..message };
    let correlation = rows::correlation(key(number, CORRELATION), key(number, MESSAGE), &message, instance);
    changes.correlations_new.push(Correlation { at, ..correlation });
    changes.subscriptions_new.push(message);
}

/// Two start events of the definition that is asked for, and many of another.
pub(super) fn starting(changes: &mut Changes) {
    let task = rows::element(1, &rows::instance(1, super::key(0, DEFINITION)));
    for number in 0..CROWD {
        let is_few = number < 2;
        let definition = DefinitionKey(super::key(0, if is_few { DEFINITION } else { FORMER_DEFINITION }));
        let timer = rows::timer(key(number, START_TIMER), &task, 1_000_000);
        changes.timers_new.push(Timer { origin: None, definition, ..timer });
        let start = rows::subscription(key(number, START_WAIT), &task, if is_few { "m" } else { "other" });
        changes.subscriptions_new.push(Subscription { origin: None, definition, ..start });
    }
}

/// A few of every kind change.
pub(super) fn changing() -> Changes {
    let instance = rows::instance(1, 1);
    let task = rows::element(1, &instance);
    let fired = |key| Timer { state: TimerState::Fired, ended: Some(9), ..rows::timer(key, &task, 9) };
    let given_away = |key| UserTask { candidate_groups: vec!["others".into()], ..user_task(key, &task) };
    let closed = |key| SubscriptionChange { key: WaitKey(key), state: SubscriptionState::Closed, updated: 9 };
    Changes {
        timers_changed: few(TIMER).map(fired).collect(),
        user_tasks_changed: few(USER_TASK).map(given_away).collect(),
        subscriptions_changed: few(MESSAGE_WAIT).map(closed).collect(),
        messages_taken: few(MESSAGE).map(|message| MessageTaken { message, process_id: "p".into() }).collect(),
        messages_gone: few(MESSAGE).take(2).collect(),
        locks_gone: (0..FEW).map(|number| lock(CROWD / 2 + number).name()).collect(),
        signals_put: few(SIGNAL).skip(2).map(|key| rows::signal(key, "s", 9)).collect(),
        signals_done: few(SIGNAL).take(2).collect(),
        compensations_put: few(COMPENSATION).skip(2).map(|key| rows::compensation(key, &instance, 1)).collect(),
        compensations_gone: few(COMPENSATION).take(2).map(CompensationKey).collect(),
        ..Changes::default()
    }
}
