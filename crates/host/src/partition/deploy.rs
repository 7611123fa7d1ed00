//! Deploying and deleting definitions: versions per process id and tenant, identical content gives the same version again.

use std::sync::Arc;

use engine::{DefinitionKey, PartitionId};
use model::{EndEvent, JobTaskFlavour, Kind, PassTask, Process};
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};
use store::log::{Answer, Code, Deploy, DeployResource, Deployed, DeployedProcess, Rejection};
use store::{Error, Store, row};

use super::Partition;
use super::tick::Tick;
use crate::definitions::Compiled;

/// Process id and tenant.
type Name = (Arc<str>, Arc<str>);

/// What is known of definitions without a query: the latest of each process and the numbers given so far.
#[derive(Debug, Default)]
pub(crate) struct Catalogue {
    latest: FxHashMap<Name, Latest>,
    counters: FxHashMap<Name, i32>,
    /// Versions looked up by number.
    versions: FxHashMap<(Arc<str>, Arc<str>, i32), DefinitionKey>,
}

#[derive(Debug, Clone)]
pub(crate) struct Latest {
    pub(crate) key: DefinitionKey,
    pub(crate) version: i32,
    checksum: Vec<u8>,
}

impl Catalogue {
    pub(crate) async fn load(store: &dyn Store, partition: PartitionId) -> Result<Self, Error> {
        let mut catalogue = Self::default();
        for row in store.latest_definitions(partition).await? {
            catalogue.set_latest(&row);
        }
        for (id, tenant, version) in store.version_counters(partition).await? {
            catalogue.counters.insert((id, tenant), version);
        }
        Ok(catalogue)
    }

    pub(crate) fn latest(&self, id: &Arc<str>, tenant: &Arc<str>) -> Option<&Latest> {
        self.latest.get(&(id.clone(), tenant.clone()))
    }

    pub(crate) fn version(&self, id: &Arc<str>, tenant: &Arc<str>, version: i32) -> Option<DefinitionKey> {
        self.versions.get(&(id.clone(), tenant.clone(), version)).copied()
    }

    pub(crate) fn remember(&mut self, row: &row::Definition) {
        self.versions.insert((row.process_id.clone(), row.tenant.clone(), row.version), row.key);
    }

    fn set_latest(&mut self, row: &row::Definition) {
        let latest = Latest { key: row.key, version: row.version, checksum: row.checksum.clone() };
        self.latest.insert((row.process_id.clone(), row.tenant.clone()), latest);
    }

    fn next_version(&mut self, id: &Arc<str>, tenant: &Arc<str>) -> i32 {
        let counter = self.counters.entry((id.clone(), tenant.clone())).or_insert(0);
        *counter += 1;
        *counter
    }
}

/// One file of a deployment, compiled.
struct Draft {
    name: Arc<str>,
    content: Arc<[u8]>,
    checksum: Vec<u8>,
    processes: Vec<Process>,
}

impl Partition {
    pub(super) fn deploy(&mut self, tick: &mut Tick, deploy: &Deploy) -> Answer {
        let drafts = match drafts(&deploy.resources) {
            Ok(drafts) => drafts,
            Err(rejection) => return Answer::Rejected(rejection),
        };
        let key = self.keys.take();
        let unchanged = drafts.iter().all(|draft| draft.processes.iter().all(|p| self.is_unchanged(draft, p, &deploy.tenant)));
        let mut processes = Vec::new();
        for draft in drafts {
            if unchanged {
                processes.extend(draft.processes.iter().filter_map(|p| self.as_deployed(&draft, p, &deploy.tenant)));
            } else {
                processes.extend(self.write(tick, key, draft, &deploy.tenant));
            }
        }
        Answer::Deployed(Deployed { key, tenant: deploy.tenant.clone(), processes })
    }

    fn is_unchanged(&self, draft: &Draft, process: &Process, tenant: &Arc<str>) -> bool {
        self.catalogue.latest(&process.id, tenant).is_some_and(|latest| latest.checksum == draft.checksum)
    }

    fn as_deployed(&self, draft: &Draft, process: &Process, tenant: &Arc<str>) -> Option<DeployedProcess> {
        let latest = self.catalogue.latest(&process.id, tenant)?;
        Some(DeployedProcess {
            process_id: process.id.clone(),
            version: latest.version,
            definition: latest.key,
            resource_name: draft.name.clone(),
        })
    }

