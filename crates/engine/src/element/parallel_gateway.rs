//! A parallel gateway waits for a token on each incoming flow, then leaves by all outgoing ones.
//! Waiting tokens have no element instance; a surplus one keeps its scope alive.

use crate::step::Run;
use crate::{ElementKey, Event, Token};

/// A token came along one of several incoming flows.
pub(crate) fn arrive(run: &mut Run<'_>, token: Token) {
    run.emit(Event::TokenArrived(token));
    let incoming = run.process.element(token.gateway).incoming.len();
    if run.instance.elements[&token.scope].flows_arrived(token.gateway) == incoming {
        run.emit(Event::TokensTaken { scope: token.scope, gateway: token.gateway });
        run.schedule(token.gateway, token.scope);
    }
}

pub(crate) fn enter(run: &mut Run<'_>, key: ElementKey) {
    let element = run.element_of(key);
    run.emit(Event::Activated { key });
    run.leave(key, &element.outgoing);
}
