//! What a tick needs: running instances with what is alive of them, and first answers.

use std::collections::BTreeSet;

use engine::{
    CompensationKey, DefinitionKey, ElementKey, IncidentKey, InstanceKey, JobKey, PartitionId, Token, VariableKey, Wait, WaitKey,
    WaitKind,
};
use model::{ElementIx, FlowIx};
use rusqlite::{Connection, OptionalExtension, Row, params};
use store::row::{
    Availability, Compensation, Element, ElementState, Execution, Idempotent, Incident, Instance, InstanceState, Job, JobKind,
    JobOrigin, JobState, Tokens, Unique, UniqueHolder, UniqueName, Variable,
};
use store::{Broken, Error, Loaded, LoadedInstance, Millis, Wanted, format, words};

use super::{user_task, wait};
use crate::failure::Failure;
use crate::statement;

pub(crate) fn load(connection: &Connection, partition: PartitionId, wanted: &Wanted, now: Millis) -> Result<Loaded, Failure> {
    let mut loaded = Loaded::default();
    let mut instances: BTreeSet<InstanceKey> = wanted.instances.iter().copied().collect();
    let belongs_to = |sql, keys| belongs_to(connection, partition, sql, keys);
    let of_jobs = belongs_to(statement::INSTANCE_OF_JOB, wanted.instances_of_jobs.iter().map(|key| key.0).collect())?;
    let of_elements = belongs_to(statement::INSTANCE_OF_ELEMENT, wanted.elements.iter().map(|key| key.0).collect())?;
    let of_incidents = belongs_to(statement::INSTANCE_OF_INCIDENT, wanted.incidents.iter().map(|key| key.0).collect())?;
    instances.extend([&of_jobs, &of_elements, &of_incidents].into_iter().flatten().map(|(_, instance)| *instance));
    loaded.elements = of_elements.into_iter().map(|(key, instance)| (ElementKey(key), instance)).collect();
    loaded.incidents = of_incidents.into_iter().map(|(key, instance)| (IncidentKey(key), instance)).collect();
    for key in instances {
        match whole(key.0, load_instance(connection, partition, key))? {
            Ok(instance) => loaded.instances.extend(instance),
            Err(broken) => loaded.broken.push(broken),
        }
    }
    for name in BTreeSet::from_iter(&wanted.unique) {
        loaded.unique.extend(unique_holder(connection, partition, name)?);
    }
    for key in BTreeSet::from_iter(&wanted.jobs) {
        match whole(key.0, load_job(connection, partition, *key))? {
            Ok(job) => loaded.jobs.extend(job),
            Err(broken) => loaded.broken.push(broken),
        }
    }
    loaded.idempotent = first_answers(connection, partition, wanted, now)?;
    for key in BTreeSet::from_iter(&wanted.user_tasks) {
        let rows = Rows { connection, partition, of: key.0 };
        match whole(key.0, rows.read(statement::OPEN_USER_TASK, "user_tasks", user_task::user_task))? {
            Ok(tasks) => loaded.user_tasks.extend(tasks),
            Err(broken) => loaded.broken.push(broken),
        }
    }
    wait::load(connection, partition, wanted, now, &mut loaded)?;
    Ok(loaded)
}

/// What cannot be read is told apart from what cannot be reached.
fn whole<T>(key: u64, read: Result<T, Failure>) -> Result<Result<T, Broken>, Failure> {
    match read.map_err(Error::from) {
        Ok(whole) => Ok(Ok(whole)),
        Err(Error::Corrupt { what }) => Ok(Err(Broken { key, what })),
        Err(other) => Err(other.into()),
    }
}

/// The instances these keys lead to, by key, each once.
fn belongs_to(
    connection: &Connection,
    partition: PartitionId,
    sql: &str,
    keys: BTreeSet<u64>,
) -> Result<Vec<(u64, InstanceKey)>, Failure> {
    let mut select = connection.prepare_cached(sql)?;
    let mut found = Vec::new();
    for key in keys {
        let instance = select.query_row(params![partition.0, key as i64], |row| row.get::<_, i64>(0)).optional()?;
        found.extend(instance.map(|instance| (key, InstanceKey(instance as u64))));
    }
    Ok(found)
}

fn first_answers(
    connection: &Connection,
    partition: PartitionId,
    wanted: &Wanted,
    now: Millis,
) -> Result<Vec<Idempotent>, Failure> {
    let mut select = connection.prepare_cached(statement::FIRST_ANSWER)?;
    let mut found = Vec::new();
    for (tenant, key) in &wanted.idempotent {
        let row = select.query_row(params![partition.0, tenant, key, now], |row| {
            Ok(Idempotent {
                tenant: tenant.clone(),
                key: key.clone(),
                fingerprint: row.get::<_, i64>(0)? as u64,
                position: row.get::<_, i64>(1)? as u64,
                answer: row.get(2)?,
                expires: row.get(3)?,
            })
        });
        found.extend(row.optional()?);
    }
    Ok(found)
}

