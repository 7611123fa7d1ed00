//! The trait: each intention goes to the writer or to a reader.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use engine::{DefinitionKey, FormKey, InstanceKey, JobKey, PartitionId, RequirementsKey, WaitKey};
use store::backup::{Copied, Rate};
use store::log::{NewRequest, Received, RequestStatus};
use store::query::{Counted, Counting, Query, QueryPage};
use store::retention::{Aged, Finished, FinishedAfter, Purged};
use store::{
    AgedJob, Backlog, Commit, CommitError, CountedJobs, Due, Error, Fence, Loaded, Logged, Millis, Named, OutboxSize, Ownership,
    PartitionStatus, QueueRef, QueueSize, ReadyAfter, ReadyJob, Renewed, Store, Wanted, row,
};
use tokio::sync::watch;

use crate::backup::{Course, Waiting};
use crate::{Sqlite, mark, read, write};

/// The database has no clock of its own: there is one server, and its clock decides.
fn clock() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX)
}

#[async_trait::async_trait]
impl Store for Sqlite {
    fn documents(&self) -> &dyn store::documents::Documents {
        self
    }

    async fn now(&self) -> Result<Millis, Error> {
        Ok(clock())
    }

    async fn acquire(&self, partition: PartitionId, owner: &str, lease: Duration) -> Result<Option<Ownership>, Error> {
        let owner = owner.to_owned();
        self.writer.run(move |connection| write::acquire(connection, partition, &owner, lease, clock())).await
    }

    async fn renew(&self, fence: Fence, lease: Duration) -> Result<Option<Renewed>, Error> {
        self.writer.run(move |connection| write::renew(connection, fence, lease, clock())).await
    }

    async fn release(&self, fence: Fence) -> Result<(), Error> {
        self.writer.run(move |connection| write::release(connection, fence)).await
    }

    async fn partitions(&self) -> Result<Vec<PartitionStatus>, Error> {
        self.owner.run(|connection| read::partitions(connection, clock())).await
    }

    async fn append(&self, partition: PartitionId, requests: Vec<NewRequest>, backlog: Backlog) -> Result<Vec<u64>, Error> {
        self.writer.run(move |connection| write::append(connection, partition, &requests, backlog, clock())).await
    }

    async fn inbox(&self, partition: PartitionId, after: u64, limit: usize, bytes_max: usize) -> Result<Vec<Received>, Error> {
        self.owner.run(move |connection| read::inbox(connection, partition, after, limit, bytes_max)).await
    }

    async fn statuses(&self, partition: PartitionId, positions: &[u64]) -> Result<Vec<RequestStatus>, Error> {
        let positions = positions.to_vec();
        self.owner.run(move |connection| read::statuses(connection, partition, positions)).await
    }

    fn wakeups(&self) -> watch::Receiver<u64> {
        self.wakeups.subscribe()
    }

    async fn load(&self, partition: PartitionId, wanted: &Wanted, now: Millis) -> Result<Loaded, Error> {
        let wanted = wanted.clone();
        self.owner.run(move |connection| read::load(connection, partition, &wanted, now)).await
    }

    async fn commit(&self, commit: Commit) -> Result<Millis, CommitError> {
        self.writer.run(move |connection| write::commit(connection, &commit)).await??;
        Ok(clock())
    }

    async fn ready_jobs(
        &self,
        partition: PartitionId,
        job_type: &str,
        tenant: &str,
        after: ReadyAfter,
        limit: usize,
    ) -> Result<Vec<ReadyJob>, Error> {
        let (job_type, tenant) = (job_type.to_owned(), tenant.to_owned());
        self.owner.run(move |connection| read::ready_jobs(connection, partition, (&job_type, &tenant), after, limit)).await
    }

    async fn grouped_jobs(
        &self,
        queue: QueueRef<'_>,
        of: Option<Option<Arc<str>>>,
        after: ReadyAfter,
        limit: usize,
    ) -> Result<Vec<(ReadyJob, Option<Arc<str>>)>, Error> {
        let (partition, job_type, tenant) = (queue.partition, queue.job_type.to_owned(), queue.tenant.to_owned());
        let read = move |connection: &rusqlite::Connection| {
            let queue = QueueRef { partition, job_type: &job_type, tenant: &tenant };
            read::grouped_jobs(connection, queue, of.as_ref(), after, limit)
        };
        self.owner.run(read).await
    }

