//! Timers, subscriptions and signals.

use std::sync::Arc;

use engine::{DefinitionKey, InstanceKey, TimerKey, WaitKey};

use super::load::{new, owner_with_definition, running};
use super::owner::{OTHER, Owner, PARTITION};
use super::rows::{self, TENANT};
use crate::row::{Signal, Subscription, SubscriptionKind, SubscriptionState, Timer, TimerKind, TimerState};
use crate::{Changes, LoadedInstance, Store, SubscriptionChange, Wanted};

fn key(n: u64) -> u64 {
    rows::key(PARTITION, n)
}

async fn load_instance(store: &Arc<dyn Store>, key: InstanceKey) -> LoadedInstance {
    let wanted = Wanted { instances: vec![key], ..Wanted::default() };
    store.load(PARTITION, &wanted, 0).await.unwrap().instances.remove(0)
}

async fn load_timers(store: &Arc<dyn Store>, keys: &[u64]) -> Vec<Timer> {
    let wanted = Wanted { timers: keys.iter().map(|n| TimerKey(key(*n))).collect(), ..Wanted::default() };
    store.load(PARTITION, &wanted, 0).await.unwrap().timers
}

async fn load_subscriptions(store: &Arc<dyn Store>, keys: &[u64]) -> Vec<Subscription> {
    let wanted = Wanted { subscriptions: keys.iter().map(|n| WaitKey(key(*n))).collect(), ..Wanted::default() };
    store.load(PARTITION, &wanted, 0).await.unwrap().subscriptions
}

pub(super) async fn timers_come_and_go(store: Arc<dyn Store>) {
    let (mut owner, definition) = owner_with_definition(&store).await;
    let (mut one, other) = (running(100, definition), running(200, definition));
    let task = one.0.elements[0].clone();
    let mut cycle = rows::timer(key(112), &task, 70);
    (cycle.wait, cycle.kind, cycle.text, cycle.armed, cycle.number) =
        (WaitKey(key(105)), TimerKind::Cycle, "R3/PT10S".into(), 40, 3);
    let mut date = rows::timer(key(111), &task, 60);
    (date.kind, date.element, date.tenant) = (TimerKind::Date, model::ElementIx(3), "t".into());
    one.0.timers = vec![date.clone(), cycle.clone()];
    owner.commit(new(&one)).await;
    owner.commit(new(&other)).await;
    // Those of start events belong to no instance.
    let start = Timer { origin: None, ..rows::timer(key(300), &task, 50) };
    owner.commit(Changes { timers_new: vec![start.clone()], ..Changes::default() }).await;
    assert_eq!(load_instance(&store, one.0.instance.key).await, one.0);
    assert_eq!(load_instance(&store, other.0.instance.key).await, other.0);
    let both = [300, 112, 112, 999, 300];
    assert_eq!(load_timers(&store, &both).await, [cycle.clone(), start.clone()], "each once, by key");
    // One is put off, one has fired, one is not wanted any more; the next occurrence comes with the end of the one before.
    let next = Timer { key: TimerKey(key(113)), number: 4, due: 80, ..cycle.clone() };
    let put_off = Timer { due: 90, ..start.clone() };
    let fired = Timer { state: TimerState::Fired, ended: Some(71), ..cycle };
    let cancelled = Timer { state: TimerState::Cancelled, ended: Some(72), ..date };
    let changed = vec![put_off.clone(), fired, cancelled];
    owner.commit(Changes { timers_changed: changed, timers_new: vec![next.clone()], ..Changes::default() }).await;
    assert_eq!(load_timers(&store, &[111, 112, 113, 300]).await, [next.clone(), put_off]);
    one.0.timers = vec![next];
    assert_eq!(load_instance(&store, one.0.instance.key).await, one.0);
    let due = store.due(PARTITION, (0, 0), 10).await.unwrap();
    assert_eq!(due.iter().map(|one| (one.at, one.key)).collect::<Vec<_>>(), [(80, key(113)), (90, key(300))]);
}

pub(super) async fn subscriptions_come_and_go(store: Arc<dyn Store>) {
    let (mut owner, definition) = owner_with_definition(&store).await;
    let (mut one, other) = (running(100, definition), running(200, definition));
    let task = one.0.elements[0].clone();
    let message = Subscription { correlation_key: "k".into(), catches: true, ..rows::subscription(key(111), &task, "m") };
    let of = |n, kind, name| Subscription { kind, ..rows::subscription(key(n), &task, name) };
    let signal = of(112, SubscriptionKind::Signal, "s");
    let condition = of(113, SubscriptionKind::Condition, "");
    let child = Subscription { child: Some(other.0.instance.key), ..of(114, SubscriptionKind::Child, "") };
    one.0.subscriptions = vec![message.clone(), signal, condition, child.clone()];
    owner.commit(new(&one)).await;
    owner.commit(new(&other)).await;
    assert_eq!(load_instance(&store, one.0.instance.key).await, one.0);
    assert_eq!(load_instance(&store, other.0.instance.key).await, other.0);
    assert_eq!(load_subscriptions(&store, &[114, 111, 999, 114]).await, [message, child], "each once, by key");
    let change = |n, state| SubscriptionChange { key: WaitKey(key(n)), state, updated: 9 };
    let changed = vec![
        change(111, SubscriptionState::Correlated),
        change(112, SubscriptionState::Closed),
        change(113, SubscriptionState::Open),
    ];
    owner.commit(Changes { subscriptions_changed: changed, ..Changes::default() }).await;
    one.0.subscriptions.drain(..2);
    one.0.subscriptions[0].updated = 9;
    assert_eq!(load_instance(&store, one.0.instance.key).await, one.0);
    assert_eq!(load_subscriptions(&store, &[111, 112]).await, []);
}

