//! Gateways that wait for tokens which can still come: inclusive joins, and complex gateways before they start again.
//!
//! Where a token can come from is known since deployment ([`model::Join`]). A gateway is looked at when a token comes to it, and when
//! one that could have come is somewhere else or gone; nothing else can end its waiting.

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
        let Some(inside) = self.instance.elements.get(&scope) else { return };
        let process = self.process;
        let mut waiting: Vec<ElementIx> = inside.tokens().map(|(gateway, ..)| gateway).collect();
        waiting.dedup();
        waiting.retain(|gateway| {
            let join = join(&process.element(*gateway).kind);
            let awaited = join.is_some_and(|join| join.sources.iter().any(|sources| sources.contains(from)));
            awaited && !flows.iter().any(|flow| process.flow(*flow).target == *gateway)
        });
        for gateway in waiting {
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

    /// Whether a token elsewhere in the scope can still come along one of the gateway's flows that have none.
    pub(crate) fn is_held(&self, gateway: ElementIx, scope: ElementKey, held: HeldBy) -> bool {
        let element = self.process.element(gateway);
        let (Some(join), Some(inside)) = (join(&element.kind), self.instance.elements.get(&scope)) else {
            return false;
        };
        let has_token = |flow: &FlowIx| 0 < inside.tokens_at(gateway, *flow);
        let flows = 0..element.incoming.len();
        let (filled, empty): (Vec<_>, Vec<_>) = flows.partition(|n| has_token(&element.incoming[*n]));
        let can_come = |flows: &[usize], from: ElementIx| flows.iter().any(|flow| join.can_come(*flow, from));
        let waits = |from: ElementIx| can_come(&empty, from) && !can_come(&filled, from);
        let moves = |from: ElementIx| match held {
            HeldBy::EachThatCanCome if !is_complex(self.process, from) => can_come(&empty, from),
            HeldBy::EachThatCanCome | HeldBy::ThoseWithoutChoice => waits(from),
        };
        let mut alive = inside.children().map(|child| self.instance.elements[&child].element);
        !empty.is_empty()
            && (self.scheduled_in(scope).any(moves) || inside.tokens().any(|(at, ..)| waits(at)) || alive.any(moves))
    }

    /// How many tokens wait at a gateway.
    pub(crate) fn tokens_waiting(&self, gateway: ElementIx, scope: ElementKey) -> u32 {
        let inside = &self.instance.elements[&scope];
        self.process.element(gateway).incoming.iter().map(|flow| inside.tokens_at(gateway, *flow)).sum()
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
