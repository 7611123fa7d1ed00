//! The reference model: the whole contract in memory, in the plainest way, for tests, the simulator and trying things out.
//!
//! It never waits: every future is ready at once, so it needs no runtime. Time is whatever its clock says. Handles to one
//! database are cheap to copy; several play several servers.

mod audit;
mod commit;
mod database;
mod decision;
mod definition;
mod documents;
mod field;
mod load;
mod migrated;
mod retention;
mod search;
mod view;
mod waits;

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use engine::{DefinitionKey, FormKey, InstanceKey, JobKey, PartitionId, RequirementsKey, WaitKey};
use tokio::sync::watch;

use crate::log::{NewRequest, Received, RequestStatus};
use crate::query::{Counted, Counting, Query, QueryPage};
use crate::retention::{Aged, Finished, FinishedAfter, Purged};
use crate::{
    AGES, AgedJob, Backlog, Commit, CommitError, CountedJobs, Due, Error, Fence, Loaded, Millis, Named, OutboxSize, Ownership,
    PartitionStatus, QueueRef, QueueSize, ReadyAfter, ReadyJob, Renewed, Store, Wanted, row,
};
use database::{Database, Tables};

/// Tells the time of the database.
pub type Clock = Arc<dyn Fn() -> Millis + Send + Sync>;

#[derive(Clone)]
pub struct Memory {
    database: Arc<Mutex<Database>>,
    clock: Clock,
    wakeups: Arc<watch::Sender<u64>>,
    documents: Arc<documents::Kept>,
}

impl Memory {
    pub fn new(clock: Clock) -> Self {
        Self { database: Arc::default(), clock, wakeups: Arc::new(watch::Sender::new(0)), documents: Arc::default() }
    }

    /// The database, also after a panic elsewhere: nothing here panics between two changes that belong together.
    fn database(&self) -> MutexGuard<'_, Database> {
        self.database.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn wake(&self) {
        self.wakeups.send_modify(|count| *count += 1);
    }
}

#[async_trait::async_trait]
impl Store for Memory {
    fn documents(&self) -> &dyn crate::documents::Documents {
        &*self.documents
    }

    async fn now(&self) -> Result<Millis, Error> {
        Ok((self.clock)())
    }

    async fn acquire(&self, partition: PartitionId, owner: &str, lease: Duration) -> Result<Option<Ownership>, Error> {
        Ok(self.database().acquire(partition, owner, lease, (self.clock)()))
    }

    async fn renew(&self, fence: Fence, lease: Duration) -> Result<Option<Renewed>, Error> {
        Ok(self.database().renew(fence, lease, (self.clock)()))
    }

    async fn release(&self, fence: Fence) -> Result<(), Error> {
        self.database().release(fence);
        Ok(())
    }

    async fn partitions(&self) -> Result<Vec<PartitionStatus>, Error> {
        Ok(self.database().statuses((self.clock)()))
    }

    async fn append(&self, partition: PartitionId, requests: Vec<NewRequest>, backlog: Backlog) -> Result<Vec<u64>, Error> {
        let positions = self.database().partition_mut(partition).append(requests, backlog, (self.clock)())?;
        self.wake();
        Ok(positions)
    }

    async fn inbox(&self, partition: PartitionId, after: u64, limit: usize, bytes_max: usize) -> Result<Vec<Received>, Error> {
        Ok(self.database().read(partition, |partition| partition.inbox(after, limit, bytes_max)))
    }

    async fn statuses(&self, partition: PartitionId, positions: &[u64]) -> Result<Vec<RequestStatus>, Error> {
        Ok(self.database().read(partition, |partition| partition.statuses(positions)))
    }

    fn wakeups(&self) -> watch::Receiver<u64> {
        self.wakeups.subscribe()
    }

