//! One command against one instance. This file decides the order; the leaves are in `lifecycle` and `element`.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use feel::Now;
use model::{Element, ElementIx, Globals, Kind, Process};

use crate::expression::Trouble;
use crate::join::Woken;
use crate::start_at::EndAfter;
use crate::{
    Budget, Command, Document, ElementKey, Event, FailedJob, Instance, JobKey, Keys, Migration, On, Opened, Parent, Phase,
    Rejected, State, ThrownError, WaitEnd, WaitKey, WaitKind, element, repeat,
};

/// What a step works with besides the instance and the command.
#[derive(Debug)]
pub struct Means<'a> {
    pub process: &'a Process,
    /// Those who listen to all user tasks.
    pub globals: &'a Globals,
    /// In milliseconds since 1970.
    pub now: i64,
    pub keys: &'a mut Keys,
    pub budget: &'a mut Budget,
}

/// Does the command, changing the instance by the events it returns; a rejected command changes nothing.
pub fn step(means: Means<'_>, instance: &mut Instance, command: &Command) -> Result<Vec<Event>, Rejected> {
    taken(means, instance, |run| run.begin(command))
}

/// Lets a running instance go on as one of another process, by the events it returns; refused, it is as it was.
pub fn migrate<'a>(means: Means<'a>, instance: &'a mut Instance, migration: &Migration<'a>) -> Result<Vec<Event>, Rejected> {
    match instance.state {
        State::Active => taken(means, instance, |run| run.migrate(migration)),
        State::Suspended => Err(Rejected::Suspended),
        State::New | State::Completed | State::Terminated => Err(Rejected::NotRunning),
    }
}

fn taken<'a>(
    means: Means<'a>,
    instance: &'a mut Instance,
    begin: impl FnOnce(&mut Run<'a>) -> Result<(), Rejected>,
) -> Result<Vec<Event>, Rejected> {
    let mark = instance.journal.len();
    let mut run = Run::new(means, instance);
    if let Err(rejected) = begin(&mut run) {
        run.instance.undo_to(mark);
        return Err(rejected);
    }
    run.go_on();
    run.go_on_with_parts();
    Ok(run.events)
}

/// One step as it goes on.
pub(crate) struct Run<'a> {
    pub(crate) process: &'a Process,
    pub(crate) globals: &'a Globals,
    pub(crate) instance: &'a mut Instance,
    pub(crate) keys: &'a mut Keys,
    pub(crate) budget: &'a mut Budget,
    now: i64,
    /// How many expressions were evaluated, so that each has a seed of its own.
    evaluations: Cell<u64>,
    work: VecDeque<Work>,
    /// Conditions that may have become true, as variables they read have changed.
    changed: BTreeSet<(ElementKey, WaitKey)>,
    /// Conditions that have been true since their turn was asked for, even if another branch has made them false again.
    met: BTreeSet<WaitKey>,
    /// Conditions whose turn comes.
    looked_at: BTreeSet<WaitKey>,
    /// Elements that are about to finish, where there are conditions.
    done: BTreeSet<ElementKey>,
    /// How many are about to be entered in each scope, by element; none is zero.
    pub(crate) scheduled: BTreeMap<(ElementKey, ElementIx), u32>,
    /// Scopes that were emptied, with the number of the first entry that came after.
    emptied: BTreeMap<ElementKey, u64>,
    entry_next: u64,
    /// Whether more is left for turns than turns are open for. Known of a turn, and where that much was left.
    pub(crate) has_parts: bool,
    pub(crate) end_after: EndAfter,
    events: Vec<Event>,
}

/// What is still to do, first come first served: branches advance side by side.
#[derive(Debug)]
enum Work {
    Enter {
        key: ElementKey,
        element: ElementIx,
        scope: ElementKey,
        number: u64,
    },
    Activate {
        key: ElementKey,
    },
    Finish {
        key: ElementKey,
    },
    /// The body of a repeated activity starts those that come next.
    GoOn {
        key: ElementKey,
    },
    /// Go on from a condition that is met.
    Examine {
        element: ElementKey,
        wait: WaitKey,
    },
    /// Look whether a gateway that waits for tokens has waited long enough; the key is for its element instance.
    Join {
        key: ElementKey,
        gateway: ElementIx,
        scope: ElementKey,
    },
}

