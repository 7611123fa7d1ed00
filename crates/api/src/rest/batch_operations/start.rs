//! Beginning operations over many: a filter, and what is to be done to all it finds.

use axum::http::Method;
use axum::response::Response;
use engine::{Ancestor, DefinitionKey, Modification, Move, Which};
use store::batch::{BatchCommand, Work};
use store::change::{Change, Migrate};
use store::log::Command;
use store::query::{Entity, Field, Filter, Op, Scalar};

use super::{CREATED, begun};
use crate::error::Failure;
use crate::rest::call::Call;
use crate::rest::describe::Kind;
use crate::rest::operation::{Input, Operation, Output, Running};
use crate::rest::process_instances::{MAPPING, check_reference, mapping};
use crate::rest::shape::{Field as Property, Fields, Shape, field};
use crate::rest::{decision_instances, process_instances, search};

pub(in crate::rest) static OPERATIONS: &[Operation] = &[
    operation(
        "/v2/process-instances/cancellation",
        "cancelProcessInstancesBatchOperation",
        "Cancel all process instances that run and that the filter finds",
        &CANCELLATION,
        |call| Box::pin(async move { plain(call, &CANCELLATION, Work::Cancel).await }),
    ),
    operation(
        "/v2/process-instances/deletion",
        "deleteProcessInstancesBatchOperation",
        "Delete all process instances that have finished and that the filter finds, with those they called",
        &DELETION,
        |call| Box::pin(async move { plain(call, &DELETION, Work::Delete).await }),
    ),
    operation(
        "/v2/process-instances/suspension",
        "suspendProcessInstancesBatchOperation",
        "Suspend all process instances that run and that the filter finds",
        &SUSPENSION,
        |call| Box::pin(async move { plain(call, &SUSPENSION, Work::Suspend).await }),
    ),
    operation(
        "/v2/process-instances/resumption",
        "resumeProcessInstancesBatchOperation",
        "Let all suspended process instances that the filter finds go on",
        &RESUMPTION,
        |call| Box::pin(async move { plain(call, &RESUMPTION, Work::Resume).await }),
    ),
    operation(
        "/v2/process-instances/incident-resolution",
        "resolveIncidentsBatchOperation",
        "Resolve the incidents of all process instances that the filter finds; jobs without retries get one",
        &RESOLUTION,
        |call| Box::pin(async move { plain(call, &RESOLUTION, Work::ResolveIncidents).await }),
    ),
    operation(
        "/v2/process-instances/migration",
        "migrateProcessInstancesBatchOperation",
        "Let all process instances that run and that the filter finds go on as ones of another process definition",
        &MIGRATION,
        |call| Box::pin(migrate(call)),
    ),
    operation(
        "/v2/process-instances/modification",
        "modifyProcessInstancesBatchOperation",
        "Move active element instances in all process instances that run and that the filter finds",
        &MODIFICATION,
        |call| Box::pin(modify(call)),
    ),
    operation(
        "/v2/decision-instances/deletion",
        "deleteDecisionInstancesBatchOperation",
        "Delete what the evaluations of decisions that the filter finds have left",
        &EVALUATIONS,
        |call| Box::pin(async move { plain(call, &EVALUATIONS, Work::DeleteEvaluations).await }),
    ),
    Operation {
        method: Method::POST,
        path: "/v2/process-instances/{processInstanceKey}/incident-resolution",
        id: "resolveProcessInstanceIncidents",
        summary: "Resolve the incidents of a process instance; jobs without retries get one",
        input: Input::Ignored,
        query: &[],
        output: Output::Object(&CREATED),
        failures: &[404, 504],
        run: |call| Box::pin(resolve_of_one(call)),
    },
];

const fn operation(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    shape: &'static Shape,
    run: fn(Call) -> Running,
) -> Operation {
    let (input, output) = (Input::Required(shape), Output::Object(&CREATED));
    Operation { method: Method::POST, path, id, summary, input, query: &[], output, failures: &[504], run }
}

const OF_INSTANCES: Property =
    field("filter", Kind::Filter(&process_instances::TABLE), "Which process instances, in the words of a search").required();
const REFERENCE: Property =
    field("operationReference", Kind::Int64, "A number of the caller's own, 1 or more; it means nothing to the server");

const fn of_instances(name: &'static str) -> Shape {
    Shape { name, fields: &[OF_INSTANCES, REFERENCE] }
}

static CANCELLATION: Shape = of_instances("ProcessInstanceCancellationBatchOperationRequest");
static DELETION: Shape = of_instances("ProcessInstanceDeletionBatchOperationRequest");
static SUSPENSION: Shape = of_instances("ProcessInstanceSuspensionBatchOperationRequest");
static RESUMPTION: Shape = of_instances("ProcessInstanceResumptionBatchOperationRequest");
static RESOLUTION: Shape = of_instances("ProcessInstanceIncidentResolutionBatchOperationRequest");

