//! Deploying and deleting files: versions per id and tenant, identical content gives the same versions again.

mod catalogue;
mod decisions;
mod processes;

use std::sync::Arc;

use model::{Process, Requirements};
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};
use store::log::{Answer, Code, Deploy, DeployResource, Deployed, Rejection};
use store::row;

use super::Partition;
use super::tick::Tick;

pub(crate) use catalogue::{Catalogue, DecisionPlace, Sought};
pub(super) use decisions::{RequirementsDeletion, deployed_decision};
pub(super) use processes::DefinitionDeletion;

/// A file with the keys it is written under.
struct File {
    name: Arc<str>,
    content: Arc<[u8]>,
    checksum: Vec<u8>,
    resource: u64,
    deployment: u64,
}

/// One file of a deployment, compiled.
struct Draft {
    file: File,
    holds: Holds,
}

enum Holds {
    Processes(Vec<Process>),
    Decisions(Requirements),
}

impl Partition {
    pub(super) fn deploy(&mut self, tick: &mut Tick, deploy: &Deploy) -> Answer {
        let drafts = match drafts(&deploy.resources) {
            Ok(drafts) => drafts,
            Err(rejection) => return Answer::Rejected(rejection),
        };
        let key = self.keys.take();
        let tenant = &deploy.tenant;
        let mut deployed = Deployed { key, tenant: tenant.clone(), processes: Vec::new(), requirements: Vec::new() };
        let unchanged = drafts.iter().all(|draft| self.is_unchanged(draft, tenant));
        for draft in drafts {
            if unchanged {
                self.as_deployed(&draft, &mut deployed);
            } else {
                self.write(tick, draft, &mut deployed);
            }
        }
        Answer::Deployed(deployed)
    }

    fn is_unchanged(&self, Draft { file, holds }: &Draft, tenant: &Arc<str>) -> bool {
        match holds {
            Holds::Processes(processes) => processes.iter().all(|process| self.is_unchanged_process(file, process, tenant)),
            Holds::Decisions(requirements) => self.is_unchanged_requirements(file, requirements, tenant),
        }
    }

    fn as_deployed(&self, Draft { file, holds }: &Draft, to: &mut Deployed) {
        match holds {
            Holds::Processes(processes) => {
                let deployed = processes.iter().filter_map(|process| self.process_as_deployed(file, process, &to.tenant));
                to.processes.extend(deployed);
            }
            Holds::Decisions(requirements) => {
                to.requirements.extend(self.requirements_as_deployed(requirements, &to.tenant));
            }
        }
    }

    fn write(&mut self, tick: &mut Tick, Draft { file, holds }: Draft, to: &mut Deployed) {
        let file = File { resource: self.keys.take(), deployment: to.key, ..file };
        match holds {
            Holds::Processes(processes) => {
                for process in processes {
                    to.processes.push(self.write_process(tick, &file, process, &to.tenant));
                }
            }
            Holds::Decisions(requirements) => {
                to.requirements.push(self.write_requirements(tick, &file, requirements, &to.tenant));
            }
        }
        let resource = row::Resource { key: file.resource, name: file.name, content: file.content, tenant: to.tenant.clone() };
        tick.recorder.changes.resources_new.push(resource);
    }

    pub(super) fn delete_resource(&mut self, tick: &mut Tick, key: u64) -> Answer {
        match tick.deletions.remove(&key) {
            Some(Deletion::Definition(deletion)) => self.delete_definition(tick, deletion),
            Some(Deletion::Requirements(deletion)) => self.delete_requirements(tick, deletion),
            None => {
                let reason = format!("Expected to delete resource with key '{key}', but no such resource exists");
                Answer::Rejected(Rejection { code: Code::NotFound, reason })
            }
        }
    }
}

/// What a tick has looked up about something to be deleted.
#[derive(Debug)]
pub(super) enum Deletion {
    Definition(DefinitionDeletion),
    Requirements(RequirementsDeletion),
}

/// Compiles every file; all problems of all files are told at once.
fn drafts(resources: &[DeployResource]) -> Result<Vec<Draft>, Rejection> {
    let mut drafts: Vec<Draft> = Vec::new();
    let mut problems = Vec::new();
    if resources.is_empty() {
        problems.push("there are none: name at least one .bpmn or .dmn file".to_owned());
    }
    for (n, resource) in resources.iter().enumerate() {
        // Of two files with one name the last counts.
        if resources[n + 1..].iter().any(|later| later.name == resource.name) {
            continue;
        }
        match compiled(resource) {
            Ok(holds) => drafts.push(Draft { file: file(resource), holds }),
            Err(found) => problems.extend(found),
        }
    }
    twice(&drafts, &mut problems);
    if problems.is_empty() {
        return Ok(drafts);
    }
    Err(Rejection {
        code: Code::InvalidArgument,
        reason: format!("Expected to deploy new resources, but:\n{}", problems.join("\n")),
    })
}

fn compiled(resource: &DeployResource) -> Result<Holds, Vec<String>> {
    let name = &resource.name;
    let compiled = if name.ends_with(".bpmn") || name.ends_with(".xml") {
        compile::bpmn(&resource.content).map(|compiled| Holds::Processes(compiled.processes))
    } else if name.ends_with(".dmn") {
        compile::dmn(&resource.content).map(Holds::Decisions)
    } else {
        let problem = format!("'{name}' is of no kind that can be deployed: its name must end in .bpmn, .dmn or .xml");
        return Err(vec![problem]);
    };
    compiled.map_err(|diagnostics| diagnostics.iter().map(|diagnostic| format!("{name}: {diagnostic}")).collect())
}

/// The keys come when it is written.
fn file(resource: &DeployResource) -> File {
    File {
        name: resource.name.clone(),
        content: resource.content.clone(),
        checksum: checksum(resource),
        resource: 0,
        deployment: 0,
    }
}

/// Ids must be unique in a deployment, each among its kind.
fn twice(drafts: &[Draft], problems: &mut Vec<String>) {
    let mut seen: FxHashMap<(&str, &Arc<str>), &Arc<str>> = FxHashMap::default();
    for Draft { file, holds } in drafts {
        let ids: Vec<(&str, &Arc<str>)> = match holds {
            Holds::Processes(processes) => processes.iter().map(|process| ("process", &process.id)).collect(),
            Holds::Decisions(requirements) => {
                let decisions = requirements.decisions.iter().map(|decision| ("decision", &decision.id));
                std::iter::once(("decision requirements", &requirements.id)).chain(decisions).collect()
            }
        };
        for (kind, id) in ids {
            if let Some(other) = seen.insert((kind, id), &file.name) {
                problems.push(format!("{}: {kind} '{id}' is also in {other}: ids must be unique in a deployment", file.name));
            }
        }
    }
}

/// Over name and content: a renamed file is a new version.
fn checksum(resource: &DeployResource) -> Vec<u8> {
    let mut hasher = Sha256::new();
    hasher.update((resource.name.len() as u64).to_le_bytes());
    hasher.update(resource.name.as_bytes());
    hasher.update(&resource.content);
    hasher.finalize().to_vec()
}
