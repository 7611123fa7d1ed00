//! Policies of queues: which holds for which, what it says about a job that comes, and changing them.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::{Document, ElementKey, FailedJob, InstanceKey, JobKey};
use queue::policy::{self, Policy, Refusal, Scope};
use queue::{Group, Rules};
use rustc_hash::FxHashMap;
use store::log::{Answer, Caller, Code, PutPolicy};
use store::row::{Availability, Job, JobState, PolicyVersion};
use store::{CountedJobs, Error, QueueRef};

use super::Partition;
use super::needs::{AtRest, Needs};
use super::tick::Tick;
use super::unit::Stop;
use crate::json;
use crate::sinks::QueueId;

/// A policy whose reference begins with this says only that the action behind it is paused.
const PAUSED: &str = "paused:";

/// What the policy is called that pauses an action.
pub(crate) fn pause_of(action: &str) -> Arc<str> {
    format!("{PAUSED}{action}").into()
}

pub(crate) fn is_pause(reference: &str) -> bool {
    reference.starts_with(PAUSED)
}

/// The policies there are, in their newest versions.
#[derive(Debug, Default)]
pub(crate) struct Policies {
    versions: BTreeMap<Arc<str>, PolicyVersion>,
    /// How many are not deleted.
    live: usize,
}

impl Policies {
    pub(crate) fn of(versions: Vec<PolicyVersion>) -> Self {
        let mut policies = Self::default();
        versions.into_iter().for_each(|version| policies.put(version));
        policies
    }

    fn put(&mut self, version: PolicyVersion) {
        self.versions.insert(version.reference.clone(), version);
        self.live = self.versions.values().filter(|version| version.policy.is_some()).count();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.live == 0
    }

    fn applying(&self, queue: &QueueId) -> Option<&Policy> {
        let limits = self.versions.iter().filter(|(reference, _)| !is_pause(reference));
        policy::applying(limits.filter_map(|(_, version)| version.policy.as_ref()), &queue.job_type, &queue.tenant)
    }

    /// What holds for a queue, and how many may wait in it.
    pub(crate) fn limits(&self, action: &Arc<str>, tenant: &Arc<str>) -> (Option<Rules>, Option<u64>) {
        let queue = QueueId { job_type: action.clone(), tenant: tenant.clone() };
        (self.rules(&queue), self.applying(&queue).and_then(|policy| policy.queue_max))
    }

    /// Whether nothing of a queue is handed out because somebody said so.
    pub(super) fn is_paused(&self, queue: &QueueId) -> bool {
        self.live != 0 && self.rules(queue).is_some_and(|rules| rules.paused)
    }

    fn rules(&self, queue: &QueueId) -> Option<Rules> {
        let applying = self.applying(queue);
        let paused = |version: &PolicyVersion| {
            is_pause(&version.reference)
                && version.policy.as_ref().is_some_and(|policy| policy.scope == Scope::Action(queue.job_type.clone()))
        };
        let paused = applying.is_some_and(|policy| policy.paused) || self.versions.values().any(paused);
        let concurrency = applying.and_then(|policy| policy.concurrency.as_ref());
        let rules = Rules {
            limit: concurrency.map(|concurrency| concurrency.limit),
            by_group: concurrency.is_some_and(|concurrency| !concurrency.parameters.is_empty()),
            paused,
        };
        (rules.limit.is_some() || rules.paused).then_some(rules)
    }
}

/// How many jobs of a queue there are, where it matters when another comes.
#[derive(Debug, Default)]
pub(super) struct Census {
    waiting: u64,
    /// Waiting and running, by group.
    by_group: BTreeMap<Group, u64>,
}

impl Census {
    fn change(&mut self, job: &Job, by: i64) {
        let waits = matches!(job.availability, Availability::Ready | Availability::BackingOff { .. });
        if waits {
            self.waiting = self.waiting.saturating_add_signed(by);
        }
        if waits || job.availability == Availability::Leased {
            let count = self.by_group.entry(job.group.clone()).or_default();
            *count = count.saturating_add_signed(by);
            if *count == 0 {
                self.by_group.remove(&job.group);
            }
        }
    }
}

/// A job of a process that a policy does not let into its queue.
pub(super) struct Unwanted {
    pub(super) instance: InstanceKey,
    pub(super) element: ElementKey,
    pub(super) job: JobKey,
    pub(super) reason: Arc<str>,
}

impl Partition {
    pub(super) fn put_policy(&mut self, tick: &mut Tick, caller: &Caller, put: &PutPolicy) -> Result<Answer, Stop> {
        self.change_policy(tick, caller, &put.reference, Some(put.policy.clone()));
        Ok(Answer::Done)
    }

    pub(super) fn delete_policy(&mut self, tick: &mut Tick, caller: &Caller, reference: &Arc<str>) -> Result<Answer, Stop> {
        let is_there = self.policies.versions.get(reference).is_some_and(|version| version.policy.is_some());
        if !is_there {
            return Err(Stop::not_found(format!("Expected to delete policy '{reference}', but there is none")));
        }
        self.change_policy(tick, caller, reference, None);
        Ok(Answer::Done)
    }

