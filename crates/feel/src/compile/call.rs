//! Compiling calls.

use super::node::{ArgumentNodes, BuiltinCall, Node, ValueCall};
use super::resolve::Compiler;
use crate::builtin::{self, Builtin};
use crate::error::WarningKind;
use crate::syntax::ast::{Arguments, Expr};
use crate::value::Value;
use std::sync::Arc;

impl Compiler {
    pub(super) fn call(&mut self, callee: &Expr, arguments: &Arguments) -> Node {
        let Expr::Name(name) = callee else {
            let callee = self.expr(callee);
            let arguments = self.arguments(arguments);
            return Node::CallValue(Box::new(ValueCall { name: None, callee, arguments, otherwise: None }));
        };
        let builtin = builtin::find(name, self.library);
        let bound = self.scope.binds(name);
        match builtin {
            Some(builtin) if !bound => match self.builtin_call(builtin, arguments) {
                Some(call) => Node::CallBuiltin(Box::new(call)),
                None => {
                    let passed = described(arguments);
                    self.note(WarningKind::NoFunction, format!("no function named '{name}' with {passed}"));
                    Node::NoFunction(Arc::clone(name), passed)
                }
            },
            _ => {
                let otherwise = builtin.and_then(|builtin| self.builtin_call(builtin, arguments));
                if builtin.is_none() && !bound {
                    self.note(WarningKind::NoFunction, format!("no built-in function named '{name}'"));
                }
                let callee = self.scope.name(name);
                let arguments = self.arguments(arguments);
                Node::CallValue(Box::new(ValueCall { name: Some(Arc::clone(name)), callee, arguments, otherwise }))
            }
        }
    }

    fn arguments(&mut self, arguments: &Arguments) -> ArgumentNodes {
        match arguments {
            Arguments::Positional(values) => ArgumentNodes::Positional(self.all(values)),
            Arguments::Named(values) => {
                let values = values.iter().map(|(name, value)| (Arc::clone(name), self.expr(value)));
                ArgumentNodes::Named(values.collect())
            }
        }
    }

    fn builtin_call(&mut self, builtin: &'static Builtin, arguments: &Arguments) -> Option<BuiltinCall> {
        let by_name = matches!(arguments, Arguments::Named(_));
        let (overload, arguments) = match arguments {
            Arguments::Positional(values) => (builtin.with_count(values.len())?, self.all(values)),
            Arguments::Named(values) => {
                let names: Vec<&str> = values.iter().map(|(name, _)| &**name).collect();
                let overload = builtin.with_names(&names)?;
                let arguments = overload.parameters.iter().map(|parameter| {
                    let given = values.iter().rev().find(|(name, _)| &**name == *parameter);
                    given.map_or(Node::Const(Value::Null), |(_, value)| self.expr(value))
                });
                (overload, arguments.collect())
            }
        };
        Some(BuiltinCall { name: builtin.name, overload, by_name, arguments })
    }
}

/// What was passed to a function, for the message that it does not exist.
fn described(arguments: &Arguments) -> Box<str> {
    match arguments {
        Arguments::Positional(values) => format!("{} parameters", values.len()).into(),
        Arguments::Named(values) => {
            let names: Vec<&str> = values.iter().map(|(name, _)| &**name).collect();
            format!("parameters {}", names.join(", ")).into()
        }
    }
}
