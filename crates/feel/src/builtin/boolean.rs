//! `not`, `is defined`, `get or else`, `assert`, and functions that only pass a value on.

use super::{Builtin, Fault, Outcome, everywhere, fixed, only};
use crate::dialect::Dialect;
use crate::error::Error;
use crate::eval::{Equality, Machine};
use crate::excerpt;
use crate::value::Value;

pub(super) static ALL: &[Builtin] = &[
    everywhere("not", &[fixed(&["negand"], not)]),
    everywhere("is defined", &[fixed(&["value"], is_defined)]),
    everywhere("get or else", &[fixed(&["value", "default"], get_or_else)]),
    everywhere("assert", &[fixed(&["value", "condition"], assert), fixed(&["value", "condition", "cause"], assert)]),
    everywhere(
        "fromAi",
        &[
            fixed(&["value"], first),
            fixed(&["value", "description"], first),
            fixed(&["value", "description", "type"], first),
            fixed(&["value", "description", "type", "schema"], first),
            fixed(&["value", "description", "type", "schema", "options"], first),
        ],
    ),
    only(Dialect::Dmn, "is", &[fixed(&["value1", "value2"], is)]),
];

fn not(_: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    Ok(match arguments {
        [Value::Bool(value)] => Value::Bool(!value),
        _ => Value::Null,
    })
}

fn is_defined(_: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    Ok(Value::Bool(!matches!(arguments, [Value::Null])))
}

fn get_or_else(_: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    match arguments {
        [Value::Null, default] => Ok(default.clone()),
        [value, _] => Ok(value.clone()),
        _ => Err(Fault::Arguments),
    }
}

fn assert(_: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let failed = |cause: String| Err(Fault::Error(Error::Assertion(cause)));
    match arguments {
        [value, Value::Bool(true), ..] => Ok(value.clone()),
        [_, _, Value::String(cause)] => failed(excerpt::message(cause.to_string())),
        _ => failed(String::from("the condition is not fulfilled")),
    }
}

fn first(_: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    arguments.first().cloned().ok_or(Fault::Arguments)
}

/// The same value of the same kind; unlike `=`, a time with another zone is another value.
fn is(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let [left, right] = arguments else {
        return Err(Fault::Arguments);
    };
    let same = match (left, right) {
        (Value::Time(a), Value::Time(b)) => a == b,
        (Value::DateTime(a), Value::DateTime(b)) => a == b,
        _ => left.type_name() == right.type_name() && machine.equality(left, right)? == Equality::Equal,
    };
    Ok(Value::Bool(same))
}
