//! Start events of processes that something triggers: what they wait for is known when the process is deployed.

use std::sync::Arc;

use feel::{Budget, Now, Value};
use model::{ElementIx, Process, Text, TimerKind, Trigger};

use crate::{Document, On};

/// What a start event waits for, from `now` on; nothing if it is triggered from inside.
///
/// # Errors
/// Why it cannot wait, in words for who deploys it.
pub fn start_trigger(process: &Process, start: ElementIx, now: i64) -> Result<Option<On>, String> {
    let Some(trigger) = process.catch(start) else { return Ok(None) };
    let on = match trigger {
        Trigger::Timer(timer) => {
            let text = text(&timer.text, now)?;
            On::Timer { kind: timer.kind, at: first(timer.kind, &text, now)?, text }
        }
        Trigger::Message(message) => On::Message { name: text(&message.name, now)?, correlation_key: "".into() },
        Trigger::Signal { name } => On::Signal { name: text(name, now)? },
        Trigger::Condition(_) => On::Condition,
        // Its parts are waited for.
        Trigger::Several(_) => return Ok(None),
        Trigger::Error(_) | Trigger::Escalation(_) | Trigger::Cancel | Trigger::Compensation => return Ok(None),
    };
    Ok(Some(on))
}

/// Whether the condition of a start event is true for these variables. One that cannot be evaluated is not.
pub fn start_condition(process: &Process, start: ElementIx, variables: &Document, now: i64) -> bool {
    let Some(Trigger::Condition(condition)) = process.catch(start) else { return false };
    let mut budget = Budget::default();
    let mut values = Vec::with_capacity(condition.expression.variables().len());
    for name in condition.expression.variables() {
        let given = variables.iter().rev().find(|(given, _)| given == name);
        match given.map(|(_, value)| Value::from_json_within(value, &mut budget)).transpose() {
            Ok(value) => values.push(value),
            Err(_) => return false,
        }
    }
    let value = condition.expression.evaluate_within(&values, &Now::utc(now), &mut budget, None);
    matches!(value, Ok(Value::Bool(true)))
}

pub(crate) fn first(kind: TimerKind, text: &str, now: i64) -> Result<schedule::Occurrence, String> {
    let timer = timer(kind, text)?;
    timer.first(now).map_err(|error| error.to_string())
}

/// A timer as it was armed.
///
/// # Errors
/// If the text is none; texts of armed timers have been read before.
pub fn timer(kind: TimerKind, text: &str) -> Result<schedule::Timer, String> {
    schedule::Timer::parse(kind, text).map_err(|error| error.to_string())
}

fn text(text: &Text, now: i64) -> Result<Arc<str>, String> {
    let expression = match text {
        Text::Fixed(text) => return Ok(text.clone()),
        Text::Computed(expression) => expression,
    };
    let values = vec![None; expression.variables().len()];
    match expression.evaluate(&values, &Now::utc(now)).map_err(|error| error.to_string())? {
        Value::String(text) => Ok(text),
        value @ (Value::DateTime(_) | Value::DaysTimeDuration(_) | Value::YearsMonthsDuration(_)) => {
            Ok(value.to_json().trim_matches('"').into())
        }
        other => Err(format!("'{}' must give a text, but it gave {}", expression.excerpt(), other.json_excerpt())),
    }
}
