//! Boxed expressions. `value` branches; the other functions and files compute.

use std::sync::Arc;

use feel::{Context, Error, Expression, Value};
use model::decision::{Boxed, Entry, Invocation, Logic};

use super::scope::Scope;
use super::{Input, Matched, Run};

/// Levels of FEEL's depth one level of boxed expressions counts for.
const BOXED_DEPTH: u32 = 2;

/// What a decision table saw and did.
#[derive(Default)]
pub(super) struct Trace {
    pub(super) inputs: Vec<Input>,
    pub(super) rules: Vec<Matched>,
}

impl Run<'_> {
    /// The value of an expression, and how it came about if it is a table.
    pub(super) fn traced(&mut self, boxed: &Boxed, scope: &Scope<'_>, trace: &mut Trace) -> Result<Value, Error> {
        self.budget.charge(1)?;
        self.budget.enter(BOXED_DEPTH)?;
        let value = self.logic(&boxed.logic, scope, trace)?;
        self.budget.leave(BOXED_DEPTH);
        self.conform(boxed.declared.as_ref(), value)
    }

    /// The value of an expression.
    pub(super) fn value(&mut self, boxed: &Boxed, scope: &Scope<'_>) -> Result<Value, Error> {
        self.traced(boxed, scope, &mut Trace::default())
    }

    pub(super) fn logic(&mut self, logic: &Logic, scope: &Scope<'_>, trace: &mut Trace) -> Result<Value, Error> {
        match logic {
            Logic::Null | Logic::Unreadable(_) => Ok(Value::Null),
            Logic::Literal(expression) => self.feel(expression, scope),
            Logic::Table(table) => self.table(table, scope, trace),
            Logic::Context(entries) => self.context(entries, scope),
            Logic::List(items) => {
                let items = items.iter().map(|item| self.value(item, scope)).collect::<Result<Vec<_>, _>>()?;
                Value::list(items).bounded(self.budget)
            }
            Logic::Relation(columns, rows) => self.relation(columns, rows, scope),
            Logic::Invocation(invocation) => self.invocation(invocation, scope),
            Logic::Function(lambda) => self.function(lambda, scope),
            Logic::Conditional(parts) => {
                let [condition, then, otherwise] = &**parts;
                match self.value(condition, scope)? {
                    Value::Bool(true) => self.value(then, scope),
                    Value::Bool(false) | Value::Null => self.value(otherwise, scope),
                    _ => Ok(Value::Null),
                }
            }
            Logic::Filter(filter) => self.filter(filter, scope),
            Logic::For(iteration) => self.each(iteration, scope),
            Logic::Quantified(quantifier, iteration) => self.quantified(*quantifier, iteration, scope),
        }
    }

    /// The value of a FEEL expression.
    pub(super) fn feel(&mut self, expression: &Expression, scope: &Scope<'_>) -> Result<Value, Error> {
        // Names are looked for one after the other.
        self.budget.charge((scope.len() * expression.variables().len() / 8) as u64)?;
        let values: Vec<Option<Value>> = expression.variables().iter().map(|name| scope.get(name).cloned()).collect();
        if !self.report.wants_warnings() {
            return expression.evaluate_within(&values, self.now, self.budget, None);
        }
        let mut warnings = Vec::new();
        let outcome = expression.evaluate_within(&values, self.now, self.budget, Some(&mut warnings));
        self.report.warn(warnings);
        outcome
    }

    fn context(&mut self, entries: &[Entry], outer: &Scope<'_>) -> Result<Value, Error> {
        let mut scope = Scope::within(outer);
        let mut members: Vec<(Arc<str>, Value)> = Vec::with_capacity(entries.len());
        for entry in entries {
            let value = self.value(&entry.value, &scope)?;
            let Some(variable) = &entry.variable else {
                return Ok(value);
            };
            let value = self.conform(variable.declared.as_ref(), value)?;
            scope.bind(&variable.name, value.clone());
            members.push((Arc::clone(&variable.name), value));
        }
        Value::Context(Context::from(members)).bounded(self.budget)
    }

    fn relation(&mut self, columns: &[Arc<str>], rows: &[Vec<Boxed>], scope: &Scope<'_>) -> Result<Value, Error> {
        let mut items = Vec::with_capacity(rows.len());
        for row in rows {
            let mut members = Vec::with_capacity(row.len());
            for (name, cell) in columns.iter().zip(row) {
                members.push((Arc::clone(name), self.value(cell, scope)?));
            }
            items.push(Value::Context(Context::from(members)).bounded(self.budget)?);
        }
        Value::list(items).bounded(self.budget)
    }

    fn invocation(&mut self, invocation: &Invocation, scope: &Scope<'_>) -> Result<Value, Error> {
        let Value::Function(function) = self.value(&invocation.callee, scope)? else {
            return Ok(Value::Null);
        };
        let mut arguments = vec![Value::Null; function.parameters().len()];
        for binding in &invocation.bindings {
            let name = &binding.parameter.name;
            let Some(at) = function.parameters().iter().position(|parameter| parameter.name == *name) else {
                return Ok(Value::Null);
            };
            if let Some(value) = &binding.value {
                let value = self.value(value, scope)?;
                arguments[at] = self.conform(binding.parameter.declared.as_ref(), value)?;
            }
        }
        function.call(arguments, self.now, self.budget)
    }
}
