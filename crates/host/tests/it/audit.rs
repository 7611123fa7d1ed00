//! The audit trail through a real host: who did what, and each thing that happened to a job once.

use std::sync::Arc;
use std::time::Duration;

use crate::server::{Server, TENANT, memory, task};
use engine::{Document, InstanceKey, JobKey};
use host::Poll;
use queue::claim::Claim;
use queue::policy::{Policy, Scope};
use store::Store;
use store::log::{
    Answer, AssignUserTask, Command, Created, FailJob, NewExecution, NewUnique, OnConflict, PutPolicy, Report, Said, Submit,
    ThrowError, UpdateJob,
};
use store::query::{AuditView, Entity, Field, Filter, Items, Op, Order, Query, Scalar, Sort, Tenants};

/// All of it, in the order in which it happened.
async fn trail(store: &Arc<dyn Store>, entity: Entity, filter: Filter) -> Vec<AuditView> {
    let by = |field| Sort { field, order: Order::Ascending };
    let query = Query { filter, sort: vec![by(Field::At), by(Field::AuditKey)], ..Query::of(entity, Tenants::Everything) };
    match store.search(&query).await.unwrap().items {
        Items::Audit(views) | Items::Operations(views) => views,
        other => panic!("{other:?}"),
    }
}

fn words(views: &[AuditView]) -> Vec<String> {
    views.iter().map(|view| format!("{} {}", view.operation.word(), view.entity.word())).collect()
}

fn all() -> Filter {
    Filter::All(vec![])
}

fn of(field: Field, key: u64) -> Filter {
    Filter::Is(field, Op::Eq(Scalar::Int(key as i64)))
}

async fn start(server: &Server) -> Created {
    match server.create("p", &[]).await {
        Answer::Created(created) => created,
        other => panic!("{other:?}"),
    }
}

async fn done(server: &Server, command: Command) {
    let answer = server.ask(command).await;
    assert!(matches!(answer, Answer::Done | Answer::VariablesSet { .. } | Answer::ResourceDeleted { .. }), "{answer:?}");
}

async fn lease(server: &Server, timeout: i64) -> JobKey {
    let poll = Poll {
        job_type: "work".into(),
        worker: "w".into(),
        timeout,
        max: 1,
        tenants: vec![TENANT.into()],
        fetch: vec![],
        wait: Some(Duration::from_secs(10)),
    };
    server.host.activate(poll).await.unwrap().take()[0].key
}

fn fail(job: JobKey, retries: i32) -> Command {
    Command::FailJob(FailJob { job, retries, message: "no paper".into(), backoff: 0, variables: vec![] })
}

fn complete(job: JobKey) -> Command {
    Command::CompleteJob { job, variables: Document::new(), result: None }
}

#[tokio::test]
async fn a_job_that_goes_well_leaves_no_row_and_is_told_all_the_same() {
    let store = memory();
    let server = Server::start(&store).await;
    server.deploy(&[("p.bpmn", &task("p", "work"))]).await;
    let instance = start(&server).await.instance;
    let job = lease(&server, 600_000).await;
    done(&server, complete(job)).await;
    let told = trail(&store, Entity::Audit, of(Field::InstanceKey, instance.0)).await;
    assert_eq!(words(&told), ["DISPATCH JOB", "COMPLETE JOB"]);
    assert!(told.iter().all(|one| one.job == Some(job) && one.worker.as_deref() == Some("w")), "{told:?}");
    assert!(told.iter().all(|one| one.job_type.as_deref() == Some("work") && one.process_id.as_deref() == Some("p")));
    // Written is what was deployed, and nothing else.
    assert_eq!(words(&trail(&store, Entity::Operations, all()).await), ["CREATE RESOURCE"]);
    server.stop().await;
}

#[tokio::test]
async fn every_try_is_told_once() {
    let store = memory();
    let server = Server::start(&store).await;
    server.deploy(&[("p.bpmn", &task("p", "work"))]).await;
    start(&server).await;
    let job = lease(&server, 600_000).await;
    done(&server, fail(job, 2)).await;
    // The next one takes too long.
    lease(&server, 1).await;
    // Which is leased again once its time is over.
    lease(&server, 600_000).await;
    let throw = ThrowError { job, code: "x".into(), message: "".into(), variables: vec![] };
    done(&server, Command::ThrowError(throw)).await;
    let told = trail(&store, Entity::Audit, of(Field::JobKey, job.0)).await;
    let tries = ["DISPATCH JOB", "FAIL JOB", "DISPATCH JOB", "TIME_OUT JOB", "DISPATCH JOB", "THROW JOB"];
    assert_eq!(words(&told), tries);
    assert_eq!(told[1].description.as_deref(), Some("no paper"));
    // A restart changes nothing of it.
    server.stop().await;
    let server = Server::start(&store).await;
    assert_eq!(trail(&store, Entity::Audit, of(Field::JobKey, job.0)).await, told);
    server.stop().await;
}

