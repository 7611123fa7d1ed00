//! Cancelling: its end event lies inside a transaction, its boundary event sits on one, and where the one is the other must be too.

use model::{Catch, EndEvent, Kind, Trigger};

use super::Graph;
use crate::diagnostic::{Findings, quoted};

pub(super) fn check(graph: &Graph<'_>, findings: &mut Findings) {
    let elements = &graph.draft.elements;
    let cancels = |kind: Option<&Kind>| matches!(kind, Some(Kind::BoundaryEvent(Catch { trigger: Trigger::Cancel, .. })));
    let mut ways_out = vec![false; elements.len()];
    for event in elements.iter().filter(|element| cancels(element.kind())) {
        let Some(&host) = event.attached_to.as_deref().and_then(|id| graph.by_id.get(id)) else { continue };
        ways_out[host] = true;
        let reason = match elements[host].kind() {
            Some(Kind::Transaction(_)) if elements[host].repeat.is_some() => {
                "a repeated transaction cannot be cancelled: put the transaction into a repeated sub-process"
            }
            Some(Kind::Transaction(_)) | None => continue,
            Some(_) => "a cancel boundary event sits on a transaction",
        };
        findings.add(event.at, &event.id, reason);
    }
    for start in elements {
        if let Some(Kind::StartEvent(Some(Catch { trigger: Trigger::Cancel, .. }))) = start.kind()
            && start.scope != 0
        {
            findings.add(start.at, &start.id, "a cancellation starts nothing: put it on the boundary of a transaction");
        }
    }
    let cancels = |kind: Option<&Kind>| matches!(kind, Some(Kind::EndEvent(end)) if is_cancel(end));
    for end in elements.iter().filter(|element| cancels(element.kind())) {
        match transaction_around(graph, end.scope) {
            None => findings.add(end.at, &end.id, "a cancel end event stands inside a transaction"),
            Some(transaction) if !ways_out[transaction] => {
                let id = quoted(&elements[transaction].id);
                let reason = format!("the transaction {id} needs a cancel boundary event: this leads to it");
                findings.add(end.at, &end.id, reason);
            }
            Some(_) => {}
        }
    }
}

fn is_cancel(end: &EndEvent) -> bool {
    match end {
        EndEvent::Cancel => true,
        EndEvent::After { end, .. } => is_cancel(end),
        EndEvent::None | EndEvent::Terminate | EndEvent::Error { .. } | EndEvent::Throw(_) => false,
    }
}

/// The innermost transaction that a scope is or lies in. What was refused gets the benefit of the doubt.
fn transaction_around(graph: &Graph<'_>, scope: usize) -> Option<usize> {
    let elements = &graph.draft.elements;
    let mut outward = std::iter::successors(Some(scope), |scope| Some(elements[*scope].scope).filter(|outer| outer != scope));
    outward.find(|scope| matches!(elements[*scope].kind(), Some(Kind::Transaction(_))))
}
