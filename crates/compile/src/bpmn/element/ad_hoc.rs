//! Ad-hoc sub-processes. What they contain is read by `scope`, as the contents of a run.

use model::{AdHoc, JobTask, JobTaskFlavour, Kind, Process, Scope};

use super::job_task;
use crate::bpmn::site::Site;
use crate::bpmn::vocabulary::boolean;
use crate::bpmn::{extension, repeat};
use crate::draft::DraftElement;
use crate::expression;

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    let ad_hoc = ad_hoc(site);
    site.element(ad_hoc.map(Kind::AdHoc))
}

/// The job of the worker that directs it. Then the worker alone says what is started and when it ends.
fn directed(site: &mut Site<'_, '_, '_>, ad_hoc: &AdHoc) -> Option<Option<Box<JobTask>>> {
    let Some(definition) = extension::only(site, "taskDefinition") else { return Some(None) };
    for (given, what) in
        [(ad_hoc.active.is_some(), "an activeElementsCollection"), (ad_hoc.until.is_some(), "a completionCondition")]
    {
        if given {
            site.complain(format!("a worker directs it, so {what} has no effect: remove one of them"));
        }
    }
    job_task::task(site, definition, JobTaskFlavour::AdHoc).map(|task| Some(Box::new(task)))
}

fn ad_hoc(site: &mut Site<'_, '_, '_>) -> Option<AdHoc> {
    let until = repeat::condition(site, site.node, repeat::COMPLETION, "the completion condition");
    if site.attribute("ordering").is_some_and(|ordering| ordering != "Parallel") {
        site.complain("its activities run side by side: an ordering other than Parallel is not supported");
    }
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
    let (active, until, output) = (active?, until?, output?);
    let ad_hoc = AdHoc { scope: Scope::default(), run, entries, described, active, until, drop_rest, output, directed: None };
    Some(AdHoc { directed: directed(site, &ad_hoc)?, ..ad_hoc })
}
