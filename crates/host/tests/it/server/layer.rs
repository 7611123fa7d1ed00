//! A store in front of another, with a place to interfere.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use engine::{DefinitionKey, FormKey, InstanceKey, JobKey, PartitionId, RequirementsKey, WaitKey};
use store::log::{NewRequest, Received, RequestStatus};
use store::memory::Memory;
use store::query::{Counted, Counting, Query, QueryPage};
use store::retention::{Aged, Finished, FinishedAfter, Purged};
use store::{
    AgedJob, Backlog, Commit, CommitError, CountedJobs, Due, Error, Fence, Loaded, Millis, Named, OutboxSize, Ownership,
    PartitionStatus, QueueRef, QueueSize, ReadyAfter, ReadyJob, Renewed, Store, Wanted, row,
};
use tokio::sync::watch;

/// What happens to a commit.
#[derive(Debug, Clone)]
pub(crate) enum Fate {
    Through,
    /// It never reaches the database.
    Lost(Error),
    /// It goes through, but its answer is lost.
    AnswerLost,
    /// It goes through after a while.
    Late(Duration),
}

type Commits = Box<dyn FnMut(&Commit) -> Fate + Send>;
type Renewals = Box<dyn FnMut() -> Result<(), Error> + Send>;
type Searches = Box<dyn FnMut(&Query) -> Result<(), Error> + Send>;
type Purges = Box<dyn FnMut(Option<Aged>) + Send>;
type Loads = Box<dyn FnMut(&Wanted, &mut Loaded) -> Result<(), Error> + Send>;
type Slow = Box<dyn FnMut(&Wanted) -> Duration + Send>;
type Asks = Box<dyn FnMut(Ask) + Send>;

/// What a server asks of the inbox that does not own the partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    Append,
    Statuses,
}

pub(crate) struct Layer {
    inner: Arc<dyn Store>,
    /// How often the store was asked for anything.
    calls: Arc<AtomicUsize>,
    /// How often a definition or its source was read.
    definitions: Arc<AtomicUsize>,
    /// What runs is not told before this turns true.
    running: Option<watch::Receiver<bool>>,
    commits: Mutex<Commits>,
    renewals: Mutex<Renewals>,
    loads: Mutex<Loads>,
    slow: Mutex<Slow>,
    asks: Mutex<Asks>,
    searches: Mutex<Searches>,
    purges: Mutex<Purges>,
}

impl Layer {
    pub(crate) fn over(inner: Memory) -> Self {
        Self::of(Arc::new(inner))
    }

    pub(crate) fn of(inner: Arc<dyn Store>) -> Self {
        Self {
            inner,
            calls: Arc::default(),
            definitions: Arc::default(),
            running: None,
            commits: Mutex::new(Box::new(|_| Fate::Through)),
            renewals: Mutex::new(Box::new(|| Ok(()))),
            loads: Mutex::new(Box::new(|_, _| Ok(()))),
            slow: Mutex::new(Box::new(|_| Duration::ZERO)),
            asks: Mutex::new(Box::new(|_| ())),
            searches: Mutex::new(Box::new(|_| Ok(()))),
            purges: Mutex::new(Box::new(|_| ())),
        }
    }

    /// Asked for every commit.
    pub(crate) fn on_commit(self, commits: impl FnMut(&Commit) -> Fate + Send + 'static) -> Self {
        Self { commits: Mutex::new(Box::new(commits)), ..self }
    }

    /// Asked before the lease is renewed.
    pub(crate) fn on_renew(self, renewals: impl FnMut() -> Result<(), Error> + Send + 'static) -> Self {
        Self { renewals: Mutex::new(Box::new(renewals)), ..self }
    }

    /// Told what is to be removed; nothing where instances are.
    pub(crate) fn on_purge(self, purges: impl FnMut(Option<Aged>) + Send + 'static) -> Self {
        Self { purges: Mutex::new(Box::new(purges)), ..self }
    }

    /// Asked for everything that is loaded.
    pub(crate) fn on_load(self, loads: impl FnMut(&Wanted, &mut Loaded) -> Result<(), Error> + Send + 'static) -> Self {
        Self { loads: Mutex::new(Box::new(loads)), ..self }
    }

