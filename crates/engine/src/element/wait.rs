//! A step of a workflow that waits until it is told to go on, by its id: nothing but that is needed to find it, so it keeps no wait.
//!
//! What came too early may be kept with the instance; the step takes it when it is entered, as a task for a person does.

use std::sync::Arc;

use feel::Value;
use feel::json::raw_members;
use model::Kind;

use crate::expression::Trouble;
use crate::step::Run;
use crate::variables::KEPT;
use crate::{Document, ElementKey, Event, Phase, Rejected};

pub(crate) fn enter(run: &mut Run<'_>, key: ElementKey) -> Result<(), Trouble> {
    match take_early(run, key) {
        true => Ok(()),
        false => run.activated(key),
    }
}

/// It goes on, with these variables.
pub(crate) fn tell(run: &mut Run<'_>, key: ElementKey, variables: &Document) -> Result<(), Rejected> {
    let element = run.instance.elements.get(&key).ok_or(Rejected::NoSuchWait)?;
    let waits = element.phase == Phase::Active && element.incident.is_none();
    if !waits || !matches!(run.element_of(key).kind, Kind::Wait) {
        return Err(Rejected::NoSuchWait);
    }
    run.finish_with(key, variables);
    Ok(())
}

/// The variable of the process in which the engine keeps what came for a step before its time.
pub fn early(step: &str) -> Arc<str> {
    format!("{KEPT}early:{step}").into()
}

/// Whether something came for the step before its time; then the step is done.
pub(crate) fn take_early(run: &mut Run<'_>, key: ElementKey) -> bool {
    let root = run.instance.key.root();
    let kept = &run.instance.elements[&root].variables;
    if kept.kept().next().is_none() {
        return false;
    }
    let name = early(&run.element_of(key).id);
    let Some(document) = run.instance.elements[&root].variables.get(&name).and_then(|kept| document(&kept.value)) else {
        return false;
    };
    run.emit(Event::Activated { key });
    run.set_local(root, &name, &"null".into());
    run.finish_with(key, &document);
    true
}

/// What is kept is an object; once it is taken it is null.
fn document(kept: &str) -> Option<Document> {
    let member = |(name, value): (&str, &str)| match Value::from_json(name) {
        Ok(Value::String(name)) => Some((name, value.into())),
        _ => None,
    };
    raw_members(kept).ok()?.into_iter().map(member).collect()
}
