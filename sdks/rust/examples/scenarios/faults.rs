//! What workers survive.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use caudal_client::{Failure, Instance, JobContext, Loss, Progress, Registry, Resource, Start, Status, Submit};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use crate::worker::Process;
use crate::world::{
    Scenario, Server, WITHIN, by, ended, file, is_json, json_object, metric, start_work, transport, until, work, work_in,
    work_with,
};

type Anything = Map<String, Value>;

const LEASE: Duration = Duration::from_secs(5);
/// One that no scenario outlives.
const LEASE_LONG: Duration = Duration::from_secs(3_600);

pub(crate) fn all() -> Vec<Scenario> {
    vec![
        Scenario::new("long handler", long_handler()),
        Scenario::new("lost lease", lost_lease()),
        Scenario::new("lost lease and a BPMN error", lost_lease_and_a_bpmn_error()),
        Scenario::new("cancelled job", cancelled_job()),
        Scenario::new("progress", progress()),
        Scenario::new("worker killed", worker_killed()),
        Scenario::new("server restarted", server_restarted()),
        Scenario::new("drain", drain()),
        Scenario::new("grace runs out", grace_runs_out()),
        Scenario::new("overload", overload()),
    ]
}

async fn long_handler() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let registry = Registry::new().handle("work", move |context: JobContext, _: Anything| {
        counted.fetch_add(1, Ordering::SeqCst);
        async move {
            let lost = timeout(Duration::from_millis(6_500), context.lost()).await.is_ok();
            Ok::<_, Failure>(json_object("lost", lost))
        }
    });
    let server = Server::start().await.unwrap();
    // Two runners: a job whose lease ended would go to the other.
    let working = [0, 1].map(|_| work_with(&server, registry.clone(), |runner| runner.lease(LEASE)));
    let client = server.client();
    is_json(&ended(&client, &start_work(&client, &json!({})).await).await.variables, json!({"lost": false}));
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    for one in working {
        one.stop().await;
    }
}

/// Runs a handler, takes its job away, and waits until it knows: why, and the instance.
async fn lose<Done: Future<Output = ()>>(take_away: impl FnOnce(Arc<Server>, String) -> Done) -> (Loss, Instance) {
    let (begun, mut has_begun) = mpsc::channel(9);
    let (told, mut is_told) = mpsc::channel(9);
    let registry = Registry::new().handle("work", move |context: JobContext, _: Anything| {
        let (begun, told) = (begun.clone(), told.clone());
        async move {
            begun.send(()).await?;
            told.send(context.lost().await).await?;
            Ok::<_, Failure>(json_object("by", "loser"))
        }
    });
    let server = Arc::new(Server::start().await.unwrap());
    let working = work_with(&server, registry, |runner| runner.lease(LEASE).max_parallel(1));
    let client = server.client();
    let id = start_work(&client, &json!({})).await;
    has_begun.recv().await.unwrap();
    take_away(server.clone(), id.clone()).await;
    let loss = is_told.recv().await.unwrap();
    working.stop().await;
    (loss, client.instance(&id).await.unwrap())
}

async fn lost_lease() {
    let (loss, instance) = lose(|server, id| async move {
        let taken = Arc::new(AtomicBool::new(false));
        let winning = taken.clone();
        let registry = Registry::new().handle("work", move |_: JobContext, _: Anything| {
            winning.store(true, Ordering::SeqCst);
            async { Ok::<_, Failure>(json_object("by", "winner")) }
        });
        let working = work_in("winner", &server, registry);
        until("the winner has the job", || async {
            // The loser may extend its lease just as the clock moves.
            if !taken.load(Ordering::SeqCst) {
                server.advance(Duration::from_secs(30)).await.unwrap();
            }
            taken.load(Ordering::SeqCst)
        })
        .await;
        ended(&server.client(), &id).await;
        working.stop().await;
    })
    .await;
    assert_eq!(loss, Loss::LeaseLost);
    is_json(&instance.variables, json!({"by": "winner"}));
}

