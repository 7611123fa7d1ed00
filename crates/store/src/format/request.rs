//! Requests: commands with what their senders want besides.

use super::bytes::{Reader, Stored, Writer, record, unknown};
use crate::Error;
use crate::log::{
    Activate, AdHocResult, Announced, AssignUserTask, Caller, Command, Corrections, Create, CreateAt, DecisionRef, Deploy,
    DeployResource, Evaluate, EvaluateConditions, FailAttempt, FailJob, IdempotencyKey, JobResult, NewExecution, NewUnique,
    OnConflict, ProcessRef, Publish, PutListener, PutPolicy, Released, Request, StartAdHoc, Submit, TaskResult, TellStep,
    ThrowError, Trace, Unannounced, UpdateJob, UpdateUserTask,
};
use crate::query::Tenants;

record!(Trace { parent, state });
record!(PutListener { listener, is_new });
record!(IdempotencyKey { tenant, key, fingerprint });
record!(Deploy { tenant, resources });
record!(DeployResource { name, content });
record!(Create { process, tenant, variables, tags, business_id });
record!(CreateAt { create, start, end_after });
record!(Evaluate { decision, tenant, variables });
record!(FailJob { job, retries, message, backoff, variables });
record!(ThrowError { job, code, message, variables });
record!(UpdateJob { job, retries, timeout });
record!(StartAdHoc { element, activities, drop_rest });
record!(AdHocResult { activities, is_over, drop_rest });
record!(Publish { tenant, name, correlation_key, id, time_to_live, variables });
record!(EvaluateConditions { tenant, definition, variables });
record!(Released { job, deadline; lease });
record!(AssignUserTask { task, assignee, overrides, action });
record!(UpdateUserTask { task, candidate_groups, candidate_users, due, follow_up, priority, action });
record!(TaskResult { denied, corrections });
record!(Corrections { assignee, candidate_groups, candidate_users, due, follow_up, priority });
record!(TellStep { instance, step, is_task, by, variables, keeps });
record!(FailAttempt { job, worker, retryable, message });
record!(Submit { tenant, action, executions });
record!(NewExecution { input, priority, retries, run_at, unique, group });
record!(PutPolicy { reference, policy });
record!(Announced { told, refused, bytes });
record!(Unannounced { announcement, job, reason, for_good });
record!(NewUnique { key, window, on_conflict });
record!(Activate { job_type, worker, timeout, max, tenants, fetch });

impl Stored for Request {
    fn put(&self, to: &mut Writer) {
        to.framed(|to| {
            self.command.put(to);
            self.idempotency.put(to);
            self.caller.put(to);
        });
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        from.framed(|from| {
            let (command, idempotency) = (Stored::take(from)?, Stored::take(from)?);
            Ok(Self { caller: from.added()?.unwrap_or_else(before_callers), command, idempotency })
        })
    }
}

impl Stored for Caller {
    fn put(&self, to: &mut Writer) {
        to.framed(|to| {
            self.name.put(to);
            self.tenants.put(to);
            // Nearly all have none: those are written as if there were no such thing.
            self.trace.iter().for_each(|trace| trace.put(to));
        });
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        from.framed(|from| {
            let (name, tenants) = (Stored::take(from)?, Stored::take(from)?);
            Ok(Self { name, tenants, trace: from.added::<Trace>()?.map(Box::new) })
        })
    }
}

/// Requests that named no caller were all sent by the one there was.
fn before_callers() -> Caller {
    Caller { name: "".into(), tenants: Tenants::These(vec!["<default>".into()]), trace: None }
}

impl Stored for Tenants {
    fn put(&self, to: &mut Writer) {
        match self {
            Self::These(tenants) => {
                to.byte(0);
                tenants.put(to);
            }
            Self::Everything => to.byte(1),
        }
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        match from.byte()? {
            0 => Ok(Self::These(Stored::take(from)?)),
            1 => Ok(Self::Everything),
            tag => Err(unknown("choice of tenants", tag)),
        }
    }
}

impl Stored for Command {
    fn put(&self, to: &mut Writer) {
        to.framed(|to| {
            to.byte(number(self));
            put_body(self, to);
        });
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        from.framed(take_command)
    }
}

