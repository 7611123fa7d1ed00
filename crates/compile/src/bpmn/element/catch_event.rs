//! Intermediate catch events: links.

use super::link_event;
use crate::bpmn::site::Site;
use crate::draft::DraftElement;

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    match site.triggers().first() {
        Some(("link", definition)) => link_event::catch(site, *definition),
        Some((trigger, _)) => site.unsupported(&format!("{trigger} intermediate catch event")),
        None => {
            site.complain("an intermediate catch event needs an event definition");
            site.element(None)
        }
    }
}
