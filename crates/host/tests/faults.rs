//! A store that loses commits, or only their answers: nothing acknowledged is lost, nothing happens twice.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use engine::{DefinitionKey, JobKey, PartitionId, RequirementsKey};
use host::{Definitions, Error as HostError, Host, Limits, Metrics, Parts, Poll, Role, prepare};
use store::log::{Answer, Command, CommandStatus, Create, Deploy, DeployResource, NewCommand, Pending, ProcessRef, Request};
use store::memory::Memory;
use store::query::{Entity, Filter, Items, Page, Query, QueryPage};
use store::row::InstanceState;
use store::{
    Commit, CommitError, DecisionCounters, Error, Fence, Loaded, Millis, Ownership, PartitionStatus, ReadyJob, Renewed, Store,
    TimedJob, Wanted, row,
};
use tokio::sync::watch;

/// What happens to a commit.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// It never reaches the database.
    Lost,
    /// It goes through, but its answer is lost.
    AnswerLost,
    /// Somebody appends to the log in its way.
    Overtaken,
}

/// The memory store behind a connection that breaks as planned.
struct Faulty {
    inner: Memory,
    plan: Mutex<VecDeque<Fault>>,
}

/// The business id of an instance that no commit may contain.
const POISON: &str = "poison";

/// What a database says that does not like a value, today or ever.
fn refused_for_good() -> Error {
    Error::corrupt("a value is not taken")
}

fn broken() -> Error {
    Error::unavailable("the connection broke")
}

