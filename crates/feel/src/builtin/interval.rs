//! How points and ranges lie to one another.

use super::{Builtin, Fault, Outcome, Run, everywhere, fixed};
use crate::budget::BYTES_PER_STEP;
use crate::eval::{Machine, order};
use crate::value::{Endpoint, Range, Value};
use std::cmp::Ordering;

pub(super) static ALL: &[Builtin] = &[
    everywhere("before", &points_and_ranges(before)),
    everywhere("after", &points_and_ranges(after)),
    everywhere("meets", &[fixed(&["range1", "range2"], meets)]),
    everywhere("met by", &[fixed(&["range1", "range2"], met_by)]),
    everywhere("overlaps", &[fixed(&["range1", "range2"], overlaps)]),
    everywhere("overlaps before", &[fixed(&["range1", "range2"], overlaps_before)]),
    everywhere("overlaps after", &[fixed(&["range1", "range2"], overlaps_after)]),
    everywhere("finishes", &[fixed(&["point", "range"], finishes), fixed(&["range1", "range2"], finishes)]),
    everywhere(
        "finished by",
        &[
            fixed(&["range", "point"], finished_by),
            fixed(&["range1", "range2"], finished_by),
            fixed(&["point", "range"], finished_by),
        ],
    ),
    everywhere("includes", &[fixed(&["range", "point"], includes), fixed(&["range1", "range2"], includes)]),
    everywhere("during", &[fixed(&["point", "range"], during), fixed(&["range1", "range2"], during)]),
    everywhere("starts", &[fixed(&["point", "range"], starts), fixed(&["range1", "range2"], starts)]),
    everywhere("started by", &[fixed(&["range", "point"], started_by), fixed(&["range1", "range2"], started_by)]),
    everywhere("coincides", &[fixed(&["point1", "point2"], coincides), fixed(&["range1", "range2"], coincides)]),
];

const fn points_and_ranges(run: Run) -> [super::Overload; 4] {
    [
        fixed(&["point1", "point2"], run),
        fixed(&["point", "range"], run),
        fixed(&["range", "point"], run),
        fixed(&["range1", "range2"], run),
    ]
}

/// A point is a range of one.
struct Pair<'v> {
    left: Side<'v>,
    right: Side<'v>,
}

#[derive(Clone, Copy)]
enum Side<'v> {
    Point(&'v Value),
    Range(&'v Range),
}

fn pair<'v>(machine: &mut Machine<'_>, arguments: &'v [Value]) -> Result<Pair<'v>, Fault> {
    let [left, right] = arguments else {
        return Err(Fault::Arguments);
    };
    // Ranges may lie between texts, whose ends are compared with each other.
    machine.charge((left.size() + right.size()) / BYTES_PER_STEP)?;
    let (left, right) = side(left).zip(side(right)).ok_or(Fault::Arguments)?;
    let comparable = [start(left), end(left)]
        .iter()
        .flatten()
        .all(|a| [start(right), end(right)].iter().flatten().all(|b| order(a, b).is_some()));
    if comparable { Ok(Pair { left, right }) } else { Err(Fault::Arguments) }
}

fn side(value: &Value) -> Option<Side<'_>> {
    match value {
        Value::Range(range) => Some(Side::Range(range)),
        Value::Number(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime(_)
        | Value::DaysTimeDuration(_)
        | Value::YearsMonthsDuration(_) => Some(Side::Point(value)),
        _ => None,
    }
}

/// The lower end, unless there is none.
fn start(side: Side<'_>) -> Option<&Value> {
    match side {
        Side::Point(value) => Some(value),
        Side::Range(range) => Some(&range.start.value).filter(|value| !value.is_null()),
    }
}

/// The upper end, unless there is none.
fn end(side: Side<'_>) -> Option<&Value> {
    match side {
        Side::Point(value) => Some(value),
        Side::Range(range) => Some(&range.end.value).filter(|value| !value.is_null()),
    }
}

/// Lower ends in order: none is lowest; of equal values the included one is lower.
fn compare_starts(a: &Endpoint, b: &Endpoint) -> Ordering {
    match (a.value.is_null(), b.value.is_null()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => values(&a.value, &b.value).then(b.included.cmp(&a.included)),
    }
}

/// Upper ends in order: none is highest; of equal values the included one is higher.
fn compare_ends(a: &Endpoint, b: &Endpoint) -> Ordering {
    match (a.value.is_null(), b.value.is_null()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => values(&a.value, &b.value).then(a.included.cmp(&b.included)),
    }
}

/// An upper end against a lower end: `Less` when nothing is at both, `Equal` when exactly one value is.
fn end_to_start(end: &Endpoint, start: &Endpoint) -> Ordering {
    if end.value.is_null() || start.value.is_null() {
        return Ordering::Greater;
    }
    match values(&end.value, &start.value) {
        Ordering::Equal if end.included && start.included => Ordering::Equal,
        Ordering::Equal => Ordering::Less,
        unequal => unequal,
    }
}

fn values(a: &Value, b: &Value) -> Ordering {
    order(a, b).expect("both sides were found comparable")
}

fn at(point: &Value, endpoint: &Endpoint) -> bool {
    endpoint.included && !endpoint.value.is_null() && values(point, &endpoint.value) == Ordering::Equal
}

fn as_endpoint(point: &Value) -> Endpoint {
    Endpoint::included(point.clone())
}

fn answer(machine: &mut Machine<'_>, arguments: &[Value], decide: impl Fn(&Pair<'_>) -> Option<bool>) -> Outcome {
    let pair = pair(machine, arguments)?;
    decide(&pair).map(Value::Bool).ok_or(Fault::Arguments)
}

