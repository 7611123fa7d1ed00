//! ModifyProcessInstance and MigrateProcessInstance.

use engine::{Activation, Ancestor, DefinitionKey, ElementKey, InstanceKey, Modification, Move, ScopedVariables, Which};
use store::change::{Change, Migrate};
use store::log::Command;
use tonic::{Response, Status};

use super::call::{Call, key};
use super::refusal::refused;
use super::wire::{
    MigrateProcessInstanceRequest, MigrateProcessInstanceResponse, ModifyProcessInstanceRequest, ModifyProcessInstanceResponse,
    modify_process_instance_request::{ActivateInstruction, MoveInstruction, TerminateInstruction, VariableInstruction},
};

const MODIFY: &str = "MODIFY";

pub(super) async fn modify(
    call: Call<'_>,
    request: ModifyProcessInstanceRequest,
) -> Result<Response<ModifyProcessInstanceResponse>, Status> {
    let instance = InstanceKey(key(request.process_instance_key));
    let activate = request.activate_instructions.into_iter().map(|one| activation(&call, one)).collect::<Result<_, _>>()?;
    let terminate = request.terminate_instructions.into_iter().map(ended).collect::<Result<_, _>>()?;
    let moves = request.move_instructions.into_iter().map(|one| moved(&call, one)).collect::<Result<_, _>>()?;
    let change = Change::Modify(Modification { activate, terminate, moves });
    call.submit(MODIFY, Command::Change { instance, change }).await?;
    Ok(Response::new(ModifyProcessInstanceResponse {}))
}

pub(super) async fn migrate(
    call: Call<'_>,
    request: MigrateProcessInstanceRequest,
) -> Result<Response<MigrateProcessInstanceResponse>, Status> {
    let instance = InstanceKey(key(request.process_instance_key));
    let plan = request.migration_plan.unwrap_or_default();
    let mappings = plan.mapping_instructions.into_iter().map(|one| (one.source_element_id.into(), one.target_element_id.into()));
    let definition = DefinitionKey(key(plan.target_process_definition_key));
    let change = Change::Migrate(Migrate { definition, mappings: mappings.collect() });
    call.submit("MIGRATE", Command::Change { instance, change }).await?;
    Ok(Response::new(MigrateProcessInstanceResponse {}))
}

fn activation(call: &Call<'_>, one: ActivateInstruction) -> Result<Activation, Status> {
    Ok(Activation {
        element: one.element_id.into(),
        ancestor: given(one.ancestor_element_instance_key),
        variables: scoped(call, one.variable_instructions)?,
    })
}

fn scoped(call: &Call<'_>, given: Vec<VariableInstruction>) -> Result<Vec<ScopedVariables>, Status> {
    let one =
        |one: VariableInstruction| Ok(ScopedVariables { scope: one.scope_id.into(), variables: call.variables(&one.variables)? });
    given.into_iter().map(one).collect()
}

fn ended(one: TerminateInstruction) -> Result<Which, Status> {
    which(one.element_instance_key, one.element_id)
        .ok_or_else(|| refused(MODIFY, "a terminate instruction names neither an element instance nor an element".to_owned()))
}

fn moved(call: &Call<'_>, one: MoveInstruction) -> Result<Move, Status> {
    let source = which(one.source_element_instance_key, one.source_element_id).filter(|_| !one.target_element_id.is_empty());
    let source = source.ok_or_else(|| refused(MODIFY, "a move instruction names no source or no target".to_owned()))?;
    let ancestor = match given(one.ancestor_element_instance_key) {
        Some(key) => Ancestor::Key(key),
        None if one.use_source_parent_key_as_ancestor_scope_key => Ancestor::ParentOfSource,
        None if one.infer_ancestor_scope_from_source_hierarchy => Ancestor::OfSource,
        None => Ancestor::Any,
    };
    Ok(Move { source, target: one.target_element_id.into(), ancestor, variables: scoped(call, one.variable_instructions)? })
}

/// An instance by its key where one is given, otherwise all of an element.
fn which(instance: i64, id: String) -> Option<Which> {
    match given(instance) {
        Some(key) => Some(Which::Key(key)),
        None if id.is_empty() => None,
        None => Some(Which::Id(id.into())),
    }
}

/// Keys that are not given are 0 or negative.
fn given(element: i64) -> Option<ElementKey> {
    Some(key(element)).filter(|key| *key != 0).map(ElementKey)
}