#[async_trait::async_trait]
impl Store for Faulty {
    async fn commit(&self, commit: Commit) -> Result<Millis, CommitError> {
        if commit.changes.instances_new.iter().any(|instance| instance.business_id.as_deref() == Some(POISON)) {
            return Err(refused_for_good().into());
        }
        let fault = self.plan.lock().unwrap().pop_front().unwrap_or(Fault::None);
        match fault {
            Fault::None => self.inner.commit(commit).await,
            Fault::Lost => Err(broken().into()),
            Fault::Overtaken => {
                let nothing = Request { command: Command::Release { jobs: vec![] }, idempotency: None };
                let request = store::format::encode_request(&nothing);
                let kind = nothing.command.kind();
                self.inner.append(commit.fence.partition, vec![NewCommand { kind, request }]).await?;
                self.inner.commit(commit).await
            }
            Fault::AnswerLost => {
                self.inner.commit(commit).await?;
                Err(broken().into())
            }
        }
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
    async fn append(&self, partition: PartitionId, commands: Vec<NewCommand>) -> Result<Vec<u64>, Error> {
        self.inner.append(partition, commands).await
    }
    async fn pending(&self, partition: PartitionId, after: u64, limit: usize) -> Result<Vec<Pending>, Error> {
        self.inner.pending(partition, after, limit).await
    }
    async fn statuses(&self, partition: PartitionId, positions: &[u64]) -> Result<Vec<CommandStatus>, Error> {
        self.inner.statuses(partition, positions).await
    }
    fn wakeups(&self) -> watch::Receiver<u64> {
        self.inner.wakeups()
    }
    async fn load(&self, partition: PartitionId, wanted: &Wanted, now: Millis) -> Result<Loaded, Error> {
        self.inner.load(partition, wanted, now).await
    }
    async fn ready_jobs(
        &self,
        partition: PartitionId,
        job_type: &str,
        tenant: &str,
        after: JobKey,
        limit: usize,
    ) -> Result<Vec<ReadyJob>, Error> {
        self.inner.ready_jobs(partition, job_type, tenant, after, limit).await
    }
    async fn timed_jobs(&self, partition: PartitionId, after: (Millis, JobKey), limit: usize) -> Result<Vec<TimedJob>, Error> {
        self.inner.timed_jobs(partition, after, limit).await
    }
    async fn latest_definitions(&self, partition: PartitionId) -> Result<Vec<row::Definition>, Error> {
        self.inner.latest_definitions(partition).await
    }
    async fn version_counters(&self, partition: PartitionId) -> Result<Vec<(Arc<str>, Arc<str>, i32)>, Error> {
        self.inner.version_counters(partition).await
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
    async fn latest_requirements(&self, partition: PartitionId) -> Result<Vec<row::DecisionRequirements>, Error> {
        self.inner.latest_requirements(partition).await
    }

    async fn latest_decisions(&self, partition: PartitionId) -> Result<Vec<row::LatestDecision>, Error> {
        self.inner.latest_decisions(partition).await
    }

    async fn decision_counters(&self, partition: PartitionId) -> Result<DecisionCounters, Error> {
        self.inner.decision_counters(partition).await
    }

    async fn requirements(&self, key: RequirementsKey) -> Result<Option<row::DecisionRequirements>, Error> {
        self.inner.requirements(key).await
    }

    async fn search(&self, query: &Query) -> Result<QueryPage, Error> {
        self.inner.search(query).await
    }
    async fn purge_idempotent(&self, partition: PartitionId, now: Millis, limit: usize) -> Result<usize, Error> {
        self.inner.purge_idempotent(partition, now, limit).await
    }
    fn pool(&self) -> (usize, usize) {
        self.inner.pool()
    }
}

const TENANT: &str = "<default>";

const PROCESS: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="t"><process id="order" isExecutable="true">
  <startEvent id="start"/><sequenceFlow id="a" sourceRef="start" targetRef="work"/>
  <serviceTask id="work"><extensionElements><zeebe:taskDefinition type="work"/></extensionElements></serviceTask>
  <sequenceFlow id="b" sourceRef="work" targetRef="end"/><endEvent id="end"/></process></definitions>"#;

/// Submits as a patient client does: again and again while the server says to try again.
async fn submit(host: &Host, command: Command) -> Answer {
    loop {
        match host.submit(Request { command: command.clone(), idempotency: None }).await {
            Ok(answer) => return answer,
            Err(HostError::Unavailable { .. }) => tokio::task::yield_now().await,
            Err(error) => panic!("{error}"),
        }
    }
}

async fn instances(store: &dyn Store) -> Vec<InstanceState> {
    let page = Page::From { from: 0, limit: 10_000 };
    let filter = Filter::All(vec![]);
    let query = Query {
        entity: Entity::Instances,
        tenants: None,
        filter,
        sort: vec![],
        page,
        latest_version: false,
        value_chars_max: None,
    };
    match store.search(&query).await.unwrap().items {
        Items::Instances(found) => found.iter().map(|instance| instance.state).collect(),
        other => panic!("{other:?}"),
    }
}

/// Every third commit or so goes wrong, one way or the other, in a fixed but irregular pattern.
fn plan(seed: u64) -> VecDeque<Fault> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        match state >> 60 {
            0..=2 => Fault::Lost,
            3..=5 => Fault::AnswerLost,
            6..=7 => Fault::Overtaken,
            _ => Fault::None,
        }
    };
    // The first commit is a deployment: one that was overtaken must not be remembered.
    std::iter::once(Fault::Overtaken).chain((0..200).map(|_| next())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_commits_lost_answers_and_overtaken_commits_have_one_effect() {
    for seed in 1..=4 {
        let Running { host, store: shared, stop, driver } = start(plan(seed)).await;
        submit(&host, deploy()).await;
        let starts = (0..12).map(|_| {
            let host = host.clone();
            tokio::spawn(async move { submit(&host, create(None)).await })
        });
        for started in starts.collect::<Vec<_>>() {
            assert!(matches!(started.await.unwrap(), Answer::Created(_)));
        }
        assert_eq!(instances(&*shared).await.len(), 12, "seed {seed}: as many instances as answers");

        let mut done = 0;
        while done < 12 {
            let poll = Poll {
                job_type: "work".into(),
                worker: "w".into(),
                timeout: 600_000,
                max: 2,
                tenants: vec![TENANT.into()],
                fetch: vec![],
                wait: Some(Duration::from_secs(30)),
            };
            let Ok(jobs) = host.activate(poll).await else {
                tokio::task::yield_now().await;
                continue;
            };
            for job in jobs.take() {
                submit(&host, Command::CompleteJob { job: job.key, variables: vec![] }).await;
                done += 1;
            }
        }
        let states = instances(&*shared).await;
        assert!(states.iter().all(|state| *state == InstanceState::Completed), "seed {seed}: {states:?}");
        stop.send(true).unwrap();
        driver.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_the_store_refuses_for_good_is_the_only_one_refused() {
    let Running { host, store, stop, driver } = start(VecDeque::new()).await;
    submit(&host, deploy()).await;
    let starts = (0..40).map(|number| {
        let host = host.clone();
        let poison = (number % 13 == 7).then_some(POISON);
        tokio::spawn(async move {
            loop {
                match host.submit(Request { command: create(poison), idempotency: None }).await {
                    Err(HostError::Unavailable { .. }) => tokio::task::yield_now().await,
                    outcome => return (poison.is_some(), outcome),
                }
            }
        })
    });
    for started in starts.collect::<Vec<_>>() {
        match started.await.unwrap() {
            (false, Ok(Answer::Created(_))) => {}
            (true, Err(HostError::Rejected(rejection))) => assert!(rejection.reason.contains("store"), "{}", rejection.reason),
            (poison, outcome) => panic!("poison: {poison}, {outcome:?}"),
        }
    }
    // The same through the log, as another server would send it.
    let position = host.submit_durably(Request { command: create(Some(POISON)), idempotency: None }).await.unwrap();
    let after = submit(&host, create(None)).await;
    assert!(matches!(after, Answer::Created(_)));
    let outcome = host.command(position).await.unwrap().unwrap();
    assert!(matches!(outcome.answer, Some(Answer::Rejected(_))), "{outcome:?}");
    assert_eq!(instances(&*store).await.len(), 38, "37 of the first, one after the last");
    stop.send(true).unwrap();
    driver.await.unwrap();
}

struct Running {
    host: Host,
    store: Arc<dyn Store>,
    stop: watch::Sender<bool>,
    driver: tokio::task::JoinHandle<()>,
}

/// A server that owns its partition, on a store that fails as planned.
async fn start(plan: VecDeque<Fault>) -> Running {
    let memory = Memory::new(Arc::new(|| {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        since.as_millis() as i64
    }));
    let store: Arc<dyn Store> = Arc::new(Faulty { inner: memory, plan: Mutex::new(plan) });
    let limits = Arc::new(Limits { batch_max: 3, ..Limits::default() });
    let metrics = Arc::new(Metrics::default());
    let definitions = Arc::new(Definitions::new(store.clone(), &limits, metrics.clone()));
    let parts = Parts { store: store.clone(), limits, metrics, definitions };
    let (host, driver) = prepare(parts, "a".into(), Role::Engine);
    let (stop, stopping) = watch::channel(false);
    let driver = tokio::spawn(driver.run(stopping));
    while !host.owns() {
        tokio::task::yield_now().await;
    }
    Running { host, store, stop, driver }
}

fn deploy() -> Command {
    let resource = DeployResource { name: "order.bpmn".into(), content: PROCESS.as_bytes().into() };
    Command::Deploy(Deploy { tenant: TENANT.into(), resources: vec![resource] })
}

fn create(business_id: Option<&str>) -> Command {
    let process = ProcessRef::Id { id: "order".into(), version: None };
    let business_id = business_id.map(Into::into);
    Command::Create(Create { process, tenant: TENANT.into(), variables: vec![], tags: vec![], business_id })
}
