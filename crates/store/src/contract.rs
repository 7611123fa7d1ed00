//! The trait every store implements.

use std::sync::Arc;
use std::time::Duration;

use engine::{
    DefinitionKey, ElementKey, FormKey, IncidentKey, InstanceKey, JobKey, PartitionId, RequirementsKey, TimerKey, UserTaskKey,
    Wait, WaitKey,
};
use tokio::sync::watch;

use crate::backup::{Copied, Rate};
use crate::documents::Documents;
use crate::log::{NewRequest, Received, RequestStatus};
use crate::query::{Counted, Counting, Query, QueryPage};
use crate::retention::{Aged, Finished, FinishedAfter, Purged};
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
    pub position: u64,
    /// All requests of the inbox up to this one are answered.
    pub inbox_to: u64,
    /// The last request of the inbox.
    pub inbox_tail: u64,
    pub next_key: u64,
    /// The database's clock.
    pub now: Millis,
}

/// What an owner hears when it renews its lease, so that an idle one need not ask for anything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Renewed {
    /// The database's clock.
    pub now: Millis,
    /// The last request of the inbox.
    pub inbox_tail: u64,
}

/// A partition as anybody may see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionStatus {
    pub partition: PartitionId,
    pub epoch: i64,
    /// The last position of the log.
    pub position: u64,
    pub inbox_to: u64,
    pub inbox_tail: u64,
    /// Who owns it, while the lease lasts.
    pub owner: Option<Arc<str>>,
}

/// How much may wait in an inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backlog {
    pub requests_max: u64,
    pub bytes_max: u64,
}

/// How many subscriptions and how many messages of a group are loaded, and how many start events of a message name: one more than a
/// partition lets there be, so that whoever adds another sees that it is too many.
pub const GROUP_MAX: usize = 10_001;

/// The messages of one name and correlation key, and the element instances that wait for them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageGroup {
    pub tenant: Arc<str>,
    pub name: Arc<str>,
    pub correlation_key: Arc<str>,
}

/// What a tick needs that is not in memory.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Wanted {
    pub instances: Vec<InstanceKey>,
    /// Jobs alone.
    pub jobs: Vec<JobKey>,
    /// The instances these jobs belong to.
    pub instances_of_jobs: Vec<JobKey>,
    /// The instances these element instances and active incidents belong to.
    pub elements: Vec<ElementKey>,
    pub incidents: Vec<IncidentKey>,
    /// First answers by tenant and idempotency key.
    pub idempotent: Vec<(Arc<str>, Arc<str>)>,
    pub timers: Vec<TimerKey>,
    pub subscriptions: Vec<WaitKey>,
    pub user_tasks: Vec<UserTaskKey>,
    /// Each as a whole.
    pub groups: Vec<MessageGroup>,
    /// Message start events by tenant and name of the message.
    pub starts: Vec<(Arc<str>, Arc<str>)>,
    pub messages: Vec<u64>,
    pub locks: Vec<row::LockName>,
    /// The locks these instances hold.
    pub locks_of: Vec<InstanceKey>,
    pub signals: Vec<u64>,
    pub unique: Vec<row::UniqueName>,
}

impl Wanted {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Loaded {
    /// Running instances only: one that has ended is as good as absent.
    pub instances: Vec<LoadedInstance>,
    /// Jobs not done, of those wanted.
    pub jobs: Vec<row::Job>,
    /// Where the live element instances asked for belong.
    pub elements: Vec<(ElementKey, InstanceKey)>,
    /// Where the active incidents asked for belong.
    pub incidents: Vec<(IncidentKey, InstanceKey)>,
    /// Not expired ones only.
    pub idempotent: Vec<row::Idempotent>,
    /// Pending ones, of those wanted, by key.
    pub timers: Vec<row::Timer>,
    /// Open ones, of those wanted, and the open start events of the messages wanted; each once, by key.
    pub subscriptions: Vec<row::Subscription>,
    /// Open ones, of those wanted, by key.
    pub user_tasks: Vec<row::UserTask>,
    /// Every group wanted, once, in the order in which they are wanted, also if there is nothing.
    pub groups: Vec<LoadedGroup>,
    /// Not expired ones only, by key.
    pub messages: Vec<row::Message>,
    /// Each once, by name.
    pub locks: Vec<row::MessageLock>,
    pub signals: Vec<row::Signal>,
    /// The newest execution with each unique key that has one, whatever became of it; by name.
    pub unique: Vec<row::UniqueHolder>,
    /// What is there but cannot be read.
    pub broken: Vec<Broken>,
}

/// Something stored that cannot be read; everything else can.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The key of what was wanted: the instance, the job, the timer; of a group, that of the row in it.
    pub key: u64,
    /// Which row of which table, and why.
    pub what: String,
}

