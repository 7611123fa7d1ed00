//! Intermediate throw events. Without a trigger they are a milestone that tokens pass straight through.

use model::{EndEvent, JobTaskFlavour, Kind};

use super::link_event;
use crate::bpmn::site::Site;
use crate::bpmn::{event, several};
use crate::draft::DraftElement;

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    let triggers = site.triggers();
    let throw = match &triggers[..] {
        [] => return site.element(Some(Kind::ThrowEvent(None))),
        [("link", definition)] => return link_event::throw(site, *definition),
        [(trigger, definition)] => match event::thrown(site, trigger, *definition, JobTaskFlavour::Throw) {
            event::Thrown::Throw(throw) => Some(throw),
            event::Thrown::Job(element) => return *element,
            event::Thrown::Refused => None,
            event::Thrown::Unsupported => return site.unsupported(&format!("{trigger} intermediate throw event")),
        },
        several => match several::thrown(site, several, JobTaskFlavour::Throw) {
            Some(EndEvent::Throw(throw)) => Some(throw),
            Some(_) | None => None,
        },
    };
    let mut element = site.element(throw.map(|throw| Kind::ThrowEvent(Some(throw))));
    element.compensation = event::compensated(site, &triggers);
    element
}
