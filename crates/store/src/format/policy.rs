//! Policies of queues, and those who listen to all user tasks.

use model::GlobalListener;
use queue::policy::{Concurrency, Method, Policy, Scope};

use super::bytes::{Reader, Stored, Writer, record, unknown};
use crate::Error;

record!(Policy { scope, priority, concurrency, queue_max, paused });
record!(GlobalListener { id, job_type, retries, events, after_own, priority });
record!(Concurrency { limit, parameters, method });

impl Stored for Scope {
    fn put(&self, to: &mut Writer) {
        match self {
            Self::Global => to.byte(0),
            Self::Tenant(tenant) => {
                to.byte(1);
                tenant.put(to);
            }
            Self::Action(action) => {
                to.byte(2);
                action.put(to);
            }
        }
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        match from.byte()? {
            0 => Ok(Self::Global),
            1 => Ok(Self::Tenant(Stored::take(from)?)),
            2 => Ok(Self::Action(Stored::take(from)?)),
            tag => Err(unknown("scope of a policy", tag)),
        }
    }
}

impl Stored for Method {
    fn put(&self, to: &mut Writer) {
        to.byte(match self {
            Self::Enqueue => 0,
            Self::Cancel => 1,
        });
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        match from.byte()? {
            0 => Ok(Self::Enqueue),
            1 => Ok(Self::Cancel),
            tag => Err(unknown("method of a limit", tag)),
        }
    }
}
