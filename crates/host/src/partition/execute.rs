//! What each command does, in memory. Whatever is missing stops it; then it has not happened.

use std::sync::Arc;

use engine::{DefinitionKey, Document, ElementKey, IncidentKey, InstanceKey, KEPT, TimerKey, WaitKey};
use model::{ListenerEvent, Process};
use store::log::{Answer, Caller, Code, Command, Create, Created, IdempotencyKey, ProcessRef, Rejection, Request, StartAdHoc};
use store::row;
use store::{Millis, format};

use super::Partition;
use super::needs::{AtRest, Needs};
use super::tick::Tick;
use super::trace;
use super::unit::Stop;
use crate::definitions::Compiled;

/// What a large instance has called stands still from the moment it is cancelled, if it is no more than this: others would wait for the rest
/// to be read and written. That goes on until its turn comes.
const CALLED_STOPPED_MAX: usize = 1_000;

impl Partition {
    /// The command, and all that follows from it.
    pub(super) fn execute(&mut self, tick: &mut Tick, request: &Request) -> Result<Answer, Stop> {
        if let Some(name) = request.command.kept_name() {
            let reason = format!("Expected variables, but '{name}' begins with '{KEPT}': the engine keeps such names for itself");
            return Err(Stop::refused(Code::InvalidArgument, reason));
        }
        tick.unit.actor = request.caller.actor();
        tick.unit.trace = trace::headers(request.caller.trace.as_deref());
        if let Command::Batch(batch) = &request.command {
            let answer = self.batch(tick, &request.caller, batch)?;
            self.audit(tick, request, &answer);
            return Ok(answer);
        }
        let answer = self.execute_alone(tick, request)?;
        self.with_all_that_follows(tick)?;
        self.audit(tick, request, &answer);
        Ok(answer)
    }

    pub(super) fn with_all_that_follows(&mut self, tick: &mut Tick) -> Result<(), Stop> {
        self.stop_unwanted(tick)?;
        self.follow_up(tick)?;
        self.stop_unwanted(tick)
    }

