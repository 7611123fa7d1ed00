//! What one command may cost, with everything that follows from it. A step that has spent it stops at a good place and goes on in a
//! turn of its own, so that no instance holds up the others.

use std::cell::Cell;
use std::collections::BTreeMap;

use crate::ElementKey;

/// Steps of expressions and decisions in one command; the one that goes past it is the last. An evaluation has a bound of its own as well.
const STEPS_MAX: u64 = 5_000_000;

#[derive(Debug)]
pub struct Budget {
    elements: u32,
    turn: u32,
    bytes: usize,
    steps: Cell<u64>,
    /// Elements entered since the instance last came to rest, those of turns before included.
    entered: u32,
    /// When those are very many: how many each of those that lists are worked through by has entered since.
    entered_by: BTreeMap<ElementKey, u32>,
}

impl Budget {
    /// So many elements may be entered and so many bytes of variables be written; what goes past it is the last.
    pub fn new(elements: u32, bytes: usize) -> Self {
        Self { elements, turn: elements, bytes, steps: Cell::new(STEPS_MAX), entered: 0, entered_by: BTreeMap::new() }
    }

    /// How many element instances one turn is about.
    pub(crate) fn turn(&self) -> usize {
        self.turn.max(1) as usize
    }

    pub fn is_spent(&self) -> bool {
        self.elements == 0 || self.bytes == 0 || self.steps.get() == 0
    }

    /// An evaluation has taken what is missing of what it was given.
    pub fn evaluated(&self, left: &feel::Budget) {
        let taken = feel::Budget::default().steps_left().saturating_sub(left.steps_left());
        self.steps.set(self.steps.get().saturating_sub(taken));
    }

    pub(crate) fn enter(&mut self) {
        self.elements = self.elements.saturating_sub(1);
        self.entered = self.entered.saturating_add(1);
    }

    pub(crate) fn entered(&self) -> u32 {
        self.entered
    }

    /// A step goes on that entered so many before.
    pub(crate) fn go_on_from(&mut self, entered: u32) {
        self.entered = self.entered.saturating_add(entered);
    }

    /// What was entered since then is forgiven: the step has come nearer to its end.
    pub(crate) fn go_back_to(&mut self, entered: u32) {
        self.entered = self.entered.min(entered);
    }

    pub(crate) fn entered_by(&mut self, owner: ElementKey) -> &mut u32 {
        self.entered_by.entry(owner).or_insert(0)
    }

    /// So many at least were entered.
    pub(crate) fn know(&mut self, counts: &[(ElementKey, u32)]) {
        for (owner, count) in counts {
            let known = self.entered_by(*owner);
            *known = (*known).max(*count);
        }
    }

    /// How many it entered, if anybody has counted.
    pub(crate) fn counted(&self, owner: ElementKey) -> Option<u32> {
        self.entered_by.get(&owner).copied()
    }

    /// So many bytes are written.
    pub fn write(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_sub(bytes);
    }
}
