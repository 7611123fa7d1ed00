//! Rows that cannot be read stop what they belong to, and nothing else. For stores whose rows can be damaged from outside, which runs
//! the statements that [`written`] gives before it calls [`loaded`].

use std::sync::Arc;

use engine::{JobKey, TimerKey};

use super::load::{new, owner_with_definition, running};
use super::owner::PARTITION;
use super::rows::{self, TENANT};
use crate::row::{Job, Message, Signal};
use crate::{Changes, LoadedInstance, MessageGroup, Store, Wanted};

fn key(n: u64) -> u64 {
    rows::key(PARTITION, n)
}

/// Ten instances and their jobs.
fn all(definition: u64) -> Vec<(LoadedInstance, Job)> {
    (1..=10).map(|n| running(100 * n, definition)).collect()
}

/// Which row of which table is damaged how: the first belong to the first instances, then comes the job of the one after them, and then
/// what belongs to no instance that is loaded.
const DAMAGE: [(&str, u64, &str); 12] = [
    ("turns", 110, "SET step = substr(step, 1, 1) WHERE key"),
    ("tokens", 200, "SET count = -1 WHERE instance"),
    ("elements", 301, "SET phase = 9 WHERE key"),
    ("instances", 400, "SET phase = 9 WHERE key"),
    ("incidents", 504, "SET kind = 'ODD' WHERE key"),
    ("timers", 610, "SET kind = 'ODD' WHERE key"),
    ("subscriptions", 710, "SET kind = 'ODD' WHERE key"),
    ("jobs", 803, "SET state = 'ODD' WHERE key"),
    ("timers", 1_101, "SET kind = 'ODD' WHERE key"),
    ("subscriptions", 1_111, "SET element_instance = NULL WHERE key"),
    ("messages", 1_121, "SET variables = substr(variables, 1, 2) WHERE key"),
    ("signals", 1_131, "SET variables = substr(variables, 1, 2) WHERE key"),
];

/// Two of each, of which the first is damaged.
fn of_no_instance() -> Changes {
    let task = rows::element(key(2_001), &rows::instance(key(2_000), key(1)));
    let variables: engine::Document = vec![("x".into(), "1".into())];
    Changes {
        timers_new: [1_101, 1_102].map(|n| rows::timer(key(n), &task, 5)).into(),
        subscriptions_new: [1_111, 1_112].map(|n| rows::subscription(key(n), &task, "m")).into(),
        messages_new: [1_121, 1_122]
            .map(|n| Message { variables: variables.clone(), ..rows::message(key(n), "m", "", 9) })
            .into(),
        signals_put: [1_131, 1_132].map(|n| Signal { variables: variables.clone(), ..rows::signal(key(n), "s", 9) }).into(),
        ..Changes::default()
    }
}

/// Writes rows; gives statements that each damage one of them.
pub async fn written(store: &Arc<dyn Store>) -> Vec<String> {
    let (mut owner, definition) = owner_with_definition(store).await;
    let all = all(definition);
    for one in &all {
        owner.commit(new(one)).await;
    }
    let turn = rows::turn(key(110), &all[0].0.instance, 5);
    let tokens = vec![rows::tokens(&all[1].0.instance, 1, 1, 1)];
    let timers_new = vec![rows::timer(key(610), &all[5].0.elements[0], 5)];
    let subscriptions_new = vec![rows::subscription(key(710), &all[6].0.elements[0], "m")];
    owner.commit(Changes { turns_new: vec![turn], tokens, timers_new, subscriptions_new, ..Changes::default() }).await;
    owner.commit(of_no_instance()).await;
    DAMAGE.map(|(table, row, damage)| format!("UPDATE {table} {damage} = {}", key(row))).into()
}

/// Loads them: those that are damaged are named, all others are there.
pub async fn loaded(store: &Arc<dyn Store>) {
    let all = all(key(1));
    let wanted = Wanted {
        instances: all.iter().map(|(one, _)| one.instance.key).collect(),
        jobs: all[7..9].iter().map(|(_, job)| job.key).collect(),
        timers: [1_101, 1_102].map(|n| TimerKey(key(n))).into(),
        groups: vec![MessageGroup { tenant: TENANT.into(), name: "m".into(), correlation_key: "".into() }],
        signals: [1_131, 1_132].map(key).into(),
        ..Wanted::default()
    };
    let mut loaded = store.load(PARTITION, &wanted, 0).await.unwrap();
    loaded.instances.sort_by_key(|one| one.instance.key);
    // An instance waits for its job, whatever state that is in.
    assert_eq!(loaded.instances, all[7..].iter().map(|(one, _)| one.clone()).collect::<Vec<_>>());
    assert_eq!(loaded.jobs.iter().map(|job| job.key).collect::<Vec<_>>(), [JobKey(key(903))]);
    let mut whole = of_no_instance();
    assert_eq!(loaded.timers, [whole.timers_new.remove(1)]);
    assert_eq!(loaded.groups[0].subscriptions, [whole.subscriptions_new.remove(1)]);
    assert_eq!(loaded.groups[0].messages, [whole.messages_new.remove(1)]);
    assert_eq!(loaded.signals, [whole.signals_put.remove(1)]);
    loaded.broken.sort_by_key(|one| one.key);
    let expected: Vec<_> = (1..=7).map(|n| key(100 * n)).chain([803, 1_101, 1_111, 1_121, 1_131].map(key)).collect();
    assert_eq!(loaded.broken.iter().map(|one| one.key).collect::<Vec<_>>(), expected);
    for (broken, (table, row, _)) in loaded.broken.iter().zip(DAMAGE) {
        assert!(broken.what.starts_with(&format!("{table} {}: ", key(row))), "{broken:?} does not name the row");
    }
}
