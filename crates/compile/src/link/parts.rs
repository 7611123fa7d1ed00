//! Events with several definitions: each definition becomes an element behind all others, which waits for what it says.

use model::{Catch, ElementIx, EventPart, Kind, Trigger};

use super::element_ix;
use crate::draft::{Content, Draft, DraftElement};

/// Gives each definition its element, and the event those it has.
pub(super) fn expand(draft: &mut Draft) {
    for index in 0..draft.elements.len() {
        let event = &mut draft.elements[index];
        let parts = std::mem::take(&mut event.parts);
        if parts.is_empty() {
            continue;
        }
        let (at, id, scope) = (event.at, event.id.clone(), event.scope);
        let first = draft.elements.len();
        for (number, trigger) in parts.into_iter().enumerate() {
            let content = Content::Read(Kind::EventPart(EventPart { event: element_ix(index), trigger }));
            let id = format!("{id}#{}", number + 1).into();
            let part = DraftElement { id, scope, content, ..DraftElement::bare(at) };
            draft.elements.push(part);
        }
        let places = (first..draft.elements.len()).map(element_ix).collect();
        if let Some(Trigger::Several(several)) = trigger_mut(&mut draft.elements[index].content) {
            several.parts = places;
        }
    }
}

fn trigger_mut(content: &mut Content) -> Option<&mut Trigger> {
    match content {
        Content::Read(Kind::StartEvent(Some(Catch { trigger, .. })) | Kind::BoundaryEvent(Catch { trigger, .. })) => {
            Some(trigger)
        }
        Content::Read(Kind::CatchEvent(trigger)) => Some(trigger),
        Content::Read(_) | Content::Refused | Content::RefusedStart => None,
    }
}

/// The event that an element is, or is a part of.
pub(super) fn event(draft: &Draft, index: usize) -> usize {
    match draft.elements[index].kind() {
        Some(Kind::EventPart(part)) => part.event.0 as usize,
        _ => index,
    }
}

/// What is waited for on behalf of an event: its parts, or itself.
pub(super) fn of(draft: &Draft, event: ElementIx) -> Vec<ElementIx> {
    match draft.elements[event.0 as usize].kind() {
        Some(Kind::StartEvent(Some(Catch { trigger: Trigger::Several(several), .. }))) => several.parts.clone(),
        _ => vec![event],
    }
}
