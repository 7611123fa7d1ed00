//! Leases, back-offs and queues: invariants 6, 7 and 8.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::{InstanceKey, JobKey};
use rustc_hash::{FxHashMap, FxHashSet};
use store::log::ActivatedJob;
use store::row::{Availability, Job, JobState};
use store::{Commit, MigratedRow, MigratedTable, Millis, ReadyJob};

use super::attempts::Attempts;
use super::{Check, ensure};

/// Who may keep a job until when.
type Lease = (JobKey, Arc<str>, Millis);

#[derive(Default)]
pub(crate) struct Jobs {
    rows: FxHashMap<JobKey, Job>,
    /// By job type: there is one tenant.
    ready: BTreeMap<Arc<str>, BTreeSet<JobKey>>,
    /// Every lease that ever became durable.
    leases: FxHashSet<Lease>,
    /// Leases given back before their time.
    released: FxHashSet<Lease>,
    /// Leases that ended and were given again in the same moment: two that cannot be told apart.
    twins: FxHashSet<Lease>,
    /// Leases a worker knows of and that are still good.
    held: FxHashMap<JobKey, Lease>,
    /// Whether the commit under way changes a lease by a caller's wish.
    updating: bool,
    /// Instances that could not be read at times: their jobs may be passed over.
    unreadable: FxHashSet<InstanceKey>,
}

impl Jobs {
    pub(super) fn landed(&mut self, commit: &Commit, now: Millis, failed: &[JobKey], attempts: &Attempts) -> Check {
        let mut leased = Vec::new();
        self.updating = commit.log.iter().any(|row| row.kind == "update-job");
        let (new, changed) = (&commit.changes.jobs_new, &commit.changes.jobs_changed);
        for (job, is_new) in new.iter().map(|job| (job, true)).chain(changed.iter().map(|job| (job, false))) {
            let before = self.rows.get(&job.key).cloned();
            ensure(3, before.is_none() == is_new, || format!("job {} is new: {is_new}, but was {before:?}", job.key))?;
            if let Some(before) = &before {
                let done = before.availability == Availability::Done;
                ensure(7, !done, || format!("job {} was done and changes to {job:?}", job.key))?;
                let excused = failed.contains(&job.key);
                self.backed_off(before, job, commit.now, excused)?;
                self.lease_ended(before, job, commit.now, excused, attempts)?;
            }
            if let Some(lease) = lease(job)
                && before.as_ref().and_then(self::lease).as_ref() != Some(&lease)
            {
                let extended = before.as_ref().is_some_and(|before| is_extended(before, job)) && attempts.may_extend(job.key);
                if !extended {
                    leased.push(job.key);
                }
                self.released.remove(&lease);
                self.leases.insert(lease);
            }
            self.put(job);
        }
        leased.iter().try_for_each(|key| self.first_in_line(*key, now))
    }

    /// Strictly first in, first out: nobody is served while an older job of the queue stays ready.
    fn first_in_line(&self, key: JobKey, now: Millis) -> Check {
        let excused = |job: &&JobKey| self.rows[*job].origin.is_some_and(|origin| self.unreadable.contains(&origin.instance));
        let first = self.ready.get(&self.rows[&key].job_type).and_then(|ready| ready.iter().find(|job| !excused(job)));
        let passed = first.filter(|first| **first < key);
        ensure(8, passed.is_none(), || format!("job {key} was handed out at {now} before job {}", passed.map_or(0, |job| job.0)))
    }

    fn backed_off(&self, before: &Job, job: &Job, now: Millis, excused: bool) -> Check {
        let Availability::BackingOff { until } = before.availability else { return Ok(()) };
        let over = matches!(job.availability, Availability::Ready | Availability::Leased);
        let early = over && now < until && !excused;
        ensure(6, !early, || format!("the back-off of job {} ended at {now}, before {until}", job.key))
    }

