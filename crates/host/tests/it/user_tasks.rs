//! Tasks for people through a real host on the memory store, also across a restart.

use std::sync::Arc;

use crate::server::{Server, TENANT, memory};
use engine::{FormKey, IncidentKey, InstanceKey, UserTaskKey};
use host::Error;
use store::Store;
use store::log::{
    Answer, AssignUserTask, Caller, Code, Command, Created, Deploy, DeployResource, Deployed, Request, UpdateUserTask,
};
use store::query::{Entity, Field, Filter, Items, Op, Query, Scalar, Tenants, UserTaskView};
use store::row::UserTaskState;

fn process(body: &str) -> String {
    format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="t">
  <process id="p" isExecutable="true"><startEvent id="s"/>{body}</process></definitions>"#
    )
}

fn user(id: &str, more: &str) -> String {
    format!(
        r#"<userTask id="{id}"><extensionElements><zeebe:userTask/>{more}</extensionElements></userTask><sequenceFlow id="to-{id}" sourceRef="s" targetRef="{id}"/>"#
    )
}

async fn tasks(store: &Arc<dyn Store>) -> Vec<UserTaskView> {
    let query = Query::of(Entity::UserTasks, Tenants::These(vec![TENANT.into()]));
    match store.search(&query).await.unwrap().items {
        Items::UserTasks(views) => views,
        _ => unreachable!("user tasks were asked for"),
    }
}

async fn only_task(store: &Arc<dyn Store>) -> UserTaskView {
    let mut all = tasks(store).await;
    assert_eq!(all.len(), 1);
    all.remove(0)
}

async fn incident(store: &Arc<dyn Store>) -> Option<(IncidentKey, String)> {
    let active = Filter::Is(Field::IncidentState, Op::Eq(Scalar::Text("ACTIVE".into())));
    let query = Query { filter: active, ..Query::of(Entity::Incidents, Tenants::Everything) };
    match store.search(&query).await.unwrap().items {
        Items::Incidents(views) => views.first().map(|view| (view.key, format!("{:?}: {}", view.kind, view.message))),
        _ => unreachable!("incidents were asked for"),
    }
}

async fn is_active(store: &Arc<dyn Store>, key: InstanceKey) -> bool {
    let filter = Filter::Is(Field::InstanceKey, Op::Eq(Scalar::Int(key.0 as i64)));
    match store.search(&Query { filter, ..Query::of(Entity::Instances, Tenants::Everything) }).await.unwrap().items {
        Items::Instances(views) => views[0].ended.is_none(),
        _ => unreachable!("instances were asked for"),
    }
}

async fn start(server: &Server, variables: &[(&str, &str)]) -> Created {
    match server.create("p", variables).await {
        Answer::Created(created) => created,
        other => panic!("{other:?}"),
    }
}

fn assign(task: UserTaskKey, assignee: &str, overrides: bool) -> Command {
    Command::AssignUserTask(AssignUserTask { task, assignee: assignee.into(), overrides, action: "".into() })
}

fn complete(task: UserTaskKey, variables: &[(&str, &str)]) -> Command {
    let variables = variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    Command::CompleteUserTask { task, variables, action: "".into() }
}

fn update(task: UserTaskKey) -> UpdateUserTask {
    let (candidate_groups, candidate_users) = (None, None);
    UpdateUserTask { task, candidate_groups, candidate_users, due: None, follow_up: None, priority: None, action: "".into() }
}

