//! Where a search on SQLite begins (ADR 30).
//!
//! Its planner knows no values: whether a million instances have a variable or one, it would go the same way. So what an index finds is
//! asked first how many it finds, up to [`FEW_MAX`]. If they are few, the search begins with their keys (the lead) and sorts them; if they are
//! many, it goes through the rows in the order asked for, where many match before long. What is found is counted from the lead in either
//! case. The lead may give rows that do not match: whatever it has not found them by is asked of them.

use super::column::{From, Table};
use super::filter::condition;
use super::{Sql, Writing};
use crate::query::{Entity, Field, Filter, Op, Query, Scalar};
use crate::row::JobState;

/// So many keys are looked up and sorted; more, and going through the rows in order is quicker.
pub const FEW_MAX: i64 = 5_000;

/// One row with one number: how many keys the lead has, at most one more than are few.
pub(super) fn probe(query: &Query, dialect: super::Dialect) -> Option<Sql> {
    let mut writing = Writing { dialect, params: Vec::new() };
    let text = probed(&mut writing, query)?;
    Some(Sql { text, params: writing.params })
}

pub(super) fn probed(writing: &mut Writing, query: &Query) -> Option<String> {
    let lead = lead(writing, query)?;
    Some(format!("SELECT count(*) FROM (SELECT 1 FROM ({lead}) LIMIT {})", FEW_MAX + 1))
}

/// Keys of rows of the search, each once, found by an index.
pub(super) fn lead(writing: &mut Writing, query: &Query) -> Option<String> {
    let parts = conjuncts(&query.filter);
    let sorted_by = query.sort.first().map(|sort| sort.field);
    let own = own_lead(query.entity, &parts, sorted_by).map(|filter| keys(writing, query.entity, &filter, "key"));
    own.or_else(|| {
        related_part(&parts).filter(|_| query.entity == Entity::Instances).and_then(|part| related_lead(writing, part))
    })
}

/// The parts that all have to be true.
pub(super) fn conjuncts(filter: &Filter) -> Vec<&Filter> {
    match filter {
        Filter::All(parts) => parts.iter().flat_map(conjuncts).collect(),
        Filter::Any(_) | Filter::Is(..) | Filter::HasTag(_) | Filter::Related(..) => vec![filter],
        Filter::OfInstance(_) | Filter::Candidate(..) | Filter::Not(_) => vec![filter],
    }
}

fn is_equal(filter: &Filter, field: Field) -> bool {
    matches!(filter, Filter::Is(of, Op::Eq(_) | Op::In(_)) if *of == field)
}

pub(super) fn is_range(filter: &Filter, field: Field) -> bool {
    matches!(filter, Filter::Is(of, Op::Eq(_) | Op::Lt(_) | Op::Lte(_) | Op::Gt(_) | Op::Gte(_)) if *of == field)
}

/// Fields that rows must have to match: with them, an order has no end where they are absent.
pub(super) fn present(query: &Query) -> Vec<Field> {
    let has_ended = |word: &str| word == "COMPLETED" || word == "TERMINATED";
    let present = |part: &&Filter| match part {
        Filter::Is(field, Op::Exists(true)) => Some(*field),
        Filter::Is(Field::InstanceState, Op::Eq(Scalar::Text(word))) if has_ended(word) => Some(Field::Ended),
        Filter::Is(field, _) if is_range(part, *field) => Some(*field),
        Filter::Is(..) | Filter::All(_) | Filter::Any(_) | Filter::HasTag(_) | Filter::Related(..) => None,
        Filter::OfInstance(_) | Filter::Candidate(..) | Filter::Not(_) => None,
    };
    conjuncts(&query.filter).iter().filter_map(present).collect()
}