    fn lease_ended(&mut self, before: &Job, job: &Job, now: Millis, excused: bool, attempts: &Attempts) -> Check {
        let Some(old) = lease(before) else { return Ok(()) };
        if lease(job).as_ref() == Some(&old) {
            if excused {
                self.held.remove(&job.key);
                self.twins.insert(old);
            }
            return Ok(());
        }
        let held = self.held.get(&job.key) == Some(&old);
        let (key, deadline) = (job.key, old.2);
        let over = deadline <= now;
        // One that failed in this very tick was given anew, even if to the same worker.
        if !over && !excused && is_extended(before, job) && attempts.may_extend(key) {
            if held && let Some(lease) = lease(job) {
                self.held.insert(key, lease);
            }
            return Ok(());
        }
        self.held.remove(&key);
        let answered = matches!(job.availability, Availability::Done | Availability::Stuck);
        // Made shorter, and over, in one tick.
        let shortened = self.updating && attempts.may_extend(key);
        if over || answered || excused || shortened {
            return Ok(());
        }
        if job.state == JobState::TimedOut && before.state != JobState::TimedOut {
            return ensure(6, false, || format!("the lease of job {key} ended at {now}, before {deadline}"));
        }
        self.released.insert(old.clone());
        ensure(7, !held, || format!("{} was taken job {key} away at {now}, before {deadline}: now {job:?}", old.1))
    }

    /// A worker has been given a job and knows of it.
    pub(crate) fn took(&mut self, worker: &Arc<str>, job: &ActivatedJob, now: Millis) -> Check {
        let lease = (job.key, worker.clone(), job.deadline);
        ensure(1, self.leases.contains(&lease), || format!("{worker} was given job {} on a lease that is not durable", job.key))?;
        let given_back = self.released.contains(&lease) && now < job.deadline;
        ensure(7, !given_back, || format!("{worker} was given job {} whose lease was given back already", job.key))?;
        if !self.twins.contains(&lease) && self.rows.get(&job.key).and_then(self::lease).as_ref() == Some(&lease) {
            let other = self.held.insert(job.key, lease.clone()).filter(|other| *other != lease);
            ensure(7, other.is_none(), || format!("{worker} and {other:?} hold job {} at once", job.key))?;
        }
        Ok(())
    }

    pub(super) fn migrated(&mut self, row: &MigratedRow) {
        if let (MigratedTable::Jobs, Some(job)) = (row.table, self.rows.get_mut(&JobKey(row.key))) {
            job.headers = row.headers.clone().or(job.headers.take());
            if let Some(origin) = &mut job.origin {
                (origin.definition, origin.element) = (row.definition, row.element);
            }
        }
    }

    pub(crate) fn is_unreadable(&mut self, instance: InstanceKey) {
        self.unreadable.insert(instance);
    }

    pub(super) fn unreadable(&self) -> &FxHashSet<InstanceKey> {
        &self.unreadable
    }

    /// The store's row is the last one that became durable.
    pub(super) fn compare(&self, stored: &Job) -> Check {
        let known = self.rows.get(&stored.key);
        ensure(3, known == Some(stored), || format!("the store has {stored:?}, the last commit had {known:?}"))
    }

    /// What a store that forgets leases takes for ready.
    pub(crate) fn leased(&self, job_type: &str, after: JobKey) -> Vec<ReadyJob> {
        let leased = self.rows.values().filter(|job| &*job.job_type == job_type && after < job.key && lease(job).is_some());
        leased.map(|job| ReadyJob { key: job.key, priority: job.priority }).collect()
    }

    fn put(&mut self, job: &Job) {
        let ready = self.ready.entry(job.job_type.clone()).or_default();
        if job.availability == Availability::Ready {
            ready.insert(job.key);
        } else {
            ready.remove(&job.key);
        }
        self.rows.insert(job.key, job.clone());
    }
}

fn lease(job: &Job) -> Option<Lease> {
    let deadline = job.deadline.filter(|_| job.availability == Availability::Leased)?;
    Some((job.key, job.worker.clone(), deadline))
}

/// The same worker keeps it, for another time.
fn is_extended(before: &Job, job: &Job) -> bool {
    let both = before.availability == Availability::Leased && job.availability == Availability::Leased;
    both && before.worker == job.worker
}
