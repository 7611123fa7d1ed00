//! Queues with limits: jobs by group, how many there are, and policies.

use std::sync::Arc;

use engine::{ElementKey, InstanceKey, JobKey};
use queue::adapt::Adaptive;
use queue::policy::{Concurrency, Method, Overdue, Policy, Quota, Rate, Scope, Wait};
use queue::retry::{Delays, Retry};
use queue::stats::{Happened, Stats};
use queue::{Group, Pace, Starts};

use super::owner::{OTHER, Owner, PARTITION};
use super::rows;
use crate::log::NewExecution;
use crate::retention::Aged;
use crate::row::{
    Announcement, AnnouncementKey, Availability, Job, LastOccurrence, PaceState, PolicyVersion, QueueStats, Schedule,
};
use crate::{AgedJob, Changes, CountedJobs, Due, DueKind, OutboxSize, QueueRef, QueueSize, ReadyAfter, Store};

const QUEUE: QueueRef<'static> = QueueRef { partition: PARTITION, job_type: "work", tenant: rows::TENANT };

fn job(n: u64, group: Option<&str>, priority: i32, availability: Availability) -> Job {
    let deadline = (availability == Availability::Leased).then_some(50);
    let group: Group = group.map(Into::into);
    Job { group, priority, availability, deadline, ..rows::execution(rows::key(PARTITION, n)) }
}

/// Jobs of two groups and of none, in every state, and some of other queues.
async fn filled(store: &Arc<dyn Store>) {
    let ready = Availability::Ready;
    let other = Job { job_type: "other".into(), ..job(40, Some("a"), 0, ready) };
    let elsewhere = Job { tenant: "t".into(), ..job(41, Some("a"), 0, Availability::Leased) };
    let jobs = vec![
        job(11, Some("a"), 0, ready),
        job(12, None, 0, ready),
        job(13, Some("b"), 5, ready),
        job(14, Some("a"), 5, ready),
        job(15, Some("a"), 0, ready),
        job(16, Some("\u{e9}'"), 0, ready),
        job(21, Some("a"), 0, Availability::Leased),
        job(22, Some("a"), 0, Availability::Leased),
        job(23, None, 0, Availability::Leased),
        Job { failed_with_retries_left: true, ..job(24, Some("b"), 0, Availability::BackingOff { until: 60 }) },
        job(25, None, 0, Availability::BackingOff { until: 60 }),
        job(26, Some("a"), 0, Availability::Stuck),
        job(27, Some("b"), 0, Availability::Done),
        other,
        elsewhere,
    ];
    Owner::of(store).await.commit(Changes { executions_new: jobs, ..Changes::default() }).await;
}

pub(super) async fn jobs_by_group(store: Arc<dyn Store>) {
    filled(&store).await;
    let all: [(u64, Option<&str>); 6] =
        [(13, Some("b")), (14, Some("a")), (11, Some("a")), (12, None), (15, Some("a")), (16, Some("\u{e9}'"))];
    let groups: [Option<Group>; 6] =
        [None, Some(None), Some(Some("a".into())), Some(Some("b".into())), Some(Some("\u{e9}'".into())), Some(Some("c".into()))];
    for of in groups {
        let expected = all.iter().filter(|(_, group)| of.as_ref().is_none_or(|of| of.as_deref() == *group));
        let expected: Vec<u64> = expected.map(|(n, _)| *n).collect();
        for limit in 1..=7 {
            // Page by page is the same.
            let (mut seen, mut after) = (Vec::new(), ReadyAfter::START);
            loop {
                let page = store.grouped_jobs(QUEUE, of.clone(), after, limit).await.unwrap();
                let Some((last, _)) = page.last() else { break };
                after = ReadyAfter { priority: last.priority, key: last.key };
                for (job, group) in page {
                    let n = job.key.0 - rows::key(PARTITION, 0);
                    assert!(all.contains(&(n, group.as_deref())), "{n} {group:?}");
                    seen.push(n);
                }
            }
            assert_eq!(seen, expected, "{of:?}, {limit} at a time");
        }
    }
}

