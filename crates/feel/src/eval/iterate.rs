//! `for`, `some` and `every`.

use super::machine::Machine;
use crate::compile::node::{ForNode, IterationNode, Node};
use crate::error::Error;
use crate::number::Number;
use crate::syntax::ast::Quantifier;
use crate::temporal::Date;
use crate::value::{List, Range, Value};
use std::cmp::Ordering;
use std::sync::Arc;

/// Levels of evaluation an iteration counts for beyond its own, since its frames are large.
const FRAMES: u32 = 2;

/// What one iteration runs over.
enum Items {
    List(List),
    /// So many numbers from a first one, up or down.
    Count {
        first: Number,
        step: Number,
        length: u64,
    },
    /// So many days from a first one, up or down.
    Days {
        first: Date,
        step: i64,
        length: u64,
    },
}

impl Items {
    fn len(&self) -> u64 {
        match self {
            Items::List(list) => list.len() as u64,
            Items::Count { length, .. } | Items::Days { length, .. } => *length,
        }
    }

    fn get(&self, at: u64) -> Value {
        match self {
            Items::List(list) => list.items()[at as usize].clone(),
            Items::Count { first, step, .. } => {
                let offset = Number::new(i128::from(at), 0).and_then(|at| at.checked_mul(*step));
                Value::from(offset.and_then(|offset| first.checked_add(offset)))
            }
            Items::Days { first, step, .. } => {
                let days = i64::try_from(at).ok().and_then(|at| at.checked_mul(*step));
                days.and_then(|days| first.add_days(days)).map_or(Value::Null, Value::Date)
            }
        }
    }
}

impl Machine<'_> {
    pub(super) fn iterate(&mut self, node: &ForNode) -> Result<Value, Error> {
        let mut results = List::from(Vec::new());
        let complete = self.product(&node.iterations, 0, &mut |machine: &mut Self| {
            machine.locals.push(node.partial.then(|| Value::List(results.clone())));
            let value = machine.eval(&node.body)?;
            machine.locals.pop();
            results.push_within(value, machine.budget)?;
            Ok(true)
        })?;
        Ok(if complete { Value::List(results) } else { Value::Null })
    }

    pub(super) fn quantify(&mut self, quantifier: Quantifier, iterations: &[IterationNode], body: &Node) -> Result<Value, Error> {
        let decisive = quantifier == Quantifier::Some;
        let mut result = Value::Bool(!decisive);
        let complete = self.product(iterations, 0, &mut |machine: &mut Self| {
            match machine.eval(body)? {
                Value::Bool(value) if value == decisive => {
                    result = Value::Bool(decisive);
                    return Ok(false);
                }
                Value::Bool(_) => {}
                other => {
                    machine.expected("boolean", &other)?;
                    result = Value::Null;
                }
            }
            Ok(true)
        })?;
        let decided = result == Value::Bool(decisive);
        Ok(if complete || decided { result } else { Value::Null })
    }

    /// Runs `body` for every combination, the last iteration fastest, until it says `false`. The answer is `false`
    /// also when something iterated over is not a list.
    fn product(
        &mut self,
        iterations: &[IterationNode],
        at: usize,
        body: &mut dyn FnMut(&mut Self) -> Result<bool, Error>,
    ) -> Result<bool, Error> {
        let Some(iteration) = iterations.get(at) else {
            return body(self);
        };
        let Some(items) = self.items(iteration)? else {
            return Ok(false);
        };
        self.budget.enter(FRAMES)?;
        for index in 0..items.len() {
            self.charge(1)?;
            self.locals.push(Some(items.get(index)));
            let go_on = self.product(iterations, at + 1, body)?;
            self.locals.pop();
            if !go_on {
                self.budget.leave(FRAMES);
                return Ok(false);
            }
        }
        self.budget.leave(FRAMES);
        Ok(true)
    }

    fn items(&mut self, iteration: &IterationNode) -> Result<Option<Items>, Error> {
        match iteration {
            IterationNode::Items(node) => match self.eval(node)? {
                Value::List(list) => Ok(Some(Items::List(list))),
                Value::Range(range) => self.range_items(&range),
                other => {
                    self.expected("list", &other)?;
                    Ok(None)
                }
            },
            IterationNode::Count(from, to) => {
                let from = self.eval(from)?;
                let to = self.eval(to)?;
                self.counted(&from, &to)
            }
        }
    }

    /// The values of a range from its lower end to its upper end, without ends that do not belong to it.
    fn range_items(&mut self, range: &Range) -> Result<Option<Items>, Error> {
        let (start, end) = (&range.start.value, &range.end.value);
        if self.order(start, end)?.is_none_or(|ordering| ordering == Ordering::Greater) {
            self.expected("range from low to high", &Value::Range(Arc::new(range.clone())))?;
            return Ok(None);
        }
        let mut items = self.counted(start, end)?;
        match &mut items {
            Some(Items::Count { first, length, .. }) => {
                if !range.start.included {
                    *first = first.checked_add(Number::ONE).unwrap_or(*first);
                    *length -= 1;
                }
                let last_counts = start
                    .as_number()
                    .zip(end.as_number())
                    .is_some_and(|(start, end)| end.checked_sub(start).is_some_and(Number::is_integer));
                if !range.end.included && last_counts {
                    *length = length.saturating_sub(1);
                }
            }
            Some(Items::Days { first, length, .. }) => {
                if !range.start.included {
                    *first = first.add_days(1).unwrap_or(*first);
                    *length -= 1;
                }
                *length = length.saturating_sub(u64::from(!range.end.included));
            }
            Some(Items::List(_)) | None => {}
        }
        Ok(items)
    }

    fn counted(&mut self, from: &Value, to: &Value) -> Result<Option<Items>, Error> {
        match (from, to) {
            (Value::Number(from), Value::Number(to)) => {
                let up = from <= to;
                let step = if up { Number::ONE } else { Number::ONE.negate() };
                let length = to
                    .checked_sub(*from)
                    .map_or(u64::MAX, |gap| gap.abs().truncate_saturating().unsigned_abs().saturating_add(1));
                Ok(Some(Items::Count { first: *from, step, length }))
            }
            (Value::Date(from), Value::Date(to)) => {
                let gap = to.epoch_days() - from.epoch_days();
                let length = gap.unsigned_abs() + 1;
                Ok(Some(Items::Days { first: *from, step: if gap < 0 { -1 } else { 1 }, length }))
            }
            _ => {
                let wrong = if matches!(from, Value::Number(_)) { to } else { from };
                self.expected("number", wrong)?;
                Ok(None)
            }
        }
    }
}
