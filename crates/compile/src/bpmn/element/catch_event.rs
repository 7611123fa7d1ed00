//! Intermediate catch events. Their outputs are honoured, inputs are not.

use model::{Kind, TimerKind, Trigger};
use roxmltree::Node;

use super::link_event;
use crate::bpmn::event::{self, Read};
use crate::bpmn::several;
use crate::bpmn::site::Site;
use crate::bpmn::vocabulary::with_article;
use crate::draft::DraftElement;

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    let triggers = site.triggers();
    let mut element = match &triggers[..] {
        [] => {
            site.complain("an intermediate catch event needs an event definition");
            site.element(None)
        }
        [("link", definition)] => link_event::catch(site, *definition),
        [(trigger, definition)] => match one(site, trigger, *definition) {
            Read::Caught(trigger) => site.element(Some(Kind::CatchEvent(trigger))),
            Read::Refused => site.element(None),
            Read::Unsupported => site.unsupported(&format!("{trigger} intermediate catch event")),
        },
        several => {
            let (trigger, parts) = several::caught(site, several, one).unzip();
            DraftElement { parts: parts.unwrap_or_default(), ..site.element(trigger.map(Kind::CatchEvent)) }
        }
    };
    element.inputs = None;
    element
}

fn one(site: &mut Site<'_, '_, '_>, trigger: &str, definition: Node<'_, '_>) -> Read {
    match event::caught(site, trigger, definition) {
        Read::Caught(Trigger::Error(_) | Trigger::Escalation(_) | Trigger::Cancel | Trigger::Compensation) => {
            let what = with_article(trigger);
            site.complain(format!("no intermediate catch event catches {what}: put it on the boundary of an activity"));
            Read::Refused
        }
        Read::Caught(Trigger::Timer(timer)) => {
            if timer.kind == TimerKind::Cycle {
                site.complain("an intermediate timer catch event cannot repeat: use a date or a duration");
            }
            Read::Caught(Trigger::Timer(timer))
        }
        read @ (Read::Caught(_) | Read::Refused | Read::Unsupported) => read,
    }
}
