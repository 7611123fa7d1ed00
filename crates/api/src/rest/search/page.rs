//! Which part of what was found is wanted: by position or by cursor, not both.

use std::borrow::Cow;

use store::query::{Page, Sort};

use super::cursor;
use super::request::first_page;
use super::table::Table;
use crate::error::Failure;
use crate::json::{Kind, Reader};
use crate::rest::Config;
use crate::rest::path::{self, Path};

/// A page as it was asked for.
#[derive(Default)]
pub(super) struct Paging<'a> {
    limit: Option<i64>,
    from: Option<i64>,
    after: Option<Cow<'a, str>>,
    before: Option<Cow<'a, str>>,
}

pub(super) fn read<'a>(reader: &mut Reader<'a>, path: &Path<'_>) -> Result<Paging<'a>, Failure> {
    if reader.peek()? != Kind::Object {
        return Err(path.mistyped("an object. At least one of [from, after, before, limit] is required."));
    }
    let mut paging = Paging::default();
    let mut is_empty = true;
    reader.object(|name, reader| {
        let path = path.to(&name);
        is_empty = false;
        match name.as_ref() {
            "limit" => paging.limit = path::int32(reader, &path)?,
            "from" => paging.from = path::int32(reader, &path)?,
            "after" => paging.after = path::text(reader, &path)?,
            "before" => paging.before = path::text(reader, &path)?,
            _ => return Err(path.unknown()),
        }
        Ok(())
    })?;
    if is_empty {
        return Err(Failure::unreadable(format!(
            "Request property [{path}] must have at least one of [limit, from, after, before]"
        )));
    }
    let styles = [paging.from.is_some(), paging.after.is_some(), paging.before.is_some()];
    if 1 < styles.into_iter().filter(|style| *style).count() {
        return Err(Failure::unreadable(format!("Request property [{path}]: only one of [from, after, before] is allowed.")));
    }
    Ok(paging)
}

impl Paging<'_> {
    /// How the page is named, beside its limit.
    pub(super) fn style(&self) -> Option<&'static str> {
        let styles = [("from", self.from.is_some()), ("after", self.after.is_some()), ("before", self.before.is_some())];
        styles.into_iter().find_map(|(style, given)| given.then_some(style))
    }

    /// Where to go on, and how far.
    pub(super) fn onward(&self) -> (Option<String>, Option<i64>) {
        (self.after.as_deref().map(str::to_owned), self.limit)
    }

    pub(super) fn page(&self, table: &Table, sort: &[Sort], config: &Config) -> Result<Page, Failure> {
        let limit = match self.limit {
            None => config.page_limit_default,
            Some(limit) => u32::try_from(limit).map_err(|_| negative("limit", limit))?.min(config.page_limit_max),
        };
        if let Some(text) = &self.after {
            return Ok(Page::After { cursor: cursor::decode(text, table, sort)?, limit });
        }
        if let Some(text) = &self.before {
            return Ok(Page::Before { cursor: cursor::decode(text, table, sort)?, limit });
        }
        match self.from {
            None => Ok(first_page(limit)),
            Some(from) => Ok(Page::From { from: u64::try_from(from).map_err(|_| negative("from", from))?, limit }),
        }
    }
}

fn negative(name: &str, number: i64) -> Failure {
    Failure::invalid(format!("The value for page.{name} is '{number}' but must be a non-negative number."))
}
