//! The stream of what happened: all of it, in order, from where it was, whoever owns the partition and whatever those outside do.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::server::{Server, create, task};
use engine::{Document, InstanceKey, Outcome, PartitionId};
use host::{ClockMove, Exporter, Exporting, Happened, Kept, Limits, Retention, What};
use store::Store;
use store::log::{Answer, Command, FailJob};
use store::query::{Entity, Query, Tenants};
use tokio::sync::watch;

const PARTITION: PartitionId = PartitionId(1);
const DAY: i64 = 24 * 60 * 60 * 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mood {
    Well,
    Away,
    /// It takes what it is given and never says so.
    Silent,
}

struct Listener {
    mood: watch::Sender<Mood>,
    heard: Mutex<Vec<Happened>>,
    count: watch::Sender<usize>,
}

impl Listener {
    fn new(mood: Mood) -> Arc<Self> {
        Arc::new(Self { mood: watch::Sender::new(mood), heard: Mutex::default(), count: watch::Sender::new(0) })
    }

    fn heard(&self) -> Vec<Happened> {
        self.heard.lock().unwrap().clone()
    }

    /// Until so many instances have ended.
    async fn hears_ends(&self, count: usize) -> Vec<Happened> {
        let ends = || self.heard().iter().filter(|one| matches!(one.what, What::Ended(_))).count();
        self.count.subscribe().wait_for(|_| count <= ends()).await.unwrap();
        self.heard()
    }
}

#[async_trait::async_trait]
impl Exporter for Listener {
    async fn export(&self, happened: &[Happened]) -> Result<u64, Arc<str>> {
        let mood = *self.mood.borrow();
        if mood == Mood::Away {
            return Err("nobody answers".into());
        }
        self.heard.lock().unwrap().extend_from_slice(happened);
        self.count.send_modify(|count| *count += happened.len());
        if mood == Mood::Silent {
            std::future::pending::<()>().await;
        }
        Ok(0)
    }
}

fn exporting(listener: &Arc<Listener>) -> Exporting {
    let hold = Duration::from_secs(7 * 24 * 60 * 60);
    Exporting { name: "events".into(), variables: true, hold, exporter: listener.clone() }
}

fn sqlite() -> (tempfile::TempDir, Arc<dyn Store>) {
    let folder = tempfile::tempdir().unwrap();
    let store = store_sqlite::open(&folder.path().join("data"), store_sqlite::Options::default()).unwrap();
    (folder, Arc::new(store))
}

async fn start(server: &Server, variables: &[(&str, &str)]) -> InstanceKey {
    match server.create("p", variables).await {
        Answer::Created(created) => created.instance,
        other => panic!("{other:?}"),
    }
}

/// Starts so many and works until they have ended.
async fn run(server: &Server, count: usize) {
    for n in 0..count {
        start(server, &[("n", &n.to_string())]).await;
    }
    let mut done = 0;
    while done < count {
        for job in server.poll("work", Some(Duration::from_secs(5))).await {
            let answer = server.ask(Command::CompleteJob { job, variables: Document::new(), result: None }).await;
            assert_eq!(answer, Answer::Done);
            done += 1;
        }
    }
}

/// What a careful listener makes of it: of each instance what it has not heard yet, which must never come before what it has.
fn deduplicated(heard: &[Happened]) -> BTreeMap<InstanceKey, Vec<Happened>> {
    let mut instances: BTreeMap<InstanceKey, Vec<Happened>> = BTreeMap::new();
    for one in heard {
        let known = instances.entry(one.instance.key).or_default();
        if known.last().is_none_or(|last| (last.position, last.index) < (one.position, one.index)) {
            known.push(one.clone());
        }
    }
    instances
}

/// What happens to an instance of one task that is completed at once.
fn assert_whole(story: &[Happened]) {
    let told: Vec<String> = story.iter().map(told).collect();
    let expected = ["started", "n := ?", "> start", "< start", "> work", "< work", "> end", "< end", "completed"];
    assert_eq!(told, expected, "{story:?}");
}

fn told(one: &Happened) -> String {
    match &one.what {
        What::Started => "started".to_owned(),
        What::Ended(Outcome::Completed) => "completed".to_owned(),
        What::Ended(Outcome::Terminated) => "terminated".to_owned(),
        What::Suspended => "suspended".to_owned(),
        What::Resumed => "resumed".to_owned(),
        What::Migrated => "migrated".to_owned(),
        What::Entered(on) => format!("> {}", on.element_id),
        What::Left(on) => format!("< {}", on.element_id),
        What::Dropped(on) => format!("x {}", on.element_id),
        What::VariableCreated(variable) | What::VariableUpdated(variable) if &*variable.name == "n" => "n := ?".to_owned(),
        What::VariableCreated(variable) => format!("{} := {:?}", variable.name, variable.value),
        What::VariableUpdated(variable) => format!("{} = {:?}", variable.name, variable.value),
        What::IncidentRaised { on, kind, message, .. } => {
            format!("! {} {kind:?} {message}", on.as_ref().unwrap().element_id)
        }
        What::IncidentResolved { on, .. } => format!("resolved {}", on.as_ref().unwrap().element_id),
    }
}

