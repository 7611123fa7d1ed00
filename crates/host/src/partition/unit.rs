//! One command as a unit: what it changes in memory can be undone, and nothing of it is written, handed out or told until it is accepted.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, LazyLock};

use engine::{Budget, Event, Instance, InstanceKey, Means, Outcome, Rejected, State};
use queue::Seat;
use rustc_hash::FxHashMap;
use store::log::{Code, Command, Rejection};
use store::row::{Availability, Job, JobState};
use store::{Changes, DueKind, LogRow, Millis, format, row};

use super::Partition;
use super::admission::{Gate, Unwanted};
use super::batches::PageChange;
use super::migrate::Before;
use super::needs::Needs;
use super::tick::{Ended, Tick};
use super::trace;
use crate::definitions::{Compiled, CompiledDecisions};
use crate::hot::HotInstance;
use crate::limits::Limits;
use crate::sinks::QueueId;
use crate::traced;
use crate::workflow_metrics::WorkflowMetrics;

#[derive(Default)]
pub(super) struct Unit {
    /// What happened to which instance, in order.
    pub(super) steps: Vec<(InstanceKey, Vec<Event>)>,
    /// Instances that came into being.
    created: Vec<InstanceKey>,
    /// Instances that were stepped.
    pub(super) stepped: Vec<InstanceKey>,
    /// Instances that have migrated.
    pub(super) migrated: Vec<Before>,
    /// What concerns no instance.
    pub(super) changes: Others,
    /// Queues with policies that jobs of the command went through.
    pub(super) gates: FxHashMap<QueueId, Gate>,
    /// Jobs that no queue takes.
    pub(super) unwanted: Vec<Unwanted>,
    /// Signals that go on after the commit.
    pub(super) signals: Vec<u64>,
    /// What may have come and gone while its instance was suspended.
    pub(super) woken: Vec<(Millis, (u64, DueKind))>,
    /// What it changes about items that are read, and of which operations it has used what was looked up.
    pub(super) pages: Vec<PageChange>,
    pub(super) rested_batches: Vec<u64>,
    pub(super) deployed: Vec<Arc<Compiled>>,
    pub(super) decisions_deployed: Vec<Arc<CompiledDecisions>>,
    /// What is left of what the command may cost.
    budget: Option<Budget>,
    /// Who sent the command, if they have a name.
    pub(super) actor: Option<Arc<str>>,
    /// The trace of who sent it, as headers.
    pub(super) trace: Option<Arc<str>>,
    /// The trace of the first instance it is about, where requests are traced.
    follows: Option<Arc<str>>,
}

/// Changes that most commands do not make: a unit is moved twice for every command, and they are many lists.
#[derive(Default)]
pub(super) struct Others(Option<Box<Changes>>);

static NONE: LazyLock<Changes> = LazyLock::new(Changes::default);

impl Deref for Others {
    type Target = Changes;

    fn deref(&self) -> &Changes {
        self.0.as_deref().unwrap_or(&NONE)
    }
}

impl DerefMut for Others {
    fn deref_mut(&mut self) -> &mut Changes {
        self.0.get_or_insert_default()
    }
}

/// Why a command did not come to its end.
#[derive(Debug)]
pub(super) enum Stop {
    /// It was understood and refused.
    Refused(Rejection),
    /// Something is not in memory.
    Needs(Box<Needs>),
}

impl Stop {
    pub(super) fn refused(code: Code, reason: String) -> Self {
        Self::Refused(Rejection { code, reason })
    }

    pub(super) fn not_found(reason: String) -> Self {
        Self::refused(Code::NotFound, reason)
    }
}

impl Unit {
    /// A decision was evaluated for the command, with so much left of what it was given, and so many bytes of it are kept.
    pub(super) fn evaluated(&mut self, left: &feel::Budget, kept: usize) {
        if let Some(budget) = &mut self.budget {
            budget.evaluated(left);
            budget.write(kept);
        }
    }

