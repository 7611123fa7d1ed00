//! Draft → process: resolves references, checks the rules, puts the process together.

mod ad_hoc;
mod compensation;
mod joins;
mod links;
mod listeners;
mod parts;
mod rules;
mod transactions;

use std::collections::HashMap;
use std::sync::Arc;

use feel::Expression;
use model::{
    AdHoc, Compensate, Compensated, ComplexGateway, Element, ElementIx, Flow, FlowIx, InclusiveGateway, Joins, Kind, LinkThrow,
    Process, Scope,
};

use crate::diagnostic::{Findings, quoted};
use crate::draft::{About, Condition, Content, Draft, DraftFlow, FlowOrder};
use crate::straight_loop;

/// The process, unless something in it was refused; `findings` says what.
pub(crate) fn link(mut draft: Draft, findings: &mut Findings) -> Option<Process> {
    parts::expand(&mut draft);
    let graph = Graph::new(&draft, findings);
    rules::directions(&graph, findings);
    let scopes = rules::scopes(&draft, findings);
    let boundaries = rules::boundaries(&graph, findings);
    rules::messages(&draft, findings);
    rules::caught_once(&draft, &graph, findings);
    rules::escalations(&graph, findings);
    rules::event_gateways(&graph, &boundaries, findings);
    rules::ad_hoc(&graph, findings);
    rules::conditions(&graph, findings);
    rules::activations(&graph, findings);
    let defaults = rules::defaults(&graph, findings);
    let links = links::resolve(&draft, findings);
    rules::repeats(&draft, findings);
    transactions::check(&graph, findings);
    listeners::check(&draft, findings);
    compensation::sub_processes(&graph, &boundaries, findings);
    compensation::ways_out(&graph, &boundaries, findings);
    let compensations = compensation::resolve(&graph, findings);
    let Graph { ends, incoming, outgoing, .. } = graph;
    let wiring = Wiring { ends, incoming, outgoing, scopes, boundaries, defaults, links, compensations };
    let places: Vec<usize> = draft.elements.iter().map(|element| element.at).collect();
    let abouts: Vec<About> = draft.elements.iter_mut().map(|element| std::mem::take(&mut element.about)).collect();
    let mut process = assemble(draft, wiring)?;
    for (ix, reason) in ad_hoc::find(&mut process, &abouts) {
        findings.add(places[ix.0 as usize], &process.element(ix).id, reason);
    }
    if let Err(reason) = joins::find(&mut process) {
        findings.add(places[0], &process.id, reason);
    }
    for circle in straight_loop::find(&process) {
        let first = circle.first().expect("a circle has elements");
        let way: Vec<&str> = circle.iter().chain([first]).map(|ix| &*process.element(*ix).id).collect();
        let reason = format!("this loop never waits: {}; put a task that waits into it", way.join(" > "));
        findings.add(places[first.0 as usize], &process.element(*first).id, reason);
    }
    Some(process)
}

/// The draft with its flows resolved.
struct Graph<'a> {
    draft: &'a Draft,
    by_id: HashMap<&'a str, usize>,
    /// Source and target of each flow, if both are there.
    ends: Vec<Option<(usize, usize)>>,
    incoming: Vec<Vec<usize>>,
    /// In the order in which they are taken.
    outgoing: Vec<Vec<usize>>,
}

impl<'a> Graph<'a> {
    fn new(draft: &'a Draft, findings: &mut Findings) -> Self {
        let mut by_id = HashMap::with_capacity(draft.elements.len());
        for (index, element) in draft.elements.iter().enumerate().skip(1) {
            by_id.entry(&*element.id).or_insert(index);
        }
        let none = vec![Vec::new(); draft.elements.len()];
        let ends = Vec::with_capacity(draft.flows.len());
        let mut graph = Self { draft, by_id, ends, incoming: none.clone(), outgoing: none };
        for (index, flow) in draft.flows.iter().enumerate() {
            let ends = graph.resolve(flow, findings);
            graph.ends.push(ends);
            if let Some((source, target)) = ends {
                graph.outgoing[source].push(index);
                graph.incoming[target].push(index);
            }
        }
        if let FlowOrder::Reversed = draft.order {
            graph.outgoing.iter_mut().for_each(|flows| flows.reverse());
        }
        graph
    }

    fn resolve(&self, flow: &DraftFlow, findings: &mut Findings) -> Option<(usize, usize)> {
        let mut find = |what: &str, id: &str| {
            let found = self.by_id.get(id).copied();
            if found.is_none() {
                let process = &self.draft.elements[0].id;
                findings.add(flow.at, &flow.id, format!("{what} {} is no flow node of process {}", quoted(id), quoted(process)));
            }
            found
        };
        let (source, target) = (find("the source", &flow.source), find("the target", &flow.target));
        let (source, target) = (source?, target?);
        let (from, to) = (&self.draft.elements[source], &self.draft.elements[target]);
        if from.scope != to.scope {
            let reason = format!("the flow from {} to {} crosses the border of a sub-process", quoted(&from.id), quoted(&to.id));
            findings.add(flow.at, &flow.id, reason);
            return None;
        }
        Some((source, target))
    }

