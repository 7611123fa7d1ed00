//! Global listeners: those who listen to all user tasks, whatever their process.

use axum::http::Method;
use axum::response::Response;
use store::log::{Command, NewListener, PutListener};
use store::query::{Op, Scalar};

use super::answer;
use super::call::Call;
use super::describe::Kind;
use super::layout::{Cell, Layout, column};
use super::operation::{Input, Operation, Output};
use super::search::{Operators, Value, holds};
use super::shape::{Field, Fields, Shape, field};
use super::statistics::groups::{self, Part};
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
        input: Input::Optional(&SEARCH),
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

const SORTS: &[&str] = &["id", "type", "afterNonGlobal", "priority", "source"];

static SEARCH: Shape = Shape {
    name: "GlobalTaskListenerSearchQueryRequest",
    fields: &[
        field("filter", Kind::Fields(&FILTER), "Which"),
        field("sort", Kind::FieldsList(&SORT), "By what they are sorted; by their id if left out"),
        field("page", Kind::Fields(&groups::PAGE_ANY), "Which part of them; the first if left out"),
    ],
};

static FILTER: Shape = Shape {
    name: "GlobalTaskListenerSearchQueryFilterRequest",
    fields: &[
        field("id", Kind::Condition(Value::Text, Operators::Like), "Called like this"),
        field("type", Kind::Condition(Value::Text, Operators::Like), "With jobs of these types"),
        field("retries", Kind::Condition(Value::Int32, Operators::Ordered), "With so many retries"),
        field("eventTypes", Kind::ConditionList(Value::Word(EVENTS), Operators::Like), "That listen to one of these"),
        field("afterNonGlobal", Kind::Boolean, "Asked after those of the process, or before"),
        field("priority", Kind::Condition(Value::Int32, Operators::Ordered), "With this priority"),
        field("source", Kind::Condition(Value::Word(SOURCES), Operators::Like), "Put in place in this way"),
    ],
};

static SORT: Shape = Shape {
    name: "GlobalTaskListenerSearchQuerySortRequest",
    fields: &[
        field("field", Kind::Word(SORTS), "What is compared").required(),
        field("order", Kind::Word(&["ASC", "DESC"]), "Which way; ASC if left out"),
    ],
};

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
    let mut fields = call.optional(&SEARCH)?;
    let wanted = fields.object("filter").map(Wanted::read).unwrap_or_default();
    let by = groups::sorting(fields.objects("sort"), SORTS)?;
    let part = Part::any(&call, fields.object("page"))?;
    let mut found = all(call.host()).await?;
    found.retain(|shown| wanted.matches(shown));
    found.sort_by(|a, b| a.id.cmp(&b.id));
    groups::sort(&mut found, &by, |shown, place| shown.value(SORTS[place]));
    Ok(groups::page(found, &part, &LAYOUT))
}

/// What is asked of a listener.
#[derive(Default)]
struct Wanted {
    /// By the name of a property.
    conditions: Vec<(&'static str, Op)>,
    /// One of what it listens to satisfies one of these.
    events: Vec<Vec<Op>>,
}

impl Wanted {
    fn read(mut filter: Fields<'_>) -> Self {
        let mut conditions = Vec::new();
        for name in ["id", "type", "retries", "priority", "source"] {
            conditions.extend(filter.operations(name).into_iter().map(|op| (name, op)));
        }
        let after_own = filter.boolean("afterNonGlobal").map(|flag| ("afterNonGlobal", Op::Eq(Scalar::Bool(flag))));
        conditions.extend(after_own);
        Self { conditions, events: filter.operations_list("eventTypes") }
    }

    fn matches(&self, shown: &Shown) -> bool {
        let heard: Vec<Scalar> = shown.events.iter().map(|event| Scalar::Text(event.clone())).collect();
        let listens = |ops: &Vec<Op>| heard.iter().any(|event| ops.iter().all(|op| holds(op, Some(event))));
        let is_as_asked = self.conditions.iter().all(|(name, op)| holds(op, Some(&shown.value(name))));
        is_as_asked && (self.events.is_empty() || self.events.iter().any(listens))
    }
}

impl Shown {
    /// A property that can be asked for and sorted by.
    fn value(&self, name: &str) -> Scalar {
        match name {
            "type" => Scalar::Text(self.job_type.clone()),
            "retries" => Scalar::Int(self.retries.into()),
            "afterNonGlobal" => Scalar::Bool(self.after_own),
            "priority" => Scalar::Int(self.priority.into()),
            "source" => Scalar::Text(self.source.to_owned()),
            _ => Scalar::Text(self.id.clone()),
        }
    }
}
