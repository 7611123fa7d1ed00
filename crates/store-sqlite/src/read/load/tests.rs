//! A damaged row stops its own instance; an instance with a long past is loaded as quickly as another.

use std::time::Duration;

use rusqlite::StatementStatus;
use store::conformance::rows;
use store::row::{Subscription, SubscriptionState, Timer, TimerState};
use store::{Changes, Commit, Store};

use super::*;
use crate::schema::tests::Folder;
use crate::{Options, Sqlite};

const PARTITION: PartitionId = PartitionId(1);

/// Keys of what belongs to the n-th instance follow its own.
fn key(number: u64, place: u64) -> u64 {
    rows::key(PARTITION, number * 10 + place)
}

fn running(changes: &mut Changes, number: u64) {
    let instance = rows::instance(key(number, 0), key(0, 0));
    let task = rows::element(key(number, 1), &instance);
    changes.variables_new.push(rows::variable(key(number, 2), &instance, "x", "1"));
    changes.jobs_new.push(rows::job(key(number, 3), &task));
    changes.incidents_new.push(rows::incident(key(number, 4), &task));
    changes.timers_new.push(rows::timer(key(number, 5), &task, 1));
    changes.subscriptions_new.push(rows::subscription(key(number, 6), &task, "m"));
    changes.elements_new.push(task);
    changes.instances_new.push(instance);
}

/// What a task that is over leaves behind.
fn went_by(changes: &mut Changes, instance: &Instance, number: u64) {
    let mut task = rows::element(key(number, 1), instance);
    (task.state, task.ended) = (ElementState::Completed, Some(1));
    let mut variable = rows::variable(key(number, 2), instance, "x", "1");
    variable.scope = task.key;
    let mut job = rows::job(key(number, 3), &task);
    job.availability = Availability::Done;
    let mut incident = rows::incident(key(number, 4), &task);
    incident.resolved = Some(1);
    let timer = rows::timer(key(number, 5), &task, 1);
    changes.timers_new.push(Timer { state: TimerState::Fired, ended: Some(1), ..timer });
    let subscription = rows::subscription(key(number, 6), &task, "m");
    changes.subscriptions_new.push(Subscription { state: SubscriptionState::Closed, ..subscription });
    changes.elements_new.push(task);
    changes.variables_new.push(variable);
    changes.jobs_new.push(job);
    changes.incidents_new.push(incident);
}

async fn store_with(folder: &Folder, changes: Changes) -> Sqlite {
    let store = crate::open(folder.path(), Options::default()).unwrap();
    let owned = store.acquire(PARTITION, "a", Duration::from_secs(60)).await.unwrap().unwrap();
    let commit = Commit {
        fence: owned.fence,
        first_key: owned.next_key,
        next_key: key(1_000_000, 0),
        log: Vec::new(),
        inbox_to: 0,
        answers: Vec::new(),
        now: 1,
        changes,
        wake: false,
    };
    store.commit(commit).await.unwrap();
    store
}

/// What other rows can have is in the suite for all stores; a text that is none is SQLite's own.
#[tokio::test]
async fn a_text_that_is_not_utf_8_stops_its_instance_alone() {
    let folder = Folder::new("damage");
    let mut changes = Changes::default();
    (1..=3).for_each(|number| running(&mut changes, number));
    let store = store_with(&folder, changes).await;
    let damage = "UPDATE variables SET value = CAST(x'22C328' AS TEXT) WHERE key = ?1";
    let damaged = key(2, 2);
    let changed = store.writer.run(move |connection| Ok(connection.execute(damage, [damaged as i64])?)).await;
    assert_eq!(changed.unwrap(), 1);
    let wanted = Wanted { instances: (1..=3).map(|number| InstanceKey(key(number, 0))).collect(), ..Wanted::default() };
    let loaded = store.load(PARTITION, &wanted, 0).await.unwrap();
    assert_eq!(loaded.instances.iter().map(|one| one.instance.key.0).collect::<Vec<_>>(), [key(1, 0), key(3, 0)]);
    assert_eq!(loaded.broken.len(), 1);
    assert_eq!(loaded.broken[0].key, key(2, 0));
    assert!(loaded.broken[0].what.starts_with(&format!("variables {damaged}: ")), "{:?}", loaded.broken);
}

#[tokio::test]
async fn what_an_instance_has_behind_it_is_not_read() {
    let folder = Folder::new("past");
    let mut changes = Changes::default();
    running(&mut changes, 1);
    running(&mut changes, 2);
    let with_past = changes.instances_new[1].clone();
    (10..2_010).for_each(|number| went_by(&mut changes, &with_past, number));
    let store = store_with(&folder, changes).await;
    let steps = |number: u64| {
        store.owner.run(move |connection| {
            let mut steps = Vec::new();
            for sql in [
                statement::LIVE_ELEMENTS,
                statement::LIVE_VARIABLES,
                statement::OPEN_JOBS,
                statement::ACTIVE_INCIDENTS,
                statement::PENDING_TIMERS,
                statement::OPEN_SUBSCRIPTIONS,
            ] {
                let mut select = connection.prepare(sql)?;
                let found = select.query_map(params![PARTITION.0, key(number, 0) as i64], |_| Ok(()))?.count();
                assert_eq!(found, 1, "{sql}");
                steps.push(select.get_status(StatementStatus::VmStep));
            }
            Ok(steps)
        })
    };
    let (without, with) = (steps(1).await.unwrap(), steps(2).await.unwrap());
    assert!(with.iter().zip(&without).all(|(with, without)| with.abs_diff(*without) < 10), "{without:?} {with:?}");
}

#[tokio::test]
async fn what_is_read_for_a_tick_is_prepared_once() {
    let folder = Folder::new("prepared");
    let mut changes = Changes::default();
    (1..4).for_each(|number| running(&mut changes, number));
    let store = store_with(&folder, changes).await;
    for number in [1, 2, 3, 1, 2, 3] {
        store
            .owner
            .run(move |connection| super::load_instance(connection, PARTITION, InstanceKey(key(number, 0))))
            .await
            .unwrap();
    }
    let again = store.owner.run(move |connection| {
        let mut again = Vec::new();
        for sql in [
            statement::RUNNING_INSTANCE,
            statement::LIVE_ELEMENTS,
            statement::LIVE_VARIABLES,
            statement::OPEN_JOBS,
            statement::WAITING_TURNS,
            statement::WAITING_TOKENS,
            statement::OPEN_USER_TASKS,
            statement::ACTIVE_INCIDENTS,
            statement::PENDING_TIMERS,
            statement::OPEN_SUBSCRIPTIONS,
            statement::KEPT_COMPENSATIONS,
        ] {
            let select = connection.prepare_cached(sql)?;
            again.push((sql, select.get_status(StatementStatus::Run), select.get_status(StatementStatus::RePrepare)));
        }
        Ok(again)
    });
    let again: Vec<_> = again.await.unwrap().into_iter().filter(|(_, _, times)| *times != 0).collect();
    assert!(again.is_empty(), "{again:#?}");
}
