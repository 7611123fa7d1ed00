//! End events. Inputs are honoured by those that throw a message, outputs by none end events and those as well.

use model::{EndEvent, JobTaskFlavour, Kind};

use crate::bpmn::site::Site;
use crate::bpmn::{event, several};
use crate::draft::DraftElement;

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    let triggers = site.triggers();
    let end = match &triggers[..] {
        [] => Some(EndEvent::None),
        [("terminate", _)] => Some(EndEvent::Terminate),
        [("cancel", _)] => Some(EndEvent::Cancel),
        [("error", definition)] => event::error(site, *definition).map(|code| EndEvent::Error { code }),
        [(trigger, definition)] => match event::thrown(site, trigger, *definition, JobTaskFlavour::End) {
            event::Thrown::Throw(throw) => Some(EndEvent::Throw(throw)),
            event::Thrown::Job(element) => return *element,
            event::Thrown::Refused => None,
            event::Thrown::Unsupported => return site.unsupported(&format!("{trigger} end event")),
        },
        several => several::thrown(site, several, JobTaskFlavour::End),
    };
    let throws = matches!(end, Some(EndEvent::Throw(_) | EndEvent::After { .. }));
    let mut element = site.element(end.map(Kind::EndEvent));
    element.compensation = event::compensated(site, &triggers);
    if !throws {
        element.inputs = None;
    }
    if !throws && !triggers.is_empty() {
        element.outputs = None;
    }
    element
}
