//! Versions of definitions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::DefinitionKey;

use super::database::Tables;
use crate::row::Definition;

pub(super) fn latest(tables: &Tables) -> Vec<Definition> {
    let mut latest: BTreeMap<(&str, &str), &Definition> = BTreeMap::new();
    for definition in tables.definitions.values().filter(|definition| !definition.deleted) {
        let held = latest.entry((&*definition.process_id, &*definition.tenant)).or_insert(definition);
        if held.version < definition.version {
            *held = definition;
        }
    }
    latest.into_values().cloned().collect()
}

pub(super) fn version_counters(tables: &Tables) -> Vec<(Arc<str>, Arc<str>, i32)> {
    let mut highest: BTreeMap<(Arc<str>, Arc<str>), i32> = BTreeMap::new();
    for definition in tables.definitions.values() {
        let held = highest.entry((definition.process_id.clone(), definition.tenant.clone())).or_insert(0);
        *held = definition.version.max(*held);
    }
    highest.into_iter().map(|((process_id, tenant), version)| (process_id, tenant, version)).collect()
}

pub(super) fn versions<'a>(tables: &'a Tables, process_id: &str, tenant: &str) -> impl Iterator<Item = &'a Definition> {
    let is_one = move |definition: &&Definition| &*definition.process_id == process_id && &*definition.tenant == tenant;
    tables.definitions.values().filter(is_one)
}

/// The newest first.
pub(super) fn running(tables: &Tables, limit: usize) -> Vec<DefinitionKey> {
    let running: BTreeSet<DefinitionKey> = tables.running.keys().map(|key| tables.instances[key].definition).collect();
    running.into_iter().rev().take(limit).collect()
}

pub(super) fn has_running(tables: &Tables, definition: DefinitionKey) -> bool {
    tables.running.keys().any(|key| tables.instances[key].definition == definition)
}
