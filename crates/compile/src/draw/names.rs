//! Ids that XML takes, each once, close to those they stand for.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::bpmn::{ID_CHARS_MAX, is_id};

pub(super) struct Names {
    taken: HashSet<String>,
    /// The number last tried behind a name.
    numbers: HashMap<String, usize>,
}

impl Names {
    /// Those that can stay as they are are taken first.
    pub(super) fn keeping<'a>(ids: impl Iterator<Item = &'a Arc<str>>) -> Self {
        let taken = ids.filter(|id| fits(id)).map(|id| id.to_string()).collect();
        Self { taken, numbers: HashMap::new() }
    }

    /// The name of something with this id.
    pub(super) fn of(&mut self, id: &str) -> String {
        if fits(id) { id.to_owned() } else { self.fresh(id) }
    }

    /// A name that nothing else has.
    pub(super) fn fresh(&mut self, like: &str) -> String {
        let inside = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '.') { c } else { '_' };
        let base: String = like.chars().take(ID_CHARS_MAX / 2).map(inside).collect();
        let base = if base.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') { base } else { format!("_{base}") };
        let mut name = base.clone();
        while !self.taken.insert(name.clone()) {
            let number = self.numbers.entry(base.clone()).or_insert(1);
            *number += 1;
            name = format!("{base}_{number}");
        }
        name
    }
}

fn fits(id: &str) -> bool {
    is_id(id) && id.chars().count() <= ID_CHARS_MAX
}
