//! CompleteJob, FailJob, ThrowError, UpdateJobRetries, UpdateJobTimeout: a worker's verdict on a job, and changes to it.

use engine::JobKey;
use store::log::{Command, FailJob, ThrowError, UpdateJob};
use tonic::{Request, Response, Status};

use super::gateway::Gateway;
use super::submit::{key, submit, variables};
use super::wire;

pub(super) async fn complete(
    gateway: &Gateway,
    request: Request<wire::CompleteJobRequest>,
) -> Result<Response<wire::CompleteJobResponse>, Status> {
    let (metadata, _, request) = request.into_parts();
    let command = Command::CompleteJob { job: job(request.job_key), variables: variables(gateway, &request.variables)? };
    submit(gateway, &metadata, "COMPLETE", command).await?;
    Ok(Response::new(wire::CompleteJobResponse {}))
}

pub(super) async fn fail(
    gateway: &Gateway,
    request: Request<wire::FailJobRequest>,
) -> Result<Response<wire::FailJobResponse>, Status> {
    let (metadata, _, request) = request.into_parts();
    let command = Command::FailJob(FailJob {
        job: job(request.job_key),
        retries: request.retries,
        message: request.error_message.into(),
        backoff: request.retry_back_off.max(0),
        variables: variables(gateway, &request.variables)?,
    });
    submit(gateway, &metadata, "FAIL", command).await?;
    Ok(Response::new(wire::FailJobResponse {}))
}

pub(super) async fn throw_error(
    gateway: &Gateway,
    request: Request<wire::ThrowErrorRequest>,
) -> Result<Response<wire::ThrowErrorResponse>, Status> {
    let (metadata, _, request) = request.into_parts();
    let command = Command::ThrowError(ThrowError {
        job: job(request.job_key),
        code: request.error_code.into(),
        message: request.error_message.into(),
        variables: variables(gateway, &request.variables)?,
    });
    submit(gateway, &metadata, "THROW_ERROR", command).await?;
    Ok(Response::new(wire::ThrowErrorResponse {}))
}

pub(super) async fn update_retries(
    gateway: &Gateway,
    request: Request<wire::UpdateJobRetriesRequest>,
) -> Result<Response<wire::UpdateJobRetriesResponse>, Status> {
    let (metadata, _, request) = request.into_parts();
    let update = UpdateJob { job: job(request.job_key), retries: Some(request.retries), timeout: None };
    submit(gateway, &metadata, "UPDATE_RETRIES", Command::UpdateJob(update)).await?;
    Ok(Response::new(wire::UpdateJobRetriesResponse {}))
}

pub(super) async fn update_timeout(
    gateway: &Gateway,
    request: Request<wire::UpdateJobTimeoutRequest>,
) -> Result<Response<wire::UpdateJobTimeoutResponse>, Status> {
    let (metadata, _, request) = request.into_parts();
    let update = UpdateJob { job: job(request.job_key), retries: None, timeout: Some(request.timeout) };
    submit(gateway, &metadata, "UPDATE_TIMEOUT", Command::UpdateJob(update)).await?;
    Ok(Response::new(wire::UpdateJobTimeoutResponse {}))
}

fn job(given: i64) -> JobKey {
    JobKey(key(given))
}