impl<'a> Run<'a> {
    fn new(means: Means<'a>, instance: &'a mut Instance) -> Self {
        let Means { process, globals, now, keys, budget } = means;
        let end_after = EndAfter::of(process, instance);
        Self {
            process,
            globals,
            instance,
            keys,
            budget,
            now,
            evaluations: Cell::new(0),
            work: VecDeque::new(),
            changed: BTreeSet::new(),
            met: BTreeSet::new(),
            looked_at: BTreeSet::new(),
            done: BTreeSet::new(),
            scheduled: BTreeMap::new(),
            emptied: BTreeMap::new(),
            entry_next: 0,
            has_parts: false,
            end_after,
            events: Vec::with_capacity(16),
        }
    }

    fn begin(&mut self, command: &Command) -> Result<(), Rejected> {
        match (self.instance.state, command) {
            (State::New, Command::Start { .. } | Command::StartAt(_)) | (State::Active, _) => {}
            (State::Suspended, command) => return self.begin_suspended(command),
            (State::New | State::Completed | State::Terminated, _) => return Err(Rejected::NotRunning),
        }
        match command {
            Command::Start { at, parent, variables } => self.start(*at, *parent, variables),
            Command::StartAt(start) => self.start_at(start),
            Command::Cancel => self.cancel(),
            Command::Suspend => {
                self.emit(Event::Suspended);
                Ok(())
            }
            Command::Resume => Err(Rejected::NotSuspended),
            Command::CompleteJob { job, element, variables } => {
                self.check_job(*job, *element)?;
                self.complete_job(*job, *element, variables);
                Ok(())
            }
            Command::DirectAdHoc(directed) => element::directed_ad_hoc::direct(self, directed),
            Command::FailJob(failed) => self.fail_job(failed),
            Command::ThrowError(thrown) => self.throw_from_job(thrown),
            Command::GiveForm { element, verdict } => element::user_task::give_form(self, *element, verdict),
            Command::Decide { element, verdict } => element::decision_task::decide(self, *element, verdict),
            Command::AskLater { element } => element::decision_task::ask_later(self, *element),
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
            Command::Trigger(triggered) => self.trigger(triggered),
            Command::Call { element, verdict } => self.call(*element, verdict),
            Command::ChildCompleted { element, child, variables } => self.child_completed(*element, *child, variables),
            Command::ChildThrew { element, what, code, variables } => self.child_threw(*element, *what, code, variables),
            Command::Uncaught(thrown) => element::error::not_caught(self, thrown),
            Command::StartAdHoc { element, activities, drop_rest } => self.start_ad_hoc(*element, activities, *drop_rest),
            Command::Listen { element, event, variables, local } => self.begin_listening(*element, *event, (variables, *local)),
            Command::Deny { job, element } => {
                self.check_job(*job, *element)?;
                self.deny(*job, *element)
            }
            Command::Tell { element, variables } => element::wait::tell(self, *element, variables),
            Command::ResolveIncident { incident } => self.resolve(*incident),
            Command::Turn { wait } => self.take_turn(*wait),
            Command::Mark { reason } => {
                self.mark(reason);
                Ok(())
            }
            Command::Modify(modification) => self.modify(modification),
        }
    }

    fn start(&mut self, at: Option<ElementIx>, parent: Option<Parent>, variables: &Document) -> Result<(), Rejected> {
        if self.instance.state != State::New {
            return Err(Rejected::AlreadyStarted);
        }
        let start = match at {
            Some(start) => self.process.scope(Process::ROOT).filter(|scope| scope.triggered.contains(&start)).map(|_| start),
            None => self.process.start(),
        };
        let start = self.process.event(start.ok_or(Rejected::NoStartEvent)?);
        let root = self.come_to_life(parent);
        // What came with a trigger is the start event's to map; otherwise it is the process's.
        let mapped = at.is_some() && self.process.element(start).outputs.is_some();
        if !mapped {
            for (name, value) in variables {
                self.set_local(root, name, value);
            }
        }
        if at.is_some() && self.has_start_listeners(root) {
            self.keep_trigger(root, start, variables);
        } else if at.is_some() {
            match self.activated(root) {
                Ok(()) => self.enter_start(root, start, variables),
                Err(trouble) => self.raise(root, None, trouble),
            }
            return Ok(());
        }
        self.activate(root);
        Ok(())
    }

    /// The instance begins, with nothing inside it yet.
    pub(crate) fn come_to_life(&mut self, parent: Option<Parent>) -> ElementKey {
        let root = self.instance.key.root();
        self.emit(Event::Started { instance: self.instance.key, definition: self.instance.definition, parent });
        self.emit(Event::Entered { key: root, element: Process::ROOT, scope: root });
        root
    }

