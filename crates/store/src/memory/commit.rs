//! Writing a tick.

use std::cmp::Reverse;

use engine::{ElementKey, InstanceKey, JobKey, WaitKey};

use super::database::{Database, Running, Tables};
use crate::row::{self, Availability, ElementState, InstanceState, Job};
use crate::{BatchItemChange, Changes, Commit, CommitError, ElementChange, IncidentChange, InstanceChange, VariableChange};

impl Database {
    /// All checks come before the first change, so that a refused commit writes nothing.
    pub(super) fn commit(&mut self, commit: Commit) -> Result<(), CommitError> {
        let epoch = self.read(commit.fence.partition, |partition| partition.epoch);
        if epoch != commit.fence.epoch {
            return Err(CommitError::Deposed { epoch });
        }
        let partition = self.partition_mut(commit.fence.partition);
        if partition.next_key != commit.first_key {
            return Err(CommitError::OutOfOrder { next_key: partition.next_key });
        }
        for row in commit.log {
            debug_assert_eq!(row.position, partition.position + 1, "positions continue the log");
            partition.position = row.position;
        }
        partition.answer(commit.answers, commit.inbox_to);
        partition.next_key = commit.next_key;
        partition.tables.change(commit.changes);
        Ok(())
    }
}

impl Tables {
    /// Instances first: what belongs to one that has ended is not indexed any more.
    fn change(&mut self, mut changes: Changes) {
        self.change_definitions(&mut changes);
        self.change_instances(&mut changes);
        self.change_waits(&mut changes);
        let of_processes = changes.jobs_new.into_iter().chain(changes.jobs_changed);
        for row in of_processes.chain(changes.executions_new).chain(changes.executions_changed) {
            self.put_job(row);
        }
        self.listeners.extend(changes.listeners_new.into_iter().map(|row| (row.version, row)));
        self.audit.extend(changes.audit_new.into_iter().map(|row| (row.key, row)));
        for tokens in changes.tokens {
            self.set_tokens(tokens);
        }
        for row in changes.turns_new {
            self.begin_turn(row);
        }
        for key in changes.turns_done {
            self.end_turn(key);
        }
        for row in changes.compensations_put {
            self.of(row.instance, |running| running.compensations.insert(row.key));
            self.compensations.insert(row.key, row);
        }
        for key in changes.compensations_gone {
            if let Some(row) = self.compensations.remove(&key) {
                self.of(row.instance, |running| running.compensations.remove(&key));
            }
        }
        for row in changes.incidents_new {
            self.raise_incident(row);
        }
        for change in changes.incidents_changed {
            self.resolve_incident(change);
        }
        self.schedules.extend(changes.schedules_put.into_iter().map(|row| (row.key, row)));
        changes.schedules_gone.iter().for_each(|key| drop(self.schedules.remove(key)));
        for row in changes.queue_stats_put {
            self.queue_stats.insert((row.job_type.clone(), row.tenant.clone()), row);
        }
        self.outbox.extend(changes.announcements_new.into_iter().map(|row| (row.key, row)));
        for key in changes.announcements_gone {
            self.outbox.remove(&key);
        }
        for row in changes.policies_new {
            self.policies.entry(row.reference.clone()).or_default().push(row);
        }
        for row in changes.paces_put {
            self.paces.insert((row.job_type.clone(), row.tenant.clone(), row.bucket.clone()), row);
        }
        self.idempotent.extend(changes.idempotent_new.into_iter().map(|row| ((row.tenant.clone(), row.key.clone()), row)));
        for row in changes.migrated {
            self.migrate(row);
        }
        self.batches.extend(changes.batches_put.into_iter().map(|row| (row.key, row)));
        self.batch_items.extend(changes.batch_items_new.into_iter().map(|row| (row.key, row)));
        for BatchItemChange { key, state, processed, error } in changes.batch_items_changed {
            if let Some(item) = self.batch_items.get_mut(&key) {
                (item.state, item.processed, item.error) = (state, processed, error);
            }
        }
        changes.instances_deleted.into_iter().for_each(|key| self.delete_instance(key));
    }

