//! Removing what is old.

use std::cmp::Reverse;
use std::sync::Arc;

use engine::{InstanceKey, JobKey, TimerKey, WaitKey};

use super::database::{Database, Partition, Tables};
use crate::retention::{Aged, Finished, FinishedAfter, Purged};
use crate::row::{Availability, SubscriptionState};
use crate::{Fence, Millis};

/// One row, by whatever it is found by.
pub(super) enum Row {
    Answer(u64),
    FirstAnswer((Arc<str>, Arc<str>)),
    Job(JobKey),
    Timer(TimerKey),
    Subscription(WaitKey),
    Correlation(u64),
    Evaluated(u64),
    Pace((Arc<str>, Arc<str>, Arc<str>)),
    Audit(u64),
    BatchItem(u64),
    Batch(u64),
}

impl Database {
    /// The partition, while the epoch is the latest.
    pub(super) fn held(&mut self, fence: Fence) -> Option<&mut Partition> {
        Some(self.partition_mut(fence.partition)).filter(|partition| partition.epoch == fence.epoch)
    }
}

impl Partition {
    /// What is so old, the oldest first. There is no log here.
    pub(super) fn aged(&self, what: Aged, before: Millis, limit: usize) -> Vec<Row> {
        let tables = &self.tables;
        let old = |at: Option<Millis>| at.filter(|at| *at < before);
        let mut aged: Vec<(Millis, Row)> = match what {
            Aged::Log => Vec::new(),
            Aged::Executions => {
                let is_free = |until: Option<Millis>| until.is_none_or(|until| until < before);
                let over = tables.jobs.values().filter(|row| row.origin.is_none() && row.availability == Availability::Done);
                let over = over.filter(|row| is_free(row.execution.as_ref().and_then(|one| one.unique.as_ref()?.until)));
                over.filter_map(|row| Some((old(row.ended)?, Row::Job(row.key)))).collect()
            }
            Aged::Evaluations => {
                let alone = tables.evaluated_decisions.values().filter(|row| row.origin.is_none());
                alone.filter_map(|row| Some((old(Some(row.evaluated))?, Row::Evaluated(row.key())))).collect()
            }
            Aged::Timers => tables.timers.values().filter_map(|row| Some((old(row.ended)?, Row::Timer(row.key)))).collect(),
            Aged::Subscriptions => {
                let over = tables.subscriptions.values().filter(|row| row.state != SubscriptionState::Open);
                over.filter_map(|row| Some((old(Some(row.updated))?, Row::Subscription(row.key)))).collect()
            }
            Aged::Correlations => {
                let rows = tables.correlations.values();
                rows.filter_map(|row| Some((old(Some(row.at))?, Row::Correlation(row.key)))).collect()
            }
            Aged::FirstAnswers => {
                let expired = tables.idempotent.iter().filter(|(_, row)| row.expires <= before);
                expired.map(|(key, row)| (row.expires, Row::FirstAnswer(key.clone()))).collect()
            }
            Aged::Answers => {
                let expired = self.answers.values().filter(|row| row.expires <= before);
                expired.map(|row| (row.expires, Row::Answer(row.position))).collect()
            }
            Aged::Paces => {
                let over = tables.paces.iter().filter(|(_, row)| row.until <= before);
                over.map(|(name, row)| (row.until, Row::Pace(name.clone()))).collect()
            }
            Aged::Audit => tables.audit.values().filter_map(|row| Some((old(Some(row.at))?, Row::Audit(row.key)))).collect(),
            Aged::BatchItems => {
                let ended = |batch: &u64| old(tables.batches.get(batch)?.ended);
                tables.batch_items.values().filter_map(|row| Some((ended(&row.batch)?, Row::BatchItem(row.key)))).collect()
            }
            Aged::Batches => {
                let is_empty = |batch: u64| !tables.batch_items.values().any(|item| item.batch == batch);
                let over = tables.batches.values().filter_map(|row| Some((old(row.ended)?, row.key)));
                over.filter(|(_, key)| is_empty(*key)).map(|(at, key)| (at, Row::Batch(key))).collect()
            }
        };
        aged.sort_by_key(|(at, _)| *at);
        aged.into_iter().take(limit).map(|(_, row)| row).collect()
    }

    pub(super) fn count_aged(&self, what: Aged, before: Millis, limit: usize) -> usize {
        if what == Aged::Batches {
            let over = self.tables.batches.values().filter(|row| row.ended.is_some_and(|ended| ended < before));
            return over.take(limit).count();
        }
        self.aged(what, before, limit).len()
    }

