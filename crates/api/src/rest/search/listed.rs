//! Searches that are asked behind the question mark of a path: each parameter is a property to filter by, but for a span of time and
//! for which page is wanted.

use axum::response::Response;
use serde_json::{Value as Json, json};

use super::Table;
use crate::error::Failure;
use crate::rest::call::Call;
use crate::rest::describe::Kind;
use crate::rest::shape::{Field, field};

pub(in crate::rest) const SORT: Field =
    field("sort", Kind::Text, "Properties to sort by, with commas between them; the other way round with a `-` before one");
pub(in crate::rest) const LIMIT: Field = field("limit", Kind::Int32, "How many at most");
pub(in crate::rest) const FROM: Field = field("from", Kind::Int32, "How many to leave out");
pub(in crate::rest) const AFTER: Field = field("after", Kind::Text, "The page after this cursor");
pub(in crate::rest) const BEFORE: Field = field("before", Kind::Text, "The page before this cursor");

/// The parameters that say between which times a property is.
pub(in crate::rest) struct Span {
    pub(in crate::rest) property: &'static str,
    /// Then or later.
    pub(in crate::rest) since: &'static str,
    /// Before then.
    pub(in crate::rest) until: &'static str,
}

/// Answers with a page, in this order if none is asked for.
pub(in crate::rest) async fn run(call: &Call, table: &Table, span: &Span, mut sort: Json) -> Result<Response, Failure> {
    let (mut filter, mut page) = (json!({}), json!({}));
    for (name, value) in call.parameters()? {
        match name.as_str() {
            "sort" => sort = sorting(&value),
            "limit" | "from" => {
                let number = value.parse::<i32>();
                let refused = |_| Failure::unreadable(format!("Failed to convert '{name}' with value: '{value}'"));
                page[&name] = json!(number.map_err(refused)?);
            }
            "after" | "before" => page[&name] = Json::String(value),
            since if since == span.since => filter[span.property]["$gte"] = Json::String(value),
            until if until == span.until => filter[span.property]["$lt"] = Json::String(value),
            _ => filter[&name] = Json::String(value),
        }
    }
    let mut asked = json!({ "filter": filter, "sort": sort });
    if page != json!({}) {
        asked["page"] = page;
    }
    super::find(call, table, &asked.to_string(), None, |_| (), None).await
}

fn sorting(text: &str) -> Json {
    let criterion = |name: &str| match name.trim().strip_prefix('-') {
        Some(name) => json!({ "field": name, "order": "DESC" }),
        None => json!({ "field": name.trim(), "order": "ASC" }),
    };
    text.split(',').map(criterion).collect()
}
