//! Compiled processes and decisions: made once per key, shared, bounded by count and bytes. A key is never reused and a file is deployed
//! as it is, so what was compiled is never stale. Only whether it was deleted since is not known here: an entry outlives ownerships, and
//! other owners delete. Who must know asks the table.

use std::sync::Arc;

use engine::{DefinitionKey, FormKey, RequirementsKey};
use model::{ElementIx, Process, Requirements};
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use store::{Error, Store, row};

use crate::Limits;
use crate::metrics::Metrics;
use crate::partition::read_form;

/// A definition ready to run.
#[derive(Debug)]
pub struct Compiled {
    /// As it was when it was compiled: it may have been deleted since.
    pub row: row::Definition,
    pub process: Process,
    source_bytes: u64,
}

impl Compiled {
    pub(crate) fn new(row: row::Definition, process: Process, source_bytes: usize) -> Self {
        Self { row, process, source_bytes: source_bytes as u64 }
    }
}

/// A DMN file ready to be evaluated. Decision by decision, row and model go together.
#[derive(Debug)]
pub struct CompiledDecisions {
    /// As it was when it was compiled, likewise.
    pub row: row::DecisionRequirements,
    pub requirements: Requirements,
    source_bytes: u64,
}

impl CompiledDecisions {
    pub(crate) fn new(row: row::DecisionRequirements, requirements: Requirements, source_bytes: usize) -> Self {
        Self { row, requirements, source_bytes: source_bytes as u64 }
    }
}

/// What is kept under a key: keys of processes and of decisions never meet.
#[derive(Debug, Clone)]
enum Made {
    Process(Arc<Compiled>),
    Decisions(Arc<CompiledDecisions>),
}

/// Counts bytes, but at least a share of the room, so that the number of entries is bounded too.
#[derive(Debug, Clone)]
struct Weight {
    least: u64,
}

impl Weighter<u64, Made> for Weight {
    fn weight(&self, _: &u64, made: &Made) -> u64 {
        let source_bytes = match made {
            Made::Process(compiled) => compiled.source_bytes,
            Made::Decisions(compiled) => compiled.source_bytes,
        };
        source_bytes.max(self.least)
    }
}

/// All compiled processes and decisions of a server.
pub struct Definitions {
    store: Arc<dyn Store>,
    cache: Cache<u64, Made, Weight>,
    metrics: Arc<Metrics>,
}

impl Definitions {
    pub fn new(store: Arc<dyn Store>, limits: &Limits, metrics: Arc<Metrics>) -> Self {
        let entries = limits.definitions_max.max(1);
        let least = (limits.definitions_bytes_max / entries as u64).max(1);
        let cache = Cache::with_weighter(entries, limits.definitions_bytes_max, Weight { least });
        Self { store, cache, metrics }
    }

    /// The compiled definition; whoever asks first reads and compiles it, the others wait for that. `None` if there is none.
    pub async fn get(&self, key: DefinitionKey) -> Result<Option<Arc<Compiled>>, Error> {
        match self.made(key.0, self.read(key)).await? {
            Some(Made::Process(compiled)) => Ok(Some(compiled)),
            Some(Made::Decisions(_)) | None => Ok(None),
        }
    }

    /// The same for the decisions of a DMN file.
    pub async fn decisions(&self, key: RequirementsKey) -> Result<Option<Arc<CompiledDecisions>>, Error> {
        match self.made(key.0, self.read_decisions(key)).await? {
            Some(Made::Decisions(compiled)) => Ok(Some(compiled)),
            Some(Made::Process(_)) | None => Ok(None),
        }
    }

    /// The row of a form whose file can be read, as it could when it was deployed. `None` if there is none.
    pub async fn form(&self, key: FormKey) -> Result<Option<row::Form>, Error> {
        let Some(row) = self.store.form(key).await? else { return Ok(None) };
        let resource = self.source(row.resource).await?;
        match read_form(&resource.content) {
            Ok(form) if form.id == row.id => Ok(Some(row)),
            Ok(form) => Err(Error::corrupt(format!("{} has form '{}' instead of '{}'", resource.name, form.id, row.id))),
            Err(why) => Err(Error::corrupt(format!("{} no longer can be read: {why}", resource.name))),
        }
    }