    /// Asked how long loading takes.
    pub(crate) fn slow(self, slow: impl FnMut(&Wanted) -> Duration + Send + 'static) -> Self {
        Self { slow: Mutex::new(Box::new(slow)), ..self }
    }

    /// Told before the inbox is asked anything.
    pub(crate) fn on_ask(self, asks: impl FnMut(Ask) + Send + 'static) -> Self {
        Self { asks: Mutex::new(Box::new(asks)), ..self }
    }

    /// Asked before every search.
    pub(crate) fn on_search(self, searches: impl FnMut(&Query) -> Result<(), Error> + Send + 'static) -> Self {
        Self { searches: Mutex::new(Box::new(searches)), ..self }
    }

    /// Does not tell which definitions are running before that turns true.
    pub(crate) fn hold_running(self, open: watch::Receiver<bool>) -> Self {
        Self { running: Some(open), ..self }
    }

    pub(crate) fn definitions_read(&self) -> Arc<AtomicUsize> {
        self.definitions.clone()
    }

    pub(crate) fn calls(&self) -> Arc<AtomicUsize> {
        self.calls.clone()
    }

    fn counted(&self) -> &Arc<dyn Store> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        &self.inner
    }

    pub(crate) fn shared(self) -> Arc<dyn Store> {
        Arc::new(self)
    }
}

/// What interferes may panic, and is asked again all the same.
fn even_so<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn broken() -> Error {
    Error::unavailable("the connection broke")
}

#[async_trait::async_trait]
impl Store for Layer {
    fn documents(&self) -> &dyn store::documents::Documents {
        self.inner.documents()
    }

    async fn commit(&self, commit: Commit) -> Result<Millis, CommitError> {
        let fate = self.commits.lock().unwrap()(&commit);
        match fate {
            Fate::Through => self.counted().commit(commit).await,
            Fate::Lost(error) => Err(error.into()),
            Fate::AnswerLost => {
                self.counted().commit(commit).await?;
                Err(broken().into())
            }
            Fate::Late(time) => {
                tokio::time::sleep(time).await;
                self.counted().commit(commit).await
            }
        }
    }
    async fn load(&self, partition: PartitionId, wanted: &Wanted, now: Millis) -> Result<Loaded, Error> {
        let takes = self.slow.lock().unwrap()(wanted);
        if !takes.is_zero() {
            tokio::time::sleep(takes).await;
        }
        let mut loaded = self.counted().load(partition, wanted, now).await?;
        even_so(&self.loads)(wanted, &mut loaded)?;
        Ok(loaded)
    }

