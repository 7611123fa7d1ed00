//! Business rule tasks: `zeebe:calledDecision`, or done by a worker.

use model::{Binding, DecisionTask, JobTaskFlavour, Kind};
use roxmltree::Node;

use super::job_task;
use crate::bpmn::extension;
use crate::bpmn::site::Site;
use crate::diagnostic::quoted;
use crate::draft::DraftElement;
use crate::expression;

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    let decision = extension::only(site, "calledDecision");
    let definition = extension::only(site, "taskDefinition");
    match (decision, definition) {
        (None, Some(definition)) => job_task::read(site, definition, JobTaskFlavour::BusinessRule),
        (Some(decision), None) => {
            let task = called(site, decision);
            site.element(task.map(Kind::DecisionTask))
        }
        (Some(_), Some(_)) | (None, None) => {
            site.complain("a business rule task needs either a zeebe:calledDecision or a zeebe:taskDefinition");
            site.element(None)
        }
    }
}

fn called(site: &mut Site<'_, '_, '_>, node: Node<'_, '_>) -> Option<DecisionTask> {
    let decision = match node.attribute("decisionId").filter(|value| !value.is_empty()) {
        Some(value) => expression::text("the decision id", value),
        None => Err("zeebe:calledDecision needs a decisionId".to_owned()),
    };
    let decision = site.note(node, decision);
    let result = node.attribute("resultVariable").filter(|name| !name.is_empty());
    let result = site.note(node, result.ok_or("zeebe:calledDecision needs a resultVariable".to_owned()));
    let binding = site.note(node, binding(node));
    let (decision, result, binding) = (decision?, result?, binding?);
    Some(DecisionTask { decision, binding, result: result.into() })
}

fn binding(node: Node<'_, '_>) -> Result<Binding, String> {
    let tag = node.attribute("versionTag").filter(|tag| !tag.trim().is_empty());
    match (node.attribute("bindingType").unwrap_or("latest"), tag) {
        ("latest", _) => Ok(Binding::Latest),
        ("deployment", _) => Ok(Binding::Deployment),
        ("versionTag", Some(tag)) => Ok(Binding::VersionTag(tag.into())),
        ("versionTag", None) => Err("the binding versionTag needs a versionTag".to_owned()),
        (other, _) => Err(format!("there is no binding {}: it is latest, deployment or versionTag", quoted(other))),
    }
}
