//! PostgreSQL: what a search finds by a value is found first, with how much of it there is (ADR 91).
//!
//! Its statistics do not say how many rows have a value, least of all together with another or with what a joined row says. So up to one more than a
//! total are found. If they are few, the search begins with their keys; if they are many, rows are gone through in the order asked for.

use engine::PartitionId;

use super::column::{From, Table, table_name};
use super::lead::{Crowd, FEW_MAX, conjuncts, crowd, without};
use super::select::{Begin, matching, page, total};
use super::{Dialect, Sql, Writing};
use crate::query::{Entity, Query, Scalar, TOTAL_MAX};

/// What a search finds by one of the values asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// One row with two numbers, each up to one more than a total, and a list: the rows found, the keys in them, and these, some of them more
    /// than once. If the first is more than [`super::FEW_MAX`] they are many, and not listed.
    pub rows: Sql,
    /// Another page where they are many.
    pub many: Option<Sql>,
    /// Whether nothing else is asked for, so that the keys are the total.
    pub is_all: bool,
}

pub(super) fn found(query: &Query) -> Option<Found> {
    let crowd = crowd(query)?;
    let mut writing = Writing { dialect: Dialect::Postgres, params: Vec::new() };
    let asked = conjuncts(&query.filter).len();
    let (keys, is_all, many) = match &crowd {
        Crowd::Own(filter) => {
            let own = Query { filter: filter.clone(), ..query.clone() };
            (keys(&mut writing, &own, "key"), conjuncts(filter).len() == asked, query.entity == Entity::Variables)
        }
        Crowd::Related(entity, _, filter) => {
            let related = Query { filter: filter.clone(), with_kept: true, ..Query::of(*entity, query.tenants.clone()) };
            (keys(&mut writing, &related, "instance"), asked == 1, true)
        }
        Crowd::Tag(tag, _) => {
            let tag = writing.param(Scalar::Text((*tag).to_owned()));
            let partitions = "partition = ANY (ARRAY(SELECT partition FROM partitions))";
            // Whose instances they are is not asked here.
            (format!("SELECT instance AS key FROM instance_tags WHERE {partitions} AND tag = {tag}"), false, false)
        }
    };
    let different = if matches!(crowd, Crowd::Related(..)) { "count(DISTINCT key)" } else { "count(*)" };
    let text = format!(
        "SELECT count(*), {different}, (array_agg(key))[1:(CASE WHEN count(*) <= {FEW_MAX} THEN {FEW_MAX} ELSE 0 END)] \
         FROM ({keys} LIMIT {}) AS found",
        TOTAL_MAX + 1
    );
    let many = many.then(|| page(query, Dialect::Postgres, Begin::Walk));
    Some(Found { rows: Sql { text, params: writing.params }, many, is_all })
}

fn keys(writing: &mut Writing, query: &Query, column: &str) -> String {
    let mut from = From::new(query.entity, 0);
    let matches = matching(writing, &mut from, query).join(" AND ");
    let (own, rows) = (from.alias(Table::Own), from.sql(Dialect::Postgres));
    format!("SELECT {own}.{column} AS key FROM {rows} WHERE {matches}")
}

/// Page and total among the rows that were found.
pub fn among(query: &Query, keys: &[i64]) -> (Sql, Sql) {
    // To ask for what they were found by again for each costs as much as finding them.
    let query = match crowd(query) {
        Some(Crowd::Related(_, part, _) | Crowd::Tag(_, part)) => without(query, Some(part)),
        Some(Crowd::Own(_)) | None => query.clone(),
    };
    let way = Begin::Keys(keys);
    (page(&query, Dialect::Postgres, way), total(&query, Dialect::Postgres, way))
}

/// Rows of a table by their keys, found before anything else is done with them.
pub(super) fn with_keys(from: &From, keys: &[i64]) -> String {
    let list = |numbers: &mut dyn Iterator<Item = i64>| numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    let mut partitions: Vec<i64> = keys.iter().map(|key| PartitionId::of(*key as u64) as i64).collect();
    partitions.sort_unstable();
    partitions.dedup();
    let (keys, partitions) = (list(&mut keys.iter().copied()), list(&mut partitions.into_iter()));
    let (table, own) = (table_name(from.entity), from.alias(Table::Own));
    format!(
        "(SELECT * FROM {table} WHERE partition = ANY ('{{{partitions}}}'::bigint[]) AND key = ANY ('{{{keys}}}'::bigint[]) OFFSET 0) AS {own}"
    )
}
