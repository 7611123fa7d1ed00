//! What edges may read of queues and policies.

use std::sync::Arc;

use model::GlobalListener;
use queue::policy::{Policy, Scope};
use store::row::PolicyVersion;
use store::{Millis, QueueRef, QueueSize, ReadyAfter};

use crate::drive::PARTITION;
use crate::handle::{Error, Host};
use crate::partition::{Policies, is_pause, pause_of};

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
    pub at: Millis,
}

/// What keeps the jobs of an action from being handed out, and what that is called.
pub fn pause(action: &Arc<str>) -> (Arc<str>, Policy) {
    let scope = Scope::Action(action.clone());
    (pause_of(action), Policy { scope, priority: 0, concurrency: None, queue_max: None, paused: true })
}

impl Host {
    /// Policies as people have put them, in their newest versions; deleted ones too.
    /// Those who listen to all user tasks.
    pub async fn global_listeners(&self) -> Result<Vec<GlobalListener>, Error> {
        let newest = self.store().global_listeners(PARTITION, 1).await?;
        Ok(newest.into_iter().next().map_or_else(Vec::new, |row| row.listeners))
    }

    pub async fn policies(&self) -> Result<Vec<PolicyVersion>, Error> {
        let mut all = self.store().policies(PARTITION).await?;
        all.retain(|version| !is_pause(&version.reference));
        Ok(all)
    }

    /// Every version of a policy, the first first.
    pub async fn policy_versions(&self, reference: &str) -> Result<Vec<PolicyVersion>, Error> {
        Ok(self.store().policy_versions(PARTITION, reference).await?)
    }

    /// All queues with jobs that wait or run.
    pub async fn queues(&self) -> Result<Vec<QueueStatus>, Error> {
        let sizes = self.store().queue_sizes(PARTITION).await?;
        let policies = Policies::of(self.store().policies(PARTITION).await?);
        let at = self.store().now().await?;
        Ok(sizes.into_iter().map(|size| status(size, &policies, at)).collect())
    }

    /// One queue, also if it has no jobs.
    pub async fn queue(&self, action: &Arc<str>, tenant: &Arc<str>) -> Result<QueueStatus, Error> {
        let sizes = self.store().queue_sizes(PARTITION).await?;
        let found = sizes.into_iter().find(|size| size.job_type == *action && size.tenant == *tenant);
        let empty = || QueueSize { job_type: action.clone(), tenant: tenant.clone(), ..QueueSize::default() };
        let policies = Policies::of(self.store().policies(PARTITION).await?);
        Ok(status(found.unwrap_or_else(empty), &policies, self.store().now().await?))
    }

    /// How many ready jobs of a queue stand before a place in it.
    pub async fn jobs_before(&self, action: &str, tenant: &str, place: ReadyAfter) -> Result<u64, Error> {
        Ok(self.store().jobs_before(QueueRef { partition: PARTITION, job_type: action, tenant }, place).await?)
    }
}

fn status(size: QueueSize, policies: &Policies, at: Millis) -> QueueStatus {
    let QueueSize { job_type: action, tenant, ready, scheduled, running, oldest } = size;
    let (rules, length_max) = policies.limits(&action, &tenant);
    let (limit, paused) = (rules.and_then(|rules| rules.limit), rules.is_some_and(|rules| rules.paused));
    QueueStatus { action, tenant, ready, scheduled, running, oldest, limit, length_max, paused, at }
}
