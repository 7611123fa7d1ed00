//! Decisions in the order they need each other.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use feel::{Context, Error, Value};
use model::decision::{Requirement, Target, Typing};

use super::logic::Trace;
use super::report::outside;
use super::scope::Scope;
use super::{Evaluated, Failure, Run, Subject};

/// One walk through the graph: what was given, and what is known already.
pub(super) struct Graph {
    variables: Context,
    known: BTreeMap<usize, Known>,
    place: Place,
}

/// Whose walk it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Of the evaluation itself.
    Outermost,
    /// Of a function called by it, maybe many times.
    Called,
}

struct Known {
    value: Value,
    /// Where it and what it needs are reported.
    reported: Range<usize>,
}

impl Graph {
    pub(super) fn new(variables: &Context, place: Place) -> Graph {
        Graph { variables: variables.clone(), known: BTreeMap::new(), place }
    }
}

impl Run<'_> {
    /// The value of a decision as it leaves.
    pub(super) fn outermost(&mut self, index: usize, variables: &Context) -> Result<Value, Failure> {
        let value = self.decision(&mut Graph::new(variables, Place::Outermost), index)?;
        outside(&value, self.budget).map_err(|error| self.failure(index, &error))
    }

    /// The value of a decision service as it leaves.
    pub(super) fn outermost_service(&mut self, index: usize, variables: &Context) -> Result<Value, Failure> {
        let value = self.service(index, variables, Place::Outermost)?;
        let last = self.model.services[index].outputs.last().copied().unwrap_or_default();
        outside(&value, self.budget).map_err(|error| self.failure(last, &error))
    }

    /// The value of a decision; evaluated once, reported as often as it is needed.
    pub(super) fn decision(&mut self, graph: &mut Graph, index: usize) -> Result<Value, Failure> {
        if let Some(known) = graph.known.get(&index) {
            self.report.repeat(known.reported.clone());
            return Ok(known.value.clone());
        }
        let decision = &self.model.decisions[index];
        let from = self.report.len();
        let mut scope = Scope::new(graph.variables.clone());
        for requirement in &decision.requires {
            let value = match requirement.target {
                Target::Decision(required) => Some(self.decision(graph, required)?),
                Target::Input(_) | Target::Knowledge(_) | Target::Service(_) => None,
            };
            self.bind(&mut scope, requirement, value).map_err(|error| self.failure(index, &error))?;
        }
        let mut trace = Trace::default();
        let outcome = match &decision.logic {
            Some(logic) => self.traced(logic, &scope, &mut trace),
            None => Ok(Value::Null),
        };
        let outcome = outcome.and_then(|value| self.conform(decision.variable.declared.as_ref(), value));
        let outcome = outcome.and_then(|value| Ok((outside(&value, self.budget)?, value)));
        let output = outcome.as_ref().map_or(Value::Null, |(seen, _)| seen.clone());
        let Trace { inputs, rules } = trace;
        let evaluated = Evaluated { subject: Subject::Decision(index), output, inputs, rules };
        match graph.place {
            Place::Outermost => self.report.insist(evaluated),
            Place::Called => self.report.add(evaluated),
        }
        let (_, value) = outcome.map_err(|error| self.failure(index, &error))?;
        let reported = from..self.report.len();
        graph.known.insert(index, Known { value: value.clone(), reported });
        Ok(value)
    }

    /// Makes what is required visible under its name.
    pub(super) fn bind(&mut self, scope: &mut Scope<'_>, requirement: &Requirement, decided: Option<Value>) -> Result<(), Error> {
        let variable = self.model.variable(requirement.target);
        let value = match (decided, requirement.target) {
            (Some(value), _) => value,
            (None, Target::Input(_)) => {
                // As they are given they are visible already.
                if self.model.typing == Typing::Loose && requirement.import.is_none() {
                    return Ok(());
                }
                let given = scope.get(&variable.name).cloned().unwrap_or(Value::Null);
                self.conform(variable.declared.as_ref(), given)?
            }
            (None, Target::Knowledge(index)) => self.knowledge_function(index)?,
            (None, Target::Service(index)) => self.service_function(index)?,
            (None, Target::Decision(_)) => Value::Null,
        };
        match &requirement.import {
            Some(import) => scope.bind_import(import, &variable.name, value),
            None => scope.bind(&variable.name, value),
        }
        Ok(())
    }

    /// The value of a decision service, its inputs given as variables.
    pub(super) fn service(&mut self, index: usize, variables: &Context, place: Place) -> Result<Value, Failure> {
        let model = self.model;
        let service = &model.services[index];
        let mut graph = Graph::new(variables, place);
        for &input in &service.input_decisions {
            let variable = &model.decisions[input].variable;
            let given = variables.get(&variable.name).cloned().unwrap_or(Value::Null);
            let value = self.conform(variable.declared.as_ref(), given).map_err(|error| self.failure(input, &error))?;
            graph.known.insert(input, Known { value, reported: 0..0 });
        }
        let mut outputs = Vec::with_capacity(service.outputs.len());
        for &output in &service.outputs {
            let value = self.decision(&mut graph, output)?;
            outputs.push((Arc::clone(&model.decisions[output].variable.name), value));
        }
        let value = match &mut outputs[..] {
            [(_, value)] => std::mem::replace(value, Value::Null),
            _ => Value::Context(Context::from(outputs)),
        };
        let last = service.outputs.last().copied().unwrap_or_default();
        self.conform(service.variable.declared.as_ref(), value).map_err(|error| self.failure(last, &error))
    }

    fn failure(&self, index: usize, error: &Error) -> Failure {
        let decision = &self.model.decisions[index];
        let reason = format!("decision '{}' ({}): {error}", decision.id, decision.name);
        let limit = match error {
            Error::Limit(limit) => Some(*limit),
            Error::Assertion(_) | Error::NoInput | Error::Undefined(_) | Error::Invalid(_) => None,
        };
        Failure { decision: index, reason, limit }
    }
}
