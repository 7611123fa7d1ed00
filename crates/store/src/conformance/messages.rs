//! Messages, those that wait for them, and the locks of what they started.

use std::sync::Arc;

use engine::{InstanceKey, WaitKey};

use super::data::ODD_TEXTS;
use super::owner::{OTHER, Owner, PARTITION};
use super::rows::{self, TENANT};
use crate::row::{Element, Message, MessageLock, Signal, Subscription, SubscriptionKind, SubscriptionState};
use crate::{Changes, GROUP_MAX, LoadedGroup, MessageGroup, MessageTaken, Store, SubscriptionChange, Wanted};

fn key(n: u64) -> u64 {
    rows::key(PARTITION, n)
}

fn task() -> Element {
    rows::element(key(3), &rows::instance(key(2), key(1)))
}

fn waits(n: u64, correlation_key: &str) -> Subscription {
    Subscription { correlation_key: correlation_key.into(), ..rows::subscription(key(n), &task(), "m") }
}

fn group(tenant: &str, name: &str, correlation_key: &str) -> MessageGroup {
    MessageGroup { tenant: tenant.into(), name: name.into(), correlation_key: correlation_key.into() }
}

async fn groups(store: &Arc<dyn Store>, groups: Vec<MessageGroup>, now: i64) -> Vec<LoadedGroup> {
    store.load(PARTITION, &Wanted { groups, ..Wanted::default() }, now).await.unwrap().groups
}

fn keys(group: &LoadedGroup) -> (Vec<u64>, Vec<u64>) {
    let subscriptions = group.subscriptions.iter().map(|row| row.key.0 - key(0)).collect();
    (subscriptions, group.messages.iter().map(|row| row.key - key(0)).collect())
}

pub(super) async fn a_group_is_loaded_as_a_whole(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let message = |n, expires| rows::message(key(n), "m", "k", expires);
    let full = Message {
        message_id: "once".into(),
        variables: vec![("x".into(), "1".into()), ("".into(), "\"ä\"".into())],
        taken_by: vec!["p".into(), "line\nbreak".into()],
        ..message(21, 101)
    };
    let changes = Changes {
        subscriptions_new: vec![
            waits(12, "k"),
            waits(11, "k"),
            waits(13, "K"),
            Subscription { tenant: "t".into(), ..waits(14, "k") },
            Subscription { name: "other".into(), ..waits(15, "k") },
            Subscription { state: SubscriptionState::Closed, ..waits(16, "k") },
            Subscription { kind: SubscriptionKind::Signal, ..waits(17, "k") },
            // Start events are asked for by name.
            Subscription { origin: None, ..waits(18, "") },
        ],
        messages_new: vec![
            message(22, 500),
            full.clone(),
            message(23, 100),
            Message { tenant: "t".into(), ..message(24, 500) },
            rows::message(key(25), "m", "K", 500),
            rows::message(key(26), "other", "k", 500),
        ],
        ..Changes::default()
    };
    owner.commit(changes).await;
    let asked = vec![
        group(TENANT, "m", "k"),
        group("t", "m", "k"),
        group(TENANT, "m", ""),
        group(TENANT, "m", "k"),
        group("nobody", "m", "k"),
        group(TENANT, "other", "k"),
    ];
    let found = groups(&store, asked.clone(), 100).await;
    let expected = [&asked[..3], &asked[4..]].concat();
    assert_eq!(found.iter().map(|one| one.group.clone()).collect::<Vec<_>>(), expected, "every one once");
    let first = LoadedGroup {
        group: asked[0].clone(),
        subscriptions: vec![waits(11, "k"), waits(12, "k")],
        messages: vec![full, message(22, 500)],
    };
    assert_eq!(found[0], first);
    let rest: Vec<_> = found[1..].iter().map(keys).collect();
    assert_eq!(rest, [(vec![14], vec![24]), (vec![], vec![]), (vec![], vec![]), (vec![15], vec![26])]);
    assert_eq!(keys(&groups(&store, asked[..1].to_vec(), 101).await[0]).1, [22], "what has expired is not there");
    let elsewhere = Wanted { groups: asked[..1].to_vec(), messages: vec![key(22)], ..Wanted::default() };
    let elsewhere = store.load(OTHER, &elsewhere, 0).await.unwrap();
    assert_eq!((keys(&elsewhere.groups[0]), elsewhere.messages), ((vec![], vec![]), vec![]));
}