#[tokio::test]
async fn all_that_happens_to_an_instance_is_told_in_order() {
    let ((_folder, store), listener) = (sqlite(), Listener::new(Mood::Well));
    let server = Server::exporting(&store, Limits::default(), exporting(&listener)).await;
    server.deploy(&[("p.bpmn", &task("p", "work"))]).await;
    let large = format!("\"{}\"", "x".repeat(10_000));
    let huge = format!("\"{}\"", "x".repeat(100_000));
    let instance = start(&server, &[("a", "1"), ("huge", &huge), ("large", &large)]).await;
    let [job] = server.poll("work", None).await[..] else { panic!("one job") };
    let fail = FailJob { job, retries: 0, message: "no paper".into(), backoff: 0, variables: Vec::new() };
    server.ask(Command::FailJob(fail)).await;
    server.ask(Command::Suspend { instance }).await;
    server.ask(Command::Resume { instance }).await;
    server.ask(Command::Cancel { instance }).await;
    let heard = listener.hears_ends(1).await;
    let large = format!("large := {:?}", Some(large));
    let expected = [
        "started",
        "a := Some(\"1\")",
        "huge := None",
        &large,
        "> start",
        "< start",
        "> work",
        "! work JobNoRetries no paper",
        "suspended",
        "resumed",
        "resolved work",
        "x work",
        "terminated",
    ];
    assert_eq!(heard.iter().map(told).collect::<Vec<_>>(), expected);
    assert!(heard.iter().all(|one| one.instance.key == instance && one.instance.process_id == "p"));
    assert!(heard.is_sorted_by_key(|one| (one.position, one.index)));
    server.stop().await;
}

#[tokio::test]
async fn variables_are_told_only_where_they_are_asked_for() {
    let ((_folder, store), listener) = (sqlite(), Listener::new(Mood::Well));
    let server = Server::exporting(&store, Limits::default(), Exporting { variables: false, ..exporting(&listener) }).await;
    server.deploy(&[("p.bpmn", &task("p", "work"))]).await;
    run(&server, 1).await;
    let heard = listener.hears_ends(1).await;
    assert!(!heard.iter().any(|one| matches!(one.what, What::VariableCreated(_) | What::VariableUpdated(_))), "{heard:?}");
    server.stop().await;
}

#[tokio::test]
async fn the_engine_goes_on_while_nobody_listens_and_all_of_it_is_told_afterwards() {
    let ((_folder, store), listener) = (sqlite(), Listener::new(Mood::Away));
    let server = Server::exporting(&store, Limits::default(), exporting(&listener)).await;
    server.deploy(&[("p.bpmn", &task("p", "work"))]).await;
    run(&server, 20).await;
    assert_eq!(listener.heard(), []);
    assert!(20 <= server.host.metrics().export.lag.get());
    listener.mood.send_replace(Mood::Well);
    let stories = deduplicated(&listener.hears_ends(20).await);
    stories.values().for_each(|story| assert_whole(story));
    assert_eq!(stories.len(), 20);
    assert!(0 < server.host.metrics().export.failures.get());
    server.stop().await;
}

#[tokio::test]
async fn what_was_told_and_not_remembered_is_told_again_and_nothing_is_missing() {
    let ((_folder, store), listener) = (sqlite(), Listener::new(Mood::Well));
    let server = Server::exporting(&store, Limits::default(), exporting(&listener)).await;
    server.deploy(&[("p.bpmn", &task("p", "work"))]).await;
    run(&server, 5).await;
    listener.hears_ends(5).await;
    // From now on it is heard, and the server never knows.
    listener.mood.send_replace(Mood::Silent);
    run(&server, 5).await;
    listener.count.subscribe().wait_for(|count| 5 * 9 < *count).await.unwrap();
    server.kill().await;
    let before = store.export_place(PARTITION, "events").await.unwrap().unwrap_or(0);
    listener.mood.send_replace(Mood::Well);
    let server = Server::exporting(&store, Limits::default(), exporting(&listener)).await;
    let first_again = listener.heard().len();
    run(&server, 5).await;
    while deduplicated(&listener.heard()).values().filter(|story| story.len() == 9).count() < 15 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let heard = listener.heard();
    let stories = deduplicated(&heard);
    stories.values().for_each(|story| assert_whole(story));
    assert_eq!(stories.len(), 15);
    // It went on from its place, not from the beginning, and told some of it again.
    assert!(heard[first_again..].iter().all(|one| before < one.position));
    assert!(9 * 15 < heard.len());
    server.stop().await;
}

