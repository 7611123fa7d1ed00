//! Variables: get, search.

use axum::http::Method;
use axum::response::Response;
use store::query::{Entity, Field, VariableView};

use super::call::Call;
use super::describe::Kind;
use super::layout::{Cell, Layout, column, optional};
use super::operation::{Input, Operation, Output};
use super::search::{self, Operators, Table, Value, filterable, sortable};
use super::shape::field;
use crate::error::Failure;

const NOUN: &str = "Variable";
/// Characters of a value a search shows unless it is asked for all.
pub(super) const VALUE_CHARS_MAX: usize = 8191;

pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::POST,
        path: "/v2/variables/search",
        id: "searchVariables",
        summary: "Search variables; long values are cut unless `truncateValues=false`",
        input: Input::Search(&TABLE),
        query: &[field("truncateValues", Kind::Boolean, "Whether to cut long values; true if left out")],
        output: Output::Page(&FOUND),
        failures: &[],
        run: |call| Box::pin(search(call)),
    },
    Operation {
        method: Method::GET,
        path: "/v2/variables/{variableKey}",
        id: "getVariable",
        summary: "A variable with its whole value",
        input: Input::None,
        query: &[],
        output: Output::Object(&LAYOUT),
        failures: &[404],
        run: |call| Box::pin(async move { search::get(&call, Entity::Variables, NOUN).await }),
    },
];

static TABLE: Table = Table {
    name: "Variable",
    entity: Entity::Variables,
    filters: &[
        filterable("name", Field::Name, Value::Text, Operators::Like),
        filterable("value", Field::Value, Value::Text, Operators::Like),
        filterable("tenantId", Field::Tenant, Value::Text, Operators::None),
        filterable("isTruncated", Field::IsTruncated, Value::Boolean, Operators::None),
        filterable("variableKey", Field::VariableKey, Value::Key, Operators::Basic),
        filterable("scopeKey", Field::ScopeKey, Value::Key, Operators::Basic),
        filterable("processInstanceKey", Field::InstanceKey, Value::Key, Operators::Basic),
    ],
    sorts: &[
        sortable("value", Field::Value, Value::Text),
        sortable("name", Field::Name, Value::Text),
        sortable("tenantId", Field::Tenant, Value::Text),
        sortable("variableKey", Field::VariableKey, Value::Key),
        sortable("scopeKey", Field::ScopeKey, Value::Key),
        sortable("processInstanceKey", Field::InstanceKey, Value::Key),
    ],
};

/// A variable got by its key.
pub(super) static LAYOUT: Layout<VariableView> = Layout {
    name: "VariableResult",
    columns: &[
        column("name", Kind::Text, |view| Cell::Text(&view.name)),
        column("tenantId", Kind::Text, |view| Cell::Text(&view.tenant)),
        column("variableKey", Kind::Key, |view| Cell::Key(view.key.0)),
        column("scopeKey", Kind::Key, |view| Cell::Key(view.scope.0)),
        column("processInstanceKey", Kind::Key, |view| Cell::Key(view.instance.0)),
        optional("rootProcessInstanceKey", Kind::Key, |view| Cell::Key(view.root.0)),
        column("value", Kind::Text, |view| Cell::Text(&view.value)),
    ],
};

/// A variable among others.
pub(super) static FOUND: Layout<VariableView> = Layout {
    name: "VariableSearchResult",
    columns: &[
        column("name", Kind::Text, |view| Cell::Text(&view.name)),
        column("tenantId", Kind::Text, |view| Cell::Text(&view.tenant)),
        column("variableKey", Kind::Key, |view| Cell::Key(view.key.0)),
        column("scopeKey", Kind::Key, |view| Cell::Key(view.scope.0)),
        column("processInstanceKey", Kind::Key, |view| Cell::Key(view.instance.0)),
        optional("rootProcessInstanceKey", Kind::Key, |view| Cell::Key(view.root.0)),
        column("value", Kind::Text, |view| Cell::Text(&view.value)),
        column("isTruncated", Kind::Boolean, |view| Cell::Boolean(view.is_truncated)),
    ],
};

async fn search(call: Call) -> Result<Response, Failure> {
    let cuts = call.flag("truncateValues")?.unwrap_or(true);
    search::run_within(&call, &TABLE, None, |query| query.value_chars_max = cuts.then_some(VALUE_CHARS_MAX)).await
}
