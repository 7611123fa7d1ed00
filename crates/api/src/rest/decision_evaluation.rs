//! Evaluating a decision: what is asked, what is answered.

use axum::response::Response;
use engine::{DecisionKey, EvaluationKey};
use store::log::{Answer, Command, DecisionRef, Evaluate, Evaluated};
use store::row::{EvaluatedDecision, EvaluatedInput, EvaluatedOutput, MatchedRule};

use super::answer;
use super::call::Call;
use super::describe::Kind;
use super::layout::{Cell, Layout, column, empty, optional};
use super::shape::{Shape, field};
use crate::error::Failure;
use crate::json;

pub(super) static INSTRUCTION: Shape = Shape {
    name: "DecisionEvaluationInstruction",
    fields: &[
        field("decisionDefinitionId", Kind::Text, "The decision, its latest version; this or the key must be given, not both"),
        field("decisionDefinitionKey", Kind::Key, "One version of a decision"),
        field("variables", Kind::Object, "What it is decided from"),
        field("tenantId", Kind::Text, "The tenant; the caller's own if left out"),
    ],
};

pub(super) static EVALUATED: Layout<Evaluated> = Layout {
    name: "EvaluateDecisionResult",
    columns: &[
        column("decisionDefinitionId", Kind::Text, |evaluated| Cell::Text(&evaluated.decision.id)),
        column("decisionDefinitionKey", Kind::Key, |evaluated| Cell::Key(evaluated.decision.key.0)),
        column("decisionDefinitionName", Kind::Text, |evaluated| Cell::Text(&evaluated.decision.name)),
        column("decisionDefinitionVersion", Kind::Int32, |evaluated| Cell::Number(evaluated.decision.version.into())),
        column("decisionEvaluationKey", Kind::Key, |evaluated| Cell::Key(evaluated.key.0)),
        column("decisionInstanceKey", Kind::Key, |evaluated| Cell::Key(evaluated.key.0)),
        column("decisionRequirementsId", Kind::Text, |evaluated| Cell::Text(&evaluated.requirements_id)),
        column("decisionRequirementsKey", Kind::Key, |evaluated| Cell::Key(evaluated.requirements.0)),
        column("evaluatedDecisions", Kind::NestedList(&EVALUATED_DECISION), |evaluated| {
            Cell::Nested(Box::new(|out| EVALUATED_DECISION.write_list(out, &evaluated.decisions)))
        }),
        optional("failedDecisionDefinitionId", Kind::Text, |evaluated| {
            Cell::maybe_text(evaluated.failure.as_ref().map(|failure| &*failure.decision_id))
        }),
        optional("failureMessage", Kind::Text, |evaluated| {
            Cell::maybe_text(evaluated.failure.as_ref().map(|failure| &*failure.message))
        }),
        column("output", Kind::Text, |evaluated| Cell::Text(&evaluated.output)),
        column("tenantId", Kind::Text, |evaluated| Cell::Text(&evaluated.tenant)),
    ],
};

static EVALUATED_DECISION: Layout<EvaluatedDecision> = Layout {
    name: "EvaluatedDecisionResult",
    columns: &[
        column("decisionDefinitionId", Kind::Text, |decision| Cell::Text(&decision.decision_id)),
        column("decisionDefinitionName", Kind::Text, |decision| Cell::Text(&decision.name)),
        column("decisionDefinitionVersion", Kind::Int32, |decision| version(decision.version)),
        column("decisionDefinitionType", Kind::Text, |decision| Cell::Text(&decision.kind)),
        column("output", Kind::Text, |decision| Cell::Text(&decision.output)),
        column("tenantId", Kind::Text, |decision| Cell::Text(&decision.tenant)),
        column("matchedRules", Kind::NestedList(&MATCHED_RULE), |decision| rules(&decision.rules)),
        column("evaluatedInputs", Kind::NestedList(&EVALUATED_INPUT), |decision| inputs(&decision.inputs)),
        column("decisionDefinitionKey", Kind::Key, |decision| decision_key(decision.decision)),
        column("decisionEvaluationInstanceKey", Kind::Text, |decision| instance_key(decision.evaluation, decision.place)),
    ],
};

