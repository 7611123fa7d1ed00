//! Metrics and health, on a port of their own.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use host::Host;
use prometheus_client::registry::Registry;
use serde_json::{Value, json};

const NO_OWNER: &str = "no engine owns the partition";

/// What is told of this server whatever becomes of its store.
#[derive(Clone)]
pub(crate) struct About {
    pub(crate) server: String,
    /// Where it keeps what it has, without a password.
    pub(crate) store: String,
    /// Which store that is: the same on every server of it.
    pub(crate) cluster: String,
}

#[derive(Clone)]
struct Health {
    registry: Arc<Registry>,
    host: Host,
    about: About,
}

pub(crate) fn router(registry: Arc<Registry>, host: Host, about: About) -> Router {
    let state = Health { registry, host, about };
    Router::new()
        .route("/metrics", get(metrics))
        .route("/health/live", get(|| async { "alive\n" }))
        .route("/health/ready", get(ready))
        .route("/health", get(told))
        .with_state(state)
}

async fn metrics(State(health): State<Health>) -> Response {
    let mut text = String::new();
    match prometheus_client::encoding::text::encode(&mut text, &health.registry) {
        Ok(()) => ([(header::CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

/// The same as `/health/ready`, with what it was decided by.
async fn told(State(health): State<Health>) -> Response {
    let About { server, store, cluster } = &health.about;
    let version = env!("CARGO_PKG_VERSION");
    let mut body = json!({ "status": "UP", "version": version, "server": server, "store": store, "clusterId": cluster });
    let topology = topology(&health).await;
    if let Ok(topology) = &topology {
        body["owns"] = json!(topology.partitions.iter().any(|partition| partition.owner.as_ref() == Some(&topology.node)));
        body["partitions"] = topology.partitions.iter().map(partition).collect();
    }
    let status = match trouble(&topology) {
        None => StatusCode::OK,
        Some(reason) => {
            body["status"] = json!("DOWN");
            body["reason"] = json!(reason);
            StatusCode::SERVICE_UNAVAILABLE
        }
    };
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

fn partition(partition: &store::PartitionStatus) -> Value {
    json!({ "partition": partition.partition.0, "owner": partition.owner.as_deref() })
}

/// The store as it answers; if it takes no writes, what it says to them.
async fn topology(health: &Health) -> Result<host::Topology, host::Error> {
    match health.host.unwritten() {
        Some(error) => Err(error),
        None => health.host.topology().await,
    }
}

/// Why nobody is to be sent here; nothing if commands are processed by some server, and the store answers and takes writes.
fn trouble(topology: &Result<host::Topology, host::Error>) -> Option<String> {
    match topology {
        Err(error) => Some(error.to_string()),
        Ok(topology) if topology.partitions.iter().any(|partition| partition.owner.is_some()) => None,
        Ok(_) => Some(NO_OWNER.to_owned()),
    }
}

async fn ready(State(health): State<Health>) -> Response {
    match trouble(&topology(&health).await) {
        None => "ready\n".into_response(),
        Some(reason) => (StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {reason}\n")).into_response(),
    }
}

#[cfg(test)]
mod tests;