    fn execute_alone(&mut self, tick: &mut Tick, request: &Request) -> Result<Answer, Stop> {
        let caller = &request.caller;
        match &request.command {
            Command::Deploy(deploy) => self.deploy(tick, deploy),
            Command::DeleteResource { key } => self.delete_resource(tick, caller, *key),
            Command::Evaluate(evaluate) => self.evaluate(tick, evaluate),
            Command::DeleteEvaluation { evaluation } => self.delete_evaluation(tick, *evaluation),
            Command::Create(create) => self.create(tick, create),
            Command::CreateAt(create) => self.create_at(tick, create),
            Command::Cancel { instance } => self.cancel(tick, caller, *instance),
            Command::CompleteJob { job, variables, result } => {
                self.complete_job(tick, caller, *job, variables, result.as_deref())
            }
            Command::FailJob(fail) => self.fail_job(tick, caller, fail),
            Command::ThrowError(throw) => self.throw_error(tick, caller, throw),
            Command::UpdateJob(update) => self.update_job(tick, caller, update),
            Command::SetVariables { scope, variables, local } => self.set_variables(tick, caller, *scope, (variables, *local)),
            Command::AssignUserTask(assign) => self.assign_user_task(tick, caller, assign),
            Command::UnassignUserTask { task, action } => self.unassign_user_task(tick, caller, *task, action),
            Command::UpdateUserTask(update) => self.update_user_task(tick, caller, update),
            Command::CompleteUserTask { task, variables, action } => {
                self.complete_user_task(tick, caller, *task, (variables, action))
            }
            Command::ResolveIncident { incident } => self.resolve_incident(tick, caller, *incident),
            // Asked for by a server that owns the partition itself: it has other ways.
            Command::Activate(_) => Ok(Answer::Activated(Vec::new())),
            Command::Release { jobs } => self.release(tick, jobs),
            Command::JobDue { job } => self.job_due(tick, *job),
            Command::Announced(announced) => self.announced(tick, announced),
            Command::PutPolicy(put) => self.put_policy(tick, caller, put),
            Command::DeletePolicy { reference } => self.delete_policy(tick, caller, reference),
            Command::Submit(submit) => self.submit(tick, submit),
            Command::CompleteExecutions { jobs } => self.complete_executions(tick, caller, jobs),
            Command::CancelExecution { job } => self.cancel_execution(tick, caller, *job),
            Command::RetryExecution { job, retries } => self.retry_execution(tick, caller, *job, *retries),
            Command::Turn { wait, instance } => self.turn(tick, *wait, *instance),
            Command::StartAdHoc(start) => self.start_ad_hoc(tick, caller, start),
            Command::Publish(publish) => self.publish(tick, publish),
            Command::Correlate(publish) => self.correlate(tick, publish),
            Command::Broadcast { tenant, name, variables } => self.broadcast(tick, tenant, name, variables),
            Command::EvaluateConditions(evaluate) => self.evaluate_conditions(tick, evaluate),
            Command::FireTimer { timer } => self.fire_timer(tick, caller, *timer),
            Command::RescheduleTimer { timer, due } => self.reschedule_timer(tick, caller, *timer, *due),
            Command::TimerDue { wait, instance } => self.timer_due(tick, TimerKey(wait.0), *instance),
            Command::SignalDue { signal } => self.signal_due(tick, *signal),
            Command::MessageExpired { message } => self.message_expired(tick, *message),
            Command::Change { instance, change } => self.change(tick, caller, *instance, change),
            Command::TellStep(tell) => self.tell_step(tick, caller, tell),
            Command::FailAttempt(fail) => self.fail_attempt(tick, caller, fail),
            Command::RetryInstance { instance } => self.retry_instance(tick, caller, *instance),
            Command::Suspend { instance } => self.suspend(tick, caller, *instance),
            Command::Resume { instance } => self.resume(tick, caller, *instance),
            Command::DeleteInstance { instance } => self.delete_instance(tick, caller, *instance),
            // Items see to what follows themselves.
            Command::Batch(batch) => self.batch(tick, caller, batch),
            Command::PutListener(put) => self.put_listener(tick, caller, put),
            Command::DeleteListener { id } => self.delete_listener(tick, caller, id),
            Command::ConfigureListeners { listeners } => self.configure_listeners(tick, caller, listeners),
            Command::Report { reports } => self.report(tick, caller, reports),
            Command::RetryJob { job, retries } => self.retry_job(tick, caller, *job, *retries),
            Command::PutSchedule(put) => self.put_schedule(tick, caller, put),
            Command::DeleteSchedule { tenant, reference } => self.delete_schedule(tick, (tenant, reference)),
            Command::ScheduleDue { schedule } => self.schedule_due(tick, *schedule),
        }
    }

    fn set_variables(
        &mut self,
        tick: &mut Tick,
        caller: &Caller,
        scope: ElementKey,
        (variables, local): (&Document, bool),
    ) -> Result<Answer, Stop> {
        let instance = self.instance_of_scope(tick, caller, scope)?;
        if let Some(task) = self.task_with_listeners(instance, scope, ListenerEvent::Updating) {
            return self.set_variables_of_task(tick, caller, task, (variables, local));
        }
        let command = engine::Command::SetVariables { scope, variables: variables.clone(), local };
        let key = self.keys.take();
        match self.step(tick, instance, &command)? {
            Ok(()) => Ok(Answer::VariablesSet { key }),
            Err(_) => Err(no_scope(scope)),
        }
    }

    fn create(&mut self, tick: &mut Tick, create: &Create) -> Result<Answer, Stop> {
        let definition = self.definition(tick, create)?;
        if definition.process.start().is_none() {
            return Err(no_start(&definition.process));
        }
        let created = self.begin_created(tick, create, definition);
        let command = engine::Command::Start { at: None, parent: None, variables: create.variables.clone() };
        self.step(tick, created.instance, &command)?.expect("a new instance can start");
        self.follow_trace(tick, created.instance, tick.unit.trace.clone())?;
        Ok(Answer::Created(created))
    }

