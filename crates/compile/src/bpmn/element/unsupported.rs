//! Flow nodes BPMN has and this engine does not execute.

use crate::bpmn::site::Site;
use crate::draft::DraftElement;

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    let triggers = site.triggers();
    let trigger = triggers.first().map(|(trigger, _)| format!("{trigger} ")).unwrap_or_default();
    site.unsupported(&format!("{trigger}{}", site.words))
}