    async fn load(&self, partition: PartitionId, wanted: &Wanted, now: Millis) -> Result<Loaded, Error> {
        let loaded = self.database().read(partition, |partition| Some(load::load(&partition.tables, wanted, now)));
        Ok(loaded.unwrap_or_else(|| load::load(&Tables::default(), wanted, now)))
    }

    async fn commit(&self, commit: Commit) -> Result<Millis, CommitError> {
        let wake = commit.wake;
        self.database().commit(commit)?;
        if wake {
            self.wake();
        }
        Ok((self.clock)())
    }

    async fn ready_jobs(
        &self,
        partition: PartitionId,
        job_type: &str,
        tenant: &str,
        after: ReadyAfter,
        limit: usize,
    ) -> Result<Vec<ReadyJob>, Error> {
        Ok(self.database().read(partition, |partition| load::ready_jobs(&partition.tables, job_type, tenant, after, limit)))
    }

    async fn grouped_jobs(
        &self,
        queue: QueueRef<'_>,
        of: Option<queue::Group>,
        after: ReadyAfter,
        limit: usize,
    ) -> Result<Vec<(ReadyJob, queue::Group)>, Error> {
        let of = of.as_ref();
        Ok(self.database().read(queue.partition, |partition| load::grouped_jobs(&partition.tables, queue, of, after, limit)))
    }

    async fn aged_jobs(
        &self,
        queue: QueueRef<'_>,
        of: Option<queue::Group>,
        ageing: Millis,
        after: (i64, JobKey),
        limit: usize,
    ) -> Result<Vec<AgedJob>, Error> {
        let of = of.as_ref();
        Ok(self
            .database()
            .read(queue.partition, |partition| load::aged_jobs(&partition.tables, queue, (of, ageing), after, limit)))
    }

    async fn paces(&self, queue: QueueRef<'_>) -> Result<Vec<row::PaceState>, Error> {
        let is_of = |row: &&row::PaceState| *row.job_type == *queue.job_type && *row.tenant == *queue.tenant;
        Ok(self.database().read(queue.partition, |partition| partition.tables.paces.values().filter(is_of).cloned().collect()))
    }

    async fn count_jobs(&self, queue: QueueRef<'_>, which: CountedJobs) -> Result<Vec<(queue::Group, u64)>, Error> {
        Ok(self.database().read(queue.partition, |partition| load::count_jobs(&partition.tables, queue, which)))
    }

    async fn queue_sizes(&self, partition: PartitionId) -> Result<Vec<QueueSize>, Error> {
        Ok(self.database().read(partition, |partition| load::queue_sizes(&partition.tables)))
    }

    async fn jobs_before(&self, queue: QueueRef<'_>, place: ReadyAfter) -> Result<u64, Error> {
        Ok(self.database().read(queue.partition, |partition| load::jobs_before(&partition.tables, queue, place)))
    }

    async fn outbox(
        &self,
        partition: PartitionId,
        after: row::AnnouncementKey,
        limit: usize,
        bytes_max: usize,
    ) -> Result<Vec<row::Announcement>, Error> {
        Ok(self.database().read(partition, |partition| load::outbox(&partition.tables, after, limit, bytes_max)))
    }

    async fn outbox_size(&self, partition: PartitionId) -> Result<OutboxSize, Error> {
        Ok(self.database().read(partition, |partition| load::outbox_size(&partition.tables)))
    }

    async fn policies(&self, partition: PartitionId) -> Result<Vec<row::PolicyVersion>, Error> {
        let newest = |partition: &database::Partition| {
            partition.tables.policies.values().filter_map(|versions| versions.last().cloned()).collect()
        };
        Ok(self.database().read(partition, newest))
    }

    async fn policy_versions(&self, partition: PartitionId, reference: &str) -> Result<Vec<row::PolicyVersion>, Error> {
        let versions = |partition: &database::Partition| partition.tables.policies.get(reference).cloned().unwrap_or_default();
        Ok(self.database().read(partition, versions))
    }

