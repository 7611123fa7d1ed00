//! Ticks, small enough to be read.

use std::time::{Duration, Instant};

use engine::PartitionId;
use store::log::NewCommand;
use store::{Changes, Commit, Error, LogRow, Ownership, Store};
use store_postgres::Postgres;

pub(crate) const ONE: PartitionId = PartitionId(1);
/// Longer than any test.
pub(crate) const LEASE: Duration = Duration::from_secs(3600);

/// A long lease for the server of this name.
pub(crate) async fn acquire(store: &Postgres, owner: &str) -> Ownership {
    store.acquire(ONE, owner, LEASE).await.expect("the store answers").expect("the partition is free")
}

pub(crate) fn command(request: &str) -> NewCommand {
    NewCommand { kind: "cancel", request: request.as_bytes().to_vec() }
}

/// A tick that brings one command of its own into the log and answers it.
pub(crate) fn tick(owned: &Ownership) -> Commit {
    let position = owned.tail + 1;
    let appended = LogRow { position, kind: "create", instance: None, events: vec![1], answer: Some(vec![2]) };
    Commit {
        fence: owned.fence,
        tail: owned.tail,
        processed: Vec::new(),
        appended: vec![appended],
        processed_to: position,
        next_key: owned.next_key,
        now: owned.now,
        changes: Changes::default(),
        wake: false,
    }
}

/// Repeats a call that may be refused for now; anything else than a refusal that passes by is a failure.
pub(crate) async fn until_it_works<T, F: Future<Output = Result<T, Error>>>(call: impl Fn() -> F) -> T {
    let begun = Instant::now();
    loop {
        match call().await {
            Ok(answer) => return answer,
            Err(Error::Unavailable { .. }) => assert!(begun.elapsed() < Duration::from_secs(10), "still not available"),
            Err(other) => panic!("{other:?}"),
        }
        tokio::task::yield_now().await;
    }
}
