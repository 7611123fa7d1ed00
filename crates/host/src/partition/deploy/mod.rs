//! Deploying and deleting files: versions per id and tenant, identical content gives the same versions again.

mod bound;
mod catalogue;
mod decisions;
mod forms;
mod processes;

use std::sync::Arc;

use engine::{DefinitionKey, FormKey, RequirementsKey};
use model::{Process, Requirements};
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};
use store::log::{Answer, Caller, Code, Deploy, DeployResource, Deployed, Rejection};
use store::{Error, row};

use super::Partition;
use super::needs::{AtRest, Needs};
use super::tick::Tick;
use super::unit::Stop;
use crate::source;

pub(super) use catalogue::ChangedNames;
pub(crate) use catalogue::{Catalogue, DecisionPlace, Name, Sought, SoughtProcess};
pub(super) use decisions::{RequirementsDeletion, deployed_decision};
pub(crate) use forms::read as read_form;
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
    Form(forms::Form),
}

impl Partition {
    pub(super) fn deploy(&mut self, tick: &mut Tick, deploy: &Deploy) -> Result<Answer, Stop> {
        let drafts = drafts(&deploy.resources).map_err(Stop::Refused)?;
        let tenant = &deploy.tenant;
        self.know_names(&drafts, tenant)?;
        let key = self.keys.take();
        let mut deployed =
            Deployed { key, tenant: tenant.clone(), processes: Vec::new(), requirements: Vec::new(), forms: Vec::new() };
        let mut unchanged = true;
        for draft in &drafts {
            unchanged = unchanged && self.is_unchanged(draft, tenant)?;
        }
        if !unchanged {
            self.know_starts(&drafts, tenant)?;
        }
        for draft in drafts {
            if unchanged {
                self.as_deployed(&draft, &mut deployed)?;
            } else {
                self.write(tick, draft, &mut deployed)?;
            }
        }
        Ok(Answer::Deployed(deployed))
    }

    /// All names of a deployment are looked up at once.
    fn know_names(&self, drafts: &[Draft], tenant: &Arc<str>) -> Result<(), Stop> {
        let mut needs = Needs::default();
        let name = |id: &Arc<str>| (id.clone(), tenant.clone());
        for Draft { holds, .. } in drafts {
            match holds {
                Holds::Processes(processes) => {
                    let names = processes.iter().map(|process| name(&process.id));
                    needs.processes.extend(names.filter(|name| !self.catalogue.processes.knows(name)));
                }
                Holds::Decisions(requirements) => {
                    let file = Some(name(&requirements.id)).filter(|name| !self.catalogue.files.knows(name));
                    needs.files.extend(file);
                    let names = requirements.decisions.iter().map(|decision| name(&decision.id));
                    needs.decisions.extend(names.filter(|name| !self.catalogue.decisions.knows(name)));
                }
                Holds::Form(form) => {
                    needs.forms.extend(Some(name(&form.id)).filter(|name| !self.catalogue.forms.knows(name)));
                }
            }
        }
        match needs.is_empty() {
            true => Ok(()),
            false => Err(needs.into()),
        }
    }

    /// So are the start events that will wait no longer: all of them, also those that a command before has looked up, since what it
    /// has looked up goes with its tick.
    fn know_starts(&self, drafts: &[Draft], tenant: &Arc<str>) -> Result<(), Stop> {
        let mut replaced = Vec::new();
        for Draft { holds, .. } in drafts {
            let Holds::Processes(processes) = holds else { continue };
            for process in processes {
                replaced.extend(self.latest_process(&(process.id.clone(), tenant.clone()))?.map(|latest| latest.key));
            }
        }
        match replaced.iter().all(|latest| self.rested.starts.contains_key(latest)) {
            true => Ok(()),
            false => Err(Needs { at_rest: replaced.into_iter().map(AtRest::Starts).collect(), ..Needs::default() }.into()),
        }
    }

