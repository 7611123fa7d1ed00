//! Metrics and health, on a port of their own.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use host::Host;
use prometheus_client::registry::Registry;

#[derive(Clone)]
struct Health {
    registry: Arc<Registry>,
    host: Host,
}

pub(crate) fn router(registry: Registry, host: Host) -> Router {
    let state = Health { registry: Arc::new(registry), host };
    Router::new()
        .route("/metrics", get(metrics))
        .route("/health/live", get(|| async { "alive\n" }))
        .route("/health/ready", get(ready))
        .with_state(state)
}

async fn metrics(State(health): State<Health>) -> Response {
    let mut text = String::new();
    match prometheus_client::encoding::text::encode(&mut text, &health.registry) {
        Ok(()) => ([(header::CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

/// Ready when commands are processed by some server and the store answers.
async fn ready(State(health): State<Health>) -> Response {
    match health.host.topology().await {
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {error}\n")).into_response(),
        Ok(topology) if topology.partitions.iter().any(|partition| partition.owner.is_some()) => "ready\n".into_response(),
        Ok(_) => (StatusCode::SERVICE_UNAVAILABLE, "not ready: no engine owns the partition\n").into_response(),
    }
}
