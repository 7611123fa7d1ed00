//! The functions of the small language of JSON workflows.

use super::{Available, Builtin, Fault, Outcome, fixed};
use crate::dialect::Library;
use crate::eval::{Equality, Machine};
use crate::value::Value;

pub(super) static ALL: &[Builtin] = &[
    Builtin {
        name: "contains",
        overloads: &[fixed(&["collection", "element"], contains)],
        available: Available::Only(Library::Workflow),
    },
    Builtin { name: "len", overloads: &[fixed(&["value"], len)], available: Available::Only(Library::Workflow) },
];

/// An item of a list, a part of a text, or a key of an object.
fn contains(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let holds = match arguments {
        [Value::List(list), element] => {
            let mut found = false;
            for item in list.items() {
                machine.charge(1)?;
                found |= machine.equality(item, element)? == Equality::Equal;
            }
            found
        }
        [Value::String(text), Value::String(part)] => {
            machine.read_text(text)?;
            machine.read_text(part)?;
            text.contains(&**part)
        }
        [Value::Context(context), Value::String(key)] => {
            machine.read_text(key)?;
            context.get(key).is_some()
        }
        _ => return Err(Fault::Arguments),
    };
    Ok(Value::Bool(holds))
}

/// Characters of a text, items of a list, members of an object.
fn len(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let length = match arguments {
        [Value::String(text)] => {
            machine.read_text(text)?;
            text.chars().count()
        }
        [Value::List(list)] => list.len(),
        [Value::Context(context)] => context.len(),
        _ => return Err(Fault::Arguments),
    };
    Ok(Value::Number(length.into()))
}
