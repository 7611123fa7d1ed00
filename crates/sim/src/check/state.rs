//! History is state: events applied to nothing give the rows the store holds. Invariant 3.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::{DefinitionKey, ElementKey, Event, Instance, InstanceKey, State as InstanceState, Wait, WaitKind};
use rustc_hash::FxHashMap;
use store::row::{Definition, ElementState, SubscriptionKind};
use store::{Changes, LoadedInstance};

use super::{Check, ensure};

#[derive(Default)]
pub(crate) struct State {
    instances: FxHashMap<InstanceKey, Instance>,
    active: BTreeSet<InstanceKey>,
    /// Those that stand still.
    suspended: BTreeSet<InstanceKey>,
    /// How often each was suspended and resumed.
    stood: FxHashMap<InstanceKey, [u32; 2]>,
    /// Those that operators wanted to change: what they ended may be missed by others.
    modified: BTreeSet<InstanceKey>,
    /// By process id.
    definitions: BTreeMap<Arc<str>, Vec<Definition>>,
}

impl State {
    pub(super) fn apply(&mut self, key: InstanceKey, events: &[Event]) {
        let instance = self.instances.entry(key).or_insert_with(|| Instance::new(key, DefinitionKey(0)));
        events.iter().for_each(|event| instance.apply(event));
        instance.accept();
        let stood = self.stood.entry(key).or_default();
        stood[0] += events.iter().filter(|event| matches!(event, Event::Suspended)).count() as u32;
        stood[1] += events.iter().filter(|event| matches!(event, Event::Resumed)).count() as u32;
        match instance.state {
            InstanceState::Suspended => self.suspended.insert(key),
            _ => self.suspended.remove(&key),
        };
        match instance.state {
            InstanceState::New | InstanceState::Active | InstanceState::Suspended => self.active.insert(key),
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

    /// Those that stand still.
    pub(crate) fn suspended(&self) -> impl Iterator<Item = InstanceKey> {
        self.suspended.iter().copied()
    }

    /// How often it was suspended and resumed.
    pub(super) fn stood(&self, key: InstanceKey) -> [u32; 2] {
        self.stood.get(&key).copied().unwrap_or_default()
    }

    pub(crate) fn modifies(&mut self, key: InstanceKey) {
        self.modified.insert(key);
    }

    /// What runs and was changed, by the instance that began it all.
    pub(crate) fn modified(&self) -> BTreeSet<InstanceKey> {
        let root = |mut key: InstanceKey| {
            while let Some(parent) = self.instances.get(&key).and_then(|instance| instance.parent) {
                key = parent.instance;
            }
            key
        };
        let changed = self.active.iter().filter(|key| self.modified.contains(*key));
        changed.map(|key| root(*key)).filter(|root| self.active.contains(root)).collect()
    }

    /// Versions count up by one, and nobody is left without a definition.
    pub(super) fn definitions(&mut self, changes: &Changes) -> Check {
        let mut unchanged: BTreeMap<u64, bool> = BTreeMap::new();
        for row in &changes.definitions_new {
            let versions = self.definitions.entry(row.process_id.clone()).or_default();
            let next = versions.last().map_or(1, |last| last.version + 1);
            ensure(3, row.version == next, || format!("version {} of {} where {next} is next", row.version, row.process_id))?;
            let gone = |version: &Definition| version.deleted || changes.definitions_deleted.contains(&version.key);
            let again = versions.iter().rfind(|version| !gone(version)).is_some_and(|last| last.checksum == row.checksum);
            *unchanged.entry(row.deployment).or_insert(true) &= again;
            versions.push(row.clone());
        }
        // All that is deployed together gets a new version, or nothing does.
        let again = unchanged
            .iter()
            .find(|(key, unchanged)| **unchanged && !changes.requirements_new.iter().any(|row| row.deployment == **key));
        ensure(5, again.is_none(), || format!("{again:?} was deployed again unchanged and got new versions"))?;
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
        if root.phase != row.phase {
            return differs("the row", format!("{instance:?}"), format!("{row:?}"));
        }
        let elements = instance.elements.iter().filter(|(element, _)| **element != key.root());
        let elements: Vec<_> = elements.map(|(key, e)| (*key, e.element, e.scope, ElementState::Alive(e.phase))).collect();
        let stored: Vec<_> = rows.elements.iter().map(|e| (e.key, e.element, e.scope, e.state)).collect();
        if elements != stored {
            return differs("elements", format!("{elements:?}"), format!("{stored:?}"));
        }
        let variables = instance.elements.iter().flat_map(|(scope, e)| {
            let all = e.variables.iter().chain(e.variables.kept());
            all.map(|v| (v.key, *scope, &v.name, &v.value))
        });
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
        let stored = stored_waits(rows);
        let (named, shown): (Vec<_>, Vec<_>) = (waits.iter().map(word).collect(), stored.iter().map(word).collect());
        if named != shown {
            return differs("waits", format!("{named:?}"), format!("{shown:?}"));
        }
        Ok(())
    }

    /// A called instance runs exactly as long as a call activity waits for it.
    pub(super) fn family(&self, key: InstanceKey) -> Check {
        let Some(instance) = self.instances.get(&key).filter(|_| self.active.contains(&key)) else { return Ok(()) };
        let mut children = instance.elements.values().flat_map(|element| &element.waits).filter_map(child_of);
        let gone = children.find(|child| !self.active.contains(child));
        ensure(15, gone.is_none(), || format!("instance {key} waits for {gone:?}, which does not run"))?;
        let Some(parent) = instance.parent else { return Ok(()) };
        let above = self.instances.get(&parent.instance).filter(|_| self.active.contains(&parent.instance));
        let caller = above.and_then(|above| above.elements.get(&parent.element));
        let waits = caller.is_some_and(|caller| caller.waits.iter().filter_map(child_of).any(|child| child == key));
        ensure(15, waits, || format!("instance {key} runs, but nothing in {} waits for it", parent.instance))
    }

    /// Everybody who runs, once more, as a family.
    pub(crate) fn families(&self) -> Check {
        self.active.iter().try_for_each(|key| self.family(*key))
    }
}

fn child_of(wait: &Wait) -> Option<InstanceKey> {
    match wait.kind {
        WaitKind::Child { instance } => Some(instance),
        _ => None,
    }
}

fn word((element, wait): &(ElementKey, Wait)) -> (ElementKey, engine::WaitKey, bool, engine::Waited) {
    (*element, wait.key, wait.catch.is_some(), wait.word())
}

/// All that the rows of an instance say it waits for.
fn stored_waits(rows: &LoadedInstance) -> Vec<(ElementKey, Wait)> {
    let mut waits = rows.waits.clone();
    for timer in &rows.timers {
        let Some(origin) = timer.origin else { continue };
        let own = rows.elements.iter().any(|row| row.key == origin.element_instance && row.element == timer.element);
        let catch = (!own).then_some(timer.element);
        waits.push((origin.element_instance, Wait { key: timer.wait, catch, kind: WaitKind::Timer }));
    }
    for row in &rows.subscriptions {
        let Some(origin) = row.origin else { continue };
        let kind = match row.kind {
            SubscriptionKind::Message => WaitKind::Message,
            SubscriptionKind::Signal => WaitKind::Signal,
            SubscriptionKind::Condition => WaitKind::Condition,
            SubscriptionKind::Child => WaitKind::Child { instance: row.child.unwrap_or(InstanceKey(0)) },
        };
        waits.push((origin.element_instance, Wait { key: row.key, catch: row.catches.then_some(row.element), kind }));
    }
    waits.sort_by_key(|(_, wait)| wait.key);
    waits
}
