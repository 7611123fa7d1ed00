//! One command against one instance. This file decides the order; the leaves are in `lifecycle` and `element`.

use std::cell::Cell;
use std::collections::VecDeque;

use feel::Now;
use model::{Element, ElementIx, Process};

use crate::expression::Trouble;
use crate::{
    Command, ElementKey, Event, FailedJob, IncidentKind, Instance, JobEnd, JobKey, Keys, Outcome, Rejected, State, ThrownError,
    element,
};

/// After this many events in one step nothing more is entered: the instance loops without ever waiting.
pub const STEP_EVENTS_MAX: usize = 10_000;

/// Does the command, changing the instance by the events it returns; a rejected command changes nothing.
/// `now` is in milliseconds since 1970.
pub fn step(
    process: &Process,
    instance: &mut Instance,
    command: &Command,
    now: i64,
    keys: &mut Keys,
) -> Result<Vec<Event>, Rejected> {
    let mut run = Run { process, instance, keys, now, evaluations: Cell::new(0), events: Vec::new(), work: VecDeque::new() };
    run.begin(command)?;
    while let Some(work) = run.work.pop_front() {
        match work {
            Work::Enter { key, element, scope } => run.enter(key, element, scope),
            Work::Finish { key } if run.instance.elements.contains_key(&key) => run.finish(key),
            Work::Finish { .. } => {}
        }
    }
    Ok(run.events)
}

/// One step as it goes on.
pub(crate) struct Run<'a> {
    pub(crate) process: &'a Process,
    pub(crate) instance: &'a mut Instance,
    pub(crate) keys: &'a mut Keys,
    now: i64,
    /// How many expressions were evaluated, so that each has a seed of its own.
    evaluations: Cell<u64>,
    pub(crate) work: VecDeque<Work>,
    events: Vec<Event>,
}

/// What is still to do, first come first served: branches advance side by side.
#[derive(Debug)]
pub(crate) enum Work {
    Enter { key: ElementKey, element: ElementIx, scope: ElementKey },
    Finish { key: ElementKey },
}

impl<'a> Run<'a> {
    fn begin(&mut self, command: &Command) -> Result<(), Rejected> {
        match (self.instance.state, command) {
            (State::New, Command::Start { .. }) | (State::Active, _) => {}
            (State::New | State::Completed | State::Terminated, _) => return Err(Rejected::NotRunning),
        }
        match command {
            Command::Start { variables } => self.start(variables),
            Command::Cancel => {
                self.drop_element(self.instance.key.root());
                self.emit(Event::Ended { outcome: Outcome::Terminated });
                Ok(())
            }
            Command::CompleteJob { job, variables } => {
                let element = self.waiting_for(*job)?;
                self.emit(Event::JobClosed { key: *job, element, end: JobEnd::Completed });
                self.take_result(element, variables);
                self.work.push_back(Work::Finish { key: element });
                Ok(())
            }
            Command::FailJob(failed) => self.fail_job(failed),
            Command::ThrowError(thrown) => self.throw_from_job(thrown),
            Command::Decide { element, verdict } => element::decision_task::decide(self, *element, verdict),
            Command::SetVariables { scope, variables, local } => {
                if !self.instance.elements.contains_key(scope) {
                    return Err(Rejected::NoSuchScope);
                }
                if !local {
                    self.propagate(*scope, variables);
                    return Ok(());
                }
                for (name, value) in variables {
                    self.set_local(*scope, name, value);
                }
                Ok(())
            }
            Command::ResolveIncident { incident } => self.resolve(*incident),
        }
    }

    fn start(&mut self, variables: &crate::Document) -> Result<(), Rejected> {
        if self.instance.state != State::New {
            return Err(Rejected::AlreadyStarted);
        }
        if self.process.start().is_none() {
            return Err(Rejected::NoStartEvent);
        }
        let root = self.instance.key.root();
        self.emit(Event::Started { instance: self.instance.key, definition: self.instance.definition });
        self.emit(Event::Entered { key: root, element: Process::ROOT, scope: root });
        for (name, value) in variables {
            self.set_local(root, name, value);
        }
        self.activate(root);
        Ok(())
    }

    fn fail_job(&mut self, failed: &FailedJob) -> Result<(), Rejected> {
        let element = self.waiting_for(failed.job)?;
        for (name, value) in &failed.variables {
            self.set_local(element, name, value);
        }
        if let Some(reason) = &failed.stuck {
            let trouble = Trouble { kind: IncidentKind::JobNoRetries, message: reason.to_string() };
            self.raise(element, Some(failed.job), trouble);
        }
        Ok(())
    }

    fn throw_from_job(&mut self, thrown: &ThrownError) -> Result<(), Rejected> {
        let element = self.waiting_for(thrown.job)?;
        match element::error::catcher(self.process, self.instance, element, &thrown.code) {
            Some(catcher) => {
                self.emit(Event::JobClosed { key: thrown.job, element, end: JobEnd::ErrorThrown });
                element::error::catch(self, catcher, &thrown.variables);
            }
            None => self.raise(element, Some(thrown.job), element::error::uncaught(&thrown.code, &thrown.message)),
        }
        Ok(())
    }

    fn waiting_for(&self, job: JobKey) -> Result<ElementKey, Rejected> {
        if self.instance.incidents.values().any(|incident| incident.job == Some(job)) {
            return Err(Rejected::Stuck);
        }
        self.instance.waiting_for(job).ok_or(Rejected::NoSuchJob)
    }

    /// Records an event and makes it true. Nothing else changes the instance.
    pub(crate) fn emit(&mut self, event: Event) {
        self.instance.apply(&event);
        self.events.push(event);
    }

    /// The time, with a seed for `uuid()` and `random number()` that no other evaluation has: keys are never given twice, and a
    /// step without new keys is told apart by its time.
    pub(crate) fn now(&self) -> Now {
        let count = self.evaluations.get();
        self.evaluations.set(count + 1);
        Now::utc(self.now).seeded(self.keys.next_key().wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(count))
    }

    pub(crate) fn is_exhausted(&self) -> bool {
        STEP_EVENTS_MAX <= self.events.len()
    }

    pub(crate) fn element_of(&self, key: ElementKey) -> &'a Element {
        self.process.element(self.instance.elements[&key].element)
    }
}