fn put_body(command: &Command, to: &mut Writer) {
    match command {
        Command::Deploy(deploy) => deploy.put(to),
        Command::DeleteResource { key } => key.put(to),
        Command::Create(create) => create.put(to),
        Command::Cancel { instance } => instance.put(to),
        Command::CompleteJob { job, variables, result } => {
            put_both(job, variables, to);
            // Of older commands there is none.
            result.iter().for_each(|result| result.put(to));
        }
        Command::FailJob(fail) => fail.put(to),
        Command::ThrowError(throw) => throw.put(to),
        Command::UpdateJob(update) => update.put(to),
        Command::SetVariables { scope, variables, local } => {
            put_both(scope, variables, to);
            local.put(to);
        }
        Command::ResolveIncident { incident } => incident.put(to),
        Command::AssignUserTask(assign) => assign.put(to),
        Command::UnassignUserTask { task, action } => put_both(task, action, to),
        Command::UpdateUserTask(update) => update.put(to),
        Command::CompleteUserTask { task, variables, action } => {
            put_both(task, variables, to);
            action.put(to);
        }
        Command::Activate(activate) => activate.put(to),
        Command::Release { jobs } => jobs.put(to),
        Command::JobDue { job } => job.put(to),
        Command::Turn { wait, instance } => put_both(wait, instance, to),
        Command::TimerDue { wait, instance } => put_both(wait, instance, to),
        Command::SignalDue { signal } => signal.put(to),
        Command::MessageExpired { message } => message.put(to),
        Command::FireTimer { timer } => timer.put(to),
        Command::RescheduleTimer { timer, due } => put_both(timer, due, to),
        Command::StartAdHoc(start) => start.put(to),
        Command::Publish(publish) | Command::Correlate(publish) => publish.put(to),
        Command::Broadcast { tenant, name, variables } => {
            put_both(tenant, name, to);
            variables.put(to);
        }
        Command::EvaluateConditions(evaluate) => evaluate.put(to),
        Command::Submit(submit) => submit.put(to),
        Command::CompleteExecutions { jobs } => jobs.put(to),
        Command::PutPolicy(put) => put.put(to),
        Command::Announced(announced) => announced.put(to),
        Command::DeletePolicy { reference } => reference.put(to),
        Command::CancelExecution { job } => job.put(to),
        Command::RetryExecution { job, retries } => put_both(job, retries, to),
        Command::Evaluate(evaluate) => evaluate.put(to),
        Command::DeleteEvaluation { evaluation } => evaluation.put(to),
        Command::CreateAt(create) => create.put(to),
        Command::Change { instance, change } => put_both(instance, change, to),
        Command::TellStep(tell) => tell.put(to),
        Command::FailAttempt(fail) => fail.put(to),
        Command::RetryInstance { instance }
        | Command::Suspend { instance }
        | Command::Resume { instance }
        | Command::DeleteInstance { instance } => instance.put(to),
        Command::Batch(batch) => batch.put(to),
        Command::PutListener(put) => put.put(to),
        Command::DeleteListener { id } => id.put(to),
        Command::ConfigureListeners { listeners } => listeners.put(to),
        Command::Report { reports } => reports.put(to),
        Command::RetryJob { job, retries } => put_both(job, retries, to),
        Command::PutSchedule(put) => put.put(to),
        Command::DeleteSchedule { tenant, reference } => put_both(tenant, reference, to),
        Command::ScheduleDue { schedule } => schedule.put(to),
    }
}

pub(super) fn put_both(first: &impl Stored, second: &impl Stored, to: &mut Writer) {
    first.put(to);
    second.put(to);
}

