//! CompleteJob, FailJob, ThrowError, UpdateJobRetries, UpdateJobTimeout: a worker's verdict on a job, and changes to it.

use engine::JobKey;
use store::log::{AdHocResult, Command, FailJob, JobResult, ThrowError, UpdateJob};
use tonic::{Response, Status};

use super::call::{Call, key};
use super::wire;
use super::worker::names;
use crate::task_listener::{self, Said};

pub(super) async fn complete(
    call: Call<'_>,
    request: wire::CompleteJobRequest,
) -> Result<Response<wire::CompleteJobResponse>, Status> {
    let (job, variables) = (job(request.job_key), call.variables(&request.variables)?);
    let result = match request.result {
        None => None,
        Some(result) if result.r#type.as_deref() == Some("adHocSubProcess") => Some(Box::new(directed(&call, result)?)),
        Some(given) => result(given).map_err(Status::invalid_argument)?,
    };
    let command = Command::CompleteJob { job, variables, result };
    call.submit("COMPLETE", command).await?;
    Ok(Response::new(wire::CompleteJobResponse {}))
}

fn directed(call: &Call<'_>, result: wire::JobResult) -> Result<JobResult, Status> {
    let mut activities = Vec::with_capacity(result.activate_elements.len());
    for activity in result.activate_elements {
        activities.push((activity.element_id.into(), call.variables(&activity.variables)?));
    }
    let is_over = result.is_completion_condition_fulfilled.unwrap_or_default();
    let drop_rest = result.is_cancel_remaining_instances.unwrap_or_default();
    Ok(JobResult::AdHoc(AdHocResult { activities, is_over, drop_rest }))
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

fn result(given: wire::JobResult) -> Result<Option<Box<JobResult>>, String> {
    if given.r#type.is_some_and(|kind| !kind.is_empty() && kind != "userTask") {
        return Ok(None);
    }
    let corrections = given.corrections.unwrap_or_default();
    let list = |list: wire::StringList| names(list.values);
    task_listener::result(Said {
        denied: given.denied.unwrap_or_default(),
        denied_reason: given.denied_reason.map(Into::into),
        assignee: corrections.assignee.map(Into::into),
        due_date: corrections.due_date,
        follow_up_date: corrections.follow_up_date,
        candidate_users: corrections.candidate_users.map(list),
        candidate_groups: corrections.candidate_groups.map(list),
        priority: corrections.priority,
    })
}

fn job(given: i64) -> JobKey {
    JobKey(key(given))
}
