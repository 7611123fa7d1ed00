//! What workers say of jobs, and what becomes of it.

use queue::claim::Claim;

use super::bytes::{Reader, Stored, Writer, record, unknown};
use crate::Error;
use crate::log::{Became, Failed, Report, Reported, Said, Thrown};

record!(Report { job, claim, said });
record!(Claim { worker, lease });
record!(Failed { retryable, message, backoff, variables });
record!(Thrown { code, message, variables });
record!(Reported { job, became });

impl Stored for Said {
    fn put(&self, to: &mut Writer) {
        match self {
            Self::Completed { variables } => {
                to.byte(0);
                variables.put(to);
            }
            Self::Failed(failed) => {
                to.byte(1);
                failed.put(to);
            }
            Self::Alive { lease, progress } => {
                to.byte(2);
                lease.put(to);
                progress.put(to);
            }
            Self::Returned => to.byte(3),
            Self::Snoozed { delay } => {
                to.byte(4);
                delay.put(to);
            }
            Self::Thrown(thrown) => {
                to.byte(5);
                thrown.put(to);
            }
        }
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        Ok(match from.byte()? {
            0 => Self::Completed { variables: Stored::take(from)? },
            1 => Self::Failed(Stored::take(from)?),
            2 => Self::Alive { lease: Stored::take(from)?, progress: Stored::take(from)? },
            3 => Self::Returned,
            4 => Self::Snoozed { delay: Stored::take(from)? },
            5 => Self::Thrown(Stored::take(from)?),
            tag => return Err(unknown("report", tag)),
        })
    }
}

impl Stored for Became {
    fn put(&self, to: &mut Writer) {
        match self {
            Self::Taken { until } => {
                to.byte(0);
                until.put(to);
            }
            Self::Lost => to.byte(1),
            Self::Gone => to.byte(2),
            Self::Alone => to.byte(3),
            Self::Refused(rejection) => {
                to.byte(4);
                rejection.put(to);
            }
        }
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        Ok(match from.byte()? {
            0 => Self::Taken { until: Stored::take(from)? },
            1 => Self::Lost,
            2 => Self::Gone,
            3 => Self::Alone,
            4 => Self::Refused(Stored::take(from)?),
            tag => return Err(unknown("outcome of a report", tag)),
        })
    }
}