static EVALUATIONS: Shape = Shape {
    name: "DecisionInstanceDeletionBatchOperationRequest",
    fields: &[
        field("filter", Kind::Filter(&decision_instances::TABLE), "Which decision instances, in the words of a search")
            .required(),
        REFERENCE,
    ],
};

static MIGRATION: Shape = Shape {
    name: "ProcessInstanceMigrationBatchOperationRequest",
    fields: &[OF_INSTANCES, field("migrationPlan", Kind::Fields(&PLAN), "What becomes of each").required(), REFERENCE],
};

static PLAN: Shape = Shape {
    name: "ProcessInstanceMigrationBatchOperationPlan",
    fields: &[
        field("targetProcessDefinitionKey", Kind::Key, "The definition to go on with").required(),
        field("mappingInstructions", Kind::FieldsList(&MAPPING), "What becomes of each active element").required(),
    ],
};

static MODIFICATION: Shape = Shape {
    name: "ProcessInstanceModificationBatchOperationRequest",
    fields: &[
        OF_INSTANCES,
        field("moveInstructions", Kind::FieldsList(&MOVE), "Element instances to end, each with an element to enter for it")
            .required(),
        REFERENCE,
    ],
};

static MOVE: Shape = Shape {
    name: "ProcessInstanceModificationMoveBatchOperationInstruction",
    fields: &[
        field("sourceElementId", Kind::Text, "All active instances of this element").required(),
        field("targetElementId", Kind::Text, "The element to enter").required(),
    ],
};

async fn plain(call: Call, shape: &'static Shape, work: Work) -> Result<Response, Failure> {
    let filter = asked(&mut call.required(shape)?, &[])?;
    begin(call, work, filter).await
}

async fn migrate(call: Call) -> Result<Response, Failure> {
    let mut fields = call.required(&MIGRATION)?;
    let plan = fields.object("migrationPlan");
    let filter = asked(&mut fields, &[(plan.is_none(), "migrationPlan")])?;
    let mut plan = plan.unwrap_or_else(|| Fields::empty(&PLAN));
    let definition = plan.key("targetProcessDefinitionKey")?.map(DefinitionKey);
    let mappings = plan.objects("mappingInstructions");
    let missing = missing(&[(definition.is_none(), "targetProcessDefinitionKey"), (mappings.is_empty(), "mappingInstructions")]);
    let (Some(definition), true) = (definition, missing.is_empty()) else {
        return Err(Failure::invalid(missing.join(" ")));
    };
    let mappings = mappings.into_iter().map(mapping).collect::<Result<_, _>>()?;
    begin(call, Work::Change(Change::Migrate(Migrate { definition, mappings })), filter).await
}

async fn modify(call: Call) -> Result<Response, Failure> {
    let mut fields = call.required(&MODIFICATION)?;
    let moves = fields.objects("moveInstructions");
    let filter = asked(&mut fields, &[(moves.is_empty(), "moveInstructions")])?;
    let moves = moves.into_iter().map(|fields| {
        let (source, target) = mapping(fields)?;
        Ok(Move { source: Which::Id(source), target, ancestor: Ancestor::OfSource, variables: Vec::new() })
    });
    let moves = moves.collect::<Result<_, Failure>>()?;
    begin(call, Work::Change(Change::Modify(Modification { activate: vec![], terminate: vec![], moves })), filter).await
}

async fn resolve_of_one(call: Call) -> Result<Response, Failure> {
    let key = call.key()?;
    search::found(&call, Entity::Instances, "Process Instance").await?;
    let filter = Filter::Is(Field::InstanceKey, Op::Eq(Scalar::Int(key)));
    begin(call, Work::ResolveIncidents, filter).await
}

/// The filter, which must ask for something. What is missing is said all at once.
fn asked(fields: &mut Fields<'_>, others: &[(bool, &str)]) -> Result<Filter, Failure> {
    check_reference(fields.number("operationReference"))?;
    let filter = fields.filter("filter");
    let mut wrong = match &filter {
        None => vec!["No filter provided.".to_owned()],
        Some(Filter::All(parts)) if parts.is_empty() => vec!["At least one of filter criteria is required.".to_owned()],
        Some(_) => Vec::new(),
    };
    wrong.extend(missing(others));
    match (filter, wrong.is_empty()) {
        (Some(filter), true) => Ok(filter),
        (Some(_) | None, _) => Err(Failure::invalid(wrong.join(" "))),
    }
}

fn missing(names: &[(bool, &str)]) -> Vec<String> {
    names.iter().filter(|(is_missing, _)| *is_missing).map(|(_, name)| format!("No {name} provided.")).collect()
}

async fn begin(call: Call, work: Work, filter: Filter) -> Result<Response, Failure> {
    call.submit("CREATE", Command::Batch(BatchCommand::Start { work, filter }), begun).await
}
