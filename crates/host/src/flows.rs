//! Which flows an instance has gone along, worked out from its element instances: nothing is written down for it while it runs.
//!
//! All but gateways leave by every flow they have. A gateway that chooses goes on within the same command: what was entered next behind
//! it, at that moment, tells which way it took. What leads from such a gateway straight into a join is taken to be the way where nothing
//! else was entered.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use engine::{DefinitionKey, ElementKey};
use model::{Element, ElementIx, FlowIx, InclusiveGateway, Kind, Process};
use store::query::ElementView;
use store::row::InstanceState;

use crate::definitions::compile_one;
use crate::{Error, Host};

impl Host {
    /// The ids of the flows that were taken among these element instances, all of one instance and one definition.
    ///
    /// # Errors
    /// What the store said.
    pub async fn flows_taken(&self, definition: DefinitionKey, elements: &[ElementView]) -> Result<BTreeSet<Arc<str>>, Error> {
        let Some(row) = self.store().definition(definition).await? else { return Ok(BTreeSet::new()) };
        let Some(resource) = self.store().resource(row.resource).await? else { return Ok(BTreeSet::new()) };
        let process = compile_one(&resource, &row)?;
        Ok(taken(&process, elements).into_iter().map(|flow| process.flow(flow).id.clone()).collect())
    }
}

fn taken(process: &Process, elements: &[ElementView]) -> BTreeSet<FlowIx> {
    let place: HashMap<&str, ElementIx> =
        process.elements.iter().enumerate().map(|(index, element)| (&*element.id, ElementIx(index as u32))).collect();
    let ids: HashMap<ElementKey, &str> = elements.iter().map(|view| (view.key, &*view.element_id)).collect();
    // Repetitions lie in the body of their activity, which is the one that leaves.
    let is_inner = |view: &ElementView| ids.get(&view.scope).is_some_and(|id| *id == view.element_id);
    let mut passages: Vec<(ElementIx, &ElementView)> =
        elements.iter().filter(|view| !is_inner(view)).filter_map(|view| Some((*place.get(&*view.element_id)?, view))).collect();
    passages.sort_unstable_by_key(|(_, view)| view.key);
    let mut entered: HashMap<(ElementIx, ElementKey), Vec<&ElementView>> = HashMap::new();
    for (element, view) in &passages {
        entered.entry((*element, view.scope)).or_default().push(view);
    }
    let mut ways = Ways { process, entered, explained: HashSet::new(), flows: BTreeSet::new() };
    for (element, view) in passages.iter().filter(|(_, view)| view.state == InstanceState::Completed) {
        ways.leave(process.element(*element), view);
    }
    ways.flows
}

struct Ways<'a> {
    process: &'a Process,
    /// By element and scope, in the order in which they were entered.
    entered: HashMap<(ElementIx, ElementKey), Vec<&'a ElementView>>,
    /// Entered by a gateway that chose.
    explained: HashSet<ElementKey>,
    flows: BTreeSet<FlowIx>,
}

impl Ways<'_> {
    fn leave(&mut self, element: &Element, view: &ElementView) {
        let outgoing = &element.outgoing;
        match &element.kind {
            Kind::ExclusiveGateway { .. } | Kind::EventGateway if 1 < outgoing.len() => {
                let next = outgoing.iter().filter_map(|flow| Some((self.next(*flow, view)?, *flow))).min();
                match next {
                    Some((key, flow)) => self.explain(key, flow),
                    None => self.flows.extend(self.only_join(outgoing)),
                }
            }
            Kind::InclusiveGateway(_) | Kind::ComplexGateway(_) if 1 < outgoing.len() => {
                let next: Vec<_> = outgoing.iter().filter_map(|flow| Some((self.next(*flow, view)?, *flow))).collect();
                if next.is_empty() {
                    self.flows.extend(self.only_join(outgoing));
                }
                next.into_iter().for_each(|(key, flow)| self.explain(key, flow));
            }
            _ => self.flows.extend(outgoing),
        }
    }

    fn explain(&mut self, key: ElementKey, flow: FlowIx) {
        self.explained.insert(key);
        self.flows.insert(flow);
    }

    /// What was entered first at the end of a flow when the gateway was left.
    fn next(&self, flow: FlowIx, gateway: &ElementView) -> Option<ElementKey> {
        let target = self.process.flow(flow).target;
        // A join is entered when others have come as well.
        let entered = self.entered.get(&(target, gateway.scope)).filter(|_| !is_join(self.process.element(target)))?;
        let first = entered.partition_point(|view| view.key <= gateway.key);
        let mut after = entered[first..].iter().filter(|view| !self.explained.contains(&view.key));
        // Events behind a gateway wait with it; the one that came is entered when the gateway is left.
        after.find(|view| Some(view.started) == gateway.ended).map(|view| view.key)
    }

    /// The one flow that leads into a join, if it is one.
    fn only_join(&self, outgoing: &[FlowIx]) -> Option<FlowIx> {
        let mut joins = outgoing.iter().filter(|flow| is_join(self.process.element(self.process.flow(**flow).target)));
        let only = joins.next()?;
        joins.next().is_none().then_some(*only)
    }
}

/// What tokens wait at before it is entered.
fn is_join(element: &Element) -> bool {
    match &element.kind {
        Kind::ParallelGateway => 1 < element.incoming.len(),
        Kind::InclusiveGateway(InclusiveGateway { join, .. }) => join.is_some(),
        Kind::ComplexGateway(_) => true,
        _ => false,
    }
}
