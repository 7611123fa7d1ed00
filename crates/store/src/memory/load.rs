//! What a tick needs, and the windows the owner keeps.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use engine::{InstanceKey, JobKey, Token, Wait, WaitKind};
use queue::Group;

use super::database::Tables;
use super::waits;
use crate::row::{Announcement, AnnouncementKey, Availability, ElementState, Job, Tokens, UniqueHolder, UniqueName};
use crate::{
    AGES, AgedJob, CountedJobs, Loaded, LoadedInstance, Millis, OutboxSize, QueueRef, QueueSize, ReadyAfter, ReadyJob, Wanted,
};

pub(super) fn load(tables: &Tables, wanted: &Wanted, now: Millis) -> Loaded {
    let open = |key: &JobKey| tables.jobs.get(key).filter(|job| job.availability != Availability::Done);
    let jobs: BTreeSet<_> = wanted.jobs.iter().collect();
    let elements: BTreeSet<_> = wanted.elements.iter().collect();
    let elements = elements.into_iter().filter_map(|key| tables.elements.get(key)).filter(|element| is_alive(element.state));
    let elements: Vec<_> = elements.map(|element| (element.key, element.instance)).collect();
    let incidents: BTreeSet<_> = wanted.incidents.iter().collect();
    let incidents = incidents.into_iter().filter_map(|key| tables.incidents.get(key));
    let incidents: Vec<_> =
        incidents.filter(|incident| incident.resolved.is_none()).map(|incident| (incident.key, incident.instance)).collect();
    let mut instances: BTreeSet<InstanceKey> = wanted.instances.iter().copied().collect();
    instances.extend(wanted.instances_of_jobs.iter().filter_map(open).filter_map(|job| Some(job.origin?.instance)));
    instances.extend(elements.iter().map(|(_, instance)| *instance));
    instances.extend(incidents.iter().map(|(_, instance)| *instance));
    let idempotent = wanted.idempotent.iter().filter_map(|key| tables.idempotent.get(key));
    let mut loaded = Loaded {
        instances: instances.into_iter().filter_map(|key| load_instance(tables, key)).collect(),
        jobs: jobs.into_iter().filter_map(open).cloned().collect(),
        elements,
        incidents,
        idempotent: idempotent.filter(|row| now < row.expires).cloned().collect(),
        ..Loaded::default()
    };
    waits::load(tables, wanted, now, &mut loaded);
    let names: BTreeSet<_> = wanted.unique.iter().collect();
    loaded.unique = names.into_iter().filter_map(|name| unique_holder(tables, name)).collect();
    loaded
}

fn unique_holder(tables: &Tables, name: &UniqueName) -> Option<UniqueHolder> {
    let job = *tables.unique.get(name)?.last()?;
    let until = tables.jobs[&job].execution.as_ref()?.unique.as_ref()?.until;
    Some(UniqueHolder { name: name.clone(), job, until })
}

fn load_instance(tables: &Tables, key: InstanceKey) -> Option<LoadedInstance> {
    let running = tables.running.get(&key)?;
    let is_live_scope = |scope| scope == key.root() || running.elements.contains(&scope);
    let variables = running.variables.iter().map(|key| &tables.variables[key]);
    let tokens = tables.tokens.get(&key).into_iter().flatten();
    let tokens = tokens.map(|((scope, gateway, flow), count)| Tokens {
        instance: key,
        token: Token { scope: *scope, gateway: *gateway, flow: *flow },
        count: *count,
    });
    let jobs = running.jobs.iter().filter_map(|key| {
        let origin = tables.jobs[key].origin?;
        Some((origin.element_instance, Wait { key: key.wait(), catch: None, kind: WaitKind::Job }))
    });
    let turns = running.turns.iter().map(|wait| {
        let left = tables.turns[wait].left.clone();
        (key.root(), Wait { key: *wait, catch: None, kind: WaitKind::Turn(Box::new(left)) })
    });
    let user_tasks = running
        .user_tasks
        .iter()
        .map(|key| (tables.user_tasks[key].element_instance, Wait { key: key.wait(), catch: None, kind: WaitKind::UserTask }));
    let mut waits: Vec<_> = jobs.chain(turns).chain(user_tasks).collect();
    waits.sort_by_key(|(_, wait)| wait.key);
    Some(LoadedInstance {
        instance: tables.instances.get(&key)?.clone(),
        elements: running.elements.iter().map(|key| tables.elements[key].clone()).collect(),
        variables: variables.filter(|variable| is_live_scope(variable.scope)).cloned().collect(),
        tokens: tokens.collect(),
        waits,
        timers: running.timers.iter().map(|key| tables.timers[key].clone()).collect(),
        subscriptions: running.subscriptions.iter().map(|key| tables.subscriptions[key].clone()).collect(),
        compensations: running.compensations.iter().map(|key| tables.compensations[key]).collect(),
        incidents: running.incidents.iter().map(|key| tables.incidents[key].clone()).collect(),
    })
}

fn is_alive(state: ElementState) -> bool {
    match state {
        ElementState::Alive(_) => true,
        ElementState::Completed | ElementState::Terminated => false,
    }
}

