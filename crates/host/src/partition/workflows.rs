//! What JSON workflows ask for beyond processes: steps told by their ids, failures whose retries are counted here, an instance tried
//! again as a whole, and the workflow that goes on after another.

use std::sync::Arc;

use engine::{ElementKey, IncidentKey, IncidentKind, InstanceKey, KEPT, Phase, Undecided, UserTaskKey, WaitKind};
use feel::Value;
use model::{Binding, ElementIx, Kind, Retries};
use store::Millis;
use store::log::{Answer, AssignUserTask, Caller, Code, TellStep};
use store::row::{self, JobOrigin};

use super::Partition;
use super::tick::Tick;
use super::trace;
use super::unit::Stop;
use crate::json::object_of_texts;

/// Workflows that start one after the other within one command; more look like an endless chain.
const CHAINED_MAX: usize = 100;
/// Failed attempts of a job that are kept; of more, the last takes the place of the one before.
const ATTEMPTS_MAX: usize = 100;

/// A step that waits to be told.
enum Waiting {
    Step(ElementKey),
    Task(UserTaskKey),
}

impl Partition {
    pub(super) fn tell_step(&mut self, tick: &mut Tick, caller: &Caller, tell: &TellStep) -> Result<Answer, Stop> {
        let TellStep { instance, step, .. } = tell;
        if !self.runs(tick, caller, *instance)? {
            return Err(Stop::not_found(format!("there is no running instance '{instance}'")));
        }
        let Some(place) = self.step_named(tell) else {
            let kind = if tell.is_task { "USER_TASK" } else { "WAIT" };
            return Err(Stop::not_found(format!("the workflow of instance '{instance}' has no step '{step}' of type {kind}")));
        };
        let is_workflow = self.hot.get(*instance).is_some_and(|hot| hot.definition.process.workflow.is_some());
        let is_task_of_process = tell.is_task && !is_workflow;
        let mut waiting = self.waiting(*instance, place);
        if is_task_of_process {
            // What holds the instances of a multi-instance task waits for nobody.
            waiting.retain(|one| matches!(one, Waiting::Task(_)));
            if 1 < waiting.len() {
                let times = waiting.len();
                let reason = format!("step '{step}' of instance '{instance}' waits {times} times: complete each task by its key");
                return Err(Stop::refused(Code::InvalidArgument, reason));
            }
        }
        let told = match waiting.into_iter().next() {
            Some(Waiting::Task(task)) => {
                if let Some(by) = &tell.by {
                    let assign = AssignUserTask { task, assignee: by.clone(), overrides: true, action: "".into() };
                    self.assign_user_task(tick, caller, &assign)?;
                }
                return self.complete_user_task(tick, caller, task, (&tell.variables, &"".into()));
            }
            Some(Waiting::Step(element)) => engine::Command::Tell { element, variables: tell.variables.clone() },
            None if tell.keeps && !is_task_of_process => {
                let early = (engine::early(step), crate::json::object(&tell.variables).into());
                engine::Command::SetVariables { scope: instance.root(), variables: vec![early], local: true }
            }
            None => return Err(not_waiting(*instance, step)),
        };
        self.step(tick, *instance, &told)?.map_err(|_| not_waiting(*instance, step))?;
        Ok(Answer::Done)
    }

    fn step_named(&self, tell: &TellStep) -> Option<ElementIx> {
        let process = &self.hot.get(tell.instance)?.definition.process;
        let found = process.find(&tell.step)?;
        let fits = match process.element(found).kind {
            Kind::UserTask(_) => tell.is_task,
            Kind::Wait => !tell.is_task,
            _ => false,
        };
        fits.then_some(found)
    }

    /// Who waits there, the first first.
    fn waiting(&self, key: InstanceKey, place: ElementIx) -> Vec<Waiting> {
        let alive = self.hot.get(key).into_iter().flat_map(|hot| &hot.instance.elements);
        let here =
            alive.filter(|(_, element)| element.element == place && element.phase == Phase::Active && element.incident.is_none());
        here.map(|(key, element)| match element.waits.iter().find(|wait| wait.kind == WaitKind::UserTask) {
            Some(wait) => Waiting::Task(wait.key.user_task()),
            None => Waiting::Step(*key),
        })
        .collect()
    }