pub(super) async fn jobs_are_counted_by_group(store: Arc<dyn Store>) {
    filled(&store).await;
    let count = async |queue, which| store.count_jobs(queue, which).await.unwrap();
    let a = || Some("a".into());
    assert_eq!(count(QUEUE, CountedJobs::Running).await, [(None, 1), (a(), 2)]);
    let waiting = [(None, 2), (a(), 3), (Some("b".into()), 2), (Some("\u{e9}'".into()), 1)];
    assert_eq!(count(QUEUE, CountedJobs::Waiting).await, waiting);
    assert_eq!(count(QUEUE, CountedJobs::Retrying).await, [(Some("b".into()), 1)]);
    assert_eq!(count(QueueRef { tenant: "t", ..QUEUE }, CountedJobs::Retrying).await, []);
    let elsewhere = QueueRef { tenant: "t", ..QUEUE };
    assert_eq!(count(elsewhere, CountedJobs::Running).await, [(a(), 1)]);
    assert_eq!(count(elsewhere, CountedJobs::Waiting).await, []);
    assert_eq!(count(QueueRef { partition: OTHER, ..QUEUE }, CountedJobs::Waiting).await, []);
}

pub(super) async fn queues_have_sizes_and_places(store: Arc<dyn Store>) {
    filled(&store).await;
    let size = |job_type: &str, tenant: &str, (ready, scheduled, running): (u64, u64, u64)| {
        let oldest = (0 < ready + scheduled).then_some(rows::execution(1).created);
        QueueSize { job_type: job_type.into(), tenant: tenant.into(), ready, scheduled, running, oldest }
    };
    let expected = [size("other", rows::TENANT, (1, 0, 0)), size("work", rows::TENANT, (6, 2, 3)), size("work", "t", (0, 0, 1))];
    assert_eq!(store.queue_sizes(PARTITION).await.unwrap(), expected);
    assert_eq!(store.queue_sizes(OTHER).await.unwrap(), []);
    let order = [(13, 5), (14, 5), (11, 0), (12, 0), (15, 0), (16, 0)];
    for (before, (n, priority)) in (0..).zip(order) {
        let place = ReadyAfter { priority, key: JobKey(rows::key(PARTITION, n)) };
        assert_eq!(store.jobs_before(QUEUE, place).await.unwrap(), before, "{n}");
    }
}

pub(super) async fn every_version_of_a_policy_is_kept(store: Arc<dyn Store>) {
    let parameters: Vec<Arc<str>> = vec!["customer".into(), "\u{e9}".into()];
    let adaptive = Some(Adaptive { limit_min: 1, latency: Some(5) });
    let delays = Delays::Growing { first: 1, factor: 2, most: 9 };
    let full = Policy {
        scope: Scope::Action("work".into()),
        priority: -3,
        concurrency: Some(Concurrency { limit: 2, parameters: parameters.clone(), method: Method::Cancel, adaptive }),
        queue_max: Some(7),
        paused: true,
        rate: Some(Rate { pace: Pace { limit: 3, window: 1_000 }, parameters }),
        delay: Some(100),
        quota: Some(Quota { running: Some(1), waiting: None, total: Some(4) }),
        wait: Some(Wait { most: 60_000, then: Overdue::Cancel }),
        fair: true,
        ageing: Some(30),
        retry: Some(Retry { delays, jitter_percent: 10, holds: true }),
        drains: true,
    };
    let listed = Retry { delays: Delays::Listed(vec![1, 5]), jitter_percent: 0, holds: false };
    let plain = Policy { retry: Some(listed), ..Policy::new(Scope::Global) };
    let version = |reference: &str, version, policy| PolicyVersion {
        reference: reference.into(),
        version,
        policy,
        changed: 40 + i64::from(version),
        changed_by: "ann".into(),
    };
    let (first, second) = (version("a", 1, Some(full.clone())), version("a", 2, Some(plain.clone())));
    let other = version("B", 1, Some(Policy { scope: Scope::Tenant("t".into()), ..full }));
    let mut owner = Owner::of(&store).await;
    owner.commit(Changes { policies_new: vec![first.clone(), other.clone()], ..Changes::default() }).await;
    assert_eq!(store.policies(PARTITION).await.unwrap(), [other.clone(), first.clone()]);
    owner.commit(Changes { policies_new: vec![second.clone()], ..Changes::default() }).await;
    assert_eq!(store.policies(PARTITION).await.unwrap(), [other, second.clone()]);
    let deleted = version("B", 2, None);
    owner.commit(Changes { policies_new: vec![deleted.clone()], ..Changes::default() }).await;
    assert_eq!(store.policies(PARTITION).await.unwrap(), [deleted, second.clone()]);
    assert_eq!(store.policy_versions(PARTITION, "a").await.unwrap(), [first, second]);
    assert_eq!(store.policy_versions(PARTITION, "none").await.unwrap(), []);
    assert_eq!(store.policies(OTHER).await.unwrap(), []);
}

