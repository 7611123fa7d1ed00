//! Repeated activities. The element instance that is reached is the *body*; what is done lives inside it as instances of the same element,
//! the *inner* ones. Boundary events and outgoing flows belong to the body; mappings and the work itself to each inner instance.

use std::sync::Arc;

use model::{ElementIx, MultiOrder, Process, Repeat};

use crate::element::{compensation, multi_instance, standard_loop};
use crate::expression::Trouble;
use crate::linger::Then;
use crate::step::Run;
use crate::{ElementKey, Event, Instance, Phase, Progress};

/// The variable that numbers inner instances, from 1.
pub(crate) const LOOP_COUNTER: &str = "loopCounter";

impl Run<'_> {
    /// An element instance comes into being. A body can be told by its progress from the start.
    pub(crate) fn come_in(&mut self, key: ElementKey, element: ElementIx, scope: ElementKey) {
        self.emit(Event::Entered { key, element, scope });
        if self.process.element(element).repeat.is_some() {
            self.emit(Event::Progressed { key, progress: Progress::default() });
        }
    }

    /// How this element instance repeats, if it is a body.
    pub(crate) fn repeat(&self, key: ElementKey) -> Option<&'_ Repeat> {
        let repeat = self.element_of(key).repeat.as_ref()?;
        (!self.instance.is_inner(key)).then_some(repeat)
    }

    pub(crate) fn progress(&self, body: ElementKey) -> Progress {
        self.instance.elements[&body].progress.unwrap_or_default()
    }

    /// A body that has not started all it is to start.
    pub(crate) fn has_more_to_start(&self, body: ElementKey) -> bool {
        let Some(element) = self.instance.elements.get(&body) else { return false };
        let is_behind = element.progress.is_some_and(|progress| progress.started < progress.total);
        element.phase == Phase::Active && is_behind && !self.is_ending(body)
    }
}

/// The events that catch what happens in an element instance: those on its boundary, and the starts of the event sub-processes inside it.
/// A repeated activity has the first on its body and the second in each inner instance.
pub(crate) fn catching<'a>(process: &'a Process, instance: &Instance, key: ElementKey) -> (&'a [ElementIx], &'a [ElementIx]) {
    catching_of(process, instance.elements[&key].element, instance.is_inner(key))
}

pub(crate) fn catching_of(process: &Process, element: ElementIx, is_inner: bool) -> (&[ElementIx], &[ElementIx]) {
    let boundaries = &*process.element(element).boundaries;
    let starts = process.scope(element).map(|scope| &*scope.event_starts).unwrap_or_default();
    match process.element(element).repeat {
        None => (boundaries, starts),
        Some(_) if is_inner => (&[], starts),
        Some(_) => (boundaries, &[]),
    }
}

/// The body begins.
pub(crate) fn enter(run: &mut Run<'_>, body: ElementKey, repeat: &Repeat) -> Result<(), Trouble> {
    match repeat {
        Repeat::Each(multi) => multi_instance::enter(run, body, multi),
        Repeat::Loop(repeated) => standard_loop::enter(run, body, repeated),
    }
}

/// The body starts those that come next.
pub(crate) fn go_on(run: &mut Run<'_>, body: ElementKey) {
    match &run.process.element(run.instance.elements[&body].element).repeat {
        Some(Repeat::Each(multi)) => multi_instance::go_on(run, body, multi),
        Some(Repeat::Loop(_)) => standard_loop::start(run, body),
        None => {}
    }
}

/// An inner instance comes into being, with what is its own; it is activated in its turn.
pub(crate) fn start_inner(run: &mut Run<'_>, body: ElementKey, number: u32, locals: &[(Arc<str>, Arc<str>)]) {
    let key = ElementKey(run.keys.take());
    run.emit(Event::Entered { key, element: run.instance.elements[&body].element, scope: body });
    run.set_local(key, &LOOP_COUNTER.into(), &number.to_string().into());
    for (name, value) in locals {
        run.set_local(key, name, value);
    }
    run.activate_later(key);
}

/// An inner instance has done its work and mapped its outputs. Trouble keeps it there.
pub(crate) fn finish_inner(run: &mut Run<'_>, body: ElementKey, inner: ElementKey) -> Result<(), Trouble> {
    let process = run.process;
    let (is_over, in_turn) = match &process.element(run.instance.elements[&body].element).repeat {
        Some(Repeat::Each(multi)) => {
            (multi_instance::finish_inner(run, body, inner, multi)?, multi.order == MultiOrder::Sequential)
        }
        Some(Repeat::Loop(repeated)) => (standard_loop::finish_inner(run, body, inner, repeated)?, true),
        None => (true, true),
    };
    compensation::hand_on(run, inner);
    run.emit(Event::Left { key: inner });
    let before = run.progress(body);
    let progress = Progress { completed: before.completed.saturating_add(1), ..before };
    run.emit(Event::Progressed { key: body, progress });
    if is_over || progress.is_over() {
        let all_gone = run.drop_inside(body, None);
        run.begin_leaving(body);
        match all_gone {
            true => run.finish_later(body),
            false => run.go_then(body, &Then::Finish),
        }
    } else if in_turn {
        run.go_on_later(body);
    }
    Ok(())
}

/// The body is done: what it collected goes out, and it leaves.
pub(crate) fn finish(run: &mut Run<'_>, body: ElementKey) {
    let element = run.element_of(body);
    if run.instance.elements[&body].phase != Phase::Leaving {
        run.begin_leaving(body);
    }
    if let Some(Repeat::Each(multi)) = &element.repeat {
        multi_instance::hand_out(run, body, multi);
    }
    run.close_catches(body);
    run.leave(body, &element.outgoing);
}
