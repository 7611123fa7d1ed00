//! Suspended instances, through a real host on the memory store, also across a restart.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use crate::server::{Server, TENANT, memory, with_clock};
use engine::{InstanceKey, JobKey, UserTaskKey};
use host::{Limits, Role};
use store::Store;
use store::log::{Answer, AssignUserTask, Code, Command, Publish};
use store::query::{Entity, InstanceView, Items, Query, Tenants};
use store::row::InstanceState;

fn file(processes: &str) -> String {
    format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="t">
  <message id="m" name="go"><extensionElements><zeebe:subscription correlationKey="=&quot;k&quot;"/></extensionElements></message>
  <signal id="sig" name="alarm"/>{processes}</definitions>"#
    )
}

fn process(id: &str, body: &str, ids: &[&str]) -> String {
    let flows = ids.windows(2).map(|p| format!(r#"<sequenceFlow id="{0}-{1}" sourceRef="{0}" targetRef="{1}"/>"#, p[0], p[1]));
    let flows: String = flows.collect();
    format!(r#"<process id="{id}" isExecutable="true"><startEvent id="s"/>{body}<endEvent id="e"/>{flows}</process>"#)
}

fn task(id: &str) -> String {
    format!(r#"<serviceTask id="{id}"><extensionElements><zeebe:taskDefinition type="{id}"/></extensionElements></serviceTask>"#)
}

async fn started(server: &Server, file: String, id: &str) -> InstanceKey {
    server.deploy(&[("p.bpmn", &file)]).await;
    match server.create(id, &[]).await {
        Answer::Created(created) => created.instance,
        other => panic!("{other:?}"),
    }
}

async fn suspend(server: &Server, instance: InstanceKey) {
    assert_eq!(server.ask(Command::Suspend { instance }).await, Answer::Done);
}

async fn resume(server: &Server, instance: InstanceKey) {
    assert_eq!(server.ask(Command::Resume { instance }).await, Answer::Done);
}

async fn complete(server: &Server, job: JobKey) -> Answer {
    server.ask(Command::CompleteJob { job, variables: vec![], result: None }).await
}

async fn instances(store: &Arc<dyn Store>) -> Vec<InstanceView> {
    match store.search(&Query::of(Entity::Instances, Tenants::Everything)).await.unwrap().items {
        Items::Instances(views) => views,
        _ => unreachable!("instances were asked for"),
    }
}

async fn states(store: &Arc<dyn Store>) -> Vec<InstanceState> {
    instances(store).await.iter().map(|view| view.state).collect()
}

fn refused(answer: &Answer) -> Option<Code> {
    match answer {
        Answer::Rejected(rejection) => Some(rejection.code),
        _ => None,
    }
}

/// Polls until a job comes: what brings it happens by itself.
async fn poll(server: &Server, job_type: &str) -> JobKey {
    let found = server.poll(job_type, Some(Duration::from_secs(20))).await;
    *found.first().unwrap_or_else(|| panic!("no job of type {job_type}"))
}

#[tokio::test]
async fn nothing_is_handed_out_or_taken_until_it_goes_on() {
    let store = memory();
    let server = Server::start(&store).await;
    let body =
        format!(r#"{}{}<parallelGateway id="g"/><sequenceFlow id="x" sourceRef="g" targetRef="b"/>"#, task("a"), task("b"));
    let instance = started(&server, file(&process("p", &body, &["s", "g", "a", "e"])), "p").await;
    let leased = poll(&server, "a").await;
    suspend(&server, instance).await;
    assert_eq!(states(&store).await, [InstanceState::Suspended]);
    assert!(instances(&store).await[0].suspended.is_some());
    assert_eq!(server.poll("b", None).await.len(), 0, "its jobs are not handed out");
    assert_eq!(refused(&complete(&server, leased).await), Some(Code::InvalidState), "nor is what was done taken");
    let variables = vec![("x".into(), "1".into())];
    let set = Command::SetVariables { scope: instance.root(), variables, local: false };
    assert_eq!(refused(&server.ask(set).await), Some(Code::InvalidState));
    assert_eq!(refused(&server.ask(Command::Suspend { instance }).await), Some(Code::InvalidState), "only once");
    server.stop().await;

    let server = Server::start(&store).await;
    assert_eq!(server.poll("b", None).await.len(), 0, "another server knows of it");
    resume(&server, instance).await;
    assert_eq!((states(&store).await, instances(&store).await[0].suspended), (vec![InstanceState::Active], None));
    assert_eq!(complete(&server, leased).await, Answer::Done, "who had a job has it still");
    let other = poll(&server, "b").await;
    assert_eq!(complete(&server, other).await, Answer::Done);
    assert_eq!(states(&store).await, [InstanceState::Completed]);
    assert_eq!(refused(&server.ask(Command::Resume { instance }).await), Some(Code::NotFound));
    server.stop().await;
}

#[tokio::test]
async fn what_it_called_is_suspended_with_it_and_cancelled_with_it() {
    let store = memory();
    let server = Server::start(&store).await;
    let call =
        r#"<callActivity id="c"><extensionElements><zeebe:calledElement processId="child"/></extensionElements></callActivity>"#;
    server.deploy(&[("c.bpmn", &file(&process("child", &task("work"), &["s", "work", "e"])))]).await;
    let parent = started(&server, file(&process("parent", call, &["s", "c", "e"])), "parent").await;
    let child = instances(&store).await.iter().find(|view| view.parent_instance == Some(parent)).unwrap().key;
    assert_eq!(refused(&server.ask(Command::Suspend { instance: child }).await), Some(Code::InvalidState), "by the first alone");
    suspend(&server, parent).await;
    assert_eq!(states(&store).await, [InstanceState::Suspended; 2]);
    assert_eq!(server.poll("work", None).await.len(), 0);
    server.stop().await;

    let server = Server::start(&store).await;
    resume(&server, parent).await;
    assert_eq!(states(&store).await, [InstanceState::Active; 2]);
    assert_eq!(server.poll("work", None).await.len(), 1);
    suspend(&server, parent).await;
    assert_eq!(server.ask(Command::Cancel { instance: parent }).await, Answer::Done);
    assert_eq!(states(&store).await, [InstanceState::Terminated; 2]);
    server.stop().await;
}

#[tokio::test]
async fn no_more_are_suspended_at_once_than_others_can_wait_for() {
    let store = memory();
    let limits = Limits { suspended_max: 2, ..Limits::default() };
    let server = Server::join(&store, "one", Role::Engine, limits);
    server.owning().await;
    let call =
        r#"<callActivity id="c"><extensionElements><zeebe:calledElement processId="child"/></extensionElements></callActivity>"#;
    server.deploy(&[("c.bpmn", &file(&process("child", &task("work"), &["s", "work", "e"])))]).await;
    let one = started(&server, file(&process("one", call, &["s", "c", "e"])), "one").await;
    suspend(&server, one).await;
    let calls = format!("{call}{}", call.replace(r#"id="c""#, r#"id="c2""#));
    let two = process("two", &calls, &["s", "c", "e"])
        .replace("<endEvent", r#"<sequenceFlow id="s-c2" sourceRef="s" targetRef="c2"/><endEvent"#);
    let two = started(&server, file(&two), "two").await;
    assert_eq!(refused(&server.ask(Command::Suspend { instance: two }).await), Some(Code::InvalidState), "three are too many");
    let suspended = states(&store).await.iter().filter(|state| **state == InstanceState::Suspended).count();
    assert_eq!(suspended, 2, "none of the three stands still");
    server.stop().await;
}

#[tokio::test]
async fn what_ends_in_the_same_moment_neither_stops_nor_goes_on() {
    let store = memory();
    let server = Server::start(&store).await;
    for what in [|instance| Command::Suspend { instance }, |instance| Command::Resume { instance }] {
        let instance = started(&server, file(&process("p", &task("work"), &["s", "work", "e"])), "p").await;
        let job = poll(&server, "work").await;
        let (done, answer) = tokio::join!(complete(&server, job), server.ask(what(instance)));
        assert_eq!((done, refused(&answer)), (Answer::Done, Some(Code::NotFound)));
    }
    server.stop().await;
}

/// A timer that falls due later than all there are has fired, of an instance that runs.
async fn another_fires(server: &Server, clock: &AtomicI64, file: &str) {
    started(server, file.to_owned(), "p").await;
    clock.fetch_add(2 * 3_600_000, Ordering::SeqCst);
    // The server hears of the time with this commit.
    started(server, file.to_owned(), "p").await;
    let job = poll(server, "after").await;
    assert_eq!(complete(server, job).await, Answer::Done);
}

#[tokio::test]
async fn timers_that_fell_due_fire_when_it_goes_on() {
    let (store, clock) = with_clock();
    let server = Server::start(&store).await;
    let timer = r#"<intermediateCatchEvent id="t"><timerEventDefinition><timeDuration xsi:type="tFormalExpression">PT1H</timeDuration></timerEventDefinition></intermediateCatchEvent>"#;
    let file = file(&process("p", &format!("{timer}{}", task("after")), &["s", "t", "after", "e"]));
    let instance = started(&server, file.clone(), "p").await;
    suspend(&server, instance).await;
    another_fires(&server, &clock, &file).await;
    assert_eq!(server.poll("after", None).await.len(), 0);
    server.stop().await;
    let server = Server::start(&store).await;
    another_fires(&server, &clock, &file).await;
    assert_eq!(server.poll("after", None).await.len(), 0, "nor with the next server");
    resume(&server, instance).await;
    let job = poll(&server, "after").await;
    assert_eq!(complete(&server, job).await, Answer::Done);
    server.stop().await;
}

#[tokio::test]
async fn messages_wait_while_they_live_and_signals_are_kept() {
    let store = memory();
    let server = Server::start(&store).await;
    let events = r#"<intermediateCatchEvent id="m1"><messageEventDefinition messageRef="m"/></intermediateCatchEvent>
        <intermediateCatchEvent id="s1"><signalEventDefinition signalRef="sig"/></intermediateCatchEvent>"#;
    let body = format!("{events}{}", task("after"));
    let instance = started(&server, file(&process("p", &body, &["s", "m1", "s1", "after", "e"])), "p").await;
    let message = |time_to_live| {
        let (tenant, name, correlation_key) = (TENANT.into(), "go".into(), "k".into());
        Publish { tenant, name, correlation_key, id: "".into(), time_to_live, variables: vec![] }
    };
    suspend(&server, instance).await;
    assert_eq!(refused(&server.ask(Command::Correlate(message(0))).await), Some(Code::NotFound), "nobody takes it now");
    server.ask(Command::Publish(message(3_600_000))).await;
    server.stop().await;

    let server = Server::start(&store).await;
    resume(&server, instance).await;
    suspend(&server, instance).await;
    let variables = vec![("loud".into(), "true".into())];
    let alarm = Command::Broadcast { tenant: TENANT.into(), name: "alarm".into(), variables };
    for _ in 0..2 {
        server.ask(alarm.clone()).await;
    }
    assert_eq!(server.poll("after", Some(Duration::from_millis(100))).await.len(), 0);
    server.stop().await;

    let server = Server::start(&store).await;
    resume(&server, instance).await;
    let job = poll(&server, "after").await;
    let seen = match store.search(&Query::of(Entity::Variables, Tenants::Everything)).await.unwrap().items {
        Items::Variables(views) => views.into_iter().map(|view| (view.name, view.value)).collect::<Vec<_>>(),
        _ => unreachable!("variables were asked for"),
    };
    assert_eq!(seen, [("loud".to_owned(), "true".to_owned())]);
    assert_eq!(complete(&server, job).await, Answer::Done);
    assert_eq!(states(&store).await, [InstanceState::Completed]);
    server.stop().await;
}

#[tokio::test]
async fn tasks_for_people_are_left_alone() {
    let store = memory();
    let server = Server::start(&store).await;
    let person = r#"<userTask id="u"><extensionElements><zeebe:userTask/></extensionElements></userTask>"#;
    let instance = started(&server, file(&process("p", person, &["s", "u", "e"])), "p").await;
    let task = match store.search(&Query::of(Entity::UserTasks, Tenants::Everything)).await.unwrap().items {
        Items::UserTasks(views) => UserTaskKey(views[0].key.0),
        _ => unreachable!("user tasks were asked for"),
    };
    suspend(&server, instance).await;
    let assign = || Command::AssignUserTask(AssignUserTask { task, assignee: "ada".into(), overrides: true, action: "".into() });
    let finish = || Command::CompleteUserTask { task, variables: vec![], action: "".into() };
    for command in [assign(), finish(), Command::UnassignUserTask { task, action: "".into() }] {
        assert_eq!(refused(&server.ask(command).await), Some(Code::InvalidState));
    }
    server.stop().await;
    let server = Server::start(&store).await;
    assert_eq!(refused(&server.ask(assign()).await), Some(Code::InvalidState), "by one that has not seen its instance");
    resume(&server, instance).await;
    assert_eq!((server.ask(assign()).await, server.ask(finish()).await), (Answer::Done, Answer::Done));
    assert_eq!(states(&store).await, [InstanceState::Completed]);
    server.stop().await;
}