pub(super) async fn jobs_by_age(store: Arc<dyn Store>) {
    let job = |n, group, priority, created| Job { created, ..job(n, group, priority, Availability::Ready) };
    let jobs = vec![
        job(11, Some("a"), 0, 100),
        job(12, None, 2, 119),
        job(13, Some("a"), 2, 120),
        job(14, Some("b"), 2, 121),
        job(15, None, 0, 100),
    ];
    Owner::of(&store).await.commit(Changes { executions_new: jobs, ..Changes::default() }).await;
    // Ten are worth one priority: one of priority 2 goes before all that came less than twenty before it.
    let all: [(u64, i64, Option<&str>); 5] =
        [(12, -99, None), (11, -100, Some("a")), (13, -100, Some("a")), (15, -100, None), (14, -101, Some("b"))];
    for of in [None, Some(None), Some(Some("a".into())), Some(Some("c".into()))] {
        let expected = all.iter().filter(|(_, _, group)| of.as_ref().is_none_or(|of: &Group| of.as_deref() == *group));
        let expected: Vec<_> = expected
            .map(|(n, rank, group)| AgedJob { rank: *rank, key: JobKey(rows::key(PARTITION, *n)), group: group.map(Into::into) })
            .collect();
        for limit in 1..=6 {
            let (mut seen, mut after) = (Vec::new(), (i64::MAX, JobKey(0)));
            loop {
                let page = store.aged_jobs(QUEUE, of.clone(), 10, after, limit).await.unwrap();
                let Some(last) = page.last() else { break };
                after = (last.rank, last.key);
                seen.extend(page);
            }
            assert_eq!(seen, expected, "{of:?}, {limit} at a time");
        }
    }
}

pub(super) async fn starts_are_kept_until_they_make_no_difference(store: Arc<dyn Store>) {
    let pace = |job_type: &str, bucket: &str, starts: &[(i64, u32)], until| PaceState {
        job_type: job_type.into(),
        tenant: rows::TENANT.into(),
        bucket: bucket.into(),
        starts: Starts::of(starts.iter().copied()),
        until,
    };
    let mut owner = Owner::of(&store).await;
    let (all, group) = (pace("work", "", &[(-5, 1), (7, 300)], 50), pace("work", "{\"\u{e9}\":\"'\"}", &[(3, 1)], 60));
    let other = pace("other", "-", &[], 40);
    owner.commit(Changes { paces_put: vec![all.clone(), group.clone(), other.clone()], ..Changes::default() }).await;
    assert_eq!(store.paces(QUEUE).await.unwrap(), [all, group.clone()]);
    let later = pace("work", "", &[(9, 1)], 70);
    owner.commit(Changes { paces_put: vec![later.clone()], ..Changes::default() }).await;
    assert_eq!(store.paces(QUEUE).await.unwrap(), [later.clone(), group.clone()]);
    assert_eq!(store.paces(QueueRef { tenant: "t", ..QUEUE }).await.unwrap(), []);
    assert_eq!(store.paces(QueueRef { partition: OTHER, ..QUEUE }).await.unwrap(), []);
    assert_eq!(store.purge(owner.ownership.fence, Aged::Paces, 39, 10).await.unwrap(), Some(0));
    assert_eq!(store.purge(owner.ownership.fence, Aged::Paces, 60, 1).await.unwrap(), Some(1));
    assert_eq!(store.purge(owner.ownership.fence, Aged::Paces, 60, 5).await.unwrap(), Some(1));
    assert_eq!(store.paces(QUEUE).await.unwrap(), [later]);
    assert_eq!(store.paces(QueueRef { job_type: "other", ..QUEUE }).await.unwrap(), []);
}

