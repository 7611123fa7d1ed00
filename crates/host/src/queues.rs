//! What edges may read of queues and policies.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::GlobalListener;
use queue::policy::{Policy, Scope};
use queue::stats::Stats;
use store::log::{Caller, Command, Request};
use store::query::Tenants;
use store::row::{PolicyVersion, Schedule};
use store::{AGES, CountedJobs, Millis, QueueRef, QueueSize, ReadyAfter};

use crate::drive::PARTITION;
use crate::handle::{Error, Host};
use crate::partition::{Policies, drain_of, group_of, group_pause_of, is_own, pause_of};
use crate::sinks::QueueId;

/// A queue as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueStatus {
    pub action: Arc<str>,
    pub tenant: Arc<str>,
    /// May be handed out, as far as their own state goes.
    pub ready: u64,
    /// Wait for a time.
    pub scheduled: u64,
    pub running: u64,
    /// When the oldest that waits came.
    pub oldest: Option<Millis>,
    /// How many may run at once, of each group where groups are told apart.
    pub limit: Option<u32>,
    /// How many may wait.
    pub length_max: Option<u64>,
    pub paused: bool,
    /// Whether it takes no more executions.
    pub draining: bool,
    /// Groups whose jobs are not handed out.
    pub groups_paused: Vec<Arc<str>>,
    pub at: Millis,
}

/// What keeps the jobs of an action from being handed out, and what that is called.
pub fn pause(action: &Arc<str>) -> (Arc<str>, Policy) {
    let scope = Scope::Action(action.clone());
    (pause_of(action), Policy { paused: true, ..Policy::new(scope) })
}

/// What lets an action take no more executions, and what that is called.
pub fn drain(action: &Arc<str>) -> (Arc<str>, Policy) {
    let scope = Scope::Action(action.clone());
    (drain_of(action), Policy { drains: true, ..Policy::new(scope) })
}

/// How long jobs may have waited, in milliseconds, for each age they are told apart by; the last has no bound.
pub const AGE_BOUNDS: [Millis; AGES] = [1_000, 10_000, 60_000, 600_000, 3_600_000, 86_400_000];

/// Groups of a queue that are shown.
const GROUPS_SHOWN: usize = 10;

/// A queue as it is, and what has happened in it.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueReport {
    pub status: QueueStatus,
    pub stats: Stats,
    /// When what has happened was last written down; never if it is absent.
    pub updated: Option<Millis>,
    /// How many of those that wait are how old: up to each bound, and older.
    pub ages: [u64; AGES + 1],
    /// Those with the most jobs, the most first.
    pub groups: Vec<GroupStatus>,
    pub group_count: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupStatus {
    /// A JSON object.
    pub group: Arc<str>,
    pub waiting: u64,
    pub running: u64,
}

