//! Queues with limits: jobs by group, how many there are, and policies.

use std::sync::Arc;

use engine::{ElementKey, InstanceKey, JobKey};
use queue::Group;
use queue::policy::{Concurrency, Method, Policy, Scope};

use super::owner::{OTHER, Owner, PARTITION};
use super::rows;
use crate::row::{Announcement, AnnouncementKey, Availability, Job, PolicyVersion};
use crate::{Changes, CountedJobs, OutboxSize, QueueRef, QueueSize, ReadyAfter, Store};

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
        job(24, Some("b"), 0, Availability::BackingOff { until: 60 }),
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
    let concurrency = Concurrency { limit: 2, parameters: vec!["customer".into(), "\u{e9}".into()], method: Method::Cancel };
    let full = Policy {
        scope: Scope::Action("work".into()),
        priority: -3,
        concurrency: Some(concurrency),
        queue_max: Some(7),
        paused: true,
    };
    let plain = Policy { scope: Scope::Global, priority: 0, concurrency: None, queue_max: None, paused: false };
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
    };
    let (first, second, third) = (row(1, r#"{"a": "ü"}"#), row(2, "{}"), row(3, r#"{"b": 1}"#));
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
