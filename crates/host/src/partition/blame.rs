//! Commands at fault that are not their sender's: each is refused, and its instance shows that to a person.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use engine::{ElementKey, IncidentKey, InstanceKey, JobKey, TimerKey, UserTaskKey};
use store::batch::BatchCommand;
use store::log::{Answer, Code, Command, Rejection};

use super::needs::Needs;
use super::run::asked;
use super::tick::Tick;
use super::unit::Stop;
use super::{Input, Partition};
use crate::caution::Caution;

/// What a command names is looked up, and then the instance that belongs to.
const LOOKS_MAX: usize = 2;

impl Partition {
    /// The instance of the command that is to be refused is to show it, and is not in memory after the store has failed. What cannot be
    /// read is not shown: it may be the very thing that fails.
    pub(super) async fn look_up_blamed(&mut self, tick: &mut Tick, inputs: &VecDeque<Input>) {
        if !matches!(self.caution, Caution::RefuseNext { .. }) || self.is_full(tick) {
            return;
        }
        let Some(asked) = inputs.iter().find_map(asked) else { return };
        for _ in 0..LOOKS_MAX {
            let Err(needs) = self.instance_of(tick, &asked.request.command) else { return };
            if let Err(error) = self.load(tick, *needs).await {
                tracing::warn!(%error, "the instance of a command that is refused cannot be read");
                return;
            }
        }
    }

    /// Refuses a command for a fault that is not its sender's. It leaves a row in the log, which proves that the store takes the tick
    /// without it, and an incident of its instance if that can be written.
    pub(super) fn blame(&mut self, tick: &mut Tick, command: &Command, why: &str) -> Result<Answer, Stop> {
        let kind = command.kind();
        let instance = self.instance_of(tick, command).ok().flatten();
        tracing::error!(kind, why, instance = instance.map(|key| key.0), "a command was refused; please report it");
        let is_shown = !matches!(self.caution, Caution::RefuseNextAlone { .. });
        if let Some(instance) = instance.filter(|_| is_shown) {
            let reason: Arc<str> =
                format!("A command ({kind}) was refused: {why}. Resolve this when it has been seen to.").into();
            let mark = engine::Command::Mark { reason };
            let marked = catch_unwind(AssertUnwindSafe(|| self.step(tick, instance, &mark)));
            if !matches!(marked, Ok(Ok(Ok(())))) {
                self.undo_unit(tick);
            }
        }
        if let Command::Batch(BatchCommand::Item { batch, key }) = command {
            self.end_item(tick, *batch, *key, Some(why.into()));
        }
        if let Command::Batch(BatchCommand::Due { batch }) = command {
            self.troubles.give_up(*batch, why);
        }
        let reason = format!("{why}; the instance is as it was before");
        Ok(Answer::Rejected(Rejection { code: Code::InvalidState, reason }))
    }

    /// The instance that a command is about, once it is in memory; what is to be read to find it. None if it is about no instance that
    /// runs.
    fn instance_of(&self, tick: &Tick, command: &Command) -> Result<Option<InstanceKey>, Box<Needs>> {
        let Some(instance) = self.named_by(tick, command)? else { return Ok(None) };
        match self.hot.contains(instance) {
            true => Ok(Some(instance)),
            false if tick.known.absent.contains(&instance.0) || tick.known.unusable.contains_key(&instance.0) => Ok(None),
            false => Err(Box::new(Needs::instance(instance))),
        }
    }

