//! A task done by a worker: it waits for a job. Leases, retries and back-off of the job are the host's.

use feel::Value;
use model::{JobTask, Retries, Text};

use crate::expression::{Trouble, wrong_kind};
use crate::step::Run;
use crate::{ElementKey, Event, FormKey, IncidentKind, On};

use std::sync::Arc;

/// A queue's name goes into indexes of the stores, whose entries are bounded.
const JOB_TYPE_BYTES_MAX: usize = 1_000;

pub(crate) fn enter(run: &mut Run<'_>, key: ElementKey, task: &JobTask) -> Result<(), Trouble> {
    if let Some(form) = &task.form {
        // The host is asked first, as for tasks that the engine keeps.
        let form = run.text(key, &form.0, "the form id")?;
        run.emit(Event::FormSought { element: key, form });
        return Ok(());
    }
    open(run, key, task, None)
}

pub(crate) fn open(run: &mut Run<'_>, key: ElementKey, task: &JobTask, form: Option<FormKey>) -> Result<(), Trouble> {
    let on = match form {
        Some(form) => with_form(run, key, task, form)?,
        None => job_on(run, key, task)?,
    };
    run.activated(key)?;
    run.open(key, None, on);
    Ok(())
}

fn with_form(run: &Run<'_>, key: ElementKey, task: &JobTask, form: FormKey) -> Result<On, Trouble> {
    let job_type = job_type(run, key, &task.job_type)?;
    let retries = retries(run, key, &task.retries)?;
    let headers = Some(super::user_task::headers(run, key, task, Some(form))?);
    Ok(On::Job { job_type, retries, headers, listener: None })
}

/// The job as seen from the element.
pub(crate) fn job_on(run: &Run<'_>, key: ElementKey, task: &JobTask) -> Result<On, Trouble> {
    let job_type = job_type(run, key, &task.job_type)?;
    let retries = retries(run, key, &task.retries)?;
    let headers = match task.headers_computed.is_empty() {
        true => None,
        false => Some(super::user_task::headers(run, key, task, None)?),
    };
    Ok(On::Job { job_type, retries, headers, listener: None })
}

pub(crate) fn job_type(run: &Run<'_>, key: ElementKey, text: &Text) -> Result<Arc<str>, Trouble> {
    let job_type = run.text(key, text, "the job type")?;
    match job_type.len() <= JOB_TYPE_BYTES_MAX {
        true => Ok(job_type),
        false => {
            let message = format!("the job type has {} bytes; at most {JOB_TYPE_BYTES_MAX} are allowed", job_type.len());
            Err(Trouble { kind: IncidentKind::ExtractValue, message })
        }
    }
}

pub(crate) fn retries(run: &Run<'_>, key: ElementKey, retries: &Retries) -> Result<i32, Trouble> {
    let expression = match retries {
        Retries::Fixed(retries) => return Ok(*retries),
        Retries::Computed(expression) => expression,
    };
    let value = run.evaluate(key, expression, IncidentKind::ExtractValue)?;
    let number = match &value {
        Value::Number(number) => number.to_i64().and_then(|number| i32::try_from(number).ok()),
        _ => None,
    };
    number.ok_or_else(|| wrong_kind(expression, "the number of retries", "a whole number", &value))
}
