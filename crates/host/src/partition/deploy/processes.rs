//! Process definitions: their versions, and what searches show of their elements.

use std::sync::Arc;

use engine::DefinitionKey;
use model::{EndEvent, JobTaskFlavour, Kind, PassTask, Process};
use store::log::{Answer, Code, DeployedProcess, Rejection};
use store::row;

use super::{File, Partition};
use crate::definitions::Compiled;
use crate::partition::tick::Tick;

impl Partition {
    pub(super) fn is_unchanged_process(&self, file: &File, process: &Process, tenant: &Arc<str>) -> bool {
        self.catalogue.latest(&process.id, tenant).is_some_and(|latest| latest.checksum == file.checksum)
    }

    pub(super) fn process_as_deployed(&self, file: &File, process: &Process, tenant: &Arc<str>) -> Option<DeployedProcess> {
        let latest = self.catalogue.latest(&process.id, tenant)?;
        Some(DeployedProcess {
            process_id: process.id.clone(),
            version: latest.version,
            definition: latest.key,
            resource_name: file.name.clone(),
        })
    }

    pub(super) fn write_process(&mut self, tick: &mut Tick, file: &File, process: Process, tenant: &Arc<str>) -> DeployedProcess {
        let row = row::Definition {
            key: DefinitionKey(self.keys.take()),
            version: self.catalogue.next_version(&process.id, tenant),
            process_id: process.id.clone(),
            name: process.name.clone(),
            version_tag: process.version_tag.clone(),
            tenant: tenant.clone(),
            resource: file.resource,
            resource_name: file.name.clone(),
            deployment: file.deployment,
            checksum: file.checksum.clone(),
            deleted: false,
            elements: process.elements.iter().map(shown).collect(),
        };
        let deployed = DeployedProcess {
            process_id: row.process_id.clone(),
            version: row.version,
            definition: row.key,
            resource_name: row.resource_name.clone(),
        };
        self.catalogue.set_latest(&row);
        self.catalogue.remember(&row);
        tick.recorder.changes.definitions_new.push(row.clone());
        let compiled = Arc::new(Compiled::new(row, process, file.content.len()));
        tick.compiled.insert(compiled.row.key, compiled.clone());
        tick.deployed.push(compiled);
        deployed
    }

    /// A definition with running instances stays; a deleted one stays readable, and the version before it is the latest again.
    pub(super) fn delete_definition(&mut self, tick: &mut Tick, deletion: DefinitionDeletion) -> Answer {
        let DefinitionDeletion { row, runs, before } = deletion;
        let definition = row.key;
        if runs || self.hot.values().any(|hot| hot.instance.definition == definition) {
            let reason = format!(
                "Expected to delete definition with key '{definition}', but it has running instances: cancel or complete them \
                 first"
            );
            return Answer::Rejected(Rejection { code: Code::InvalidState, reason });
        }
        let name = (row.process_id.clone(), row.tenant.clone());
        if self.catalogue.latest.get(&name).is_some_and(|latest| latest.key == definition) {
            match &before {
                Some(before) => self.catalogue.set_latest(before),
                None => {
                    self.catalogue.latest.remove(&name);
                }
            }
        }
        self.catalogue.versions.remove(&(row.process_id, row.tenant, row.version));
        tick.recorder.changes.definitions_deleted.push(definition);
        tick.deleted.push(definition);
        Answer::ResourceDeleted { key: definition.0 }
    }
}

/// What a tick has looked up about a definition to be deleted.
#[derive(Debug)]
pub(in crate::partition) struct DefinitionDeletion {
    pub(in crate::partition) row: row::Definition,
    pub(in crate::partition) runs: bool,
    pub(in crate::partition) before: Option<row::Definition>,
}

/// What searches show of an element.
fn shown(element: &model::Element) -> row::DefinitionElement {
    let headers = match &element.kind {
        Kind::JobTask(task) => crate::json::object_of_texts(&task.headers),
        _ => "{}".to_owned(),
    };
    row::DefinitionElement {
        id: element.id.clone(),
        name: element.name.clone(),
        kind: kind_word(&element.kind).into(),
        headers: headers.into(),
    }
}

fn kind_word(kind: &Kind) -> &'static str {
    match kind {
        Kind::Process(_) => "PROCESS",
        Kind::SubProcess(_) => "SUB_PROCESS",
        Kind::StartEvent => "START_EVENT",
        Kind::EndEvent(EndEvent::None | EndEvent::Terminate | EndEvent::Error { .. }) => "END_EVENT",
        Kind::ThrowEvent => "INTERMEDIATE_THROW_EVENT",
        Kind::PassTask(PassTask::Undefined) => "TASK",
        Kind::PassTask(PassTask::Manual) => "MANUAL_TASK",
        Kind::JobTask(task) => match task.flavour {
            JobTaskFlavour::Service => "SERVICE_TASK",
            JobTaskFlavour::Send => "SEND_TASK",
            JobTaskFlavour::Script => "SCRIPT_TASK",
            JobTaskFlavour::BusinessRule => "BUSINESS_RULE_TASK",
        },
        Kind::ScriptTask(_) => "SCRIPT_TASK",
        Kind::DecisionTask(_) => "BUSINESS_RULE_TASK",
        Kind::ExclusiveGateway { .. } => "EXCLUSIVE_GATEWAY",
        Kind::ParallelGateway => "PARALLEL_GATEWAY",
        Kind::ErrorBoundary(_) => "BOUNDARY_EVENT",
    }
}
