//! What an expression can see.

use std::sync::Arc;

use feel::{Context, Value};

/// Names bound here, then those around, then the variables given from outside.
pub(super) struct Scope<'s> {
    bound: Vec<(Arc<str>, Value)>,
    outer: Option<&'s Scope<'s>>,
    variables: Context,
}

impl<'s> Scope<'s> {
    /// The outermost scope.
    pub(super) fn new(variables: Context) -> Scope<'static> {
        Scope { bound: Vec::new(), outer: None, variables }
    }

    /// A scope inside this one.
    pub(super) fn within(outer: &'s Scope<'s>) -> Scope<'s> {
        Scope { bound: Vec::new(), outer: Some(outer), variables: outer.variables.clone() }
    }

    pub(super) fn bind(&mut self, name: &Arc<str>, value: Value) {
        self.bound.push((Arc::clone(name), value));
    }

    /// Binds a name that is found under the name of an import.
    pub(super) fn bind_import(&mut self, import: &Arc<str>, name: &Arc<str>, value: Value) {
        let known = self.bound.iter_mut().find(|(bound, _)| bound == import);
        match known {
            Some((_, Value::Context(context))) => *context = context.with(Arc::clone(name), value),
            _ => self.bind(import, Value::Context(Context::empty().with(Arc::clone(name), value))),
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        let mut scope = Some(self);
        while let Some(at) = scope {
            if let Some((_, value)) = at.bound.iter().rev().find(|(bound, _)| &**bound == name) {
                return Some(value);
            }
            scope = at.outer;
        }
        self.variables.get(name)
    }

    /// How many names are bound here and around.
    pub(super) fn len(&self) -> usize {
        self.bound.len() + self.outer.map_or(0, Scope::len)
    }

    /// The same on its own, for a function that outlives it.
    pub(super) fn captured(&self) -> Scope<'static> {
        let mut bound = self.outer.map_or(Vec::new(), |outer| outer.captured().bound);
        bound.extend(self.bound.iter().cloned());
        Scope { bound, outer: None, variables: self.variables.clone() }
    }
}
