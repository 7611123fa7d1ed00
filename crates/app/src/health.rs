//! Metrics and health, on a port of their own.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use host::Host;
use prometheus_client::registry::Registry;
use serde_json::json;

#[derive(Clone)]
struct Health {
    registry: Arc<Registry>,
    host: Host,
}

pub(crate) fn router(registry: Arc<Registry>, host: Host) -> Router {
    let state = Health { registry, host };
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
    let version = env!("CARGO_PKG_VERSION");
    let (status, body) = match topology(&health).await {
        Err(error) => {
            (StatusCode::SERVICE_UNAVAILABLE, json!({ "status": "DOWN", "version": version, "reason": error.to_string() }))
        }
        Ok(topology) => {
            let partition = |partition: &store::PartitionStatus| json!({ "partition": partition.partition.0, "owner": partition.owner.as_deref() });
            let is_owned = topology.partitions.iter().any(|partition| partition.owner.is_some());
            let partitions: Vec<_> = topology.partitions.iter().map(partition).collect();
            let (status, word) = if is_owned { (StatusCode::OK, "UP") } else { (StatusCode::SERVICE_UNAVAILABLE, "DOWN") };
            let owns = topology.partitions.iter().any(|partition| partition.owner.as_ref() == Some(&topology.node));
            (
                status,
                json!({ "status": word, "version": version, "server": &*topology.node, "owns": owns, "partitions": partitions }),
            )
        }
    };
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

/// The store as it answers; if it takes no writes, what it says to them.
async fn topology(health: &Health) -> Result<host::Topology, host::Error> {
    match health.host.unwritten() {
        Some(error) => Err(error),
        None => health.host.topology().await,
    }
}

/// Ready when commands are processed by some server, and the store answers and takes writes.
async fn ready(State(health): State<Health>) -> Response {
    match topology(&health).await {
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {error}\n")).into_response(),
        Ok(topology) if topology.partitions.iter().any(|partition| partition.owner.is_some()) => "ready\n".into_response(),
        Ok(_) => (StatusCode::SERVICE_UNAVAILABLE, "not ready: no engine owns the partition\n").into_response(),
    }
}
