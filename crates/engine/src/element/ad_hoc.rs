//! An ad-hoc sub-process: what lies inside is started by name, with it or later, each in a run of its own. It ends when its condition is
//! true after a run, or, without one, when a run has ended and none is left.

use std::sync::Arc;

use feel::Value;
use model::{AdHoc, ElementIx, Kind};

use crate::element::directed_ad_hoc;
use crate::element::multi_instance::plain_variable;
use crate::expression::{Trouble, wrong_kind};
use crate::linger::Then;
use crate::step::Run;
use crate::{Document, ElementKey, Event, IncidentKind, Phase, Rejected};

/// The variable that shows what can be started.
const ELEMENTS: &str = "adHocSubProcessElements";

pub(crate) fn enter(run: &mut Run<'_>, key: ElementKey, ad_hoc: &AdHoc) -> Result<(), Trouble> {
    let first = first(run, key, ad_hoc)?;
    let job = directed_ad_hoc::job(run, key, ad_hoc)?;
    open(run, key, ad_hoc)?;
    for element in first {
        start(run, key, ad_hoc, element, &Vec::new());
    }
    if let Some(job) = job {
        run.open(key, None, job);
    }
    Ok(())
}

/// It is active, with nothing inside it.
pub(crate) fn open(run: &mut Run<'_>, key: ElementKey, ad_hoc: &AdHoc) -> Result<(), Trouble> {
    run.activated(key)?;
    run.set_local(key, &ELEMENTS.into(), &ad_hoc.described);
    if let Some(output) = &ad_hoc.output {
        run.set_local(key, &output.collection, &"[]".into());
    }
    Ok(())
}

/// A run that was entered is active, with nothing inside it.
pub(crate) fn open_run(run: &mut Run<'_>, inner: ElementKey) {
    let process = run.process;
    run.emit(Event::Activated { key: inner });
    let around = run.instance.elements[&inner].scope;
    let Kind::AdHoc(ad_hoc) = &process.element(run.instance.elements[&around].element).kind else { return };
    // As in multi-instance: what a run gives to the list is its own.
    if let Some(name) = ad_hoc.output.as_ref().and_then(plain_variable) {
        run.set_local(inner, name, &"null".into());
    }
}

/// What is started with it.
fn first(run: &Run<'_>, key: ElementKey, ad_hoc: &AdHoc) -> Result<Vec<ElementIx>, Trouble> {
    let Some(active) = &ad_hoc.active else { return Ok(Vec::new()) };
    let value = run.evaluate(key, active, IncidentKind::ExtractValue)?;
    let wrong = || wrong_kind(active, "the active elements", "a list of ids", &value);
    let Value::List(list) = &value else { return Err(wrong()) };
    let mut found = Vec::with_capacity(list.len());
    for item in list.items() {
        let Value::String(id) = item else { return Err(wrong()) };
        found.push(entry(run, ad_hoc, id).ok_or_else(|| {
            let message =
                format!("'{id}' cannot be started: no activity of the ad-hoc sub-process that no flow leads to has that id");
            Trouble { kind: IncidentKind::ExtractValue, message }
        })?);
    }
    Ok(found)
}

pub(crate) fn entry(run: &Run<'_>, ad_hoc: &AdHoc, id: &str) -> Option<ElementIx> {
    ad_hoc.entries.iter().copied().find(|entry| &*run.process.element(*entry).id == id)
}

pub(crate) fn start(run: &mut Run<'_>, key: ElementKey, ad_hoc: &AdHoc, element: ElementIx, variables: &Document) {
    let inner = ElementKey(run.keys.take());
    run.emit(Event::Entered { key: inner, element: ad_hoc.run, scope: key });
    open_run(run, inner);
    for (name, value) in variables {
        run.set_local(inner, name, value);
    }
    run.schedule(element, inner);
}

