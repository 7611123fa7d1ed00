//! Timers: list, reschedule, fire before their time.

use axum::http::Method;
use axum::response::Response;
use engine::TimerKey;
use serde_json::json;
use store::log::Command;
use store::query::{Entity, Field, TimerView};

use super::call::Call;
use super::describe::Kind;
use super::layout::{Cell, Layout, column, optional};
use super::operation::{Input, Operation, Output};
use super::search::listed::{self, AFTER, BEFORE, FROM, LIMIT, SORT, Span};
use super::search::{self, Operators, Table, Value, filterable, sortable};
use super::shape::{Shape, field};
use super::time;
use crate::error::Failure;

const NOUN: &str = "Timer";
const KINDS: &[&str] = &["DATE", "DURATION", "CYCLE"];
const STATES: &[&str] = &["PENDING", "FIRED", "CANCELED"];

pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::GET,
        path: "/v1/timers",
        id: "listTimers",
        summary: "List timers, the next one due first",
        input: Input::None,
        query: &[
            field("processDefinitionId", Kind::Text, "Of this process"),
            field("processDefinitionKey", Kind::Key, "Of this version of a process"),
            field("processInstanceKey", Kind::Key, "Of this process instance"),
            field("elementId", Kind::Text, "Of this event"),
            field("elementInstanceKey", Kind::Key, "Of this element instance"),
            field("state", Kind::Word(STATES), "In this state"),
            field("dueAfter", Kind::Time, "Due then or later"),
            field("dueBefore", Kind::Time, "Due before then"),
            SORT,
            LIMIT,
            FROM,
            AFTER,
            BEFORE,
        ],
        output: Output::Page(&LAYOUT),
        failures: &[],
        run: |call| Box::pin(list(call)),
    },
    Operation {
        method: Method::GET,
        path: "/v1/timers/{timerKey}",
        id: "getTimer",
        summary: "A timer, pending or not",
        input: Input::None,
        query: &[],
        output: Output::Object(&LAYOUT),
        failures: &[404],
        run: |call| Box::pin(async move { search::get(&call, Entity::Timers, NOUN).await }),
    },
    Operation {
        method: Method::PATCH,
        path: "/v1/timers/{timerKey}",
        id: "rescheduleTimer",
        summary: "Let a pending timer fire at another time",
        input: Input::Required(&RESCHEDULING),
        query: &[],
        output: Output::NoContent,
        failures: &[404, 504],
        run: |call| Box::pin(reschedule(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v1/timers/{timerKey}/fire",
        id: "fireTimer",
        summary: "Let a pending timer fire now",
        input: Input::Optional(&FIRING),
        query: &[],
        output: Output::NoContent,
        failures: &[404, 504],
        run: |call| Box::pin(fire(call)),
    },
];

static RESCHEDULING: Shape =
    Shape { name: "TimerReschedulingRequest", fields: &[field("dueDate", Kind::Time, "When it is to fire").required()] };

static FIRING: Shape = Shape { name: "TimerFiringRequest", fields: &[] };

async fn reschedule(call: Call) -> Result<Response, Failure> {
    let timer = TimerKey(call.existing_key()?);
    let due = call.required(&RESCHEDULING)?.text("dueDate").ok_or_else(|| Failure::invalid("No dueDate provided."))?;
    let due = time::read(&due, "dueDate")?;
    call.perform("UPDATE", Command::RescheduleTimer { timer, due }).await
}

async fn fire(call: Call) -> Result<Response, Failure> {
    let timer = TimerKey(call.existing_key()?);
    call.optional(&FIRING)?;
    call.perform("TRIGGER", Command::FireTimer { timer }).await
}

async fn list(call: Call) -> Result<Response, Failure> {
    let span = Span { property: "dueDate", since: "dueAfter", until: "dueBefore" };
    listed::run(&call, &TABLE, &span, json!([{ "field": "dueDate" }])).await
}

static TABLE: Table = Table {
    name: "Timer",
    entity: Entity::Timers,
    filters: &[
        filterable("timerKey", Field::TimerKey, Value::Key, Operators::None),
        filterable("processDefinitionId", Field::ProcessId, Value::Text, Operators::None),
        filterable("processDefinitionKey", Field::DefinitionKey, Value::Key, Operators::None),
        filterable("processInstanceKey", Field::InstanceKey, Value::Key, Operators::None),
        filterable("elementId", Field::ElementId, Value::Text, Operators::None),
        filterable("elementInstanceKey", Field::ElementKey, Value::Key, Operators::None),
        filterable("state", Field::TimerState, Value::Word(STATES), Operators::None),
        filterable("dueDate", Field::Due, Value::Time, Operators::Ordered),
    ],
    sorts: &[
        sortable("timerKey", Field::TimerKey, Value::Key),
        sortable("processDefinitionId", Field::ProcessId, Value::Text),
        sortable("processDefinitionKey", Field::DefinitionKey, Value::Key),
        sortable("processInstanceKey", Field::InstanceKey, Value::Key),
        sortable("elementId", Field::ElementId, Value::Text),
        sortable("state", Field::TimerState, Value::Text),
        sortable("dueDate", Field::Due, Value::Time),
        sortable("creationTime", Field::Created, Value::Time),
        sortable("endTime", Field::Ended, Value::Time),
    ],
};

pub(super) static LAYOUT: Layout<TimerView> = Layout {
    name: "TimerResult",
    columns: &[
        column("timerKey", Kind::Key, |view| Cell::Key(view.key.0)),
        column("processDefinitionId", Kind::Text, |view| Cell::Text(&view.process_id)),
        column("processDefinitionKey", Kind::Key, |view| Cell::Key(view.definition.0)),
        // A start event has none of the three.
        optional("processInstanceKey", Kind::Key, |view| Cell::maybe(view.instance, |instance| Cell::Key(instance.0))),
        optional("rootProcessInstanceKey", Kind::Key, |view| Cell::maybe(view.root, |root| Cell::Key(root.0))),
        optional("elementInstanceKey", Kind::Key, |view| Cell::maybe(view.element_instance, |element| Cell::Key(element.0))),
        column("elementId", Kind::Text, |view| Cell::Text(&view.element_id)),
        column("type", Kind::Word(KINDS), |view| Cell::Text(store::words::timer_kind_word(view.kind))),
        column("expression", Kind::Text, |view| Cell::Text(&view.text)),
        column("occurrence", Kind::Int64, |view| Cell::Number(view.number.into())),
        column("dueDate", Kind::Time, |view| Cell::Time(view.due)),
        column("state", Kind::Word(STATES), |view| Cell::Text(view.state.word())),
        column("creationTime", Kind::Time, |view| Cell::Time(view.created)),
        optional("endTime", Kind::Time, |view| Cell::maybe(view.ended, Cell::Time)),
        column("tenantId", Kind::Text, |view| Cell::Text(&view.tenant)),
    ],
};
