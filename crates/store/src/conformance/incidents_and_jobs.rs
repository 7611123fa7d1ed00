//! States and kinds survive being stored.

use std::sync::Arc;

use engine::IncidentKind;

use super::owner::{Owner, PARTITION};
use super::rows;
use crate::query::{Entity, Items, Query, Tenants};
use crate::row::{Availability, JobState};
use crate::{Changes, Store, Wanted};

pub(super) async fn all_words_come_back(store: Arc<dyn Store>) {
    let definition = rows::definition(rows::key(PARTITION, 1), "p", 1);
    let instance = rows::instance(rows::key(PARTITION, 10), definition.key.0);
    let task = rows::element(rows::key(PARTITION, 11), &instance);
    let kinds = [
        IncidentKind::IoMapping,
        IncidentKind::ExtractValue,
        IncidentKind::Condition,
        IncidentKind::JobNoRetries,
        IncidentKind::UnhandledError,
        IncidentKind::LoopLimit,
        IncidentKind::CalledDecision,
        IncidentKind::DecisionEvaluation,
        IncidentKind::Fault,
        IncidentKind::CalledElement,
        IncidentKind::FormNotFound,
        IncidentKind::AdHocNoRetries,
    ];
    let mut changes = Changes {
        definitions_new: vec![definition],
        elements_new: vec![task.clone()],
        instances_new: vec![instance.clone()],
        ..Changes::default()
    };
    for (number, kind) in (20..).zip(kinds) {
        let mut incident = rows::incident(rows::key(PARTITION, number), &task);
        incident.kind = kind;
        changes.incidents_new.push(incident);
    }
    let lives = [
        Availability::Ready,
        Availability::Leased,
        Availability::BackingOff { until: 7 },
        Availability::Stuck,
        Availability::Ready,
    ];
    for (number, state) in (40..).zip(JobState::ALL) {
        let mut job = rows::job(rows::key(PARTITION, number), &task);
        job.state = state;
        job.availability = lives[number as usize % lives.len()];
        job.deadline = Some(number as i64);
        job.priority = number as i32 - 43;
        changes.jobs_new.push(job);
    }
    let mut owner = Owner::of(&store).await;
    owner.commit(changes.clone()).await;
    let wanted = Wanted { instances: vec![instance.key], ..Wanted::default() };
    let loaded = store.load(PARTITION, &wanted, 0).await.unwrap().instances.remove(0);
    assert_eq!(loaded.incidents, changes.incidents_new);
    let wanted = Wanted { jobs: changes.jobs_new.iter().map(|job| job.key).collect(), ..Wanted::default() };
    assert_eq!(store.load(PARTITION, &wanted, 0).await.unwrap().jobs, changes.jobs_new);
    match store.search(&Query::of(Entity::Jobs, Tenants::Everything)).await.unwrap().items {
        Items::Jobs(shown) => assert_eq!(shown.iter().map(|job| job.state).collect::<Vec<_>>(), JobState::ALL),
        other => panic!("{other:?}"),
    }
    match store.search(&Query::of(Entity::Incidents, Tenants::Everything)).await.unwrap().items {
        Items::Incidents(shown) => assert_eq!(shown.iter().map(|one| one.kind).collect::<Vec<_>>(), kinds),
        other => panic!("{other:?}"),
    }
}
