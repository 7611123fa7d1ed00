//! Work without a process, under policies: invariants 1, 3, 6, 7 and 8.
//!
//! A job starts when it is handed out, which the numbers of its leases count. What a policy says is asked of every start, as it was when the commit that
//! made it was closed.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::JobKey;
use queue::policy::{Policy, Scope};
use rustc_hash::{FxHashMap, FxHashSet};
use store::log::ActivatedJob;
use store::row::{Availability, Job};
use store::{Commit, Millis};

use super::{Check, Seen, ensure};

#[derive(Default)]
pub(crate) struct Queues {
    rows: FxHashMap<JobKey, Job>,
    policies: BTreeMap<Arc<str>, Policy>,
    /// Leases that became durable: job, worker and when it ends.
    leases: FxHashSet<(JobKey, Arc<str>, Millis)>,
    /// When jobs were started while a policy said how fast they may, and of which group.
    starts: Vec<(Millis, Option<Arc<str>>)>,
    /// Whether the clock was ever set back.
    was_set_back: bool,
}

impl Queues {
    pub(super) fn landed(&mut self, commit: &Commit, seen: &mut Seen) -> Check {
        for version in &commit.changes.policies_new {
            match &version.policy {
                Some(policy) => drop(self.policies.insert(version.reference.clone(), policy.clone())),
                None => drop(self.policies.remove(&version.reference)),
            }
        }
        let mut count = |what: &'static str, times: usize| *seen.entry(what).or_default() += times as u64;
        count("policy put", commit.changes.policies_new.len());
        let (new, changed) = (&commit.changes.executions_new, &commit.changes.executions_changed);
        let mut started = Vec::new();
        for (job, is_new) in new.iter().map(|job| (job, true)).chain(changed.iter().map(|job| (job, false))) {
            let before = self.rows.insert(job.key, job.clone());
            ensure(3, before.is_none() == is_new, || format!("execution {} is new: {is_new}, but was {before:?}", job.key))?;
            if let Some(before) = &before {
                self.changed(before, job, commit.now)?;
                count(
                    "execution waited too long",
                    usize::from(&*job.error_code == "MAX_WAIT" && &*before.error_code != "MAX_WAIT"),
                );
                count("execution waits for its next try", usize::from(job.waits_for_retry()));
            }
            // Given back and handed out again in one tick, it may look as before but for the number of its lease.
            if before.as_ref().map_or(0, |before| before.leases) < job.leases {
                started.push(job.key);
                self.leases.extend(job.deadline.map(|deadline| (job.key, job.worker.clone(), deadline)));
            }
            count("execution completed", usize::from(job.availability == Availability::Done));
        }
        count("execution started", started.len());
        self.started(&started, commit.now, &mut count)
    }

    fn changed(&self, before: &Job, job: &Job, now: Millis) -> Check {
        let done = before.availability == Availability::Done;
        ensure(7, !done, || format!("execution {} was done and changes to {job:?}", job.key))?;
        let gave_up =
            before.availability == Availability::Ready && &*job.error_code == "MAX_WAIT" && before.error_code != job.error_code;
        let may = before.wait_until.is_some_and(|until| until <= now);
        ensure(6, !gave_up || may, || format!("execution {} waited until {now} only: {before:?}", job.key))
    }

    /// The policy that limits, if there is one.
    fn policy(&self) -> Option<&Policy> {
        self.policies.values().find(|policy| matches!(policy.scope, Scope::Action(_)) && !policy.paused && !policy.drains)
    }

    /// How many of the tenant may run at once.
    fn quota(&self) -> Option<usize> {
        let of_tenant = |policy: &&Policy| matches!(policy.scope, Scope::Tenant(_));
        Some(self.policies.values().find(of_tenant)?.quota?.running? as usize)
    }

