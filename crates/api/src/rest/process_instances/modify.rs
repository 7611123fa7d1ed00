//! Modification: entering elements, ending element instances, moving between them.

use std::sync::Arc;

use axum::response::Response;
use engine::{Activation, Ancestor, ElementKey, InstanceKey, Modification, Move, ScopedVariables, Which};
use store::change::Change;
use store::log::Command;

use crate::error::Failure;
use crate::rest::call::Call;
use crate::rest::describe::Kind;
use crate::rest::shape::{Fields, Shape, field};

pub(super) static MODIFICATION: Shape = Shape {
    name: "ProcessInstanceModificationInstruction",
    fields: &[
        field("operationReference", Kind::Int64, "A number of the caller's own, 1 or more; it means nothing to the server"),
        field("activateInstructions", Kind::FieldsList(&ACTIVATE), "Elements to enter"),
        field("moveInstructions", Kind::FieldsList(&MOVE), "Element instances to end, each with an element to enter for it"),
        field("terminateInstructions", Kind::FieldsList(&TERMINATE), "Element instances to end"),
    ],
};

static ACTIVATE: Shape = Shape {
    name: "ProcessInstanceModificationActivateInstruction",
    fields: &[
        field("elementId", Kind::Text, "The element").required(),
        field("ancestorElementInstanceKey", Kind::Key, "An element instance around it; what lies between the two is made anew"),
        field("variableInstructions", Kind::FieldsList(&VARIABLES), "Variables to set"),
    ],
};

static VARIABLES: Shape = Shape {
    name: "ModifyProcessInstanceVariableInstruction",
    fields: &[
        field("variables", Kind::Object, "The variables").required(),
        field("scopeId", Kind::Text, "The element, or a scope around it; without one the process"),
    ],
};

static TERMINATE: Shape = Shape {
    name: "ProcessInstanceModificationTerminateInstruction",
    fields: &[
        field("elementId", Kind::Text, "All active instances of this element"),
        field("elementInstanceKey", Kind::Key, "This element instance"),
    ],
};

static MOVE: Shape = Shape {
    name: "ProcessInstanceModificationMoveInstruction",
    fields: &[
        field("sourceElementInstruction", Kind::Fields(&SOURCE), "What to end").required(),
        field("targetElementId", Kind::Text, "The element to enter").required(),
        field("ancestorScopeInstruction", Kind::Fields(&ANCESTOR), "In which scopes to enter it"),
        field("variableInstructions", Kind::FieldsList(&VARIABLES), "Variables to set"),
    ],
};

static SOURCE: Shape = Shape {
    name: "SourceElementInstruction",
    fields: &[
        field("sourceType", Kind::Text, "`byId` or `byKey`").required(),
        field("sourceElementId", Kind::Text, "All active instances of this element"),
        field("sourceElementInstanceKey", Kind::Key, "This element instance"),
    ],
};

static ANCESTOR: Shape = Shape {
    name: "AncestorScopeInstruction",
    fields: &[
        field("ancestorScopeType", Kind::Text, "`direct`, `inferred` or `sourceParent`").required(),
        field("ancestorElementInstanceKey", Kind::Key, "With `direct`: an element instance around the target"),
    ],
};

pub(super) async fn modify(call: Call) -> Result<Response, Failure> {
    let instance = InstanceKey(call.existing_key()?);
    let mut fields = call.required(&MODIFICATION)?;
    super::check_reference(fields.number("operationReference"))?;
    let activate = fields.objects("activateInstructions").into_iter().map(activation).collect::<Result<_, _>>()?;
    let moves = fields.objects("moveInstructions").into_iter().map(moved).collect::<Result<_, _>>()?;
    let terminate = fields.objects("terminateInstructions").into_iter().map(ended).collect::<Result<_, _>>()?;
    let change = Change::Modify(Modification { activate, terminate, moves });
    call.perform("MODIFY", Command::Change { instance, change }).await
}

fn activation(mut fields: Fields<'_>) -> Result<Activation, Failure> {
    let element = required(&mut fields, "elementId")?;
    // The Java client says that none is meant with -1, which is no key, as over gRPC.
    let ancestor = key(&mut fields, "ancestorElementInstanceKey")?.filter(|key| key.0 != 0);
    Ok(Activation { element, ancestor, variables: variables(&mut fields) })
}

fn variables(fields: &mut Fields<'_>) -> Vec<ScopedVariables> {
    let scoped = |mut fields: Fields<'_>| ScopedVariables {
        scope: fields.shared("scopeId").unwrap_or_default(),
        variables: fields.document("variables"),
    };
    fields.objects("variableInstructions").into_iter().map(scoped).collect()
}

fn ended(mut fields: Fields<'_>) -> Result<Which, Failure> {
    match (fields.shared("elementId"), key(&mut fields, "elementInstanceKey")?) {
        (Some(id), None) => Ok(Which::Id(id)),
        (None, Some(key)) => Ok(Which::Key(key)),
        (None, None) => Err(Failure::invalid("At least one of [elementId, elementInstanceKey] is required.")),
        (Some(_), Some(_)) => Err(Failure::invalid("Only one of [elementId, elementInstanceKey] is allowed.")),
    }
}

fn moved(mut fields: Fields<'_>) -> Result<Move, Failure> {
    let Some(source) = fields.object("sourceElementInstruction") else { return Err(missing("sourceElementInstruction")) };
    let source = source_of(source)?;
    let target = required(&mut fields, "targetElementId")?;
    let ancestor = fields.object("ancestorScopeInstruction").map_or(Ok(Ancestor::Any), ancestor_of)?;
    Ok(Move { source, target, ancestor, variables: variables(&mut fields) })
}

fn source_of(mut fields: Fields<'_>) -> Result<Which, Failure> {
    match fields.text("sourceType").as_deref() {
        Some("byId") => Ok(Which::Id(required(&mut fields, "sourceElementId")?)),
        Some("byKey") => {
            let name = "sourceElementInstanceKey";
            Ok(Which::Key(key(&mut fields, name)?.ok_or_else(|| missing(name))?))
        }
        Some(other) => Err(Failure::invalid(format!("The sourceType '{other}' is none of byId, byKey."))),
        None => Err(missing("sourceType")),
    }
}

fn ancestor_of(mut fields: Fields<'_>) -> Result<Ancestor, Failure> {
    match fields.text("ancestorScopeType").as_deref() {
        Some("direct") => {
            let name = "ancestorElementInstanceKey";
            Ok(Ancestor::Key(key(&mut fields, name)?.ok_or_else(|| missing(name))?))
        }
        Some("inferred") => Ok(Ancestor::OfSource),
        Some("sourceParent") => Ok(Ancestor::ParentOfSource),
        Some(other) => {
            Err(Failure::invalid(format!("The ancestorScopeType '{other}' is none of direct, inferred, sourceParent.")))
        }
        None => Err(missing("ancestorScopeType")),
    }
}

fn key(fields: &mut Fields<'_>, name: &str) -> Result<Option<ElementKey>, Failure> {
    Ok(fields.key(name)?.map(ElementKey))
}

fn required(fields: &mut Fields<'_>, name: &str) -> Result<Arc<str>, Failure> {
    fields.shared(name).ok_or_else(|| missing(name))
}

fn missing(name: &str) -> Failure {
    Failure::invalid(format!("No {name} provided."))
}
