//! Functions of lists.

use super::{Builtin, Fault, Outcome, everywhere, fixed, only, variadic};
use crate::dialect::Dialect;
use crate::eval::{Equality, Machine};
use crate::number::Number;
use crate::value::{List, VALUE_BYTES, Value};

pub(super) static ALL: &[Builtin] = &[
    everywhere("list contains", &[fixed(&["list", "element"], list_contains)]),
    everywhere("count", &[fixed(&["list"], count)]),
    everywhere(
        "sublist",
        &[
            fixed(&["list", "start"], sublist),
            fixed(&["list", "start", "length"], sublist),
            fixed(&["list", "start position"], sublist),
            fixed(&["list", "start position", "length"], sublist),
        ],
    ),
    everywhere("append", &[variadic(&["list", "items"], append), fixed(&["list", "item"], append_item)]),
    everywhere("concatenate", &[variadic(&["lists"], concatenate), variadic(&["list"], concatenate)]),
    everywhere("insert before", &[fixed(&["list", "position", "newItem"], insert_before)]),
    everywhere("remove", &[fixed(&["list", "position"], remove)]),
    everywhere("reverse", &[fixed(&["list"], reverse)]),
    everywhere("index of", &[fixed(&["list", "match"], index_of)]),
    everywhere("is empty", &[fixed(&["list"], is_empty)]),
    only(
        Dialect::Dmn,
        "list replace",
        &[fixed(&["list", "position", "newItem"], list_replace), fixed(&["list", "match", "newItem"], list_replace)],
    ),
];

/// A list argument; in decisions a single value is a list of one.
pub(super) fn items_of(machine: &Machine<'_>, value: &Value) -> Result<List, Fault> {
    match value {
        Value::List(list) => Ok(list.clone()),
        Value::Null => Err(Fault::Arguments),
        other if machine.dialect == Dialect::Dmn => Ok(List::from(vec![other.clone()])),
        _ => Err(Fault::Arguments),
    }
}

/// The list and so many further arguments.
pub(super) fn list_and<const N: usize>(machine: &mut Machine<'_>, arguments: &[Value]) -> Result<(List, [Value; N]), Fault> {
    let (first, rest) = arguments.split_first().ok_or(Fault::Arguments)?;
    let list = items_of(machine, first)?;
    machine.charge(list.len() as u64)?;
    let rest: [Value; N] = rest.to_vec().try_into().map_err(|_| Fault::Arguments)?;
    Ok((list, rest))
}

/// A position from 1, or from the end when negative, as an index; it may lie outside.
fn index(list: &List, position: Number) -> i64 {
    let position = position.truncate_saturating();
    let length = i64::try_from(list.len()).unwrap_or(i64::MAX);
    if 0 < position { position - 1 } else { length.saturating_add(position) }
}

/// An index cut to the ends of the list.
fn clamped(list: &List, index: i64) -> usize {
    usize::try_from(index.max(0)).unwrap_or(usize::MAX).min(list.len())
}

fn non_zero(position: Number) -> Result<(), Fault> {
    if position.is_zero() { Err(Fault::Reason(String::from("positions begin at 1"))) } else { Ok(()) }
}

pub(super) fn equal(machine: &mut Machine<'_>, left: &Value, right: &Value) -> Result<bool, Fault> {
    machine.charge(1)?;
    Ok(machine.equality(left, right)? == Equality::Equal)
}

