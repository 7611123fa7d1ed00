//! What a list comes to: sums, means, extremes, conjunctions.

use super::list::items_of;
use super::{Builtin, Fault, Outcome, everywhere, variadic};
use crate::dialect::Dialect;
use crate::eval::{DOUBLE_STEPS, Machine, WIDE_STEPS};
use crate::number::Number;
use crate::value::{List, Value, shown};
use std::cmp::Ordering;

pub(super) static ALL: &[Builtin] = &[
    everywhere("min", &[variadic(&["list"], min)]),
    everywhere("max", &[variadic(&["list"], max)]),
    everywhere("sum", &[variadic(&["list"], sum)]),
    everywhere("product", &[variadic(&["list"], product)]),
    everywhere("mean", &[variadic(&["list"], mean)]),
    everywhere("median", &[variadic(&["list"], median)]),
    everywhere("stddev", &[variadic(&["list"], stddev)]),
    everywhere("mode", &[variadic(&["list"], mode)]),
    everywhere("and", &[variadic(&["list"], all)]),
    everywhere("all", &[variadic(&["list"], all)]),
    everywhere("or", &[variadic(&["list"], any)]),
    everywhere("any", &[variadic(&["list"], any)]),
];

fn the_list(machine: &mut Machine<'_>, arguments: &[Value]) -> Result<List, Fault> {
    let [value] = arguments else {
        return Err(Fault::Arguments);
    };
    let list = items_of(machine, value)?;
    machine.charge(list.len() as u64)?;
    Ok(list)
}

fn numbers(machine: &mut Machine<'_>, arguments: &[Value]) -> Result<Vec<Number>, Fault> {
    let list = the_list(machine, arguments)?;
    let number =
        |item: &Value| item.as_number().ok_or_else(|| Fault::Reason(format!("expected number, found '{}'", shown(item))));
    list.items().iter().map(number).collect()
}

fn overflow() -> Fault {
    Fault::Reason(String::from("the result is out of range"))
}

fn extreme(machine: &mut Machine<'_>, arguments: &[Value], wanted: Ordering) -> Outcome {
    let list = the_list(machine, arguments)?;
    let Some((first, rest)) = list.items().split_first() else {
        return Ok(Value::Null);
    };
    let mut best = first;
    // A single value without an order is not an extreme either.
    machine.order(first, first)?.ok_or_else(|| Fault::Reason(String::from("the items have no order")))?;
    for item in rest {
        let ordering = machine.order(item, best)?.ok_or_else(|| Fault::Reason(String::from("the items have no common order")))?;
        if ordering == wanted {
            best = item;
        }
    }
    Ok(best.clone())
}

fn min(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    extreme(machine, arguments, Ordering::Less)
}

fn max(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    extreme(machine, arguments, Ordering::Greater)
}

fn fold(
    machine: &mut Machine<'_>,
    numbers: &[Number],
    start: Number,
    step: fn(Number, Number) -> Option<Number>,
) -> Result<Number, Fault> {
    let mut total = start;
    for number in numbers {
        total = step(total, *number).ok_or_else(overflow)?;
        if total.is_wide() {
            machine.charge(WIDE_STEPS)?;
        }
    }
    Ok(total)
}

/// In order, which takes a few rounds over all of them.
fn sorted(machine: &mut Machine<'_>, arguments: &[Value]) -> Result<Vec<Number>, Fault> {
    let mut numbers = numbers(machine, arguments)?;
    let rounds = u64::from(numbers.len().checked_ilog2().unwrap_or(0));
    machine.charge(numbers.len() as u64 * rounds / 4)?;
    numbers.sort();
    Ok(numbers)
}

fn sum(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let numbers = numbers(machine, arguments)?;
    if numbers.is_empty() {
        return Ok(Value::Null);
    }
    fold(machine, &numbers, Number::ZERO, Number::checked_add).map(Value::Number)
}

fn product(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let numbers = numbers(machine, arguments)?;
    if numbers.is_empty() {
        return Ok(Value::Null);
    }
    fold(machine, &numbers, Number::ONE, Number::checked_mul).map(Value::Number)
}

fn mean(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let numbers = numbers(machine, arguments)?;
    if numbers.is_empty() {
        return Ok(Value::Null);
    }
    let total = fold(machine, &numbers, Number::ZERO, Number::checked_add)?;
    total.checked_div(numbers.len().into()).map(Value::Number).ok_or_else(overflow)
}

fn median(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let numbers = sorted(machine, arguments)?;
    let middle = numbers.len() / 2;
    match numbers.get(middle) {
        None => Ok(Value::Null),
        Some(number) if numbers.len() % 2 == 1 => Ok(Value::Number(*number)),
        Some(number) => {
            let total = numbers[middle - 1].checked_add(*number);
            total.and_then(|total| total.checked_div(Number::from(2))).map(Value::Number).ok_or_else(overflow)
        }
    }
}

/// The standard deviation of a sample; through a double, since it needs a root.
fn stddev(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let numbers = numbers(machine, arguments)?;
    if numbers.is_empty() {
        return Ok(Value::Null);
    }
    if numbers.len() == 1 {
        return Err(Fault::Reason(String::from("one number has no deviation")));
    }
    let total = fold(machine, &numbers, Number::ZERO, Number::checked_add)?;
    let mean = total.checked_div(numbers.len().into()).ok_or_else(overflow)?;
    // A difference, a square and a sum for each, with all the digits of the mean.
    machine.charge(3 * WIDE_STEPS * numbers.len() as u64 + DOUBLE_STEPS)?;
    let squares = numbers.iter().try_fold(Number::ZERO, |sum, number| {
        let off = number.checked_sub(mean)?;
        sum.checked_add(off.checked_pow(2)?)
    });
    let variance = squares.and_then(|squares| squares.checked_div(Number::from(numbers.len() - 1))).ok_or_else(overflow)?;
    Number::from_f64(variance.to_f64().sqrt()).map(Value::Number).ok_or_else(overflow)
}

/// The most frequent numbers, in order.
fn mode(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let numbers = sorted(machine, arguments)?;
    let runs: Vec<&[Number]> = numbers.chunk_by(|a, b| a == b).collect();
    let longest = runs.iter().map(|run| run.len()).max().unwrap_or(0);
    let modes = runs.into_iter().filter(|run| run.len() == longest).map(|run| Value::Number(run[0])).collect();
    Ok(machine.bounded_list(modes)?)
}

fn connected(machine: &mut Machine<'_>, arguments: &[Value], decisive: bool) -> Outcome {
    let list = match arguments {
        [Value::Null] if machine.dialect == Dialect::Dmn => return Err(Fault::Arguments),
        _ => the_list(machine, arguments)?,
    };
    let mut known = true;
    for item in list.items() {
        match item {
            Value::Bool(value) if *value == decisive => return Ok(Value::Bool(decisive)),
            Value::Bool(_) => {}
            _ => known = false,
        }
    }
    Ok(if known { Value::Bool(!decisive) } else { Value::Null })
}

fn all(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    connected(machine, arguments, false)
}

fn any(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    connected(machine, arguments, true)
}
