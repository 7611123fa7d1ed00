//! Beginning in the middle of a process, and ending before its end: what who creates an instance may ask for besides.

use feel::Value;
use model::{ElementIx, Process};

use crate::enter_at::{Entry, Scopes, check_can_be_entered, enter_at};
use crate::expression::Trouble;
use crate::step::Run;
use crate::{Event, Instance, Outcome, Rejected, StartAt, State};

/// The elements after which an instance ends, while it runs.
#[derive(Debug, Default)]
pub(crate) struct EndAfter {
    elements: Vec<ElementIx>,
    is_due: bool,
}

impl EndAfter {
    /// What is kept with the instance; nothing, for nearly all.
    pub(crate) fn of(process: &Process, instance: &Instance) -> Self {
        let Some(kept) = instance.root().and_then(|root| root.variables.get(END_AFTER)) else { return Self::default() };
        let ids = Value::from_json(&kept.value).unwrap_or(Value::Null);
        let ids = ids.as_list().unwrap_or_default().iter().filter_map(Value::as_str);
        Self { elements: ids.filter_map(|id| process.find(id)).collect(), is_due: false }
    }

    pub(crate) fn is_none(&self) -> bool {
        self.elements.is_empty()
    }
}

/// Kept with the process itself: a list of ids.
const END_AFTER: &str = "caudal:end-after";

impl Run<'_> {
    /// Begins at these elements, or without any at the none start event.
    pub(crate) fn start_at(&mut self, start: &StartAt) -> Result<(), Rejected> {
        let StartAt { elements, end_after, variables } = start;
        if self.instance.state != State::New {
            return Err(Rejected::AlreadyStarted);
        }
        if elements.is_empty() && self.process.start().is_none() {
            return Err(Rejected::NoStartEvent);
        }
        for element in elements {
            check_can_be_entered(self.process, *element)?;
        }
        let root = self.come_to_life(None);
        for (name, value) in variables {
            self.set_local(root, name, value);
        }
        if !end_after.is_empty() {
            let ids = Value::list(end_after.iter().map(|id| Value::string(id.clone())).collect());
            self.set_local(root, &END_AFTER.into(), &ids.to_json().into());
            self.end_after = EndAfter::of(self.process, self.instance);
        }
        if elements.is_empty() {
            self.activate(root);
            return Ok(());
        }
        let cannot_wait = |trouble: Trouble| format!("the process cannot wait for its events: {}", trouble.message);
        self.activated(root).map_err(|trouble| Rejected::Invalid(cannot_wait(trouble).into()))?;
        let mut living = Scopes::of(self);
        for element in elements {
            enter_at(self, &mut living, &Entry { element: *element, ancestor: None, variables: &[] })?;
        }
        Ok(())
    }

    /// An element is about to be gone. One of many inside a repeated activity is not the whole of it.
    pub(crate) fn look_at_end(&mut self, event: &Event) {
        let (Event::Left { key } | Event::Dropped { key }) = event else { return };
        let is_it = self.end_after.elements.contains(&self.instance.elements[key].element);
        self.end_after.is_due |= is_it && !self.instance.is_inner(*key);
    }

    /// Ends the instance if it has come to where it was to end; true if it did.
    pub(crate) fn end_if_due(&mut self) -> bool {
        if !self.end_after.is_due || self.instance.state != State::Active {
            return false;
        }
        self.terminate();
        true
    }

    /// Drops everything.
    pub(crate) fn terminate(&mut self) {
        self.forget_parts();
        // Where others listen to the end of a user task, it comes when they were heard.
        if self.drop_element(self.instance.key.root()) {
            self.emit(Event::Ended { outcome: Outcome::Terminated });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::END_AFTER;

    #[test]
    fn where_to_end_is_kept_for_the_engine() {
        assert!(END_AFTER.starts_with(crate::KEPT));
    }
}