/// What an index of the entity's own table finds. Where it has the order asked for as well, no lead is needed.
fn own_lead(entity: Entity, parts: &[&Filter], sorted_by: Option<Field>) -> Option<Filter> {
    let those = |which: &dyn Fn(&Filter) -> bool| -> Option<Filter> {
        let found: Vec<Filter> = parts.iter().filter(|part| which(part)).map(|part| (*part).clone()).collect();
        (!found.is_empty()).then_some(Filter::All(found))
    };
    match entity {
        Entity::Variables => by_value(parts).or_else(|| those(&|part| is_equal(part, Field::Name))),
        Entity::Elements => {
            let of_definition = [Field::ElementId, Field::ProcessId, Field::DefinitionKey];
            those(&|part| of_definition.iter().any(|field| is_equal(part, *field)))
        }
        // Those that have not completed have an index of their own.
        Entity::Jobs if parts.iter().any(|part| is_open_job(part)) => None,
        Entity::Jobs => those(&|part| is_equal(part, Field::JobType)),
        Entity::Instances => {
            let of_definition = [Field::ProcessId, Field::DefinitionName, Field::Version, Field::VersionTag];
            let of_process = |part: &Filter| of_definition.iter().any(|field| is_equal(part, *field));
            let of_definition = |part: &Filter| is_equal(part, Field::DefinitionKey);
            // Of a process that has gone on for long few run: they are found by both.
            let those_of = |which: &dyn Fn(&Filter) -> bool| {
                let also = |part: &Filter| is_rare_state(part) || is_range(part, Field::InstanceKey);
                parts.iter().any(|part| which(part)).then(|| those(&|part| which(part) || also(part))).flatten()
            };
            let by_process = those_of(&of_process);
            let by_definition =
                || those_of(&of_definition).filter(|_| sorted_by.is_some() || parts.iter().any(|part| is_rare_state(part)));
            let by = |field, but: &[Field]| {
                those(&|part| is_range(part, field)).filter(|_| !but.contains(&sorted_by.unwrap_or(Field::InstanceKey)))
            };
            let by_state = || those(&is_rare_state).filter(|_| sorted_by.is_some());
            let by_end = || by(Field::Ended, &[Field::Ended]);
            // In the order of keys or starts, a page begins where they do.
            let by_key = || by(Field::InstanceKey, &[Field::InstanceKey, Field::Started]);
            by_process.or_else(by_definition).or_else(by_state).or_else(by_end).or_else(by_key)
        }
        Entity::Definitions | Entity::Incidents | Entity::Requirements | Entity::Decisions => None,
        Entity::EvaluatedDecisions | Entity::Timers | Entity::MessageSubscriptions | Entity::Waits => None,
        Entity::MessageCorrelations => None,
        Entity::UserTasks | Entity::Executions | Entity::Batches | Entity::BatchItems => None,
        Entity::Operations | Entity::Audit | Entity::DeadLetters => None,
    }
}

/// Most instances have completed.
fn is_rare_state(filter: &Filter) -> bool {
    matches!(filter, Filter::Is(Field::InstanceState, Op::Eq(Scalar::Text(word))) if word != "COMPLETED")
}

fn is_open_job(filter: &Filter) -> bool {
    matches!(filter, Filter::Is(Field::JobState, Op::Eq(Scalar::Text(word))) if *word != JobState::Completed.word())
}

/// Whether instances without a lead are gone through in the order asked for, since no index finds them.
pub(super) fn is_walked(query: &Query) -> bool {
    let is_found = |part| is_found_by_key(part) || is_rare_state(part) || is_equal(part, Field::DefinitionKey);
    query.entity == Entity::Instances && !conjuncts(&query.filter).into_iter().any(is_found)
}

/// What an index finds that has few instances of each kind.
pub(super) fn is_found_by_key(part: &Filter) -> bool {
    let by_key = [Field::InstanceKey, Field::BusinessId, Field::ParentInstanceKey];
    let by_incident = matches!(part, Filter::Is(Field::HasIncident, Op::Eq(Scalar::Bool(true))));
    by_incident || by_key.iter().any(|field| is_equal(part, *field))
}

/// How many parts [`by_value`] has.
const VALUE_PARTS: usize = 2;

/// Name and value together, both equal to something.
fn by_value(parts: &[&Filter]) -> Option<Filter> {
    let part = |field| parts.iter().find(|part| is_equal(part, field)).map(|part| (*part).clone());
    Some(Filter::All(vec![part(Field::Name)?, part(Field::Value)?]))
}

/// What belongs to instances and finds them.
fn related_part<'a>(parts: &[&'a Filter]) -> Option<&'a Filter> {
    let finds = |part: &&Filter| match part {
        // There are never many incidents.
        Filter::HasTag(_) | Filter::Related(Entity::Incidents, _) => true,
        Filter::Related(Entity::Variables, filter) => by_value(&conjuncts(filter)).is_some(),
        Filter::Related(Entity::Elements, filter) => conjuncts(filter).iter().any(|part| is_equal(part, Field::ElementId)),
        Filter::Related(..) | Filter::All(_) | Filter::Any(_) | Filter::Is(..) => false,
        Filter::OfInstance(_) | Filter::Candidate(..) | Filter::Not(_) => false,
    };
    parts.iter().copied().find(finds)
}

