//! Process definitions: their versions, and what searches show of their elements.

use std::sync::Arc;

use engine::DefinitionKey;
use model::{JobTaskFlavour, Kind, PassTask, Process};
use store::log::{Answer, Code, DeployedProcess};
use store::{Millis, Named, row};

use super::{File, Partition, no_resource};
use crate::definitions::Compiled;
use crate::partition::tick::Tick;
use crate::partition::unit::Stop;

impl Partition {
    pub(super) fn is_unchanged_process(&self, file: &File, process: &Process, tenant: &Arc<str>) -> Result<bool, Stop> {
        let latest = self.latest_process(&(process.id.clone(), tenant.clone()))?;
        // Every upload of a workflow is a new version.
        Ok(process.workflow.is_none() && latest.is_some_and(|latest| latest.checksum == file.checksum))
    }

    pub(super) fn process_as_deployed(
        &self,
        file: &File,
        process: &Process,
        tenant: &Arc<str>,
    ) -> Result<Option<DeployedProcess>, Stop> {
        let latest = self.latest_process(&(process.id.clone(), tenant.clone()))?;
        Ok(latest.map(|latest| DeployedProcess {
            process_id: process.id.clone(),
            version: latest.version,
            definition: latest.key,
            resource_name: file.name.clone(),
        }))
    }

    pub(super) fn write_process(
        &mut self,
        tick: &mut Tick,
        file: &File,
        process: Process,
        tenant: &Arc<str>,
    ) -> Result<DeployedProcess, Stop> {
        let name = (process.id.clone(), tenant.clone());
        let starts = Self::start_triggers(&process, tick.now);
        let starts = starts.map_err(|reason| {
            let reason = format!("Expected to deploy new resources, but:\n{}: process '{}': {reason}", file.name, process.id);
            Stop::refused(Code::InvalidArgument, reason)
        })?;
        if let Some(latest) = self.latest_process(&name)?.map(|latest| latest.key) {
            self.close_starts(tick, latest)?;
        }
        let version = self.catalogue.processes.get(&name).map_or(0, |named| named.version_max) + 1;
        let row = row::Definition {
            key: DefinitionKey(self.keys.take()),
            version,
            process_id: process.id.clone(),
            name: process.name.clone(),
            version_tag: process.version_tag.clone(),
            tenant: tenant.clone(),
            resource: file.resource,
            resource_name: file.name.clone(),
            deployment: file.deployment,
            checksum: file.checksum.clone(),
            deleted: false,
            elements: shown_all(&process, tick.now),
            flows: Some(process.flows.iter().map(|flow| flow.id.clone()).collect()),
            start_form: process.start_form.clone(),
        };
        let deployed = DeployedProcess {
            process_id: row.process_id.clone(),
            version: row.version,
            definition: row.key,
            resource_name: row.resource_name.clone(),
        };
        let named = Named { version_max: version, latest: Some(head(&row)) };
        self.catalogue.processes.put(name, named, tick.number);
        self.open_starts(tick, &row, starts)?;
        if process.workflow.is_some() {
            self.metrics.workflows.uploaded.inc();
        }
        tick.unit.changes.definitions_new.push(row.clone());
        tick.unit.deployed.push(Arc::new(Compiled::new(row, process, file.content.len())));
        Ok(deployed)
    }

    /// The version before is the latest again: its start events wait again.
    fn open_starts_again(&mut self, tick: &mut Tick, row: &row::Definition) -> Result<(), Stop> {
        let Some(compiled) = self.compiled(tick, row.key)? else { return Ok(()) };
        // They could wait when it was deployed.
        let starts = Self::start_triggers(&compiled.process, tick.now).unwrap_or_default();
        self.open_starts(tick, row, starts)
    }

    /// A definition with running instances stays; a deleted one stays readable, and the version before it is the latest again.
    pub(super) fn delete_definition(&mut self, tick: &mut Tick, deletion: &DefinitionDeletion) -> Result<Answer, Stop> {
        let DefinitionDeletion { row, runs, before } = deletion;
        let definition = row.key;
        if self.catalogue.definitions.get(&definition) == Some(&true) {
            return Err(no_resource(definition.0));
        }
        let name = (row.process_id.clone(), row.tenant.clone());
        let is_latest = self.latest_process(&name)?.is_some_and(|latest| latest.key == definition);
        if *runs || self.hot.values().any(|hot| hot.instance.definition == definition) {
            let reason = format!(
                "Expected to delete definition with key '{definition}', but it has running instances: cancel or complete them \
                 first"
            );
            return Err(Stop::refused(Code::InvalidState, reason));
        }
        if is_latest {
            self.close_starts(tick, definition)?;
            if let Some(before) = before {
                self.open_starts_again(tick, before)?;
            }
            self.catalogue.processes.change(&name, tick.number, |named| named.latest = before.as_ref().map(head));
        }
        self.catalogue.definitions.put(definition, true, tick.number);
        tick.unit.changes.definitions_deleted.push(definition);
        Ok(Answer::ResourceDeleted { key: definition.0 })
    }
}

