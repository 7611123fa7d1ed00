//! The inbox: positions are gapless and become visible in order, what is answered leaves it, and there is an end to its growth.

use std::sync::Arc;
use std::time::Duration;

use super::owner::{LONG, NOW, Owner, PARTITION};
use crate::log::NewRequest;
use crate::{AnswerRow, Backlog, Changes, Commit, Error, Store};

const APPENDERS: u64 = 6;
const APPENDS: u64 = 15;
pub(super) const ROOM: Backlog = Backlog { requests_max: 10_000, bytes_max: 10_000_000 };

pub(super) fn request(number: u64) -> NewRequest {
    NewRequest { kind: "cancel", request: number.to_be_bytes().to_vec(), lives: None }
}

async fn append(store: &Arc<dyn Store>, requests: Vec<NewRequest>) -> Vec<u64> {
    store.append(PARTITION, requests, ROOM).await.unwrap()
}

async fn positions(store: &Arc<dyn Store>, after: u64) -> Vec<u64> {
    store.inbox(PARTITION, after, 1_000, usize::MAX).await.unwrap().iter().map(|one| one.position).collect()
}

fn answer(position: u64, answer: &[u8]) -> AnswerRow {
    AnswerRow { position, kind: "cancel", answer: answer.to_vec(), at: NOW, expires: NOW + 1_000 }
}

pub(super) async fn positions_count_up(store: Arc<dyn Store>) {
    // Nobody owns the partition yet; the inbox takes requests all the same.
    assert_eq!(append(&store, vec![request(1), request(2)]).await, [1, 2]);
    assert_eq!(append(&store, vec![]).await, Vec::<u64>::new());
    assert_eq!(append(&store, vec![request(3)]).await, [3]);
    let owner = Owner::of(&store).await;
    assert_eq!((owner.ownership.inbox_tail, owner.ownership.inbox_to, owner.ownership.position), (3, 0, 0));
    let renewed = store.renew(owner.ownership.fence, LONG).await.unwrap().expect("it is the owner");
    assert_eq!(renewed.inbox_tail, 3);
    append(&store, vec![request(4)]).await;
    assert_eq!(store.renew(owner.ownership.fence, LONG).await.unwrap().unwrap().inbox_tail, 4);
}

pub(super) async fn requests_come_in_order(store: Arc<dyn Store>) {
    append(&store, (1..=5).map(request).collect()).await;
    let received = store.inbox(PARTITION, 0, 3, usize::MAX).await.unwrap();
    let seen: Vec<_> = received.iter().map(|one| (one.position, one.request.clone())).collect();
    assert_eq!(seen, (1..=3).map(|n| (n, request(n).request)).collect::<Vec<_>>());
    assert_eq!(positions(&store, 3).await, [4, 5]);
    assert!(positions(&store, 5).await.is_empty());
    assert!(store.inbox(PARTITION, 0, 0, usize::MAX).await.unwrap().is_empty());
}

pub(super) async fn a_read_is_bounded_by_bytes(store: Arc<dyn Store>) {
    let sized = |bytes| NewRequest { kind: "create", request: vec![7; bytes], lives: None };
    append(&store, vec![sized(500), sized(100), sized(100), sized(300)]).await;
    for (after, bytes_max, expected) in [
        // The first comes whatever its size: the reader has to get on.
        (0, 0, vec![1]),
        (0, 499, vec![1]),
        (0, 600, vec![1, 2]),
        (0, 699, vec![1, 2]),
        (1, 200, vec![2, 3]),
        (1, 499, vec![2, 3]),
        (1, 500, vec![2, 3, 4]),
    ] {
        let read = store.inbox(PARTITION, after, 10, bytes_max).await.unwrap();
        assert_eq!(read.iter().map(|one| one.position).collect::<Vec<_>>(), expected, "after {after}, {bytes_max} bytes");
    }
}

pub(super) async fn answered_requests_leave(store: Arc<dyn Store>) {
    append(&store, (1..=4).map(request).collect()).await;
    let mut owner = Owner::of(&store).await;
    let commit = Commit { inbox_to: 3, answers: vec![answer(1, &[1, 0, 255]), answer(3, &[])], ..owner.tick(Changes::default()) };
    store.commit(commit.clone()).await.unwrap();
    owner.went_through(&commit);
    assert_eq!(positions(&store, 0).await, [4]);
    let statuses = store.statuses(PARTITION, &[4, 3, 2, 1, 5, 0, 1]).await.unwrap();
    let seen: Vec<_> = statuses.iter().map(|one| (one.position, one.answer.clone())).collect();
    // What was answered with nothing is unknown from then on.
    assert_eq!(seen, [(1, Some(vec![1, 0, 255])), (3, Some(vec![])), (4, None)]);
    assert!(statuses.iter().all(|one| one.kind == "cancel" && 0 < one.at));
    assert_eq!(statuses[0].at, NOW, "when the request came, as the owner says");
    assert!(store.statuses(PARTITION, &[]).await.unwrap().is_empty());
    let status = &store.partitions().await.unwrap()[0];
    assert_eq!((status.inbox_to, status.inbox_tail, status.position), (3, 4, 1));
    // A commit that answers none leaves the rest alone.
    owner.commit(Changes::default()).await;
    assert_eq!(positions(&store, 0).await, [4]);
    assert_eq!(append(&store, vec![request(5)]).await, [5], "positions are not given twice");
    let again = Owner::of(&store).await.ownership;
    assert_eq!((again.inbox_to, again.inbox_tail), (3, 5));
}

