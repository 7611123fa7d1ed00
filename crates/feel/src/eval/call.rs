//! Calls of built-ins and of function values.

use super::machine::Machine;
use crate::builtin::{Fault, Overload};
use crate::compile::node::{ArgumentNodes, BuiltinCall, Node, ValueCall};
use crate::dialect::Dialect;
use crate::error::{Error, WarningKind};
use crate::excerpt::quoted;
use crate::value::{Function, FunctionKind, Parameter, Value, shown};
use std::sync::Arc;

/// Levels of evaluation a native function counts for, since its own frames are unknown.
const NATIVE_DEPTH: u32 = 16;

impl Machine<'_> {
    pub(super) fn call_builtin(&mut self, call: &BuiltinCall) -> Result<Value, Error> {
        let arguments = self.all(&call.arguments)?;
        let arguments = if call.by_name { arguments } else { call.overload.gathered(arguments) };
        self.run_builtin(call.name, call.overload, &arguments)
    }

    fn run_builtin(&mut self, name: &str, overload: &Overload, arguments: &[Value]) -> Result<Value, Error> {
        self.budget.enter(1)?;
        let mut outcome = (overload.run)(self, arguments);
        self.budget.leave(1);
        if let Err(Fault::Arguments) = outcome
            && let Some(unwrapped) = self.singles(arguments)
        {
            outcome = (overload.run)(self, &unwrapped);
        }
        match outcome {
            Ok(value) => Ok(value),
            Err(Fault::Error(error)) => Err(error),
            Err(Fault::Arguments) => {
                self.warn(WarningKind::FunctionFailed, || {
                    let texts: Vec<String> = arguments.iter().map(shown).collect();
                    format!("function '{name}' cannot take '{}'", texts.join("', '"))
                })?;
                Ok(Value::Null)
            }
            Err(Fault::Reason(reason)) => {
                self.warn(WarningKind::FunctionFailed, || format!("function '{name}' failed: {reason}"))?;
                Ok(Value::Null)
            }
        }
    }

    /// In decisions a list of one stands for its item where no list is wanted.
    fn singles(&self, arguments: &[Value]) -> Option<Vec<Value>> {
        let is_single = |value: &Value| value.as_list().is_some_and(|items| items.len() == 1);
        if self.dialect != Dialect::Dmn || !arguments.iter().any(is_single) {
            return None;
        }
        let item = |value: &Value| match value.as_list() {
            Some([item]) => item.clone(),
            _ => value.clone(),
        };
        Some(arguments.iter().map(item).collect())
    }

    pub(super) fn call_value(&mut self, call: &ValueCall) -> Result<Value, Error> {
        let callee = match &call.name {
            Some(_) => self.read(&call.callee).unwrap_or(Value::Null),
            None => self.eval(&call.callee)?,
        };
        let Value::Function(function) = callee else {
            return self.call_otherwise(call);
        };
        match self.arguments(call, &function)? {
            Some(arguments) => self.invoke(&function, arguments, call.name.as_deref()),
            None => self.call_otherwise(call),
        }
    }

    /// The arguments for a function; nothing if it does not have such parameters and something else might.
    fn arguments(&mut self, call: &ValueCall, function: &Function) -> Result<Option<Vec<Value>>, Error> {
        match &call.arguments {
            ArgumentNodes::Positional(nodes) => {
                // A function of another number of parameters leaves the name to the built-in.
                if call.otherwise.is_some() && nodes.len() != function.parameters().len() {
                    return Ok(None);
                }
                self.all(nodes).map(Some)
            }
            ArgumentNodes::Named(nodes) => self.named_arguments(function, nodes),
        }
    }

    fn all(&mut self, nodes: &[Node]) -> Result<Vec<Value>, Error> {
        self.charge(nodes.len() as u64 / 8)?;
        let mut values = Vec::with_capacity(nodes.len());
        for node in nodes {
            values.push(self.eval(node)?);
        }
        Ok(values)
    }

    fn call_otherwise(&mut self, call: &ValueCall) -> Result<Value, Error> {
        match &call.otherwise {
            Some(builtin) => self.call_builtin(builtin),
            None => self.no_function(call),
        }
    }

    /// Arguments in the order of the parameters, `null` where one is not given; nothing for an unknown name.
    fn named_arguments(&mut self, function: &Function, nodes: &[(Arc<str>, Node)]) -> Result<Option<Vec<Value>>, Error> {
        let parameters = function.parameters();
        let mut values = vec![Value::Null; parameters.len()];
        for (name, node) in nodes {
            // Names are looked for one after the other.
            self.charge(1 + (parameters.len() + name.len()) as u64 / 8)?;
            let Some(at) = parameters.iter().position(|parameter| parameter.name == *name) else {
                return Ok(None);
            };
            values[at] = self.eval(node)?;
        }
        Ok(Some(values))
    }

    fn no_function(&mut self, call: &ValueCall) -> Result<Value, Error> {
        self.warn(WarningKind::NoFunction, || match &call.name {
            Some(name) => format!("no function named '{}' with these parameters", quoted(name)),
            None => String::from("what is called is not a function with these parameters"),
        })?;
        Ok(Value::Null)
    }

    /// Calls a function value.
    pub(crate) fn invoke(&mut self, function: &Function, arguments: Vec<Value>, name: Option<&str>) -> Result<Value, Error> {
        if let FunctionKind::Builtin(builtin, _) = function.kind() {
            return match builtin.with_count(arguments.len()) {
                Some(overload) => self.run_builtin(builtin.name, overload, &overload.gathered(arguments)),
                None => self.wrong_count(name, arguments.len()),
            };
        }
        let parameters = function.parameters();
        if parameters.len() != arguments.len() {
            return self.wrong_count(name, arguments.len());
        }
        let typed = parameters.iter().any(|parameter| parameter.declared.is_some());
        let arguments = if typed { self.conforming(parameters, arguments)? } else { Some(arguments) };
        match (arguments, function.kind()) {
            (None, _) | (_, FunctionKind::Builtin(..)) => Ok(Value::Null),
            (Some(arguments), FunctionKind::Native(_, run)) => {
                self.budget.charge(1)?;
                self.budget.enter(NATIVE_DEPTH)?;
                let result = run(&arguments, self.now, self.budget)?;
                self.budget.leave(NATIVE_DEPTH);
                Ok(result)
            }
            (Some(arguments), FunctionKind::Defined { body, captured, dialect, .. }) => {
                self.run_body(body, captured, *dialect, arguments)
            }
        }
    }

    /// Runs a function's body in a frame of its own.
    fn run_body(
        &mut self,
        body: &Node,
        captured: &Arc<[Option<Value>]>,
        dialect: Dialect,
        arguments: Vec<Value>,
    ) -> Result<Value, Error> {
        self.budget.enter(1)?;
        let outer_dialect = std::mem::replace(&mut self.dialect, dialect);
        let outer_captured = std::mem::replace(&mut self.captured, Arc::clone(captured));
        let outer_base = std::mem::replace(&mut self.base, self.locals.len());
        self.locals.extend(arguments.into_iter().map(Some));
        let result = self.eval(body)?;
        self.locals.truncate(self.base);
        self.base = outer_base;
        self.captured = outer_captured;
        self.dialect = outer_dialect;
        self.budget.leave(1);
        Ok(result)
    }

    /// The arguments as the parameters' types have them; nothing if one has no such conversion.
    fn conforming(&mut self, parameters: &[Parameter], arguments: Vec<Value>) -> Result<Option<Vec<Value>>, Error> {
        let mut conforming = Vec::with_capacity(arguments.len());
        for (parameter, argument) in parameters.iter().zip(arguments) {
            let converted = match &parameter.declared {
                None => Some(argument.clone()),
                Some(declared) => declared.coerce(argument.clone(), self.budget)?,
            };
            match converted {
                Some(value) => conforming.push(value),
                None => {
                    self.warn(WarningKind::FunctionFailed, || {
                        format!("parameter '{}' cannot be '{}'", quoted(&parameter.name), shown(&argument))
                    })?;
                    return Ok(None);
                }
            }
        }
        Ok(Some(conforming))
    }

    fn wrong_count(&mut self, name: Option<&str>, count: usize) -> Result<Value, Error> {
        self.warn(WarningKind::NoFunction, || {
            format!("no function named '{}' with {count} parameters", quoted(name.unwrap_or("?")))
        })?;
        Ok(Value::Null)
    }
}
