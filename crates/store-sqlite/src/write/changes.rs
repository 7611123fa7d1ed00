//! Rows that come into being and rows that change. Those of which a tick has most are inserted several at a time; the others by a prepared
//! statement run in a loop.

use engine::{InstanceKey, PartitionId, WaitKey};
use rusqlite::{Connection, params};
use store::row::{Element, Idempotent, Incident, Instance, Job, Tokens, Turn, Variable};
use store::{Changes, ElementChange, IncidentChange, InstanceChange, Millis, VariableChange, format, words};

use super::decision::{delete_evaluations, delete_requirements, insert_evaluated_decisions, insert_requirements};
use super::definition::{delete_definitions, insert_definitions, insert_resources};
use super::outbox;
use super::{audit, batch, execution, migrated, schedule, user_task, wait};
use crate::failure::Failure;
use crate::statement;

pub(super) fn write(connection: &Connection, partition: PartitionId, changes: &Changes) -> Result<(), Failure> {
    insert_resources(connection, partition, &changes.resources_new)?;
    insert_definitions(connection, partition, &changes.definitions_new)?;
    delete_definitions(connection, partition, &changes.definitions_deleted)?;
    insert_requirements(connection, partition, &changes.requirements_new)?;
    delete_requirements(connection, partition, &changes.requirements_deleted)?;
    insert_evaluated_decisions(connection, partition, &changes.evaluated_decisions_new)?;
    delete_evaluations(connection, partition, &changes.evaluations_deleted)?;
    insert_instances(connection, partition, &changes.instances_new)?;
    change_instances(connection, partition, &changes.instances_changed)?;
    suspend_instances(connection, partition, &changes.instances_suspended)?;
    insert_elements(connection, partition, &changes.elements_new)?;
    change_elements(connection, partition, &changes.elements_changed)?;
    insert_variables(connection, partition, &changes.variables_new)?;
    change_variables(connection, partition, &changes.variables_changed)?;
    insert_jobs(connection, partition, &changes.jobs_new)?;
    change_jobs(connection, partition, &changes.jobs_changed)?;
    execution::write(connection, partition, changes)?;
    schedule::write(connection, partition, changes)?;
    set_tokens(connection, partition, &changes.tokens)?;
    insert_turns(connection, partition, &changes.turns_new)?;
    delete_turns(connection, partition, &changes.turns_done)?;
    wait::write(connection, partition, changes)?;
    user_task::write(connection, partition, changes)?;
    insert_incidents(connection, partition, &changes.incidents_new)?;
    count_incidents(connection, partition, changes)?;
    resolve_incidents(connection, partition, &changes.incidents_changed)?;
    outbox::write(connection, partition, changes)?;
    remember_first_answers(connection, partition, &changes.idempotent_new)?;
    audit::insert(connection, partition, &changes.audit_new)?;
    migrated::write(connection, partition, &changes.migrated)?;
    batch::write(connection, partition, changes)
}

fn insert_instances(connection: &Connection, partition: PartitionId, rows: &[Instance]) -> Result<(), Failure> {
    statement::INSERT_INSTANCE.all(connection, rows, |row, values| {
        values.put(params![
            partition.0,
            row.key.0 as i64,
            row.definition.0 as i64,
            row.state.stored(),
            words::phase_number(row.phase),
            row.started,
            row.ended,
            row.parent.map(|(instance, _)| instance.0 as i64),
            row.parent.map(|(_, element)| element.0 as i64),
            row.root.0 as i64,
            words::tags_text(&row.tags),
            row.business_id,
            row.depth,
        ])
    })?;
    let mut insert_tag = connection.prepare_cached(statement::INSERT_INSTANCE_TAG)?;
    for row in rows {
        for tag in &row.tags {
            insert_tag.execute(params![partition.0, tag, row.key.0 as i64])?;
        }
    }
    Ok(())
}

fn change_instances(connection: &Connection, partition: PartitionId, rows: &[InstanceChange]) -> Result<(), Failure> {
    let mut update = connection.prepare_cached(statement::CHANGE_INSTANCE)?;
    for row in rows {
        update.execute(params![partition.0, row.key.0 as i64, row.state.stored(), words::phase_number(row.phase), row.ended,])?;
    }
    Ok(())
}

fn suspend_instances(
    connection: &Connection,
    partition: PartitionId,
    rows: &[(InstanceKey, Option<Millis>)],
) -> Result<(), Failure> {
    for (key, since) in rows {
        connection.prepare_cached(statement::SUSPEND_INSTANCE)?.execute(params![partition.0, key.0 as i64, since])?;
    }
    Ok(())
}

fn insert_elements(connection: &Connection, partition: PartitionId, rows: &[Element]) -> Result<(), Failure> {
    statement::INSERT_ELEMENT.all(connection, rows, |row, values| {
        values.put(params![
            partition.0,
            row.key.0 as i64,
            row.instance.0 as i64,
            row.definition.0 as i64,
            row.element.0,
            row.scope.0 as i64,
            row.state.word(),
            row.state.phase_number(),
            row.started,
            row.ended,
            row.incident.map(|key| key.0 as i64),
            row.progress.map(words::progress_text),
        ])
    })
}

fn change_elements(connection: &Connection, partition: PartitionId, rows: &[ElementChange]) -> Result<(), Failure> {
    let mut update = connection.prepare_cached(statement::CHANGE_ELEMENT)?;
    for row in rows {
        update.execute(params![
            partition.0,
            row.key.0 as i64,
            row.state.word(),
            row.state.phase_number(),
            row.ended,
            row.incident.map(|key| key.0 as i64),
            row.progress.map(words::progress_text),
        ])?;
    }
    Ok(())
}