    async fn global_listeners(&self, partition: PartitionId, limit: usize) -> Result<Vec<row::GlobalListeners>, Error> {
        Ok(self.database().partition_mut(partition).tables.listeners.values().rev().take(limit).cloned().collect())
    }

    async fn schedules(&self, partition: PartitionId) -> Result<Vec<row::Schedule>, Error> {
        let all = |partition: &database::Partition| partition.tables.schedules.values().cloned().collect::<Vec<_>>();
        let mut all = self.database().read(partition, all);
        all.sort_by(|a, b| (&a.tenant, &a.reference).cmp(&(&b.tenant, &b.reference)));
        Ok(all)
    }

    async fn queue_stats(&self, partition: PartitionId, job_type: Option<&str>) -> Result<Vec<row::QueueStats>, Error> {
        let of = |row: &&row::QueueStats| job_type.is_none_or(|job_type| *row.job_type == *job_type);
        Ok(self.database().read(partition, |partition| partition.tables.queue_stats.values().filter(of).cloned().collect()))
    }

    async fn waiting_since(&self, queue: QueueRef<'_>, before: [Millis; AGES]) -> Result<[u64; AGES], Error> {
        Ok(self.database().read(queue.partition, |partition| load::waiting_since(&partition.tables, queue, before)))
    }

    async fn due(&self, partition: PartitionId, after: (Millis, u64), limit: usize) -> Result<Vec<Due>, Error> {
        Ok(self.database().read(partition, |partition| partition.due(after, limit)))
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
        Ok(self
            .database()
            .read(partition, |partition| waits::signal_subscriptions(&partition.tables, (tenant, name), (after, up_to), limit)))
    }

    async fn condition_starts(
        &self,
        partition: PartitionId,
        tenant: &str,
        limit: usize,
    ) -> Result<Vec<row::Subscription>, Error> {
        Ok(self.database().read(partition, |partition| waits::condition_starts(&partition.tables, tenant, limit)))
    }

    async fn process_named(&self, partition: PartitionId, id: &str, tenant: &str) -> Result<Named<row::DefinitionHead>, Error> {
        Ok(self.database().read(partition, |partition| definition::named(&partition.tables, id, tenant)))
    }

    async fn requirements_named(
        &self,
        partition: PartitionId,
        id: &str,
        tenant: &str,
    ) -> Result<Named<row::DecisionRequirements>, Error> {
        Ok(self.database().read(partition, |partition| decision::requirements_named(&partition.tables, id, tenant)))
    }

    async fn decision_named(&self, partition: PartitionId, id: &str, tenant: &str) -> Result<Named<row::LatestDecision>, Error> {
        Ok(self.database().read(partition, |partition| decision::named(&partition.tables, id, tenant)))
    }

    async fn definition(&self, key: DefinitionKey) -> Result<Option<row::Definition>, Error> {
        let database = self.database();
        Ok(database.tables().find_map(|tables| tables.definitions.get(&key).cloned()))
    }

    async fn definition_version(
        &self,
        partition: PartitionId,
        process_id: &str,
        tenant: &str,
        version: i32,
    ) -> Result<Option<row::Definition>, Error> {
        Ok(self.database().read(partition, |partition| {
            definition::versions(&partition.tables, process_id, tenant).find(|one| one.version == version).cloned()
        }))
    }

    async fn definition_before(
        &self,
        partition: PartitionId,
        process_id: &str,
        tenant: &str,
        version: i32,
    ) -> Result<Option<row::Definition>, Error> {
        Ok(self.database().read(partition, |partition| {
            let versions = definition::versions(&partition.tables, process_id, tenant);
            versions.filter(|one| !one.deleted && one.version < version).max_by_key(|one| one.version).cloned()
        }))
    }

    async fn resource(&self, key: u64) -> Result<Option<row::Resource>, Error> {
        let database = self.database();
        Ok(database.tables().find_map(|tables| tables.resources.get(&key).cloned()))
    }

