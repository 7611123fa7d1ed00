//! Global listeners: those who listen to all user tasks, whatever their process.

use std::cmp::Ordering;

use axum::http::Method;
use axum::response::Response;
use serde_json::{Value as Json, json};
use store::log::{Command, NewListener, PutListener};

use super::answer;
use super::call::Call;
use super::describe::Kind;
use super::layout::{Cell, Layout, column};
use super::operation::{Input, Operation, Output};
use super::shape::{Field, Fields, Shape, field};
use crate::error::Failure;

pub(super) const EVENTS: &[&str] = &["all", "creating", "assigning", "updating", "completing", "canceling"];
const SOURCES: &[&str] = &["CONFIGURATION", "API"];
const RETRIES_DEFAULT: i32 = 3;
const PRIORITY_DEFAULT: i32 = 50;
/// Characters of an id.
const ID_CHARS_MAX: usize = 256;

pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::POST,
        path: "/v2/global-task-listeners",
        id: "createGlobalTaskListener",
        summary: "Let somebody listen to all user tasks",
        input: Input::Required(&CREATION),
        query: &[],
        output: Output::Created(&LAYOUT),
        failures: &[409, 504],
        run: |call| Box::pin(create(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/global-task-listeners/search",
        id: "searchGlobalTaskListeners",
        summary: "Search those who listen to all user tasks",
        input: Input::Json("filter, sort and page", false),
        query: &[],
        output: Output::Page(&LAYOUT),
        failures: &[],
        run: |call| Box::pin(search(call)),
    },
    Operation {
        method: Method::GET,
        path: "/v2/global-task-listeners/{id}",
        id: "getGlobalTaskListener",
        summary: "Somebody who listens to all user tasks",
        input: Input::None,
        query: &[],
        output: Output::Object(&LAYOUT),
        failures: &[404],
        run: |call| Box::pin(get(call)),
    },
    Operation {
        method: Method::PUT,
        path: "/v2/global-task-listeners/{id}",
        id: "updateGlobalTaskListener",
        summary: "Change how somebody listens to all user tasks",
        input: Input::Required(&UPDATE),
        query: &[],
        output: Output::Object(&LAYOUT),
        failures: &[404, 504],
        run: |call| Box::pin(update(call)),
    },
    Operation {
        method: Method::DELETE,
        path: "/v2/global-task-listeners/{id}",
        id: "deleteGlobalTaskListener",
        summary: "Somebody listens no longer",
        input: Input::None,
        query: &[],
        output: Output::NoContent,
        failures: &[404, 504],
        run: |call| Box::pin(delete(call)),
    },
];

const TYPE: Field = field("type", Kind::Text, "The type of its jobs").required();
const EVENT_TYPES: Field = field("eventTypes", Kind::Texts, "What it listens to: all, creating, assigning, …").required();
const RETRIES: Field = field("retries", Kind::Int32, "The retries of its jobs; 3 if left out");
const AFTER: Field = field("afterNonGlobal", Kind::Boolean, "Whether those of the process are asked first; false if left out");
const PRIORITY: Field = field("priority", Kind::Int32, "Higher ones are asked first; 50 if left out");

static CREATION: Shape = Shape {
    name: "CreateGlobalTaskListenerRequest",
    fields: &[field("id", Kind::Text, "What it is called").required(), TYPE, EVENT_TYPES, RETRIES, AFTER, PRIORITY],
};

static UPDATE: Shape = Shape { name: "UpdateGlobalTaskListenerRequest", fields: &[TYPE, EVENT_TYPES, RETRIES, AFTER, PRIORITY] };

#[derive(Debug, Clone)]
struct Shown {
    id: String,
    job_type: String,
    retries: i32,
    events: Vec<String>,
    after_own: bool,
    priority: i32,
    source: &'static str,
}

static LAYOUT: Layout<Shown> = Layout {
    name: "GlobalTaskListenerResult",
    columns: &[
        column("id", Kind::Text, |shown| Cell::Text(&shown.id)),
        column("type", Kind::Text, |shown| Cell::Text(&shown.job_type)),
        column("retries", Kind::Int32, |shown| Cell::Number(shown.retries.into())),
        column("eventTypes", Kind::Texts, |shown| Cell::Strings(&shown.events)),
        column("afterNonGlobal", Kind::Boolean, |shown| Cell::Boolean(shown.after_own)),
        column("priority", Kind::Int32, |shown| Cell::Number(shown.priority.into())),
        column("source", Kind::Word(SOURCES), |shown| Cell::Text(shown.source)),
    ],
};

