//! Suspended instances run, and are told apart; what their jobs wait for is held.

use std::sync::Arc;

use engine::{InstanceKey, Phase};

use super::owner::{Owner, PARTITION};
use super::rows;
use crate::query::{Entity, Field, Filter, InstanceView, Items, Op, Query, Scalar, Tenants};
use crate::row::{Availability, InstanceState};
use crate::{Changes, CountedJobs, InstanceChange, QueueRef, ReadyAfter, Store, Wanted};

async fn search(store: &Arc<dyn Store>, filter: Filter) -> Vec<InstanceView> {
    let query = Query { filter, ..Query::of(Entity::Instances, Tenants::Everything) };
    match store.search(&query).await.unwrap().items {
        Items::Instances(views) => views,
        other => panic!("{other:?}"),
    }
}

async fn in_state(store: &Arc<dyn Store>, state: &str) -> Vec<InstanceKey> {
    let filter = Filter::Is(Field::InstanceState, Op::Eq(Scalar::Text(state.to_owned())));
    search(store, filter).await.iter().map(|view| view.key).collect()
}

pub(super) async fn it_runs_and_is_told_apart(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let definition = rows::definition(rows::key(PARTITION, 1), "p", 1);
    let [one, other] = [10, 11].map(|n| rows::instance(rows::key(PARTITION, n), definition.key.0));
    let new = Changes {
        instances_suspended: vec![(one.key, Some(77))],
        instances_new: vec![one.clone(), other.clone()],
        definitions_new: vec![definition.clone()],
        ..Changes::default()
    };
    owner.commit(new).await;
    assert_eq!(in_state(&store, "SUSPENDED").await, [one.key], "made and suspended in one tick");
    assert_eq!(in_state(&store, "ACTIVE").await, [other.key]);
    let views = search(&store, Filter::All(Vec::new())).await;
    let shown: Vec<_> = views.iter().map(|view| (view.state, view.suspended)).collect();
    assert_eq!(shown, [(InstanceState::Suspended, Some(77)), (InstanceState::Active, None)]);
    let not = Filter::Is(Field::InstanceState, Op::NotIn(vec![Scalar::Text("ACTIVE".to_owned())]));
    assert_eq!(search(&store, not).await.len(), 1);
    let wanted = Wanted { instances: vec![one.key], ..Wanted::default() };
    let change = |state, ended| InstanceChange { key: one.key, state, phase: Phase::Active, ended };
    owner.commit(Changes { instances_changed: vec![change(InstanceState::Active, None)], ..Changes::default() }).await;
    let loaded = store.load(PARTITION, &wanted, 0).await.unwrap().instances.remove(0).instance;
    assert_eq!(loaded.state, InstanceState::Suspended, "another change leaves it so");
    assert!(store.has_running(definition.key).await.unwrap());
    owner.commit(Changes { instances_suspended: vec![(one.key, None)], ..Changes::default() }).await;
    let loaded = store.load(PARTITION, &wanted, 0).await.unwrap().instances.remove(0).instance;
    assert_eq!(loaded.state, InstanceState::Active);
    owner.commit(Changes { instances_suspended: vec![(one.key, Some(78))], ..Changes::default() }).await;
    let end = Changes {
        instances_suspended: vec![(one.key, None)],
        instances_changed: vec![change(InstanceState::Terminated, Some(80))],
        ..Changes::default()
    };
    owner.commit(end).await;
    assert_eq!((in_state(&store, "SUSPENDED").await, in_state(&store, "TERMINATED").await), (vec![], vec![one.key]));
}

pub(super) async fn a_job_is_held(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let instance = rows::instance(rows::key(PARTITION, 10), rows::key(PARTITION, 1));
    let task = rows::element(rows::key(PARTITION, 11), &instance);
    let mut job = rows::job(rows::key(PARTITION, 12), &task);
    owner.commit(Changes { jobs_new: vec![job.clone()], ..Changes::default() }).await;
    job.availability = Availability::Held;
    owner.commit(Changes { jobs_changed: vec![job.clone()], ..Changes::default() }).await;
    let wanted = Wanted { jobs: vec![job.key], ..Wanted::default() };
    assert_eq!(store.load(PARTITION, &wanted, 0).await.unwrap().jobs, [job.clone()]);
    let ready = async || store.ready_jobs(PARTITION, &job.job_type, &job.tenant, ReadyAfter::START, 10).await.unwrap();
    assert_eq!(ready().await, []);
    assert_eq!(store.due(PARTITION, (0, 0), 10).await.unwrap(), []);
    let queue = QueueRef { partition: PARTITION, job_type: &job.job_type, tenant: &job.tenant };
    for which in [CountedJobs::Running, CountedJobs::Waiting] {
        assert_eq!(store.count_jobs(queue, which).await.unwrap(), []);
    }
    assert_eq!(store.queue_sizes(PARTITION).await.unwrap(), []);
    let back = crate::row::Job { availability: Availability::Ready, ..job.clone() };
    owner.commit(Changes { jobs_changed: vec![back], ..Changes::default() }).await;
    assert_eq!(ready().await.len(), 1);
}
