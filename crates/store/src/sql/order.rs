//! Orders, and what comes after a cursor in them.

use engine::PartitionId;

use super::column::{Column, From, Presence, Table, column};
use super::filter::sought;
use super::{Dialect, Writing};
use crate::query::{Cursor, Entity, Field, Order, Scalar, Sort};

/// The same rows from the other end.
pub(super) fn reversed(order: &[Sort]) -> Vec<Sort> {
    let flip = |sort: &Sort| Sort { field: sort.field, order: opposite(sort.order) };
    order.iter().map(flip).collect()
}

pub(super) fn opposite(order: Order) -> Order {
    match order {
        Order::Ascending => Order::Descending,
        Order::Descending => Order::Ascending,
    }
}

pub(super) fn direction(order: Order) -> &'static str {
    match order {
        Order::Ascending => "ASC",
        Order::Descending => "DESC",
    }
}

pub(super) fn order_by(writing: &Writing, from: &mut From, order: &[Sort]) -> String {
    let mut parts = Vec::with_capacity(order.len() + 1);
    for (position, sort) in order.iter().enumerate() {
        let direction = direction(sort.order);
        // The partition is in the key's high bits, so this changes nothing but lets PostgreSQL's primary key serve. Keys of the audit
        // trail are not all keys of rows.
        let is_key = sort.field == from.entity.key() && from.entity != Entity::Audit;
        if is_key && follows_end(writing, from, order) {
            parts.push(in_index_by_end(from, order, direction));
            continue;
        }
        if position == 0 && is_key && writing.dialect == Dialect::Postgres {
            parts.push(format!("{}.partition {direction}", from.alias(Table::Own)));
        }
        let place = column(from.entity, sort.field, writing.dialect);
        let nulls = match (writing.dialect, place.presence, sort.order) {
            // SQLite takes absent values for the smallest by itself.
            (Dialect::Sqlite, _, _) | (Dialect::Postgres, Presence::Always, _) => "",
            (Dialect::Postgres, Presence::Maybe, Order::Ascending) => " NULLS FIRST",
            (Dialect::Postgres, Presence::Maybe, Order::Descending) => " NULLS LAST",
        };
        parts.push(format!("{} {direction}{nulls}", sought(writing, from, sort.field)));
    }
    parts.join(", ")
}

/// Whether keys are to come as PostgreSQL's index of instances by end has them. It sorts all that have no end otherwise, which are those that
/// run.
fn follows_end(writing: &Writing, from: &From, order: &[Sort]) -> bool {
    let is_by_end = from.by_end || order[0].field == Field::Ended;
    writing.dialect == Dialect::Postgres && from.entity == Entity::Instances && is_by_end
}

fn in_index_by_end(from: &From, order: &[Sort], direction: &str) -> String {
    let own = from.alias(Table::Own);
    let key = format!("({own}.key + 0) {direction}");
    match (order[0].field, direction) {
        (Field::Ended, _) => key,
        (_, "ASC") => format!("{own}.ended NULLS FIRST, {key}"),
        (_, _) => format!("{own}.ended DESC NULLS LAST, {key}"),
    }
}

/// True for rows that come after the cursor: equal in the first values and later in the next.
pub(super) fn after(writing: &mut Writing, from: &mut From, order: &[Sort], cursor: &Cursor) -> String {
    if let ([sort], [Some(Scalar::Int(key))]) = (order, cursor.0.as_slice()) {
        return after_key(writing, from, sort.order, *key);
    }
    let places: Vec<(Sort, Option<&Scalar>)> = order.iter().copied().zip(cursor.0.iter().map(Option::as_ref)).collect();
    let mut ways = Vec::with_capacity(order.len());
    for (position, (sort, value)) in places.iter().enumerate() {
        let Some(later) = later(writing, from, *sort, *value) else { continue };
        let mut parts: Vec<String> = places[..position].iter().map(|(sort, value)| same(writing, from, *sort, *value)).collect();
        parts.push(later);
        ways.push(format!("({})", parts.join(" AND ")));
    }
    if ways.is_empty() {
        return "FALSE".to_owned();
    }
    let ways = format!("({})", ways.join(" OR "));
    match not_earlier(writing, from, places[0]) {
        Some(bound) => format!("({bound} AND {ways})"),
        None => ways,
    }
}

/// True for everything after the cursor and for little else: where an index begins.
fn not_earlier(writing: &mut Writing, from: &mut From, (sort, value): (Sort, Option<&Scalar>)) -> Option<String> {
    let place = column(from.entity, sort.field, writing.dialect);
    let sign = match (sort.order, presence(from, sort, place)) {
        (Order::Ascending, _) => ">=",
        (Order::Descending, Presence::Always) => "<=",
        // Absent values come after all others.
        (Order::Descending, Presence::Maybe) => return None,
    };
    let text = sought(writing, from, sort.field);
    value.map(|value| format!("{text} {sign} {}", writing.param(value.clone())))
}

/// Whether a field may be absent from rows that are asked for.
fn presence(from: &From, sort: Sort, place: Column) -> Presence {
    if from.present.contains(&sort.field) { Presence::Always } else { place.presence }
}

fn after_key(writing: &mut Writing, from: &From, order: Order, key: i64) -> String {
    let own = from.alias(Table::Own);
    let sign = match order {
        Order::Ascending => ">",
        Order::Descending => "<",
    };
    let param = writing.param(Scalar::Int(key));
    match writing.dialect {
        Dialect::Sqlite => format!("{own}.key {sign} {param}"),
        Dialect::Postgres if from.entity == Entity::Audit => format!("{own}.key {sign} {param}"),
        Dialect::Postgres => format!("({own}.partition, {own}.key) {sign} ({}, {param})", PartitionId::of(key as u64)),
    }
}

fn same(writing: &mut Writing, from: &mut From, sort: Sort, value: Option<&Scalar>) -> String {
    let text = sought(writing, from, sort.field);
    match value {
        Some(value) => format!("{text} = {}", writing.param(value.clone())),
        None => format!("{text} IS NULL"),
    }
}

/// Strictly later in this one field; `None` where nothing is.
fn later(writing: &mut Writing, from: &mut From, sort: Sort, value: Option<&Scalar>) -> Option<String> {
    let place = column(from.entity, sort.field, writing.dialect);
    let text = sought(writing, from, sort.field);
    match (sort.order, value) {
        (Order::Ascending, None) => Some(format!("{text} IS NOT NULL")),
        (Order::Ascending, Some(value)) => Some(format!("{text} > {}", writing.param(value.clone()))),
        (Order::Descending, None) => None,
        (Order::Descending, Some(value)) => {
            let value = writing.param(value.clone());
            Some(match presence(from, sort, place) {
                Presence::Always => format!("{text} < {value}"),
                Presence::Maybe => format!("({text} < {value} OR {text} IS NULL)"),
            })
        }
    }
}
