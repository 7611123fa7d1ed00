//! Element instances in the order of their start, which is nearly that of their keys: between which keys a page lies (ADR 97).
//!
//! A store keeps how far behind an earlier one an element instance may have begun (`started_back`): not at all, unless the clock was set back.
//! So whoever goes through them by key knows when none can come any more that belongs on the page, and sorts only those in between. No index
//! has their starts.

use super::column::From;
use super::order::{after, opposite, order_by, reversed};
use super::select::{Begin, matching, page};
use super::{Dialect, Sql, Writing};
use crate::query::{Cursor, Entity, Field, Order, Page, Query, Scalar, Sort};

/// Where the clock was set back further than so many milliseconds, too much may lie in between.
const BACK_MAX: i64 = 10_000;

/// A start of which nothing is known before it is read.
const UNKNOWN_START: &str = "(o0.started + 0)";

/// The one partition there is, and how far back its element instances may have begun, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disorder {
    pub partition: i64,
    pub back: i64,
}

/// Whether a search has this order.
pub fn is_by_start(query: &Query) -> bool {
    query.entity == Entity::Elements && query.sort.first().is_some_and(|sort| sort.field == Field::Started)
}

/// One row with the two numbers of a [`Disorder`]; none where keys say too little.
pub fn disorder() -> Sql {
    let text = format!(
        "SELECT min(partition), max(started_back) FROM partitions HAVING count(*) = 1 AND max(started_back) <= {BACK_MAX}"
    );
    Sql { text, params: Vec::new() }
}

/// Another page of such a search.
pub fn page_by_start(query: &Query, dialect: Dialect, disorder: Disorder) -> Sql {
    page(query, dialect, Begin::Near(disorder))
}

/// Those that may be on the page, found before anything else is done with them.
pub(super) fn rows(writing: &mut Writing, query: &Query, disorder: Disorder) -> String {
    let Disorder { partition, back } = disorder;
    let (order, cursor, wanted) = match &query.page {
        Page::From { from, limit } => (query.order(), None, from.saturating_add(u64::from(*limit))),
        Page::After { cursor, limit } => (query.order(), Some(cursor), u64::from(*limit)),
        Page::Before { cursor, limit } => (reversed(&query.order()), Some(cursor), u64::from(*limit)),
    };
    let wanted = wanted.min(i64::MAX as u64);
    let walk = Walk { partition, back, onward: order[0].order };
    let dialect = writing.dialect;
    let mut from = From::new(Entity::Elements, 0);
    if dialect == Dialect::Sqlite {
        from.walk = Some(" NOT INDEXED");
    }
    let mut matches = matching(writing, &mut from, query);
    matches.push(format!("o0.partition = {partition} AND o0.key {} (SELECT key FROM near)", walk.sign()));
    if let Some(cursor) = cursor {
        // PostgreSQL knows how few have begun so early or so late, and would look for them among all.
        matches.push(after(writing, &mut from, &order, cursor).replace("o0.started", UNKNOWN_START));
    }
    let by_key = order_by(writing, &mut from, &[Sort { field: Field::ElementKey, order: walk.onward }]);
    let (rows, matches, near) = (from.sql(dialect), matches.join(" AND "), walk.near(cursor));
    let (last, worst) = match walk.onward {
        Order::Ascending => ("max(key)", "max(started)"),
        Order::Descending => ("min(key)", "min(started)"),
    };
    let far = walk.first_beyond("(SELECT key FROM worst)", "(SELECT started FROM worst)");
    let far = format!("coalesce(CASE WHEN (SELECT count FROM worst) = {wanted} THEN ({far}) END, {})", walk.end());
    let (low, high) = match walk.onward {
        Order::Ascending => ("(SELECT key FROM near)".to_owned(), far),
        Order::Descending => (far, "(SELECT key FROM near)".to_owned()),
    };
    let (walk, fence) = match dialect {
        Dialect::Sqlite => (" NOT INDEXED", ""),
        Dialect::Postgres => ("", " OFFSET 0"),
    };
    format!(
        "(WITH near AS MATERIALIZED (SELECT {near} AS key), \
         walked AS MATERIALIZED (SELECT o0.key, o0.started FROM {rows} WHERE {matches} ORDER BY {by_key} LIMIT {wanted}), \
         worst AS MATERIALIZED (SELECT count(*) AS count, {last} AS key, {worst} AS started FROM walked) \
         SELECT * FROM elements{walk} WHERE partition = {partition} AND {low} < key AND key < {high}{fence}) AS o0"
    )
}

/// Element instances gone through by key.
struct Walk {
    partition: i64,
    back: i64,
    onward: Order,
}

impl Walk {
    fn sign(&self) -> &'static str {
        match self.onward {
            Order::Ascending => ">",
            Order::Descending => "<",
        }
    }

    /// Further than any key.
    fn end(&self) -> i64 {
        match self.onward {
            Order::Ascending => i64::MAX,
            Order::Descending => 0,
        }
    }

    /// The first key onward of this one from which on nothing has begun on this side of that time.
    fn first_beyond(&self, key: &str, started: &str) -> String {
        let (sign, partition) = (self.sign(), self.partition);
        let (by, direction) = match self.onward {
            Order::Ascending => (self.back, "ASC"),
            Order::Descending => (-self.back, "DESC"),
        };
        format!(
            "SELECT o0.key FROM elements AS o0 WHERE o0.partition = {partition} AND o0.key {sign} {key} \
             AND {UNKNOWN_START} {sign} {started} + ({by}) ORDER BY o0.partition {direction}, o0.key {direction} LIMIT 1"
        )
    }

    /// Behind it everything comes before the cursor.
    fn near(&self, cursor: Option<&Cursor>) -> String {
        let backward = Walk { onward: opposite(self.onward), ..*self };
        let end = backward.end();
        // The start first, and the key last.
        match cursor.map(|cursor| (cursor.0.first(), cursor.0.last())) {
            Some((Some(Some(Scalar::Int(started))), Some(Some(Scalar::Int(key))))) => {
                format!("coalesce(({}), {end})", backward.first_beyond(&key.to_string(), &started.to_string()))
            }
            _ => end.to_string(),
        }
    }
}
