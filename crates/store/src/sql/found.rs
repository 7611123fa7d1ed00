//! PostgreSQL: what a search finds by a value is found first, with how much of it there is (ADR 91).
//!
//! Its statistics do not say how many rows have a value, least of all together with another or with what a joined row says. So up to one more than a
//! total are found. If they are few, the search begins with their keys; if they are many, rows are gone through in the order asked for.

use engine::PartitionId;

use super::column::{From, Table, table_name};
use super::lead::{Crowd, FEW_MAX, conjuncts, crowd, without};
use super::select::{Begin, matching, page, total};
use super::{Dialect, Sql, Writing};
use crate::query::{Cursor, Entity, Page, Query, Scalar, TOTAL_MAX};

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

/// Page and total among the rows that were found, whose keys are in order. `is_all`: nothing else is asked of them.
pub fn among(query: &Query, keys: &[i64], is_all: bool) -> (Sql, Sql) {
    // To ask for what they were found by again for each costs as much as finding them.
    let query = match crowd(query) {
        Some(Crowd::Related(_, part, _) | Crowd::Tag(_, part)) => without(query, Some(part)),
        Some(Crowd::Own(_)) | None => query.clone(),
    };
    let page = page(&query, Dialect::Postgres, Begin::Keys(on_page(&query, keys, is_all)));
    (page, total(&query, Dialect::Postgres, Begin::Keys(keys)))
}

/// Those that can be on the page: in the order of keys it is known which are not.
fn on_page<'a>(query: &Query, keys: &'a [i64], is_all: bool) -> &'a [i64] {
    let cursor_key = |cursor: &Cursor| match cursor.0.as_slice() {
        [Some(Scalar::Int(key))] => Some(*key),
        _ => None,
    };
    let first = |keys: &'a [i64], count: u64| &keys[..keys.len().min(if is_all { count as usize } else { usize::MAX })];
    if !query.sort.is_empty() {
        return keys;
    }
    match &query.page {
        Page::From { from, limit } => first(keys, from.saturating_add(u64::from(*limit))),
        Page::After { cursor, limit } => {
            let begin = cursor_key(cursor).map_or(0, |cursor| keys.partition_point(|key| *key <= cursor));
            first(&keys[begin..], u64::from(*limit))
        }
        Page::Before { cursor, .. } => {
            &keys[..cursor_key(cursor).map_or(keys.len(), |cursor| keys.partition_point(|key| *key < cursor))]
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::{Field, Order, Sort, Tenants};

    #[test]
    fn keys_that_cannot_be_on_the_page_are_not_looked_up() {
        let keys = [1, 3, 5, 7, 9];
        let of = |page, sort| Query { page, sort, ..Query::of(Entity::Instances, Tenants::Everything) };
        let cursor = || Cursor(vec![Some(Scalar::Int(5))]);
        let first = of(Page::From { from: 1, limit: 2 }, Vec::new());
        assert_eq!((on_page(&first, &keys, true), on_page(&first, &keys, false)), (&keys[..3], &keys[..]));
        let after = of(Page::After { cursor: cursor(), limit: 1 }, Vec::new());
        assert_eq!((on_page(&after, &keys, true), on_page(&after, &keys, false)), (&keys[3..4], &keys[3..]));
        let before = of(Page::Before { cursor: cursor(), limit: 1 }, Vec::new());
        assert_eq!((on_page(&before, &keys, true), on_page(&before, &keys, false)), (&keys[..2], &keys[..2]));
        let by_date = vec![Sort { field: Field::Started, order: Order::Ascending }];
        assert_eq!(on_page(&of(Page::After { cursor: cursor(), limit: 1 }, by_date), &keys, true), &keys[..]);
    }
}
