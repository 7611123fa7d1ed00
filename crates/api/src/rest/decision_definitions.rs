//! Decision definitions: get, search, the XML they came from. Deleted ones are found by their key only.

use axum::http::Method;
use axum::response::Response;
use store::query::{DecisionView, Entity, Field, Items};

use super::call::Call;
use super::describe::Kind;
use super::layout::{Cell, Layout, column};
use super::operation::{Input, Operation, Output};
use super::search::{self, By, Filterable, Operators, Table, Value, filterable, sortable};
use super::{decision_evaluation, resources};
use crate::error::Failure;

const NOUN: &str = "Decision Definition";

pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::POST,
        path: "/v2/decision-definitions/evaluation",
        id: "evaluateDecision",
        summary: "Evaluate a decision with all it requires",
        input: Input::Required(&decision_evaluation::INSTRUCTION),
        query: &[],
        output: Output::Object(&decision_evaluation::EVALUATED),
        failures: &[404, 504],
        run: |call| Box::pin(decision_evaluation::evaluate(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/decision-definitions/search",
        id: "searchDecisionDefinitions",
        summary: "Search decision definitions",
        input: Input::Search(&TABLE),
        query: &[],
        output: Output::Page(&LAYOUT),
        failures: &[],
        run: |call| Box::pin(async move { search::run_within(&call, &TABLE, Some(search::not_deleted()), |_| ()).await }),
    },
    Operation {
        method: Method::GET,
        path: "/v2/decision-definitions/{decisionDefinitionKey}",
        id: "getDecisionDefinition",
        summary: "A decision definition, deleted ones too",
        input: Input::None,
        query: &[],
        output: Output::Object(&LAYOUT),
        failures: &[404],
        run: |call| Box::pin(async move { search::get(&call, Entity::Decisions, NOUN).await }),
    },
    Operation {
        method: Method::GET,
        path: "/v2/decision-definitions/{decisionDefinitionKey}/xml",
        id: "getDecisionDefinitionXML",
        summary: "The DMN file a decision definition came in",
        input: Input::None,
        query: &[],
        output: Output::Text("text/xml"),
        failures: &[404],
        run: |call| Box::pin(xml(call)),
    },
];

pub(super) static TABLE: Table = Table {
    name: "DecisionDefinition",
    entity: Entity::Decisions,
    filters: &[
        filterable("decisionDefinitionId", Field::DecisionId, Value::Text, Operators::None),
        filterable("name", Field::DecisionName, Value::Text, Operators::None),
        Filterable { name: "isLatestVersion", by: By::LatestVersion, value: Value::Boolean, operators: Operators::None },
        filterable("version", Field::Version, Value::Int32, Operators::None),
        filterable("decisionRequirementsId", Field::RequirementsId, Value::Text, Operators::None),
        filterable("tenantId", Field::Tenant, Value::Text, Operators::None),
        filterable("decisionDefinitionKey", Field::DecisionKey, Value::Key, Operators::None),
        filterable("decisionRequirementsKey", Field::RequirementsKey, Value::Key, Operators::None),
        filterable("decisionRequirementsName", Field::RequirementsName, Value::Text, Operators::None),
        filterable("decisionRequirementsVersion", Field::RequirementsVersion, Value::Int32, Operators::None),
    ],
    sorts: &[
        sortable("decisionDefinitionKey", Field::DecisionKey, Value::Key),
        sortable("decisionDefinitionId", Field::DecisionId, Value::Text),
        sortable("name", Field::DecisionName, Value::Text),
        sortable("version", Field::Version, Value::Int32),
        sortable("decisionRequirementsId", Field::RequirementsId, Value::Text),
        sortable("decisionRequirementsKey", Field::RequirementsKey, Value::Key),
        sortable("decisionRequirementsName", Field::RequirementsName, Value::Text),
        sortable("decisionRequirementsVersion", Field::RequirementsVersion, Value::Int32),
        sortable("tenantId", Field::Tenant, Value::Text),
    ],
};

pub(super) static LAYOUT: Layout<DecisionView> = Layout {
    name: "DecisionDefinitionResult",
    columns: &[
        column("decisionDefinitionId", Kind::Text, |view| Cell::Text(&view.id)),
        column("decisionDefinitionKey", Kind::Key, |view| Cell::Key(view.key.0)),
        column("decisionRequirementsId", Kind::Text, |view| Cell::Text(&view.requirements_id)),
        column("decisionRequirementsKey", Kind::Key, |view| Cell::Key(view.requirements.0)),
        column("decisionRequirementsName", Kind::Text, |view| Cell::Text(&view.requirements_name)),
        column("decisionRequirementsVersion", Kind::Int32, |view| Cell::Number(view.requirements_version.into())),
        column("name", Kind::Text, |view| Cell::Text(&view.name)),
        column("tenantId", Kind::Text, |view| Cell::Text(&view.tenant)),
        column("version", Kind::Int32, |view| Cell::Number(view.version.into())),
    ],
};

async fn xml(call: Call) -> Result<Response, Failure> {
    let found = match search::found(&call, Entity::Decisions, NOUN).await?.items {
        Items::Decisions(views) => views.first().map(|view| view.resource),
        _ => None,
    };
    resources::xml(&call, found).await
}
