//! A suspended instance: it keeps all its waits, and of what may be asked of it only to go on, or to end, is done.
//!
//! Timers, jobs and messages can be held back by the host, since they are still there later. A signal is not: one that comes meanwhile
//! is kept with the instance and triggers what it came to when the instance goes on.

use std::sync::Arc;

use crate::element::listener::{document, kept, listed};
use crate::step::Run;
use crate::variables::KEPT;
use crate::{Command, ElementKey, Event, Instance, Rejected, Triggered, WaitKey, WaitKind};

/// How many signals are kept for one suspended instance; those after them have not come.
const SIGNALS_MAX: usize = 1_000;

const SIGNAL: &str = "signal:";

impl Run<'_> {
    pub(crate) fn begin_suspended(&mut self, command: &Command) -> Result<(), Rejected> {
        if self.instance.goes() {
            return self.go_on_going(command);
        }
        match command {
            Command::Resume => {
                self.resume();
                Ok(())
            }
            Command::Cancel => self.cancel(),
            Command::Trigger(triggered) if waits_for_signal(self.instance, triggered) => {
                self.keep_signal(triggered);
                Ok(())
            }
            _ => Err(Rejected::Suspended),
        }
    }

    fn resume(&mut self) {
        self.emit(Event::Resumed);
        for (what, triggered) in kept_signals(self.instance) {
            self.keep(self.instance.key.root(), &what, "null");
            // What came first may have ended what the next one came to.
            let _came = self.trigger(&triggered);
        }
    }

    fn keep_signal(&mut self, triggered: &Triggered) {
        let root = self.instance.key.root();
        let place = (0..SIGNALS_MAX).map(|place| format!("{SIGNAL}{place:04}"));
        let free = |what: &String| kept(self.instance, root, what).is_none_or(|value| value == "null");
        let Some(what) = place.into_iter().find(free) else { return };
        let Triggered { element, wait, variables, .. } = triggered;
        self.keep(root, &what, &listed(&format!("\"{element} {wait}\""), variables));
    }
}

fn waits_for_signal(instance: &Instance, triggered: &Triggered) -> bool {
    let element = instance.elements.get(&triggered.element);
    element.and_then(|element| element.wait(triggered.wait)).is_some_and(|wait| wait.kind == WaitKind::Signal)
}

/// In the order in which they came, each with the name it is kept under.
fn kept_signals(instance: &Instance) -> Vec<(Arc<str>, Triggered)> {
    let root = instance.key.root();
    let Some(alive) = instance.elements.get(&root) else { return Vec::new() };
    let mut names: Vec<&str> = alive.variables.kept().filter_map(|kept| kept.name.strip_prefix(KEPT)).collect();
    names.retain(|name| name.starts_with(SIGNAL));
    names.sort_unstable();
    let triggered = |what: &str| {
        let (first, variables) = document(instance, root, what)?;
        let (element, wait) = first.trim_matches('"').split_once(' ')?;
        let (element, wait) = (ElementKey(element.parse().ok()?), WaitKey(wait.parse().ok()?));
        Some((what.into(), Triggered { element, wait, variables, next: None }))
    };
    names.into_iter().filter_map(triggered).collect()
}
