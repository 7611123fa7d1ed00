//! How many instances and subscriptions process definitions have.

use std::collections::BTreeMap;

use axum::http::Method;
use axum::response::Response;
use store::query::{Entity, Field, Filter, Op, Scalar};

use super::groups::{self, PAGE, Part, count, integer, is, sort, sorting, text, text_maybe};
use crate::error::Failure;
use crate::rest::call::Call;
use crate::rest::describe::Kind;
use crate::rest::layout::{Cell, Layout, column, optional};
use crate::rest::messages::SUBSCRIPTIONS;
use crate::rest::operation::{Input, Operation, Output};
use crate::rest::search;
use crate::rest::shape::{Shape, field};

pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::POST,
        path: "/v2/process-definitions/statistics/process-instances",
        id: "getProcessDefinitionInstanceStatistics",
        summary: "How many instances of each process run, with and without incidents",
        input: Input::Optional(&BY_PROCESS),
        query: &[],
        output: Output::Page(&PROCESS),
        failures: &[],
        run: |call| Box::pin(by_process(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/process-definitions/statistics/process-instances-by-version",
        id: "getProcessDefinitionInstanceVersionStatistics",
        summary: "How many instances of each version of a process run, with and without incidents",
        input: Input::Required(&BY_VERSION),
        query: &[],
        output: Output::Page(&VERSION),
        failures: &[],
        run: |call| Box::pin(by_version(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/process-definitions/statistics/message-subscriptions",
        id: "getProcessDefinitionMessageSubscriptionStatistics",
        summary: "How many wait for messages, by process definition",
        input: Input::Filter(&SUBSCRIPTIONS),
        query: &[],
        output: Output::Page(&WAITING),
        failures: &[],
        run: |call| Box::pin(waiting(call)),
    },
];

const WITH_INCIDENT: &str = "activeInstancesWithIncidentCount";
const WITHOUT_INCIDENT: &str = "activeInstancesWithoutIncidentCount";

static BY_PROCESS: Shape = Shape {
    name: "ProcessDefinitionInstanceStatisticsQuery",
    fields: &[
        field("page", Kind::Fields(&PAGE), "Which part of them; the first if left out"),
        field("sort", Kind::FieldsList(&PROCESS_SORT), "In which order"),
    ],
};

const PROCESS_SORTS: &[&str] = &["processDefinitionId", WITH_INCIDENT, WITHOUT_INCIDENT];

static PROCESS_SORT: Shape = Shape {
    name: "ProcessDefinitionInstanceStatisticsQuerySortRequest",
    fields: &[
        field("field", Kind::Word(PROCESS_SORTS), "What to sort by").required(),
        field("order", Kind::Word(&["ASC", "DESC"]), "Which way; ASC if left out"),
    ],
};

#[derive(Default)]
struct Running {
    process_id: String,
    tenant: String,
    name: Option<String>,
    versions: Vec<i64>,
    with_incident: u64,
    without_incident: u64,
}

static PROCESS: Layout<Running> = Layout {
    name: "ProcessDefinitionInstanceStatisticsResult",
    columns: &[
        column("processDefinitionId", Kind::Text, |running| Cell::Text(&running.process_id)),
        column("tenantId", Kind::Text, |running| Cell::Text(&running.tenant)),
        optional("latestProcessDefinitionName", Kind::Text, |running| Cell::maybe_text(running.name.as_deref())),
        column("hasMultipleVersions", Kind::Boolean, |running| Cell::Boolean(1 < running.versions.len())),
        column(WITHOUT_INCIDENT, Kind::Int64, |running| Cell::Number(running.without_incident as i64)),
        column(WITH_INCIDENT, Kind::Int64, |running| Cell::Number(running.with_incident as i64)),
    ],
};

async fn by_process(call: Call) -> Result<Response, Failure> {
    let mut fields = call.optional(&BY_PROCESS)?;
    let part = Part::read(&call, fields.object("page"))?;
    let by = sorting(fields.objects("sort"), PROCESS_SORTS)?;
    let mut processes: BTreeMap<(String, String), Running> = BTreeMap::new();
    // Versions come in order: the last one seen is the latest.
    let groups = [Field::ProcessId, Field::Tenant, Field::Version, Field::HasIncident, Field::DefinitionName];
    for group in count(&call, Entity::Instances, is(Field::InstanceState, "ACTIVE"), groups.to_vec(), None).await? {
        let (process_id, tenant, version) = (text(&group, 0), text(&group, 1), integer(&group, 2));
        let running = processes.entry((process_id.clone(), tenant.clone())).or_default();
        (running.process_id, running.tenant, running.name) = (process_id, tenant, text_maybe(&group, 4));
        if running.versions.last() != Some(&version) {
            running.versions.push(version);
        }
        match integer(&group, 3) {
            0 => running.without_incident += group.rows,
            _ => running.with_incident += group.rows,
        }
    }
    let mut items: Vec<Running> = processes.into_values().collect();
    sort(&mut items, &by, |running, place| match place {
        0 => Scalar::Text(running.process_id.clone()),
        1 => Scalar::Int(running.with_incident as i64),
        _ => Scalar::Int(running.without_incident as i64),
    });
    Ok(groups::page(items, &part, &PROCESS))
}

static BY_VERSION: Shape = Shape {
    name: "ProcessDefinitionInstanceVersionStatisticsQuery",
    fields: &[
        field("page", Kind::Fields(&PAGE), "Which part of them; the first if left out"),
        field("sort", Kind::FieldsList(&VERSION_SORT), "In which order"),
        field("filter", Kind::Fields(&VERSION_FILTER), "Of which process").required(),
    ],
};

const VERSION_SORTS: &[&str] = &[
    "processDefinitionId",
    "processDefinitionKey",
    "processDefinitionName",
    "processDefinitionVersion",
    WITH_INCIDENT,
    WITHOUT_INCIDENT,
];

static VERSION_SORT: Shape = Shape {
    name: "ProcessDefinitionInstanceVersionStatisticsQuerySortRequest",
    fields: &[
        field("field", Kind::Word(VERSION_SORTS), "What to sort by").required(),
        field("order", Kind::Word(&["ASC", "DESC"]), "Which way; ASC if left out"),
    ],
};

static VERSION_FILTER: Shape = Shape {
    name: "ProcessDefinitionInstanceVersionStatisticsFilter",
    fields: &[
        field("processDefinitionId", Kind::Text, "The process").required(),
        field("tenantId", Kind::Text, "The tenant; all that the caller may see if left out"),
    ],
};

#[derive(Default)]
struct Version {
    key: i64,
    number: i64,
    running: Running,
}

static VERSION: Layout<Version> = Layout {
    name: "ProcessDefinitionInstanceVersionStatisticsResult",
    columns: &[
        column("processDefinitionId", Kind::Text, |version| Cell::Text(&version.running.process_id)),
        column("processDefinitionKey", Kind::Key, |version| Cell::Key(version.key as u64)),
        optional("processDefinitionName", Kind::Text, |version| Cell::maybe_text(version.running.name.as_deref())),
        column("tenantId", Kind::Text, |version| Cell::Text(&version.running.tenant)),
        column("processDefinitionVersion", Kind::Int32, |version| Cell::Number(version.number)),
        column(WITH_INCIDENT, Kind::Int64, |version| Cell::Number(version.running.with_incident as i64)),
        column(WITHOUT_INCIDENT, Kind::Int64, |version| Cell::Number(version.running.without_incident as i64)),
    ],
};

async fn by_version(call: Call) -> Result<Response, Failure> {
    let mut fields = call.required(&BY_VERSION)?;
    let part = Part::read(&call, fields.object("page"))?;
    let by = sorting(fields.objects("sort"), VERSION_SORTS)?;
    let mut filter = fields.object("filter").ok_or_else(|| Failure::invalid("No filter provided."))?;
    let id = filter.text("processDefinitionId").ok_or_else(|| Failure::invalid("No filter.processDefinitionId provided."))?;
    let mut conditions = vec![is(Field::InstanceState, "ACTIVE"), is(Field::ProcessId, &id)];
    conditions.extend(filter.text("tenantId").map(|tenant| is(Field::Tenant, &tenant)));
    let groups =
        [Field::DefinitionKey, Field::Version, Field::ProcessId, Field::Tenant, Field::DefinitionName, Field::HasIncident];
    let mut versions: BTreeMap<i64, Version> = BTreeMap::new();
    for group in count(&call, Entity::Instances, Filter::All(conditions), groups.to_vec(), None).await? {
        let version = versions.entry(integer(&group, 0)).or_default();
        (version.key, version.number) = (integer(&group, 0), integer(&group, 1));
        let running = &mut version.running;
        (running.process_id, running.tenant, running.name) = (text(&group, 2), text(&group, 3), text_maybe(&group, 4));
        match integer(&group, 5) {
            0 => running.without_incident += group.rows,
            _ => running.with_incident += group.rows,
        }
    }
    let mut items: Vec<Version> = versions.into_values().collect();
    sort(&mut items, &by, |version, place| match place {
        0 => Scalar::Text(version.running.process_id.clone()),
        1 => Scalar::Int(version.key),
        2 => Scalar::Text(version.running.name.clone().unwrap_or_default()),
        3 => Scalar::Int(version.number),
        4 => Scalar::Int(version.running.with_incident as i64),
        _ => Scalar::Int(version.running.without_incident as i64),
    });
    Ok(groups::page(items, &part, &VERSION))
}

struct Waiting {
    process_id: String,
    tenant: String,
    definition: i64,
    instances: u64,
    subscriptions: u64,
}

static WAITING: Layout<Waiting> = Layout {
    name: "ProcessDefinitionMessageSubscriptionStatisticsResult",
    columns: &[
        column("processDefinitionId", Kind::Text, |waiting| Cell::Text(&waiting.process_id)),
        column("tenantId", Kind::Text, |waiting| Cell::Text(&waiting.tenant)),
        column("processDefinitionKey", Kind::Key, |waiting| Cell::Key(waiting.definition as u64)),
        column("processInstancesWithActiveSubscriptions", Kind::Int64, |waiting| Cell::Number(waiting.instances as i64)),
        column("activeSubscriptions", Kind::Int64, |waiting| Cell::Number(waiting.subscriptions as i64)),
    ],
};

async fn waiting(call: Call) -> Result<Response, Failure> {
    let (filter, after, limit) = search::filter_and_part(&call, &SUBSCRIPTIONS)?;
    let part = Part::after(&call, after.as_deref(), limit)?;
    let of_instances = Filter::Is(Field::InstanceKey, Op::Exists(true));
    let filter = Filter::All(vec![is(Field::SubscriptionState, "CREATED"), of_instances, filter]);
    let by = vec![Field::DefinitionKey, Field::ProcessId, Field::Tenant];
    let groups = count(&call, Entity::MessageSubscriptions, filter, by, Some(Field::InstanceKey)).await?;
    let waiting = |group: &store::query::Counted| Waiting {
        definition: integer(group, 0),
        process_id: text(group, 1),
        tenant: text(group, 2),
        instances: group.distinct,
        subscriptions: group.rows,
    };
    Ok(groups::page(groups.iter().map(waiting).collect(), &part, &WAITING))
}
