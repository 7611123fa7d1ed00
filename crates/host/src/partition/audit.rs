//! The audit trail (ADR 31): a row for what a person did, and for a worker's try that did not end well. All that went as it should is
//! told by the rows of jobs themselves, so that it costs nothing here.

use std::sync::Arc;

use engine::{ElementKey, EvaluationKey, Event, IncidentKey, InstanceKey, JobKey, TimerKey, UserTaskKey, WaitEnd, Waited};
use queue::policy::Scope;
use store::batch::BatchCommand;
use store::change::Change;
use store::log::{Answer, Caller, Command, PutListener, Request};
use store::query::Tenants;
use store::row::{Audit, AuditEntity, Operation};

use super::Partition;
use super::deploy::Deletion;
use super::tick::Tick;

/// More of a message is not kept.
const DESCRIPTION_CHARS_MAX: usize = 1_000;

impl Partition {
    /// The command is done, and this is what it was.
    pub(super) fn audit(&mut self, tick: &mut Tick, request: &Request, answer: &Answer) {
        match &request.command {
            Command::Deploy(_) => self.audit_deployed(tick),
            Command::DeleteResource { key } => self.audit_deletion(tick, *key),
            Command::Cancel { instance } => self.audit_instance(tick, *instance, Operation::Cancel),
            Command::RetryInstance { instance } => self.audit_instance(tick, *instance, Operation::Retry),
            Command::Change { instance, change } => {
                let operation = match change {
                    Change::Modify(_) => Operation::Modify,
                    Change::Migrate(_) => Operation::Migrate,
                };
                self.audit_instance(tick, *instance, operation);
            }
            Command::StartAdHoc(start) => {
                if let Some((instance, _)) = tick.unit.steps.first() {
                    let row = self.of_instance(tick, *instance, Operation::Modify, AuditEntity::ProcessInstance, instance.0);
                    tick.unit.changes.audit_new.push(Audit { element_instance: Some(start.element), ..row });
                }
            }
            Command::SetVariables { scope, .. } => match answer {
                Answer::Listening(listening) => self.audit_task(tick, listening.task, Operation::Update),
                _ => self.audit_variables(tick, *scope),
            },
            Command::ResolveIncident { incident } => self.audit_resolution(tick, *incident),
            Command::AssignUserTask(assign) => self.audit_task(tick, assign.task, Operation::Assign),
            Command::UnassignUserTask { task, .. } => self.audit_task(tick, *task, Operation::Unassign),
            Command::UpdateUserTask(update) => self.audit_task(tick, update.task, Operation::Update),
            Command::CompleteUserTask { task, .. } => self.audit_task(tick, *task, Operation::Complete),
            Command::TellStep(tell) if tell.is_task => self.audit_told(tick),
            Command::UpdateJob(update) if update.retries.is_some() => {
                self.audit_job(tick, update.job, Operation::Update, None);
            }
            Command::RetryExecution { job, .. } => self.audit_job(tick, *job, Operation::Retry, None),
            Command::ConfigureListeners { .. } => self.audit_configured(tick, &request.caller),
            #[rustfmt::skip]
            Command::FireTimer { .. } | Command::RescheduleTimer { .. } | Command::DeleteEvaluation { .. } | Command::PutPolicy(_) | Command::DeletePolicy { .. }
            | Command::PutListener(_) | Command::DeleteListener { .. } | Command::Suspend { .. } | Command::Resume { .. } | Command::DeleteInstance { .. }
            | Command::Batch(_) | Command::RetryJob { .. } | Command::PutSchedule(_) | Command::DeleteSchedule { .. } => self.audit_operators(tick, request, answer),
            Command::Create(_)
            | Command::CreateAt(_)
            | Command::CompleteJob { .. }
            | Command::FailJob(_)
            | Command::ThrowError(_)
            | Command::UpdateJob(_)
            | Command::Evaluate(_)
            | Command::Publish(_)
            | Command::Correlate(_)
            | Command::Broadcast { .. }
            | Command::EvaluateConditions(_)
            | Command::Activate(_)
            | Command::Release { .. }
            | Command::Submit(_)
            | Command::CompleteExecutions { .. }
            | Command::CancelExecution { .. }
            | Command::JobDue { .. }
            | Command::Turn { .. }
            | Command::TimerDue { .. }
            | Command::MessageExpired { .. }
            | Command::SignalDue { .. }
            | Command::TellStep(_)
            | Command::Report { .. }
            | Command::Announced(_)
            | Command::ScheduleDue { .. }
            | Command::FailAttempt(_) => {}
        }
    }