pub(super) fn ready_jobs(tables: &Tables, job_type: &str, tenant: &str, after: ReadyAfter, limit: usize) -> Vec<ReadyJob> {
    let Some(ready) = tables.ready.get(&(job_type.into(), tenant.into())) else { return Vec::new() };
    let after = ready.range((Bound::Excluded((Reverse(after.priority), after.key)), Bound::Unbounded));
    after.take(limit).map(|(Reverse(priority), key)| ReadyJob { key: *key, priority: *priority }).collect()
}

pub(super) fn grouped_jobs(
    tables: &Tables,
    queue: QueueRef<'_>,
    of: Option<&Group>,
    after: ReadyAfter,
    limit: usize,
) -> Vec<(ReadyJob, Group)> {
    let all = ready_jobs(tables, queue.job_type, queue.tenant, after, usize::MAX).into_iter();
    let all = all.map(|job| {
        let group = tables.jobs[&job.key].group.clone();
        (job, group)
    });
    all.filter(|(_, group)| of.is_none_or(|of| of == group)).take(limit).collect()
}

pub(super) fn aged_jobs(
    tables: &Tables,
    queue: QueueRef<'_>,
    (of, ageing): (Option<&Group>, Millis),
    after: (i64, JobKey),
    limit: usize,
) -> Vec<AgedJob> {
    let all = grouped_jobs(tables, queue, of, ReadyAfter::START, usize::MAX).into_iter();
    let aged = all.map(|(job, group)| {
        let rank = i64::from(job.priority) * ageing - tables.jobs[&job.key].created;
        AgedJob { rank, key: job.key, group }
    });
    let mut aged: Vec<_> = aged.filter(|job| (Reverse(after.0), after.1) < (Reverse(job.rank), job.key)).collect();
    aged.sort_unstable_by_key(|job| (Reverse(job.rank), job.key));
    aged.truncate(limit);
    aged
}

pub(super) fn count_jobs(tables: &Tables, queue: QueueRef<'_>, which: CountedJobs) -> Vec<(Group, u64)> {
    let is_counted = |job: &&Job| match (job.availability, which) {
        (Availability::Leased, CountedJobs::Running) => true,
        (Availability::Ready | Availability::BackingOff { .. }, CountedJobs::Waiting) => true,
        (Availability::BackingOff { .. }, CountedJobs::Retrying) => job.waits_for_retry(),
        (Availability::Leased | Availability::Ready | Availability::BackingOff { .. }, _) => false,
        (Availability::Held | Availability::Stuck | Availability::Done, _) => false,
    };
    let of_queue = |job: &&Job| *job.job_type == *queue.job_type && *job.tenant == *queue.tenant;
    let mut counts: BTreeMap<Group, u64> = BTreeMap::new();
    for job in tables.jobs.values().filter(of_queue).filter(is_counted) {
        *counts.entry(job.group.clone()).or_default() += 1;
    }
    counts.into_iter().collect()
}

pub(super) fn waiting_since(tables: &Tables, queue: QueueRef<'_>, before: [Millis; AGES]) -> [u64; AGES] {
    let waits = |job: &&Job| matches!(job.availability, Availability::Ready | Availability::BackingOff { .. });
    let of_queue = |job: &&Job| *job.job_type == *queue.job_type && *job.tenant == *queue.tenant;
    let waiting: Vec<Millis> = tables.jobs.values().filter(of_queue).filter(waits).map(|job| job.created).collect();
    before.map(|before| waiting.iter().filter(|created| **created < before).count() as u64)
}

pub(super) fn queue_sizes(tables: &Tables) -> Vec<QueueSize> {
    let mut sizes: BTreeMap<(&Arc<str>, &Arc<str>), QueueSize> = BTreeMap::new();
    let is_over = |job: &Job| matches!(job.availability, Availability::Held | Availability::Stuck | Availability::Done);
    for job in tables.jobs.values().filter(|job| !is_over(job)) {
        let new = || QueueSize { job_type: job.job_type.clone(), tenant: job.tenant.clone(), ..QueueSize::default() };
        let size = sizes.entry((&job.job_type, &job.tenant)).or_insert_with(new);
        match job.availability {
            Availability::Leased => {
                size.running += 1;
                continue;
            }
            Availability::Ready => size.ready += 1,
            Availability::BackingOff { .. } | Availability::Held | Availability::Stuck | Availability::Done => {
                size.scheduled += 1;
            }
        }
        size.oldest = Some(size.oldest.map_or(job.created, |oldest| oldest.min(job.created)));
    }
    sizes.into_values().collect()
}

pub(super) fn jobs_before(tables: &Tables, queue: QueueRef<'_>, place: ReadyAfter) -> u64 {
    let ready = tables.ready.get(&(queue.job_type.into(), queue.tenant.into()));
    ready.map_or(0, |ready| ready.range(..(Reverse(place.priority), place.key)).count() as u64)
}

pub(super) fn outbox(tables: &Tables, after: AnnouncementKey, limit: usize, bytes_max: usize) -> Vec<Announcement> {
    let (mut bytes, mut found) = (0, Vec::new());
    for row in tables.outbox.range((Bound::Excluded(after), Bound::Unbounded)).map(|(_, row)| row).take(limit) {
        bytes += row.payload.len();
        if bytes_max < bytes && !found.is_empty() {
            break;
        }
        found.push(row.clone());
    }
    found
}

pub(super) fn outbox_size(tables: &Tables) -> OutboxSize {
    let bytes = tables.outbox.values().map(|row| row.payload.len() as u64).sum();
    OutboxSize { rows: tables.outbox.len() as u64, bytes }
}