/// A handler of `charge-card` that says when it begins, and ends so when its door is open.
fn at_a_door(end: fn() -> Result<(), Failure>) -> (Registry, mpsc::Receiver<()>, watch::Sender<bool>) {
    let (begun, has_begun) = mpsc::channel(9);
    let (door, opened) = watch::channel(false);
    let registry = Registry::new().handle("charge-card", move |_: JobContext, _: Anything| {
        let (begun, mut opened) = (begun.clone(), opened.clone());
        async move {
            begun.send(()).await?;
            opened.wait_for(|open| *open).await?;
            end()
        }
    });
    (registry, has_begun, door)
}

async fn lost_lease_and_a_bpmn_error() {
    let (loser, mut loser_has_begun, loser_door) = at_a_door(|| Err(Failure::bpmn("DECLINED", "too late", &())));
    let (winner, mut winner_has_begun, winner_door) = at_a_door(|| Ok(()));
    let server = Server::start().await.unwrap();
    let client = server.client();
    client.deploy([Resource::file(file("charge.bpmn"))]).await.unwrap();
    let id = client.start(Start::of("charge").variables(&json!({"customer": "ann"})).unwrap()).await.unwrap().id;
    // Nobody tells it in time that its lease is lost.
    let losing = work_with(&server, loser, |runner| runner.lease(LEASE_LONG).max_parallel(1));
    loser_has_begun.recv().await.unwrap();
    server.advance(LEASE_LONG * 2).await.unwrap();
    let winning = work_in("winner", &server, winner);
    winner_has_begun.recv().await.unwrap();
    // It takes no other job, and has said its error when it has stopped.
    tokio::join!(losing.stop(), async { loser_door.send_replace(true) });
    winner_door.send_replace(true);
    assert_eq!(ended(&client, &id).await.status, Status::Completed);
    winning.stop().await;
    let history = client.history(&id).await.unwrap();
    let passed = |step: &str| history.iter().any(|one| one.step_id == step);
    assert!(passed("paid") && !passed("wait"));
}

async fn cancelled_job() {
    let (loss, instance) = lose(|server, id| async move { drop(server.client().cancel(&id).await.unwrap()) }).await;
    assert_eq!(loss, Loss::Cancelled);
    is_json(&instance.variables, json!({}));
}

async fn progress() {
    let seen: Arc<Mutex<Vec<Option<Progress>>>> = Arc::default();
    let noted = seen.clone();
    let registry = Registry::new().handle("work", move |context: JobContext, _: Anything| {
        noted.lock().unwrap().push(context.job().progress.clone());
        async move {
            if context.job().progress.is_none() {
                context.progress(40, "page 4 of 10", &json!({"page": 4})).await?;
                return Err(std::io::Error::other("the printer is out of paper").into());
            }
            Ok(())
        }
    });
    let server = Server::start().await.unwrap();
    let working = work(&server, registry);
    let client = server.client();
    assert_eq!(ended(&client, &start_work(&client, &json!({})).await).await.status, Status::Completed);
    let seen = seen.lock().unwrap().clone();
    assert!(seen.len() == 2 && seen[0].is_none());
    let second = seen[1].clone().unwrap();
    assert_eq!((second.percent, second.message.as_deref()), (Some(40), Some("page 4 of 10")));
    is_json(&second.data.unwrap(), json!({"page": 4}));
    working.stop().await;
}

async fn worker_killed() {
    let folder = TempDir::new().unwrap();
    let server = Server::start().await.unwrap();
    let client = server.client();
    let id = start_work(&client, &json!({})).await;
    let mut worker = Process::start(&server, folder.path());
    worker.wait_said("begun", 1).await;
    worker.child.kill().await.unwrap();
    server.advance(Duration::from_secs(61)).await.unwrap();
    let working = work(&server, by("other"));
    is_json(&ended(&client, &id).await.variables, json!({"by": "other"}));
    working.stop().await;
}

async fn server_restarted() {
    let folder = TempDir::new().unwrap();
    let (begun, mut has_begun) = mpsc::channel(9);
    let gate = Arc::new(watch::Sender::new(false));
    let door = gate.clone();
    let registry = Registry::new().handle("work", move |_: JobContext, _: Anything| {
        let (begun, mut door) = (begun.clone(), door.subscribe());
        async move {
            begun.send(()).await?;
            door.wait_for(|open| *open).await?;
            Ok::<_, Failure>(json_object("done", true))
        }
    });
    let mut server = Server::start_with(&format!("sqlite:{}", folder.path().display()), &[]).await.unwrap();
    let working = work(&server, registry);
    let client = server.client();
    let id = start_work(&client, &json!({})).await;
    has_begun.recv().await.unwrap();
    server.kill().await.unwrap();
    // Its end is reported to nobody at first.
    gate.send_replace(true);
    server.start_again().await.unwrap();
    is_json(&ended(&client, &id).await.variables, json!({"done": true}));
    assert_eq!(client.history(&id).await.unwrap().len(), 2);
    assert_eq!(client.start_and_wait(Start::of("work"), WITHIN).await.unwrap().status, Status::Completed);
    working.stop().await;
}