    fn audit_resolution(&mut self, tick: &mut Tick, incident: IncidentKey) {
        if let Some((instance, _)) = tick.unit.steps.first() {
            let row = self.of_instance(tick, *instance, Operation::Resolve, AuditEntity::Incident, incident.0);
            tick.unit.changes.audit_new.push(row);
        }
    }

    /// What operators do.
    fn audit_operators(&mut self, tick: &mut Tick, request: &Request, answer: &Answer) {
        match &request.command {
            Command::FireTimer { timer } => self.audit_timer(tick, *timer, Operation::Fire),
            Command::RescheduleTimer { timer, .. } => self.audit_timer(tick, *timer, Operation::Reschedule),
            Command::DeleteEvaluation { evaluation } => self.audit_evaluation(tick, &request.caller, *evaluation),
            Command::PutPolicy(_) | Command::DeletePolicy { .. } => self.audit_policies(tick, &request.caller),
            Command::PutListener(put) => self.audit_listener_put(tick, &request.caller, put),
            Command::DeleteListener { id } => self.audit_listener(tick, &request.caller, id, Operation::Delete),
            Command::Suspend { instance } => self.audit_instance(tick, *instance, Operation::Suspend),
            Command::Resume { instance } => self.audit_instance(tick, *instance, Operation::Resume),
            Command::DeleteInstance { instance } => self.audit_instance(tick, *instance, Operation::Delete),
            Command::Batch(command) => self.audit_batch(tick, &request.caller, command, answer),
            Command::RetryJob { job, .. } => self.audit_job(tick, *job, Operation::Retry, None),
            Command::PutSchedule(put) => self.audit_schedule(tick, (&put.reference, &put.tenant), Operation::Update),
            Command::DeleteSchedule { tenant, reference } => self.audit_schedule(tick, (reference, tenant), Operation::Delete),
            // The others are told by whoever calls this.
            _ => {}
        }
    }

    /// Something that happened to a job by a person's will, or a try that did not end well. From here on the trail has the dispatch.
    pub(super) fn audit_job(&mut self, tick: &mut Tick, key: JobKey, operation: Operation, description: Option<&Arc<str>>) {
        let Some(job) = self.jobs.get(&key) else { return };
        let is_end = matches!(operation, Operation::Fail | Operation::Throw | Operation::TimeOut | Operation::Release);
        let dispatched = job.dispatched.filter(|_| is_end);
        let (entity_key, tenant) = (key.to_string().into(), job.tenant.clone());
        let (origin, job_type, worker) = (job.origin, job.job_type.clone(), job.worker.clone());
        if dispatched.is_some() {
            // For the dispatch.
            self.keys.take();
            self.jobs.change(&key, tick.number, |job| job.dispatched = None);
        }
        let row = self.new_audit(tick, operation, AuditEntity::Job, entity_key, tenant);
        tick.unit.changes.audit_new.push(Audit {
            definition: origin.map(|origin| origin.definition),
            instance: origin.map(|origin| origin.instance),
            element_instance: origin.map(|origin| origin.element_instance),
            job: Some(key),
            job_type: Some(job_type),
            worker: Some(worker).filter(|worker| !worker.is_empty()),
            dispatched,
            description: description.filter(|text| !text.is_empty()).map(shortened),
            ..row
        });
    }

    fn audit_deployed(&mut self, tick: &mut Tick) {
        let mut rows = Vec::new();
        for row in &tick.unit.changes.definitions_new {
            let audit =
                self.new_audit(tick, Operation::Create, AuditEntity::Resource, row.key.to_string().into(), row.tenant.clone());
            rows.push(of_definition(audit, row));
        }
        for row in &tick.unit.changes.requirements_new {
            let audit =
                self.new_audit(tick, Operation::Create, AuditEntity::Resource, row.key.to_string().into(), row.tenant.clone());
            rows.push(of_requirements(audit, row));
            for decision in &row.decisions {
                let key = decision.key.to_string().into();
                let audit = self.new_audit(tick, Operation::Create, AuditEntity::Decision, key, row.tenant.clone());
                rows.push(of_decision(audit, row, decision));
            }
        }
        for row in &tick.unit.changes.forms_new {
            let audit =
                self.new_audit(tick, Operation::Create, AuditEntity::Resource, row.key.to_string().into(), row.tenant.clone());
            rows.push(of_form(audit, row));
        }
        tick.unit.changes.audit_new.append(&mut rows);
    }