    fn is_unchanged(&self, Draft { file, holds }: &Draft, tenant: &Arc<str>) -> Result<bool, Stop> {
        match holds {
            Holds::Processes(processes) => {
                for process in processes {
                    if !self.is_unchanged_process(file, process, tenant)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Holds::Decisions(requirements) => self.is_unchanged_requirements(file, requirements, tenant),
            Holds::Form(form) => self.is_unchanged_form(file, form, tenant),
        }
    }

    fn as_deployed(&self, Draft { file, holds }: &Draft, to: &mut Deployed) -> Result<(), Stop> {
        match holds {
            Holds::Processes(processes) => {
                for process in processes {
                    to.processes.extend(self.process_as_deployed(file, process, &to.tenant)?);
                }
            }
            Holds::Decisions(requirements) => {
                to.requirements.extend(self.requirements_as_deployed(requirements, &to.tenant)?);
            }
            Holds::Form(form) => to.forms.extend(self.form_as_deployed(form, &to.tenant)?),
        }
        Ok(())
    }

    fn write(&mut self, tick: &mut Tick, Draft { file, holds }: Draft, to: &mut Deployed) -> Result<(), Stop> {
        let file = File { resource: self.keys.take(), deployment: to.key, ..file };
        match holds {
            Holds::Processes(processes) => {
                for process in processes {
                    to.processes.push(self.write_process(tick, &file, process, &to.tenant)?);
                }
            }
            Holds::Decisions(requirements) => {
                to.requirements.push(self.write_requirements(tick, &file, requirements, &to.tenant));
            }
            Holds::Form(form) => to.forms.push(self.write_form(tick, &file, form, &to.tenant)?),
        }
        let resource = row::Resource { key: file.resource, name: file.name, content: file.content, tenant: to.tenant.clone() };
        tick.unit.changes.resources_new.push(resource);
        Ok(())
    }

    pub(super) fn delete_resource(&mut self, tick: &mut Tick, caller: &Caller, key: u64) -> Result<Answer, Stop> {
        let Some(deletion) = self.rested.deletions.get(&key).cloned() else {
            let at_rest = vec![AtRest::Deletion(key), AtRest::Starts(DefinitionKey(key))];
            return Err(Needs { at_rest, ..Needs::default() }.into());
        };
        let deletion = deletion.filter(|deletion| caller.tenants.has(deletion.tenant()));
        match deletion.as_deref() {
            Some(Deletion::Definition(deletion)) => self.delete_definition(tick, deletion),
            Some(Deletion::Requirements(deletion)) => self.delete_requirements(tick, deletion),
            Some(Deletion::Form(form)) => self.delete_form(tick, form),
            None => Err(no_resource(key)),
        }
    }

    pub(super) async fn look_up_deletion(&self, key: u64) -> Result<Option<Deletion>, Error> {
        if let Some(row) = self.store.definition(DefinitionKey(key)).await?.filter(|row| !row.deleted) {
            let runs = self.store.has_running(row.key).await?;
            let before = self.store.definition_before(self.fence.partition, &row.process_id, &row.tenant, row.version).await?;
            return Ok(Some(Deletion::Definition(DefinitionDeletion { row, runs, before })));
        }
        let Some(row) = self.store.requirements(RequirementsKey(key)).await?.filter(|row| !row.deleted) else {
            let form = self.store.form(FormKey(key)).await?.filter(|row| !row.deleted);
            return Ok(form.map(Deletion::Form));
        };
        let before = self.requirements_before(&row).await?;
        let mut decisions_before = Vec::with_capacity(row.decisions.len());
        for decision in &row.decisions {
            decisions_before.push(self.decision_before(&decision.id, &row.tenant, decision.version).await?);
        }
        Ok(Some(Deletion::Requirements(RequirementsDeletion { row, before, decisions_before })))
    }
}

fn no_resource(key: u64) -> Stop {
    Stop::not_found(format!("Expected to delete resource with key '{key}', but no such resource exists"))
}

impl Deletion {
    fn tenant(&self) -> &str {
        match self {
            Self::Definition(deletion) => &deletion.row.tenant,
            Self::Requirements(deletion) => &deletion.row.tenant,
            Self::Form(form) => &form.tenant,
        }
    }
}

/// What a tick has looked up about something to be deleted.
#[derive(Debug)]
pub(super) enum Deletion {
    Definition(DefinitionDeletion),
    Requirements(RequirementsDeletion),
    Form(row::Form),
}

/// Compiles every file; all problems of all files are told at once.
fn drafts(resources: &[DeployResource]) -> Result<Vec<Draft>, Rejection> {
    let mut drafts: Vec<Draft> = Vec::new();
    let mut problems = Vec::new();
    if resources.is_empty() {
        problems.push("there are none: name at least one .bpmn, .dmn, .form or .json file".to_owned());
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
    bound::missing(&drafts, &mut problems);
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
    let compiled = if source::holds_processes(name) {
        source::processes(name, &resource.content).map(Holds::Processes)
    } else if name.ends_with(".dmn") {
        compile::dmn(&resource.content).map(Holds::Decisions)
    } else if name.ends_with(".form") {
        return forms::read(&resource.content).map(Holds::Form).map_err(|problem| vec![format!("{name}: {problem}")]);
    } else {
        let problem =
            format!("'{name}' is of no kind that can be deployed: its name must end in .bpmn, .dmn, .form, .json or .xml");
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
            Holds::Form(form) => vec![("form", &form.id)],
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
