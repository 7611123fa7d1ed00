//! Flow nodes: one file for each kind that is executed. To add a kind, add its file and its line in `read`.

mod ad_hoc;
mod boundary_event;
mod business_rule_task;
mod call_activity;
mod catch_event;
mod complex_gateway;
mod end_event;
mod event_gateway;
mod exclusive_gateway;
mod inclusive_gateway;
pub(super) mod job_task;
mod link_event;
mod parallel_gateway;
mod pass_task;
mod receive_task;
mod script_task;
mod send_task;
mod service_task;
mod start_event;
mod sub_process;
mod throw_event;
mod unsupported;
mod user_task;

use model::PassTask;

use super::site::Site;
use super::vocabulary::trigger;
use super::{extension, listener, repeat};
use crate::draft::DraftElement;

/// Reads one flow node. Whatever is wrong with it has been noted when this returns.
pub(super) fn read(mut site: Site<'_, '_, '_>) -> DraftElement {
    let site = &mut site;
    let read: fn(&mut Site<'_, '_, '_>) -> DraftElement = match site.node.tag_name().name() {
        "startEvent" => start_event::read,
        "endEvent" => end_event::read,
        "intermediateThrowEvent" => throw_event::read,
        "intermediateCatchEvent" => catch_event::read,
        "boundaryEvent" => boundary_event::read,
        "task" => |site| pass_task::read(site, PassTask::Undefined),
        "manualTask" => |site| pass_task::read(site, PassTask::Manual),
        "serviceTask" => service_task::read,
        "sendTask" => send_task::read,
        "receiveTask" => receive_task::read,
        "scriptTask" => script_task::read,
        "businessRuleTask" => business_rule_task::read,
        "callActivity" => call_activity::read,
        "eventBasedGateway" => event_gateway::read,
        "userTask" => user_task::read,
        "exclusiveGateway" => exclusive_gateway::read,
        "parallelGateway" => parallel_gateway::read,
        "inclusiveGateway" => inclusive_gateway::read,
        "complexGateway" => complex_gateway::read,
        "subProcess" => sub_process::read,
        "transaction" => sub_process::transaction,
        "adHocSubProcess" => ad_hoc::read,
        _ => return unsupported::read(site),
    };
    extension::check(site);
    check_children(site);
    check_attributes(site);
    let mut element = read(site);
    element.repeat = repeat::read(site);
    element.listeners = listener::read(site);
    element
}

fn check_children(site: &mut Site<'_, '_, '_>) {
    match site.node.tag_name().name() {
        // Its other children are read as the contents of a scope.
        "subProcess" | "transaction" | "adHocSubProcess" => site.check_children(|_| true),
        "complexGateway" => site.check_children(|name| name == complex_gateway::ACTIVATION),
        name if name.ends_with("Event") => site.check_children(|name| trigger(name).is_some()),
        _ => site.check_children(repeat::is_marker),
    }
}

/// Attributes of flow nodes that say yes or no.
const FLAGS: [&str; 7] = [
    "cancelActivity",
    "cancelRemainingInstances",
    "instantiate",
    "isForCompensation",
    "isInterrupting",
    "parallelMultiple",
    "triggeredByEvent",
];

/// What it says about itself besides its kind.
fn check_attributes(site: &mut Site<'_, '_, '_>) {
    for flag in FLAGS {
        site.flag(site.node, flag, false);
    }
    for quantity in ["startQuantity", "completionQuantity"] {
        if site.attribute(quantity).is_some_and(|value| value.trim() != "1") {
            site.complain(format!("a {quantity} other than 1 is not supported"));
        }
    }
}
