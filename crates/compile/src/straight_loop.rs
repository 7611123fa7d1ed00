//! Loops that never wait. Camunda 8 refuses them at deployment, since such a loop would keep a whole partition busy; so do
//! we. A loop of gateways alone is accepted, as it is there.
//!
//! Elements are followed where a token passes without waiting; a loop is a strongly connected part of that graph, found
//! with two depth-first walks (Kosaraju), without recursion: processes may be long.

use std::collections::{HashMap, VecDeque};

use model::{Call, ElementIx, EndEvent, Kind, Process, Text};

/// One circle of elements for each part of the process that loops without waiting and contains more than gateways.
pub(crate) fn find(process: &Process) -> Vec<Vec<ElementIx>> {
    let next = successors(process);
    let part = parts(&next);
    let mut told = vec![false; next.len()];
    let mut circles = Vec::new();
    for (index, element) in process.elements.iter().enumerate() {
        if !is_work(&element.kind) || told[part[index]] {
            continue;
        }
        if let Some(mut circle) = circle(index, &next, &part) {
            told[part[index]] = true;
            circle.retain(|index| *index < process.elements.len());
            circles.push(circle.into_iter().map(|index| ElementIx(index as u32)).collect());
        }
    }
    circles
}

/// Where a token goes from each element without waiting. Behind the elements stand their exits: `exit(scope)` is where
/// tokens leave a sub-process from, so that many ends and many ways on do not multiply.
fn successors(process: &Process) -> Vec<Vec<usize>> {
    let count = process.elements.len();
    let exit = |scope: ElementIx| count + scope.0 as usize;
    let ways_on = |index: usize| -> Vec<usize> {
        let element = &process.elements[index];
        if element.outgoing.is_empty() && element.scope != Process::ROOT {
            return vec![exit(element.scope)];
        }
        element.outgoing.iter().map(|flow| process.flow(*flow).target.0 as usize).collect()
    };
    let entered = (0..count).map(|index| match &process.elements[index].kind {
        Kind::SubProcess(scope) | Kind::Transaction(scope) => scope.start.map(|start| start.0 as usize).into_iter().collect(),
        Kind::CallActivity(call) if calls_itself(process, call) => {
            process.start().map(|start| start.0 as usize).into_iter().collect()
        }
        Kind::Process(_)
        | Kind::EventSubProcess(_)
        | Kind::AdHoc(_)
        | Kind::AdHocRun
        | Kind::JobTask(_)
        | Kind::UserTask(_)
        | Kind::CatchEvent(_)
        | Kind::ReceiveTask(_)
        | Kind::Wait
        | Kind::CallActivity(_)
        | Kind::EventGateway
        | Kind::BoundaryEvent(_)
        | Kind::CompensationBoundary(_)
        | Kind::EventPart(_) => Vec::new(),
        Kind::EndEvent(end) if throws_out(end) => Vec::new(),
        Kind::StartEvent(_)
        | Kind::EndEvent(_)
        | Kind::ThrowEvent(_)
        | Kind::SendTask(_)
        | Kind::PassTask(_)
        | Kind::ScriptTask(_)
        | Kind::Transformation(_)
        | Kind::DecisionTask(_)
        | Kind::LinkCatch(_)
        | Kind::ExclusiveGateway { .. }
        | Kind::ParallelGateway
        | Kind::InclusiveGateway(_)
        | Kind::ComplexGateway(_) => ways_on(index),
        Kind::LinkThrow(link) => vec![link.catch.0 as usize],
    });
    let left = (0..count).map(|index| match &process.elements[index].kind {
        Kind::SubProcess(_) | Kind::Transaction(_) => ways_on(index),
        _ => Vec::new(),
    });
    entered.chain(left).collect()
}

/// An end from which nothing goes on beside it.
fn throws_out(end: &EndEvent) -> bool {
    match end {
        EndEvent::Error { .. } | EndEvent::Cancel => true,
        EndEvent::None | EndEvent::Terminate | EndEvent::Throw(_) => false,
        EndEvent::After { end, .. } => throws_out(end),
    }
}

