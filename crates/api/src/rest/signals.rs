//! Signals: told to all that wait for them.

use axum::http::Method;
use axum::response::Response;
use store::log::{Answer, Command};

use super::answer;
use super::call::Call;
use super::describe::Kind;
use super::layout::{Layout, column};
use super::messages::{key, tenant};
use super::operation::{Input, Operation, Output};
use super::shape::{Shape, field};
use crate::error::Failure;

pub(super) static OPERATIONS: &[Operation] = &[Operation {
    method: Method::POST,
    path: "/v2/signals/broadcast",
    id: "broadcastSignal",
    summary: "Broadcast a signal to all that wait for it",
    input: Input::Required(&BROADCAST),
    query: &[],
    output: Output::Object(&SENT),
    failures: &[504],
    run: |call| Box::pin(broadcast(call)),
}];

static BROADCAST: Shape = Shape {
    name: "SignalBroadcastRequest",
    fields: &[
        field("signalName", Kind::Text, "Name of the signal").required(),
        field("variables", Kind::Object, "What it brings"),
        field("tenantId", Kind::Text, "The tenant; the caller's own if left out"),
    ],
};

static SENT: Layout<Answer> = Layout {
    name: "SignalBroadcastResult",
    columns: &[column("tenantId", Kind::Text, tenant), column("signalKey", Kind::Key, key)],
};

async fn broadcast(call: Call) -> Result<Response, Failure> {
    let mut fields = call.required(&BROADCAST)?;
    let name = fields.shared("signalName").ok_or_else(|| Failure::invalid("No signalName provided."))?;
    let tenant = call.tenant(fields.text("tenantId").as_deref(), "Broadcast Signal")?;
    let variables = fields.document("variables");
    call.submit("BROADCAST", Command::Broadcast { tenant, name, variables }, |answer| match answer {
        Answer::Published { .. } => Some(answer::ok(SENT.to_vec(answer))),
        _ => None,
    })
    .await
}
