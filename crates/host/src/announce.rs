//! Telling workers of their jobs through a broker, instead of waiting to be asked. What is to be told is written in the tick that leases the
//! job (the outbox); here it is told, in order, and then removed. Whoever dies in between leaves it to be told again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use engine::JobKey;
use store::Millis;
use store::log::{Announced, Caller, Command, Request, Unannounced};
use store::row::{Announcement, AnnouncementKey};
use tokio::sync::Notify;

use crate::drive::PARTITION;
use crate::handle::Host;
use crate::patience::{AGAIN_AFTER, AGAIN_AFTER_MAX, Patience};

/// Who has a job that was announced, until somebody says what became of it.
pub const ANNOUNCED: &str = "kafka";

/// How many are told at once.
const PAGE_MAX: usize = 1_000;
const PAGE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Which jobs are announced, to whom, and how much may wait to be.
pub struct Announcing {
    /// Of these types; of all if there are none.
    pub job_types: Vec<Arc<str>>,
    /// How long a job is left to whoever hears of it.
    pub lease: Duration,
    /// How much may wait while the broker is away; the rest waits as jobs do.
    pub rows_max: u64,
    pub bytes_max: u64,
    pub publisher: Arc<dyn Publisher>,
}

impl Announcing {
    pub fn covers(&self, job_type: &str) -> bool {
        self.job_types.is_empty() || self.job_types.iter().any(|covered| **covered == *job_type)
    }
}

impl std::fmt::Debug for Announcing {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Announcing").field("job_types", &self.job_types).finish_non_exhaustive()
    }
}

/// What became of an announcement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Published {
    /// The broker has it.
    Told,
    /// It will not have it: not now, or not at all.
    Refused { reason: Arc<str>, for_good: bool },
    /// It could not be reached: the same again, later.
    Away { reason: Arc<str> },
    /// It is not known yet whether it will have this one; others go on.
    Later,
}

/// A broker.
#[async_trait::async_trait]
pub trait Publisher: Send + Sync + 'static {
    /// One answer for each, in order. Those of one instance must not overtake each other where they are of one type.
    async fn publish(&self, announcements: &[Announcement]) -> Vec<Published>;
}

/// What waits to be told, as far as the owner has written it.
#[derive(Debug)]
pub(crate) struct Fill {
    rows: AtomicU64,
    bytes: AtomicU64,
    /// When the first of it was written: what was written before was told.
    since: AtomicI64,
    /// There is something to tell.
    pub(crate) news: Notify,
}

impl Default for Fill {
    fn default() -> Self {
        let (rows, bytes, since) = (AtomicU64::new(0), AtomicU64::new(0), AtomicI64::new(Millis::MAX));
        Self { rows, bytes, since, news: Notify::new() }
    }
}

impl Fill {
    /// The first of what waits.
    pub(crate) fn begins(&self, first: Option<&Announcement>) {
        self.since.store(first.map_or(Millis::MAX, |first| first.created), Ordering::Relaxed);
    }

    /// Whether what was written at this time may still wait.
    pub(crate) fn may_have(&self, written: Millis) -> bool {
        self.since.load(Ordering::Relaxed) <= written
    }