    async fn aged_jobs(
        &self,
        queue: QueueRef<'_>,
        of: Option<Option<Arc<str>>>,
        ageing: Millis,
        after: (i64, JobKey),
        limit: usize,
    ) -> Result<Vec<AgedJob>, Error> {
        let (partition, job_type, tenant) = (queue.partition, queue.job_type.to_owned(), queue.tenant.to_owned());
        let read = move |connection: &rusqlite::Connection| {
            let queue = QueueRef { partition, job_type: &job_type, tenant: &tenant };
            read::aged_jobs(connection, queue, (of.as_ref(), ageing), after, limit)
        };
        self.owner.run(read).await
    }

    async fn paces(&self, queue: QueueRef<'_>) -> Result<Vec<row::PaceState>, Error> {
        let (partition, job_type, tenant) = (queue.partition, queue.job_type.to_owned(), queue.tenant.to_owned());
        let read = move |connection: &rusqlite::Connection| {
            read::paces(connection, QueueRef { partition, job_type: &job_type, tenant: &tenant })
        };
        self.owner.run(read).await
    }

    async fn count_jobs(&self, queue: QueueRef<'_>, which: CountedJobs) -> Result<Vec<(Option<Arc<str>>, u64)>, Error> {
        let (partition, job_type, tenant) = (queue.partition, queue.job_type.to_owned(), queue.tenant.to_owned());
        let count = move |connection: &rusqlite::Connection| {
            read::count_jobs(connection, QueueRef { partition, job_type: &job_type, tenant: &tenant }, which)
        };
        self.owner.run(count).await
    }

    async fn queue_sizes(&self, partition: PartitionId) -> Result<Vec<QueueSize>, Error> {
        let sizes = move |connection: &rusqlite::Connection| read::queue_sizes(connection, partition);
        self.searches.run_within(self.search_timeout, sizes).await
    }

    async fn jobs_before(&self, queue: QueueRef<'_>, place: ReadyAfter) -> Result<u64, Error> {
        let (partition, job_type, tenant) = (queue.partition, queue.job_type.to_owned(), queue.tenant.to_owned());
        let count = move |connection: &rusqlite::Connection| {
            read::jobs_before(connection, QueueRef { partition, job_type: &job_type, tenant: &tenant }, place)
        };
        self.searches.run_within(self.search_timeout, count).await
    }

    async fn outbox(
        &self,
        partition: PartitionId,
        after: row::AnnouncementKey,
        limit: usize,
        bytes_max: usize,
    ) -> Result<Vec<row::Announcement>, Error> {
        self.owner.run(move |connection| read::outbox(connection, partition, after, limit, bytes_max)).await
    }

    async fn outbox_size(&self, partition: PartitionId) -> Result<OutboxSize, Error> {
        self.owner.run(move |connection| read::outbox_size(connection, partition)).await
    }

    async fn policies(&self, partition: PartitionId) -> Result<Vec<row::PolicyVersion>, Error> {
        self.owner.run(move |connection| read::policies(connection, partition)).await
    }

    async fn policy_versions(&self, partition: PartitionId, reference: &str) -> Result<Vec<row::PolicyVersion>, Error> {
        let reference = reference.to_owned();
        self.owner.run(move |connection| read::policy_versions(connection, partition, &reference)).await
    }

    async fn batch_operation(&self, key: u64) -> Result<Option<row::Batch>, Error> {
        self.owner.run(move |connection| read::batch_operation(connection, key)).await
    }

    async fn open_items(&self, batch: u64, limit: usize) -> Result<Vec<row::BatchItem>, Error> {
        self.owner.run(move |connection| read::open_items(connection, batch, limit)).await
    }

    async fn global_listeners(&self, partition: PartitionId, limit: usize) -> Result<Vec<row::GlobalListeners>, Error> {
        self.owner.run(move |connection| read::global_listeners(connection, partition, limit)).await
    }

    async fn schedules(&self, partition: PartitionId) -> Result<Vec<row::Schedule>, Error> {
        self.owner.run(move |connection| read::schedules(connection, partition)).await
    }

