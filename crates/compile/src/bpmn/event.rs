//! Event definitions: what an event waits for or throws.

use std::sync::Arc;

use model::{
    CodeCatch, Compensate, Condition, JobTaskFlavour, Message, Publish, Text, Throw, TimerKind, TimerTrigger, Trigger,
    VariableChange,
};
use roxmltree::Node;

use super::element::job_task;
use super::extension;
use super::site::{Definition, Site};
use super::vocabulary::{bpmn_name, content, referred};
use crate::diagnostic::quoted;
use crate::draft::DraftElement;
use crate::expression;
use crate::timer;

/// What became of the definition of an event that catches.
pub(super) enum Read {
    Caught(Trigger),
    /// What is wrong has been noted.
    Refused,
    /// Nothing this engine executes.
    Unsupported,
}

/// What became of the definition of an event that throws.
pub(super) enum Thrown {
    Throw(Throw),
    /// A worker does it.
    Job(Box<DraftElement>),
    /// What is wrong has been noted.
    Refused,
    /// Nothing this engine executes.
    Unsupported,
}

pub(super) fn caught(site: &mut Site<'_, '_, '_>, trigger: &str, definition: Node<'_, '_>) -> Read {
    let read = match trigger {
        "timer" => timer(site, definition).map(Trigger::Timer),
        "message" => message(site, definition).map(Trigger::Message),
        "signal" => signal(site, definition).map(|name| Trigger::Signal { name }),
        "conditional" => condition(site, definition).map(Trigger::Condition),
        "error" => code(site, definition, "error").map(Trigger::Error),
        "escalation" => code(site, definition, "escalation").map(Trigger::Escalation),
        "cancel" => Some(Trigger::Cancel),
        "compensation" => Some(Trigger::Compensation),
        _ => return Read::Unsupported,
    };
    read.map_or(Read::Refused, Read::Caught)
}

pub(super) fn thrown(site: &mut Site<'_, '_, '_>, trigger: &str, definition: Node<'_, '_>, flavour: JobTaskFlavour) -> Thrown {
    let throw = match trigger {
        "message" => match extension::only(site, "taskDefinition") {
            Some(task) => return Thrown::Job(Box::new(job_task::read(site, task, flavour))),
            None => publish(site, definition).map(Throw::Message),
        },
        "signal" => signal(site, definition).map(|name| Throw::Signal { name }),
        "escalation" => escalation(site, definition).map(|code| Throw::Escalation { code }),
        // Which activity it names is known once all are.
        "compensation" => Some(Throw::Compensation(Compensate { activity: None })),
        _ => return Thrown::Unsupported,
    };
    throw.map_or(Thrown::Refused, Thrown::Throw)
}

/// The code that an error end event throws.
pub(super) fn error(site: &mut Site<'_, '_, '_>, definition: Node<'_, '_>) -> Option<Text> {
    let reference = definition.attribute("errorRef").map(referred).unwrap_or_default();
    let code = match site.roots.errors.get(reference) {
        Some(Some(code)) => expression::text("the error code", code),
        Some(None) => Err(format!("the error {} needs an errorCode to be thrown", quoted(reference))),
        None if reference.is_empty() => Err("an error end event needs an errorRef".to_owned()),
        None => Err(format!("the error {} does not exist", quoted(reference))),
    };
    site.note(definition, code)
}

/// The activity that one of the definitions of an event names, if it compensates.
pub(super) fn compensated(site: &mut Site<'_, '_, '_>, definitions: &[Definition<'_, '_>]) -> Option<Arc<str>> {
    definitions.iter().find_map(|(_, definition)| compensated_by(site, *definition))
}

/// The activity that an event names, if it compensates.
fn compensated_by(site: &mut Site<'_, '_, '_>, definition: Node<'_, '_>) -> Option<Arc<str>> {
    if bpmn_name(definition) != Some("compensateEventDefinition") {
        return None;
    }
    if site.flag(definition, "waitForCompletion", true) == Some(false) {
        site.complain_at(definition, "compensation is always waited for: remove waitForCompletion=\"false\"");
    }
    let activity = definition.attribute("activityRef").map(referred).filter(|activity| !activity.is_empty());
    activity.map(Into::into)
}