pub(super) async fn an_inbox_has_a_bound(store: Arc<dyn Store>) {
    let requests = |count: u64| (0..count).map(request).collect::<Vec<_>>();
    let of_requests = Backlog { requests_max: 3, ..ROOM };
    assert_eq!(store.append(PARTITION, requests(2), of_requests).await.unwrap(), [1, 2]);
    for (count, backlog) in [(2, of_requests), (1, Backlog { bytes_max: 23, ..ROOM }), (1, Backlog { requests_max: 0, ..ROOM })] {
        match store.append(PARTITION, requests(count), backlog).await {
            Err(Error::Exhausted { what }) => assert_eq!(what, "the inbox"),
            other => panic!("expected the inbox to be full, got {other:?}"),
        }
    }
    // What did not fit left nothing behind.
    assert_eq!(store.partitions().await.unwrap()[0].inbox_tail, 2);
    assert_eq!(store.append(PARTITION, requests(1), Backlog { bytes_max: 24, ..of_requests }).await.unwrap(), [3]);
    assert!(store.append(PARTITION, requests(1), of_requests).await.is_err());
    // Answered requests make room.
    let owner = Owner::of(&store).await;
    store.commit(Commit { inbox_to: 2, ..owner.tick(Changes::default()) }).await.unwrap();
    assert_eq!(store.append(PARTITION, requests(2), Backlog { bytes_max: 24, ..of_requests }).await.unwrap(), [4, 5]);
    assert!(store.append(PARTITION, requests(1), of_requests).await.is_err());
    assert!(store.append(PARTITION, requests(1), Backlog { bytes_max: 31, ..ROOM }).await.is_err());
    assert_eq!(store.append(PARTITION, requests(1), Backlog { bytes_max: 32, ..ROOM }).await.unwrap(), [6]);
}

pub(super) async fn requests_expire_by_the_databases_clock(store: Arc<dyn Store>) {
    let before = store.now().await.unwrap();
    let lives = |lives| NewRequest { lives, ..request(1) };
    append(&store, vec![lives(None), lives(Some(Duration::ZERO)), lives(Some(LONG))]).await;
    let after = store.now().await.unwrap();
    let received = store.inbox(PARTITION, 0, 10, usize::MAX).await.unwrap();
    assert!(received.iter().all(|one| (before..=after).contains(&one.at)), "{received:?}");
    let expires: Vec<_> = received.iter().map(|one| one.expires.map(|expires| expires - one.at)).collect();
    // They stay until the owner has seen to them: positions have no gaps.
    assert_eq!(expires, [None, Some(0), Some(3_600_000)]);
}

pub(super) async fn appenders_leave_no_gap(store: Arc<dyn Store>) {
    let mut appenders = Vec::new();
    for appender in 0..APPENDERS {
        let store = store.clone();
        appenders.push(tokio::spawn(async move {
            let mut positions = Vec::new();
            for number in 0..APPENDS {
                let requests = (0..=number % 3).map(|one| request(appender * 1000 + one)).collect();
                let given = append(&store, requests).await;
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
                append(&store, vec![request(appender * 1000 + number)]).await;
            }
        }));
    }
    let mut seen = 0;
    loop {
        // Asked before reading: once all have been told their positions, one more read shows everything.
        let are_done = appenders.iter().all(tokio::task::JoinHandle::is_finished);
        let received = store.inbox(PARTITION, seen, 7, usize::MAX).await.unwrap();
        if are_done && received.is_empty() {
            break;
        }
        for received in received {
            assert_eq!(received.position, seen + 1);
            seen = received.position;
        }
        tokio::task::yield_now().await;
    }
    for appender in appenders {
        appender.await.unwrap();
    }
    assert_eq!(seen, APPENDERS * APPENDS);
}

/// An owner answers while others append, all within a small bound: every position is there once, and nobody waits for anybody.
pub(super) async fn appends_and_commits_leave_no_gap(store: Arc<dyn Store>) {
    const BOUND: Backlog = Backlog { requests_max: 5, bytes_max: 5 * 8 };
    let mut owner = Owner::of(&store).await;
    let mut appenders = Vec::new();
    for appender in 0..2 {
        let store = store.clone();
        appenders.push(tokio::spawn(async move {
            let mut positions = Vec::new();
            while (positions.len() as u64) < APPENDS {
                match store.append(PARTITION, vec![request(appender)], BOUND).await {
                    Ok(given) => positions.extend(given),
                    Err(Error::Exhausted { .. }) => tokio::task::yield_now().await,
                    Err(other) => panic!("{other}"),
                }
            }
            positions
        }));
    }
    while owner.ownership.inbox_to < 2 * APPENDS {
        let received = store.inbox(PARTITION, owner.ownership.inbox_to, 10, usize::MAX).await.unwrap();
        assert!(received.len() as u64 <= BOUND.requests_max, "the bound holds under concurrency");
        let answers: Vec<_> = received.iter().map(|one| answer(one.position, &[1])).collect();
        let inbox_to = received.last().map_or(owner.ownership.inbox_to, |one| one.position);
        let commit = Commit { inbox_to, answers, ..owner.tick(Changes::default()) };
        store.commit(commit.clone()).await.expect("appending does not disturb the owner");
        owner.went_through(&commit);
        tokio::task::yield_now().await;
    }
    let mut positions = Vec::new();
    for appender in appenders {
        positions.extend(appender.await.unwrap());
    }
    positions.sort_unstable();
    let all: Vec<u64> = (1..=2 * APPENDS).collect();
    assert_eq!(positions, all);
    let answered = store.statuses(PARTITION, &all).await.unwrap();
    assert!(answered.len() == all.len() && answered.iter().all(|one| one.answer.is_some()));
}
