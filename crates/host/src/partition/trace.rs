//! Whose trace an instance or an execution belongs to: that of the request that started it. The engine keeps it with the process itself,
//! instances that are called inherit it, and workers are told it among the headers of every job (ADR 39).

use std::sync::Arc;

use engine::{Instance, InstanceKey, KEPT};
use store::log::Trace;

use super::Partition;
use super::tick::Tick;
use super::unit::Stop;
use crate::json;

/// The variable that the engine keeps it in, as a JSON object of headers.
const NAME: &str = "caudal:trace";

impl Partition {
    /// The instance, which has just begun, belongs to this trace.
    pub(super) fn follow_trace(&mut self, tick: &mut Tick, instance: InstanceKey, trace: Option<Arc<str>>) -> Result<(), Stop> {
        let Some(trace) = trace else { return Ok(()) };
        debug_assert!(NAME.starts_with(KEPT));
        let variables = vec![(NAME.into(), trace)];
        let command = engine::Command::SetVariables { scope: instance.root(), variables, local: true };
        // One that has ended already has no jobs.
        self.step(tick, instance, &command).map(|_ended_is_fine| ())
    }
}

/// As the headers it came in.
pub(super) fn headers(trace: Option<&Trace>) -> Option<Arc<str>> {
    let Trace { parent, state } = trace?;
    let mut headers = vec![("traceparent".into(), parent.clone())];
    headers.extend(state.clone().map(|state| ("tracestate".into(), state)));
    Some(json::object_of_texts(&headers).into())
}

/// The trace an instance belongs to, if it belongs to one.
pub(super) fn of(instance: &Instance) -> Option<&Arc<str>> {
    Some(&instance.root()?.variables.get(NAME)?.value)
}

/// Headers of a job with those of its trace. Of one name, the model's own is meant.
pub(super) fn among(headers: &Arc<str>, trace: Option<&Arc<str>>) -> Arc<str> {
    let Some(trace) = trace else { return headers.clone() };
    let own: Vec<(&str, &str)> = json::members(headers).collect();
    let more = json::members(trace).filter(|(name, _)| own.iter().all(|(known, _)| known != name));
    let all: Vec<String> = own.iter().copied().chain(more).map(|(name, value)| format!("{name}:{value}")).collect();
    format!("{{{}}}", all.join(",")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_the_trace_stand_behind_those_of_the_model() {
        let trace = Trace { parent: "00-1-2-01".into(), state: Some("a=\"b\"".into()) };
        let trace = headers(Some(&trace));
        let among = |headers: &str| among(&headers.into(), trace.as_ref());
        assert_eq!(trace.as_deref(), Some(r#"{"traceparent":"00-1-2-01","tracestate":"a=\"b\""}"#));
        assert_eq!(&*among("{}"), r#"{"traceparent":"00-1-2-01","tracestate":"a=\"b\""}"#);
        assert_eq!(
            &*among(r#"{"colour":"a,b","traceparent":"mine"}"#),
            r#"{"colour":"a,b","traceparent":"mine","tracestate":"a=\"b\""}"#
        );
        assert_eq!(headers(None), None);
    }
}
