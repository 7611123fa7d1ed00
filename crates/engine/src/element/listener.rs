//! Listeners: jobs at moments of an element's life, one after the other. While one is open the element stays where it is: in its entry, about
//! to leave, or in what happens to a user task. How far they have come is kept with the element (ADR 22).

use std::sync::Arc;

use feel::Value;
use model::{Element, GlobalListener, Globals, Kind, Listener, ListenerEvent};

use crate::element::job_task;
use crate::element::multi_instance::split;
use crate::expression::Trouble;
use crate::step::Run;
use crate::variables::KEPT;
use crate::{
    Document, ElementKey, Event, IncidentKind, Instance, JobKey, On, Phase, Rejected, WaitEnd, WaitKey, WaitKind, variables,
};

/// What is listened to and how many have been heard, as a word and a number; with global listeners, also their version.
const PLACE: &str = "heard";
/// Variables that came with what is listened to and count once everybody was heard.
const GIVEN: &str = "given";
/// The event that started a scope, which waits for its listeners, with what came with it.
const TRIGGER: &str = "trigger";

impl Run<'_> {
    /// Asks the next of those that listen. True if there is none left.
    pub(crate) fn listen(&mut self, key: ElementKey, event: ListenerEvent) -> Result<bool, Trouble> {
        let process = self.process;
        let alive = &self.instance.elements[&key];
        let element = process.element(alive.element);
        if self.globals.count(self.pinned(key, event), element, event) == 0 {
            return Ok(true);
        }
        if alive.waits.iter().any(is_job) {
            return Ok(false);
        }
        let heard = match self.heard(key, event) {
            Some(heard) => heard,
            None => self.set_heard(key, event, 0),
        };
        let (job_type, retries) = match nth(self.globals, self.pinned(key, event), element, event, heard) {
            Some(Asked::Own(listener)) => {
                (job_task::job_type(self, key, &listener.job_type)?, job_task::retries(self, key, &listener.retries)?)
            }
            Some(Asked::Global(listener)) => (listener.job_type.clone(), listener.retries),
            None => return Ok(true),
        };
        self.open(key, None, On::Job { job_type, retries, headers: None, listener: Some(event) });
        Ok(false)
    }

    /// How many of those that listen to this have been heard; nothing before the first is asked.
    pub(crate) fn heard(&self, key: ElementKey, event: ListenerEvent) -> Option<usize> {
        place(self.instance, key).filter(|place| place.event == event).map(|place| place.heard)
    }

    /// Which version of those who listen to all user tasks is asked: while this is listened to, the one with which it began.
    pub(crate) fn pinned(&self, key: ElementKey, event: ListenerEvent) -> u32 {
        let begun = place(self.instance, key).filter(|place| place.event == event);
        begun.map_or_else(|| self.globals.latest(), |place| place.globals)
    }

    fn set_heard(&mut self, key: ElementKey, event: ListenerEvent, heard: usize) -> usize {
        let globals = if event.is_of_task() { self.pinned(key, event) } else { 0 };
        let globals = if globals == 0 { String::new() } else { format!(" {globals}") };
        self.keep(key, PLACE, &format!("\"{} {heard}{globals}\"", event.word()));
        heard
    }

    pub(crate) fn keep(&mut self, key: ElementKey, what: &str, value: &str) {
        self.set_local(key, &format!("{KEPT}{what}").into(), &value.into());
    }

    /// What the job of this element stands for, unless it is the element's own work.
    pub(crate) fn listener_of(&self, key: ElementKey) -> Option<ListenerEvent> {
        let element = self.element_of(key);
        let is_heard_by_all = 0 < self.globals.latest() && matches!(element.kind, Kind::UserTask(_));
        if element.listeners.is_none() && !is_heard_by_all {
            return None;
        }
        let event = place(self.instance, key)?.event;
        let fits = match self.instance.elements[&key].phase {
            Phase::Entering => event == ListenerEvent::Start,
            Phase::Leaving => event == ListenerEvent::End,
            Phase::Active => event.is_of_task(),
        };
        fits.then_some(event)
    }

    /// The incident of a job without retries.
    pub(crate) fn no_retries(&self, key: ElementKey) -> IncidentKind {
        match self.listener_of(key) {
            None if matches!(self.element_of(key).kind, Kind::AdHoc(_)) => IncidentKind::AdHocNoRetries,
            None => IncidentKind::JobNoRetries,
            Some(event) if event.is_of_task() => IncidentKind::TaskListenerNoRetries,
            Some(_) => IncidentKind::ExecutionListenerNoRetries,
        }
    }

    /// A listener has been heard: what it gave is local to an element that starts, and goes to the scope around one that ends.
    pub(crate) fn heard_one(&mut self, key: ElementKey, event: ListenerEvent, given: &Document) {
        let alive = &self.instance.elements[&key];
        let scope = if event == ListenerEvent::End { alive.scope } else { key };
        // Conditions that it makes true are looked at when the element has left.
        if event == ListenerEvent::End {
            self.finish_later(key);
        }
        for (name, value) in given {
            self.set_local(scope, name, value);
        }
        let heard = self.heard(key, event).unwrap_or(0);
        self.set_heard(key, event, heard + 1);
        match event {
            ListenerEvent::Start => self.activate_later(key),
            ListenerEvent::End => {}
            ListenerEvent::Creating
            | ListenerEvent::Assigning
            | ListenerEvent::Updating
            | ListenerEvent::Completing
            | ListenerEvent::Canceling => self.listen_to_task(key, event),
        }
    }
}

