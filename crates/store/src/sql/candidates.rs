//! Searches for tasks of groups and people that rows of candidates answer alone: which tasks, in which order, how many.
//!
//! A group may have thousands of open tasks. Each of them looked up to be counted, sorted and mostly thrown away is what such a search would
//! cost; rows of candidates say as much (ADR 40). Only the tasks of the page are read.

use super::column::From;
use super::filter::{is_open_task, names};
use super::lead::conjuncts;
use super::select::{cut, matching};
use super::{Dialect, Writing};
use crate::query::{Entity, Field, Filter, Op, Page, Query, Scalar};
use crate::row::Candidates;

/// What is asked of candidates.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    kind: Candidates,
    names: &'a [Scalar],
    open_only: bool,
    free_only: bool,
}

/// Nothing where something else is asked for as well, or in an order that candidates do not have.
pub(super) fn asked(query: &Query, dialect: Dialect) -> Option<Asked<'_>> {
    if query.entity != Entity::UserTasks || query.order().iter().any(|sort| !is_copied(sort.field, dialect)) {
        return None;
    }
    let (open, others): (Vec<&Filter>, Vec<&Filter>) = conjuncts(&query.filter).into_iter().partition(|part| is_open_task(part));
    let is_free = |part: &&Filter| says_more(dialect) && matches!(part, Filter::Is(Field::Assignee, Op::Exists(false)));
    let (free, others): (Vec<&Filter>, Vec<&Filter>) = others.into_iter().partition(is_free);
    let [Filter::Candidate(kind, op)] = others.as_slice() else { return None };
    let names = match op {
        Op::Eq(name) => std::slice::from_ref(name),
        Op::In(names) if !names.is_empty() => names,
        Op::In(_) | Op::NotIn(_) | Op::Neq(_) | Op::Lt(_) | Op::Lte(_) => return None,
        Op::Gt(_) | Op::Gte(_) | Op::Exists(_) | Op::Like(_) => return None,
    };
    Some(Asked { kind: *kind, names, open_only: !open.is_empty(), free_only: !free.is_empty() })
}

/// What rows of candidates have of their tasks.
fn is_copied(field: Field, dialect: Dialect) -> bool {
    matches!(field, Field::UserTaskKey | Field::Created | Field::Tenant) || (field == Field::Priority && says_more(dialect))
}

/// Whether rows of candidates also say if somebody has the task, and how urgent it is. SQLite looks up a thousand tasks in a millisecond.
fn says_more(dialect: Dialect) -> bool {
    dialect == Dialect::Postgres
}

/// The page of a search: as many rows of candidates, then their tasks.
pub(super) fn page(writing: &mut Writing, query: &Query, asked: Asked<'_>) -> String {
    let candidates = match asked.names {
        [name] => branch(writing, query, asked, name, &query.page),
        names => {
            let first = widened(&query.page);
            let branches = names.iter().map(|name| branch(writing, query, asked, name, &first)).collect();
            let mut from = From::showing(Entity::UserTasks, format!("({}) AS o0", union(branches)));
            let cut = cut(writing, &mut from, Vec::new(), query, &narrowed(&query.page));
            format!("SELECT o0.* FROM {} {cut}", from.sql(writing.dialect))
        }
    };
    let join = match writing.dialect {
        // It begins with what stands first.
        Dialect::Sqlite => "CROSS JOIN",
        Dialect::Postgres => "JOIN",
    };
    format!("({candidates}) AS page {join} user_tasks AS o0 ON o0.partition = page.partition AND o0.key = page.key")
}

/// How many there are, as rows, up to a bound.
pub(super) fn matched(writing: &mut Writing, query: &Query, asked: Asked<'_>, bound: u64) -> String {
    let branches = asked.names.iter().map(|name| {
        let (from, matches) = found(writing, query, asked, name);
        format!("SELECT o0.* FROM {} WHERE {} LIMIT {bound}", from.sql(writing.dialect), matches.join(" AND "))
    });
    format!("SELECT 1 FROM ({}) AS each LIMIT {bound}", union(branches.collect()))
}

/// A task may be for several of those asked for, and is one.
fn union(branches: Vec<String>) -> String {
    let each = branches.iter().enumerate().map(|(number, text)| format!("SELECT * FROM ({text}) AS b{number}"));
    each.collect::<Vec<_>>().join(" UNION ")
}

/// What is among the first of all is among the first of one.
fn widened(page: &Page) -> Page {
    match page {
        Page::From { from, limit } => {
            Page::From { from: 0, limit: u32::try_from(from.saturating_add(u64::from(*limit))).unwrap_or(u32::MAX) }
        }
        Page::After { .. } | Page::Before { .. } => page.clone(),
    }
}

/// Branches begin after the cursor themselves.
fn narrowed(page: &Page) -> Page {
    match page {
        Page::From { .. } => page.clone(),
        Page::After { limit, .. } | Page::Before { limit, .. } => Page::From { from: 0, limit: *limit },
    }
}

fn branch(writing: &mut Writing, query: &Query, asked: Asked<'_>, name: &Scalar, page: &Page) -> String {
    let (mut from, matches) = found(writing, query, asked, name);
    let cut = cut(writing, &mut from, matches, query, page);
    format!("SELECT o0.* FROM {} {cut}", from.sql(writing.dialect))
}

/// Candidates of one name as if they were their tasks.
fn found(writing: &mut Writing, query: &Query, asked: Asked<'_>, name: &Scalar) -> (From, Vec<String>) {
    let (column, open) = names(asked.open_only, writing.dialect);
    let (kind, name) = (asked.kind.word(), writing.param(name.clone()));
    let more = if says_more(writing.dialect) { ", c.priority" } else { "" };
    let free = if asked.free_only { " AND c.free" } else { "" };
    let mut from = From::showing(
        Entity::UserTasks,
        format!(
            "(SELECT c.partition, c.task AS key, c.created, c.tenant{more} FROM user_task_candidates AS c \
             WHERE c.kind = '{kind}'{open}{free} AND {column} = {name}) AS o0"
        ),
    );
    let anything = Query { filter: Filter::All(Vec::new()), ..query.clone() };
    let matches = matching(writing, &mut from, &anything);
    (from, matches)
}