    pub(super) fn purge(&mut self, what: Aged, before: Millis, limit: usize) -> usize {
        let aged = self.aged(what, before, limit);
        let count = aged.len();
        for row in aged {
            match row {
                Row::Answer(position) => drop(self.answers.remove(&position)),
                Row::FirstAnswer(key) => drop(self.tables.idempotent.remove(&key)),
                Row::Job(key) => self.tables.remove_job(key),
                Row::Timer(key) => drop(self.tables.timers.remove(&key)),
                Row::Subscription(key) => drop(self.tables.subscriptions.remove(&key)),
                Row::Correlation(key) => drop(self.tables.correlations.remove(&key)),
                Row::Evaluated(key) => drop(self.tables.evaluated_decisions.remove(&key)),
                Row::Pace(name) => drop(self.tables.paces.remove(&name)),
                Row::Audit(key) => drop(self.tables.audit.remove(&key)),
                Row::BatchItem(key) => drop(self.tables.batch_items.remove(&key)),
                Row::Batch(key) => drop(self.tables.batches.remove(&key)),
            }
        }
        count
    }
}

impl Tables {
    pub(super) fn finished(&self, after: FinishedAfter, before: Millis, limit: usize) -> Vec<Finished> {
        let place = |ended: Millis, key: InstanceKey| FinishedAfter { ended, key };
        let rows = self.instances.values().filter_map(|row| Some((row, row.ended?)));
        let mut ended: Vec<_> = rows.filter(|(row, ended)| *ended < before && after < place(*ended, row.key)).collect();
        ended.sort_by_key(|(row, ended)| place(*ended, row.key));
        let finished = |(row, ended): (&crate::row::Instance, Millis)| {
            let definition = self.definitions.get(&row.definition)?;
            Some(Finished {
                key: row.key,
                ended,
                process_id: definition.process_id.clone(),
                tenant: definition.tenant.clone(),
                is_called: row.parent.is_some(),
            })
        };
        ended.into_iter().take(limit).filter_map(finished).collect()
    }

    pub(super) fn purge_instances(&mut self, roots: &[InstanceKey], rows_max: usize) -> Purged {
        let mut purged = Purged::default();
        for root in roots {
            let mut called: Vec<InstanceKey> =
                self.instances.values().filter(|row| row.root == *root && row.parent.is_some()).map(|row| row.key).collect();
            if called.iter().any(|key| self.running.contains_key(key)) {
                continue;
            }
            called.sort_unstable_by_key(|key| Reverse(*key));
            for key in called.into_iter().chain([*root]) {
                if rows_max <= purged.rows {
                    return Purged { is_cut: true, ..purged };
                }
                let rows = self.remove_belonging(key, rows_max - purged.rows);
                purged.rows += rows;
                if rows_max <= purged.rows {
                    return Purged { is_cut: true, ..purged };
                }
                let gone = usize::from(self.instances.remove(&key).is_some());
                purged.rows += gone;
                purged.instances += gone;
                purged.roots += if key == *root { gone } else { 0 };
            }
        }
        purged
    }

    pub(super) fn weight(&self, root: InstanceKey, limit: usize) -> usize {
        let is_its = |key: InstanceKey| key == root || self.instances.get(&key).is_some_and(|row| row.root == root);
        let elements = self.elements.values().filter(|row| is_its(row.instance)).take(limit).count();
        elements + self.variables.values().filter(|row| is_its(row.instance)).take(limit).count()
    }

    /// At most so many rows; how many.
    pub(super) fn remove_belonging(&mut self, instance: InstanceKey, max: usize) -> usize {
        let mut left = max;
        let mut take = |is_its: bool| {
            let goes = is_its && 0 < left;
            left -= usize::from(goes);
            !goes
        };
        self.elements.retain(|_, row| take(row.instance == instance));
        self.variables.retain(|_, row| take(row.instance == instance));
        let jobs = self.jobs.values().filter(|row| row.origin.is_some_and(|origin| origin.instance == instance));
        let jobs: Vec<JobKey> = jobs.filter(|_| !take(true)).map(|row| row.key).collect();
        self.incidents.retain(|_, row| take(row.instance == instance));
        self.timers.retain(|_, row| take(row.origin.is_some_and(|origin| origin.instance == instance)));
        self.subscriptions.retain(|_, row| take(row.origin.is_some_and(|origin| origin.instance == instance)));
        self.correlations.retain(|_, row| take(row.instance == instance));
        self.user_tasks.retain(|_, row| take(row.instance == instance));
        self.evaluated_decisions.retain(|_, row| take(row.origin.is_some_and(|origin| origin.instance == instance)));
        jobs.into_iter().for_each(|key| self.remove_job(key));
        max - left
    }

    fn remove_job(&mut self, key: JobKey) {
        if let Some(name) = self.jobs.get(&key).and_then(crate::row::Job::unique_name)
            && let Some(holders) = self.unique.get_mut(&name)
        {
            holders.remove(&key);
            if holders.is_empty() {
                self.unique.remove(&name);
            }
        }
        self.forget_job(key);
    }
}
