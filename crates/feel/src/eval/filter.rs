//! `list[condition]` and `list[index]`.

use super::machine::Machine;
use crate::compile::node::{FilterNode, Node};
use crate::dialect::Dialect;
use crate::error::Error;
use crate::number::Number;
use crate::value::{List, Value};

impl Machine<'_> {
    pub(super) fn filter(&mut self, filter: &FilterNode) -> Result<Value, Error> {
        let list = match self.eval(&filter.list)? {
            Value::List(list) => list,
            // In decisions a single value is a list of one.
            other if self.dialect == Dialect::Dmn && !other.is_null() => List::from(vec![other]),
            other => {
                self.expected("list", &other)?;
                return Ok(Value::Null);
            }
        };
        if let Node::Const(Value::Number(index)) = &filter.condition {
            return Ok(at_index(list.items(), *index));
        }
        self.locals.push(None);
        let result = self.filter_items(filter, list.items());
        self.locals.pop();
        result
    }

    fn filter_items(&mut self, filter: &FilterNode, items: &[Value]) -> Result<Value, Error> {
        if filter.maybe_index
            && let Value::Number(index) = self.eval(&filter.condition)?
        {
            return Ok(at_index(items, index));
        }
        let slot = self.locals.len() - 1;
        let mut kept = Vec::new();
        for (at, item) in items.iter().enumerate() {
            self.charge(1)?;
            self.locals[slot] = Some(item.clone());
            match self.eval(&filter.condition)? {
                Value::Bool(true) => kept.push(item.clone()),
                Value::Number(index) if at == 0 => return Ok(at_index(items, index)),
                _ => {}
            }
        }
        self.bounded_list(kept)
    }
}

/// The item at a position from 1, or from the end when negative; `null` where there is none.
fn at_index(items: &[Value], index: Number) -> Value {
    let index = index.truncate_saturating();
    let found = match index {
        0 => None,
        1.. => usize::try_from(index - 1).ok().and_then(|at| items.get(at)),
        _ => {
            usize::try_from(index.unsigned_abs()).ok().and_then(|back| items.len().checked_sub(back)).and_then(|at| items.get(at))
        }
    };
    found.cloned().unwrap_or(Value::Null)
}