fn list_contains(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let (list, [element]) = list_and(machine, arguments)?;
    for item in list.items() {
        if equal(machine, item, &element)? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn count(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    match arguments {
        [list] => Ok(Value::Number(items_of(machine, list)?.len().into())),
        _ => Err(Fault::Arguments),
    }
}

fn sublist(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let (list, start, length) = match arguments {
        [list, Value::Number(start)] => (list, *start, None),
        [list, Value::Number(start), Value::Number(length)] => (list, *start, Some(length.truncate_saturating())),
        _ => return Err(Fault::Arguments),
    };
    let list = items_of(machine, list)?;
    machine.charge(list.len() as u64)?;
    non_zero(start)?;
    let size = i64::try_from(list.len()).unwrap_or(i64::MAX);
    let from = index(&list, start);
    let to = length.map_or(size, |length| from.saturating_add(length));
    let inside = (0..size).contains(&from) && from < to && to <= size;
    // Positions outside of the list are cut to it, in decisions they are a mistake.
    if machine.dialect == Dialect::Dmn && !inside {
        return Err(Fault::Reason(String::from("positions outside of the list")));
    }
    let part = list.items().get(clamped(&list, from)..clamped(&list, to)).unwrap_or_default();
    Ok(machine.bounded_list(part.to_vec())?)
}

fn append(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let (list, [more]) = list_and(machine, arguments)?;
    let Value::List(more) = more else {
        return Err(Fault::Arguments);
    };
    Ok(machine.bounded_list([list.items(), more.items()].concat())?)
}

fn append_item(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let (list, [item]) = list_and(machine, arguments)?;
    let mut items = list.items().to_vec();
    items.push(item);
    Ok(machine.bounded_list(items)?)
}

fn concatenate(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let joined = joined(machine, arguments)?;
    Ok(machine.bounded_list(joined)?)
}

/// The items of all lists; what is not a list is an item.
pub(super) fn joined(machine: &mut Machine<'_>, arguments: &[Value]) -> Result<Vec<Value>, Fault> {
    let (lists, []) = list_and(machine, arguments)?;
    let mut joined = Vec::new();
    for item in lists.items() {
        match item {
            Value::List(list) => {
                // Many lists may be the same one, so there must be room before they are joined.
                machine.budget.make(VALUE_BYTES * list.len() as u64)?;
                joined.extend_from_slice(list.items());
            }
            Value::Null if machine.dialect == Dialect::Dmn => return Err(Fault::Arguments),
            other => joined.push(other.clone()),
        }
    }
    Ok(joined)
}

fn insert_before(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let (list, [position, item]) = list_and(machine, arguments)?;
    let Value::Number(position) = position else {
        return Err(Fault::Arguments);
    };
    non_zero(position)?;
    let at = index(&list, position);
    if machine.dialect == Dialect::Dmn && (at < 0 || list.len() as i64 <= at) {
        return Err(Fault::Reason(String::from("position outside of the list")));
    }
    let at = clamped(&list, at);
    let mut items = list.items().to_vec();
    items.insert(at, item);
    Ok(machine.bounded_list(items)?)
}

fn remove(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let (list, [position]) = list_and(machine, arguments)?;
    let Value::Number(position) = position else {
        return Err(Fault::Arguments);
    };
    non_zero(position)?;
    let at = index(&list, position);
    if machine.dialect == Dialect::Dmn && (at < 0 || list.len() as i64 <= at) {
        return Err(Fault::Reason(String::from("position outside of the list")));
    }
    let next = position.checked_add(Number::ONE).map_or(at, |position| index(&list, position));
    let (at, next) = (clamped(&list, at), clamped(&list, next));
    let rest = [&list.items()[..at], &list.items()[next..]].concat();
    Ok(machine.bounded_list(rest)?)
}

fn list_replace(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let (list, [selector, item]) = list_and(machine, arguments)?;
    let mut items = list.items().to_vec();
    match selector {
        Value::Number(position) => {
            non_zero(position)?;
            let at = usize::try_from(index(&list, position)).ok();
            let slot = at.and_then(|at| items.get_mut(at));
            *slot.ok_or_else(|| Fault::Reason(String::from("position outside of the list")))? = item;
        }
        Value::Function(function) => {
            for slot in &mut items {
                match machine.invoke(&function, vec![slot.clone(), item.clone()], None)? {
                    Value::Bool(true) => *slot = item.clone(),
                    Value::Bool(false) => {}
                    _ => return Err(Fault::Arguments),
                }
            }
        }
        _ => return Err(Fault::Arguments),
    }
    Ok(machine.bounded_list(items)?)
}

fn reverse(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let (list, []) = list_and(machine, arguments)?;
    Ok(machine.bounded_list(list.items().iter().rev().cloned().collect())?)
}

fn index_of(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let (list, [element]) = list_and(machine, arguments)?;
    let mut positions = Vec::new();
    for (at, item) in list.items().iter().enumerate() {
        if equal(machine, item, &element)? {
            positions.push(Value::Number(Number::from(at + 1)));
        }
    }
    Ok(machine.bounded_list(positions)?)
}

fn is_empty(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    match arguments {
        [Value::Context(context)] if machine.dialect == Dialect::Dmn => Ok(Value::Bool(context.is_empty())),
        [Value::List(list)] => Ok(Value::Bool(list.is_empty())),
        _ => Err(Fault::Arguments),
    }
}
