//! A run as text, one line per thing that happened: what traces compare, what a failing simulation prints, what support reads.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use model::Process;

use crate::variables::KEPT;
use crate::{ElementKey, Event, IncidentKind, Migrated, On, Outcome, Rejected, UserTask, WaitEnd, WaitKey};

/// A command that did more than this shows its beginning and its end.
const LINES_MAX: usize = 100;

/// Writes events of one instance, remembering which element each key stands for.
#[derive(Debug, Default)]
pub struct Trace {
    names: BTreeMap<ElementKey, String>,
    /// How many came into being inside each body of a repeated activity.
    inner: BTreeMap<ElementKey, u32>,
    waits: BTreeMap<WaitKey, [&'static str; 2]>,
}

impl Trace {
    /// One line per element and burst of events; moments without a meaning of their own are left out.
    pub fn render(&mut self, process: &Process, events: &[Event]) -> String {
        let mut lines: Vec<(String, Vec<String>)> = Vec::new();
        for event in events {
            let Some((who, what)) = self.line(process, event) else { continue };
            match lines.last_mut() {
                Some((last, whats)) if *last == who => whats.push(what),
                _ => lines.push((who, vec![what])),
            }
        }
        let mut text = String::new();
        let left_out = lines.len().saturating_sub(LINES_MAX);
        for (n, (who, whats)) in lines.iter().enumerate() {
            if 0 < left_out && n == LINES_MAX / 2 {
                writeln!(text, "{:<11} {left_out} lines left out", "…").expect("writing to a string cannot fail");
            }
            if left_out == 0 || n < LINES_MAX / 2 || LINES_MAX / 2 + left_out <= n {
                writeln!(text, "{who:<11} {}", whats.join(", ")).expect("writing to a string cannot fail");
            }
        }
        text
    }

    /// The line of a command that was refused.
    pub fn rejected(rejected: Rejected) -> String {
        let why = match &rejected {
            Rejected::Invalid(reason) | Rejected::Unfit(reason) => reason.to_string(),
            other => format!("{other:?}"),
        };
        format!("{:<11} {why}\n", "rejected")
    }

    fn line(&mut self, process: &Process, event: &Event) -> Option<(String, String)> {
        let at = |ix| process.element(ix).id.to_string();
        let line = match event {
            Event::Started { .. } => ("process".to_owned(), "started".to_owned()),
            Event::Entered { element, .. } if *element == Process::ROOT => {
                self.names.insert(event_key(event)?, "process".to_owned());
                return None;
            }
            Event::Entered { key, element, scope } => {
                let name = self.name_of(&at(*element), *scope);
                self.names.insert(*key, name.clone());
                (name, "entered".to_owned())
            }
            Event::Activated { .. } | Event::Leaving { .. } | Event::Progressed { .. } => return None,
            Event::CompensationsHandedOn { .. } | Event::CompensationTaken { .. } => return None,
            Event::CompensationKept { compensation, .. } => (at(compensation.activity), "can be undone".to_owned()),
            Event::Left { key } | Event::Dropped { key } if self.name(*key) == "process" => return None,
            Event::Left { key } => (self.name(*key), "left".to_owned()),
            Event::Dropped { key } => (self.name(*key), "dropped".to_owned()),
            Event::TokenArrived(token) => (at(token.gateway), format!("token from {}", process.flow(token.flow).id)),
            Event::TokensTaken { gateway, .. } => (at(*gateway), "joined".to_owned()),
            Event::TokenDropped(token) => (at(token.gateway), "token dropped".to_owned()),
            Event::VariableCreated { name, .. } | Event::VariableUpdated { name, .. } if name.starts_with(KEPT) => return None,
            Event::VariableCreated { scope, name, value, .. } | Event::VariableUpdated { scope, name, value, .. } => {
                (self.name(*scope), format!("{name} = {value}"))
            }
            Event::WaitOpened(opened) => {
                let (what, ends) = waiting(&opened.on);
                self.waits.insert(opened.key, ends);
                let event = opened.catch.map(|event| format!("{} ", at(event))).unwrap_or_default();
                (self.name(opened.element), format!("{event}{what}"))
            }
            Event::WaitClosed { key, element, end, .. } => {
                let [came, dropped] = self.waits.remove(key).unwrap_or_default();
                let what = match end {
                    WaitEnd::Completed => came,
                    WaitEnd::Cancelled => dropped,
                    WaitEnd::ErrorThrown => "job threw",
                };
                if what.is_empty() {
                    return None;
                }
                (self.name(*element), what.to_owned())
            }
            Event::Listened { element, event, .. } => (self.name(*element), format!("{} heard", event.word())),
            Event::Called { element, process } => (self.name(*element), format!("calls process {process}")),
            Event::MessageThrown(thrown) => {
                (self.name(thrown.element), format!("throws message {} to '{}'", thrown.name, thrown.correlation_key))
            }
            Event::SignalThrown { element, name, .. } => (self.name(*element), format!("throws signal {name}")),
            Event::ThrownOut(thrown) => (self.name(thrown.element), format!("throws {:?} {} out", thrown.what, thrown.code)),
            Event::FormSought { element, form } => (self.name(*element), format!("seeks form {form}")),
            Event::DecisionCalled { element, decision } => (self.name(*element), format!("calls decision {decision}")),
            Event::IncidentRaised { element, kind, .. } => (self.name(*element), format!("stuck: {}", kind_name(*kind))),
            Event::IncidentResolved { element, .. } => (self.name(*element), "incident resolved".to_owned()),
            Event::Migrated(migrated) => ("process".to_owned(), self.migrated(process, migrated)),
            Event::Suspended => ("process".to_owned(), "suspended".to_owned()),
            Event::Resumed => ("process".to_owned(), "resumed".to_owned()),
            Event::Ended { outcome: Outcome::Completed } => ("process".to_owned(), "completed".to_owned()),
            Event::Ended { outcome: Outcome::Terminated } => ("process".to_owned(), "terminated".to_owned()),
        };
        Some(line)
    }