    fn change_definitions(&mut self, changes: &mut Changes) {
        self.resources.extend(changes.resources_new.drain(..).map(|row| (row.key, row)));
        self.definitions.extend(changes.definitions_new.drain(..).map(|row| (row.key, row)));
        for key in changes.definitions_deleted.drain(..) {
            if let Some(definition) = self.definitions.get_mut(&key) {
                definition.deleted = true;
            }
        }
        self.requirements.extend(changes.requirements_new.drain(..).map(|row| (row.key, row)));
        for key in changes.requirements_deleted.drain(..) {
            if let Some(requirements) = self.requirements.get_mut(&key) {
                requirements.deleted = true;
            }
        }
        self.forms.extend(changes.forms_new.drain(..).map(|row| (row.key, row)));
        for key in changes.forms_deleted.drain(..) {
            if let Some(form) = self.forms.get_mut(&key) {
                form.deleted = true;
            }
        }
        self.evaluated_decisions.extend(changes.evaluated_decisions_new.drain(..).map(|row| (row.key(), row)));
        for evaluation in changes.evaluations_deleted.drain(..) {
            self.evaluated_decisions.retain(|_, row| row.evaluation != evaluation);
        }
    }

    fn change_instances(&mut self, changes: &mut Changes) {
        for row in changes.instances_new.drain(..) {
            if is_running(row.state) {
                self.running.insert(row.key, Running::default());
            }
            self.instances.insert(row.key, row);
        }
        for change in changes.instances_changed.drain(..) {
            self.change_instance(change);
        }
        for (key, since) in changes.instances_suspended.drain(..) {
            if let Some(instance) = self.instances.get_mut(&key).filter(|instance| is_running(instance.state)) {
                instance.state = InstanceState::of_running(since);
            }
            match since {
                Some(since) => drop(self.suspended.insert(key, since)),
                None => drop(self.suspended.remove(&key)),
            }
        }
        for row in changes.elements_new.drain(..) {
            if let (ElementState::Alive(_), Some(running)) = (row.state, self.running.get_mut(&row.instance)) {
                running.elements.insert(row.key);
            }
            self.elements.insert(row.key, row);
        }
        for change in changes.elements_changed.drain(..) {
            self.change_element(change);
        }
        for row in changes.variables_new.drain(..) {
            if let Some(running) = self.running.get_mut(&row.instance) {
                running.variables.insert(row.key);
            }
            self.variables.insert(row.key, row);
        }
        for VariableChange { key, value } in changes.variables_changed.drain(..) {
            if let Some(variable) = self.variables.get_mut(&key) {
                variable.value = value;
            }
        }
    }

    fn change_instance(&mut self, change: InstanceChange) {
        let Some(instance) = self.instances.get_mut(&change.key) else { return };
        // Whether what runs is suspended is said elsewhere.
        if !(is_running(change.state) && is_running(instance.state)) {
            instance.state = change.state;
        }
        instance.phase = change.phase;
        instance.ended = change.ended;
        if !is_running(change.state) {
            self.running.remove(&change.key);
        }
    }

    /// A finished instance leaves no trace, nor do those it called.
    fn delete_instance(&mut self, key: InstanceKey) {
        if self.instances.get(&key).is_none_or(|instance| instance.ended.is_none()) {
            return;
        }
        self.instances.remove(&key);
        self.remove_belonging(key, usize::MAX);
        let called = self.instances.values().filter(|row| row.parent.is_some_and(|(parent, _)| parent == key));
        let called: Vec<InstanceKey> = called.map(|row| row.key).collect();
        called.into_iter().for_each(|child| self.delete_instance(child));
    }

    fn change_element(&mut self, change: ElementChange) {
        let Some(element) = self.elements.get_mut(&change.key) else { return };
        element.state = change.state;
        element.ended = change.ended;
        element.incident = change.incident;
        element.progress = change.progress.or(element.progress);
        if let (ElementState::Completed | ElementState::Terminated, Some(running)) =
            (change.state, self.running.get_mut(&element.instance))
        {
            running.elements.remove(&change.key);
        }
    }