fn take_command(from: &mut Reader<'_>) -> Result<Command, Error> {
    Ok(match from.byte()? {
        0 => Command::Deploy(Stored::take(from)?),
        1 => Command::DeleteResource { key: Stored::take(from)? },
        2 => Command::Create(Stored::take(from)?),
        3 => Command::Cancel { instance: Stored::take(from)? },
        4 => Command::CompleteJob { job: Stored::take(from)?, variables: Stored::take(from)?, result: None },
        44 => Command::CompleteJob {
            job: Stored::take(from)?,
            variables: Stored::take(from)?,
            result: Some(Box::new(Stored::take(from)?)),
        },
        5 => Command::FailJob(Stored::take(from)?),
        6 => Command::ThrowError(Stored::take(from)?),
        7 => Command::UpdateJob(Stored::take(from)?),
        8 => Command::SetVariables { scope: Stored::take(from)?, variables: Stored::take(from)?, local: Stored::take(from)? },
        9 => Command::ResolveIncident { incident: Stored::take(from)? },
        10 => Command::Activate(Stored::take(from)?),
        11 => Command::Release { jobs: Stored::take(from)? },
        12 => Command::JobDue { job: Stored::take(from)? },
        13 => Command::Evaluate(Stored::take(from)?),
        14 => Command::DeleteEvaluation { evaluation: Stored::take(from)? },
        15 => Command::Turn { wait: Stored::take(from)?, instance: Stored::take(from)? },
        16 => Command::TimerDue { wait: Stored::take(from)?, instance: Stored::take(from)? },
        17 => Command::SignalDue { signal: Stored::take(from)? },
        18 => Command::FireTimer { timer: Stored::take(from)? },
        19 => Command::RescheduleTimer { timer: Stored::take(from)?, due: Stored::take(from)? },
        20 => Command::Publish(Stored::take(from)?),
        21 => Command::Correlate(Stored::take(from)?),
        22 => Command::Broadcast { tenant: Stored::take(from)?, name: Stored::take(from)?, variables: Stored::take(from)? },
        23 => Command::EvaluateConditions(Stored::take(from)?),
        24 => Command::MessageExpired { message: Stored::take(from)? },
        25 => Command::StartAdHoc(Stored::take(from)?),
        26 => from.framed(take_directed)?,
        28 => Command::CreateAt(Stored::take(from)?),
        40 => Command::AssignUserTask(Stored::take(from)?),
        41 => Command::UnassignUserTask { task: Stored::take(from)?, action: Stored::take(from)? },
        42 => Command::UpdateUserTask(Stored::take(from)?),
        43 => take_completed_task(from)?,
        47 => Command::Change { instance: Stored::take(from)?, change: Stored::take(from)? },
        48 => Command::Suspend { instance: Stored::take(from)? },
        49 => Command::Resume { instance: Stored::take(from)? },
        50 => Command::DeleteInstance { instance: Stored::take(from)? },
        51 => Command::Batch(Stored::take(from)?),
        61 => Command::TellStep(Stored::take(from)?),
        62 => Command::FailAttempt(Stored::take(from)?),
        63 => Command::RetryInstance { instance: Stored::take(from)? },
        53 => Command::Submit(Stored::take(from)?),
        54 => Command::CompleteExecutions { jobs: Stored::take(from)? },
        55 => Command::CancelExecution { job: Stored::take(from)? },
        56 => Command::RetryExecution { job: Stored::take(from)?, retries: Stored::take(from)? },
        57 => Command::PutPolicy(Stored::take(from)?),
        85 => Command::Announced(Stored::take(from)?),
        58 => Command::DeletePolicy { reference: Stored::take(from)? },
        74 => Command::PutListener(Stored::take(from)?),
        75 => Command::DeleteListener { id: Stored::take(from)? },
        96 => Command::ConfigureListeners { listeners: Stored::take(from)? },
        68 => Command::Report { reports: Stored::take(from)? },
        69 => Command::RetryJob { job: Stored::take(from)?, retries: Stored::take(from)? },
        70 => Command::PutSchedule(Box::new(Stored::take(from)?)),
        71 => Command::DeleteSchedule { tenant: Stored::take(from)?, reference: Stored::take(from)? },
        72 => Command::ScheduleDue { schedule: Stored::take(from)? },
        tag => return Err(unknown("command", tag)),
    })
}

/// Directing an ad-hoc sub-process was a command of its own once; some may lie in an inbox.
fn take_directed(from: &mut Reader<'_>) -> Result<Command, Error> {
    let (job, variables, activities) = (Stored::take(from)?, Stored::take(from)?, Stored::take(from)?);
    let result = AdHocResult { activities, is_over: Stored::take(from)?, drop_rest: Stored::take(from)? };
    Ok(Command::CompleteJob { job, variables, result: Some(Box::new(JobResult::AdHoc(result))) })
}

fn take_completed_task(from: &mut Reader<'_>) -> Result<Command, Error> {
    let (task, variables) = (Stored::take(from)?, Stored::take(from)?);
    Ok(Command::CompleteUserTask { task, variables, action: Stored::take(from)? })
}

