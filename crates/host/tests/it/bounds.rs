//! Nothing runs away and nobody holds up the others: long steps, large commands, streams with a backlog, rows that cannot be read.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::server::layer::{Fate, Layer};
use crate::server::{self, Server, TENANT, caller, clocked, create, memory, plain_tasks, task};
use engine::{InstanceKey, JobKey};
use host::{Definitions, Error, Limits, Metrics, Parts, Role, Subscription, prepare};
use store::log::{Answer, Code, Command, EvaluateConditions, Request};
use store::query::{Entity, Items, Query, Tenants};
use store::row::InstanceState;
use store::{Broken, Store};

fn key(answer: &Answer) -> InstanceKey {
    match answer {
        Answer::Created(created) => created.instance,
        other => panic!("{other:?}"),
    }
}

fn subscription(job_type: &str) -> Subscription {
    Subscription { job_type: job_type.into(), worker: "w".into(), timeout: 600_000, tenants: vec![TENANT.into()], fetch: vec![] }
}

/// Before, such a step was done in one go, and a server lost its lease over it again and again.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_step_goes_on_in_turns_and_others_are_served_in_between() {
    let commits = Arc::new(Mutex::new(Vec::new()));
    let seen = commits.clone();
    let layer = Layer::over(clocked()).on_commit(move |commit| {
        seen.lock().unwrap().push(commit.log.iter().map(|row| (row.kind, row.instance)).collect::<Vec<_>>());
        Fate::Late(Duration::from_millis(1))
    });
    let store = layer.shared();
    let limits = Limits { command_elements_max: 20, batch_max: 4, ..Limits::default() };
    let server = Server::join(&store, "server", Role::Engine, limits);
    server.owning().await;
    server.deploy(&[("long.bpmn", &plain_tasks("long", 6_000)), ("short.bpmn", &task("short", "work"))]).await;
    let request = Request { caller: caller(), command: Command::Create(create("long", &[])), idempotency: None };
    let host = server.host.clone();
    let long = tokio::spawn(async move { host.create_and_await(request, vec![], Duration::from_secs(120)).await });
    while !long.is_finished() {
        key(&server.create("short", &[]).await);
    }
    let ended = long.await.unwrap().unwrap();
    assert!(ended.completed);
    let rows: Vec<_> = commits.lock().unwrap().iter().flatten().copied().collect();
    let is_turn = |row: &(&str, Option<InstanceKey>)| *row == ("turn", Some(ended.created.instance));
    assert!(100 <= rows.iter().filter(|row| is_turn(row)).count(), "it took many turns");
    let (first, last) = (rows.iter().position(is_turn).unwrap(), rows.iter().rposition(is_turn).unwrap());
    let between = rows[first..last].iter().filter(|(kind, of)| *kind == "create" && of.is_some()).count();
    assert!(0 < between, "nobody was served in between");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_step_goes_on_after_a_restart() {
    let store = memory();
    let limits = || Limits { command_elements_max: 5, ..Limits::default() };
    let server = Server::join(&store, "one", Role::Engine, limits());
    server.owning().await;
    server.deploy(&[("long.bpmn", &plain_tasks("long", 400))]).await;
    let instance = key(&server.create("long", &[]).await);
    server.stop().await;
    let server = Server::join(&store, "two", Role::Engine, limits());
    server.owning().await;
    let ended = || async {
        let query = Query::of(Entity::Instances, Tenants::Everything);
        match store.search(&query).await.unwrap().items {
            Items::Instances(found) => found.iter().any(|one| one.key == instance && one.state == InstanceState::Completed),
            other => panic!("{other:?}"),
        }
    };
    while !ended().await {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    server.stop().await;
}

/// Only elements count: variables have bounds of their own.
#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_variables_are_no_endless_loop() {
    let server = Server::start(&memory()).await;
    server.deploy(&[("p.bpmn", &plain_tasks("p", 1))]).await;
    let names: Vec<String> = (0..10_000).map(|n| format!("v{n}")).collect();
    let variables: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "1")).collect();
    let ended = server.run("p", &variables).await;
    assert!(ended.completed);
    assert_eq!(ended.variables.len(), 10_000);
    server.stop().await;
}

