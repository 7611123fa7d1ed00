//! What only the whole graph of a process can tell: one function per rule.

use std::collections::HashSet;

use model::{ErrorCatch, Kind};

use super::Graph;
use crate::diagnostic::{Findings, quoted};
use crate::draft::{Condition, Content, Draft, DraftElement};

/// Start and boundary events are entered by other means than flows; end events are left by none.
pub(super) fn directions(graph: &Graph<'_>, findings: &mut Findings) {
    for (flow, ends) in graph.draft.flows.iter().zip(&graph.ends) {
        let Some((source, target)) = ends else {
            continue;
        };
        let (from, to) = (&graph.draft.elements[*source], &graph.draft.elements[*target]);
        let id = quoted(&flow.id);
        if let Some(Kind::EndEvent(_)) = from.kind() {
            findings.add(from.at, &from.id, format!("no flow may leave an end event, but {id} does"));
        }
        let event = match to.kind() {
            Some(Kind::StartEvent) => "start",
            Some(Kind::ErrorBoundary(_) | Kind::CompensationBoundary(_)) => "boundary",
            _ => continue,
        };
        findings.add(to.at, &to.id, format!("no flow may lead into a {event} event, but {id} does"));
    }
}

/// A process has at least one start event, a sub-process exactly one, neither more than one without a trigger.
pub(super) fn starts(draft: &Draft, findings: &mut Findings) -> Vec<Option<usize>> {
    let mut plain: Vec<Vec<usize>> = vec![Vec::new(); draft.elements.len()];
    let mut refused = vec![0_usize; draft.elements.len()];
    for (index, element) in draft.elements.iter().enumerate().skip(1) {
        match element.content {
            Content::Read(Kind::StartEvent) => plain[element.scope].push(index),
            Content::RefusedStart => refused[element.scope] += 1,
            Content::Read(_) | Content::Refused => {}
        }
    }
    for (index, element) in draft.elements.iter().enumerate() {
        let (plain, refused) = (plain[index].len(), refused[index]);
        let reason = match element.kind() {
            Some(Kind::Process(_)) if plain + refused == 0 => "a process needs a start event",
            Some(Kind::Process(_)) if 1 < plain => "a process has at most one start event without a trigger",
            Some(Kind::SubProcess(_)) if plain + refused != 1 => "a sub-process needs exactly one start event",
            _ => continue,
        };
        findings.add(element.at, &element.id, reason);
    }
    plain.into_iter().map(|starts| starts.first().copied()).collect()
}

/// The boundary events on each element, in the order written. One error code is caught once per activity.
pub(super) fn boundaries(graph: &Graph<'_>, findings: &mut Findings) -> Vec<Vec<usize>> {
    let elements = &graph.draft.elements;
    let mut attached: Vec<Vec<usize>> = vec![Vec::new(); elements.len()];
    let mut caught: HashSet<(usize, Option<&str>)> = HashSet::new();
    for (index, event) in elements.iter().enumerate() {
        let Some(activity) = &event.attached_to else {
            continue;
        };
        let Some(&host) = graph.by_id.get(&**activity) else {
            findings.add(event.at, &event.id, format!("it is attached to {}, which does not exist", quoted(activity)));
            continue;
        };
        if !is_activity(&elements[host]) || elements[host].scope != event.scope {
            findings.add(event.at, &event.id, format!("it is attached to {}, which is no activity beside it", quoted(activity)));
            continue;
        }
        attached[host].push(index);
        let Some(Kind::ErrorBoundary(catch)) = event.kind() else {
            continue;
        };
        let code = match catch {
            ErrorCatch::Any => None,
            ErrorCatch::Code(code) => Some(&**code),
        };
        if !caught.insert((host, code)) {
            let errors = code.map_or("all errors".to_owned(), |code| format!("error {}", quoted(code)));
            findings.add(event.at, &event.id, format!("another boundary event of {} catches {errors} already", quoted(activity)));
        }
    }
    attached
}

/// Whether it is work, which boundary events may sit on and which may be repeated. What was refused gets the benefit of the doubt.
pub(super) fn is_activity(element: &DraftElement) -> bool {
    match element.kind() {
        Some(Kind::SubProcess(_) | Kind::PassTask(_) | Kind::JobTask(_) | Kind::ScriptTask(_) | Kind::DecisionTask(_)) | None => {
            true
        }
        Some(
            Kind::Process(_)
            | Kind::StartEvent
            | Kind::EndEvent(_)
            | Kind::ThrowEvent
            | Kind::ExclusiveGateway { .. }
            | Kind::ParallelGateway
            | Kind::ErrorBoundary(_)
            | Kind::CompensationBoundary(_)
            | Kind::CompensationThrow(_),
        ) => false,
    }
}

/// Only activities are repeated.
pub(super) fn repeats(draft: &Draft, findings: &mut Findings) {
    for element in draft.elements.iter().filter(|element| element.repeat.is_some() && !is_activity(element)) {
        findings.add(element.at, &element.id, "only an activity can be repeated");
    }
}

/// Conditions stand on flows out of exclusive gateways; there every flow but the default has one, unless it is the only one.
pub(super) fn conditions(graph: &Graph<'_>, findings: &mut Findings) {
    for (index, flow) in graph.draft.flows.iter().enumerate() {
        let Some((source, _)) = graph.ends[index] else {
            continue;
        };
        let Some(kind) = graph.draft.elements[source].kind() else {
            continue;
        };
        let decides = matches!(kind, Kind::ExclusiveGateway { .. });
        let conditional = !matches!(flow.condition, Condition::None);
        if conditional && !decides {
            findings.add(flow.at, &flow.id, "a flow may have a condition only behind an exclusive gateway: put one between");
        }
        if decides && !conditional && 1 < graph.outgoing[source].len() && !graph.is_default(source, index) {
            findings.add(flow.at, &flow.id, "the flow needs a condition, or must be the default of its gateway");
        }
    }
}

/// The default flow of each element that has one; it must be one of its own.
pub(super) fn defaults(graph: &Graph<'_>, findings: &mut Findings) -> Vec<Option<usize>> {
    let mut defaults = vec![None; graph.draft.elements.len()];
    for (index, element) in graph.draft.elements.iter().enumerate() {
        let Some(default) = &element.default else {
            continue;
        };
        defaults[index] = graph.outgoing[index].iter().copied().find(|flow| graph.draft.flows[*flow].id == *default);
        if defaults[index].is_none() {
            findings.add(element.at, &element.id, format!("the default flow {} does not leave this element", quoted(default)));
        }
    }
    defaults
}
