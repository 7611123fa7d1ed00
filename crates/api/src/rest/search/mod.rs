//! Searches: per entity a table of what can be filtered and sorted by; one reader for all requests, one writer for all pages.

mod cursor;
mod filter;
mod fixed;
pub(super) mod listed;
mod page;
mod request;
mod table;

use axum::response::Response;
use store::query::{Entity, Field, Filter, Items, Op, Page, Query, QueryPage, Scalar};

pub(super) use fixed::holds;
pub(super) use table::{By, Condition, Constant, Filterable, Operators, Sortable, Table, Value, filterable, related, sortable};

use super::answer::Writing;
use super::call::Call;
use super::path::Path;
use super::{
    audit, batch_operations, dead_letters, decision_definitions, decision_instances, decision_requirements, element_instances,
    executions, incidents, jobs, messages, process_definitions, process_instances, timers, user_tasks, variables, waits,
};
use crate::budget::Held;
use crate::error::Failure;
use crate::json;
use request::{Asked, Turning};

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
    find(call, table, call.text()?, within, adjust, None).await
}

/// A search where pages are turned by position alone, so nobody is told a cursor.
pub(super) async fn run_by_position(
    call: &Call,
    table: &Table,
    within: Filter,
    adjust: impl FnOnce(&mut Query),
) -> Result<Response, Failure> {
    find(call, table, call.text()?, Some(within), adjust, Some(Turning::ByPosition)).await
}

async fn find(
    call: &Call,
    table: &Table,
    text: &str,
    within: Option<Filter>,
    adjust: impl FnOnce(&mut Query),
    always: Option<Turning>,
) -> Result<Response, Failure> {
    let Asked { mut query, turning } = request::read(text, table, call.caller.tenants(), call.config())?;
    if let Some(within) = within {
        query.filter = Filter::All(vec![within, query.filter]);
    }
    adjust(&mut query);
    let room = call.room(call.config().page_bytes_max).await?;
    let mut page = call.host().store().search(&query).await?;
    if always == Some(Turning::ByPosition) {
        (page.start, page.end) = (None, None);
    }
    if page.is_cut && always.unwrap_or(turning) == Turning::ByPosition {
        // Who counts positions would miss the rows that are not on the page.
        let bytes_max = call.config().page_bytes_max;
        return Err(Failure::invalid(format!(
            "The rows of this page have more than {bytes_max} bytes: ask for fewer with page.limit, or leave out page.from and turn pages by cursor"
        )));
    }
    written(page, &query, room)
}

/// What to count, in the words of a search's filter.
pub(super) fn filter(call: &Call, table: &Table) -> Result<Filter, Failure> {
    filter_and_part(call, table).map(|(filter, ..)| filter)
}

/// What to count, after which cursor, and how many at most.
pub(super) fn filter_and_part(call: &Call, table: &Table) -> Result<(Filter, Option<String>, Option<i64>), Failure> {
    request::filter_and_part(call.text()?, table)
}

/// A filter that is part of another request.
pub(super) fn read_filter(reader: &mut json::Reader<'_>, path: &Path<'_>, table: &Table) -> Result<Filter, Failure> {
    filter::read(reader, path, table).map(|filtered| filtered.filter)
}

/// What is asked of one value, as part of another request.
pub(super) fn read_condition(
    reader: &mut json::Reader<'_>,
    path: &Path<'_>,
    condition: Condition<'_>,
) -> Result<Vec<Op>, Failure> {
    filter::operations(reader, path, condition)
}

/// What is deployed and not deleted since.
pub(super) fn not_deleted() -> Filter {
    Filter::Is(Field::DefinitionState, Op::Eq(Scalar::Text("ACTIVE".to_owned())))
}

/// A row, with room for it.
pub(super) struct Found {
    pub(super) items: Items,
    room: Held,
}

/// The one row that matches, if there is one.
async fn one(call: &Call, entity: Entity, filter: Filter) -> Result<Option<Found>, Failure> {
    let query =
        Query { filter, page: Page::From { from: 0, limit: 1 }, with_details: true, ..Query::of(entity, call.caller.tenants()) };
    let room = call.room(call.config().page_bytes_max).await?;
    let items = call.host().store().search(&query).await?.items;
    Ok((!items.is_empty()).then_some(Found { items, room }))
}

/// Answers with the one row whose key is in the path.
pub(super) async fn get(call: &Call, entity: Entity, noun: &str) -> Result<Response, Failure> {
    found(call, entity, noun).await?.answer()
}

/// Answers with the one row with this key, which was there a moment ago.
pub(super) async fn get_key(call: &Call, entity: Entity, key: u64) -> Result<Response, Failure> {
    let found = one(call, entity, Filter::Is(entity.key(), Op::Eq(Scalar::Int(key as i64)))).await?;
    found.ok_or_else(|| Failure::not_found(format!("What has the key '{key}' is gone")))?.answer()
}

