//! The contract, each intention handed to the file that fulfils it.

use std::sync::Arc;
use std::time::Duration;

use engine::{DefinitionKey, JobKey, PartitionId, RequirementsKey};
use store::log::{CommandStatus, NewCommand, Pending};
use store::query::{Query, QueryPage};
use store::{
    Commit, CommitError, DecisionCounters, Error, Fence, Loaded, Millis, Ownership, PartitionStatus, ReadyJob, Renewed, Store,
    TimedJob, Wanted, row,
};
use tokio::sync::watch;

use crate::Postgres;
use crate::definitions::Versioned;

#[async_trait::async_trait]
impl Store for Postgres {
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

    async fn append(&self, partition: PartitionId, commands: Vec<NewCommand>) -> Result<Vec<u64>, Error> {
        self.append_commands(partition, &commands).await
    }

    async fn pending(&self, partition: PartitionId, after: u64, limit: usize) -> Result<Vec<Pending>, Error> {
        self.pending_commands(partition, after, limit).await
    }

    async fn statuses(&self, partition: PartitionId, positions: &[u64]) -> Result<Vec<CommandStatus>, Error> {
        self.command_statuses(partition, positions).await
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
        after: JobKey,
        limit: usize,
    ) -> Result<Vec<ReadyJob>, Error> {
        self.ready_window(partition, job_type, tenant, after, limit).await
    }

    async fn timed_jobs(&self, partition: PartitionId, after: (Millis, JobKey), limit: usize) -> Result<Vec<TimedJob>, Error> {
        self.timed_window(partition, after, limit).await
    }

    async fn latest_definitions(&self, partition: PartitionId) -> Result<Vec<row::Definition>, Error> {
        self.definitions_latest(partition).await
    }

    async fn version_counters(&self, partition: PartitionId) -> Result<Vec<(Arc<str>, Arc<str>, i32)>, Error> {
        self.versions_given(partition).await
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

    async fn latest_requirements(&self, partition: PartitionId) -> Result<Vec<row::DecisionRequirements>, Error> {
        self.requirements_latest(partition).await
    }

    async fn latest_decisions(&self, partition: PartitionId) -> Result<Vec<row::LatestDecision>, Error> {
        self.decisions_latest(partition).await
    }

    async fn decision_counters(&self, partition: PartitionId) -> Result<DecisionCounters, Error> {
        self.decision_versions_given(partition).await
    }

    async fn requirements(&self, key: RequirementsKey) -> Result<Option<row::DecisionRequirements>, Error> {
        self.requirements_by_key(key).await
    }

    async fn search(&self, query: &Query) -> Result<QueryPage, Error> {
        self.search_page(query).await
    }

    async fn purge_idempotent(&self, partition: PartitionId, now: Millis, limit: usize) -> Result<usize, Error> {
        self.purge_first_answers(partition, now, limit).await
    }

    fn pool(&self) -> (usize, usize) {
        let pools = [&self.writer, &self.appender, &self.owner, &self.readers];
        (pools.iter().map(|pool| pool.in_use()).sum(), pools.iter().map(|pool| pool.size()).sum())
    }
}
