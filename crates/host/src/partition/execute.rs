//! Doing the commands of a batch, one after the other, in memory.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use engine::{Event, Instance, InstanceKey, Phase, Rejected, State, step};
use store::log::{Answer, Code, Command, Create, Created, IdempotencyKey, Pending, ProcessRef, Rejection, Request};
use store::row::{self, InstanceState};
use store::{Error, LogRow, format};

use super::decide::delete_evaluation;
use super::tick::{Batch, Ended, Kept, Tick, log_row};
use super::{Input, Partition, Reply};
use crate::caution::Caution;
use crate::definitions::Compiled;
use crate::dispatch::{Sink, Waiter, Wish};
use crate::hot::HotInstance;

/// What a command did: its answer, and its events if it concerned an instance.
pub(super) struct Done {
    pub(super) answer: Answer,
    pub(super) instance: Option<InstanceKey>,
    pub(super) events: Vec<Event>,
}

impl Partition {
    /// In order. An error means that something to be read on the way could not be: what was done until then is to be undone.
    pub(super) async fn execute_all(&mut self, tick: &mut Tick, batch: &mut Batch, kept: &mut Vec<Kept>) -> Result<(), Error> {
        for pending in &batch.pending {
            let (answer, followed) = self.execute_pending(tick, pending).await;
            if let Some(reply) = batch.callers.remove(&pending.position) {
                tick.replies.push((reply, answer));
                kept.push(Kept::Caller(pending.position));
            }
            followed?;
        }
        while let Some(input) = batch.inputs.pop_front() {
            match input {
                Input::Request { request, reply } => {
                    let followed = self.execute_request(tick, &request, reply).await;
                    kept.push(Kept::Request(request));
                    followed?;
                }
                Input::Release { jobs } => {
                    if self.refused("release").is_none() {
                        self.release(tick, &jobs);
                    }
                    kept.push(Kept::Input(Input::Release { jobs }));
                }
                other @ (Input::Wait(_) | Input::Room { .. } | Input::Appended) => kept.push(Kept::Input(other)),
            }
        }
        Ok(())
    }

    /// A command another server put into the log: it has its position, and its answer is kept for that server to read.
    async fn execute_pending(&mut self, tick: &mut Tick, pending: &Pending) -> (Answer, Result<(), Error>) {
        let request = match format::decode_request(&pending.request) {
            Ok(request) => request,
            Err(error) => {
                let reason = format!("the command cannot be read: {error}");
                let answer = Answer::Rejected(Rejection { code: Code::InvalidArgument, reason });
                let row = log_row("unreadable", None, &[], Some(format::encode_answer(&answer)));
                tick.processed.push(LogRow { position: pending.position, ..row });
                return (answer, Ok(()));
            }
        };
        let kind = request.command.kind();
        if let Some(answer) = self.refused(kind) {
            let row = log_row(kind, None, &[], Some(format::encode_answer(&answer)));
            tick.processed.push(LogRow { position: pending.position, ..row });
            return (answer, Ok(()));
        }
        let mut done = self.once(tick, &request, pending.position);
        let followed = self.answer_calls(tick, &mut done).await;
        self.metrics.count(kind, outcome(&done.answer));
        let row = log_row(kind, done.instance, &done.events, Some(format::encode_answer(&done.answer)));
        tick.processed.push(LogRow { position: pending.position, ..row });
        if let Command::Activate(activate) = &request.command {
            let wish = Wish {
                job_type: activate.job_type.clone(),
                tenants: activate.tenants.clone(),
                worker: activate.worker.clone(),
                timeout: activate.timeout,
                fetch: activate.fetch.clone(),
            };
            let sink = Sink::Log { max: activate.max as usize, slot: tick.processed.len() - 1 };
            self.dispatch.wait(Waiter { wish, sink });
        }
        (done.answer, followed)
    }

    /// A command of this server's own callers. One that is refused and has no idempotency key leaves no trace.
    async fn execute_request(&mut self, tick: &mut Tick, request: &Request, reply: Reply) -> Result<(), Error> {
        let kind = request.command.kind();
        if let Some(answer) = self.refused(kind) {
            // Its row in the log proves that the store takes this tick without the command.
            tick.appended.push(log_row(kind, None, &[], None));
            tick.replies.push((reply, answer));
            return Ok(());
        }
        let position = self.tail + 1 + tick.appended.len() as u64;
        let mut done = self.once(tick, request, position);
        let followed = self.answer_calls(tick, &mut done).await;
        self.metrics.count(kind, outcome(&done.answer));
        let refused = matches!(done.answer, Answer::Rejected(_));
        if !refused || request.idempotency.is_some() {
            tick.appended.push(log_row(kind, done.instance, &done.events, None));
        }
        tick.replies.push((reply, done.answer));
        followed
    }

    /// The answer to a command that failed alone, for good, whatever it was to do.
    fn refused(&self, kind: &'static str) -> Option<Answer> {
        if !matches!(self.caution, Caution::RefuseNext { .. }) {
            return None;
        }
        tracing::error!(
            kind,
            "the store does not take what a command would write, and the command was refused; please report it"
        );
        self.metrics.quarantined.inc();
        let reason = "the store does not take what the command would write; the instance is unchanged".to_owned();
        Some(Answer::Rejected(Rejection { code: Code::InvalidState, reason }))
    }