fn refused(answer: &Answer) -> Code {
    match answer {
        Answer::Rejected(rejection) => rejection.code,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_task_is_claimed_changed_and_done_by_whoever_serves() {
    let store = memory();
    let server = Server::start(&store).await;
    let more = r#"<zeebe:assignmentDefinition candidateGroups="=groups"/><zeebe:priorityDefinition priority="=prio"/>"#;
    server.deploy(&[("p.bpmn", &process(&user("ask", more)))]).await;
    let created = start(&server, &[("groups", r#"["hr"]"#), ("prio", "70")]).await;
    let task = only_task(&store).await;
    assert_eq!((task.state, task.priority, &task.candidate_groups[..]), (UserTaskState::Created, 70, &["hr".to_owned()][..]));
    assert_eq!(server.ask(assign(task.key, "ann", false)).await, Answer::Done);
    assert_eq!(server.ask(assign(task.key, "ann", false)).await, Answer::Done, "who has it may claim it again");
    assert_eq!(refused(&server.ask(assign(task.key, "bob", false)).await), Code::InvalidState);
    server.stop().await;

    // Another server finds the task in the tables.
    let server = Server::start(&store).await;
    assert_eq!(refused(&server.ask(assign(task.key, "bob", false)).await), Code::InvalidState);
    assert_eq!(server.ask(assign(task.key, "bob", true)).await, Answer::Done);
    assert_eq!(server.ask(Command::UnassignUserTask { task: task.key, action: "".into() }).await, Answer::Done);
    let changes = UpdateUserTask {
        candidate_groups: Some(vec!["ops".into()]),
        due: Some(Some(5)),
        follow_up: Some(None),
        priority: Some(0),
        ..update(task.key)
    };
    assert_eq!(server.ask(Command::UpdateUserTask(changes)).await, Answer::Done);
    assert_eq!(server.ask(Command::UpdateUserTask(update(task.key))).await, Answer::Done, "nothing is to change");
    let changed = only_task(&store).await;
    assert_eq!((changed.assignee, changed.due, changed.follow_up, changed.priority), (None, Some(5), None, 0));
    assert_eq!(changed.candidate_groups, ["ops"]);
    server.stop().await;

    let server = Server::start(&store).await;
    assert_eq!(server.ask(complete(task.key, &[("ok", "true")])).await, Answer::Done);
    assert!(!is_active(&store, created.instance).await);
    let done = only_task(&store).await;
    assert!(done.state == UserTaskState::Completed && done.ended.is_some());
    for again in [complete(task.key, &[]), assign(task.key, "ann", true), Command::UpdateUserTask(update(task.key))] {
        assert_eq!(refused(&server.ask(again).await), Code::NotFound);
    }
    server.stop().await;
}

#[tokio::test]
async fn tasks_go_with_their_instance() {
    let store = memory();
    let server = Server::start(&store).await;
    let many: String = (0..20).map(|n| user(&format!("ask{n}"), "")).collect();
    server.deploy(&[("p.bpmn", &process(&many))]).await;
    let created = start(&server, &[]).await;
    let open = tasks(&store).await;
    assert_eq!(open.len(), 20);
    server.stop().await;

    let server = Server::start(&store).await;
    assert_eq!(server.ask(complete(open[3].key, &[])).await, Answer::Done);
    assert_eq!(server.ask(Command::Cancel { instance: created.instance }).await, Answer::Done);
    let states: Vec<_> = tasks(&store).await.into_iter().map(|task| (task.state, task.ended.is_some())).collect();
    assert_eq!(states.iter().filter(|state| **state == (UserTaskState::Cancelled, true)).count(), 19);
    assert_eq!(states[3], (UserTaskState::Completed, true));
    assert_eq!(refused(&server.ask(complete(open[4].key, &[])).await), Code::NotFound);
    server.stop().await;
}

#[tokio::test]
async fn a_task_of_another_tenant_is_not_there() {
    let store = memory();
    let server = Server::start(&store).await;
    server.deploy(&[("p.bpmn", &process(&user("ask", "")))]).await;
    start(&server, &[]).await;
    let task = only_task(&store).await.key;
    let caller = Caller { name: "".into(), tenants: Tenants::These(vec!["other".into()]), trace: None };
    for command in [assign(task, "ann", true), complete(task, &[]), Command::UpdateUserTask(update(task))] {
        let answer = server.host.submit(Request { caller: caller.clone(), command, idempotency: None }).await;
        assert!(matches!(&answer, Err(Error::Rejected(rejection)) if rejection.code == Code::NotFound), "{answer:?}");
    }
    server.stop().await;
}

async fn deploy(server: &Server, files: &[(&str, &str)]) -> Deployed {
    let resource = |(name, text): &(&str, &str)| DeployResource { name: (*name).into(), content: text.as_bytes().into() };
    let resources = files.iter().map(resource).collect();
    match server.ask(Command::Deploy(Deploy { tenant: TENANT.into(), resources })).await {
        Answer::Deployed(deployed) => deployed,
        other => panic!("{other:?}"),
    }
}

fn form(version: u32, tag: &str) -> String {
    format!(r#"{{"id": "ask", "versionTag": "{tag}", "components": [], "n": {version}}}"#)
}

/// The forms of all tasks, as they came.
async fn forms(store: &Arc<dyn Store>) -> Vec<Option<FormKey>> {
    tasks(store).await.into_iter().map(|task| task.form).collect()
}

#[tokio::test]
async fn a_task_gets_the_form_it_is_bound_to() {
    let store = memory();
    let server = Server::start(&store).await;
    let bound = |id: &str, binding: &str| user(id, &format!(r#"<zeebe:formDefinition formId="ask" {binding}/>"#));
    let tagged = bound("tagged", r#"bindingType="versionTag" versionTag="old""#);
    let all = process(&format!("{tagged}{}{}", bound("together", r#"bindingType="deployment""#), bound("latest", "")));
    let together = deploy(&server, &[("ask.form", &form(1, "old")), ("p.bpmn", &all)]).await;
    let first = together.forms[0].clone();
    assert_eq!((&*first.id, first.version, &*first.resource_name), ("ask", 1, "ask.form"));
    let second = deploy(&server, &[("ask.form", &form(2, ""))]).await.forms.remove(0);
    let again = deploy(&server, &[("ask.form", &form(2, ""))]).await.forms.remove(0);
    assert_eq!((second.version, &again), (2, &second), "the same content is the same version");
    start(&server, &[]).await;
    // Flows are taken from the last to the first.
    assert_eq!(forms(&store).await, [Some(second.key), Some(first.key), Some(first.key)]);
    server.stop().await;

    // Without a version the latest is the one before, and its number is not given again.
    let server = Server::start(&store).await;
    let delete = Command::DeleteResource { key: second.key.0 };
    assert_eq!(server.ask(delete.clone()).await, Answer::ResourceDeleted { key: second.key.0 });
    assert_eq!(refused(&server.ask(delete).await), Code::NotFound);
    start(&server, &[]).await;
    assert_eq!(forms(&store).await[3..], [Some(first.key); 3]);
    assert_eq!(deploy(&server, &[("ask.form", &form(2, ""))]).await.forms[0].version, 3);
    server.stop().await;
}

#[tokio::test]
async fn without_its_form_a_task_is_stuck_until_there_is_one() {
    let store = memory();
    let server = Server::start(&store).await;
    let body = user("ask", r#"<zeebe:formDefinition formId="=which"/>"#);
    server.deploy(&[("p.bpmn", &process(&body))]).await;
    start(&server, &[("which", "\"ask\"")]).await;
    let (key, message) = incident(&store).await.unwrap();
    assert!(message.starts_with("FormNotFound") && message.contains("'ask'"), "{message}");
    assert_eq!(tasks(&store).await, []);
    let form = deploy(&server, &[("ask.form", &form(1, ""))]).await.forms[0].key;
    assert_eq!(server.ask(Command::ResolveIncident { incident: key }).await, Answer::Done);
    assert_eq!(only_task(&store).await.form, Some(form));
    server.stop().await;
}

#[tokio::test]
async fn a_form_bound_to_its_deployment_must_be_in_it() {
    let store = memory();
    let server = Server::start(&store).await;
    let body = user("ask", r#"<zeebe:formDefinition formId="ask" bindingType="deployment"/>"#);
    let resource = DeployResource { name: "p.bpmn".into(), content: process(&body).into_bytes().into() };
    let deployed = server.ask(Command::Deploy(Deploy { tenant: TENANT.into(), resources: vec![resource] })).await;
    assert!(matches!(&deployed, Answer::Rejected(rejection) if rejection.reason.contains("'ask'")), "{deployed:?}");
    server.stop().await;
}

#[tokio::test]
async fn the_worker_of_a_task_gets_the_key_of_its_form() {
    let store = memory();
    let server = Server::start(&store).await;
    let task = r#"<userTask id="t"><extensionElements><zeebe:formDefinition formId="ask"/><zeebe:assignmentDefinition assignee="ann"/></extensionElements></userTask><sequenceFlow id="f" sourceRef="s" targetRef="t"/>"#;
    server.deploy(&[("p.bpmn", &process(task))]).await;
    start(&server, &[]).await;
    let (key, reason) = incident(&store).await.expect("there is no form yet");
    assert!(reason.starts_with("FormNotFound: "), "{reason}");
    server.deploy(&[("ask.form", r#"{"id": "ask"}"#)]).await;
    assert_eq!(server.ask(Command::ResolveIncident { incident: key }).await, Answer::Done);
    let Items::Jobs(jobs) = store.search(&Query::of(Entity::Jobs, Tenants::Everything)).await.unwrap().items else {
        unreachable!("jobs were asked for");
    };
    let form = store.forms_named(engine::PartitionId(1), "ask", TENANT).await.unwrap()[0].key;
    assert!(jobs[0].headers.contains(&format!("\"io.camunda.zeebe:formKey\":\"{form}\"")), "{}", jobs[0].headers);
    assert!(jobs[0].headers.contains("\"io.camunda.zeebe:assignee\":\"ann\""), "{}", jobs[0].headers);
    server.stop().await;
}
