//! How many instances have active incidents, by error and by process definition.

use axum::http::Method;
use axum::response::Response;
use store::query::{Counted, Entity, Field, Filter, Op, Scalar};

use super::groups::{self, PAGE, Part, count, integer, is, sort, sorting, text, text_maybe};
use crate::error::Failure;
use crate::rest::call::Call;
use crate::rest::describe::Kind;
use crate::rest::layout::{Cell, Layout, column};
use crate::rest::operation::{Input, Operation, Output};
use crate::rest::shape::{Shape, field};

pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::POST,
        path: "/v2/incidents/statistics/process-instances-by-error",
        id: "getProcessInstanceStatisticsByError",
        summary: "How many process instances have an active incident with each error",
        input: Input::Optional(&BY_ERROR),
        query: &[],
        output: Output::Page(&ERROR),
        failures: &[],
        run: |call| Box::pin(by_error(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/incidents/statistics/process-instances-by-definition",
        id: "getProcessInstanceStatisticsByDefinition",
        summary: "How many instances of each process definition have an active incident with an error",
        input: Input::Required(&BY_DEFINITION),
        query: &[],
        output: Output::Page(&DEFINITION),
        failures: &[],
        run: |call| Box::pin(by_definition(call)),
    },
];

const COUNT: &str = "activeInstancesWithErrorCount";

static BY_ERROR: Shape = Shape {
    name: "IncidentProcessInstanceStatisticsByErrorQuery",
    fields: &[
        field("page", Kind::Fields(&PAGE), "Which part of them; the first if left out"),
        field("sort", Kind::FieldsList(&ERROR_SORT), "In which order"),
    ],
};

const ERROR_SORTS: &[&str] = &["errorMessage", COUNT];

static ERROR_SORT: Shape = Shape {
    name: "IncidentProcessInstanceStatisticsByErrorQuerySortRequest",
    fields: &[
        field("field", Kind::Word(ERROR_SORTS), "What to sort by").required(),
        field("order", Kind::Word(&["ASC", "DESC"]), "Which way; ASC if left out"),
    ],
};

static ERROR: Layout<Counted> = Layout {
    name: "IncidentProcessInstanceStatisticsByErrorResult",
    columns: &[
        column("errorHashCode", Kind::Int32, |group| Cell::Number(integer(group, 0))),
        column("errorMessage", Kind::Text, |group| match group.values.get(1) {
            Some(Some(Scalar::Text(message))) => Cell::Text(message),
            _ => Cell::Text(""),
        }),
        column(COUNT, Kind::Int64, |group| Cell::Number(group.distinct as i64)),
    ],
};

async fn by_error(call: Call) -> Result<Response, Failure> {
    let mut fields = call.optional(&BY_ERROR)?;
    let part = Part::read(&call, fields.object("page"))?;
    let by = sorting(fields.objects("sort"), ERROR_SORTS)?;
    let active = is(Field::IncidentState, "ACTIVE");
    let groups = vec![Field::MessageHash, Field::ErrorMessage];
    let mut items = count(&call, Entity::Incidents, active, groups, Some(Field::InstanceKey)).await?;
    // The most frequent first, unless asked otherwise.
    items.sort_by_key(|group| std::cmp::Reverse(group.distinct));
    sort(&mut items, &by, |group, place| match place {
        0 => Scalar::Text(text(group, 1)),
        _ => Scalar::Int(group.distinct as i64),
    });
    Ok(groups::page(items, &part, &ERROR))
}

static BY_DEFINITION: Shape = Shape {
    name: "IncidentProcessInstanceStatisticsByDefinitionQuery",
    fields: &[
        field("filter", Kind::Fields(&DEFINITION_FILTER), "Which error").required(),
        field("page", Kind::Fields(&PAGE), "Which part of them; the first if left out"),
        field("sort", Kind::FieldsList(&DEFINITION_SORT), "In which order"),
    ],
};

static DEFINITION_FILTER: Shape = Shape {
    name: "IncidentProcessInstanceStatisticsByDefinitionFilter",
    fields: &[field("errorHashCode", Kind::Int32, "The hash of the error's message").required()],
};

const DEFINITION_SORTS: &[&str] = &[COUNT, "processDefinitionKey", "tenantId"];

static DEFINITION_SORT: Shape = Shape {
    name: "IncidentProcessInstanceStatisticsByDefinitionQuerySortRequest",
    fields: &[
        field("field", Kind::Word(DEFINITION_SORTS), "What to sort by").required(),
        field("order", Kind::Word(&["ASC", "DESC"]), "Which way; ASC if left out"),
    ],
};

struct Stuck {
    process_id: String,
    name: String,
    version: i64,
    key: i64,
    tenant: String,
    instances: u64,
}

static DEFINITION: Layout<Stuck> = Layout {
    name: "IncidentProcessInstanceStatisticsByDefinitionResult",
    columns: &[
        column("processDefinitionId", Kind::Text, |stuck| Cell::Text(&stuck.process_id)),
        column("processDefinitionKey", Kind::Key, |stuck| Cell::Key(stuck.key as u64)),
        column("processDefinitionName", Kind::Text, |stuck| Cell::Text(&stuck.name)),
        column("processDefinitionVersion", Kind::Int32, |stuck| Cell::Number(stuck.version)),
        column("tenantId", Kind::Text, |stuck| Cell::Text(&stuck.tenant)),
        column(COUNT, Kind::Int64, |stuck| Cell::Number(stuck.instances as i64)),
    ],
};

async fn by_definition(call: Call) -> Result<Response, Failure> {
    let mut fields = call.required(&BY_DEFINITION)?;
    let part = Part::read(&call, fields.object("page"))?;
    let by = sorting(fields.objects("sort"), DEFINITION_SORTS)?;
    let mut filter = fields.object("filter").ok_or_else(|| Failure::invalid("No filter provided."))?;
    let hash = filter.number("errorHashCode").ok_or_else(|| Failure::invalid("No filter.errorHashCode provided."))?;
    let incident =
        Filter::All(vec![is(Field::IncidentState, "ACTIVE"), Filter::Is(Field::MessageHash, Op::Eq(Scalar::Int(hash)))]);
    let groups = vec![Field::DefinitionKey, Field::Version, Field::ProcessId, Field::Tenant, Field::DefinitionName];
    let stuck = |group: &Counted| Stuck {
        key: integer(group, 0),
        version: integer(group, 1),
        process_id: text(group, 2),
        tenant: text(group, 3),
        name: text_maybe(group, 4).unwrap_or_else(|| text(group, 2)),
        instances: group.rows,
    };
    let with_error = Filter::Related(Entity::Incidents, Box::new(incident));
    let groups = count(&call, Entity::Instances, with_error, groups, None).await?;
    let mut items: Vec<Stuck> = groups.iter().map(stuck).collect();
    sort(&mut items, &by, |stuck, place| match place {
        0 => Scalar::Int(stuck.instances as i64),
        1 => Scalar::Int(stuck.key),
        _ => Scalar::Text(stuck.tenant.clone()),
    });
    Ok(groups::page(items, &part, &DEFINITION))
}
