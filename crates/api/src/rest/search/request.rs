//! A search request: filter, sort and page, in any order.

use store::query::{Filter, Order, Page, Query, Sort, Tenants};

use super::filter::{self, Filtered};
use super::page::{self, Paging};
use super::table::Table;
use crate::error::Failure;
use crate::json::{Kind, Reader};
use crate::rest::Config;
use crate::rest::path::{self, Path};

/// Criteria of one sort.
const SORTS_MAX: usize = 20;

/// What a search asks.
pub(super) struct Asked {
    pub(super) query: Query,
    pub(super) turning: Turning,
}

/// How its caller gets to the next page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turning {
    ByCursor,
    ByPosition,
}

/// An empty text asks for everything.
pub(super) fn read(text: &str, table: &Table, tenants: Tenants, config: &Config) -> Result<Asked, Failure> {
    let mut filtered = Filtered { filter: Filter::All(Vec::new()), latest_version: false };
    let mut sort = Vec::new();
    let mut paging = Paging::default();
    if !text.trim_ascii().is_empty() {
        let mut reader = Reader::new(text);
        if reader.peek()? != Kind::Object {
            return Err(Path::TOP.mistyped("an object"));
        }
        reader.object(|name, reader| {
            let path = Path::TOP.to(&name);
            let is_null = reader.peek()? == Kind::Null;
            match name.as_ref() {
                "filter" | "page" if is_null => reader.null()?,
                "filter" => filtered = filter::read(reader, &path, table)?,
                "sort" => sort = read_sort(reader, &path, table)?,
                "page" => paging = page::read(reader, &path)?,
                _ => return Err(path.unknown()),
            }
            Ok(())
        })?;
    }
    let sort = without_repetition(sort);
    if filtered.latest_version {
        check_latest(&sort, &paging, table)?;
    }
    let page = paging.page(table, &sort, config)?;
    let turning = if paging.style() == Some("from") { Turning::ByPosition } else { Turning::ByCursor };
    let query = Query {
        entity: table.entity,
        tenants,
        filter: filtered.filter,
        sort,
        page,
        latest_version: filtered.latest_version,
        value_chars_max: None,
        with_details: false,
        with_kept: false,
        bytes_max: Some(config.page_bytes_max),
        uncounted: false,
    };
    Ok(Asked { query, turning })
}

/// A filter and a page that is counted on from a cursor.
pub(super) fn filter_and_part(text: &str, table: &Table) -> Result<(Filter, Option<String>, Option<i64>), Failure> {
    let mut filter = Filter::All(Vec::new());
    let mut paging = Paging::default();
    if text.trim_ascii().is_empty() {
        return Ok((filter, None, None));
    }
    let mut reader = Reader::new(text);
    if reader.peek()? != Kind::Object {
        return Err(Path::TOP.mistyped("an object"));
    }
    reader.object(|name, reader| {
        let path = Path::TOP.to(&name);
        let is_null = reader.peek()? == Kind::Null;
        match name.as_ref() {
            "filter" | "page" if is_null => reader.null()?,
            "filter" => filter = filter::read(reader, &path, table)?.filter,
            "page" => paging = page::read(reader, &path)?,
            _ => return Err(path.unknown()),
        }
        Ok(())
    })?;
    let (after, limit) = paging.onward();
    Ok((filter, after, limit))
}

fn read_sort(reader: &mut Reader<'_>, path: &Path<'_>, table: &Table) -> Result<Vec<Sort>, Failure> {
    if reader.peek()? != Kind::List {
        return Err(path.mistyped("a list"));
    }
    let mut sort = Vec::new();
    let mut count = 0;
    reader.list(|reader| {
        count += 1;
        if SORTS_MAX < count {
            return Err(Failure::invalid(format!("A search sorts by at most {SORTS_MAX} fields")));
        }
        let index = (count - 1).to_string();
        sort.extend(read_criterion(reader, &path.to(&index), table)?);
        Ok(())
    })?;
    Ok(sort)
}

/// `None` for a field that is the same in every row.
fn read_criterion(reader: &mut Reader<'_>, path: &Path<'_>, table: &Table) -> Result<Option<Sort>, Failure> {
    if reader.peek()? != Kind::Object {
        return Err(path.mistyped("an object"));
    }
    let (mut field, mut order) = (None, Order::Ascending);
    reader.object(|name, reader| {
        let path = path.to(&name);
        match name.as_ref() {
            "field" => field = path::text(reader, &path)?,
            "order" => {
                let descends = path::word(reader, &path, &["ASC", "DESC"])? == Some("DESC");
                order = if descends { Order::Descending } else { Order::Ascending };
            }
            _ => return Err(path.unknown()),
        }
        Ok(())
    })?;
    let Some(field) = field else { return Err(Failure::invalid("Sort field must not be null.")) };
    let Some(sortable) = table.sorts.iter().find(|sortable| sortable.name.eq_ignore_ascii_case(&field)) else {
        let names: Vec<&str> = table.sorts.iter().map(|sortable| sortable.name).collect();
        return Err(path::no_such_word(&field, "field", &names));
    };
    Ok(sortable.field.map(|field| Sort { field, order }))
}

/// A field sorts once: a second mention of it changes nothing.
fn without_repetition(sort: Vec<Sort>) -> Vec<Sort> {
    let mut unique: Vec<Sort> = Vec::with_capacity(sort.len());
    for criterion in sort {
        if unique.iter().all(|earlier| earlier.field != criterion.field) {
            unique.push(criterion);
        }
    }
    unique
}

fn check_latest(sort: &[Sort], paging: &Paging<'_>, table: &Table) -> Result<(), Failure> {
    let name = |field| table.sorts.iter().find(|sortable| sortable.field == Some(field)).map_or("", |sortable| sortable.name);
    let mut fields = sort.iter().map(|criterion| name(criterion.field));
    if let Some(field) = fields.find(|name| !matches!(*name, "processDefinitionId" | "decisionDefinitionId" | "tenantId")) {
        return Err(Failure::invalid(format!(
            "With the filter isLatestVersion only the id of the definition and 'tenantId' can be sorted by, not '{field}'"
        )));
    }
    match paging.style() {
        Some(style @ ("from" | "before")) => Err(Failure::invalid(format!(
            "With the filter isLatestVersion pages are turned by 'after' and 'limit' only, not by '{style}'"
        ))),
        _ => Ok(()),
    }
}

/// The page a search without any wish gets.
pub(super) fn first_page(limit: u32) -> Page {
    Page::From { from: 0, limit }
}

#[cfg(test)]
mod tests;