#[tokio::test]
async fn the_place_is_remembered_and_a_restart_tells_nothing_again() {
    let ((_folder, store), listener) = (sqlite(), Listener::new(Mood::Well));
    let server = Server::exporting(&store, Limits::default(), exporting(&listener)).await;
    server.deploy(&[("p.bpmn", &task("p", "work"))]).await;
    run(&server, 3).await;
    let last = listener.hears_ends(3).await.last().unwrap().position;
    while store.export_place(PARTITION, "events").await.unwrap() < Some(last) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    server.stop().await;
    let heard = listener.heard().len();
    let server = Server::exporting(&store, Limits::default(), exporting(&listener)).await;
    run(&server, 1).await;
    assert_eq!(listener.hears_ends(4).await.len(), heard + 9);
    server.stop().await;
}

#[tokio::test]
async fn what_was_not_told_is_not_removed_for_a_while() {
    let ((_folder, store), listener) = (sqlite(), Listener::new(Mood::Away));
    let day = Kept::For(Duration::from_millis(DAY as u64));
    let retention = Retention { instances: day, log: day, ..Retention::default() };
    let limits = Limits { retention, ..Limits::default() };
    let server = Server::exporting(&store, limits, exporting(&listener)).await;
    server.deploy(&[("p.bpmn", &task("p", "work"))]).await;
    run(&server, 3).await;
    let instances = || async { store.search(&Query::of(Entity::Instances, Tenants::Everything)).await.unwrap().total };
    server.host.move_clock(ClockMove::Advance(7 * DAY)).unwrap();
    server.host.purge(Duration::from_secs(60)).await.unwrap();
    assert_eq!(instances().await, 3, "nobody has heard of them");
    let counted = server.host.count_purgeable().await.unwrap();
    assert_eq!((counted["instances"], counted["log"]), (0, 0), "nor is said of them that they would go");
    listener.mood.send_replace(Mood::Well);
    let stories = deduplicated(&listener.hears_ends(3).await);
    stories.values().for_each(|story| assert_whole(story));
    while server.host.metrics().export.lag.get() != 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    while instances().await != 0 {
        server.host.purge(Duration::from_secs(60)).await.unwrap();
    }
    server.stop().await;
}

#[tokio::test]
async fn what_nobody_heard_for_too_long_goes_and_is_counted() {
    let ((_folder, store), listener) = (sqlite(), Listener::new(Mood::Well));
    let day = Kept::For(Duration::from_millis(DAY as u64));
    let retention = Retention { instances: day, log: day, ..Retention::default() };
    let limits = Limits { retention, ..Limits::default() };
    let server = Server::exporting(&store, limits, exporting(&listener)).await;
    server.deploy(&[("p.bpmn", &task("p", "work"))]).await;
    run(&server, 1).await;
    listener.hears_ends(1).await;
    while server.host.metrics().export.lag.get() != 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    listener.mood.send_replace(Mood::Away);
    run(&server, 3).await;
    server.host.move_clock(ClockMove::Advance(9 * DAY)).unwrap();
    server.host.purge(Duration::from_secs(60)).await.unwrap();
    listener.mood.send_replace(Mood::Well);
    run(&server, 1).await;
    let stories = deduplicated(&listener.hears_ends(2).await);
    stories.values().for_each(|story| assert_whole(story));
    assert_eq!(stories.len(), 2);
    assert!(3 <= server.host.metrics().export.left_out.get());
    server.stop().await;
}

#[tokio::test]
async fn an_instance_that_was_deleted_leaves_no_trace_here_either() {
    let ((_folder, store), listener) = (sqlite(), Listener::new(Mood::Away));
    let server = Server::exporting(&store, Limits::default(), exporting(&listener)).await;
    server.deploy(&[("p.bpmn", &task("p", "work"))]).await;
    let Answer::Created(created) = server.ask(Command::Create(create("p", &[]))).await else { panic!("it is created") };
    server.ask(Command::Cancel { instance: created.instance }).await;
    assert_eq!(server.ask(Command::DeleteInstance { instance: created.instance }).await, Answer::Done);
    run(&server, 1).await;
    listener.mood.send_replace(Mood::Well);
    let stories = deduplicated(&listener.hears_ends(1).await);
    assert_eq!(stories.len(), 1);
    assert!(!stories.contains_key(&created.instance));
    server.stop().await;
}
