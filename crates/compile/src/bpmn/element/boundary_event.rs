//! Error and compensation boundary events. Their outputs are honoured, inputs are not.

use model::{Compensated, ErrorCatch, Kind, Process};
use roxmltree::Node;

use crate::bpmn::site::Site;
use crate::bpmn::vocabulary::{boolean, referred};
use crate::diagnostic::quoted;
use crate::draft::DraftElement;
use crate::expression;

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    let attached_to = site.reference("attachedToRef");
    if attached_to.is_none() {
        site.complain("a boundary event needs an attachedToRef: the activity it sits on");
    }
    let triggers = site.triggers();
    let mut element = match triggers.first() {
        None => {
            site.complain("a boundary event needs an event definition");
            site.element(None)
        }
        Some(("error", definition)) => {
            if site.attribute("cancelActivity").and_then(boolean) == Some(false) {
                site.complain("an error boundary event always interrupts: remove cancelActivity=\"false\"");
            }
            let catch = caught(site, *definition);
            site.element(catch.map(Kind::ErrorBoundary))
        }
        // Its handler is known once all associations are.
        Some(("compensation", _)) => site.element(Some(Kind::CompensationBoundary(Compensated { handler: Process::ROOT }))),
        Some((trigger, _)) => site.unsupported(&format!("{trigger} boundary event")),
    };
    element.inputs = None;
    element.attached_to = attached_to;
    element
}

/// Without an error, or with one that has no code, everything is caught.
fn caught(site: &mut Site<'_, '_, '_>, definition: Node<'_, '_>) -> Option<ErrorCatch> {
    let reference = definition.attribute("errorRef").map(referred).unwrap_or_default();
    if reference.is_empty() {
        return Some(ErrorCatch::Any);
    }
    let errors = site.errors;
    let Some(error) = errors.get(reference) else {
        site.complain_at(definition, format!("the error {} does not exist", quoted(reference)));
        return None;
    };
    let Some(code) = error.code else {
        return Some(ErrorCatch::Any);
    };
    if expression::source(code).is_some() {
        site.complain_at(definition, format!("the code {} of a caught error cannot be an expression", quoted(code)));
        return None;
    }
    Some(ErrorCatch::Code(code.into()))
}