    /// Does the command unless its idempotency key has an answer already.
    fn once(&mut self, tick: &mut Tick, request: &Request, position: u64) -> Done {
        let Some(idempotency) = &request.idempotency else {
            return self.guarded(tick, &request.command);
        };
        let name = (idempotency.tenant.clone(), idempotency.key.clone());
        if let Some(first) = tick.idempotent.get(&name) {
            return Done { answer: first_answer(first, idempotency), instance: None, events: Vec::new() };
        }
        let done = self.guarded(tick, &request.command);
        let row = row::Idempotent {
            tenant: idempotency.tenant.clone(),
            key: idempotency.key.clone(),
            fingerprint: idempotency.fingerprint,
            position,
            answer: format::encode_answer(&done.answer),
            expires: tick.now + self.limits.idempotency_kept.as_millis() as i64,
        };
        tick.idempotent.insert(name, row.clone());
        tick.recorder.changes.idempotent_new.push(row);
        done
    }

    /// A fault of ours in one command must not stop the partition: that command is refused, its instance leaves memory.
    fn guarded(&mut self, tick: &mut Tick, command: &Command) -> Done {
        let done = catch_unwind(AssertUnwindSafe(|| self.execute(tick, command)));
        done.unwrap_or_else(|_| {
            tracing::error!(kind = command.kind(), "a command hit a fault of the engine and was refused; please report it");
            self.metrics.quarantined.inc();
            rejected(Code::InvalidState, "the engine hit a fault of its own; the instance is unchanged".to_owned())
        })
    }

    fn execute(&mut self, tick: &mut Tick, command: &Command) -> Done {
        if let Some(what) = subject(command).and_then(|key| tick.unusable.get(&key)) {
            return rejected(Code::InvalidState, format!("Expected to go on, but what is stored cannot be run: {what}"));
        }
        let answer = match command {
            Command::Deploy(deploy) => self.deploy(tick, deploy),
            Command::DeleteResource { key } => self.delete_resource(tick, *key),
            Command::Evaluate(evaluate) => self.evaluate(tick, evaluate),
            Command::DeleteEvaluation { evaluation } => delete_evaluation(tick, *evaluation),
            Command::Create(create) => return self.create(tick, create),
            Command::Cancel { instance } => return self.cancel(tick, *instance),
            Command::CompleteJob { job, variables } => return self.complete_job(tick, *job, variables),
            Command::FailJob(fail) => return self.fail_job(tick, fail),
            Command::ThrowError(throw) => return self.throw_error(tick, throw),
            Command::UpdateJob(update) => self.update_job(tick, update),
            Command::SetVariables { scope, variables, local } => {
                let command = engine::Command::SetVariables { scope: *scope, variables: variables.clone(), local: *local };
                let instance = tick.owners.get(&scope.0).copied().unwrap_or(InstanceKey(scope.0));
                let key = self.keys.take();
                let no_scope = || {
                    not_found(format!(
                        "Expected to update variables for element with key '{scope}', but no such element was found"
                    ))
                };
                return match self.step(tick, instance, &command) {
                    Some(Ok(events)) => Done { answer: Answer::VariablesSet { key }, instance: Some(instance), events },
                    Some(Err(_)) | None => no_scope(),
                };
            }
            Command::ResolveIncident { incident } => return self.resolve_incident(tick, *incident),
            Command::Activate(_) => Answer::Activated(Vec::new()),
            Command::Release { jobs } => {
                self.release(tick, jobs);
                Answer::Done
            }
            Command::JobDue { job } => self.job_due(tick, *job),
        };
        Done { answer, instance: None, events: Vec::new() }
    }

