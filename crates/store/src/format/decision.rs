//! Evaluated decisions: whole in answers, and what searches do not look into as one column of a row.

use super::bytes::record;
use crate::row::{EvaluatedDecision, EvaluatedInput, EvaluatedOutput, EvaluationOrigin, MatchedRule};

/// Inputs and rules of an evaluated decision, which are only ever read together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EvaluatedDetails {
    pub inputs: Vec<EvaluatedInput>,
    pub rules: Vec<MatchedRule>,
}

record!(EvaluatedDetails { inputs, rules });
record!(EvaluatedInput { id, name, value });
record!(MatchedRule { id, index, outputs });
record!(EvaluatedOutput { id, name, value });
record!(EvaluationOrigin { instance, definition, element_instance });
record!(EvaluatedDecision {
    evaluation,
    place,
    decision,
    decision_id,
    name,
    version,
    kind,
    requirements,
    root_decision,
    tenant,
    evaluated,
    output,
    inputs,
    rules,
    origin,
});
