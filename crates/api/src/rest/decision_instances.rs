//! Decision instances, which are what evaluations looked at: get, search. An evaluation that failed leaves none.

use axum::http::Method;
use axum::response::Response;
use engine::EvaluationKey;
use store::log::Command;
use store::query::{Entity, EvaluatedDecisionView, Field, Filter, Op, Scalar};

use super::call::Call;
use super::decision_evaluation::{EVALUATED_INPUT, MATCHED_RULE, decision_key, inputs, instance_key, rules, version};
use super::describe::Kind;
use super::layout::{Cell, Layout, column, empty, optional};
use super::operation::{Input, Operation, Output};
use super::search::{self, By, Constant, Filterable, Operators, Sortable, Table, Value, filterable, sortable};
use super::shape::{Shape, field};
use crate::error::Failure;

const EVALUATED: &str = "EVALUATED";
const STATES: &[&str] = &[EVALUATED, "FAILED", "UNSPECIFIED", "UNKNOWN"];
const TYPES: &[&str] = &["DECISION_TABLE", "LITERAL_EXPRESSION", "UNSPECIFIED", "UNKNOWN"];

pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::POST,
        path: "/v2/decision-instances/search",
        id: "searchDecisionInstances",
        summary: "Search decision instances",
        input: Input::Search(&TABLE),
        query: &[],
        output: Output::Page(&FOUND),
        failures: &[],
        run: |call| Box::pin(async move { search::run(&call, &TABLE).await }),
    },
    Operation {
        method: Method::GET,
        path: "/v2/decision-instances/{decisionEvaluationInstanceKey}",
        id: "getDecisionInstance",
        summary: "A decision instance with its inputs and the rules that matched",
        input: Input::None,
        query: &[],
        output: Output::Object(&LAYOUT),
        failures: &[404],
        run: |call| Box::pin(get(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/decision-instances/{decisionEvaluationKey}/deletion",
        id: "deleteDecisionInstance",
        summary: "Delete all decision instances of an evaluation",
        input: Input::Optional(&DELETION),
        query: &[],
        output: Output::NoContent,
        failures: &[404, 504],
        run: |call| Box::pin(delete(call)),
    },
];

static DELETION: Shape = Shape {
    name: "DeleteDecisionInstanceRequest",
    fields: &[field("operationReference", Kind::Int64, "A number of the caller's own; it means nothing to the server")],
};

async fn delete(call: Call) -> Result<Response, Failure> {
    let evaluation = EvaluationKey(call.existing_key()?);
    call.optional(&DELETION)?;
    call.perform("DELETE", Command::DeleteEvaluation { evaluation }).await
}

async fn get(call: Call) -> Result<Response, Failure> {
    let key = call.segment();
    if !is_key(key) {
        let name = "decisionEvaluationInstanceKey";
        return Err(Failure::invalid(format!("The provided {name} '{key}' is none: two whole numbers with '-' between them")));
    }
    let filter = Filter::Is(Field::EvaluatedId, Op::Eq(Scalar::Text(key.to_owned())));
    let missing = || Failure::not_found(format!("Decision Instance with id '{key}' not found"));
    search::get_by(&call, Entity::EvaluatedDecisions, filter).await?.ok_or_else(missing)
}

/// The key of an evaluation and a place in it: `12-1`.
fn is_key(text: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once('-').is_some_and(|(evaluation, place)| is_number(evaluation) && is_number(place))
}

pub(super) static TABLE: Table = Table {
    name: "DecisionInstance",
    entity: Entity::EvaluatedDecisions,
    filters: &[
        filterable("decisionEvaluationInstanceKey", Field::EvaluatedId, Value::Text, Operators::Basic),
        Filterable {
            name: "state",
            by: By::Fixed(Constant::Text(EVALUATED)),
            value: Value::Word(STATES),
            operators: Operators::Like,
        },
        Filterable { name: "evaluationFailure", by: By::Fixed(Constant::Absent), value: Value::Text, operators: Operators::None },
        filterable("evaluationDate", Field::Evaluated, Value::Time, Operators::Ordered),
        filterable("decisionDefinitionId", Field::DecisionId, Value::Text, Operators::None),
        filterable("decisionDefinitionName", Field::DecisionName, Value::Text, Operators::None),
        filterable("decisionDefinitionVersion", Field::Version, Value::Int32, Operators::None),
        filterable("decisionDefinitionType", Field::DecisionKind, Value::Word(TYPES), Operators::None),
        filterable("tenantId", Field::Tenant, Value::Text, Operators::None),
        filterable("decisionEvaluationKey", Field::EvaluationKey, Value::Key, Operators::None),
        filterable("processDefinitionKey", Field::DefinitionKey, Value::Key, Operators::None),
        filterable("processInstanceKey", Field::InstanceKey, Value::Key, Operators::None),
        filterable("decisionDefinitionKey", Field::DecisionKey, Value::Key, Operators::Basic),
        filterable("elementInstanceKey", Field::ElementKey, Value::Key, Operators::Basic),
        filterable("rootDecisionDefinitionKey", Field::RootDecisionKey, Value::Key, Operators::Basic),
        filterable("decisionRequirementsKey", Field::RequirementsKey, Value::Key, Operators::Basic),
    ],
    sorts: &[
        sortable("decisionDefinitionId", Field::DecisionId, Value::Text),
        sortable("decisionDefinitionKey", Field::DecisionKey, Value::Key),
        sortable("decisionDefinitionName", Field::DecisionName, Value::Text),
        sortable("decisionDefinitionType", Field::DecisionKind, Value::Text),
        sortable("decisionDefinitionVersion", Field::Version, Value::Int32),
        // By number: as texts the tenth would come before the second.
        sortable("decisionEvaluationInstanceKey", Field::EvaluatedKey, Value::Key),
        sortable("decisionEvaluationKey", Field::EvaluationKey, Value::Key),
        sortable("elementInstanceKey", Field::ElementKey, Value::Key),
        sortable("evaluationDate", Field::Evaluated, Value::Time),
        Sortable { name: "evaluationFailure", field: None, value: Value::Text },
        sortable("processDefinitionKey", Field::DefinitionKey, Value::Key),
        sortable("processInstanceKey", Field::InstanceKey, Value::Key),
        sortable("rootDecisionDefinitionKey", Field::RootDecisionKey, Value::Key),
        Sortable { name: "state", field: None, value: Value::Text },
        sortable("tenantId", Field::Tenant, Value::Text),
    ],
};

/// What is shown of every decision instance, and what comes on top of it.
macro_rules! columns {
    ($($more:expr),*) => {
        &[
            optional("businessId", Kind::Text, |view| Cell::maybe_text(view.business_id.as_deref())),
            column("decisionDefinitionId", Kind::Text, |view| Cell::Text(&view.decision_id)),
            column("decisionDefinitionKey", Kind::Key, |view| decision_key(view.decision)),
            column("decisionDefinitionName", Kind::Text, |view| Cell::Text(&view.name)),
            column("decisionDefinitionType", Kind::Word(TYPES), |view| Cell::Text(type_of(view))),
            column("decisionDefinitionVersion", Kind::Int32, |view| version(view.version)),
            column("decisionEvaluationInstanceKey", Kind::Text, |view| instance_key(view.evaluation, view.place)),
            column("decisionEvaluationKey", Kind::Key, |view| Cell::Key(view.evaluation.0)),
            optional("elementInstanceKey", Kind::Key, |view| Cell::maybe(view.element_instance, |key| Cell::Key(key.0))),
            column("evaluationDate", Kind::Time, |view| Cell::Time(view.evaluated)),
            empty("evaluationFailure", Kind::Text),
            optional("processDefinitionKey", Kind::Key, |view| Cell::maybe(view.definition, |key| Cell::Key(key.0))),
            optional("processInstanceKey", Kind::Key, |view| Cell::maybe(view.instance, |key| Cell::Key(key.0))),
            column("result", Kind::Text, |view| Cell::Text(&view.output)),
            column("rootDecisionDefinitionKey", Kind::Key, |view| Cell::Key(view.root_decision.0)),
            optional("rootProcessInstanceKey", Kind::Key, |view| Cell::maybe(view.root, |key| Cell::Key(key.0))),
            column("state", Kind::Word(STATES), |_| Cell::Text(EVALUATED)),
            column("tenantId", Kind::Text, |view| Cell::Text(&view.tenant)),
            $($more),*
        ]
    };
}

/// A decision instance got by its key.
pub(super) static LAYOUT: Layout<EvaluatedDecisionView> = Layout {
    name: "DecisionInstanceGetQueryResult",
    columns: columns![
        column("evaluatedInputs", Kind::NestedList(&EVALUATED_INPUT), |view| inputs(&view.inputs)),
        column("matchedRules", Kind::NestedList(&MATCHED_RULE), |view| rules(&view.rules))
    ],
};

/// A decision instance among others.
pub(super) static FOUND: Layout<EvaluatedDecisionView> = Layout { name: "DecisionInstanceResult", columns: columns![] };

/// Strict clients know no other words.
fn type_of(view: &EvaluatedDecisionView) -> &str {
    if TYPES.contains(&view.kind.as_str()) { &view.kind } else { "UNKNOWN" }
}
