//! Embedded and event sub-processes, transactions. What they contain is read by `scope`.

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

/// What is cancelled is undone by compensation; other methods of the standard are not.
pub(super) fn transaction(site: &mut Site<'_, '_, '_>) -> DraftElement {
    if site.attribute("triggeredByEvent").and_then(boolean) == Some(true) {
        site.complain("a transaction is not started by an event: put it into an event sub-process");
    }
    if site.attribute("method").is_some_and(|method| !matches!(method, "##Compensate" | "compensate")) {
        site.complain("a transaction is undone by compensation alone: set its method to ##Compensate, or remove it");
    }
    site.element(Some(Kind::Transaction(Scope::default())))
}
