//! Receive tasks: they wait for a message, in a workflow to be told.

use model::Kind;

use crate::bpmn::event;
use crate::bpmn::site::Site;
use crate::bpmn::vocabulary::boolean;
use crate::bpmn::workflow;
use crate::draft::DraftElement;

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    if site.attribute("instantiate").and_then(boolean) == Some(true) {
        site.complain("a receive task that starts the process is not supported: use a message start event");
    }
    if !workflow::all(site.node, "wait").is_empty() {
        return site.element(Some(Kind::Wait));
    }
    let message = event::message(site, site.node);
    site.element(message.map(Kind::ReceiveTask))
}
