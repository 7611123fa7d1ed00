//! What an instance remembers to be able to undo.

use model::ElementIx;

use crate::element::listener::{document, listed};
use crate::step::Run;
use crate::undo::Undo;
use crate::{CompensationKey, Document, ElementInstance, ElementKey, Event, Instance};

/// Kept with a compensation: the variables of the scopes around it that have ended since.
const SEEN: &str = "seen:";

/// An activity that completed and that something can undo, kept by the scope it completed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compensation {
    pub key: CompensationKey,
    pub activity: ElementIx,
}

impl ElementInstance {
    /// What completed in it and can be undone, in the order in which it completed.
    pub fn compensations(&self) -> impl Iterator<Item = Compensation> + '_ {
        let kept = self.compensations_by_key().into_iter().flatten();
        kept.map(|(key, activity)| Compensation { key: *key, activity: *activity })
    }
}

impl Instance {
    pub(crate) fn compensation_kept(&mut self, scope: ElementKey, compensation: Compensation) -> Undo {
        self.keep_compensation(scope, compensation);
        Undo::CompensationKept { scope, key: compensation.key }
    }

    pub(crate) fn compensations_handed_on(&mut self, from: ElementKey, to: ElementKey, kept: &[Compensation]) -> Undo {
        let keys: Vec<_> = kept.iter().map(|kept| kept.key).collect();
        self.move_compensations(&keys, from, to);
        Undo::CompensationsHandedOn { from, to, keys }
    }

    pub(crate) fn compensation_taken(&mut self, key: CompensationKey, scope: ElementKey) -> Undo {
        let compensation = self.take_compensation(scope, key);
        Undo::CompensationTaken { scope, compensation }
    }

    pub(crate) fn keep_compensation(&mut self, scope: ElementKey, kept: Compensation) {
        self.weighing(scope, |element| element.compensations_mut().insert(kept.key, kept.activity));
    }

    pub(crate) fn take_compensation(&mut self, scope: ElementKey, key: CompensationKey) -> Compensation {
        self.weighing(scope, |element| {
            let activity = element.compensations_mut().remove(&key).expect("what is undone was kept");
            element.tidy_inside();
            Compensation { key, activity }
        })
    }

    pub(crate) fn move_compensations(&mut self, keys: &[CompensationKey], from: ElementKey, to: ElementKey) {
        for key in keys {
            let kept = self.take_compensation(from, *key);
            self.keep_compensation(to, kept);
        }
    }

    /// In the order of their keys: as they completed.
    pub fn restore_compensation(&mut self, scope: ElementKey, compensation: Compensation) -> Result<(), String> {
        self.living(scope, "compensation", compensation.key.0)?;
        self.keep_compensation(scope, compensation);
        Ok(())
    }
}

/// Who undoes something sees the variables of then: those that were local to scopes that are gone with it.
impl Run<'_> {
    /// A scope ends, and the one around it can undo what completed inside.
    pub(crate) fn hand_on_compensations(&mut self, from: ElementKey, to: ElementKey) {
        let compensations: Vec<_> = self.instance.elements[&from].compensations().collect();
        if compensations.is_empty() {
            return;
        }
        // A body of repeated ones has what they collect, which none of them has seen.
        let own = match self.repeat(from) {
            Some(_) => Document::new(),
            None => self.instance.elements[&from].variables.document(),
        };
        for kept in &compensations {
            let mut seen = self.seen(from, kept.key);
            let outer = own.iter().filter(|(name, _)| seen.iter().all(|(inner, _)| inner != name));
            let outer: Vec<_> = outer.cloned().collect();
            seen.extend(outer);
            self.keep_seen(to, kept.key, &seen);
        }
        self.emit(Event::CompensationsHandedOn { from, to, compensations });
    }

    pub(crate) fn keep_seen(&mut self, scope: ElementKey, key: CompensationKey, seen: &Document) {
        if !seen.is_empty() {
            self.keep(scope, &format!("{SEEN}{key}"), &listed("null", seen));
        }
    }

    fn seen(&self, scope: ElementKey, key: CompensationKey) -> Document {
        document(self.instance, scope, &format!("{SEEN}{key}")).map(|(_, seen)| seen).unwrap_or_default()
    }

    /// It is undone, or undone by another: what was kept with it is given up.
    pub(crate) fn take_seen(&mut self, scope: ElementKey, key: CompensationKey) -> Document {
        let seen = self.seen(scope, key);
        if !seen.is_empty() {
            self.keep(scope, &format!("{SEEN}{key}"), "[]");
        }
        seen
    }
}