    pub(crate) fn add(&self, rows: u64, bytes: u64) {
        self.rows.fetch_add(rows, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn remove(&self, rows: u64, bytes: u64) {
        let (had_rows, had_bytes) = self.sizes();
        self.set(had_rows.saturating_sub(rows), had_bytes.saturating_sub(bytes));
    }

    pub(crate) fn set(&self, rows: u64, bytes: u64) {
        self.rows.store(rows, Ordering::Relaxed);
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    pub(crate) fn sizes(&self) -> (u64, u64) {
        (self.rows.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }

    /// How many more may wait.
    pub(crate) fn room(&self, announcing: &Announcing) -> usize {
        let (rows, bytes) = self.sizes();
        match bytes < announcing.bytes_max {
            true => usize::try_from(announcing.rows_max.saturating_sub(rows)).unwrap_or(usize::MAX),
            false => 0,
        }
    }
}

/// Tells what is in the outbox, for as long as this server owns the partition.
pub(crate) async fn relay(host: Host, announcing: Arc<Announcing>, fill: Arc<Fill>) {
    let (after, told, patience) = (AnnouncementKey(0), BTreeSet::new(), Patience::new());
    let mut relay = Relay { host, announcing, fill: fill.clone(), after, told, patience };
    loop {
        match relay.page().await {
            Page::More => relay.patience.is_answered(),
            Page::Empty => {
                relay.patience.is_answered();
                fill.news.notified().await;
            }
            Page::Later => {
                tokio::select! {
                    () = fill.news.notified() => {}
                    () = tokio::time::sleep(AGAIN_AFTER) => {}
                }
            }
            Page::Again => relay.patience.wait().await,
        }
    }
}

/// Jobs are asked for, but there is something in the outbox from when they were announced: it is dropped. Their leases end by themselves.
pub(crate) async fn clear(host: Host) {
    loop {
        let found = match host.store().outbox(PARTITION, AnnouncementKey(0), PAGE_MAX, PAGE_BYTES_MAX).await {
            Ok(found) if found.is_empty() => return,
            Ok(found) => found,
            Err(_) => {
                tokio::time::sleep(AGAIN_AFTER_MAX).await;
                continue;
            }
        };
        tracing::info!(
            rows = found.len(),
            "dropping announcements: workers ask for jobs now; theirs are free when their leases end"
        );
        let told = found.iter().map(|announcement| announcement.key).collect();
        if !settle(&host, Announced { told, refused: Vec::new(), bytes: 0 }).await {
            tokio::time::sleep(AGAIN_AFTER_MAX).await;
        }
    }
}

enum Page {
    More,
    Empty,
    /// Some of it is not told yet; what comes meanwhile need not wait.
    Later,
    /// Not all of it, for now.
    Again,
}

struct Relay {
    host: Host,
    announcing: Arc<Announcing>,
    fill: Arc<Fill>,
    /// What was told last.
    after: AnnouncementKey,
    /// What the broker has and could not be removed yet: it need not hear of it again.
    told: BTreeSet<AnnouncementKey>,
    patience: Patience,
}

/// What became of a page, as far as it is known.
struct Heard {
    announced: Announced,
    /// The first of which it is not known.
    later: Option<AnnouncementKey>,
    /// Why the broker could not be told, if so.
    away: Option<Arc<str>>,
}

impl Relay {
    async fn page(&mut self) -> Page {
        let found = match self.host.store().outbox(PARTITION, self.after, PAGE_MAX, PAGE_BYTES_MAX).await {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!(%error, "the outbox cannot be read");
                return Page::Again;
            }
        };
        self.fill.begins(found.first());
        if found.is_empty() {
            return Page::Empty;
        }
        let Heard { announced, later, away } = self.tell(&found).await;
        let is_removed = self.remove(announced, later).await;
        match (away, later) {
            (Some(reason), _) => {
                self.complain(&reason);
                Page::Again
            }
            (None, _) if !is_removed => Page::Again,
            (None, Some(_)) => Page::Later,
            (None, None) => {
                self.patience.is_served();
                Page::More
            }
        }
    }

    async fn tell(&mut self, found: &[Announcement]) -> Heard {
        let untold: Vec<_> = found.iter().filter(|one| !self.told.contains(&one.key)).cloned().collect();
        let mut published = self.announcing.publisher.publish(&untold).await.into_iter();
        let announced = Announced { told: Vec::new(), refused: Vec::new(), bytes: 0 };
        let (mut heard, mut complaints) = (Heard { announced, later: None, away: None }, Complaints::default());
        for announcement in found {
            let became = match self.told.contains(&announcement.key) {
                true => Published::Told,
                false => published.next().unwrap_or(Published::Later),
            };
            match became {
                Published::Told => {
                    if self.told.insert(announcement.key) {
                        self.host.metrics().announced.inc();
                    }
                    heard.announced.told.push(announcement.key);
                }
                Published::Refused { reason, for_good } => {
                    complaints.add(announcement, &reason);
                    let (announcement, job) = (announcement.key, announcement.job);
                    heard.announced.refused.push(Unannounced { announcement, job, reason, for_good });
                }
                Published::Away { reason } => {
                    heard.later.get_or_insert(announcement.key);
                    heard.away.get_or_insert(reason);
                    continue;
                }
                Published::Later => {
                    heard.later.get_or_insert(announcement.key);
                    continue;
                }
            }
            heard.announced.bytes += announcement.payload.len() as u64;
        }
        complaints.say();
        self.host.metrics().announcements_refused.inc_by(heard.announced.refused.len() as u64);
        heard
    }

    /// Whether what need not be told any more is gone.
    async fn remove(&mut self, announced: Announced, later: Option<AnnouncementKey>) -> bool {
        let last = announced.told.last().copied().max(announced.refused.last().map(|refused| refused.announcement));
        let Some(last) = last else { return true };
        let is_removed = settle(&self.host, announced).await;
        if is_removed {
            // The first that was not told is found again.
            self.after = later.map_or(last, |first| last.min(AnnouncementKey(first.0 - 1)));
            self.told.clear();
        }
        is_removed
    }

    fn complain(&mut self, reason: &str) {
        if self.patience.complains() {
            let (rows, bytes) = self.fill.sizes();
            let is_full = self.fill.room(&self.announcing) == 0;
            tracing::error!(
                reason,
                rows,
                bytes,
                is_full,
                "the broker is away: jobs wait in the outbox and are announced when it is back"
            );
        }
    }
}

/// Jobs that a broker did not take, a line for all of a type: there may be many, and again and again.
#[derive(Default)]
struct Complaints<'a>(BTreeMap<&'a str, (usize, JobKey, Arc<str>)>);

impl<'a> Complaints<'a> {
    fn add(&mut self, announcement: &'a Announcement, reason: &Arc<str>) {
        self.0.entry(&announcement.job_type).or_insert((0, announcement.job, reason.clone())).0 += 1;
    }

    fn say(&self) {
        for (job_type, (jobs, first, reason)) in &self.0 {
            tracing::warn!(job_type, jobs, %first, %reason, "the broker does not take jobs");
        }
    }
}

/// Removes what was told. Whoever dies before that is followed by one who tells it again: those who hear it know it by its id.
async fn settle(host: &Host, announced: Announced) -> bool {
    let request = Request { caller: Caller::engine(), command: Command::Announced(announced), idempotency: None };
    match host.submit(request).await {
        Ok(_) => true,
        Err(error) => {
            tracing::warn!(%error, "what was announced stays in the outbox for now");
            false
        }
    }
}
