//! What is stored but cannot be run stops alone; everything else goes on.

use std::sync::Arc;
use std::time::Duration;

use crate::server::{self, Server, TENANT, memory};
use engine::{InstanceKey, PartitionId};
use store::log::{Answer, Code, Command};
use store::{Changes, Commit, Store};

fn process(id: &str) -> String {
    format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"
  id="d" targetNamespace="t"><process id="{id}" isExecutable="true">
  <startEvent id="start"/><sequenceFlow id="a" sourceRef="start" targetRef="work"/>
  <serviceTask id="work"><extensionElements><zeebe:taskDefinition type="work"/></extensionElements></serviceTask>
  <sequenceFlow id="b" sourceRef="work" targetRef="end"/><endEvent id="end"/></process></definitions>"#
    )
}

fn created(answer: &Answer) -> InstanceKey {
    match answer {
        Answer::Created(created) => created.instance,
        other => panic!("{other:?}"),
    }
}

fn is_refused(answer: &Answer) -> bool {
    matches!(answer, Answer::Rejected(rejection) if rejection.code == Code::InvalidState)
}

/// Writes another text where the resource of that name was.
async fn overwrite(store: &Arc<dyn Store>, resource: u64, name: &str, content: &str) {
    let owner = store.acquire(PartitionId(1), "editor", Duration::from_secs(5)).await.unwrap().unwrap();
    let content: Arc<[u8]> = content.as_bytes().into();
    let row = store::row::Resource { key: resource, name: name.into(), content, tenant: TENANT.into() };
    let commit = Commit {
        fence: owner.fence,
        first_key: owner.next_key,
        log: vec![],
        inbox_to: owner.inbox_to,
        answers: vec![],
        next_key: owner.next_key + 1,
        now: owner.now,
        changes: Changes { resources_new: vec![row], ..Changes::default() },
        wake: false,
    };
    store.commit(commit).await.unwrap();
    store.release(owner.fence).await.unwrap();
}

/// Rows of instances name elements and flows by their place: obeying another order would send an instance somewhere else.
#[tokio::test(flavor = "multi_thread")]
async fn a_definition_whose_elements_are_numbered_otherwise_is_not_obeyed() {
    let flow = r#"<sequenceFlow id="b" sourceRef="work" targetRef="end"/>"#;
    let end = r#"<endEvent id="end"/>"#;
    let start = r#"<startEvent id="start"/>"#;
    let original = process("p");
    let elements = original.replace(end, "").replace(start, &format!("{end}{start}"));
    let flows = original.replace(flow, "").replace(start, &format!("{start}{flow}"));
    for other in [elements, flows] {
        let store = memory();
        let server = Server::start(&store).await;
        server.deploy(&[("p.bpmn", &original), ("good.bpmn", &process("good"))]).await;
        let instance = created(&server.create("p", &[]).await);
        let leased = server.poll("work", None).await[0];
        server.stop().await;
        let latest = store.process_named(PartitionId(1), "p", server::TENANT).await.unwrap().latest.unwrap();
        let resource = store.definition(latest.key).await.unwrap().unwrap().resource;
        overwrite(&store, resource, "p.bpmn", &other).await;

        let server = Server::start(&store).await;
        let complete = || Command::CompleteJob { job: leased, variables: vec![], result: None };
        for command in [Command::Cancel { instance }, complete(), Command::Create(server::create("p", &[]))] {
            let refused = server.ask(command).await;
            let says_so = |reason: &str| reason.contains("numbers its elements otherwise");
            assert!(is_refused(&refused), "{refused:?}");
            assert!(matches!(&refused, Answer::Rejected(rejection) if says_so(&rejection.reason)), "{refused:?}");
        }
        created(&server.create("good", &[]).await);
        server.stop().await;

        overwrite(&store, resource, "p.bpmn", &original).await;
        let server = Server::start(&store).await;
        assert_eq!(server.ask(complete()).await, Answer::Done, "nothing has happened to it meanwhile");
        server.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_definition_that_no_longer_compiles_stops_only_its_own_instances() {
    let store = memory();
    let server = Server::start(&store).await;
    for id in ["bad", "good"] {
        server.deploy(&[(&format!("{id}.bpmn"), &process(id))]).await;
    }
    let instance = created(&server.create("bad", &[]).await);
    let leased = server.poll("work", None).await[0];
    created(&server.create("bad", &[]).await);
    created(&server.create("good", &[]).await);
    server.stop().await;

    let latest = store.process_named(PartitionId(1), "bad", server::TENANT).await.unwrap().latest.unwrap();
    let resource = store.definition(latest.key).await.unwrap().unwrap().resource;
    overwrite(&store, resource, "bad.bpmn", "<nonsense/>").await;

    let server = Server::start(&store).await;
    assert!(is_refused(&server.create("bad", &[]).await));
    assert!(is_refused(&server.ask(Command::Cancel { instance }).await));
    assert!(is_refused(&server.ask(Command::CompleteJob { job: leased, variables: vec![], result: None }).await));
    let jobs = server.poll("work", Some(Duration::from_secs(5))).await;
    assert_eq!(server.ask(Command::CompleteJob { job: jobs[0], variables: vec![], result: None }).await, Answer::Done);
    created(&server.create("good", &[]).await);
    server.stop().await;

    overwrite(&store, resource, "bad.bpmn", &process("bad")).await;
    let server = Server::start(&store).await;
    assert_eq!(server.ask(Command::CompleteJob { job: leased, variables: vec![], result: None }).await, Answer::Done);
    let jobs = server.poll("work", None).await;
    assert_eq!(server.ask(Command::CompleteJob { job: jobs[0], variables: vec![], result: None }).await, Answer::Done);
    server.stop().await;
}