    async fn made(&self, key: u64, make: impl Future<Output = Result<Made, Option<Error>>>) -> Result<Option<Made>, Error> {
        if let Some(made) = self.cache.get(&key) {
            self.metrics.definition_hits.inc();
            return Ok(Some(made));
        }
        self.metrics.definition_misses.inc();
        let found = self.cache.get_or_insert_async(&key, make).await;
        self.report();
        match found {
            Ok(made) => Ok(Some(made)),
            Err(None) => Ok(None),
            Err(Some(error)) => Err(error),
        }
    }

    /// A definition compiled elsewhere, such as by its deployment.
    pub(crate) fn insert(&self, compiled: Arc<Compiled>) {
        self.cache.insert(compiled.row.key.0, Made::Process(compiled));
        self.report();
    }

    pub(crate) fn insert_decisions(&self, compiled: Arc<CompiledDecisions>) {
        self.cache.insert(compiled.row.key.0, Made::Decisions(compiled));
        self.report();
    }

    async fn read(&self, key: DefinitionKey) -> Result<Made, Option<Error>> {
        let row = self.store.definition(key).await.map_err(Some)?.ok_or(None)?;
        let resource = self.source(row.resource).await.map_err(Some)?;
        let process = compile_one(&resource, &row).map_err(Some)?;
        Ok(Made::Process(Arc::new(Compiled::new(row, process, resource.content.len()))))
    }

    async fn read_decisions(&self, key: RequirementsKey) -> Result<Made, Option<Error>> {
        let row = self.store.requirements(key).await.map_err(Some)?.ok_or(None)?;
        let resource = self.source(row.resource).await.map_err(Some)?;
        let requirements = compile_decisions(&resource, &row).map_err(Some)?;
        Ok(Made::Decisions(Arc::new(CompiledDecisions::new(row, requirements, resource.content.len()))))
    }

    async fn source(&self, key: u64) -> Result<row::Resource, Error> {
        let resource = self.store.resource(key).await?;
        resource.ok_or_else(|| Error::corrupt(format!("there is no resource with key {key}")))
    }

    fn report(&self) {
        self.metrics.definition_entries.set(self.cache.len() as i64);
        self.metrics.definition_bytes.set(self.cache.weight() as i64);
    }
}

/// What was deployed compiled then; that it does not now means the store is damaged or the compiler changed its mind.
pub(crate) fn compile_one(resource: &row::Resource, row: &row::Definition) -> Result<Process, Error> {
    let processes = crate::source::processes(&resource.name, &resource.content);
    let mut processes = processes.map_err(|diagnostics| no_longer(resource, &diagnostics))?.into_iter();
    let process = processes.find(|process| process.id == row.process_id);
    let process =
        process.ok_or_else(|| Error::corrupt(format!("{} no longer has process '{}'", resource.name, row.process_id)))?;
    // Rows of instances name elements and flows by their place: a compiler that numbers them otherwise must not be obeyed.
    let shown = |index: usize| &process.element(process.event(ElementIx(index as u32))).id;
    let elements = (0..process.elements.len()).map(shown).eq(row.elements.iter().map(|element| &element.id));
    let flows = row.flows.as_ref().is_none_or(|flows| process.flows.iter().map(|flow| &flow.id).eq(flows));
    match elements && flows {
        true => Ok(process),
        false => Err(Error::corrupt(format!(
            "process '{}' of {} numbers its elements otherwise than when it was deployed",
            row.process_id, resource.name
        ))),
    }
}

fn compile_decisions(resource: &row::Resource, row: &row::DecisionRequirements) -> Result<Requirements, Error> {
    let requirements = compile::dmn(&resource.content).map_err(|diagnostics| no_longer(resource, &diagnostics))?;
    let ids = requirements.decisions.iter().map(|decision| &decision.id);
    if !ids.eq(row.decisions.iter().map(|decision| &decision.id)) {
        return Err(Error::corrupt(format!("{} no longer has the decisions it was deployed with", resource.name)));
    }
    Ok(requirements)
}

fn no_longer(resource: &row::Resource, diagnostics: &[compile::Diagnostic]) -> Error {
    let first = diagnostics.first().map(ToString::to_string).unwrap_or_default();
    Error::corrupt(format!("{} no longer compiles: {first}", resource.name))
}
