//! `compensate`: events that undo, and what undoes an activity.

use std::sync::Arc;

use model::{Compensate, Compensated, EndEvent, Kind, Process, Throw};

use super::words;

pub(super) struct Written {
    pub(super) kind: Kind,
    pub(super) attached_to: Option<Arc<str>>,
    /// The handler, or the activity to undo.
    pub(super) named: Option<Arc<str>>,
}

/// `compensate`, `compensate ID`, `compensate by HANDLER on ID`; `compensate-end` and `compensate-end ID`.
pub(super) fn read(word: &str, rest: &str) -> Result<Written, String> {
    let usage = "write 'compensate', 'compensate ID', 'compensate-end', 'compensate-end ID' or 'compensate by HANDLER on ID'";
    let words: Vec<&str> = rest.split_whitespace().collect();
    let thrown = Throw::Compensation(Compensate { activity: None });
    let (kind, attached_to, named) = match (word, &words[..]) {
        // Which element it is, is known once all are.
        ("compensate", ["by", handler, "on", activity]) => {
            (Kind::CompensationBoundary(Compensated { handler: Process::ROOT }), Some(*activity), Some(*handler))
        }
        ("compensate", []) => (Kind::ThrowEvent(Some(thrown)), None, None),
        ("compensate", [activity]) => (Kind::ThrowEvent(Some(thrown)), None, Some(*activity)),
        ("compensate-end", []) => (Kind::EndEvent(EndEvent::Throw(thrown)), None, None),
        ("compensate-end", [activity]) => (Kind::EndEvent(EndEvent::Throw(thrown)), None, Some(*activity)),
        _ => return Err(usage.to_owned()),
    };
    Ok(Written { kind, attached_to: attached_to.map(Into::into), named: named.map(Into::into) })
}

/// What a head names as handler or as activity to undo.
pub(super) fn named(head: &str) -> Option<Arc<str>> {
    let (word, rest) = words::first(head)?;
    read(&word, rest).ok()?.named
}
