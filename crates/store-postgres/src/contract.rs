//! The contract, each intention handed to the file that fulfils it.

use std::sync::Arc;
use std::time::Duration;

use engine::{DefinitionKey, FormKey, InstanceKey, JobKey, PartitionId, RequirementsKey, WaitKey};
use store::log::{NewRequest, Received, RequestStatus};
use store::query::{Counted, Counting, Query, QueryPage};
use store::retention::{Aged, Finished, FinishedAfter, Purged};
use store::{
    AgedJob, Backlog, Commit, CommitError, CountedJobs, Due, Error, Fence, Loaded, Logged, Millis, Named, OutboxSize, Ownership,
    PartitionStatus, QueueRef, QueueSize, ReadyAfter, ReadyJob, Renewed, Store, Wanted, row,
};
use tokio::sync::watch;

use crate::Postgres;
use crate::definitions::Versioned;

#[async_trait::async_trait]
impl Store for Postgres {
    fn documents(&self) -> &dyn store::documents::Documents {
        self
    }

    async fn now(&self) -> Result<Millis, Error> {
        self.clock().await
    }

    async fn acquire(&self, partition: PartitionId, owner: &str, lease: Duration) -> Result<Option<Ownership>, Error> {
        self.acquire_lease(partition, owner, lease).await
    }

    async fn renew(&self, fence: Fence, lease: Duration) -> Result<Option<Renewed>, Error> {
        self.renew_lease(fence, lease).await
    }

    async fn release(&self, fence: Fence) -> Result<(), Error> {
        self.release_lease(fence).await
    }

    async fn partitions(&self) -> Result<Vec<PartitionStatus>, Error> {
        self.partition_statuses().await
    }

    async fn append(&self, partition: PartitionId, requests: Vec<NewRequest>, backlog: Backlog) -> Result<Vec<u64>, Error> {
        self.append_requests(partition, &requests, backlog).await
    }

    async fn inbox(&self, partition: PartitionId, after: u64, limit: usize, bytes_max: usize) -> Result<Vec<Received>, Error> {
        self.waiting_requests(partition, after, limit, bytes_max).await
    }

    async fn statuses(&self, partition: PartitionId, positions: &[u64]) -> Result<Vec<RequestStatus>, Error> {
        self.request_statuses(partition, positions).await
    }

    fn wakeups(&self) -> watch::Receiver<u64> {
        self.wakeups.receiver()
    }

    async fn load(&self, partition: PartitionId, wanted: &Wanted, now: Millis) -> Result<Loaded, Error> {
        self.load_wanted(partition, wanted, now).await
    }

    async fn commit(&self, commit: Commit) -> Result<Millis, CommitError> {
        self.write_tick(&commit).await
    }

    async fn ready_jobs(
        &self,
        partition: PartitionId,
        job_type: &str,
        tenant: &str,
        after: ReadyAfter,
        limit: usize,
    ) -> Result<Vec<ReadyJob>, Error> {
        self.ready_window(partition, (job_type, tenant), after, limit).await
    }

    async fn grouped_jobs(
        &self,
        queue: QueueRef<'_>,
        of: Option<Option<Arc<str>>>,
        after: ReadyAfter,
        limit: usize,
    ) -> Result<Vec<(ReadyJob, Option<Arc<str>>)>, Error> {
        self.ready_groups(queue, of, after, limit).await
    }

    async fn aged_jobs(
        &self,
        queue: QueueRef<'_>,
        of: Option<Option<Arc<str>>>,
        ageing: Millis,
        after: (i64, JobKey),
        limit: usize,
    ) -> Result<Vec<AgedJob>, Error> {
        self.ready_aged(queue, (of, ageing), after, limit).await
    }

    async fn paces(&self, queue: QueueRef<'_>) -> Result<Vec<row::PaceState>, Error> {
        self.paces_of(queue).await
    }

    async fn count_jobs(&self, queue: QueueRef<'_>, which: CountedJobs) -> Result<Vec<(Option<Arc<str>>, u64)>, Error> {
        self.jobs_counted(queue, which).await
    }

    async fn queue_sizes(&self, partition: PartitionId) -> Result<Vec<QueueSize>, Error> {
        self.sizes_of_queues(partition).await
    }

    async fn jobs_before(&self, queue: QueueRef<'_>, place: ReadyAfter) -> Result<u64, Error> {
        self.ready_before(queue, place).await
    }

    async fn outbox(
        &self,
        partition: PartitionId,
        after: row::AnnouncementKey,
        limit: usize,
        bytes_max: usize,
    ) -> Result<Vec<row::Announcement>, Error> {
        self.to_be_announced(partition, after, limit, bytes_max).await
    }

    async fn outbox_size(&self, partition: PartitionId) -> Result<OutboxSize, Error> {
        self.size_of_outbox(partition).await
    }

    async fn policies(&self, partition: PartitionId) -> Result<Vec<row::PolicyVersion>, Error> {
        self.newest_policies(partition).await
    }

    async fn policy_versions(&self, partition: PartitionId, reference: &str) -> Result<Vec<row::PolicyVersion>, Error> {
        self.versions_of_policy(partition, reference).await
    }

    async fn batch_operation(&self, key: u64) -> Result<Option<row::Batch>, Error> {
        self.batch_by_key(key).await
    }

    async fn open_items(&self, batch: u64, limit: usize) -> Result<Vec<row::BatchItem>, Error> {
        self.items_to_do(batch, limit).await
    }

    async fn global_listeners(&self, partition: PartitionId, limit: usize) -> Result<Vec<row::GlobalListeners>, Error> {
        self.newest_listeners(partition, limit).await
    }

