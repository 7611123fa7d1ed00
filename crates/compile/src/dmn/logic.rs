//! Boxed expressions.

use std::sync::Arc;

use model::decision::{Binding, Boxed, Entry, Filter, Invocation, Iteration, Lambda, Logic, Quantifier, Type, Variable};
use roxmltree::Node;

use super::file::{child, children, dmn_name};
use super::names::normalized;
use super::reader::Reader;
use crate::diagnostic::quoted;

const EXPRESSIONS: [&str; 12] = [
    "literalExpression",
    "decisionTable",
    "context",
    "list",
    "relation",
    "invocation",
    "functionDefinition",
    "conditional",
    "filter",
    "for",
    "some",
    "every",
];

impl<'a> Reader<'a, '_> {
    /// The expression an element holds.
    pub(super) fn inner(&mut self, node: Node<'a, 'a>) -> Option<Boxed> {
        let is_expression = |child: &Node<'_, '_>| dmn_name(*child).is_some_and(|name| EXPRESSIONS.contains(&name));
        let found = node.children().find(is_expression)?;
        Some(self.boxed(found))
    }

    /// The expression in a part of another one.
    fn part(&mut self, node: Node<'a, 'a>, name: &'static str) -> Boxed {
        let found = child(node, name).and_then(|part| self.inner(part));
        found.unwrap_or_else(|| {
            let reason = format!("{} needs an expression in its {}", quoted(node.tag_name().name()), quoted(name));
            Boxed { logic: self.unreadable(node, reason), declared: None }
        })
    }

    fn boxed(&mut self, node: Node<'a, 'a>) -> Boxed {
        let declared = self.declared(node);
        let name = dmn_name(node).unwrap_or_default();
        if matches!(name, "conditional" | "filter" | "for" | "some" | "every") && !self.file().is_since_1_4() {
            self.mind(node, format!("{} belongs to DMN 1.4: use its namespace", quoted(name)));
        }
        let logic = match name {
            "literalExpression" => self.literal(node, "the expression"),
            "decisionTable" => Logic::Table(Box::new(self.table(node))),
            "context" => self.context(node),
            "list" => Logic::List(self.items(node)),
            "relation" => self.relation(node),
            "invocation" => self.invocation(node),
            "functionDefinition" => self.function(node),
            "conditional" => {
                let parts = ["if", "then", "else"].map(|part| self.part(node, part));
                Logic::Conditional(Box::new(parts))
            }
            "filter" => Logic::Filter(Box::new(Filter { list: self.part(node, "in"), matches: self.part(node, "match") })),
            "for" => Logic::For(Box::new(self.iteration(node, "return"))),
            "some" => Logic::Quantified(Quantifier::Some, Box::new(self.iteration(node, "satisfies"))),
            "every" => Logic::Quantified(Quantifier::Every, Box::new(self.iteration(node, "satisfies"))),
            other => self.unreadable(node, format!("{} is not an expression", quoted(other))),
        };
        Boxed { logic, declared }
    }

    fn items(&mut self, node: Node<'a, 'a>) -> Vec<Boxed> {
        let is_expression = |child: &Node<'_, '_>| dmn_name(*child).is_some_and(|name| EXPRESSIONS.contains(&name));
        node.children().filter(is_expression).map(|child| self.boxed(child)).collect()
    }

    fn context(&mut self, node: Node<'a, 'a>) -> Logic {
        let mut entries = Vec::new();
        for entry in children(node, "contextEntry") {
            let variable = child(entry, "variable").map(|variable| self.variable(variable));
            let value = self.inner(entry).unwrap_or_else(|| {
                let logic = self.unreadable(entry, "an entry of a context needs an expression".to_owned());
                Boxed { logic, declared: None }
            });
            entries.push(Entry { variable, value });
        }
        if entries.is_empty() {
            self.mind(node, "a context needs an entry");
        }
        Logic::Context(entries)
    }

    fn relation(&mut self, node: Node<'a, 'a>) -> Logic {
        let columns: Vec<Variable> = children(node, "column").map(|column| self.variable(column)).collect();
        let mut rows = Vec::new();
        for row in children(node, "row") {
            let mut cells = self.items(row);
            if cells.len() != columns.len() {
                let reason = format!("the row has {} cells, but the relation has {} columns", cells.len(), columns.len());
                return self.unreadable(row, reason);
            }
            for (cell, column) in cells.iter_mut().zip(&columns) {
                cell.declared = cell.declared.take().or_else(|| column.declared.clone());
            }
            rows.push(cells);
        }
        Logic::Relation(columns.into_iter().map(|column| column.name).collect(), rows)
    }

    fn invocation(&mut self, node: Node<'a, 'a>) -> Logic {
        let Some(callee) = self.inner(node) else {
            return self.unreadable(node, "an invocation needs an expression for what it calls".to_owned());
        };
        let mut bindings = Vec::new();
        for binding in children(node, "binding") {
            match child(binding, "parameter") {
                Some(parameter) => {
                    let parameter = self.variable(parameter);
                    bindings.push(Binding { parameter, value: self.inner(binding) });
                }
                None => self.complain(binding, "a binding needs a parameter"),
            }
        }
        Logic::Invocation(Box::new(Invocation { callee, bindings }))
    }

    fn function(&mut self, node: Node<'a, 'a>) -> Logic {
        match self.lambda(node, None) {
            Ok(lambda) => Logic::Function(Arc::new(lambda)),
            Err(reason) => self.unreadable(node, reason),
        }
    }

    /// A function definition; `result` is the type it gives if it says none itself.
    pub(super) fn lambda(&mut self, node: Node<'a, 'a>, result: Option<Type>) -> Result<Lambda, String> {
        let kind = node.attribute("kind").unwrap_or("FEEL");
        if !kind.eq_ignore_ascii_case("feel") {
            return Err(format!("the function is of kind {}, but only FEEL is supported", quoted(kind)));
        }
        let parameters = children(node, "formalParameter").map(|parameter| self.variable(parameter)).collect();
        let body = self.inner(node);
        if body.is_none() {
            self.mind(node, "a function needs an expression");
        }
        Ok(Lambda { parameters, body, result })
    }

    fn iteration(&mut self, node: Node<'a, 'a>, body: &'static str) -> Iteration {
        let variable = node.attribute("iteratorVariable").map(normalized).unwrap_or_default();
        if variable.is_empty() {
            self.mind(node, format!("{} needs an iteratorVariable", quoted(node.tag_name().name())));
        }
        Iteration { variable: Arc::from(variable), domain: self.part(node, "in"), body: self.part(node, body) }
    }
}
