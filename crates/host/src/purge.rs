//! Removing what is old (ADR 29): a pass in small steps, the oldest first, beside the ticks and never before them.
//!
//! A step removes so many rows that it takes a few milliseconds, and the next one waits several times as long, unless much has gathered.
//! Everything here can be stopped at any moment: what is left is found again, from the beginning.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::{InstanceKey, PartitionId};
use store::retention::{Aged, FinishedAfter};
use store::{Error, Fence, Millis, Store};
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::Limits;
use crate::handle::Host;
use crate::metrics::Metrics;
use crate::retention::Kept;

/// Between two passes while there is work, and while there is none.
const EVERY: Duration = Duration::from_secs(60);
const EVERY_AT_REST: Duration = Duration::from_secs(15 * 60);
/// After so long every window is gone through from its beginning: what was called by others, or had something running below it, may go now.
const ANEW_EVERY: Duration = Duration::from_secs(24 * 60 * 60);

/// Rows in one step, about, and how long it is to take. Where it takes longer with the fewest, it is the disk's flush or a busy machine that takes it, and
/// fewer rows would not help.
const ROWS: std::ops::RangeInclusive<usize> = 200..=5_000;
const STEP: Duration = Duration::from_millis(5);
/// How many times as long as a step the pause after it is; and when steps are so full that they hardly keep up.
const PAUSE: u32 = 4;
const PAUSE_WHEN_BEHIND: u32 = 1;
/// What is to go and has waited for so long shows that steps do not keep up.
const BEHIND: Duration = Duration::from_secs(5 * 60);
/// Finished instances looked at in one step.
const LOOKED_AT: usize = 1_000;
/// What people call documents, their links and their parts.
const DOCUMENTS: &str = "documents";
/// Rows of each kind that are counted where nothing is removed.
pub(crate) const COUNTED_MAX: usize = 1_000_000;

/// Rows by what they are, as people call it. Of instances those that nobody called, without all that goes with them.
pub type PurgedRows = BTreeMap<&'static str, u64>;

/// What the task and those who ask for a purge have in common.
#[derive(Debug, Default)]
pub(crate) struct Purging {
    pass: tokio::sync::Mutex<Pass>,
    worked: AtomicBool,
    look: Notify,
}

impl Purging {
    /// A tick was written: there may be more to remove, in time.
    pub(crate) fn worked(&self) {
        self.worked.store(true, Ordering::Relaxed);
    }

    /// The engine's time was moved.
    pub(crate) fn look(&self) {
        self.look.notify_one();
    }
}

/// How far a pass is. Everything in it may be forgotten.
#[derive(Debug)]
struct Pass {
    /// What comes next, of the plan. Each has its turn: what never ends while there is much to do holds up nothing else.
    next: usize,
    /// Had nothing at that moment, and is not asked again so soon.
    empty: BTreeMap<usize, Instant>,
    /// Whether instances that are to go have waited for long.
    is_behind: bool,
    /// For every time that instances are kept: those up to there have gone.
    windows: BTreeMap<Kept, FinishedAfter>,
    /// Instances found and not gone yet, of whichever time.
    found: Vec<InstanceKey>,
    rows: usize,
    since: Instant,
}

impl Default for Pass {
    fn default() -> Self {
        Self {
            next: 0,
            empty: BTreeMap::new(),
            is_behind: false,
            windows: BTreeMap::new(),
            found: Vec::new(),
            rows: 500,
            since: Instant::now(),
        }
    }
}

/// One thing a pass goes through.
#[derive(Debug, Clone, Copy)]
enum Item {
    /// Those kept for this time.
    Instances(Kept),
    Aged(Aged),
    /// Those that have expired.
    Documents,
}

/// What a step did.
#[derive(Debug)]
enum Step {
    /// Some of this went, so much of it is counted; there may be more.
    Went { what: &'static str, counted: usize, is_behind: bool },
    /// There is nothing left to do.
    Done,
    /// Somebody else owns the partition.
    Deposed,
}

/// What went of one thing: all rows, and those of them that are counted for whoever asks.
#[derive(Debug, Clone, Copy)]
struct Gone {
    rows: usize,
    counted: usize,
}

impl Gone {
    const NOTHING: Self = Self::rows(0);

