//! A search as two statements: its page and its total.

use super::column::{From, Table, column, selected};
use super::filter::{condition, of_tenants};
use super::order::{after, order_by, reversed};
use super::view::columns;
use super::{Dialect, Sql, Writing};
use crate::query::{Entity, Page, Query, TOTAL_MAX};

/// A search ready to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// Rows as [`super::Collected`] takes them.
    pub page: Sql,
    /// One row with one number.
    pub total: Sql,
}

pub fn search(query: &Query, dialect: Dialect) -> Search {
    Search { page: page(query, dialect), total: total(query, dialect) }
}

fn page(query: &Query, dialect: Dialect) -> Sql {
    let mut writing = Writing { dialect, params: Vec::new() };
    let mut from = From::new(query.entity, 0);
    let mut matches = matching(&mut writing, &mut from, query);
    from.show();
    let mut order = query.order();
    let mut selection: Vec<String> = Vec::new();
    for shown in columns(query) {
        selection.push(selected(from.expression(shown.table, &shown.sql), shown.kind, dialect));
    }
    for sort in &order {
        let place = column(query.entity, sort.field, dialect);
        selection.push(selected(from.text(place), place.kind, dialect));
    }
    let limit = match &query.page {
        Page::From { from, limit } => format!("LIMIT {limit} OFFSET {}", (*from).min(i64::MAX as u64)),
        Page::After { cursor, limit } => {
            matches.push(after(&mut writing, &mut from, &order, cursor));
            format!("LIMIT {limit}")
        }
        Page::Before { cursor, limit } => {
            order = reversed(&order);
            matches.push(after(&mut writing, &mut from, &order, cursor));
            format!("LIMIT {limit}")
        }
    };
    let order = order_by(&writing, &mut from, &order);
    let text = format!(
        "SELECT {} FROM {} WHERE {} ORDER BY {order} {limit}",
        selection.join(", "),
        from.sql(dialect),
        matches.join(" AND ")
    );
    Sql { text, params: writing.params }
}

/// Counting stops one past the bound: that there are more is all anybody is told.
fn total(query: &Query, dialect: Dialect) -> Sql {
    let mut writing = Writing { dialect, params: Vec::new() };
    let mut from = From::new(query.entity, 0);
    let matches = matching(&mut writing, &mut from, query);
    let text = format!(
        "SELECT count(*) FROM (SELECT 1 FROM {} WHERE {} LIMIT {}) AS matched",
        from.sql(dialect),
        matches.join(" AND "),
        TOTAL_MAX + 1
    );
    Sql { text, params: writing.params }
}

/// What every row of the search fulfils, wherever the page begins.
fn matching(writing: &mut Writing, from: &mut From, query: &Query) -> Vec<String> {
    let mut matches = asked(writing, from, query);
    if query.latest_version {
        let mut newer = From::new(query.entity, from.depth + 1);
        let asked = asked(writing, &mut newer, query);
        let (this, other) = (from.alias(Table::Own), newer.alias(Table::Own));
        let id = if query.entity == Entity::Decisions { "id" } else { "process_id" };
        matches.push(format!(
            "NOT EXISTS (SELECT 1 FROM {} WHERE {other}.partition = {this}.partition AND {other}.{id} = {this}.{id} \
             AND {other}.tenant = {this}.tenant AND {other}.version > {this}.version AND {})",
            newer.sql(writing.dialect),
            asked.join(" AND ")
        ));
    }
    matches
}

fn asked(writing: &mut Writing, from: &mut From, query: &Query) -> Vec<String> {
    let mut matches = vec![condition(writing, from, &query.filter)];
    if let Some(tenants) = &query.tenants {
        matches.push(of_tenants(writing, from, tenants));
    }
    matches
}
