//! What happens to user tasks while others listen, through a real host: who asked is answered when all were heard.

use std::sync::Arc;
use std::time::Duration;

use crate::server::{Server, TENANT, caller, memory};
use engine::{JobKey, UserTaskKey};
use host::{Error, Limits, Poll, Role};
use store::Store;
use store::log::{
    ActivatedJob, Answer, AssignUserTask, Code, Command, Corrections, JobResult, Request, TaskResult, UpdateUserTask,
};
use store::query::{Entity, Field, Filter, Items, JobView, Op, Query, Scalar, Tenants, UserTaskView, VariableView};
use store::row::{JobState, UserTaskState};

const PATIENCE: Duration = Duration::from_secs(10);

fn process(listeners: &str) -> String {
    format!("p: process\nstart: start -> ask\nask: user -> end\n    header mine = too\n{listeners}\nend: end\n")
}

async fn started(store: &Arc<dyn Store>, listeners: &str) -> Server {
    let server = Server::start(store).await;
    server.deploy(&[("p.notation", &process(listeners))]).await;
    assert!(matches!(server.create("p", &[]).await, Answer::Created(_)));
    server
}

async fn search(store: &Arc<dyn Store>, entity: Entity, filter: Filter) -> Items {
    store.search(&Query { filter, ..Query::of(entity, Tenants::Everything) }).await.unwrap().items
}

async fn task(store: &Arc<dyn Store>) -> UserTaskView {
    match search(store, Entity::UserTasks, Filter::All(vec![])).await {
        Items::UserTasks(mut views) if views.len() == 1 => views.remove(0),
        other => panic!("{other:?}"),
    }
}

async fn jobs(store: &Arc<dyn Store>) -> Vec<JobView> {
    match search(store, Entity::Jobs, Filter::All(vec![])).await {
        Items::Jobs(views) => views,
        other => panic!("{other:?}"),
    }
}

async fn variables(store: &Arc<dyn Store>) -> Vec<VariableView> {
    match search(store, Entity::Variables, Filter::All(vec![])).await {
        Items::Variables(views) => views,
        other => panic!("{other:?}"),
    }
}

/// The one job of this type, which comes.
async fn heard(server: &Server, job_type: &str) -> ActivatedJob {
    let poll = Poll {
        job_type: job_type.into(),
        worker: "w".into(),
        timeout: 600_000,
        max: 1,
        tenants: vec![TENANT.into()],
        fetch: vec![],
        wait: Some(PATIENCE),
    };
    let mut jobs = server.host.activate(poll).await.unwrap().take();
    assert_eq!(jobs.len(), 1, "{job_type}");
    jobs.remove(0)
}

fn says(job: JobKey, result: TaskResult) -> Command {
    Command::CompleteJob { job, variables: vec![], result: Some(Box::new(JobResult::UserTask(result))) }
}

fn agrees(job: JobKey) -> Command {
    Command::CompleteJob { job, variables: vec![], result: None }
}

fn denial(reason: &str) -> TaskResult {
    TaskResult { denied: Some(reason.into()), ..TaskResult::default() }
}

fn correction(corrections: Corrections) -> TaskResult {
    TaskResult { denied: None, corrections }
}

fn complete(task: UserTaskKey) -> Command {
    Command::CompleteUserTask { task, variables: vec![("ok".into(), "true".into())], action: "".into() }
}

fn assign(task: UserTaskKey, assignee: &str) -> Command {
    Command::AssignUserTask(AssignUserTask { task, assignee: assignee.into(), overrides: true, action: "hand".into() })
}

fn update(task: UserTaskKey, priority: i32) -> Command {
    let (candidate_groups, candidate_users, action) = (None, None, "".into());
    let priority = Some(priority);
    Command::UpdateUserTask(UpdateUserTask {
        task,
        candidate_groups,
        candidate_users,
        due: None,
        follow_up: None,
        priority,
        action,
    })
}

fn refusal(answer: &Answer) -> (Code, &str) {
    match answer {
        Answer::Rejected(rejection) => (rejection.code, &rejection.reason),
        other => panic!("{other:?}"),
    }
}

/// Asks in the background; the answer comes when it comes.
fn asking(server: &Server, command: Command) -> tokio::task::JoinHandle<Result<Answer, Error>> {
    let host = server.host.clone();
    tokio::spawn(async move { host.submit(Request { caller: caller(), command, idempotency: None }).await })
}