    fn create(&mut self, tick: &mut Tick, create: &Create) -> Done {
        let definition = match self.definition(tick, create) {
            Ok(definition) => definition,
            Err(rejection) => return Done { answer: Answer::Rejected(rejection), instance: None, events: Vec::new() },
        };
        let process = &definition.process;
        if process.start().is_none() {
            let reason = format!("Expected to create an instance of process '{}', but it has no none start event", process.id);
            return rejected(Code::InvalidState, reason);
        }
        let key = InstanceKey(self.keys.take());
        let row = row::Instance {
            key,
            definition: definition.row.key,
            state: InstanceState::Active,
            phase: Phase::Entering,
            started: tick.now,
            ended: None,
            parent: None,
            root: key,
            tags: create.tags.clone(),
            business_id: create.business_id.clone(),
            tokens: Vec::new(),
            incidents: 0,
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
        let instance = Instance::new(key, definition.row.key);
        self.hot.insert(HotInstance::new(instance, row, definition));
        let command = engine::Command::Start { variables: create.variables.clone() };
        let events = self.step(tick, key, &command).expect("it was just put there").expect("a new instance can start");
        self.metrics.instances_started.inc();
        Done { answer: Answer::Created(created), instance: Some(key), events }
    }

    fn definition(&self, tick: &Tick, create: &Create) -> Result<Arc<Compiled>, Rejection> {
        let (key, missing) = match &create.process {
            ProcessRef::Key(key) => (Some(*key), format!("Expected to find process definition with key '{key}', but none found")),
            ProcessRef::Id { id, version: None } => (
                self.catalogue.latest(id, &create.tenant).map(|latest| latest.key),
                format!("Expected to find process definition with process ID '{id}', but none found"),
            ),
            ProcessRef::Id { id, version: Some(version) } => (
                self.catalogue.version(id, &create.tenant, *version),
                format!("Expected to find process definition with process ID '{id}' and version '{version}', but none found"),
            ),
        };
        if let Some(what) = key.and_then(|key| tick.unusable.get(&key.0)) {
            return Err(Rejection { code: Code::InvalidState, reason: format!("Expected to start an instance, but {what}") });
        }
        let compiled = key.and_then(|key| tick.compiled.get(&key));
        let visible = |compiled: &&Arc<Compiled>| {
            let gone = tick.deleted.contains(&compiled.row.key);
            compiled.row.tenant == create.tenant && !compiled.row.deleted && !gone
        };
        compiled.filter(visible).cloned().ok_or(Rejection { code: Code::NotFound, reason: missing })
    }

    fn cancel(&mut self, tick: &mut Tick, instance: InstanceKey) -> Done {
        match self.step(tick, instance, &engine::Command::Cancel) {
            Some(Ok(events)) => Done { answer: Answer::Done, instance: Some(instance), events },
            Some(Err(_)) | None => {
                not_found(format!("Expected to cancel a process instance with key '{instance}', but no such process was found"))
            }
        }
    }

    /// One step of an instance, and everything that follows from its events but the answer. `None` if it does not run.
    pub(super) fn step(
        &mut self,
        tick: &mut Tick,
        key: InstanceKey,
        command: &engine::Command,
    ) -> Option<Result<Vec<Event>, Rejected>> {
        let hot = self.hot.get_mut(key)?;
        let definition = hot.definition.clone();
        let stepped =
            catch_unwind(AssertUnwindSafe(|| step(&definition.process, &mut hot.instance, command, tick.now, &mut self.keys)));
        let events = match stepped {
            Ok(Ok(events)) => events,
            Ok(Err(rejected)) => return Some(Err(rejected)),
            Err(panic) => {
                self.hot.remove(key);
                std::panic::resume_unwind(panic);
            }
        };
        tick.touched.insert(key);
        self.follow_jobs(tick, key, &events);
        let hot = self.hot.get(key).expect("it was just stepped");
        tick.recorder.record(hot, &events, tick.now);
        let raised = events.iter().filter(|event| matches!(event, Event::IncidentRaised { .. })).count();
        self.metrics.incidents_raised.inc_by(raised as u64);
        match hot.instance.state {
            State::New | State::Active => {}
            State::Completed | State::Terminated => tick.ended.push(Ended {
                instance: key,
                completed: hot.instance.state == State::Completed,
                result: hot.instance.result.clone(),
            }),
        }
        Some(Ok(events))
    }
}

pub(super) fn rejected(code: Code, reason: String) -> Done {
    Done { answer: Answer::Rejected(Rejection { code, reason }), instance: None, events: Vec::new() }
}

pub(super) fn not_found(reason: String) -> Done {
    rejected(Code::NotFound, reason)
}

/// The key of what a command is about, if that exists before the command.
fn subject(command: &Command) -> Option<u64> {
    match command {
        Command::Cancel { instance } => Some(instance.0),
        Command::CompleteJob { job, .. } | Command::JobDue { job } => Some(job.0),
        Command::FailJob(fail) => Some(fail.job.0),
        Command::ThrowError(throw) => Some(throw.job.0),
        Command::UpdateJob(update) => Some(update.job.0),
        Command::SetVariables { scope, .. } => Some(scope.0),
        Command::ResolveIncident { incident } => Some(incident.0),
        Command::Deploy(_)
        | Command::DeleteResource { .. }
        | Command::Create(_)
        | Command::Evaluate(_)
        | Command::DeleteEvaluation { .. }
        | Command::Activate(_)
        | Command::Release { .. } => None,
    }
}

fn outcome(answer: &Answer) -> &'static str {
    match answer {
        Answer::Rejected(_) => "rejected",
        _ => "done",
    }
}

/// The answer the key's first request got, if this is the same request.
fn first_answer(first: &row::Idempotent, now: &IdempotencyKey) -> Answer {
    if first.fingerprint != now.fingerprint {
        let reason = format!("the idempotency key '{}' was used for a different request", now.key);
        return Answer::Rejected(Rejection { code: Code::InvalidArgument, reason });
    }
    format::decode_answer(&first.answer).unwrap_or_else(|error| {
        let reason = format!("the first answer to idempotency key '{}' cannot be read: {error}", now.key);
        Answer::Rejected(Rejection { code: Code::InvalidState, reason })
    })
}
