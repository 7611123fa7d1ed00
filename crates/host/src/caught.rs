//! Loops that others wait for: a panic ends one turn of theirs, not the server's service.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

/// Runs until the end, or until it panics.
pub(crate) async fn caught(running: impl Future<Output = ()>) -> Result<(), ()> {
    let mut running = std::pin::pin!(running);
    std::future::poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| running.as_mut().poll(context)));
        polled.map_or(Poll::Ready(Err(())), |polled| polled.map(Ok))
    })
    .await
}
