//! End events. Inputs are honoured by those that throw a message, outputs by none end events and those as well.

use model::{EndEvent, JobTaskFlavour, Kind, Text};
use roxmltree::Node;

use crate::bpmn::event;
use crate::bpmn::site::Site;
use crate::bpmn::vocabulary::referred;
use crate::diagnostic::quoted;
use crate::draft::DraftElement;
use crate::expression;

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    let triggers = site.triggers();
    let end = match triggers.first() {
        None => Some(EndEvent::None),
        Some(("terminate", _)) => Some(EndEvent::Terminate),
        Some(("cancel", _)) => Some(EndEvent::Cancel),
        Some(("error", definition)) => error(site, *definition).map(|code| EndEvent::Error { code }),
        Some((trigger, definition)) => match event::thrown(site, trigger, *definition, JobTaskFlavour::End) {
            event::Thrown::Throw(throw) => {
                let mut element = site.element(Some(Kind::EndEvent(EndEvent::Throw(throw))));
                element.compensation = event::compensated(site, *definition);
                return element;
            }
            event::Thrown::Job(element) => return *element,
            event::Thrown::Refused => None,
            event::Thrown::Unsupported => return site.unsupported(&format!("{trigger} end event")),
        },
    };
    let mut element = site.element(end.map(Kind::EndEvent));
    element.inputs = None;
    if !triggers.is_empty() {
        element.outputs = None;
    }
    element
}

fn error(site: &mut Site<'_, '_, '_>, definition: Node<'_, '_>) -> Option<Text> {
    let reference = definition.attribute("errorRef").map(referred).unwrap_or_default();
    let Some(code) = site.roots.errors.get(reference) else {
        let reason = match reference {
            "" => "an error end event needs an errorRef".to_owned(),
            id => format!("the error {} does not exist", quoted(id)),
        };
        site.complain_at(definition, reason);
        return None;
    };
    let Some(code) = code else {
        site.complain_at(definition, format!("the error {} needs an errorCode to be thrown", quoted(reference)));
        return None;
    };
    let code = expression::text("the error code", code);
    site.note(definition, code)
}