    async fn queue_stats(&self, partition: PartitionId, job_type: Option<&str>) -> Result<Vec<row::QueueStats>, Error> {
        let job_type = job_type.map(str::to_owned);
        self.owner.run(move |connection| read::queue_stats(connection, partition, job_type.as_deref())).await
    }

    async fn waiting_since(&self, queue: QueueRef<'_>, before: [Millis; store::AGES]) -> Result<[u64; store::AGES], Error> {
        let (partition, job_type, tenant) = (queue.partition, queue.job_type.to_owned(), queue.tenant.to_owned());
        let count = move |connection: &rusqlite::Connection| {
            read::waiting_since(connection, QueueRef { partition, job_type: &job_type, tenant: &tenant }, before)
        };
        self.searches.run_within(self.search_timeout, count).await
    }

    async fn due(&self, partition: PartitionId, after: (Millis, u64), limit: usize) -> Result<Vec<Due>, Error> {
        self.owner.run(move |connection| read::due(connection, partition, after, limit)).await
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
        let (tenant, name) = (tenant.to_owned(), name.to_owned());
        let which =
            move |connection: &_| read::signal_subscriptions(connection, partition, (&tenant, &name), (after, up_to), limit);
        self.owner.run(which).await
    }

    async fn condition_starts(
        &self,
        partition: PartitionId,
        tenant: &str,
        limit: usize,
    ) -> Result<Vec<row::Subscription>, Error> {
        let tenant = tenant.to_owned();
        self.owner.run(move |connection| read::condition_starts(connection, partition, &tenant, limit)).await
    }

    async fn process_named(&self, partition: PartitionId, id: &str, tenant: &str) -> Result<Named<row::DefinitionHead>, Error> {
        let (id, tenant) = (id.to_owned(), tenant.to_owned());
        self.owner.run(move |connection| read::process_named(connection, partition, &id, &tenant)).await
    }

    async fn requirements_named(
        &self,
        partition: PartitionId,
        id: &str,
        tenant: &str,
    ) -> Result<Named<row::DecisionRequirements>, Error> {
        let (id, tenant) = (id.to_owned(), tenant.to_owned());
        self.owner.run(move |connection| read::requirements_named(connection, partition, &id, &tenant)).await
    }

    async fn decision_named(&self, partition: PartitionId, id: &str, tenant: &str) -> Result<Named<row::LatestDecision>, Error> {
        let (id, tenant) = (id.to_owned(), tenant.to_owned());
        self.owner.run(move |connection| read::decision_named(connection, partition, &id, &tenant)).await
    }

    async fn definition(&self, key: DefinitionKey) -> Result<Option<row::Definition>, Error> {
        self.owner.run(move |connection| read::definition(connection, key)).await
    }

    async fn definition_version(
        &self,
        partition: PartitionId,
        process_id: &str,
        tenant: &str,
        version: i32,
    ) -> Result<Option<row::Definition>, Error> {
        let (id, tenant) = (process_id.to_owned(), tenant.to_owned());
        self.owner.run(move |connection| read::definition_version(connection, partition, &id, &tenant, version)).await
    }

    async fn definition_before(
        &self,
        partition: PartitionId,
        process_id: &str,
        tenant: &str,
        version: i32,
    ) -> Result<Option<row::Definition>, Error> {
        let (id, tenant) = (process_id.to_owned(), tenant.to_owned());
        self.owner.run(move |connection| read::definition_before(connection, partition, &id, &tenant, version)).await
    }

    async fn resource(&self, key: u64) -> Result<Option<row::Resource>, Error> {
        self.owner.run(move |connection| read::resource(connection, key)).await
    }

    async fn running_definitions(&self, partition: PartitionId, limit: usize) -> Result<Vec<DefinitionKey>, Error> {
        self.owner.run(move |connection| read::running_definitions(connection, partition, limit)).await
    }

    async fn has_running(&self, definition: DefinitionKey) -> Result<bool, Error> {
        self.owner.run(move |connection| read::has_running(connection, definition)).await
    }

    async fn starts_of(&self, definition: DefinitionKey) -> Result<(Vec<row::Timer>, Vec<row::Subscription>), Error> {
        self.owner.run(move |connection| read::starts_of(connection, definition)).await
    }

    async fn requirements(&self, key: RequirementsKey) -> Result<Option<row::DecisionRequirements>, Error> {
        self.owner.run(move |connection| read::requirements(connection, key)).await
    }

