//! Boundary events. Their outputs are honoured, inputs are not.

use model::{Catch, Compensated, Kind, Process, TimerKind, Trigger};
use roxmltree::Node;

use crate::bpmn::event::{self, Read};
use crate::bpmn::several;
use crate::bpmn::site::Site;
use crate::bpmn::vocabulary::boolean;
use crate::draft::DraftElement;

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    let attached_to = site.reference("attachedToRef");
    if attached_to.is_none() {
        site.complain("a boundary event needs an attachedToRef: the activity it sits on");
    }
    let triggers = site.triggers();
    let interrupting = is_interrupting(site);
    let kind = |trigger: Trigger| Kind::BoundaryEvent(Catch { trigger, interrupting });
    let mut element = match &triggers[..] {
        [] => {
            site.complain("a boundary event needs an event definition");
            site.element(None)
        }
        // Its handler is known once all associations are.
        [("compensation", _)] => site.element(Some(Kind::CompensationBoundary(Compensated { handler: Process::ROOT }))),
        [(trigger, definition)] => match one(site, trigger, *definition) {
            Read::Caught(trigger) => site.element(Some(kind(trigger))),
            Read::Refused => site.element(None),
            Read::Unsupported => site.unsupported(&format!("{trigger} boundary event")),
        },
        several => {
            let (trigger, parts) = several::caught(site, several, one).unzip();
            DraftElement { parts: parts.unwrap_or_default(), ..site.element(trigger.map(kind)) }
        }
    };
    element.inputs = None;
    element.attached_to = attached_to;
    element
}

fn is_interrupting(site: &Site<'_, '_, '_>) -> bool {
    site.attribute("cancelActivity").and_then(boolean) != Some(false)
}

fn one(site: &mut Site<'_, '_, '_>, trigger: &str, definition: Node<'_, '_>) -> Read {
    let read = event::caught(site, trigger, definition);
    if let Read::Caught(trigger) = &read {
        event::check_interrupting(site, trigger, is_interrupting(site));
        let is_cycle = matches!(trigger, Trigger::Timer(timer) if timer.kind == TimerKind::Cycle);
        if is_cycle && is_interrupting(site) {
            site.complain("an interrupting timer boundary event cannot repeat: use a date or a duration");
        }
    }
    read
}
