//! Faults of ours: a loop that panics starts again, a command that panics leaves nothing behind, and all the others go on.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::server::layer::{Ask, Layer};
use crate::server::{Server, TENANT, caller, clocked, create, memory, task};
use engine::{IncidentKind, InstanceKey, JobKey};
use host::{Error, Limits, Role, Subscription};
use model::ElementIx;
use store::Store;
use store::log::{Answer, Code, Command, FailJob, IdempotencyKey, Request, ThrowError};
use store::query::{Entity, IncidentView, Items, Page, Query, Tenants};
use store::row::{InstanceState, SubscriptionKind};

async fn found(store: &Arc<dyn Store>, entity: Entity) -> Items {
    let page = Page::From { from: 0, limit: 10_000 };
    store.search(&Query { page, ..Query::of(entity, Tenants::Everything) }).await.unwrap().items
}

async fn states(store: &Arc<dyn Store>) -> Vec<InstanceState> {
    match found(store, Entity::Instances).await {
        Items::Instances(views) => views.iter().map(|view| view.state).collect(),
        other => panic!("{other:?}"),
    }
}

async fn incidents(store: &Arc<dyn Store>) -> Vec<IncidentView> {
    match found(store, Entity::Incidents).await {
        Items::Incidents(views) => views.into_iter().filter(|view| view.resolved.is_none()).collect(),
        other => panic!("{other:?}"),
    }
}

/// Asks as a patient client does, with a key: again while the server says to try again.
async fn patient(server: &Server, key: usize, command: Command) -> Answer {
    let idempotency = Some(IdempotencyKey { tenant: TENANT.into(), key: key.to_string().into(), fingerprint: 1 });
    let request = Request { caller: caller(), command, idempotency };
    loop {
        match server.host.submit(request.clone()).await {
            Ok(answer) => return answer,
            Err(Error::Unavailable { .. } | Error::Timeout) => tokio::time::sleep(Duration::from_millis(1)).await,
            Err(error) => panic!("{error}"),
        }
    }
}

fn complete(job: JobKey) -> Command {
    Command::CompleteJob { job, variables: vec![], result: None }
}

/// Loads panic at some of the first commands, so that the loop ends with others waiting and under way.
#[tokio::test(flavor = "multi_thread")]
async fn a_loop_that_panics_starts_again_and_nothing_acknowledged_is_lost() {
    let loads = Arc::new(AtomicUsize::new(0));
    let counted = loads.clone();
    let layer = Layer::over(clocked()).on_load(move |wanted, _| {
        let is_key = !wanted.idempotent.is_empty();
        assert!(!is_key || ![5, 9].contains(&counted.fetch_add(1, Ordering::SeqCst)), "a fault on purpose");
        Ok(())
    });
    let store = layer.shared();
    let server = Server::join(&store, "server", Role::Engine, Limits { batch_max: 2, ..Limits::default() });
    server.owning().await;
    let server = Arc::new(server);
    server.deploy(&[("p.bpmn", &task("p", "work"))]).await;
    let subscription =
        Subscription { job_type: "work".into(), worker: "w".into(), timeout: 2_000, tenants: vec![TENANT.into()], fetch: vec![] };
    let mut stream = server.host.stream(subscription).unwrap();
    let asking = (1_000_000..1_000_040).map(|key| {
        let server = server.clone();
        tokio::spawn(async move { patient(&server, key, Command::Create(create("p", &[]))).await })
    });
    for asked in asking.collect::<Vec<_>>() {
        assert!(matches!(asked.await.unwrap(), Answer::Created(_)));
    }
    assert!(10 <= loads.load(Ordering::SeqCst));
    assert_eq!(server.host.metrics().quarantined.get(), 2, "each is counted");
    assert_eq!(states(&store).await.len(), 40, "as many as answers");
    // A stream that was open before is served by the loop that runs now; what was on its way to it comes again when its lease is over.
    let mut done = BTreeSet::new();
    while done.len() < 40 {
        let job = stream.next().await.unwrap().key;
        assert_eq!(patient(&server, job.0 as usize, complete(job)).await, Answer::Done);
        done.insert(job);
    }
    assert!(states(&store).await.iter().all(|state| *state == InstanceState::Completed));
    drop(stream);
    Arc::into_inner(server).unwrap().stop().await;
}

/// Before, everybody who asked such a server waited in vain from then on, while it said that it was alive.
#[tokio::test(flavor = "multi_thread")]
async fn a_follower_that_panics_goes_on_asking_for_others() {
    let store = memory();
    let owner = Server::start(&store).await;
    owner.deploy(&[("p.bpmn", &task("p", "work"))]).await;
    let (mut appends, mut statuses) = (0, 0);
    let layer = Layer::of(store.clone()).on_ask(move |ask| {
        let count = if ask == Ask::Append { &mut appends } else { &mut statuses };
        *count += 1;
        assert_ne!(*count, 1, "a fault on purpose");
    });
    let follower = Server::join(&layer.shared(), "follower", Role::Follower, Limits::default());
    let request = Request { caller: caller(), command: Command::Create(create("p", &[])), idempotency: None };
    let told = follower.host.submit(request.clone()).await;
    assert!(matches!(&told, Err(Error::Unavailable { .. })), "what was being appended: {told:?}");
    let told = follower.host.submit(request).await;
    assert!(matches!(told, Ok(Answer::Created(_))), "who waits is not forgotten: {told:?}");
    assert_eq!(follower.host.metrics().quarantined.get(), 2);
    follower.stop().await;
    owner.stop().await;
}

