//! How long what has ended is kept.

use std::sync::Arc;
use std::time::Duration;

use store::Millis;
use store::retention::{Aged, Finished};

/// What nobody has said anything else about is kept for 30 days.
const KEPT: Kept = Kept::For(Duration::from_secs(30 * 24 * 60 * 60));

/// How long something is kept after it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kept {
    For(Duration),
    Forever,
}

impl Kept {
    /// What ended before this time goes; nothing, where it is kept forever.
    pub(crate) fn before(self, now: Millis) -> Option<Millis> {
        match self {
            Self::For(time) => Some(now.saturating_sub(Millis::try_from(time.as_millis()).unwrap_or(Millis::MAX))),
            Self::Forever => None,
        }
    }
}

/// What instances of some process, of some tenant, or both, have of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptOf {
    /// Of any where absent.
    pub process_id: Option<Arc<str>>,
    pub tenant: Option<Arc<str>>,
    pub kept: Kept,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retention {
    /// Finished instances with all that belongs to them.
    pub instances: Kept,
    /// Those of which it is another time. Where several fit, the one that names the process and the tenant, then the one that names the
    /// process, holds.
    pub instances_of: Vec<KeptOf>,
    pub log: Kept,
    pub executions: Kept,
    /// Of decisions evaluated without a process.
    pub evaluations: Kept,
    /// What the audit trail has, and operations over many.
    pub audit: Kept,
}

impl Default for Retention {
    fn default() -> Self {
        Self { instances: KEPT, instances_of: Vec::new(), log: KEPT, executions: KEPT, evaluations: KEPT, audit: KEPT }
    }
}

impl Retention {
    pub(crate) fn of_instance(&self, one: &Finished) -> Kept {
        let fits = |asked: &Option<Arc<str>>, is: &Arc<str>| asked.as_ref().is_none_or(|asked| asked == is);
        let fitting =
            self.instances_of.iter().filter(|of| fits(&of.process_id, &one.process_id) && fits(&of.tenant, &one.tenant));
        let narrowest = fitting.max_by_key(|of| (of.process_id.is_some(), of.tenant.is_some()));
        narrowest.map_or(self.instances, |of| of.kept)
    }

    /// Every time for which some instances are kept, each once.
    pub(crate) fn times(&self) -> Vec<Kept> {
        let mut times: Vec<Kept> = self.instances_of.iter().map(|of| of.kept).chain([self.instances]).collect();
        times.sort_unstable();
        times.dedup();
        times.retain(|kept| *kept != Kept::Forever);
        times
    }

    /// What has a time of its own; `waits` is that of timers, subscriptions and correlations. Answers say by themselves when they expire.
    pub(crate) fn of_aged(&self, what: Aged, waits: Duration) -> Kept {
        match what {
            Aged::Log => self.log,
            Aged::Executions => self.executions,
            Aged::Evaluations => self.evaluations,
            Aged::Timers | Aged::Subscriptions | Aged::Correlations => Kept::For(waits),
            Aged::Audit | Aged::BatchItems | Aged::Batches => self.audit,
            Aged::FirstAnswers | Aged::Answers | Aged::Paces => Kept::For(Duration::ZERO),
        }
    }
}

#[cfg(test)]
mod tests {
    use engine::InstanceKey;

    use super::*;

    fn finished(process_id: &str, tenant: &str) -> Finished {
        let (process_id, tenant) = (process_id.into(), tenant.into());
        Finished { key: InstanceKey(1), ended: 0, process_id, tenant, is_called: false }
    }

    #[test]
    fn the_narrowest_rule_holds() {
        let days = |days: u64| Kept::For(Duration::from_secs(days * 86_400));
        let of = |process_id: Option<&str>, tenant: Option<&str>, kept| KeptOf {
            process_id: process_id.map(Into::into),
            tenant: tenant.map(Into::into),
            kept,
        };
        let retention = Retention {
            instances_of: vec![
                of(Some("p"), Some("a"), days(1)),
                of(Some("p"), None, days(2)),
                of(None, Some("a"), Kept::Forever),
            ],
            ..Retention::default()
        };
        for (process_id, tenant, kept) in
            [("p", "a", days(1)), ("p", "b", days(2)), ("q", "a", Kept::Forever), ("q", "b", days(30))]
        {
            assert_eq!(retention.of_instance(&finished(process_id, tenant)), kept, "{process_id} of {tenant}");
        }
        assert_eq!(retention.times(), [days(1), days(2), days(30)]);
    }

    #[test]
    fn what_is_kept_forever_never_goes() {
        assert_eq!(Kept::Forever.before(i64::MAX), None);
        assert_eq!(Kept::For(Duration::from_secs(1)).before(5_000), Some(4_000));
        assert_eq!(Kept::For(Duration::MAX).before(0), Some(-i64::MAX));
    }
}
