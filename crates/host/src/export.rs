//! The stream of what happened (ADR 37): the log that is there anyway, followed at its own pace and told to somebody outside, in order.
//!
//! It runs beside the ticks and holds nothing they wait for. It tells a page, hears that all of it has arrived, and remembers the place in
//! the store now and then. Whoever dies in between leaves some to be told again, by the same positions.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use store::{Error, Logged, Millis};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::drive::PARTITION;
use crate::handle::Host;
use crate::happened::{Happened, told};
use crate::patience::{AGAIN_AFTER_MAX, Patience};

/// Rows of the log that are told at once, and bytes of what happened in them.
const PAGE_MAX: usize = 500;
const PAGE_BYTES_MAX: usize = 1024 * 1024;

/// What comes within this time is read together.
const GATHERED: Duration = Duration::from_millis(10);

/// How often the place is written, at most.
const PLACE_EVERY: Duration = Duration::from_secs(1);

/// To whom it is told, and what.
pub struct Exporting {
    /// The name under which its place is kept: another name begins at the beginning.
    pub name: Arc<str>,
    pub variables: bool,
    /// For how long what is not told yet is kept when it would go otherwise.
    pub hold: Duration,
    pub exporter: Arc<dyn Exporter>,
}

impl std::fmt::Debug for Exporting {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Exporting").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Somebody outside.
#[async_trait::async_trait]
pub trait Exporter: Send + Sync + 'static {
    /// Tells all of it, in order for each instance, and says how many will never be taken. If it fails, all of it is told again: of one
    /// instance nothing may have arrived before what came before it has.
    async fn export(&self, happened: &[Happened]) -> Result<u64, Arc<str>>;
}

#[derive(Debug, Clone, Default)]
pub struct ExportMetrics {
    pub lag: Gauge,
    pub published: Counter,
    pub failures: Counter,
    pub left_out: Counter,
}

impl ExportMetrics {
    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register("export_lag", "Positions of the log that were not exported yet", self.lag.clone());
        registry.register("export_published", "Things that happened and were exported", self.published.clone());
        registry.register("export_failures", "Attempts at exporting that failed and are made again", self.failures.clone());
        registry.register("export_left_out", "Things that happened and will never be exported", self.left_out.clone());
    }
}

/// How far it is, for those who write the log and those who remove what is old.
#[derive(Debug)]
pub(crate) struct Following {
    pub(crate) exporting: Arc<Exporting>,
    /// The last position that was written.
    written: AtomicU64,
    /// The last one that was told.
    told: AtomicU64,
    /// All that happened before this time was told.
    whole: AtomicI64,
    news: Notify,
}

impl Following {
    pub(crate) fn new(exporting: Arc<Exporting>) -> Self {
        let (written, told, whole) = (AtomicU64::new(0), AtomicU64::new(0), AtomicI64::new(Millis::MIN));
        Self { exporting, written, told, whole, news: Notify::new() }
    }

    /// The log was written up to there.
    pub(crate) fn written(&self, position: u64, metrics: &ExportMetrics) {
        self.written.store(position, Ordering::Relaxed);
        self.measure(metrics);
        self.news.notify_one();
    }

    fn measure(&self, metrics: &ExportMetrics) {
        let lag = self.written.load(Ordering::Relaxed).saturating_sub(self.told.load(Ordering::Relaxed));
        metrics.lag.set(i64::try_from(lag).unwrap_or(i64::MAX));
    }

    /// Before which time things may go that would go before this one.
    pub(crate) fn held(&self, before: Millis) -> Millis {
        let hold = Millis::try_from(self.exporting.hold.as_millis()).unwrap_or(Millis::MAX);
        before.min(self.whole.load(Ordering::Relaxed).max(before.saturating_sub(hold)))
    }
}

/// Tells what happens, for as long as this server owns the partition.
pub(crate) async fn follow_log(host: Host, following: Arc<Following>) {
    let (place, began) = loop {
        match begin(&host, &following).await {
            Ok(begun) => break begun,
            Err(error) => {
                tracing::warn!(%error, "it cannot be read up to where the log was exported");
                tokio::time::sleep(AGAIN_AFTER_MAX).await;
            }
        }
    };
    tracing::info!(place, name = &*following.exporting.name, "exporting what happens");
    let mut export = Export {
        host,
        following,
        after: place.unwrap_or(0),
        is_known: place.is_some(),
        last: began - 1,
        saved: place.unwrap_or(0),
        save_at: Instant::now() + PLACE_EVERY,
        patience: Patience::new(),
    };
    loop {
        export.turn().await;
    }
}

