//! Policies of queues, and those who listen to all user tasks.

use model::GlobalListener;
use queue::adapt::Adaptive;
use queue::policy::{Concurrency, Method, Overdue, Policy, Quota, Rate, Scope, Wait};
use queue::retry::{Delays, Retry};
use queue::{Pace, Starts};

use super::bytes::{Reader, Stored, Writer, record, unknown};
use crate::Error;

record!(Policy { scope, priority, concurrency, queue_max, paused; rate, delay, quota, wait, fair, ageing, retry, drains });
record!(GlobalListener { id, job_type, retries, events, after_own, priority; configured });
record!(Concurrency { limit, parameters, method; adaptive });
record!(Adaptive { limit_min, latency });
record!(Rate { pace, parameters });
record!(Pace { limit, window });
record!(Quota { running, waiting, total });
record!(Wait { most, then });
record!(Retry { delays, jitter_percent, holds });

impl Stored for Starts {
    fn put(&self, to: &mut Writer) {
        let moments: Vec<_> = self.moments().collect();
        to.number(moments.len() as u64);
        for (at, count) in moments {
            at.put(to);
            count.put(to);
        }
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        let count = from.number()?;
        let moments = (0..count).map(|_| Ok((Stored::take(from)?, Stored::take(from)?)));
        Ok(Self::of(moments.collect::<Result<Vec<_>, Error>>()?))
    }
}

impl Stored for Overdue {
    fn put(&self, to: &mut Writer) {
        to.byte(match self {
            Self::Fail => 0,
            Self::Cancel => 1,
        });
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        match from.byte()? {
            0 => Ok(Self::Fail),
            1 => Ok(Self::Cancel),
            tag => Err(unknown("end of a wait", tag)),
        }
    }
}

impl Stored for Delays {
    fn put(&self, to: &mut Writer) {
        match self {
            Self::Listed(delays) => {
                to.byte(0);
                delays.put(to);
            }
            Self::Growing { first, factor, most } => {
                to.byte(1);
                first.put(to);
                factor.put(to);
                most.put(to);
            }
        }
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        match from.byte()? {
            0 => Ok(Self::Listed(Stored::take(from)?)),
            1 => Ok(Self::Growing { first: Stored::take(from)?, factor: Stored::take(from)?, most: Stored::take(from)? }),
            tag => Err(unknown("delays of retries", tag)),
        }
    }
}

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