/// Before, a stream was handed more than it had room for, and what did not fit was released again: a job was changed a dozen times.
#[tokio::test(flavor = "multi_thread")]
async fn a_stream_with_a_backlog_changes_each_job_at_most_twice() {
    let changes: Arc<Mutex<BTreeMap<JobKey, usize>>> = Arc::default();
    let counted = changes.clone();
    let layer = Layer::over(clocked()).on_commit(move |commit| {
        for job in &commit.changes.jobs_changed {
            *counted.lock().unwrap().entry(job.key).or_default() += 1;
        }
        Fate::Through
    });
    let store = layer.shared();
    let server = Server::join(&store, "server", Role::Engine, Limits { stream_buffer_max: 4, ..Limits::default() });
    server.owning().await;
    server.deploy(&[("p.bpmn", &task("p", "work"))]).await;
    for _ in 0..300 {
        server.create("p", &[]).await;
    }
    let mut stream = server.host.stream(subscription("work")).unwrap();
    for _ in 0..300 {
        let job = stream.next().await.unwrap();
        assert_eq!(server.ask(Command::CompleteJob { job: job.key, variables: vec![], result: None }).await, Answer::Done);
    }
    let changes = changes.lock().unwrap().clone();
    assert_eq!(changes.len(), 300);
    assert!(changes.values().all(|count| *count == 2), "leased once, completed once: {changes:?}");
    drop(stream);
    server.stop().await;
}

/// Before, everybody got 503 for as long as a worker waited for that type.
#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_cannot_be_read_stops_its_own_instance_only() {
    let store: Arc<dyn Store> = memory();
    let server = Server::start(&store).await;
    server.deploy(&[("p.bpmn", &task("p", "work"))]).await;
    let bad = key(&server.create("p", &[]).await);
    let good = key(&server.create("p", &[]).await);
    server.stop().await;

    let inner = store.clone();
    let memory = server::layer::Layer::of(inner).on_load(move |_, loaded| {
        let count = loaded.instances.len();
        loaded.instances.retain(|instance| instance.instance.key != bad);
        if loaded.instances.len() < count {
            loaded.broken.push(Broken { key: bad.0, what: format!("variables of instance {bad}: not UTF-8") });
        }
        Ok(())
    });
    let store = memory.shared();
    let server = Server::start(&store).await;
    let jobs = server.poll("work", Some(Duration::from_secs(30))).await;
    assert_eq!(jobs.len(), 1, "the one behind it");
    assert_eq!(server.ask(Command::CompleteJob { job: jobs[0], variables: vec![], result: None }).await, Answer::Done);
    let refused = server.ask(Command::Cancel { instance: bad }).await;
    assert!(matches!(&refused, Answer::Rejected(rejection) if rejection.reason.contains("not UTF-8")), "{refused:?}");
    assert!(matches!(server.ask(Command::Cancel { instance: good }).await, Answer::Rejected(_)), "it has ended");
    key(&server.create("p", &[]).await);
    server.stop().await;
}

/// Before, ticks were bounded by commands alone, and forty creations with four megabytes each were one transaction.
#[tokio::test(flavor = "multi_thread")]
async fn a_tick_is_bounded_in_bytes() {
    let largest = Arc::new(AtomicUsize::new(0));
    let seen = largest.clone();
    let layer = Layer::over(clocked()).on_commit(move |commit| {
        let bytes = commit.changes.variables_new.iter().map(|variable| variable.value.len()).sum();
        seen.fetch_max(bytes, Ordering::SeqCst);
        Fate::Through
    });
    let store = layer.shared();
    let server = Server::join(&store, "server", Role::Engine, Limits { tick_bytes_max: 1 << 20, ..Limits::default() });
    server.owning().await;
    server.deploy(&[("p.bpmn", &task("p", "work"))]).await;
    let value = format!("\"{}\"", "x".repeat(600_000));
    let starts = (0..40).map(|_| {
        let (host, value) = (server.host.clone(), value.clone());
        let command = Command::Create(create("p", &[("v", &value)]));
        tokio::spawn(async move { host.submit(Request { caller: caller(), command, idempotency: None }).await.unwrap() })
    });
    for start in starts.collect::<Vec<_>>() {
        key(&start.await.unwrap());
    }
    assert!(largest.load(Ordering::SeqCst) <= 3 * 600_002, "{} bytes in one tick", largest.load(Ordering::SeqCst));
    server.stop().await;
}

