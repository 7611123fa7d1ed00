//! Partitions with their logs and tables.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use engine::{
    CompensationKey, DefinitionKey, ElementKey, FormKey, IncidentKey, InstanceKey, JobKey, PartitionId, RequirementsKey,
    TimerKey, UserTaskKey, VariableKey, WaitKey,
};
use model::{ElementIx, FlowIx};

use crate::log::{NewRequest, Received, RequestStatus};
use crate::{AnswerRow, Backlog, Due, DueKind, Error, Fence, Millis, Ownership, PartitionStatus, Renewed, row};

#[derive(Default)]
pub(super) struct Database {
    partitions: BTreeMap<PartitionId, Partition>,
}

pub(super) struct Partition {
    pub(super) epoch: i64,
    pub(super) owner: Option<Arc<str>>,
    pub(super) lease_until: Millis,
    pub(super) next_key: u64,
    /// The last position of the log.
    pub(super) position: u64,
    inbox: BTreeMap<u64, Entry>,
    inbox_tail: u64,
    inbox_to: u64,
    pub(super) answers: BTreeMap<u64, AnswerRow>,
    pub(super) tables: Tables,
}

/// A request in the inbox.
struct Entry {
    kind: &'static str,
    at: Millis,
    expires: Option<Millis>,
    request: Vec<u8>,
}

/// Type, tenant and bucket.
type PaceName = (Arc<str>, Arc<str>, Arc<str>);

#[derive(Default)]
pub(super) struct Tables {
    pub(super) resources: BTreeMap<u64, row::Resource>,
    pub(super) definitions: BTreeMap<DefinitionKey, row::Definition>,
    pub(super) requirements: BTreeMap<RequirementsKey, row::DecisionRequirements>,
    pub(super) forms: BTreeMap<FormKey, row::Form>,
    /// By their own keys.
    pub(super) evaluated_decisions: BTreeMap<u64, row::EvaluatedDecision>,
    pub(super) instances: BTreeMap<InstanceKey, row::Instance>,
    pub(super) elements: BTreeMap<ElementKey, row::Element>,
    pub(super) variables: BTreeMap<VariableKey, row::Variable>,
    pub(super) jobs: BTreeMap<JobKey, row::Job>,
    pub(super) incidents: BTreeMap<IncidentKey, row::Incident>,
    /// By instance, then by scope, gateway and flow.
    pub(super) tokens: BTreeMap<InstanceKey, BTreeMap<(ElementKey, ElementIx, FlowIx), u32>>,
    pub(super) turns: BTreeMap<WaitKey, row::Turn>,
    pub(super) compensations: BTreeMap<CompensationKey, row::Compensation>,
    pub(super) timers: BTreeMap<TimerKey, row::Timer>,
    pub(super) user_tasks: BTreeMap<UserTaskKey, row::UserTask>,
    pub(super) subscriptions: BTreeMap<WaitKey, row::Subscription>,
    pub(super) messages: BTreeMap<u64, row::Message>,
    pub(super) correlations: BTreeMap<u64, row::Correlation>,
    pub(super) locks: BTreeMap<row::LockName, row::MessageLock>,
    pub(super) signals: BTreeMap<u64, row::Signal>,
    /// By tenant and key.
    pub(super) idempotent: BTreeMap<(Arc<str>, Arc<str>), row::Idempotent>,
    /// By reference, the first version first.
    pub(super) policies: BTreeMap<Arc<str>, Vec<row::PolicyVersion>>,
    pub(super) batches: BTreeMap<u64, row::Batch>,
    pub(super) batch_items: BTreeMap<u64, row::BatchItem>,
    pub(super) audit: BTreeMap<u64, row::Audit>,
    /// By version.
    pub(super) listeners: BTreeMap<u32, row::GlobalListeners>,
    /// By type, tenant and bucket.
    pub(super) paces: BTreeMap<PaceName, row::PaceState>,
    pub(super) schedules: BTreeMap<u64, row::Schedule>,
    pub(super) queue_stats: BTreeMap<(Arc<str>, Arc<str>), row::QueueStats>,
    pub(super) outbox: BTreeMap<row::AnnouncementKey, row::Announcement>,
    // ---- what follows is derived from the rows above ----
    pub(super) running: HashMap<InstanceKey, Running>,
    /// Since when instances are suspended.
    pub(super) suspended: HashMap<InstanceKey, Millis>,
    /// None is empty.
    pub(super) ready: BTreeMap<Queue, BTreeSet<(Reverse<i32>, JobKey)>>,
    /// Leases and back-offs; turns are in their table.
    pub(super) timed: BTreeSet<(Millis, JobKey)>,
    /// Executions by the name that only one of them may have at a time.
    pub(super) unique: BTreeMap<row::UniqueName, BTreeSet<JobKey>>,
    /// Timers, by time.
    pub(super) pending: BTreeSet<(Millis, TimerKey)>,
    /// Subscriptions.
    pub(super) open: BTreeSet<WaitKey>,
    /// Instances and element instances, by how many open incidents are in them, inside them and in what that has called; none is zero.
    pub(super) stuck: HashMap<u64, u32>,
}

