//! Link events. Outputs of a catch event are honoured, as are those of any event tokens pass; inputs of a throw event too.

use std::sync::Arc;

use model::{Kind, LinkThrow, Process};
use roxmltree::Node;

use crate::bpmn::site::Site;
use crate::draft::DraftElement;

pub(super) fn throw(site: &mut Site<'_, '_, '_>, definition: Node<'_, '_>) -> DraftElement {
    let name = name(site, definition);
    // Where it leads is found when all elements are known.
    site.element(name.map(|name| Kind::LinkThrow(LinkThrow { name, catch: Process::ROOT })))
}

pub(super) fn catch(site: &mut Site<'_, '_, '_>, definition: Node<'_, '_>) -> DraftElement {
    let name = name(site, definition);
    let mut element = site.element(name.map(Kind::LinkCatch));
    element.inputs = None;
    element
}

fn name(site: &mut Site<'_, '_, '_>, definition: Node<'_, '_>) -> Option<Arc<str>> {
    let name = definition.attribute("name").filter(|name| !name.trim().is_empty());
    if name.is_none() {
        site.complain_at(definition, "a link event definition needs a name: that of the event it leads to or comes from");
    }
    name.map(Into::into)
}
