//! Policies of queues: which holds for which, what that means for handing out, and changing them.

use std::collections::BTreeMap;
use std::sync::Arc;

use queue::policy::{self, Policy, Quota, Scope};
use queue::{Ask, Bucket, Counted, Place, Refill, Rules};
use store::log::{Answer, Caller, Code, PutPolicy};
use store::row::{PaceState, PolicyVersion};
use store::{CountedJobs, Error, QueueRef, ReadyAfter};

use super::Partition;
use super::tick::Tick;
use super::unit::Stop;
use crate::sinks::QueueId;

/// Policies whose references begin with these say only that an action is paused, that a group of it is, or that it drains.
const PAUSED: &str = "paused:";
const GROUP_PAUSED: &str = "paused-group:";
const DRAINED: &str = "drained:";

/// What the policy is called that pauses an action.
pub(crate) fn pause_of(action: &str) -> Arc<str> {
    format!("{PAUSED}{action}").into()
}

/// What the policy is called that pauses a group of an action.
pub(crate) fn group_pause_of(action: &str, group: &str) -> Arc<str> {
    format!("{GROUP_PAUSED}{action}:{group}").into()
}

/// What the policy is called that lets an action take no more executions.
pub(crate) fn drain_of(action: &str) -> Arc<str> {
    format!("{DRAINED}{action}").into()
}

/// Whether the server made it for a command of its own.
pub(crate) fn is_own(reference: &str) -> bool {
    [PAUSED, GROUP_PAUSED, DRAINED].iter().any(|prefix| reference.starts_with(prefix))
}

/// The policies there are, in their newest versions.
#[derive(Debug, Default)]
pub(crate) struct Policies {
    versions: BTreeMap<Arc<str>, PolicyVersion>,
    /// How many are not deleted.
    live: usize,
    /// Whether any says how long a job may wait.
    has_waits: bool,
}

impl Policies {
    pub(crate) fn of(versions: Vec<PolicyVersion>) -> Self {
        let mut policies = Self::default();
        versions.into_iter().for_each(|version| policies.put(version));
        policies
    }

    fn put(&mut self, version: PolicyVersion) {
        self.versions.insert(version.reference.clone(), version);
        let live = || self.versions.values().filter_map(|version| version.policy.as_ref());
        (self.live, self.has_waits) = (live().count(), live().any(|policy| policy.wait.is_some()));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.live == 0
    }

    pub(super) fn has_waits(&self) -> bool {
        self.has_waits
    }

    /// What a policy says, if it is not deleted.
    pub(super) fn newest(&self, reference: &str) -> Option<&Policy> {
        self.versions.get(reference)?.policy.as_ref()
    }

    /// Those that people have put.
    fn put_by_people(&self) -> impl Iterator<Item = &Policy> {
        let limits = self.versions.iter().filter(|(reference, _)| !is_own(reference));
        limits.filter_map(|(_, version)| version.policy.as_ref())
    }

    /// Whether nothing of a queue is handed out because somebody said so.
    pub(super) fn is_paused(&self, queue: &QueueId) -> bool {
        self.live != 0 && self.rules(queue).is_some_and(|rules| rules.paused)
    }

    pub(crate) fn applying(&self, queue: &QueueId) -> Option<&Policy> {
        policy::applying(self.put_by_people(), &queue.job_type, &queue.tenant)
    }

    /// The quota that all queues of a tenant share.
    pub(super) fn quota(&self, tenant: &str) -> Option<Quota> {
        policy::quota_of(self.put_by_people(), tenant)
    }

    /// How many jobs of a tenant may run at once, where there is a limit.
    fn pools(&self) -> BTreeMap<Arc<str>, u32> {
        let tenants = self.put_by_people().filter_map(|policy| match &policy.scope {
            Scope::Tenant(tenant) => Some(tenant.clone()),
            Scope::Global | Scope::Action(_) => None,
        });
        tenants.filter_map(|tenant| Some((tenant.clone(), self.quota(&tenant)?.running?))).collect()
    }

    /// Of those with a prefix, what the references say about an action behind it.
    fn own<'a>(&'a self, prefix: &'a str, action: &'a str) -> impl Iterator<Item = &'a str> {
        let of_action = move |policy: &Policy| matches!(&policy.scope, Scope::Action(of) if **of == *action);
        let from: std::ops::Bound<&str> = std::ops::Bound::Included(prefix);
        let own = self.versions.range::<str, _>((from, std::ops::Bound::Unbounded));
        let own = own.take_while(move |(reference, _)| reference.starts_with(prefix));
        let own = own.filter(move |(_, version)| version.policy.as_ref().is_some_and(of_action));
        own.map(move |(reference, _)| &reference[prefix.len() + action.len()..])
    }

    pub(crate) fn is_draining(&self, action: &str) -> bool {
        self.live != 0 && self.own(DRAINED, action).next().is_some()
    }

    /// What holds for handing out jobs of a queue.
    pub(crate) fn rules(&self, queue: &QueueId) -> Option<Rules> {
        let action = &*queue.job_type;
        let paused = self.own(PAUSED, action).next().is_some();
        let groups = self.own(GROUP_PAUSED, action).map(|group| Some(group[1..].into())).collect();
        policy::pausing(self.applying(queue).and_then(Policy::rules), paused, groups)
    }
}

impl Partition {
    pub(super) fn put_policy(&mut self, tick: &mut Tick, caller: &Caller, put: &PutPolicy) -> Result<Answer, Stop> {
        self.change_policy(tick, caller, &put.reference, Some((*put.policy).clone()));
        Ok(Answer::Done)
    }