/// Before, the caller whose command was under way waited for fifteen seconds and was told nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_named_to_the_caller_under_way() {
    let layer = Layer::over(clocked()).on_commit(|commit| match commit.changes.instances_new.is_empty() {
        true => Fate::Through,
        false => Fate::Lost(store::Error::full("no space left on device")),
    });
    let store = layer.shared();
    let server = Server::start(&store).await;
    server.deploy(&[("p.bpmn", &task("p", "work"))]).await;
    let command = Command::Create(create("p", &[]));
    let refused = server.host.submit(Request { caller: caller(), command, idempotency: None }).await;
    assert!(matches!(&refused, Err(Error::Exhausted { what }) if what.contains("disk")), "{refused:?}");
    server.stop().await;
}

/// What a long instance leaves behind is put out of the way of its next load; what a short one does is left where it is.
#[tokio::test]
async fn what_ends_in_a_long_instance_is_put_out_of_the_way() {
    let ended = Arc::new(Mutex::new(Vec::new()));
    let seen = ended.clone();
    let store = Layer::over(clocked())
        .on_commit(move |commit| {
            let over = commit.changes.elements_changed.iter().filter(|change| change.ended.is_some());
            seen.lock().unwrap().extend(over.map(|change| change.past));
            Fate::Through
        })
        .shared();
    let server = Server::join(&store, "first", Role::Engine, Limits::default());
    server.owning().await;
    server.deploy(&[("loop.bpmn", LOOP)]).await;
    key(&server.create("loop", &[]).await);
    for _ in 0..70 {
        work(&server).await;
    }
    let first: Vec<_> = std::mem::take(&mut *ended.lock().unwrap());
    assert_eq!((first.len(), first[0], first[69]), (70, false, true));
    assert!(first.is_sorted(), "{first:?}");
    server.stop().await;
    let server = Server::join(&store, "second", Role::Engine, Limits::default());
    server.owning().await;
    work(&server).await;
    assert_eq!(*ended.lock().unwrap(), [true], "it was loaded, so nobody knows how long it is");
    server.stop().await;
}

async fn work(server: &Server) {
    let jobs = server.poll("work", Some(Duration::from_secs(60))).await;
    server.ask(Command::CompleteJob { job: jobs[0], variables: engine::Document::new(), result: None }).await;
}

/// A task that follows itself.
const LOOP: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">
  <process id="loop" isExecutable="true">
    <startEvent id="start"/>
    <sequenceFlow id="in" sourceRef="start" targetRef="again"/>
    <serviceTask id="again"><extensionElements><zeebe:taskDefinition type="work"/></extensionElements></serviceTask>
    <sequenceFlow id="back" sourceRef="again" targetRef="again"/>
  </process>
</definitions>"#;

/// An orchestrator is to send nobody while nothing can be written, and to send them again afterwards, although nobody has come meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn while_the_disk_is_full_a_server_says_that_it_writes_nothing() {
    let full = Arc::new(AtomicBool::new(true));
    let fails = full.clone();
    let layer = Layer::over(clocked()).on_commit(move |commit| {
        match fails.load(Ordering::SeqCst) && !commit.changes.instances_new.is_empty() {
            true => Fate::Lost(store::Error::full("no space left on device")),
            false => Fate::Through,
        }
    });
    let server = Server::start(&layer.shared()).await;
    server.deploy(&[("p.bpmn", &task("p", "work"))]).await;
    assert!(server.host.unwritten().is_none());
    let create = || async {
        let command = Command::Create(create("p", &[]));
        server.host.submit(Request { caller: caller(), command, idempotency: None }).await
    };
    create().await.unwrap_err();
    let told = server.host.unwritten();
    assert!(matches!(&told, Some(Error::Exhausted { what }) if what.contains("disk")), "{told:?}");
    full.store(false, Ordering::SeqCst);
    // It hears by itself, as soon as its lease is renewed.
    while server.host.unwritten().is_some() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    create().await.unwrap();
    server.stop().await;
}

