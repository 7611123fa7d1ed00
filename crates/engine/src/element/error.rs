//! BPMN errors and escalations travel outwards to the nearest boundary event or event sub-process that catches them.

use std::sync::Arc;

use model::{Catch, CodeCatch, ElementIx, Kind, Process, Trigger};

use crate::expression::Trouble;
use crate::repeat;
use crate::step::Run;
use crate::{Document, ElementKey, Event, IncidentKind, Instance, JobKey, Phase, Rejected, Thrown, ThrownOut};

/// The event that catches, and the element instance on or in which it does.
pub(crate) struct Catcher<'a> {
    event: ElementIx,
    catch: &'a Catch,
    /// Which of its definitions does.
    trigger: &'a Trigger,
    at: ElementKey,
}

impl Catcher<'_> {
    pub(crate) fn interrupts(&self) -> bool {
        self.catch.interrupting
    }
}

/// Whether something here catches what an element throws.
pub fn catches(process: &Process, instance: &Instance, thrower: ElementKey, what: Thrown, code: &str) -> bool {
    instance.elements.contains_key(&thrower) && catcher(process, instance, thrower, what, code).is_some()
}

/// Looks outwards from where it was thrown; on one element the named code comes before the catch-all. In a scope that an event
/// sub-process has interrupted the others start no more; what sits on its boundary catches. What is thrown inside an event sub-process does
/// not start it again: so it passes on what it was started by.
pub(crate) fn catcher<'a>(
    process: &'a Process,
    instance: &Instance,
    thrower: ElementKey,
    what: Thrown,
    code: &str,
) -> Option<Catcher<'a>> {
    let (mut at, mut inside) = (thrower, None);
    loop {
        let alive = &instance.elements[&at];
        if let Some((event, catch, trigger)) = event_at(process, instance, (at, inside), what, code) {
            return Some(Catcher { event, catch, trigger, at });
        }
        if alive.scope == at {
            return None;
        }
        (at, inside) = (alive.scope, Some(alive.element));
    }
}

/// `inside` is the element of this scope in which it was thrown.
fn event_at<'a>(
    process: &'a Process,
    instance: &Instance,
    (at, inside): (ElementKey, Option<ElementIx>),
    what: Thrown,
    code: &str,
) -> Option<(ElementIx, &'a Catch, &'a Trigger)> {
    let (boundaries, starts) = repeat::catching(process, instance, at);
    let starts = if is_interrupted(process, instance, at) { &[] } else { starts };
    let starts = starts.iter().filter(|start| Some(process.element(**start).scope) != inside);
    let events = starts.chain(boundaries).copied();
    let catches = |ix: ElementIx, named: bool| {
        let (Kind::BoundaryEvent(catch) | Kind::StartEvent(Some(catch))) = &process.element(ix).kind else { return None };
        let fits = |trigger: &Trigger| match (trigger, what) {
            (Trigger::Error(codes), Thrown::Error) | (Trigger::Escalation(codes), Thrown::Escalation) => match codes {
                CodeCatch::Code(caught) => named && &**caught == code,
                CodeCatch::Any => !named,
            },
            _ => false,
        };
        let one = std::slice::from_ref(&ix);
        let parts = if let Trigger::Several(several) = &catch.trigger { &several.parts } else { one };
        let trigger = parts.iter().filter_map(|part| process.catch(*part)).find(|trigger| fits(trigger))?;
        Some((ix, catch, trigger))
    };
    events.clone().find_map(|ix| catches(ix, true)).or_else(|| events.clone().find_map(|ix| catches(ix, false)))
}

/// An interrupting event sub-process is all that is left of its scope.
fn is_interrupted(process: &Process, instance: &Instance, scope: ElementKey) -> bool {
    let Some(child) = instance.children(scope).next() else { return false };
    let Kind::EventSubProcess(inner) = &process.element(instance.elements[&child].element).kind else { return false };
    let start = inner.start.map(|start| &process.element(start).kind);
    // What undoes something else only lives there.
    matches!(start, Some(Kind::StartEvent(Some(catch))) if catch.interrupting && !matches!(catch.trigger, Trigger::Compensation))
}

/// Goes on from the event that catches, which keeps the variables to itself.
pub(crate) fn catch(run: &mut Run<'_>, catcher: Catcher<'_>, variables: &Document) {
    run.caught(catcher.at, (catcher.event, catcher.trigger), catcher.catch, variables);
}

/// Throws an error; not caught by anything here, those that called this instance are asked.
pub(crate) fn throw(
    run: &mut Run<'_>,
    key: ElementKey,
    job: Option<JobKey>,
    error: (&Arc<str>, &Arc<str>),
    variables: &Document,
) -> Result<(), Trouble> {
    let (code, message) = error;
    match catcher(run.process, run.instance, key, Thrown::Error, code) {
        Some(catcher) => {
            if run.instance.elements[&key].phase == Phase::Entering {
                run.emit(Event::Activated { key });
            }
            if let Some(job) = job {
                run.close(key, job.wait(), crate::WaitEnd::ErrorThrown);
            }
            catch(run, catcher, variables);
        }
        None if run.instance.parent.is_some() => {
            let (code, message, variables) = (code.clone(), message.clone(), variables.clone());
            run.emit(Event::ThrownOut(ThrownOut { element: key, job, what: Thrown::Error, code, message, variables }));
        }
        None => return Err(uncaught(code, message)),
    }
    Ok(())
}

/// Nobody that called this instance catches it either.
pub(crate) fn not_caught(run: &mut Run<'_>, thrown: &ThrownOut) -> Result<(), Rejected> {
    let key = thrown.element;
    let alive = run.instance.elements.get(&key).ok_or(Rejected::NoSuchWait)?;
    if alive.incident.is_some() {
        return Err(Rejected::NoSuchWait);
    }
    match thrown.what {
        Thrown::Error => run.raise(key, thrown.job, uncaught(&thrown.code, &thrown.message)),
        Thrown::Escalation => {
            run.emit(Event::Activated { key });
            run.finish_later(key);
        }
    }
    Ok(())
}

fn uncaught(code: &str, message: &str) -> Trouble {
    let why = if message.is_empty() { String::new() } else { format!(" ({message})") };
    let message = format!("the error with code '{code}'{why} was thrown, but nothing catches it");
    Trouble { kind: IncidentKind::UnhandledError, message }
}
