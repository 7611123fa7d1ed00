//! A process taken along a path: what can be done next, and what must hold.

use std::collections::BTreeSet;
use std::fmt::Debug;

use engine::{
    Budget, Command, DefinitionKey, Directed, ElementInstance, ElementKey, Event, FailedJob, IncidentKey, IncidentKind, Instance,
    InstanceKey, JobKey, Keys, Means, On, Rejected, State, ThrownError, Triggered, Undecided, WaitKey, WaitKind, step,
};
use model::{Catch, Element, EndEvent, Kind, ListenerEvent, Needed, Process, TimerKind, Trigger};
use schedule::Occurrence;

use crate::restored::restored;

/// Whether an element waits for itself or on behalf of an event on it or in it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    Own,
    Others,
}

/// One run: the instance, all that happened, the keys.
pub(crate) struct Run<'a> {
    pub(crate) process: &'a Process,
    pub(crate) instance: Instance,
    pub(crate) history: Vec<Event>,
    pub(crate) keys: Keys,
}

impl<'a> Run<'a> {
    pub(crate) fn start(process: &'a Process, choice: u8) -> Self {
        let instance = Instance::new(InstanceKey(1), DefinitionKey(1));
        let mut run = Self { process, instance, history: Vec::new(), keys: Keys::starting_at(2) };
        let variables = vec![("choice".into(), choice.to_string().into())];
        run.ask(&Command::Start { at: None, parent: None, variables }).expect("a new instance starts");
        run
    }

    /// Another server goes on from rows.
    pub(crate) fn restart(&mut self) {
        let again = restored(&self.instance);
        assert_eq!(again, self.instance, "rows are not state");
        self.instance = again;
    }

    pub(crate) fn ask(&mut self, command: &Command) -> Result<(), Rejected> {
        self.step(command)?;
        while let Some(wait) = self.turn() {
            self.step(&Command::Turn { wait })?;
        }
        Ok(())
    }

    /// Cancels in turns of so many, with another server at each: nobody is heard in between, and nothing begins.
    pub(crate) fn cancel_in_turns(&mut self, elements: u32) -> Result<(), Rejected> {
        self.step_with(elements, &Command::Cancel)?;
        let goes = self.instance.goes();
        while self.instance.goes() {
            self.restart();
            for (job, element) in self.jobs() {
                let complete = Command::CompleteJob { job, element, variables: vec![] };
                assert_eq!(self.step(&complete), Err(Rejected::NotRunning));
            }
            for command in [Command::Cancel, Command::Suspend, Command::Resume] {
                assert_eq!(self.step(&command), Err(Rejected::NotRunning));
            }
            let (wait, before) = (self.turn().expect("it goes on by itself"), self.history.len());
            self.step_with(elements, &Command::Turn { wait })?;
            let entered = self.history[before..].iter().any(|event| matches!(event, Event::Entered { .. }));
            assert!(!entered, "something began in what was cancelled");
        }
        assert!(!goes || self.turn().is_none(), "it goes on after its end");
        Ok(())
    }

    /// What the host does next by itself: a step that takes long goes on.
    fn turn(&self) -> Option<WaitKey> {
        let waits = &self.instance.root()?.waits;
        waits.iter().find(|wait| matches!(wait.kind, WaitKind::Turn(_))).map(|wait| wait.key)
    }

    fn step(&mut self, command: &Command) -> Result<(), Rejected> {
        self.step_with(20, command)
    }

    fn step_with(&mut self, elements: u32, command: &Command) -> Result<(), Rejected> {
        let before = self.instance.clone();
        let means = Means {
            globals: &model::Globals::default(),
            process: self.process,
            now: 0,
            keys: &mut self.keys,
            budget: &mut Budget::new(elements, 1 << 24),
        };
        let stepped = step(means, &mut self.instance, command);
        self.take(&before, stepped, command)
    }

