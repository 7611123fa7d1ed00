//! What a tick needs: running instances with what is alive of them, and first answers.

use std::collections::BTreeSet;

use engine::{DefinitionKey, ElementKey, IncidentKey, InstanceKey, JobKey, PartitionId, VariableKey};
use model::ElementIx;
use rusqlite::{Connection, OptionalExtension, Row, params};
use store::row::{Availability, Element, ElementState, Idempotent, Incident, Instance, InstanceState, Job, JobState, Variable};
use store::{Loaded, LoadedInstance, Millis, Wanted, format, words};

use crate::failure::Failure;
use crate::statement;

pub(crate) fn load(connection: &Connection, partition: PartitionId, wanted: &Wanted, now: Millis) -> Result<Loaded, Failure> {
    let mut keys: BTreeSet<u64> = wanted.instances.iter().map(|key| key.0).collect();
    instances_of(connection, partition, statement::INSTANCE_OF_JOB, wanted.jobs.iter().map(|key| key.0), &mut keys)?;
    instances_of(connection, partition, statement::INSTANCE_OF_ELEMENT, wanted.elements.iter().map(|key| key.0), &mut keys)?;
    instances_of(connection, partition, statement::INSTANCE_OF_INCIDENT, wanted.incidents.iter().map(|key| key.0), &mut keys)?;
    let mut loaded = Loaded::default();
    for key in keys {
        loaded.instances.extend(load_instance(connection, partition, InstanceKey(key))?);
    }
    let mut select = connection.prepare_cached(statement::FIRST_ANSWER)?;
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
        loaded.idempotent.extend(row.optional()?);
    }
    Ok(loaded)
}

fn instances_of(
    connection: &Connection,
    partition: PartitionId,
    sql: &str,
    keys: impl Iterator<Item = u64>,
    found: &mut BTreeSet<u64>,
) -> Result<(), Failure> {
    let mut select = connection.prepare_cached(sql)?;
    for key in keys {
        let instance = select.query_row(params![partition.0, key as i64], |row| row.get::<_, i64>(0)).optional()?;
        found.extend(instance.map(|key| key as u64));
    }
    Ok(())
}

fn load_instance(connection: &Connection, partition: PartitionId, key: InstanceKey) -> Result<Option<LoadedInstance>, Failure> {
    let mut select = connection.prepare_cached(statement::RUNNING_INSTANCE)?;
    let mut rows = select.query(params![partition.0, key.0 as i64])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    Ok(Some(LoadedInstance {
        instance: instance(row, key)?,
        elements: all_of(connection, partition, key, statement::LIVE_ELEMENTS, element)?,
        variables: all_of(connection, partition, key, statement::LIVE_VARIABLES, variable)?,
        jobs: all_of(connection, partition, key, statement::OPEN_JOBS, job)?,
        incidents: all_of(connection, partition, key, statement::ACTIVE_INCIDENTS, incident)?,
    }))
}

fn all_of<T>(
    connection: &Connection,
    partition: PartitionId,
    instance: InstanceKey,
    sql: &str,
    read: impl Fn(&Row<'_>, InstanceKey) -> Result<T, Failure>,
) -> Result<Vec<T>, Failure> {
    let mut select = connection.prepare_cached(sql)?;
    let mut rows = select.query(params![partition.0, instance.0 as i64])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        all.push(read(row, instance)?);
    }
    Ok(all)
}

fn instance(row: &Row<'_>, key: InstanceKey) -> Result<Instance, Failure> {
    let parent = match (row.get::<_, Option<i64>>(3)?, row.get::<_, Option<i64>>(4)?) {
        (Some(instance), Some(element)) => Some((InstanceKey(instance as u64), ElementKey(element as u64))),
        _ => None,
    };
    let tags = words::tags_from_text(row.get_ref(6)?.as_str().map_err(rusqlite::Error::from)?);
    Ok(Instance {
        key,
        definition: DefinitionKey(key_at(row, 0)?),
        state: InstanceState::Active,
        phase: words::phase_from_number(row.get(1)?)?,
        started: row.get(2)?,
        ended: None,
        parent,
        root: InstanceKey(key_at(row, 5)?),
        tags: tags.into_iter().map(Into::into).collect(),
        business_id: row.get(7)?,
        tokens: format::decode_tokens(row.get_ref(8)?.as_blob().map_err(rusqlite::Error::from)?)?,
        incidents: row.get(9)?,
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

fn job(row: &Row<'_>, instance: InstanceKey) -> Result<Job, Failure> {
    Ok(Job {
        key: JobKey(key_at(row, 0)?),
        instance,
        definition: DefinitionKey(key_at(row, 1)?),
        element: ElementIx(row.get(2)?),
        element_instance: ElementKey(key_at(row, 3)?),
        job_type: row.get(4)?,
        tenant: row.get(5)?,
        state: JobState::from_word(row.get_ref(6)?.as_str().map_err(rusqlite::Error::from)?)?,
        availability: Availability::from_stored(row.get_ref(7)?.as_str().map_err(rusqlite::Error::from)?, row.get(8)?)?,
        retries: row.get(9)?,
        worker: row.get(10)?,
        deadline: row.get(11)?,
        error_code: row.get(12)?,
        error_message: row.get(13)?,
        failed_with_retries_left: row.get(14)?,
        created: row.get(15)?,
        updated: row.get(16)?,
        ended: row.get(17)?,
    })
}

fn incident(row: &Row<'_>, instance: InstanceKey) -> Result<Incident, Failure> {
    Ok(Incident {
        key: IncidentKey(key_at(row, 0)?),
        instance,
        definition: DefinitionKey(key_at(row, 1)?),
        element: ElementIx(row.get(2)?),
        element_instance: ElementKey(key_at(row, 3)?),
        job: key_maybe(row, 4)?.map(JobKey),
        kind: words::incident_kind_from_word(row.get_ref(5)?.as_str().map_err(rusqlite::Error::from)?)?,
        message: row.get(6)?,
        created: row.get(7)?,
        resolved: None,
    })
}

fn key_at(row: &Row<'_>, column: usize) -> Result<u64, Failure> {
    Ok(row.get::<_, i64>(column)? as u64)
}

fn key_maybe(row: &Row<'_>, column: usize) -> Result<Option<u64>, Failure> {
    Ok(row.get::<_, Option<i64>>(column)?.map(|key| key as u64))
}
