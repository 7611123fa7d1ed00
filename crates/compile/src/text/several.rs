//! `any`, `all` and `several`: events with several definitions, each on a line `of …` below.

use model::{Catch, Compensate, EndEvent, Kind, Needed, Process, Several, Throw, Trigger};

use super::{event, words};
use crate::draft::{Content, DraftElement};

/// The trigger whose lines follow.
pub(super) fn trigger(text: &str) -> Option<Trigger> {
    let needed = match text {
        "any" => Needed::Any,
        "all" => Needed::All,
        _ => return None,
    };
    Some(Trigger::Several(Several { parts: Vec::new(), needed }))
}

/// `of TRIGGER` or `of THROWN`
pub(super) fn of(draft: &mut DraftElement, rest: &str) -> Result<(), String> {
    let usage = "write this below 'catch any', 'on ID all', 'throw several' and the like";
    let Content::Read(kind) = &mut draft.content else { return Ok(()) };
    match kind {
        Kind::CatchEvent(Trigger::Several(_))
        | Kind::StartEvent(Some(Catch { trigger: Trigger::Several(_), .. }))
        | Kind::BoundaryEvent(Catch { trigger: Trigger::Several(_), .. }) => draft.parts.push(event::trigger(rest)?),
        Kind::ThrowEvent(Some(Throw::Several(several))) => several.push(throw(rest)?),
        Kind::EndEvent(end) => last(end, rest)?,
        _ => return Err(usage.to_owned()),
    }
    if let Some(activity) = rest.strip_prefix("compensate ") {
        draft.compensation = words::whole(activity).map(Into::into);
    }
    Ok(())
}

fn throw(rest: &str) -> Result<Throw, String> {
    match rest.split_whitespace().next() {
        Some("compensate") => Ok(Throw::Compensation(Compensate { activity: None })),
        _ => event::thrown(rest),
    }
}

/// Of an end event also what ends it.
fn last(end: &mut EndEvent, rest: &str) -> Result<(), String> {
    let EndEvent::Throw(Throw::Several(several)) = end else {
        return Err("what ends it comes last".to_owned());
    };
    let how = match rest.split_once(' ').unwrap_or((rest, "")) {
        ("terminate", "") => EndEvent::Terminate,
        ("cancel", "") => EndEvent::Cancel,
        ("error", code) => {
            let code = super::element::value("the error code", code)?.ok_or("write 'of error CODE'")?;
            EndEvent::Error { code }
        }
        _ => {
            several.push(throw(rest)?);
            return Ok(());
        }
    };
    *end = EndEvent::After { thrown: std::mem::take(several), end: Box::new(how) };
    Ok(())
}

/// There are several, and what is more than a signal or a message comes last.
pub(super) fn check(draft: &DraftElement) -> Result<(), String> {
    let is_last = |throw: &Throw| matches!(throw, Throw::Escalation { .. } | Throw::Compensation(_));
    let (count, in_order) = match draft.kind() {
        Some(Kind::CatchEvent(Trigger::Several(_))) => (draft.parts.len(), true),
        Some(Kind::StartEvent(Some(catch)) | Kind::BoundaryEvent(catch)) if matches!(catch.trigger, Trigger::Several(_)) => {
            (draft.parts.len(), true)
        }
        Some(Kind::ThrowEvent(Some(Throw::Several(several))) | Kind::EndEvent(EndEvent::Throw(Throw::Several(several)))) => {
            (several.len(), several.iter().rev().skip(1).all(|throw| !is_last(throw)))
        }
        Some(Kind::EndEvent(EndEvent::After { thrown, .. })) => (thrown.len() + 1, !thrown.iter().any(is_last)),
        _ => return Ok(()),
    };
    match (count, in_order) {
        (0 | 1, _) => Err("write at least two lines 'of …' below it".to_owned()),
        (_, false) => Err("an escalation or a compensation comes last".to_owned()),
        (_, true) => Ok(()),
    }
}

/// The lines as they are read again.
pub(super) fn lines(process: &Process, kind: &Kind) -> Vec<String> {
    let parts = |trigger: &Trigger| match trigger {
        Trigger::Several(several) => {
            several.parts.iter().filter_map(|part| process.catch(*part)).map(event::write_trigger).collect()
        }
        _ => Vec::new(),
    };
    let lines = match kind {
        Kind::CatchEvent(trigger) => parts(trigger),
        Kind::StartEvent(Some(catch)) | Kind::BoundaryEvent(catch) => parts(&catch.trigger),
        Kind::ThrowEvent(Some(Throw::Several(several))) | Kind::EndEvent(EndEvent::Throw(Throw::Several(several))) => {
            throws(process, several)
        }
        Kind::EndEvent(EndEvent::After { thrown, end }) => {
            let mut lines = throws(process, thrown);
            lines.extend(ends(end));
            lines
        }
        _ => Vec::new(),
    };
    lines.into_iter().map(|line| format!("of {line}")).collect()
}

fn throws(process: &Process, several: &[Throw]) -> Vec<String> {
    several.iter().map(|throw| event::write_throw(process, "", throw).trim_start().to_owned()).collect()
}

fn ends(end: &EndEvent) -> Option<String> {
    match end {
        EndEvent::Terminate => Some("terminate".to_owned()),
        EndEvent::Cancel => Some("cancel".to_owned()),
        EndEvent::Error { code } => Some(format!("error {}", event::write_value(code))),
        EndEvent::None | EndEvent::Throw(_) | EndEvent::After { .. } => None,
    }
}