pub(super) async fn a_group_has_a_bound(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let count = GROUP_MAX as u64 + 2;
    let changes = Changes {
        subscriptions_new: (0..count).map(|n| waits(100 + n, "k")).collect(),
        // The first ones have expired, and take nobody's place.
        messages_new: (0..count + 5).map(|n| rows::message(key(50_000 + n), "m", "k", if n < 5 { 1 } else { 9 })).collect(),
        ..Changes::default()
    };
    owner.commit(changes).await;
    let found = keys(&groups(&store, vec![group(TENANT, "m", "k")], 1).await[0]);
    assert_eq!(found.0, (100..100 + GROUP_MAX as u64).collect::<Vec<_>>());
    assert_eq!(found.1, (50_005..50_005 + GROUP_MAX as u64).collect::<Vec<_>>());
}

pub(super) async fn messages_are_taken_and_go(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let messages: Vec<_> = (10..14).map(|n| rows::message(key(n), "m", "k", 100)).collect();
    owner.commit(Changes { messages_new: messages.clone(), ..Changes::default() }).await;
    let taken = |n, process: &str| MessageTaken { message: key(n), process_id: process.into() };
    let messages_taken = vec![taken(10, "b"), taken(11, "a"), taken(10, "a\\n"), taken(99, "a")];
    owner.commit(Changes { messages_taken, messages_gone: vec![key(12)], ..Changes::default() }).await;
    owner.commit(Changes { messages_taken: vec![taken(10, "c")], ..Changes::default() }).await;
    let by = |n: usize, processes: &[&str]| Message {
        taken_by: processes.iter().map(|process| (*process).into()).collect(),
        ..messages[n].clone()
    };
    let left = [by(0, &["b", "a\\n", "c"]), by(1, &["a"]), by(3, &[])];
    assert_eq!(groups(&store, vec![group(TENANT, "m", "k")], 0).await[0].messages, left);
    let wanted = Wanted { messages: vec![key(13), key(12), key(10), key(13)], ..Wanted::default() };
    assert_eq!(store.load(PARTITION, &wanted, 0).await.unwrap().messages, [left[0].clone(), left[2].clone()]);
    assert_eq!(store.load(PARTITION, &wanted, 100).await.unwrap().messages, []);
    let due = store.due(PARTITION, (0, 0), 10).await.unwrap();
    assert_eq!(due.iter().map(|one| one.key - key(0)).collect::<Vec<_>>(), [10, 11, 13]);
}

pub(super) async fn start_events_by_name(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let starts = |n| Subscription { origin: None, ..waits(n, "") };
    let changes = Changes {
        subscriptions_new: vec![
            starts(12),
            starts(11),
            Subscription { name: "n".into(), ..starts(13) },
            Subscription { tenant: "t".into(), ..starts(14) },
            Subscription { kind: SubscriptionKind::Signal, ..starts(15) },
            Subscription { state: SubscriptionState::Closed, ..starts(16) },
            waits(17, ""),
            waits(18, "k"),
        ],
        ..Changes::default()
    };
    owner.commit(changes).await;
    let load = async |names: &[(&str, &str)], keys: &[u64]| {
        let starts = names.iter().map(|(tenant, name)| ((*tenant).into(), (*name).into())).collect();
        let subscriptions = keys.iter().map(|n| WaitKey(key(*n))).collect();
        store.load(PARTITION, &Wanted { starts, subscriptions, ..Wanted::default() }, 0).await.unwrap().subscriptions
    };
    assert_eq!(load(&[(TENANT, "m"), (TENANT, "m"), ("t", "none")], &[]).await, [starts(11), starts(12)]);
    let both = load(&[(TENANT, "m"), ("t", "m"), (TENANT, "n")], &[12, 18]).await;
    assert_eq!(both.iter().map(|row| row.key.0 - key(0)).collect::<Vec<_>>(), [11, 12, 13, 14, 18], "each once, by key");
    let closed = SubscriptionChange { key: WaitKey(key(11)), state: SubscriptionState::Closed, updated: 1 };
    owner.commit(Changes { subscriptions_changed: vec![closed], ..Changes::default() }).await;
    assert_eq!(load(&[(TENANT, "m")], &[]).await, [starts(12)]);
}

