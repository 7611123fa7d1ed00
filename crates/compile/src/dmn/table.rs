//! Decision tables.

use std::sync::Arc;

use model::decision::{Aggregation, HitPolicy, Input, Logic, Output, Rule, Table};
use roxmltree::Node;

use super::file::{child, children, text_of};
use super::names::normalized;
use super::reader::Reader;
use crate::diagnostic::quoted;

impl<'a> Reader<'a, '_> {
    pub(super) fn table(&mut self, node: Node<'a, 'a>) -> Table {
        let hit_policy = self.hit_policy(node);
        let inputs: Vec<Input> = children(node, "input").map(|input| self.input(input)).collect();
        let outputs: Vec<Output> = children(node, "output").map(|output| self.output(output)).collect();
        if outputs.is_empty() {
            self.complain(node, "a decision table needs an output");
        }
        if 1 < outputs.len() && outputs.iter().any(|output| output.name.is_empty()) {
            self.mind(node, "each of several outputs needs a name");
        }
        let mut rules = Vec::new();
        for rule in children(node, "rule") {
            let read = self.rule(rule);
            if read.tests.len() != inputs.len() || read.results.len() != outputs.len() {
                let (tests, results) = (read.tests.len(), read.results.len());
                let (wanted_tests, wanted_results) = (inputs.len(), outputs.len());
                let reason = format!(
                    "the rule has {tests} inputs and {results} outputs, but the table has {wanted_tests} and {wanted_results}"
                );
                self.complain(rule, reason);
            }
            rules.push(read);
        }
        Table { hit_policy, inputs, outputs, rules }
    }

    fn hit_policy(&mut self, node: Node<'a, 'a>) -> HitPolicy {
        match node.attribute("hitPolicy").unwrap_or("UNIQUE") {
            "UNIQUE" => HitPolicy::Unique,
            "ANY" => HitPolicy::Any,
            "FIRST" => HitPolicy::First,
            "PRIORITY" => HitPolicy::Priority,
            "RULE ORDER" => HitPolicy::RuleOrder,
            "OUTPUT ORDER" => HitPolicy::OutputOrder,
            "COLLECT" => HitPolicy::Collect(self.aggregation(node)),
            other => {
                self.complain(node, format!("there is no hit policy {}", quoted(other)));
                HitPolicy::Unique
            }
        }
    }

    fn aggregation(&mut self, node: Node<'a, 'a>) -> Option<Aggregation> {
        match node.attribute("aggregation")? {
            "SUM" => Some(Aggregation::Sum),
            "MIN" => Some(Aggregation::Min),
            "MAX" => Some(Aggregation::Max),
            "COUNT" => Some(Aggregation::Count),
            other => {
                self.complain(node, format!("there is no aggregation {}", quoted(other)));
                None
            }
        }
    }

    fn input(&mut self, node: Node<'a, 'a>) -> Input {
        let id = Arc::from(node.attribute("id").unwrap_or_default());
        let Some(expression) = child(node, "inputExpression") else {
            let expression = self.unreadable(node, "an input needs an expression".to_owned());
            return Input { id, name: Arc::from(""), expression, declared: None, allowed: None };
        };
        let label = node.attribute("label").filter(|label| !label.is_empty()).map(str::to_owned);
        let name = label.or_else(|| text_of(expression, "text")).unwrap_or_default();
        Input {
            id,
            name: Arc::from(name.trim()),
            expression: self.literal(expression, "the input's expression"),
            declared: self.declared(expression),
            allowed: self.allowed(node, "inputValues"),
        }
    }

    fn output(&mut self, node: Node<'a, 'a>) -> Output {
        let name = node.attribute("name").map(normalized).unwrap_or_default();
        let label = node.attribute("label").filter(|label| !label.is_empty()).unwrap_or(&name);
        Output {
            id: Arc::from(node.attribute("id").unwrap_or_default()),
            label: Arc::from(label),
            name: Arc::from(&*name),
            declared: self.declared(node),
            priorities: child(node, "outputValues").and_then(|values| self.values(values)),
            default: child(node, "defaultOutputEntry").and_then(|entry| self.result(entry)),
        }
    }

    fn rule(&mut self, node: Node<'a, 'a>) -> Rule {
        let tests = children(node, "inputEntry").map(|entry| self.test(entry, "the input entry")).collect();
        let results = children(node, "outputEntry").map(|entry| self.result(entry).unwrap_or(Logic::Null));
        Rule { id: Arc::from(node.attribute("id").unwrap_or_default()), tests, results: results.collect() }
    }

    /// The expression of an output entry; one without text is `null`.
    fn result(&mut self, node: Node<'a, 'a>) -> Option<Logic> {
        let text = text_of(node, "text").unwrap_or_default();
        (!text.trim().is_empty() && text.trim() != "-").then(|| self.literal(node, "the output entry"))
    }
}
