//! Endless loops: an instance that enters very many elements without ever waiting is taken to be in one.
//!
//! Lists of any length are worked through in the end, so what is entered for an item is the item's own: each inner instance of multi-instance has
//! its count. Nobody counts for them until the whole has entered as many as one may. Where processes call each other one count is for all: a
//! loop may lead through several, and while one goes on in turns the others are at rest.

use std::collections::BTreeMap;

use model::{Element, Kind, Repeat};

use crate::step::Run;
use crate::{ElementKey, Turn, element};

/// An instance that enters more elements than this, and than a few times those its process has, without ever waiting is taken to loop.
pub const STRAIGHT_MAX: u32 = 10_000;

/// How many elements those entered that have counts of their own.
pub(crate) type Counts = Vec<(ElementKey, u32)>;

impl Run<'_> {
    /// Counts an element that is entered; an incident keeps it there if there were too many.
    pub(crate) fn is_straight(&mut self, key: ElementKey) -> bool {
        let max = STRAIGHT_MAX.max(4 * self.process.elements.len() as u32);
        let all = self.budget.entered();
        if max <= all {
            let owner = self.owner(key);
            let entered = self.budget.entered_by(owner);
            if max <= *entered || !self.has_lists() {
                self.raise(key, None, element::loop_limit(all));
                return false;
            }
            *self.budget.entered_by(owner) += 1;
        }
        self.budget.enter();
        true
    }

    /// Whether there are lists, so that the count of all says little.
    fn has_lists(&self) -> bool {
        let mut elements = self.process.elements.iter();
        let calls = |element: &Element| matches!(element.kind, Kind::CallActivity(_));
        let is_each = |element: &Element| matches!(element.repeat, Some(Repeat::Each(_)));
        self.instance.parent.is_none() && !elements.clone().any(calls) && elements.any(is_each)
    }

    /// The innermost inner instance of multi-instance around an element instance, or the process itself.
    fn owner(&self, key: ElementKey) -> ElementKey {
        let mut at = key;
        loop {
            let living = &self.instance.elements[&at];
            let is_each = matches!(self.process.element(living.element).repeat, Some(Repeat::Each(_)));
            if living.scope == at || is_each && self.instance.is_inner(at) {
                return at;
            }
            at = living.scope;
        }
    }

    /// The counts of those that go on and of what they are part of.
    pub(crate) fn counts(&self, work: &[ElementKey]) -> Counts {
        let outer = |owner: &ElementKey| {
            let scope = self.instance.elements[owner].scope;
            (scope != *owner).then(|| self.owner(scope))
        };
        let owners = work.iter().flat_map(|key| std::iter::successors(Some(self.owner(*key)), outer));
        let counts: BTreeMap<_, _> = owners.filter_map(|owner| Some((owner, self.budget.counted(owner)?))).collect();
        counts.into_iter().collect()
    }

    pub(crate) fn go_on_from(&mut self, turn: &Turn) {
        self.budget.go_on_from(turn.entered);
        for (owner, entered) in &turn.entered_by {
            *self.budget.entered_by(*owner) += entered;
        }
    }
}