/// A group of messages, as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedGroup {
    pub group: MessageGroup,
    /// Open ones, by key, without those of start events; at most [`GROUP_MAX`].
    pub subscriptions: Vec<row::Subscription>,
    /// Not expired ones, by key; at most [`GROUP_MAX`].
    pub messages: Vec<row::Message>,
}

/// What is alive of a running instance.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedInstance {
    pub instance: row::Instance,
    /// Live element instances, by key.
    pub elements: Vec<row::Element>,
    /// Variables of live scopes, by key.
    pub variables: Vec<row::Variable>,
    /// Tokens that wait at joins, by scope, gateway and flow.
    pub tokens: Vec<row::Tokens>,
    /// Open waits for jobs, people and turns with the element instances that wait, by key.
    pub waits: Vec<(ElementKey, Wait)>,
    /// Pending ones, by key.
    pub timers: Vec<row::Timer>,
    /// Open ones, by key.
    pub subscriptions: Vec<row::Subscription>,
    /// Incidents not resolved, by key.
    pub incidents: Vec<row::Incident>,
    /// By key.
    pub compensations: Vec<row::Compensation>,
}

/// The highest version ever given under a name, deleted ones included, and the latest that is not deleted.
#[derive(Debug, Clone, PartialEq)]
pub struct Named<T> {
    pub version_max: i32,
    pub latest: Option<T>,
}

/// Nobody ever used the name.
impl<T> Default for Named<T> {
    fn default() -> Self {
        Self { version_max: 0, latest: None }
    }
}

/// A job that waits for a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadyJob {
    pub key: JobKey,
    pub priority: i32,
}

/// One queue of a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueRef<'a> {
    pub partition: PartitionId,
    pub job_type: &'a str,
    pub tenant: &'a str,
}

/// How many jobs of a queue there are that are not over.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QueueSize {
    pub job_type: Arc<str>,
    pub tenant: Arc<str>,
    pub ready: u64,
    /// Wait for a time.
    pub scheduled: u64,
    pub running: u64,
    /// When the oldest of those that wait was made.
    pub oldest: Option<Millis>,
}

/// Into how many ages jobs that wait are told apart.
pub const AGES: usize = 6;

/// What waits to be announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OutboxSize {
    pub rows: u64,
    /// Of payloads.
    pub bytes: u64,
}

/// Which jobs of a queue are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountedJobs {
    /// A worker has them.
    Running,
    /// Ready, or waiting for their time.
    Waiting,
    /// Failed, and waiting for the next try.
    Retrying,
}

/// A ready job where waiting counts as priority: the higher rank first, then the lower key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgedJob {
    pub rank: i64,
    pub key: JobKey,
    pub group: queue::Group,
}

/// Where a window of ready jobs goes on: after this place in the order, the higher priority first, then the lower key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadyAfter {
    pub priority: i32,
    pub key: JobKey,
}

impl ReadyAfter {
    /// Before every job.
    pub const START: Self = Self { priority: i32::MAX, key: JobKey(0) };
}

/// A command in the log, as whoever follows it reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct Logged {
    pub position: u64,
    pub at: Millis,
    /// The instance it concerned, if any.
    pub instance: Option<InstanceKey>,
    /// As [`crate::format`] writes them; empty if nothing happened.
    pub events: Vec<u8>,
}

