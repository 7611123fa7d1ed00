//! Versions of requirements and decisions.

use super::database::Tables;
use crate::Named;
use crate::row::{DecisionRequirements, LatestDecision};

pub(super) fn requirements_named(tables: &Tables, id: &str, tenant: &str) -> Named<DecisionRequirements> {
    let versions = || tables.requirements.values().filter(|row| &*row.id == id && &*row.tenant == tenant);
    Named {
        version_max: versions().map(|row| row.version).max().unwrap_or(0),
        latest: versions().filter(|row| !row.deleted).max_by_key(|row| row.version).cloned(),
    }
}

pub(super) fn named(tables: &Tables, id: &str, tenant: &str) -> Named<LatestDecision> {
    let files = || tables.requirements.values().filter(|row| &*row.tenant == tenant);
    let versions = || files().flat_map(|row| row.decisions.iter().map(move |one| (row, one))).filter(|(_, one)| &*one.id == id);
    let latest = versions().filter(|(row, _)| !row.deleted).max_by_key(|(_, one)| one.version);
    Named {
        version_max: versions().map(|(_, one)| one.version).max().unwrap_or(0),
        latest: latest.map(|(row, one)| LatestDecision {
            id: one.id.clone(),
            tenant: row.tenant.clone(),
            key: one.key,
            requirements: row.key,
        }),
    }
}