/// For functions of two ranges only.
fn ranges(machine: &mut Machine<'_>, arguments: &[Value], decide: impl Fn(&Range, &Range) -> bool) -> Outcome {
    answer(machine, arguments, |pair| match (pair.left, pair.right) {
        (Side::Range(a), Side::Range(b)) => Some(decide(a, b)),
        _ => None,
    })
}

fn before(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    answer(machine, arguments, |pair| {
        let end = match pair.left {
            Side::Point(point) => as_endpoint(point),
            Side::Range(range) => range.end.clone(),
        };
        let start = match pair.right {
            Side::Point(point) => as_endpoint(point),
            Side::Range(range) => range.start.clone(),
        };
        Some(end_to_start(&end, &start) == Ordering::Less)
    })
}

fn after(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let [left, right] = arguments else {
        return Err(Fault::Arguments);
    };
    before(machine, &[right.clone(), left.clone()])
}

fn meets(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    ranges(machine, arguments, |a, b| end_to_start(&a.end, &b.start) == Ordering::Equal)
}

fn met_by(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    ranges(machine, arguments, |a, b| end_to_start(&b.end, &a.start) == Ordering::Equal)
}

fn overlaps(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    ranges(machine, arguments, |a, b| {
        end_to_start(&a.end, &b.start) != Ordering::Less && end_to_start(&b.end, &a.start) != Ordering::Less
    })
}

/// Whether `a` begins first, reaches into `b` and ends no later.
fn reaches_into(a: &Range, b: &Range) -> bool {
    compare_starts(&a.start, &b.start) == Ordering::Less
        && end_to_start(&a.end, &b.start) != Ordering::Less
        && compare_ends(&a.end, &b.end) != Ordering::Greater
}

fn overlaps_before(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    ranges(machine, arguments, reaches_into)
}

fn overlaps_after(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    ranges(machine, arguments, |a, b| reaches_into(b, a))
}

fn same_end(a: &Endpoint, b: &Endpoint) -> bool {
    compare_ends(a, b) == Ordering::Equal
}

fn same_start(a: &Endpoint, b: &Endpoint) -> bool {
    compare_starts(a, b) == Ordering::Equal
}

fn finishes(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    answer(machine, arguments, |pair| match (pair.left, pair.right) {
        (Side::Range(a), Side::Range(b)) => {
            Some(same_end(&a.end, &b.end) && compare_starts(&a.start, &b.start) != Ordering::Less)
        }
        (Side::Point(point), Side::Range(range)) => Some(at(point, &range.end)),
        _ => None,
    })
}

fn finished_by(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    answer(machine, arguments, |pair| match (pair.left, pair.right) {
        (Side::Range(a), Side::Range(b)) => {
            Some(same_end(&a.end, &b.end) && compare_starts(&a.start, &b.start) != Ordering::Greater)
        }
        (Side::Range(range), Side::Point(point)) => Some(at(point, &range.end)),
        _ => None,
    })
}

/// Whether `b` lies within `a`.
fn encloses(a: &Range, b: &Range) -> bool {
    compare_starts(&a.start, &b.start) != Ordering::Greater && compare_ends(&a.end, &b.end) != Ordering::Less
}

fn holds(range: &Range, point: &Value) -> bool {
    let point = as_endpoint(point);
    end_to_start(&point, &range.start) != Ordering::Less && end_to_start(&range.end, &point) != Ordering::Less
}

fn includes(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    answer(machine, arguments, |pair| match (pair.left, pair.right) {
        (Side::Range(a), Side::Range(b)) => Some(encloses(a, b)),
        (Side::Range(range), Side::Point(point)) => Some(holds(range, point)),
        _ => None,
    })
}

fn during(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let [left, right] = arguments else {
        return Err(Fault::Arguments);
    };
    includes(machine, &[right.clone(), left.clone()])
}

fn starts(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    answer(machine, arguments, |pair| match (pair.left, pair.right) {
        (Side::Range(a), Side::Range(b)) => {
            Some(same_start(&a.start, &b.start) && compare_ends(&a.end, &b.end) != Ordering::Greater)
        }
        (Side::Point(point), Side::Range(range)) => Some(at(point, &range.start)),
        _ => None,
    })
}

fn started_by(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    let [left, right] = arguments else {
        return Err(Fault::Arguments);
    };
    starts(machine, &[right.clone(), left.clone()])
}

fn coincides(machine: &mut Machine<'_>, arguments: &[Value]) -> Outcome {
    answer(machine, arguments, |pair| match (pair.left, pair.right) {
        (Side::Range(a), Side::Range(b)) => Some(same_start(&a.start, &b.start) && same_end(&a.end, &b.end)),
        (Side::Point(a), Side::Point(b)) => Some(values(a, b) == Ordering::Equal),
        _ => Some(false),
    })
}