async fn create(call: Call) -> Result<Response, Failure> {
    let mut fields = call.required(&CREATION)?;
    let id = fields.shared("id").filter(|id| !id.is_empty()).ok_or_else(|| Failure::invalid("No id provided."))?;
    let is_plain = |id: &str| id.chars().all(|c| c.is_ascii_alphanumeric() || "_~@.+-".contains(c));
    if ID_CHARS_MAX < id.chars().count() || !is_plain(&id) {
        let why = format!("The id '{id}' must have at most {ID_CHARS_MAX} letters, digits and characters of '_~@.+-'");
        return Err(Failure::invalid(why));
    }
    let put = described(&mut fields, &id, true)?;
    perform(call, "CREATE", put).await
}

async fn update(call: Call) -> Result<Response, Failure> {
    let id = call.parameter("id")?;
    let mut fields = call.required(&UPDATE)?;
    let put = described(&mut fields, &id, false)?;
    perform(call, "UPDATE", put).await
}

fn described(fields: &mut Fields<'_>, id: &str, is_new: bool) -> Result<PutListener, Failure> {
    let job_type = fields.shared("type").filter(|text| !text.trim().is_empty());
    let job_type = job_type.ok_or_else(|| Failure::invalid("No type provided."))?;
    let events = fields.texts("eventTypes");
    let events: Vec<&str> = events.iter().map(|event| &**event).collect();
    if events.is_empty() {
        return Err(Failure::invalid("No eventTypes provided."));
    }
    if let Some(unknown) = events.iter().find(|event| !EVENTS.contains(event)) {
        return Err(Failure::unreadable(format!("There is no event type '{unknown}'; there are [{}]", EVENTS.join(", "))));
    }
    let retries = fields.int32("retries").unwrap_or(RETRIES_DEFAULT);
    if retries < 1 {
        return Err(Failure::invalid(format!("The value for retries is '{retries}' but must be > 0.")));
    }
    let priority = fields.int32("priority").unwrap_or(PRIORITY_DEFAULT);
    let after_own = fields.boolean("afterNonGlobal").unwrap_or_default();
    let listener = NewListener { id: id.into(), job_type, retries, events: &events, after_own, priority };
    Ok(PutListener::new(listener, is_new))
}

/// Does it and answers with what there is then.
async fn perform(call: Call, intent: &str, put: PutListener) -> Result<Response, Failure> {
    let (host, id) = (call.host().clone(), put.listener.id.clone());
    let is_new = put.is_new;
    let answer = call.submit(intent, Command::PutListener(put), |_| Some(answer::no_content())).await?;
    if answer.status() != axum::http::StatusCode::NO_CONTENT {
        return Ok(answer);
    }
    let shown = all(&host).await?.into_iter().find(|shown| *shown.id == *id);
    let shown = shown.ok_or_else(|| Failure::not_found(format!("Global listener with id '{id}' not found")))?;
    Ok(if is_new { answer::created(LAYOUT.to_vec(&shown)) } else { answer::ok(LAYOUT.to_vec(&shown)) })
}

async fn get(call: Call) -> Result<Response, Failure> {
    let id = call.parameter("id")?;
    let shown = all(call.host()).await?.into_iter().find(|shown| shown.id == id);
    let shown = shown.ok_or_else(|| Failure::not_found(format!("Global listener with id '{id}' not found")))?;
    Ok(answer::ok(LAYOUT.to_vec(&shown)))
}

async fn delete(call: Call) -> Result<Response, Failure> {
    let id = call.parameter("id")?;
    call.perform("DELETE", Command::DeleteListener { id: id.into() }).await
}

async fn all(host: &host::Host) -> Result<Vec<Shown>, Failure> {
    let listeners = host.global_listeners().await.map_err(|error| Failure::of_command("READ", error))?;
    let every = EVENTS.len() - 1;
    let shown = listeners.into_iter().map(|listener| Shown {
        id: listener.id.to_string(),
        job_type: listener.job_type.to_string(),
        retries: listener.retries,
        events: match listener.events.len() == every {
            true => vec!["all".to_owned()],
            false => listener.events.iter().map(|event| event.word().to_owned()).collect(),
        },
        after_own: listener.after_own,
        priority: listener.priority,
        source: if listener.configured { "CONFIGURATION" } else { "API" },
    });
    Ok(shown.collect())
}

