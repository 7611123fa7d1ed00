//! Positions are gapless and become visible in order.

use std::sync::Arc;

use super::owner::{NOW, Owner, PARTITION};
use super::rows;
use crate::log::NewCommand;
use crate::query::{Entity, Query};
use crate::{Changes, Commit, CommitError, LogRow, Store};

const APPENDERS: u64 = 6;
const APPENDS: u64 = 15;

fn command(number: u64) -> NewCommand {
    NewCommand { kind: "cancel", request: number.to_be_bytes().to_vec() }
}

pub(super) async fn positions_count_up(store: Arc<dyn Store>) {
    // Nobody owns the partition yet; the log takes commands all the same.
    assert_eq!(store.append(PARTITION, vec![command(1), command(2)]).await.unwrap(), [1, 2]);
    assert_eq!(store.append(PARTITION, vec![]).await.unwrap(), Vec::<u64>::new());
    assert_eq!(store.append(PARTITION, vec![command(3)]).await.unwrap(), [3]);
    let owner = Owner::of(&store).await;
    assert_eq!((owner.ownership.tail, owner.ownership.processed_to), (3, 0));
}

pub(super) async fn pending_comes_in_order(store: Arc<dyn Store>) {
    store.append(PARTITION, (1..=5).map(command).collect()).await.unwrap();
    let pending = store.pending(PARTITION, 0, 3).await.unwrap();
    let seen: Vec<_> = pending.iter().map(|one| (one.position, one.request.clone())).collect();
    assert_eq!(seen, (1..=3).map(|n| (n, command(n).request)).collect::<Vec<_>>());
    let pending = store.pending(PARTITION, 3, 10).await.unwrap();
    assert_eq!(pending.iter().map(|one| one.position).collect::<Vec<_>>(), [4, 5]);
    assert!(store.pending(PARTITION, 5, 10).await.unwrap().is_empty());
    assert!(store.pending(PARTITION, 0, 0).await.unwrap().is_empty());
}

pub(super) async fn statuses_tell_what_became_of_commands(store: Arc<dyn Store>) {
    store.append(PARTITION, (1..=3).map(command).collect()).await.unwrap();
    let owner = Owner::of(&store).await;
    let answered = |position, answer| LogRow { position, kind: "cancel", instance: None, events: vec![], answer };
    let commit = Commit {
        tail: 3,
        processed: vec![answered(1, Some(vec![1, 0, 255])), answered(2, None)],
        appended: vec![],
        processed_to: 2,
        ..owner.tick(Changes::default())
    };
    store.commit(commit).await.unwrap();
    let statuses = store.statuses(PARTITION, &[3, 2, 1, 4, 0, 1]).await.unwrap();
    let seen: Vec<_> = statuses.iter().map(|one| (one.position, one.processed, one.answer.clone())).collect();
    assert_eq!(seen, [(1, true, Some(vec![1, 0, 255])), (2, true, None), (3, false, None)]);
    assert!(statuses.iter().all(|one| one.kind == "cancel" && 0 < one.at));
    assert!(store.statuses(PARTITION, &[]).await.unwrap().is_empty());
    let pending = store.pending(PARTITION, 0, 10).await.unwrap();
    assert_eq!(pending.iter().map(|one| one.position).collect::<Vec<_>>(), [3], "processed ones are not pending");
    // A command that came with its commit is as good as any other.
    let commit = Commit { tail: 3, processed_to: 4, ..owner.tick(Changes::default()) };
    let appended = LogRow { position: 4, kind: "create", instance: None, events: vec![], answer: Some(vec![9]) };
    store.commit(Commit { appended: vec![appended], processed: vec![answered(3, None)], ..commit }).await.unwrap();
    let status = store.statuses(PARTITION, &[4]).await.unwrap().remove(0);
    assert_eq!((status.kind.as_str(), status.at, status.processed, status.answer), ("create", NOW, true, Some(vec![9])));
}