/// A type of jobs and a tenant.
type Queue = (Arc<str>, Arc<str>);

/// What belongs to a running instance.
#[derive(Default)]
pub(super) struct Running {
    /// Live ones.
    pub(super) elements: BTreeSet<ElementKey>,
    /// Those of ended scopes too.
    pub(super) variables: BTreeSet<VariableKey>,
    /// Not done.
    pub(super) jobs: BTreeSet<JobKey>,
    pub(super) turns: BTreeSet<WaitKey>,
    pub(super) compensations: BTreeSet<CompensationKey>,
    /// Pending.
    pub(super) timers: BTreeSet<TimerKey>,
    /// Open.
    pub(super) subscriptions: BTreeSet<WaitKey>,
    /// Open.
    pub(super) user_tasks: BTreeSet<UserTaskKey>,
    /// Not resolved.
    pub(super) incidents: BTreeSet<IncidentKey>,
}

impl Database {
    /// Of a partition nobody has written to, nothing.
    pub(super) fn read<T: Default>(&self, id: PartitionId, what: impl FnOnce(&Partition) -> T) -> T {
        self.partitions.get(&id).map(what).unwrap_or_default()
    }

    /// A partition comes into being when somebody first writes to it.
    pub(super) fn partition_mut(&mut self, id: PartitionId) -> &mut Partition {
        self.partitions.entry(id).or_insert_with(|| Partition {
            epoch: 0,
            owner: None,
            lease_until: 0,
            next_key: id.first_key(),
            position: 0,
            inbox: BTreeMap::new(),
            inbox_tail: 0,
            inbox_to: 0,
            answers: BTreeMap::new(),
            tables: Tables::default(),
        })
    }

    pub(super) fn tables(&self) -> impl Iterator<Item = &Tables> {
        self.partitions.values().map(|partition| &partition.tables)
    }

    pub(super) fn acquire(&mut self, id: PartitionId, owner: &str, lease: Duration, now: Millis) -> Option<Ownership> {
        let partition = self.partition_mut(id);
        let is_others = partition.owner.as_deref().is_some_and(|current| current != owner);
        // A lease longer than any is left over from before the clock was set back.
        let lasts = now < partition.lease_until && partition.lease_until <= now + 2 * millis(lease);
        if is_others && lasts {
            return None;
        }
        partition.epoch += 1;
        partition.owner = Some(owner.into());
        partition.lease_until = now + millis(lease);
        Some(Ownership {
            fence: Fence { partition: id, epoch: partition.epoch },
            position: partition.position,
            inbox_to: partition.inbox_to,
            inbox_tail: partition.inbox_tail,
            next_key: partition.next_key,
            now,
        })
    }

    pub(super) fn renew(&mut self, fence: Fence, lease: Duration, now: Millis) -> Option<Renewed> {
        let partition = self.partition_mut(fence.partition);
        if partition.epoch != fence.epoch {
            return None;
        }
        partition.lease_until = now + millis(lease);
        Some(Renewed { now, inbox_tail: partition.inbox_tail })
    }

