//! A store in front of another, with a place to interfere.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use engine::{DefinitionKey, FormKey, PartitionId, RequirementsKey, WaitKey};
use store::log::{NewRequest, Received, RequestStatus};
use store::memory::Memory;
use store::query::{Counted, Counting, Query, QueryPage};
use store::{
    Backlog, Commit, CommitError, CountedJobs, Due, Error, Fence, Loaded, Millis, Named, OutboxSize, Ownership, PartitionStatus,
    QueueRef, QueueSize, ReadyAfter, ReadyJob, Renewed, Store, Wanted, row,
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
type Loads = Box<dyn FnMut(&Wanted, &mut Loaded) -> Result<(), Error> + Send>;

pub(crate) struct Layer {
    inner: Arc<dyn Store>,
    commits: Mutex<Commits>,
    loads: Mutex<Loads>,
}

impl Layer {
    pub(crate) fn over(inner: Memory) -> Self {
        Self::of(Arc::new(inner))
    }

    pub(crate) fn of(inner: Arc<dyn Store>) -> Self {
        Self { inner, commits: Mutex::new(Box::new(|_| Fate::Through)), loads: Mutex::new(Box::new(|_, _| Ok(()))) }
    }

    /// Asked for every commit.
    pub(crate) fn on_commit(self, commits: impl FnMut(&Commit) -> Fate + Send + 'static) -> Self {
        Self { commits: Mutex::new(Box::new(commits)), ..self }
    }

    /// Asked for everything that is loaded.
    pub(crate) fn on_load(self, loads: impl FnMut(&Wanted, &mut Loaded) -> Result<(), Error> + Send + 'static) -> Self {
        Self { loads: Mutex::new(Box::new(loads)), ..self }
    }

    pub(crate) fn shared(self) -> Arc<dyn Store> {
        Arc::new(self)
    }
}

pub(crate) fn broken() -> Error {
    Error::unavailable("the connection broke")
}

#[async_trait::async_trait]
impl Store for Layer {
    async fn commit(&self, commit: Commit) -> Result<Millis, CommitError> {
        let fate = self.commits.lock().unwrap()(&commit);
        match fate {
            Fate::Through => self.inner.commit(commit).await,
            Fate::Lost(error) => Err(error.into()),
            Fate::AnswerLost => {
                self.inner.commit(commit).await?;
                Err(broken().into())
            }
            Fate::Late(time) => {
                tokio::time::sleep(time).await;
                self.inner.commit(commit).await
            }
        }
    }
    async fn load(&self, partition: PartitionId, wanted: &Wanted, now: Millis) -> Result<Loaded, Error> {
        let mut loaded = self.inner.load(partition, wanted, now).await?;
        self.loads.lock().unwrap()(wanted, &mut loaded)?;
        Ok(loaded)
    }

    async fn now(&self) -> Result<Millis, Error> {
        self.inner.now().await
    }
    async fn acquire(&self, partition: PartitionId, owner: &str, lease: Duration) -> Result<Option<Ownership>, Error> {
        self.inner.acquire(partition, owner, lease).await
    }
    async fn renew(&self, fence: Fence, lease: Duration) -> Result<Option<Renewed>, Error> {
        self.inner.renew(fence, lease).await
    }
    async fn release(&self, fence: Fence) -> Result<(), Error> {
        self.inner.release(fence).await
    }
    async fn partitions(&self) -> Result<Vec<PartitionStatus>, Error> {
        self.inner.partitions().await
    }
    async fn append(&self, partition: PartitionId, requests: Vec<NewRequest>, backlog: Backlog) -> Result<Vec<u64>, Error> {
        self.inner.append(partition, requests, backlog).await
    }
    async fn inbox(&self, partition: PartitionId, after: u64, limit: usize, bytes_max: usize) -> Result<Vec<Received>, Error> {
        self.inner.inbox(partition, after, limit, bytes_max).await
    }
    async fn statuses(&self, partition: PartitionId, positions: &[u64]) -> Result<Vec<RequestStatus>, Error> {
        self.inner.statuses(partition, positions).await
    }
    fn wakeups(&self) -> watch::Receiver<u64> {
        self.inner.wakeups()
    }
    async fn ready_jobs(
        &self,
        partition: PartitionId,
        job_type: &str,
        tenant: &str,
        after: ReadyAfter,
        limit: usize,
    ) -> Result<Vec<ReadyJob>, Error> {
        self.inner.ready_jobs(partition, job_type, tenant, after, limit).await
    }
    async fn grouped_jobs(
        &self,
        queue: QueueRef<'_>,
        of: Option<Option<Arc<str>>>,
        after: ReadyAfter,
        limit: usize,
    ) -> Result<Vec<(ReadyJob, Option<Arc<str>>)>, Error> {
        self.inner.grouped_jobs(queue, of, after, limit).await
    }
    async fn count_jobs(&self, queue: QueueRef<'_>, which: CountedJobs) -> Result<Vec<(Option<Arc<str>>, u64)>, Error> {
        self.inner.count_jobs(queue, which).await
    }
    async fn queue_sizes(&self, partition: PartitionId) -> Result<Vec<QueueSize>, Error> {
        self.inner.queue_sizes(partition).await
    }
    async fn jobs_before(&self, queue: QueueRef<'_>, place: ReadyAfter) -> Result<u64, Error> {
        self.inner.jobs_before(queue, place).await
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
        self.inner.policies(partition).await
    }
    async fn policy_versions(&self, partition: PartitionId, reference: &str) -> Result<Vec<row::PolicyVersion>, Error> {
        self.inner.policy_versions(partition, reference).await
    }
    async fn due(&self, partition: PartitionId, after: (Millis, u64), limit: usize) -> Result<Vec<Due>, Error> {
        self.inner.due(partition, after, limit).await
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
        self.inner.signal_subscriptions(partition, tenant, name, after, up_to, limit).await
    }
    async fn condition_starts(
        &self,
        partition: PartitionId,
        tenant: &str,
        limit: usize,
    ) -> Result<Vec<row::Subscription>, Error> {
        self.inner.condition_starts(partition, tenant, limit).await
    }

    async fn process_named(&self, partition: PartitionId, id: &str, tenant: &str) -> Result<Named<row::DefinitionHead>, Error> {
        self.inner.process_named(partition, id, tenant).await
    }
    async fn requirements_named(
        &self,
        partition: PartitionId,
        id: &str,
        tenant: &str,
    ) -> Result<Named<row::DecisionRequirements>, Error> {
        self.inner.requirements_named(partition, id, tenant).await
    }
    async fn decision_named(&self, partition: PartitionId, id: &str, tenant: &str) -> Result<Named<row::LatestDecision>, Error> {
        self.inner.decision_named(partition, id, tenant).await
    }
    async fn definition(&self, key: DefinitionKey) -> Result<Option<row::Definition>, Error> {
        self.inner.definition(key).await
    }
    async fn definition_version(
        &self,
        partition: PartitionId,
        process_id: &str,
        tenant: &str,
        version: i32,
    ) -> Result<Option<row::Definition>, Error> {
        self.inner.definition_version(partition, process_id, tenant, version).await
    }
    async fn definition_before(
        &self,
        partition: PartitionId,
        process_id: &str,
        tenant: &str,
        version: i32,
    ) -> Result<Option<row::Definition>, Error> {
        self.inner.definition_before(partition, process_id, tenant, version).await
    }
    async fn resource(&self, key: u64) -> Result<Option<row::Resource>, Error> {
        self.inner.resource(key).await
    }
    async fn running_definitions(&self, partition: PartitionId, limit: usize) -> Result<Vec<DefinitionKey>, Error> {
        self.inner.running_definitions(partition, limit).await
    }
    async fn has_running(&self, definition: DefinitionKey) -> Result<bool, Error> {
        self.inner.has_running(definition).await
    }
    async fn starts_of(&self, definition: DefinitionKey) -> Result<(Vec<row::Timer>, Vec<row::Subscription>), Error> {
        self.inner.starts_of(definition).await
    }
    async fn requirements(&self, key: RequirementsKey) -> Result<Option<row::DecisionRequirements>, Error> {
        self.inner.requirements(key).await
    }
    async fn forms_named(&self, partition: PartitionId, id: &str, tenant: &str) -> Result<Vec<row::Form>, Error> {
        self.inner.forms_named(partition, id, tenant).await
    }
    async fn form(&self, key: FormKey) -> Result<Option<row::Form>, Error> {
        self.inner.form(key).await
    }
    async fn search(&self, query: &Query) -> Result<QueryPage, Error> {
        self.inner.search(query).await
    }
    async fn count(&self, counting: &Counting) -> Result<Vec<Counted>, Error> {
        self.inner.count(counting).await
    }
    async fn purge_answers(&self, partition: PartitionId, now: Millis, limit: usize) -> Result<usize, Error> {
        self.inner.purge_answers(partition, now, limit).await
    }
    async fn purge_waits(&self, partition: PartitionId, before: Millis, limit: usize) -> Result<usize, Error> {
        self.inner.purge_waits(partition, before, limit).await
    }
    fn pool(&self) -> (usize, usize) {
        self.inner.pool()
    }
}