pub(super) async fn starts_of_a_definition(store: Arc<dyn Store>) {
    let (mut owner, definition) = owner_with_definition(&store).await;
    let one = running(100, definition);
    let task = &one.0.elements[0];
    let timer = |n| Timer { origin: None, ..rows::timer(key(n), task, 5) };
    let message = |n| Subscription { origin: None, ..rows::subscription(key(n), task, "m") };
    let signal = Subscription { kind: SubscriptionKind::Signal, ..message(203) };
    let elsewhere = DefinitionKey(key(2));
    let changes = Changes {
        timers_new: vec![
            timer(202),
            timer(201),
            Timer { state: TimerState::Fired, ended: Some(1), ..timer(205) },
            Timer { definition: elsewhere, ..timer(206) },
            rows::timer(key(207), task, 5),
        ],
        subscriptions_new: vec![
            message(204),
            signal.clone(),
            Subscription { state: SubscriptionState::Closed, ..message(208) },
            Subscription { definition: elsewhere, ..message(209) },
            rows::subscription(key(210), task, "m"),
        ],
        ..new(&one)
    };
    owner.commit(changes).await;
    let starts = store.starts_of(DefinitionKey(definition)).await.unwrap();
    assert_eq!(starts, (vec![timer(201), timer(202)], vec![signal, message(204)]));
    assert_eq!(store.starts_of(DefinitionKey(key(3))).await.unwrap(), (vec![], vec![]));
}

pub(super) async fn signals_come_and_go(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let signal = Signal { variables: vec![("x".into(), "{\"y\":1}".into())], ..rows::signal(key(10), "s", 5) };
    let other = rows::signal(key(11), "s", 4);
    owner.commit(Changes { signals_put: vec![signal.clone(), other.clone()], ..Changes::default() }).await;
    let load = async || {
        let wanted = Wanted { signals: vec![key(11), key(10), key(12), key(10)], ..Wanted::default() };
        store.load(PARTITION, &wanted, 0).await.unwrap().signals
    };
    assert_eq!(load().await, [signal.clone(), other.clone()]);
    // It has come further.
    let further = Signal { after: key(7), due: 6, ..signal };
    let third = rows::signal(key(12), "t", 7);
    let signals_put = vec![further.clone(), third.clone()];
    owner.commit(Changes { signals_put, signals_done: vec![other.key], ..Changes::default() }).await;
    assert_eq!(load().await, [further, third]);
    let due = store.due(PARTITION, (0, 0), 10).await.unwrap();
    assert_eq!(due.iter().map(|one| (one.at, one.key)).collect::<Vec<_>>(), [(6, key(10)), (7, key(12))]);
}

pub(super) async fn who_waits_for_a_signal(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let instance = rows::instance(key(2), key(1));
    let task = rows::element(key(3), &instance);
    let waits = |n| Subscription { kind: SubscriptionKind::Signal, ..rows::subscription(key(n), &task, "s") };
    let starts = Subscription { origin: None, ..waits(12) };
    let subscriptions_new = vec![
        waits(14),
        waits(10),
        starts.clone(),
        Subscription { name: "S".into(), ..waits(11) },
        Subscription { tenant: "t".into(), ..waits(13) },
        Subscription { state: SubscriptionState::Correlated, ..waits(15) },
        Subscription { kind: SubscriptionKind::Message, ..waits(16) },
        waits(17),
        waits(18),
    ];
    owner.commit(Changes { subscriptions_new, ..Changes::default() }).await;
    let found = async |tenant, after, up_to, limit| {
        let window = (WaitKey(key(after)), WaitKey(key(up_to)));
        store.signal_subscriptions(PARTITION, tenant, "s", window.0, window.1, limit).await.unwrap()
    };
    assert_eq!(found(TENANT, 0, 99, 100).await, [waits(10), starts.clone(), waits(14), waits(17), waits(18)]);
    assert_eq!(found(TENANT, 0, 99, 2).await, [waits(10), starts]);
    assert_eq!(found(TENANT, 12, 17, 100).await, [waits(14), waits(17)]);
    assert_eq!(found(TENANT, 18, 99, 100).await, []);
    assert_eq!(found("t", 0, 99, 100).await.len(), 1);
    let elsewhere = store.signal_subscriptions(OTHER, TENANT, "s", WaitKey(0), WaitKey(i64::MAX as u64), 100).await;
    assert_eq!(elsewhere.unwrap(), []);
}

pub(super) async fn start_conditions(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let task = rows::element(key(3), &rows::instance(key(2), key(1)));
    let waits = |n| Subscription { kind: SubscriptionKind::Condition, ..rows::subscription(key(n), &task, "") };
    let starts = |n| Subscription { origin: None, ..waits(n) };
    let subscriptions_new = vec![
        starts(12),
        starts(10),
        waits(11),
        Subscription { tenant: "t".into(), ..starts(13) },
        Subscription { state: SubscriptionState::Closed, ..starts(14) },
        Subscription { kind: SubscriptionKind::Signal, ..starts(15) },
    ];
    owner.commit(Changes { subscriptions_new, ..Changes::default() }).await;
    assert_eq!(store.condition_starts(PARTITION, TENANT, 100).await.unwrap(), [starts(10), starts(12)]);
    assert_eq!(store.condition_starts(PARTITION, TENANT, 1).await.unwrap(), [starts(10)]);
    assert_eq!(store.condition_starts(PARTITION, "t", 100).await.unwrap().len(), 1);
    assert_eq!(store.condition_starts(OTHER, TENANT, 100).await.unwrap(), []);
}
