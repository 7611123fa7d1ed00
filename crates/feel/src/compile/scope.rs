//! Which slot a name means.

use super::node::{ItemKey, Node};
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
    captures: Vec<(Arc<str>, Node)>,
}

pub(super) struct Scope {
    levels: Vec<Level>,
    free: Vec<Arc<str>>,
}

/// The name under which the input of unary tests is captured.
pub(super) const INPUT: &str = "?";

impl Scope {
    pub(super) fn new() -> Scope {
        Scope { levels: vec![Level::default()], free: Vec::new() }
    }

    pub(super) fn push(&mut self, binding: Binding) -> u32 {
        let level = self.level();
        level.locals.push(binding);
        u32::try_from(level.locals.len() - 1).expect("locals are bounded by the length of the source")
    }

    pub(super) fn pop(&mut self, count: usize) {
        let level = self.level();
        level.locals.truncate(level.locals.len() - count);
    }

    pub(super) fn enter_function(&mut self) {
        self.levels.push(Level::default());
    }

    /// Leaves a function; returns what it captures.
    pub(super) fn leave_function(&mut self) -> Vec<Node> {
        let level = self.levels.pop().expect("entered before left");
        level.captures.into_iter().map(|(_, node)| node).collect()
    }

    pub(super) fn free(self) -> Vec<Arc<str>> {
        self.free
    }

    /// Makes sure a free variable has the next slot.
    pub(super) fn reserve(&mut self, name: &str) {
        self.free.push(Arc::from(name));
    }

    /// Whether the expression itself binds this name here.
    pub(super) fn binds(&self, name: &str) -> bool {
        let is_name = |binding: &Binding| matches!(binding, Binding::Name(bound) if **bound == *name);
        self.levels.iter().any(|level| level.locals.iter().any(is_name))
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
        let count = self.levels[level].locals.len();
        self.lookup_below(level, count, name)
    }

    fn lookup_below(&mut self, level: usize, count: usize, name: &Arc<str>) -> Node {
        for at in (0..count).rev() {
            let slot = u32::try_from(at).expect("locals are bounded by the length of the source");
            match &self.levels[level].locals[at] {
                Binding::Name(bound) if bound == name => return Node::Local(slot),
                Binding::Input if **name == *INPUT => return Node::Local(slot),
                Binding::Item if **name != *INPUT => {
                    let mut otherwise = self.lookup_below(level, at, name);
                    if &**name == "item" {
                        otherwise = Node::Item(slot, Box::new(otherwise));
                    }
                    return Node::ItemKey(Box::new(ItemKey { item: slot, key: Arc::clone(name), otherwise }));
                }
                _ => {}
            }
        }
        if level == 0 { self.outermost(name) } else { self.capture(level, name) }
    }

    fn outermost(&mut self, name: &Arc<str>) -> Node {
        let found = self.free.iter().position(|free| free == name);
        let slot = match found {
            Some(slot) => slot,
            None if **name == *INPUT => return Node::NoInput,
            None => {
                self.free.push(Arc::clone(name));
                self.free.len() - 1
            }
        };
        Node::Free(u32::try_from(slot).expect("free variables are bounded by the length of the source"))
    }

    fn capture(&mut self, level: usize, name: &Arc<str>) -> Node {
        let found = self.levels[level].captures.iter().position(|(captured, _)| captured == name);
        let slot = match found {
            Some(slot) => slot,
            None => {
                let outside = self.lookup(level - 1, name);
                if matches!(outside, Node::NoInput) {
                    return outside;
                }
                self.levels[level].captures.push((Arc::clone(name), outside));
                self.levels[level].captures.len() - 1
            }
        };
        Node::Captured(u32::try_from(slot).expect("captures are bounded by the length of the source"))
    }
}
