//! The trait every store implements.

use std::sync::Arc;
use std::time::Duration;

use engine::{DefinitionKey, ElementKey, IncidentKey, InstanceKey, JobKey, PartitionId, RequirementsKey};
use tokio::sync::watch;

use crate::log::{CommandStatus, NewCommand, Pending};
use crate::query::{Query, QueryPage};
use crate::{Commit, CommitError, Error, row};

/// Milliseconds since 1970, UTC.
pub type Millis = i64;

/// Proof of ownership: every commit carries it and is refused once a newer epoch exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence {
    pub partition: PartitionId,
    pub epoch: i64,
}

/// What a new owner starts from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ownership {
    pub fence: Fence,
    /// The last position of the log.
    pub tail: u64,
    /// All positions up to this one are processed.
    pub processed_to: u64,
    pub next_key: u64,
    /// The database's clock.
    pub now: Millis,
}

/// What an owner hears when it renews its lease, so that an idle one need not ask for anything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Renewed {
    /// The database's clock.
    pub now: Millis,
    /// The last position of the log.
    pub tail: u64,
}

/// A partition as anybody may see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionStatus {
    pub partition: PartitionId,
    pub epoch: i64,
    pub tail: u64,
    pub processed_to: u64,
    /// Who owns it, while the lease lasts.
    pub owner: Option<Arc<str>>,
}

/// What a tick needs that is not in memory.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Wanted {
    pub instances: Vec<InstanceKey>,
    /// The instances these jobs, element instances and active incidents belong to.
    pub jobs: Vec<JobKey>,
    pub elements: Vec<ElementKey>,
    pub incidents: Vec<IncidentKey>,
    /// First answers by tenant and idempotency key.
    pub idempotent: Vec<(Arc<str>, Arc<str>)>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Loaded {
    /// Running instances only: one that has ended is as good as absent.
    pub instances: Vec<LoadedInstance>,
    /// Not expired ones only.
    pub idempotent: Vec<row::Idempotent>,
}

/// What is alive of a running instance.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedInstance {
    pub instance: row::Instance,
    /// Live element instances, by key.
    pub elements: Vec<row::Element>,
    /// Variables of live scopes, by key.
    pub variables: Vec<row::Variable>,
    /// Jobs not done, by key.
    pub jobs: Vec<row::Job>,
    /// Incidents not resolved, by key.
    pub incidents: Vec<row::Incident>,
}

/// The highest versions ever given, each with id and tenant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DecisionCounters {
    pub requirements: Vec<(Arc<str>, Arc<str>, i32)>,
    pub decisions: Vec<(Arc<str>, Arc<str>, i32)>,
}

/// A job that waits for a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadyJob {
    pub key: JobKey,
    pub instance: InstanceKey,
    pub job_type: Arc<str>,
    pub tenant: Arc<str>,
}

/// A job whose lease or back-off ends at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimedJob {
    pub key: JobKey,
    pub at: Millis,
}

