//! Requests: commands with what their senders want besides.

use super::bytes::{Reader, Stored, Writer, record, unknown};
use crate::Error;
use crate::log::{
    Activate, Command, Create, Deploy, DeployResource, FailJob, IdempotencyKey, ProcessRef, Released, Request, ThrowError,
    UpdateJob,
};

record!(Request { command, idempotency });
record!(IdempotencyKey { tenant, key, fingerprint });
record!(Deploy { tenant, resources });
record!(DeployResource { name, content });
record!(Create { process, tenant, variables, tags, business_id });
record!(FailJob { job, retries, message, backoff, variables });
record!(ThrowError { job, code, message, variables });
record!(UpdateJob { job, retries, timeout });
record!(Released { job, deadline });
record!(Activate { job_type, worker, timeout, max, tenants, fetch });

impl Stored for Command {
    fn put(&self, to: &mut Writer) {
        to.byte(number(self));
        match self {
            Self::Deploy(deploy) => deploy.put(to),
            Self::DeleteResource { key } => key.put(to),
            Self::Create(create) => create.put(to),
            Self::Cancel { instance } => instance.put(to),
            Self::CompleteJob { job, variables } => {
                job.put(to);
                variables.put(to);
            }
            Self::FailJob(fail) => fail.put(to),
            Self::ThrowError(throw) => throw.put(to),
            Self::UpdateJob(update) => update.put(to),
            Self::SetVariables { scope, variables, local } => {
                scope.put(to);
                variables.put(to);
                local.put(to);
            }
            Self::ResolveIncident { incident } => incident.put(to),
            Self::Activate(activate) => activate.put(to),
            Self::Release { jobs } => jobs.put(to),
            Self::JobDue { job } => job.put(to),
        }
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        Ok(match from.byte()? {
            0 => Self::Deploy(Stored::take(from)?),
            1 => Self::DeleteResource { key: Stored::take(from)? },
            2 => Self::Create(Stored::take(from)?),
            3 => Self::Cancel { instance: Stored::take(from)? },
            4 => Self::CompleteJob { job: Stored::take(from)?, variables: Stored::take(from)? },
            5 => Self::FailJob(Stored::take(from)?),
            6 => Self::ThrowError(Stored::take(from)?),
            7 => Self::UpdateJob(Stored::take(from)?),
            8 => Self::SetVariables { scope: Stored::take(from)?, variables: Stored::take(from)?, local: Stored::take(from)? },
            9 => Self::ResolveIncident { incident: Stored::take(from)? },
            10 => Self::Activate(Stored::take(from)?),
            11 => Self::Release { jobs: Stored::take(from)? },
            12 => Self::JobDue { job: Stored::take(from)? },
            tag => return Err(unknown("command", tag)),
        })
    }
}

fn number(command: &Command) -> u8 {
    match command {
        Command::Deploy(_) => 0,
        Command::DeleteResource { .. } => 1,
        Command::Create(_) => 2,
        Command::Cancel { .. } => 3,
        Command::CompleteJob { .. } => 4,
        Command::FailJob(_) => 5,
        Command::ThrowError(_) => 6,
        Command::UpdateJob(_) => 7,
        Command::SetVariables { .. } => 8,
        Command::ResolveIncident { .. } => 9,
        Command::Activate(_) => 10,
        Command::Release { .. } => 11,
        Command::JobDue { .. } => 12,
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
