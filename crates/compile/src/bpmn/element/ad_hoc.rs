//! Ad-hoc sub-processes. What they contain is read by `scope`, as the contents of a run.

use model::{AdHoc, Kind, Process};

use crate::bpmn::site::Site;
use crate::bpmn::vocabulary::boolean;
use crate::bpmn::{extension, repeat};
use crate::draft::DraftElement;
use crate::expression;

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    if !extension::all(site.node, "taskDefinition").is_empty() {
        site.complain("an ad-hoc sub-process that a worker directs is not supported yet: remove its zeebe:taskDefinition");
    }
    let ad_hoc = ad_hoc(site);
    site.element(ad_hoc.map(Kind::AdHoc))
}

fn ad_hoc(site: &mut Site<'_, '_, '_>) -> Option<AdHoc> {
    let until = repeat::condition(site, site.node, repeat::COMPLETION, "the completion condition");
    let drop_rest = site.attribute("cancelRemainingInstances").and_then(boolean) != Some(false);
    let (mut active, mut output) = (Some(None), Some(None));
    if let Some(node) = extension::only(site, "adHoc") {
        if let Some(value) = node.attribute("activeElementsCollection").filter(|value| !value.is_empty()) {
            let read = expression::required("the activeElementsCollection", value);
            active = site.note(node, read).map(Some);
        }
        output = repeat::output(site, node);
    }
    // What refers to others is filled in when all are known.
    let (run, entries, described) = (Process::ROOT, Vec::new(), "[]".into());
    Some(AdHoc { run, entries, described, active: active?, until: until?, drop_rest, output: output? })
}
