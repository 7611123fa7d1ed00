//! Decisions: their versions, one for each decision and one for the file they came in.

use std::sync::Arc;

use engine::{DecisionKey, RequirementsKey};
use model::Requirements;
use store::log::{Answer, DeployedDecision, DeployedRequirements};
use store::row;

use super::catalogue::DecisionPlace;
use super::{File, Partition};
use crate::definitions::CompiledDecisions;
use crate::partition::tick::Tick;

impl Partition {
    /// The same file again, and no other file has given its decisions newer versions.
    pub(super) fn is_unchanged_requirements(&self, file: &File, requirements: &Requirements, tenant: &Arc<str>) -> bool {
        let latest = self.catalogue.requirements.get(&(requirements.id.clone(), tenant.clone()));
        latest.is_some_and(|latest| {
            let is_latest = |decision: &row::Decision| {
                self.catalogue.decision(&decision.id, tenant).is_some_and(|place| place.key == decision.key)
            };
            latest.checksum == file.checksum && latest.decisions.iter().all(is_latest)
        })
    }

    pub(super) fn requirements_as_deployed(
        &self,
        requirements: &Requirements,
        tenant: &Arc<str>,
    ) -> Option<DeployedRequirements> {
        self.catalogue.requirements.get(&(requirements.id.clone(), tenant.clone())).map(deployed)
    }

    pub(super) fn write_requirements(
        &mut self,
        tick: &mut Tick,
        file: &File,
        requirements: Requirements,
        tenant: &Arc<str>,
    ) -> DeployedRequirements {
        let key = RequirementsKey(self.keys.take());
        let mut decisions = Vec::with_capacity(requirements.decisions.len());
        for decision in requirements.decisions.iter() {
            decisions.push(row::Decision {
                key: DecisionKey(self.keys.take()),
                id: decision.id.clone(),
                name: decision.name.clone(),
                version: self.catalogue.next_decision_version(&decision.id, tenant),
                version_tag: decision.version_tag.clone(),
            });
        }
        let row = row::DecisionRequirements {
            key,
            id: requirements.id.clone(),
            name: requirements.name.clone(),
            version: self.catalogue.next_requirements_version(&requirements.id, tenant),
            tenant: tenant.clone(),
            resource: file.resource,
            resource_name: file.name.clone(),
            deployment: file.deployment,
            checksum: file.checksum.clone(),
            deleted: false,
            decisions,
        };
        self.catalogue.forget_found();
        for decision in &row.decisions {
            self.catalogue.add_decision(decision, tenant, row.deployment, key);
        }
        self.catalogue.requirements.insert((row.id.clone(), tenant.clone()), row.clone());
        let deployed = deployed(&row);
        tick.recorder.changes.requirements_new.push(row.clone());
        let compiled = Arc::new(CompiledDecisions::new(row, requirements, file.content.len()));
        tick.decisions.insert(key, compiled.clone());
        tick.decisions_deployed.push(compiled);
        deployed
    }

    /// The versions before are the latest again, of the file and of each decision.
    pub(super) fn delete_requirements(&mut self, tick: &mut Tick, deletion: RequirementsDeletion) -> Answer {
        let RequirementsDeletion { row, before, decisions_before } = deletion;
        let name = (row.id.clone(), row.tenant.clone());
        if self.catalogue.requirements.get(&name).is_some_and(|latest| latest.key == row.key) {
            put_or_remove(&mut self.catalogue.requirements, name, before);
        }
        for (decision, before) in row.decisions.iter().zip(decisions_before) {
            let name = (decision.id.clone(), row.tenant.clone());
            if self.catalogue.decisions.get(&name).is_some_and(|latest| latest.key == decision.key) {
                put_or_remove(&mut self.catalogue.decisions, name, before);
            }
        }
        self.catalogue.forget_found();
        tick.recorder.changes.requirements_deleted.push(row.key);
        tick.decisions_deleted.push(row.key);
        Answer::ResourceDeleted { key: row.key.0 }
    }
}

fn put_or_remove<V>(map: &mut rustc_hash::FxHashMap<super::catalogue::Name, V>, name: super::catalogue::Name, value: Option<V>) {
    match value {
        Some(value) => map.insert(name, value),
        None => map.remove(&name),
    };
}

/// What a tick has looked up about a DMN file to be deleted.
#[derive(Debug)]
pub(in crate::partition) struct RequirementsDeletion {
    pub(in crate::partition) row: row::DecisionRequirements,
    pub(in crate::partition) before: Option<row::DecisionRequirements>,
    /// Decision by decision.
    pub(in crate::partition) decisions_before: Vec<Option<DecisionPlace>>,
}

fn deployed(row: &row::DecisionRequirements) -> DeployedRequirements {
    DeployedRequirements {
        key: row.key,
        id: row.id.clone(),
        name: row.name.clone(),
        version: row.version,
        resource_name: row.resource_name.clone(),
        decisions: row.decisions.iter().map(deployed_decision).collect(),
    }
}

pub(in crate::partition) fn deployed_decision(row: &row::Decision) -> DeployedDecision {
    DeployedDecision { key: row.key, id: row.id.clone(), name: row.name.clone(), version: row.version }
}