    const fn rows(rows: usize) -> Self {
        Self { rows, counted: rows }
    }
}

/// Removes what is old until this is dropped.
pub(crate) struct Purger(AbortHandle);

impl Purger {
    pub(crate) fn start(host: &Host, fence: Fence) -> Self {
        Self(tokio::spawn(run(host.clone(), fence)).abort_handle())
    }
}

impl Drop for Purger {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn run(host: Host, fence: Fence) {
    let purging = host.inner().purging.clone();
    let mut waited = EVERY_AT_REST;
    loop {
        tokio::select! {
            biased;
            () = purging.look.notified() => waited = EVERY_AT_REST,
            () = tokio::time::sleep(EVERY) => waited += EVERY,
        }
        if !purging.worked.swap(false, Ordering::Relaxed) && waited < EVERY_AT_REST {
            continue;
        }
        waited = Duration::ZERO;
        match pass(&host, fence).await {
            Ok(true) => {}
            Ok(false) => return,
            // It will be found again.
            Err(error) => tracing::debug!(%error, "nothing more was removed for now"),
        }
    }
}

/// From where the last one stopped to the end; false once somebody else owns the partition.
async fn pass(host: &Host, fence: Fence) -> Result<bool, Error> {
    let purger = Steps::of(host, fence);
    loop {
        let began = Instant::now();
        let step = purger.step(&mut *purger.purging.pass.lock().await).await?;
        let times = match step {
            Step::Went { is_behind: false, .. } => PAUSE,
            Step::Went { is_behind: true, .. } => PAUSE_WHEN_BEHIND,
            Step::Done => break,
            Step::Deposed => return Ok(false),
        };
        tokio::time::sleep(began.elapsed() * times).await;
    }
    while purger.store.give_room_back().await? {
        tokio::time::sleep(STEP * PAUSE).await;
    }
    Ok(true)
}

impl Host {
    /// What is old and would go, by what it is, each counted up to a million.
    pub async fn count_purgeable(&self) -> Result<PurgedRows, crate::Error> {
        let steps = Steps::of(self, Fence { partition: crate::drive::PARTITION, epoch: 0 });
        Ok(steps.count().await?)
    }

    /// Removes what is old, for so long at most; and whether there is nothing left. Only who owns the partition can.
    pub async fn purge(&self, at_most: Duration) -> Result<(PurgedRows, bool), crate::Error> {
        let other = || crate::Error::Unavailable { reason: "another server owns the partition: ask that one".to_owned() };
        let fence = self.fence().ok_or_else(other)?;
        let purger = Steps::of(self, fence);
        let mut purged = PurgedRows::new();
        let mut pass = purger.purging.pass.lock().await;
        let until = Instant::now() + at_most;
        while Instant::now() < until {
            match purger.step(&mut pass).await? {
                Step::Went { what, counted, .. } => *purged.entry(what).or_default() += counted as u64,
                Step::Done => return Ok((purged, true)),
                Step::Deposed => return Err(other()),
            }
            tokio::task::yield_now().await;
        }
        Ok((purged, false))
    }
}

/// What a step needs.
struct Steps<'a> {
    host: &'a Host,
    store: &'a Arc<dyn Store>,
    limits: &'a Limits,
    metrics: &'a Metrics,
    purging: &'a Purging,
    fence: Fence,
}

impl<'a> Steps<'a> {
    fn of(host: &'a Host, fence: Fence) -> Self {
        let inner = host.inner();
        Self { host, store: &inner.store, limits: &inner.limits, metrics: &inner.metrics, purging: &inner.purging, fence }
    }

    fn plan(&self) -> Vec<Item> {
        let times = self.limits.retention.times().into_iter().map(Item::Instances);
        times.chain(Aged::ALL.map(Item::Aged)).chain([Item::Documents]).collect()
    }