fn load_instance(connection: &Connection, partition: PartitionId, key: InstanceKey) -> Result<Option<LoadedInstance>, Failure> {
    let rows = Rows { connection, partition, of: key.0 };
    let Some(instance) = rows.read(statement::RUNNING_INSTANCE, "instances", |row| instance(row, key))?.pop() else {
        return Ok(None);
    };
    let mut waits = rows.read(statement::OPEN_JOBS, "jobs", wait_for_job)?;
    waits.extend(rows.read(statement::WAITING_TURNS, "turns", |row| wait_for_turn(row, key))?);
    waits.extend(rows.read(statement::OPEN_USER_TASKS, "user_tasks", wait_for_person)?);
    waits.sort_by_key(|(_, wait)| wait.key);
    Ok(Some(LoadedInstance {
        instance,
        elements: rows.read(statement::LIVE_ELEMENTS, "elements", |row| element(row, key))?,
        variables: rows.read(statement::LIVE_VARIABLES, "variables", |row| variable(row, key))?,
        tokens: rows.read(statement::WAITING_TOKENS, "tokens", |row| tokens(row, key))?,
        waits,
        timers: rows.read(statement::PENDING_TIMERS, "timers", wait::timer)?,
        subscriptions: rows.read(statement::OPEN_SUBSCRIPTIONS, "subscriptions", wait::subscription)?,
        incidents: rows.read(statement::ACTIVE_INCIDENTS, "incidents", |row| incident(row, key))?,
        compensations: rows.read(statement::KEPT_COMPENSATIONS, "compensations", |row| compensation(row, key))?,
    }))
}

fn load_job(connection: &Connection, partition: PartitionId, key: JobKey) -> Result<Option<Job>, Failure> {
    Ok(Rows { connection, partition, of: key.0 }.read(statement::OPEN_JOB, "jobs", |row| job(row, key))?.pop())
}

/// Rows that belong to an instance, or that are one job or user task.
struct Rows<'a> {
    connection: &'a Connection,
    partition: PartitionId,
    of: u64,
}

impl Rows<'_> {
    /// A row that cannot be read is named; the first column tells which it is.
    fn read<T>(&self, sql: &str, table: &str, read: impl Fn(&Row<'_>) -> Result<T, Failure>) -> Result<Vec<T>, Failure> {
        let mut select = self.connection.prepare_cached(sql)?;
        let mut rows = select.query(params![self.partition.0, self.of as i64])?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            all.push(read(row).map_err(|failure| match Error::from(failure) {
                Error::Corrupt { what } => Error::corrupt(format_args!("{table} {}: {what}", key_at(row, 0).unwrap_or(self.of))),
                other => other,
            })?);
        }
        Ok(all)
    }
}

fn instance(row: &Row<'_>, key: InstanceKey) -> Result<Instance, Failure> {
    let tags = words::tags_from_text(text_at(row, 7)?);
    Ok(Instance {
        key,
        definition: DefinitionKey(key_at(row, 1)?),
        state: InstanceState::of_running(row.get(10)?),
        phase: words::phase_from_number(row.get(2)?)?,
        started: row.get(3)?,
        ended: None,
        parent: key_maybe(row, 4)?.map(InstanceKey).zip(key_maybe(row, 5)?.map(ElementKey)),
        root: InstanceKey(key_at(row, 6)?),
        tags: tags.into_iter().map(Into::into).collect(),
        business_id: row.get(8)?,
        depth: row.get(9)?,
    })
}

fn compensation(row: &Row<'_>, instance: InstanceKey) -> Result<Compensation, Failure> {
    Ok(Compensation {
        key: CompensationKey(key_at(row, 0)?),
        instance,
        scope: ElementKey(key_at(row, 1)?),
        activity: ElementIx(row.get(2)?),
    })
}

fn element(row: &Row<'_>, instance: InstanceKey) -> Result<Element, Failure> {
    Ok(Element {
        key: ElementKey(key_at(row, 0)?),
        instance,
        definition: DefinitionKey(key_at(row, 1)?),
        element: ElementIx(row.get(2)?),
        scope: ElementKey(key_at(row, 3)?),
        state: ElementState::Alive(words::phase_from_number(row.get(4)?)?),
        started: row.get(5)?,
        ended: row.get(6)?,
        incident: key_maybe(row, 7)?.map(IncidentKey),
        progress: text_maybe(row, 8)?.map(words::progress_from_text).transpose()?,
    })
}

fn variable(row: &Row<'_>, instance: InstanceKey) -> Result<Variable, Failure> {
    Ok(Variable {
        key: VariableKey(key_at(row, 0)?),
        instance,
        definition: DefinitionKey(key_at(row, 1)?),
        scope: ElementKey(key_at(row, 2)?),
        name: row.get(3)?,
        value: row.get(4)?,
    })
}

fn tokens(row: &Row<'_>, instance: InstanceKey) -> Result<Tokens, Failure> {
    let token = Token { scope: ElementKey(key_at(row, 1)?), gateway: ElementIx(row.get(2)?), flow: FlowIx(row.get(3)?) };
    Ok(Tokens { instance, token, count: row.get(4)? })
}

