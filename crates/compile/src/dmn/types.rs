//! Item definitions.

use std::collections::HashSet;
use std::sync::Arc;

use model::decision::{ItemDefinition, Shape, Type};
use roxmltree::Node;

use super::file::{child, children, text_of};
use super::names::normalized;
use super::reader::Reader;
use crate::diagnostic::quoted;

/// How large a type may get when it is written out with all its members; beyond it members are of any type.
const WRITTEN_OUT_MAX: usize = 1_000;

/// Nesting of a type when it is written out.
const WRITTEN_OUT_DEPTH_MAX: usize = 32;

impl<'a> Reader<'a, '_> {
    /// Gives every item definition of the current file its place; components follow their owner.
    pub(super) fn place_types(&mut self, next: &mut usize) {
        for node in children(self.file().root, "itemDefinition").collect::<Vec<_>>() {
            match node.attribute("name") {
                Some(name) => {
                    let index = *next;
                    self.files[self.current].types.insert(name, index);
                }
                None => self.complain(node, "an item definition needs a name"),
            }
            *next += size(node);
        }
    }

    /// Reads the item definitions of the current file into their places.
    pub(super) fn types(&mut self, types: &mut Vec<ItemDefinition>) {
        for node in children(self.file().root, "itemDefinition").collect::<Vec<_>>() {
            self.item(node, types);
        }
    }

    fn item(&mut self, node: Node<'a, 'a>, types: &mut Vec<ItemDefinition>) {
        let name = Arc::from(node.attribute("name").map(normalized).unwrap_or_default());
        let place = types.len();
        let shape = Shape::Members(Vec::new());
        let plain = feel::Type::Any;
        let collection = matches!(node.attribute("isCollection"), Some("true" | "1"));
        types.push(ItemDefinition { name, shape, collection, allowed: None, constraint: None, plain });
        let mut members = Vec::new();
        for component in children(node, "itemComponent") {
            let name = Arc::from(component.attribute("name").map(normalized).unwrap_or_default());
            members.push((name, Some(Type::Item(types.len()))));
            self.item(component, types);
        }
        let function = child(node, "functionItem");
        let base = text_of(node, "typeRef").or_else(|| node.attribute("typeRef").map(str::to_owned));
        types[place].shape = match (base, function) {
            _ if !members.is_empty() => Shape::Members(members),
            (_, Some(function)) => Shape::Function(children(function, "parameters").count()),
            (Some(base), None) => Shape::Same(self.named_type(&base).unwrap_or(Type::Feel(feel::Type::Any))),
            (None, None) => Shape::Same(Type::Feel(feel::Type::Any)),
        };
        types[place].allowed = self.allowed(node, "allowedValues");
        types[place].constraint = self.allowed(node, "typeConstraint");
    }

    /// Refuses types that are nothing but themselves.
    pub(super) fn check_types(&mut self, types: &[ItemDefinition]) {
        for node in children(self.file().root, "itemDefinition").collect::<Vec<_>>() {
            let Some(start) = node.attribute("name").and_then(|name| self.file().types.get(name)).copied() else {
                continue;
            };
            let mut seen = HashSet::new();
            let mut at = start;
            while seen.insert(at) {
                let Shape::Same(Type::Item(next)) = types[at].shape else {
                    break;
                };
                at = next;
            }
            if matches!(types[at].shape, Shape::Same(Type::Item(_))) {
                let name = quoted(node.attribute("name").unwrap_or_default());
                self.complain(node, format!("the type {name} is defined by itself"));
            }
        }
    }
}

/// The types without what must hold of values.
pub(super) fn write_out(types: &mut [ItemDefinition]) {
    for index in 0..types.len() {
        let mut left = WRITTEN_OUT_MAX;
        types[index].plain = plain(types, &Type::Item(index), &mut left, WRITTEN_OUT_DEPTH_MAX);
    }
}

fn plain(types: &[ItemDefinition], declared: &Type, left: &mut usize, depth: usize) -> feel::Type {
    let index = match declared {
        Type::Feel(plain) => return plain.clone(),
        Type::Item(index) => *index,
    };
    if *left == 0 || depth == 0 {
        return feel::Type::Any;
    }
    *left -= 1;
    let item = &types[index];
    let one = match &item.shape {
        Shape::Same(base) => plain(types, base, left, depth - 1),
        Shape::Function(count) => feel::Type::Function(Some(*count)),
        Shape::Members(members) => {
            let member = |(name, declared): &(Arc<str>, Option<Type>)| {
                let declared = declared.as_ref().map_or(feel::Type::Any, |declared| plain(types, declared, left, depth - 1));
                (Arc::clone(name), declared)
            };
            feel::Type::Context(Some(members.iter().map(member).collect()))
        }
    };
    if item.collection { feel::Type::List(Some(Box::new(one))) } else { one }
}

/// How many places an item definition and its components take.
fn size(node: Node<'_, '_>) -> usize {
    1 + node.descendants().filter(|inner| super::file::dmn_name(*inner) == Some("itemComponent")).count()
}
