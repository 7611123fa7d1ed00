//! Inclusive gateways. Mappings on gateways have no effect.

use model::{InclusiveGateway, Kind};

use crate::bpmn::site::Site;
use crate::draft::DraftElement;

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    let mut element = site.element(Some(Kind::InclusiveGateway(InclusiveGateway::default())));
    element.inputs = None;
    element.outputs = None;
    element
}