/// Errors, cancelling and compensation always interrupt.
pub(super) fn check_interrupting(site: &mut Site<'_, '_, '_>, trigger: &Trigger, interrupting: bool) {
    let what = match trigger {
        Trigger::Error(_) => "an error",
        Trigger::Cancel => "a cancellation",
        Trigger::Compensation => "a compensation",
        Trigger::Timer(_) | Trigger::Message(_) | Trigger::Signal { .. } | Trigger::Condition(_) => return,
        Trigger::Escalation(_) | Trigger::Several(_) => return,
    };
    if !interrupting {
        site.complain(format!("what catches {what} always interrupts: remove cancelActivity or isInterrupting \"false\""));
    }
}

fn timer(site: &mut Site<'_, '_, '_>, definition: Node<'_, '_>) -> Option<TimerTrigger> {
    let kinds = definition.children().filter_map(|child| {
        let kind = match bpmn_name(child)? {
            "timeDate" => TimerKind::Date,
            "timeDuration" => TimerKind::Duration,
            "timeCycle" => TimerKind::Cycle,
            _ => return None,
        };
        Some((kind, child))
    });
    let kinds: Vec<_> = kinds.collect();
    let [(kind, node)] = kinds[..] else {
        site.complain_at(definition, "a timer needs exactly one of timeDate, timeDuration and timeCycle");
        return None;
    };
    let text = timer::text(kind, content(node).trim());
    let text = site.note(node, text)?;
    Some(TimerTrigger { kind, text })
}

/// The message that an event definition or a receive task refers to.
pub(super) fn message(site: &mut Site<'_, '_, '_>, referring: Node<'_, '_>) -> Option<Message> {
    let node = message_node(site, referring)?;
    let name = message_name(site, node)?;
    let subscription = extension::all(node, "subscription");
    let key = subscription.first().and_then(|node| node.attribute("correlationKey")).filter(|key| !key.is_empty());
    let key = key.map(|key| expression::required("the correlation key", key));
    let correlation_key = match key {
        Some(key) => Some(site.note(node, key)?),
        None => None,
    };
    Some(Message { name, correlation_key })
}

fn message_node<'a, 'input>(site: &mut Site<'a, 'input, '_>, referring: Node<'_, '_>) -> Option<Node<'a, 'input>> {
    let reference = referring.attribute("messageRef").map(referred).unwrap_or_default();
    let found = site.roots.messages.get(reference).copied();
    if found.is_none() {
        let reason = match reference {
            "" => "a message is needed: set messageRef".to_owned(),
            id => format!("the message {} does not exist", quoted(id)),
        };
        site.complain_at(referring, reason);
    }
    found
}

fn message_name(site: &mut Site<'_, '_, '_>, node: Node<'_, '_>) -> Option<Text> {
    let name = match node.attribute("name").filter(|name| !name.is_empty()) {
        Some(name) => expression::text("the message name", name),
        None => Err("the message needs a name".to_owned()),
    };
    site.note(node, name)
}

/// A message that is published here needs `zeebe:publishMessage`.
fn publish(site: &mut Site<'_, '_, '_>, definition: Node<'_, '_>) -> Option<Publish> {
    let Some(extension) = extension::only(site, "publishMessage") else {
        let reason = "a message is thrown by a worker or published here: add a zeebe:taskDefinition or a zeebe:publishMessage";
        site.complain_at(definition, reason);
        return None;
    };
    published(site, definition, extension)
}

