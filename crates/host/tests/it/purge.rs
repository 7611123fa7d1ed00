//! What goes, and in which order.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use host::ClockMove;
use store::Store;
use store::retention::Aged;

use crate::server::layer::Layer;
use crate::server::{Server, clocked, plain_tasks};

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
