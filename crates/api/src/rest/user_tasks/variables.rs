//! The variables a task can see: its own and those of the scopes around it.

use std::collections::HashMap;

use axum::response::Response;
use engine::ElementKey;
use store::query::{Entity, Field, Filter, Items, LIST_MAX, Op, Page, Query, Scalar, UserTaskView, VariableView};

use crate::error::Failure;
use crate::rest::call::Call;
use crate::rest::search::{self, Operators, Table, Value, filterable, sortable};
use crate::rest::variables::VALUE_CHARS_MAX;

/// Variables of the scopes around a task among which the innermost are sought.
const SEEN_MAX: u64 = 10_000;
/// How many of them are read at once.
const PART: u32 = 1_000;

pub(super) static TABLE: Table = Table {
    name: "UserTaskVariable",
    entity: Entity::Variables,
    filters: &[filterable("name", Field::Name, Value::Text, Operators::Like)],
    sorts: &[
        sortable("value", Field::Value, Value::Text),
        sortable("name", Field::Name, Value::Text),
        sortable("tenantId", Field::Tenant, Value::Text),
        sortable("variableKey", Field::VariableKey, Value::Key),
        sortable("scopeKey", Field::ScopeKey, Value::Key),
        sortable("processInstanceKey", Field::InstanceKey, Value::Key),
    ],
};

pub(super) async fn search(call: Call) -> Result<Response, Failure> {
    let cuts = cuts(&call)?;
    let scopes = scopes(&call, &super::task(&call).await?).await?;
    search::run_within(&call, &TABLE, Some(of_scopes(&scopes)), |query| query.value_chars_max = cuts).await
}

pub(super) async fn search_effective(call: Call) -> Result<Response, Failure> {
    let cuts = cuts(&call)?;
    let scopes = scopes(&call, &super::task(&call).await?).await?;
    let mut filters = vec![of_scopes(&scopes)];
    let hidden = hidden(&call, &scopes).await?;
    filters.extend(hidden.chunks(LIST_MAX).map(|keys| Filter::Is(Field::VariableKey, Op::NotIn(keys.to_vec()))));
    search::run_by_position(&call, &TABLE, Filter::All(filters), |query| query.value_chars_max = cuts).await
}

fn cuts(call: &Call) -> Result<Option<usize>, Failure> {
    Ok(call.flag("truncateValues")?.unwrap_or(true).then_some(VALUE_CHARS_MAX))
}

/// The task's own scope and those around it, the innermost first.
async fn scopes(call: &Call, task: &UserTaskView) -> Result<Vec<ElementKey>, Failure> {
    let mut scopes = vec![task.element_instance];
    while let Some(inner) = scopes.last().copied().filter(|scope| *scope != task.instance.root()) {
        let filter = Filter::Is(Field::ElementKey, Op::Eq(Scalar::Int(inner.0 as i64)));
        let query = Query { filter, ..Query::of(Entity::Elements, call.caller.tenants()) };
        match call.host().store().search(&query).await?.items {
            Items::Elements(views) if !views.is_empty() => scopes.push(views[0].scope),
            _ => break,
        }
    }
    Ok(scopes)
}

fn of_scopes(scopes: &[ElementKey]) -> Filter {
    let of = |scope: &ElementKey| Filter::Is(Field::ScopeKey, Op::Eq(Scalar::Int(scope.0 as i64)));
    Filter::Any(scopes.iter().map(of).collect())
}

/// The keys of variables that one of the same name further inside hides.
async fn hidden(call: &Call, scopes: &[ElementKey]) -> Result<Vec<Scalar>, Failure> {
    let depth = |view: &VariableView| scopes.iter().position(|scope| *scope == view.scope);
    let mut innermost: HashMap<String, VariableView> = HashMap::new();
    let mut hidden = Vec::new();
    let mut query = Query {
        filter: of_scopes(scopes),
        value_chars_max: Some(0),
        page: Page::From { from: 0, limit: PART },
        ..Query::of(Entity::Variables, call.caller.tenants())
    };
    loop {
        let page = call.host().store().search(&query).await?;
        if SEEN_MAX <= page.total {
            return Err(Failure::invalid(format!(
                "The task sees {SEEN_MAX} variables or more: search variables by name instead"
            )));
        }
        let Items::Variables(views) = page.items else { return Ok(hidden) };
        for view in views {
            let inner = match innermost.remove(&view.name) {
                None => view,
                Some(other) => {
                    let (inner, outer) = if depth(&view) < depth(&other) { (view, other) } else { (other, view) };
                    hidden.push(Scalar::Int(outer.key.0 as i64));
                    inner
                }
            };
            innermost.insert(inner.name.clone(), inner);
        }
        match page.end {
            Some(cursor) => query.page = Page::After { cursor, limit: PART },
            None => return Ok(hidden),
        }
    }
}
