//! Event-based gateways. What must follow them is a rule of the whole process.

use model::Kind;

use crate::bpmn::site::Site;
use crate::bpmn::vocabulary::boolean;
use crate::draft::DraftElement;

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    if site.attribute("instantiate").and_then(boolean) == Some(true) {
        site.complain("an event-based gateway that starts the process is not supported: use start events");
    }
    if site.attribute("eventGatewayType").is_some_and(|kind| kind != "Exclusive") {
        site.complain("an event-based gateway waits for one event: a parallel one is not supported");
    }
    site.element(Some(Kind::EventGateway))
}