    async fn now(&self) -> Result<Millis, Error> {
        self.counted().now().await
    }
    async fn acquire(&self, partition: PartitionId, owner: &str, lease: Duration) -> Result<Option<Ownership>, Error> {
        self.counted().acquire(partition, owner, lease).await
    }
    async fn renew(&self, fence: Fence, lease: Duration) -> Result<Option<Renewed>, Error> {
        self.renewals.lock().unwrap()()?;
        self.counted().renew(fence, lease).await
    }
    async fn release(&self, fence: Fence) -> Result<(), Error> {
        self.counted().release(fence).await
    }
    async fn partitions(&self) -> Result<Vec<PartitionStatus>, Error> {
        self.counted().partitions().await
    }
    async fn append(&self, partition: PartitionId, requests: Vec<NewRequest>, backlog: Backlog) -> Result<Vec<u64>, Error> {
        even_so(&self.asks)(Ask::Append);
        self.counted().append(partition, requests, backlog).await
    }
    async fn inbox(&self, partition: PartitionId, after: u64, limit: usize, bytes_max: usize) -> Result<Vec<Received>, Error> {
        self.counted().inbox(partition, after, limit, bytes_max).await
    }
    async fn statuses(&self, partition: PartitionId, positions: &[u64]) -> Result<Vec<RequestStatus>, Error> {
        even_so(&self.asks)(Ask::Statuses);
        self.counted().statuses(partition, positions).await
    }
    fn wakeups(&self) -> watch::Receiver<u64> {
        self.counted().wakeups()
    }
    async fn ready_jobs(
        &self,
        partition: PartitionId,
        job_type: &str,
        tenant: &str,
        after: ReadyAfter,
        limit: usize,
    ) -> Result<Vec<ReadyJob>, Error> {
        self.counted().ready_jobs(partition, job_type, tenant, after, limit).await
    }
    async fn grouped_jobs(
        &self,
        queue: QueueRef<'_>,
        of: Option<Option<Arc<str>>>,
        after: ReadyAfter,
        limit: usize,
    ) -> Result<Vec<(ReadyJob, Option<Arc<str>>)>, Error> {
        self.counted().grouped_jobs(queue, of, after, limit).await
    }
    async fn aged_jobs(
        &self,
        queue: QueueRef<'_>,
        of: Option<Option<Arc<str>>>,
        ageing: Millis,
        after: (i64, JobKey),
        limit: usize,
    ) -> Result<Vec<AgedJob>, Error> {
        self.counted().aged_jobs(queue, of, ageing, after, limit).await
    }
    async fn paces(&self, queue: QueueRef<'_>) -> Result<Vec<row::PaceState>, Error> {
        self.counted().paces(queue).await
    }
    async fn count_jobs(&self, queue: QueueRef<'_>, which: CountedJobs) -> Result<Vec<(Option<Arc<str>>, u64)>, Error> {
        self.counted().count_jobs(queue, which).await
    }
    async fn queue_sizes(&self, partition: PartitionId) -> Result<Vec<QueueSize>, Error> {
        self.counted().queue_sizes(partition).await
    }
    async fn jobs_before(&self, queue: QueueRef<'_>, place: ReadyAfter) -> Result<u64, Error> {
        self.counted().jobs_before(queue, place).await
    }
    async fn batch_operation(&self, key: u64) -> Result<Option<row::Batch>, Error> {
        self.inner.batch_operation(key).await
    }
    async fn open_items(&self, batch: u64, limit: usize) -> Result<Vec<row::BatchItem>, Error> {
        self.inner.open_items(batch, limit).await
    }
    async fn outbox(
        &self,
        partition: PartitionId,
        after: row::AnnouncementKey,
        limit: usize,
        bytes_max: usize,
    ) -> Result<Vec<row::Announcement>, Error> {
        self.inner.outbox(partition, after, limit, bytes_max).await
    }
    async fn outbox_size(&self, partition: PartitionId) -> Result<OutboxSize, Error> {
        self.inner.outbox_size(partition).await
    }
    async fn policies(&self, partition: PartitionId) -> Result<Vec<row::PolicyVersion>, Error> {
        self.counted().policies(partition).await
    }
    async fn policy_versions(&self, partition: PartitionId, reference: &str) -> Result<Vec<row::PolicyVersion>, Error> {
        self.counted().policy_versions(partition, reference).await
    }
    async fn schedules(&self, partition: PartitionId) -> Result<Vec<row::Schedule>, Error> {
        self.counted().schedules(partition).await
    }
    async fn queue_stats(&self, partition: PartitionId, job_type: Option<&str>) -> Result<Vec<row::QueueStats>, Error> {
        self.counted().queue_stats(partition, job_type).await
    }
    async fn waiting_since(&self, queue: QueueRef<'_>, before: [Millis; store::AGES]) -> Result<[u64; store::AGES], Error> {
        self.counted().waiting_since(queue, before).await
    }
    async fn global_listeners(&self, partition: PartitionId, limit: usize) -> Result<Vec<row::GlobalListeners>, Error> {
        self.inner.global_listeners(partition, limit).await
    }

    async fn due(&self, partition: PartitionId, after: (Millis, u64), limit: usize) -> Result<Vec<Due>, Error> {
        self.counted().due(partition, after, limit).await
    }
    async fn signal_subscriptions(
        &self,
        partition: PartitionId,
        tenant: &str,
        name: &str,
        after: WaitKey,
        up_to: WaitKey,
        limit: usize,
    ) -> Result<Vec<row::Subscription>, Error> {
        self.counted().signal_subscriptions(partition, tenant, name, after, up_to, limit).await
    }
    async fn condition_starts(
        &self,
        partition: PartitionId,
        tenant: &str,
        limit: usize,
    ) -> Result<Vec<row::Subscription>, Error> {
        self.counted().condition_starts(partition, tenant, limit).await
    }

