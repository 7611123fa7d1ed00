//! Many large creations at once, on a real PostgreSQL: ticks are bounded by bytes, so that all are answered and others get through.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use host::{Limits, Role};
use store::Store;
use store::log::{Answer, Command, Request};

use crate::server::layer::{Fate, Layer};
use crate::server::{Server, caller, create, task};

const LARGE: usize = 40;
const BYTES: usize = 4_000_000;
/// A machine that runs tests may be busy for longer than any server should be.
const PATIENCE: Duration = Duration::from_secs(120);

/// Before, forty creations with four megabytes each were one
/// transaction, and whoever came between them waited for all.
#[tokio::test]
async fn large_creations_at_once_leave_room_for_others() {
    let Some(url) = crate::given::postgres() else { return };
    let (admin, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    let schema = format!("large_{}", std::process::id());
    admin.batch_execute(&format!("DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}")).await.unwrap();
    let parameters = if url.contains('?') { '&' } else { '?' };
    let place = format!("{url}{parameters}options=-csearch_path%3D{schema}");
    let options = store_postgres::Options { call_timeout: PATIENCE, search_timeout: PATIENCE, ..Default::default() };
    let store: Arc<dyn Store> = Arc::new(store_postgres::Postgres::connect(&place, options).await.unwrap());
    leave_room(store).await;
    admin.batch_execute(&format!("DROP SCHEMA {schema} CASCADE")).await.unwrap();
}

async fn leave_room(store: Arc<dyn Store>) {
    let largest = Arc::new(AtomicUsize::new(0));
    let seen = largest.clone();
    let layer = Layer::of(store).on_commit(move |commit| {
        let bytes = commit.changes.variables_new.iter().map(|variable| variable.value.len()).sum();
        seen.fetch_max(bytes, Ordering::SeqCst);
        Fate::Through
    });
    let limits = Limits { answer_timeout: PATIENCE, lease: PATIENCE, ..Limits::default() };
    let tick_bytes_max = limits.tick_bytes_max;
    let server = Server::join(&layer.shared(), "server", Role::Engine, limits);
    server.owning().await;
    server.deploy(&[("p.bpmn", &task("p", "work"))]).await;
    let value: Arc<str> = format!("\"{}\"", "x".repeat(BYTES - 2)).into();
    let answered = Arc::new(AtomicUsize::new(0));
    // Tasks of this runtime begin in the order in which they are spawned, and so do their commands.
    let large = || {
        let (host, value, answered) = (server.host.clone(), value.clone(), answered.clone());
        tokio::spawn(async move {
            let command = Command::Create(create("p", &[("v", &value)]));
            let answer = host.submit(Request { caller: caller(), command, idempotency: None }).await.unwrap();
            assert!(matches!(answer, Answer::Created(_)), "{answer:?}");
            answered.fetch_add(1, Ordering::SeqCst);
        })
    };
    let mut all: Vec<_> = (0..LARGE / 2).map(|_| large()).collect();
    let (host, others) = (server.host.clone(), answered.clone());
    let small = tokio::spawn(async move {
        let command = Command::Create(create("p", &[]));
        host.submit(Request { caller: caller(), command, idempotency: None }).await.unwrap();
        others.load(Ordering::SeqCst)
    });
    all.extend((0..LARGE / 2).map(|_| large()));
    let before = small.await.unwrap();
    assert!(before < LARGE, "who came in the middle waited for all");
    for one in all {
        one.await.unwrap();
    }
    assert_eq!(answered.load(Ordering::SeqCst), LARGE);
    let largest = largest.load(Ordering::SeqCst);
    assert!(largest <= tick_bytes_max + BYTES, "{largest} bytes in one tick");
    server.stop().await;
}
