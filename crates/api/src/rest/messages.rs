//! Messages: publish, correlate, who waits for them, what was correlated.

use axum::http::Method;
use axum::response::Response;
use store::log::{Answer, Command, Publish};
use store::query::{Entity, Field, Filter, MessageCorrelationView, Op, SubscriptionView};

use super::answer;
use super::call::Call;
use super::describe::Kind;
use super::layout::{Cell, Layout, column, optional};
use super::operation::{Input, Operation, Output};
use super::search::{self, By, Constant, Filterable, Operators, Sortable, Table, Value, filterable, sortable};
use super::shape::{Shape, field};
use crate::error::Failure;

/// The one partition there is.
const PARTITION: i64 = 1;
const STATES: &[&str] = &["CORRELATED", "CREATED", "DELETED", "MIGRATED"];

pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::POST,
        path: "/v2/messages/publication",
        id: "publishMessage",
        summary: "Publish a message to those that wait for it and, while it lives, to those that will",
        input: Input::Required(&PUBLICATION),
        query: &[],
        output: Output::Object(&PUBLISHED),
        failures: &[409, 504],
        run: |call| Box::pin(publish(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/messages/correlation",
        id: "correlateMessage",
        summary: "Give a message to those that wait for it now; somebody must",
        input: Input::Required(&CORRELATION),
        query: &[],
        output: Output::Object(&CORRELATED),
        failures: &[404, 504],
        run: |call| Box::pin(correlate(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/message-subscriptions/search",
        id: "searchMessageSubscriptions",
        summary: "Search who waits, or waited, for messages; start events are not among them",
        input: Input::Search(&SUBSCRIPTIONS),
        query: &[],
        output: Output::Page(&SUBSCRIPTION),
        failures: &[],
        run: |call| {
            Box::pin(async move {
                let within = Filter::Is(Field::InstanceKey, Op::Exists(true));
                search::run_within(&call, &SUBSCRIPTIONS, Some(within), |_| ()).await
            })
        },
    },
    Operation {
        method: Method::POST,
        path: "/v2/correlated-message-subscriptions/search",
        id: "searchCorrelatedMessageSubscriptions",
        summary: "Search which message went to whom",
        input: Input::Search(&CORRELATIONS),
        query: &[],
        output: Output::Page(&CORRELATED_SUBSCRIPTION),
        failures: &[],
        run: |call| Box::pin(async move { search::run(&call, &CORRELATIONS).await }),
    },
];

static PUBLICATION: Shape = Shape {
    name: "MessagePublicationRequest",
    fields: &[
        field("name", Kind::Text, "Name of the message").required(),
        field("correlationKey", Kind::Text, "Whom it is for; nothing for start events alone"),
        field(
            "timeToLive",
            Kind::Int64,
            "How many milliseconds it is kept for those that do not wait yet; 0, not at all, if left out",
        ),
        field("messageId", Kind::Text, "While it is kept, no second message with this id is taken"),
        field("variables", Kind::Object, "What it brings"),
        field("tenantId", Kind::Text, "The tenant; the caller's own if left out"),
    ],
};

static CORRELATION: Shape = Shape {
    name: "MessageCorrelationRequest",
    fields: &[
        field("name", Kind::Text, "Name of the message").required(),
        field("correlationKey", Kind::Text, "Whom it is for; nothing for start events alone"),
        field("variables", Kind::Object, "What it brings"),
        field("tenantId", Kind::Text, "The tenant; the caller's own if left out"),
    ],
};

pub(super) static PUBLISHED: Layout<Answer> = Layout {
    name: "MessagePublicationResult",
    columns: &[column("tenantId", Kind::Text, tenant), column("messageKey", Kind::Key, key)],
};

pub(super) static CORRELATED: Layout<Answer> = Layout {
    name: "MessageCorrelationResult",
    columns: &[
        column("tenantId", Kind::Text, tenant),
        column("messageKey", Kind::Key, key),
        column("processInstanceKey", Kind::Key, |answer| match answer {
            Answer::Correlated { instance, .. } => Cell::Key(instance.0),
            _ => Cell::Null,
        }),
    ],
};

/// Of a message, a signal or an evaluation of conditions.
pub(super) fn tenant(answer: &Answer) -> Cell<'_> {
    match answer {
        Answer::Published { tenant, .. } | Answer::Correlated { tenant, .. } | Answer::Started { tenant, .. } => {
            Cell::Text(tenant)
        }
        _ => Cell::Null,
    }
}

pub(super) fn key(answer: &Answer) -> Cell<'_> {
    match answer {
        Answer::Published { key, .. } | Answer::Correlated { key, .. } | Answer::Started { key, .. } => Cell::Key(*key),
        _ => Cell::Null,
    }
}

