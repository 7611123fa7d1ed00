//! Policies: what is allowed for which queue, and which policy that is.

use std::sync::Arc;

/// The longest a queue may be where a policy says that it has an end, but not which.
pub const QUEUE_LENGTH_DEFAULT: u64 = 10_000;

/// What a policy says. What it leaves out is not limited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    pub scope: Scope,
    /// Among policies of the same scope, the higher one applies.
    pub priority: i32,
    pub concurrency: Option<Concurrency>,
    /// How many may wait.
    pub queue_max: Option<u64>,
    pub paused: bool,
}

/// Which queues a policy is for. Limits of a wide scope hold for each queue in it by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    Global,
    /// All actions of a tenant.
    Tenant(Arc<str>),
    Action(Arc<str>),
}

/// How many may run at once, of all or of each group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Concurrency {
    pub limit: u32,
    /// Names of variables whose values tell groups apart; without any, all jobs are one group.
    pub parameters: Vec<Arc<str>>,
    pub method: Method,
}

/// What becomes of a job that finds no free slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// It waits for one, in order.
    Enqueue,
    /// It is refused.
    Cancel,
}

impl Policy {
    fn is_for(&self, action: &str, tenant: &str) -> bool {
        match &self.scope {
            Scope::Global => true,
            Scope::Tenant(of) => **of == *tenant,
            Scope::Action(of) => **of == *action,
        }
    }

    fn rank(&self) -> (u8, i32) {
        let specific = match self.scope {
            Scope::Global => 0,
            Scope::Tenant(_) => 1,
            Scope::Action(_) => 2,
        };
        (specific, self.priority)
    }

    /// The names of the variables that tell its groups apart.
    pub fn parameters(&self) -> &[Arc<str>] {
        self.concurrency.as_ref().map_or(&[], |concurrency| &concurrency.parameters)
    }
}

/// The one that applies to a queue: of the narrowest scope, then of the highest priority, then the first.
pub fn applying<'a>(policies: impl IntoIterator<Item = &'a Policy>, action: &str, tenant: &str) -> Option<&'a Policy> {
    let mut best: Option<&Policy> = None;
    for policy in policies.into_iter().filter(|policy| policy.is_for(action, tenant)) {
        if best.is_none_or(|best| best.rank() < policy.rank()) {
            best = Some(policy);
        }
    }
    best
}

/// Why a job is not taken into a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// As many as may wait do.
    QueueFull { limit: u64 },
    /// All slots of its group are taken or waited for.
    NoSlot { limit: u32 },
}

/// Whether one more may come, given how many wait in the queue and how many wait or run in its group.
pub fn admission(policy: &Policy, waiting: u64, in_group: u64) -> Result<(), Refusal> {
    if let Some(Concurrency { limit, method: Method::Cancel, .. }) = policy.concurrency
        && u64::from(limit) <= in_group
    {
        return Err(Refusal::NoSlot { limit });
    }
    match policy.queue_max {
        Some(limit) if limit <= waiting => Err(Refusal::QueueFull { limit }),
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(scope: Scope, priority: i32) -> Policy {
        Policy { scope, priority, concurrency: None, queue_max: None, paused: false }
    }

    #[test]
    fn the_narrowest_applies_then_the_higher_priority() {
        let all = [
            policy(Scope::Global, 100),
            policy(Scope::Tenant("t".into()), 50),
            policy(Scope::Action("a".into()), 0),
            policy(Scope::Action("a".into()), 7),
            policy(Scope::Action("b".into()), 9),
        ];
        let which = |action, tenant| applying(&all, action, tenant).map(|found| found.rank());
        assert_eq!(which("a", "t"), Some((2, 7)));
        assert_eq!(which("c", "t"), Some((1, 50)));
        assert_eq!(which("c", "u"), Some((0, 100)));
        assert_eq!(applying(&all[2..], "c", "t"), None);
    }

    #[test]
    fn a_job_is_refused_at_the_limit_and_not_before() {
        let mut limited = policy(Scope::Global, 0);
        assert_eq!(admission(&limited, u64::MAX, u64::MAX), Ok(()));
        limited.queue_max = Some(3);
        assert_eq!((admission(&limited, 2, 9), admission(&limited, 3, 9)), (Ok(()), Err(Refusal::QueueFull { limit: 3 })));
        let concurrency = |method| Some(Concurrency { limit: 2, parameters: Vec::new(), method });
        limited.concurrency = concurrency(Method::Cancel);
        assert_eq!((admission(&limited, 0, 1), admission(&limited, 0, 2)), (Ok(()), Err(Refusal::NoSlot { limit: 2 })));
        limited.concurrency = concurrency(Method::Enqueue);
        assert_eq!(admission(&limited, 0, 2), Ok(()), "it waits");
    }
}