    /// What was done can be undone; what was rejected has changed nothing.
    pub(crate) fn take(
        &mut self,
        before: &Instance,
        stepped: Result<Vec<Event>, Rejected>,
        what: &dyn Debug,
    ) -> Result<(), Rejected> {
        let events = match stepped {
            Ok(events) => events,
            Err(rejected) => {
                assert_eq!(self.instance, *before, "{what:?} was rejected and changed something");
                return Err(rejected);
            }
        };
        let mut undone = self.instance.clone();
        undone.undo();
        assert_eq!(undone, *before, "{what:?} cannot be undone");
        self.instance.accept();
        self.history.extend(events);
        Ok(())
    }

    pub(crate) fn jobs(&self) -> Vec<(JobKey, ElementKey)> {
        let free = self.instance.elements.iter().filter(|(_, element)| element.incident.is_none());
        free.flat_map(|(key, element)| element.waits.iter().filter_map(|wait| Some((wait.job()?, *key)))).collect()
    }

    /// Tasks that wait for a person and for nobody else.
    fn people(&self) -> Vec<ElementKey> {
        let has = |element: &ElementInstance, kind: WaitKind| element.waits.iter().any(|wait| wait.kind == kind);
        let is_open = |element: &ElementInstance| has(element, WaitKind::UserTask) && !has(element, WaitKind::Job);
        let open = self.instance.elements.iter().filter(|(_, element)| element.incident.is_none() && is_open(element));
        open.map(|(key, _)| *key).collect()
    }

    pub(crate) fn is_listener(&self, job: JobKey) -> bool {
        self.history.iter().any(|event| {
            matches!(event, Event::WaitOpened(wait) if wait.key == job.wait() && matches!(wait.on, On::Job { listener: Some(_), .. }))
        })
    }

    /// Elements that wait for a verdict.
    fn decisions(&self) -> Vec<ElementKey> {
        let asks = |element: &ElementInstance| {
            element.progress.is_none() && matches!(self.process.element(element.element).kind, Kind::DecisionTask(_))
        };
        let elements = self.instance.elements.iter();
        elements.filter(|(_, element)| asks(element) && element.incident.is_none()).map(|(key, _)| *key).collect()
    }

    /// Gives verdicts until nobody asks, as the host does within a tick; one in `n` fails.
    pub(crate) fn decide_all(&mut self, n: usize) {
        while let Some(element) = self.decisions().first().copied() {
            let failed = Undecided { kind: IncidentKind::DecisionEvaluation, reason: "two rules match".into() };
            let verdict = if n % 3 == 2 { Err(failed) } else { Ok("1".into()) };
            let decide = Command::Decide { element, verdict };
            self.ask(&decide).expect("the element asked");
            let again = if self.instance.state == State::Active { Rejected::NoSuchDecision } else { Rejected::NotRunning };
            assert_eq!(self.ask(&decide), Err(again), "decided twice");
        }
    }

    fn incidents(&self) -> Vec<IncidentKey> {
        self.instance.incidents.keys().copied().collect()
    }

    /// The n-th thing that can be done now; the first again and again leads to the end. Fixing the cause comes with the first incident resolved.
    pub(crate) fn act(&mut self, n: usize) {
        self.decide_all(n);
        if self.instance.state != State::Active {
            return;
        }
        let (jobs, own, people) = (self.jobs(), self.waits(Whose::Own), self.people());
        let (incidents, others) = (self.incidents(), self.waits(Whose::Others));
        let first = jobs.len();
        let second = first + own.len();
        let third = second + people.len();
        let fourth = third + incidents.len();
        match n % (fourth + others.len()).max(1) {
            at if at < first => self.work(jobs[at], n),
            at if at < second => self.come(own[at - first], n),
            at if at < third => self.done(people[at - second]),
            at if at < fourth => self.free(incidents[at - third]),
            at => others.get(at - fourth).into_iter().for_each(|wait| self.come(*wait, n)),
        }
    }

