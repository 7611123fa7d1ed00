//! What was evaluated so far. Functions that FEEL calls write to it too, hence the lock.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use feel::limits::WARNINGS_MAX;
use feel::{Budget, Context, Error, Value, Warning};

use super::{Evaluated, REPORTED_MAX};

#[derive(Clone)]
pub(super) struct Report {
    noted: Arc<Mutex<Noted>>,
    warnings: Warnings,
}

#[derive(Default)]
struct Noted {
    evaluated: Vec<Evaluated>,
    warnings: Vec<Warning>,
}

/// Whether anyone wants to know what was tolerated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Warnings {
    Wanted,
    Unwanted,
}

impl Report {
    pub(super) fn new(warnings: Warnings) -> Report {
        Report { noted: Arc::default(), warnings }
    }

    /// Reports what may happen any number of times.
    pub(super) fn add(&self, evaluated: Evaluated) {
        let mut noted = self.noted();
        if noted.evaluated.len() < REPORTED_MAX {
            noted.evaluated.push(evaluated);
        }
    }

    /// Reports what happens as often as the model is large at most.
    pub(super) fn insist(&self, evaluated: Evaluated) {
        self.noted().evaluated.push(evaluated);
    }

    /// Reports once more what was evaluated before.
    pub(super) fn repeat(&self, range: Range<usize>) {
        let all = &mut self.noted().evaluated;
        if all.len() + range.len() <= REPORTED_MAX && range.end <= all.len() {
            all.extend_from_within(range);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.noted().evaluated.len()
    }

    pub(super) fn wants_warnings(&self) -> bool {
        self.warnings == Warnings::Wanted
    }

    pub(super) fn warn(&self, warnings: Vec<Warning>) {
        let all = &mut self.noted().warnings;
        let room = WARNINGS_MAX.saturating_sub(all.len());
        all.extend(warnings.into_iter().take(room));
    }

    pub(super) fn take(&self) -> (Vec<Evaluated>, Vec<Warning>) {
        let noted = std::mem::take(&mut *self.noted());
        (noted.evaluated, noted.warnings)
    }

    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A value as it leaves: functions are of no use outside and become `null`.
pub(super) fn outside(value: &Value, budget: &mut Budget) -> Result<Value, Error> {
    Ok(without_functions(value, budget)?.unwrap_or_else(|| value.clone()))
}

/// The value without functions; nothing if it has none.
fn without_functions(value: &Value, budget: &mut Budget) -> Result<Option<Value>, Error> {
    let other = match value {
        Value::Function(_) => Some(Value::Null),
        Value::List(list) => members(list.items().iter(), budget)?.map(Value::list),
        Value::Context(context) => members(context.entries().iter().map(|(_, member)| member), budget)?.map(|values| {
            let names = context.entries().iter().map(|(name, _)| Arc::clone(name));
            Value::Context(Context::from(names.zip(values).collect::<Vec<_>>()))
        }),
        // A range up to a function holds nothing.
        Value::Range(range) => members([&range.start.value, &range.end.value].into_iter(), budget)?.map(|_| Value::Null),
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime(_)
        | Value::DaysTimeDuration(_)
        | Value::YearsMonthsDuration(_) => None,
    };
    other.map(|other| other.bounded(budget)).transpose()
}

/// The members without functions; nothing if none has any.
fn members<'v>(all: impl Iterator<Item = &'v Value> + Clone, budget: &mut Budget) -> Result<Option<Vec<Value>>, Error> {
    let mut changed: Option<Vec<Value>> = None;
    for (at, member) in all.clone().enumerate() {
        budget.charge(1)?;
        if let Some(other) = without_functions(member, budget)? {
            changed.get_or_insert_with(|| all.clone().cloned().collect())[at] = other;
        }
    }
    Ok(changed)
}