    /// An instance that somebody creates, to which nothing has happened yet.
    pub(super) fn begin_created(&mut self, tick: &mut Tick, create: &Create, definition: Arc<Compiled>) -> Created {
        let key = InstanceKey(self.keys.take());
        let row = row::Instance {
            tags: create.tags.clone(),
            business_id: create.business_id.clone(),
            ..row::Instance::begun(key, definition.row.key, tick.now)
        };
        let created = Created {
            instance: key,
            definition: definition.row.key,
            process_id: definition.row.process_id.clone(),
            version: definition.row.version,
            tenant: definition.row.tenant.clone(),
            tags: create.tags.clone(),
            business_id: create.business_id.clone(),
        };
        self.begin(tick, row, definition);
        created
    }

    pub(super) fn definition(&self, tick: &Tick, create: &Create) -> Result<Arc<Compiled>, Stop> {
        let (key, missing) = match &create.process {
            ProcessRef::Key(key) => (Some(*key), format!("Expected to find process definition with key '{key}', but none found")),
            ProcessRef::Id { id, version: None } => (
                self.latest_process(&(id.clone(), create.tenant.clone()))?.map(|latest| latest.key),
                format!("Expected to find process definition with process ID '{id}', but none found"),
            ),
            ProcessRef::Id { id, version: Some(version) } => (
                self.process_version(&(id.clone(), create.tenant.clone()), *version)?,
                format!("Expected to find process definition with process ID '{id}' and version '{version}', but none found"),
            ),
        };
        let Some(key) = key else { return Err(Stop::not_found(missing)) };
        let compiled = self.compiled(tick, key)?;
        let deleted = self.catalogue.definitions.get(&key).copied().unwrap_or(false);
        compiled.filter(|compiled| compiled.row.tenant == create.tenant && !deleted).ok_or_else(|| Stop::not_found(missing))
    }

    fn process_version(&self, name: &super::deploy::Name, version: i32) -> Result<Option<DefinitionKey>, Stop> {
        if let Some(latest) = self.latest_process(name)?
            && latest.version == version
        {
            return Ok(Some(latest.key));
        }
        match self.catalogue.version(name, version) {
            Some(known) => Ok(known),
            None => Err(Needs::at_rest(AtRest::Version(name.clone(), version)).into()),
        }
    }

    /// The compiled definition, if there is one.
    pub(super) fn compiled(&self, tick: &Tick, key: DefinitionKey) -> Result<Option<Arc<Compiled>>, Stop> {
        if let Some(what) = tick.known.unusable.get(&key.0) {
            return Err(Stop::refused(Code::InvalidState, format!("Expected to start an instance, but {what}")));
        }
        match self.catalogue.fresh.get(&key).or_else(|| tick.known.compiled.get(&key)) {
            Some(compiled) => Ok(Some(compiled.clone())),
            None if tick.known.absent.contains(&key.0) => Ok(None),
            None => Err(Needs::definition(key).into()),
        }
    }

    pub(super) fn cancel(&mut self, tick: &mut Tick, caller: &Caller, instance: InstanceKey) -> Result<Answer, Stop> {
        let missing = || {
            Stop::not_found(format!("Expected to cancel a process instance with key '{instance}', but no such process was found"))
        };
        if !self.runs(tick, caller, instance)? {
            return Err(missing());
        }
        if let Some(hot) = self.hot.get(instance).filter(|hot| hot.instance.parent.is_some()) {
            let root = hot.row.root;
            let reason = format!(
                "Expected to cancel a process instance with key '{instance}', but it is called by another: cancel the instance with key \
                 '{root}', which began it all"
            );
            return Err(Stop::refused(Code::InvalidState, reason));
        }
        match self.end(tick, instance)? {
            Ok(()) if self.goes(instance) => Ok(Answer::Going { instance }),
            Ok(()) => Ok(Answer::Done),
            Err(_) => Err(missing()),
        }
    }

