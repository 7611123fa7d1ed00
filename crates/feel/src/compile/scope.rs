//! Which slot a name means.

use super::node::{ItemKey, Node};
use crate::budget::BYTES_PER_STEP;
use std::collections::HashMap;
use std::sync::Arc;

/// What a local slot holds.
pub(super) enum Binding {
    /// A named value.
    Name(Arc<str>),
    /// The item a filter looks at: its members are names too.
    Item,
    /// The input of unary tests.
    Input,
}

/// The locals of one function, and what it captures from around it.
#[derive(Default)]
struct Level {
    locals: Vec<Binding>,
    /// The slots of each name, those of items, and those of inputs, each in order.
    names: HashMap<Arc<str>, Vec<u32>>,
    items: Arc<Vec<u32>>,
    inputs: Vec<u32>,
    captures: Numbered,
    captured: Vec<Node>,
}

impl Level {
    /// The slot a name means, unless an item further inside has such a member.
    fn slot(&self, name: &str) -> Option<u32> {
        let slots = if name == INPUT { Some(&self.inputs) } else { self.names.get(name) };
        slots?.last().copied()
    }

    /// How many items lie further inside than a slot.
    fn items_within(&self, slot: Option<u32>) -> usize {
        self.items.len() - self.items.partition_point(|item| slot.is_some_and(|slot| *item < slot))
    }

    fn slots_of(&mut self, binding: &Binding) -> &mut Vec<u32> {
        match binding {
            Binding::Name(name) => self.names.entry(Arc::clone(name)).or_default(),
            Binding::Item => Arc::make_mut(&mut self.items),
            Binding::Input => &mut self.inputs,
        }
    }
}

/// Names with the order they came in.
#[derive(Default)]
struct Numbered {
    all: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, usize>,
}

impl Numbered {
    fn find(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    fn add(&mut self, name: &Arc<str>) -> usize {
        self.all.push(Arc::clone(name));
        self.numbers.insert(Arc::clone(name), self.all.len() - 1);
        self.all.len() - 1
    }
}

pub(super) struct Scope {
    levels: Vec<Level>,
    free: Numbered,
}

/// The name under which the input of unary tests is captured.
pub(super) const INPUT: &str = "?";

impl Scope {
    pub(super) fn new() -> Scope {
        Scope { levels: vec![Level::default()], free: Numbered::default() }
    }

    pub(super) fn push(&mut self, binding: Binding) {
        let level = self.level();
        let slot = numbered(level.locals.len());
        level.slots_of(&binding).push(slot);
        level.locals.push(binding);
    }

    pub(super) fn pop(&mut self, count: usize) {
        let level = self.level();
        for binding in level.locals.split_off(level.locals.len() - count) {
            level.slots_of(&binding).pop();
        }
    }

    pub(super) fn enter_function(&mut self) {
        self.levels.push(Level::default());
    }

    /// Leaves a function; returns what it captures.
    pub(super) fn leave_function(&mut self) -> Vec<Node> {
        self.levels.pop().expect("entered before left").captured
    }

    pub(super) fn free(self) -> Vec<Arc<str>> {
        self.free.all
    }

    /// Makes sure a free variable has the next slot.
    pub(super) fn reserve(&mut self, name: &str) {
        self.free.add(&Arc::from(name));
    }

    /// Whether the expression itself binds this name here.
    pub(super) fn binds(&self, name: &str) -> bool {
        self.levels.iter().any(|level| level.names.get(name).is_some_and(|slots| !slots.is_empty()))
    }

    /// What a name means here.
    pub(super) fn name(&mut self, name: &Arc<str>) -> Node {
        self.lookup(self.levels.len() - 1, name)
    }

    /// What `?` means here.
    pub(super) fn input(&mut self) -> Node {
        self.lookup(self.levels.len() - 1, &Arc::from(INPUT))
    }

    fn level(&mut self) -> &mut Level {
        self.levels.last_mut().expect("the outermost level is never left")
    }

    fn lookup(&mut self, level: usize, name: &Arc<str>) -> Node {
        let slot = self.levels[level].slot(name);
        let otherwise = match slot {
            Some(slot) => Node::Local(slot),
            None if level == 0 => self.outermost(name),
            None => self.capture(level, name),
        };
        let within = if **name == *INPUT { 0 } else { self.levels[level].items_within(slot) };
        if within == 0 {
            return otherwise;
        }
        let items = Arc::clone(&self.levels[level].items);
        let cost = within as u64 / 8 + name.len() as u64 / BYTES_PER_STEP;
        Node::ItemKey(Box::new(ItemKey { items, within, key: Arc::clone(name), cost, otherwise }))
    }

    fn outermost(&mut self, name: &Arc<str>) -> Node {
        match self.free.find(name) {
            Some(slot) => Node::Free(numbered(slot)),
            None if **name == *INPUT => Node::NoInput,
            None => Node::Free(numbered(self.free.add(name))),
        }
    }

    fn capture(&mut self, level: usize, name: &Arc<str>) -> Node {
        if let Some(slot) = self.levels[level].captures.find(name) {
            return Node::Captured(numbered(slot));
        }
        let outside = self.lookup(level - 1, name);
        if matches!(outside, Node::NoInput) {
            return outside;
        }
        let level = &mut self.levels[level];
        level.captured.push(outside);
        Node::Captured(numbered(level.captures.add(name)))
    }
}

/// The number of a slot in the compiled form.
fn numbered(slot: usize) -> u32 {
    u32::try_from(slot).expect("slots are bounded by the length of the source")
}
