//! Tasks for people, who may do them, and forms. Nothing is prepared where none changes.

use engine::PartitionId;
use rusqlite::{Connection, params};
use store::row::{Form, UserTask};
use store::{Changes, format, words};

use crate::failure::Failure;
use crate::statement;

pub(super) fn write(connection: &Connection, partition: PartitionId, changes: &Changes) -> Result<(), Failure> {
    for row in &changes.forms_new {
        insert_form(connection, partition, row)?;
    }
    for key in &changes.forms_deleted {
        connection.prepare_cached(statement::DELETE_FORM)?.execute(params![partition.0, key.0 as i64])?;
    }
    for row in &changes.user_tasks_new {
        insert(connection, partition, row)?;
    }
    for row in &changes.user_tasks_changed {
        change(connection, partition, row)?;
    }
    Ok(())
}

fn insert(connection: &Connection, partition: PartitionId, row: &UserTask) -> Result<(), Failure> {
    connection.prepare_cached(statement::INSERT_USER_TASK)?.execute(params![
        partition.0,
        row.key.0 as i64,
        row.instance.0 as i64,
        row.definition.0 as i64,
        row.element.0,
        row.element_instance.0 as i64,
        row.tenant,
        row.state.word(),
        row.assignee,
        words::tags_text(&row.candidate_groups),
        words::tags_text(&row.candidate_users),
        row.due,
        row.follow_up,
        row.priority,
        row.form.map(|key| key.0 as i64),
        row.external_form,
        row.created,
        row.ended,
        row.transition.as_deref().map(format::encode_transition),
    ])?;
    insert_candidates(connection, partition, row)
}

fn change(connection: &Connection, partition: PartitionId, row: &UserTask) -> Result<(), Failure> {
    connection.prepare_cached(statement::CHANGE_USER_TASK)?.execute(params![
        partition.0,
        row.key.0 as i64,
        row.state.word(),
        row.assignee,
        words::tags_text(&row.candidate_groups),
        words::tags_text(&row.candidate_users),
        row.due,
        row.follow_up,
        row.priority,
        row.ended,
        row.transition.as_deref().map(format::encode_transition),
    ])?;
    let mut delete = connection.prepare_cached(statement::DELETE_USER_TASK_CANDIDATES)?;
    delete.execute(params![partition.0, row.key.0 as i64])?;
    insert_candidates(connection, partition, row)
}

fn insert_candidates(connection: &Connection, partition: PartitionId, row: &UserTask) -> Result<(), Failure> {
    let mut insert = connection.prepare_cached(statement::INSERT_USER_TASK_CANDIDATE)?;
    for (kind, name) in row.candidates() {
        let (task, tenant) = (row.key.0 as i64, &row.tenant);
        insert.execute(params![partition.0, task, kind.word(), name, row.is_open(), tenant, row.created])?;
    }
    Ok(())
}

fn insert_form(connection: &Connection, partition: PartitionId, row: &Form) -> Result<(), Failure> {
    connection.prepare_cached(statement::INSERT_FORM)?.execute(params![
        partition.0,
        row.key.0 as i64,
        row.id,
        row.version,
        row.version_tag,
        row.tenant,
        row.resource as i64,
        row.resource_name,
        row.deployment as i64,
        row.checksum,
        row.deleted,
    ])?;
    Ok(())
}
