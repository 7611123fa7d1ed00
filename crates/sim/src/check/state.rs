//! History is state: events applied to nothing give the rows the store holds. Invariant 3.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::{DefinitionKey, Event, Instance, InstanceKey, State as InstanceState};
use rustc_hash::FxHashMap;
use store::row::{Definition, ElementState};
use store::{Changes, LoadedInstance};

use super::{Check, ensure};

#[derive(Default)]
pub(crate) struct State {
    instances: FxHashMap<InstanceKey, Instance>,
    active: BTreeSet<InstanceKey>,
    /// By process id.
    definitions: BTreeMap<Arc<str>, Vec<Definition>>,
}

impl State {
    pub(super) fn apply(&mut self, key: InstanceKey, events: &[Event]) {
        let instance = self.instances.entry(key).or_insert_with(|| Instance::new(key, DefinitionKey(0)));
        events.iter().for_each(|event| instance.apply(event));
        instance.accept();
        match instance.state {
            InstanceState::New | InstanceState::Active => self.active.insert(key),
            InstanceState::Completed | InstanceState::Terminated => self.active.remove(&key),
        };
    }

    /// `None` if it never was, or still runs.
    pub(crate) fn ended(&self, key: InstanceKey) -> Option<InstanceState> {
        let state = self.instances.get(&key)?.state;
        (state == InstanceState::Completed || state == InstanceState::Terminated).then_some(state)
    }

    pub(crate) fn active(&self) -> impl Iterator<Item = InstanceKey> {
        self.active.iter().copied()
    }

    /// Versions count up by one, and nobody is left without a definition.
    pub(super) fn definitions(&mut self, changes: &Changes) -> Check {
        for row in &changes.definitions_new {
            let versions = self.definitions.entry(row.process_id.clone()).or_default();
            let next = versions.last().map_or(1, |last| last.version + 1);
            ensure(3, row.version == next, || format!("version {} of {} where {next} is next", row.version, row.process_id))?;
            let gone = |version: &Definition| version.deleted || changes.definitions_deleted.contains(&version.key);
            let again = versions.iter().rfind(|version| !gone(version)).is_some_and(|last| last.checksum == row.checksum);
            ensure(5, !again, || format!("{} was deployed again unchanged and got version {next}", row.process_id))?;
            versions.push(row.clone());
        }
        for key in &changes.definitions_deleted {
            let runs = self.active.iter().find(|instance| self.instances[instance].definition == *key);
            ensure(3, runs.is_none(), || format!("definition {key} was deleted while {runs:?} runs"))?;
            let found = self.definitions.values_mut().flatten().find(|row| row.key == *key);
            if let Some(row) = found {
                row.deleted = true;
            }
        }
        Ok(())
    }

    /// What the store would load of the instance is what its history says.
    pub(super) fn compare(&self, key: InstanceKey, rows: Option<&LoadedInstance>) -> Check {
        let expected = self.instances.get(&key).filter(|_| self.active.contains(&key));
        let (instance, rows) = match (expected, rows) {
            (None, None) => return Ok(()),
            (Some(instance), Some(rows)) => (instance, rows),
            (expected, rows) => {
                let (history, store) = (expected.is_some(), rows.is_some());
                return ensure(3, false, || format!("instance {key}: runs by its history {history}, by the store {store}"));
            }
        };
        let differs = |what: &str, history: String, store: String| {
            ensure(3, false, || format!("{what} of instance {key}: by its history {history}, by the store {store}"))
        };
        let root = &instance.elements[&key.root()];
        let row = &rows.instance;
        if (root.phase, instance.incidents.len()) != (row.phase, row.incidents as usize) {
            return differs("the row", format!("{instance:?}"), format!("{row:?}"));
        }
        let elements = instance.elements.iter().filter(|(element, _)| **element != key.root());
        let elements: Vec<_> = elements.map(|(key, e)| (*key, e.element, e.scope, ElementState::Alive(e.phase))).collect();
        let stored: Vec<_> = rows.elements.iter().map(|e| (e.key, e.element, e.scope, e.state)).collect();
        if elements != stored {
            return differs("elements", format!("{elements:?}"), format!("{stored:?}"));
        }
        let variables =
            instance.elements.iter().flat_map(|(scope, e)| e.variables.iter().map(|v| (v.key, *scope, &v.name, &v.value)));
        let mut variables: Vec<_> = variables.collect();
        variables.sort_unstable();
        let stored: Vec<_> = rows.variables.iter().map(|v| (v.key, v.scope, &v.name, &v.value)).collect();
        if variables != stored {
            return differs("variables", format!("{variables:?}"), format!("{stored:?}"));
        }
        let incidents: Vec<_> = instance.incidents.iter().map(|(key, i)| (*key, i.element, i.job, i.kind)).collect();
        let stored: Vec<_> = rows.incidents.iter().map(|i| (i.key, i.element_instance, i.job, i.kind)).collect();
        if incidents != stored {
            return differs("incidents", format!("{incidents:?}"), format!("{stored:?}"));
        }
        let tokens: Vec<_> = instance.tokens().collect();
        let stored: Vec<_> = rows.tokens.iter().map(|row| (row.token, row.count)).collect();
        if tokens != stored {
            return differs("tokens", format!("{tokens:?}"), format!("{stored:?}"));
        }
        let waits = instance.elements.iter().flat_map(|(key, element)| element.waits.iter().map(|wait| (*key, wait.clone())));
        let mut waits: Vec<_> = waits.collect();
        waits.sort_by_key(|(_, wait)| wait.key);
        if waits != rows.waits {
            return differs("waits", format!("{waits:?}"), format!("{:?}", rows.waits));
        }
        Ok(())
    }
}
