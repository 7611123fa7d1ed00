//! One server's connection to the database, which breaks, stalls and loses things.

use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use engine::{DefinitionKey, FormKey, InstanceKey, JobKey, PartitionId, RequirementsKey, WaitKey};
use store::log::{NewRequest, Received, RequestStatus};
use store::query::{Counted, Counting, Query, QueryPage};
use store::retention::{Aged, Finished, FinishedAfter, Purged};
use store::{
    AgedJob, Backlog, Broken, Commit, CommitError, CountedJobs, Due, Error, Fence, Loaded, Millis, Named, OutboxSize, Ownership,
    PartitionStatus, QueueRef, QueueSize, ReadyAfter, ReadyJob, Renewed, Store, Wanted, row,
};
use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::fault::Fault;
use crate::plan::{LEASE, Names};
use crate::world::World;

/// How long a search may take.
const SEARCH_MAX: Duration = Duration::from_secs(6);

pub(crate) struct Link {
    world: Arc<World>,
    pub(crate) name: Arc<str>,
    dead: AtomicBool,
    death: Notify,
    driver: Mutex<Option<AbortHandle>>,
    stalled: AtomicBool,
    stalled_until: Mutex<Instant>,
    /// One channel for each who listens: those who share a channel are woken in an order that no seed decides.
    wakeups: Mutex<Vec<watch::Sender<u64>>>,
}

impl Link {
    pub(crate) fn new(world: Arc<World>, name: Arc<str>) -> Self {
        Self {
            world,
            name,
            dead: AtomicBool::new(false),
            death: Notify::new(),
            driver: Mutex::new(None),
            stalled: AtomicBool::new(false),
            stalled_until: Mutex::new(Instant::now()),
            wakeups: Mutex::default(),
        }
    }

    /// What to end when the server dies.
    pub(crate) fn drives(&self, driver: AbortHandle) {
        *self.driver.lock().unwrap_or_else(PoisonError::into_inner) = Some(driver);
    }

    /// The server is gone: nothing of it reaches the database any more, nobody hears of it again.
    pub(crate) fn die(&self) {
        self.world.note(|| format!("{} dies", self.name));
        self.world.state().checker.log.hinder(&self.name);
        self.dead.store(true, Ordering::Relaxed);
        self.death.notify_waiters();
        if let Some(driver) = self.driver.lock().unwrap_or_else(PoisonError::into_inner).take() {
            driver.abort();
        }
    }

    pub(crate) async fn died(&self) {
        let death = self.death.notified();
        if !self.is_dead() {
            death.await;
        }
    }

    fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Relaxed)
    }

    pub(crate) fn stall(&self, time: Duration) {
        self.world.note(|| format!("{} stalls for {time:?}", self.name));
        self.world.state().checker.log.hinder(&self.name);
        *self.stalled_until.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now() + time;
        self.stalled.store(true, Ordering::Relaxed);
    }

    pub(crate) fn wake(&self) {
        let mut wakeups = self.wakeups.lock().unwrap_or_else(PoisonError::into_inner);
        wakeups.retain(|listener| !listener.is_closed());
        wakeups.iter().for_each(|listener| listener.send_modify(|count| *count += 1));
    }

    /// Gets through to the other side, or never.
    async fn reach(&self) {
        if self.stalled.load(Ordering::Relaxed) {
            let until = *self.stalled_until.lock().unwrap_or_else(PoisonError::into_inner);
            tokio::time::sleep_until(until).await;
            self.stalled.store(false, Ordering::Relaxed);
        }
        if self.is_dead() || self.world.spins() {
            pending::<()>().await;
        }
    }

    async fn read<T>(&self, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        self.reach().await;
        if self.world.strikes(Fault::ReadRefused) {
            return Err(broken());
        }
        if !self.world.strikes(Fault::SlowRead) {
            return work.await;
        }
        let (epoch, takes) = (self.epoch(), self.world.a_while());
        let is_late_there = self.world.between(0, 1) == 0;
        if is_late_there {
            tokio::time::sleep(takes).await;
        }
        let done = work.await;
        if !is_late_there {
            tokio::time::sleep(takes).await;
        }
        self.reach().await;
        if LEASE <= takes && epoch.is_some() && epoch == self.epoch() {
            self.world.saw("read outlived a lease");
        }
        done
    }

    /// Reads what somebody looks for: no tick waits for it.
    async fn look_for<T>(&self, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        self.reach().await;
        if self.world.strikes(Fault::ReadRefused) {
            return Err(broken());
        }
        if !self.world.strikes(Fault::SlowSearch) {
            return work.await;
        }
        let (commits, takes) = (self.world.commits(), self.world.a_while());
        let found = work.await;
        tokio::time::sleep(takes.min(SEARCH_MAX)).await;
        self.reach().await;
        if commits < self.world.commits() {
            self.world.saw("committed beside a slow search");
        }
        if SEARCH_MAX <= takes {
            self.world.saw("search was too slow");
            return Err(Error::TooSlow { limit: SEARCH_MAX });
        }
        found
    }

    /// Of the partition, if this server owns it.
    fn epoch(&self) -> Option<i64> {
        self.world.state().checker.log.epoch_of(&self.name)
    }

    /// Loses half of what it strikes on the way there, half on the way back.
    async fn lease<T>(&self, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        self.reach().await;
        let lost = self.world.strikes(Fault::RenewLost);
        let is_lost_there = lost && self.world.between(0, 1) == 0;
        let done = if is_lost_there { Err(broken()) } else { work.await };
        if lost {
            self.world.state().checker.log.hinder(&self.name);
        }
        if !is_lost_there {
            self.reach().await;
        }
        if lost { Err(broken()) } else { done }
    }
}

fn broken() -> Error {
    Error::unavailable("the connection broke")
}

#[async_trait::async_trait]
impl Store for Link {
    fn documents(&self) -> &dyn store::documents::Documents {
        self.world.memory.documents()
    }

    async fn commit(&self, commit: Commit) -> Result<Millis, CommitError> {
        let world = &self.world;
        self.reach().await;
        if world.plan.faults.has(Fault::TickTooLarge) && world.faults_on() && 2 < commit.log.len() {
            world.struck(Fault::TickTooLarge);
            return Err(broken().into());
        }
        if world.strikes(Fault::DiesBeforeCommit) {
            self.die();
            self.reach().await;
        }
        if world.strikes(Fault::CommitLost) {
            return Err(broken().into());
        }
        if world.strikes(Fault::CommitLate) {
            let (world, late) = (world.clone(), world.a_while());
            tokio::spawn(async move {
                tokio::time::sleep(late).await;
                let _nobody_hears_of_it = world.land(commit).await;
            });
            return Err(broken().into());
        }
        if world.strikes(Fault::SlowCommit) {
            tokio::time::sleep(world.a_while()).await;
        }
        let landed = world.land(commit).await;
        if world.strikes(Fault::DiesAfterCommit) {
            self.die();
        }
        self.reach().await;
        if world.strikes(Fault::SlowCommit) {
            tokio::time::sleep(world.a_while()).await;
        }
        if world.strikes(Fault::AnswerLost) {
            return Err(broken().into());
        }
        landed
    }

    async fn append(&self, _: PartitionId, requests: Vec<NewRequest>, backlog: Backlog) -> Result<Vec<u64>, Error> {
        self.reach().await;
        if self.world.strikes(Fault::AppendLost) {
            return Err(broken());
        }
        let positions = self.world.append(requests, backlog).await;
        if self.world.strikes(Fault::AppendAnswerLost) {
            return Err(broken());
        }
        self.reach().await;
        positions
    }

