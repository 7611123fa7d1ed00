//! What only the whole graph of a process can tell: one function per rule.

use std::collections::HashSet;

use model::{Catch, CodeCatch, JobTaskFlavour, Kind, Message, Needed, Scope, Text, Trigger};

use super::{Graph, element_ix, parts};
use crate::diagnostic::{Findings, quoted};
use crate::draft::{Condition, Content, Draft, DraftElement};

/// Start, boundary and link catch events and event sub-processes are entered by other means than flows; end and link throw events are
/// left by none.
pub(super) fn directions(graph: &Graph<'_>, findings: &mut Findings) {
    for (flow, ends) in graph.draft.flows.iter().zip(&graph.ends) {
        let Some((source, target)) = ends else {
            continue;
        };
        let (from, to) = (&graph.draft.elements[*source], &graph.draft.elements[*target]);
        let id = quoted(&flow.id);
        let left = match from.kind() {
            Some(Kind::EndEvent(_)) => Some("an end event"),
            Some(Kind::JobTask(task)) if task.flavour == JobTaskFlavour::End => Some("an end event"),
            Some(Kind::LinkThrow(_)) => Some("a link throw event"),
            Some(Kind::EventSubProcess(_)) => Some("an event sub-process"),
            _ => None,
        };
        if let Some(left) = left {
            findings.add(from.at, &from.id, format!("no flow may leave {left}, but {id} does"));
        }
        let event = match to.kind() {
            Some(Kind::StartEvent(_)) => "a start event",
            Some(Kind::BoundaryEvent(_) | Kind::CompensationBoundary(_)) => "a boundary event",
            Some(Kind::LinkCatch(_)) => "a link catch event",
            Some(Kind::EventSubProcess(_)) => "an event sub-process",
            _ => continue,
        };
        findings.add(to.at, &to.id, format!("no flow may lead into {event}, but {id} does"));
    }
}

/// A process has at least one start event, a sub-process exactly one, neither more than one without a trigger; that of an event
/// sub-process has a trigger.
pub(super) fn scopes(draft: &Draft, findings: &mut Findings) -> Vec<Scope> {
    let mut scopes: Vec<Scope> = vec![Scope::default(); draft.elements.len()];
    let mut plain = vec![0_usize; draft.elements.len()];
    let mut refused = vec![0_usize; draft.elements.len()];
    for (index, element) in draft.elements.iter().enumerate().skip(1) {
        let scope = &mut scopes[element.scope];
        match &element.content {
            Content::Read(Kind::StartEvent(None)) => {
                plain[element.scope] += 1;
                scope.start.get_or_insert(element_ix(index));
            }
            Content::Read(Kind::StartEvent(Some(_))) => scope.triggered.push(element_ix(index)),
            Content::RefusedStart => refused[element.scope] += 1,
            Content::Read(_) | Content::Refused => {}
        }
    }
    for (index, element) in draft.elements.iter().enumerate() {
        let (plain, triggered, refused) = (plain[index], scopes[index].triggered.len(), refused[index]);
        let reason = match element.kind() {
            Some(Kind::Process(_)) if plain + triggered + refused == 0 => "a process needs a start event",
            Some(Kind::Process(_)) if 1 < plain => "a process has at most one start event without a trigger",
            Some(Kind::SubProcess(_) | Kind::Transaction(_)) if plain + refused != 1 || 0 < triggered => {
                "a sub-process needs exactly one start event, without a trigger"
            }
            Some(Kind::EventSubProcess(_)) if triggered + refused != 1 || 0 < plain => {
                "an event sub-process needs exactly one start event, with a trigger"
            }
            _ => continue,
        };
        findings.add(element.at, &element.id, reason);
    }
    for (index, element) in draft.elements.iter().enumerate().skip(1) {
        if let Some(Kind::EventSubProcess(_)) = element.kind() {
            let start = std::mem::take(&mut scopes[index].triggered).first().copied();
            scopes[index].start = start;
            scopes[element.scope].event_starts.extend(start);
        }
    }
    // Each of several things that start a process is waited for by itself.
    let starts = std::mem::take(&mut scopes[0].triggered);
    scopes[0].triggered = starts.into_iter().flat_map(|start| parts::of(draft, start)).collect();
    scopes
}

/// The boundary events on each element, in the order written.
pub(super) fn boundaries(graph: &Graph<'_>, findings: &mut Findings) -> Vec<Vec<usize>> {
    let elements = &graph.draft.elements;
    let mut attached: Vec<Vec<usize>> = vec![Vec::new(); elements.len()];
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
    }
    attached
}