    fn change_policy(&self, tick: &mut Tick, caller: &Caller, reference: &Arc<str>, policy: Option<Policy>) {
        let version = self.policies.versions.get(reference).map_or(0, |version| version.version) + 1;
        let (reference, changed_by) = (reference.clone(), caller.name.clone());
        tick.unit.changes.policies_new.push(PolicyVersion { reference, version, policy, changed: tick.now, changed_by });
    }

    /// Policies were changed: they hold from now on.
    pub(super) fn accept_policies(&mut self, versions: &[PolicyVersion]) {
        if versions.is_empty() {
            return;
        }
        versions.iter().for_each(|version| self.policies.put(version.clone()));
        self.rule_queues();
    }

    fn rule_queues(&mut self) {
        self.census.clear();
        for queue in self.dispatch.queues() {
            self.dispatch.rule(&queue, self.policies.rules(&queue));
        }
    }

    /// Somebody asks for jobs of these.
    pub(super) fn rule(&mut self, queues: &[QueueId]) {
        if !self.policies.is_empty() {
            queues.iter().for_each(|queue| self.dispatch.rule(queue, self.policies.rules(queue)));
        }
    }

    /// Reads the policies there are. Only when everything is committed.
    pub(super) async fn load_policies(&mut self) -> Result<(), Error> {
        self.policies = Policies::of(self.store.policies(self.fence.partition).await?);
        self.has_policies = true;
        self.rule_queues();
        Ok(())
    }

    /// Counts the jobs of a queue. Only when everything is committed.
    pub(super) async fn load_census(&mut self, id: &QueueId) -> Result<(), Error> {
        let queue = QueueRef { partition: self.fence.partition, job_type: &id.job_type, tenant: &id.tenant };
        let waiting = self.store.count_jobs(queue, CountedJobs::Waiting).await?;
        let running = self.store.count_jobs(queue, CountedJobs::Running).await?;
        let mut census = Census { waiting: waiting.iter().map(|(_, count)| count).sum(), ..Census::default() };
        for (group, count) in waiting.into_iter().chain(running) {
            *census.by_group.entry(group).or_default() += count;
        }
        self.census.insert(id.clone(), census);
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
    }

    /// What has to be asked before jobs are put into a queue; nothing where nothing says anything about it.
    pub(super) fn gate(&self, queue: &QueueId) -> Result<Option<Gate>, Stop> {
        if self.policies.is_empty() {
            return Ok(None);
        }
        let Some(policy) = self.policies.applying(queue) else { return Ok(None) };
        let counts =
            policy.queue_max.is_some() || policy.concurrency.as_ref().is_some_and(|c| c.method == policy::Method::Cancel);
        if counts && !self.census.contains_key(queue) {
            return Err(Needs::at_rest(AtRest::Census(queue.clone())).into());
        }
        Ok(Some(Gate { policy: policy.clone(), queue: queue.clone(), counts, added: FxHashMap::default(), waiting: 0 }))
    }

    /// Asks whether one more may come into a queue, and counts it.
    pub(super) fn admit(&self, gate: &mut Gate, group: &Group) -> Result<(), Refusal> {
        if !gate.counts {
            return Ok(());
        }
        let Some(census) = self.census.get(&gate.queue) else { return Ok(()) };
        let is_grouped = !gate.policy.parameters().is_empty();
        let lane = if is_grouped { group.clone() } else { None };
        let here = match is_grouped {
            true => census.by_group.get(group).copied().unwrap_or(0),
            false => census.by_group.values().sum(),
        };
        let added = gate.added.entry(lane).or_default();
        policy::admission(&gate.policy, census.waiting + gate.waiting, here + *added)?;
        *added += 1;
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
    queue: QueueId,
    counts: bool,
    added: FxHashMap<Group, u64>,
    waiting: u64,
}

impl Gate {
    /// The group of a job with these values; none where groups are not told apart.
    pub(super) fn group<'a>(&self, value: impl Fn(&str) -> Option<&'a Arc<str>>) -> Group {
        let parameters = self.policy.parameters();
        if parameters.is_empty() {
            return None;
        }
        let null: Arc<str> = "null".into();
        let values: Document = parameters.iter().map(|name| (name.clone(), value(name).unwrap_or(&null).clone())).collect();
        Some(json::object(&values).into())
    }

    pub(super) fn parameters(&self) -> &[Arc<str>] {
        self.policy.parameters()
    }

    /// In the words of whoever is refused.
    pub(super) fn reason(&self, refusal: Refusal) -> String {
        let action = &self.queue.job_type;
        match refusal {
            Refusal::QueueFull { limit } => {
                format!("The limit queue.maxLength is reached: {limit} jobs of action '{action}' wait already")
            }
            Refusal::NoSlot { limit } => {
                format!("The limit concurrency.limit is reached: {limit} jobs of action '{action}' wait or run already")
            }
        }
    }

    pub(super) fn refused(&self, refusal: Refusal) -> Stop {
        Stop::refused(Code::Exhausted, self.reason(refusal))
    }
}
