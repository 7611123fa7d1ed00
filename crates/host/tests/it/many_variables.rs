//! A scope of very many variables: what a command does and takes depends on what happens, not on what is there.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use engine::{Document, InstanceKey, JobKey};
use host::{Limits, Poll, Role};
use store::log::{Answer, Command};

use crate::server::layer::{Fate, Layer};
use crate::server::{Server, TENANT, clocked};

const MANY: usize = 45_000;
const FEW: usize = 450;
/// In one command that changes some.
const CHANGED: usize = 400;
/// In one command that makes them.
const AT_ONCE: usize = 9_000;

/// Variables new and changed in one commit, and bytes of its events.
type Work = (usize, usize, usize);

fn numbered(from: usize, to: usize) -> Document {
    (from..to).map(|n| (format!("v{n}").into(), n.to_string().into())).collect()
}

/// A server with an instance that has so many variables, and what every commit wrote.
async fn with(variables: usize) -> (Server, InstanceKey, Arc<Mutex<Vec<Work>>>) {
    let commits = Arc::new(Mutex::new(Vec::new()));
    let seen = commits.clone();
    let layer = Layer::over(clocked()).on_commit(move |commit| {
        let events = commit.log.iter().map(|row| row.events.len()).sum();
        seen.lock().unwrap().push((commit.changes.variables_new.len(), commit.changes.variables_changed.len(), events));
        Fate::Through
    });
    let server = Server::join(&layer.shared(), "server", Role::Engine, Limits::default());
    server.owning().await;
    server.deploy(&[("loop.bpmn", LOOP)]).await;
    let instance = match server.create("loop", &[]).await {
        Answer::Created(created) => created.instance,
        other => panic!("{other:?}"),
    };
    for from in (0..variables).step_by(AT_ONCE) {
        set(&server, instance, numbered(from, variables.min(from + AT_ONCE))).await;
    }
    // What the process works with came last.
    set(
        &server,
        instance,
        [("again", "true"), ("read", "1"), ("told", "1")].map(|(name, value)| (name.into(), value.into())).into(),
    )
    .await;
    let written: usize = commits.lock().unwrap().iter().map(|(new, _, _)| new).sum();
    assert_eq!(written, variables + 3, "each is written once");
    commits.lock().unwrap().clear();
    (server, instance, commits)
}

async fn set(server: &Server, instance: InstanceKey, variables: Document) {
    let command = Command::SetVariables { scope: instance.root(), variables, local: false };
    let answer = server.ask(command).await;
    assert!(matches!(answer, Answer::VariablesSet { .. }), "{answer:?}");
}

async fn next(server: &Server) -> JobKey {
    let poll = Poll {
        job_type: "work".into(),
        worker: "w".into(),
        timeout: 600_000,
        max: 1,
        tenants: vec![TENANT.into()],
        fetch: vec!["told".into()],
        wait: Some(Duration::from_secs(60)),
    };
    server.host.activate(poll).await.unwrap().take()[0].key
}

/// A worker changes one variable, a mapping reads another, and a condition a third. The least it took of many times.
async fn rounds(server: &Server, count: u32) -> Duration {
    let mut least = Duration::MAX;
    for n in 0..count {
        let job = next(server).await;
        let variables = vec![("told".into(), n.to_string().into())];
        let begun = Instant::now();
        assert_eq!(server.ask(Command::CompleteJob { job, variables, result: None }).await, Answer::Done);
        least = least.min(begun.elapsed());
    }
    least
}

/// A caller changes so many at once, those that came last. The least it took of many times.
async fn changes(server: &Server, instance: InstanceKey, from: usize) -> Duration {
    let mut least = Duration::MAX;
    for _ in 0..10 {
        let begun = Instant::now();
        set(server, instance, numbered(from, from + CHANGED)).await;
        least = least.min(begun.elapsed());
    }
    least
}

/// A command that looked at each variable, or wrote each, would take many times as long with a hundred times as many.
#[tokio::test]
async fn a_command_on_many_variables_does_what_happens() {
    let (few, in_few, _) = with(FEW).await;
    let (many, in_many, commits) = with(MANY).await;
    let (short, long) = (rounds(&few, 100).await, rounds(&many, 100).await);
    let commits = std::mem::take(&mut *commits.lock().unwrap());
    let changed: usize = commits.iter().map(|(new, changed, _)| new + changed).sum();
    assert!(changed <= 400, "{changed} variables written in a hundred rounds");
    let largest = commits.iter().map(|(_, _, events)| *events).max();
    assert!(largest < Some(1_000), "{largest:?} bytes of events");
    assert!(long < 5 * short, "{long:?} with {MANY} variables, {short:?} with {FEW}");
    let (short, long) = (changes(&few, in_few, FEW - CHANGED).await, changes(&many, in_many, MANY - CHANGED).await);
    assert!(long < 5 * short, "{CHANGED} changed: {long:?} with {MANY} variables, {short:?} with {FEW}");
    few.stop().await;
    many.stop().await;
}

/// A task that follows itself, with a mapping and a condition.
const LOOP: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">
  <process id="loop" isExecutable="true">
    <startEvent id="start"/>
    <sequenceFlow id="in" sourceRef="start" targetRef="work"/>
    <serviceTask id="work">
      <extensionElements>
        <zeebe:taskDefinition type="work"/>
        <zeebe:ioMapping><zeebe:output source="=told + read" target="sum"/><zeebe:output source="=told" target="told"/></zeebe:ioMapping>
      </extensionElements>
    </serviceTask>
    <sequenceFlow id="out" sourceRef="work" targetRef="gate"/>
    <exclusiveGateway id="gate"/>
    <sequenceFlow id="back" sourceRef="gate" targetRef="work"><conditionExpression>=again</conditionExpression></sequenceFlow>
    <sequenceFlow id="over" sourceRef="gate" targetRef="end"><conditionExpression>=not(again)</conditionExpression></sequenceFlow>
    <endEvent id="end"/>
  </process>
</definitions>"#;