    /// Removes a few rows of what comes next, passing over what has none.
    async fn step(&self, pass: &mut Pass) -> Result<Step, Error> {
        let now = self.host.now().await?;
        if ANEW_EVERY <= pass.since.elapsed() {
            *pass = Pass { rows: pass.rows, ..Pass::default() };
        }
        let plan = self.plan();
        // In the second round nothing is passed over that may have something by now.
        for _ in 0..2 {
            for _ in 0..plan.len() {
                let number = pass.next % plan.len();
                pass.next = number + 1;
                if pass.empty.get(&number).is_some_and(|since| since.elapsed() < EVERY) {
                    continue;
                }
                match self.item(pass, plan[number], now).await? {
                    (_, None) => return Ok(Step::Deposed),
                    (_, Some(Gone { rows: 0, .. })) => drop(pass.empty.insert(number, Instant::now())),
                    (what, Some(gone)) => {
                        return Ok(Step::Went { what, counted: gone.counted, is_behind: pass.is_behind });
                    }
                }
            }
            pass.empty.clear();
        }
        pass.next = 0;
        Ok(Step::Done)
    }

    /// What it is, and what of it went; nothing if somebody else owns the partition.
    async fn item(&self, pass: &mut Pass, item: Item, now: Millis) -> Result<(&'static str, Option<Gone>), Error> {
        Ok(match item {
            Item::Instances(kept) => {
                let gone = self.purge_instances(pass, kept, now).await?;
                pass.is_behind = gone.is_some_and(|gone| 0 < gone.rows) && is_behind(pass, kept, now);
                ("instances", gone)
            }
            Item::Aged(what) => (what.word(), self.purge_aged(pass, what, now).await?.map(Gone::rows)),
            Item::Documents => (DOCUMENTS, Some(Gone::rows(self.purge_documents(pass, now).await?))),
        })
    }

    async fn purge_documents(&self, pass: &Pass, now: Millis) -> Result<usize, Error> {
        let began = Instant::now();
        let rows = self.store.documents().purge(now, pass.rows).await?;
        self.metrics.purge.count(DOCUMENTS, rows, began.elapsed());
        Ok(rows)
    }

    /// Before which time this is old, unless it is kept forever.
    fn aged_before(&self, what: Aged, now: Millis) -> Option<Millis> {
        let before = self.limits.retention.of_aged(what, self.limits.waits_kept).before(now)?;
        Some(if what == Aged::Log { self.held(before) } else { before })
    }

    /// Before which time instances kept for so long are to have ended, unless they are kept forever.
    fn instances_before(&self, kept: Kept, now: Millis) -> Option<Millis> {
        Some(self.held(kept.before(now)?))
    }

    /// What happened and was not told yet stays for a while.
    fn held(&self, before: Millis) -> Millis {
        self.host.inner().following.as_ref().map_or(before, |following| following.held(before))
    }

    async fn purge_aged(&self, pass: &mut Pass, what: Aged, now: Millis) -> Result<Option<usize>, Error> {
        let Some(before) = self.aged_before(what, now) else { return Ok(Some(0)) };
        let began = Instant::now();
        let purged = self.store.purge(self.fence, what, before, pass.rows).await?;
        if let Some(rows) = purged {
            pass.took(began.elapsed(), rows);
            self.metrics.purge.count(what.word(), rows, began.elapsed());
        }
        Ok(purged)
    }