pub(super) async fn locks_go_from_one_to_the_next(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let (first, second) = (rows::lock("p", "k", key(10)), rows::lock("p", "l", key(10)));
    let theirs = MessageLock { tenant: "t".into(), ..rows::lock("p", "k", key(11)) };
    owner.commit(Changes { locks_new: vec![second.clone(), first.clone(), theirs.clone()], ..Changes::default() }).await;
    let load = async |locks: &[&MessageLock], of: &[u64]| {
        let locks = locks.iter().map(|lock| lock.name()).collect();
        let locks_of = of.iter().map(|n| InstanceKey(key(*n))).collect();
        store.load(PARTITION, &Wanted { locks, locks_of, ..Wanted::default() }, 0).await.unwrap().locks
    };
    assert_eq!(load(&[&first, &theirs, &first, &rows::lock("P", "k", 1)], &[]).await, [first.clone(), theirs.clone()]);
    assert_eq!(load(&[], &[10, 12]).await, [first.clone(), second.clone()]);
    assert_eq!(load(&[&second], &[11, 10]).await, [first.clone(), second.clone(), theirs.clone()], "each once, by name");
    // The next instance takes the lock in the tick in which the one before ends.
    let next = MessageLock { instance: InstanceKey(key(12)), ..first.clone() };
    let gone = vec![first.name(), second.name()];
    owner.commit(Changes { locks_new: vec![next.clone()], locks_gone: gone, ..Changes::default() }).await;
    assert_eq!(load(&[&first, &second], &[10]).await, std::slice::from_ref(&next));
    assert_eq!(load(&[], &[12, 11]).await, [next, theirs]);
}

pub(super) async fn odd_values_come_back(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let odd: Arc<str> = ODD_TEXTS.join("|").into();
    let large: Arc<str> = "x".repeat(1_000_000).into();
    let waiting = Subscription { name: odd.clone(), tenant: odd.clone(), process_id: odd.clone(), ..waits(10, &odd) };
    let message = Message {
        tenant: odd.clone(),
        message_id: odd.clone(),
        variables: vec![(odd.clone(), large.clone())],
        taken_by: ODD_TEXTS.iter().map(|text| (*text).into()).collect(),
        ..rows::message(key(11), &odd, &odd, i64::MAX)
    };
    let signal = Signal {
        tenant: odd.clone(),
        variables: vec![(odd.clone(), large)],
        after: i64::MAX as u64,
        ..rows::signal(key(12), &odd, i64::MAX)
    };
    let lock = MessageLock { tenant: odd.clone(), ..rows::lock(&odd, &odd, key(13)) };
    let changes = Changes {
        subscriptions_new: vec![waiting.clone()],
        messages_new: vec![message.clone()],
        signals_put: vec![signal.clone()],
        locks_new: vec![lock.clone()],
        ..Changes::default()
    };
    owner.commit(changes).await;
    let asked = group(&odd, &odd, &odd);
    let wanted = Wanted {
        groups: vec![asked.clone()],
        signals: vec![signal.key],
        locks: vec![lock.name()],
        messages: vec![message.key],
        ..Wanted::default()
    };
    let loaded = store.load(PARTITION, &wanted, 0).await.unwrap();
    assert_eq!(loaded.groups, [LoadedGroup { group: asked, subscriptions: vec![waiting], messages: vec![message.clone()] }]);
    assert_eq!((loaded.messages, loaded.signals, loaded.locks), (vec![message], vec![signal], vec![lock]));
}