/// There are few of them: they are looked through here.
async fn search(call: Call) -> Result<Response, Failure> {
    let text = call.text()?;
    let asked: Json = match text.trim().is_empty() {
        true => json!({}),
        false => serde_json::from_str(text).map_err(|error| Failure::unreadable(format!("Failed to read request: {error}")))?,
    };
    let Json::Object(asked) = asked else { return Err(Failure::unreadable("Failed to read request: expected an object")) };
    if let Some(unknown) = asked.keys().find(|name| !matches!(name.as_str(), "filter" | "sort" | "page")) {
        return Err(Failure::unreadable(format!("Request property [{unknown}] cannot be parsed: there is no such property")));
    }
    let mut found = Vec::new();
    for shown in all(call.host()).await? {
        let row: Json = serde_json::from_slice(&LAYOUT.to_vec(&shown)).unwrap_or_default();
        if matches(&row, asked.get("filter").unwrap_or(&Json::Null))? {
            found.push((row, shown));
        }
    }
    found.sort_by(|(_, a), (_, b)| a.id.cmp(&b.id));
    for criterion in asked.get("sort").and_then(Json::as_array).into_iter().flatten().rev() {
        sort(&mut found, criterion)?;
    }
    let page = asked.get("page").cloned().unwrap_or_default();
    let number = |name: &str, default: usize| match &page[name] {
        Json::Null => Ok(default),
        given => given.as_u64().map(|number| number as usize).ok_or_else(|| {
            Failure::invalid(format!("The value for page.{name} is '{given}' but must be a non-negative number."))
        }),
    };
    let limit = number("limit", call.config().page_limit_default as usize)?.min(call.config().page_limit_max as usize);
    let (from, total) = (number("from", 0)?, found.len());
    let shown: Vec<Shown> = found.into_iter().skip(from).take(limit).map(|(_, shown)| shown).collect();
    let mut out = format!(
        "{{\"page\":{{\"totalItems\":{total},\"hasMoreTotalItems\":false,\"startCursor\":null,\"endCursor\":null}},\"items\":"
    );
    let mut items = Vec::new();
    LAYOUT.write_list(&mut items, &shown);
    out.push_str(&String::from_utf8_lossy(&items));
    out.push('}');
    Ok(answer::ok(out.into_bytes()))
}

fn sort(found: &mut [(Json, Shown)], criterion: &Json) -> Result<(), Failure> {
    let field = criterion["field"].as_str().ok_or_else(|| Failure::invalid("Sort field must not be null."))?;
    if !matches!(field, "id" | "type" | "afterNonGlobal" | "priority" | "source") {
        return Err(Failure::unreadable(format!("There is nothing to sort by called '{field}'")));
    }
    let descends = criterion["order"].as_str().is_some_and(|order| order.eq_ignore_ascii_case("DESC"));
    found.sort_by(|(a, _), (b, _)| {
        let order = compare(&a[field], &b[field]);
        if descends { order.reverse() } else { order }
    });
    Ok(())
}

fn compare(a: &Json, b: &Json) -> Ordering {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => a.as_i64().cmp(&b.as_i64()),
        (Json::Bool(a), Json::Bool(b)) => a.cmp(b),
        (a, b) => a.as_str().cmp(&b.as_str()),
    }
}

fn matches(row: &Json, filter: &Json) -> Result<bool, Failure> {
    let Json::Object(filter) = filter else { return Ok(true) };
    for (name, condition) in filter {
        let holds = match (name.as_str(), condition) {
            (_, Json::Null) => true,
            ("eventTypes", Json::Array(wanted)) => {
                let has = |wanted: &Json| {
                    let listens = row["eventTypes"].as_array().into_iter().flatten();
                    listens.map(|event| satisfies(event, wanted)).find(|held| !matches!(held, Ok(false))).unwrap_or(Ok(false))
                };
                wanted.iter().map(has).find(|held| !matches!(held, Ok(false))).unwrap_or(Ok(wanted.is_empty()))?
            }
            ("id" | "type" | "retries" | "afterNonGlobal" | "priority" | "source", condition) => {
                satisfies(&row[name], condition)?
            }
            _ => {
                let why = format!("Request property [filter.{name}] cannot be parsed: there is no such property");
                return Err(Failure::unreadable(why));
            }
        };
        if !holds {
            return Ok(false);
        }
    }
    Ok(true)
}

fn satisfies(value: &Json, condition: &Json) -> Result<bool, Failure> {
    let Json::Object(operators) = condition else { return Ok(value == condition) };
    for (operator, other) in operators {
        let holds = match operator.as_str() {
            "$eq" => value == other,
            "$neq" => value != other,
            "$exists" => other.as_bool().unwrap_or(true),
            "$in" => other.as_array().is_none_or(|others| others.is_empty() || others.contains(value)),
            "$notIn" => other.as_array().is_none_or(|others| !others.contains(value)),
            "$gt" => compare(value, other).is_gt(),
            "$gte" => compare(value, other).is_ge(),
            "$lt" => compare(value, other).is_lt(),
            "$lte" => compare(value, other).is_le(),
            "$like" => match (value.as_str(), other.as_str()) {
                (Some(text), Some(pattern)) => super::search::like(text, pattern),
                _ => false,
            },
            _ => return Err(Failure::unreadable(format!("There is no operator '{operator}'"))),
        };
        if !holds {
            return Ok(false);
        }
    }
    Ok(true)
}