fn related_lead(writing: &mut Writing, part: &Filter) -> Option<String> {
    match part {
        Filter::HasTag(tag) => {
            let tag = writing.param(Scalar::Text(tag.to_string()));
            let partitions = "SELECT partition FROM partitions";
            Some(format!(
                "SELECT l.instance AS key FROM instance_tags AS l WHERE l.partition IN ({partitions}) AND l.tag = {tag}"
            ))
        }
        Filter::Related(Entity::Variables, filter) => {
            by_value(&conjuncts(filter)).map(|filter| keys(writing, Entity::Variables, &filter, "instance"))
        }
        Filter::Related(entity, filter) => Some(keys(writing, *entity, filter, "instance")),
        Filter::All(_) | Filter::Any(_) | Filter::Is(..) => None,
        Filter::OfInstance(_) | Filter::Candidate(..) | Filter::Not(_) => None,
    }
}

/// What is still to be asked of the rows that the lead gives: not what it has found them by, if that is about what belongs to them, since to
/// find that again for each costs as much as finding them.
pub(super) fn rest(query: &Query) -> Query {
    let parts = conjuncts(&query.filter);
    let sorted_by = query.sort.first().map(|sort| sort.field);
    let is_related = query.entity == Entity::Instances && own_lead(query.entity, &parts, sorted_by).is_none();
    let found_by = if is_related { related_part(&parts).filter(|part| is_whole(part)) } else { None };
    without(query, found_by)
}

/// The search without that part.
pub(super) fn without(query: &Query, part: Option<&Filter>) -> Query {
    let is_asked = |asked: &&Filter| part.is_none_or(|part| !std::ptr::eq(*asked, part));
    let filter = Filter::All(conjuncts(&query.filter).into_iter().filter(is_asked).cloned().collect());
    Query { filter, ..query.clone() }
}

/// Whether the lead asks for all that the part does.
fn is_whole(part: &Filter) -> bool {
    match part {
        Filter::Related(Entity::Variables, filter) => conjuncts(filter).len() == VALUE_PARTS,
        _ => true,
    }
}

/// PostgreSQL: what finds rows of a search, of which there may be few or very many.
pub(super) enum Crowd<'a> {
    /// Rows of the search itself that match.
    Own(Filter),
    /// Rows of that entity that match, each of which belongs to an instance; they are all that this part asks for.
    Related(Entity, &'a Filter, Filter),
    /// A tag, which instances have.
    Tag(&'a str, &'a Filter),
}

pub(super) fn crowd(query: &Query) -> Option<Crowd<'_>> {
    let parts = conjuncts(&query.filter);
    match query.entity {
        Entity::Variables => by_value(&parts).map(Crowd::Own),
        Entity::Elements => {
            let of_element = |part: &&&Filter| is_equal(part, Field::ElementId) || is_equal(part, Field::DefinitionKey);
            let found: Vec<Filter> = parts.iter().filter(of_element).map(|part| (*part).clone()).collect();
            (!found.is_empty()).then_some(Crowd::Own(Filter::All(found)))
        }
        Entity::Instances => {
            let related = parts.iter().find_map(|part| related_crowd(part));
            let of_definition = || parts.iter().find(|part| is_equal(part, Field::DefinitionKey));
            related.or_else(|| of_definition().map(|part| Crowd::Own((*part).clone())))
        }
        _ => None,
    }
}

fn related_crowd(part: &Filter) -> Option<Crowd<'_>> {
    match part {
        Filter::Related(entity @ Entity::Variables, filter) => {
            by_value(&conjuncts(filter)).map(|_| Crowd::Related(*entity, part, (**filter).clone()))
        }
        Filter::Related(entity @ Entity::Elements, filter) => {
            let is_found = conjuncts(filter).iter().any(|part| is_equal(part, Field::ElementId));
            is_found.then(|| Crowd::Related(*entity, part, (**filter).clone()))
        }
        Filter::Related(entity @ Entity::Incidents, filter) => Some(Crowd::Related(*entity, part, (**filter).clone())),
        Filter::HasTag(tag) => Some(Crowd::Tag(tag, part)),
        Filter::Related(..) | Filter::All(_) | Filter::Any(_) | Filter::Is(..) => None,
        Filter::OfInstance(_) | Filter::Candidate(..) | Filter::Not(_) => None,
    }
}

/// A column of rows that match, with names of its own, so that it can stand beside anything.
fn keys(writing: &mut Writing, entity: Entity, filter: &Filter, column: &str) -> String {
    let mut from = From::new(entity, LEAD_DEPTH);
    from.begins_with_definition = true;
    let matches = condition(writing, &mut from, filter);
    let own = from.alias(Table::Own);
    let (rows, distinct) = (from.sql(writing.dialect), if column == "key" { "" } else { "DISTINCT " });
    format!("SELECT {distinct}{own}.{column} AS key FROM {rows} WHERE {matches}")
}

/// Deeper than any filter is nested.
pub(super) const LEAD_DEPTH: usize = 1_000;
