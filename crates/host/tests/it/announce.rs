//! Jobs that are announced through a broker: each once it is ready, none lost, whatever the broker does.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::server::layer::{Fate, Layer};
use crate::server::{Server, clocked, memory, task};
use engine::{Document, JobKey};
use host::{Announcing, ClockMove, Published, Publisher};
use queue::claim::Claim;
use store::Store;
use store::log::{Answer, Became, Code, Command, Rejection, Report, Said};
use store::query::{Entity, Items, JobView, Query, Tenants};
use store::row::{Announcement, AnnouncementKey, JobState};
use tokio::sync::watch;

const PARTITION: engine::PartitionId = engine::PartitionId(1);
const LEASE: Duration = Duration::from_secs(60);

/// How a broker behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mood {
    Well,
    Away,
    /// It takes what it is given and never says so.
    Silent,
    Refuses {
        for_good: bool,
    },
    /// It does not know yet whether there is a topic for one of the types.
    Looks,
}

/// Keeps what it is given.
struct Broker {
    mood: watch::Sender<Mood>,
    heard: Mutex<Vec<Announcement>>,
    count: watch::Sender<usize>,
}

impl Broker {
    fn new(mood: Mood) -> Arc<Self> {
        Arc::new(Self { mood: watch::Sender::new(mood), heard: Mutex::default(), count: watch::Sender::new(0) })
    }

    fn heard(&self) -> Vec<Announcement> {
        self.heard.lock().unwrap().clone()
    }

    /// Until it was given so many.
    async fn hears(&self, count: usize) -> Vec<Announcement> {
        self.count.subscribe().wait_for(|heard| count <= *heard).await.unwrap();
        self.heard()
    }
}

#[async_trait::async_trait]
impl Publisher for Broker {
    async fn publish(&self, announcements: &[Announcement]) -> Vec<Published> {
        let mood = *self.mood.borrow();
        let all = |published: Published| vec![published; announcements.len()];
        match mood {
            Mood::Away => return all(Published::Away { reason: "nobody answers".into() }),
            Mood::Refuses { for_good } => return all(Published::Refused { reason: "no such topic".into(), for_good }),
            Mood::Looks => {
                let known: Vec<_> = announcements.iter().filter(|one| &*one.job_type != "work").cloned().collect();
                self.heard.lock().unwrap().extend_from_slice(&known);
                self.count.send_modify(|count| *count += known.len());
                let is_known = |one: &Announcement| if &*one.job_type == "work" { Published::Later } else { Published::Told };
                return announcements.iter().map(is_known).collect();
            }
            Mood::Well | Mood::Silent => {}
        }
        self.heard.lock().unwrap().extend_from_slice(announcements);
        self.count.send_modify(|count| *count += announcements.len());
        if mood == Mood::Silent {
            std::future::pending::<()>().await;
        }
        all(Published::Told)
    }
}

fn announcing(broker: &Arc<Broker>) -> Announcing {
    let publisher: Arc<dyn Publisher> = broker.clone();
    Announcing { job_types: vec!["work".into()], lease: LEASE, rows_max: 1_000, bytes_max: 1_000_000, publisher }
}

async fn deploy(server: &Server) {
    server.deploy(&[("p.bpmn", &task("p", "work")), ("other.bpmn", &task("other", "other"))]).await;
}

async fn complete(server: &Server, job: JobKey) -> Answer {
    server.ask(Command::CompleteJob { job, variables: Document::new(), result: None }).await
}

/// As a worker says it that was told the number of the lease.
async fn done(server: &Server, heard: &Announcement) -> Became {
    let claim = Claim { worker: Some("w".into()), lease: Some(heard.lease) };
    let report = Report { job: heard.job, claim, said: Said::Completed { variables: vec![] } };
    match server.ask(Command::Report { reports: vec![report] }).await {
        Answer::Reported(mut reported) => reported.remove(0).became,
        Answer::Rejected(rejection) => Became::Refused(rejection),
        other => panic!("{other:?}"),
    }
}

async fn outbox(store: &Arc<dyn Store>) -> Vec<Announcement> {
    store.outbox(PARTITION, AnnouncementKey(0), 1_000, usize::MAX >> 1).await.unwrap()
}

