//! CompleteJob, FailJob, ThrowError, UpdateJobRetries, UpdateJobTimeout: a worker's verdict on a job, and changes to it.

use engine::JobKey;
use store::log::{Command, FailJob, ThrowError, UpdateJob};
use tonic::{Response, Status};

use super::call::{Call, key};
use super::wire;

pub(super) async fn complete(
    call: Call<'_>,
    request: wire::CompleteJobRequest,
) -> Result<Response<wire::CompleteJobResponse>, Status> {
    let command = Command::CompleteJob { job: job(request.job_key), variables: call.variables(&request.variables)? };
    call.submit("COMPLETE", command).await?;
    Ok(Response::new(wire::CompleteJobResponse {}))
}

pub(super) async fn fail(call: Call<'_>, request: wire::FailJobRequest) -> Result<Response<wire::FailJobResponse>, Status> {
    let command = Command::FailJob(FailJob {
        job: job(request.job_key),
        retries: request.retries,
        message: request.error_message.into(),
        backoff: request.retry_back_off.max(0),
        variables: call.variables(&request.variables)?,
    });
    call.submit("FAIL", command).await?;
    Ok(Response::new(wire::FailJobResponse {}))
}

pub(super) async fn throw_error(
    call: Call<'_>,
    request: wire::ThrowErrorRequest,
) -> Result<Response<wire::ThrowErrorResponse>, Status> {
    let command = Command::ThrowError(ThrowError {
        job: job(request.job_key),
        code: request.error_code.into(),
        message: request.error_message.into(),
        variables: call.variables(&request.variables)?,
    });
    call.submit("THROW_ERROR", command).await?;
    Ok(Response::new(wire::ThrowErrorResponse {}))
}

pub(super) async fn update_retries(
    call: Call<'_>,
    request: wire::UpdateJobRetriesRequest,
) -> Result<Response<wire::UpdateJobRetriesResponse>, Status> {
    let update = UpdateJob { job: job(request.job_key), retries: Some(request.retries), timeout: None };
    call.submit("UPDATE_RETRIES", Command::UpdateJob(update)).await?;
    Ok(Response::new(wire::UpdateJobRetriesResponse {}))
}

pub(super) async fn update_timeout(
    call: Call<'_>,
    request: wire::UpdateJobTimeoutRequest,
) -> Result<Response<wire::UpdateJobTimeoutResponse>, Status> {
    let update = UpdateJob { job: job(request.job_key), retries: None, timeout: Some(request.timeout) };
    call.submit("UPDATE_TIMEOUT", Command::UpdateJob(update)).await?;
    Ok(Response::new(wire::UpdateJobTimeoutResponse {}))
}

fn job(given: i64) -> JobKey {
    JobKey(key(given))
}
