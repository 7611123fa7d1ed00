//! Ad-hoc sub-processes. What they contain is read by `scope`, as the contents of a run.

use model::{AdHoc, Kind, MultiOutput, Process};
use roxmltree::Node;

use crate::bpmn::extension;
use crate::bpmn::site::Site;
use crate::bpmn::vocabulary::{boolean, bpmn_name};
use crate::draft::DraftElement;
use crate::expression;

pub(super) const COMPLETION: &str = "completionCondition";

pub(super) fn read(site: &mut Site<'_, '_, '_>) -> DraftElement {
    if !extension::all(site.node, "taskDefinition").is_empty() {
        site.complain("an ad-hoc sub-process that a worker directs is not supported yet: remove its zeebe:taskDefinition");
    }
    let ad_hoc = ad_hoc(site);
    site.element(ad_hoc.map(Kind::AdHoc))
}

fn ad_hoc(site: &mut Site<'_, '_, '_>) -> Option<AdHoc> {
    let extension = extension::only(site, "adHoc");
    let attribute = |name: &str| extension.and_then(|node| node.attribute(name)).filter(|value| !value.is_empty());
    let node = extension.unwrap_or(site.node);
    let active = attribute("activeElementsCollection").map(|value| expression::required("the activeElementsCollection", value));
    let active = active.map(|active| site.note(node, active));
    let output = match (attribute("outputCollection"), attribute("outputElement")) {
        (None, None) => Ok(None),
        (Some(collection), Some(element)) => expression::required("the outputElement", element)
            .map(|element| Some(MultiOutput { collection: collection.into(), element })),
        (Some(_), None) => Err("an outputCollection needs an outputElement: what each run adds".to_owned()),
        (None, Some(_)) => Err("an outputElement needs an outputCollection: the variable for the list".to_owned()),
    };
    let output = site.note(node, output);
    let until = site.node.children().find(|child| bpmn_name(*child) == Some(COMPLETION)).map(|node| condition(site, node));
    let drop_rest = site.attribute("cancelRemainingInstances").and_then(boolean) != Some(false);
    // What refers to others is filled in when all are known.
    let ad_hoc = AdHoc {
        run: Process::ROOT,
        entries: Vec::new(),
        described: "[]".into(),
        active: None,
        until: None,
        drop_rest,
        output: None,
    };
    Some(AdHoc {
        active: active.map_or(Some(None), |read| read.map(Some))?,
        until: until.map_or(Some(None), |read| read.map(Some))?,
        output: output?,
        ..ad_hoc
    })
}

fn condition(site: &mut Site<'_, '_, '_>, node: Node<'_, '_>) -> Option<feel::Expression> {
    let text: String = node.descendants().filter(Node::is_text).filter_map(|node| node.text()).collect();
    let condition = expression::required("the completion condition", text.trim());
    site.note(node, condition)
}
