//! A standard loop: the activity is done again as long as a condition holds. The condition sees in `loopCounter` how often it was done.

use feel::{Expression, Value};
use model::{LoopTest, StandardLoop};

use crate::expression::{Trouble, wrong_kind};
use crate::repeat::{self, LOOP_COUNTER};
use crate::step::Run;
use crate::{ElementKey, Event, IncidentKind, Progress};

pub(crate) fn enter(run: &mut Run<'_>, body: ElementKey, repeated: &StandardLoop) -> Result<(), Trouble> {
    let wanted = match (&repeated.condition, repeated.test) {
        (Some(condition), LoopTest::Before) => holds(run, body, condition, 0)?,
        (Some(_), LoopTest::After) | (None, _) => true,
    };
    run.activated(body)?;
    if !wanted || repeated.max == Some(0) {
        run.finish_later(body);
        return Ok(());
    }
    let total = repeated.max.unwrap_or(if repeated.condition.is_some() { u32::MAX } else { 1 });
    run.emit(Event::Progressed { key: body, progress: Progress { total, ..Progress::default() } });
    start(run, body);
    Ok(())
}

/// Once more.
pub(crate) fn start(run: &mut Run<'_>, body: ElementKey) {
    let before = run.progress(body);
    let started = before.started + 1;
    repeat::start_inner(run, body, started, &[]);
    run.emit(Event::Progressed { key: body, progress: Progress { started, ..before } });
}

/// True if that was the last time.
pub(crate) fn finish_inner(run: &Run<'_>, body: ElementKey, inner: ElementKey, repeated: &StandardLoop) -> Result<bool, Trouble> {
    match &repeated.condition {
        Some(condition) => holds(run, inner, condition, run.progress(body).started).map(|again| !again),
        None => Ok(false),
    }
}

fn holds(run: &Run<'_>, scope: ElementKey, condition: &Expression, counter: u32) -> Result<bool, Trouble> {
    let given = [(LOOP_COUNTER, Value::Number(counter.into()))];
    match run.evaluate_given(scope, condition, IncidentKind::ExtractValue, &given)? {
        Value::Bool(holds) => Ok(holds),
        other => Err(wrong_kind(condition, "the loop condition", "true or false", &other)),
    }
}