    /// Cancels an instance that is in memory. What it has called goes with it, at its turn; until then it stands still as well, unless it is
    /// too much to be stopped at once.
    fn end(&mut self, tick: &mut Tick, instance: InstanceKey) -> Result<Result<(), engine::Rejected>, Stop> {
        let ended = self.step(tick, instance, &engine::Command::Cancel)?;
        if self.goes(instance) {
            let stopped = self.tree(tick, instance, CALLED_STOPPED_MAX)?.unwrap_or_default();
            for called in stopped.into_iter().skip(1) {
                match self.step(tick, called, &engine::Command::Suspend) {
                    // One may be suspended already.
                    Ok(_) | Err(Stop::Refused(_)) => {}
                    Err(needs @ Stop::Needs(_)) => return Err(needs),
                }
            }
        }
        Ok(ended)
    }

    pub(super) fn goes(&self, instance: InstanceKey) -> bool {
        self.hot.get(instance).is_some_and(|hot| hot.instance.goes())
    }

    fn start_ad_hoc(&mut self, tick: &mut Tick, caller: &Caller, start: &StartAdHoc) -> Result<Answer, Stop> {
        let StartAdHoc { element, activities, drop_rest } = start;
        let missing = || {
            Stop::not_found(format!(
                "Expected to activate activities for ad-hoc sub-process but no ad-hoc sub-process instance found with key '{element}'"
            ))
        };
        let instance = match self.instance_of_scope(tick, caller, *element) {
            Err(Stop::Refused(_)) => return Err(missing()),
            found => found?,
        };
        let command = engine::Command::StartAdHoc { element: *element, activities: activities.clone(), drop_rest: *drop_rest };
        match self.step(tick, instance, &command)? {
            Ok(()) => Ok(Answer::Done),
            Err(engine::Rejected::NoSuchElement) => {
                let ids: Vec<&str> = activities.iter().map(|(id, _)| &**id).collect();
                Err(Stop::not_found(format!(
                    "Expected to activate activities for ad-hoc sub-process with key '{element}', but not all of [{}] are activities of it \
                     that no flow leads to",
                    ids.join(", ")
                )))
            }
            Err(_) => Err(missing()),
        }
    }

    /// An instance goes on with a step that took long. If something else has ended that meanwhile, nothing happens.
    fn turn(&mut self, tick: &mut Tick, wait: WaitKey, instance: InstanceKey) -> Result<Answer, Stop> {
        let gone = || Stop::not_found(format!("there is no turn {wait}"));
        // The turn of a suspended one comes when it goes on.
        if !self.runs(tick, &Caller::engine(), instance)? || (self.is_suspended(instance) && !self.goes(instance)) {
            return Err(gone());
        }
        match self.step(tick, instance, &engine::Command::Turn { wait })? {
            Ok(()) => Ok(Answer::Done),
            Err(_) => Err(gone()),
        }
    }

    /// The same for what happens by itself: one that cannot be run as it is stored does not.
    pub(super) fn can_go_on(&mut self, tick: &Tick, key: InstanceKey) -> Result<bool, Stop> {
        match self.runs(tick, &Caller::engine(), key) {
            Err(Stop::Refused(_)) => Ok(false),
            found => found,
        }
    }

    /// Whether an instance that the caller may reach is running.
    pub(super) fn runs(&mut self, tick: &Tick, caller: &Caller, key: InstanceKey) -> Result<bool, Stop> {
        if let Some(what) = tick.known.unusable.get(&key.0) {
            return Err(unusable(what));
        }
        match self.hot.get(key) {
            Some(hot) => {
                let reached = caller.tenants.has(&hot.definition.row.tenant);
                self.hot.touch(key);
                Ok(reached)
            }
            None if tick.known.absent.contains(&key.0) => Ok(false),
            None => Err(Needs::instance(key).into()),
        }
    }

