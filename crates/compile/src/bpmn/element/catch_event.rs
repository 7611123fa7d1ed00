//! Intermediate catch events. Their outputs are honoured, inputs are not.

use model::{Kind, TimerKind, Trigger};

use super::link_event;
use crate::bpmn::event;
use crate::bpmn::site::Site;
use crate::bpmn::vocabulary::with_article;
use crate::draft::DraftElement;

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    let triggers = site.triggers();
    let mut element = match triggers.first() {
        None => {
            site.complain("an intermediate catch event needs an event definition");
            site.element(None)
        }
        Some(("link", definition)) => link_event::catch(site, *definition),
        Some((trigger, definition)) => match event::caught(site, trigger, *definition) {
            event::Read::Caught(Trigger::Error(_) | Trigger::Escalation(_) | Trigger::Cancel) => {
                let what = with_article(trigger);
                site.complain(format!("no intermediate catch event catches {what}: put it on the boundary of an activity"));
                site.element(None)
            }
            event::Read::Caught(trigger) => {
                if matches!(&trigger, Trigger::Timer(timer) if timer.kind == TimerKind::Cycle) {
                    site.complain("an intermediate timer catch event cannot repeat: use a date or a duration");
                }
                site.element(Some(Kind::CatchEvent(trigger)))
            }
            event::Read::Refused => site.element(None),
            event::Read::Unsupported => site.unsupported(&format!("{trigger} intermediate catch event")),
        },
    };
    element.inputs = None;
    element
}
