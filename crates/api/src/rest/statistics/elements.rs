//! How many element instances there are of each element, by what became of them.

use std::collections::BTreeMap;

use axum::http::Method;
use axum::response::Response;
use store::query::{Entity, Field, Filter, Op, Scalar};

use super::groups::{count, integer, text};
use crate::error::Failure;
use crate::rest::call::Call;
use crate::rest::describe::Kind;
use crate::rest::layout::{Cell, Layout, column};
use crate::rest::operation::{Input, Operation, Output};
use crate::rest::{answer, process_instances, search};

pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::GET,
        path: "/v2/process-instances/{processInstanceKey}/statistics/element-instances",
        id: "getProcessInstanceStatistics",
        summary: "How many element instances of each element a process instance has",
        input: Input::None,
        query: &[],
        output: Output::Object(&COUNTED),
        failures: &[],
        run: |call| Box::pin(of_instance(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/process-definitions/{processDefinitionKey}/statistics/element-instances",
        id: "getProcessDefinitionStatistics",
        summary: "How many element instances of each element the instances of a process definition have",
        input: Input::Filter(&process_instances::TABLE),
        query: &[],
        output: Output::Object(&COUNTED),
        failures: &[],
        run: |call| Box::pin(of_definition(call)),
    },
];

struct Element {
    id: String,
    active: u64,
    canceled: u64,
    incidents: u64,
    completed: u64,
}

static COUNTED: Layout<Vec<Element>> = Layout {
    name: "ProcessElementStatisticsQueryResult",
    columns: &[column("items", Kind::NestedList(&ELEMENT), |elements| {
        Cell::Nested(Box::new(|out| ELEMENT.write_list(out, elements)))
    })],
};

static ELEMENT: Layout<Element> = Layout {
    name: "ProcessElementStatisticsResult",
    columns: &[
        column("elementId", Kind::Text, |element| Cell::Text(&element.id)),
        column("active", Kind::Int64, |element| Cell::Number(element.active as i64)),
        column("canceled", Kind::Int64, |element| Cell::Number(element.canceled as i64)),
        column("incidents", Kind::Int64, |element| Cell::Number(element.incidents as i64)),
        column("completed", Kind::Int64, |element| Cell::Number(element.completed as i64)),
    ],
};

async fn of_instance(call: Call) -> Result<Response, Failure> {
    let key = call.key()?;
    counted(&call, Filter::Is(Field::InstanceKey, Op::Eq(Scalar::Int(key)))).await
}

async fn of_definition(call: Call) -> Result<Response, Failure> {
    let key = call.key()?;
    let instances = search::filter(&call, &process_instances::TABLE)?;
    let of_definition = Filter::Is(Field::DefinitionKey, Op::Eq(Scalar::Int(key)));
    let elements = asked_of_elements(&instances);
    let instances = Filter::OfInstance(Box::new(Filter::All(vec![of_definition, instances])));
    counted(&call, Filter::All(elements.into_iter().chain([instances]).collect())).await
}

/// What an instance's element instances are to be like is asked of those that are counted, too.
fn asked_of_elements(filter: &Filter) -> Vec<Filter> {
    match filter {
        Filter::All(parts) => parts.iter().flat_map(asked_of_elements).collect(),
        Filter::Related(Entity::Elements, elements) => vec![(**elements).clone()],
        _ => Vec::new(),
    }
}

/// One that has an incident is not counted among the active ones.
async fn counted(call: &Call, filter: Filter) -> Result<Response, Failure> {
    let by = vec![Field::ElementId, Field::ElementState, Field::HasIncident];
    let mut elements: BTreeMap<String, Element> = BTreeMap::new();
    for group in count(call, Entity::Elements, filter, by, None).await? {
        let id = text(&group, 0);
        let element = elements.entry(id.clone()).or_insert(Element { id, active: 0, canceled: 0, incidents: 0, completed: 0 });
        match (text(&group, 1).as_str(), integer(&group, 2) != 0) {
            ("COMPLETED", _) => element.completed += group.rows,
            ("TERMINATED", _) => element.canceled += group.rows,
            (_, true) => element.incidents += group.rows,
            (_, false) => element.active += group.rows,
        }
    }
    Ok(answer::ok(COUNTED.to_vec(&elements.into_values().collect())))
}