fn wait_for_job(row: &Row<'_>) -> Result<(ElementKey, Wait), Failure> {
    Ok((ElementKey(key_at(row, 1)?), Wait { key: WaitKey(key_at(row, 0)?), catch: None, kind: WaitKind::Job }))
}

fn wait_for_person(row: &Row<'_>) -> Result<(ElementKey, Wait), Failure> {
    Ok((ElementKey(key_at(row, 1)?), Wait { key: WaitKey(key_at(row, 0)?), catch: None, kind: WaitKind::UserTask }))
}

fn wait_for_turn(row: &Row<'_>, instance: InstanceKey) -> Result<(ElementKey, Wait), Failure> {
    let left = format::decode_turn(row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?)?;
    let kind = WaitKind::Turn(Box::new(left));
    Ok((instance.root(), Wait { key: WaitKey(key_at(row, 0)?), catch: None, kind }))
}

fn job(row: &Row<'_>, key: JobKey) -> Result<Job, Failure> {
    let due = row.get(10)?;
    let availability = Availability::from_stored(text_at(row, 9)?, due)?;
    let leases: Option<u32> = row.get(31)?;
    let mut job = Job {
        key,
        origin: origin(row)?,
        job_type: row.get(5)?,
        tenant: row.get(6)?,
        priority: row.get(7)?,
        state: JobState::from_word(text_at(row, 8)?)?,
        availability,
        retries: row.get(11)?,
        worker: row.get(12)?,
        deadline: row.get(13)?,
        error_code: row.get(14)?,
        error_message: row.get(15)?,
        failed_with_retries_left: row.get(16)?,
        created: row.get(17)?,
        updated: row.get(18)?,
        ended: row.get(19)?,
        headers: row.get(20)?,
        kind: JobKind::from_stored(row.get_ref(21)?.as_str_or_null().map_err(rusqlite::Error::from)?)?,
        denied: row.get(22)?,
        group: row.get(23)?,
        execution: execution(row)?,
        dispatched: row.get(30)?,
        wait_until: Job::wait_of(availability, due),
        leases: 0,
        progress: row.get(32)?,
    };
    job.leases = leases.unwrap_or_else(|| job.leases_untold());
    Ok(job)
}

/// Of a job that belongs to no process, what it is asked to do is there.
fn execution(row: &Row<'_>) -> Result<Option<Box<Execution>>, Failure> {
    let Some(input) = row.get(24)? else { return Ok(None) };
    let unique = row.get::<_, Option<std::sync::Arc<str>>>(28)?;
    let until = row.get(29)?;
    Ok(Some(Box::new(Execution {
        input,
        result: row.get(25)?,
        attempts: row.get(26)?,
        started: row.get(27)?,
        unique: unique.map(|key| Unique { key, until }),
    })))
}

fn unique_holder(connection: &Connection, partition: PartitionId, name: &UniqueName) -> Result<Option<UniqueHolder>, Failure> {
    let mut select = connection.prepare_cached(statement::UNIQUE_HOLDER)?;
    let (tenant, action, key) = name;
    let mut rows = select.query(params![partition.0, tenant, action, key])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    Ok(Some(UniqueHolder { name: name.clone(), job: JobKey(key_at(row, 0)?), until: row.get(1)? }))
}

/// Of a job that belongs to an instance, all of it is there.
fn origin(row: &Row<'_>) -> Result<Option<JobOrigin>, Failure> {
    let Some(instance) = key_maybe(row, 1)? else { return Ok(None) };
    Ok(Some(JobOrigin {
        instance: InstanceKey(instance),
        definition: DefinitionKey(key_at(row, 2)?),
        element: ElementIx(row.get(3)?),
        element_instance: ElementKey(key_at(row, 4)?),
    }))
}

fn incident(row: &Row<'_>, instance: InstanceKey) -> Result<Incident, Failure> {
    Ok(Incident {
        key: IncidentKey(key_at(row, 0)?),
        instance,
        definition: DefinitionKey(key_at(row, 1)?),
        element: ElementIx(row.get(2)?),
        element_instance: ElementKey(key_at(row, 3)?),
        job: key_maybe(row, 4)?.map(JobKey),
        kind: words::incident_kind_from_word(text_at(row, 5)?)?,
        message: row.get(6)?,
        created: row.get(7)?,
        resolved: None,
    })
}

pub(super) fn key_at(row: &Row<'_>, column: usize) -> Result<u64, Failure> {
    Ok(row.get::<_, i64>(column)? as u64)
}

pub(super) fn text_at<'a>(row: &'a Row<'_>, column: usize) -> Result<&'a str, Failure> {
    Ok(row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?)
}

fn text_maybe<'a>(row: &'a Row<'_>, column: usize) -> Result<Option<&'a str>, Failure> {
    Ok(row.get_ref(column)?.as_str_or_null().map_err(rusqlite::Error::from)?)
}

pub(super) fn key_maybe(row: &Row<'_>, column: usize) -> Result<Option<u64>, Failure> {
    Ok(row.get::<_, Option<i64>>(column)?.map(|key| key as u64))
}

#[cfg(test)]
mod tests;
