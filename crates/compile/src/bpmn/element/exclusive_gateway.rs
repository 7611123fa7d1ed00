//! Exclusive gateways. Mappings on gateways have no effect.

use model::Kind;

use crate::bpmn::site::Site;
use crate::draft::DraftElement;

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    let mut element = site.element(Some(Kind::ExclusiveGateway { default: None }));
    element.inputs = None;
    element.outputs = None;
    element
}