    async fn now(&self) -> Result<Millis, Error> {
        self.read(self.world.memory.now()).await
    }
    async fn acquire(&self, partition: PartitionId, owner: &str, lease: Duration) -> Result<Option<Ownership>, Error> {
        let acquiring = async {
            let acquired = self.world.memory.acquire(partition, owner, lease).await?;
            if let Some(ownership) = &acquired {
                // Servers go by the names of their links here: what they call themselves may be the name of another.
                self.world.note(|| format!("{} owns the partition: {ownership:?}", self.name));
                if self.world.plan.names == Names::Shared && self.world.state().checker.log.is_of_another(&self.name) {
                    self.world.saw("owner of the same name followed");
                }
                let now = self.world.now();
                self.world.check(|checker| checker.log.acquired(&self.name, ownership, lease, now));
            }
            Ok(acquired)
        };
        self.lease(acquiring).await
    }
    async fn renew(&self, fence: Fence, lease: Duration) -> Result<Option<Renewed>, Error> {
        let renewing = async {
            let renewed = self.world.memory.renew(fence, lease).await?;
            if let Some(renewed) = &renewed {
                self.world.check(|checker| checker.log.renewed(fence, lease, renewed.now));
            }
            Ok(renewed)
        };
        self.lease(renewing).await
    }
    async fn release(&self, fence: Fence) -> Result<(), Error> {
        let releasing = async {
            self.world.state().checker.log.released(fence);
            self.world.memory.release(fence).await
        };
        self.lease(releasing).await
    }
    async fn partitions(&self) -> Result<Vec<PartitionStatus>, Error> {
        self.read(self.world.memory.partitions()).await
    }
    async fn inbox(&self, partition: PartitionId, after: u64, limit: usize, bytes_max: usize) -> Result<Vec<Received>, Error> {
        let reading = async {
            let received = self.world.memory.inbox(partition, after, limit, bytes_max).await?;
            self.world.check(|checker| checker.log.read(after, &received));
            Ok(received)
        };
        self.read(reading).await
    }
    async fn statuses(&self, partition: PartitionId, positions: &[u64]) -> Result<Vec<RequestStatus>, Error> {
        self.read(self.world.memory.statuses(partition, positions)).await
    }
    fn wakeups(&self) -> watch::Receiver<u64> {
        let (sender, receiver) = watch::channel(0);
        self.wakeups.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
        receiver
    }
    async fn load(&self, partition: PartitionId, wanted: &Wanted, now: Millis) -> Result<Loaded, Error> {
        let mut loaded = self.read(self.world.memory.load(partition, wanted, now)).await?;
        if !loaded.instances.is_empty() && self.world.strikes(Fault::BadRow) {
            let instance = loaded.instances.remove(0).instance.key;
            self.world.state().checker.jobs.is_unreadable(instance);
            loaded.broken.push(Broken { key: instance.0, what: "a byte of it has changed".to_owned() });
        }
        Ok(self.world.told_rows(loaded))
    }
    async fn ready_jobs(
        &self,
        partition: PartitionId,
        job_type: &str,
        tenant: &str,
        after: ReadyAfter,
        limit: usize,
    ) -> Result<Vec<ReadyJob>, Error> {
        let jobs = self.read(self.world.memory.ready_jobs(partition, job_type, tenant, after, limit)).await?;
        Ok(self.world.told_ready(jobs, job_type, after, limit))
    }
    async fn grouped_jobs(
        &self,
        queue: QueueRef<'_>,
        of: Option<Option<Arc<str>>>,
        after: ReadyAfter,
        limit: usize,
    ) -> Result<Vec<(ReadyJob, Option<Arc<str>>)>, Error> {
        self.read(self.world.memory.grouped_jobs(queue, of, after, limit)).await
    }
    async fn aged_jobs(
        &self,
        queue: QueueRef<'_>,
        of: Option<Option<Arc<str>>>,
        ageing: Millis,
        after: (i64, JobKey),
        limit: usize,
    ) -> Result<Vec<AgedJob>, Error> {
        self.read(self.world.memory.aged_jobs(queue, of, ageing, after, limit)).await
    }
    async fn paces(&self, queue: QueueRef<'_>) -> Result<Vec<row::PaceState>, Error> {
        Ok(self.world.told_paces(self.read(self.world.memory.paces(queue)).await?))
    }
    async fn count_jobs(&self, queue: QueueRef<'_>, which: CountedJobs) -> Result<Vec<(Option<Arc<str>>, u64)>, Error> {
        Ok(self.world.told_counts(self.read(self.world.memory.count_jobs(queue, which)).await?, which))
    }
    async fn queue_sizes(&self, partition: PartitionId) -> Result<Vec<QueueSize>, Error> {
        self.read(self.world.memory.queue_sizes(partition)).await
    }
    async fn jobs_before(&self, queue: QueueRef<'_>, place: ReadyAfter) -> Result<u64, Error> {
        self.read(self.world.memory.jobs_before(queue, place)).await
    }
    async fn batch_operation(&self, key: u64) -> Result<Option<row::Batch>, Error> {
        self.read(self.world.memory.batch_operation(key)).await
    }
    async fn open_items(&self, batch: u64, limit: usize) -> Result<Vec<row::BatchItem>, Error> {
        self.read(self.world.memory.open_items(batch, limit)).await
    }
    async fn outbox(
        &self,
        partition: PartitionId,
        after: row::AnnouncementKey,
        limit: usize,
        bytes_max: usize,
    ) -> Result<Vec<row::Announcement>, Error> {
        self.read(self.world.memory.outbox(partition, after, limit, bytes_max)).await
    }
    async fn outbox_size(&self, partition: PartitionId) -> Result<OutboxSize, Error> {
        self.read(self.world.memory.outbox_size(partition)).await
    }
    async fn policies(&self, partition: PartitionId) -> Result<Vec<row::PolicyVersion>, Error> {
        self.read(self.world.memory.policies(partition)).await
    }
    async fn policy_versions(&self, partition: PartitionId, reference: &str) -> Result<Vec<row::PolicyVersion>, Error> {
        self.read(self.world.memory.policy_versions(partition, reference)).await
    }
    async fn global_listeners(&self, partition: PartitionId, limit: usize) -> Result<Vec<row::GlobalListeners>, Error> {
        self.read(self.world.memory.global_listeners(partition, limit)).await
    }

