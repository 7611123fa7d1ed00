//! EvaluateDecision.

use engine::DecisionKey;
use store::log::{Answer, Command, DecisionRef, Evaluate, Evaluated};
use store::row::{EvaluatedDecision, MatchedRule};
use tonic::{Response, Status};

use super::call::{Call, key};
use super::refusal::unexpected;
use super::wire;

const INTENT: &str = "EVALUATE";

pub(super) async fn evaluate(
    call: Call<'_>,
    request: wire::EvaluateDecisionRequest,
) -> Result<Response<wire::EvaluateDecisionResponse>, Status> {
    let decision = match (request.decision_id.as_str(), request.decision_key) {
        ("", given) => DecisionRef::Key(DecisionKey(key(given))),
        // Whoever gives a key as well means that version.
        (_, given) if given != 0 => DecisionRef::Key(DecisionKey(key(given))),
        (id, _) => DecisionRef::Id(id.into()),
    };
    let tenant = call.tenant("EvaluateDecision", &request.tenant_id)?;
    let variables = call.variables(&request.variables)?;
    let command = Command::Evaluate(Evaluate { decision, tenant, variables });
    match call.submit(INTENT, command).await? {
        Answer::Evaluated(evaluated) => Ok(Response::new(response(&evaluated))),
        other => Err(unexpected(&other)),
    }
}

fn response(evaluated: &Evaluated) -> wire::EvaluateDecisionResponse {
    // A failure has no output here; over REST it is `null`.
    let (decision_output, failed_decision_id, failure_message) = match &evaluated.failure {
        Some(failure) => (String::new(), failure.decision_id.to_string(), failure.message.to_string()),
        None => (evaluated.output.to_string(), String::new(), String::new()),
    };
    wire::EvaluateDecisionResponse {
        decision_key: evaluated.decision.key.0 as i64,
        decision_id: evaluated.decision.id.to_string(),
        decision_name: evaluated.decision.name.to_string(),
        decision_version: evaluated.decision.version,
        decision_requirements_id: evaluated.requirements_id.to_string(),
        decision_requirements_key: evaluated.requirements.0 as i64,
        decision_output,
        evaluated_decisions: evaluated.decisions.iter().map(decision).collect(),
        failed_decision_id,
        failure_message,
        tenant_id: evaluated.tenant.to_string(),
        decision_instance_key: evaluated.key.0 as i64,
        decision_evaluation_key: evaluated.key.0 as i64,
    }
}

fn decision(decision: &EvaluatedDecision) -> wire::EvaluatedDecision {
    let input = |input: &store::row::EvaluatedInput| wire::EvaluatedDecisionInput {
        input_id: input.id.to_string(),
        input_name: input.name.to_string(),
        input_value: input.value.to_string(),
    };
    wire::EvaluatedDecision {
        // A knowledge model has neither key nor version.
        decision_key: decision.decision.map_or(-1, |key| key.0 as i64),
        decision_id: decision.decision_id.to_string(),
        decision_name: decision.name.to_string(),
        decision_version: decision.version.unwrap_or(-1),
        decision_type: decision.kind.to_string(),
        decision_output: decision.output.to_string(),
        matched_rules: decision.rules.iter().map(rule).collect(),
        evaluated_inputs: decision.inputs.iter().map(input).collect(),
        tenant_id: decision.tenant.to_string(),
        decision_evaluation_instance_key: format!("{}-{}", decision.evaluation, decision.place),
    }
}

fn rule(rule: &MatchedRule) -> wire::MatchedDecisionRule {
    let output = |output: &store::row::EvaluatedOutput| wire::EvaluatedDecisionOutput {
        output_id: output.id.to_string(),
        output_name: output.name.to_string(),
        output_value: output.value.to_string(),
    };
    wire::MatchedDecisionRule {
        rule_id: rule.id.to_string(),
        rule_index: rule.index as i32,
        evaluated_outputs: rule.outputs.iter().map(output).collect(),
    }
}
