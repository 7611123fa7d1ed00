//! Knowledge models, services and function definitions as function values.

use std::sync::Arc;

use feel::{Context, Error, Function, Parameter, Value};
use model::decision::{Lambda, Type, Typing, Variable};

use super::graph::Place;
use super::logic::Trace;
use super::report::outside;
use super::scope::Scope;
use super::{Evaluated, Run, Subject};

/// What a name and what it stands for take in a function, on the average.
const NAME_BYTES: u64 = 64;

impl Run<'_> {
    /// A knowledge model as a function: sees its parameters and the knowledge it requires.
    pub(super) fn knowledge_function(&mut self, index: usize) -> Result<Value, Error> {
        let parameters = self.parameters(&self.model.knowledge[index].lambda.parameters)?;
        let (model, report) = (self.model.clone(), self.report.clone());
        Ok(Value::Function(Function::native(parameters, move |arguments, now, budget| {
            let mut run = Run { model: &model, now, budget, report: &report };
            run.knowledge(index, arguments)
        })))
    }

    fn knowledge(&mut self, index: usize, arguments: &[Value]) -> Result<Value, Error> {
        let knowledge = &self.model.knowledge[index];
        let mut scope = Scope::new(Context::empty());
        for requirement in &knowledge.requires {
            self.bind(&mut scope, requirement, None)?;
        }
        let mut trace = Trace::default();
        let outcome = self.apply(&knowledge.lambda, arguments, &mut scope, &mut trace);
        let output = match &outcome {
            Ok(value) => outside(value, self.budget)?,
            Err(_) => Value::Null,
        };
        let Trace { inputs, rules } = trace;
        self.report.add(Evaluated { subject: Subject::Knowledge(index), output, inputs, rules });
        outcome
    }

    /// A decision service as a function of its inputs.
    pub(super) fn service_function(&mut self, index: usize) -> Result<Value, Error> {
        let service = &self.model.services[index];
        let data = service.input_data.iter().map(|input| &self.model.inputs[*input].variable);
        let decisions = service.input_decisions.iter().map(|input| &self.model.decisions[*input].variable);
        let variables: Vec<Variable> = data.chain(decisions).cloned().collect();
        let parameters = self.parameters(&variables)?;
        let (model, report) = (self.model.clone(), self.report.clone());
        Ok(Value::Function(Function::native(parameters, move |arguments, now, budget| {
            let mut run = Run { model: &model, now, budget, report: &report };
            let named = variables.iter().map(|variable| Arc::clone(&variable.name));
            let given = Context::from(named.zip(arguments.iter().cloned()).collect::<Vec<_>>());
            run.service(index, &given, Place::Called).map_err(|failure| match failure.limit {
                Some(limit) => Error::Limit(limit),
                None => Error::Invalid(failure.reason),
            })
        })))
    }

    /// A function definition: sees what is around it.
    pub(super) fn function(&mut self, lambda: &Arc<Lambda>, scope: &Scope<'_>) -> Result<Value, Error> {
        self.budget.make(NAME_BYTES * scope.len() as u64)?;
        let parameters = self.parameters(&lambda.parameters)?;
        let (model, report) = (self.model.clone(), self.report.clone());
        let (lambda, captured) = (Arc::clone(lambda), scope.captured());
        Ok(Value::Function(Function::native(parameters, move |arguments, now, budget| {
            let mut run = Run { model: &model, now, budget, report: &report };
            run.apply(&lambda, arguments, &mut Scope::within(&captured), &mut Trace::default())
        })))
    }

    fn apply(&mut self, lambda: &Lambda, arguments: &[Value], scope: &mut Scope<'_>, trace: &mut Trace) -> Result<Value, Error> {
        for (parameter, argument) in lambda.parameters.iter().zip(arguments) {
            let value = self.conform(parameter.declared.as_ref(), argument.clone())?;
            scope.bind(&parameter.name, value);
        }
        let value = match &lambda.body {
            Some(body) => self.traced(body, scope, trace)?,
            None => Value::Null,
        };
        self.conform(lambda.result.as_ref(), value)
    }

    fn parameters(&mut self, variables: &[Variable]) -> Result<Vec<Parameter>, Error> {
        self.budget.make(NAME_BYTES * (1 + variables.len() as u64))?;
        let parameter = |variable: &Variable| Parameter::new(&variable.name, variable.declared.as_ref().map(|t| self.plain(t)));
        Ok(variables.iter().map(parameter).collect())
    }

    /// A type as FEEL knows it.
    pub(super) fn plain(&self, declared: &Type) -> feel::Type {
        match declared {
            Type::Feel(plain) => plain.clone(),
            Type::Item(index) => self.model.types[*index].plain.clone(),
        }
    }

    pub(super) fn is_loose(&self) -> bool {
        self.model.typing == Typing::Loose
    }
}