    fn audit_deletion(&mut self, tick: &mut Tick, key: u64) {
        let Some(Some(deletion)) = self.rested.deletions.get(&key).cloned() else { return };
        let audit = self.new_audit(tick, Operation::Delete, AuditEntity::Resource, key.to_string().into(), "".into());
        match &*deletion {
            Deletion::Definition(deletion) => {
                let audit = Audit { tenant: deletion.row.tenant.clone(), ..audit };
                tick.unit.changes.audit_new.push(of_definition(audit, &deletion.row));
            }
            Deletion::Requirements(deletion) => {
                let audit = Audit { tenant: deletion.row.tenant.clone(), ..audit };
                tick.unit.changes.audit_new.push(of_requirements(audit, &deletion.row));
                for decision in &deletion.row.decisions {
                    let (key, tenant) = (decision.key.to_string().into(), deletion.row.tenant.clone());
                    let audit = self.new_audit(tick, Operation::Delete, AuditEntity::Decision, key, tenant);
                    tick.unit.changes.audit_new.push(of_decision(audit, &deletion.row, decision));
                }
            }
            Deletion::Form(row) => {
                tick.unit.changes.audit_new.push(of_form(Audit { tenant: row.tenant.clone(), ..audit }, row));
            }
        }
    }

    fn audit_instance(&mut self, tick: &mut Tick, instance: InstanceKey, operation: Operation) {
        let row = self.of_instance(tick, instance, operation, AuditEntity::ProcessInstance, instance.0);
        tick.unit.changes.audit_new.push(row);
    }

    /// One for each variable.
    fn audit_variables(&mut self, tick: &mut Tick, scope: ElementKey) {
        let Some((instance, events)) = tick.unit.steps.first() else { return };
        let instance = *instance;
        let set = |event: &Event| match event {
            Event::VariableCreated { key, name, .. } => Some((key.0, name.clone(), Operation::Create)),
            Event::VariableUpdated { key, name, .. } => Some((key.0, name.clone(), Operation::Update)),
            _ => None,
        };
        let set: Vec<_> = events.iter().filter_map(set).collect();
        for (key, name, operation) in set {
            let row = self.of_instance(tick, instance, operation, AuditEntity::Variable, key);
            tick.unit.changes.audit_new.push(Audit { element_instance: Some(scope), description: Some(name), ..row });
        }
    }

    fn audit_task(&mut self, tick: &mut Tick, key: UserTaskKey, operation: Operation) {
        let Some(task) = self.user_tasks.get(&key) else { return };
        let (definition, instance, element_instance) = (task.definition, task.instance, task.element_instance);
        let tenant = task.tenant.clone();
        let row = self.new_audit(tick, operation, AuditEntity::UserTask, key.to_string().into(), tenant);
        tick.unit.changes.audit_new.push(Audit {
            definition: Some(definition),
            instance: Some(instance),
            element_instance: Some(element_instance),
            user_task: Some(key),
            ..row
        });
    }

    /// A task of a workflow that was told by its step.
    fn audit_told(&mut self, tick: &mut Tick) {
        let closed = tick.unit.steps.iter().flat_map(|(_, events)| events).find_map(|event| match event {
            Event::WaitClosed { key, on: Waited::UserTask, end: WaitEnd::Completed, .. } => Some(key.user_task()),
            _ => None,
        });
        if let Some(task) = closed {
            self.audit_task(tick, task, Operation::Complete);
        }
    }

    fn audit_timer(&mut self, tick: &mut Tick, key: TimerKey, operation: Operation) {
        let Some(timer) = self.timers.get(&key) else { return };
        let (definition, origin, tenant) = (timer.definition, timer.origin, timer.tenant.clone());
        let row = self.new_audit(tick, operation, AuditEntity::Timer, key.to_string().into(), tenant);
        tick.unit.changes.audit_new.push(Audit {
            definition: Some(definition),
            instance: origin.map(|origin| origin.instance),
            element_instance: origin.map(|origin| origin.element_instance),
            ..row
        });
    }

    fn audit_policies(&mut self, tick: &mut Tick, caller: &Caller) {
        let mut rows = Vec::new();
        for version in &tick.unit.changes.policies_new {
            let operation = match (&version.policy, version.version) {
                (None, _) => Operation::Delete,
                (Some(_), 1) => Operation::Create,
                (Some(_), _) => Operation::Update,
            };
            // One that is deleted was about what its last version says.
            let policy = version.policy.as_ref().or_else(|| self.policies.newest(&version.reference));
            let (tenant, job_type) = match policy.map(|policy| &policy.scope) {
                Some(Scope::Tenant(tenant)) => (tenant.clone(), None),
                Some(Scope::Action(action)) => (home(caller), Some(action.clone())),
                Some(Scope::Global) | None => (home(caller), None),
            };
            let row = self.new_audit(tick, operation, AuditEntity::Policy, version.reference.clone(), tenant);
            rows.push(Audit { job_type, ..row });
        }
        tick.unit.changes.audit_new.append(&mut rows);
    }

    fn audit_evaluation(&mut self, tick: &mut Tick, caller: &Caller, evaluation: EvaluationKey) {
        let key = evaluation.to_string().into();
        let row = self.new_audit(tick, Operation::Delete, AuditEntity::Decision, key, home(caller));
        tick.unit.changes.audit_new.push(row);
    }

