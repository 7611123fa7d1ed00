//! Receive tasks: they wait for a message.

use model::Kind;

use crate::bpmn::event;
use crate::bpmn::site::Site;
use crate::bpmn::vocabulary::boolean;
use crate::draft::DraftElement;

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    if site.attribute("instantiate").and_then(boolean) == Some(true) {
        site.complain("a receive task that starts the process is not supported: use a message start event");
    }
    let message = event::message(site, site.node);
    site.element(message.map(Kind::ReceiveTask))
}