pub(super) async fn a_wait_has_its_end(store: Arc<dyn Store>) {
    let until = |n, wait_until| Job { wait_until, ..job(n, None, 0, Availability::Ready) };
    let mut owner = Owner::of(&store).await;
    let new = vec![until(11, Some(30)), until(12, None), until(13, Some(20))];
    owner.commit(Changes { executions_new: new.clone(), ..Changes::default() }).await;
    let due = async || store.due(PARTITION, (0, 0), 10).await.unwrap().iter().map(|due| (due.at, due.key)).collect::<Vec<_>>();
    let key = |n| rows::key(PARTITION, n);
    assert_eq!(due().await, [(20, key(13)), (30, key(11))]);
    let wanted = crate::Wanted { jobs: new.iter().map(|job| job.key).collect(), ..crate::Wanted::default() };
    assert_eq!(store.load(PARTITION, &wanted, 5).await.unwrap().jobs, new);
    // Who runs is due when the lease ends, and waits no longer.
    let leased = Job { wait_until: None, ..job(13, None, 0, Availability::Leased) };
    owner.commit(Changes { executions_changed: vec![leased.clone()], ..Changes::default() }).await;
    assert_eq!(due().await, [(30, key(11)), (50, key(13))]);
    let wanted = crate::Wanted { jobs: vec![leased.key], ..crate::Wanted::default() };
    assert_eq!(store.load(PARTITION, &wanted, 5).await.unwrap().jobs, [leased]);
}

pub(super) async fn schedules_come_and_go(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let execution = NewExecution {
        input: vec![("n".into(), "1".into())],
        priority: 3,
        retries: 2,
        run_at: None,
        unique: None,
        group: vec![("customer".into(), "\"\u{e9}\"".into())],
    };
    let schedule = |n: u64, reference: &str, due| Schedule {
        key: rows::key(PARTITION, n),
        tenant: rows::TENANT.into(),
        reference: reference.into(),
        action: "work".into(),
        cron: "0 9 * * *".into(),
        time_zone: Some("Europe/Madrid".into()),
        execution: execution.clone(),
        paused: false,
        armed: 5,
        number: 1,
        due,
        created: 5,
        changed: 5,
        changed_by: "ann".into(),
        last: None,
    };
    let (second, first) = (schedule(11, "b", Some(90)), schedule(12, "a", Some(80)));
    let paused = Schedule { paused: true, ..schedule(13, "c", None) };
    let put = vec![second.clone(), first.clone(), paused.clone()];
    owner.commit(Changes { schedules_put: put, ..Changes::default() }).await;
    assert_eq!(store.schedules(PARTITION).await.unwrap(), [first.clone(), second.clone(), paused.clone()]);
    assert_eq!(store.schedules(OTHER).await.unwrap(), []);
    let due = async |after, limit| {
        let due = store.due(PARTITION, after, limit).await.unwrap();
        due.into_iter().map(|due: Due| (due.at, due.key, due.what)).collect::<Vec<_>>()
    };
    let of = |row: &Schedule| (row.due.unwrap_or(0), row.key, DueKind::Schedule);
    assert_eq!(due((0, 0), 9).await, [of(&first), of(&second)]);
    assert_eq!(due((80, first.key), 9).await, [of(&second)]);
    let last = LastOccurrence { at: 80, execution: Some(JobKey(7)), refused: Some("full".into()) };
    let fired = Schedule { due: Some(95), number: 2, last: Some(last), ..first };
    let changes = Changes { schedules_put: vec![fired.clone()], schedules_gone: vec![second.key], ..Changes::default() };
    owner.commit(changes).await;
    assert_eq!(store.schedules(PARTITION).await.unwrap(), [fired.clone(), paused]);
    assert_eq!(due((0, 0), 9).await, [of(&fired)]);
}

pub(super) async fn what_has_happened_is_kept(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let mut stats = Stats::default();
    for at in [1, 70_000, 700_000] {
        stats.tell(Happened::Enqueued, at);
        stats.tell(Happened::Started { waited: Some(12) }, at);
        stats.tell(Happened::Completed { ran: Some(3_000) }, at);
        stats.tell(Happened::Failed, at);
    }
    let row = |job_type: &str, tenant: &str, stats: &Stats| QueueStats {
        job_type: job_type.into(),
        tenant: tenant.into(),
        waiting: 5,
        running: 2,
        stats: stats.clone(),
        updated: 9,
    };
    let (full, empty) = (row("work", "t", &stats), row("work", "s", &Stats::default()));
    let other = row("\u{e9}", "t", &Stats { stuck_since: Some(4), ..Stats::default() });
    owner.commit(Changes { queue_stats_put: vec![full.clone(), other.clone()], ..Changes::default() }).await;
    assert_eq!(store.queue_stats(PARTITION, None).await.unwrap(), [full.clone(), other.clone()]);
    let later = QueueStats { waiting: 0, updated: 10, ..full };
    owner.commit(Changes { queue_stats_put: vec![later.clone(), empty.clone()], ..Changes::default() }).await;
    assert_eq!(store.queue_stats(PARTITION, Some("work")).await.unwrap(), [empty, later]);
    assert_eq!(store.queue_stats(PARTITION, Some("none")).await.unwrap(), []);
    assert_eq!(store.queue_stats(OTHER, None).await.unwrap(), []);
}

