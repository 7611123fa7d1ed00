//! Policies: what is allowed for which queue, and which policy that is.

use std::sync::Arc;

use crate::adapt::Adaptive;
use crate::retry::Retry;
use crate::{Group, Millis, Pace, Rules};

/// The longest a queue may be where a policy says that it has an end, but not which.
pub const QUEUE_LENGTH_DEFAULT: u64 = 10_000;

/// How long a job may wait where a policy says what becomes of one that waits too long, but not how long that is.
pub const WAIT_DEFAULT: Millis = 3_600_000;

/// The longest a job may have to wait to count as one priority more: the sum with any priority must not overflow.
pub const AGEING_MAX: Millis = 7 * 24 * 60 * 60 * 1000;

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
    pub rate: Option<Rate>,
    /// At least so long between two starts.
    pub delay: Option<Millis>,
    pub quota: Option<Quota>,
    pub wait: Option<Wait>,
    /// Whether groups take turns.
    pub fair: bool,
    /// Whoever has waited so long counts as one priority more.
    pub ageing: Option<Millis>,
    pub retry: Option<Retry>,
    /// Whether executions are refused.
    pub drains: bool,
}

/// Which queues a policy is for. Limits of a wide scope hold for each queue in it by itself, but for a tenant's quota.
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
    pub adaptive: Option<Adaptive>,
}

/// What becomes of a job that finds no free slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// It waits for one, in order.
    Enqueue,
    /// It is refused.
    Cancel,
}

/// How many may start per window, of all or of each group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rate {
    pub pace: Pace,
    /// None, or the same that tell groups apart for concurrency.
    pub parameters: Vec<Arc<str>>,
}

/// How many there may be at once: of the action, or of the tenant where that is the scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quota {
    pub running: Option<u32>,
    pub waiting: Option<u64>,
    /// Waiting and running.
    pub total: Option<u64>,
}

/// How long a job may wait for a worker, and what becomes of it then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    pub most: Millis,
    pub then: Overdue,
}

/// What becomes of an execution that has waited too long. A job of a process is an incident.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overdue {
    Fail,
    Cancel,
}

impl Policy {
    /// One that says nothing yet.
    pub fn new(scope: Scope) -> Self {
        Self {
            scope,
            priority: 0,
            concurrency: None,
            queue_max: None,
            paused: false,
            rate: None,
            delay: None,
            quota: None,
            wait: None,
            fair: false,
            ageing: None,
            retry: None,
            drains: false,
        }
    }

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
        let of_slots = self.concurrency.as_ref().map_or(&[][..], |concurrency| &concurrency.parameters);
        let of_rate = self.rate.as_ref().map_or(&[][..], |rate| &rate.parameters);
        if of_slots.is_empty() { of_rate } else { of_slots }
    }

    /// Whether it matters how many jobs of the queue there are when another comes.
    pub fn counts(&self) -> bool {
        let quota = self.own_quota();
        self.queue_max.is_some()
            || self.concurrency.as_ref().is_some_and(|concurrency| concurrency.method == Method::Cancel)
            || quota.waiting.is_some()
            || quota.total.is_some()
    }

    /// Its quota, if that is the queue's and not a tenant's.
    fn own_quota(&self) -> Quota {
        let is_own = !matches!(self.scope, Scope::Tenant(_));
        self.quota.filter(|_| is_own).unwrap_or_default()
    }

    /// What it says about handing out; nothing if it says nothing.
    pub fn rules(&self) -> Option<Rules> {
        let concurrency = self.concurrency.as_ref();
        let rules = Rules {
            limit: concurrency.map(|concurrency| concurrency.limit),
            by_group: concurrency.is_some_and(|concurrency| !concurrency.parameters.is_empty()),
            adaptive: concurrency.and_then(|concurrency| concurrency.adaptive),
            paused: self.paused,
            groups_paused: Vec::new(),
            rate: self.rate.as_ref().map(|rate| rate.pace),
            rate_by_group: self.rate.as_ref().is_some_and(|rate| !rate.parameters.is_empty()),
            delay: self.delay,
            running_max: self.own_quota().running,
            has_groups: !self.parameters().is_empty(),
            fair: self.fair,
            ageing: self.ageing,
            holds: self.retry.as_ref().is_some_and(|retry| retry.holds),
        };
        rules.says_something().then_some(rules)
    }
}

