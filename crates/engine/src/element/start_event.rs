//! Start events of processes that something triggers: what they wait for is known when the process is deployed.

use std::collections::BTreeMap;
use std::sync::Arc;

use feel::{Budget, Expression, Now, Value};
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

/// Variables that somebody brings for start conditions. Each is read once, however many conditions name it.
#[derive(Debug)]
pub struct Brought<'a> {
    /// By name; of several the last.
    variables: BTreeMap<&'a str, Variable<'a>>,
    now: Now,
}

#[derive(Debug)]
enum Variable<'a> {
    Json(&'a str),
    Read(Value),
    Unreadable,
}

impl<'a> Brought<'a> {
    pub fn new(variables: &'a Document, now: i64) -> Self {
        let variables = variables.iter().map(|(name, json)| (&**name, Variable::Json(json)));
        Self { variables: variables.collect(), now: Now::utc(now) }
    }

    /// Whether they make the condition of a start event true. One that cannot be evaluated is not. What it takes is the command's.
    pub fn fulfil(&mut self, process: &Process, start: ElementIx, budget: &crate::Budget) -> bool {
        let Some(Trigger::Condition(condition)) = process.catch(start) else { return false };
        let mut left = Budget::default();
        let value = self.value(&condition.expression, &mut left);
        budget.evaluated(&left);
        matches!(value, Some(Value::Bool(true)))
    }

    fn value(&mut self, expression: &Expression, budget: &mut Budget) -> Option<Value> {
        let mut values = Vec::with_capacity(expression.variables().len());
        for name in expression.variables() {
            values.push(match self.variables.get_mut(&**name) {
                Some(variable) => Some(variable.read(budget)?),
                None => None,
            });
        }
        expression.evaluate_within(&values, &self.now, budget, None).ok()
    }
}

impl Variable<'_> {
    fn read(&mut self, budget: &mut Budget) -> Option<Value> {
        if let Self::Json(json) = self {
            *self = Value::from_json_within(json, budget).map_or(Self::Unreadable, Self::Read);
        }
        match self {
            Self::Read(value) => Some(value.clone()),
            Self::Json(_) | Self::Unreadable => None,
        }
    }
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
