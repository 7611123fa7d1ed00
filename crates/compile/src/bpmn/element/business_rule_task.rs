//! Business rule tasks: `zeebe:calledDecision`, or done by a worker.

use model::{DecisionTask, JobTaskFlavour, Kind};
use roxmltree::Node;

use super::job_task;
use crate::bpmn::extension;
use crate::bpmn::site::Site;
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
    let result = site.note(
        node,
        result
            .ok_or("zeebe:calledDecision needs a resultVariable".to_owned())
            .and_then(|name| expression::variable("the resultVariable", name)),
    );
    let binding = site.note(node, extension::binding(node));
    let (decision, result, binding) = (decision?, result?, binding?);
    Some(DecisionTask { decision, binding, result })
}