    fn started(&mut self, started: &[JobKey], now: Millis, count: &mut impl FnMut(&'static str, usize)) -> Check {
        if started.is_empty() {
            return Ok(());
        }
        let paused = self.policies.values().any(|policy| policy.paused);
        ensure(8, !paused, || format!("{started:?} were handed out at {now} while the action is paused"))?;
        if let Some(most) = self.quota() {
            let running = self.rows.values().filter(|job| job.availability == Availability::Leased).count();
            ensure(8, running <= most, || format!("{running} executions of the tenant run at {now}, where {most} may"))?;
            let waits = self.rows.values().any(|job| job.availability == Availability::Ready);
            count("held back by a quota", usize::from(waits && running == most));
        }
        let Some(policy) = self.policy().cloned() else {
            return started.iter().try_for_each(|key| self.first_in_line(*key, now, None));
        };
        if policy.rate.is_some() || policy.delay.is_some() {
            let groups = started.iter().map(|key| (now, self.rows[key].group.clone()));
            let groups: Vec<_> = groups.collect();
            self.starts.extend(groups);
        }
        for key in started {
            let group = self.rows[key].group.clone();
            self.within_limit(&policy, &group, now)?;
            self.within_rate(&policy, &group, now)?;
            self.first_in_line(*key, now, Some(&policy))?;
        }
        let ready = || self.rows.values().filter(|job| job.availability == Availability::Ready);
        count("held back by a limit", usize::from(ready().any(|job| !self.has_slot(&policy, &job.group))));
        count("held back by a rate", usize::from(ready().any(|job| !self.has_token(&policy, &job.group, now))));
        Ok(())
    }

    /// How many take a slot, of all or of a group.
    fn running(&self, policy: &Policy, group: Option<&Option<Arc<str>>>) -> usize {
        let holds = policy.retry.as_ref().is_some_and(|retry| retry.holds);
        let runs = |job: &&Job| job.availability == Availability::Leased || (holds && job.waits_for_retry());
        self.rows.values().filter(runs).filter(|job| group.is_none_or(|group| job.group == *group)).count()
    }

    /// Of those told apart by the limit: this group, or all.
    fn slots(&self, policy: &Policy, group: &Option<Arc<str>>) -> Option<(usize, usize)> {
        let concurrency = policy.concurrency.as_ref()?;
        let group = Some(group).filter(|_| !concurrency.parameters.is_empty());
        Some((self.running(policy, group), concurrency.limit as usize))
    }

    fn within_limit(&self, policy: &Policy, group: &Option<Arc<str>>, now: Millis) -> Check {
        let Some((running, limit)) = self.slots(policy, group) else { return Ok(()) };
        ensure(8, running <= limit, || format!("{running} executions run at {now}, where {limit} may: {group:?}"))
    }

    fn has_slot(&self, policy: &Policy, group: &Option<Arc<str>>) -> bool {
        self.slots(policy, group).is_none_or(|(running, limit)| running < limit)
    }

    /// How many were started in the window that ends now, and how many may be.
    fn tokens(&self, policy: &Policy, group: &Option<Arc<str>>, now: Millis) -> Option<(usize, usize)> {
        let within = |window: Millis, group: Option<&Option<Arc<str>>>| {
            let in_window = self.starts.iter().filter(|(at, _)| now - window < *at);
            in_window.filter(|(_, of)| group.is_none_or(|group| of == group)).count()
        };
        match (&policy.rate, policy.delay) {
            (Some(rate), _) => {
                let group = Some(group).filter(|_| !rate.parameters.is_empty());
                Some((within(rate.pace.window, group), rate.pace.limit as usize))
            }
            (None, Some(delay)) => Some((within(delay, None), 1)),
            (None, None) => None,
        }
    }

    fn within_rate(&self, policy: &Policy, group: &Option<Arc<str>>, now: Millis) -> Check {
        let Some((started, limit)) = self.tokens(policy, group, now) else { return Ok(()) };
        ensure(8, started <= limit, || {
            format!("{started} executions started in the window until {now}, where {limit} may: {group:?}")
        })
    }

    fn has_token(&self, policy: &Policy, group: &Option<Arc<str>>, now: Millis) -> bool {
        self.tokens(policy, group, now).is_none_or(|(started, limit)| started < limit)
    }

    /// Nobody is served while somebody stays ready who comes first and may go.
    fn first_in_line(&self, key: JobKey, now: Millis, policy: Option<&Policy>) -> Check {
        let place = |job: &Job| (std::cmp::Reverse(job.priority), job.key);
        let job = &self.rows[&key];
        // Who was started at a time that is yet to come waits for it: of other groups it is not known here.
        let is_unknown =
            |policy: &Policy| self.was_set_back && policy.rate.as_ref().is_some_and(|rate| !rate.parameters.is_empty());
        let may_go = |other: &Job| {
            policy.is_none_or(|policy| {
                let has_token = !is_unknown(policy) && self.has_token(policy, &other.group, now);
                self.has_slot(policy, &other.group) && has_token
            })
        };
        let same_lane = |other: &Job| policy.is_none_or(|policy| policy.parameters().is_empty()) || other.group == job.group;
        let ready = self.rows.values().filter(|other| other.availability == Availability::Ready && place(other) < place(job));
        let passed = ready.filter(|other| same_lane(other) || may_go(other)).map(|other| other.key).min();
        ensure(8, passed.is_none(), || format!("execution {key} was handed out at {now} before {passed:?}"))
    }

    /// The database's clock was set back: how long ago jobs were started cannot be told from the times they were started at.
    pub(crate) fn set_back(&mut self) {
        self.starts.clear();
        self.was_set_back = true;
    }

    // ---- what callers were told ----

    pub(crate) fn submitted(&self, keys: &[JobKey], count: usize) -> Check {
        let all = keys.len() == count && keys.iter().all(|key| self.rows.contains_key(key));
        ensure(1, all, || format!("{keys:?} were submitted, and are not there"))
    }

    pub(crate) fn took(&self, worker: &Arc<str>, job: &ActivatedJob) -> Check {
        let lease = (job.key, worker.clone(), job.deadline);
        ensure(1, self.leases.contains(&lease), || {
            format!("{worker} was given execution {} on a lease that is not durable", job.key)
        })
    }

    pub(crate) fn told_over(&self, key: JobKey) -> Check {
        let over = self.rows.get(&key).is_some_and(|job| job.availability == Availability::Done);
        ensure(1, over, || format!("execution {key} was told to be over: {:?}", self.rows.get(&key)))
    }

    pub(crate) fn completed_again(&self, key: JobKey) -> Check {
        ensure(5, false, || format!("execution {key} was completed twice"))
    }

    /// The store's row is the last one that became durable.
    pub(super) fn compare(&self, stored: &Job) -> Check {
        let known = self.rows.get(&stored.key);
        ensure(3, known == Some(stored), || format!("the store has {stored:?}, the last commit had {known:?}"))
    }

    /// Executions that wait or run.
    pub(crate) fn open(&self) -> Option<String> {
        let mut open: Vec<_> = self.rows.values().filter(|job| !job.execution_state().has_ended()).map(|job| job.key).collect();
        open.sort_unstable();
        (!open.is_empty()).then(|| format!("executions {open:?}"))
    }
}
