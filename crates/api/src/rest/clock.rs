//! The engine's time, which tests may move if the server allows it.

use axum::http::Method;
use axum::response::Response;
use host::ClockMove;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use super::answer;
use super::call::Call;
use super::describe::Kind;
use super::operation::{Input, Operation, Output};
use super::shape::{Shape, field};
use crate::error::{Failure, Reason};

pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::PUT,
        path: "/v2/clock",
        id: "pinClock",
        summary: "Let the engine's time stand still, for tests",
        input: Input::Required(&PIN),
        query: &[],
        output: Output::NoContent,
        failures: &[409],
        run: |call| Box::pin(pin(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/clock/reset",
        id: "resetClock",
        summary: "Let the engine's time be the real one again",
        input: Input::None,
        query: &[],
        output: Output::NoContent,
        failures: &[409],
        run: |call| Box::pin(async move { move_clock(&call, ClockMove::Reset) }),
    },
    Operation {
        method: Method::POST,
        path: "/v1/clock/advance",
        id: "advanceClock",
        summary: "Move the engine's time on, for tests",
        input: Input::Required(&ADVANCE),
        query: &[],
        output: Output::NoContent,
        failures: &[409],
        run: |call| Box::pin(advance(call)),
    },
];

static PIN: Shape = Shape {
    name: "ClockPinRequest",
    fields: &[field("timestamp", Kind::Int64, "The time to stand at, in milliseconds since 1970").required()],
};

static ADVANCE: Shape = Shape {
    name: "ClockAdvanceRequest",
    fields: &[field("duration", Kind::Text, "How far, after ISO 8601: `PT2H`, `P1D`, `P1M` by the calendar of UTC").required()],
};

async fn pin(call: Call) -> Result<Response, Failure> {
    let timestamp = call.required(&PIN)?.number("timestamp").ok_or_else(|| Failure::invalid("No timestamp provided."))?;
    if timestamp < 0 {
        return Err(Failure::invalid(format!("The value for timestamp is '{timestamp}' but must be not negative.")));
    }
    move_clock(&call, ClockMove::Pin(timestamp))
}

async fn advance(call: Call) -> Result<Response, Failure> {
    let text = call.required(&ADVANCE)?.shared("duration").ok_or_else(|| Failure::invalid("No duration provided."))?;
    let now = Timestamp::from_millisecond(call.host().now().await?).unwrap_or_default().to_zoned(TimeZone::UTC);
    let span = text.parse::<Span>().and_then(|span| span.to_duration(&now));
    let millis = span.ok().and_then(|span| i64::try_from(span.as_millis()).ok()).filter(|millis| 0 <= *millis);
    let millis = millis.ok_or_else(|| {
        Failure::invalid(format!(
            "The provided duration '{text}' is none after ISO 8601, or goes back: use one such as PT2H, P1D or P1M"
        ))
    })?;
    move_clock(&call, ClockMove::Advance(millis))
}

fn move_clock(call: &Call, to: ClockMove) -> Result<Response, Failure> {
    if !call.config().test_clock {
        let reason = "The clock of this server cannot be moved: start it with --test-clock, which is for tests alone";
        return Err(Failure::new(Reason::InvalidState, reason));
    }
    call.host().move_clock(to).map_err(|error| Failure::of_command("UPDATE", error))?;
    Ok(answer::no_content())
}
