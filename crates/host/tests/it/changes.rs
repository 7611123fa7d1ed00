//! What operators change about running instances, through a real host on the memory store, also across a restart.

use std::sync::Arc;

use crate::server::{Server, TENANT, memory};
use engine::{DefinitionKey, InstanceKey, Modification};
use host::ClockMove;
use store::Store;
use store::change::{Change, Migrate};
use store::log::{Answer, Code, Command, Create, Deploy, DeployResource, ProcessRef, Publish};
use store::query::{Entity, InstanceView, Items, JobView, Query, Tenants};
use store::row::{InstanceState, JobState};

fn process(id: &str, roots: &str, body: &str) -> String {
    format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="t">
  {roots}<process id="{id}" isExecutable="true">{body}</process></definitions>"#
    )
}

fn flow(ids: &[&str]) -> String {
    let pairs = ids.windows(2);
    pairs.map(|pair| format!(r#"<sequenceFlow id="{0}-{1}" sourceRef="{0}" targetRef="{1}"/>"#, pair[0], pair[1])).collect()
}

fn task(id: &str, job_type: &str, header: &str) -> String {
    format!(
        r#"<serviceTask id="{id}"><extensionElements><zeebe:taskDefinition type="{job_type}"/>
        <zeebe:taskHeaders><zeebe:header key="h" value="{header}"/></zeebe:taskHeaders></extensionElements></serviceTask>"#
    )
}

async fn deploy(server: &Server, xml: &str) -> DefinitionKey {
    let resource = DeployResource { name: "p.bpmn".into(), content: xml.as_bytes().into() };
    match server.ask(Command::Deploy(Deploy { tenant: TENANT.into(), resources: vec![resource] })).await {
        Answer::Deployed(deployed) => deployed.processes[0].definition,
        other => panic!("{other:?}"),
    }
}

async fn start(server: &Server, definition: DefinitionKey) -> InstanceKey {
    let process = ProcessRef::Key(definition);
    let create = Create { process, tenant: TENANT.into(), variables: vec![], tags: vec![], business_id: None };
    match server.ask(Command::Create(create)).await {
        Answer::Created(created) => created.instance,
        other => panic!("{other:?}"),
    }
}

async fn migrate(server: &Server, instance: InstanceKey, definition: DefinitionKey, mappings: &[(&str, &str)]) -> Answer {
    let mappings = mappings.iter().map(|(from, to)| ((*from).into(), (*to).into())).collect();
    server.ask(Command::Change { instance, change: Change::Migrate(Migrate { definition, mappings }) }).await
}

async fn modify(server: &Server, instance: InstanceKey, words: &str) -> Answer {
    let modification = Modification::from_words(words.split_whitespace(), &Vec::new(), |key| Err(key.to_owned())).unwrap();
    server.ask(Command::Change { instance, change: Change::Modify(modification) }).await
}

async fn instances(store: &Arc<dyn Store>) -> Vec<InstanceView> {
    match store.search(&Query::of(Entity::Instances, Tenants::Everything)).await.unwrap().items {
        Items::Instances(views) => views,
        _ => unreachable!("instances were asked for"),
    }
}

async fn jobs(store: &Arc<dyn Store>) -> Vec<JobView> {
    match store.search(&Query::of(Entity::Jobs, Tenants::Everything)).await.unwrap().items {
        Items::Jobs(views) => views,
        _ => unreachable!("jobs were asked for"),
    }
}

fn refused(answer: &Answer) -> Option<Code> {
    match answer {
        Answer::Rejected(rejection) => Some(rejection.code),
        _ => None,
    }
}

fn publish(key: &str) -> Command {
    let (tenant, name, correlation_key) = (TENANT.into(), "go".into(), key.into());
    Command::Publish(Publish { tenant, name, correlation_key, id: "".into(), time_to_live: 3_600_000, variables: vec![] })
}

#[tokio::test]
async fn a_job_under_way_goes_with_its_instance_and_keeps_its_headers() {
    let store = memory();
    let server = Server::start(&store).await;
    let body = format!(r#"<startEvent id="s"/>{}<endEvent id="e"/>{}"#, task("a", "old", "1"), flow(&["s", "a", "e"]));
    let old = deploy(&server, &process("old", "", &body)).await;
    let tasks = format!("{}{}", task("b", "new", "2"), task("c", "after", "3"));
    let body = format!(r#"<startEvent id="s"/>{tasks}<endEvent id="e"/>{}"#, flow(&["s", "b", "c", "e"]));
    let new = deploy(&server, &process("new", "", &body)).await;
    let instance = start(&server, old).await;
    let leased = server.poll("old", None).await;
    assert_eq!(refused(&migrate(&server, instance, DefinitionKey(5), &[("a", "b")]).await), Some(Code::NotFound));
    assert_eq!(refused(&migrate(&server, instance, new, &[("a", "s")]).await), Some(Code::InvalidState));
    assert_eq!(jobs(&store).await[0].element_id, "a", "refused, it is as it was");
    assert_eq!(migrate(&server, instance, new, &[("a", "b")]).await, Answer::Done);
    // There and back within one tick, maybe: the last one counts.
    let (back, forth) = tokio::join!(migrate(&server, instance, old, &[("b", "a")]), async {
        tokio::task::yield_now().await;
        migrate(&server, instance, new, &[("a", "b")]).await
    });
    assert_eq!((back, forth), (Answer::Done, Answer::Done));
    server.stop().await;

    let server = Server::start(&store).await;
    let job = &jobs(&store).await[0];
    assert_eq!((job.element_id.as_str(), job.definition, job.state), ("b", new, JobState::Migrated));
    assert_eq!((job.job_type.as_str(), job.headers.as_str(), job.key), ("old", r#"{"h":"1"}"#, leased[0]));
    server.ask(Command::CompleteJob { job: leased[0], variables: vec![], result: None }).await;
    let after = server.poll("after", None).await;
    assert_eq!(after.len(), 1, "it goes on in the other process");
    server.ask(Command::CompleteJob { job: after[0], variables: vec![], result: None }).await;
    let view = &instances(&store).await[0];
    assert_eq!((view.state, view.definition), (InstanceState::Completed, new));
    server.stop().await;
}

/// A lock is one of a process: what becomes an instance of another does not keep the next one from starting, then or later.
#[tokio::test]
async fn what_becomes_another_process_frees_its_message() {
    let store = memory();
    let server = Server::start(&store).await;
    let event = r#"<startEvent id="s"><messageEventDefinition messageRef="m"/></startEvent>"#;
    let body = format!(r#"{event}{}<endEvent id="e"/>{}"#, task("work", "work", ""), flow(&["s", "work", "e"]));
    let root = r#"<message id="m" name="go"/>"#;
    deploy(&server, &process("p", root, &body)).await;
    let plain = format!(r#"<startEvent id="s"/>{}<endEvent id="e"/>{}"#, task("work", "work", ""), flow(&["s", "work", "e"]));
    let other = deploy(&server, &process("q", "", &plain)).await;
    server.ask(publish("k")).await;
    server.ask(publish("k")).await;
    let first = instances(&store).await;
    assert_eq!(first.len(), 1, "the second message waits for the end of the first");
    server.stop().await;

    let server = Server::start(&store).await;
    assert_eq!(refused(&migrate(&server, first[0].key, other, &[("work", "e")]).await), Some(Code::InvalidState));
    assert_eq!(instances(&store).await.len(), 1, "a migration that is refused frees nothing");
    assert_eq!(migrate(&server, first[0].key, other, &[("work", "work")]).await, Answer::Done);
    assert_eq!(instances(&store).await.len(), 2);
    server.ask(publish("k")).await;
    assert_eq!(instances(&store).await.len(), 2, "the second has the lock now");
    let same = deploy(&server, &process("p", root, &body.replace("type=\"work\"", "type=\"later\""))).await;
    let second = instances(&store).await.iter().map(|view| view.key).max().unwrap();
    assert_eq!(migrate(&server, second, same, &[("work", "work")]).await, Answer::Done);
    assert_eq!(instances(&store).await.len(), 2, "another version of the same process keeps it");
    server.ask(Command::Cancel { instance: first[0].key }).await;
    assert_eq!(instances(&store).await.len(), 2);
    server.ask(Command::Cancel { instance: second }).await;
    assert_eq!(instances(&store).await.len(), 3, "and its end frees it");
    server.stop().await;
}

#[tokio::test]
async fn ending_a_call_activity_cancels_what_it_called_and_not_the_other_way_round() {
    let store = memory();
    let server = Server::start(&store).await;
    let call = r#"<callActivity id="call"><extensionElements><zeebe:calledElement processId="child"/></extensionElements></callActivity>"#;
    let child = format!(r#"<startEvent id="s"/>{}<endEvent id="e"/>{}"#, task("work", "work", ""), flow(&["s", "work", "e"]));
    deploy(&server, &process("child", "", &child)).await;
    let body = format!(r#"<startEvent id="s"/>{call}{}<endEvent id="e"/>{}"#, task("b", "b", ""), flow(&["s", "call", "b", "e"]));
    let parent = deploy(&server, &process("parent", "", &body)).await;
    let instance = start(&server, parent).await;
    let called = instances(&store).await.iter().find(|view| view.parent_instance == Some(instance)).unwrap().key;
    assert_eq!(refused(&modify(&server, called, "-work").await), Some(Code::InvalidArgument));
    assert_eq!(refused(&modify(&server, InstanceKey(5), "-work").await), Some(Code::NotFound));
    server.stop().await;

    let server = Server::start(&store).await;
    assert_eq!(refused(&modify(&server, instance, "call>b +nowhere").await), Some(Code::InvalidArgument));
    assert!(instances(&store).await.iter().all(|view| view.state == InstanceState::Active));
    assert_eq!(modify(&server, instance, "call>b").await, Answer::Done);
    let child = instances(&store).await.into_iter().find(|view| view.key == called).unwrap();
    assert_eq!(child.state, InstanceState::Terminated);
    assert_eq!(server.poll("work", None).await.len(), 0);
    assert_eq!(modify(&server, instance, "-b").await, Answer::Done);
    assert_eq!(refused(&modify(&server, instance, "+b").await), Some(Code::NotFound), "it has ended with its last element");
    server.stop().await;
}

/// Something has come to the one and not to the other, before and after.
#[tokio::test]
async fn a_subscription_that_migrates_is_no_correlation() {
    let store = memory();
    let server = Server::start(&store).await;
    let root = r#"<message id="m" name="go"><extensionElements><zeebe:subscription correlationKey="=&quot;k&quot;"/></extensionElements></message>"#;
    let body = |id: &str| {
        let event = r#"<boundaryEvent id="b" attachedToRef="a" cancelActivity="false"><messageEventDefinition messageRef="m"/></boundaryEvent>"#;
        let tasks = format!(r#"<startEvent id="s"/>{}{event}<endEvent id="e"/><endEvent id="f"/>"#, task("a", "work", "1"));
        process(id, root, &format!("{tasks}{}{}", flow(&["s", "a", "e"]), flow(&["b", "f"])))
    };
    let (old, new) = (deploy(&server, &body("old")).await, deploy(&server, &body("new")).await);
    let (heard, other) = (start(&server, old).await, start(&server, old).await);
    server.ask(publish("k")).await;
    let states = async || match store.search(&Query::of(Entity::MessageSubscriptions, Tenants::Everything)).await.unwrap().items {
        Items::MessageSubscriptions(views) => views.iter().map(|view| view.state.word()).collect::<Vec<_>>(),
        _ => unreachable!("subscriptions were asked for"),
    };
    let before = states().await;
    assert_eq!(before, ["CORRELATED", "CREATED"]);
    // Migrated later than it was heard.
    server.host.move_clock(ClockMove::Advance(20)).unwrap();
    for instance in [heard, other] {
        assert_eq!(migrate(&server, instance, new, &[("a", "a"), ("b", "b")]).await, Answer::Done);
    }
    assert_eq!(states().await, before);
    server.stop().await;
}
