//! Boundary events. Their outputs are honoured, inputs are not.

use model::{Catch, Compensated, Kind, Process, TimerKind, Trigger};

use crate::bpmn::event;
use crate::bpmn::site::Site;
use crate::bpmn::vocabulary::boolean;
use crate::draft::DraftElement;

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
        // Its handler is known once all associations are.
        Some(("compensation", _)) => site.element(Some(Kind::CompensationBoundary(Compensated { handler: Process::ROOT }))),
        Some((trigger, definition)) => match event::caught(site, trigger, *definition) {
            event::Read::Caught(trigger) => {
                let catch = catch(site, trigger);
                site.element(Some(Kind::BoundaryEvent(catch)))
            }
            event::Read::Refused => site.element(None),
            event::Read::Unsupported => site.unsupported(&format!("{trigger} boundary event")),
        },
    };
    element.inputs = None;
    element.attached_to = attached_to;
    element
}

fn catch(site: &mut Site<'_, '_, '_>, trigger: Trigger) -> Catch {
    let interrupting = site.attribute("cancelActivity").and_then(boolean) != Some(false);
    event::check_interrupting(site, &trigger, interrupting);
    if let Trigger::Timer(timer) = &trigger
        && timer.kind == TimerKind::Cycle
        && interrupting
    {
        site.complain("an interrupting timer boundary event cannot repeat: use a date or a duration");
    }
    Catch { trigger, interrupting }
}