pub(super) async fn an_overtaken_commit_writes_nothing(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    owner.commit(Changes::default()).await;
    store.append(PARTITION, vec![command(1), command(2)]).await.unwrap();
    let definition = rows::definition(rows::key(PARTITION, 1), "p", 1);
    let changes = Changes {
        idempotent_new: vec![rows::idempotent("t", "k", i64::MAX)],
        instances_new: vec![rows::instance(rows::key(PARTITION, 2), definition.key.0)],
        definitions_new: vec![definition],
        ..Changes::default()
    };
    match owner.try_commit(changes).await {
        Err(CommitError::Overtaken { tail }) => assert_eq!(tail, 3),
        other => panic!("expected to be overtaken, got {other:?}"),
    }
    let status = &store.partitions().await.unwrap()[0];
    assert_eq!((status.tail, status.processed_to), (3, 1));
    assert_eq!(store.search(&Query::of(Entity::Instances)).await.unwrap().total, 0);
    assert_eq!(store.pending(PARTITION, 1, 10).await.unwrap().len(), 2);
    // Having read what is pending, it goes on.
    owner.ownership.tail = 3;
    let commit = Commit { processed_to: 4, ..owner.tick(Changes::default()) };
    store.commit(commit).await.unwrap();
}

pub(super) async fn appenders_leave_no_gap(store: Arc<dyn Store>) {
    let mut appenders = Vec::new();
    for appender in 0..APPENDERS {
        let store = store.clone();
        appenders.push(tokio::spawn(async move {
            let mut positions = Vec::new();
            for number in 0..APPENDS {
                let commands = (0..=number % 3).map(|one| command(appender * 1000 + one)).collect();
                let given = store.append(PARTITION, commands).await.unwrap();
                assert!(given.windows(2).all(|pair| pair[0] + 1 == pair[1]), "those of one append stand together: {given:?}");
                positions.extend(given);
            }
            positions
        }));
    }
    let mut positions = Vec::new();
    for appender in appenders {
        positions.extend(appender.await.unwrap());
    }
    positions.sort_unstable();
    let total = APPENDERS * APPENDS * 2;
    assert_eq!(positions, (1..=total).collect::<Vec<_>>());
}

/// Whoever has moved past a position never sees an earlier one appear.
pub(super) async fn a_reader_misses_nothing(store: Arc<dyn Store>) {
    let mut appenders = Vec::new();
    for appender in 0..APPENDERS {
        let store = store.clone();
        appenders.push(tokio::spawn(async move {
            for number in 0..APPENDS {
                store.append(PARTITION, vec![command(appender * 1000 + number)]).await.unwrap();
            }
        }));
    }
    let mut seen = 0;
    loop {
        // Asked before reading: once all have been told their positions, one more read shows everything.
        let are_done = appenders.iter().all(tokio::task::JoinHandle::is_finished);
        let pending = store.pending(PARTITION, seen, 7).await.unwrap();
        if are_done && pending.is_empty() {
            break;
        }
        for pending in pending {
            assert_eq!(pending.position, seen + 1);
            seen = pending.position;
        }
        tokio::task::yield_now().await;
    }
    for appender in appenders {
        appender.await.unwrap();
    }
    assert_eq!(seen, APPENDERS * APPENDS);
}

/// An owner commits while others append: whoever comes second gives way, and every position is there once.
pub(super) async fn appends_and_commits_leave_no_gap(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let mut appenders = Vec::new();
    for appender in 0..2 {
        let store = store.clone();
        appenders.push(tokio::spawn(async move {
            let mut positions = Vec::new();
            for number in 0..APPENDS {
                positions.extend(store.append(PARTITION, vec![command(appender * 1000 + number)]).await.unwrap());
            }
            positions
        }));
    }
    let mut committed = Vec::new();
    while committed.len() < 20 {
        match owner.store.commit(owner.tick(Changes::default())).await {
            Ok(_) => {
                owner.ownership.tail += 1;
                committed.push(owner.ownership.tail);
            }
            Err(CommitError::Overtaken { tail }) => {
                assert!(owner.ownership.tail < tail);
                owner.ownership.tail = tail;
            }
            Err(other) => panic!("{other}"),
        }
    }
    let mut positions = committed;
    for appender in appenders {
        positions.extend(appender.await.unwrap());
    }
    positions.sort_unstable();
    assert_eq!(positions, (1..=20 + 2 * APPENDS).collect::<Vec<_>>());
}