/// What `zeebe:publishMessage` says, with the message that an event definition or a send task refers to.
pub(super) fn published(site: &mut Site<'_, '_, '_>, referring: Node<'_, '_>, extension: Node<'_, '_>) -> Option<Publish> {
    let node = message_node(site, referring)?;
    let name = message_name(site, node)?;
    let mut text = |attribute: &str, what: &str| {
        let value = extension.attribute(attribute).filter(|value| !value.is_empty())?;
        let text = expression::text(what, value);
        site.note(extension, text)
    };
    let correlation_key = text("correlationKey", "the correlation key").unwrap_or(Text::Fixed("".into()));
    let (id, time_to_live) = (text("messageId", "the message id"), text("timeToLive", "the time to live"));
    if let Some(Text::Fixed(span)) = &time_to_live {
        let read = timer::check(TimerKind::Duration, span);
        site.note(extension, read)?;
    }
    Some(Publish { name, correlation_key, id, time_to_live })
}

fn signal(site: &mut Site<'_, '_, '_>, definition: Node<'_, '_>) -> Option<Text> {
    let reference = definition.attribute("signalRef").map(referred).unwrap_or_default();
    let name = match site.roots.signals.get(reference) {
        Some(Some(name)) => expression::text("the signal name", name),
        Some(None) => Err(format!("the signal {} needs a name", quoted(reference))),
        None if reference.is_empty() => Err("a signal is needed: set signalRef".to_owned()),
        None => Err(format!("the signal {} does not exist", quoted(reference))),
    };
    site.note(definition, name)
}

fn condition(site: &mut Site<'_, '_, '_>, definition: Node<'_, '_>) -> Option<Condition> {
    let node = definition.children().find(|child| bpmn_name(*child) == Some("condition"));
    let Some(node) = node else {
        site.complain_at(definition, "a conditional event needs a condition");
        return None;
    };
    let expression = expression::required("the condition", content(node).trim());
    let expression = site.note(node, expression)?;
    let filter = extension::all(definition, "conditionalFilter");
    let events = filter.first().and_then(|filter| filter.attribute("variableEvents")).unwrap_or_default();
    let mut words: Vec<&str> = events.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
    words.sort_unstable();
    words.dedup();
    let on = match words[..] {
        [] | ["create", "update"] => VariableChange::Any,
        ["create"] => VariableChange::Created,
        ["update"] => VariableChange::Updated,
        _ => {
            site.complain_at(definition, format!("the variable events {} are not 'create', 'update' or both", quoted(events)));
            return None;
        }
    };
    Some(Condition { expression, on })
}

/// Without a reference, or with one that has no code, everything is caught.
fn code(site: &mut Site<'_, '_, '_>, definition: Node<'_, '_>, what: &str) -> Option<CodeCatch> {
    let roots = site.roots;
    let defined = if what == "error" { &roots.errors } else { &roots.escalations };
    let reference = definition.attribute(&*format!("{what}Ref")).map(referred).unwrap_or_default();
    if reference.is_empty() {
        return Some(CodeCatch::Any);
    }
    let Some(code) = defined.get(reference) else {
        site.complain_at(definition, format!("the {what} {} does not exist", quoted(reference)));
        return None;
    };
    let Some(code) = code else {
        return Some(CodeCatch::Any);
    };
    if expression::source(code).is_some() {
        site.complain_at(definition, format!("the code {} of a caught {what} cannot be an expression", quoted(code)));
        return None;
    }
    Some(CodeCatch::Code((*code).into()))
}

fn escalation(site: &mut Site<'_, '_, '_>, definition: Node<'_, '_>) -> Option<Text> {
    let reference = definition.attribute("escalationRef").map(referred).unwrap_or_default();
    let code = match site.roots.escalations.get(reference) {
        Some(Some(code)) => expression::text("the escalation code", code),
        Some(None) => Err(format!("the escalation {} needs an escalationCode to be thrown", quoted(reference))),
        None if reference.is_empty() => Err("an escalation is needed: set escalationRef".to_owned()),
        None => Err(format!("the escalation {} does not exist", quoted(reference))),
    };
    site.note(definition, code)
}
