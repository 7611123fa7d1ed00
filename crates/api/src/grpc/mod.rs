//! The gRPC edge: `gateway_protocol.Gateway` as Camunda 8's clients speak it, `workflow.v1.WorkflowEngine` for JSON workflows, with health
//! and reflection beside them.
//!
//! Reading order: `gateway` (every call, one line each), `call` (what a handler is given), the file each call names, `delivery` (what happens to jobs whose worker
//! goes away), `door` (what every call passes).
//!
//! Invariants:
//! - a job that did not get out to its worker is ready for others as soon as the worker's call is gone;
//! - every call that may wait ends when the server drains.
//!
//! Deliberately absent: authentication (a call's `authorization` is not looked at), decisions about jobs and instances.

mod activation;
mod call;
mod changes;
mod config;
mod decisions;
mod delivery;
mod deployments;
mod door;
mod gateway;
mod health;
mod incidents;
mod instances;
mod jobs;
mod messages;
mod pushing;
mod refusal;
#[cfg(test)]
mod tests;
mod topology;
mod variables;
mod worker;
mod workflows;

use std::sync::Arc;

use axum::Router;
use host::Host;
use tokio::sync::watch;
use tonic::codec::CompressionEncoding::Gzip;
use tonic::service::Routes;
use tonic_health::pb::health_server::HealthServer;

pub use config::Config;

use crate::bound::Bound;
use crate::budget::Budgets;

/// The messages of `proto/gateway.proto`, and a client of it for `caudal bench`.
#[allow(unreachable_pub, clippy::all)]
pub mod wire {
    tonic::include_proto!("gateway_protocol");

    /// The files themselves, for reflection.
    pub(super) const DESCRIPTION: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/services.bin"));
}

/// The messages of `proto/workflow.proto`, and a client of it for tests.
#[allow(unreachable_pub, clippy::all)]
pub mod workflow_wire {
    tonic::include_proto!("workflow.v1");
}

/// Everything served over gRPC. `draining` turns true when the server is to end; it never turns back.
///
/// Not served by tonic's own loop: that one also ends calls at the deadline their client names, and tells them so as "cancelled" when it
/// is a moment faster than the client, which knows its deadline itself and hangs up.
pub fn router(host: Host, config: &Config, budgets: Budgets, draining: watch::Receiver<bool>) -> Router {
    let manners = door::Manners {
        request: Bound::of_request(config.message_bytes_max),
        deployment: Bound::of_deployment(config.deployment_bytes_max),
        body_timeout: config.body_timeout,
        held_max: host.limits().answer_timeout,
        too_large: door::TooLarge::Exhausted,
    };
    let gateway =
        gateway::Gateway { host, config: Arc::new(config.clone()), answers: budgets.answers, draining: draining.clone() };
    let workflows = workflow_wire::workflow_engine_server::WorkflowEngineServer::new(workflows::Engine(gateway.clone()))
        .accept_compressed(Gzip)
        .send_compressed(Gzip)
        .max_decoding_message_size(config.message_bytes_max);
    let of_workflows = door::Manners { too_large: door::TooLarge::OutOfRange, ..manners };
    let workflows = door::Door { inner: workflows, deploying: None, bodies: budgets.bodies.clone(), manners: of_workflows };
    let gateway = wire::gateway_server::GatewayServer::new(gateway).accept_compressed(Gzip).send_compressed(Gzip);
    let deploying = gateway.clone().max_decoding_message_size(config.deployment_bytes_max);
    let gateway = gateway.max_decoding_message_size(config.message_bytes_max);
    let health = HealthServer::new(health::Health { draining });
    let mut routes = Routes::default()
        .add_service(door::Door { inner: gateway, deploying: Some(deploying), bodies: budgets.bodies, manners })
        .add_service(health)
        .add_service(workflows);
    let described = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(wire::DESCRIPTION)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    routes = routes.add_service(described().build_v1().expect("the description was compiled with the code"));
    routes = routes.add_service(described().build_v1alpha().expect("the description was compiled with the code"));
    routes.prepare().into_axum_router()
}