#[tokio::test]
async fn a_job_that_failed_and_then_went_well_is_told_with_its_retry() {
    let store = memory();
    let server = Server::start(&store).await;
    server.deploy(&[("p.bpmn", &task("p", "work"))]).await;
    start(&server).await;
    let job = lease(&server, 600_000).await;
    done(&server, fail(job, 0)).await;
    done(&server, Command::UpdateJob(UpdateJob { job, retries: Some(3), timeout: None })).await;
    let Items::Incidents(incidents) = store.search(&Query::of(Entity::Incidents, Tenants::Everything)).await.unwrap().items
    else {
        panic!("incidents were asked for");
    };
    done(&server, Command::ResolveIncident { incident: incidents[0].key }).await;
    lease(&server, 600_000).await;
    // A longer lease is nothing anybody did.
    done(&server, Command::UpdateJob(UpdateJob { job, retries: None, timeout: Some(900_000) })).await;
    done(&server, complete(job)).await;
    let told = trail(&store, Entity::Audit, of(Field::InstanceKey, incidents[0].instance.0)).await;
    let expected =
        ["DISPATCH JOB", "FAIL JOB", "UPDATE JOB", "RESOLVE INCIDENT", "DISPATCH JOB", "COMPLETE JOB"].map(str::to_owned);
    let (mut found, mut expected) = (words(&told), expected.to_vec());
    // Within one millisecond they may be in any order but that of their keys.
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    server.stop().await;
}

#[tokio::test]
async fn what_an_execution_goes_through_is_told() {
    let store = memory();
    let server = Server::start(&store).await;
    let unique = NewUnique { key: "once".into(), window: None, on_conflict: OnConflict::Replace };
    let new = NewExecution { input: vec![], priority: 0, retries: 1, run_at: None, unique: Some(unique), group: vec![] };
    let submit = || Command::Submit(Submit { tenant: TENANT.into(), action: "work".into(), executions: vec![new.clone()] });
    let keys = |answer| match answer {
        Answer::Submitted(submitted) => submitted.executions[0].job,
        other => panic!("{other:?}"),
    };
    let replaced = keys(server.ask(submit()).await);
    let job = keys(server.ask(submit()).await);
    assert_eq!(words(&trail(&store, Entity::Audit, of(Field::JobKey, replaced.0)).await), ["CANCEL JOB"]);
    assert_eq!(lease(&server, 600_000).await, job);
    done(&server, fail(job, 0)).await;
    done(&server, Command::RetryExecution { job, retries: 1 }).await;
    lease(&server, 600_000).await;
    let completed = server.ask(Command::CompleteExecutions { jobs: vec![(job, vec![])] }).await;
    assert!(matches!(&completed, Answer::CompletedExecutions(done) if done.refused.is_empty()), "{completed:?}");
    let mut found = words(&trail(&store, Entity::Audit, of(Field::JobKey, job.0)).await);
    found.sort();
    assert_eq!(found, ["COMPLETE JOB", "DISPATCH JOB", "DISPATCH JOB", "FAIL JOB", "RETRY JOB"]);
    server.stop().await;
}

#[tokio::test]
async fn a_job_that_goes_with_its_instance_is_told() {
    let store = memory();
    let server = Server::start(&store).await;
    server.deploy(&[("p.bpmn", &task("p", "work"))]).await;
    let running = start(&server).await.instance;
    let job = lease(&server, 600_000).await;
    let waiting = start(&server).await.instance;
    for instance in [running, waiting] {
        done(&server, Command::Cancel { instance }).await;
    }
    let of_instance = async |instance: InstanceKey| {
        let mut found = words(&trail(&store, Entity::Audit, of(Field::InstanceKey, instance.0)).await);
        found.sort();
        found
    };
    assert_eq!(of_instance(running).await, ["CANCEL JOB", "CANCEL PROCESS_INSTANCE", "DISPATCH JOB"]);
    assert_eq!(of_instance(waiting).await, ["CANCEL JOB", "CANCEL PROCESS_INSTANCE"]);
    assert_eq!(words(&trail(&store, Entity::Audit, of(Field::JobKey, job.0)).await), ["DISPATCH JOB", "CANCEL JOB"]);
    server.stop().await;
}

