//! The edge as clients see it: the router over a host and the memory store in this process.

mod ad_hoc;
mod batches;
mod budgets;
mod changes;
mod connections;
mod decisions;
mod documents;
mod events;
mod executions;
mod flows;
mod job_statistics;
#[path = "../../../../host/tests/it/server/layer.rs"]
#[allow(dead_code, clippy::unwrap_used, reason = "the host's tests use the rest of it")]
mod layer;
mod leases;
mod manners;
mod people;
mod policies;
mod purchase;
mod schedules;
mod story;
mod tenants;
mod user_tasks;
mod workflows;

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::Body;
use axum::http::{Request, header};
use host::{Definitions, Limits, Metrics, Parts, Role};
use serde_json::Value;
use store::Store;
use store::memory::Memory;
use tokio::sync::watch;
use tower::ServiceExt;

use super::Config;
use crate::budget::{Budget, Budgets};

struct Server {
    router: Router,
    budgets: Budgets,
    draining: watch::Sender<bool>,
    _stop: watch::Sender<bool>,
}

struct Reply {
    status: u16,
    media: String,
    text: String,
}

impl Reply {
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or(Value::Null)
    }

    fn title(&self) -> String {
        self.json()["title"].as_str().unwrap_or_default().to_owned()
    }
}

impl Server {
    async fn start() -> Self {
        Self::start_with(&Config::default()).await
    }

    async fn start_with(config: &Config) -> Self {
        Self::start_within(config, Budgets::default()).await
    }

    async fn start_within(config: &Config, budgets: Budgets) -> Self {
        Self::start_over(memory(), config, budgets).await
    }

    async fn start_over(store: Arc<dyn Store>, config: &Config, budgets: Budgets) -> Self {
        let (stop, stopping) = watch::channel(false);
        let (host, driver) = host::prepare(parts(store), "here".into(), Role::Engine);
        tokio::spawn(driver.run(stopping));
        while !host.owns() {
            tokio::task::yield_now().await;
        }
        let (draining, drain) = watch::channel(false);
        let router = super::router(host, config, budgets.clone(), drain);
        Self { router, budgets, draining, _stop: stop }
    }

    async fn send(&self, request: Request<Body>) -> Reply {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let media = response.headers().get(header::CONTENT_TYPE).map(|media| media.to_str().unwrap().to_owned());
        let status = response.status().as_u16();
        let text = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        Reply { status, media: media.unwrap_or_default(), text: String::from_utf8(text.to_vec()).unwrap() }
    }

    async fn call(&self, method: &str, path: &str, body: &str, headers: &[(&str, &str)]) -> Reply {
        let mut request = Request::builder().method(method).uri(path);
        if !body.is_empty() && headers.iter().all(|(name, _)| *name != "content-type") {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(Body::from(body.to_owned())).unwrap()).await
    }

    async fn post(&self, path: &str, body: &str) -> Reply {
        self.call("POST", path, body, &[]).await
    }

    async fn get(&self, path: &str) -> Reply {
        self.call("GET", path, "", &[]).await
    }

    /// Deploys a process `work` with one task of type `work`.
    async fn deploy(&self) -> Reply {
        self.deploy_file("work.bpmn", ONE_TASK).await
    }

    async fn deploy_file(&self, name: &str, content: &str) -> Reply {
        let form = format!(
            "--b\r\nContent-Disposition: form-data; name=\"resources\"; filename=\"{name}\"\r\n\r\n{content}\r\n--b--\r\n"
        );
        self.call("POST", "/v2/deployments", &form, &[("content-type", "multipart/form-data; boundary=b")]).await
    }

    /// Creates an instance of it and gives its key.
    async fn create(&self, variables: &str) -> String {
        let body = format!("{{\"processDefinitionId\":\"work\",\"variables\":{variables}}}");
        let reply = self.post("/v2/process-instances", &body).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.json()["processInstanceKey"].as_str().unwrap().to_owned()
    }

    /// Leases one job and gives it.
    async fn activate(&self) -> Value {
        let body = r#"{"type":"work","timeout":3600000,"maxJobsToActivate":1,"worker":"w","requestTimeout":5000}"#;
        self.post("/v2/jobs/activation", body).await.json()["jobs"][0].clone()
    }
}

const ONE_TASK: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
    xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="t"><process id="work" name="Work" isExecutable="true">
    <startEvent id="start"/><sequenceFlow id="a" sourceRef="start" targetRef="task"/>
    <serviceTask id="task"><extensionElements><zeebe:taskDefinition type="work"/></extensionElements></serviceTask>
    <sequenceFlow id="b" sourceRef="task" targetRef="end"/><endEvent id="end"/></process></definitions>"#;

fn memory() -> Arc<dyn Store> {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64;
    Arc::new(Memory::new(Arc::new(now)))
}

fn parts(store: Arc<dyn Store>) -> Parts {
    let limits = Arc::new(Limits { poll_every: Duration::from_millis(5), ..Limits::default() });
    let metrics = Arc::new(Metrics::default());
    let definitions = Arc::new(Definitions::new(store.clone(), &limits, metrics.clone()));
    Parts { store, limits, metrics, definitions, announcing: None, exporting: None }
}
