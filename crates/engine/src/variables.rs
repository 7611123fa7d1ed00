//! Variables by scope: seen from the inside out, set where they exist.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use model::KEPT;

use crate::step::Run;
use crate::{ElementKey, Event, Instance, Variable, VariableKey};

/// Variables as a caller gives them: name and JSON text without insignificant white space.
pub type Document = Vec<(Arc<str>, Arc<str>)>;

/// So many are found faster by looking at each.
const PLAIN_MAX: usize = 16;

/// The variables of one scope, in the order in which they were created, found by name.
#[derive(Debug, Clone, Default)]
pub struct Variables {
    list: Vec<Variable>,
    /// Where each stands in the list; only kept for many.
    places: Option<BTreeMap<Arc<str>, usize>>,
    /// Those that are kept for the engine itself.
    kept: BTreeMap<Arc<str>, Variable>,
    value_bytes: usize,
}

impl PartialEq for Variables {
    fn eq(&self, other: &Self) -> bool {
        self.list == other.list && self.kept == other.kept && self.value_bytes == other.value_bytes
    }
}

impl Variables {
    /// Those anybody may see.
    pub fn iter(&self) -> impl Iterator<Item = &Variable> {
        self.list.iter()
    }

    /// Those the engine keeps for itself.
    pub fn kept(&self) -> impl Iterator<Item = &Variable> {
        self.kept.values()
    }

    /// One of those, by what is behind the prefix. Most have none, and a body of multi-instance has as many as it has items.
    pub(crate) fn kept_as(&self, what: &str) -> Option<&Variable> {
        if self.kept.is_empty() {
            return None;
        }
        self.kept.get(format!("{KEPT}{what}").as_str())
    }

    pub fn get(&self, name: &str) -> Option<&Variable> {
        if name.starts_with(KEPT) {
            return self.kept.get(name);
        }
        self.place(name).map(|place| &self.list[place])
    }

    fn place(&self, name: &str) -> Option<usize> {
        match &self.places {
            Some(places) => places.get(name).copied(),
            None => self.list.iter().position(|variable| &*variable.name == name),
        }
    }

    pub(crate) fn push(&mut self, variable: Variable) {
        self.value_bytes += weight(&variable);
        if variable.name.starts_with(KEPT) {
            self.kept.insert(variable.name.clone(), variable);
            return;
        }
        if let Some(places) = &mut self.places {
            places.insert(variable.name.clone(), self.list.len());
        }
        self.list.push(variable);
        if self.places.is_none() && PLAIN_MAX < self.list.len() {
            let places = self.list.iter().enumerate().map(|(place, variable)| (variable.name.clone(), place));
            self.places = Some(places.collect());
        }
    }

    /// Takes the one back that was created last among those not kept, or the kept one of this name.
    pub(crate) fn pop(&mut self, name: &str) {
        let gone = if name.starts_with(KEPT) { self.kept.remove(name) } else { self.list.pop() };
        let Some(variable) = gone else { return };
        self.value_bytes -= weight(&variable);
        if let Some(places) = &mut self.places {
            places.remove(&variable.name);
        }
    }

    /// Gives the value it had.
    pub(crate) fn set(&mut self, name: &str, value: Arc<str>) -> Arc<str> {
        let variable = match self.place(name) {
            Some(place) => &mut self.list[place],
            None => self.kept.get_mut(name).expect("an updated variable exists"),
        };
        self.value_bytes = self.value_bytes + value.len() - variable.value.len();
        std::mem::replace(&mut variable.value, value)
    }

    /// Names and values alone.
    pub fn document(&self) -> Document {
        self.iter().map(|variable| (variable.name.clone(), variable.value.clone())).collect()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.value_bytes
    }
}

/// About as many bytes as a variable takes in memory.
fn weight(variable: &Variable) -> usize {
    size_of::<Variable>() + 4 * size_of::<usize>() + variable.name.len() + variable.value.len()
}