/// A scope that an event starts while others listen to its start.
impl Run<'_> {
    pub(crate) fn has_start_listeners(&self, key: ElementKey) -> bool {
        self.element_of(key).listening_to(ListenerEvent::Start).next().is_some()
    }

    pub(crate) fn keep_trigger(&mut self, key: ElementKey, event: model::ElementIx, given: &Document) {
        self.keep(key, TRIGGER, &listed(&event.0.to_string(), given));
    }

    pub(crate) fn kept_trigger(&self, key: ElementKey) -> Option<(model::ElementIx, Document)> {
        let (event, given) = document(self.instance, key, TRIGGER)?;
        Some((model::ElementIx(event.parse().ok()?), given))
    }
}

/// What happens to a user task.
impl Run<'_> {
    /// Something is to happen to a user task, and others listen first. `given` counts once all were heard.
    pub(crate) fn begin_listening(
        &mut self,
        key: ElementKey,
        event: ListenerEvent,
        (given, local): (&Document, bool),
    ) -> Result<(), Rejected> {
        self.task_wait(key).ok_or(Rejected::NoSuchWait)?;
        if self.listener_of(key).is_some() {
            return Err(Rejected::Listening);
        }
        if !given.is_empty() {
            self.keep(key, GIVEN, &listed(if local { "true" } else { "false" }, given));
        }
        self.start_hearing(key, event);
        Ok(())
    }

    pub(crate) fn start_hearing(&mut self, key: ElementKey, event: ListenerEvent) {
        self.set_heard(key, event, 0);
        self.listen_to_task(key, event);
    }

    pub(crate) fn listen_to_task(&mut self, key: ElementKey, event: ListenerEvent) {
        match self.listen(key, event) {
            Ok(false) => {}
            Ok(true) => self.heard_all(key, event),
            Err(trouble) => self.raise(key, None, trouble),
        }
    }

    fn heard_all(&mut self, key: ElementKey, event: ListenerEvent) {
        let (local, given) = document(self.instance, key, GIVEN).unwrap_or_default();
        self.forget_listening(key);
        let task = self.task_wait(key).expect("only open user tasks are listened to");
        self.emit(Event::Listened { element: key, task, event });
        match event {
            ListenerEvent::Completing => {
                self.close(key, task, WaitEnd::Completed);
                self.finish_with(key, &given);
            }
            ListenerEvent::Updating if local == "true" => given.iter().for_each(|(name, value)| self.set_local(key, name, value)),
            ListenerEvent::Updating => self.propagate(key, &given),
            ListenerEvent::Canceling => self.let_go(key),
            ListenerEvent::Creating | ListenerEvent::Assigning | ListenerEvent::Start | ListenerEvent::End => {}
        }
    }

    /// A listener refuses what was to happen to a user task: it has never been asked for.
    pub(crate) fn deny(&mut self, job: JobKey, key: ElementKey) -> Result<(), Rejected> {
        match self.listener_of(key) {
            Some(ListenerEvent::Assigning | ListenerEvent::Updating | ListenerEvent::Completing) => {}
            Some(ListenerEvent::Start | ListenerEvent::End | ListenerEvent::Creating | ListenerEvent::Canceling) | None => {
                return Err(Rejected::NoSuchJob);
            }
        }
        self.close(key, job.wait(), WaitEnd::Completed);
        self.forget_listening(key);
        Ok(())
    }

    fn forget_listening(&mut self, key: ElementKey) {
        self.keep(key, PLACE, "null");
        self.forget_given(key);
    }

    pub(crate) fn forget_given(&mut self, key: ElementKey) {
        if kept(self.instance, key, GIVEN).is_some() {
            self.keep(key, GIVEN, "null");
        }
    }

    pub(crate) fn task_wait(&self, key: ElementKey) -> Option<WaitKey> {
        let waits = &self.instance.elements.get(&key)?.waits;
        waits.iter().find(|wait| wait.kind == WaitKind::UserTask).map(|wait| wait.key)
    }

    /// A new user task: those who listen to its creation are asked, or those who listen to its assignment if it has an assignee.
    pub(crate) fn listen_to_new_task(&mut self, key: ElementKey, is_assigned: bool) {
        let element = self.element_of(key);
        let listens = |event| 0 < self.globals.count(self.globals.latest(), element, event);
        let event = match (listens(ListenerEvent::Creating), listens(ListenerEvent::Assigning)) {
            (true, _) => ListenerEvent::Creating,
            (false, true) if is_assigned => ListenerEvent::Assigning,
            (false, _) => return,
        };
        self.start_hearing(key, event);
    }
}

