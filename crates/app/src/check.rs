//! Reads everything a store holds, as a server would, and compiles every definition.

use std::path::Path;

use engine::{InstanceKey, PartitionId};
use store::query::{Entity, Items, Page, Query, Tenants};
use store::{Store, Wanted};

use crate::config::{Access, StoreUrl};
use crate::serve;

const PARTITION: PartitionId = PartitionId(1);
const PAGE: u32 = 1_000;

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

#[derive(Default)]
pub(crate) struct Found {
    pub(crate) counts: Vec<(&'static str, u64)>,
    pub(crate) faults: Vec<String>,
}

pub(crate) fn rows(data: &Path) -> Result<Found, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start: {error}"))?;
    runtime.block_on(async {
        let access = Access { search_timeout: std::time::Duration::from_secs(3600), ..Access::default() };
        let store = serve::open(&StoreUrl::Sqlite(data.to_owned()), &access).await?;
        let mut found = Found::default();
        for (name, entity) in ENTITIES {
            let count = read_all(&*store, entity, &mut found.faults).await;
            found.counts.push((name, count));
        }
        Ok(found)
    })
}

/// Every row of one kind. A page that cannot be read is a fault, and what comes after it is not read.
async fn read_all(store: &dyn Store, entity: Entity, faults: &mut Vec<String>) -> u64 {
    let mut page = Page::From { from: 0, limit: PAGE };
    let mut count = 0;
    loop {
        let all = Query::of(entity, Tenants::Everything);
        let query = Query { page, with_details: true, with_kept: true, ..all };
        let read = match store.search(&query).await {
            Ok(read) => read,
            Err(error) => {
                faults.push(error.to_string());
                return count;
            }
        };
        count += read.items.len() as u64;
        look_into(store, &read.items, faults).await;
        match read.end {
            Some(cursor) => page = Page::After { cursor, limit: PAGE },
            None => return count,
        }
    }
}

/// What rows lead to: the files of definitions, and all that is alive of instances.
async fn look_into(store: &dyn Store, items: &Items, faults: &mut Vec<String>) {
    match items {
        Items::Definitions(views) => {
            for view in views.iter().filter(|view| !view.deleted) {
                compile(store, view.resource, &view.resource_name, faults).await;
            }
        }
        Items::Requirements(views) => {
            for view in views.iter().filter(|view| !view.deleted) {
                compile(store, view.resource, &view.resource_name, faults).await;
            }
        }
        Items::Instances(views) => {
            for view in views.iter().filter(|view| view.ended.is_none()) {
                load(store, view.key, faults).await;
            }
        }
        Items::Batches(views) => {
            for view in views {
                if let Err(error) = store.batch_operation(view.key).await {
                    faults.push(error.to_string());
                }
            }
        }
        Items::BatchItems(_)
        | Items::Elements(_)
        | Items::Variables(_)
        | Items::Jobs(_)
        | Items::Incidents(_)
        | Items::Decisions(_)
        | Items::EvaluatedDecisions(_)
        | Items::Timers(_)
        | Items::MessageSubscriptions(_)
        | Items::MessageCorrelations(_)
        | Items::UserTasks(_)
        | Items::Executions(_)
        | Items::Operations(_)
        | Items::Audit(_)
        | Items::Waits(_)
        | Items::DeadLetters(_) => {}
    }
}

async fn compile(store: &dyn Store, resource: u64, name: &str, faults: &mut Vec<String>) {
    let fault = match store.resource(resource).await {
        Err(error) => error.to_string(),
        Ok(None) => format!("the file {name} ({resource}) of a definition is not there"),
        Ok(Some(resource)) => {
            let diagnostics = match name.rsplit_once('.') {
                Some((_, "dmn")) => compile::dmn(&resource.content).err(),
                Some((_, "json")) => compile::json(&resource.content).err(),
                _ => compile::bpmn(&resource.content).err(),
            };
            match diagnostics {
                None => return,
                Some(diagnostics) => format!("the file {name} ({}) does not compile: {}", resource.key, diagnostics[0]),
            }
        }
    };
    faults.push(fault);
}

async fn load(store: &dyn Store, key: InstanceKey, faults: &mut Vec<String>) {
    let wanted = Wanted { instances: vec![key], locks_of: vec![key], ..Wanted::default() };
    match store.load(PARTITION, &wanted, 0).await {
        Err(error) => faults.push(format!("instance {}: {error}", key.0)),
        Ok(loaded) if loaded.instances.is_empty() => faults.push(format!("instance {} cannot be loaded", key.0)),
        Ok(_) => {}
    }
}