/// Something that happens at a time, by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Due {
    pub at: Millis,
    pub key: u64,
    pub what: DueKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DueKind {
    /// A lease or a back-off of the job with this key ends.
    Job,
    /// An instance goes on with a step that took long; the key is that of the wait.
    Turn { instance: InstanceKey },
    /// A timer fires; the key is its own. Without an instance it starts one.
    Timer { instance: Option<InstanceKey> },
    /// The message with this key has expired.
    MessageExpires,
    /// The signal with this key goes on to those that have not had it.
    Signal,
    /// The operation over many with this key goes on.
    Batch,
    /// The schedule with this key submits an execution.
    Schedule,
}

#[async_trait::async_trait]
pub trait Store: Send + Sync + 'static {
    /// The database's clock, which decides about leases and timers.
    async fn now(&self) -> Result<Millis, Error>;

    // ---- ownership ----

    /// Take the partition if its lease has run out, if `owner` had it before, or if nobody ever had it. A new epoch begins.
    /// A lease that ends later than one taken now would, by more than its own length, is none: the database's clock was set back.
    async fn acquire(&self, partition: PartitionId, owner: &str, lease: Duration) -> Result<Option<Ownership>, Error>;

    /// Hold the lease longer; `None` once another epoch exists.
    async fn renew(&self, fence: Fence, lease: Duration) -> Result<Option<Renewed>, Error>;

    /// Give the lease back; the next server need not wait.
    async fn release(&self, fence: Fence) -> Result<(), Error>;

    /// Who owns what, and how far it is.
    async fn partitions(&self) -> Result<Vec<PartitionStatus>, Error>;

    // ---- the inbox ----

    /// Put requests at the end of the inbox, durably, unless that would make it larger than `backlog`. Anybody may.
    async fn append(&self, partition: PartitionId, requests: Vec<NewRequest>, backlog: Backlog) -> Result<Vec<u64>, Error>;

    /// Requests after a position, in order, at most `limit` and, from the second on, at most `bytes_max`.
    async fn inbox(&self, partition: PartitionId, after: u64, limit: usize, bytes_max: usize) -> Result<Vec<Received>, Error>;

    /// What became of these requests; unknown positions are left out.
    async fn statuses(&self, partition: PartitionId, positions: &[u64]) -> Result<Vec<RequestStatus>, Error>;

    /// Changes whenever the inbox may have grown or answers may have been written by another server. It wakes, it carries no truth.
    /// A store that only one server can use never changes it.
    fn wakeups(&self) -> watch::Receiver<u64>;

    // ---- a tick ----

    async fn load(&self, partition: PartitionId, wanted: &Wanted, now: Millis) -> Result<Loaded, Error>;

    /// Write a tick. Commits of one owner are written in the order in which they were sent: the next may be sent before the one
    /// before is answered, and is refused if that was not written. Returns the database's clock.
    async fn commit(&self, commit: Commit) -> Result<Millis, CommitError>;

    // ---- windows the owner keeps in memory ----

    /// Ready jobs of one type and tenant after a place in their order, at most `limit`.
    async fn ready_jobs(
        &self,
        partition: PartitionId,
        job_type: &str,
        tenant: &str,
        after: ReadyAfter,
        limit: usize,
    ) -> Result<Vec<ReadyJob>, Error>;

    /// Ready jobs with their groups after a place in the order of their queue, at most `limit`: of all groups, or of one.
    async fn grouped_jobs(
        &self,
        queue: QueueRef<'_>,
        of: Option<queue::Group>,
        after: ReadyAfter,
        limit: usize,
    ) -> Result<Vec<(ReadyJob, queue::Group)>, Error>;

    /// The same where so long a wait counts as one priority more: by `priority * ageing - created`, after a rank and key in that order.
    async fn aged_jobs(
        &self,
        queue: QueueRef<'_>,
        of: Option<queue::Group>,
        ageing: Millis,
        after: (i64, JobKey),
        limit: usize,
    ) -> Result<Vec<AgedJob>, Error>;

    /// When jobs of a queue were started, by bucket.
    async fn paces(&self, queue: QueueRef<'_>) -> Result<Vec<row::PaceState>, Error>;

    /// How many jobs of a queue there are, by group, those of none first; no group without any.
    async fn count_jobs(&self, queue: QueueRef<'_>, which: CountedJobs) -> Result<Vec<(queue::Group, u64)>, Error>;

    /// All queues with jobs that wait or run, by type and tenant.
    async fn queue_sizes(&self, partition: PartitionId) -> Result<Vec<QueueSize>, Error>;

    /// How many ready jobs of a queue come before a place in its order.
    async fn jobs_before(&self, queue: QueueRef<'_>, place: ReadyAfter) -> Result<u64, Error>;

    /// The newest version of every policy, by reference; deleted ones too.
    async fn policies(&self, partition: PartitionId) -> Result<Vec<row::PolicyVersion>, Error>;

    /// All versions of a policy, the first first.
    async fn policy_versions(&self, partition: PartitionId, reference: &str) -> Result<Vec<row::PolicyVersion>, Error>;

    /// The newest versions of those who listen to all user tasks, the newest first, at most `limit`.
    async fn global_listeners(&self, partition: PartitionId, limit: usize) -> Result<Vec<row::GlobalListeners>, Error>;

    /// All schedules, by tenant and reference.
    async fn schedules(&self, partition: PartitionId) -> Result<Vec<row::Schedule>, Error>;

    /// What has happened in queues, by type and tenant: of all, or of the ones of this type.
    async fn queue_stats(&self, partition: PartitionId, job_type: Option<&str>) -> Result<Vec<row::QueueStats>, Error>;

    /// How many of the jobs of a queue that wait were made before each of these times.
    async fn waiting_since(&self, queue: QueueRef<'_>, before: [Millis; AGES]) -> Result<[u64; AGES], Error>;

    /// What is to be announced after a key, in order, at most `limit` and, from the second on, at most `bytes_max` of payloads.
    async fn outbox(
        &self,
        partition: PartitionId,
        after: row::AnnouncementKey,
        limit: usize,
        bytes_max: usize,
    ) -> Result<Vec<row::Announcement>, Error>;

    async fn outbox_size(&self, partition: PartitionId) -> Result<OutboxSize, Error>;

    /// What is due by itself, whatever it is, by time and key, after (time, key), at most `limit`.
    async fn due(&self, partition: PartitionId, after: (Millis, u64), limit: usize) -> Result<Vec<Due>, Error>;

    /// Open subscriptions to a signal, with and without an instance, by key: after one, up to another, at most `limit`.
    async fn signal_subscriptions(
        &self,
        partition: PartitionId,
        tenant: &str,
        name: &str,
        after: WaitKey,
        up_to: WaitKey,
        limit: usize,
    ) -> Result<Vec<row::Subscription>, Error>;

    /// Open start conditions, by key, at most `limit`.
    async fn condition_starts(&self, partition: PartitionId, tenant: &str, limit: usize)
    -> Result<Vec<row::Subscription>, Error>;

    // ---- definitions ----

    /// What is known of a process by its id.
    async fn process_named(&self, partition: PartitionId, id: &str, tenant: &str) -> Result<Named<row::DefinitionHead>, Error>;

    /// What is known of a DMN file by its id.
    async fn requirements_named(
        &self,
        partition: PartitionId,
        id: &str,
        tenant: &str,
    ) -> Result<Named<row::DecisionRequirements>, Error>;

    /// What is known of a decision by its id.
    async fn decision_named(&self, partition: PartitionId, id: &str, tenant: &str) -> Result<Named<row::LatestDecision>, Error>;

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

    /// The pending timers and open subscriptions of its start events, by key.
    async fn starts_of(&self, definition: DefinitionKey) -> Result<(Vec<row::Timer>, Vec<row::Subscription>), Error>;

    // ---- decisions ----

    /// Deleted ones too.
    async fn requirements(&self, key: RequirementsKey) -> Result<Option<row::DecisionRequirements>, Error>;

    // ---- forms ----

    /// All versions of a form by its id, the first first; deleted ones too.
    async fn forms_named(&self, partition: PartitionId, id: &str, tenant: &str) -> Result<Vec<row::Form>, Error>;

    /// Deleted ones too.
    async fn form(&self, key: FormKey) -> Result<Option<row::Form>, Error>;

    // ---- operations over many ----

    async fn batch_operation(&self, key: u64) -> Result<Option<row::Batch>, Error>;

    /// Items of an operation whose turn has not come, by key, at most `limit`.
    async fn open_items(&self, batch: u64, limit: usize) -> Result<Vec<row::BatchItem>, Error>;

    // ---- reads ----

    async fn search(&self, query: &Query) -> Result<QueryPage, Error>;

    /// Rows counted by what they have in some fields, in the order of these values.
    async fn count(&self, counting: &Counting) -> Result<Vec<Counted>, Error>;

    // ---- following the log ----

    /// What happened after a position, in order, at most `limit` and, from the second on, at most `bytes_max` of events. A store that
    /// keeps no log has none.
    async fn happened(
        &self,
        _partition: PartitionId,
        _after: u64,
        _limit: usize,
        _bytes_max: usize,
    ) -> Result<Vec<Logged>, Error> {
        Ok(Vec::new())
    }

    /// Up to where whoever follows the log under this name has told of it.
    async fn export_place(&self, _partition: PartitionId, _name: &str) -> Result<Option<u64>, Error> {
        Ok(None)
    }

    /// It has come so far; a place never moves back. False once another epoch exists.
    async fn put_export_place(&self, _fence: Fence, _name: &str, _position: u64) -> Result<bool, Error> {
        Ok(true)
    }

    // ---- upkeep ----

    /// Instances that ended before a time, by end and key, after a place in that order, at most `limit`; those that others called too.
    async fn finished(
        &self,
        partition: PartitionId,
        after: FinishedAfter,
        before: Millis,
        limit: usize,
    ) -> Result<Vec<Finished>, Error>;

    /// Remove these instances, which nobody called and which have ended, with all they have called and all that belongs to them: about
    /// `rows_max` rows at most, each instance after what belongs to it and after all it has called, so that whatever stops it, what is
    /// left can be found again. One below which something still runs stays. `None` once another epoch exists.
    async fn purge_instances(&self, fence: Fence, instances: &[InstanceKey], rows_max: usize) -> Result<Option<Purged>, Error>;

    /// About how many rows go with each of these instances, which nobody called: its element instances and variables and those of all it
    /// has called, counted up to `limit` of both.
    async fn weights(&self, partition: PartitionId, instances: &[InstanceKey], limit: usize) -> Result<Vec<usize>, Error>;

    /// Remove what is older than a time (or has expired by it), the oldest first, at most `limit` rows; how many went. `None` once
    /// another epoch exists.
    async fn purge(&self, fence: Fence, what: Aged, before: Millis, limit: usize) -> Result<Option<usize>, Error>;

    /// How many rows there are for [`Store::purge`] to remove, counted up to `limit`; of batch operations also those whose items are to
    /// go before.
    async fn count_aged(&self, partition: PartitionId, what: Aged, before: Millis, limit: usize) -> Result<usize, Error>;

    /// Give back to the system a little of the room that removed rows have left, if that is worth it; whether there is more to give. A
    /// store that does so by itself, or never, has none.
    async fn give_room_back(&self) -> Result<bool, Error> {
        Ok(false)
    }

    /// A copy of everything as of now, in a file that nobody else sees; one at a time. None where the database has means of its own.
    async fn backup(&self, _rate: Rate) -> Result<Option<std::fs::File>, Error> {
        Ok(None)
    }

    /// How far the copy is that is being made, if one is.
    fn backup_copied(&self) -> Option<Copied> {
        None
    }

    // ---- files ----

    fn documents(&self) -> &dyn Documents;

    /// Which store this is: the same for all servers on it, and for no other.
    async fn identity(&self) -> Result<String, Error>;

    /// Connections in use and allowed, for the metrics; `(0, 0)` where there are none.
    fn pool(&self) -> (usize, usize);
}