    /// A person has done a task.
    fn done(&mut self, element: ElementKey) {
        let variables = vec![("done".into(), "true".into())];
        let done = Command::Listen { element, event: ListenerEvent::Completing, variables, local: false };
        self.ask(&done).expect("the task waits for a person");
        let again = self.ask(&done).expect_err("a task completed twice");
        assert!(matches!(again, Rejected::Listening | Rejected::NoSuchWait | Rejected::NotRunning), "{again:?}");
    }

    /// A worker does something with its job.
    fn work(&mut self, (job, element): (JobKey, ElementKey), n: usize) {
        let kind = &self.process.element(self.instance.elements[&element].element).kind;
        let listens = self.is_listener(job);
        let variables = vec![("done".into(), "true".into())];
        let command = match kind {
            Kind::AdHoc(ad_hoc) if n % 5 < 4 && !listens => {
                let id = self.process.element(ad_hoc.entries[0]).id.clone();
                let activities = if n % 2 == 1 { vec![(id, Vec::new())] } else { Vec::new() };
                let (is_over, drop_rest) = (activities.is_empty(), n.is_multiple_of(3));
                Command::DirectAdHoc(Directed { job, element, variables, activities, is_over, drop_rest })
            }
            _ if n % 5 == 4 && !listens => {
                let (code, message) = ("E".into(), "".into());
                Command::ThrowError(ThrownError { job, element, code, message, variables: vec![] })
            }
            _ if n % 7 == 6 => Command::FailJob(FailedJob { job, element, variables: vec![], stuck: Some("broken".into()) }),
            _ => Command::CompleteJob { job, element, variables },
        };
        self.ask(&command).expect("an open job can be worked on");
        if matches!(command, Command::CompleteJob { .. } | Command::DirectAdHoc(_)) {
            assert_eq!(self.ask(&command), self.again(), "a job completed twice");
        }
    }

    /// What is waited for comes. A condition comes true, if it can.
    fn come(&mut self, (element, wait): (ElementKey, WaitKey), n: usize) {
        let open = self.instance.elements[&element].wait(wait).expect("it was found a moment ago");
        if open.kind == WaitKind::Condition {
            return self.fix();
        }
        let catch = open.catch.unwrap_or(self.instance.elements[&element].element);
        let repeats = matches!(self.process.catch(catch), Some(Trigger::Timer(timer)) if timer.kind == TimerKind::Cycle);
        let at = Occurrence { armed: 0, number: 2, at: 7_200_000 };
        let next = (repeats && n % 3 == 1).then(|| On::Timer { kind: TimerKind::Cycle, text: "R3/PT1H".into(), at });
        let variables = vec![("came".into(), n.to_string().into())];
        self.ask(&Command::Trigger(Triggered { element, wait, variables, next })).expect("an open wait can be triggered");
    }

    fn fix(&mut self) {
        let (scope, variables) = (InstanceKey(1).root(), vec![("fixed".into(), "[1,2]".into())]);
        self.ask(&Command::SetVariables { scope, variables, local: true }).expect("the process is there");
    }

    fn free(&mut self, incident: IncidentKey) {
        self.fix();
        if self.instance.incidents.contains_key(&incident) {
            self.ask(&Command::ResolveIncident { incident }).expect("the incident is there");
        }
    }

    /// Waits for something that is no work: of elements that do nothing else, or of events that sit on others or in them.
    fn waits(&self, whose: Whose) -> Vec<(ElementKey, WaitKey)> {
        let is_own = |element: &ElementInstance| {
            matches!(self.process.element(element.element).kind, Kind::CatchEvent(_) | Kind::EventGateway)
        };
        let elements = self.instance.elements.iter().filter(|(_, element)| is_own(element) == (whose == Whose::Own));
        let waits = elements.flat_map(|(key, element)| element.waits.iter().map(move |wait| (*key, wait)));
        let waits = waits.filter(|(_, wait)| !matches!(wait.kind, WaitKind::Job | WaitKind::Turn(_) | WaitKind::UserTask));
        waits.map(|(key, wait)| (key, wait.key)).collect()
    }