async fn publish(call: Call) -> Result<Response, Failure> {
    let mut fields = call.required(&PUBLICATION)?;
    let name = fields.shared("name").filter(|name| !name.is_empty()).ok_or_else(|| Failure::invalid("No name provided."))?;
    let publish = Publish {
        tenant: call.tenant(fields.text("tenantId").as_deref(), "Publish Message")?,
        name,
        correlation_key: fields.shared("correlationKey").unwrap_or_else(|| "".into()),
        id: fields.shared("messageId").unwrap_or_else(|| "".into()),
        time_to_live: fields.number("timeToLive").unwrap_or(0),
        variables: fields.document("variables"),
    };
    call.submit("PUBLISH", Command::Publish(publish), |answer| match answer {
        Answer::Published { .. } => Some(answer::ok(PUBLISHED.to_vec(answer))),
        _ => None,
    })
    .await
}

async fn correlate(call: Call) -> Result<Response, Failure> {
    let mut fields = call.required(&CORRELATION)?;
    let name = fields.shared("name").filter(|name| !name.is_empty());
    let publish = Publish {
        name: name.ok_or_else(|| Failure::invalid("No messageName provided."))?,
        tenant: call.tenant(fields.text("tenantId").as_deref(), "Correlate Message")?,
        correlation_key: fields.shared("correlationKey").unwrap_or_else(|| "".into()),
        id: "".into(),
        time_to_live: 0,
        variables: fields.document("variables"),
    };
    call.submit("CORRELATE", Command::Correlate(publish), |answer| match answer {
        Answer::Correlated { .. } => Some(answer::ok(CORRELATED.to_vec(answer))),
        _ => None,
    })
    .await
}

pub(super) static SUBSCRIPTIONS: Table = Table {
    name: "MessageSubscription",
    entity: Entity::MessageSubscriptions,
    filters: &[
        filterable("messageSubscriptionKey", Field::SubscriptionKey, Value::Key, Operators::Basic),
        filterable("processDefinitionKey", Field::DefinitionKey, Value::Key, Operators::Basic),
        filterable("processDefinitionId", Field::ProcessId, Value::Text, Operators::Like),
        filterable("processInstanceKey", Field::InstanceKey, Value::Key, Operators::Basic),
        filterable("elementId", Field::ElementId, Value::Text, Operators::Like),
        filterable("elementInstanceKey", Field::ElementKey, Value::Key, Operators::Basic),
        filterable("messageSubscriptionState", Field::SubscriptionState, Value::Word(STATES), Operators::Like),
        filterable("lastUpdatedDate", Field::Updated, Value::Time, Operators::Ordered),
        filterable("messageName", Field::MessageName, Value::Text, Operators::Like),
        filterable("correlationKey", Field::CorrelationKey, Value::Text, Operators::Like),
        filterable("tenantId", Field::Tenant, Value::Text, Operators::Like),
    ],
    sorts: &[
        sortable("messageSubscriptionKey", Field::SubscriptionKey, Value::Key),
        sortable("processDefinitionId", Field::ProcessId, Value::Text),
        sortable("processInstanceKey", Field::InstanceKey, Value::Key),
        sortable("elementId", Field::ElementId, Value::Text),
        sortable("elementInstanceKey", Field::ElementKey, Value::Key),
        sortable("messageSubscriptionState", Field::SubscriptionState, Value::Text),
        sortable("lastUpdatedDate", Field::Updated, Value::Time),
        sortable("messageName", Field::MessageName, Value::Text),
        sortable("correlationKey", Field::CorrelationKey, Value::Text),
        sortable("tenantId", Field::Tenant, Value::Text),
    ],
};

