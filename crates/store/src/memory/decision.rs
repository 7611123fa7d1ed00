//! Versions of requirements and decisions.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::database::Tables;
use crate::DecisionCounters;
use crate::row::{DecisionRequirements, LatestDecision};

pub(super) fn latest_requirements(tables: &Tables) -> Vec<DecisionRequirements> {
    let mut latest: BTreeMap<(&str, &str), &DecisionRequirements> = BTreeMap::new();
    for requirements in tables.requirements.values().filter(|requirements| !requirements.deleted) {
        let held = latest.entry((&*requirements.id, &*requirements.tenant)).or_insert(requirements);
        if held.version < requirements.version {
            *held = requirements;
        }
    }
    latest.into_values().cloned().collect()
}

pub(super) fn latest_decisions(tables: &Tables) -> Vec<LatestDecision> {
    let mut latest: BTreeMap<(&str, &str), (i32, LatestDecision)> = BTreeMap::new();
    for requirements in tables.requirements.values().filter(|requirements| !requirements.deleted) {
        for decision in &requirements.decisions {
            let (id, tenant) = (decision.id.clone(), requirements.tenant.clone());
            let entry = (decision.version, LatestDecision { id, tenant, key: decision.key, requirements: requirements.key });
            match latest.get(&(&*decision.id, &*requirements.tenant)) {
                Some(held) if decision.version < held.0 => {}
                _ => {
                    latest.insert((&*decision.id, &*requirements.tenant), entry);
                }
            }
        }
    }
    latest.into_values().map(|(_, decision)| decision).collect()
}

pub(super) fn counters(tables: &Tables) -> DecisionCounters {
    let requirements = tables.requirements.values();
    let decisions = requirements.clone().flat_map(|row| row.decisions.iter().map(|one| (&one.id, &row.tenant, one.version)));
    DecisionCounters {
        requirements: highest(requirements.map(|row| (&row.id, &row.tenant, row.version))),
        decisions: highest(decisions),
    }
}

fn highest<'a>(given: impl Iterator<Item = (&'a Arc<str>, &'a Arc<str>, i32)>) -> Vec<(Arc<str>, Arc<str>, i32)> {
    let mut highest: BTreeMap<(&Arc<str>, &Arc<str>), i32> = BTreeMap::new();
    for (id, tenant, version) in given {
        let held = highest.entry((id, tenant)).or_insert(0);
        *held = version.max(*held);
    }
    highest.into_iter().map(|((id, tenant), version)| (id.clone(), tenant.clone(), version)).collect()
}
