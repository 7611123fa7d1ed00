//! Partitions with their logs and tables.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use engine::{DefinitionKey, ElementKey, IncidentKey, InstanceKey, JobKey, PartitionId, RequirementsKey, VariableKey};

use crate::log::{CommandStatus, NewCommand, Pending};
use crate::{Fence, LogRow, Millis, Ownership, PartitionStatus, Renewed, row};

#[derive(Default)]
pub(super) struct Database {
    partitions: BTreeMap<PartitionId, Partition>,
}

pub(super) struct Partition {
    pub(super) epoch: i64,
    pub(super) owner: Option<Arc<str>>,
    pub(super) lease_until: Millis,
    pub(super) processed_to: u64,
    pub(super) next_key: u64,
    /// Position 1 is the first.
    pub(super) log: Vec<Entry>,
    pub(super) tables: Tables,
}

/// A command in the log.
pub(super) struct Entry {
    kind: &'static str,
    at: Millis,
    /// Absent where the command was processed in the commit that brought it.
    request: Option<Vec<u8>>,
    answer: Option<Vec<u8>>,
}

#[derive(Default)]
pub(super) struct Tables {
    pub(super) resources: BTreeMap<u64, row::Resource>,
    pub(super) definitions: BTreeMap<DefinitionKey, row::Definition>,
    pub(super) requirements: BTreeMap<RequirementsKey, row::DecisionRequirements>,
    /// By their own keys.
    pub(super) evaluated_decisions: BTreeMap<u64, row::EvaluatedDecision>,
    pub(super) instances: BTreeMap<InstanceKey, row::Instance>,
    pub(super) elements: BTreeMap<ElementKey, row::Element>,
    pub(super) variables: BTreeMap<VariableKey, row::Variable>,
    pub(super) jobs: BTreeMap<JobKey, row::Job>,
    pub(super) incidents: BTreeMap<IncidentKey, row::Incident>,
    /// By tenant and key.
    pub(super) idempotent: BTreeMap<(Arc<str>, Arc<str>), row::Idempotent>,
    // ---- what follows is derived from the rows above ----
    pub(super) running: HashMap<InstanceKey, Running>,
    /// By type and tenant; none is empty.
    pub(super) ready: BTreeMap<(Arc<str>, Arc<str>), BTreeSet<JobKey>>,
    pub(super) timed: BTreeSet<(Millis, JobKey)>,
}

/// What belongs to a running instance.
#[derive(Default)]
pub(super) struct Running {
    /// Live ones.
    pub(super) elements: BTreeSet<ElementKey>,
    /// Those of ended scopes too.
    pub(super) variables: BTreeSet<VariableKey>,
    /// Not done.
    pub(super) jobs: BTreeSet<JobKey>,
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
            processed_to: 0,
            next_key: id.first_key(),
            log: Vec::new(),
            tables: Tables::default(),
        })
    }

    pub(super) fn tables(&self) -> impl Iterator<Item = &Tables> {
        self.partitions.values().map(|partition| &partition.tables)
    }

    pub(super) fn acquire(&mut self, id: PartitionId, owner: &str, lease: Duration, now: Millis) -> Option<Ownership> {
        let partition = self.partition_mut(id);
        let is_others = partition.owner.as_deref().is_some_and(|current| current != owner);
        if is_others && now < partition.lease_until {
            return None;
        }
        partition.epoch += 1;
        partition.owner = Some(owner.into());
        partition.lease_until = now + millis(lease);
        Some(Ownership {
            fence: Fence { partition: id, epoch: partition.epoch },
            tail: partition.tail(),
            processed_to: partition.processed_to,
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
        Some(Renewed { now, tail: partition.tail() })
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
            tail: partition.tail(),
            processed_to: partition.processed_to,
            owner: partition.owner.clone().filter(|_| now < partition.lease_until),
        };
        self.partitions.iter().map(status).collect()
    }
}

impl Partition {
    pub(super) fn tail(&self) -> u64 {
        self.log.len() as u64
    }

    pub(super) fn append(&mut self, commands: Vec<NewCommand>, now: Millis) -> Vec<u64> {
        let first = self.tail() + 1;
        for command in commands {
            self.log.push(Entry { kind: command.kind, at: now, request: Some(command.request), answer: None });
        }
        (first..=self.tail()).collect()
    }

    pub(super) fn append_processed(&mut self, row: LogRow, now: Millis) {
        self.log.push(Entry { kind: row.kind, at: now, request: None, answer: row.answer });
    }

    pub(super) fn answer(&mut self, row: LogRow) {
        if let Some(entry) = self.log.get_mut(index(row.position)) {
            entry.answer = row.answer;
        }
    }

    pub(super) fn pending(&self, after: u64, limit: usize) -> Vec<Pending> {
        let first = after.max(self.processed_to) + 1;
        let pending = |position: u64| {
            let request = self.log[index(position)].request.clone().unwrap_or_default();
            Pending { position, request }
        };
        (first..=self.tail()).take(limit).map(pending).collect()
    }

    pub(super) fn statuses(&self, positions: &[u64]) -> Vec<CommandStatus> {
        let mut positions = positions.to_vec();
        positions.sort_unstable();
        positions.dedup();
        let status = |position: u64| {
            let entry = self.log.get(index(position))?;
            Some(CommandStatus {
                position,
                kind: entry.kind.to_owned(),
                at: entry.at,
                processed: position <= self.processed_to,
                answer: entry.answer.clone(),
            })
        };
        positions.into_iter().filter(|position| 0 < *position).filter_map(status).collect()
    }
}

impl Tables {
    pub(super) fn purge_idempotent(&mut self, now: Millis, limit: usize) -> usize {
        let expired = self.idempotent.iter().filter(|(_, row)| row.expires <= now);
        let expired: Vec<_> = expired.take(limit).map(|(key, _)| key.clone()).collect();
        for key in &expired {
            self.idempotent.remove(key);
        }
        expired.len()
    }
}

fn index(position: u64) -> usize {
    position as usize - 1
}

fn millis(duration: Duration) -> Millis {
    Millis::try_from(duration.as_millis()).unwrap_or(Millis::MAX / 2)
}
