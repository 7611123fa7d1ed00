//! Embedded and event sub-processes. What they contain is read by `scope`.

use model::{Kind, Scope};

use crate::bpmn::site::Site;
use crate::bpmn::vocabulary::boolean;
use crate::draft::DraftElement;

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    if site.attribute("triggeredByEvent").and_then(boolean) == Some(true) {
        return site.element(Some(Kind::EventSubProcess(Scope::default())));
    }
    site.element(Some(Kind::SubProcess(Scope::default())))
}
