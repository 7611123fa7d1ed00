//! Compensation: what undoes what. A handler is an activity beside its boundary event that no flow touches; an event that compensates names
//! an activity beside it, or none. Inside an event sub-process also what lies beside that can be named.

use std::collections::HashSet;

use model::{Catch, Compensate, EndEvent, Kind, Throw, Trigger};

use super::rules::is_activity;
use super::{Graph, quoted};
use crate::diagnostic::Findings;
use crate::draft::DraftElement;

/// By index: the handler of a compensation boundary event, the activity an event that compensates names.
pub(super) fn resolve(graph: &Graph<'_>, findings: &mut Findings) -> Vec<Option<usize>> {
    let elements = &graph.draft.elements;
    let mut resolved = vec![None; elements.len()];
    for (index, element) in elements.iter().enumerate() {
        let is_boundary = match element.kind() {
            Some(Kind::CompensationBoundary(_)) => true,
            Some(kind) if thrown(kind).is_some() => false,
            _ => continue,
        };
        if is_boundary && !graph.outgoing[index].is_empty() {
            findings.add(element.at, &element.id, "no flow may leave a compensation boundary event: associate it with a handler");
        }
        let Some(named) = &element.compensation else {
            if is_boundary {
                findings.add(element.at, &element.id, "a compensation boundary event needs an association with its handler");
            }
            continue;
        };
        let found = graph.by_id.get(&**named).copied();
        let reaches = |scope: usize| scope == element.scope || (!is_boundary && around(elements, element.scope).contains(&scope));
        let beside = found.filter(|found| is_activity(&elements[*found]) && reaches(elements[*found].scope));
        let Some(activity) = beside else {
            findings.add(element.at, &element.id, format!("it refers to {}, which is no activity beside it", quoted(named)));
            continue;
        };
        if is_boundary && !(graph.incoming[activity].is_empty() && graph.outgoing[activity].is_empty()) {
            findings.add(element.at, &element.id, format!("its handler {} must have no flows", quoted(named)));
        }
        resolved[index] = Some(activity);
    }
    resolved
}

/// A compensation event sub-process stands in a sub-process that is undone in no other way, and that is done once.
pub(super) fn sub_processes(graph: &Graph<'_>, boundaries: &[Vec<usize>], findings: &mut Findings) {
    let elements = &graph.draft.elements;
    for start in elements {
        let Some(Kind::StartEvent(Some(Catch { trigger: Trigger::Compensation, .. }))) = start.kind() else { continue };
        if !matches!(elements[start.scope].kind(), Some(Kind::EventSubProcess(_))) {
            continue;
        }
        let place = elements[start.scope].scope;
        let undone = &elements[place];
        let undoes = |event: &usize| matches!(elements[*event].kind(), Some(Kind::CompensationBoundary(_)));
        let reason = match undone.kind() {
            Some(Kind::SubProcess(_) | Kind::Transaction(_)) if undone.repeat.is_some() => {
                "a repeated sub-process has no compensation event sub-process: put one into a sub-process inside it"
            }
            Some(Kind::SubProcess(_) | Kind::Transaction(_)) if boundaries[place].iter().any(undoes) => {
                "the sub-process around it has a compensation boundary event, which says otherwise what undoes it: remove one of them"
            }
            Some(Kind::SubProcess(_) | Kind::Transaction(_)) | None => continue,
            Some(_) => "a compensation event sub-process undoes an embedded sub-process: put it into one",
        };
        findings.add(start.at, &start.id, reason);
    }
}

/// A handler runs inside the event that started it, and so does what comes after an event on its boundary: it can neither join what runs
/// outside nor terminate it.
pub(super) fn ways_out(graph: &Graph<'_>, boundaries: &[Vec<usize>], findings: &mut Findings) {
    let elements = &graph.draft.elements;
    let handlers = elements.iter().filter(|element| matches!(element.kind(), Some(Kind::CompensationBoundary(_))));
    let handlers = handlers.filter_map(|boundary| graph.by_id.get(boundary.compensation.as_deref()?));
    let mut open: Vec<usize> = handlers.flat_map(|handler| boundaries[*handler].iter().copied()).collect();
    let mut way: HashSet<usize> = HashSet::new();
    while let Some(index) = open.pop() {
        if !way.insert(index) {
            continue;
        }
        open.extend(graph.outgoing[index].iter().filter_map(|flow| graph.ends[*flow]).map(|(_, target)| target));
        open.extend(&boundaries[index]);
    }
    let comes_from_outside = |flow: &usize| graph.ends[*flow].is_some_and(|(source, _)| !way.contains(&source));
    for index in &way {
        let element = &elements[*index];
        let joins = matches!(element.kind(), Some(Kind::ParallelGateway | Kind::InclusiveGateway(_) | Kind::ComplexGateway(_)));
        let reason = match element.kind() {
            Some(Kind::EndEvent(end)) if terminates(end) => {
                "what comes after an event on a compensation handler cannot terminate the rest"
            }
            _ if joins && graph.incoming[*index].iter().any(comes_from_outside) => {
                "what comes after an event on a compensation handler cannot be joined with anything else: end it by itself"
            }
            _ => continue,
        };
        findings.add(element.at, &element.id, reason);
    }
}

fn terminates(end: &EndEvent) -> bool {
    match end {
        EndEvent::Terminate => true,
        EndEvent::After { end, .. } => terminates(end),
        EndEvent::None | EndEvent::Error { .. } | EndEvent::Cancel | EndEvent::Throw(_) => false,
    }
}

/// What an event undoes, perhaps as one of several things it does.
fn thrown(kind: &Kind) -> Option<&Compensate> {
    let throw = match kind {
        Kind::ThrowEvent(Some(throw)) | Kind::EndEvent(EndEvent::Throw(throw)) => throw,
        _ => return None,
    };
    match throw {
        Throw::Compensation(compensate) => Some(compensate),
        Throw::Several(several) => several.iter().find_map(|throw| match throw {
            Throw::Compensation(compensate) => Some(compensate),
            Throw::Escalation { .. } | Throw::Signal { .. } | Throw::Message(_) | Throw::Several(_) => None,
        }),
        Throw::Escalation { .. } | Throw::Signal { .. } | Throw::Message(_) => None,
    }
}

pub(super) fn thrown_mut(kind: &mut Kind) -> Option<&mut Compensate> {
    let throw = match kind {
        Kind::ThrowEvent(Some(throw)) | Kind::EndEvent(EndEvent::Throw(throw)) => throw,
        _ => return None,
    };
    let several = match throw {
        Throw::Several(several) => &mut several[..],
        Throw::Escalation { .. } | Throw::Signal { .. } | Throw::Message(_) | Throw::Compensation(_) => {
            std::slice::from_mut(throw)
        }
    };
    several.iter_mut().find_map(|throw| match throw {
        Throw::Compensation(compensate) => Some(compensate),
        Throw::Escalation { .. } | Throw::Signal { .. } | Throw::Message(_) | Throw::Several(_) => None,
    })
}

/// The scopes that an event inside this one undoes as well: those around event sub-processes.
fn around(elements: &[DraftElement], scope: usize) -> Vec<usize> {
    let outward = std::iter::successors(Some(scope), |scope| match elements[*scope].kind() {
        Some(Kind::EventSubProcess(_)) => Some(elements[*scope].scope),
        _ => None,
    });
    outward.collect()
}