#[tokio::test]
async fn what_a_worker_gives_back_is_told() {
    let store = memory();
    let server = Server::start(&store).await;
    server.deploy(&[("p.bpmn", &task("p", "work"))]).await;
    start(&server).await;
    let claim = Claim { worker: Some("w".into()), lease: None };
    for said in [Said::Returned, Said::Snoozed { delay: 0 }] {
        let job = lease(&server, 600_000).await;
        let reports = vec![Report { job, claim: claim.clone(), said }];
        let answer = server.ask(Command::Report { reports }).await;
        assert!(matches!(answer, Answer::Reported(_)), "{answer:?}");
    }
    let job = lease(&server, 600_000).await;
    done(&server, complete(job)).await;
    let told = trail(&store, Entity::Audit, of(Field::JobKey, job.0)).await;
    let mut found = words(&told);
    found.sort();
    assert_eq!(found, ["COMPLETE JOB", "DISPATCH JOB", "DISPATCH JOB", "DISPATCH JOB", "RELEASE JOB", "RELEASE JOB"]);
    assert!(told.iter().all(|one| one.worker.as_deref() == Some("w")), "{told:?}");
    server.stop().await;
}

#[tokio::test]
async fn what_is_done_to_the_policies_of_an_action_is_found_by_it() {
    let store = memory();
    let server = Server::start(&store).await;
    let (reference, policy) = host::pause(&"work".into());
    done(&server, Command::PutPolicy(PutPolicy { reference: reference.clone(), policy: Box::new(policy) })).await;
    done(&server, Command::DeletePolicy { reference }).await;
    let of_action = Filter::Is(Field::JobType, Op::Eq(Scalar::Text("work".into())));
    let mut found = words(&trail(&store, Entity::Audit, of_action).await);
    found.sort();
    assert_eq!(found, ["CREATE POLICY", "DELETE POLICY"]);
    server.stop().await;
}

#[tokio::test]
async fn what_people_do_is_told_with_who_did_it() {
    let store = memory();
    let server = Server::start(&store).await;
    let user = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="t">
      <process id="p" isExecutable="true"><startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="t"/>
      <userTask id="t"><extensionElements><zeebe:userTask/></extensionElements></userTask></process></definitions>"#;
    server.deploy(&[("p.bpmn", user)]).await;
    let created = start(&server).await;
    let scope = created.instance.root();
    let variables: Document = vec![("a".into(), "1".into()), ("b".into(), "2".into())];
    done(&server, Command::SetVariables { scope, variables, local: true }).await;
    let Items::UserTasks(tasks) = store.search(&Query::of(Entity::UserTasks, Tenants::Everything)).await.unwrap().items else {
        panic!("user tasks were asked for");
    };
    let task = tasks[0].key;
    let assign = AssignUserTask { task, assignee: "ann".into(), overrides: true, action: "".into() };
    done(&server, Command::AssignUserTask(assign)).await;
    done(&server, Command::CompleteUserTask { task, variables: vec![], action: "".into() }).await;
    let InstanceKey(other) = start(&server).await.instance;
    done(&server, Command::Cancel { instance: InstanceKey(other) }).await;
    done(&server, Command::DeleteInstance { instance: InstanceKey(other) }).await;
    let policy = Policy { paused: true, ..Policy::new(Scope::Global) };
    done(&server, Command::PutPolicy(PutPolicy { reference: "all".into(), policy: Box::new(policy.clone()) })).await;
    done(&server, Command::PutPolicy(PutPolicy { reference: "all".into(), policy: Box::new(policy) })).await;
    done(&server, Command::DeletePolicy { reference: "all".into() }).await;
    done(&server, Command::DeleteResource { key: created.definition.0 }).await;
    let mut told = trail(&store, Entity::Operations, all()).await;
    told.sort_by_key(|one| one.key);
    let expected = [
        "CREATE RESOURCE",
        "CREATE VARIABLE",
        "CREATE VARIABLE",
        "ASSIGN USER_TASK",
        "COMPLETE USER_TASK",
        "CANCEL PROCESS_INSTANCE",
        "DELETE PROCESS_INSTANCE",
        "CREATE POLICY",
        "UPDATE POLICY",
        "DELETE POLICY",
        "DELETE RESOURCE",
    ];
    assert_eq!(words(&told), expected);
    assert!(told.iter().all(|one| one.actor.as_deref() == Some("test") && one.tenant == TENANT), "{told:?}");
    assert_eq!(told[1].description.as_deref(), Some("a"));
    assert_eq!((told[3].user_task, told[3].instance, told[3].root), (Some(task), Some(created.instance), Some(created.instance)));
    // What is refused leaves nothing.
    assert!(matches!(server.ask(Command::Cancel { instance: InstanceKey(other) }).await, Answer::Rejected(_)));
    assert_eq!(trail(&store, Entity::Operations, all()).await.len(), expected.len());
    server.stop().await;
}