/// Whether it is work, which boundary events may sit on and which may be repeated. What was refused gets the benefit of the doubt.
pub(super) fn is_activity(element: &DraftElement) -> bool {
    match element.kind() {
        Some(Kind::JobTask(task)) => !matches!(task.flavour, JobTaskFlavour::Throw | JobTaskFlavour::End),
        Some(
            Kind::SubProcess(_)
            | Kind::Transaction(_)
            | Kind::AdHoc(_)
            | Kind::PassTask(_)
            | Kind::UserTask(_)
            | Kind::ScriptTask(_)
            | Kind::Transformation(_)
            | Kind::Wait
            | Kind::DecisionTask(_)
            | Kind::ReceiveTask(_)
            | Kind::SendTask(_)
            | Kind::CallActivity(_),
        )
        | None => true,
        Some(
            Kind::Process(_)
            | Kind::EventSubProcess(_)
            | Kind::AdHocRun
            | Kind::StartEvent(_)
            | Kind::EndEvent(_)
            | Kind::ThrowEvent(_)
            | Kind::CatchEvent(_)
            | Kind::LinkThrow(_)
            | Kind::LinkCatch(_)
            | Kind::ExclusiveGateway { .. }
            | Kind::ParallelGateway
            | Kind::InclusiveGateway(_)
            | Kind::ComplexGateway(_)
            | Kind::EventGateway
            | Kind::BoundaryEvent(_)
            | Kind::CompensationBoundary(_)
            | Kind::EventPart(_),
        ) => false,
    }
}

/// A message that is waited for inside an instance needs a correlation key; names that start a process are known when it is deployed.
pub(super) fn messages(draft: &Draft, findings: &mut Findings) {
    for (index, element) in draft.elements.iter().enumerate().skip(1) {
        let event = &draft.elements[parts::event(draft, index)];
        let starts_process = element.scope == 0 && matches!(event.kind(), Some(Kind::StartEvent(_)));
        if starts_process {
            check_start(element, &event.id, findings);
        } else if let Some(message) = element.kind().and_then(message_of)
            && message.correlation_key.is_none()
        {
            findings.add(element.at, &event.id, "its message needs a zeebe:subscription with a correlationKey");
        }
    }
}

fn check_start(element: &DraftElement, id: &str, findings: &mut Findings) {
    let trigger = match element.kind() {
        Some(Kind::StartEvent(Some(catch))) => &catch.trigger,
        Some(Kind::EventPart(part)) => &part.trigger,
        _ => return,
    };
    let text = match trigger {
        Trigger::Timer(timer) => &timer.text,
        Trigger::Message(message) => &message.name,
        Trigger::Signal { name } => name,
        Trigger::Several(several) if several.needed == Needed::All => {
            let reason = "a process is not started by several things together, as nobody can tell which of them belong together: use several \
                          start events, or wait for the others inside";
            findings.add(element.at, id, reason);
            return;
        }
        Trigger::Condition(_) | Trigger::Several(_) => return,
        Trigger::Error(_) | Trigger::Escalation(_) | Trigger::Cancel | Trigger::Compensation => {
            findings.add(element.at, id, "no process is started by an error, an escalation, a cancellation or a compensation");
            return;
        }
    };
    if let Text::Computed(expression) = text
        && let Some(variable) = expression.variables().first()
    {
        let reason = format!("it is evaluated when the process is deployed and cannot read the variable {}", quoted(variable));
        findings.add(element.at, id, reason);
    }
}

fn message_of(kind: &Kind) -> Option<&Message> {
    match kind {
        Kind::ReceiveTask(message) => Some(message),
        Kind::StartEvent(Some(catch)) | Kind::BoundaryEvent(catch) => message_in(&catch.trigger),
        Kind::CatchEvent(trigger) => message_in(trigger),
        Kind::EventPart(part) => message_in(&part.trigger),
        _ => None,
    }
}

fn message_in(trigger: &Trigger) -> Option<&Message> {
    match trigger {
        Trigger::Message(message) => Some(message),
        Trigger::Timer(_) | Trigger::Signal { .. } | Trigger::Condition(_) => None,
        Trigger::Error(_) | Trigger::Escalation(_) | Trigger::Cancel | Trigger::Compensation | Trigger::Several(_) => None,
    }
}

