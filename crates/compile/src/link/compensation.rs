//! Compensation: what undoes what. A handler is an activity beside its boundary event that no flow touches; an event that compensates names
//! an activity beside it, or none. Inside an event sub-process also what lies beside that can be named.

use model::{EndEvent, Kind, Throw};

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
            Some(Kind::ThrowEvent(Some(Throw::Compensation(_))) | Kind::EndEvent(EndEvent::Throw(Throw::Compensation(_)))) => {
                false
            }
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

/// The scopes that an event inside this one undoes as well: those around event sub-processes.
fn around(elements: &[DraftElement], scope: usize) -> Vec<usize> {
    let outward = std::iter::successors(Some(scope), |scope| match elements[*scope].kind() {
        Some(Kind::EventSubProcess(_)) => Some(elements[*scope].scope),
        _ => None,
    });
    outward.collect()
}
