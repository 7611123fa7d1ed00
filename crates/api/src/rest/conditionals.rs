//! Start conditions: evaluate them, and start what they are true for.

use axum::http::Method;
use axum::response::Response;
use engine::{DefinitionKey, InstanceKey};
use store::log::{Answer, Command, EvaluateConditions};

use super::answer;
use super::call::Call;
use super::describe::Kind;
use super::layout::{Cell, Layout, column};
use super::messages::{key, tenant};
use super::operation::{Input, Operation, Output};
use super::shape::{Shape, field};
use crate::error::Failure;

pub(super) static OPERATIONS: &[Operation] = &[Operation {
    method: Method::POST,
    path: "/v2/conditionals/evaluation",
    id: "evaluateConditionals",
    summary: "Start an instance at every start condition that is true for some variables",
    input: Input::Required(&INSTRUCTION),
    query: &[],
    output: Output::Object(&EVALUATED),
    failures: &[404, 504],
    run: |call| Box::pin(evaluate(call)),
}];

static INSTRUCTION: Shape = Shape {
    name: "ConditionalEvaluationInstruction",
    fields: &[
        field("tenantId", Kind::Text, "The tenant; the caller's own if left out"),
        field("processDefinitionKey", Kind::Key, "One version of a process; without it, the latest of each"),
        field("variables", Kind::Object, "What the conditions see and the instances begin with").required(),
    ],
};

pub(super) static EVALUATED: Layout<Answer> = Layout {
    name: "EvaluateConditionalResult",
    columns: &[
        column("conditionalEvaluationKey", Kind::Key, key),
        column("tenantId", Kind::Text, tenant),
        column("processInstances", Kind::NestedList(&REFERENCE), |answer| match answer {
            Answer::Started { instances, .. } => Cell::Nested(Box::new(|out| REFERENCE.write_list(out, instances))),
            _ => Cell::Json("[]"),
        }),
    ],
};

static REFERENCE: Layout<(DefinitionKey, InstanceKey)> = Layout {
    name: "ProcessInstanceReference",
    columns: &[
        column("processDefinitionKey", Kind::Key, |(definition, _)| Cell::Key(definition.0)),
        column("processInstanceKey", Kind::Key, |(_, instance)| Cell::Key(instance.0)),
    ],
};

async fn evaluate(call: Call) -> Result<Response, Failure> {
    let mut fields = call.required(&INSTRUCTION)?;
    let variables = fields.document("variables");
    if variables.is_empty() {
        return Err(Failure::invalid("No variables provided."));
    }
    let definition = fields.key("processDefinitionKey")?.map(DefinitionKey);
    let tenant = call.tenant(fields.text("tenantId").as_deref(), "Evaluate Conditional")?;
    let command = Command::EvaluateConditions(EvaluateConditions { tenant, definition, variables });
    call.submit("EVALUATE", command, |answer| match answer {
        Answer::Started { .. } => Some(answer::ok(EVALUATED.to_vec(answer))),
        _ => None,
    })
    .await
}