/// On one activity, in one scope, behind one gateway, the same thing is caught once.
pub(super) fn caught_once(draft: &Draft, graph: &Graph<'_>, findings: &mut Findings) {
    let mut caught: HashSet<(usize, bool, String)> = HashSet::new();
    for (index, element) in draft.elements.iter().enumerate().skip(1) {
        let scope = element.scope;
        let place = parts::event(draft, index);
        let event = &draft.elements[place];
        let (owner, is_boundary) = match event.kind() {
            Some(Kind::BoundaryEvent(_)) => match event.attached_to.as_deref().and_then(|id| graph.by_id.get(id)) {
                Some(host) => (*host, true),
                None => continue,
            },
            Some(Kind::StartEvent(Some(_))) if scope == 0 => (0, true),
            Some(Kind::StartEvent(Some(_))) => (draft.elements[scope].scope, false),
            Some(Kind::CatchEvent(_) | Kind::ReceiveTask(_)) => (gateway_before(graph, place).unwrap_or(place), true),
            _ => continue,
        };
        let Some(what) = element.kind().and_then(what_is_caught) else { continue };
        if !caught.insert((owner, is_boundary, what.clone())) {
            let other = if place == index { "another event there" } else { "it or another event there" };
            findings.add(element.at, &event.id, format!("{other} catches {what} already"));
        }
    }
}

/// Only what contains others escalates: on anything else the event would wait for what never comes.
pub(super) fn escalations(graph: &Graph<'_>, findings: &mut Findings) {
    let elements = &graph.draft.elements;
    for (index, element) in elements.iter().enumerate() {
        let trigger = match element.kind() {
            Some(Kind::BoundaryEvent(catch)) => &catch.trigger,
            Some(Kind::EventPart(part)) => &part.trigger,
            _ => continue,
        };
        let event = &elements[parts::event(graph.draft, index)];
        let (Trigger::Escalation(_), Some(host)) = (trigger, &event.attached_to) else { continue };
        let host = graph.by_id.get(&**host).and_then(|host| elements[*host].kind());
        if !matches!(host, Some(Kind::SubProcess(_) | Kind::Transaction(_) | Kind::AdHoc(_) | Kind::CallActivity(_)) | None) {
            findings.add(event.at, &event.id, "an escalation is caught on a sub-process or a call activity only");
        }
    }
}

fn gateway_before(graph: &Graph<'_>, index: usize) -> Option<usize> {
    let flow = graph.incoming[index].first()?;
    let (source, _) = graph.ends[*flow]?;
    matches!(graph.draft.elements[source].kind(), Some(Kind::EventGateway)).then_some(source)
}

/// In words, if it can be told from others of its kind.
fn what_is_caught(kind: &Kind) -> Option<String> {
    let code = |what: &str, catch: &CodeCatch| match catch {
        CodeCatch::Any => format!("every {what}"),
        CodeCatch::Code(code) => format!("the {what} {}", quoted(code)),
    };
    let trigger = match kind {
        Kind::StartEvent(Some(catch)) | Kind::BoundaryEvent(catch) => &catch.trigger,
        Kind::CatchEvent(trigger) => trigger,
        Kind::EventPart(part) => &part.trigger,
        Kind::ReceiveTask(Message { name: Text::Fixed(name), .. }) => return Some(format!("the message {}", quoted(name))),
        _ => return None,
    };
    match trigger {
        Trigger::Message(Message { name: Text::Fixed(name), .. }) => Some(format!("the message {}", quoted(name))),
        Trigger::Signal { name: Text::Fixed(name) } => Some(format!("the signal {}", quoted(name))),
        Trigger::Error(catch) => Some(code("error", catch)),
        Trigger::Escalation(catch) => Some(code("escalation", catch)),
        Trigger::Cancel => Some("the cancellation".to_owned()),
        Trigger::Compensation => Some("the compensation".to_owned()),
        Trigger::Condition(condition) => Some(format!("the condition {}", quoted(condition.expression.source()))),
        Trigger::Timer(_) | Trigger::Message(_) | Trigger::Signal { .. } | Trigger::Several(_) => None,
    }
}

/// An event-based gateway has at least two ways on, each to an event that is reached by no other way.
pub(super) fn event_gateways(graph: &Graph<'_>, boundaries: &[Vec<usize>], findings: &mut Findings) {
    for (index, gateway) in graph.draft.elements.iter().enumerate() {
        if !matches!(gateway.kind(), Some(Kind::EventGateway)) {
            continue;
        }
        if graph.outgoing[index].len() < 2 {
            findings.add(gateway.at, &gateway.id, "an event-based gateway needs at least two outgoing flows");
        }
        for flow in &graph.outgoing[index] {
            let Some((_, target)) = graph.ends[*flow] else { continue };
            let event = &graph.draft.elements[target];
            if let Some(reason) = unfit_behind_gateway(graph, boundaries, target) {
                findings.add(event.at, &event.id, format!("it stands behind an event-based gateway, so {reason}"));
            }
        }
    }
}