    /// What is left of what the command may cost.
    pub(super) fn budget(&mut self, limits: &Limits) -> &mut Budget {
        self.budget.get_or_insert_with(|| Budget::new(limits.command_elements_max, limits.command_bytes_max))
    }

    pub(super) fn is_spent(&self) -> bool {
        self.budget.as_ref().is_some_and(Budget::is_spent)
    }
}

impl From<Needs> for Stop {
    fn from(needs: Needs) -> Self {
        Self::Needs(Box::new(needs))
    }
}

impl Partition {
    /// Puts a new instance into memory.
    pub(super) fn begin(&mut self, tick: &mut Tick, row: row::Instance, definition: Arc<Compiled>) {
        let key = row.key;
        let instance = Instance::new(key, row.definition);
        self.hot.insert(HotInstance::new(instance, row, definition, tick.number));
        tick.unit.created.push(key);
    }

    /// One step of an instance that is in memory.
    pub(super) fn step(
        &mut self,
        tick: &mut Tick,
        key: InstanceKey,
        command: &engine::Command,
    ) -> Result<Result<(), Rejected>, Stop> {
        let Some(hot) = self.hot.get_mut(key, tick.number) else { return Err(Needs::instance(key).into()) };
        tick.unit.stepped.push(key);
        if traced::is_on() && tick.unit.follows.is_none() {
            tick.unit.follows = trace::of(&hot.instance).cloned();
        }
        let definition = hot.definition.clone();
        let budget = tick.unit.budget(&self.limits);
        let means = Means { process: &definition.process, globals: &self.globals, now: tick.now, keys: &mut self.keys, budget };
        let events = match engine::step(means, &mut hot.instance, command) {
            Ok(events) => events,
            Err(Rejected::Suspended) => return Err(super::suspend::suspended(key)),
            Err(rejected) => return Ok(Err(rejected)),
        };
        self.follow_events(tick, key, &events)?;
        tick.unit.steps.push((key, events));
        Ok(Ok(()))
    }

    /// What is opened and closed becomes rows.
    pub(super) fn follow_events(&mut self, tick: &mut Tick, key: InstanceKey, events: &[Event]) -> Result<(), Stop> {
        // Jobs that listen to what happens to user tasks say what those are like.
        self.follow_user_tasks(tick, key, events)?;
        self.follow_jobs(tick, key, events)?;
        self.follow_waits(tick, key, events)
    }

    /// The command is done: what it changed is written with the tick.
    pub(super) fn accept(&mut self, tick: &mut Tick, command: &Command) {
        let mut unit = std::mem::take(&mut tick.unit);
        tick.commands += 1;
        tick.follows = unit.follows.take();
        self.write_log(tick, command.kind(), &unit.steps);
        for (key, events) in &unit.steps {
            self.record(tick, *key, events);
        }
        self.accept_signals(tick, &unit);
        for (at, what) in &unit.woken {
            self.timeline.insert(*at, *what);
        }
        if !unit.pages.is_empty() || !unit.rested_batches.is_empty() {
            self.accept_pages(tick.now, &mut unit);
        }
        self.batches.accept();
        for deleted in &unit.changes.instances_deleted {
            self.rested.instances.remove(deleted);
        }
        for key in unit.stepped {
            self.hot.accept(key);
            tick.changed.instances.insert(key);
        }
        self.accept_jobs(tick);
        self.accept_policies(&unit.changes.policies_new);
        self.accept_listeners(&unit.changes.listeners_new);
        self.accept_timers();
        self.accept_schedules();
        for message in &unit.changes.messages_new {
            self.timeline.insert(message.expires, (message.key, DueKind::MessageExpires));
        }
        self.subscriptions.accept();
        self.user_tasks.accept();
        self.groups.accept();
        self.starts.accept();
        self.locks.accept();
        self.unique.accept();
        self.idempotent.accept();
        self.catalogue.accept();
        // Only now: a command that is merely tried must not make others look up again what they have found.
        if !unit.deployed.is_empty() {
            self.catalogue.forget_versions();
        }
        if !unit.deployed.is_empty() || !unit.changes.definitions_deleted.is_empty() {
            self.catalogue.forget_processes();
        }
        if !unit.decisions_deployed.is_empty() || !unit.changes.requirements_deleted.is_empty() {
            self.catalogue.forget_found();
        }
        if let Some(changes) = unit.changes.0 {
            tick.recorder.changes.add(*changes);
        }
        for compiled in unit.deployed {
            self.catalogue.fresh.insert(compiled.row.key, compiled.clone());
            tick.deployed.push(compiled);
        }
        for compiled in unit.decisions_deployed {
            self.catalogue.fresh_decisions.insert(compiled.row.key, compiled.clone());
            tick.decisions_deployed.push(compiled);
        }
    }

