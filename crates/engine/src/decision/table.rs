//! Decision tables: which rules match, and what they say.

use std::sync::Arc;

use feel::{Error, Value};
use model::decision::{HitPolicy, Rule, Table, Test};

use super::hit_policy::Hit;
use super::logic::Trace;
use super::scope::Scope;
use super::{Input, Matched, Output, Run};

impl Run<'_> {
    pub(super) fn table(&mut self, table: &Table, outer: &Scope<'_>, trace: &mut Trace) -> Result<Value, Error> {
        for input in &table.inputs {
            let value = self.logic(&input.expression, outer, &mut Trace::default())?;
            let value = self.conform(input.declared.as_ref(), value)?;
            trace.inputs.push(Input { id: Arc::clone(&input.id), name: Arc::clone(&input.name), value });
        }
        if !self.is_loose() {
            self.check_inputs(table, trace)?;
        }
        let tested = tested(&trace.inputs, outer);
        let mut hits = Vec::new();
        for (index, rule) in table.rules.iter().enumerate() {
            if !self.matches(rule, &tested)? {
                continue;
            }
            let hit = self.results(table, rule, outer)?;
            trace.rules.push(matched(table, rule, index + 1, &hit));
            hits.push(hit);
            if table.hit_policy == HitPolicy::First {
                break;
            }
        }
        if hits.is_empty() {
            return self.default(table, outer);
        }
        self.chosen(table, hits, outer)
    }

    /// A value outside of the allowed ones is an error of whoever asks.
    fn check_inputs(&mut self, table: &Table, trace: &Trace) -> Result<(), Error> {
        for (input, seen) in table.inputs.iter().zip(&trace.inputs) {
            if !seen.value.is_null() && !self.passes(input.allowed.as_ref(), &seen.value)? {
                let reason = format!("input '{}' is {}, which is not an allowed value", input.name, seen.value.json_excerpt());
                return Err(Error::Invalid(reason));
            }
        }
        Ok(())
    }

    /// Whether all tests of a rule hold, each in the scope of its input.
    fn matches(&mut self, rule: &Rule, tested: &[Scope<'_>]) -> Result<bool, Error> {
        self.budget.charge(1)?;
        for (test, scope) in rule.tests.iter().zip(tested) {
            let tests = match test {
                None => continue,
                Some(Test::Unreadable(_)) => return Ok(false),
                Some(Test::Unary(tests)) => tests,
            };
            self.budget.charge(1)?;
            if self.feel(tests, scope)? != Value::Bool(true) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn results(&mut self, table: &Table, rule: &Rule, outer: &Scope<'_>) -> Result<Hit, Error> {
        let mut values = Vec::with_capacity(rule.results.len());
        for (result, output) in rule.results.iter().zip(&table.outputs) {
            let value = self.logic(result, outer, &mut Trace::default())?;
            values.push(self.conform(output.declared.as_ref(), value)?);
        }
        Ok(Hit { values })
    }

    /// What holds when no rule matches.
    fn default(&mut self, table: &Table, outer: &Scope<'_>) -> Result<Value, Error> {
        if table.outputs.iter().all(|output| output.default.is_none()) {
            return Ok(Value::Null);
        }
        let mut values = Vec::with_capacity(table.outputs.len());
        for output in &table.outputs {
            let value = match &output.default {
                Some(default) => self.logic(default, outer, &mut Trace::default())?,
                None => Value::Null,
            };
            values.push(self.conform(output.declared.as_ref(), value)?);
        }
        Ok(Hit { values }.value(table))
    }
}

/// What the tests of each input see: `?` is its value.
fn tested<'s>(inputs: &[Input], outer: &'s Scope<'s>) -> Vec<Scope<'s>> {
    let name = Arc::from("?");
    let scope = |input: &Input| {
        let mut scope = Scope::within(outer);
        scope.bind(&name, input.value.clone());
        scope
    };
    inputs.iter().map(scope).collect()
}

fn matched(table: &Table, rule: &Rule, index: usize, hit: &Hit) -> Matched {
    let output = |(output, value): (&model::decision::Output, &Value)| Output {
        id: Arc::clone(&output.id),
        name: Arc::clone(&output.label),
        value: value.clone(),
    };
    Matched { id: Arc::clone(&rule.id), index, outputs: table.outputs.iter().zip(&hit.values).map(output).collect() }
}
