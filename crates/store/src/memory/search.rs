//! Searching: look at every row, keep what matches, sort, cut the page out.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::audit;
use super::database::{Database, Tables};
use super::field::{Row, value};
use super::view;
use crate::pattern;
use crate::query::{
    Counted, Counting, Cursor, Entity, Field, Filter, Op, Order, Page, Query, QueryPage, Scalar, Sort, TOTAL_MAX, Tenants,
};
use crate::row::{
    Availability, Candidates, DecisionRequirements, Job, Subscription, SubscriptionKind, SubscriptionState, UserTask,
};

pub(super) fn search(database: &Database, query: &Query) -> QueryPage {
    let mut found: Vec<(&Tables, Row<'_>)> = Vec::new();
    for tables in database.tables() {
        let rows = rows(tables, query.entity, query.with_kept).filter(|row| is_asked_for(tables, *row, query));
        found.extend(rows.map(|row| (tables, row)));
    }
    if query.latest_version {
        found = latest_only(found);
    }
    let order = query.order();
    let mut placed: Vec<(Cursor, &Tables, Row<'_>)> =
        found.into_iter().map(|(tables, row)| (cursor(tables, row, &order), tables, row)).collect();
    placed.sort_by(|(a, ..), (b, ..)| compare(a, b, &order));
    let total = placed.len() as u64;
    let mut page = cut(placed, &query.page, &order);
    // A page that ends early ends where it was going.
    let backwards = matches!(query.page, Page::Before { .. });
    if backwards {
        page.reverse();
    }
    let (mut items, shown) = view::items(query, page.iter().map(|(_, tables, row)| (*tables, *row)));
    let is_cut = shown < page.len();
    page.truncate(shown);
    let (mut start, mut end) = (page.first(), page.last());
    if backwards {
        (start, end) = (end, start);
        items.reverse();
    }
    let total = if query.uncounted { items.len() as u64 } else { total };
    QueryPage {
        start: start.map(|(cursor, ..)| cursor.clone()),
        end: end.map(|(cursor, ..)| cursor.clone()),
        items,
        is_cut,
        total: total.min(TOTAL_MAX),
        total_is_more: TOTAL_MAX < total,
    }
}

pub(super) fn count(database: &Database, counting: &Counting) -> Vec<Counted> {
    type Group = (u64, BTreeSet<Scalar>, Option<i64>);
    let query = Query { filter: counting.filter.clone(), ..Query::of(counting.entity, counting.tenants.clone()) };
    let mut groups: BTreeMap<Vec<Option<Scalar>>, Group> = BTreeMap::new();
    for tables in database.tables() {
        for row in rows(tables, counting.entity, false).filter(|row| is_asked_for(tables, *row, &query)) {
            let values = counting.by.iter().map(|field| value(tables, row, *field)).collect();
            let (count, different, latest) = groups.entry(values).or_default();
            *count += 1;
            different.extend(counting.distinct.and_then(|field| value(tables, row, field)));
            if let Some(Scalar::Int(number)) = counting.latest.and_then(|field| value(tables, row, field)) {
                *latest = Some(latest.map_or(number, |before| before.max(number)));
            }
        }
    }
    let counted = groups.into_iter().map(|(values, (rows, different, latest))| Counted {
        values,
        rows,
        distinct: if counting.distinct.is_some() { different.len() as u64 } else { rows },
        latest,
    });
    counted.take(counting.limit).collect()
}

fn rows(tables: &Tables, entity: Entity, with_kept: bool) -> Box<dyn Iterator<Item = Row<'_>> + '_> {
    match entity {
        Entity::Definitions => Box::new(tables.definitions.values().map(Row::Definition)),
        Entity::Instances => Box::new(tables.instances.values().map(Row::Instance)),
        Entity::Elements => Box::new(tables.elements.values().map(Row::Element)),
        Entity::Variables => {
            let shown = tables.variables.values().filter(move |variable| with_kept || !variable.name.starts_with(engine::KEPT));
            Box::new(shown.map(Row::Variable))
        }
        Entity::Jobs => Box::new(tables.jobs.values().filter(|job| job.origin.is_some()).map(Row::Job)),
        Entity::Incidents => Box::new(tables.incidents.values().map(Row::Incident)),
        Entity::Requirements => Box::new(tables.requirements.values().map(Row::Requirements)),
        Entity::Decisions => Box::new(tables.requirements.values().flat_map(decisions)),
        Entity::EvaluatedDecisions => Box::new(tables.evaluated_decisions.values().map(Row::EvaluatedDecision)),
        Entity::Timers => Box::new(tables.timers.values().map(Row::Timer)),
        Entity::UserTasks => Box::new(tables.user_tasks.values().map(Row::UserTask)),
        Entity::Executions => Box::new(tables.jobs.values().filter(|job| job.execution.is_some()).map(Row::Execution)),
        Entity::Batches => Box::new(tables.batches.values().map(Row::Batch)),
        Entity::BatchItems => Box::new(tables.batch_items.values().map(Row::BatchItem)),
        Entity::Operations => Box::new(audit::operations(tables)),
        Entity::Audit => Box::new(audit::trail(tables)),
        Entity::DeadLetters => {
            let is_dead = |job: &&Job| job.availability == Availability::Stuck;
            Box::new(tables.jobs.values().filter(is_dead).map(Row::DeadLetter))
        }
        Entity::MessageSubscriptions => Box::new(message_subscriptions(tables).map(Row::Subscription)),
        Entity::Waits => Box::new(tables.subscriptions.values().filter(is_open).map(Row::Subscription)),
        Entity::MessageCorrelations => Box::new(tables.correlations.values().map(Row::MessageCorrelation)),
    }
}

fn decisions(requirements: &DecisionRequirements) -> impl Iterator<Item = Row<'_>> {
    requirements.decisions.iter().map(move |decision| Row::Decision(requirements, decision))
}

fn is_open(row: &&Subscription) -> bool {
    row.state == SubscriptionState::Open
}

fn message_subscriptions(tables: &Tables) -> impl Iterator<Item = &Subscription> {
    tables.subscriptions.values().filter(|row| row.kind == SubscriptionKind::Message)
}

fn is_asked_for(tables: &Tables, row: Row<'_>, query: &Query) -> bool {
    let is_visible = || match value(tables, row, Field::Tenant) {
        Some(Scalar::Text(tenant)) => query.tenants.has(&tenant),
        Some(Scalar::Bool(_) | Scalar::Int(_)) | None => query.tenants == Tenants::Everything,
    };
    is_visible() && matches(tables, row, &query.filter)
}

fn matches(tables: &Tables, row: Row<'_>, filter: &Filter) -> bool {
    match filter {
        Filter::All(parts) => parts.iter().all(|part| matches(tables, row, part)),
        Filter::Any(parts) => parts.iter().any(|part| matches(tables, row, part)),
        Filter::Not(part) => !matches(tables, row, part),
        Filter::Is(field, op) => holds(value(tables, row, *field).as_ref(), op),
        Filter::OfInstance(part) => match row.instance().and_then(|key| tables.instances.get(&key)) {
            Some(instance) => matches(tables, Row::Instance(instance), part),
            None => false,
        },
        Filter::Candidate(kind, op) => match row {
            Row::UserTask(task) => is_candidate(task, *kind, op),
            _ => false,
        },
        Filter::HasTag(tag) => match row {
            Row::Instance(instance) => instance.tags.contains(tag),
            _ => false,
        },
        Filter::Related(entity, part) => match row {
            Row::Instance(instance) => {
                let mut related = rows(tables, *entity, false).filter(|other| other.instance() == Some(instance.key));
                related.any(|other| matches(tables, other, part))
            }
            Row::UserTask(task) => {
                let of_task = tables.variables.values().filter(|variable| variable.scope == task.element_instance);
                *entity == Entity::Variables && of_task.map(Row::Variable).any(|other| matches(tables, other, part))
            }
            _ => false,
        },
    }
}

fn is_candidate(task: &UserTask, kind: Candidates, op: &Op) -> bool {
    let names = task.candidates().filter(|(of, _)| *of == kind).map(|(_, name)| Scalar::Text(name.to_string()));
    let names: Vec<_> = names.collect();
    let any = |op: &Op| names.iter().any(|name| holds(Some(name), op));
    match op {
        Op::Neq(value) => !any(&Op::Eq(value.clone())),
        Op::NotIn(values) => !any(&Op::In(values.clone())),
        Op::Exists(exists) => any(&Op::Exists(true)) == *exists,
        Op::Eq(_) | Op::In(_) | Op::Lt(_) | Op::Lte(_) | Op::Gt(_) | Op::Gte(_) | Op::Like(_) => any(op),
    }
}

fn holds(value: Option<&Scalar>, op: &Op) -> bool {
    match (op, value) {
        (Op::Exists(exists), value) => value.is_some() == *exists,
        (Op::Neq(_) | Op::NotIn(_), None) => true,
        (_, None) => false,
        (Op::Eq(other), Some(value)) => value == other,
        (Op::Neq(other), Some(value)) => value != other,
        (Op::In(others), Some(value)) => others.contains(value),
        (Op::NotIn(others), Some(value)) => !others.contains(value),
        (Op::Lt(other), Some(value)) => value < other,
        (Op::Lte(other), Some(value)) => value <= other,
        (Op::Gt(other), Some(value)) => value > other,
        (Op::Gte(other), Some(value)) => value >= other,
        (Op::Like(like), Some(Scalar::Text(text))) => pattern::matches(like, text),
        (Op::Like(like), Some(Scalar::Int(number))) => pattern::matches(like, &number.to_string()),
        (Op::Like(_), Some(Scalar::Bool(_))) => false,
    }
}

fn latest_only<'a>(found: Vec<(&'a Tables, Row<'a>)>) -> Vec<(&'a Tables, Row<'a>)> {
    let mut latest: BTreeMap<(&str, &str), (i32, &Tables, Row<'_>)> = BTreeMap::new();
    for (tables, row) in found {
        let (id, tenant, version) = match row {
            Row::Definition(definition) => (&*definition.process_id, &*definition.tenant, definition.version),
            Row::Decision(requirements, decision) => (&*decision.id, &*requirements.tenant, decision.version),
            _ => continue,
        };
        let held = latest.entry((id, tenant)).or_insert((version, tables, row));
        if held.0 < version {
            *held = (version, tables, row);
        }
    }
    latest.into_values().map(|(_, tables, row)| (tables, row)).collect()
}

fn cursor(tables: &Tables, row: Row<'_>, order: &[Sort]) -> Cursor {
    Cursor(order.iter().map(|sort| value(tables, row, sort.field)).collect())
}

/// `None` is less than any value, so absent values come first ascending and last descending.
fn compare(a: &Cursor, b: &Cursor, order: &[Sort]) -> Ordering {
    let compared = a.0.iter().zip(&b.0).zip(order).map(|((a, b), sort)| match sort.order {
        Order::Ascending => a.cmp(b),
        Order::Descending => b.cmp(a),
    });
    compared.fold(Ordering::Equal, Ordering::then)
}

fn cut<T, U>(mut placed: Vec<(Cursor, T, U)>, page: &Page, order: &[Sort]) -> Vec<(Cursor, T, U)> {
    let (from, to) = match page {
        Page::From { from, limit } => {
            let from = usize::try_from(*from).unwrap_or(usize::MAX);
            (from, from.saturating_add(*limit as usize))
        }
        Page::After { cursor, limit } => {
            let from = placed.partition_point(|(one, ..)| compare(one, cursor, order) != Ordering::Greater);
            (from, from.saturating_add(*limit as usize))
        }
        Page::Before { cursor, limit } => {
            let to = placed.partition_point(|(one, ..)| compare(one, cursor, order) == Ordering::Less);
            (to.saturating_sub(*limit as usize), to)
        }
    };
    let to = to.min(placed.len());
    placed.drain(from.min(to)..to).collect()
}
