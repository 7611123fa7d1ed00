//! Answers: what callers are told.

use super::bytes::{Reader, Stored, Writer, record, unknown};
use super::request::put_both;
use crate::Error;
use crate::log::{
    ActivatedJob, Answer, Code, CompletedExecutions, Created, Deployed, DeployedDecision, DeployedForm, DeployedProcess,
    DeployedRequirements, Evaluated, EvaluationFailure, Listening, Rejection, Submitted, SubmittedExecution,
};
use crate::row::JobKind;

record!(DeployedForm { key, id, version, resource_name });
record!(DeployedRequirements { key, id, name, version, resource_name, decisions });
record!(DeployedDecision { key, id, name, version });
record!(Evaluated { key, decision, requirements, requirements_id, tenant, output, failure, decisions });
record!(EvaluationFailure { decision_id, message });
record!(DeployedProcess { process_id, version, definition, resource_name });
record!(Created { instance, definition, process_id, version, tenant, tags, business_id });
record!(ActivatedJob {
    key,
    job_type,
    instance,
    root,
    definition,
    process_id,
    version,
    element_id,
    element_instance,
    headers,
    worker,
    retries,
    deadline,
    variables,
    tenant,
    tags,
    business_id;
    kind,
    lease,
    progress,
    trace
});
record!(Listening { task, element_instance, tenant, event, since, listeners, then });
record!(Rejection { code, reason });
record!(Submitted { at, executions });
record!(SubmittedExecution { job, is_new; group });
record!(CompletedExecutions { refused, others });

impl Stored for JobKind {
    fn put(&self, to: &mut Writer) {
        match self {
            Self::Element => to.byte(0),
            Self::Listener(event) => {
                to.byte(1);
                event.put(to);
            }
            Self::AdHoc => to.byte(3),
        }
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        match from.byte()? {
            0 => Ok(Self::Element),
            1 => Ok(Self::Listener(Stored::take(from)?)),
            3 => Ok(Self::AdHoc),
            tag => Err(unknown("kind of job", tag)),
        }
    }
}

impl Stored for Deployed {
    fn put(&self, to: &mut Writer) {
        to.framed(|to| {
            self.key.put(to);
            self.tenant.put(to);
            self.processes.put(to);
            self.requirements.put(to);
            if !self.forms.is_empty() {
                self.forms.put(to);
            }
        });
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        from.framed(|from| {
            let (key, tenant) = (Stored::take(from)?, Stored::take(from)?);
            let (processes, requirements) = (Stored::take(from)?, Stored::take(from)?);
            Ok(Self { key, tenant, processes, requirements, forms: from.added()?.unwrap_or_default() })
        })
    }
}

impl Stored for Answer {
    fn put(&self, to: &mut Writer) {
        to.framed(|to| match self {
            Self::Deployed(deployed) => tagged(to, 0, deployed),
            Self::ResourceDeleted { key } => tagged(to, 1, key),
            Self::Created(created) => tagged(to, 2, created),
            Self::Done => to.byte(3),
            Self::VariablesSet { key } => tagged(to, 4, key),
            Self::Activated(jobs) => tagged(to, 5, jobs),
            Self::Evaluated(evaluated) => tagged(to, 7, evaluated),
            Self::Published { key, tenant } => {
                to.byte(8);
                put_both(key, tenant, to);
            }
            Self::Correlated { key, instance, tenant } => {
                to.byte(9);
                key.put(to);
                instance.put(to);
                tenant.put(to);
            }
            Self::Started { key, tenant, instances } => {
                to.byte(10);
                key.put(to);
                tenant.put(to);
                instances.put(to);
            }
            Self::Listening(listening) => tagged(to, 35, listening),
            Self::Going { instance } => tagged(to, 37, instance),
            Self::Rejected(rejection) => tagged(to, 6, rejection),
            Self::Submitted(submitted) => tagged(to, 50, submitted),
            Self::CompletedExecutions(completed) => tagged(to, 51, completed),
            Self::BatchStarted { key, kind } => {
                to.byte(36);
                put_both(key, kind, to);
            }
            Self::Reported(reported) => tagged(to, 55, reported),
        });
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        from.framed(take_answer)
    }
}

/// One value behind the number that says what it is.
fn tagged(to: &mut Writer, tag: u8, value: &impl Stored) {
    to.byte(tag);
    value.put(to);
}

fn take_answer(from: &mut Reader<'_>) -> Result<Answer, Error> {
    Ok(match from.byte()? {
        0 => Answer::Deployed(Stored::take(from)?),
        1 => Answer::ResourceDeleted { key: Stored::take(from)? },
        2 => Answer::Created(Stored::take(from)?),
        3 => Answer::Done,
        4 => Answer::VariablesSet { key: Stored::take(from)? },
        5 => Answer::Activated(Stored::take(from)?),
        6 => Answer::Rejected(Stored::take(from)?),
        7 => Answer::Evaluated(Stored::take(from)?),
        8 => Answer::Published { key: Stored::take(from)?, tenant: Stored::take(from)? },
        9 => Answer::Correlated { key: Stored::take(from)?, instance: Stored::take(from)?, tenant: Stored::take(from)? },
        10 => Answer::Started { key: Stored::take(from)?, tenant: Stored::take(from)?, instances: Stored::take(from)? },
        35 => Answer::Listening(Stored::take(from)?),
        36 => Answer::BatchStarted { key: Stored::take(from)?, kind: Stored::take(from)? },
        37 => Answer::Going { instance: Stored::take(from)? },
        50 => Answer::Submitted(Stored::take(from)?),
        51 => Answer::CompletedExecutions(Stored::take(from)?),
        55 => Answer::Reported(Stored::take(from)?),
        tag => return Err(unknown("answer", tag)),
    })
}

impl Stored for Code {
    fn put(&self, to: &mut Writer) {
        to.byte(match self {
            Self::InvalidArgument => 0,
            Self::NotFound => 1,
            Self::AlreadyExists => 2,
            Self::InvalidState => 3,
            Self::Exhausted => 4,
            Self::Expired => 5,
        });
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        match from.byte()? {
            0 => Ok(Self::InvalidArgument),
            1 => Ok(Self::NotFound),
            2 => Ok(Self::AlreadyExists),
            3 => Ok(Self::InvalidState),
            4 => Ok(Self::Exhausted),
            5 => Ok(Self::Expired),
            tag => Err(unknown("code", tag)),
        }
    }
}
