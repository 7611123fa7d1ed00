//! What a trace of a request shows of us: the tick that did it, and that tick's commit. Nothing where nobody traces.

use std::time::Duration;

use tracing::{Id, Level};

/// Whom such events and the spans they belong to are for.
pub const TARGET: &str = "otlp";

pub(crate) fn is_on() -> bool {
    tracing::enabled!(target: TARGET, Level::DEBUG)
}

/// The request that is being traced here, if one is.
pub(crate) fn request() -> Option<Id> {
    if is_on() { tracing::Span::current().id() } else { None }
}

/// Tells the request's trace that its tick has landed: how long it took, and how long of that its commit. `follows` are the headers of the
/// trace that the instance it was about belongs to.
pub(crate) fn landed(request: Id, (tick, commit): (Duration, Duration), commands: usize, follows: Option<&str>) {
    let (tick_micros, commit_micros) = (tick.as_micros() as u64, commit.as_micros() as u64);
    tracing::event!(target: TARGET, parent: request, Level::DEBUG, tick_micros, commit_micros, commands, follows, "landed");
}
