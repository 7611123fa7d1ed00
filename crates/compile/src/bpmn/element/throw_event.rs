//! Intermediate throw events: links, and those without a trigger, a milestone tokens pass straight through.

use model::Kind;

use super::link_event;
use crate::bpmn::site::Site;
use crate::draft::DraftElement;

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    match site.triggers().first() {
        None => site.element(Some(Kind::ThrowEvent)),
        Some(("link", definition)) => link_event::throw(site, *definition),
        Some((trigger, _)) => site.unsupported(&format!("{trigger} intermediate throw event")),
    }
}