/// The quota of a tenant: of the policies for it, that of the highest priority. It holds for all actions together, also for those with a
/// policy of their own.
pub fn quota_of<'a>(policies: impl IntoIterator<Item = &'a Policy>, tenant: &str) -> Option<Quota> {
    let of_tenant = |policy: &&Policy| matches!(&policy.scope, Scope::Tenant(of) if **of == *tenant);
    applying(policies.into_iter().filter(of_tenant), "", tenant)?.quota
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
    /// As many as may wait do.
    QuotaWaiting { limit: u64 },
    /// As many as there may be wait or run.
    QuotaTotal { limit: u64 },
}

/// How many jobs there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Present {
    pub waiting: u64,
    pub running: u64,
    /// Waiting and running, of the group of the one that comes.
    pub in_group: u64,
}

/// Whether one more may come, given how many there are in the queue.
pub fn admission(policy: &Policy, present: Present) -> Result<(), Refusal> {
    if let Some(Concurrency { limit, method: Method::Cancel, .. }) = policy.concurrency
        && u64::from(limit) <= present.in_group
    {
        return Err(Refusal::NoSlot { limit });
    }
    match policy.queue_max {
        Some(limit) if limit <= present.waiting => return Err(Refusal::QueueFull { limit }),
        Some(_) | None => {}
    }
    within(&policy.own_quota(), present)
}

/// Whether one more is within a quota.
pub fn within(quota: &Quota, present: Present) -> Result<(), Refusal> {
    match (quota.waiting, quota.total) {
        (Some(limit), _) if limit <= present.waiting => Err(Refusal::QuotaWaiting { limit }),
        (_, Some(limit)) if limit <= present.waiting + present.running => Err(Refusal::QuotaTotal { limit }),
        (_, _) => Ok(()),
    }
}

/// The groups of a queue that are paused, in the words in which jobs have them.
pub fn pausing(rules: Option<Rules>, paused: bool, groups: Vec<Group>) -> Option<Rules> {
    let mut rules = rules.unwrap_or_default();
    rules.paused |= paused;
    rules.has_groups |= !groups.is_empty();
    rules.groups_paused = groups;
    rules.says_something().then_some(rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(scope: Scope, priority: i32) -> Policy {
        Policy { priority, ..Policy::new(scope) }
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
        let ask = |policy: &Policy, waiting, running, in_group| admission(policy, Present { waiting, running, in_group });
        let mut limited = policy(Scope::Global, 0);
        assert_eq!(ask(&limited, 1 << 40, 1 << 40, 1 << 40), Ok(()));
        limited.queue_max = Some(3);
        assert_eq!((ask(&limited, 2, 9, 9), ask(&limited, 3, 9, 9)), (Ok(()), Err(Refusal::QueueFull { limit: 3 })));
        let concurrency = |method| Some(Concurrency { limit: 2, parameters: Vec::new(), method, adaptive: None });
        limited.concurrency = concurrency(Method::Cancel);
        assert_eq!((ask(&limited, 0, 0, 1), ask(&limited, 0, 0, 2)), (Ok(()), Err(Refusal::NoSlot { limit: 2 })));
        limited.concurrency = concurrency(Method::Enqueue);
        assert_eq!(ask(&limited, 0, 0, 2), Ok(()), "it waits");
        limited.quota = Some(Quota { running: Some(1), waiting: Some(2), total: Some(4) });
        assert_eq!(ask(&limited, 2, 0, 0), Err(Refusal::QuotaWaiting { limit: 2 }));
        assert_eq!((ask(&limited, 1, 2, 0), ask(&limited, 1, 3, 0)), (Ok(()), Err(Refusal::QuotaTotal { limit: 4 })));
        assert_eq!(limited.rules().and_then(|rules| rules.running_max), Some(1));
        limited.scope = Scope::Tenant("t".into());
        assert_eq!(ask(&limited, 2, 9, 0), Ok(()), "it is the tenant's");
        assert_eq!(limited.rules().and_then(|rules| rules.running_max), None);
        assert_eq!(quota_of([&limited], "t"), limited.quota);
        assert_eq!(quota_of([&limited], "u"), None);
    }

    #[test]
    fn what_says_nothing_about_handing_out_makes_no_rules() {
        let mut quiet = policy(Scope::Global, 0);
        (quiet.queue_max, quiet.wait) = (Some(1), Some(Wait { most: 1, then: Overdue::Fail }));
        assert_eq!(quiet.rules(), None);
        assert_eq!(pausing(None, false, Vec::new()), None);
        assert!(pausing(None, true, Vec::new()).is_some_and(|rules| rules.paused));
        let group: Group = Some("g".into());
        assert!(pausing(quiet.rules(), false, vec![group]).is_some_and(|rules| rules.has_groups && !rules.paused));
        quiet.delay = Some(5);
        assert_eq!(quiet.rules().and_then(|rules| rules.delay), Some(5));
    }
}