fn insert_variables(connection: &Connection, partition: PartitionId, rows: &[Variable]) -> Result<(), Failure> {
    statement::INSERT_VARIABLE.all(connection, rows, |row, values| {
        values.put(params![
            partition.0,
            row.key.0 as i64,
            row.instance.0 as i64,
            row.definition.0 as i64,
            row.scope.0 as i64,
            row.name,
            row.value,
        ])
    })
}

fn change_variables(connection: &Connection, partition: PartitionId, rows: &[VariableChange]) -> Result<(), Failure> {
    let mut update = connection.prepare_cached(statement::CHANGE_VARIABLE)?;
    for row in rows {
        update.execute(params![partition.0, row.key.0 as i64, row.value])?;
    }
    Ok(())
}

fn insert_jobs(connection: &Connection, partition: PartitionId, rows: &[Job]) -> Result<(), Failure> {
    statement::INSERT_JOB.all(connection, rows, |row, values| {
        values.put(params![
            partition.0,
            row.key.0 as i64,
            row.origin.map(|origin| origin.instance.0 as i64),
            row.origin.map(|origin| origin.definition.0 as i64),
            row.origin.map(|origin| origin.element.0),
            row.origin.map(|origin| origin.element_instance.0 as i64),
            row.job_type,
            row.tenant,
            row.priority,
            row.state.word(),
            row.availability.word(),
            row.due(),
            row.retries,
            row.worker,
            row.deadline,
            row.error_code,
            row.error_message,
            row.failed_with_retries_left,
            row.created,
            row.updated,
            row.ended,
            row.headers,
            row.kind.stored(),
            row.denied,
            row.group,
            row.dispatched,
        ])
    })
}

fn change_jobs(connection: &Connection, partition: PartitionId, rows: &[Job]) -> Result<(), Failure> {
    let mut update = connection.prepare_cached(statement::CHANGE_JOB)?;
    for row in rows {
        update.execute(params![
            partition.0,
            row.key.0 as i64,
            row.priority,
            row.state.word(),
            row.availability.word(),
            row.due(),
            row.retries,
            row.worker,
            row.deadline,
            row.error_code,
            row.error_message,
            row.failed_with_retries_left,
            row.updated,
            row.ended,
            row.denied,
            row.dispatched,
        ])?;
    }
    Ok(())
}

fn set_tokens(connection: &Connection, partition: PartitionId, rows: &[Tokens]) -> Result<(), Failure> {
    let mut put = connection.prepare_cached(statement::PUT_TOKENS)?;
    let mut remove = connection.prepare_cached(statement::REMOVE_TOKENS)?;
    for Tokens { instance, token, count } in rows {
        let place = (partition.0, instance.0 as i64, token.scope.0 as i64, token.gateway.0, token.flow.0);
        match count {
            0 => remove.execute(place)?,
            count => put.execute((place.0, place.1, place.2, place.3, place.4, count))?,
        };
    }
    Ok(())
}

fn insert_turns(connection: &Connection, partition: PartitionId, rows: &[Turn]) -> Result<(), Failure> {
    let mut insert = connection.prepare_cached(statement::INSERT_TURN)?;
    for row in rows {
        let step = format::encode_turn(&row.left);
        insert.execute(params![partition.0, row.key.0 as i64, row.instance.0 as i64, row.due, step])?;
    }
    Ok(())
}

fn delete_turns(connection: &Connection, partition: PartitionId, keys: &[WaitKey]) -> Result<(), Failure> {
    let mut delete = connection.prepare_cached(statement::DELETE_TURN)?;
    for key in keys {
        delete.execute(params![partition.0, key.0 as i64])?;
    }
    Ok(())
}

fn insert_incidents(connection: &Connection, partition: PartitionId, rows: &[Incident]) -> Result<(), Failure> {
    let mut insert = connection.prepare_cached(statement::INSERT_INCIDENT)?;
    for row in rows {
        insert.execute(params![
            partition.0,
            row.key.0 as i64,
            row.instance.0 as i64,
            row.definition.0 as i64,
            row.element.0,
            row.element_instance.0 as i64,
            row.job.map(|key| key.0 as i64),
            words::incident_kind_word(row.kind),
            row.message,
            words::message_hash(&row.message),
            row.created,
            row.resolved,
        ])?;
    }
    Ok(())
}

fn resolve_incidents(connection: &Connection, partition: PartitionId, rows: &[IncidentChange]) -> Result<(), Failure> {
    let mut update = connection.prepare_cached(statement::RESOLVE_INCIDENT)?;
    for row in rows {
        update.execute(params![partition.0, row.key.0 as i64, row.resolved])?;
    }
    Ok(())
}

/// What encloses an element that gets stuck or is freed, and what has called that, counts it. All rows of them are written by now, and what
/// is about to be resolved is still open.
fn count_incidents(connection: &Connection, partition: PartitionId, changes: &Changes) -> Result<(), Failure> {
    let raised = changes.incidents_new.iter().map(|row| (row.key, 1));
    let resolved = changes.incidents_changed.iter().map(|row| (row.key, -1));
    for (key, more) in raised.chain(resolved) {
        for count in [statement::COUNT_INCIDENT_IN_ELEMENTS, statement::COUNT_INCIDENT_IN_INSTANCES] {
            connection.prepare_cached(count)?.execute(params![partition.0, key.0 as i64, more])?;
        }
    }
    Ok(())
}

fn remember_first_answers(connection: &Connection, partition: PartitionId, rows: &[Idempotent]) -> Result<(), Failure> {
    let mut insert = connection.prepare_cached(statement::REMEMBER_FIRST_ANSWER)?;
    for row in rows {
        insert.execute(params![
            partition.0,
            row.tenant,
            row.key,
            row.fingerprint as i64,
            row.position as i64,
            row.answer,
            row.expires,
        ])?;
    }
    Ok(())
}
