//! `grpc.health.v1.Health`: serving, until the server drains.

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use tokio::sync::watch;
use tonic::server::NamedService;
use tonic::{Request, Response, Status};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse, health_server};

use super::gateway::Gateway;
use super::wire::gateway_server::GatewayServer;
use super::workflow_wire::workflow_engine_server::WorkflowEngineServer;
use super::workflows::Engine;
use crate::drain;

pub(super) struct Health {
    pub(super) draining: watch::Receiver<bool>,
}

impl Health {
    /// The server itself goes by the empty name.
    fn knows(service: &str) -> bool {
        let served = [<GatewayServer<Gateway> as NamedService>::NAME, <WorkflowEngineServer<Engine> as NamedService>::NAME];
        service.is_empty() || served.contains(&service)
    }

    fn status(&self) -> ServingStatus {
        if *self.draining.borrow() { ServingStatus::NotServing } else { ServingStatus::Serving }
    }
}

#[tonic::async_trait]
impl health_server::Health for Health {
    type WatchStream = BoxStream<'static, Result<HealthCheckResponse, Status>>;

    async fn check(&self, request: Request<HealthCheckRequest>) -> Result<Response<HealthCheckResponse>, Status> {
        let service = &request.get_ref().service;
        if !Self::knows(service) {
            return Err(Status::not_found(format!("there is no service '{service}' here")));
        }
        Ok(Response::new(says(self.status())))
    }

    /// What it is now, then that it ends.
    async fn watch(&self, request: Request<HealthCheckRequest>) -> Result<Response<Self::WatchStream>, Status> {
        let known = Self::knows(&request.get_ref().service);
        let now = if known { self.status() } else { ServingStatus::ServiceUnknown };
        let draining = self.draining.clone();
        let end = stream::once(async move {
            drain::drained(draining).await;
            Ok(says(if known { ServingStatus::NotServing } else { ServingStatus::ServiceUnknown }))
        });
        Ok(Response::new(stream::iter([Ok(says(now))]).chain(end).boxed()))
    }
}

fn says(status: ServingStatus) -> HealthCheckResponse {
    HealthCheckResponse { status: status.into() }
}