    /// The command has never been, but for the keys it took.
    pub(super) fn undo_unit(&mut self, tick: &mut Tick) {
        let unit = std::mem::take(&mut tick.unit);
        for key in unit.stepped {
            if let Some(hot) = self.hot.get_mut(key, tick.number) {
                hot.instance.undo();
            }
        }
        for before in unit.migrated.into_iter().rev() {
            if let Some(hot) = self.hot.get_mut(before.instance, tick.number) {
                hot.row.definition = before.definition.row.key;
                (hot.definition, hot.lock) = (before.definition, before.lock);
            }
        }
        for key in unit.created {
            self.hot.remove(key);
        }
        self.jobs.undo();
        self.timers.undo();
        self.subscriptions.undo();
        self.user_tasks.undo();
        self.groups.undo();
        self.starts.undo();
        self.locks.undo();
        self.unique.undo();
        self.schedules.undo();
        self.idempotent.undo();
        self.batches.undo();
        self.catalogue.undo();
    }

    /// A position for every instance that something happened to; at least one.
    fn write_log(&mut self, tick: &mut Tick, kind: &'static str, steps: &[(InstanceKey, Vec<Event>)]) {
        let mut rest = steps;
        while let Some((key, first)) = rest.first() {
            let count = rest.iter().take_while(|(other, _)| other == key).count();
            let events = match count {
                1 => format::encode_events(first),
                _ => format::encode_events(&rest[..count].iter().flat_map(|(_, events)| events).cloned().collect::<Vec<_>>()),
            };
            self.push_log(tick, LogRow { position: 0, kind, instance: Some(*key), events });
            rest = &rest[count..];
        }
        if steps.is_empty() {
            self.push_log(tick, LogRow { position: 0, kind, instance: None, events: Vec::new() });
        }
    }

    fn push_log(&mut self, tick: &mut Tick, row: LogRow) {
        self.position += 1;
        tick.bytes += row.events.len();
        tick.log.push(LogRow { position: self.position, ..row });
    }

    /// What follows from the events of an instance besides its jobs.
    fn record(&mut self, tick: &mut Tick, key: InstanceKey, events: &[Event]) {
        let Some(hot) = self.hot.get(key) else { return };
        tick.recorder.record(hot, events, tick.now);
        if hot.definition.process.workflow.is_some() {
            count_workflow(&self.metrics.workflows, events);
        }
        for event in events {
            match event {
                Event::Started { .. } => drop(self.metrics.instances_started.inc()),
                Event::IncidentRaised { .. } => drop(self.metrics.incidents_raised.inc()),
                Event::WaitOpened(opened) if matches!(opened.on, engine::On::Turn(_)) => {
                    self.timeline.insert(tick.now, (opened.key.0, DueKind::Turn { instance: key }));
                }
                Event::VariableCreated { value, .. } | Event::VariableUpdated { value, .. } => tick.bytes += value.len(),
                Event::Ended { .. } => tick.ended.push(Ended {
                    instance: key,
                    completed: hot.instance.state == State::Completed,
                    result: hot.instance.result.clone(),
                }),
                _ => {}
            }
        }
    }