pub(super) static EVALUATED_INPUT: Layout<EvaluatedInput> = Layout {
    name: "EvaluatedDecisionInputItem",
    columns: &[
        column("inputId", Kind::Text, |input| Cell::Text(&input.id)),
        column("inputName", Kind::Text, |input| Cell::Text(&input.name)),
        column("inputValue", Kind::Text, |input| Cell::Text(&input.value)),
    ],
};

pub(super) static MATCHED_RULE: Layout<MatchedRule> = Layout {
    name: "MatchedDecisionRuleItem",
    columns: &[
        column("ruleId", Kind::Text, |rule| Cell::Text(&rule.id)),
        column("ruleIndex", Kind::Int32, |rule| Cell::Number(rule.index.into())),
        column("evaluatedOutputs", Kind::NestedList(&EVALUATED_OUTPUT), |rule| {
            Cell::Nested(Box::new(|out| EVALUATED_OUTPUT.write_list(out, &rule.outputs)))
        }),
    ],
};

static EVALUATED_OUTPUT: Layout<EvaluatedOutput> = Layout {
    name: "EvaluatedDecisionOutputItem",
    columns: &[
        column("outputId", Kind::Text, |output| Cell::Text(&output.id)),
        column("outputName", Kind::Text, |output| Cell::Text(&output.name)),
        column("outputValue", Kind::Text, |output| Cell::Text(&output.value)),
        empty("ruleId", Kind::Text),
        empty("ruleIndex", Kind::Int32),
    ],
};

pub(super) fn inputs(inputs: &[EvaluatedInput]) -> Cell<'_> {
    Cell::Nested(Box::new(|out| EVALUATED_INPUT.write_list(out, inputs)))
}

pub(super) fn rules(rules: &[MatchedRule]) -> Cell<'_> {
    Cell::Nested(Box::new(|out| MATCHED_RULE.write_list(out, rules)))
}

/// A knowledge model has no key and no version: clients are told -1.
pub(super) fn decision_key<'v>(decision: Option<DecisionKey>) -> Cell<'v> {
    decision.map_or(Cell::Text("-1"), |key| Cell::Key(key.0))
}

pub(super) fn version<'v>(version: Option<i32>) -> Cell<'v> {
    Cell::Number(version.unwrap_or(-1).into())
}

pub(super) fn instance_key<'v>(evaluation: EvaluationKey, place: u32) -> Cell<'v> {
    Cell::Nested(Box::new(move |out| json::write_text(out, &format!("{evaluation}-{place}"))))
}

pub(super) async fn evaluate(call: Call) -> Result<Response, Failure> {
    let mut fields = call.required(&INSTRUCTION)?;
    let decision = match (fields.shared("decisionDefinitionId"), fields.key("decisionDefinitionKey")?) {
        (Some(_), Some(_)) => {
            return Err(Failure::unreadable("Only one of [decisionDefinitionId, decisionDefinitionKey] is allowed"));
        }
        (Some(id), None) => DecisionRef::Id(id),
        (None, Some(key)) => DecisionRef::Key(DecisionKey(key)),
        (None, None) => {
            return Err(Failure::unreadable("At least one of [decisionDefinitionId, decisionDefinitionKey] is required"));
        }
    };
    let tenant = call.tenant(fields.text("tenantId").as_deref(), "Evaluate Decision")?;
    let variables = fields.document("variables");
    call.submit("EVALUATE", Command::Evaluate(Evaluate { decision, tenant, variables }), |answer| match answer {
        Answer::Evaluated(evaluated) => Some(answer::ok(EVALUATED.to_vec(evaluated))),
        _ => None,
    })
    .await
}
