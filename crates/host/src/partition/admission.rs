//! What policies say about jobs that come: which group they belong to, whether they may come, and how long they may wait.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::{Document, ElementKey, FailedJob, InstanceKey, JobKey};
use queue::Group;
use queue::policy::{self, Policy, Present, Quota, Refusal, Scope};
use rustc_hash::FxHashMap;
use store::log::Code;
use store::row::{Availability, Job, JobState, Operation};
use store::{CountedJobs, Error, Millis, QueueRef};

use super::Partition;
use super::needs::{AtRest, Needs};
use super::tick::Tick;
use super::unit::Stop;
use crate::json;
use crate::sinks::QueueId;

/// How many jobs of a queue there are, where it matters when another comes.
#[derive(Debug, Default)]
pub(super) struct Census {
    waiting: u64,
    running: u64,
    /// Waiting and running, by group.
    by_group: BTreeMap<Group, u64>,
}

/// Whether a job waits for a worker or for its time, and whether it runs.
fn counts(job: &Job) -> (bool, bool) {
    match job.availability {
        Availability::Ready | Availability::BackingOff { .. } => (true, false),
        Availability::Leased => (false, true),
        Availability::Held | Availability::Stuck | Availability::Done => (false, false),
    }
}

impl Census {
    fn change(&mut self, job: &Job, by: i64) {
        let (waits, runs) = counts(job);
        if waits {
            self.waiting = self.waiting.saturating_add_signed(by);
        }
        if runs {
            self.running = self.running.saturating_add_signed(by);
        }
        if waits || runs {
            let count = self.by_group.entry(job.group.clone()).or_default();
            *count = count.saturating_add_signed(by);
            if *count == 0 {
                self.by_group.remove(&job.group);
            }
        }
    }
}

/// A job of a process that a policy does not let into its queue, or not wait there any longer.
pub(super) struct Unwanted {
    pub(super) instance: InstanceKey,
    pub(super) element: ElementKey,
    pub(super) job: JobKey,
    pub(super) reason: Arc<str>,
}

impl Partition {
    /// Counts the jobs of a queue. Only when everything is committed.
    pub(super) async fn load_census(&mut self, id: &QueueId) -> Result<(), Error> {
        let queue = QueueRef { partition: self.fence.partition, job_type: &id.job_type, tenant: &id.tenant };
        let waiting = self.store.count_jobs(queue, CountedJobs::Waiting).await?;
        let running = self.store.count_jobs(queue, CountedJobs::Running).await?;
        let sum = |counts: &[(Group, u64)]| counts.iter().map(|(_, count)| count).sum();
        let mut census = Census { waiting: sum(&waiting), running: sum(&running), ..Census::default() };
        for (group, count) in waiting.into_iter().chain(running) {
            *census.by_group.entry(group).or_default() += count;
        }
        self.census.insert(id.clone(), census);
        Ok(())
    }

    /// Counts the jobs of a tenant. Only when everything is committed.
    pub(super) async fn load_tenant_census(&mut self, tenant: &Arc<str>) -> Result<(), Error> {
        let mut present = Present::default();
        for size in self.store.queue_sizes(self.fence.partition).await?.iter().filter(|size| size.tenant == *tenant) {
            present.waiting += size.ready + size.scheduled;
            present.running += size.running;
        }
        self.census_tenants.insert(tenant.clone(), present);
        Ok(())
    }

    /// What the change of a job means for who may come after it.
    pub(super) fn count_in_queue(&mut self, queue: &QueueId, before: Option<&Job>, after: &Job) {
        if let Some(census) = self.census.get_mut(queue) {
            if let Some(before) = before {
                census.change(before, -1);
            }
            census.change(after, 1);
        }
        if let Some(present) = self.census_tenants.get_mut(&queue.tenant) {
            for (job, by) in before.map(|before| (before, -1)).into_iter().chain([(after, 1)]) {
                let (waits, runs) = counts(job);
                present.waiting = present.waiting.saturating_add_signed(if waits { by } else { 0 });
                present.running = present.running.saturating_add_signed(if runs { by } else { 0 });
            }
        }
    }

    /// What has to be asked before jobs are put into a queue; nothing where nothing says anything about it.
    pub(super) fn gate(&self, queue: &QueueId) -> Result<Option<Gate>, Stop> {
        if self.policies.is_empty() {
            return Ok(None);
        }
        let quota = self.policies.quota(&queue.tenant).filter(|quota| quota.waiting.is_some() || quota.total.is_some());
        let policy = match (self.policies.applying(queue), quota) {
            (None, None) => return Ok(None),
            (None, Some(_)) => Policy::new(Scope::Global),
            (Some(policy), _) => policy.clone(),
        };
        if policy.counts() && !self.census.contains_key(queue) {
            return Err(Needs::at_rest(AtRest::Census(queue.clone())).into());
        }
        if quota.is_some() && !self.census_tenants.contains_key(&queue.tenant) {
            return Err(Needs::at_rest(AtRest::TenantCensus(queue.tenant.clone())).into());
        }
        Ok(Some(Gate { policy, quota, is_over_quota: false, queue: queue.clone(), added: FxHashMap::default(), waiting: 0 }))
    }

