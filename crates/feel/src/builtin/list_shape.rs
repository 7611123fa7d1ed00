//! Functions that rearrange lists: without repetitions, flat, sorted, in parts, joined.

use super::list::{equal, items_of, joined, list_and};
use super::{Builtin, Fault, Outcome, everywhere, fixed, variadic};
use crate::eval::Machine;
use crate::value::{Function, VALUE_BYTES, Value};

pub(super) static ALL: &[Builtin] = &[
    everywhere("union", &[variadic(&["lists"], union), variadic(&["list"], union)]),
    everywhere("distinct values", &[fixed(&["list"], distinct_values)]),
    everywhere("duplicate values", &[fixed(&["list"], duplicate_values)]),
    everywhere("flatten", &[fixed(&["list"], flatten)]),
    everywhere("sort", &[fixed(&["list", "precedes"], sort), fixed(&["list"], sort)]),
    everywhere(
        "string join",
        &[
            fixed(&["list"], string_join),
            fixed(&["list", "delimiter"], string_join),
            fixed(&["list", "delimiter", "prefix", "suffix"], string_join),
        ],
    ),
    everywhere("partition", &[fixed(&["list", "size"], partition)]),
];

fn union(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let joined = joined(machine, arguments)?;
    let distinct = distinct(machine, &joined)?;
    Ok(machine.bounded_list(distinct)?)
}

fn distinct_values(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let (list, []) = list_and(machine, arguments)?;
    let distinct = distinct(machine, list.items())?;
    Ok(machine.bounded_list(distinct)?)
}

fn distinct(machine: &mut Machine<'_>, items: &[Value]) -> Result<Vec<Value>, Fault> {
    let mut seen: Vec<Value> = Vec::new();
    'items: for item in items {
        for earlier in &seen {
            if equal(machine, earlier, item)? {
                continue 'items;
            }
        }
        seen.push(item.clone());
    }
    Ok(seen)
}

fn duplicate_values(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let (list, []) = list_and(machine, arguments)?;
    let mut repeated = Vec::new();
    for candidate in distinct(machine, list.items())? {
        let mut times = 0;
        for item in list.items() {
            times += usize::from(equal(machine, item, &candidate)?);
        }
        if 1 < times {
            repeated.push(candidate);
        }
    }
    Ok(machine.bounded_list(repeated)?)
}

fn flatten(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let (list, []) = list_and(machine, arguments)?;
    let mut flat = Vec::new();
    flatten_into(machine, list.items(), &mut flat)?;
    Ok(machine.bounded_list(flat)?)
}

fn flatten_into(machine: &mut Machine<'_>, items: &[Value], flat: &mut Vec<Value>) -> Result<(), Fault> {
    for item in items {
        machine.charge(1)?;
        match item {
            Value::List(list) => flatten_into(machine, list.items(), flat)?,
            other => {
                // A list may be in it many times, so there must be room before it is flat.
                machine.budget.make(VALUE_BYTES)?;
                flat.push(other.clone());
            }
        }
    }
    Ok(())
}

fn sort(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    match arguments {
        [list, Value::Function(precedes)] => {
            let (list, []) = list_and(machine, std::slice::from_ref(list))?;
            if precedes.parameters().len() != 2 {
                return Err(Fault::Reason(String::from("the order needs a function of two parameters")));
            }
            let sorted = merge_sort(machine, list.items().to_vec(), precedes)?;
            Ok(machine.bounded_list(sorted)?)
        }
        _ => Err(Fault::Arguments),
    }
}

/// Stable, and content with an order that contradicts itself.
fn merge_sort(machine: &mut Machine<'_>, mut items: Vec<Value>, precedes: &Function) -> Result<Vec<Value>, Fault> {
    if items.len() < 2 {
        return Ok(items);
    }
    let right = items.split_off(items.len() / 2);
    let left = merge_sort(machine, items, precedes)?;
    let right = merge_sort(machine, right, precedes)?;
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        machine.charge(1)?;
        let from_right = match machine.invoke(precedes, vec![b.clone(), a.clone()], None)? {
            Value::Bool(precedes) => precedes,
            _ => return Err(Fault::Reason(String::from("the order is not a boolean"))),
        };
        merged.extend(if from_right { right.next() } else { left.next() });
    }
    merged.extend(left);
    merged.extend(right);
    Ok(merged)
}

fn string_join(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let optional = |at: usize| match arguments.get(at) {
        Some(Value::String(text)) => Ok(&**text),
        Some(Value::Null) | None => Ok(""),
        Some(_) => Err(Fault::Arguments),
    };
    let list = items_of(machine, arguments.first().ok_or(Fault::Arguments)?)?;
    machine.charge(list.len() as u64)?;
    let (delimiter, prefix, suffix) = (optional(1)?, optional(2)?, optional(3)?);
    if let Some([prefix, suffix]) = arguments.get(2..4)
        && prefix.is_null() != suffix.is_null()
    {
        return Err(Fault::Arguments);
    }
    let mut texts = Vec::with_capacity(list.len());
    for item in list.items() {
        match item {
            Value::String(text) => texts.push(&**text),
            Value::Null => {}
            _ => {
                return Err(Fault::Reason(String::from("the list holds what is not a text")));
            }
        }
    }
    let between = delimiter.len() * texts.len().saturating_sub(1);
    machine.make_text(prefix.len() + texts.iter().map(|text| text.len()).sum::<usize>() + between + suffix.len())?;
    Ok(Value::string([prefix, &texts.join(delimiter), suffix].concat()))
}

fn partition(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let (list, [size]) = list_and(machine, arguments)?;
    let Value::Number(size) = size else {
        return Err(Fault::Arguments);
    };
    let size = usize::try_from(size.truncate_saturating()).ok().filter(|size| 0 < *size);
    let size = size.ok_or_else(|| Fault::Reason(String::from("the size must be above zero")))?;
    let mut parts = Vec::new();
    for part in list.items().chunks(size) {
        parts.push(machine.bounded_list(part.to_vec())?);
    }
    Ok(machine.bounded_list(parts)?)
}