#[async_trait::async_trait]
pub trait Store: Send + Sync + 'static {
    /// The database's clock, which decides about leases and timers.
    async fn now(&self) -> Result<Millis, Error>;

    // ---- ownership ----

    /// Take the partition if its lease has run out, if `owner` had it before, or if nobody ever had it. A new epoch begins.
    async fn acquire(&self, partition: PartitionId, owner: &str, lease: Duration) -> Result<Option<Ownership>, Error>;

    /// Hold the lease longer; `None` once another epoch exists.
    async fn renew(&self, fence: Fence, lease: Duration) -> Result<Option<Renewed>, Error>;

    /// Give the lease back; the next server need not wait.
    async fn release(&self, fence: Fence) -> Result<(), Error>;

    /// Who owns what, and how far it is.
    async fn partitions(&self) -> Result<Vec<PartitionStatus>, Error>;

    // ---- the log ----

    /// Put commands at the end of the log, durably. Anybody may.
    async fn append(&self, partition: PartitionId, commands: Vec<NewCommand>) -> Result<Vec<u64>, Error>;

    /// Commands after a position, in order, at most `limit`.
    async fn pending(&self, partition: PartitionId, after: u64, limit: usize) -> Result<Vec<Pending>, Error>;

    /// What became of these commands; unknown positions are left out.
    async fn statuses(&self, partition: PartitionId, positions: &[u64]) -> Result<Vec<CommandStatus>, Error>;

    /// Changes whenever the log may have grown or answers may have been written by another server. It wakes, it carries no truth.
    /// A store that only one server can use never changes it.
    fn wakeups(&self) -> watch::Receiver<u64>;

    // ---- a tick ----

    async fn load(&self, partition: PartitionId, wanted: &Wanted, now: Millis) -> Result<Loaded, Error>;

    /// Write a tick. Returns the database's clock.
    async fn commit(&self, commit: Commit) -> Result<Millis, CommitError>;

    // ---- windows the owner keeps in memory ----

    /// Ready jobs of one type and tenant with keys after `after`, by key.
    async fn ready_jobs(
        &self,
        partition: PartitionId,
        job_type: &str,
        tenant: &str,
        after: JobKey,
        limit: usize,
    ) -> Result<Vec<ReadyJob>, Error>;

    /// Leased and backing-off jobs by time, after (time, key), at most `limit`.
    async fn timed_jobs(&self, partition: PartitionId, after: (Millis, JobKey), limit: usize) -> Result<Vec<TimedJob>, Error>;

    // ---- definitions ----

    /// The latest not deleted version of every process, by id and tenant.
    async fn latest_definitions(&self, partition: PartitionId) -> Result<Vec<row::Definition>, Error>;

    /// Highest version number ever given for each process id and tenant, deleted ones included.
    async fn version_counters(&self, partition: PartitionId) -> Result<Vec<(Arc<str>, Arc<str>, i32)>, Error>;

    async fn definition(&self, key: DefinitionKey) -> Result<Option<row::Definition>, Error>;

    /// A version by number; deleted ones too.
    async fn definition_version(
        &self,
        partition: PartitionId,
        process_id: &str,
        tenant: &str,
        version: i32,
    ) -> Result<Option<row::Definition>, Error>;

    /// The highest not deleted version below this one.
    async fn definition_before(
        &self,
        partition: PartitionId,
        process_id: &str,
        tenant: &str,
        version: i32,
    ) -> Result<Option<row::Definition>, Error>;

    async fn resource(&self, key: u64) -> Result<Option<row::Resource>, Error>;

    /// Definitions with running instances, the newest first: worth compiling at the start.
    async fn running_definitions(&self, partition: PartitionId, limit: usize) -> Result<Vec<DefinitionKey>, Error>;

    /// Whether any instance of it runs.
    async fn has_running(&self, definition: DefinitionKey) -> Result<bool, Error>;

    // ---- decisions ----

    /// The latest not deleted version of all requirements, by id and tenant.
    async fn latest_requirements(&self, partition: PartitionId) -> Result<Vec<row::DecisionRequirements>, Error>;

    /// The latest not deleted version of every decision, by id and tenant.
    async fn latest_decisions(&self, partition: PartitionId) -> Result<Vec<row::LatestDecision>, Error>;

    /// Highest version number ever given, deleted ones included.
    async fn decision_counters(&self, partition: PartitionId) -> Result<DecisionCounters, Error>;

    /// Deleted ones too.
    async fn requirements(&self, key: RequirementsKey) -> Result<Option<row::DecisionRequirements>, Error>;

    // ---- reads ----

    async fn search(&self, query: &Query) -> Result<QueryPage, Error>;

    // ---- upkeep ----

    /// Remove expired first answers, at most `limit`; how many went.
    async fn purge_idempotent(&self, partition: PartitionId, now: Millis, limit: usize) -> Result<usize, Error>;

    /// Connections in use and allowed, for the metrics; `(0, 0)` where there are none.
    fn pool(&self) -> (usize, usize);
}
