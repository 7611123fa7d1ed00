//! What a tick needs, and the windows the owner keeps.

use std::collections::BTreeSet;
use std::ops::Bound;

use engine::{InstanceKey, JobKey};

use super::database::Tables;
use crate::row::{Availability, ElementState};
use crate::{Loaded, LoadedInstance, Millis, ReadyJob, TimedJob, Wanted};

pub(super) fn load(tables: &Tables, wanted: &Wanted, now: Millis) -> Loaded {
    let mut instances: BTreeSet<InstanceKey> = wanted.instances.iter().copied().collect();
    let of_jobs = wanted.jobs.iter().filter_map(|key| tables.jobs.get(key));
    let of_elements = wanted.elements.iter().filter_map(|key| tables.elements.get(key));
    let of_incidents = wanted.incidents.iter().filter_map(|key| tables.incidents.get(key));
    instances.extend(of_jobs.filter(|job| job.availability != Availability::Done).map(|job| job.instance));
    instances.extend(of_elements.filter(|element| is_alive(element.state)).map(|element| element.instance));
    instances.extend(of_incidents.filter(|incident| incident.resolved.is_none()).map(|incident| incident.instance));
    let idempotent = wanted.idempotent.iter().filter_map(|key| tables.idempotent.get(key));
    Loaded {
        instances: instances.into_iter().filter_map(|key| load_instance(tables, key)).collect(),
        idempotent: idempotent.filter(|row| now < row.expires).cloned().collect(),
    }
}

fn load_instance(tables: &Tables, key: InstanceKey) -> Option<LoadedInstance> {
    let running = tables.running.get(&key)?;
    let is_live_scope = |scope| scope == key.root() || running.elements.contains(&scope);
    let variables = running.variables.iter().map(|key| &tables.variables[key]);
    Some(LoadedInstance {
        instance: tables.instances.get(&key)?.clone(),
        elements: running.elements.iter().map(|key| tables.elements[key].clone()).collect(),
        variables: variables.filter(|variable| is_live_scope(variable.scope)).cloned().collect(),
        jobs: running.jobs.iter().map(|key| tables.jobs[key].clone()).collect(),
        incidents: running.incidents.iter().map(|key| tables.incidents[key].clone()).collect(),
    })
}

fn is_alive(state: ElementState) -> bool {
    match state {
        ElementState::Alive(_) => true,
        ElementState::Completed | ElementState::Terminated => false,
    }
}

pub(super) fn ready_jobs(tables: &Tables, job_type: &str, tenant: &str, after: JobKey, limit: usize) -> Vec<ReadyJob> {
    let Some(ready) = tables.ready.get(&(job_type.into(), tenant.into())) else { return Vec::new() };
    let after = ready.range((Bound::Excluded(after), Bound::Unbounded));
    let job = |key: &JobKey| {
        let job = &tables.jobs[key];
        ReadyJob { key: *key, instance: job.instance, job_type: job.job_type.clone(), tenant: job.tenant.clone() }
    };
    after.take(limit).map(job).collect()
}

pub(super) fn timed_jobs(tables: &Tables, after: (Millis, JobKey), limit: usize) -> Vec<TimedJob> {
    let after = tables.timed.range((Bound::Excluded(after), Bound::Unbounded));
    after.take(limit).map(|(at, key)| TimedJob { key: *key, at: *at }).collect()
}
