//! A store as a server sees it: what is deployed compiles, searches find everything, and what runs can be loaded.

use std::sync::Arc;

use engine::{DefinitionKey, FormKey, InstanceKey, PartitionId, RequirementsKey};
use host::{Definitions, Limits, Metrics};
use store::query::{Entity, Field, Filter, Items, Op, Page, Query, Scalar, Tenants};
use store::{Error, Store, Wanted};

use super::contents::{Found, Source};
use crate::progress::Progress;

const PARTITION: PartitionId = PartitionId(1);
const PAGE: u32 = 1_000;
/// Of a page, in memory.
const PAGE_BYTES: usize = 16 << 20;

const ENTITIES: [(&str, Entity); 17] = [
    ("definitions", Entity::Definitions),
    ("instances", Entity::Instances),
    ("elements", Entity::Elements),
    ("variables", Entity::Variables),
    ("jobs", Entity::Jobs),
    ("incidents", Entity::Incidents),
    ("requirements", Entity::Requirements),
    ("decisions", Entity::Decisions),
    ("evaluated decisions", Entity::EvaluatedDecisions),
    ("timers", Entity::Timers),
    ("message subscriptions", Entity::MessageSubscriptions),
    ("message correlations", Entity::MessageCorrelations),
    ("user tasks", Entity::UserTasks),
    ("executions", Entity::Executions),
    ("batch operations", Entity::Batches),
    ("batch operation items", Entity::BatchItems),
    ("operations", Entity::Operations),
];

/// Compiles what is deployed as a server does, one after the other.
pub(super) async fn compile(store: &Arc<dyn Store>, sources: &[Source], progress: &mut Progress, found: &mut Found) {
    let definitions = Definitions::new(store.clone(), &Limits::default(), Arc::new(Metrics::default()));
    for (number, Source { table, key, file }) in sources.iter().enumerate() {
        progress.tell(|| format!("Compiling what is deployed: {number} of {}", sources.len()));
        let compiled = match *table {
            "definitions" => definitions.get(DefinitionKey(*key)).await.map(|there| there.is_some()),
            "requirements" => definitions.decisions(RequirementsKey(*key)).await.map(|there| there.is_some()),
            _ => definitions.form(FormKey(*key)).await.map(|there| there.is_some()),
        };
        match compiled {
            Ok(true) => {}
            Ok(false) => found.fault(format!("table {table}, key {key}: it is not found by its key")),
            Err(error) => found.fault(format!("table {table}, key {key}, file {file}: {error}")),
        }
    }
}

pub(super) async fn search(store: &dyn Store, progress: &mut Progress, found: &mut Found) {
    for (name, entity) in ENTITIES {
        if let Err(error) = search_all(store, name, entity, progress, found).await {
            found.fault(format!("a search for {name}: {error}"));
        }
    }
}

/// Every row of one kind. Past a page that cannot be read nothing is.
async fn search_all(
    store: &dyn Store,
    name: &str,
    entity: Entity,
    progress: &mut Progress,
    found: &mut Found,
) -> Result<(), Error> {
    let mut page = Page::From { from: 0, limit: PAGE };
    let mut count = 0;
    loop {
        let all = Query::of(entity, Tenants::Everything);
        let query = Query { page, with_details: true, with_kept: true, uncounted: true, bytes_max: Some(PAGE_BYTES), ..all };
        let read = store.search(&query).await?;
        count += read.items.len();
        progress.tell(|| format!("Searching for {name}: {count}"));
        if let Items::Instances(views) = &read.items {
            for view in views.iter().filter(|view| view.ended.is_none()) {
                if let Some(fault) = load(store, view.key).await {
                    found.fault(format!("instance {}: {fault}", view.key.0));
                }
            }
        }
        match read.end {
            Some(cursor) => page = Page::After { cursor, limit: PAGE },
            None => return Ok(()),
        }
    }
}

/// Loads an instance that ran when it was found, and may have ended since.
async fn load(store: &dyn Store, key: InstanceKey) -> Option<String> {
    let wanted = Wanted { instances: vec![key], locks_of: vec![key], ..Wanted::default() };
    match store.load(PARTITION, &wanted, 0).await {
        Err(error) => Some(error.to_string()),
        Ok(loaded) => match loaded.broken.first() {
            Some(broken) => Some(broken.what.clone()),
            None if loaded.instances.is_empty() && runs(store, key).await => Some("it cannot be loaded".to_owned()),
            None => None,
        },
    }
}

async fn runs(store: &dyn Store, key: InstanceKey) -> bool {
    let of = Query::of(Entity::Instances, Tenants::Everything);
    let filter = Filter::Is(Field::InstanceKey, Op::Eq(Scalar::Int(key.0 as i64)));
    let found = store.search(&Query { filter, ..of }).await.map(|read| read.items);
    matches!(found, Ok(Items::Instances(views)) if views.iter().any(|view| view.ended.is_none()))
}