fn number(command: &Command) -> u8 {
    match command {
        Command::Deploy(_) => 0,
        Command::DeleteResource { .. } => 1,
        Command::Create(_) => 2,
        Command::Cancel { .. } => 3,
        Command::CompleteJob { result: None, .. } => 4,
        Command::CompleteJob { result: Some(_), .. } => 44,
        Command::FailJob(_) => 5,
        Command::ThrowError(_) => 6,
        Command::UpdateJob(_) => 7,
        Command::SetVariables { .. } => 8,
        Command::ResolveIncident { .. } => 9,
        Command::Activate(_) => 10,
        Command::Release { .. } => 11,
        Command::JobDue { .. } => 12,
        Command::Evaluate(_) => 13,
        Command::DeleteEvaluation { .. } => 14,
        Command::Turn { .. } => 15,
        Command::TimerDue { .. } => 16,
        Command::SignalDue { .. } => 17,
        Command::FireTimer { .. } => 18,
        Command::RescheduleTimer { .. } => 19,
        Command::Publish(_) => 20,
        Command::Correlate(_) => 21,
        Command::Broadcast { .. } => 22,
        Command::EvaluateConditions(_) => 23,
        Command::MessageExpired { .. } => 24,
        Command::StartAdHoc(_) => 25,
        Command::CreateAt(_) => 28,
        Command::AssignUserTask(_) => 40,
        Command::UnassignUserTask { .. } => 41,
        Command::UpdateUserTask(_) => 42,
        Command::CompleteUserTask { .. } => 43,
        Command::Change { .. } => 47,
        Command::Suspend { .. } => 48,
        Command::Resume { .. } => 49,
        Command::DeleteInstance { .. } => 50,
        Command::Batch(_) => 51,
        Command::TellStep(_) => 61,
        Command::FailAttempt(_) => 62,
        Command::RetryInstance { .. } => 63,
        Command::Report { .. } => 68,
        Command::RetryJob { .. } => 69,
        Command::PutSchedule(_) => 70,
        Command::DeleteSchedule { .. } => 71,
        Command::ScheduleDue { .. } => 72,
        Command::Submit(_) => 53,
        Command::CompleteExecutions { .. } => 54,
        Command::CancelExecution { .. } => 55,
        Command::RetryExecution { .. } => 56,
        Command::PutPolicy(_) => 57,
        Command::Announced(_) => 85,
        Command::DeletePolicy { .. } => 58,
        Command::PutListener(_) => 74,
        Command::DeleteListener { .. } => 75,
        Command::ConfigureListeners { .. } => 96,
    }
}

impl Stored for JobResult {
    fn put(&self, to: &mut Writer) {
        to.framed(|to| match self {
            Self::UserTask(result) => {
                to.byte(1);
                result.put(to);
            }
            Self::AdHoc(result) => {
                to.byte(2);
                result.put(to);
            }
        });
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        from.framed(|from| match from.byte()? {
            1 => Ok(Self::UserTask(Stored::take(from)?)),
            2 => Ok(Self::AdHoc(Stored::take(from)?)),
            tag => Err(unknown("result of a job", tag)),
        })
    }
}

impl Stored for OnConflict {
    fn put(&self, to: &mut Writer) {
        to.byte(match self {
            Self::Reject => 0,
            Self::Return => 1,
            Self::Replace => 2,
        });
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        match from.byte()? {
            0 => Ok(Self::Reject),
            1 => Ok(Self::Return),
            2 => Ok(Self::Replace),
            tag => Err(unknown("way out of a conflict", tag)),
        }
    }
}

impl Stored for ProcessRef {
    fn put(&self, to: &mut Writer) {
        match self {
            Self::Key(key) => {
                to.byte(0);
                key.put(to);
            }
            Self::Id { id, version } => {
                to.byte(1);
                id.put(to);
                version.put(to);
            }
        }
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        match from.byte()? {
            0 => Ok(Self::Key(Stored::take(from)?)),
            1 => Ok(Self::Id { id: Stored::take(from)?, version: Stored::take(from)? }),
            tag => Err(unknown("reference to a process", tag)),
        }
    }
}

impl Stored for DecisionRef {
    fn put(&self, to: &mut Writer) {
        match self {
            Self::Key(key) => {
                to.byte(0);
                key.put(to);
            }
            Self::Id(id) => {
                to.byte(1);
                id.put(to);
            }
        }
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        match from.byte()? {
            0 => Ok(Self::Key(Stored::take(from)?)),
            1 => Ok(Self::Id(Stored::take(from)?)),
            tag => Err(unknown("reference to a decision", tag)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use engine::{Document, JobKey};

    use super::*;
    use crate::format::{VERSION, decode_request};

    #[test]
    fn a_command_of_its_own_that_directed_is_read_as_what_came_of_the_job() {
        let variables: Document = vec![("a".into(), "1".into())];
        let activities: Vec<(Arc<str>, Document)> = vec![("pay".into(), Document::new())];
        let mut to = Writer::starting_with(VERSION);
        to.framed(|to| {
            to.framed(|to| {
                to.byte(26);
                to.framed(|to| {
                    put_both(&JobKey(7), &variables, to);
                    activities.put(to);
                    put_both(&true, &false, to);
                });
            });
            None::<IdempotencyKey>.put(to);
        });
        let result =
            Some(Box::new(JobResult::AdHoc(AdHocResult { activities: activities.clone(), is_over: true, drop_rest: false })));
        let command = Command::CompleteJob { job: JobKey(7), variables: variables.clone(), result };
        assert_eq!(decode_request(&to.finish()).unwrap(), Request { caller: before_callers(), command, idempotency: None });
    }
}
