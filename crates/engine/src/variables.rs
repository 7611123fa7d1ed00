//! Variables by scope: seen from the inside out, set where they exist.

use std::sync::Arc;

use crate::step::Run;
use crate::{ElementKey, Event, Instance, Variable, VariableKey};

/// Variables as a caller gives them: name and JSON text without insignificant white space.
pub type Document = Vec<(Arc<str>, Arc<str>)>;

/// All variables visible from a scope, the innermost of each name; `only` these names unless it is empty.
pub fn visible(instance: &Instance, scope: ElementKey, only: &[Arc<str>]) -> Document {
    let mut found: Document = Vec::new();
    for (_, variable) in outward(instance, scope) {
        let wanted = only.is_empty() || only.contains(&variable.name);
        if wanted && !found.iter().any(|(name, _)| *name == variable.name) {
            found.push((variable.name.clone(), variable.value.clone()));
        }
    }
    found
}

/// The innermost variable of this name, with the scope that holds it.
pub(crate) fn find<'a>(instance: &'a Instance, scope: ElementKey, name: &str) -> Option<(ElementKey, &'a Variable)> {
    outward(instance, scope).find(|(_, variable)| &*variable.name == name)
}

/// Every variable from this scope outwards to the process.
fn outward(instance: &Instance, scope: ElementKey) -> impl Iterator<Item = (ElementKey, &Variable)> {
    let scopes = std::iter::successors(Some(scope), |key| {
        let outer = instance.elements.get(key)?.scope;
        (outer != *key).then_some(outer)
    });
    scopes.flat_map(|key| {
        let variables = instance.elements.get(&key).map_or(&[][..], |element| &element.variables);
        variables.iter().map(move |variable| (key, variable))
    })
}

impl Run<'_> {
    /// Sets a variable in this scope alone.
    pub(crate) fn set_local(&mut self, scope: ElementKey, name: &Arc<str>, value: &Arc<str>) {
        let variables = &self.instance.elements[&scope].variables;
        let known = variables.iter().find(|variable| variable.name == *name);
        let event = match known {
            Some(variable) if variable.value == *value => return,
            Some(variable) => Event::VariableUpdated { key: variable.key, scope, name: name.clone(), value: value.clone() },
            None => {
                let key = VariableKey(self.keys.take());
                Event::VariableCreated { key, scope, name: name.clone(), value: value.clone() }
            }
        };
        self.emit(event);
    }

    /// Sets variables where they exist, seen from this scope outwards; new ones go to the process.
    pub(crate) fn propagate(&mut self, scope: ElementKey, document: &Document) {
        for (name, value) in document {
            let holder = find(self.instance, scope, name).map(|(holder, _)| holder);
            self.set_local(holder.unwrap_or(self.instance.key.root()), name, value);
        }
    }

    /// What an element's work gave: local where its outputs are mapped, otherwise where the variables exist.
    pub(crate) fn take_result(&mut self, key: ElementKey, document: &Document) {
        if self.element_of(key).outputs.is_none() {
            return self.propagate(key, document);
        }
        for (name, value) in document {
            self.set_local(key, name, value);
        }
    }
}