/// Until nothing waits to be told.
async fn emptied(store: &Arc<dyn Store>) {
    while !outbox(store).await.is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

async fn jobs(store: &Arc<dyn Store>) -> Vec<JobView> {
    match store.search(&Query::of(Entity::Jobs, Tenants::Everything)).await.unwrap().items {
        Items::Jobs(views) => views,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_job_is_announced_when_it_is_ready_and_completed_by_whoever_heard_of_it() {
    let (store, broker) = (memory(), Broker::new(Mood::Well));
    let server = Server::announcing(&store, announcing(&broker)).await;
    deploy(&server).await;
    for n in 1..=3 {
        server.create("p", &[("n", &n.to_string())]).await;
    }
    let heard = broker.hears(3).await;
    let payloads: Vec<_> = heard.iter().map(|announcement| announcement.payload.to_string()).collect();
    assert_eq!(payloads, [r#"{"n":1}"#, r#"{"n":2}"#, r#"{"n":3}"#]);
    assert!(heard.iter().all(|announcement| &*announcement.job_type == "work" && announcement.retries == 3));
    assert!(heard.iter().all(|announcement| &*announcement.element_id == "work" && announcement.lease == 1));
    emptied(&store).await;
    // Who asks for it is told where to listen.
    assert!(server.host.announces("work") && !server.host.announces("other"));
    for announcement in &heard {
        assert_eq!(complete(&server, announcement.job).await, Answer::Done);
    }
    let again = complete(&server, heard[0].job).await;
    assert!(matches!(again, Answer::Rejected(Rejection { code: Code::NotFound, .. })), "{again:?}");
    // Types that are not announced are asked for.
    server.create("other", &[]).await;
    assert_eq!(server.poll("other", None).await.len(), 1);
    assert_eq!(broker.heard().len(), 3);
    server.stop().await;
}

/// The row that announces a job is written in the transaction that makes it ready, also that of the first job of a queue.
#[tokio::test]
async fn a_job_is_announced_by_the_commit_that_makes_it_ready() {
    let alone = Arc::new(Mutex::new(Vec::new()));
    let seen = alone.clone();
    let layer = Layer::over(clocked()).on_commit(move |commit| {
        let announced: BTreeSet<_> = commit.changes.announcements_new.iter().map(|announcement| announcement.job).collect();
        let of_type = commit.changes.jobs_new.iter().filter(|job| &*job.job_type == "work");
        seen.lock().unwrap().extend(of_type.map(|job| job.key).filter(|job| !announced.contains(job)));
        Fate::Through
    });
    let (store, broker) = (layer.shared(), Broker::new(Mood::Well));
    let server = Server::announcing(&store, announcing(&broker)).await;
    deploy(&server).await;
    for _ in 0..3 {
        server.create("p", &[]).await;
    }
    broker.hears(3).await;
    server.stop().await;
    // After a start that knows of no job of the type, and after one that does.
    let server = Server::announcing(&store, announcing(&broker)).await;
    server.create("p", &[]).await;
    broker.hears(4).await;
    server.stop().await;
    assert_eq!(*alone.lock().unwrap(), []);
}

#[tokio::test]
async fn jobs_wait_while_the_broker_is_away_and_no_more_than_there_is_room_for() {
    wait_while_there_is_room(|usual| Announcing { rows_max: 2, ..usual }).await;
    // The second is let in while there is a byte of room.
    wait_while_there_is_room(|usual| Announcing { bytes_max: 8, ..usual }).await;
}

async fn wait_while_there_is_room(bounded: impl Fn(Announcing) -> Announcing) {
    let (store, broker) = (memory(), Broker::new(Mood::Away));
    let server = Server::announcing(&store, bounded(announcing(&broker))).await;
    deploy(&server).await;
    for _ in 0..5 {
        server.create("p", &[("n", "1")]).await;
    }
    assert_eq!(outbox(&store).await.len(), 2);
    broker.mood.send_replace(Mood::Well);
    let heard = broker.hears(5).await;
    assert_eq!(heard.iter().map(|announcement| announcement.job).collect::<BTreeSet<_>>().len(), 5);
    assert!(heard.is_sorted_by_key(|announcement| announcement.key));
    emptied(&store).await;
    server.stop().await;
}

#[tokio::test]
async fn what_was_told_and_not_removed_is_told_again_as_the_same() {
    let (store, broker) = (memory(), Broker::new(Mood::Silent));
    let server = Server::announcing(&store, announcing(&broker)).await;
    deploy(&server).await;
    server.create("p", &[]).await;
    broker.hears(1).await;
    server.stop().await;
    broker.mood.send_replace(Mood::Well);
    let server = Server::announcing(&store, announcing(&broker)).await;
    let heard = broker.hears(2).await;
    assert_eq!(heard[0], heard[1]);
    emptied(&store).await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_told_and_cannot_be_removed_is_not_told_again_and_again() {
    let mut refusals = 0;
    let layer = Layer::over(clocked()).on_commit(move |commit| {
        let is_refused = !commit.changes.announcements_gone.is_empty() && refusals < 4;
        refusals += usize::from(is_refused);
        if is_refused { Fate::Lost(store::Error::full("there is no room to write that it is gone")) } else { Fate::Through }
    });
    let (store, broker) = (layer.shared(), Broker::new(Mood::Well));
    let server = Server::announcing(&store, announcing(&broker)).await;
    deploy(&server).await;
    server.create("p", &[]).await;
    broker.hears(1).await;
    emptied(&store).await;
    assert_eq!(broker.heard().len(), 1);
    server.stop().await;
}

#[tokio::test]
async fn a_job_that_nobody_completes_is_announced_again_as_another() {
    let (store, broker) = (memory(), Broker::new(Mood::Well));
    let server = Server::announcing(&store, announcing(&broker)).await;
    deploy(&server).await;
    server.create("p", &[]).await;
    broker.hears(1).await;
    server.host.move_clock(ClockMove::Advance(LEASE.as_millis() as i64 + 1)).unwrap();
    let heard = broker.hears(2).await;
    assert_eq!(heard[0].job, heard[1].job);
    assert!(heard[0].key < heard[1].key);
    // Who heard of it first is too late, whatever its name; who heard of it now is not.
    assert_eq!((heard[0].lease, heard[1].lease), (1, 2));
    assert_eq!(done(&server, &heard[0]).await, Became::Lost);
    assert_eq!(done(&server, &heard[1]).await, Became::Taken { until: None });
    server.stop().await;
}

#[tokio::test]
async fn a_job_that_nobody_can_have_heard_of_is_not_announced_again() {
    let (store, broker) = (memory(), Broker::new(Mood::Away));
    let server = Server::announcing(&store, announcing(&broker)).await;
    deploy(&server).await;
    for _ in 0..3 {
        server.create("p", &[]).await;
    }
    let first = outbox(&store).await;
    // However long the broker is away, and whoever waits for it.
    for _ in 0..3 {
        server.host.move_clock(ClockMove::Advance(LEASE.as_millis() as i64 + 1)).unwrap();
        server.create("other", &[]).await;
    }
    server.stop().await;
    let server = Server::announcing(&store, announcing(&broker)).await;
    server.host.move_clock(ClockMove::Advance(LEASE.as_millis() as i64 * 5)).unwrap();
    server.create("other", &[]).await;
    assert_eq!(outbox(&store).await, first);
    broker.mood.send_replace(Mood::Well);
    assert_eq!(broker.hears(3).await, first);
    emptied(&store).await;
    // From here on it is theirs who heard of it, for as long as a lease.
    server.host.move_clock(ClockMove::Advance(LEASE.as_millis() as i64 * 5)).unwrap();
    assert_eq!(broker.hears(6).await.len(), 6);
    server.stop().await;
}

#[tokio::test]
async fn a_job_the_broker_refuses_is_tried_again_or_becomes_an_incident() {
    let (store, broker) = (memory(), Broker::new(Mood::Refuses { for_good: false }));
    let server = Server::announcing(&store, announcing(&broker)).await;
    deploy(&server).await;
    server.create("p", &[]).await;
    emptied(&store).await;
    let job = jobs(&store).await.remove(0);
    assert_eq!(&*job.error_message, "it could not be announced: no such topic");
    broker.mood.send_replace(Mood::Refuses { for_good: true });
    server.host.move_clock(ClockMove::Advance(11_000)).unwrap();
    let stuck = async || jobs(&store).await.remove(0).state == JobState::Failed;
    while !stuck().await {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let found = store.search(&Query::of(Entity::Incidents, Tenants::Everything)).await.unwrap().items;
    let Items::Incidents(incidents) = found else { panic!("{found:?}") };
    assert_eq!(incidents.len(), 1);
    assert_eq!(&*incidents[0].message, "it could not be announced: no such topic");
    server.stop().await;
}

#[tokio::test]
async fn who_goes_back_to_asking_gets_the_jobs_when_their_leases_end_and_the_other_way_round() {
    let (store, broker) = (memory(), Broker::new(Mood::Away));
    let server = Server::announcing(&store, announcing(&broker)).await;
    deploy(&server).await;
    server.create("p", &[]).await;
    assert_eq!(outbox(&store).await.len(), 1);
    server.stop().await;
    let server = Server::start(&store).await;
    emptied(&store).await;
    assert_eq!(server.poll("work", None).await, []);
    server.host.move_clock(ClockMove::Advance(LEASE.as_millis() as i64 + 1)).unwrap();
    assert_eq!(server.poll("work", Some(Duration::from_secs(30))).await.len(), 1);
    // One waits for somebody to ask, and is announced to others instead.
    server.create("p", &[]).await;
    server.stop().await;
    broker.mood.send_replace(Mood::Well);
    let server = Server::announcing(&store, announcing(&broker)).await;
    assert_eq!(broker.hears(1).await.len(), 1);
    server.stop().await;
}

#[tokio::test]
async fn those_of_another_type_do_not_wait_for_a_topic_that_is_looked_for() {
    let (store, broker) = (memory(), Broker::new(Mood::Looks));
    let all = Announcing { job_types: Vec::new(), ..announcing(&broker) };
    let server = Server::announcing(&store, all).await;
    deploy(&server).await;
    for _ in 0..3 {
        server.create("p", &[]).await;
        server.create("other", &[]).await;
    }
    let heard = broker.hears(3).await;
    assert!(heard.iter().all(|announcement| &*announcement.job_type == "other"), "{heard:?}");
    while outbox(&store).await.len() != 3 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    broker.mood.send_replace(Mood::Well);
    let heard = broker.hears(6).await;
    assert!(heard[3..].iter().all(|announcement| &*announcement.job_type == "work"), "{heard:?}");
    assert!(heard[3..].is_sorted_by_key(|announcement| announcement.key), "in their order");
    emptied(&store).await;
    assert_eq!(broker.heard().len(), 6, "each once");
    server.stop().await;
}