#[tokio::test]
async fn who_asks_is_answered_when_all_were_heard() {
    let store = memory();
    let server = started(&store, "    listen completing first\n    listen completing second").await;
    let key = task(&store).await.key;
    let asked = asking(&server, complete(key));
    let first = heard(&server, "first").await;
    assert_eq!(first.variables, r#"{"ok":true}"#, "it sees what was given");
    assert!(variables(&store).await.iter().all(|variable| variable.name != "ok"), "nobody else does");
    assert_eq!(task(&store).await.state, UserTaskState::Completing);
    assert_eq!(refusal(&server.ask(assign(key, "ann")).await).0, Code::InvalidState);
    assert_eq!(server.ask(agrees(first.key)).await, Answer::Done);
    let second = heard(&server, "second").await;
    assert!(!asked.is_finished());
    assert_eq!(server.ask(agrees(second.key)).await, Answer::Done);
    assert_eq!(asked.await.unwrap().unwrap(), Answer::Done);
    assert_eq!(task(&store).await.state, UserTaskState::Completed);
    assert_eq!(variables(&store).await.iter().filter(|variable| variable.name == "ok").count(), 1);
    server.stop().await;
}

#[tokio::test]
async fn a_denial_is_told_and_nothing_has_happened() {
    let store = memory();
    let server = started(&store, "    listen updating first\n    listen updating second").await;
    let before = task(&store).await;
    let asked = asking(&server, update(before.key, 7));
    let first = heard(&server, "first").await;
    assert!(first.headers.contains(r#""io.camunda.zeebe:changedAttributes":"[\"priority\"]""#), "{}", first.headers);
    assert!(first.headers.starts_with(r#"{"mine":"too","io.camunda.zeebe:userTaskKey""#), "{}", first.headers);
    let groups = Corrections { candidate_groups: Some(vec!["hr".into()]), priority: Some(50), ..Corrections::default() };
    assert_eq!(server.ask(says(first.key, correction(groups))).await, Answer::Done);
    let second = heard(&server, "second").await;
    // The priority is what it was: it is not changed any more.
    assert!(second.headers.contains(r#""io.camunda.zeebe:changedAttributes":"[\"candidateGroups\"]""#), "{}", second.headers);
    let both = TaskResult { denied: Some("no".into()), corrections: Corrections { priority: Some(1), ..Corrections::default() } };
    assert_eq!(refusal(&server.ask(says(second.key, both)).await).0, Code::InvalidArgument);
    let with_variables = Command::CompleteJob { job: second.key, variables: vec![("x".into(), "1".into())], result: None };
    assert_eq!(refusal(&server.ask(with_variables).await).0, Code::InvalidArgument);
    assert_eq!(server.ask(says(second.key, denial("not now"))).await, Answer::Done);
    let refused = asked.await.unwrap();
    assert!(
        matches!(&refused, Err(Error::Rejected(told)) if told.code == Code::InvalidState && told.reason.contains("'not now'")),
        "{refused:?}"
    );
    assert_eq!(task(&store).await, before);
    let told: Vec<_> = jobs(&store).await.iter().map(|job| (job.state, job.denied.clone())).collect();
    assert_eq!(told, [(JobState::Completed, None), (JobState::Completed, Some("not now".to_owned()))]);
    // Another time they agree.
    let asked = asking(&server, update(before.key, 7));
    for job_type in ["first", "second"] {
        let job = heard(&server, job_type).await.key;
        assert_eq!(server.ask(agrees(job)).await, Answer::Done);
    }
    assert_eq!(asked.await.unwrap().unwrap(), Answer::Done);
    assert_eq!(task(&store).await.priority, 7);
    server.stop().await;
}

#[tokio::test]
async fn who_stops_waiting_changes_nothing() {
    let store = memory();
    started(&store, "    listen completing slow").await.stop().await;
    let impatient = Limits { answer_timeout: Duration::from_millis(50), ..Limits::default() };
    let server = Server::join(&store, "impatient", Role::Engine, impatient);
    server.owning().await;
    let key = task(&store).await.key;
    let asked = server.host.submit(Request { caller: caller(), command: complete(key), idempotency: None }).await;
    assert!(matches!(asked, Err(Error::Timeout)), "{asked:?}");
    server.stop().await;

    // What was asked for lives in the store.
    let server = Server::start(&store).await;
    let job = heard(&server, "slow").await;
    assert_eq!(job.variables, r#"{"ok":true}"#);
    assert_eq!(server.ask(agrees(job.key)).await, Answer::Done);
    assert_eq!(task(&store).await.state, UserTaskState::Completed);
    server.stop().await;
}

#[tokio::test]
async fn a_server_that_follows_is_told_too() {
    let store = memory();
    let owner = started(&store, "    listen assigning give").await;
    let follower = Server::join(&store, "follower", Role::Follower, Limits::default());
    let key = task(&store).await.key;
    let asked = asking(&follower, assign(key, "ann"));
    let job = heard(&owner, "give").await;
    assert_eq!(owner.ask(says(job.key, denial("busy"))).await, Answer::Done);
    let refused = asked.await.unwrap();
    assert!(matches!(&refused, Err(Error::Rejected(told)) if told.reason.contains("'busy'")), "{refused:?}");
    follower.stop().await;
    owner.stop().await;
}

#[tokio::test]
async fn a_task_is_created_and_then_assigned() {
    let store = memory();
    let server = started(&store, "    assignee ann\n    listen creating make\n    listen assigning give").await;
    let new = task(&store).await;
    assert_eq!((new.state, new.assignee), (UserTaskState::Creating, None));
    let make = heard(&server, "make").await;
    assert!(make.headers.contains(r#""io.camunda.zeebe:assignee":"ann""#), "{}", make.headers);
    let other = Corrections { assignee: Some(Some("eve".into())), ..Corrections::default() };
    assert_eq!(refusal(&server.ask(says(make.key, correction(other.clone()))).await).0, Code::InvalidArgument);
    assert_eq!(refusal(&server.ask(says(make.key, denial("no"))).await).0, Code::InvalidArgument);
    assert_eq!(server.ask(agrees(make.key)).await, Answer::Done);
    let created = task(&store).await;
    assert_eq!((created.state, created.assignee), (UserTaskState::Assigning, None));
    server.stop().await;

    let server = Server::start(&store).await;
    let give = heard(&server, "give").await;
    assert!(give.headers.contains(r#""io.camunda.zeebe:changedAttributes":"[\"assignee\"]""#), "{}", give.headers);
    assert_eq!(server.ask(says(give.key, correction(other))).await, Answer::Done);
    let assigned = task(&store).await;
    assert_eq!((assigned.state, assigned.assignee.as_deref()), (UserTaskState::Created, Some("eve")));
    server.stop().await;
}

#[tokio::test]
async fn a_creating_listener_may_name_the_assignee() {
    let store = memory();
    let server = started(&store, "    listen creating make").await;
    let make = heard(&server, "make").await;
    let eve = Corrections { assignee: Some(Some("eve".into())), due: Some(Some(5)), ..Corrections::default() };
    assert_eq!(server.ask(says(make.key, correction(eve))).await, Answer::Done);
    let created = task(&store).await;
    assert_eq!((created.state, created.assignee.as_deref(), created.due), (UserTaskState::Created, Some("eve"), Some(5)));
    server.stop().await;
}

#[tokio::test]
async fn setting_variables_of_a_task_is_an_update() {
    let store = memory();
    let server = started(&store, "    listen updating change").await;
    let scope = task(&store).await.element_instance;
    let set = |local| Command::SetVariables { scope, variables: vec![("v".into(), "1".into())], local };
    let asked = asking(&server, set(true));
    let job = heard(&server, "change").await;
    assert!(job.headers.contains(r#""io.camunda.zeebe:changedAttributes":"[\"variables\"]""#), "{}", job.headers);
    assert_eq!(server.ask(says(job.key, denial("no"))).await, Answer::Done);
    assert!(matches!(asked.await.unwrap(), Err(Error::Rejected(_))));
    assert_eq!(variables(&store).await, []);
    let asked = asking(&server, set(true));
    let job = heard(&server, "change").await.key;
    assert_eq!(server.ask(agrees(job)).await, Answer::Done);
    assert!(matches!(asked.await.unwrap().unwrap(), Answer::VariablesSet { .. }));
    let found: Vec<_> = variables(&store).await.into_iter().map(|variable| (variable.name, variable.scope)).collect();
    assert_eq!(found, [("v".to_owned(), scope)]);
    server.stop().await;
}

/// The one who asked is told that the task has gone.
#[tokio::test]
async fn a_task_that_goes_ends_what_was_happening_to_it() {
    let store = memory();
    let server = started(&store, "    listen completing finish\n    listen canceling gone").await;
    let (key, instance) = (task(&store).await.key, task(&store).await.instance);
    let asked = asking(&server, complete(key));
    heard(&server, "finish").await;
    assert_eq!(server.ask(Command::Cancel { instance }).await, Answer::Done);
    assert!(matches!(asked.await.unwrap(), Err(Error::Rejected(told)) if told.code == Code::NotFound));
    assert_eq!(task(&store).await.state, UserTaskState::Canceling);
    assert_eq!(refusal(&server.ask(Command::Cancel { instance }).await).0, Code::NotFound);
    let active = Filter::Is(Field::InstanceState, Op::Eq(Scalar::Text("ACTIVE".into())));
    assert!(matches!(search(&store, Entity::Instances, active.clone()).await, Items::Instances(views) if views.len() == 1));
    server.stop().await;

    let server = Server::start(&store).await;
    let gone = heard(&server, "gone").await;
    assert_eq!(gone.variables, "{}", "what came with the completion has gone with it");
    assert_eq!(server.ask(agrees(gone.key)).await, Answer::Done);
    assert_eq!(task(&store).await.state, UserTaskState::Cancelled);
    assert!(matches!(search(&store, Entity::Instances, active).await, Items::Instances(views) if views.is_empty()));
    server.stop().await;
}