/// A process that calls itself under its own id goes on from its start.
fn calls_itself(process: &Process, call: &Call) -> bool {
    matches!(&call.process, Text::Fixed(id) if *id == process.id)
}

/// Whether an element makes a loop worth refusing.
fn is_work(kind: &Kind) -> bool {
    match kind {
        Kind::ThrowEvent(_)
        | Kind::LinkThrow(_)
        | Kind::SendTask(_)
        | Kind::CallActivity(_)
        | Kind::PassTask(_)
        | Kind::ScriptTask(_)
        | Kind::Transformation(_)
        | Kind::DecisionTask(_) => true,
        Kind::Process(_)
        | Kind::SubProcess(_)
        | Kind::Transaction(_)
        | Kind::EventSubProcess(_)
        | Kind::AdHoc(_)
        | Kind::AdHocRun
        | Kind::StartEvent(_)
        | Kind::CatchEvent(_)
        | Kind::ReceiveTask(_)
        | Kind::Wait
        | Kind::EventGateway
        | Kind::EndEvent(_)
        | Kind::LinkCatch(_)
        | Kind::JobTask(_)
        | Kind::UserTask(_)
        | Kind::ExclusiveGateway { .. }
        | Kind::ParallelGateway
        | Kind::InclusiveGateway(_)
        | Kind::ComplexGateway(_)
        | Kind::BoundaryEvent(_)
        | Kind::CompensationBoundary(_)
        | Kind::EventPart(_) => false,
    }
}

/// The number of the strongly connected part each element belongs to.
fn parts(next: &[Vec<usize>]) -> Vec<usize> {
    let mut previous: Vec<Vec<usize>> = vec![Vec::new(); next.len()];
    for (from, targets) in next.iter().enumerate() {
        targets.iter().for_each(|to| previous[*to].push(from));
    }
    let mut part: Vec<Option<usize>> = vec![None; next.len()];
    for (number, root) in finishing_order(next).into_iter().rev().enumerate() {
        let mut open = vec![root];
        while let Some(index) = open.pop() {
            if part[index].is_none() {
                part[index] = Some(number);
                open.extend(previous[index].iter().filter(|before| part[**before].is_none()));
            }
        }
    }
    part.into_iter().map(|number| number.expect("every element was a root once")).collect()
}

/// All elements, each after everything that can be reached from it.
fn finishing_order(next: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; next.len()];
    let mut finished = Vec::with_capacity(next.len());
    for root in 0..next.len() {
        if seen[root] {
            continue;
        }
        seen[root] = true;
        let mut open = vec![(root, 0)];
        while let Some((index, way)) = open.last_mut() {
            match next[*index].get(*way).copied() {
                Some(target) => {
                    *way += 1;
                    if !seen[target] {
                        seen[target] = true;
                        open.push((target, 0));
                    }
                }
                None => {
                    finished.push(*index);
                    open.pop();
                }
            }
        }
    }
    finished
}

/// The shortest way from an element back to itself inside its part, if there is one.
fn circle(from: usize, next: &[Vec<usize>], part: &[usize]) -> Option<Vec<usize>> {
    let mut came_from: HashMap<usize, usize> = HashMap::new();
    let mut open = VecDeque::from([from]);
    while let Some(index) = open.pop_front() {
        for &target in next[index].iter().filter(|target| part[**target] == part[from]) {
            if target == from {
                let mut way = vec![index];
                while let Some(before) = way.last().and_then(|last| came_from.get(last)) {
                    way.push(*before);
                }
                way.reverse();
                return Some(way);
            }
            if let std::collections::hash_map::Entry::Vacant(unseen) = came_from.entry(target) {
                unseen.insert(index);
                open.push_back(target);
            }
        }
    }
    None
}