    pub(super) fn delete_policy(&mut self, tick: &mut Tick, caller: &Caller, reference: &Arc<str>) -> Result<Answer, Stop> {
        // Whoever resumes an action wants it to take executions too.
        let drain = reference.strip_prefix(PAUSED).map(drain_of);
        let mut is_there = false;
        for reference in [Some(reference.clone()), drain].into_iter().flatten() {
            if self.policies.versions.get(&reference).is_some_and(|version| version.policy.is_some()) {
                is_there = true;
                self.change_policy(tick, caller, &reference, None);
            }
        }
        // What nobody has paused goes on already.
        match is_there || is_own(reference) {
            true => Ok(Answer::Done),
            false => Err(Stop::not_found(format!("Expected to delete policy '{reference}', but there is none"))),
        }
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
        self.census_tenants.clear();
        self.dispatch.share(self.policies.pools());
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

    /// Nothing new comes into an action that drains.
    pub(super) fn refuse_while_draining(&self, action: &str) -> Result<(), Stop> {
        match self.policies.is_draining(action) {
            true => {
                let reason = format!("Action '{action}' drains: it takes no executions until it is resumed");
                Err(Stop::refused(Code::InvalidState, reason))
            }
            false => Ok(()),
        }
    }

    /// Reads the policies there are. Only when everything is committed.
    pub(super) async fn load_policies(&mut self) -> Result<(), Error> {
        self.policies = Policies::of(self.store.policies(self.fence.partition).await?);
        self.load_listeners().await?;
        self.has_policies = true;
        self.rule_queues();
        Ok(())
    }

    /// Asks the tables until it is known which job of a queue is next.
    pub(super) async fn refill_queue(&mut self, id: &QueueId) -> Result<(), Error> {
        let QueueId { job_type, tenant } = id;
        let queue = QueueRef { partition: self.fence.partition, job_type, tenant };
        while let Some(ask) = self.dispatch.ask(id) {
            match ask {
                Ask::All(asked) if self.policies.is_empty() => {
                    let found = self.store.ready_jobs(queue.partition, job_type, tenant, after(asked), asked.limit).await?;
                    let found = found.iter().map(|job| (Place::new(job.priority, job.key.0), None));
                    self.dispatch.refilled(id, asked, found.collect());
                }
                Ask::All(asked) => {
                    let found = self.jobs_in_order(id, None, asked).await?;
                    self.dispatch.refilled(id, asked, found);
                }
                Ask::Of(group, asked) => {
                    let found = self.jobs_in_order(id, Some(group.clone()), asked).await?;
                    self.dispatch.refilled_of(id, &group, asked, found.into_iter().map(|(place, _)| place).collect());
                }
                Ask::Taken => {
                    let counted = self.taken(id).await?;
                    self.dispatch.counted(id, counted);
                }
                Ask::Pool => {
                    let sizes = self.store.queue_sizes(self.fence.partition).await?;
                    let running = sizes.iter().filter(|size| size.tenant == *tenant).map(|size| size.running).sum::<u64>();
                    self.dispatch.counted_pool(id, u32::try_from(running).unwrap_or(u32::MAX));
                }
            }
        }
        Ok(())
    }

    /// Ready jobs as the rules of their queue order them.
    async fn jobs_in_order(
        &self,
        id: &QueueId,
        of: Option<queue::Group>,
        asked: Refill,
    ) -> Result<Vec<(Place, queue::Group)>, Error> {
        let queue = QueueRef { partition: self.fence.partition, job_type: &id.job_type, tenant: &id.tenant };
        let Some(ageing) = self.dispatch.rules(id).and_then(|rules| rules.ageing) else {
            let found = self.store.grouped_jobs(queue, of, after(asked), asked.limit).await?;
            return Ok(found.into_iter().map(|(job, group)| (Place::new(job.priority, job.key.0), group)).collect());
        };
        let after = (asked.after.rank(), engine::JobKey(asked.after.key()));
        let found = self.store.aged_jobs(queue, of, ageing, after, asked.limit).await?;
        Ok(found.into_iter().map(|job| (Place::ranked(job.rank, job.key.0), job.group)).collect())
    }

    /// What is taken of a queue's limits.
    async fn taken(&self, id: &QueueId) -> Result<Counted, Error> {
        let queue = QueueRef { partition: self.fence.partition, job_type: &id.job_type, tenant: &id.tenant };
        let rules = self.dispatch.rules(id).cloned().unwrap_or_default();
        let mut running = self.store.count_jobs(queue, CountedJobs::Running).await?;
        if rules.holds {
            running.extend(self.store.count_jobs(queue, CountedJobs::Retrying).await?);
        }
        let running = running.into_iter().map(|(group, count)| (group, u32::try_from(count).unwrap_or(u32::MAX))).collect();
        let starts = match rules.is_paced() {
            true => self.store.paces(queue).await?,
            false => Vec::new(),
        };
        Ok(Counted { running, starts: starts.into_iter().map(|row| (Bucket::named(&row.bucket), row.starts)).collect() })
    }

    /// Starts of this tick, to be written with it.
    pub(super) fn write_paces(&mut self, tick: &mut Tick) {
        for (id, paced) in self.dispatch.take_paced() {
            let QueueId { job_type, tenant } = id;
            let (bucket, starts, until) = (paced.bucket.name(), paced.starts, paced.until);
            tick.recorder.changes.paces_put.push(PaceState { job_type, tenant, bucket, starts, until });
        }
    }
}

/// Where the table goes on.
fn after(asked: Refill) -> ReadyAfter {
    let priority = i32::try_from(asked.after.rank()).unwrap_or(i32::MAX);
    ReadyAfter { priority, key: engine::JobKey(asked.after.key()) }
}