    fn write(&mut self, tick: &mut Tick, deployment: u64, draft: Draft, tenant: &Arc<str>) -> Vec<DeployedProcess> {
        let resource = self.keys.take();
        let mut deployed = Vec::new();
        for process in draft.processes {
            let row = row::Definition {
                key: DefinitionKey(self.keys.take()),
                version: self.catalogue.next_version(&process.id, tenant),
                process_id: process.id.clone(),
                name: process.name.clone(),
                version_tag: process.version_tag.clone(),
                tenant: tenant.clone(),
                resource,
                resource_name: draft.name.clone(),
                deployment,
                checksum: draft.checksum.clone(),
                deleted: false,
                elements: process.elements.iter().map(shown).collect(),
            };
            deployed.push(DeployedProcess {
                process_id: row.process_id.clone(),
                version: row.version,
                definition: row.key,
                resource_name: row.resource_name.clone(),
            });
            self.catalogue.set_latest(&row);
            self.catalogue.remember(&row);
            tick.recorder.changes.definitions_new.push(row.clone());
            let compiled = Arc::new(Compiled::new(row, process, draft.content.len()));
            tick.compiled.insert(compiled.row.key, compiled.clone());
            tick.deployed.push(compiled);
        }
        let resource = row::Resource { key: resource, name: draft.name, content: draft.content, tenant: tenant.clone() };
        tick.recorder.changes.resources_new.push(resource);
        deployed
    }

    /// A definition with running instances stays; a deleted one stays readable, and the version before it is the latest again.
    pub(super) fn delete_resource(&mut self, tick: &mut Tick, key: u64) -> Answer {
        let definition = DefinitionKey(key);
        let Some(deletion) = tick.deletions.remove(&key) else {
            let reason = format!("Expected to delete resource with key '{key}', but no such resource exists");
            return Answer::Rejected(Rejection { code: Code::NotFound, reason });
        };
        let runs = deletion.runs || self.hot.values().any(|hot| hot.instance.definition == definition);
        if runs {
            let reason = format!(
                "Expected to delete definition with key '{key}', but it has running instances: cancel or complete them first"
            );
            return Answer::Rejected(Rejection { code: Code::InvalidState, reason });
        }
        let row = deletion.row;
        let name = (row.process_id.clone(), row.tenant.clone());
        if self.catalogue.latest.get(&name).is_some_and(|latest| latest.key == definition) {
            match &deletion.before {
                Some(before) => self.catalogue.set_latest(before),
                None => {
                    self.catalogue.latest.remove(&name);
                }
            }
        }
        self.catalogue.versions.remove(&(row.process_id, row.tenant, row.version));
        tick.recorder.changes.definitions_deleted.push(definition);
        tick.deleted.push(definition);
        Answer::ResourceDeleted { key }
    }
}

/// What a tick has looked up about a definition to be deleted.
#[derive(Debug)]
pub(super) struct Deletion {
    pub(super) row: row::Definition,
    pub(super) runs: bool,
    pub(super) before: Option<row::Definition>,
}

/// Compiles every file; all problems of all files are told at once.
fn drafts(resources: &[DeployResource]) -> Result<Vec<Draft>, Rejection> {
    let mut drafts: Vec<Draft> = Vec::new();
    let mut problems = Vec::new();
    if resources.is_empty() {
        problems.push("there are none: name at least one .bpmn file".to_owned());
    }
    for (n, resource) in resources.iter().enumerate() {
        // Of two files with one name the last counts.
        if resources[n + 1..].iter().any(|later| later.name == resource.name) {
            continue;
        }
        if !resource.name.ends_with(".bpmn") && !resource.name.ends_with(".xml") {
            problems.push(format!("'{}' is of no kind that can be deployed: its name must end in .bpmn or .xml", resource.name));
            continue;
        }
        match compile::bpmn(&resource.content) {
            Ok(compiled) => drafts.push(Draft {
                name: resource.name.clone(),
                content: resource.content.clone(),
                checksum: checksum(resource),
                processes: compiled.processes,
            }),
            Err(diagnostics) => problems.extend(diagnostics.iter().map(|d| format!("{}: {d}", resource.name))),
        }
    }
    let mut seen: FxHashMap<Arc<str>, Arc<str>> = FxHashMap::default();
    for draft in &drafts {
        for process in &draft.processes {
            if let Some(other) = seen.insert(process.id.clone(), draft.name.clone()) {
                problems.push(format!(
                    "{}: process '{}' is also in {other}: ids must be unique in a deployment",
                    draft.name, process.id
                ));
            }
        }
    }
    if problems.is_empty() {
        return Ok(drafts);
    }
    Err(Rejection {
        code: Code::InvalidArgument,
        reason: format!("Expected to deploy new resources, but:\n{}", problems.join("\n")),
    })
}

/// Over name and content: a renamed file is a new version.
fn checksum(resource: &DeployResource) -> Vec<u8> {
    let mut hasher = Sha256::new();
    hasher.update((resource.name.len() as u64).to_le_bytes());
    hasher.update(resource.name.as_bytes());
    hasher.update(&resource.content);
    hasher.finalize().to_vec()
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
