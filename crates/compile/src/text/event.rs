//! What events of the notation wait for and throw, and back to text.

use model::{
    Catch, CodeCatch, Condition, EndEvent, Kind, Message, Needed, Process, Publish, Text, Throw, TimerKind, TimerTrigger,
    Trigger, VariableChange,
};

use super::element::value;
use super::{several, words};
use crate::expression;
use crate::timer;

const USAGE: &str = "write 'at DATE', 'after DURATION', 'every CYCLE', 'message NAME by FEEL', 'signal NAME', 'when FEEL', 'error CODE', \
                     'escalation CODE', 'cancel' or 'compensation'";

pub(super) fn trigger(text: &str) -> Result<Trigger, String> {
    if let Some(several) = several::trigger(text) {
        return Ok(several);
    }
    let (word, rest) = split(text);
    Ok(match word {
        "at" => Trigger::Timer(timer_trigger(TimerKind::Date, rest)?),
        "after" => Trigger::Timer(timer_trigger(TimerKind::Duration, rest)?),
        "every" => Trigger::Timer(timer_trigger(TimerKind::Cycle, rest)?),
        "message" => Trigger::Message(message(rest)?),
        "signal" => Trigger::Signal { name: name(rest)? },
        "when" => condition(rest, VariableChange::Any)?,
        "when-created" => condition(rest, VariableChange::Created)?,
        "when-updated" => condition(rest, VariableChange::Updated)?,
        "error" => Trigger::Error(code(rest)),
        "escalation" => Trigger::Escalation(code(rest)),
        "cancel" if rest.is_empty() => Trigger::Cancel,
        "compensation" if rest.is_empty() => Trigger::Compensation,
        _ => return Err(USAGE.to_owned()),
    })
}

pub(super) fn start(text: &str, interrupting: bool) -> Result<Kind, String> {
    if text.is_empty() && interrupting {
        return Ok(Kind::StartEvent(None));
    }
    Ok(Kind::StartEvent(Some(Catch { trigger: trigger(text)?, interrupting })))
}

pub(super) fn end(text: &str) -> Result<Kind, String> {
    if text.is_empty() {
        return Ok(Kind::EndEvent(EndEvent::None));
    }
    thrown(text).map(|throw| Kind::EndEvent(EndEvent::Throw(throw)))
}

pub(super) fn throw(text: &str) -> Result<Kind, String> {
    if text.is_empty() {
        return Ok(Kind::ThrowEvent(None));
    }
    thrown(text).map(|throw| Kind::ThrowEvent(Some(throw)))
}

pub(super) fn thrown(text: &str) -> Result<Throw, String> {
    if text == "several" {
        return Ok(Throw::Several(Vec::new()));
    }
    let (word, rest) = split(text);
    Ok(match word {
        "escalation" => Throw::Escalation { code: name(rest)? },
        "signal" => Throw::Signal { name: name(rest)? },
        "message" => Throw::Message(publish(rest)?),
        _ => return Err("write 'escalation CODE', 'signal NAME' or 'message NAME to FEEL'".to_owned()),
    })
}

/// `NAME`, `NAME by FEEL`
pub(super) fn message(text: &str) -> Result<Message, String> {
    let usage = "write 'NAME by FEEL', FEEL being the correlation key";
    let (name, rest) = words::first(text).ok_or(usage)?;
    let correlation_key = match rest.trim() {
        "" => None,
        rest => Some(expression::parse("the correlation key", rest.strip_prefix("by ").ok_or(usage)?)?),
    };
    Ok(Message { name: Text::Fixed(name.into()), correlation_key })
}

/// `NAME`, `NAME to FEEL`: a message that is thrown, and the correlation key it goes to.
pub(super) fn publish(text: &str) -> Result<Publish, String> {
    let usage = "write 'NAME to FEEL', FEEL being the correlation key";
    let (name, rest) = words::first(text).ok_or(usage)?;
    let correlation_key = match rest.trim() {
        "" => Text::Fixed("".into()),
        rest => Text::Computed(expression::parse("the correlation key", rest.strip_prefix("to ").ok_or(usage)?)?),
    };
    Ok(Publish { name: Text::Fixed(name.into()), correlation_key, id: None, time_to_live: None })
}