    /// The id; `id#1`, `id#2` for those inside the body of a repeated activity, which has the same id.
    fn name_of(&mut self, id: &str, scope: ElementKey) -> String {
        if self.names.get(&scope).is_none_or(|body| body.split('#').next() != Some(id)) {
            return id.to_owned();
        }
        let count = self.inner.entry(scope).or_insert(0);
        *count += 1;
        format!("{id}#{count}")
    }

    /// What has another name now; `process` is the one it has become.
    fn migrated(&mut self, process: &Process, migrated: &Migrated) -> String {
        let mut says = "migrated".to_owned();
        for (key, element) in &migrated.elements {
            let was = self.name(*key);
            let id = &process.element(*element).id;
            let is = match was.split_once('#') {
                Some((_, number)) if !id.contains('#') => format!("{id}#{number}"),
                _ => id.to_string(),
            };
            if was != is {
                says.push_str(&format!(", {was} is {is}"));
                self.names.insert(*key, is);
            }
        }
        says
    }

    fn name(&self, key: ElementKey) -> String {
        self.names.get(&key).cloned().unwrap_or_else(|| format!("#{key}"))
    }
}

/// What is waited for, and how it is said that it came or was dropped.
fn waiting(on: &On) -> (String, [&'static str; 2]) {
    match on {
        On::Job { job_type, retries, headers, listener } => {
            let retries = if *retries == 3 { String::new() } else { format!(" with {retries} retries") };
            let headers = headers.as_ref().map(|headers| format!(" with headers {headers}")).unwrap_or_default();
            match listener {
                None => (format!("waits for job {job_type}{retries}{headers}"), ["job done", "job dropped"]),
                Some(event) => {
                    let word = event.word();
                    (format!("waits for {word} listener {job_type}{retries}"), ["listener done", "listener dropped"])
                }
            }
        }
        On::Turn(_) => ("goes on later".to_owned(), ["", ""]),
        On::Timer { text, at, .. } => (format!("waits for timer {text} due {}", at.at), ["timer fired", "timer dropped"]),
        On::Message { name, correlation_key } => {
            (format!("waits for message {name} '{correlation_key}'"), ["message came", "message dropped"])
        }
        On::Signal { name } => (format!("waits for signal {name}"), ["signal came", "signal dropped"]),
        On::Condition => ("waits for its condition".to_owned(), ["condition holds", "condition dropped"]),
        On::Child { instance } => (format!("waits for instance {instance}"), ["child done", "child dropped"]),
        On::UserTask(task) => (waiting_for_person(task), ["task done", "task dropped"]),
    }
}

fn waiting_for_person(task: &UserTask) -> String {
    let mut text = "waits for a person".to_owned();
    let mut say = |what: &str, value: Option<String>| text.extend(value.map(|value| format!(", {what} {value}")));
    let names = |names: &[Arc<str>]| (!names.is_empty()).then(|| names.join(" "));
    say("assignee", task.assignee.as_ref().map(ToString::to_string));
    say("groups", names(&task.candidate_groups));
    say("users", names(&task.candidate_users));
    say("due", task.due.map(|due| due.to_string()));
    say("follow-up", task.follow_up.map(|at| at.to_string()));
    say("priority", (task.priority != model::PRIORITY_DEFAULT).then(|| task.priority.to_string()));
    say("form", task.form.map(|form| form.to_string()));
    say("external form", task.external_form.as_ref().map(ToString::to_string));
    text
}

fn event_key(event: &Event) -> Option<ElementKey> {
    match event {
        Event::Entered { key, .. } => Some(*key),
        _ => None,
    }
}

fn kind_name(kind: IncidentKind) -> &'static str {
    match kind {
        IncidentKind::IoMapping => "mapping",
        IncidentKind::ExtractValue => "value",
        IncidentKind::Condition => "no condition holds",
        IncidentKind::JobNoRetries | IncidentKind::AdHocNoRetries => "no retries left",
        IncidentKind::ExecutionListenerNoRetries | IncidentKind::TaskListenerNoRetries => "listener without retries",
        IncidentKind::UnhandledError => "error not caught",
        IncidentKind::LoopLimit => "endless loop",
        IncidentKind::CalledElement => "no such process",
        IncidentKind::CalledDecision => "no such decision",
        IncidentKind::DecisionEvaluation => "decision failed",
        IncidentKind::FormNotFound => "no such form",
        IncidentKind::Fault => "a fault of the engine",
    }
}