    pub(crate) fn complete_job(&mut self, job: JobKey, element: ElementKey, variables: &Document) {
        self.close(element, job.wait(), WaitEnd::Completed);
        if let Some(event) = self.listener_of(element) {
            return self.heard_one(element, event, variables);
        }
        if let Kind::AdHoc(_) = self.element_of(element).kind {
            return self.propagate(element, variables);
        }
        self.finish_with(element, variables);
    }

    /// The start event that was triggered, with what came with that.
    pub(crate) fn enter_start(&mut self, scope: ElementKey, start: ElementIx, variables: &Document) {
        let key = ElementKey(self.keys.take());
        self.emit(Event::Entered { key, element: start, scope });
        for (name, value) in variables {
            self.set_local(key, name, value);
        }
        self.activate(key);
    }

    fn fail_job(&mut self, failed: &FailedJob) -> Result<(), Rejected> {
        self.check_job(failed.job, failed.element)?;
        for (name, value) in &failed.variables {
            self.set_local(failed.element, name, value);
        }
        if let Some(reason) = &failed.stuck {
            let trouble = Trouble { kind: self.no_retries(failed.element), message: reason.to_string() };
            self.raise(failed.element, Some(failed.job), trouble);
        }
        Ok(())
    }

    fn throw_from_job(&mut self, thrown: &ThrownError) -> Result<(), Rejected> {
        self.check_job(thrown.job, thrown.element)?;
        if self.listener_of(thrown.element).is_some() {
            return Err(Rejected::IsListener);
        }
        let error = (&thrown.code, &thrown.message);
        if let Err(trouble) = element::error::throw(self, thrown.element, Some(thrown.job), error, &thrown.variables) {
            self.raise(thrown.element, Some(thrown.job), trouble);
        }
        Ok(())
    }

    /// The element waits for that job and nothing holds it.
    pub(crate) fn check_job(&self, job: JobKey, element: ElementKey) -> Result<(), Rejected> {
        let element = self.instance.elements.get(&element).ok_or(Rejected::NoSuchJob)?;
        element.wait(job.wait()).filter(|wait| wait.kind == WaitKind::Job).ok_or(Rejected::NoSuchJob)?;
        match element.incident.and_then(|incident| self.instance.incidents.get(&incident)) {
            Some(incident) if incident.job == Some(job) => Err(Rejected::Stuck),
            Some(_) | None => Ok(()),
        }
    }

    pub(crate) fn open(&mut self, element: ElementKey, catch: Option<ElementIx>, on: On) {
        let key = WaitKey(self.keys.take());
        if let On::Condition = on {
            self.examine_condition_later(element, key);
        }
        self.emit(Event::WaitOpened(Opened { key, element, catch, on }));
    }

    pub(crate) fn close(&mut self, element: ElementKey, key: WaitKey, end: WaitEnd) {
        let wait = self.instance.elements.get(&element).and_then(|element| element.wait(key));
        let on = wait.expect("a closed wait was open").word();
        self.emit(Event::WaitClosed { key, element, on, end });
    }

    /// Records an event and makes it true. Nothing else changes the instance.
    pub(crate) fn emit(&mut self, event: Event) {
        if !self.end_after.is_none() {
            self.look_at_end(&event);
        }
        self.instance.apply(&event);
        if !self.instance.conditions.is_empty() {
            self.look_at_conditions(&event);
        }
        self.events.push(event);
    }

    /// The time, with a seed for `uuid()` and `random number()` that no other evaluation has: keys are never given twice, and a
    /// step without new keys is told apart by its time.
    pub(crate) fn now(&self) -> Now {
        let count = self.evaluations.get();
        self.evaluations.set(count + 1);
        Now::utc(self.now).seeded(self.keys.next_key().wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(count))
    }

    pub(crate) fn time(&self) -> i64 {
        self.now
    }

    /// Conditions that a change of a variable may have made true; each once, however many of its variables change together.
    fn look_at_conditions(&mut self, event: &Event) {
        for (element, wait) in element::condition::concerned(self, event) {
            if !self.is_done(element) {
                self.examine_condition_later(element, wait);
            }
        }
    }

    fn examine_condition_later(&mut self, element: ElementKey, wait: WaitKey) {
        self.changed.insert((element, wait));
        if self.looked_at.insert(wait) {
            self.work.push_back(Work::Examine { element, wait });
        }
    }

    /// Looks at the conditions whose variables one piece of work has changed: what the next one makes of them does not matter.
    fn look(&mut self) {
        while let Some((element, wait)) = self.changed.pop_first() {
            if element::condition::holds(self, element, wait) {
                self.met.insert(wait);
            }
        }
    }

