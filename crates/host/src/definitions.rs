//! Compiled processes: made once per definition key, shared, bounded by count and bytes. A key is never reused, so an entry is never stale.

use std::sync::Arc;

use engine::DefinitionKey;
use model::Process;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use store::{Error, Store, row};

use crate::Limits;
use crate::metrics::Metrics;

/// A definition ready to run.
#[derive(Debug)]
pub struct Compiled {
    pub row: row::Definition,
    pub process: Process,
    source_bytes: u64,
}

impl Compiled {
    pub(crate) fn new(row: row::Definition, process: Process, source_bytes: usize) -> Self {
        Self { row, process, source_bytes: source_bytes as u64 }
    }
}

/// Counts bytes, but at least a share of the room, so that the number of entries is bounded too.
#[derive(Debug, Clone)]
struct Weight {
    least: u64,
}

impl Weighter<DefinitionKey, Arc<Compiled>> for Weight {
    fn weight(&self, _: &DefinitionKey, compiled: &Arc<Compiled>) -> u64 {
        compiled.source_bytes.max(self.least)
    }
}

/// All compiled definitions of a server.
pub struct Definitions {
    store: Arc<dyn Store>,
    cache: Cache<DefinitionKey, Arc<Compiled>, Weight>,
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
        if let Some(compiled) = self.cache.get(&key) {
            self.metrics.definition_hits.inc();
            return Ok(Some(compiled));
        }
        self.metrics.definition_misses.inc();
        let found = self.cache.get_or_insert_async(&key, self.read(key)).await;
        self.report();
        match found {
            Ok(compiled) => Ok(Some(compiled)),
            Err(None) => Ok(None),
            Err(Some(error)) => Err(error),
        }
    }

    /// A definition compiled elsewhere, such as by its deployment.
    pub(crate) fn insert(&self, compiled: Arc<Compiled>) {
        self.cache.insert(compiled.row.key, compiled);
        self.report();
    }

    /// Its row has changed: the next who asks reads it again.
    pub(crate) fn forget(&self, key: DefinitionKey) {
        self.cache.remove(&key);
        self.report();
    }

    async fn read(&self, key: DefinitionKey) -> Result<Arc<Compiled>, Option<Error>> {
        let row = self.store.definition(key).await.map_err(Some)?.ok_or(None)?;
        let resource = self.store.resource(row.resource).await.map_err(Some)?;
        let resource = resource.ok_or_else(|| Some(Error::corrupt(format!("definition {key} has no resource"))))?;
        let source_bytes = resource.content.len();
        let process = compile_one(&resource, &row).map_err(Some)?;
        Ok(Arc::new(Compiled::new(row, process, source_bytes)))
    }

    fn report(&self) {
        self.metrics.definition_entries.set(self.cache.len() as i64);
        self.metrics.definition_bytes.set(self.cache.weight() as i64);
    }
}

/// What was deployed compiled then; that it does not now means the store is damaged or the compiler changed its mind.
fn compile_one(resource: &row::Resource, row: &row::Definition) -> Result<Process, Error> {
    let compiled = compile::bpmn(&resource.content).map_err(|diagnostics| {
        let first = diagnostics.first().map(ToString::to_string).unwrap_or_default();
        Error::corrupt(format!("{} no longer compiles: {first}", resource.name))
    })?;
    let mut processes = compiled.processes.into_iter();
    processes
        .find(|process| process.id == row.process_id)
        .ok_or_else(|| Error::corrupt(format!("{} no longer has process '{}'", resource.name, row.process_id)))
}
