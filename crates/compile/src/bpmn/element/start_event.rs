//! Start events. Their outputs are honoured, inputs are not.

use model::{Catch, Kind, Trigger};
use roxmltree::Node;

use crate::bpmn::event::{self, Read};
use crate::bpmn::several;
use crate::bpmn::site::Site;
use crate::bpmn::vocabulary::boolean;
use crate::diagnostic::quoted;
use crate::draft::{Content, DraftElement};

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    let triggers = site.triggers();
    let mut element = site.element(Some(Kind::StartEvent(None)));
    element.inputs = None;
    let interrupting = is_interrupting(site);
    let kind = |trigger: Trigger| Content::Read(Kind::StartEvent(Some(Catch { trigger, interrupting })));
    element.content = match &triggers[..] {
        [] => return element,
        [(trigger, definition)] => match one(site, trigger, *definition) {
            Read::Caught(trigger) => kind(trigger),
            Read::Refused => Content::RefusedStart,
            Read::Unsupported => {
                site.complain(format!("{trigger} start event {} is not supported yet", quoted(site.id)));
                Content::RefusedStart
            }
        },
        several => {
            let (trigger, parts) = several::caught(site, several, one).unzip();
            element.parts = parts.unwrap_or_default();
            trigger.map_or(Content::RefusedStart, kind)
        }
    };
    element
}

fn is_interrupting(site: &Site<'_, '_, '_>) -> bool {
    site.attribute("isInterrupting").and_then(boolean) != Some(false)
}

fn one(site: &mut Site<'_, '_, '_>, trigger: &str, definition: Node<'_, '_>) -> Read {
    let read = event::caught(site, trigger, definition);
    if let Read::Caught(trigger) = &read {
        event::check_interrupting(site, trigger, is_interrupting(site));
    }
    read
}
