//! Events with several definitions: each is waited for by itself. One of them is enough, or all must have come: then what came with those
//! that are there already is kept until the last.

use std::borrow::Cow;
use std::sync::Arc;

use feel::{List, Value};
use model::{ElementIx, Kind, Needed, Process, Trigger};

use crate::step::Run;
use crate::variables::KEPT;
use crate::{Document, ElementKey};

/// What an event goes on with now that something it waits for has come; nothing as long as more must come.
pub(crate) fn complete<'a>(
    run: &mut Run<'_>,
    key: ElementKey,
    caught: ElementIx,
    variables: &'a Document,
) -> Option<Cow<'a, Document>> {
    let process = run.process;
    let event = process.event(caught);
    let parts = match process.catch(event) {
        Some(Trigger::Several(several)) if several.needed == Needed::All => &several.parts,
        Some(_) | None => return Some(Cow::Borrowed(variables)),
    };
    keep(run, key, caught, variables);
    let came: Option<Vec<Document>> = parts.iter().map(|part| kept(run, key, *part)).collect();
    let variables = came?.concat();
    if stays(process, event) {
        forget(run, key, event);
    }
    Some(Cow::Owned(variables))
}

/// What has come already counts no more.
pub(crate) fn forget(run: &mut Run<'_>, key: ElementKey, event: ElementIx) {
    drop(take(run, key, event));
}

/// The same, and what it was: parts with what came with them.
pub(crate) fn take(run: &mut Run<'_>, key: ElementKey, event: ElementIx) -> Vec<(ElementIx, Document)> {
    let process = run.process;
    let Some(Trigger::Several(several)) = process.catch(event) else { return Vec::new() };
    let came: Vec<_> = several.parts.iter().filter_map(|part| Some((*part, kept(run, key, *part)?))).collect();
    for (part, _) in &came {
        run.set_local(key, &mark(process, *part), &"null".into());
    }
    came
}

/// Whether it can happen again: then all must come again.
fn stays(process: &Process, event: ElementIx) -> bool {
    match &process.element(event).kind {
        Kind::BoundaryEvent(catch) | Kind::StartEvent(Some(catch)) => !catch.interrupting,
        _ => false,
    }
}

/// Remembers that a part has come, by the names of the variables that came with it, and those.
pub(crate) fn keep(run: &mut Run<'_>, key: ElementKey, part: ElementIx, variables: &Document) {
    let mark = mark(run.process, part);
    let names: Vec<Value> = variables.iter().map(|(name, _)| Value::String(name.clone())).collect();
    run.set_local(key, &mark, &Value::List(List::from(names)).to_json().into());
    for (name, value) in variables {
        run.set_local(key, &format!("{mark}:{name}").into(), value);
    }
}

/// What came with a part, if it has come.
fn kept(run: &Run<'_>, key: ElementKey, part: ElementIx) -> Option<Document> {
    let mark = mark(run.process, part);
    let known = &run.instance.elements[&key].variables;
    let Ok(Value::List(names)) = Value::from_json(&known.get(&mark)?.value) else { return None };
    let mut variables = Document::with_capacity(names.len());
    for name in names.items() {
        if let Value::String(name) = name
            && let Some(variable) = known.get(&format!("{mark}:{name}"))
        {
            variables.push((name.clone(), variable.value.clone()));
        }
    }
    Some(variables)
}

fn mark(process: &Process, part: ElementIx) -> Arc<str> {
    format!("{KEPT}came:{}", process.element(part).id).into()
}
