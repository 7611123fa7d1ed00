//! Gateways that wait for tokens which can still come: inclusive joins, and complex gateways before they start again.
//!
//! Where a token can come from is known since deployment ([`model::Join`]). A gateway is looked at when a token comes to it, and when
//! one that could have come is somewhere else or gone; nothing else can end its waiting.

use std::collections::BTreeSet;

use model::{ElementIx, FlowIx, Join, Kind, Process};

use crate::step::Run;
use crate::{ElementKey, element};

/// What a gateway that was looked at does now.
pub(crate) enum Woken {
    Not,
    /// A new element instance of it is entered.
    Enter,
    /// Its element instance tries to start.
    Activate(ElementKey),
    /// Its element instance leaves.
    Finish(ElementKey),
}

/// Which tokens hold up a join that has tokens on some of its flows only.
#[derive(Clone, Copy)]
pub(crate) enum HeldBy {
    /// Each that can come along a flow without a token, as Camunda 8 does it; but of those that wait at other gateways only the ones without
    /// a choice, since in a loop the others may wait for this very join.
    EachThatCanCome,
    /// Those that cannot as well come along a flow that has a token, as the standard says.
    ThoseWithoutChoice,
}

impl Run<'_> {
    /// A token is no longer at an element of this scope: those that waited for it are looked at, but for those at the end of the flows it
    /// took, which are looked at anyway.
    pub(crate) fn moved_on(&mut self, from: ElementIx, scope: ElementKey, flows: &[FlowIx]) {
        if self.process.joins.await_any(from) {
            self.look_at_waiting(from, scope, flows);
        }
    }

    fn look_at_waiting(&mut self, from: ElementIx, scope: ElementKey, flows: &[FlowIx]) {
        let process = self.process;
        let Some(inside) = self.instance.elements.get(&scope) else { return };
        // Those that wait for it, or those that wait at all: whichever are fewer.
        let mut waiting: Vec<ElementIx> = if inside.gateways_waiting().len() < process.joins.count(from) {
            let awaits = |join: &Join| process.joins.ways_to(join, from).next().is_some();
            let gateways = inside.gateways_waiting();
            gateways.filter(|gateway| join(&process.element(*gateway).kind).is_some_and(awaits)).collect()
        } else {
            let waits = |gateway: &ElementIx| 0 < inside.flows_arrived(*gateway);
            process.joins.ways(from).map(|way| way.gateway).filter(waits).collect()
        };
        if waiting.is_empty() {
            return;
        }
        waiting.dedup();
        let reached: BTreeSet<_> = flows.iter().map(|flow| process.flow(*flow).target).collect();
        for gateway in waiting.into_iter().filter(|gateway| !reached.contains(gateway)) {
            self.examine_later(gateway, scope);
        }
    }

    /// What the gateway does if it has waited long enough. The tokens it takes are taken already.
    pub(crate) fn wakes(&mut self, gateway: ElementIx, scope: ElementKey) -> Woken {
        if !self.instance.elements.contains_key(&scope) {
            return Woken::Not;
        }
        match &self.process.element(gateway).kind {
            Kind::InclusiveGateway(_) => element::inclusive_gateway::wakes(self, gateway, scope),
            Kind::ComplexGateway(_) => element::complex_gateway::wakes(self, gateway, scope),
            _ => Woken::Not,
        }
    }

    /// Whether a token elsewhere in the scope can still come along one of the gateway's flows that have none. Looked for from both ends, among
    /// the places it could be at and among those where there is one, until either has been gone through.
    pub(crate) fn is_held(&mut self, gateway: ElementIx, scope: ElementKey, held: HeldBy) -> bool {
        let element = self.process.element(gateway);
        let Some(join) = join(&element.kind) else { return false };
        let arrived = self.instance.elements.get(&scope).map_or(0, |inside| inside.flows_arrived(gateway));
        if arrived == element.incoming.len() {
            return false;
        }
        self.instance.index_places(scope);
        let Some(inside) = self.instance.elements.get(&scope) else { return false };
        let ways = |from: ElementIx| self.process.joins.ways_to(join, from);
        let can_come = |from: ElementIx| ways(from).any(|way| inside.tokens_at(gateway, way.flow) == 0);
        let waits = |from: ElementIx| can_come(from) && !ways(from).any(|way| 0 < inside.tokens_at(gateway, way.flow));
        let moves = |from: ElementIx| match held {
            HeldBy::EachThatCanCome if !is_complex(self.process, from) => can_come(from),
            HeldBy::EachThatCanCome | HeldBy::ThoseWithoutChoice => waits(from),
        };
        let is_at = |from: ElementIx| {
            let is_there = || self.scheduled.contains_key(&(scope, from)) || self.instance.first_at(scope, from).is_some();
            moves(from) && is_there() || 0 < inside.flows_arrived(from) && waits(from)
        };
        let moving = self.scheduled_in(scope).chain(self.instance.places(scope)).map(|from| (from, false));
        let mut there = inside.gateways_waiting().map(|from| (from, true)).chain(moving);
        let mut sources = join.sources.iter();
        loop {
            let (Some(source), Some((from, is_token))) = (sources.next(), there.next()) else { return false };
            let holds = if is_token { waits(from) } else { moves(from) };
            if holds || is_at(source) {
                return true;
            }
        }
    }

    pub(crate) fn has_tokens(&self, gateway: ElementIx, scope: ElementKey) -> bool {
        0 < self.instance.elements[&scope].flows_arrived(gateway)
    }

    /// How many tokens wait at a gateway.
    pub(crate) fn tokens_waiting(&self, gateway: ElementIx, scope: ElementKey) -> u32 {
        self.instance.elements[&scope].tokens_of(gateway)
    }
}

/// Its element instance waits for tokens itself.
fn is_complex(process: &Process, ix: ElementIx) -> bool {
    matches!(process.element(ix).kind, Kind::ComplexGateway(_))
}

fn join(kind: &Kind) -> Option<&Join> {
    match kind {
        Kind::InclusiveGateway(gateway) => gateway.join.as_ref(),
        Kind::ComplexGateway(gateway) => Some(&gateway.join),
        _ => None,
    }
}
