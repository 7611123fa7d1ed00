//! Ticks, small enough to be read.

use std::time::{Duration, Instant};

use engine::PartitionId;
use store::log::NewRequest;
use store::{Backlog, Changes, Commit, Error, LogRow, Ownership, Store};
use store_postgres::Postgres;

pub(crate) const ONE: PartitionId = PartitionId(1);
/// Longer than any test.
pub(crate) const LEASE: Duration = Duration::from_secs(3600);

/// A long lease for the server of this name.
pub(crate) async fn acquire(store: &Postgres, owner: &str) -> Ownership {
    store.acquire(ONE, owner, LEASE).await.expect("the store answers").expect("the partition is free")
}

/// More than any test appends.
pub(crate) const ROOM: Backlog = Backlog { requests_max: 100_000, bytes_max: 100_000_000 };

pub(crate) fn request(request: &str) -> NewRequest {
    NewRequest { kind: "cancel", request: request.as_bytes().to_vec(), lives: None }
}

/// Who goes on after that tick.
pub(crate) fn after(owned: &Ownership, tick: &Commit) -> Ownership {
    let position = owned.position + tick.log.len() as u64;
    Ownership { position, next_key: tick.next_key, inbox_to: tick.inbox_to, ..owned.clone() }
}

/// A tick that brings one command into the log.
pub(crate) fn tick(owned: &Ownership) -> Commit {
    Commit {
        fence: owned.fence,
        first_key: owned.next_key,
        next_key: owned.next_key + 1,
        log: vec![LogRow { position: owned.position + 1, kind: "create", instance: None, events: vec![1] }],
        inbox_to: owned.inbox_to,
        answers: Vec::new(),
        now: owned.now,
        changes: Changes::default(),
        wake: false,
    }
}

/// A bound far above what a busy machine takes, and below for ever.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Repeats a call that may be refused for now; anything else than a refusal that passes by is a failure.
pub(crate) async fn until_it_works<T, F: Future<Output = Result<T, Error>>>(call: impl Fn() -> F) -> T {
    let begun = Instant::now();
    loop {
        match call().await {
            Ok(answer) => return answer,
            Err(Error::Unavailable { .. }) => assert!(begun.elapsed() < PATIENCE, "still not available"),
            Err(other) => panic!("{other:?}"),
        }
        tokio::task::yield_now().await;
    }
}
