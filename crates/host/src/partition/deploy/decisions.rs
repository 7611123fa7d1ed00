//! Decisions: their versions, one for each decision and one for the file they came in.

use std::sync::Arc;

use engine::{DecisionKey, RequirementsKey};
use model::Requirements;
use store::log::{Answer, DeployedDecision, DeployedRequirements};
use store::{Named, row};

use super::catalogue::{DecisionPlace, Name};
use super::{File, Partition, no_resource};
use crate::definitions::CompiledDecisions;
use crate::partition::tick::Tick;
use crate::partition::unit::Stop;
use crate::table::Table;
use crate::weigh::Weigh;

impl Partition {
    /// The same file again, and no other file has given its decisions newer versions.
    pub(super) fn is_unchanged_requirements(
        &self,
        file: &File,
        requirements: &Requirements,
        tenant: &Arc<str>,
    ) -> Result<bool, Stop> {
        let latest = self.latest_file(&(requirements.id.clone(), tenant.clone()))?;
        let Some(latest) = latest.filter(|latest| latest.checksum == file.checksum) else { return Ok(false) };
        for decision in &latest.decisions {
            let place = self.latest_decision(&(decision.id.clone(), tenant.clone()))?;
            if place.is_none_or(|place| place.key != decision.key) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(super) fn requirements_as_deployed(
        &self,
        requirements: &Requirements,
        tenant: &Arc<str>,
    ) -> Result<Option<DeployedRequirements>, Stop> {
        Ok(self.latest_file(&(requirements.id.clone(), tenant.clone()))?.map(deployed))
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
                version: next_version(&self.catalogue.decisions, &decision.id, tenant),
                version_tag: decision.version_tag.clone(),
            });
        }
        let row = row::DecisionRequirements {
            key,
            id: requirements.id.clone(),
            name: requirements.name.clone(),
            version: next_version(&self.catalogue.files, &requirements.id, tenant),
            tenant: tenant.clone(),
            resource: file.resource,
            resource_name: file.name.clone(),
            deployment: file.deployment,
            checksum: file.checksum.clone(),
            deleted: false,
            decisions,
        };
        for decision in &row.decisions {
            let (id, tenant) = (decision.id.clone(), tenant.clone());
            let latest = row::LatestDecision { id: id.clone(), tenant: tenant.clone(), key: decision.key, requirements: key };
            let named = Named { version_max: decision.version, latest: Some(latest) };
            self.catalogue.decisions.put((id, tenant), named, tick.number);
        }
        let named = Named { version_max: row.version, latest: Some(row.clone()) };
        self.catalogue.files.put((row.id.clone(), tenant.clone()), named, tick.number);
        let deployed = deployed(&row);
        tick.unit.changes.requirements_new.push(row.clone());
        tick.unit.decisions_deployed.push(Arc::new(CompiledDecisions::new(row, requirements, file.content.len())));
        deployed
    }

    /// The versions before are the latest again, of the file and of each decision.
    pub(super) fn delete_requirements(&mut self, tick: &mut Tick, deletion: &RequirementsDeletion) -> Result<Answer, Stop> {
        let RequirementsDeletion { row, before, decisions_before } = deletion;
        if tick.recorder.changes.requirements_deleted.contains(&row.key) {
            return Err(no_resource(row.key.0));
        }
        let name = (row.id.clone(), row.tenant.clone());
        if self.latest_file(&name)?.is_some_and(|latest| latest.key == row.key) {
            self.catalogue.files.change(&name, tick.number, |named| named.latest.clone_from(before));
        }
        for (decision, before) in row.decisions.iter().zip(decisions_before) {
            let name = (decision.id.clone(), row.tenant.clone());
            if self.latest_decision(&name)?.is_some_and(|latest| latest.key == decision.key) {
                let latest = before.map(|place| row::LatestDecision {
                    id: name.0.clone(),
                    tenant: name.1.clone(),
                    key: place.key,
                    requirements: place.requirements,
                });
                self.catalogue.decisions.change(&name, tick.number, |named| named.latest = latest);
            }
        }
        tick.unit.changes.requirements_deleted.push(row.key);
        Ok(Answer::ResourceDeleted { key: row.key.0 })
    }
}

/// The name is known: all names of a deployment are looked up first.
fn next_version<T: Clone + Weigh>(names: &Table<Name, Named<T>>, id: &Arc<str>, tenant: &Arc<str>) -> i32 {
    names.get(&(id.clone(), tenant.clone())).map_or(0, |named| named.version_max) + 1
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
