//! Business rule tasks that call decisions, through a real host on the memory store.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::server::layer::{Fate, Layer};
use crate::server::{Server, caller, clocked, create, memory};
use engine::{Event, IncidentKey, InstanceKey};
use store::log::{Answer, Command, Request};
use store::query::{Entity, Items, Query, Tenants};

fn process(id: &str, called: &str) -> String {
    format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"
  id="d" targetNamespace="t"><process id="{id}" isExecutable="true">
  <startEvent id="start"/><sequenceFlow id="a" sourceRef="start" targetRef="rate"/>
  <businessRuleTask id="rate"><extensionElements><zeebe:calledDecision {called} resultVariable="out"/></extensionElements></businessRuleTask>
  <sequenceFlow id="b" sourceRef="rate" targetRef="end"/><endEvent id="end"/></process></definitions>"#
    )
}

/// One decision, `grade`, with a version tag if any.
fn rules(text: &str, tag: Option<&str>) -> String {
    let tag = tag.map(|tag| format!(r#"<extensionElements><zeebe:versionTag value="{tag}"/></extensionElements>"#));
    format!(
        r#"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"
  id="rules" name="Rules" namespace="t"><decision id="grade" name="Grade">{}<literalExpression><text>{text}</text></literalExpression>
  </decision></definitions>"#,
        tag.unwrap_or_default()
    )
}

async fn out(server: &Server, process: &str, variables: &[(&str, &str)]) -> String {
    let ended = server.run(process, variables).await;
    assert!(ended.completed);
    ended.variables.iter().find(|(name, _)| &**name == "out").unwrap().1.to_string()
}

/// Starts an instance that does not end, and gives its active incident's type and key. One that goes on for long gets it in a later turn.
async fn stuck(server: &Server, process: &str, variables: &[(&str, &str)]) -> (InstanceKey, String, IncidentKey) {
    let Answer::Created(created) = server.create(process, variables).await else { panic!("not created") };
    loop {
        if let Some((kind, incident)) = incident(server, created.instance).await {
            return (created.instance, kind, incident);
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

async fn incident(server: &Server, instance: InstanceKey) -> Option<(String, IncidentKey)> {
    let Items::Incidents(incidents) =
        server.host.store().search(&Query::of(Entity::Incidents, Tenants::Everything)).await.unwrap().items
    else {
        panic!("not incidents")
    };
    let active = incidents.iter().find(|view| view.instance == instance && view.resolved.is_none());
    active.map(|view| (format!("{:?}", view.kind), view.key))
}

async fn recorded(server: &Server) -> usize {
    let query = Query { with_details: true, ..Query::of(Entity::EvaluatedDecisions, Tenants::Everything) };
    match server.host.store().search(&query).await.unwrap().items {
        Items::EvaluatedDecisions(views) => views.iter().filter(|view| view.instance.is_some()).count(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_takes_the_output_of_its_decision() {
    let server = Server::start(&memory()).await;
    server.deploy(&[("p.bpmn", &process("p", r#"decisionId="grade""#)), ("rules.dmn", &rules("n * 2", None))]).await;
    assert_eq!(out(&server, "p", &[("n", "21")]).await, "42");
    assert_eq!(out(&server, "p", &[]).await, "null");
    assert_eq!(recorded(&server).await, 2);
    server.deploy(&[("rules.dmn", &rules("n * 3", None))]).await;
    assert_eq!(out(&server, "p", &[("n", "21")]).await, "63", "the latest is meant");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_may_be_bound_to_a_tag_or_to_its_deployment() {
    let store = memory();
    let server = Server::start(&store).await;
    let together = process("together", r#"decisionId="grade" bindingType="deployment""#);
    let tagged = process("tagged", r#"decisionId="grade" bindingType="versionTag" versionTag="v1""#);
    server.deploy(&[("together.bpmn", &together), ("rules.dmn", &rules("1", Some("v1")))]).await;
    server.deploy(&[("rules.dmn", &rules("2", Some("v2")))]).await;
    server.deploy(&[("tagged.bpmn", &tagged)]).await;
    assert_eq!(out(&server, "together", &[]).await, "1");
    assert_eq!(out(&server, "tagged", &[]).await, "1");
    server.deploy(&[("rules.dmn", &rules("3", Some("v1")))]).await;
    assert_eq!(out(&server, "tagged", &[]).await, "3", "the latest with the tag");
    server.stop().await;

    let server = Server::start(&store).await;
    assert_eq!(out(&server, "together", &[]).await, "1");
    assert_eq!(out(&server, "tagged", &[]).await, "3");
    let alone = process("together", r#"decisionId="grade" bindingType="deployment" versionTag="unused""#);
    let refused = server.deploy_refused(&[("together.bpmn", &alone)]).await;
    assert!(refused.contains("element 'rate': its decision 'grade' is bound to the deployment, but is not in it"), "{refused}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fails_is_an_incident_and_resolving_it_asks_again() {
    let store = memory();
    let server = Server::start(&store).await;
    server.deploy(&[("p.bpmn", &process("p", r#"decisionId="grade""#))]).await;
    let (instance, kind, first) = stuck(&server, "p", &[("n", "500")]).await;
    assert_eq!(kind, "CalledDecision");
    server.deploy(&[("rules.dmn", &rules("assert(n, n &lt; 100)", None))]).await;
    assert_eq!(server.ask(Command::ResolveIncident { incident: first }).await, Answer::Done);
    let (kind, second) = incident(&server, instance).await.unwrap();
    assert_eq!(kind, "DecisionEvaluation");
    assert_eq!(recorded(&server).await, 0, "what failed leaves no decision instance");
    server.stop().await;

    // The instance and its incident outlive the server.
    let server = Server::start(&store).await;
    let scope = instance.root();
    let right = Command::SetVariables { scope, variables: vec![("n".into(), "7".into())], local: false };
    assert!(matches!(server.ask(right).await, Answer::VariablesSet { .. }));
    assert_eq!(server.ask(Command::ResolveIncident { incident: second }).await, Answer::Done);
    assert_eq!(incident(&server, instance).await, None);
    assert_eq!(recorded(&server).await, 1);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loop_of_decisions_that_never_waits_comes_to_an_incident() {
    let server = Server::start(&memory()).await;
    let looping = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"
  id="d" targetNamespace="t"><error id="e" errorCode="E"/><process id="p" isExecutable="true">
  <startEvent id="start"/><sequenceFlow id="a" sourceRef="start" targetRef="again"/>
  <exclusiveGateway id="again"/><sequenceFlow id="b" sourceRef="again" targetRef="sub"/>
  <subProcess id="sub"><startEvent id="s"/><sequenceFlow id="c" sourceRef="s" targetRef="rate"/>
    <businessRuleTask id="rate"><extensionElements><zeebe:calledDecision decisionId="grade" resultVariable="out"/></extensionElements></businessRuleTask>
    <sequenceFlow id="f" sourceRef="rate" targetRef="thrown"/>
    <endEvent id="thrown"><errorEventDefinition errorRef="e"/></endEvent></subProcess>
  <boundaryEvent id="caught" attachedToRef="sub"><errorEventDefinition errorRef="e"/></boundaryEvent>
  <sequenceFlow id="g" sourceRef="caught" targetRef="again"/></process></definitions>"#;
    server.deploy(&[("p.bpmn", looping), ("rules.dmn", &rules("1", None))]).await;
    assert_eq!(stuck(&server, "p", &[]).await.1, "LoopLimit");
    server.stop().await;
}

/// So many tasks side by side, each with a decision and a result of its own.
fn side_by_side(count: usize) -> String {
    let mut body =
        String::from(r#"<startEvent id="s"/><sequenceFlow id="sf" sourceRef="s" targetRef="f"/><parallelGateway id="f"/>"#);
    for n in 0..count {
        write!(
            body,
            r#"<sequenceFlow id="i{n}" sourceRef="f" targetRef="t{n}"/><businessRuleTask id="t{n}"><extensionElements>
  <zeebe:calledDecision decisionId="grade" resultVariable="out{n}"/></extensionElements></businessRuleTask>"#
        )
        .unwrap();
    }
    format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"
  id="d" targetNamespace="t"><process id="p" isExecutable="true">{body}</process></definitions>"#
    )
}

/// Before, all of them were evaluated in the one command, and nobody else was served meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn decisions_that_take_long_together_are_evaluated_in_several_turns() {
    let results: Arc<Mutex<Vec<usize>>> = Arc::default();
    let counted = results.clone();
    let layer = Layer::over(clocked()).on_commit(move |commit| {
        let results = |events: &[u8]| {
            let events = store::format::decode_events(events, |_| Some("0".into())).unwrap();
            events.iter().filter(|event| matches!(event, Event::VariableCreated { .. })).count()
        };
        let rows = commit.log.iter().filter(|row| row.instance.is_some());
        counted.lock().unwrap().extend(rows.map(|row| results(&row.events)).filter(|results| 0 < *results));
        Fate::Through
    });
    let server = Server::start(&layer.shared()).await;
    // A command may take five million steps; each of these takes more than a million.
    let heavy = rules("count(for i in 1..400, j in 1..900 return i + j)", None);
    server.deploy(&[("p.bpmn", &side_by_side(6)), ("rules.dmn", &heavy)]).await;
    let request = Request { caller: caller(), command: Command::Create(create("p", &[])), idempotency: None };
    let ended = server.host.create_and_await(request, vec![], Duration::from_secs(120)).await.unwrap();
    assert!(ended.completed);
    assert_eq!(ended.variables.len(), 6);
    assert_eq!(recorded(&server).await, 6, "each is evaluated once");
    let results = results.lock().unwrap().clone();
    assert_eq!(results.iter().sum::<usize>(), 6);
    assert!(results.iter().all(|results| *results <= 4), "{results:?}");
    server.stop().await;
}
