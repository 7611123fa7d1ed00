//! A command that the store never takes is refused, and its instance shows that to a person; everything else goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::server::layer::{Fate, Layer};
use crate::server::{Server, caller, clocked, task};
use engine::{ElementKey, IncidentKey, IncidentKind, InstanceKey, JobKey};
use host::Error;
use store::log::{Answer, AssignUserTask, Command, FailJob, Rejection, Request, StartAdHoc, UpdateJob, UpdateUserTask};
use store::query::{Entity, Items, Query, Tenants};
use store::row::{InstanceState, JobState};
use store::{Commit, Store};

const PROCESS: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="t">
  <process id="p" isExecutable="true"><startEvent id="start"/><sequenceFlow id="a" sourceRef="start" targetRef="fork"/><parallelGateway id="fork"/>
    <sequenceFlow id="b" sourceRef="fork" targetRef="work"/><sequenceFlow id="c" sourceRef="fork" targetRef="sub"/>
    <sequenceFlow id="e" sourceRef="fork" targetRef="late"/><sequenceFlow id="f" sourceRef="fork" targetRef="some"/>
    <serviceTask id="work"><extensionElements><zeebe:taskDefinition type="work"/></extensionElements></serviceTask>
    <subProcess id="sub"><startEvent id="ss"/><sequenceFlow id="g" sourceRef="ss" targetRef="person"/>
      <userTask id="person"><extensionElements><zeebe:userTask/></extensionElements></userTask></subProcess>
    <intermediateCatchEvent id="late"><timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition></intermediateCatchEvent>
    <adHocSubProcess id="some"><serviceTask id="one"><extensionElements><zeebe:taskDefinition type="one"/></extensionElements></serviceTask></adHocSubProcess>
  </process></definitions>"#;

async fn found(store: &Arc<dyn Store>, entity: Entity) -> Items {
    store.search(&Query::of(entity, Tenants::Everything)).await.unwrap().items
}

async fn state(store: &Arc<dyn Store>, instance: InstanceKey) -> InstanceState {
    match found(store, Entity::Instances).await {
        Items::Instances(views) => views.iter().find(|view| view.key == instance).unwrap().state,
        other => panic!("{other:?}"),
    }
}

/// Open incidents: which instance they are of, and whether they tell of a fault that is not the process's.
async fn incidents(store: &Arc<dyn Store>) -> Vec<(IncidentKey, InstanceKey, bool)> {
    let Items::Incidents(views) = found(store, Entity::Incidents).await else { panic!("incidents were asked for") };
    let open = views.iter().filter(|view| view.resolved.is_none());
    open.map(|view| (view.key, view.instance, view.kind == IncidentKind::Fault)).collect()
}

async fn element(store: &Arc<dyn Store>, id: &str) -> ElementKey {
    match found(store, Entity::Elements).await {
        Items::Elements(views) => views.iter().find(|view| view.element_id == id).unwrap().key,
        other => panic!("{other:?}"),
    }
}

async fn create(server: &Server, id: &str) -> InstanceKey {
    match server.create(id, &[]).await {
        Answer::Created(created) => created.instance,
        other => panic!("{other:?}"),
    }
}

fn complete(job: JobKey) -> Command {
    Command::CompleteJob { job, variables: vec![], result: None }
}

/// The command, which the store does not take: its caller hears that, and nobody else has to.
async fn refused(server: &Server, command: Command) {
    let kind = command.kind();
    let told = server.host.submit(Request { caller: caller(), command, idempotency: None }).await;
    let by_store = |rejection: &Rejection| rejection.reason.contains("the store does not take");
    assert!(matches!(&told, Err(Error::Rejected(rejection)) if by_store(rejection)), "{kind}: {told:?}");
}

/// The store takes nothing, while this is on, that changes what `changes` says.
fn against(on: &Arc<AtomicBool>, changes: fn(&Commit) -> bool) -> Arc<dyn Store> {
    let on = on.clone();
    let fate = move |commit: &Commit| match on.load(Ordering::SeqCst) && changes(commit) {
        true => Fate::Lost(store::Error::corrupt("a value is not taken")),
        false => Fate::Through,
    };
    Layer::over(clocked()).on_commit(fate).shared()
}

fn completes(commit: &Commit) -> bool {
    commit.changes.jobs_changed.iter().any(|job| job.state == JobState::Completed)
}