    /// The instance a scope belongs to.
    fn instance_of_scope(&mut self, tick: &Tick, caller: &Caller, scope: ElementKey) -> Result<InstanceKey, Stop> {
        let itself = InstanceKey(scope.0);
        let instance = match tick.known.elements.get(&scope) {
            _ if self.hot.contains(itself) => itself,
            Some(Some(instance)) => *instance,
            Some(None) => itself,
            None => {
                let mut needs = Needs::instance(itself);
                needs.wanted.elements.push(scope);
                return Err(needs.into());
            }
        };
        match self.runs(tick, caller, instance)? {
            true => Ok(instance),
            false => Err(no_scope(scope)),
        }
    }

    /// The instance an active incident belongs to.
    pub(super) fn instance_of_incident(&mut self, tick: &Tick, caller: &Caller, key: IncidentKey) -> Result<InstanceKey, Stop> {
        let instance = match tick.known.incidents.get(&key) {
            Some(instance) => *instance,
            None => {
                let mut needs = Needs::default();
                needs.wanted.incidents.push(key);
                return Err(needs.into());
            }
        };
        match instance {
            Some(instance) if self.runs(tick, caller, instance)? => Ok(instance),
            Some(_) | None => Err(no_incident(key)),
        }
    }

    // ---- idempotency ----

    /// The answer the key's first request got, if this is the same request.
    pub(super) fn first_answer(&self, request: &Request) -> Result<Option<Answer>, Stop> {
        let Some(IdempotencyKey { tenant, key, fingerprint }) = &request.idempotency else { return Ok(None) };
        let name = (tenant.clone(), key.clone());
        if !self.idempotent.knows(&name) {
            let mut needs = Needs::default();
            needs.wanted.idempotent.push(name);
            return Err(needs.into());
        }
        let Some(first) = self.idempotent.get(&name) else { return Ok(None) };
        if first.fingerprint != *fingerprint {
            let reason = format!("the idempotency key '{key}' was used for a different request");
            return Ok(Some(Answer::Rejected(Rejection { code: Code::InvalidArgument, reason })));
        }
        Ok(Some(format::decode_answer(&first.answer).unwrap_or_else(|error| {
            let reason = format!("the first answer to idempotency key '{key}' cannot be read: {error}");
            Answer::Rejected(Rejection { code: Code::InvalidState, reason })
        })))
    }

    /// The first answer to an idempotency key is kept with the effect.
    pub(super) fn remember(&mut self, tick: &Tick, request: &Request, answer: &Answer) {
        let Some(IdempotencyKey { tenant, key, fingerprint }) = &request.idempotency else { return };
        let row = row::Idempotent {
            tenant: tenant.clone(),
            key: key.clone(),
            fingerprint: *fingerprint,
            position: self.position + 1,
            answer: format::encode_answer(answer),
            expires: tick.now + self.limits.idempotency_kept.as_millis() as Millis,
        };
        self.idempotent.put((tenant.clone(), key.clone()), row, tick.number);
    }
}

pub(super) fn unusable(what: &str) -> Stop {
    Stop::refused(Code::InvalidState, format!("Expected to go on, but what is stored cannot be run: {what}"))
}

pub(super) fn no_start(process: &Process) -> Stop {
    let reason = format!("Expected to create an instance of process '{}', but it has no none start event", process.id);
    Stop::refused(Code::InvalidState, reason)
}

fn no_scope(scope: ElementKey) -> Stop {
    Stop::not_found(format!("Expected to update variables for element with key '{scope}', but no such element was found"))
}

pub(super) fn no_incident(key: IncidentKey) -> Stop {
    Stop::not_found(format!("Expected to resolve incident with key '{key}', but no such incident was found"))
}
