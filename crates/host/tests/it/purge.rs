//! What goes, and in which order.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use engine::PartitionId;
use host::{ClockMove, Limits, Role};
use store::Store;
use store::log::{Answer, Command, IdempotencyKey, Request};
use store::retention::Aged;

use crate::server::layer::Layer;
use crate::server::{Server, TENANT, caller, clocked, create, plain_tasks, timed};

const MONTHS: i64 = 100 * 24 * 60 * 60 * 1_000;

/// Where instances come to be old as fast as they go, there are always some.
#[tokio::test]
async fn the_log_goes_while_there_still_are_instances_to_go() {
    let asked: Arc<Mutex<Vec<Option<Aged>>>> = Arc::default();
    let heard = asked.clone();
    let layer = Layer::over(clocked()).on_purge(move |what| heard.lock().unwrap().push(what));
    let store: Arc<dyn Store> = Arc::new(layer);
    let server = Server::start(&store).await;
    server.deploy(&[("p.bpmn", &plain_tasks("p", 1))]).await;
    for _ in 0..300 {
        server.run("p", &[]).await;
    }
    server.host.move_clock(ClockMove::Advance(MONTHS)).unwrap();
    server.host.purge(Duration::from_secs(60)).await.unwrap();
    let asked = asked.lock().unwrap().clone();
    let log = asked.iter().position(|what| *what == Some(Aged::Log));
    let instances = asked.iter().rposition(Option::is_none);
    assert!(log.is_some() && log < instances, "{asked:?}");
    server.stop().await;
}

/// The time is the runtime's, and nobody asks for a purge.
#[tokio::test(start_paused = true)]
async fn first_answers_go_also_where_all_come_through_another_server() {
    let store: Arc<dyn Store> = Arc::new(timed());
    let kept = Duration::from_secs(60 * 60);
    let limits = || Limits { idempotency_kept: kept, ..Limits::default() };
    let owner = Server::join(&store, "owner", Role::Engine, limits());
    owner.owning().await;
    owner.deploy(&[("p.bpmn", &plain_tasks("p", 1))]).await;
    let follower = Server::join(&store, "follower", Role::Follower, limits());
    for number in 0..20 {
        let idempotency = Some(IdempotencyKey { tenant: TENANT.into(), key: number.to_string().into(), fingerprint: 1 });
        let request = Request { caller: caller(), command: Command::Create(create("p", &[])), idempotency };
        let first = follower.host.submit(request.clone()).await.unwrap();
        assert!(matches!(first, Answer::Created(_)), "{first:?}");
        assert_eq!(follower.host.submit(request).await.unwrap(), first);
    }
    let left = async |what| store.count_aged(PartitionId(1), what, i64::MAX, 1_000).await.unwrap();
    assert_eq!((left(Aged::FirstAnswers).await, left(Aged::Answers).await), (20, 40));
    tokio::time::sleep(kept / 2).await;
    assert_eq!(left(Aged::FirstAnswers).await, 20, "not before their time");
    tokio::time::sleep(kept).await;
    assert_eq!((left(Aged::FirstAnswers).await, left(Aged::Answers).await), (0, 0));
    follower.stop().await;
    owner.stop().await;
}