fn timer_trigger(kind: TimerKind, rest: &str) -> Result<TimerTrigger, String> {
    let text = value("the timer", rest)?.ok_or(USAGE)?;
    if let Text::Fixed(text) = &text {
        timer::check(kind, text)?;
    }
    Ok(TimerTrigger { kind, text })
}

fn condition(rest: &str, on: VariableChange) -> Result<Trigger, String> {
    Ok(Trigger::Condition(Condition { expression: expression::parse("the condition", rest)?, on }))
}

fn name(rest: &str) -> Result<Text, String> {
    value("the name", rest)?.ok_or_else(|| "a name is needed".to_owned())
}

fn code(rest: &str) -> CodeCatch {
    words::whole(rest).map_or(CodeCatch::Any, |code| CodeCatch::Code(code.into()))
}

fn split(text: &str) -> (&str, &str) {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

pub(super) fn write_trigger(trigger: &Trigger) -> String {
    let code = |word: &str, catch: &CodeCatch| match catch {
        CodeCatch::Any => word.to_owned(),
        CodeCatch::Code(code) => format!("{word} {}", words::write(code)),
    };
    match trigger {
        Trigger::Timer(TimerTrigger { kind, text }) => {
            let word = match kind {
                TimerKind::Date => "at",
                TimerKind::Duration => "after",
                TimerKind::Cycle => "every",
            };
            format!("{word} {}", write_value(text))
        }
        Trigger::Message(message) => format!("message {}", write_message(message)),
        Trigger::Signal { name } => format!("signal {}", write_value(name)),
        Trigger::Condition(Condition { expression, on }) => {
            let word = match on {
                VariableChange::Any => "when",
                VariableChange::Created => "when-created",
                VariableChange::Updated => "when-updated",
            };
            format!("{word} {}", expression.source())
        }
        Trigger::Error(catch) => code("error", catch),
        Trigger::Escalation(catch) => code("escalation", catch),
        Trigger::Cancel => "cancel".to_owned(),
        Trigger::Compensation => "compensation".to_owned(),
        Trigger::Several(several) => match several.needed {
            Needed::Any => "any".to_owned(),
            Needed::All => "all".to_owned(),
        },
    }
}

/// After `throw` or `end`; what compensates has words of its own.
pub(super) fn write_throw(process: &Process, word: &str, throw: &Throw) -> String {
    match throw {
        Throw::Escalation { code } => format!("{word} escalation {}", write_value(code)),
        Throw::Signal { name } => format!("{word} signal {}", write_value(name)),
        Throw::Message(publish) => format!("{word} message {}", write_publish(publish)),
        Throw::Several(_) => format!("{word} several"),
        Throw::Compensation(compensate) => {
            let word = if word == "end" { "compensate-end" } else { "compensate" };
            let activity = compensate.activity.map(|activity| format!(" {}", process.element(activity).id));
            format!("{word}{}", activity.unwrap_or_default())
        }
    }
}

pub(super) fn write_message(message: &Message) -> String {
    let key = message.correlation_key.as_ref().map(|key| format!(" by {}", key.source())).unwrap_or_default();
    format!("{}{key}", write_value(&message.name))
}

pub(super) fn write_publish(publish: &Publish) -> String {
    let key = match &publish.correlation_key {
        Text::Fixed(key) if key.is_empty() => String::new(),
        Text::Fixed(key) => format!(" to {}", expression::literal(key)),
        Text::Computed(expression) => format!(" to {}", expression.source()),
    };
    format!("{}{key}", write_value(&publish.name))
}

pub(super) fn write_value(text: &Text) -> String {
    match text {
        Text::Fixed(text) => words::write(text),
        Text::Computed(expression) => format!("= {}", expression.source()),
    }
}