    fn is_default(&self, source: usize, flow: usize) -> bool {
        self.draft.elements[source].default.as_deref() == Some(&*self.draft.flows[flow].id)
    }
}

/// All that `assemble` needs to know besides the draft, by index of element or flow.
struct Wiring {
    ends: Vec<Option<(usize, usize)>>,
    incoming: Vec<Vec<usize>>,
    outgoing: Vec<Vec<usize>>,
    scopes: Vec<Scope>,
    boundaries: Vec<Vec<usize>>,
    defaults: Vec<Option<usize>>,
    links: Vec<Option<usize>>,
    /// The handler of a compensation boundary event, the activity a compensation throw event names.
    compensations: Vec<Option<usize>>,
}

fn assemble(draft: Draft, mut wiring: Wiring) -> Option<Process> {
    let mut flows = Vec::with_capacity(draft.flows.len());
    for (index, flow) in draft.flows.into_iter().enumerate() {
        let (source, target) = wiring.ends[index]?;
        let is_default = wiring.defaults[source] == Some(index);
        let condition = condition(flow.condition, is_default)?;
        flows.push(Flow { id: flow.id, source: element_ix(source), target: element_ix(target), condition });
    }
    let mut elements = Vec::with_capacity(draft.elements.len());
    for (index, element) in draft.elements.into_iter().enumerate() {
        let Content::Read(kind) = element.content else {
            return None;
        };
        elements.push(Element {
            id: element.id,
            name: element.name,
            kind: completed(kind, index, &mut wiring)?,
            scope: element_ix(element.scope),
            incoming: wiring.incoming[index].iter().copied().map(flow_ix).collect(),
            outgoing: wiring.outgoing[index].iter().copied().map(flow_ix).collect(),
            inputs: element.inputs,
            outputs: element.outputs,
            boundaries: wiring.boundaries[index].iter().copied().map(element_ix).collect(),
            repeat: element.repeat,
            listeners: (!element.listeners.is_empty()).then(|| element.listeners.into()),
        });
    }
    let (id, name) = elements.first().map(|root| (Arc::clone(&root.id), root.name.clone()))?;
    let (version_tag, start_form, joins) = (draft.version_tag, draft.start_form, Joins::default());
    Some(Process { id, name, version_tag, elements, flows, joins, workflow: None, start_form })
}

/// The condition of a default flow is never looked at, so it is not kept.
fn condition(condition: Condition, is_default: bool) -> Option<Option<Expression>> {
    match condition {
        Condition::Refused => None,
        Condition::Read(_) if is_default => Some(None),
        Condition::Read(expression) => Some(Some(expression)),
        Condition::None => Some(None),
    }
}

/// Fills in what a kind says about other elements.
fn completed(kind: Kind, index: usize, wiring: &mut Wiring) -> Option<Kind> {
    let default = wiring.defaults[index].map(flow_ix);
    let mut scope = || std::mem::take(&mut wiring.scopes[index]);
    let mut kind = kind;
    if let Some(compensate) = compensation::thrown_mut(&mut kind) {
        *compensate = Compensate { activity: wiring.compensations[index].map(element_ix) };
    }
    Some(match kind {
        Kind::Process(_) => Kind::Process(scope()),
        Kind::SubProcess(_) => Kind::SubProcess(scope()),
        Kind::Transaction(_) => Kind::Transaction(scope()),
        Kind::EventSubProcess(_) => Kind::EventSubProcess(scope()),
        Kind::AdHoc(ad_hoc) => Kind::AdHoc(AdHoc { scope: scope(), ..ad_hoc }),
        Kind::ExclusiveGateway { .. } => Kind::ExclusiveGateway { default },
        Kind::InclusiveGateway(gateway) => Kind::InclusiveGateway(InclusiveGateway { default, ..gateway }),
        Kind::ComplexGateway(gateway) => Kind::ComplexGateway(ComplexGateway { default, ..gateway }),
        Kind::LinkThrow(link) => Kind::LinkThrow(LinkThrow { catch: wiring.links[index].map(element_ix)?, ..link }),
        Kind::CompensationBoundary(_) => {
            Kind::CompensationBoundary(Compensated { handler: wiring.compensations[index].map(element_ix)? })
        }
        Kind::AdHocRun
        | Kind::StartEvent(_)
        | Kind::EndEvent(_)
        | Kind::ThrowEvent(_)
        | Kind::CatchEvent(_)
        | Kind::ReceiveTask(_)
        | Kind::SendTask(_)
        | Kind::CallActivity(_)
        | Kind::EventGateway
        | Kind::PassTask(_)
        | Kind::JobTask(_)
        | Kind::UserTask(_)
        | Kind::ScriptTask(_)
        | Kind::Transformation(_)
        | Kind::Wait
        | Kind::DecisionTask(_)
        | Kind::LinkCatch(_)
        | Kind::ParallelGateway
        | Kind::EventPart(_)
        | Kind::BoundaryEvent(_) => kind,
    })
}

pub(super) fn element_ix(index: usize) -> ElementIx {
    ElementIx(index as u32)
}

fn flow_ix(index: usize) -> FlowIx {
    FlowIx(index as u32)
}