    async fn forms_named(&self, partition: PartitionId, id: &str, tenant: &str) -> Result<Vec<row::Form>, Error> {
        let (id, tenant) = (id.to_owned(), tenant.to_owned());
        self.owner.run(move |connection| read::forms_named(connection, partition, &id, &tenant)).await
    }

    async fn form(&self, key: FormKey) -> Result<Option<row::Form>, Error> {
        self.owner.run(move |connection| read::form(connection, key)).await
    }

    async fn search(&self, query: &Query) -> Result<QueryPage, Error> {
        let query = query.clone();
        self.searches.run_within(self.search_timeout, move |connection| read::search(connection, &query)).await
    }

    async fn count(&self, counting: &Counting) -> Result<Vec<Counted>, Error> {
        let counting = counting.clone();
        self.searches.run_within(self.search_timeout, move |connection| read::count(connection, &counting)).await
    }

    async fn happened(&self, partition: PartitionId, after: u64, limit: usize, bytes_max: usize) -> Result<Vec<Logged>, Error> {
        let happened = move |connection: &rusqlite::Connection| read::happened(connection, partition, after, limit, bytes_max);
        self.searches.run_within(self.search_timeout, happened).await
    }

    async fn export_place(&self, partition: PartitionId, name: &str) -> Result<Option<u64>, Error> {
        let name = name.to_owned();
        self.owner.run(move |connection| read::export_place(connection, partition, &name)).await
    }

    async fn put_export_place(&self, fence: Fence, name: &str, position: u64) -> Result<bool, Error> {
        let name = name.to_owned();
        self.writer.run(move |connection| write::put_export_place(connection, fence, &name, position)).await
    }

    async fn finished(
        &self,
        partition: PartitionId,
        after: FinishedAfter,
        before: Millis,
        limit: usize,
    ) -> Result<Vec<Finished>, Error> {
        let finished = move |connection: &rusqlite::Connection| read::finished(connection, partition, after, before, limit);
        self.searches.run_within(self.search_timeout, finished).await
    }

    async fn purge_instances(&self, fence: Fence, instances: &[InstanceKey], rows_max: usize) -> Result<Option<Purged>, Error> {
        let instances = instances.to_vec();
        self.writer.run(move |connection| write::purge_instances(connection, fence, &instances, rows_max)).await
    }

    async fn weights(&self, partition: PartitionId, instances: &[InstanceKey], limit: usize) -> Result<Vec<usize>, Error> {
        let instances = instances.to_vec();
        self.owner.run(move |connection| read::weights(connection, partition, &instances, limit)).await
    }

    async fn purge(&self, fence: Fence, what: Aged, before: Millis, limit: usize) -> Result<Option<usize>, Error> {
        self.writer.run(move |connection| write::purge(connection, fence, what, before, limit)).await
    }

    async fn count_aged(&self, partition: PartitionId, what: Aged, before: Millis, limit: usize) -> Result<usize, Error> {
        let count = move |connection: &rusqlite::Connection| write::count_aged(connection, partition, what, before, limit);
        self.searches.run_within(self.search_timeout, count).await
    }

    async fn give_room_back(&self) -> Result<bool, Error> {
        self.writer.run(write::give_back).await
    }

    async fn backup(&self, rate: Rate) -> Result<Option<std::fs::File>, Error> {
        let busy = Error::Exhausted { what: "the number of backups at a time" };
        let alone = self.copying.begin().ok_or(busy)?;
        let waiting = Waiting(Arc::new(AtomicBool::new(true)));
        let course = Course { alone, wanted: waiting.0.clone(), rate };
        let database = self.folder.database();
        let copied = tokio::task::spawn_blocking(move || crate::backup::copy(&database, &course)).await;
        drop(waiting);
        copied.map_err(Error::unavailable)?.map(Some)
    }

    fn backup_copied(&self) -> Option<Copied> {
        self.copying.copied()
    }

    async fn identity(&self) -> Result<String, Error> {
        self.owner.run(mark::id).await
    }

    fn pool(&self) -> (usize, usize) {
        let ((owner_busy, owner), (searches_busy, searches)) = (self.owner.in_use(), self.searches.in_use());
        (owner_busy + searches_busy, owner + searches)
    }
}
