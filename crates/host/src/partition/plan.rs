//! What a batch needs that is not in memory, and getting it. All I/O of a tick but its commit happens here.

use std::sync::Arc;

use engine::{DefinitionKey, ElementKey, InstanceKey, JobKey, RequirementsKey};
use store::log::{Command, ProcessRef, Request};
use store::{CommitError, Error, LoadedInstance, Wanted, format};

use super::deploy::{DefinitionDeletion, Deletion, RequirementsDeletion};
use super::tick::{Batch, Tick};
use super::{Input, Partition};
use crate::caution::Caution;
use crate::dispatch::QueueId;
use crate::hot::HotInstance;

impl Partition {
    pub(super) async fn plan(&mut self, tick: &mut Tick, batch: &mut Batch) -> Result<(), CommitError> {
        self.take_waiters(batch);
        self.take_due(tick, batch).await?;
        let mut wanted = Wanted::default();
        let mut definitions: Vec<DefinitionKey> = Vec::new();
        let refuse = matches!(self.caution, Caution::RefuseNext { .. });
        for pending in batch.pending.iter().filter(|_| !refuse) {
            // One that cannot be read needs nothing: it is refused in its turn.
            if let Ok(request) = format::decode_request(&pending.request) {
                self.plan_request(tick, &request, &mut wanted, &mut definitions).await?;
            }
        }
        for input in batch.inputs.iter().filter(|_| !refuse) {
            match input {
                Input::Request { request, .. } => self.plan_request(tick, request, &mut wanted, &mut definitions).await?,
                Input::Release { jobs } => wanted.jobs.extend(jobs.iter().map(|released| released.job)),
                Input::Wait(_) | Input::Room { .. } | Input::Appended => {}
            }
        }
        let candidates = self.plan_hand_out(tick, &mut wanted).await?;
        self.load(tick, wanted).await?;
        // A server that lost the partition unheard may know jobs that are gone: looking for them again and again would never end.
        for (id, instance) in candidates {
            // What cannot be run has left its queue already, and those behind it have their turn.
            if !self.hot.contains(instance) && !tick.unusable.contains_key(&instance.0) {
                self.dispatch.forget_queue(&id);
            }
        }
        for key in definitions {
            match self.definitions.get(key).await {
                Ok(Some(compiled)) => drop(tick.compiled.insert(key, compiled)),
                Ok(None) => {}
                Err(Error::Corrupt { what }) => self.quarantine(tick, [key.0], &what),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Workers begin to wait before anything else, so that new jobs of this very tick find them.
    fn take_waiters(&mut self, batch: &mut Batch) {
        let mut rest = std::collections::VecDeque::with_capacity(batch.inputs.len());
        for input in batch.inputs.drain(..) {
            match input {
                Input::Wait(waiter) => self.dispatch.wait(waiter),
                Input::Room { job_type, tenants } => self.dispatch.has_room(&job_type, &tenants),
                Input::Appended => {}
                other @ (Input::Request { .. } | Input::Release { .. }) => rest.push_back(other),
            }
        }
        batch.inputs = rest;
    }

    /// Leases and back-offs whose time has come become commands.
    async fn take_due(&mut self, tick: &Tick, batch: &mut Batch) -> Result<(), Error> {
        if let Some((after, limit)) = self.timeline.refill() {
            let timed = self.store.timed_jobs(self.fence.partition, (after.0, JobKey(after.1)), limit).await?;
            let entries: Vec<_> = timed.iter().map(|job| (job.at, job.key.0)).collect();
            self.timeline.refilled(&entries);
        }
        if batch.is_partial {
            return Ok(());
        }
        let limit = match (self.caution, batch.commands()) {
            (Caution::None, _) => self.limits.batch_max,
            (Caution::OneByOne { .. } | Caution::RefuseNext { .. }, commands) => usize::from(commands == 0),
        };
        for key in self.timeline.due(tick.now, limit) {
            let request = Request { command: Command::JobDue { job: JobKey(key) }, idempotency: None };
            let (sender, _) = tokio::sync::oneshot::channel();
            batch.inputs.push_back(Input::Request { request, reply: super::Reply::Answer(sender) });
        }
        Ok(())
    }

    async fn plan_request(
        &mut self,
        tick: &mut Tick,
        request: &Request,
        wanted: &mut Wanted,
        definitions: &mut Vec<DefinitionKey>,
    ) -> Result<(), Error> {
        if let Some(idempotency) = &request.idempotency {
            wanted.idempotent.push((idempotency.tenant.clone(), idempotency.key.clone()));
        }
        match &request.command {
            Command::Deploy(_) => {}
            Command::DeleteResource { key } => self.plan_deletion(tick, *key).await?,
            Command::Create(create) => {
                if let Some(key) = self.resolve(&create.process, &create.tenant).await? {
                    definitions.push(key);
                }
            }
            Command::Evaluate(evaluate) => self.plan_evaluation(tick, evaluate).await?,
            Command::DeleteEvaluation { evaluation } => self.plan_evaluation_deletion(tick, *evaluation).await?,
            Command::Cancel { instance } => wanted.instances.push(*instance),
            Command::CompleteJob { job, .. } | Command::JobDue { job } => wanted.jobs.push(*job),
            Command::FailJob(fail) => wanted.jobs.push(fail.job),
            Command::ThrowError(throw) => wanted.jobs.push(throw.job),
            Command::UpdateJob(update) => wanted.jobs.push(update.job),
            Command::Release { jobs } => wanted.jobs.extend(jobs.iter().map(|released| released.job)),
            Command::SetVariables { scope, .. } => {
                // The process itself is no row among the elements.
                wanted.instances.push(InstanceKey(scope.0));
                wanted.elements.push(*scope);
            }
            Command::ResolveIncident { incident } => wanted.incidents.push(*incident),
            Command::Activate(activate) => self.plan_activate(tick, activate),
        }
        Ok(())
    }

    /// Finds the definition a command names, remembering versions looked up by number.
    async fn resolve(&mut self, process: &ProcessRef, tenant: &Arc<str>) -> Result<Option<DefinitionKey>, Error> {
        let (id, version) = match process {
            ProcessRef::Key(key) => return Ok(Some(*key)),
            ProcessRef::Id { id, version: None } => return Ok(self.catalogue.latest(id, tenant).map(|latest| latest.key)),
            ProcessRef::Id { id, version: Some(version) } => (id, *version),
        };
        if let Some(key) = self.catalogue.version(id, tenant, version) {
            return Ok(Some(key));
        }
        let row = self.store.definition_version(self.fence.partition, id, tenant, version).await?;
        Ok(row.map(|row| {
            self.catalogue.remember(&row);
            row.key
        }))
    }

    async fn plan_deletion(&self, tick: &mut Tick, key: u64) -> Result<(), Error> {
        if let Some(row) = self.store.definition(DefinitionKey(key)).await?.filter(|row| !row.deleted) {
            let runs = self.store.has_running(row.key).await?;
            let before = self.store.definition_before(self.fence.partition, &row.process_id, &row.tenant, row.version).await?;
            tick.deletions.insert(key, Deletion::Definition(DefinitionDeletion { row, runs, before }));
        } else if let Some(row) = self.store.requirements(RequirementsKey(key)).await?.filter(|row| !row.deleted) {
            let before = self.requirements_before(&row).await?;
            let mut decisions_before = Vec::with_capacity(row.decisions.len());
            for decision in &row.decisions {
                decisions_before.push(self.decision_before(&decision.id, &row.tenant, decision.version).await?);
            }
            tick.deletions.insert(key, Deletion::Requirements(RequirementsDeletion { row, before, decisions_before }));
        }
        Ok(())
    }

    /// Jobs that are about to be handed out need their instances.
    async fn plan_hand_out(&mut self, tick: &Tick, wanted: &mut Wanted) -> Result<Vec<(QueueId, InstanceKey)>, Error> {
        let mut candidates = Vec::new();
        for id in self.dispatch.take_dirty() {
            let expected = tick.expected.get(&id).copied().unwrap_or(0);
            let awaited = 0 < expected || self.dispatch.is_awaited(&id);
            if let Some(asked) = self.dispatch.refill(&id).filter(|_| awaited) {
                let QueueId { tenant, job_type } = &id;
                let jobs =
                    self.store.ready_jobs(self.fence.partition, job_type, tenant, JobKey(asked.after), asked.limit).await?;
                self.dispatch.refilled(&id, asked, jobs);
            }
            for instance in self.dispatch.candidates(&id, expected, self.limits.batch_max) {
                wanted.instances.push(instance);
                candidates.push((id.clone(), instance));
            }
            self.dispatch.mark(id);
        }
        Ok(candidates)
    }

    async fn load(&mut self, tick: &mut Tick, mut wanted: Wanted) -> Result<(), CommitError> {
        wanted.instances.retain(|key| !self.hot.contains(*key));
        wanted.jobs.retain(|job| self.hot.instance_of(*job).is_none());
        wanted.elements.retain(|key| !self.hot.contains(InstanceKey(key.0)));
        wanted.instances.sort_unstable();
        wanted.instances.dedup();
        if wanted == Wanted::default() {
            return Ok(());
        }
        let asked: Vec<ElementKey> = wanted.elements.clone();
        let loaded = self.store.load(self.fence.partition, &wanted, tick.now).await?;
        for answer in loaded.idempotent {
            tick.idempotent.insert((answer.tenant.clone(), answer.key.clone()), answer);
        }
        for instance in loaded.instances {
            // A key we have not given yet: somebody else has owned the partition since, and these rows are not ours to go on from.
            if self.keys.next_key() <= newest_key(&instance) {
                return Err(CommitError::Deposed { epoch: self.fence.epoch + 1 });
            }
            self.take_in(tick, instance, &asked).await?;
        }
        Ok(())
    }

    /// An instance in memory is newer than its rows only within a tick, and a tick loads before it changes anything.
    async fn take_in(&mut self, tick: &mut Tick, loaded: LoadedInstance, asked: &[ElementKey]) -> Result<(), Error> {
        let key = loaded.instance.key;
        for element in loaded.elements.iter().filter(|element| asked.contains(&element.key)) {
            tick.owners.insert(element.key.0, key);
        }
        for incident in &loaded.incidents {
            tick.owners.insert(incident.key.0, key);
        }
        if self.hot.contains(key) {
            return Ok(());
        }
        match self.definitions.get(loaded.instance.definition).await {
            Ok(Some(definition)) => self.hot.insert(HotInstance::from_rows(loaded, definition)),
            Ok(None) => self.quarantine_instance(tick, &loaded, asked, "it has no definition"),
            Err(Error::Corrupt { what }) => self.quarantine_instance(tick, &loaded, asked, &what),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// What cannot be run as it is stored stops alone: its commands are refused, its jobs are not handed out.
    fn quarantine_instance(&mut self, tick: &mut Tick, loaded: &LoadedInstance, asked: &[ElementKey], what: &str) {
        for job in &loaded.jobs {
            self.dispatch.not_ready(&QueueId { tenant: job.tenant.clone(), job_type: job.job_type.clone() }, job.key);
        }
        let elements = loaded.elements.iter().map(|element| element.key).filter(|key| asked.contains(key)).map(|key| key.0);
        let jobs = loaded.jobs.iter().map(|job| job.key.0);
        let incidents = loaded.incidents.iter().map(|incident| incident.key.0);
        let keys: Vec<u64> = [loaded.instance.key.0].into_iter().chain(elements).chain(jobs).chain(incidents).collect();
        self.quarantine(tick, keys, what);
    }

    pub(super) fn quarantine(&self, tick: &mut Tick, keys: impl IntoIterator<Item = u64>, what: &str) {
        tracing::error!(what, "something stored cannot be run; its commands are refused until it can");
        self.metrics.quarantined.inc();
        tick.unusable.extend(keys.into_iter().map(|key| (key, what.to_owned())));
    }
}

/// The last key given to anything of an instance.
fn newest_key(loaded: &LoadedInstance) -> u64 {
    let elements = loaded.elements.iter().map(|element| element.key.0);
    let variables = loaded.variables.iter().map(|variable| variable.key.0);
    let jobs = loaded.jobs.iter().map(|job| job.key.0);
    let incidents = loaded.incidents.iter().map(|incident| incident.key.0);
    elements.chain(variables).chain(jobs).chain(incidents).fold(loaded.instance.key.0, u64::max)
}