    async fn running_definitions(&self, partition: PartitionId, limit: usize) -> Result<Vec<DefinitionKey>, Error> {
        Ok(self.database().read(partition, |partition| definition::running(&partition.tables, limit)))
    }

    async fn has_running(&self, definition: DefinitionKey) -> Result<bool, Error> {
        Ok(self.database().tables().any(|tables| definition::has_running(tables, definition)))
    }

    async fn starts_of(&self, definition: DefinitionKey) -> Result<(Vec<row::Timer>, Vec<row::Subscription>), Error> {
        Ok(waits::starts_of(&self.database(), definition))
    }

    async fn requirements(&self, key: RequirementsKey) -> Result<Option<row::DecisionRequirements>, Error> {
        let database = self.database();
        Ok(database.tables().find_map(|tables| tables.requirements.get(&key).cloned()))
    }

    async fn batch_operation(&self, key: u64) -> Result<Option<row::Batch>, Error> {
        Ok(self.database().tables().find_map(|tables| tables.batches.get(&key).cloned()))
    }

    async fn open_items(&self, batch: u64, limit: usize) -> Result<Vec<row::BatchItem>, Error> {
        let is_open = |row: &&row::BatchItem| row.batch == batch && row.state == row::ItemState::Active;
        let database = self.database();
        let open = database.tables().flat_map(|tables| tables.batch_items.values()).filter(is_open);
        Ok(open.take(limit).cloned().collect())
    }

    async fn forms_named(&self, partition: PartitionId, id: &str, tenant: &str) -> Result<Vec<row::Form>, Error> {
        let is_it = |row: &&row::Form| &*row.id == id && &*row.tenant == tenant;
        Ok(self.database().read(partition, |partition| partition.tables.forms.values().filter(is_it).cloned().collect()))
    }

    async fn form(&self, key: FormKey) -> Result<Option<row::Form>, Error> {
        let database = self.database();
        Ok(database.tables().find_map(|tables| tables.forms.get(&key).cloned()))
    }

    async fn search(&self, query: &Query) -> Result<QueryPage, Error> {
        Ok(search::search(&self.database(), query))
    }

    async fn count(&self, counting: &Counting) -> Result<Vec<Counted>, Error> {
        Ok(search::count(&self.database(), counting))
    }

    async fn finished(
        &self,
        partition: PartitionId,
        after: FinishedAfter,
        before: Millis,
        limit: usize,
    ) -> Result<Vec<Finished>, Error> {
        Ok(self.database().read(partition, |partition| partition.tables.finished(after, before, limit)))
    }

    async fn purge_instances(&self, fence: Fence, instances: &[InstanceKey], rows_max: usize) -> Result<Option<Purged>, Error> {
        Ok(self.database().held(fence).map(|partition| partition.tables.purge_instances(instances, rows_max)))
    }

    async fn weights(&self, partition: PartitionId, instances: &[InstanceKey], limit: usize) -> Result<Vec<usize>, Error> {
        let weigh = |tables: &Tables| instances.iter().map(|key| tables.weight(*key, limit)).collect();
        Ok(self.database().read(partition, |partition| weigh(&partition.tables)))
    }

    async fn purge(&self, fence: Fence, what: Aged, before: Millis, limit: usize) -> Result<Option<usize>, Error> {
        Ok(self.database().held(fence).map(|partition| partition.purge(what, before, limit)))
    }

    async fn count_aged(&self, partition: PartitionId, what: Aged, before: Millis, limit: usize) -> Result<usize, Error> {
        Ok(self.database().read(partition, |partition| partition.count_aged(what, before, limit)))
    }

    /// There is one while its server runs, and nothing else could be taken for it.
    async fn identity(&self) -> Result<String, Error> {
        Ok("00000000-0000-0000-0000-000000000000".to_owned())
    }

    fn pool(&self) -> (usize, usize) {
        (0, 0)
    }
}