/// Before, each had all that one evaluation may take, and thousands of them were looked at in one command.
#[tokio::test(flavor = "multi_thread")]
async fn start_conditions_that_take_too_long_together_are_refused() {
    let server = Server::start(&memory()).await;
    let condition = "count(for i in 1..400, j in 1..900 return i + j) = n";
    for n in 0..6 {
        let id = format!("p{n}");
        server.deploy(&[(&format!("{id}.bpmn"), &starts_when(&id, condition))]).await;
    }
    let evaluate = |n: &str| {
        let variables = vec![("n".into(), n.into())];
        Command::EvaluateConditions(EvaluateConditions { tenant: TENANT.into(), definition: None, variables })
    };
    let refused = server.ask(evaluate("360000")).await;
    assert!(matches!(&refused, Answer::Rejected(rejection) if rejection.code == Code::Exhausted), "{refused:?}");
    for n in 2..6 {
        server.deploy(&[(&format!("p{n}.bpmn"), &starts_when(&format!("p{n}"), "n = 360000"))]).await;
    }
    match server.ask(evaluate("360000")).await {
        Answer::Started { instances, .. } => assert_eq!(instances.len(), 6),
        other => panic!("{other:?}"),
    }
    server.stop().await;
}

fn starts_when(id: &str, condition: &str) -> String {
    format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">
  <process id="{id}" isExecutable="true"><startEvent id="s"><conditionalEventDefinition><condition>={condition}</condition>
  </conditionalEventDefinition></startEvent></process></definitions>"#
    )
}

/// Before, only their number was bounded where another server owns the partition: ten thousand of four megabytes.
#[tokio::test(start_paused = true)]
async fn requests_on_their_way_to_the_inbox_are_bounded_in_bytes() {
    let store = memory();
    let limits = Arc::new(Limits { inbox_bytes_max: 1_000_000, ..Limits::default() });
    let metrics = Arc::new(Metrics::default());
    let definitions = Arc::new(Definitions::new(store.clone(), &limits, metrics.clone()));
    let parts = Parts { store: store.clone(), limits, metrics, definitions, announcing: None, exporting: None };
    let (host, driver) = prepare(parts, "follower".into(), Role::Follower);
    let value = format!("\"{}\"", "x".repeat(600_000));
    let append = |value: &str| {
        let command = Command::Create(create("p", &[("v", value)]));
        let (host, request) = (host.clone(), Request { caller: caller(), command, idempotency: None });
        async move { host.submit_durably(request).await }
    };
    // Nothing of the server runs yet, so what is to be appended stays where it is.
    let first = tokio::spawn(append(&value));
    tokio::task::yield_now().await;
    let refused = tokio::time::timeout(Duration::from_secs(1), append(&value)).await.expect("it is refused at once");
    assert!(matches!(&refused, Err(Error::Exhausted { what }) if what.contains("under way")), "{refused:?}");
    let small = tokio::spawn(append("1"));
    let (stop, stopping) = tokio::sync::watch::channel(false);
    let driver = tokio::spawn(driver.run(stopping));
    assert_eq!((first.await.unwrap().unwrap(), small.await.unwrap().unwrap()), (1, 2));
    assert_eq!(append(&value).await.unwrap(), 3, "there is room again");
    let huge = format!("\"{}\"", "x".repeat(3_000_000));
    assert_eq!(append(&huge).await.unwrap(), 4, "one that is larger than all the room takes all of it");
    stop.send(true).unwrap();
    driver.await.unwrap();
}
