//! What is waited for but for time, people and jobs: messages, signals, conditions, called instances.

use axum::http::Method;
use serde_json::json;
use store::query::{Entity, Field, SubscriptionView};

use super::describe::Kind;
use super::layout::{Cell, Layout, column, optional};
use super::operation::{Input, Operation, Output};
use super::search::listed::{self, AFTER, BEFORE, FROM, LIMIT, SORT, Span};
use super::search::{Operators, Table, Value, filterable, sortable};
use super::shape::field;

const KINDS: &[&str] = &["MESSAGE", "SIGNAL", "CONDITION", "CHILD"];

pub(super) static OPERATIONS: &[Operation] = &[Operation {
    method: Method::GET,
    path: "/v1/waits",
    id: "listWaits",
    summary: "List who waits for messages, signals, conditions and called instances, the oldest first",
    input: Input::None,
    query: &[
        field("type", Kind::Word(KINDS), "For this: `CHILD` is an instance that was called"),
        field("name", Kind::Text, "For the message or signal of this name"),
        field("processDefinitionId", Kind::Text, "In this process"),
        field("processDefinitionKey", Kind::Key, "In this version of a process"),
        field("processInstanceKey", Kind::Key, "In this process instance"),
        field("elementId", Kind::Text, "At this event or activity"),
        field("elementInstanceKey", Kind::Key, "In this element instance"),
        field("createdAfter", Kind::Time, "Since then or later"),
        field("createdBefore", Kind::Time, "Since before then"),
        SORT,
        LIMIT,
        FROM,
        AFTER,
        BEFORE,
    ],
    output: Output::Page(&LAYOUT),
    failures: &[],
    run: |call| {
        Box::pin(async move {
            let span = Span { property: "creationTime", since: "createdAfter", until: "createdBefore" };
            listed::run(&call, &TABLE, &span, json!([{ "field": "waitKey" }])).await
        })
    },
}];

static TABLE: Table = Table {
    name: "Wait",
    entity: Entity::Waits,
    filters: &[
        filterable("type", Field::SubscriptionKind, Value::Word(KINDS), Operators::None),
        filterable("name", Field::MessageName, Value::Text, Operators::None),
        filterable("processDefinitionId", Field::ProcessId, Value::Text, Operators::None),
        filterable("processDefinitionKey", Field::DefinitionKey, Value::Key, Operators::None),
        filterable("processInstanceKey", Field::InstanceKey, Value::Key, Operators::None),
        filterable("elementId", Field::ElementId, Value::Text, Operators::None),
        filterable("elementInstanceKey", Field::ElementKey, Value::Key, Operators::None),
        filterable("creationTime", Field::Created, Value::Time, Operators::Ordered),
    ],
    sorts: &[
        sortable("waitKey", Field::SubscriptionKey, Value::Key),
        sortable("type", Field::SubscriptionKind, Value::Text),
        sortable("name", Field::MessageName, Value::Text),
        sortable("processDefinitionId", Field::ProcessId, Value::Text),
        sortable("processInstanceKey", Field::InstanceKey, Value::Key),
        sortable("elementId", Field::ElementId, Value::Text),
        sortable("creationTime", Field::Created, Value::Time),
    ],
};

pub(super) static LAYOUT: Layout<SubscriptionView> = Layout {
    name: "WaitResult",
    columns: &[
        column("waitKey", Kind::Key, |view| Cell::Key(view.key.0)),
        column("type", Kind::Word(KINDS), |view| Cell::Text(view.kind.word())),
        column("name", Kind::Text, |view| Cell::Text(&view.name)),
        column("correlationKey", Kind::Text, |view| Cell::Text(&view.correlation_key)),
        column("processDefinitionId", Kind::Text, |view| Cell::Text(&view.process_id)),
        column("processDefinitionKey", Kind::Key, |view| Cell::Key(view.definition.0)),
        // A start event has none of the three.
        optional("processInstanceKey", Kind::Key, |view| Cell::maybe(view.instance, |instance| Cell::Key(instance.0))),
        optional("rootProcessInstanceKey", Kind::Key, |view| Cell::maybe(view.root, |root| Cell::Key(root.0))),
        optional("elementInstanceKey", Kind::Key, |view| Cell::maybe(view.element_instance, |element| Cell::Key(element.0))),
        column("elementId", Kind::Text, |view| Cell::Text(&view.element_id)),
        column("creationTime", Kind::Time, |view| Cell::Time(view.created)),
        column("lastUpdatedDate", Kind::Time, |view| Cell::Time(view.updated)),
        column("tenantId", Kind::Text, |view| Cell::Text(&view.tenant)),
    ],
};
