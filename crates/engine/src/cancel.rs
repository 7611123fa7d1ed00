//! Cancelling. An instance of more element instances than a command may enter goes in turns, so that others do not wait for it: from the
//! first on nothing comes to it any more, as if it were suspended, and each turn ends as many, the innermost first.

use crate::element::listener::kept;
use crate::step::Run;
use crate::{Command, ElementKey, Event, Instance, On, Rejected, State, Turn, WaitEnd, WaitKind};

/// Kept with the process itself while it goes.
const GOES: &str = "goes";

impl Instance {
    /// Whether it was cancelled and goes in turns.
    pub fn goes(&self) -> bool {
        self.state == State::Suspended && kept(self, self.key.root(), GOES).is_some_and(|goes| goes == "true")
    }
}

impl Run<'_> {
    pub(crate) fn cancel(&mut self) -> Result<(), Rejected> {
        if self.is_going(self.instance.key.root()) {
            return Err(Rejected::NotRunning);
        }
        // One that was called goes with the element that called it.
        if self.instance.parent.is_none() && self.budget.turn() < self.instance.elements.len() {
            self.go_in_turns();
        } else {
            self.end_now();
        }
        Ok(())
    }

    /// Those who listen to the end are heard, which nobody is while it is suspended.
    fn end_now(&mut self) {
        if self.instance.goes() {
            self.keep(self.instance.key.root(), GOES, "false");
        }
        if self.instance.state == State::Suspended {
            self.emit(Event::Resumed);
        }
        self.terminate();
    }

    fn go_in_turns(&mut self) {
        let root = self.instance.key.root();
        if self.instance.state != State::Suspended {
            self.emit(Event::Suspended);
        }
        let turns = self.instance.elements[&root].waits.iter().filter(|wait| matches!(wait.kind, WaitKind::Turn(_)));
        for turn in turns.map(|wait| wait.key).collect::<Vec<_>>() {
            self.close(root, turn, WaitEnd::Cancelled);
        }
        self.forget_parts();
        self.keep(root, GOES, "true");
        self.take_turn_later();
    }

    fn take_turn_later(&mut self) {
        let turn = Turn { work: Vec::new(), entered: 0, entered_by: Vec::new() };
        self.open(self.instance.key.root(), None, On::Turn(turn));
    }

    /// All that an instance that goes is asked for is its turn.
    pub(crate) fn go_on_going(&mut self, command: &Command) -> Result<(), Rejected> {
        let Command::Turn { wait } = command else { return Err(Rejected::NotRunning) };
        let root = self.instance.key.root();
        self.instance.elements[&root].wait(*wait).ok_or(Rejected::NoSuchTurn)?;
        self.close(root, *wait, WaitEnd::Completed);
        let few = self.ends_alone();
        for key in &few {
            self.drop_element(*key);
        }
        // Nothing comes of what a join has waited for.
        self.forget_work();
        match few.len() < self.budget.turn() {
            true => self.end_now(),
            false => self.take_turn_later(),
        }
        Ok(())
    }

    /// Element instances in which nothing lives and to whose end nobody listens, as many as fit into a turn, the newest first.
    fn ends_alone(&self) -> Vec<ElementKey> {
        let alone = self.instance.elements.iter().rev().filter(|(key, element)| {
            element.scope != **key && element.children().next().is_none() && !self.asks_before_end(**key)
        });
        alone.map(|(key, _)| *key).take(self.budget.turn()).collect()
    }
}
