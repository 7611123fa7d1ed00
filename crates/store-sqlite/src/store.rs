//! The trait: each intention goes to the writer or to a reader.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use engine::{DefinitionKey, JobKey, PartitionId, RequirementsKey};
use store::log::{CommandStatus, NewCommand, Pending};
use store::query::{Query, QueryPage};
use store::{
    Commit, CommitError, DecisionCounters, Error, Fence, Loaded, Millis, Ownership, PartitionStatus, ReadyJob, Renewed, Store,
    TimedJob, Wanted, row,
};
use tokio::sync::watch;

use crate::{Sqlite, read, write};

/// The database has no clock of its own: there is one server, and its clock decides.
fn clock() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX)
}

#[async_trait::async_trait]
impl Store for Sqlite {
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
        self.readers.run(|connection| read::partitions(connection, clock())).await
    }

    async fn append(&self, partition: PartitionId, commands: Vec<NewCommand>) -> Result<Vec<u64>, Error> {
        self.writer.run(move |connection| write::append(connection, partition, &commands, clock())).await
    }

    async fn pending(&self, partition: PartitionId, after: u64, limit: usize) -> Result<Vec<Pending>, Error> {
        self.readers.run(move |connection| read::pending(connection, partition, after, limit)).await
    }

    async fn statuses(&self, partition: PartitionId, positions: &[u64]) -> Result<Vec<CommandStatus>, Error> {
        let positions = positions.to_vec();
        self.readers.run(move |connection| read::statuses(connection, partition, positions)).await
    }

    fn wakeups(&self) -> watch::Receiver<u64> {
        self.wakeups.subscribe()
    }

    async fn load(&self, partition: PartitionId, wanted: &Wanted, now: Millis) -> Result<Loaded, Error> {
        let wanted = wanted.clone();
        self.readers.run(move |connection| read::load(connection, partition, &wanted, now)).await
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
        after: JobKey,
        limit: usize,
    ) -> Result<Vec<ReadyJob>, Error> {
        let queue = (Arc::from(job_type), Arc::from(tenant));
        self.readers.run(move |connection| read::ready_jobs(connection, partition, &queue, after, limit)).await
    }

    async fn timed_jobs(&self, partition: PartitionId, after: (Millis, JobKey), limit: usize) -> Result<Vec<TimedJob>, Error> {
        self.readers.run(move |connection| read::timed_jobs(connection, partition, after, limit)).await
    }

    async fn latest_definitions(&self, partition: PartitionId) -> Result<Vec<row::Definition>, Error> {
        self.readers.run(move |connection| read::latest_definitions(connection, partition)).await
    }

    async fn version_counters(&self, partition: PartitionId) -> Result<Vec<(Arc<str>, Arc<str>, i32)>, Error> {
        self.readers.run(move |connection| read::version_counters(connection, partition)).await
    }

    async fn definition(&self, key: DefinitionKey) -> Result<Option<row::Definition>, Error> {
        self.readers.run(move |connection| read::definition(connection, key)).await
    }

    async fn definition_version(
        &self,
        partition: PartitionId,
        process_id: &str,
        tenant: &str,
        version: i32,
    ) -> Result<Option<row::Definition>, Error> {
        let (id, tenant) = (process_id.to_owned(), tenant.to_owned());
        self.readers.run(move |connection| read::definition_version(connection, partition, &id, &tenant, version)).await
    }

    async fn definition_before(
        &self,
        partition: PartitionId,
        process_id: &str,
        tenant: &str,
        version: i32,
    ) -> Result<Option<row::Definition>, Error> {
        let (id, tenant) = (process_id.to_owned(), tenant.to_owned());
        self.readers.run(move |connection| read::definition_before(connection, partition, &id, &tenant, version)).await
    }

    async fn resource(&self, key: u64) -> Result<Option<row::Resource>, Error> {
        self.readers.run(move |connection| read::resource(connection, key)).await
    }

    async fn running_definitions(&self, partition: PartitionId, limit: usize) -> Result<Vec<DefinitionKey>, Error> {
        self.readers.run(move |connection| read::running_definitions(connection, partition, limit)).await
    }

    async fn has_running(&self, definition: DefinitionKey) -> Result<bool, Error> {
        self.readers.run(move |connection| read::has_running(connection, definition)).await
    }

    async fn latest_requirements(&self, partition: PartitionId) -> Result<Vec<row::DecisionRequirements>, Error> {
        self.readers.run(move |connection| read::latest_requirements(connection, partition)).await
    }

    async fn latest_decisions(&self, partition: PartitionId) -> Result<Vec<row::LatestDecision>, Error> {
        self.readers.run(move |connection| read::latest_decisions(connection, partition)).await
    }

    async fn decision_counters(&self, partition: PartitionId) -> Result<DecisionCounters, Error> {
        self.readers.run(move |connection| read::decision_counters(connection, partition)).await
    }

    async fn requirements(&self, key: RequirementsKey) -> Result<Option<row::DecisionRequirements>, Error> {
        self.readers.run(move |connection| read::requirements(connection, key)).await
    }

    async fn search(&self, query: &Query) -> Result<QueryPage, Error> {
        let query = query.clone();
        self.readers.run(move |connection| read::search(connection, &query)).await
    }

    async fn purge_idempotent(&self, partition: PartitionId, now: Millis, limit: usize) -> Result<usize, Error> {
        self.writer.run(move |connection| write::purge_idempotent(connection, partition, now, limit)).await
    }

    fn pool(&self) -> (usize, usize) {
        self.readers.in_use()
    }
}