pub(super) static SUBSCRIPTION: Layout<SubscriptionView> = Layout {
    name: "MessageSubscriptionResult",
    columns: &[
        column("messageSubscriptionKey", Kind::Key, |view| Cell::Key(view.key.0)),
        column("processDefinitionId", Kind::Text, |view| Cell::Text(&view.process_id)),
        optional("processDefinitionKey", Kind::Key, |view| Cell::Key(view.definition.0)),
        optional("processInstanceKey", Kind::Key, |view| Cell::maybe(view.instance, |instance| Cell::Key(instance.0))),
        optional("rootProcessInstanceKey", Kind::Key, |view| Cell::maybe(view.root, |root| Cell::Key(root.0))),
        column("elementId", Kind::Text, |view| Cell::Text(&view.element_id)),
        optional("elementInstanceKey", Kind::Key, |view| Cell::maybe(view.element_instance, |element| Cell::Key(element.0))),
        column("messageSubscriptionState", Kind::Word(STATES), |view| Cell::Text(view.state.word())),
        column("lastUpdatedDate", Kind::Time, |view| Cell::Time(view.updated)),
        column("messageName", Kind::Text, |view| Cell::Text(&view.name)),
        optional("correlationKey", Kind::Text, |view| Cell::Text(&view.correlation_key)),
        column("tenantId", Kind::Text, |view| Cell::Text(&view.tenant)),
    ],
};

static CORRELATIONS: Table = Table {
    name: "CorrelatedMessageSubscription",
    entity: Entity::MessageCorrelations,
    filters: &[
        filterable("correlationKey", Field::CorrelationKey, Value::Text, Operators::Like),
        filterable("correlationTime", Field::Correlated, Value::Time, Operators::Ordered),
        filterable("elementId", Field::ElementId, Value::Text, Operators::Like),
        filterable("elementInstanceKey", Field::ElementKey, Value::Key, Operators::Basic),
        filterable("messageKey", Field::MessageKey, Value::Key, Operators::Basic),
        filterable("messageName", Field::MessageName, Value::Text, Operators::Like),
        Filterable {
            name: "partitionId",
            by: By::Fixed(Constant::Number(PARTITION)),
            value: Value::Int32,
            operators: Operators::Ordered,
        },
        filterable("processDefinitionId", Field::ProcessId, Value::Text, Operators::Like),
        filterable("processDefinitionKey", Field::DefinitionKey, Value::Key, Operators::Basic),
        filterable("processInstanceKey", Field::InstanceKey, Value::Key, Operators::Basic),
        filterable("subscriptionKey", Field::SubscriptionKey, Value::Key, Operators::Basic),
        filterable("tenantId", Field::Tenant, Value::Text, Operators::Like),
    ],
    sorts: &[
        sortable("correlationKey", Field::CorrelationKey, Value::Text),
        sortable("correlationTime", Field::Correlated, Value::Time),
        sortable("elementId", Field::ElementId, Value::Text),
        sortable("elementInstanceKey", Field::ElementKey, Value::Key),
        sortable("messageKey", Field::MessageKey, Value::Key),
        sortable("messageName", Field::MessageName, Value::Text),
        Sortable { name: "partitionId", field: None, value: Value::Int32 },
        sortable("processDefinitionId", Field::ProcessId, Value::Text),
        sortable("processDefinitionKey", Field::DefinitionKey, Value::Key),
        sortable("processInstanceKey", Field::InstanceKey, Value::Key),
        sortable("subscriptionKey", Field::SubscriptionKey, Value::Key),
        sortable("tenantId", Field::Tenant, Value::Text),
    ],
};

pub(super) static CORRELATED_SUBSCRIPTION: Layout<MessageCorrelationView> = Layout {
    name: "CorrelatedMessageSubscriptionResult",
    columns: &[
        optional("correlationKey", Kind::Text, |view| Cell::Text(&view.correlation_key)),
        column("correlationTime", Kind::Time, |view| Cell::Time(view.correlated)),
        column("elementId", Kind::Text, |view| Cell::Text(&view.element_id)),
        optional("elementInstanceKey", Kind::Key, |view| Cell::maybe(view.element_instance, |element| Cell::Key(element.0))),
        column("messageKey", Kind::Key, |view| Cell::Key(view.message)),
        column("messageName", Kind::Text, |view| Cell::Text(&view.message_name)),
        column("partitionId", Kind::Int32, |_| Cell::Number(PARTITION)),
        column("processDefinitionId", Kind::Text, |view| Cell::Text(&view.process_id)),
        column("processDefinitionKey", Kind::Key, |view| Cell::Key(view.definition.0)),
        column("processInstanceKey", Kind::Key, |view| Cell::Key(view.instance.0)),
        optional("rootProcessInstanceKey", Kind::Key, |view| Cell::Key(view.root.0)),
        column("subscriptionKey", Kind::Key, |view| Cell::Key(view.subscription.0)),
        column("tenantId", Kind::Text, |view| Cell::Text(&view.tenant)),
    ],
};
