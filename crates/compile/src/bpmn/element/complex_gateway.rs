//! Complex gateways: `activationCondition` says when they start. Mappings on gateways have no effect.

use model::{ComplexGateway, Kind};

use crate::bpmn::site::Site;
use crate::bpmn::vocabulary::{bpmn_name, content};
use crate::draft::DraftElement;
use crate::expression;

pub(super) const ACTIVATION: &str = "activationCondition";

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    let written: Vec<_> = site.node.children().filter(|child| bpmn_name(*child) == Some(ACTIVATION)).collect();
    if let Some(second) = written.get(1) {
        site.complain_at(*second, "a complex gateway has at most one activationCondition");
    }
    let activation =
        written.first().map(|node| site.note(*node, expression::required("the activation condition", content(*node).trim())));
    let kind = match activation {
        Some(None) => None,
        activation => Some(Kind::ComplexGateway(ComplexGateway { activation: activation.flatten(), ..Default::default() })),
    };
    let mut element = site.element(kind);
    element.inputs = None;
    element.outputs = None;
    element
}