/// Work with conditions on it and around it, whose error leaves a variable; then a decision, whose result is one.
const CONDITIONS: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="t">
  <error id="bad" errorCode="BAD"/>
  <process id="p" isExecutable="true"><startEvent id="start"/><sequenceFlow id="a" sourceRef="start" targetRef="work"/>
    <serviceTask id="work"><extensionElements><zeebe:taskDefinition type="work"/></extensionElements></serviceTask>
    <boundaryEvent id="on" attachedToRef="work" cancelActivity="false"><conditionalEventDefinition><condition>= x &gt; 1</condition></conditionalEventDefinition></boundaryEvent>
    <boundaryEvent id="failed" attachedToRef="work"><extensionElements><zeebe:ioMapping><zeebe:output source="=1" target="seen"/></zeebe:ioMapping></extensionElements><errorEventDefinition errorRef="bad"/></boundaryEvent>
    <sequenceFlow id="b" sourceRef="work" targetRef="decide"/>
    <businessRuleTask id="decide"><extensionElements><zeebe:calledDecision decisionId="seven" resultVariable="r"/></extensionElements></businessRuleTask>
    <subProcess id="around" triggeredByEvent="true"><startEvent id="so" isInterrupting="false"><conditionalEventDefinition><condition>= y &gt; 1</condition></conditionalEventDefinition></startEvent></subProcess>
  </process></definitions>"#;

const DECISION: &str = r#"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="rules" name="Rules" namespace="t">
  <decision id="seven" name="seven"><literalExpression><text>7</text></literalExpression></decision></definitions>"#;

/// Whose condition is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Broken {
    Work,
    Process,
}

/// A server on rows that the engine does not expect: where a variable changes, it looks for the event of a condition that is not there.
async fn broken(inner: &Arc<dyn Store>, whose: Broken) -> Server {
    let layer = Layer::of(inner.clone()).on_load(move |_, loaded| {
        for row in loaded.instances.iter_mut().flat_map(|instance| &mut instance.subscriptions) {
            let is_process = row.origin.is_some_and(|origin| origin.element_instance == origin.instance.root());
            if row.kind == SubscriptionKind::Condition && is_process == (whose == Broken::Process) {
                row.element = ElementIx(999);
            }
        }
        Ok(())
    });
    Server::start(&layer.shared()).await
}

/// All that a command could leave but for the incident.
async fn rows(store: &Arc<dyn Store>) -> Vec<Items> {
    let mut rows = Vec::new();
    let entities = [Entity::Jobs, Entity::Variables, Entity::Elements, Entity::Waits, Entity::Audit, Entity::EvaluatedDecisions];
    for entity in entities {
        rows.push(found(store, entity).await);
    }
    rows
}

/// A job is leased, and the command about it panics; then the rows are as they should be, and its instance is resolved.
async fn panicking(whose: Broken, command: impl Fn(JobKey) -> Command) -> (Arc<dyn Store>, Server, JobKey) {
    let store = memory();
    let server = Server::start(&store).await;
    server.deploy(&[("p.bpmn", CONDITIONS), ("rules.dmn", DECISION)]).await;
    let Answer::Created(created) = server.create("p", &[]).await else { panic!("not created") };
    let job = server.poll("work", None).await[0];
    server.stop().await;
    let before = rows(&store).await;

    let server = broken(&store, whose).await;
    let refused = server.ask(command(job)).await;
    assert!(matches!(&refused, Answer::Rejected(rejection) if rejection.code == Code::InvalidState), "{refused:?}");
    assert_eq!(server.host.metrics().quarantined.get(), 1);
    assert_eq!(rows(&store).await, before, "it has never been");
    let [incident] = <[IncidentView; 1]>::try_from(incidents(&store).await).unwrap();
    assert_eq!((incident.instance, incident.kind), (created.instance, IncidentKind::Fault));
    assert!(matches!(server.ask(Command::Cancel { instance: InstanceKey(1) }).await, Answer::Rejected(_)), "it goes on");
    server.stop().await;

    let server = Server::start(&store).await;
    assert_eq!(server.ask(Command::ResolveIncident { incident: incident.key }).await, Answer::Done);
    assert_eq!(server.ask(command(job)).await, Answer::Done);
    (store, server, job)
}

#[tokio::test]
async fn a_failure_that_panics_leaves_nothing() {
    let fail = |job| {
        let variables = vec![("x".into(), "0".into())];
        Command::FailJob(FailJob { job, retries: 0, message: "no paper".into(), backoff: 0, variables })
    };
    let (store, server, job) = panicking(Broken::Work, fail).await;
    let [incident] = <[IncidentView; 1]>::try_from(incidents(&store).await).unwrap();
    assert_eq!((incident.job, incident.kind), (Some(job), IncidentKind::JobNoRetries));
    server.stop().await;
}

#[tokio::test]
async fn an_error_whose_way_panics_leaves_nothing() {
    let throw = |job| Command::ThrowError(ThrowError { job, code: "BAD".into(), message: "no".into(), variables: vec![] });
    let (store, server, _) = panicking(Broken::Process, throw).await;
    let Items::Variables(variables) = found(&store, Entity::Variables).await else { panic!("variables were asked for") };
    assert_eq!(variables.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["seen"], "it went its way once");
    assert_eq!(states(&store).await, [InstanceState::Completed]);
    server.stop().await;
}

/// The task is reached and its decision evaluated in one command: neither is there when the verdict panics, and both are afterwards.
#[tokio::test]
async fn a_verdict_that_panics_leaves_no_task_that_waits_for_it() {
    let (store, server, _) = panicking(Broken::Process, complete).await;
    let Items::EvaluatedDecisions(evaluated) = found(&store, Entity::EvaluatedDecisions).await else { panic!("not decisions") };
    assert_eq!(evaluated.len(), 1);
    assert_eq!(states(&store).await, [InstanceState::Completed]);
    server.stop().await;
}
