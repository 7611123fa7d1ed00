//! Call activities: `zeebe:calledElement`.

use model::{Call, Kind};
use roxmltree::Node;

use crate::bpmn::extension;
use crate::bpmn::site::Site;
use crate::draft::DraftElement;
use crate::expression;

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    let Some(node) = extension::only(site, "calledElement") else {
        site.complain("a call activity needs a zeebe:calledElement with the process id");
        return site.element(None);
    };
    let call = called(site, node);
    site.element(call.map(Kind::CallActivity))
}

fn called(site: &mut Site<'_, '_, '_>, node: Node<'_, '_>) -> Option<Call> {
    let process = match node.attribute("processId").filter(|value| !value.is_empty()) {
        Some(value) => expression::text("the process id", value),
        None => Err("zeebe:calledElement needs a processId".to_owned()),
    };
    let process = site.note(node, process);
    let binding = site.note(node, extension::binding(node));
    let all_in = site.flag(node, "propagateAllParentVariables", true);
    let all_out = site.flag(node, "propagateAllChildVariables", true);
    Some(Call { process: process?, binding: binding?, all_in: all_in?, all_out: all_out? })
}