/// All that a listener of a user task sees: what was given with what it listens to comes first. `only` these names unless it is empty.
pub fn visible_to_listener(instance: &Instance, key: ElementKey, only: &[Arc<str>]) -> Document {
    let mut seen = variables::visible(instance, key, only);
    let Some((_, given)) = document(instance, key, GIVEN) else { return seen };
    let wanted = given.into_iter().filter(|(name, _)| only.is_empty() || only.contains(name));
    for (name, value) in wanted {
        match seen.iter_mut().find(|(seen, _)| *seen == name) {
            Some((_, seen)) => *seen = value,
            None => seen.push((name, value)),
        }
    }
    seen
}

/// Whether variables were given with what a user task's listeners are asked about.
pub fn has_given(instance: &Instance, key: ElementKey) -> bool {
    document(instance, key, GIVEN).is_some()
}

fn is_job(wait: &crate::Wait) -> bool {
    wait.kind == WaitKind::Job
}

/// What is listened to, how many were heard, and which version of those who listen to all user tasks is asked.
struct Place {
    event: ListenerEvent,
    heard: usize,
    globals: u32,
}

fn place(instance: &Instance, key: ElementKey) -> Option<Place> {
    let mut words = kept(instance, key, PLACE)?.trim_matches('"').split(' ');
    let (event, heard) = (ListenerEvent::named(words.next()?)?, words.next()?.parse().ok()?);
    let globals = words.next().map_or(Some(0), |version| version.parse().ok())?;
    Some(Place { event, heard, globals })
}

/// One of those who listen.
enum Asked<'a> {
    Own(&'a Listener),
    Global(&'a GlobalListener),
}

/// Global ones come before those of the process, or after them.
fn nth<'a>(globals: &'a Globals, version: u32, element: &'a Element, event: ListenerEvent, heard: usize) -> Option<Asked<'a>> {
    let version = if matches!(element.kind, Kind::UserTask(_)) { version } else { 0 };
    let before = globals.listening_to(version, event, false).map(Asked::Global);
    let after = globals.listening_to(version, event, true).map(Asked::Global);
    before.chain(element.listening_to(event).map(Asked::Own)).chain(after).nth(heard)
}

pub(crate) fn kept<'a>(instance: &'a Instance, key: ElementKey, what: &str) -> Option<&'a str> {
    instance.elements.get(&key)?.variables.kept_as(what).map(|variable| &*variable.value)
}

/// A JSON list: a value first, then names and values in turn.
pub(crate) fn listed(first: &str, given: &Document) -> String {
    let mut list = format!("[{first}");
    for (name, value) in given {
        list.push_str(&format!(",{},{value}", Value::string(&**name).to_json()));
    }
    list.push(']');
    list
}

pub(crate) fn document(instance: &Instance, key: ElementKey, what: &str) -> Option<(String, Document)> {
    let mut items = split(kept(instance, key, what)?);
    let first = items.next()?.to_owned();
    let mut given = Document::new();
    while let (Some(name), Some(value)) = (items.next(), items.next()) {
        if let Ok(Value::String(name)) = Value::from_json(name) {
            given.push((name, value.into()));
        }
    }
    Some((first, given))
}