    /// What a second completion is told.
    fn again(&self) -> Result<(), Rejected> {
        Err(if self.instance.state == State::Active { Rejected::NoSuchJob } else { Rejected::NotRunning })
    }

    /// What of what is generated was entered or heard, in words.
    pub(crate) fn reached(&self) -> BTreeSet<&'static str> {
        let reached = self.history.iter().filter_map(|event| match event {
            Event::Entered { element, .. } => what_is_reached(self.process, self.process.element(*element)),
            Event::Listened { event: ListenerEvent::Canceling, .. } => Some("heard at its end"),
            _ => None,
        });
        reached.collect()
    }

    pub(crate) fn check(&self) {
        let mut replayed = Instance::new(InstanceKey(1), DefinitionKey(1));
        self.history.iter().for_each(|event| replayed.apply(event));
        assert_eq!(replayed, self.instance, "history is not state");
        if self.instance.state == State::Active {
            assert!(
                !self.jobs().is_empty()
                    || !self.incidents().is_empty()
                    || !self.decisions().is_empty()
                    || !self.people().is_empty()
                    || !self.waits(Whose::Own).is_empty(),
                "an active instance waits for nothing: {:?}",
                self.instance
            );
        } else {
            self.check_nothing_left();
        }
    }

    /// What was cancelled goes when those who listen were heard.
    pub(crate) fn hear_to_the_end(&mut self) {
        while self.instance.state == State::Active {
            assert_eq!(self.ask(&Command::Cancel), Err(Rejected::NotRunning), "cancelled twice");
            assert!(self.jobs().iter().all(|(job, _)| self.is_listener(*job)), "work goes on after its end");
            self.act(0);
            self.check();
        }
        self.check_nothing_left();
    }

    fn check_nothing_left(&self) {
        assert!(self.instance.elements.is_empty() && self.instance.incidents.is_empty());
        let count = |what: fn(&Event) -> bool| self.history.iter().filter(|event| what(event)).count();
        let opened = count(|event| matches!(event, Event::WaitOpened(_)));
        assert_eq!(opened, count(|event| matches!(event, Event::WaitClosed { .. })), "a wait outlives its instance");
        let entered = count(|event| matches!(event, Event::Entered { .. }));
        let gone = count(|event| matches!(event, Event::Left { .. } | Event::Dropped { .. }));
        assert_eq!(entered, gone, "an element outlives its instance");
        let kept = count(|event| matches!(event, Event::CompensationKept { .. }));
        let taken = count(|event| matches!(event, Event::CompensationTaken { .. }));
        assert_eq!(kept, taken, "something that can be undone outlives its instance");
    }
}

fn what_is_reached(process: &Process, element: &Element) -> Option<&'static str> {
    Some(match &element.kind {
        _ if element.repeat.is_some() => "repeated",
        Kind::Transaction(_) => "transaction",
        Kind::EndEvent(EndEvent::Cancel) => "cancel",
        Kind::EventGateway => "gateway",
        Kind::UserTask(_) => "person",
        Kind::SubProcess(_) if element.listeners.is_some() => "heard sub-process",
        Kind::JobTask(_) if element.listeners.is_some() => "heard task",
        Kind::AdHocRun => "directed",
        Kind::CatchEvent(Trigger::Several(several)) => match several.needed {
            Needed::Any => "catch any",
            Needed::All => "catch all",
        },
        Kind::BoundaryEvent(Catch { interrupting, .. }) => match interrupting {
            true => "boundary interrupts",
            false => "boundary beside",
        },
        Kind::EventSubProcess(scope) => match &process.element(scope.start?).kind {
            Kind::StartEvent(Some(Catch { trigger: Trigger::Compensation, .. })) => "event sub-process undoes",
            Kind::StartEvent(Some(Catch { interrupting: true, .. })) => "event sub-process interrupts",
            _ => "event sub-process beside",
        },
        _ => return None,
    })
}
