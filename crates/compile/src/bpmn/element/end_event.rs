//! None, terminate, error and compensation end events. Inputs are honoured by none of them, outputs by none end events alone.

use model::{Compensate, EndEvent, Kind, Text};
use roxmltree::Node;

use super::throw_event;
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
        Some(("error", definition)) => thrown(site, *definition).map(|code| EndEvent::Error { code }),
        Some(("compensation", _)) => Some(EndEvent::Compensation(Compensate { activity: None })),
        Some((trigger, _)) => return site.unsupported(&format!("{trigger} end event")),
    };
    let mut element = site.element(end.map(Kind::EndEvent));
    element.inputs = None;
    if !triggers.is_empty() {
        element.outputs = None;
    }
    match triggers.first() {
        Some(("compensation", definition)) => throw_event::compensating(site, *definition, element),
        _ => element,
    }
}

fn thrown(site: &mut Site<'_, '_, '_>, definition: Node<'_, '_>) -> Option<Text> {
    let reference = definition.attribute("errorRef").map(referred).unwrap_or_default();
    let errors = site.errors;
    let Some(error) = errors.get(reference) else {
        let reason = match reference {
            "" => "an error end event needs an errorRef".to_owned(),
            id => format!("the error {} does not exist", quoted(id)),
        };
        site.complain_at(definition, reason);
        return None;
    };
    let Some(code) = error.code else {
        site.complain_at(definition, format!("the error {} needs an errorCode to be thrown", quoted(reference)));
        return None;
    };
    let code = expression::text("the error code", code);
    site.note(definition, code)
}