    fn named_by(&self, tick: &Tick, command: &Command) -> Result<Option<InstanceKey>, Box<Needs>> {
        match command {
            Command::Cancel { instance } | Command::Turn { instance, .. } | Command::Change { instance, .. } => {
                Ok(Some(*instance))
            }
            Command::RetryInstance { instance } | Command::Suspend { instance } | Command::Resume { instance } => {
                Ok(Some(*instance))
            }
            Command::TellStep(tell) => Ok(Some(tell.instance)),
            Command::TimerDue { instance, .. } => Ok(*instance),
            Command::FireTimer { timer } | Command::RescheduleTimer { timer, .. } => self.instance_of_timer(*timer),
            Command::CompleteJob { job, .. } | Command::JobDue { job } | Command::RetryJob { job, .. } => {
                self.instance_of_job(*job)
            }
            Command::FailJob(fail) => self.instance_of_job(fail.job),
            Command::FailAttempt(fail) => self.instance_of_job(fail.job),
            Command::ThrowError(throw) => self.instance_of_job(throw.job),
            Command::UpdateJob(update) => self.instance_of_job(update.job),
            Command::Report { reports } => match reports.as_slice() {
                [only] => self.instance_of_job(only.job),
                _ => Ok(None),
            },
            Command::CompleteUserTask { task, .. } | Command::UnassignUserTask { task, .. } => self.instance_of_task(*task),
            Command::AssignUserTask(assign) => self.instance_of_task(assign.task),
            Command::UpdateUserTask(update) => self.instance_of_task(update.task),
            Command::SetVariables { scope, .. } => self.instance_around(tick, *scope),
            Command::StartAdHoc(start) => self.instance_around(tick, start.element),
            Command::ResolveIncident { incident } => instance_of_incident(tick, *incident),
            Command::Deploy(_)
            | Command::DeleteResource { .. }
            | Command::Create(_)
            | Command::CreateAt(_)
            | Command::Evaluate(_)
            | Command::DeleteEvaluation { .. }
            | Command::Publish(_)
            | Command::Correlate(_)
            | Command::Broadcast { .. }
            | Command::EvaluateConditions(_)
            | Command::SignalDue { .. }
            | Command::MessageExpired { .. }
            | Command::Activate(_)
            | Command::Submit(_)
            | Command::PutListener(_)
            | Command::DeleteListener { .. }
            | Command::ConfigureListeners { .. }
            | Command::PutPolicy(_)
            | Command::Announced(_)
            | Command::DeletePolicy { .. }
            | Command::PutSchedule(_)
            | Command::DeleteSchedule { .. }
            | Command::ScheduleDue { .. }
            | Command::CompleteExecutions { .. }
            | Command::CancelExecution { .. }
            | Command::RetryExecution { .. }
            | Command::DeleteInstance { .. }
            | Command::Batch(_)
            | Command::Release { .. } => Ok(None),
        }
    }

    fn instance_of_job(&self, job: JobKey) -> Result<Option<InstanceKey>, Box<Needs>> {
        match self.jobs.knows(&job) {
            true => Ok(self.jobs.get(&job).and_then(|job| job.origin).map(|origin| origin.instance)),
            false => Err(Box::new(Needs::jobs(vec![job]))),
        }
    }

    fn instance_of_task(&self, task: UserTaskKey) -> Result<Option<InstanceKey>, Box<Needs>> {
        match self.user_tasks.knows(&task) {
            true => Ok(self.user_tasks.get(&task).map(|task| task.instance)),
            false => Err(Box::new(Needs::user_tasks(vec![task]))),
        }
    }

    fn instance_of_timer(&self, timer: TimerKey) -> Result<Option<InstanceKey>, Box<Needs>> {
        match self.timers.knows(&timer) {
            true => Ok(self.timers.get(&timer).and_then(|timer| timer.origin).map(|origin| origin.instance)),
            false => Err(Box::new(Needs::timer(timer))),
        }
    }

    /// That of a scope, which may be the process itself.
    fn instance_around(&self, tick: &Tick, scope: ElementKey) -> Result<Option<InstanceKey>, Box<Needs>> {
        let itself = InstanceKey(scope.0);
        match tick.known.elements.get(&scope) {
            _ if self.hot.contains(itself) => Ok(Some(itself)),
            Some(around) => Ok(Some(around.unwrap_or(itself))),
            None => {
                let mut needs = Needs::instance(itself);
                needs.wanted.elements.push(scope);
                Err(Box::new(needs))
            }
        }
    }
}

fn instance_of_incident(tick: &Tick, incident: IncidentKey) -> Result<Option<InstanceKey>, Box<Needs>> {
    tick.known.incidents.get(&incident).copied().ok_or_else(|| {
        let mut needs = Needs::default();
        needs.wanted.incidents.push(incident);
        Box::new(needs)
    })
}