impl Host {
    /// One queue, with all there is to tell of it.
    pub async fn queue_report(&self, action: &Arc<str>, tenant: &Arc<str>) -> Result<QueueReport, Error> {
        let status = self.queue(action, tenant).await?;
        let queue = QueueRef { partition: PARTITION, job_type: action, tenant };
        let rows = self.store().queue_stats(PARTITION, Some(action)).await?;
        let row = rows.into_iter().find(|row| row.tenant == *tenant);
        let before = AGE_BOUNDS.map(|bound| status.at.saturating_sub(bound));
        let older = self.store().waiting_since(queue, before).await?;
        let (mut ages, mut younger) = ([0; AGES + 1], status.ready + status.scheduled);
        for (age, older) in ages.iter_mut().zip(older) {
            *age = younger.saturating_sub(older);
            younger = older;
        }
        ages[AGES] = younger;
        let mut groups: BTreeMap<Arc<str>, GroupStatus> = BTreeMap::new();
        for which in [CountedJobs::Waiting, CountedJobs::Running] {
            for (group, count) in self.store().count_jobs(queue, which).await? {
                let Some(group) = group else { continue };
                let entry = groups.entry(group.clone()).or_insert(GroupStatus { group, waiting: 0, running: 0 });
                match which {
                    CountedJobs::Running => entry.running = count,
                    CountedJobs::Waiting | CountedJobs::Retrying => entry.waiting = count,
                }
            }
        }
        let group_count = groups.len();
        let mut groups: Vec<_> = groups.into_values().collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.waiting + group.running));
        groups.truncate(GROUPS_SHOWN);
        let updated = row.as_ref().map(|row| row.updated);
        let stats = row.map(|row| row.stats).unwrap_or_default();
        Ok(QueueReport { status, stats, updated, ages, groups, group_count })
    }

    /// Those who listen to all user tasks.
    pub async fn global_listeners(&self) -> Result<Vec<GlobalListener>, Error> {
        let newest = self.store().global_listeners(PARTITION, 1).await?;
        Ok(newest.into_iter().next().map_or_else(Vec::new, |row| row.listeners))
    }

    /// Those that the configuration names listen from now on, and those it named before no longer.
    pub async fn configure_listeners(&self, listeners: Vec<GlobalListener>) -> Result<(), Error> {
        let mut there = self.global_listeners().await?;
        there.retain(|listener| listener.configured);
        let (mut there, mut wanted) = (there, listeners.clone());
        model::in_order(&mut there);
        model::in_order(&mut wanted);
        if there == wanted {
            return Ok(());
        }
        // What it did is shown where all is shown for now.
        let tenants = Tenants::These(vec!["<default>".into()]);
        let caller = Caller { name: "configuration".into(), tenants, trace: None };
        let command = Command::ConfigureListeners { listeners };
        self.submit(Request { caller, command, idempotency: None }).await.map(drop)
    }

    pub async fn policies(&self) -> Result<Vec<PolicyVersion>, Error> {
        let mut all = self.store().policies(PARTITION).await?;
        all.retain(|version| !is_own(&version.reference));
        Ok(all)
    }

    /// Every version of a policy, the first first.
    pub async fn policy_versions(&self, reference: &str) -> Result<Vec<PolicyVersion>, Error> {
        Ok(self.store().policy_versions(PARTITION, reference).await?)
    }

    /// What keeps the jobs of one group of an action from being handed out, and what that is called. `None` if the policy of the action
    /// tells no groups apart by just these names.
    pub async fn pause_group(
        &self,
        action: &Arc<str>,
        tenant: &Arc<str>,
        values: &engine::Document,
    ) -> Result<Option<(Arc<str>, Policy)>, Error> {
        let policies = Policies::of(self.store().policies(PARTITION).await?);
        let queue = QueueId { job_type: action.clone(), tenant: tenant.clone() };
        let parameters = policies.applying(&queue).map_or(&[][..], Policy::parameters);
        let value = |name: &str| values.iter().find(|(one, _)| **one == *name).map(|(_, value)| value);
        let fits = parameters.len() == values.len() && parameters.iter().all(|name| value(name).is_some());
        let group = group_of(parameters, value).filter(|_| fits);
        let scope = Scope::Action(action.clone());
        Ok(group.map(|group| (group_pause_of(action, &group), Policy { paused: true, ..Policy::new(scope) })))
    }

    /// All schedules, by tenant and reference.
    pub async fn schedules(&self) -> Result<Vec<Schedule>, Error> {
        Ok(self.store().schedules(PARTITION).await?)
    }

    /// All queues with jobs that wait or run.
    pub async fn queues(&self) -> Result<Vec<QueueStatus>, Error> {
        let sizes = self.store().queue_sizes(PARTITION).await?;
        let policies = Policies::of(self.store().policies(PARTITION).await?);
        let at = self.now().await?;
        Ok(sizes.into_iter().map(|size| status(size, &policies, at)).collect())
    }

    /// One queue, also if it has no jobs.
    pub async fn queue(&self, action: &Arc<str>, tenant: &Arc<str>) -> Result<QueueStatus, Error> {
        let sizes = self.store().queue_sizes(PARTITION).await?;
        let found = sizes.into_iter().find(|size| size.job_type == *action && size.tenant == *tenant);
        let empty = || QueueSize { job_type: action.clone(), tenant: tenant.clone(), ..QueueSize::default() };
        let policies = Policies::of(self.store().policies(PARTITION).await?);
        Ok(status(found.unwrap_or_else(empty), &policies, self.now().await?))
    }

    /// How many ready jobs of a queue stand before a place in it.
    pub async fn jobs_before(&self, action: &str, tenant: &str, place: ReadyAfter) -> Result<u64, Error> {
        Ok(self.store().jobs_before(QueueRef { partition: PARTITION, job_type: action, tenant }, place).await?)
    }
}

fn status(size: QueueSize, policies: &Policies, at: Millis) -> QueueStatus {
    let QueueSize { job_type: action, tenant, ready, scheduled, running, oldest } = size;
    let queue = QueueId { job_type: action.clone(), tenant: tenant.clone() };
    let rules = policies.rules(&queue).unwrap_or_default();
    let length_max = policies.applying(&queue).and_then(|policy| policy.queue_max);
    let draining = policies.is_draining(&action);
    let groups_paused = rules.groups_paused.into_iter().flatten().collect();
    let (limit, paused) = (rules.limit, rules.paused);
    QueueStatus { action, tenant, ready, scheduled, running, oldest, limit, length_max, paused, draining, groups_paused, at }
}
