//! Holding the lease: renewed beside the ticks, so that a long one does not lose it.

use std::sync::Arc;
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use store::{Fence, Renewed, Store};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::partition::Parts;

/// How long to wait before trying again what the store refused.
const RETRY_EVERY: Duration = Duration::from_millis(250);

/// What is known of the lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    /// Nothing was heard since it was taken.
    Since,
    Renewed {
        renewed: Renewed,
        asked: Instant,
    },
    /// Another epoch exists.
    Lost,
}

/// A lease that is renewed until this is dropped.
pub(crate) struct Lease {
    pub(crate) held: watch::Receiver<Held>,
    renewing: AbortHandle,
}

impl Lease {
    pub(crate) fn hold(parts: &Parts, fence: Fence) -> Self {
        let (sender, held) = watch::channel(Held::Since);
        let failures = parts.metrics.commit_failures.clone();
        let renewing = tokio::spawn(renew(parts.store.clone(), fence, parts.limits.lease, sender, failures)).abort_handle();
        Self { held, renewing }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.renewing.abort();
    }
}

async fn renew(store: Arc<dyn Store>, fence: Fence, length: Duration, held: watch::Sender<Held>, failures: Counter) {
    let mut pause = length / 3;
    let mut is_failing = false;
    loop {
        tokio::time::sleep(pause).await;
        let asked = Instant::now();
        pause = match store.renew(fence, length).await {
            Ok(Some(renewed)) => {
                if std::mem::take(&mut is_failing) {
                    tracing::info!("the lease is renewed again");
                }
                held.send_replace(Held::Renewed { renewed, asked });
                length / 3
            }
            Ok(None) => {
                held.send_replace(Held::Lost);
                return;
            }
            Err(error) => {
                failures.inc();
                // Once is enough: the disk that is full may be that of the log.
                if !std::mem::replace(&mut is_failing, true) {
                    tracing::warn!(%error, "the lease could not be renewed; it is tried again until it can");
                }
                RETRY_EVERY.min(length / 3)
            }
        };
    }
}
