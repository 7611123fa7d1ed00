//! Searches: per entity a table of what can be filtered and sorted by; one reader for all requests, one writer for all pages.

mod cursor;
mod filter;
mod fixed;
mod page;
mod request;
mod table;

use axum::response::Response;
use store::query::{Entity, Field, Filter, Items, Op, Page, Query, QueryPage, Scalar};

pub(super) use table::{By, Constant, Filterable, Operators, Sortable, Table, Value, filterable, related, sortable};

use super::call::Call;
use super::{
    answer, decision_definitions, decision_instances, decision_requirements, element_instances, incidents, jobs,
    process_definitions, process_instances, variables,
};
use crate::error::Failure;
use crate::json;

/// Answers a search request with a page.
pub(super) async fn run(call: &Call, table: &Table) -> Result<Response, Failure> {
    run_within(call, table, None, |_| ()).await
}

/// A search among the rows that match `within`; `adjust` may change what is asked of the store.
pub(super) async fn run_within(
    call: &Call,
    table: &Table,
    within: Option<Filter>,
    adjust: impl FnOnce(&mut Query),
) -> Result<Response, Failure> {
    let mut query = request::read(call.text()?, table, call.config())?;
    if let Some(within) = within {
        query.filter = Filter::All(vec![within, query.filter]);
    }
    adjust(&mut query);
    let page = call.host().store().search(&query).await?;
    Ok(answer::ok(written(&page, &query)))
}

/// What is deployed and not deleted since.
pub(super) fn not_deleted() -> Filter {
    Filter::Is(Field::DefinitionState, Op::Eq(Scalar::Text("ACTIVE".to_owned())))
}

/// The one row that matches, if there is one.
async fn one(call: &Call, entity: Entity, filter: Filter) -> Result<Option<Items>, Failure> {
    let query = Query { filter, page: Page::From { from: 0, limit: 1 }, ..Query::of(entity) };
    let page = call.host().store().search(&query).await?;
    Ok((0 < length(&page.items)).then_some(page.items))
}

/// Answers with the one row whose key is in the path.
pub(super) async fn get(call: &Call, entity: Entity, noun: &str) -> Result<Response, Failure> {
    let mut out = Vec::with_capacity(512);
    write_first(&mut out, &found(call, entity, noun).await?);
    Ok(answer::ok(out))
}

/// Answers with the one row that matches, if there is one.
pub(super) async fn get_by(call: &Call, entity: Entity, filter: Filter) -> Result<Option<Response>, Failure> {
    let found = one(call, entity, filter).await?;
    Ok(found.map(|items| {
        let mut out = Vec::with_capacity(512);
        write_first(&mut out, &items);
        answer::ok(out)
    }))
}

/// The one row whose key is in the path. `noun` is what clients call the entity.
pub(super) async fn found(call: &Call, entity: Entity, noun: &str) -> Result<Items, Failure> {
    let key = call.key()?;
    let found = one(call, entity, Filter::Is(entity.key(), Op::Eq(Scalar::Int(key)))).await?;
    found.ok_or_else(|| Failure::not_found(format!("{noun} with key '{key}' not found")))
}

fn written(page: &QueryPage, query: &Query) -> Vec<u8> {
    let cursor = |out: &mut Vec<u8>, cursor: &Option<store::query::Cursor>| match cursor {
        Some(cursor) => json::write_text(out, &cursor::encode(cursor, query.entity, &query.sort)),
        None => out.extend_from_slice(b"null"),
    };
    let mut out = Vec::with_capacity(256 + 512 * length(&page.items));
    let counts = format!("{{\"page\":{{\"totalItems\":{},\"hasMoreTotalItems\":{}", page.total, page.total_is_more);
    out.extend_from_slice(counts.as_bytes());
    out.extend_from_slice(b",\"startCursor\":");
    cursor(&mut out, &page.start);
    out.extend_from_slice(b",\"endCursor\":");
    cursor(&mut out, &page.end);
    out.extend_from_slice(b"},\"items\":");
    write_items(&mut out, &page.items);
    out.push(b'}');
    out
}

fn write_items(out: &mut Vec<u8>, items: &Items) {
    match items {
        Items::Definitions(views) => process_definitions::LAYOUT.write_list(out, views),
        Items::Instances(views) => process_instances::LAYOUT.write_list(out, views),
        Items::Elements(views) => element_instances::LAYOUT.write_list(out, views),
        Items::Variables(views) => variables::FOUND.write_list(out, views),
        Items::Jobs(views) => jobs::LAYOUT.write_list(out, views),
        Items::Incidents(views) => incidents::LAYOUT.write_list(out, views),
        Items::Requirements(views) => decision_requirements::LAYOUT.write_list(out, views),
        Items::Decisions(views) => decision_definitions::LAYOUT.write_list(out, views),
        Items::EvaluatedDecisions(views) => decision_instances::FOUND.write_list(out, views),
    }
}

fn write_first(out: &mut Vec<u8>, items: &Items) {
    match items {
        Items::Definitions(views) => views.iter().take(1).for_each(|view| process_definitions::LAYOUT.write(out, view)),
        Items::Instances(views) => views.iter().take(1).for_each(|view| process_instances::LAYOUT.write(out, view)),
        Items::Elements(views) => views.iter().take(1).for_each(|view| element_instances::LAYOUT.write(out, view)),
        Items::Variables(views) => views.iter().take(1).for_each(|view| variables::LAYOUT.write(out, view)),
        Items::Jobs(views) => views.iter().take(1).for_each(|view| jobs::LAYOUT.write(out, view)),
        Items::Incidents(views) => views.iter().take(1).for_each(|view| incidents::LAYOUT.write(out, view)),
        Items::Requirements(views) => views.iter().take(1).for_each(|view| decision_requirements::LAYOUT.write(out, view)),
        Items::Decisions(views) => views.iter().take(1).for_each(|view| decision_definitions::LAYOUT.write(out, view)),
        Items::EvaluatedDecisions(views) => views.iter().take(1).for_each(|view| decision_instances::LAYOUT.write(out, view)),
    }
}

fn length(items: &Items) -> usize {
    match items {
        Items::Definitions(views) => views.len(),
        Items::Instances(views) => views.len(),
        Items::Elements(views) => views.len(),
        Items::Variables(views) => views.len(),
        Items::Jobs(views) => views.len(),
        Items::Incidents(views) => views.len(),
        Items::Requirements(views) => views.len(),
        Items::Decisions(views) => views.len(),
        Items::EvaluatedDecisions(views) => views.len(),
    }
}
