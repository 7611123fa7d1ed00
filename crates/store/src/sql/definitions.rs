//! Definitions that a search names by their process, version or tag, or by an element they have, looked up before it.
//!
//! PostgreSQL knows how many rows have which definition, and not how many have one that is called so: it would go through a million
//! instances to find those of a process that has none.

use super::column::{From, Table};
use super::filter::{condition, of_tenants};
use super::lead::conjuncts;
use super::{Dialect, Sql, Writing};
use crate::query::{Entity, Field, Filter, Op, Query, Scalar, Tenants};

/// More than so many are not listed.
pub const DEFINITIONS_MAX: usize = 200;

/// One row with a key for each definition that is meant, up to one more than are listed; nothing where none is named.
pub fn definitions(query: &Query) -> Option<Sql> {
    let named: Vec<&Filter> = conjuncts(&query.filter).into_iter().filter(|part| names_definition(query, part)).collect();
    if named.is_empty() {
        return None;
    }
    let mut writing = Writing { dialect: Dialect::Postgres, params: Vec::new() };
    let mut from = From::new(Entity::Definitions, 0);
    let mut matches: Vec<String> = named.into_iter().map(|part| named_by(&mut writing, &mut from, part)).collect();
    if let Tenants::These(tenants) = &query.tenants {
        matches.push(of_tenants(&mut writing, &mut from, tenants));
    }
    let rows = from.sql(Dialect::Postgres);
    let text = format!("SELECT o0.key FROM {rows} WHERE {} LIMIT {}", matches.join(" AND "), DEFINITIONS_MAX + 1);
    Some(Sql { text, params: writing.params })
}

fn named_by(writing: &mut Writing, from: &mut From, part: &Filter) -> String {
    let Filter::Is(Field::ElementId, op) = part else { return condition(writing, from, part) };
    // Elements have the ids of what they passed through.
    let mut elements = From::new(Entity::Elements, 1);
    let same = condition(writing, &mut elements, &Filter::Is(Field::ElementId, op.clone()));
    let (own, element) = (from.alias(Table::Own), elements.alias(Table::DefinitionElement));
    format!(
        "EXISTS (SELECT 1 FROM definition_elements AS {element} WHERE {element}.partition = {own}.partition \
         AND {element}.definition = {own}.key AND {same})"
    )
}

/// The same search, with those definitions instead of what names them; beside an element, which not all of them is.
pub fn of_definitions(query: &Query, keys: &[i64]) -> Query {
    let is_replaced = |part: &Filter| names_definition(query, part) && !matches!(part, Filter::Is(Field::ElementId, _));
    let others = conjuncts(&query.filter).into_iter().filter(|part| !is_replaced(part)).cloned();
    let keys = keys.iter().map(|key| Scalar::Int(*key)).collect();
    let filter = Filter::All(others.chain([Filter::Is(Field::DefinitionKey, Op::In(keys))]).collect());
    Query { filter, ..query.clone() }
}

/// Element instances that instances are asked for, as a search for them; with where that stands in the filter.
pub fn elements_asked(query: &Query) -> Option<(usize, Query)> {
    let Filter::All(parts) = &query.filter else { return None };
    if query.entity != Entity::Instances {
        return None;
    }
    parts.iter().enumerate().find_map(|(number, part)| match part {
        Filter::Related(Entity::Elements, filter) => {
            Some((number, Query { filter: (**filter).clone(), ..Query::of(Entity::Elements, query.tenants.clone()) }))
        }
        _ => None,
    })
}

/// The search with that in its place.
pub fn asking_elements(query: &Query, number: usize, elements: Query) -> Query {
    let mut asking = query.clone();
    if let Filter::All(parts) = &mut asking.filter {
        parts[number] = Filter::Related(Entity::Elements, Box::new(elements.filter));
    }
    asking
}

fn names_definition(query: &Query, filter: &Filter) -> bool {
    let Filter::Is(field, Op::Eq(_) | Op::In(_)) = filter else { return false };
    let named = [Field::ProcessId, Field::DefinitionName, Field::Version, Field::VersionTag].contains(field);
    // Others are not found by their definition.
    match query.entity {
        Entity::Instances => named,
        Entity::Elements => named || *field == Field::ElementId,
        _ => false,
    }
}
