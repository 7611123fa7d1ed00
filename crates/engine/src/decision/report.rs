//! What was evaluated so far. Functions that FEEL calls write to it too, hence the lock.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use feel::{Context, Value};

use super::{Evaluated, REPORTED_MAX};

#[derive(Clone, Default)]
pub(super) struct Report(Arc<Mutex<Vec<Evaluated>>>);

impl Report {
    pub(super) fn add(&self, evaluated: Evaluated) {
        let mut all = self.all();
        if all.len() < REPORTED_MAX {
            all.push(evaluated);
        }
    }

    /// Reports once more what was evaluated before.
    pub(super) fn repeat(&self, range: Range<usize>) {
        let mut all = self.all();
        if all.len() + range.len() <= REPORTED_MAX && range.end <= all.len() {
            all.extend_from_within(range);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.all().len()
    }

    pub(super) fn take(&self) -> Vec<Evaluated> {
        std::mem::take(&mut self.all())
    }

    fn all(&self) -> MutexGuard<'_, Vec<Evaluated>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A value as it leaves: functions are of no use outside and become `null`.
pub(super) fn outside(value: &Value) -> Value {
    match value {
        Value::Function(_) => Value::Null,
        Value::List(list) if list.items().iter().any(holds_function) => Value::list(list.items().iter().map(outside).collect()),
        Value::Context(context) if context.entries().iter().any(|(_, member)| holds_function(member)) => {
            let members = context.entries().iter().map(|(name, member)| (Arc::clone(name), outside(member)));
            Value::Context(Context::from(members.collect::<Vec<_>>()))
        }
        _ => value.clone(),
    }
}

fn holds_function(value: &Value) -> bool {
    match value {
        Value::Function(_) => true,
        Value::List(list) => list.items().iter().any(holds_function),
        Value::Context(context) => context.entries().iter().any(|(_, member)| holds_function(member)),
        _ => false,
    }
}
