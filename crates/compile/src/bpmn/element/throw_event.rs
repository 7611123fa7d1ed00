//! Intermediate throw events: without a trigger, a milestone tokens pass straight through; compensation.

use model::{Compensate, Kind};
use roxmltree::Node;

use crate::bpmn::site::Site;
use crate::bpmn::vocabulary::{boolean, referred};
use crate::draft::DraftElement;

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    match site.triggers().first() {
        None => site.element(Some(Kind::ThrowEvent)),
        Some(("compensation", definition)) => {
            let element = site.element(Some(Kind::CompensationThrow(Compensate { activity: None })));
            compensating(site, *definition, element)
        }
        Some((trigger, _)) => site.unsupported(&format!("{trigger} intermediate throw event")),
    }
}

/// An event that compensates, with the activity it names.
pub(super) fn compensating(site: &mut Site<'_, '_, '_>, definition: Node<'_, '_>, mut element: DraftElement) -> DraftElement {
    if definition.attribute("waitForCompletion").and_then(boolean) == Some(false) {
        site.complain_at(definition, "compensation is always waited for: remove waitForCompletion=\"false\"");
    }
    let activity = definition.attribute("activityRef").map(referred).filter(|activity| !activity.is_empty());
    element.compensation = activity.map(Into::into);
    element
}
