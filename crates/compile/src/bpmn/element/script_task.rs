//! Script tasks: FEEL in `zeebe:script`, or done by a worker; in a workflow what sets variables.

use model::{JobTaskFlavour, Kind, Script};
use roxmltree::Node;

use super::job_task;
use crate::bpmn::extension;
use crate::bpmn::site::Site;
use crate::bpmn::workflow;
use crate::draft::DraftElement;
use crate::expression;

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    if let Some(transformation) = workflow::transformation(site) {
        return site.element(Some(transformation));
    }
    let script = extension::only(site, "script");
    let definition = extension::only(site, "taskDefinition");
    match (script, definition) {
        (Some(script), None) => {
            let script = evaluated(site, script);
            site.element(script.map(Kind::ScriptTask))
        }
        (None, Some(definition)) => job_task::read(site, definition, JobTaskFlavour::Script),
        (Some(_), Some(_)) | (None, None) => {
            site.complain("a script task needs either a zeebe:script or a zeebe:taskDefinition");
            site.element(None)
        }
    }
}

fn evaluated(site: &mut Site<'_, '_, '_>, script: Node<'_, '_>) -> Option<Script> {
    let expression = match script.attribute("expression").filter(|value| !value.is_empty()) {
        Some(value) => expression::required("the script", value),
        None => Err("zeebe:script needs an expression".to_owned()),
    };
    let expression = site.note(script, expression);
    let result = script.attribute("resultVariable").filter(|name| !name.is_empty());
    let result = site.note(
        script,
        result
            .ok_or("zeebe:script needs a resultVariable".to_owned())
            .and_then(|name| expression::variable("the resultVariable", name)),
    );
    expression.zip(result).map(|(expression, result)| Script { expression, result })
}