async fn drain() {
    let folder = TempDir::new().unwrap();
    let server = Server::start().await.unwrap();
    let client = server.client();
    let ids = client.submit("work", &vec![Submit::default(); 3], None).await.unwrap();
    let mut worker = Process::start(&server, folder.path());
    worker.wait_said("begun", 2).await;
    let pid = worker.child.id().unwrap().to_string();
    assert!(std::process::Command::new("sh").args(["-c", &format!("kill -TERM {pid}")]).status().unwrap().success());
    worker.wait_said("stopping", 1).await;
    std::fs::write(&worker.gate, "").unwrap();
    assert!(worker.child.wait().await.unwrap().success());
    let mut states = Vec::new();
    for id in &ids {
        states.push(client.execution(id).await.unwrap().state);
    }
    states.sort_by_key(|state| *state != Status::Completed);
    // What was announced on Kafka, and heard by nobody, counts as running.
    let left = if transport() == "kafka" { Status::Running } else { Status::Waiting };
    assert_eq!(states, [Status::Completed, Status::Completed, left]);
}

async fn grace_runs_out() {
    let (begun, mut has_begun) = mpsc::channel(9);
    let (told, mut is_told) = mpsc::channel(9);
    let registry = Registry::new().handle("work", move |context: JobContext, _: Anything| {
        let (begun, told) = (begun.clone(), told.clone());
        async move {
            begun.send(()).await?;
            told.send(context.lost().await).await?;
            // It hears, and does not listen.
            std::future::pending::<Result<(), Failure>>().await
        }
    });
    let server = Server::start().await.unwrap();
    let client = server.client();
    let id = start_work(&client, &json!({})).await;
    let working = work_with(&server, registry, |runner| runner.lease(LEASE_LONG).grace(Duration::from_millis(100)));
    has_begun.recv().await.unwrap();
    working.stop().await;
    assert_eq!(is_told.recv().await, Some(Loss::Shutdown));
    // Its lease is far from over.
    let working = work(&server, by("other"));
    is_json(&ended(&client, &id).await.variables, json!({"by": "other"}));
    working.stop().await;
}

async fn overload() {
    // One poll may wait at a time: the others hear 503.
    let server = Server::start_with("memory:", &["--limits-polls-parked", "1"]).await.unwrap();
    let policy = json!({"scope": "ACTION", "action": "work", "queue": {"maxLength": 2}});
    let put = reqwest::Client::new().put(format!("{}/v1/policies/short", server.rest)).json(&policy).send().await.unwrap();
    assert!(put.status().is_success());
    let client = server.client();
    let submitted = tokio::spawn(async move {
        let mut ids = Vec::new();
        for _ in 0..30 {
            ids.extend(client.submit("work", &[Submit::default()], None).await.unwrap());
        }
        ids
    });
    let refused = r#"caudal_commands_total{kind="submit",outcome="rejected"}"#;
    until("the third is refused: nobody takes them", || async { 0.0 < metric(&server, refused).await }).await;
    let other = |_: JobContext, _: Anything| async move { Ok::<_, Failure>(json_object("by", "other")) };
    let patient =
        |_| work_with(&server, Registry::new().handle("other", other), |runner| runner.poll_wait(Duration::from_secs(30)));
    let waiting = [0, 1].map(patient);
    let polled = "job_poll_latency_seconds_count";
    until("a poll comes to its end without a job: it is refused", || async { 0.0 < metric(&server, polled).await }).await;
    let working = work(&server, by("any"));
    for one in waiting {
        one.stop().await;
    }
    let client = server.client();
    for id in submitted.await.unwrap() {
        assert_eq!(client.wait_execution(&id, WITHIN).await.unwrap().state, Status::Completed);
    }
    working.stop().await;
}
