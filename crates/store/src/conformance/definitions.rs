//! Versions of definitions, latest and earlier, deleted and not.

use std::sync::Arc;

use engine::{DefinitionKey, PartitionId};

use super::owner::{Owner, PARTITION};
use super::rows;
use crate::row::{Definition, DefinitionHead, InstanceState};
use crate::{Changes, InstanceChange, Named, Store};

fn definition(n: u64, process_id: &str, version: i32, tenant: &str) -> Definition {
    let mut definition = rows::definition(rows::key(PARTITION, n), process_id, version);
    definition.tenant = tenant.into();
    definition.name = Some(format!("{process_id} {version}").into());
    definition.elements[2].name = Some("Work".into());
    definition.elements[2].headers = "{\"a\":\"b\"}".into();
    definition
}

pub(super) async fn a_name_leads_to_the_highest_not_deleted(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let all = vec![
        definition(10, "p", 1, "t"),
        definition(11, "p", 2, "t"),
        definition(12, "p", 3, "t"),
        definition(13, "p", 1, "u"),
        definition(14, "q", 1, "t"),
    ];
    owner.commit(Changes { definitions_new: all.clone(), ..Changes::default() }).await;
    let named = async |id: &str, tenant: &str| store.process_named(PARTITION, id, tenant).await.unwrap();
    let known = |version_max, latest: Option<&Definition>| Named {
        version_max,
        latest: latest.map(|one| DefinitionHead { key: one.key, version: one.version, checksum: one.checksum.clone() }),
    };
    assert_eq!(named("p", "t").await, known(3, Some(&all[2])));
    assert_eq!(named("p", "u").await, known(1, Some(&all[3])));
    for (id, tenant) in [("P", "t"), ("q", "u"), ("", "")] {
        assert_eq!(named(id, tenant).await, Named::default(), "{id} of {tenant}");
    }
    assert_eq!(store.process_named(PartitionId(2), "p", "t").await.unwrap(), Named::default());
    let deleted = vec![all[2].key, all[4].key];
    owner.commit(Changes { definitions_deleted: deleted, ..Changes::default() }).await;
    assert_eq!(named("p", "t").await, known(3, Some(&all[1])), "its version is not given again");
    assert_eq!(named("q", "t").await, known(1, None));
}

/// Definitions deployed before they were kept have none.
pub(super) async fn flows_come_back(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let mut all: Vec<Definition> = (1..=3).map(|version| definition(10 + version as u64, "p", version, "t")).collect();
    all[1].flows = None;
    all[2].flows = Some(Vec::new());
    owner.commit(Changes { definitions_new: all.clone(), ..Changes::default() }).await;
    for one in all {
        assert_eq!(store.definition(one.key).await.unwrap(), Some(one));
    }
}

pub(super) async fn versions_by_number(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let all: Vec<Definition> = (1..=4).map(|version| definition(10 + version as u64, "p", version, "t")).collect();
    owner.commit(Changes { definitions_new: all.clone(), ..Changes::default() }).await;
    owner.commit(Changes { definitions_deleted: vec![all[2].key], ..Changes::default() }).await;
    let mut deleted = all[2].clone();
    deleted.deleted = true;
    assert_eq!(store.definition(deleted.key).await.unwrap(), Some(deleted.clone()));
    assert_eq!(store.definition(DefinitionKey(rows::key(PARTITION, 99))).await.unwrap(), None);
    assert_eq!(store.definition(DefinitionKey(0)).await.unwrap(), None);
    let version = async |number| store.definition_version(PARTITION, "p", "t", number).await.unwrap();
    assert_eq!(version(1).await, Some(all[0].clone()));
    assert_eq!(version(3).await, Some(deleted));
    assert_eq!(version(5).await, None);
    assert_eq!(store.definition_version(PARTITION, "p", "u", 1).await.unwrap(), None);
    let before = async |number| store.definition_before(PARTITION, "p", "t", number).await.unwrap();
    assert_eq!(before(5).await, Some(all[3].clone()));
    assert_eq!(before(4).await, Some(all[1].clone()), "the third is deleted");
    assert_eq!(before(1).await, None);
    assert_eq!(store.definition_before(PARTITION, "q", "t", 5).await.unwrap(), None);
}

pub(super) async fn running_ones(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let all: Vec<Definition> = (1..=3).map(|version| definition(version as u64, "p", version, "t")).collect();
    let mut changes = Changes { definitions_new: all.clone(), ..Changes::default() };
    for (n, of) in [(20, 0), (21, 1), (22, 1), (23, 2), (24, 2), (25, 2)] {
        let mut instance = rows::instance(rows::key(PARTITION, n), all[of].key.0);
        if of == 2 && n < 25 {
            instance.state = InstanceState::Terminated;
            instance.ended = Some(1);
        }
        changes.instances_new.push(instance);
    }
    let last = changes.instances_new[5].clone();
    owner.commit(changes).await;
    assert_eq!(store.running_definitions(PARTITION, 10).await.unwrap(), [all[2].key, all[1].key, all[0].key]);
    assert_eq!(store.running_definitions(PARTITION, 1).await.unwrap(), [all[2].key]);
    assert_eq!(store.running_definitions(PartitionId(2), 10).await.unwrap(), []);
    assert!(store.has_running(all[2].key).await.unwrap());
    let ended = InstanceChange { key: last.key, state: InstanceState::Completed, phase: last.phase, ended: Some(2) };
    owner.commit(Changes { instances_changed: vec![ended], ..Changes::default() }).await;
    assert!(!store.has_running(all[2].key).await.unwrap());
    assert_eq!(store.running_definitions(PARTITION, 10).await.unwrap(), [all[1].key, all[0].key]);
}

pub(super) async fn resources(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let mut one = rows::resource(rows::key(PARTITION, 5));
    one.content = (0..=255u8).cycle().take(100_000).collect::<Vec<u8>>().into();
    let other = rows::resource(rows::key(PARTITION, 6));
    owner.commit(Changes { resources_new: vec![one.clone(), other.clone()], ..Changes::default() }).await;
    assert_eq!(store.resource(one.key).await.unwrap(), Some(one));
    assert_eq!(store.resource(other.key).await.unwrap(), Some(other));
    assert_eq!(store.resource(rows::key(PARTITION, 7)).await.unwrap(), None);
    assert_eq!(store.resource(7).await.unwrap(), None);
}
