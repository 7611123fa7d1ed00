//! `range`: a range from its text.

use super::{Builtin, Fault, Outcome, fixed, only};
use crate::compile::compile_expression;
use crate::dialect::{Dialect, Library};
use crate::eval::Machine;
use crate::excerpt::quoted;
use crate::syntax::ast::{Arguments, Expr};
use crate::syntax::{Names, parse_expression};
use crate::value::Value;

pub(super) static ALL: &[Builtin] = &[only(Dialect::Dmn, "range", &[fixed(&["from"], range)])];

/// Only ranges between literals; nothing in the text is looked up or computed.
fn range(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let [Value::String(text)] = arguments else {
        return Err(Fault::Arguments);
    };
    let no_range = || Fault::Reason(format!("'{}' is not a range", quoted(text)));
    machine.charge(text.len() as u64)?;
    let tree = parse_expression(text, machine.dialect, &Names::default()).map_err(|_| no_range())?;
    match &tree {
        Expr::Range(range) if is_literal(&range.start) && is_literal(&range.end) => {
            let compiled = compile_expression(&tree, machine.dialect, Library::Feel(machine.dialect));
            Ok(machine.eval(&compiled.node)?)
        }
        _ => Err(no_range()),
    }
}

/// A literal, or a temporal value made of one.
fn is_literal(expr: &Expr) -> bool {
    match expr {
        Expr::Number(_) | Expr::String(_) | Expr::At(_) => true,
        Expr::Call(callee, Arguments::Positional(values)) => {
            let Expr::Name(name) = &**callee else {
                return false;
            };
            let temporal = matches!(&**name, "date" | "time" | "date and time" | "duration");
            temporal && matches!(values.as_slice(), [Expr::String(_)])
        }
        _ => false,
    }
}