    fn audit_listener_put(&mut self, tick: &mut Tick, caller: &Caller, put: &PutListener) {
        let operation = if put.is_new { Operation::Create } else { Operation::Update };
        self.audit_listener(tick, caller, &put.listener.id, operation);
    }

    pub(super) fn audit_listener(&mut self, tick: &mut Tick, caller: &Caller, id: &Arc<str>, operation: Operation) {
        let row = self.new_audit(tick, operation, AuditEntity::Listener, id.clone(), home(caller));
        tick.unit.changes.audit_new.push(row);
    }

    fn audit_schedule(&mut self, tick: &mut Tick, (reference, tenant): (&Arc<str>, &Arc<str>), operation: Operation) {
        let row = self.new_audit(tick, operation, AuditEntity::Schedule, reference.clone(), tenant.clone());
        tick.unit.changes.audit_new.push(row);
    }

    /// What somebody did to the operation itself; its items are in its own list.
    fn audit_batch(&mut self, tick: &mut Tick, caller: &Caller, command: &BatchCommand, answer: &Answer) {
        let (batch, operation) = match (command, answer) {
            (BatchCommand::Start { .. }, Answer::BatchStarted { key, .. }) => (*key, Operation::Create),
            (BatchCommand::Suspend { batch }, _) => (*batch, Operation::Suspend),
            (BatchCommand::Resume { batch }, _) => (*batch, Operation::Resume),
            (BatchCommand::Cancel { batch }, _) => (*batch, Operation::Cancel),
            (BatchCommand::Start { .. } | BatchCommand::Due { .. } | BatchCommand::Item { .. }, _) => return,
        };
        let row = self.new_audit(tick, operation, AuditEntity::Batch, batch.to_string().into(), home(caller));
        tick.unit.changes.audit_new.push(Audit { batch: Some(batch), ..row });
    }

    /// About something of an instance.
    fn of_instance(&mut self, tick: &Tick, instance: InstanceKey, operation: Operation, entity: AuditEntity, key: u64) -> Audit {
        let running = self.hot.get(instance).map(|hot| (hot.definition.row.key, hot.definition.row.tenant.clone()));
        let finished =
            || self.rested.instances.get(&instance)?.as_ref().map(|(view, _)| (view.definition, view.tenant.as_str().into()));
        let (definition, tenant) = running.or_else(finished).map_or((None, "".into()), |(key, tenant)| (Some(key), tenant));
        let row = self.new_audit(tick, operation, entity, key.to_string().into(), tenant);
        Audit { definition, instance: Some(instance), ..row }
    }

    fn new_audit(&mut self, tick: &Tick, operation: Operation, entity: AuditEntity, key: Arc<str>, tenant: Arc<str>) -> Audit {
        let actor = tick.unit.actor.clone();
        Audit { actor, ..Audit::of(self.keys.take(), tick.now, operation, entity, key, tenant) }
    }
}

/// Where what belongs to no tenant is shown.
fn home(caller: &Caller) -> Arc<str> {
    match &caller.tenants {
        Tenants::These(tenants) => tenants.first().cloned().unwrap_or_else(|| "".into()),
        Tenants::Everything => "".into(),
    }
}

fn of_definition(audit: Audit, row: &store::row::Definition) -> Audit {
    Audit {
        definition: Some(row.key),
        deployment: Some(row.deployment),
        resource: Some(row.key.0),
        description: Some(row.resource_name.clone()),
        ..audit
    }
}

fn of_requirements(audit: Audit, row: &store::row::DecisionRequirements) -> Audit {
    Audit {
        requirements: Some(row.key),
        deployment: Some(row.deployment),
        resource: Some(row.key.0),
        description: Some(row.resource_name.clone()),
        ..audit
    }
}

fn of_decision(audit: Audit, row: &store::row::DecisionRequirements, decision: &store::row::Decision) -> Audit {
    Audit {
        requirements: Some(row.key),
        deployment: Some(row.deployment),
        decision: Some(decision.key),
        decision_id: Some(decision.id.clone()),
        description: Some(decision.name.clone()),
        ..audit
    }
}

fn of_form(audit: Audit, row: &store::row::Form) -> Audit {
    Audit {
        form: Some(row.key),
        deployment: Some(row.deployment),
        resource: Some(row.key.0),
        description: Some(row.resource_name.clone()),
        ..audit
    }
}

fn shortened(text: &Arc<str>) -> Arc<str> {
    match text.char_indices().nth(DESCRIPTION_CHARS_MAX) {
        Some((end, _)) => text[..end].into(),
        None => text.clone(),
    }
}