/// The place to go on from, and the engine's time before anything was read.
async fn begin(host: &Host, following: &Following) -> Result<(Option<u64>, Millis), Error> {
    let began = host.now().await?;
    Ok((host.store().export_place(PARTITION, &following.exporting.name).await?, began))
}

struct Export {
    host: Host,
    following: Arc<Following>,
    /// What was told last.
    after: u64,
    /// Whether anything was ever told, so that what is missing after it is a gap.
    is_known: bool,
    /// When what was told last happened.
    last: Millis,
    /// The place as it is in the store, and when it may be written again.
    saved: u64,
    save_at: Instant,
    patience: Patience,
}

impl Export {
    async fn turn(&mut self) {
        match self.page().await {
            Ok(true) => self.patience.is_answered(),
            Ok(false) => {
                self.patience.is_answered();
                self.following.whole.fetch_max(self.last.saturating_add(1), Ordering::Relaxed);
                let following = self.following.clone();
                tokio::select! {
                    () = following.news.notified() => tokio::time::sleep(GATHERED).await,
                    () = tokio::time::sleep_until(self.save_at), if self.saved < self.after => {}
                }
            }
            Err(reason) => {
                self.host.metrics().export.failures.inc();
                self.complain(&reason);
                self.patience.wait().await;
            }
        }
        if self.saved < self.after && self.save_at <= Instant::now() {
            self.save().await;
        }
    }

    /// Whether there was anything.
    async fn page(&mut self) -> Result<bool, Arc<str>> {
        let store = self.host.store().clone();
        let unread = |error: Error| Arc::from(error.to_string());
        let page = store.happened(PARTITION, self.after, PAGE_MAX, PAGE_BYTES_MAX).await.map_err(unread)?;
        let (Some(first), Some(last)) = (page.first(), page.last()) else { return Ok(false) };
        // What happened before the first of these was told.
        self.following.whole.fetch_max(first.at, Ordering::Relaxed);
        let exporting = self.following.exporting.clone();
        let told = told(&*store, &page, exporting.variables).await.map_err(unread)?;
        let refused = if told.happened.is_empty() { 0 } else { exporting.exporter.export(&told.happened).await? };
        self.look_for_gap(first);
        let metrics = &self.host.metrics().export;
        metrics.published.inc_by(told.happened.len() as u64 - refused);
        metrics.left_out.inc_by(refused + told.left_out);
        (self.after, self.last, self.is_known) = (last.position, last.at, true);
        self.patience.is_served();
        self.following.told.store(self.after, Ordering::Relaxed);
        self.following.measure(metrics);
        Ok(true)
    }

    /// Positions are without gaps, unless what was not told for too long was removed.
    fn look_for_gap(&self, first: &Logged) {
        let missing = first.position.saturating_sub(self.after + 1);
        if self.is_known && 0 < missing {
            tracing::error!(missing, after = self.after, "what was not exported for too long was removed and will be missing");
            self.host.metrics().export.left_out.inc_by(missing);
        }
    }

    /// It is true whoever writes it, and if it is not written some is told again.
    async fn save(&mut self) {
        self.save_at = Instant::now() + PLACE_EVERY;
        let Some(fence) = self.host.fence() else { return };
        match self.host.store().put_export_place(fence, &self.following.exporting.name, self.after).await {
            Ok(true) => self.saved = self.after,
            // Another server goes on with this; here it ends soon.
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "up to where the log was exported is not written for now"),
        }
    }

    fn complain(&mut self, reason: &str) {
        if self.patience.complains() {
            let lag = self.host.metrics().export.lag.get();
            tracing::error!(reason, lag, "the export stands still; it goes on from where it is when it can");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nobody;

    #[async_trait::async_trait]
    impl Exporter for Nobody {
        async fn export(&self, _: &[Happened]) -> Result<u64, Arc<str>> {
            Ok(0)
        }
    }

    #[test]
    fn what_was_not_told_is_held_for_a_while() {
        let exporter = Arc::new(Nobody);
        let hold = Duration::from_millis(100);
        let following = Following::new(Arc::new(Exporting { name: "n".into(), variables: false, hold, exporter }));
        assert_eq!(following.held(1_000), 900, "nothing was told yet");
        following.whole.store(950, Ordering::Relaxed);
        assert_eq!(following.held(1_000), 950);
        assert_eq!(following.held(940), 940);
        assert_eq!(following.held(2_000), 1_900, "too long");
    }
}