/// Before, only its caller heard of it: what was in memory, and told which instance it was, had gone with the failure.
#[tokio::test(start_paused = true)]
async fn an_instance_shows_that_the_store_does_not_take_its_job_and_goes_on_when_it_does() {
    let on = Arc::new(AtomicBool::new(true));
    let store = against(&on, completes);
    let server = Server::start(&store).await;
    server.deploy(&[("p.bpmn", &task("p", "work"))]).await;
    let (bad, other) = (create(&server, "p").await, create(&server, "p").await);
    let jobs = server.poll("work", None).await;
    refused(&server, complete(jobs[0])).await;
    let [(incident, of, is_fault)] = incidents(&store).await[..] else { panic!("one incident") };
    assert_eq!((of, is_fault), (bad, true));
    assert_eq!(server.host.metrics().blamed.get(), 1);
    assert_eq!((state(&store, bad).await, state(&store, other).await), (InstanceState::Active, InstanceState::Active));
    on.store(false, Ordering::SeqCst);
    assert_eq!(server.ask(Command::ResolveIncident { incident }).await, Answer::Done);
    for job in jobs {
        assert_eq!(server.ask(complete(job)).await, Answer::Done);
    }
    assert_eq!((state(&store, bad).await, state(&store, other).await), (InstanceState::Completed, InstanceState::Completed));
    server.stop().await;
}

/// It may be the instance of which the store takes nothing.
#[tokio::test(start_paused = true)]
async fn where_the_incident_is_not_taken_either_the_command_is_refused_without() {
    let on = Arc::new(AtomicBool::new(true));
    let store = against(&on, |commit| completes(commit) || !commit.changes.incidents_new.is_empty());
    let server = Server::start(&store).await;
    server.deploy(&[("p.bpmn", &task("p", "work"))]).await;
    let bad = create(&server, "p").await;
    let job = server.poll("work", None).await[0];
    refused(&server, complete(job)).await;
    assert_eq!(incidents(&store).await, []);
    create(&server, "p").await;
    on.store(false, Ordering::SeqCst);
    assert_eq!(server.ask(complete(job)).await, Answer::Done);
    assert_eq!(state(&store, bad).await, InstanceState::Completed);
    server.stop().await;
}

/// Whatever a command says to name an instance: a job, a scope, a user task, a timer, an incident.
#[tokio::test(start_paused = true)]
async fn the_instance_is_found_by_whatever_the_command_names() {
    let on = Arc::new(AtomicBool::new(false));
    let store = against(&on, |commit| {
        let changes = &commit.changes;
        let waits = changes.jobs_changed.len() + changes.user_tasks_changed.len() + changes.timers_changed.len();
        0 < changes.variables_new.len() + changes.elements_new.len() + changes.incidents_changed.len() + waits
    });
    let server = Server::start(&store).await;
    server.deploy(&[("p.bpmn", PROCESS)]).await;
    let instance = create(&server, "p").await;
    let job = server.poll("work", None).await[0];
    let fail = FailJob { job, retries: 0, message: "no paper".into(), backoff: 0, variables: vec![] };
    assert_eq!(server.ask(Command::FailJob(fail)).await, Answer::Done);
    assert_eq!(server.ask(Command::UpdateJob(UpdateJob { job, retries: Some(1), timeout: None })).await, Answer::Done);
    let [(incident, ..)] = incidents(&store).await[..] else { panic!("one incident") };
    let Items::UserTasks(tasks) = found(&store, Entity::UserTasks).await else { panic!("user tasks were asked for") };
    let Items::Timers(timers) = found(&store, Entity::Timers).await else { panic!("timers were asked for") };
    let (task, timer) = (tasks[0].key, timers[0].key);
    let (scope, some) = (element(&store, "sub").await, element(&store, "some").await);
    let action: Arc<str> = "do".into();
    let priority = UpdateUserTask {
        task,
        candidate_groups: None,
        candidate_users: None,
        due: None,
        follow_up: None,
        priority: Some(7),
        action: action.clone(),
    };
    let variables = || vec![("x".into(), "1".into())];
    let commands = [
        Command::UpdateJob(UpdateJob { job, retries: Some(3), timeout: None }),
        Command::SetVariables { scope, variables: variables(), local: true },
        Command::SetVariables { scope: instance.root(), variables: variables(), local: true },
        Command::StartAdHoc(StartAdHoc { element: some, activities: vec![("one".into(), vec![])], drop_rest: false }),
        Command::AssignUserTask(AssignUserTask { task, assignee: "me".into(), overrides: true, action: action.clone() }),
        Command::UnassignUserTask { task, action: action.clone() },
        Command::UpdateUserTask(priority),
        Command::CompleteUserTask { task, variables: vec![], action },
        Command::FireTimer { timer },
        Command::RescheduleTimer { timer, due: i64::MAX / 2 },
        Command::ResolveIncident { incident },
    ];
    for command in commands {
        let kind = command.kind();
        on.store(true, Ordering::SeqCst);
        refused(&server, command).await;
        on.store(false, Ordering::SeqCst);
        let faults: Vec<_> = incidents(&store).await.into_iter().filter(|(.., is_fault)| *is_fault).collect();
        let [(fault, of, _)] = faults[..] else { panic!("{kind}: {faults:?}") };
        assert_eq!(of, instance, "{kind}");
        assert_eq!(server.ask(Command::ResolveIncident { incident: fault }).await, Answer::Done, "{kind}");
    }
    server.stop().await;
}
