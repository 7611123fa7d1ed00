//! What is told while the store is away, takes no writes or has no owner, and afterwards.

use std::sync::Mutex;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use host::{Definitions, Limits, Metrics, Parts, Role};
use store::memory::Memory;
use store::query::Tenants;
use store::{Error, Store};
use tokio::sync::watch;
use tonic::codegen::Service as _;

use super::*;
use layer::{Fate, Layer};

#[path = "../../../host/tests/it/server/layer.rs"]
#[allow(dead_code, clippy::unwrap_used, reason = "the host's tests use the rest of it")]
mod layer;

const TENANT: &str = "<default>";

/// What the store says to everything that writes; nothing while all is well.
type Refusal = Arc<Mutex<Option<Error>>>;

#[derive(Clone)]
struct Server {
    host: Host,
    refusal: Refusal,
    _stop: Arc<watch::Sender<bool>>,
}

impl Server {
    fn start(role: Role) -> Self {
        let refusal = Refusal::default();
        let [commits, renewals] = [refusal.clone(), refusal.clone()];
        let layer = Layer::over(Memory::new(Arc::new(crate::serve::system_now)))
            .on_commit(move |_| commits.lock().unwrap().clone().map_or(Fate::Through, Fate::Lost))
            .on_renew(move || renewals.lock().unwrap().clone().map_or(Ok(()), Err));
        let store: Arc<dyn Store> = layer.shared();
        // Nobody loses the partition while this machine is busy.
        let limits = Arc::new(Limits { lease: Duration::from_secs(600), ..Limits::default() });
        let metrics = Arc::new(Metrics::default());
        let definitions = Arc::new(Definitions::new(store.clone(), &limits, metrics.clone()));
        let parts = Parts { store, limits, metrics, definitions, announcing: None, exporting: None };
        let (host, driver) = host::prepare(parts, "here".into(), role);
        let (stop, stopping) = watch::channel(false);
        tokio::spawn(driver.run(stopping));
        Self { host, refusal, _stop: Arc::new(stop) }
    }

    /// Something to write.
    async fn write(&self) -> Result<store::log::Answer, host::Error> {
        let (tenant, name) = (TENANT.into(), "go".into());
        let command = store::log::Command::Broadcast { tenant, name, variables: engine::Document::new() };
        let caller = store::log::Caller { name: "test".into(), tenants: Tenants::These(vec![TENANT.into()]), trace: None };
        self.host.submit(store::log::Request { caller, command, idempotency: None }).await
    }

    async fn get(&self, path: &str) -> (u16, String) {
        let about = About { server: "here".to_owned(), store: "memory:".to_owned(), cluster: "c-1".to_owned() };
        let mut router = router(Arc::default(), self.host.clone(), about);
        let request = Request::builder().uri(path).body(Body::empty()).unwrap();
        let answer = router.call(request).await.unwrap();
        let status = answer.status().as_u16();
        let body = axum::body::to_bytes(answer.into_body(), usize::MAX).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    /// Both say the same.
    async fn is(&self, expected: u16, why: &str) -> Value {
        let (status, text) = self.get("/health/ready").await;
        assert!(status == expected && text.contains(why), "{status} {text}");
        let (status, text) = self.get("/health").await;
        let told: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((status, &told["status"]), (expected, &json!(if expected == 200 { "UP" } else { "DOWN" })), "{told}");
        for (known, value) in [("server", "here"), ("store", "memory:"), ("clusterId", "c-1")] {
            assert_eq!(told[known], value, "{told}");
        }
        if expected == 503 {
            assert!(told["reason"].as_str().unwrap().contains(why), "{told}");
        }
        assert_eq!(self.get("/health/live").await.0, 200, "nobody is to start it again for that");
        told
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn while_nothing_can_be_written_nobody_is_to_be_sent_here() {
    for (refusal, why) in [
        (Error::full("/secret/place"), "the disk of the store is full"),
        (Error::read_only("/secret/place"), "the store is read-only"),
        (Error::unavailable("/secret/place"), "the store is away"),
    ] {
        let server = Server::start(Role::Engine);
        while !server.host.owns() {
            tokio::task::yield_now().await;
        }
        let told = server.is(200, "ready").await;
        assert_eq!((&told["owns"], &told["partitions"][0]["owner"]), (&json!(true), &json!("here")), "{told}");
        *server.refusal.lock().unwrap() = Some(refusal);
        let writing = tokio::spawn({
            let server = server.clone();
            async move { server.write().await }
        });
        while server.host.unwritten().is_none() {
            tokio::task::yield_now().await;
        }
        let told = server.is(503, why).await;
        assert!(!told.to_string().contains("secret"), "{told}");
        *server.refusal.lock().unwrap() = None;
        let _refused_where_there_is_no_room = writing.await.unwrap();
        while server.host.unwritten().is_some() {
            // Until it is back, it says so to whoever writes.
            let _not_yet = server.write().await;
        }
        server.is(200, "ready").await;
    }
}

#[tokio::test]
async fn without_an_owner_nobody_is_to_be_sent_here() {
    let server = Server::start(Role::Follower);
    let told = server.is(503, "no engine owns the partition").await;
    assert_eq!((&told["owns"], &told["partitions"][0]["owner"]), (&json!(false), &Value::Null), "{told}");
}