    pub(super) fn release(&mut self, fence: Fence) {
        let partition = self.partition_mut(fence.partition);
        if partition.epoch == fence.epoch {
            partition.lease_until = 0;
        }
    }

    pub(super) fn statuses(&self, now: Millis) -> Vec<PartitionStatus> {
        let status = |(id, partition): (&PartitionId, &Partition)| PartitionStatus {
            partition: *id,
            epoch: partition.epoch,
            position: partition.position,
            inbox_to: partition.inbox_to,
            inbox_tail: partition.inbox_tail,
            owner: partition.owner.clone().filter(|_| now < partition.lease_until),
        };
        self.partitions.iter().map(status).collect()
    }
}

impl Partition {
    pub(super) fn append(&mut self, requests: Vec<NewRequest>, backlog: Backlog, now: Millis) -> Result<Vec<u64>, Error> {
        let bytes: usize = self.inbox.values().map(|entry| entry.request.len()).sum();
        let new_bytes: usize = requests.iter().map(|request| request.request.len()).sum();
        let too_many = backlog.requests_max < (self.inbox.len() + requests.len()) as u64;
        if too_many || backlog.bytes_max < (bytes + new_bytes) as u64 {
            return Err(Error::Exhausted { what: "the inbox" });
        }
        let first = self.inbox_tail + 1;
        for NewRequest { kind, request, lives } in requests {
            self.inbox_tail += 1;
            let expires = lives.map(|lives| now + millis(lives));
            self.inbox.insert(self.inbox_tail, Entry { kind, at: now, expires, request });
        }
        Ok((first..=self.inbox_tail).collect())
    }

    pub(super) fn answer(&mut self, answers: Vec<AnswerRow>, inbox_to: u64) {
        self.answers.extend(answers.into_iter().map(|row| (row.position, row)));
        self.inbox_to = inbox_to;
        self.inbox = self.inbox.split_off(&(inbox_to + 1));
    }

    pub(super) fn inbox(&self, after: u64, limit: usize, bytes_max: usize) -> Vec<Received> {
        let mut bytes = 0;
        let mut received = Vec::new();
        for (position, entry) in self.inbox.range(after + 1..).take(limit) {
            bytes += entry.request.len();
            if bytes_max < bytes && !received.is_empty() {
                break;
            }
            let (request, at, expires) = (entry.request.clone(), entry.at, entry.expires);
            received.push(Received { position: *position, request, at, expires });
        }
        received
    }

    pub(super) fn statuses(&self, positions: &[u64]) -> Vec<RequestStatus> {
        let positions: BTreeSet<u64> = positions.iter().copied().collect();
        let status = |position: u64| {
            let waiting = self.inbox.get(&position).map(|entry| (entry.kind, entry.at, None));
            let answered = || self.answers.get(&position).map(|row| (row.kind, row.at, Some(row.answer.clone())));
            let (kind, at, answer) = waiting.or_else(answered)?;
            Some(RequestStatus { position, kind: kind.to_owned(), at, answer })
        };
        positions.into_iter().filter_map(status).collect()
    }

    /// By time and key, whatever it is.
    pub(super) fn due(&self, after: (Millis, u64), limit: usize) -> Vec<Due> {
        let jobs = self.tables.timed.iter().map(|(at, key)| Due { at: *at, key: key.0, what: DueKind::Job });
        let turn = |turn: &row::Turn| Due { at: turn.due, key: turn.key.0, what: DueKind::Turn { instance: turn.instance } };
        let all = jobs.chain(self.tables.turns.values().map(turn)).chain(self.tables.due_waits());
        let mut due: Vec<_> = all.filter(|due| after < (due.at, due.key)).collect();
        due.sort_unstable();
        due.truncate(limit);
        due
    }
}

fn millis(duration: Duration) -> Millis {
    Millis::try_from(duration.as_millis()).unwrap_or(Millis::MAX / 2)
}
