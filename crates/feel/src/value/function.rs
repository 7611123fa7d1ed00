//! Functions as values.

use super::{Extent, Value};
use crate::budget::Budget;
use crate::builtin::Builtin;
use crate::compile::node::Node;
use crate::dialect::Dialect;
use crate::error::Error;
use crate::eval::{Machine, Policy};
use crate::now::Now;
use crate::types::Type;
use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

/// A function; cloning shares it.
#[derive(Clone)]
pub struct Function(Arc<FunctionKind>);

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: Arc<str>,
    /// Its declared type; arguments that do not conform make the call `null`.
    pub declared: Option<Type>,
}

impl Parameter {
    /// A parameter.
    pub fn new(name: &str, declared: Option<Type>) -> Parameter {
        Parameter { name: Arc::from(name), declared }
    }
}

pub(crate) enum FunctionKind {
    /// A body with what it captured.
    Defined {
        parameters: Arc<[Parameter]>,
        body: Arc<Node>,
        captured: Arc<[Option<Value>]>,
        dialect: Dialect,
        extent: Extent,
    },
    Builtin(&'static Builtin, Vec<Parameter>),
    Native(Vec<Parameter>, Box<NativeRun>),
}

type NativeRun = dyn Fn(&[Value], &Now, &mut Budget) -> Result<Value, Error> + Send + Sync;

impl Function {
    pub(crate) fn defined(
        parameters: Arc<[Parameter]>,
        body: Arc<Node>,
        captured: Arc<[Option<Value>]>,
        dialect: Dialect,
    ) -> Function {
        let names: usize = parameters.iter().map(|parameter| parameter.name.len()).sum();
        let Extent { depth, size } = Extent::around(captured.iter().flatten().map(Value::extent));
        let extent = Extent { depth, size: size.saturating_add(names as u64) };
        Function(Arc::new(FunctionKind::Defined { parameters, body, captured, dialect, extent }))
    }

    /// A function that is computed outside of FEEL, such as a business knowledge model with a decision table.
    ///
    /// It gets its arguments in the order of the parameters, and the budget of the evaluation that calls it: what it
    /// evaluates itself should be charged there, see [`Expression::evaluate_within`](crate::Expression::evaluate_within).
    pub fn native(
        parameters: Vec<Parameter>,
        run: impl Fn(&[Value], &Now, &mut Budget) -> Result<Value, Error> + Send + Sync + 'static,
    ) -> Function {
        Function(Arc::new(FunctionKind::Native(parameters, Box::new(run))))
    }

    /// Calls the function from outside of an expression.
    pub fn call(&self, arguments: Vec<Value>, now: &Now, budget: &mut Budget) -> Result<Value, Error> {
        budget.level(|budget| Machine::new(&[], &[], now, (Dialect::Dmn, Policy::Tolerant), budget).invoke(self, arguments, None))
    }

    pub(crate) fn builtin(builtin: &'static Builtin) -> Function {
        let widest = builtin.overloads.first().map_or(&[][..], |overload| overload.parameters);
        let parameters = widest.iter().map(|name| Parameter::new(name, None)).collect();
        Function(Arc::new(FunctionKind::Builtin(builtin, parameters)))
    }

    /// The parameters in order.
    pub fn parameters(&self) -> &[Parameter] {
        match &*self.0 {
            FunctionKind::Defined { parameters, .. } => parameters,
            FunctionKind::Builtin(_, parameters) | FunctionKind::Native(parameters, _) => parameters,
        }
    }

    /// How many values it holds on to.
    pub(crate) fn captured(&self) -> usize {
        match &*self.0 {
            FunctionKind::Defined { captured, .. } => captured.len(),
            FunctionKind::Builtin(..) | FunctionKind::Native(..) => 0,
        }
    }

    pub(crate) fn kind(&self) -> &FunctionKind {
        &self.0
    }

    pub(crate) fn extent(&self) -> Extent {
        match &*self.0 {
            FunctionKind::Defined { extent, .. } => *extent,
            FunctionKind::Builtin(..) | FunctionKind::Native(..) => Extent { depth: 0, size: super::VALUE_BYTES },
        }
    }

    /// Whether both are the very same function in memory.
    pub(crate) fn same(&self, other: &Function) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Debug for Function {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("function(")?;
        for (at, parameter) in self.parameters().iter().enumerate() {
            out.write_str(if 0 < at { ", " } else { "" })?;
            out.write_str(&parameter.name)?;
        }
        out.write_str(")")
    }
}
