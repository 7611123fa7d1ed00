//! Reading slots.

use super::machine::{Machine, Policy};
use crate::compile::node::{ItemKey, Node};
use crate::error::{Error, WarningKind};
use crate::excerpt::quoted;
use crate::value::Value;

impl<'e> Machine<'e> {
    /// The value in a slot, without copying it; nothing for nodes that are not slots and for what is undefined.
    pub(super) fn peek(&self, node: &'e Node) -> Option<&Value> {
        match node {
            Node::Const(value) => Some(value),
            Node::Free(slot) => self.values.get(*slot as usize)?.as_ref(),
            Node::Local(slot) => self.locals.get(self.base + *slot as usize)?.as_ref(),
            Node::Captured(slot) => self.captured.get(*slot as usize)?.as_ref(),
            _ => None,
        }
    }

    /// What a name means now, if it is defined.
    pub(super) fn read(&self, node: &Node) -> Option<Value> {
        match node {
            Node::Const(value) => Some(value.clone()),
            Node::Free(slot) => self.values.get(*slot as usize)?.clone(),
            Node::Local(slot) => self.locals.get(self.base + *slot as usize)?.clone(),
            Node::Captured(slot) => self.captured.get(*slot as usize)?.clone(),
            Node::ItemKey(lookup) => match self.item_member(lookup) {
                Some(value) => Some(value.clone()),
                None => self.read(&lookup.otherwise),
            },
            _ => None,
        }
    }

    /// The member of the innermost item that has one; an item itself is called `item`.
    fn item_member(&self, lookup: &ItemKey) -> Option<&Value> {
        let items = lookup.items.iter().rev().take(lookup.within);
        let mut held = items.filter_map(|slot| self.locals[self.base + *slot as usize].as_ref());
        held.find_map(|item| {
            let member = item.as_context().and_then(|context| context.get(&lookup.key));
            member.or(Some(item).filter(|_| &*lookup.key == "item"))
        })
    }

    pub(super) fn variable(&mut self, node: &Node) -> Result<Value, Error> {
        if let Node::ItemKey(lookup) = node {
            self.charge(lookup.cost)?;
        }
        if let Some(value) = self.read(node) {
            return Ok(value);
        }
        let name = self.variable_name(node);
        match self.policy {
            Policy::Strict => Err(Error::Undefined(name)),
            Policy::Tolerant => {
                self.warn(WarningKind::NoVariable, || format!("no variable named '{name}'"))?;
                Ok(Value::Null)
            }
        }
    }

    fn variable_name(&self, node: &Node) -> String {
        match node {
            Node::Free(slot) => self.names.get(*slot as usize).map_or(String::new(), quoted),
            Node::ItemKey(lookup) => quoted(&lookup.key),
            _ => String::from("item"),
        }
    }
}
