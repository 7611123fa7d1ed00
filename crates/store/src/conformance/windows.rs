//! The windows an owner keeps in memory: ready jobs by type, timed jobs by time.

use std::sync::Arc;

use engine::JobKey;

use super::owner::{Owner, PARTITION};
use super::rows;
use crate::row::{Availability, Job};
use crate::{Changes, Store, TimedJob};

const NONE: JobKey = JobKey(0);

fn job(n: u64, job_type: &str, tenant: &str, availability: Availability) -> Job {
    let instance = rows::instance(rows::key(PARTITION, 5), rows::key(PARTITION, 1));
    let task = rows::element(rows::key(PARTITION, 6), &instance);
    let mut job = rows::job(rows::key(PARTITION, n), &task);
    job.job_type = job_type.into();
    job.tenant = tenant.into();
    job.availability = availability;
    if availability == Availability::Leased {
        job.deadline = Some(n as i64);
    }
    job
}

fn keys(numbers: &[u64]) -> Vec<JobKey> {
    numbers.iter().map(|n| JobKey(rows::key(PARTITION, *n))).collect()
}

async fn ready(store: &Arc<dyn Store>, job_type: &str, tenant: &str, after: JobKey, limit: usize) -> Vec<JobKey> {
    let ready = store.ready_jobs(PARTITION, job_type, tenant, after, limit).await.unwrap();
    assert!(ready.iter().all(|one| &*one.job_type == job_type && &*one.tenant == tenant));
    ready.iter().map(|one| one.key).collect()
}

pub(super) async fn ready_jobs_by_key(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let jobs = vec![
        job(13, "a", "t", Availability::Ready),
        job(11, "a", "t", Availability::Ready),
        job(12, "a", "u", Availability::Ready),
        job(14, "b", "t", Availability::Ready),
        job(15, "a", "t", Availability::Leased),
        job(16, "a", "t", Availability::BackingOff { until: 5 }),
        job(17, "a", "t", Availability::Stuck),
        job(18, "a", "t", Availability::Done),
        job(19, "a", "t", Availability::Ready),
    ];
    owner.commit(Changes { jobs_new: jobs, ..Changes::default() }).await;
    assert_eq!(ready(&store, "a", "t", NONE, 10).await, keys(&[11, 13, 19]));
    assert_eq!(ready(&store, "a", "t", NONE, 2).await, keys(&[11, 13]));
    assert_eq!(ready(&store, "a", "t", keys(&[11])[0], 10).await, keys(&[13, 19]));
    assert_eq!(ready(&store, "a", "t", keys(&[19])[0], 10).await, []);
    assert_eq!(ready(&store, "a", "u", NONE, 10).await, keys(&[12]));
    assert_eq!(ready(&store, "A", "t", NONE, 10).await, []);
    let one = store.ready_jobs(PARTITION, "b", "t", NONE, 1).await.unwrap().remove(0);
    assert_eq!(one.instance.0, rows::key(PARTITION, 5));
}

pub(super) async fn timed_jobs_by_time(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let jobs = vec![
        job(11, "a", "t", Availability::BackingOff { until: 30 }),
        job(12, "b", "t", Availability::Leased),
        job(13, "a", "t", Availability::BackingOff { until: 12 }),
        job(14, "a", "t", Availability::Ready),
        job(15, "a", "t", Availability::BackingOff { until: 30 }),
    ];
    owner.commit(Changes { jobs_new: jobs, ..Changes::default() }).await;
    let timed = |n, at| TimedJob { key: keys(&[n])[0], at };
    let all = [timed(12, 12), timed(13, 12), timed(11, 30), timed(15, 30)];
    assert_eq!(store.timed_jobs(PARTITION, (0, NONE), 10).await.unwrap(), all);
    assert_eq!(store.timed_jobs(PARTITION, (0, NONE), 1).await.unwrap(), all[..1]);
    assert_eq!(store.timed_jobs(PARTITION, (12, keys(&[12])[0]), 10).await.unwrap(), all[1..]);
    assert_eq!(store.timed_jobs(PARTITION, (12, JobKey(i64::MAX as u64)), 10).await.unwrap(), all[2..]);
    assert_eq!(store.timed_jobs(PARTITION, (30, keys(&[15])[0]), 10).await.unwrap(), []);
}

pub(super) async fn a_job_moves_between_windows(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    owner.commit(Changes { jobs_new: vec![job(11, "a", "t", Availability::Ready)], ..Changes::default() }).await;
    let lives = [
        (Availability::Leased, 0, Some(11)),
        (Availability::BackingOff { until: 50 }, 0, Some(50)),
        (Availability::Ready, 1, None),
        (Availability::Stuck, 0, None),
        (Availability::Ready, 1, None),
        (Availability::Leased, 0, Some(11)),
        (Availability::Done, 0, None),
    ];
    for (availability, ready_jobs, due) in lives {
        let changed = job(11, "a", "t", availability);
        owner.commit(Changes { jobs_changed: vec![changed], ..Changes::default() }).await;
        assert_eq!(ready(&store, "a", "t", NONE, 10).await.len(), ready_jobs, "{availability:?}");
        let timed = store.timed_jobs(PARTITION, (0, NONE), 10).await.unwrap();
        assert_eq!(timed.first().map(|one| one.at), due, "{availability:?}");
    }
}