    async fn purge_instances(&self, pass: &mut Pass, kept: Kept, now: Millis) -> Result<Option<Gone>, Error> {
        let Some(before) = self.instances_before(kept, now) else { return Ok(Some(Gone::NOTHING)) };
        while pass.found.is_empty() {
            let window = pass.windows.entry(kept).or_insert(FinishedAfter::START);
            let finished = self.store.finished(self.fence.partition, *window, before, LOOKED_AT).await?;
            let Some(last) = finished.last() else { return Ok(Some(Gone::NOTHING)) };
            *window = FinishedAfter { ended: last.ended, key: last.key };
            let goes = |one: &&store::retention::Finished| !one.is_called && self.limits.retention.of_instance(one) == kept;
            pass.found = finished.iter().filter(goes).map(|one| one.key).rev().collect();
            // Others go on meanwhile.
            tokio::task::yield_now().await;
        }
        // The oldest are last.
        let few = pass.found.len().saturating_sub(pass.rows.div_ceil(8));
        let few: Vec<InstanceKey> = pass.found[few..].iter().rev().copied().collect();
        let began = Instant::now();
        let Some(purged) = self.store.purge_instances(self.fence, &few, pass.rows).await? else { return Ok(None) };
        if !purged.is_cut || purged.rows == 0 {
            pass.found.truncate(pass.found.len() - few.len());
        }
        pass.took(began.elapsed(), purged.rows);
        self.metrics.purge.count("instances", purged.rows, began.elapsed());
        self.metrics.purge.instances.inc_by(purged.instances as u64);
        // Where something still runs below all of these nothing went, but others come after them.
        Ok(Some(Gone { rows: purged.rows.max(1), counted: purged.roots }))
    }

    async fn count(&self) -> Result<PurgedRows, Error> {
        let now = self.host.now().await?;
        let partition: PartitionId = self.fence.partition;
        let mut counts = PurgedRows::new();
        for what in Aged::ALL {
            if let Some(before) = self.aged_before(what, now) {
                let count = self.store.count_aged(partition, what, before, COUNTED_MAX).await?;
                counts.insert(what.word(), count as u64);
            }
        }
        counts.insert(DOCUMENTS, self.store.documents().count_purgeable(now, COUNTED_MAX).await? as u64);
        counts.insert("instances", self.count_instances(now).await? as u64);
        Ok(counts)
    }

    async fn count_instances(&self, now: Millis) -> Result<usize, Error> {
        let retention = &self.limits.retention;
        let before = retention.times().into_iter().filter_map(|kept| self.instances_before(kept, now)).max();
        let (mut after, mut instances) = (FinishedAfter::START, 0);
        while let Some(before) = before
            && instances < COUNTED_MAX
        {
            let finished = self.store.finished(self.fence.partition, after, before, LOOKED_AT).await?;
            let Some(last) = finished.last() else { break };
            after = FinishedAfter { ended: last.ended, key: last.key };
            let goes = |one: &&store::retention::Finished| {
                let before = self.instances_before(retention.of_instance(one), now);
                !one.is_called && before.is_some_and(|before| one.ended < before)
            };
            instances += finished.iter().filter(goes).count();
        }
        Ok(instances)
    }
}

/// Whether what goes should have gone long ago.
fn is_behind(pass: &Pass, kept: Kept, now: Millis) -> bool {
    let (Some(before), Some(window)) = (kept.before(now), pass.windows.get(&kept)) else { return false };
    BEHIND.as_millis() as Millis <= before.saturating_sub(window.ended)
}

impl Pass {
    /// The next step is as large as it can be in its time. One that was not full says nothing.
    fn took(&mut self, time: Duration, rows: usize) {
        if STEP * 2 < time {
            self.rows = (self.rows / 2).max(*ROWS.start());
        } else if time < STEP && self.rows / 2 <= rows {
            self.rows = (self.rows + self.rows / 4).min(*ROWS.end());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However long a flush takes, 300 instances of one task a second, of about eight rows each, go as fast as they come once steps are behind.
    #[tokio::test]
    async fn a_slow_disk_does_not_keep_what_is_old() {
        let (mut pass, flush) = (Pass::default(), Duration::from_millis(20));
        (0..20).for_each(|_| pass.took(flush, pass.rows));
        let taken = flush * (1 + PAUSE_WHEN_BEHIND);
        assert!(300.0 * 8.0 <= pass.rows as f64 / taken.as_secs_f64(), "{} rows in {taken:?}", pass.rows);
    }
}
