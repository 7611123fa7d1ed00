//! Every call, and the file that answers it.

use std::sync::Arc;

use host::Host;
use tokio::sync::watch;
use tonic::{Request, Response, Status};

use super::call::Call;
use super::wire::gateway_server;
use super::{
    Config, activation, changes, decisions, deployments, incidents, instances, jobs, messages, pushing, topology, variables, wire,
};
use crate::budget::Budget;

#[derive(Clone)]
pub(super) struct Gateway {
    pub(super) host: Host,
    pub(super) config: Arc<Config>,
    pub(super) answers: Budget,
    /// Turns true when calls that wait must end.
    pub(super) draining: watch::Receiver<bool>,
}

type Answer<T> = Result<Response<T>, Status>;

#[tonic::async_trait]
impl gateway_server::Gateway for Gateway {
    type ActivateJobsStream = activation::Batches;
    type StreamActivatedJobsStream = pushing::Pushed;

    async fn activate_jobs(&self, request: Request<wire::ActivateJobsRequest>) -> Answer<activation::Batches> {
        let (call, request) = Call::open(self, request);
        activation::activate(call, request).await
    }

    async fn stream_activated_jobs(&self, request: Request<wire::StreamActivatedJobsRequest>) -> Answer<pushing::Pushed> {
        let (call, request) = Call::open(self, request);
        pushing::open(call, request)
    }

    async fn complete_job(&self, request: Request<wire::CompleteJobRequest>) -> Answer<wire::CompleteJobResponse> {
        let (call, request) = Call::open(self, request);
        jobs::complete(call, request).await
    }

    async fn fail_job(&self, request: Request<wire::FailJobRequest>) -> Answer<wire::FailJobResponse> {
        let (call, request) = Call::open(self, request);
        jobs::fail(call, request).await
    }

    async fn throw_error(&self, request: Request<wire::ThrowErrorRequest>) -> Answer<wire::ThrowErrorResponse> {
        let (call, request) = Call::open(self, request);
        jobs::throw_error(call, request).await
    }

    async fn update_job_retries(
        &self,
        request: Request<wire::UpdateJobRetriesRequest>,
    ) -> Answer<wire::UpdateJobRetriesResponse> {
        let (call, request) = Call::open(self, request);
        jobs::update_retries(call, request).await
    }

    async fn update_job_timeout(
        &self,
        request: Request<wire::UpdateJobTimeoutRequest>,
    ) -> Answer<wire::UpdateJobTimeoutResponse> {
        let (call, request) = Call::open(self, request);
        jobs::update_timeout(call, request).await
    }

    async fn update_job_priority(&self, _: Request<wire::UpdateJobPriorityRequest>) -> Answer<wire::UpdateJobPriorityResponse> {
        Err(not_yet("UpdateJobPriority"))
    }

    async fn create_process_instance(
        &self,
        request: Request<wire::CreateProcessInstanceRequest>,
    ) -> Answer<wire::CreateProcessInstanceResponse> {
        let (call, request) = Call::open(self, request);
        instances::create(call, request).await
    }

    async fn create_process_instance_with_result(
        &self,
        request: Request<wire::CreateProcessInstanceWithResultRequest>,
    ) -> Answer<wire::CreateProcessInstanceWithResultResponse> {
        let (call, request) = Call::open(self, request);
        instances::create_with_result(call, request).await
    }

    async fn cancel_process_instance(
        &self,
        request: Request<wire::CancelProcessInstanceRequest>,
    ) -> Answer<wire::CancelProcessInstanceResponse> {
        let (call, request) = Call::open(self, request);
        instances::cancel(call, request).await
    }

    async fn modify_process_instance(
        &self,
        request: Request<wire::ModifyProcessInstanceRequest>,
    ) -> Answer<wire::ModifyProcessInstanceResponse> {
        let (call, request) = Call::open(self, request);
        changes::modify(call, request).await
    }

    async fn migrate_process_instance(
        &self,
        request: Request<wire::MigrateProcessInstanceRequest>,
    ) -> Answer<wire::MigrateProcessInstanceResponse> {
        let (call, request) = Call::open(self, request);
        changes::migrate(call, request).await
    }

    async fn assign_process_instance_business_id(
        &self,
        _: Request<wire::AssignProcessInstanceBusinessIdRequest>,
    ) -> Answer<wire::AssignProcessInstanceBusinessIdResponse> {
        Err(not_yet("AssignProcessInstanceBusinessId"))
    }

    async fn set_variables(&self, request: Request<wire::SetVariablesRequest>) -> Answer<wire::SetVariablesResponse> {
        let (call, request) = Call::open(self, request);
        variables::set(call, request).await
    }

    async fn resolve_incident(&self, request: Request<wire::ResolveIncidentRequest>) -> Answer<wire::ResolveIncidentResponse> {
        let (call, request) = Call::open(self, request);
        incidents::resolve(call, request).await
    }

    async fn deploy_resource(&self, request: Request<wire::DeployResourceRequest>) -> Answer<wire::DeployResourceResponse> {
        let (call, request) = Call::open(self, request);
        deployments::deploy_resource(call, request).await
    }

    async fn deploy_process(&self, request: Request<wire::DeployProcessRequest>) -> Answer<wire::DeployProcessResponse> {
        let (call, request) = Call::open(self, request);
        deployments::deploy_process(call, request).await
    }

    async fn delete_resource(&self, request: Request<wire::DeleteResourceRequest>) -> Answer<wire::DeleteResourceResponse> {
        let (call, request) = Call::open(self, request);
        deployments::delete(call, request).await
    }

    async fn publish_message(&self, request: Request<wire::PublishMessageRequest>) -> Answer<wire::PublishMessageResponse> {
        let (call, request) = Call::open(self, request);
        messages::publish(call, request).await
    }

    async fn broadcast_signal(&self, request: Request<wire::BroadcastSignalRequest>) -> Answer<wire::BroadcastSignalResponse> {
        let (call, request) = Call::open(self, request);
        messages::broadcast(call, request).await
    }

    async fn evaluate_conditional(
        &self,
        request: Request<wire::EvaluateConditionalRequest>,
    ) -> Answer<wire::EvaluateConditionalResponse> {
        let (call, request) = Call::open(self, request);
        messages::evaluate(call, request).await
    }

    async fn evaluate_decision(&self, request: Request<wire::EvaluateDecisionRequest>) -> Answer<wire::EvaluateDecisionResponse> {
        let (call, request) = Call::open(self, request);
        decisions::evaluate(call, request).await
    }

    async fn topology(&self, _: Request<wire::TopologyRequest>) -> Answer<wire::TopologyResponse> {
        topology::topology(self).await
    }
}

fn not_yet(call: &'static str) -> Status {
    Status::unimplemented(format!("{call} is not served yet"))
}