    /// What is kept of a failed attempt, for the history, and its number.
    pub(super) fn attempt(
        &self,
        origin: &JobOrigin,
        (created, now): (Millis, Millis),
        worker: &str,
        message: &str,
    ) -> ((Arc<str>, Arc<str>), u32) {
        let hot = self.hot.get(origin.instance);
        let element = hot.and_then(|hot| hot.instance.elements.get(&origin.element_instance));
        let kept = element.into_iter().flat_map(|element| element.variables.kept());
        let before: Vec<_> = kept.filter(|variable| variable.name.starts_with(&prefix())).collect();
        // Kept variables are found by name, so the last of many is not the last in order.
        let numbered = before.iter().filter_map(|variable| {
            let members = feel::json::decode_members(&variable.value, &["number", "ended"]).ok()?;
            let text = |at: usize| match members.get(at) {
                Some(Some(Value::String(text))) => text.parse::<i64>().ok(),
                _ => None,
            };
            Some((text(0)?, text(1)?))
        });
        let (last, started) = numbered.max().unwrap_or((0, created));
        let texts = [
            ("number", (last + 1).to_string()),
            ("worker", worker.to_owned()),
            ("started", started.to_string()),
            ("ended", now.to_string()),
            ("message", message.to_owned()),
        ];
        let texts: Vec<(Arc<str>, Arc<str>)> = texts.into_iter().map(|(name, text)| (name.into(), text.into())).collect();
        let place = (before.len() + 1).min(ATTEMPTS_MAX);
        let kept = (format!("{}{place}", prefix()).into(), object_of_texts(&texts).into());
        (kept, u32::try_from(last + 1).unwrap_or(u32::MAX))
    }

    /// Whatever has an incident is tried again, jobs with as many retries as they had.
    pub(super) fn retry_instance(&mut self, tick: &mut Tick, caller: &Caller, instance: InstanceKey) -> Result<Answer, Stop> {
        if !self.runs(tick, caller, instance)? {
            return Err(Stop::not_found(format!("there is no running instance '{instance}'")));
        }
        let hot = self.hot.get(instance).expect("it runs");
        let incidents: Vec<(IncidentKey, engine::Incident)> =
            hot.instance.incidents.iter().map(|(key, incident)| (*key, incident.clone())).collect();
        if incidents.is_empty() {
            let reason = format!("instance '{instance}' has not failed: there is nothing to retry");
            return Err(Stop::refused(Code::InvalidState, reason));
        }
        for (key, incident) in incidents {
            let retries = self.retries_of(instance, incident.element);
            if let Some(job) = incident.job
                && self.job(tick, job)?.is_some()
            {
                self.change_job(tick, job, |job| job.retries = job.retries.max(retries));
            }
            match self.resolve_incident(tick, caller, key) {
                // Gone with one that was resolved before it.
                Err(Stop::Refused(_)) => {}
                done => drop(done?),
            }
        }
        Ok(Answer::Done)
    }

    fn retries_of(&self, instance: InstanceKey, element: ElementKey) -> i32 {
        let hot = self.hot.get(instance);
        let alive = hot.and_then(|hot| Some((hot, hot.instance.elements.get(&element)?)));
        match alive.map(|(hot, alive)| &hot.definition.process.element(alive.element).kind) {
            Some(Kind::JobTask(task)) => match task.retries {
                Retries::Fixed(retries) => retries.max(1),
                Retries::Computed(_) => 1,
            },
            _ => 1,
        }
    }

    /// The workflow that goes on after one that has come to its end: with its variables, its business key, and a tag that names it.
    pub(super) fn answer_chain(
        &mut self,
        tick: &mut Tick,
        instance: InstanceKey,
        next: &Arc<str>,
        chained: usize,
    ) -> Result<(), Stop> {
        let Some(hot) = self.hot.get(instance) else { return Ok(()) };
        let (ended, business_id) = (hot.definition.clone(), hot.row.business_id.clone());
        let trace = trace::of(&hot.instance).cloned();
        let found = self.called(tick, next, (&Binding::Latest, &ended.row))?;
        let refused = |reason: String| Undecided { kind: IncidentKind::CalledElement, reason: reason.into() };
        let definition = match found {
            Some(found) if found.process.start().is_some() && chained <= CHAINED_MAX => Ok(found),
            Some(found) if found.process.start().is_some() => Err(refused(format!(
                "{CHAINED_MAX} workflows followed each other without waiting: it looks like an endless chain"
            ))),
            Some(_) => Err(refused(format!("the next workflow '{next}' has no none start event"))),
            None => Err(refused(format!("the next workflow '{next}' is not there: upload it, then retry"))),
        };
        let key = InstanceKey(self.keys.take());
        let verdict = definition.as_ref().map(|_| key).map_err(Clone::clone);
        let element = instance.root();
        let answered = self.step(tick, instance, &engine::Command::Call { element, verdict })?;
        let (Ok(()), Ok(definition)) = (answered, definition) else { return Ok(()) };
        let variables = self.hot.get(instance).map(|hot| hot.instance.result.document()).unwrap_or_default();
        let row = row::Instance {
            tags: vec![format!("previous:{instance}").into()],
            business_id,
            ..row::Instance::begun(key, definition.row.key, tick.now)
        };
        self.begin(tick, row, definition);
        let command = engine::Command::Start { at: None, parent: None, variables };
        self.step(tick, key, &command)?.expect("a new instance can start");
        self.follow_trace(tick, key, trace)
    }
}

fn prefix() -> String {
    format!("{KEPT}attempt:")
}

fn not_waiting(instance: InstanceKey, step: &str) -> Stop {
    Stop::refused(Code::InvalidState, format!("step '{step}' of instance '{instance}' is not waiting now"))
}
