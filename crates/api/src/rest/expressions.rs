//! Expressions on their own: trying out FEEL.

use axum::http::Method;
use axum::response::Response;
use host::EvaluatedExpression;

use super::answer;
use super::call::Call;
use super::describe::Kind;
use super::layout::{Cell, Layout, column, optional};
use super::operation::{Input, Operation, Output};
use super::shape::{Shape, field};
use crate::error::Failure;

/// Characters of an expression.
const EXPRESSION_CHARS_MAX: usize = 100_000;

pub(super) static OPERATIONS: &[Operation] = &[Operation {
    method: Method::POST,
    path: "/v2/expression/evaluation",
    id: "evaluateExpression",
    summary: "Evaluate a FEEL expression",
    input: Input::Required(&REQUEST),
    query: &[],
    output: Output::Object(&LAYOUT),
    failures: &[],
    run: |call| Box::pin(evaluate(call)),
}];

static REQUEST: Shape = Shape {
    name: "ExpressionEvaluationRequest",
    fields: &[
        field("expression", Kind::Text, "FEEL behind `=`; without it, a text or a number as it stands").required(),
        field("tenantId", Kind::Text, "The tenant; the caller's own if left out"),
        field("variables", Kind::Object, "The variables it may name"),
    ],
};

struct Outcome {
    expression: String,
    evaluated: EvaluatedExpression,
}

static LAYOUT: Layout<Outcome> = Layout {
    name: "ExpressionEvaluationResult",
    columns: &[
        column("expression", Kind::Text, |outcome| Cell::Text(&outcome.expression)),
        optional("result", Kind::Any, |outcome| Cell::Json(&outcome.evaluated.result)),
        // There are no secrets to refer to.
        column("referencedSecrets", Kind::Texts, |_| Cell::Texts(&[])),
        column("warnings", Kind::NestedList(&WARNING), |outcome| {
            Cell::Nested(Box::new(|out| WARNING.write_list(out, &outcome.evaluated.warnings)))
        }),
    ],
};

static WARNING: Layout<String> =
    Layout { name: "ExpressionEvaluationWarningItem", columns: &[column("message", Kind::Text, |warning| Cell::Text(warning))] };

async fn evaluate(call: Call) -> Result<Response, Failure> {
    let mut fields = call.required(&REQUEST)?;
    let expression = fields.text("expression").filter(|text| !text.trim().is_empty());
    let expression = expression.ok_or_else(|| Failure::invalid("No expression provided"))?.into_owned();
    if expression.chars().nth(EXPRESSION_CHARS_MAX).is_some() {
        return Err(Failure::invalid(format!("An expression has at most {EXPRESSION_CHARS_MAX} characters")));
    }
    call.tenant(fields.text("tenantId").as_deref(), "Evaluate Expression")?;
    let evaluated = call.host().evaluate_expression(&expression, fields.document("variables")).await;
    let evaluated = evaluated.map_err(|error| Failure::of_command("EVALUATE", error))?;
    Ok(answer::ok(LAYOUT.to_vec(&Outcome { expression, evaluated })))
}