/// Answers with the one row that matches, if there is one.
pub(super) async fn get_by(call: &Call, entity: Entity, filter: Filter) -> Result<Option<Response>, Failure> {
    one(call, entity, filter).await?.map(Found::answer).transpose()
}

/// The one row whose key is in the path. `noun` is what clients call the entity.
pub(super) async fn found(call: &Call, entity: Entity, noun: &str) -> Result<Found, Failure> {
    let key = call.key()?;
    let found = one(call, entity, Filter::Is(entity.key(), Op::Eq(Scalar::Int(key)))).await?;
    found.ok_or_else(|| Failure::not_found(format!("{noun} with key '{key}' not found")))
}

impl Found {
    fn answer(self) -> Result<Response, Failure> {
        let mut writing = Writing::new(self.room);
        write_first(writing.out(), &self.items);
        writing.finish()
    }
}

fn written(page: QueryPage, query: &Query, room: Held) -> Result<Response, Failure> {
    let cursor = |out: &mut Vec<u8>, cursor: &Option<store::query::Cursor>| match cursor {
        Some(cursor) => json::write_text(out, &cursor::encode(cursor, query.entity, &query.sort)),
        None => out.extend_from_slice(b"null"),
    };
    let mut writing = Writing::new(room);
    let out = writing.out();
    let counts = format!("{{\"page\":{{\"totalItems\":{},\"hasMoreTotalItems\":{}", page.total, page.total_is_more);
    out.extend_from_slice(counts.as_bytes());
    out.extend_from_slice(b",\"startCursor\":");
    cursor(out, &page.start);
    out.extend_from_slice(b",\"endCursor\":");
    cursor(out, &page.end);
    out.extend_from_slice(b"},\"items\":");
    write_items(&mut writing, page.items)?;
    writing.out().push(b'}');
    writing.finish()
}

fn write_items(writing: &mut Writing, items: Items) -> Result<(), Failure> {
    match items {
        Items::Definitions(views) => writing.list(&process_definitions::LAYOUT, views),
        Items::Instances(views) => writing.list(&process_instances::LAYOUT, views),
        Items::Elements(views) => writing.list(&element_instances::LAYOUT, views),
        Items::Variables(views) => writing.list(&variables::FOUND, views),
        Items::Jobs(views) => writing.list(&jobs::LAYOUT, views),
        Items::Incidents(views) => writing.list(&incidents::LAYOUT, views),
        Items::Requirements(views) => writing.list(&decision_requirements::LAYOUT, views),
        Items::Decisions(views) => writing.list(&decision_definitions::LAYOUT, views),
        Items::EvaluatedDecisions(views) => writing.list(&decision_instances::FOUND, views),
        Items::Timers(views) => writing.list(&timers::LAYOUT, views),
        Items::MessageSubscriptions(views) => writing.list(&messages::SUBSCRIPTION, views),
        Items::Waits(views) => writing.list(&waits::LAYOUT, views),
        Items::MessageCorrelations(views) => writing.list(&messages::CORRELATED_SUBSCRIPTION, views),
        Items::UserTasks(views) => writing.list(&user_tasks::LAYOUT, views),
        Items::Executions(views) => writing.list(&executions::LAYOUT, views),
        Items::Batches(views) => writing.list(&batch_operations::LAYOUT, views),
        Items::BatchItems(views) => writing.list(&batch_operations::ITEM, views),
        Items::Operations(views) => writing.list(&audit::LAYOUT, views),
        Items::Audit(views) => writing.list(&audit::LAYOUT_V1, views),
        Items::DeadLetters(views) => writing.list(&dead_letters::LAYOUT, views),
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
        Items::Timers(views) => views.iter().take(1).for_each(|view| timers::LAYOUT.write(out, view)),
        Items::MessageSubscriptions(views) => views.iter().take(1).for_each(|view| messages::SUBSCRIPTION.write(out, view)),
        Items::Waits(views) => views.iter().take(1).for_each(|view| waits::LAYOUT.write(out, view)),
        Items::MessageCorrelations(views) => {
            views.iter().take(1).for_each(|view| messages::CORRELATED_SUBSCRIPTION.write(out, view));
        }
        Items::UserTasks(views) => views.iter().take(1).for_each(|view| user_tasks::LAYOUT.write(out, view)),
        Items::Executions(views) => views.iter().take(1).for_each(|view| executions::LAYOUT.write(out, view)),
        Items::Batches(views) => views.iter().take(1).for_each(|view| batch_operations::LAYOUT.write(out, view)),
        Items::BatchItems(views) => views.iter().take(1).for_each(|view| batch_operations::ITEM.write(out, view)),
        Items::Operations(views) => views.iter().take(1).for_each(|view| audit::LAYOUT.write(out, view)),
        Items::Audit(views) => views.iter().take(1).for_each(|view| audit::LAYOUT_V1.write(out, view)),
        Items::DeadLetters(views) => views.iter().take(1).for_each(|view| dead_letters::LAYOUT.write(out, view)),
    }
}