pub(super) async fn those_that_wait_have_ages(store: Arc<dyn Store>) {
    let aged = |n, created, availability| Job { created, ..job(n, None, 0, availability) };
    let jobs = vec![
        aged(11, 10, Availability::Ready),
        aged(12, 20, Availability::Ready),
        aged(13, 30, Availability::BackingOff { until: 99 }),
        aged(14, 10, Availability::Leased),
        aged(15, 10, Availability::Done),
        Job { job_type: "other".into(), ..aged(16, 10, Availability::Ready) },
    ];
    Owner::of(&store).await.commit(Changes { executions_new: jobs, ..Changes::default() }).await;
    assert_eq!(store.waiting_since(QUEUE, [100, 30, 21, 20, 11, 10]).await.unwrap(), [3, 2, 2, 1, 1, 0]);
    assert_eq!(store.waiting_since(QueueRef { partition: OTHER, ..QUEUE }, [100; 6]).await.unwrap(), [0; 6]);
}

pub(super) async fn announcements_wait_in_order(store: Arc<dyn Store>) {
    let row = |n: u64, payload: &str| Announcement {
        key: AnnouncementKey(rows::key(PARTITION, n)),
        job: JobKey(rows::key(PARTITION, 100 + n)),
        instance: InstanceKey(rows::key(PARTITION, 200)),
        element_instance: ElementKey(rows::key(PARTITION, 300 + n)),
        job_type: "work".into(),
        tenant: rows::TENANT.into(),
        retries: 3,
        created: 40,
        payload: payload.into(),
        lease: n as u32,
        element_id: "pack".into(),
        progress: None,
        trace: None,
    };
    let (first, second, mut third) = (row(1, r#"{"a": "ü"}"#), row(2, "{}"), row(3, r#"{"b": 1}"#));
    third.progress = Some(r#"{"percent": 40}"#.into());
    third.trace = Some(r#"{"traceparent": "00-1-2-01"}"#.into());
    let start = AnnouncementKey(0);
    let mut owner = Owner::of(&store).await;
    assert_eq!(store.outbox(PARTITION, start, 10, 1_000).await.unwrap(), []);
    assert_eq!(store.outbox_size(PARTITION).await.unwrap(), OutboxSize::default());
    owner.commit(Changes { announcements_new: vec![third.clone(), first.clone(), second.clone()], ..Changes::default() }).await;
    let all = [first.clone(), second.clone(), third.clone()];
    assert_eq!(store.outbox(PARTITION, start, 10, 1_000).await.unwrap(), all);
    assert_eq!(store.outbox(PARTITION, start, 2, 1_000).await.unwrap(), all[..2]);
    assert_eq!(store.outbox(PARTITION, first.key, 10, 1_000).await.unwrap(), all[1..]);
    // The first whatever it weighs, those behind it while they fit.
    assert_eq!(store.outbox(PARTITION, start, 10, 1).await.unwrap(), all[..1]);
    assert_eq!(store.outbox(PARTITION, start, 10, 13).await.unwrap(), all[..2]);
    assert_eq!(store.outbox_size(PARTITION).await.unwrap(), OutboxSize { rows: 3, bytes: 11 + 2 + 8 });
    assert_eq!(store.outbox(OTHER, start, 10, 1_000).await.unwrap(), []);
    let unknown = AnnouncementKey(rows::key(PARTITION, 9));
    owner.commit(Changes { announcements_gone: vec![second.key, unknown], ..Changes::default() }).await;
    assert_eq!(store.outbox(PARTITION, start, 10, 1_000).await.unwrap(), [first, third]);
}