    async fn schedules(&self, partition: PartitionId) -> Result<Vec<row::Schedule>, Error> {
        self.read(self.world.memory.schedules(partition)).await
    }
    async fn queue_stats(&self, partition: PartitionId, job_type: Option<&str>) -> Result<Vec<row::QueueStats>, Error> {
        self.read(self.world.memory.queue_stats(partition, job_type)).await
    }
    async fn waiting_since(&self, queue: QueueRef<'_>, before: [Millis; store::AGES]) -> Result<[u64; store::AGES], Error> {
        self.read(self.world.memory.waiting_since(queue, before)).await
    }
    async fn due(&self, partition: PartitionId, after: (Millis, u64), limit: usize) -> Result<Vec<Due>, Error> {
        Ok(self.world.told_due(self.read(self.world.memory.due(partition, after, limit)).await?))
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
        let rows = self.read(self.world.memory.signal_subscriptions(partition, tenant, name, after, up_to, limit)).await?;
        Ok(self.world.told_waiting(rows))
    }
    async fn condition_starts(
        &self,
        partition: PartitionId,
        tenant: &str,
        limit: usize,
    ) -> Result<Vec<row::Subscription>, Error> {
        self.read(self.world.memory.condition_starts(partition, tenant, limit)).await
    }

    async fn process_named(&self, partition: PartitionId, id: &str, tenant: &str) -> Result<Named<row::DefinitionHead>, Error> {
        self.read(self.world.memory.process_named(partition, id, tenant)).await
    }
    async fn requirements_named(
        &self,
        partition: PartitionId,
        id: &str,
        tenant: &str,
    ) -> Result<Named<row::DecisionRequirements>, Error> {
        self.read(self.world.memory.requirements_named(partition, id, tenant)).await
    }
    async fn decision_named(&self, partition: PartitionId, id: &str, tenant: &str) -> Result<Named<row::LatestDecision>, Error> {
        self.read(self.world.memory.decision_named(partition, id, tenant)).await
    }
    async fn definition(&self, key: DefinitionKey) -> Result<Option<row::Definition>, Error> {
        self.read(self.world.memory.definition(key)).await
    }
    async fn definition_version(
        &self,
        partition: PartitionId,
        process_id: &str,
        tenant: &str,
        version: i32,
    ) -> Result<Option<row::Definition>, Error> {
        self.read(self.world.memory.definition_version(partition, process_id, tenant, version)).await
    }
    async fn definition_before(
        &self,
        partition: PartitionId,
        process_id: &str,
        tenant: &str,
        version: i32,
    ) -> Result<Option<row::Definition>, Error> {
        self.read(self.world.memory.definition_before(partition, process_id, tenant, version)).await
    }
    async fn resource(&self, key: u64) -> Result<Option<row::Resource>, Error> {
        self.read(self.world.memory.resource(key)).await
    }
    async fn starts_of(&self, definition: DefinitionKey) -> Result<(Vec<row::Timer>, Vec<row::Subscription>), Error> {
        self.read(self.world.memory.starts_of(definition)).await
    }
    async fn requirements(&self, key: RequirementsKey) -> Result<Option<row::DecisionRequirements>, Error> {
        self.read(self.world.memory.requirements(key)).await
    }
    async fn forms_named(&self, partition: PartitionId, id: &str, tenant: &str) -> Result<Vec<row::Form>, Error> {
        self.read(self.world.memory.forms_named(partition, id, tenant)).await
    }
    async fn form(&self, key: FormKey) -> Result<Option<row::Form>, Error> {
        self.read(self.world.memory.form(key)).await
    }
    async fn running_definitions(&self, partition: PartitionId, limit: usize) -> Result<Vec<DefinitionKey>, Error> {
        self.read(self.world.memory.running_definitions(partition, limit)).await
    }
    async fn has_running(&self, definition: DefinitionKey) -> Result<bool, Error> {
        self.read(self.world.memory.has_running(definition)).await
    }
    async fn search(&self, query: &Query) -> Result<QueryPage, Error> {
        Ok(self.world.told_page(self.look_for(self.world.memory.search(query)).await?))
    }
    async fn count(&self, counting: &Counting) -> Result<Vec<Counted>, Error> {
        self.look_for(self.world.memory.count(counting)).await
    }
    async fn finished(
        &self,
        partition: PartitionId,
        after: FinishedAfter,
        before: Millis,
        limit: usize,
    ) -> Result<Vec<Finished>, Error> {
        self.read(self.world.memory.finished(partition, after, before, limit)).await
    }
    async fn purge_instances(&self, fence: Fence, instances: &[InstanceKey], rows_max: usize) -> Result<Option<Purged>, Error> {
        self.read(self.world.memory.purge_instances(fence, instances, rows_max)).await
    }
    async fn weights(&self, partition: PartitionId, instances: &[InstanceKey], limit: usize) -> Result<Vec<usize>, Error> {
        self.read(self.world.memory.weights(partition, instances, limit)).await
    }
    async fn purge(&self, fence: Fence, what: Aged, before: Millis, limit: usize) -> Result<Option<usize>, Error> {
        self.read(self.world.memory.purge(fence, what, before, limit)).await
    }
    async fn count_aged(&self, partition: PartitionId, what: Aged, before: Millis, limit: usize) -> Result<usize, Error> {
        self.read(self.world.memory.count_aged(partition, what, before, limit)).await
    }
    async fn give_room_back(&self) -> Result<bool, Error> {
        self.read(self.world.memory.give_room_back()).await
    }
    async fn identity(&self) -> Result<String, Error> {
        self.world.memory.identity().await
    }

    fn pool(&self) -> (usize, usize) {
        self.world.memory.pool()
    }
}
