//! What belongs to another tenant is not there.

use engine::PartitionId;
use store::conformance::data::{TENANTS, data};
use store::conformance::{fill, rows};
use store::query::{Entity, Items, Page, Query, Tenants};
use store::row::Resource;

use super::*;

const ENTITIES: [(Entity, &str); 12] = [
    (Entity::Definitions, "process-definitions"),
    (Entity::Instances, "process-instances"),
    (Entity::Elements, "element-instances"),
    (Entity::Variables, "variables"),
    (Entity::Jobs, "jobs"),
    (Entity::Incidents, "incidents"),
    (Entity::Requirements, "decision-requirements"),
    (Entity::Decisions, "decision-definitions"),
    (Entity::EvaluatedDecisions, "decision-instances"),
    (Entity::MessageSubscriptions, "message-subscriptions"),
    (Entity::MessageCorrelations, "correlated-message-subscriptions"),
    (Entity::UserTasks, "user-tasks"),
];

/// Beside the partition of the server: rows of two tenants, and a file of each.
async fn with_two_tenants() -> (Server, Arc<dyn Store>) {
    let store = memory();
    let partition = PartitionId(2);
    let (mut changes, free) = data(partition, 30);
    let file = |(place, tenant): (u64, &str)| Resource { tenant: tenant.into(), ..rows::resource(free + place) };
    changes.resources_new = (0..).zip(TENANTS).map(file).collect();
    fill(&store, partition, changes).await;
    let server = Server::start_over(store.clone(), &Config::default(), Budgets::default()).await;
    for (place, status) in [(0, 200), (1, 404)] {
        for path in ["", "/content"] {
            assert_eq!(server.get(&format!("/v2/resources/{}{path}", free + place)).await.status, status);
        }
    }
    (server, store)
}

async fn keys(store: &Arc<dyn Store>, entity: Entity, tenant: &str) -> Vec<String> {
    let page = Page::From { from: 0, limit: 10_000 };
    let query = Query { page, ..Query::of(entity, Tenants::These(vec![tenant.into()])) };
    match store.search(&query).await.unwrap().items {
        Items::Definitions(views) => views.iter().map(|view| view.key.to_string()).collect(),
        Items::Instances(views) => views.iter().map(|view| view.key.to_string()).collect(),
        Items::Elements(views) => views.iter().map(|view| view.key.to_string()).collect(),
        Items::Variables(views) => views.iter().map(|view| view.key.to_string()).collect(),
        Items::Jobs(views) => views.iter().map(|view| view.key.to_string()).collect(),
        Items::Incidents(views) => views.iter().map(|view| view.key.to_string()).collect(),
        Items::Requirements(views) => views.iter().map(|view| view.key.to_string()).collect(),
        Items::Decisions(views) => views.iter().map(|view| view.key.to_string()).collect(),
        Items::EvaluatedDecisions(views) => views.iter().map(|view| format!("{}-{}", view.evaluation, view.place)).collect(),
        Items::Timers(views) => views.iter().map(|view| view.key.to_string()).collect(),
        Items::UserTasks(views) => views.iter().map(|view| view.key.to_string()).collect(),
        Items::Executions(views) => views.iter().map(|view| view.key.to_string()).collect(),
        Items::Operations(views) | Items::Audit(views) => views.iter().map(|view| view.key.to_string()).collect(),
        Items::DeadLetters(views) => views.iter().map(|view| view.key.to_string()).collect(),
        Items::MessageSubscriptions(views) | Items::Waits(views) => views.iter().map(|view| view.key.to_string()).collect(),
        Items::MessageCorrelations(views) => views.iter().map(|view| view.key.to_string()).collect(),
        Items::Batches(views) => views.iter().map(|view| view.key.to_string()).collect(),
        Items::BatchItems(views) => views.iter().map(|view| view.key.to_string()).collect(),
    }
}

#[tokio::test]
async fn what_belongs_to_another_tenant_is_neither_found_nor_got() {
    let (server, store) = with_two_tenants().await;
    for (entity, name) in ENTITIES {
        let found = server.post(&format!("/v2/{name}/search"), r#"{"page":{"limit":10000}}"#).await.json();
        let items = found["items"].as_array().unwrap();
        assert!(!items.is_empty() && items.iter().all(|item| item["tenantId"] == TENANTS[0]), "{name}: {found}");
        let [ours, theirs] = TENANTS.map(|tenant| keys(&store, entity, tenant));
        for (keys, status) in [(ours.await, 200), (theirs.await, 404)] {
            let key = keys.first().unwrap();
            let is_only_searched = matches!(entity, Entity::Jobs | Entity::MessageSubscriptions | Entity::MessageCorrelations);
            let paths = if is_only_searched { vec![] } else { vec![format!("/v2/{name}/{key}")] };
            for path in paths {
                assert_eq!(server.get(&path).await.status, status, "{path}");
            }
        }
    }
}

#[tokio::test]
async fn nor_is_anything_below_it() {
    let (server, store) = with_two_tenants().await;
    for (entity, name) in [(Entity::Instances, "process-instances"), (Entity::Elements, "element-instances")] {
        let [ours, theirs] = TENANTS.map(|tenant| keys(&store, entity, tenant));
        for (keys, status) in [(ours.await, 200), (theirs.await, 404)] {
            let reply = server.post(&format!("/v2/{name}/{}/incidents/search", keys[0]), "").await;
            assert_eq!(reply.status, status, "{name}: {}", reply.text);
        }
    }
    let [ours, theirs] = TENANTS.map(|tenant| keys(&store, Entity::Batches, tenant));
    for (keys, status) in [(ours.await, 200), (theirs.await, 404)] {
        assert_eq!(server.get(&format!("/v2/batch-operations/{}", keys[0])).await.status, status);
    }
    let names = ["process-definitions", "decision-definitions", "decision-requirements"];
    for (entity, name) in ENTITIES.into_iter().filter(|(_, name)| names.contains(name)) {
        let theirs = keys(&store, entity, TENANTS[1]).await;
        assert_eq!(server.get(&format!("/v2/{name}/{}/xml", theirs[0])).await.status, 404);
    }
}
