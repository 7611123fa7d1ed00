//! Instances by when they began, which no index has (ADR 100).
//!
//! Their keys say it nearly (`near`). So what a search asks of starts is asked of keys as well, once it is known which these are: the page is looked
//! for between them, in whatever order it is shown, and what matches is counted between them.

use super::lead::{conjuncts, is_found_by_key, is_range};
use super::near::{self, Asked, Disorder, by_key};
use super::order::direction;
use super::select::{asks_for_running, asks_for_state, is_in};
use super::{Dialect, Sql};
use crate::query::{Entity, Field, Filter, Op, Order, Query, Scalar};

/// Whether instances are gone through in some order: what few have finds them sooner.
pub(super) fn are_gone_through(query: &Query) -> bool {
    query.entity == Entity::Instances && !conjuncts(&query.filter).into_iter().any(is_found_by_key)
}

/// Whether a search asks for instances that began in a span of time.
pub fn asks_when_begun(query: &Query) -> bool {
    let asks = |part: &&Filter| is_range(part, Field::Started);
    are_gone_through(query) && conjuncts(&query.filter).iter().any(asks)
}

/// One row with two numbers: what such a search finds has keys behind the first, up to the second.
pub fn keys_begun(query: &Query, disorder: Disorder) -> Sql {
    near::keys_begun(&query.filter, Asked::of(query, disorder).table)
}

/// The same search, which asks for these keys as well.
pub fn between_keys(query: &Query, behind: i64, up_to: i64) -> Query {
    let keys = [Op::Gt(Scalar::Int(behind)), Op::Lte(Scalar::Int(up_to))].map(|op| Filter::Is(Field::InstanceKey, op));
    let filter = Filter::All(conjuncts(&query.filter).into_iter().cloned().chain(keys).collect());
    Query { filter, ..query.clone() }
}

/// Whether it asks for instances between two keys.
pub(super) fn is_between_keys(query: &Query) -> bool {
    let parts = conjuncts(&query.filter);
    let asks = |which: fn(&Op) -> bool| parts.iter().any(|part| matches!(part, Filter::Is(Field::InstanceKey, op) if which(op)));
    query.entity == Entity::Instances && asks(|op| matches!(op, Op::Gt(_))) && asks(|op| matches!(op, Op::Lte(_)))
}

/// How rows are gone through in the order of their keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    All,
    /// Instances that run, which are together in the index by end.
    Running,
    Terminated,
    Suspended,
}

/// What runs has no end. PostgreSQL takes each further condition that says the same for one that few of those fulfil, and would sort all that run instead
/// of going through them: of this one it knows nothing.
const RUNNING: &str = " AND ended IS NULL AND (CASE WHEN state = 'ACTIVE' THEN suspended IS NULL ELSE FALSE END)";

/// As a statement says it.
pub(super) struct Walk {
    /// SQLite: which index has them.
    pub(super) index: &'static str,
    /// What the index asks of them.
    pub(super) asks: &'static str,
    pub(super) key: &'static str,
}

impl Way {
    pub(super) fn of(query: &Query) -> Self {
        match query.entity {
            Entity::Instances if asks_for_running(query) => Self::Running,
            Entity::Instances if asks_for_state(query, "TERMINATED") => Self::Terminated,
            Entity::Instances if asks_for_state(query, "SUSPENDED") => Self::Suspended,
            _ => Self::All,
        }
    }

    /// The part of the filter that the walk asks for on PostgreSQL.
    pub(super) fn part(self, query: &Query) -> Option<&Filter> {
        conjuncts(&query.filter).into_iter().find(|part| is_in(part, "ACTIVE")).filter(|_| self == Self::Running)
    }

    pub(super) fn walk(self, dialect: Dialect) -> Walk {
        let (index, asks) = match self {
            Self::All => (" NOT INDEXED", ""),
            Self::Running => (" INDEXED BY instances_by_end", " AND ended IS NULL"),
            Self::Terminated => (" INDEXED BY instances_terminated", " AND state = 'TERMINATED'"),
            Self::Suspended => (" INDEXED BY instances_suspended", " AND suspended IS NOT NULL"),
        };
        match dialect {
            Dialect::Sqlite => Walk { index, asks, key: "key" },
            Dialect::Postgres if self == Self::Running => Walk { index: "", asks: RUNNING, key: "(key + 0)" },
            Dialect::Postgres => Walk { index: "", asks, key: "key" },
        }
    }

    pub(super) fn order(self, onward: Order, dialect: Dialect) -> String {
        match (self, dialect, onward) {
            // As PostgreSQL's index has them.
            (Self::Running, Dialect::Postgres, Order::Ascending) => "ORDER BY o0.ended NULLS FIRST, (o0.key + 0)".to_owned(),
            (Self::Running, Dialect::Postgres, Order::Descending) => {
                format!("ORDER BY o0.ended DESC NULLS LAST, (o0.key + 0) {}", direction(onward))
            }
            _ => by_key(onward),
        }
    }
}
