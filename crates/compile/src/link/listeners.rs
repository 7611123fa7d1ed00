//! Which elements may have listeners for what.

use std::collections::HashSet;

use model::{EndEvent, Kind, ListenerEvent, Text};

use crate::diagnostic::{Findings, quoted};
use crate::draft::{Draft, DraftElement};

pub(super) fn check(draft: &Draft, findings: &mut Findings) {
    for element in draft.elements.iter().filter(|element| !element.listeners.is_empty()) {
        let mut seen = HashSet::new();
        for listener in &element.listeners {
            let event = listener.event;
            if let Some(kind) = element.kind()
                && !is_heard(kind, event)
            {
                findings.add(element.at, &element.id, refusal(kind, event));
            }
            let job_type = match &listener.job_type {
                Text::Fixed(job_type) => job_type.to_string(),
                Text::Computed(expression) => format!("={}", expression.source()),
            };
            // As in Camunda 8, where those of user tasks may be alike.
            if !event.is_of_task() && !seen.insert((event, job_type.clone())) {
                let reason = format!("there are two {} listeners with the job type {}", event.word(), quoted(&job_type));
                findings.add(element.at, &element.id, reason);
            }
        }
        check_number(element, findings);
    }
}

/// How many listeners an element may have.
const LISTENERS_MAX: usize = 100;

fn check_number(element: &DraftElement, findings: &mut Findings) {
    if LISTENERS_MAX < element.listeners.len() {
        let reason = format!("there are {} listeners; at most {LISTENERS_MAX} are allowed", element.listeners.len());
        findings.add(element.at, &element.id, reason);
    }
}

fn is_heard(kind: &Kind, event: ListenerEvent) -> bool {
    match event {
        ListenerEvent::Start => start_is_heard(kind),
        ListenerEvent::End => end_is_heard(kind),
        ListenerEvent::Creating
        | ListenerEvent::Assigning
        | ListenerEvent::Updating
        | ListenerEvent::Completing
        | ListenerEvent::Canceling => matches!(kind, Kind::UserTask(_)),
    }
}

fn start_is_heard(kind: &Kind) -> bool {
    match kind {
        Kind::StartEvent(_)
        | Kind::BoundaryEvent(_)
        | Kind::CompensationBoundary(_)
        | Kind::ComplexGateway(_)
        | Kind::EventPart(_) => false,
        Kind::Process(_)
        | Kind::SubProcess(_)
        | Kind::Transaction(_)
        | Kind::EventSubProcess(_)
        | Kind::AdHoc(_)
        | Kind::AdHocRun
        | Kind::EndEvent(_)
        | Kind::ThrowEvent(_)
        | Kind::CatchEvent(_)
        | Kind::ReceiveTask(_)
        | Kind::EventGateway
        | Kind::SendTask(_)
        | Kind::CallActivity(_)
        | Kind::PassTask(_)
        | Kind::JobTask(_)
        | Kind::UserTask(_)
        | Kind::ScriptTask(_)
        | Kind::Transformation(_)
        | Kind::Wait
        | Kind::DecisionTask(_)
        | Kind::LinkThrow(_)
        | Kind::LinkCatch(_)
        | Kind::ExclusiveGateway { .. }
        | Kind::ParallelGateway
        | Kind::InclusiveGateway(_) => true,
    }
}

fn end_is_heard(kind: &Kind) -> bool {
    match kind {
        Kind::EventGateway
        | Kind::ExclusiveGateway { .. }
        | Kind::ParallelGateway
        | Kind::InclusiveGateway(_)
        | Kind::ComplexGateway(_)
        | Kind::CompensationBoundary(_)
        | Kind::EventPart(_)
        | Kind::EndEvent(EndEvent::Error { .. } | EndEvent::Cancel | EndEvent::After { .. }) => false,
        Kind::Process(_)
        | Kind::SubProcess(_)
        | Kind::Transaction(_)
        | Kind::EventSubProcess(_)
        | Kind::AdHoc(_)
        | Kind::AdHocRun
        | Kind::StartEvent(_)
        | Kind::BoundaryEvent(_)
        | Kind::EndEvent(EndEvent::None | EndEvent::Terminate | EndEvent::Throw(_))
        | Kind::ThrowEvent(_)
        | Kind::CatchEvent(_)
        | Kind::ReceiveTask(_)
        | Kind::SendTask(_)
        | Kind::CallActivity(_)
        | Kind::PassTask(_)
        | Kind::JobTask(_)
        | Kind::UserTask(_)
        | Kind::ScriptTask(_)
        | Kind::Transformation(_)
        | Kind::Wait
        | Kind::DecisionTask(_)
        | Kind::LinkThrow(_)
        | Kind::LinkCatch(_) => true,
    }
}

fn refusal(kind: &Kind, event: ListenerEvent) -> String {
    let what = match kind {
        Kind::StartEvent(_) => "a start event",
        Kind::BoundaryEvent(_) => "a boundary event",
        Kind::CompensationBoundary(_) => "a compensation boundary event",
        Kind::EndEvent(EndEvent::Error { .. }) => "an error end event",
        _ if event.is_of_task() => "an element that is no user task of the engine's own (zeebe:userTask)",
        _ => "a gateway of this kind",
    };
    format!("{} listeners are not supported on {what}", event.word())
}
