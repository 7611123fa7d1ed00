//! Migration to another definition.

use std::sync::Arc;

use axum::response::Response;
use engine::{DefinitionKey, InstanceKey};
use store::change::{Change, Migrate};
use store::log::Command;

use crate::error::Failure;
use crate::rest::call::Call;
use crate::rest::describe::Kind;
use crate::rest::shape::{Fields, Shape, field};

pub(super) static MIGRATION: Shape = Shape {
    name: "ProcessInstanceMigrationInstruction",
    fields: &[
        field("targetProcessDefinitionKey", Kind::Key, "The definition to go on with").required(),
        field("mappingInstructions", Kind::FieldsList(&MAPPING), "What becomes of each active element").required(),
        field("operationReference", Kind::Int64, "A number of the caller's own, 1 or more; it means nothing to the server"),
    ],
};

pub(in crate::rest) static MAPPING: Shape = Shape {
    name: "MigrateProcessInstanceMappingInstruction",
    fields: &[
        field("sourceElementId", Kind::Text, "An element the instance has, or a flow by which a token came to a join").required(),
        field("targetElementId", Kind::Text, "What it becomes").required(),
    ],
};

pub(super) async fn migrate(call: Call) -> Result<Response, Failure> {
    let instance = InstanceKey(call.existing_key()?);
    let mut fields = call.required(&MIGRATION)?;
    super::check_reference(fields.number("operationReference"))?;
    let definition = fields.key("targetProcessDefinitionKey")?.map(DefinitionKey);
    let mappings = fields.objects("mappingInstructions");
    let (Some(definition), false) = (definition, mappings.is_empty()) else {
        let missing = [(definition.is_none(), "targetProcessDefinitionKey"), (mappings.is_empty(), "mappingInstructions")];
        let missing = missing.iter().filter(|(is_missing, _)| *is_missing).map(|(_, name)| format!("No {name} provided."));
        return Err(Failure::invalid(missing.collect::<Vec<_>>().join(" ")));
    };
    let mappings = mappings.into_iter().map(mapping).collect::<Result<_, _>>()?;
    let change = Change::Migrate(Migrate { definition, mappings });
    call.perform("MIGRATE", Command::Change { instance, change }).await
}

pub(in crate::rest) fn mapping(mut fields: Fields<'_>) -> Result<(Arc<str>, Arc<str>), Failure> {
    let mut id = |name| fields.shared(name).ok_or_else(|| Failure::invalid(format!("No {name} provided.")));
    Ok((id("sourceElementId")?, id("targetElementId")?))
}