    pub(crate) fn is_met(&mut self, condition: WaitKey) -> bool {
        self.met.remove(&condition)
    }

    /// Whether the work of an element that contains no others is done, and it is about to leave. Known as long as there are conditions.
    pub(crate) fn is_done(&self, key: ElementKey) -> bool {
        self.done.contains(&key) && self.process.scope(self.instance.elements[&key].element).is_none()
    }

    pub(crate) fn element_of(&self, key: ElementKey) -> &'a Element {
        self.process.element(self.instance.elements[&key].element)
    }
}

/// What is still to do, and stopping when it takes too long.
impl Run<'_> {
    /// Until nothing is left to do or the budget is spent; what is left then waits for a turn.
    pub(crate) fn go_on(&mut self) {
        while !self.end_if_due() && !self.work.is_empty() {
            if self.budget.is_spent() {
                return self.pause();
            }
            let Some(work) = self.next_work() else { return };
            match work {
                Work::Enter { key, element, scope, number } => {
                    if self.is_wanted(scope, element, number) {
                        self.enter(key, element, scope);
                    }
                }
                Work::Join { key, gateway, scope } => self.examine(key, gateway, scope),
                Work::Activate { key } if self.is_to_be_continued(key) => self.activate_entered(key),
                Work::Finish { key } if self.is_to_be_finished(key) => self.finish(key),
                Work::GoOn { key } if self.has_more_to_start(key) => repeat::go_on(self, key),
                Work::Activate { .. } | Work::Finish { .. } | Work::GoOn { .. } => {}
                Work::Examine { element, wait } => element::condition::examine(self, element, wait),
            }
        }
    }

    fn next_work(&mut self) -> Option<Work> {
        self.look();
        let work = self.work.pop_front()?;
        match &work {
            Work::Examine { wait, .. } => drop(self.looked_at.remove(wait)),
            Work::Finish { key } => drop(self.done.remove(key)),
            Work::Enter { .. } | Work::Activate { .. } | Work::GoOn { .. } | Work::Join { .. } => {}
        }
        Some(work)
    }

    /// Asks for an element to be entered in its turn; its key is given now, so keys follow the order of the flows.
    pub(crate) fn schedule(&mut self, element: ElementIx, scope: ElementKey) -> ElementKey {
        let key = ElementKey(self.keys.take());
        self.work.push_back(Work::Enter { key, element, scope, number: self.entry_next });
        self.entry_next += 1;
        *self.scheduled.entry((scope, element)).or_insert(0) += 1;
        key
    }

    /// What is in its entry is activated in its turn.
    pub(crate) fn activate_later(&mut self, key: ElementKey) {
        self.work.push_back(Work::Activate { key });
    }

    pub(crate) fn go_on_later(&mut self, body: ElementKey) {
        self.work.push_back(Work::GoOn { key: body });
    }

    pub(crate) fn finish_later(&mut self, key: ElementKey) {
        if !self.instance.conditions.is_empty() {
            self.done.insert(key);
        }
        self.work.push_back(Work::Finish { key });
    }

    /// Whether something is about to be entered in this scope.
    pub(crate) fn is_awaited_in(&self, scope: ElementKey) -> bool {
        self.scheduled_in(scope).next().is_some()
    }

    /// What is about to be entered in this scope.
    pub(crate) fn scheduled_in(&self, scope: ElementKey) -> impl Iterator<Item = ElementIx> + '_ {
        let whole = (scope, ElementIx(0))..=(scope, ElementIx(u32::MAX));
        self.scheduled.range(whole).map(|((_, element), _)| *element)
    }

    /// Asks for a gateway that waits for tokens to be looked at in its turn, when all that moves now has moved.
    pub(crate) fn examine_later(&mut self, gateway: ElementIx, scope: ElementKey) {
        let key = ElementKey(self.keys.take());
        self.work.push_back(Work::Join { key, gateway, scope });
    }

    fn examine(&mut self, key: ElementKey, gateway: ElementIx, scope: ElementKey) {
        match self.wakes(gateway, scope) {
            Woken::Not => {}
            Woken::Enter => self.enter(key, gateway, scope),
            Woken::Activate(key) => self.activate(key),
            Woken::Finish(key) => self.finish(key),
        }
    }

    /// What was about to be entered in this scope is not wanted any more.
    pub(crate) fn unschedule(&mut self, scope: ElementKey) {
        let elements: Vec<_> = self.scheduled_in(scope).collect();
        for element in &elements {
            self.scheduled.remove(&(scope, *element));
        }
        if !elements.is_empty() {
            self.emptied.insert(scope, self.entry_next);
        }
    }

    /// Takes an entry off the account of its scope; false if the scope was emptied meanwhile.
    fn is_wanted(&mut self, scope: ElementKey, element: ElementIx, number: u64) -> bool {
        if self.emptied.get(&scope).is_some_and(|first| number < *first) {
            return false;
        }
        match self.scheduled.get_mut(&(scope, element)) {
            Some(1) | None => drop(self.scheduled.remove(&(scope, element))),
            Some(count) => *count -= 1,
        }
        true
    }

    fn enter(&mut self, key: ElementKey, element: ElementIx, scope: ElementKey) {
        self.come_in(key, element, scope);
        self.activate_entered(key);
    }

    fn activate_entered(&mut self, key: ElementKey) {
        if self.is_straight(key) {
            self.activate(key);
        }
    }

    /// An element in its entry that nothing holds there.
    fn is_to_be_continued(&self, key: ElementKey) -> bool {
        let element = self.instance.elements.get(&key);
        element.is_some_and(|element| element.phase == Phase::Entering && element.incident.is_none() && element.waits.is_empty())
    }

    /// An element whose work is done; of a scope, if nothing has come to life in it again meanwhile.
    fn is_to_be_finished(&self, key: ElementKey) -> bool {
        self.instance.elements.get(&key).is_some_and(|element| element.is_empty()) && !self.is_awaited_in(key)
    }

    pub(crate) fn forget_work(&mut self) {
        self.work.clear();
        self.changed.clear();
        self.met.clear();
        self.looked_at.clear();
        self.done.clear();
        self.scheduled.clear();
    }

    /// The step has taken its share: what is left is entered or about to leave, and waits for its turn.
    fn pause(&mut self) {
        let mut left = Vec::with_capacity(self.work.len());
        while let Some(work) = self.next_work() {
            match work {
                Work::Enter { key, element, scope, number } => {
                    if self.is_wanted(scope, element, number) {
                        self.come_in(key, element, scope);
                        left.push(key);
                    }
                }
                Work::Join { key, gateway, scope } => match self.wakes(gateway, scope) {
                    Woken::Not => {}
                    Woken::Enter => {
                        self.emit(Event::Entered { key, element: gateway, scope });
                        left.push(key);
                    }
                    Woken::Activate(key) | Woken::Finish(key) => left.push(key),
                },
                Work::Activate { key } if self.is_to_be_continued(key) => left.push(key),
                Work::Finish { key } if self.is_to_be_finished(key) => {
                    if self.instance.elements[&key].phase != Phase::Leaving {
                        self.begin_leaving(key);
                    }
                    left.push(key);
                }
                Work::GoOn { key } if self.has_more_to_start(key) => left.push(key),
                // A look costs little, and nothing of it could be written down for later.
                Work::Examine { element, wait } => element::condition::examine(self, element, wait),
                Work::Activate { .. } | Work::Finish { .. } | Work::GoOn { .. } => {}
            }
        }
        // Some of it has gone where a condition interrupts.
        left.retain(|key| self.instance.elements.contains_key(key));
        if !left.is_empty() {
            self.take_up_later(left);
        }
    }

    fn take_turn(&mut self, wait: WaitKey) -> Result<(), Rejected> {
        let root = self.instance.key.root();
        let turn = match self.instance.elements.get(&root).and_then(|root| root.wait(wait)).map(|wait| &wait.kind) {
            Some(WaitKind::Turn(turn)) => turn.clone(),
            Some(
                WaitKind::Job
                | WaitKind::Timer
                | WaitKind::Message
                | WaitKind::Signal
                | WaitKind::Condition
                | WaitKind::UserTask
                | WaitKind::Child { .. },
            )
            | None => return Err(Rejected::NoSuchTurn),
        };
        self.close(root, wait, WaitEnd::Completed);
        self.go_on_from(&turn);
        self.look_for_parts();
        self.take_up(&turn.work);
        Ok(())
    }

    /// Goes on with what was left.
    pub(crate) fn take_up(&mut self, left: &[ElementKey]) {
        for key in left {
            let Some(alive) = self.instance.elements.get(key) else { continue };
            let key = *key;
            self.work.push_back(match alive.phase {
                Phase::Entering => Work::Activate { key },
                Phase::Leaving => Work::Finish { key },
                Phase::Active if alive.progress.is_some() => Work::GoOn { key },
                Phase::Active => {
                    self.examine_later(alive.element, alive.scope);
                    continue;
                }
            });
        }
    }
}