fn head(row: &row::Definition) -> row::DefinitionHead {
    row::DefinitionHead { key: row.key, version: row.version, checksum: row.checksum.clone() }
}

/// What a tick has looked up about a definition to be deleted.
#[derive(Debug)]
pub(in crate::partition) struct DefinitionDeletion {
    pub(in crate::partition) row: row::Definition,
    pub(in crate::partition) runs: bool,
    pub(in crate::partition) before: Option<row::Definition>,
}

/// What searches show of the elements. Of a workflow itself its description and when it came are kept there.
fn shown_all(process: &Process, now: Millis) -> Vec<row::DefinitionElement> {
    let mut elements: Vec<_> = process.elements.iter().map(|element| shown(process, element)).collect();
    if let (Some(workflow), Some(itself)) = (&process.workflow, elements.first_mut()) {
        let uploaded = (Arc::from("uploadedAt"), now.to_string().into());
        let description = workflow.description.clone().map(|description| (Arc::from("description"), description));
        let about: Vec<_> = std::iter::once(uploaded).chain(description).collect();
        itself.headers = crate::json::object_of_texts(&about).into();
    }
    elements
}

/// What searches show of an element.
fn shown(process: &Process, element: &model::Element) -> row::DefinitionElement {
    // One of several definitions of an event is shown as that event.
    let element = match &element.kind {
        Kind::EventPart(part) => process.element(part.event),
        _ => element,
    };
    let headers = match &element.kind {
        Kind::JobTask(task) => crate::json::object_of_texts(&task.headers),
        Kind::UserTask(task) => crate::json::object_of_texts(&task.headers),
        Kind::AdHoc(ad_hoc) => crate::json::object_of_texts(ad_hoc.directed.as_ref().map_or(&[], |task| &task.headers)),
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
        // Clients have no word for a transaction.
        Kind::SubProcess(_) | Kind::Transaction(_) => "SUB_PROCESS",
        Kind::EventSubProcess(_) => "EVENT_SUB_PROCESS",
        Kind::AdHoc(_) => "AD_HOC_SUB_PROCESS",
        Kind::AdHocRun => "AD_HOC_SUB_PROCESS_INNER_INSTANCE",
        Kind::StartEvent(_) => "START_EVENT",
        Kind::EndEvent(_) => "END_EVENT",
        Kind::ThrowEvent(_) | Kind::LinkThrow(_) => "INTERMEDIATE_THROW_EVENT",
        Kind::CatchEvent(_) | Kind::LinkCatch(_) => "INTERMEDIATE_CATCH_EVENT",
        Kind::PassTask(PassTask::Undefined) => "TASK",
        Kind::PassTask(PassTask::Manual) => "MANUAL_TASK",
        Kind::JobTask(task) => match task.flavour {
            JobTaskFlavour::Service => "SERVICE_TASK",
            JobTaskFlavour::Send => "SEND_TASK",
            JobTaskFlavour::Script => "SCRIPT_TASK",
            JobTaskFlavour::BusinessRule => "BUSINESS_RULE_TASK",
            JobTaskFlavour::Throw => "INTERMEDIATE_THROW_EVENT",
            JobTaskFlavour::End => "END_EVENT",
            JobTaskFlavour::User => "USER_TASK",
            JobTaskFlavour::AdHoc => "AD_HOC_SUB_PROCESS",
        },
        Kind::UserTask(_) => "USER_TASK",
        Kind::ReceiveTask(_) | Kind::Wait => "RECEIVE_TASK",
        Kind::SendTask(_) => "SEND_TASK",
        Kind::CallActivity(_) => "CALL_ACTIVITY",
        Kind::ScriptTask(_) | Kind::Transformation(_) => "SCRIPT_TASK",
        Kind::DecisionTask(_) => "BUSINESS_RULE_TASK",
        Kind::ExclusiveGateway { .. } => "EXCLUSIVE_GATEWAY",
        Kind::ParallelGateway => "PARALLEL_GATEWAY",
        Kind::EventGateway => "EVENT_BASED_GATEWAY",
        Kind::InclusiveGateway(_) => "INCLUSIVE_GATEWAY",
        // Clients have no word for it.
        Kind::ComplexGateway(_) => "UNKNOWN",
        Kind::BoundaryEvent(_) | Kind::CompensationBoundary(_) => "BOUNDARY_EVENT",
        // It is shown as the event it is a part of.
        Kind::EventPart(_) => "UNKNOWN",
    }
}