/// The gateway waits, not what stands behind it: that is entered when it is over.
fn unfit_behind_gateway(graph: &Graph<'_>, boundaries: &[Vec<usize>], target: usize) -> Option<&'static str> {
    let event = &graph.draft.elements[target];
    let fits = match event.kind() {
        Some(Kind::CatchEvent(trigger)) => trigger.is_waited_for(),
        Some(Kind::ReceiveTask(_)) | None => true,
        Some(_) => false,
    };
    match () {
        () if !fits => Some("it must be an event that is waited for"),
        () if event.repeat.is_some() => Some("it cannot be repeated"),
        () if 1 < graph.incoming[target].len() => Some("no other flow may lead to it"),
        () if event.inputs.is_some() => Some("it has no inputs: nothing is mapped before its message has come"),
        () if !boundaries[target].is_empty() => Some("no event may sit on it"),
        () => None,
    }
}

/// An ad-hoc sub-process has something to start, and neither start nor end events nor event sub-processes that interrupt it.
pub(super) fn ad_hoc(graph: &Graph<'_>, findings: &mut Findings) {
    let elements = &graph.draft.elements;
    let is_ad_hoc = |index: usize| matches!(elements[index].kind(), Some(Kind::AdHoc(_)));
    let mut can_begin = vec![false; elements.len()];
    for (index, inner) in elements.iter().enumerate() {
        let around = &elements[inner.scope];
        if !is_ad_hoc(around.scope) {
            continue;
        }
        let stands_inside = |what: &str| format!("{what} cannot stand inside an ad-hoc sub-process");
        match (around.kind(), inner.kind()) {
            (Some(Kind::AdHocRun), Some(Kind::StartEvent(_))) => {
                findings.add(inner.at, &inner.id, stands_inside("a start event"));
            }
            (Some(Kind::AdHocRun), Some(Kind::EndEvent(_))) => findings.add(inner.at, &inner.id, stands_inside("an end event")),
            (Some(Kind::AdHocRun), _) => {
                can_begin[around.scope] |= graph.incoming[index].is_empty() && is_activity(inner);
            }
            (Some(Kind::EventSubProcess(_)), Some(Kind::StartEvent(Some(Catch { interrupting: true, .. })))) => {
                let reason = "an event sub-process inside an ad-hoc sub-process must not interrupt it";
                findings.add(around.at, &around.id, reason);
            }
            _ => {}
        }
    }
    for (index, element) in elements.iter().enumerate() {
        if is_ad_hoc(index) && !can_begin[index] {
            findings.add(element.at, &element.id, "an ad-hoc sub-process needs at least one activity that no flow leads to");
        }
    }
}

/// Only activities are repeated.
pub(super) fn repeats(draft: &Draft, findings: &mut Findings) {
    for element in draft.elements.iter().filter(|element| element.repeat.is_some() && !is_activity(element)) {
        findings.add(element.at, &element.id, "only an activity can be repeated");
    }
}

/// Conditions stand on flows out of gateways that decide; there every flow but the default has one, unless it is the only one.
pub(super) fn conditions(graph: &Graph<'_>, findings: &mut Findings) {
    for (index, flow) in graph.draft.flows.iter().enumerate() {
        let Some((source, _)) = graph.ends[index] else {
            continue;
        };
        let Some(kind) = graph.draft.elements[source].kind() else {
            continue;
        };
        let decides = matches!(kind, Kind::ExclusiveGateway { .. } | Kind::InclusiveGateway(_) | Kind::ComplexGateway(_));
        let conditional = !matches!(flow.condition, Condition::None);
        if conditional && !decides {
            findings.add(
                flow.at,
                &flow.id,
                "a flow may have a condition only behind an exclusive or inclusive gateway: put one between",
            );
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

/// A complex gateway that joins must say when it starts.
pub(super) fn activations(graph: &Graph<'_>, findings: &mut Findings) {
    for (index, element) in graph.draft.elements.iter().enumerate() {
        if let Some(Kind::ComplexGateway(gateway)) = element.kind()
            && gateway.activation.is_none()
            && 1 < graph.incoming[index].len()
        {
            let reason =
                "a complex gateway with several incoming flows needs an activationCondition: how many tokens it starts with";
            findings.add(element.at, &element.id, reason);
        }
    }
}