    async fn schedules(&self, partition: PartitionId) -> Result<Vec<row::Schedule>, Error> {
        self.all_schedules(partition).await
    }

    async fn queue_stats(&self, partition: PartitionId, job_type: Option<&str>) -> Result<Vec<row::QueueStats>, Error> {
        self.stats_of_queues(partition, job_type).await
    }

    async fn waiting_since(&self, queue: QueueRef<'_>, before: [Millis; store::AGES]) -> Result<[u64; store::AGES], Error> {
        self.ages_of_waiting(queue, before).await
    }

    async fn due(&self, partition: PartitionId, after: (Millis, u64), limit: usize) -> Result<Vec<Due>, Error> {
        self.due_window(partition, after, limit).await
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
        self.subscriptions_to_signal(partition, (tenant, name), (after, up_to), limit).await
    }

    async fn condition_starts(
        &self,
        partition: PartitionId,
        tenant: &str,
        limit: usize,
    ) -> Result<Vec<row::Subscription>, Error> {
        self.starts_by_condition(partition, tenant, limit).await
    }

    async fn process_named(&self, partition: PartitionId, id: &str, tenant: &str) -> Result<Named<row::DefinitionHead>, Error> {
        self.process_by_name(partition, id, tenant).await
    }

    async fn requirements_named(
        &self,
        partition: PartitionId,
        id: &str,
        tenant: &str,
    ) -> Result<Named<row::DecisionRequirements>, Error> {
        self.requirements_by_name(partition, id, tenant).await
    }

    async fn decision_named(&self, partition: PartitionId, id: &str, tenant: &str) -> Result<Named<row::LatestDecision>, Error> {
        self.decision_by_name(partition, id, tenant).await
    }

    async fn definition(&self, key: DefinitionKey) -> Result<Option<row::Definition>, Error> {
        self.definition_by_key(key).await
    }

    async fn definition_version(
        &self,
        partition: PartitionId,
        process_id: &str,
        tenant: &str,
        version: i32,
    ) -> Result<Option<row::Definition>, Error> {
        self.definition_at(Versioned { partition, process_id, tenant, version }).await
    }

    async fn definition_before(
        &self,
        partition: PartitionId,
        process_id: &str,
        tenant: &str,
        version: i32,
    ) -> Result<Option<row::Definition>, Error> {
        self.definition_below(Versioned { partition, process_id, tenant, version }).await
    }

    async fn resource(&self, key: u64) -> Result<Option<row::Resource>, Error> {
        self.resource_by_key(key).await
    }

    async fn running_definitions(&self, partition: PartitionId, limit: usize) -> Result<Vec<DefinitionKey>, Error> {
        self.definitions_running(partition, limit).await
    }

    async fn has_running(&self, definition: DefinitionKey) -> Result<bool, Error> {
        self.is_running(definition).await
    }

    async fn starts_of(&self, definition: DefinitionKey) -> Result<(Vec<row::Timer>, Vec<row::Subscription>), Error> {
        self.starts_of_definition(definition).await
    }

    async fn requirements(&self, key: RequirementsKey) -> Result<Option<row::DecisionRequirements>, Error> {
        self.requirements_by_key(key).await
    }

    async fn forms_named(&self, partition: PartitionId, id: &str, tenant: &str) -> Result<Vec<row::Form>, Error> {
        self.forms_by_name(partition, id, tenant).await
    }

    async fn form(&self, key: FormKey) -> Result<Option<row::Form>, Error> {
        self.form_by_key(key).await
    }

    async fn search(&self, query: &Query) -> Result<QueryPage, Error> {
        self.search_page(query).await
    }

    async fn count(&self, counting: &Counting) -> Result<Vec<Counted>, Error> {
        self.count_groups(counting).await
    }

    async fn finished(
        &self,
        partition: PartitionId,
        after: FinishedAfter,
        before: Millis,
        limit: usize,
    ) -> Result<Vec<Finished>, Error> {
        self.finished_window(partition, after, before, limit).await
    }

    async fn happened(&self, partition: PartitionId, after: u64, limit: usize, bytes_max: usize) -> Result<Vec<Logged>, Error> {
        self.logged_after(partition, after, limit, bytes_max).await
    }

    async fn export_place(&self, partition: PartitionId, name: &str) -> Result<Option<u64>, Error> {
        self.place_of_export(partition, name).await
    }

    async fn put_export_place(&self, fence: Fence, name: &str, position: u64) -> Result<bool, Error> {
        self.move_export(fence, name, position).await
    }

    async fn purge_instances(&self, fence: Fence, instances: &[InstanceKey], rows_max: usize) -> Result<Option<Purged>, Error> {
        self.purge_finished(fence, instances, rows_max).await
    }

    async fn weights(&self, partition: PartitionId, instances: &[InstanceKey], limit: usize) -> Result<Vec<usize>, Error> {
        self.weigh(partition, instances, limit).await
    }

    async fn purge(&self, fence: Fence, what: Aged, before: Millis, limit: usize) -> Result<Option<usize>, Error> {
        self.purge_aged(fence, what, before, limit).await
    }

    async fn count_aged(&self, partition: PartitionId, what: Aged, before: Millis, limit: usize) -> Result<usize, Error> {
        self.aged_count(partition, what, before, limit).await
    }

    async fn identity(&self) -> Result<String, Error> {
        self.read_identity().await
    }

    fn pool(&self) -> (usize, usize) {
        let pools = [&self.writer, &self.appender, &self.owner, &self.upkeep, &self.lookups, &self.searches];
        (pools.iter().map(|pool| pool.in_use()).sum(), pools.iter().map(|pool| pool.size()).sum())
    }
}
