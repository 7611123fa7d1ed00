//! What is deployed is read when somebody asks for it, not because a server starts.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use host::{Definitions, Limits, Metrics, Parts, Role, prepare};
use store::Store;
use store::log::{Answer, Command, Request};
use tokio::sync::watch;

use crate::server::layer::Layer;
use crate::server::{Server, caller, create, memory, task};

const DEPLOYED: usize = 60;
const RUNNING: usize = 3;

/// Many definitions, instances of a few of them, and nobody there.
async fn left_behind() -> Arc<dyn Store> {
    let store = memory();
    let server = Server::start(&store).await;
    for n in 0..DEPLOYED {
        server.deploy(&[("p.bpmn", &task(&format!("p{n}"), "work"))]).await;
    }
    for n in 0..RUNNING {
        assert!(matches!(server.create(&format!("p{n}"), &[]).await, Answer::Created(_)));
    }
    server.stop().await;
    store
}

#[tokio::test]
async fn a_server_that_starts_reads_no_definition_until_it_is_asked_for() {
    let layer = Layer::of(left_behind().await);
    let read = layer.definitions_read();
    let server = Server::start(&layer.shared()).await;
    assert_eq!(server.poll("nothing", None).await, []);
    assert_eq!(read.load(Ordering::SeqCst), 0);
    server.create("p0", &[]).await;
    let of_one = read.load(Ordering::SeqCst);
    assert!((1..=3).contains(&of_one), "{of_one} times for one that was asked for");
    server.create("p0", &[]).await;
    assert_eq!(read.load(Ordering::SeqCst), of_one, "it is kept");
    server.stop().await;
}

#[tokio::test]
async fn what_runs_is_compiled_beside_the_work() {
    let (open, is_open) = watch::channel(false);
    let layer = Layer::of(left_behind().await).hold_running(is_open);
    let (store, limits) = (layer.shared(), Arc::new(Limits::default()));
    let metrics = Arc::new(Metrics::default());
    let definitions = Arc::new(Definitions::new(store.clone(), &limits, metrics.clone()));
    let parts = Parts { store, limits, metrics: metrics.clone(), definitions, announcing: None, exporting: None };
    let (host, mut driver) = prepare(parts, "server".into(), Role::Engine);
    driver.warm_up = true;
    let (stop, stopping) = watch::channel(false);
    let running = tokio::spawn(driver.run(stopping));
    while !host.owns() {
        tokio::task::yield_now().await;
    }
    // What runs is not even known yet, and others are served.
    let request = |id: &str| Request { caller: caller(), command: Command::Create(create(id, &[])), idempotency: None };
    assert!(matches!(host.submit(request("p50")).await.unwrap(), Answer::Created(_)));
    assert_eq!(metrics.definition_entries.get(), 1);
    open.send(true).unwrap();
    while (metrics.definition_entries.get() as usize) < 1 + RUNNING {
        tokio::task::yield_now().await;
    }
    let misses = metrics.definition_misses.get();
    for n in 0..RUNNING {
        assert!(matches!(host.submit(request(&format!("p{n}"))).await.unwrap(), Answer::Created(_)));
    }
    assert_eq!(metrics.definition_misses.get(), misses, "it was there");
    assert_eq!(metrics.definition_entries.get() as usize, 1 + RUNNING, "what does not run is not read");
    stop.send(true).unwrap();
    running.await.unwrap();
}
