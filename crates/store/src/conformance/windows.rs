//! The windows an owner keeps in memory: ready jobs by type, and what is due by time.

use std::sync::Arc;

use engine::JobKey;

use super::owner::{Owner, PARTITION};
use super::rows;
use crate::row::{self, Availability, Job, TimerState};
use crate::{Changes, Due, DueKind, ReadyAfter, Store};

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

async fn ready(store: &Arc<dyn Store>, job_type: &str, tenant: &str, after: ReadyAfter, limit: usize) -> Vec<JobKey> {
    let ready = store.ready_jobs(PARTITION, job_type, tenant, after, limit).await.unwrap();
    ready.iter().map(|one| one.key).collect()
}

/// After a job with no priority of its own.
fn after(n: u64) -> ReadyAfter {
    ReadyAfter { priority: 0, key: keys(&[n])[0] }
}

const START: ReadyAfter = ReadyAfter::START;

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
    assert_eq!(ready(&store, "a", "t", START, 10).await, keys(&[11, 13, 19]));
    assert_eq!(ready(&store, "a", "t", START, 2).await, keys(&[11, 13]));
    assert_eq!(ready(&store, "a", "t", after(11), 10).await, keys(&[13, 19]));
    assert_eq!(ready(&store, "a", "t", after(19), 10).await, []);
    assert_eq!(ready(&store, "a", "u", START, 10).await, keys(&[12]));
    assert_eq!(ready(&store, "A", "t", START, 10).await, []);
    assert_eq!(ready(&store, "a", "t", START, 0).await, []);
}

pub(super) async fn ready_jobs_by_priority(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let mut jobs = Vec::new();
    for (n, priority) in [(11, 0), (12, 50), (13, -1), (14, 0), (15, 50), (16, i32::MAX), (17, i32::MIN), (18, 50)] {
        jobs.push(Job { priority, ..job(n, "a", "t", Availability::Ready) });
    }
    // The same queue for others is none of theirs.
    jobs.push(Job { priority: 99, ..job(19, "a", "u", Availability::Ready) });
    owner.commit(Changes { jobs_new: jobs.clone(), ..Changes::default() }).await;
    let order = [16, 12, 15, 18, 11, 14, 13, 17];
    assert_eq!(ready(&store, "a", "t", START, 100).await, keys(&order), "the higher priority first, then the lower key");
    for limit in 1..=order.len() {
        // Page by page is the same.
        let (mut seen, mut after) = (Vec::new(), START);
        loop {
            let page = store.ready_jobs(PARTITION, "a", "t", after, limit).await.unwrap();
            let Some(last) = page.last() else { break };
            after = ReadyAfter { priority: last.priority, key: last.key };
            seen.extend(page.iter().map(|one| one.key));
        }
        assert_eq!(seen, keys(&order), "{limit} at a time");
    }
    let page = store.ready_jobs(PARTITION, "a", "t", START, 2).await.unwrap();
    assert_eq!(page.iter().map(|one| one.priority).collect::<Vec<_>>(), [i32::MAX, 50]);
    // Where the window stopped need not be there any more.
    assert_eq!(ready(&store, "a", "t", ReadyAfter { priority: 20, key: JobKey(0) }, 2).await, keys(&[11, 14]));
}

pub(super) async fn due_by_time_whatever_it_is(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let jobs = vec![
        job(11, "a", "t", Availability::BackingOff { until: 30 }),
        job(12, "b", "t", Availability::Leased),
        job(13, "a", "t", Availability::BackingOff { until: 12 }),
        job(14, "a", "t", Availability::Ready),
        job(17, "a", "t", Availability::BackingOff { until: 30 }),
    ];
    let instance = rows::instance(rows::key(PARTITION, 5), rows::key(PARTITION, 1));
    let turns = [(10, 12), (15, 12), (16, 30), (18, 31)];
    let turns_new = turns.map(|(n, due)| rows::turn(rows::key(PARTITION, n), &instance, due)).to_vec();
    let task = rows::element(rows::key(PARTITION, 6), &instance);
    let start = row::Timer { origin: None, ..rows::timer(rows::key(PARTITION, 20), &task, 12) };
    let fired = row::Timer { state: TimerState::Fired, ended: Some(13), ..rows::timer(rows::key(PARTITION, 22), &task, 12) };
    let changes = Changes {
        jobs_new: jobs,
        turns_new,
        timers_new: vec![rows::timer(rows::key(PARTITION, 21), &task, 30), start, fired],
        messages_new: [(23, 12), (24, 32)].map(|(n, at)| rows::message(rows::key(PARTITION, n), "m", "k", at)).into(),
        signals_put: [(25, 12), (9, 30)].map(|(n, at)| rows::signal(rows::key(PARTITION, n), "s", at)).into(),
        ..Changes::default()
    };
    owner.commit(changes).await;
    let due = |n, at, what| Due { at, key: rows::key(PARTITION, n), what };
    let job = |n, at| due(n, at, DueKind::Job);
    let turn = |n, at| due(n, at, DueKind::Turn { instance: instance.key });
    let all = [
        turn(10, 12),
        job(12, 12),
        job(13, 12),
        turn(15, 12),
        due(20, 12, DueKind::Timer { instance: None }),
        due(23, 12, DueKind::MessageExpires),
        due(25, 12, DueKind::Signal),
        due(9, 30, DueKind::Signal),
        job(11, 30),
        turn(16, 30),
        job(17, 30),
        due(21, 30, DueKind::Timer { instance: Some(instance.key) }),
        turn(18, 31),
        due(24, 32, DueKind::MessageExpires),
    ];
    let due = async |after, limit| store.due(PARTITION, after, limit).await.unwrap();
    assert_eq!(due((0, 0), 20).await, all);
    for limit in 0..=all.len() {
        assert_eq!(due((0, 0), limit).await, all[..limit]);
    }
    for (n, one) in all.iter().enumerate() {
        assert_eq!(due((one.at, one.key), 3).await, all[n + 1..(n + 4).min(all.len())], "after {one:?}");
    }
    assert_eq!(due((12, i64::MAX as u64), 20).await, all[7..]);
    owner.commit(Changes { turns_done: vec![engine::WaitKey(rows::key(PARTITION, 10))], ..Changes::default() }).await;
    assert_eq!(due((0, 0), 2).await, all[1..3]);
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
        assert_eq!(ready(&store, "a", "t", START, 10).await.len(), ready_jobs, "{availability:?}");
        let timed = store.due(PARTITION, (0, 0), 10).await.unwrap();
        assert_eq!(timed.first().map(|one| one.at), due, "{availability:?}");
    }
}
