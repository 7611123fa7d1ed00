//! Intermediate throw events. Without a trigger they are a milestone that tokens pass straight through.

use model::{JobTaskFlavour, Kind};

use super::link_event;
use crate::bpmn::event;
use crate::bpmn::site::Site;
use crate::draft::DraftElement;

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    let triggers = site.triggers();
    let Some((trigger, definition)) = triggers.first() else {
        return site.element(Some(Kind::ThrowEvent(None)));
    };
    if *trigger == "link" {
        return link_event::throw(site, *definition);
    }
    match event::thrown(site, trigger, *definition, JobTaskFlavour::Throw) {
        event::Thrown::Throw(throw) => {
            let mut element = site.element(Some(Kind::ThrowEvent(Some(throw))));
            element.compensation = event::compensated(site, *definition);
            element
        }
        event::Thrown::Job(element) => *element,
        event::Thrown::Refused => site.element(None),
        event::Thrown::Unsupported => site.unsupported(&format!("{trigger} intermediate throw event")),
    }
}