    /// Asks whether one more may come into a queue, and counts it.
    pub(super) fn admit(&self, gate: &mut Gate, group: &Group) -> Result<(), Refusal> {
        if let Some(quota) = &gate.quota {
            let mut present = self.census_tenants.get(&gate.queue.tenant).copied().unwrap_or_default();
            present.waiting = present.waiting.saturating_add_signed(gate.waiting);
            policy::within(quota, present).inspect_err(|_| gate.is_over_quota = true)?;
        }
        if let Some(census) = self.census.get(&gate.queue).filter(|_| gate.policy.counts()) {
            let is_grouped = !gate.policy.parameters().is_empty();
            let lane = if is_grouped { group.clone() } else { None };
            let here = match is_grouped {
                true => census.by_group.get(group).copied().unwrap_or(0),
                false => census.waiting + census.running,
            };
            let added = gate.added.entry(lane).or_default();
            let waiting = census.waiting.saturating_add_signed(gate.waiting);
            let present = Present { waiting, running: census.running, in_group: here.saturating_add_signed(*added) };
            policy::admission(&gate.policy, present)?;
            *added += 1;
        }
        gate.waiting += 1;
        Ok(())
    }

    /// Jobs of processes that no queue takes stop their elements, for a person to see.
    pub(super) fn stop_unwanted(&mut self, tick: &mut Tick) -> Result<(), Stop> {
        while let Some(Unwanted { instance, element, job, reason }) = tick.unit.unwanted.pop() {
            self.change_job(tick, job, |job| {
                job.state = JobState::Failed;
                job.availability = Availability::Stuck;
                job.error_message = reason.clone();
            });
            self.audit_job(tick, job, Operation::Fail, Some(&reason));
            let failed = FailedJob { job, element, variables: Document::new(), stuck: Some(reason) };
            // One that is not waited for any more stops nobody.
            let _ = self.step(tick, instance, &engine::Command::FailJob(failed))?;
        }
        Ok(())
    }
}

/// Jobs about to be put into a queue by one command, with how many it has put there already.
pub(super) struct Gate {
    policy: Policy,
    /// The tenant's.
    quota: Option<Quota>,
    /// Whether that refused one.
    is_over_quota: bool,
    queue: QueueId,
    added: FxHashMap<Group, i64>,
    waiting: i64,
}

impl Gate {
    /// The group of a job with these values; none where groups are not told apart.
    pub(super) fn group<'a>(&self, value: impl Fn(&str) -> Option<&'a Arc<str>>) -> Group {
        group_of(self.policy.parameters(), value)
    }

    pub(super) fn parameters(&self) -> &[Arc<str>] {
        self.policy.parameters()
    }

    /// One that waits gives way to the next that comes.
    pub(super) fn leave(&mut self, group: &Group) {
        let lane = if self.parameters().is_empty() { None } else { group.clone() };
        *self.added.entry(lane).or_default() -= 1;
        self.waiting -= 1;
    }

    /// How long one that comes now may wait.
    pub(super) fn wait_until(&self, now: Millis) -> Option<Millis> {
        self.policy.wait.map(|wait| now.saturating_add(wait.most))
    }

    /// In the words of whoever is refused.
    pub(super) fn reason(&self, refusal: Refusal) -> String {
        let action = &self.queue.job_type;
        let whose = match self.is_over_quota {
            true => format!("tenant '{}'", self.queue.tenant),
            false => format!("action '{action}'"),
        };
        match refusal {
            Refusal::QueueFull { limit } => {
                format!("The limit queue.maxLength is reached: {limit} jobs of action '{action}' wait already")
            }
            Refusal::NoSlot { limit } => {
                format!("The limit concurrency.limit is reached: {limit} jobs of action '{action}' wait or run already")
            }
            Refusal::QuotaWaiting { limit } => {
                format!("The limit quota.waiting is reached: {limit} jobs of {whose} wait already")
            }
            Refusal::QuotaTotal { limit } => {
                format!("The limit quota.total is reached: {limit} jobs of {whose} wait or run already")
            }
        }
    }

    pub(super) fn refused(&self, refusal: Refusal) -> Stop {
        Stop::refused(Code::Exhausted, self.reason(refusal))
    }
}

/// The group of a job with these values, by the names of the variables that tell groups apart.
pub(crate) fn group_of<'a>(parameters: &[Arc<str>], value: impl Fn(&str) -> Option<&'a Arc<str>>) -> Group {
    if parameters.is_empty() {
        return None;
    }
    let null: Arc<str> = "null".into();
    let values: Document = parameters.iter().map(|name| (name.clone(), value(name).unwrap_or(&null).clone())).collect();
    Some(json::object(&values).into())
}
