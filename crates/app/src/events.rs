//! Messages, signals and timers of a running server.

use serde_json::{Value, json};

use crate::cli::{Correlate, Publish, Remote, Signal, TimerFire, TimerReschedule, Timers};
use crate::client::{PATIENCE, agent, post, read, show, show_done, show_items, text, url};
use crate::table::print;
use crate::variables;

pub(crate) fn publish(publish: &Publish) -> Result<(), String> {
    let body = json!({
        "name": publish.name,
        "correlationKey": publish.key,
        "timeToLive": millis(&publish.ttl)?,
        "messageId": publish.id,
        "variables": variables::given("--variables", &publish.variables)?,
    });
    let answer = post(&publish.remote, "/v2/messages/publication", &body, PATIENCE)?;
    show_one(&publish.remote, &answer, "messageKey")
}

pub(crate) fn correlate(correlate: &Correlate) -> Result<(), String> {
    let body = json!({
        "name": correlate.name,
        "correlationKey": correlate.key,
        "variables": variables::given("--variables", &correlate.variables)?,
    });
    let answer = post(&correlate.remote, "/v2/messages/correlation", &body, PATIENCE)?;
    show_one(&correlate.remote, &answer, "processInstanceKey")
}

pub(crate) fn signal(signal: &Signal) -> Result<(), String> {
    let body = json!({ "signalName": signal.name, "variables": variables::given("--variables", &signal.variables)? });
    let answer = post(&signal.remote, "/v2/signals/broadcast", &body, PATIENCE)?;
    show_one(&signal.remote, &answer, "signalKey")
}

pub(crate) fn timers(timers: &Timers) -> Result<(), String> {
    let mut request =
        agent(&timers.remote, PATIENCE)?.get(url(&timers.remote, "/v1/timers")).query("limit", timers.limit.to_string());
    let state = (timers.state != "all").then(|| timers.state.to_uppercase());
    let filters = [
        ("processDefinitionId", &timers.process),
        ("processInstanceKey", &timers.instance),
        ("elementId", &timers.element),
        ("state", &state),
    ];
    for (name, value) in filters {
        if let Some(value) = value {
            request = request.query(name, value);
        }
    }
    let answer = read(&timers.remote, request.call())?;
    let columns = [
        ("KEY", "timerKey"),
        ("PROCESS", "processDefinitionId"),
        ("ELEMENT", "elementId"),
        ("DUE", "dueDate"),
        ("TIMER", "expression"),
        ("STATE", "state"),
        ("INSTANCE", "processInstanceKey"),
    ];
    show_items(&timers.remote, &answer, &columns)
}

pub(crate) fn fire(fire: &TimerFire) -> Result<(), String> {
    let answer = post(&fire.remote, &format!("/v1/timers/{}/fire", fire.key), &json!({}), PATIENCE)?;
    show_done(&fire.remote, &answer)
}

pub(crate) fn reschedule(reschedule: &TimerReschedule) -> Result<(), String> {
    let remote = &reschedule.remote;
    let path = url(remote, &format!("/v1/timers/{}", reschedule.key));
    let answer = read(remote, agent(remote, PATIENCE)?.patch(path).send_json(json!({ "dueDate": reschedule.due })))?;
    show_done(remote, &answer)
}

/// A duration as timers have it.
fn millis(duration: &str) -> Result<i64, String> {
    let timer = engine::timer(model::TimerKind::Duration, duration);
    let first = timer.and_then(|timer| timer.first(0).map_err(|error| error.to_string()));
    first.map(|first| first.at).map_err(|reason| format!("--ttl: {reason}"))
}

fn show_one(remote: &Remote, answer: &Value, key: &str) -> Result<(), String> {
    if remote.json {
        return show(answer);
    }
    print(&format!("{}\n", text(&answer[key])));
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn times_to_live_are_durations() {
        assert_eq!(super::millis("PT1H"), Ok(3_600_000));
        assert_eq!(super::millis("PT0S"), Ok(0));
        assert!(super::millis("an hour").unwrap_err().starts_with("--ttl: "));
    }
}