impl Run<'_> {
    /// Starts activities of an ad-hoc sub-process; all of them, or none. What runs in it may be dropped first.
    pub(crate) fn start_ad_hoc(
        &mut self,
        key: ElementKey,
        activities: &[(Arc<str>, Document)],
        drop_rest: bool,
    ) -> Result<(), Rejected> {
        let alive = self.instance.elements.get(&key).filter(|alive| alive.phase == Phase::Active).ok_or(Rejected::NoSuchScope)?;
        let process = self.process;
        let Kind::AdHoc(ad_hoc) = &process.element(alive.element).kind else { return Err(Rejected::NoSuchScope) };
        if alive.progress.is_some() || self.is_ending(key) {
            return Err(Rejected::NoSuchScope);
        }
        let mut found = Vec::with_capacity(activities.len());
        for (id, variables) in activities {
            found.push((entry(self, ad_hoc, id).ok_or(Rejected::NoSuchElement)?, variables));
        }
        if drop_rest {
            self.drop_inside(key, None);
        }
        for (element, variables) in found {
            start(self, key, ad_hoc, element, variables);
        }
        Ok(())
    }
}

/// Whether its end is one of an ad-hoc sub-process's runs: an event sub-process inside that counts as one.
pub(crate) fn is_run(run: &Run<'_>, key: ElementKey) -> bool {
    match run.element_of(key).kind {
        Kind::AdHocRun => true,
        Kind::EventSubProcess(_) => matches!(run.element_of(run.instance.elements[&key].scope).kind, Kind::AdHoc(_)),
        _ => false,
    }
}

/// A run has come to its end: what it gave is collected, and it is seen what comes next. Trouble keeps the run there.
pub(crate) fn finish_run(run: &mut Run<'_>, inner: ElementKey) -> Result<(), Trouble> {
    let process = run.process;
    let key = run.instance.elements[&inner].scope;
    let Kind::AdHoc(ad_hoc) = &process.element(run.instance.elements[&key].element).kind else { return Ok(()) };
    let before = collect(run, (key, inner), ad_hoc)?;
    let ended = match &ad_hoc.directed {
        Some(_) => directed_ad_hoc::finish_run(run, (key, inner), ad_hoc),
        None => end_or_go_on(run, (key, inner), ad_hoc),
    };
    if ended.is_err() {
        // It will be collected once more when the incident is resolved.
        before.iter().for_each(|(collection, list)| run.set_local(key, collection, list));
    }
    ended
}

/// What the run gave comes to the list; gives what that was before.
fn collect(run: &mut Run<'_>, (key, inner): (ElementKey, ElementKey), ad_hoc: &AdHoc) -> Result<Document, Trouble> {
    let Some(output) = &ad_hoc.output else { return Ok(Document::new()) };
    let value = run.evaluate(inner, &output.element, IncidentKind::ExtractValue)?.to_json();
    let list = run.instance.elements[&key].variables.get(&output.collection).map_or("[]".into(), |list| list.value.clone());
    run.set_local(key, &output.collection, &appended(&list, &value));
    Ok(vec![(output.collection.clone(), list)])
}

fn end_or_go_on(run: &mut Run<'_>, (key, inner): (ElementKey, ElementKey), ad_hoc: &AdHoc) -> Result<(), Trouble> {
    let is_over = match &ad_hoc.until {
        None => None,
        Some(until) => match run.evaluate(key, until, IncidentKind::ExtractValue)? {
            Value::Bool(is_over) => Some(is_over),
            other => return Err(wrong_kind(until, "the completion condition", "true or false", &other)),
        },
    };
    run.leave_run(inner);
    let is_empty = run.instance.elements[&key].is_empty() && !run.is_awaited_in(key);
    match is_over {
        Some(true) if ad_hoc.drop_rest => match run.drop_inside(key, None) {
            true => run.finish_later(key),
            false => run.go_then(key, &Then::Finish),
        },
        Some(true) | None if is_empty => run.finish_later(key),
        Some(_) | None => {}
    }
    Ok(())
}

/// A JSON list with one more value. What is no list any more begins anew.
fn appended(list: &str, value: &str) -> Arc<str> {
    match list.strip_suffix(']').filter(|_| list.starts_with('[')) {
        None | Some("[") => format!("[{value}]"),
        Some(before) => format!("{before},{value}]"),
    }
    .into()
}

/// What was collected goes out with it.
pub(crate) fn hand_out(run: &mut Run<'_>, key: ElementKey, ad_hoc: &AdHoc) {
    let Some(output) = &ad_hoc.output else { return };
    let alive = &run.instance.elements[&key];
    let (scope, list) = (alive.scope, alive.variables.get(&output.collection).map(|list| list.value.clone()));
    if let Some(list) = list {
        run.propagate(scope, &vec![(output.collection.clone(), list)]);
    }
}
