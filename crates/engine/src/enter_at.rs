//! Entering an element that no flow leads to: where an instance is to begin somewhere else, or is changed while it runs. Scopes around the
//! element that are missing come into being first, the outermost first. Their inputs are not mapped and nothing starts in them: what is
//! entered is all there is. Whatever sits on them or inside them waits as ever.

use model::{ElementIx, Kind, Process};

use crate::step::Run;
use crate::{ElementKey, Event, Phase, element};

/// In which scopes an element is to be entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Within {
    /// In those that live, as long as there is one of each; missing ones are made.
    Living,
    /// In this element instance; those between are made, whatever lives.
    Scope(ElementKey),
}

/// What came into being.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The scopes that were missing, the outermost first.
    pub(crate) scopes: Vec<ElementKey>,
    /// Of the element itself; it is activated in its turn, so that it can be given variables before.
    pub(crate) element: ElementKey,
}

/// Why an element cannot be entered where no flow leads. Where a scope is the reason, it is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotEntered {
    /// It is the process itself, a start event or an event on a boundary: those come with what they belong to.
    Kind,
    /// It stands behind an event-based gateway, which waits for it.
    BehindEventGateway,
    /// A scope around it is repeated: nothing says which of its inner instances is meant.
    Repeated(ElementIx),
    /// More than one instance of a scope around it lives.
    Ambiguous(ElementIx),
    /// The element instance it is to be entered in is not active.
    NoSuchScope,
    /// That element instance is no scope around it.
    Elsewhere,
    /// What sits on a scope that is missing, or inside it, cannot wait: an expression has no value, or one of the wrong kind.
    CannotWait(ElementIx),
}

/// Whether an element can be entered without a flow at all.
///
/// # Errors
/// Why it cannot.
pub fn can_be_entered(process: &Process, element: ElementIx) -> Result<(), NotEntered> {
    let place = process.element(element);
    match &place.kind {
        Kind::Process(_) | Kind::StartEvent(_) | Kind::BoundaryEvent(_) | Kind::CompensationBoundary(_) | Kind::AdHocRun => {
            return Err(NotEntered::Kind);
        }
        Kind::SubProcess(_)
        | Kind::EventSubProcess(_)
        | Kind::AdHoc(_)
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
        | Kind::DecisionTask(_)
        | Kind::LinkThrow(_)
        | Kind::LinkCatch(_)
        | Kind::ExclusiveGateway { .. }
        | Kind::ParallelGateway
        | Kind::InclusiveGateway(_)
        | Kind::ComplexGateway(_) => {}
    }
    let comes_from = |flow: &model::FlowIx| &process.element(process.flow(*flow).source).kind;
    match place.incoming.iter().any(|flow| matches!(comes_from(flow), Kind::EventGateway)) {
        true => Err(NotEntered::BehindEventGateway),
        false => Ok(()),
    }
}

impl Run<'_> {
    /// Enters an element without a flow, in scopes that are made where they are missing.
    pub(crate) fn enter_at(&mut self, element: ElementIx, within: Within) -> Result<Entry, NotEntered> {
        can_be_entered(self.process, element)?;
        let mut at = match within {
            Within::Living => self.instance.key.root(),
            Within::Scope(scope) => self.scope_to_enter(scope)?,
        };
        let around = around(self.process, element, self.instance.elements[&at].element)?;
        let mut scopes = Vec::new();
        for scope in around {
            let living = match within {
                Within::Living => self.living(at, scope)?,
                Within::Scope(_) => None,
            };
            at = match living {
                Some(living) => living,
                None => self.make_scope(scope, at)?,
            };
            if living.is_none() {
                scopes.push(at);
            }
        }
        let key = ElementKey(self.keys.take());
        self.come_in(key, element, at);
        self.activate_later(key);
        Ok(Entry { scopes, element: key })
    }

    fn scope_to_enter(&self, scope: ElementKey) -> Result<ElementKey, NotEntered> {
        let living = self.instance.elements.get(&scope).filter(|living| living.phase == Phase::Active);
        let living = living.ok_or(NotEntered::NoSuchScope)?;
        match self.repeat(scope) {
            Some(_) => Err(NotEntered::Repeated(living.element)),
            None => Ok(scope),
        }
    }

    /// The one instance of a scope that lives inside another. Every start in an ad-hoc sub-process has a run of its own.
    fn living(&self, outer: ElementKey, scope: ElementIx) -> Result<Option<ElementKey>, NotEntered> {
        if let Kind::AdHocRun = self.process.element(scope).kind {
            return Ok(None);
        }
        let lives = |key: &ElementKey| {
            let living = &self.instance.elements[key];
            living.element == scope && living.phase == Phase::Active
        };
        let mut living = self.instance.children(outer).filter(lives);
        match (living.next(), living.next()) {
            (Some(_), Some(_)) => Err(NotEntered::Ambiguous(scope)),
            (one, _) => Ok(one),
        }
    }

    /// A scope comes into being with nothing inside it.
    fn make_scope(&mut self, scope: ElementIx, outer: ElementKey) -> Result<ElementKey, NotEntered> {
        let process = self.process;
        let key = ElementKey(self.keys.take());
        self.emit(Event::Entered { key, element: scope, scope: outer });
        match &process.element(scope).kind {
            Kind::AdHoc(ad_hoc) => element::ad_hoc::open(self, key, ad_hoc),
            Kind::AdHocRun => {
                element::ad_hoc::open_run(self, key);
                Ok(())
            }
            _ => self.activated(key),
        }
        .map_err(|_| NotEntered::CannotWait(scope))?;
        Ok(key)
    }
}

/// The scopes around an element that lie inside another, the outermost first.
fn around(process: &Process, element: ElementIx, outer: ElementIx) -> Result<Vec<ElementIx>, NotEntered> {
    let mut scopes = Vec::new();
    let mut at = process.element(element).scope;
    while at != outer {
        if at == Process::ROOT {
            return Err(NotEntered::Elsewhere);
        }
        if process.element(at).repeat.is_some() {
            return Err(NotEntered::Repeated(at));
        }
        scopes.push(at);
        at = process.element(at).scope;
    }
    scopes.reverse();
    Ok(scopes)
}
