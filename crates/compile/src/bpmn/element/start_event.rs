//! Start events. Their outputs are honoured, inputs are not.

use model::{Catch, Kind, Trigger};

use crate::bpmn::event;
use crate::bpmn::extension;
use crate::bpmn::site::Site;
use crate::bpmn::vocabulary::boolean;
use crate::diagnostic::quoted;
use crate::draft::{Content, DraftElement};

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    let triggers = site.triggers();
    let mut element = site.element(Some(Kind::StartEvent(None)));
    element.inputs = None;
    if is_public(site) {
        site.complain("start forms with public access are not supported: remove the property publicAccess");
    }
    if let Some((trigger, definition)) = triggers.first() {
        element.content = match event::caught(site, trigger, *definition) {
            event::Read::Caught(trigger) => read_triggered(site, trigger),
            event::Read::Refused => Content::RefusedStart,
            event::Read::Unsupported => {
                site.complain(format!("{trigger} start event {} is not supported yet", quoted(site.id)));
                Content::RefusedStart
            }
        };
    }
    element
}

fn read_triggered(site: &mut Site<'_, '_, '_>, trigger: Trigger) -> Content {
    let interrupting = site.attribute("isInterrupting").and_then(boolean) != Some(false);
    event::check_interrupting(site, &trigger, interrupting);
    Content::Read(Kind::StartEvent(Some(Catch { trigger, interrupting })))
}

/// Whether anybody may start instances with a form, as a property for other programs says.
fn is_public(site: &mut Site<'_, '_, '_>) -> bool {
    let properties = extension::all(site.node, "properties");
    let mut properties = properties.iter().flat_map(|properties| properties.children());
    properties.any(|property| {
        property.attribute("name") == Some("publicAccess") && property.attribute("value").and_then(boolean) == Some(true)
    })
}
