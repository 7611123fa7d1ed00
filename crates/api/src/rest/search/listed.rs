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
pub(in crate::rest) const LIMIT: Field = field("limit", Kind::Int32, "How many at most; 100 if left out");
pub(in crate::rest) const FROM: Field = field("from", Kind::Int32, "How many to leave out before the first; 0 if left out");
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
pub(in crate::rest) async fn run(call: &Call, table: &Table, span: &Span, sort: Json) -> Result<Response, Failure> {
    let asked = asked(call.parameters()?, span, sort)?.to_string();
    super::find(call, table, &asked, None, |_| (), None).await
}

/// The same as a search would ask it in its body.
fn asked(parameters: Vec<(String, String)>, span: &Span, mut sort: Json) -> Result<Json, Failure> {
    let (mut filter, mut page) = (json!({}), json!({}));
    for (name, value) in parameters {
        match name.as_str() {
            "sort" => sort = sorting(&value),
            "limit" | "from" => {
                let number = value.parse::<i32>();
                let refused = |_| Failure::unreadable(format!("Failed to convert '{name}' with value: '{value}'"));
                page[&name] = json!(number.map_err(refused)?);
            }
            // A plus of a cursor that was not encoded has become a space, which no cursor has.
            "after" | "before" => page[&name] = Json::String(value.replace(' ', "+")),
            since if since == span.since => filter[span.property]["$gte"] = Json::String(value),
            until if until == span.until => filter[span.property]["$lt"] = Json::String(value),
            _ => filter[&name] = Json::String(value),
        }
    }
    let mut asked = json!({ "filter": filter, "sort": sort });
    if page != json!({}) {
        asked["page"] = page;
    }
    Ok(asked)
}

fn sorting(text: &str) -> Json {
    let criterion = |name: &str| match name.trim().strip_prefix('-') {
        Some(name) => json!({ "field": name, "order": "DESC" }),
        None => json!({ "field": name.trim(), "order": "ASC" }),
    };
    text.split(',').map(criterion).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPAN: Span = Span { property: "timestamp", since: "since", until: "until" };

    fn of(query: &[(&str, &str)]) -> Result<Json, Failure> {
        let parameters = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        asked(parameters, &SPAN, json!([{ "field": "timestamp" }]))
    }

    #[test]
    fn parameters_are_what_a_search_asks() {
        let nothing = json!({ "filter": {}, "sort": [{ "field": "timestamp" }] });
        assert_eq!(of(&[]).ok(), Some(nothing));
        let query = [("action", "mail"), ("since", "a"), ("until", "b"), ("sort", "worker, -timestamp"), ("limit", "5")];
        let sort = json!([{ "field": "worker", "order": "ASC" }, { "field": "timestamp", "order": "DESC" }]);
        let filter = json!({ "action": "mail", "timestamp": { "$gte": "a", "$lt": "b" } });
        assert_eq!(of(&query).ok(), Some(json!({ "filter": filter, "sort": sort, "page": { "limit": 5 } })));
        assert!(of(&[("limit", "many")]).is_err());
    }

    #[test]
    fn a_cursor_may_be_left_as_it_came() {
        let asked = of(&[("after", "AXu0 WoD=")]).ok();
        assert_eq!(asked.map(|asked| asked["page"]["after"].clone()), Some(json!("AXu0+WoD=")));
    }
}