/// All variables visible from a scope, the innermost of each name; `only` these names unless it is empty.
pub fn visible(instance: &Instance, scope: ElementKey, only: &[Arc<str>]) -> Document {
    if !only.is_empty() {
        let only: BTreeSet<&Arc<str>> = only.iter().collect();
        let found = |name: &Arc<str>| find(instance, scope, name).map(|(_, variable)| (name.clone(), variable.value.clone()));
        return only.into_iter().filter(|name| !name.starts_with(KEPT)).filter_map(found).collect();
    }
    let mut inner: Vec<&Variables> = Vec::new();
    let mut found: Document = Vec::new();
    for (_, variables) in outward(instance, scope) {
        let hidden = |variable: &Variable| inner.iter().any(|inner| inner.get(&variable.name).is_some());
        let seen = variables.iter().filter(|variable| !hidden(variable));
        found.extend(seen.map(|variable| (variable.name.clone(), variable.value.clone())));
        inner.push(variables);
    }
    found
}

/// The innermost variable of this name, with the scope that holds it.
pub(crate) fn find<'a>(instance: &'a Instance, scope: ElementKey, name: &str) -> Option<(ElementKey, &'a Variable)> {
    outward(instance, scope).find_map(|(key, variables)| Some((key, variables.get(name)?)))
}

/// The variables of every scope from this one outwards to the process.
fn outward(instance: &Instance, scope: ElementKey) -> impl Iterator<Item = (ElementKey, &Variables)> {
    let scopes = std::iter::successors(Some(scope), |key| {
        let outer = instance.elements.get(key)?.scope;
        (outer != *key).then_some(outer)
    });
    scopes.filter_map(|key| Some((key, &instance.elements.get(&key)?.variables)))
}

impl Run<'_> {
    /// Sets a variable in this scope alone.
    pub(crate) fn set_local(&mut self, scope: ElementKey, name: &Arc<str>, value: &Arc<str>) {
        let known = self.instance.elements[&scope].variables.get(name);
        let event = match known {
            Some(variable) if variable.value == *value => return,
            Some(variable) => Event::VariableUpdated { key: variable.key, scope, name: name.clone(), value: value.clone() },
            None => {
                let key = VariableKey(self.keys.take());
                Event::VariableCreated { key, scope, name: name.clone(), value: value.clone() }
            }
        };
        self.budget.write(name.len() + value.len());
        self.emit(event);
    }

    /// Sets variables where they exist, seen from this scope outwards; new ones go to the process. As in Camunda 8, one that has the value
    /// already counts as not there: the next outer one gets it, or the process.
    pub(crate) fn propagate(&mut self, scope: ElementKey, document: &Document) {
        for (name, value) in document {
            let differs = |variables: &Variables| variables.get(name).is_some_and(|variable| variable.value != *value);
            let holder = outward(self.instance, scope).find(|(_, variables)| differs(variables)).map(|(holder, _)| holder);
            self.set_local(holder.unwrap_or(self.instance.key.root()), name, value);
        }
    }

    /// An element's work is done and gave this. Conditions that it makes true are looked at when the element has left.
    pub(crate) fn finish_with(&mut self, key: ElementKey, document: &Document) {
        self.finish_later(key);
        self.take_result(key, document);
    }

    /// What an element's work gave: local where its outputs are mapped, otherwise where the variables exist.
    fn take_result(&mut self, key: ElementKey, document: &Document) {
        if self.process.workflow.is_some() {
            return self.merge(document);
        }
        if self.element_of(key).outputs.is_none() {
            return self.propagate(key, document);
        }
        for (name, value) in document {
            self.set_local(key, name, value);
        }
    }

    /// Into the variables of the process, objects member by member.
    fn merge(&mut self, document: &Document) {
        let root = self.instance.key.root();
        for (name, value) in document {
            let known = self.instance.elements[&root].variables.get(name);
            let merged = known.filter(|_| value.starts_with('{')).map(|known| feel::json::merge(&known.value, value).into());
            self.set_local(root, name, merged.as_ref().unwrap_or(value));
        }
    }
}