    fn put_job(&mut self, job: Job) {
        self.forget_job(job.key);
        if job.availability == Availability::Ready {
            self.ready.entry((job.job_type.clone(), job.tenant.clone())).or_default().insert((Reverse(job.priority), job.key));
        }
        if let Some(due) = job.due() {
            self.timed.insert((due, job.key));
        }
        if let (true, Some(origin)) = (job.availability != Availability::Done, job.origin) {
            self.of(origin.instance, |running| running.jobs.insert(job.key));
        }
        if let Some(name) = job.unique_name() {
            self.unique.entry(name).or_default().insert(job.key);
        }
        self.jobs.insert(job.key, job);
    }

    /// Takes the row and what was derived from it away.
    pub(super) fn forget_job(&mut self, key: JobKey) {
        let Some(job) = self.jobs.remove(&key) else { return };
        let queue = (job.job_type.clone(), job.tenant.clone());
        if let Some(ready) = self.ready.get_mut(&queue) {
            ready.remove(&(Reverse(job.priority), key));
            if ready.is_empty() {
                self.ready.remove(&queue);
            }
        }
        if let Some(due) = job.due() {
            self.timed.remove(&(due, key));
        }
        if let Some(origin) = job.origin {
            self.of(origin.instance, |running| running.jobs.remove(&key));
        }
    }

    fn set_tokens(&mut self, row::Tokens { instance, token, count }: row::Tokens) {
        let place = (token.scope, token.gateway, token.flow);
        let tokens = self.tokens.entry(instance).or_default();
        match count {
            0 => tokens.remove(&place),
            count => tokens.insert(place, count),
        };
        if tokens.is_empty() {
            self.tokens.remove(&instance);
        }
    }

    fn begin_turn(&mut self, row: row::Turn) {
        self.of(row.instance, |running| running.turns.insert(row.key));
        self.turns.insert(row.key, row);
    }

    fn end_turn(&mut self, key: WaitKey) {
        if let Some(row) = self.turns.remove(&key) {
            self.of(row.instance, |running| running.turns.remove(&key));
        }
    }

    fn raise_incident(&mut self, row: row::Incident) {
        if row.resolved.is_none() {
            self.of(row.instance, |running| running.incidents.insert(row.key));
            for key in self.above(row.element_instance) {
                *self.stuck.entry(key).or_insert(0) += 1;
            }
        }
        self.incidents.insert(row.key, row);
    }

    fn resolve_incident(&mut self, change: IncidentChange) {
        let open = self.incidents.get_mut(&change.key).filter(|incident| incident.resolved.is_none());
        let Some(incident) = open else { return };
        incident.resolved = Some(change.resolved);
        let (instance, element) = (incident.instance, incident.element_instance);
        self.of(instance, |running| running.incidents.remove(&change.key));
        for key in self.above(element) {
            match self.stuck.get_mut(&key) {
                Some(1) | None => drop(self.stuck.remove(&key)),
                Some(count) => *count -= 1,
            }
        }
    }

    /// An element instance with what encloses it, and what has called that.
    fn above(&self, element: ElementKey) -> Vec<u64> {
        let outer = |key: &u64| match self.elements.get(&ElementKey(*key)) {
            Some(inner) => Some(inner.scope.0),
            None => self.instances.get(&InstanceKey(*key))?.parent.map(|(_, element)| element.0),
        };
        std::iter::successors(Some(element.0), outer).collect()
    }

    fn of(&mut self, instance: InstanceKey, change: impl FnOnce(&mut Running) -> bool) {
        if let Some(running) = self.running.get_mut(&instance) {
            change(running);
        }
    }
}

fn is_running(state: InstanceState) -> bool {
    match state {
        InstanceState::Active | InstanceState::Suspended => true,
        InstanceState::Completed | InstanceState::Terminated => false,
    }
}
