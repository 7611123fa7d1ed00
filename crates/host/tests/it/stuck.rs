//! What encloses an open incident, and who has called what does, shows it for exactly as long, on every way an incident can end and
//! across restarts.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::server::{Server, TENANT, clocked};
use engine::{IncidentKey, InstanceKey};
use store::Store;
use store::log::{Answer, Command, FailJob, Publish, UpdateJob};
use store::query::{Entity, Field, Filter, Items, Op, Query, Scalar, Tenants};

/// Called by `middle` in a sub-process, that by `top` once for each of two items.
const FILES: [(&str, &str); 3] = [
    (
        "top.bpmn",
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="t">
  <message id="stop" name="stop"><extensionElements><zeebe:subscription correlationKey="=&quot;k&quot;"/></extensionElements></message>
  <process id="top" isExecutable="true"><startEvent id="s"/><sequenceFlow id="a" sourceRef="s" targetRef="each"/>
    <callActivity id="each"><extensionElements><zeebe:calledElement processId="middle"/></extensionElements>
      <multiInstanceLoopCharacteristics><extensionElements><zeebe:loopCharacteristics inputCollection="=[1, 2]"/></extensionElements></multiInstanceLoopCharacteristics>
    </callActivity>
    <boundaryEvent id="stopped" attachedToRef="each"><messageEventDefinition messageRef="stop"/></boundaryEvent>
    <sequenceFlow id="b" sourceRef="stopped" targetRef="wait"/>
    <serviceTask id="wait"><extensionElements><zeebe:taskDefinition type="wait"/></extensionElements></serviceTask></process></definitions>"#,
    ),
    (
        "middle.bpmn",
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="t">
  <process id="middle" isExecutable="true"><startEvent id="s"/><sequenceFlow id="a" sourceRef="s" targetRef="sub"/>
    <subProcess id="sub"><startEvent id="ss"/><sequenceFlow id="b" sourceRef="ss" targetRef="call"/>
      <callActivity id="call"><extensionElements><zeebe:calledElement processId="leaf"/></extensionElements></callActivity>
    </subProcess></process></definitions>"#,
    ),
    (
        "leaf.bpmn",
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="t">
  <process id="leaf" isExecutable="true"><startEvent id="s"/><sequenceFlow id="a" sourceRef="s" targetRef="work"/>
    <serviceTask id="work"><extensionElements><zeebe:taskDefinition type="work"/></extensionElements></serviceTask></process></definitions>"#,
    ),
];

#[tokio::test]
async fn on_memory() {
    story(&(Arc::new(clocked()) as Arc<dyn Store>)).await;
}

#[tokio::test]
async fn on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_sqlite::open(folder.path(), store_sqlite::Options::default()).unwrap();
    story(&(Arc::new(store) as Arc<dyn Store>)).await;
}

async fn story(store: &Arc<dyn Store>) {
    let server = Server::start(store).await;
    server.deploy(&FILES).await;
    server.stop().await;
    resolved(store).await;
    cancelled(store).await;
    interrupted(store).await;
}

/// An instance of `top`, with the jobs of its two leaves failed for good.
async fn stuck(store: &Arc<dyn Store>) -> (Server, InstanceKey) {
    let server = Server::start(store).await;
    let Answer::Created(created) = server.create("top", &[]).await else { panic!("not created") };
    for job in server.poll("work", None).await {
        let fail = FailJob { job, retries: 0, message: "no glue".into(), backoff: 0, variables: vec![] };
        assert_eq!(server.ask(Command::FailJob(fail)).await, Answer::Done);
    }
    let all = ["call", "each", "leaf", "middle", "sub", "top", "work"];
    assert_eq!(shown(store).await, BTreeSet::from(all.map(str::to_owned)));
    // Body and one inner instance for each item; of everything else one for each item, but one `top`.
    assert_eq!(count(store).await, (5, 3 + 2 + 2 + 2));
    server.stop().await;
    (Server::start(store).await, created.instance)
}

async fn resolved(store: &Arc<dyn Store>) {
    let (server, top) = stuck(store).await;
    let open = incidents(store).await;
    resolve(&server, open[0]).await;
    assert_eq!(count(store).await, (3, 2 + 1 + 1 + 1), "one way up is free, the other is not");
    server.stop().await;
    let server = Server::start(store).await;
    resolve(&server, open[1]).await;
    assert_eq!(count(store).await, (0, 0));
    server.ask(Command::Cancel { instance: top }).await;
    server.stop().await;
}

async fn cancelled(store: &Arc<dyn Store>) {
    let (server, top) = stuck(store).await;
    assert_eq!(server.ask(Command::Cancel { instance: top }).await, Answer::Done);
    assert_eq!((count(store).await, incidents(store).await.len()), ((0, 0), 0));
    server.stop().await;
}

async fn interrupted(store: &Arc<dyn Store>) {
    let (server, _) = stuck(store).await;
    let stop = Publish {
        tenant: TENANT.into(),
        name: "stop".into(),
        correlation_key: "k".into(),
        id: "".into(),
        time_to_live: 0,
        variables: vec![],
    };
    server.ask(Command::Publish(stop)).await;
    assert_eq!((count(store).await, incidents(store).await.len()), ((0, 0), 0));
    server.stop().await;
}

async fn resolve(server: &Server, (incident, job): (IncidentKey, engine::JobKey)) {
    let retries = UpdateJob { job, retries: Some(1), timeout: None };
    assert_eq!(server.ask(Command::UpdateJob(retries)).await, Answer::Done);
    assert_eq!(server.ask(Command::ResolveIncident { incident }).await, Answer::Done);
}

async fn incidents(store: &Arc<dyn Store>) -> Vec<(IncidentKey, engine::JobKey)> {
    let open = Filter::Is(Field::IncidentState, Op::Eq(Scalar::Text("ACTIVE".into())));
    match store.search(&Query { filter: open, ..all(Entity::Incidents) }).await.unwrap().items {
        Items::Incidents(views) => views.iter().map(|view| (view.key, view.job.unwrap())).collect(),
        other => panic!("{other:?}"),
    }
}

fn all(entity: Entity) -> Query {
    Query::of(entity, Tenants::These(vec![TENANT.into()]))
}

/// Ids of processes and elements that show an incident.
async fn shown(store: &Arc<dyn Store>) -> BTreeSet<String> {
    let mut shown = BTreeSet::new();
    for entity in [Entity::Instances, Entity::Elements] {
        match store.search(&all(entity)).await.unwrap().items {
            Items::Instances(views) => {
                shown.extend(views.into_iter().filter(|view| view.has_incident).map(|view| view.process_id));
            }
            Items::Elements(views) => {
                shown.extend(views.into_iter().filter(|view| view.has_incident).map(|view| view.element_id));
            }
            other => panic!("{other:?}"),
        }
    }
    shown
}

/// How many instances and element instances are found by having an incident.
async fn count(store: &Arc<dyn Store>) -> (u64, u64) {
    let filter = Filter::Is(Field::HasIncident, Op::Eq(Scalar::Bool(true)));
    let instances = store.search(&Query { filter: filter.clone(), ..all(Entity::Instances) }).await.unwrap().total;
    let elements = store.search(&Query { filter, ..all(Entity::Elements) }).await.unwrap().total;
    (instances, elements)
}