    async fn process_named(&self, partition: PartitionId, id: &str, tenant: &str) -> Result<Named<row::DefinitionHead>, Error> {
        self.counted().process_named(partition, id, tenant).await
    }
    async fn requirements_named(
        &self,
        partition: PartitionId,
        id: &str,
        tenant: &str,
    ) -> Result<Named<row::DecisionRequirements>, Error> {
        self.counted().requirements_named(partition, id, tenant).await
    }
    async fn decision_named(&self, partition: PartitionId, id: &str, tenant: &str) -> Result<Named<row::LatestDecision>, Error> {
        self.counted().decision_named(partition, id, tenant).await
    }
    async fn definition(&self, key: DefinitionKey) -> Result<Option<row::Definition>, Error> {
        self.definitions.fetch_add(1, Ordering::SeqCst);
        self.counted().definition(key).await
    }
    async fn definition_version(
        &self,
        partition: PartitionId,
        process_id: &str,
        tenant: &str,
        version: i32,
    ) -> Result<Option<row::Definition>, Error> {
        self.counted().definition_version(partition, process_id, tenant, version).await
    }
    async fn definition_before(
        &self,
        partition: PartitionId,
        process_id: &str,
        tenant: &str,
        version: i32,
    ) -> Result<Option<row::Definition>, Error> {
        self.counted().definition_before(partition, process_id, tenant, version).await
    }
    async fn resource(&self, key: u64) -> Result<Option<row::Resource>, Error> {
        self.definitions.fetch_add(1, Ordering::SeqCst);
        self.counted().resource(key).await
    }
    async fn running_definitions(&self, partition: PartitionId, limit: usize) -> Result<Vec<DefinitionKey>, Error> {
        if let Some(mut running) = self.running.clone() {
            running.wait_for(|open| *open).await.expect("it is opened");
        }
        self.counted().running_definitions(partition, limit).await
    }
    async fn has_running(&self, definition: DefinitionKey) -> Result<bool, Error> {
        self.counted().has_running(definition).await
    }
    async fn starts_of(&self, definition: DefinitionKey) -> Result<(Vec<row::Timer>, Vec<row::Subscription>), Error> {
        self.counted().starts_of(definition).await
    }
    async fn requirements(&self, key: RequirementsKey) -> Result<Option<row::DecisionRequirements>, Error> {
        self.counted().requirements(key).await
    }
    async fn forms_named(&self, partition: PartitionId, id: &str, tenant: &str) -> Result<Vec<row::Form>, Error> {
        self.counted().forms_named(partition, id, tenant).await
    }
    async fn form(&self, key: FormKey) -> Result<Option<row::Form>, Error> {
        self.counted().form(key).await
    }
    async fn search(&self, query: &Query) -> Result<QueryPage, Error> {
        self.searches.lock().unwrap()(query)?;
        self.counted().search(query).await
    }
    async fn count(&self, counting: &Counting) -> Result<Vec<Counted>, Error> {
        self.counted().count(counting).await
    }
    async fn finished(
        &self,
        partition: PartitionId,
        after: FinishedAfter,
        before: Millis,
        limit: usize,
    ) -> Result<Vec<Finished>, Error> {
        self.inner.finished(partition, after, before, limit).await
    }
    async fn purge_instances(&self, fence: Fence, instances: &[InstanceKey], rows_max: usize) -> Result<Option<Purged>, Error> {
        (self.purges.lock().unwrap())(None);
        self.inner.purge_instances(fence, instances, rows_max).await
    }
    async fn weights(&self, partition: PartitionId, instances: &[InstanceKey], limit: usize) -> Result<Vec<usize>, Error> {
        self.inner.weights(partition, instances, limit).await
    }
    async fn purge(&self, fence: Fence, what: Aged, before: Millis, limit: usize) -> Result<Option<usize>, Error> {
        (self.purges.lock().unwrap())(Some(what));
        self.inner.purge(fence, what, before, limit).await
    }
    async fn count_aged(&self, partition: PartitionId, what: Aged, before: Millis, limit: usize) -> Result<usize, Error> {
        self.counted().count_aged(partition, what, before, limit).await
    }
    async fn give_room_back(&self) -> Result<bool, Error> {
        self.counted().give_room_back().await
    }
    async fn identity(&self) -> Result<String, Error> {
        self.inner.identity().await
    }

    fn pool(&self) -> (usize, usize) {
        self.counted().pool()
    }
}
