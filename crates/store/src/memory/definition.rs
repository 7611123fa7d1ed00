//! Versions of definitions.

use std::collections::BTreeSet;

use engine::DefinitionKey;

use super::database::Tables;
use crate::Named;
use crate::row::{Definition, DefinitionHead};

pub(super) fn named(tables: &Tables, process_id: &str, tenant: &str) -> Named<DefinitionHead> {
    let latest = versions(tables, process_id, tenant).filter(|one| !one.deleted).max_by_key(|one| one.version);
    Named {
        version_max: versions(tables, process_id, tenant).map(|one| one.version).max().unwrap_or(0),
        latest: latest.map(|one| DefinitionHead { key: one.key, version: one.version, checksum: one.checksum.clone() }),
    }
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
