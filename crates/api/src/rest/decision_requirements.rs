//! Decision requirements, which are DMN files: get, search, XML. Deleted ones are found by their key only.

use axum::http::Method;
use axum::response::Response;
use store::query::{Entity, Field, Items, RequirementsView};

use super::call::Call;
use super::describe::Kind;
use super::layout::{Cell, Layout, column};
use super::operation::{Input, Operation, Output};
use super::resources;
use super::search::{self, Operators, Table, Value, filterable, sortable};
use crate::error::Failure;

const NOUN: &str = "Decision Requirements";

pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::POST,
        path: "/v2/decision-requirements/search",
        id: "searchDecisionRequirements",
        summary: "Search decision requirements",
        input: Input::Search(&TABLE),
        query: &[],
        output: Output::Page(&LAYOUT),
        failures: &[],
        run: |call| Box::pin(async move { search::run_within(&call, &TABLE, Some(search::not_deleted()), |_| ()).await }),
    },
    Operation {
        method: Method::GET,
        path: "/v2/decision-requirements/{decisionRequirementsKey}",
        id: "getDecisionRequirements",
        summary: "Decision requirements, deleted ones too",
        input: Input::None,
        query: &[],
        output: Output::Object(&LAYOUT),
        failures: &[404],
        run: |call| Box::pin(async move { search::get(&call, Entity::Requirements, NOUN).await }),
    },
    Operation {
        method: Method::GET,
        path: "/v2/decision-requirements/{decisionRequirementsKey}/xml",
        id: "getDecisionRequirementsXML",
        summary: "The DMN file",
        input: Input::None,
        query: &[],
        output: Output::Text("text/xml"),
        failures: &[404],
        run: |call| Box::pin(xml(call)),
    },
];

pub(super) static TABLE: Table = Table {
    name: "DecisionRequirements",
    entity: Entity::Requirements,
    filters: &[
        filterable("decisionRequirementsName", Field::RequirementsName, Value::Text, Operators::None),
        filterable("decisionRequirementsId", Field::RequirementsId, Value::Text, Operators::None),
        filterable("decisionRequirementsKey", Field::RequirementsKey, Value::Key, Operators::None),
        filterable("version", Field::RequirementsVersion, Value::Int32, Operators::None),
        filterable("tenantId", Field::Tenant, Value::Text, Operators::None),
        filterable("resourceName", Field::ResourceName, Value::Text, Operators::None),
    ],
    sorts: &[
        sortable("decisionRequirementsKey", Field::RequirementsKey, Value::Key),
        sortable("decisionRequirementsName", Field::RequirementsName, Value::Text),
        sortable("version", Field::RequirementsVersion, Value::Int32),
        sortable("decisionRequirementsId", Field::RequirementsId, Value::Text),
        sortable("tenantId", Field::Tenant, Value::Text),
    ],
};

pub(super) static LAYOUT: Layout<RequirementsView> = Layout {
    name: "DecisionRequirementsResult",
    columns: &[
        column("decisionRequirementsId", Kind::Text, |view| Cell::Text(&view.id)),
        column("decisionRequirementsKey", Kind::Key, |view| Cell::Key(view.key.0)),
        column("decisionRequirementsName", Kind::Text, |view| Cell::Text(&view.name)),
        column("resourceName", Kind::Text, |view| Cell::Text(&view.resource_name)),
        column("tenantId", Kind::Text, |view| Cell::Text(&view.tenant)),
        column("version", Kind::Int32, |view| Cell::Number(view.version.into())),
    ],
};

async fn xml(call: Call) -> Result<Response, Failure> {
    let found = match search::found(&call, Entity::Requirements, NOUN).await?.items {
        Items::Requirements(views) => views.first().map(|view| view.resource),
        _ => None,
    };
    resources::xml(&call, found).await
}
