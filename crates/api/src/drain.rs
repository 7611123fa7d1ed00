//! The end of the server, as calls that wait see it.

use tokio::sync::watch;
use tonic::Status;

/// Returns when the server drains; never, if whoever would say so is gone.
pub(crate) async fn drained(mut draining: watch::Receiver<bool>) {
    if draining.wait_for(|draining| *draining).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// What a call that had to end is told; clients try again elsewhere.
pub(crate) fn ended() -> Status {
    Status::unavailable("the server is shutting down")
}