    /// Jobs that changed go where their new availability belongs.
    pub(super) fn accept_jobs(&mut self, tick: &mut Tick) {
        for (key, before) in self.jobs.changes() {
            let Some(after) = self.jobs.share(&key) else { continue };
            let before = before.as_deref();
            tick.bytes += after.error_message.len();
            if let Some(execution) = &after.execution {
                tick.bytes += execution.input.len() + execution.result.as_ref().map_or(0, |result| result.len());
                if after.execution_state().has_ended() {
                    tick.finished.push(key);
                }
            }
            match before {
                Some(before) => self.take_out_of_windows(before),
                None => drop(self.metrics.jobs_created.inc()),
            }
            self.put_into_windows(&after);
            self.books.note(before, &after, tick.now);
            if let Some(before) = before.filter(|_| self.dispatch.marks_ends())
                && before.availability == Availability::Leased
                && after.availability != Availability::Leased
            {
                self.judge_run(before, &after, tick.now);
            }
            if !self.census.is_empty() || !self.census_tenants.is_empty() {
                self.count_in_queue(&queue_of(&after), before, &after);
            }
            self.count_job(before, &after);
        }
        self.jobs.accept();
    }

    /// A row keeps its state while other things happen to it: what counts is the change.
    fn count_job(&self, before: Option<&Job>, after: &Job) {
        let was_leased = before.is_some_and(|before| before.availability == Availability::Leased);
        // One that is given back untaken has no worker.
        let is_given_back = after.worker.is_empty();
        match (after.state, after.availability) {
            (JobState::Completed, Availability::Done) => drop(self.metrics.jobs_completed.inc()),
            (JobState::TimedOut, Availability::Ready) if was_leased && !is_given_back => drop(self.metrics.jobs_timed_out.inc()),
            (JobState::Failed, Availability::Ready | Availability::BackingOff { .. } | Availability::Stuck)
                if was_leased && !is_given_back =>
            {
                self.metrics.jobs_failed.inc();
            }
            (
                JobState::Created
                | JobState::Completed
                | JobState::Failed
                | JobState::RetriesUpdated
                | JobState::TimedOut
                | JobState::Cancelled
                | JobState::ErrorThrown
                | JobState::Migrated,
                _,
            ) => {}
        }
    }

    /// Whether it takes a slot of its queue's limits.
    fn takes_slot(&self, job: &Job) -> bool {
        job.availability == Availability::Leased || (job.waits_for_retry() && self.dispatch.holds(&queue_of(job)))
    }

    fn put_into_windows(&mut self, job: &Job) {
        if job.availability == Availability::Ready {
            self.announce_ready(job);
            self.dispatch.ready(&queue_of(job), seat_of(job), &job.group);
        }
        if self.dispatch.has_limits() && self.takes_slot(job) {
            self.dispatch.started(&queue_of(job), &job.group);
            if job.availability == Availability::Leased {
                self.dispatch.runs(&queue_of(job));
            }
        }
        if let Some(due) = job.due() {
            self.timeline.insert(due, (job.key.0, DueKind::Job));
        }
    }

    fn take_out_of_windows(&mut self, job: &Job) {
        if job.availability == Availability::Ready {
            self.dispatch.not_ready(&queue_of(job), seat_of(job), &job.group);
        }
        if self.dispatch.has_limits() && self.takes_slot(job) {
            self.dispatch.stopped(&queue_of(job), &job.group);
            if job.availability == Availability::Leased {
                self.dispatch.rests(&queue_of(job));
            }
        }
        if let Some(due) = job.due() {
            self.timeline.remove(due, (job.key.0, DueKind::Job));
        }
    }
}

pub(super) fn queue_of(job: &Job) -> QueueId {
    QueueId { tenant: job.tenant.clone(), job_type: job.job_type.clone() }
}

pub(super) fn seat_of(job: &Job) -> Seat {
    Seat { priority: job.priority, created: job.created, key: job.key.0 }
}

fn count_workflow(metrics: &WorkflowMetrics, events: &[Event]) {
    for event in events {
        match event {
            Event::Started { .. } => drop(metrics.started.inc()),
            Event::Left { .. } => drop(metrics.steps.inc()),
            Event::Ended { outcome: Outcome::Completed } => drop(metrics.completed.inc()),
            _ => {}
        }
    }
}
