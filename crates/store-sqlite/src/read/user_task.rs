//! Tasks for people and forms.

use engine::{DefinitionKey, ElementKey, FormKey, InstanceKey, PartitionId, UserTaskKey};
use model::ElementIx;
use rusqlite::{Connection, OptionalExtension, Row, params};
use store::row::{Form, Transition, UserTask, UserTaskState};
use store::{format, words};

use super::load::{key_at, key_maybe, text_at};
use crate::failure::Failure;
use crate::statement;

pub(super) fn user_task(row: &Row<'_>) -> Result<UserTask, Failure> {
    let names = |column| Ok::<_, Failure>(words::tags_from_text(text_at(row, column)?).into_iter().map(Into::into).collect());
    Ok(UserTask {
        key: UserTaskKey(key_at(row, 0)?),
        instance: InstanceKey(key_at(row, 1)?),
        definition: DefinitionKey(key_at(row, 2)?),
        element: ElementIx(row.get(3)?),
        element_instance: ElementKey(key_at(row, 4)?),
        tenant: row.get(5)?,
        state: UserTaskState::from_word(text_at(row, 6)?)?,
        assignee: row.get(7)?,
        candidate_groups: names(8)?,
        candidate_users: names(9)?,
        due: row.get(10)?,
        follow_up: row.get(11)?,
        priority: row.get(12)?,
        form: key_maybe(row, 13)?.map(FormKey),
        external_form: row.get(14)?,
        created: row.get(15)?,
        ended: row.get(16)?,
        transition: transition(row)?,
    })
}

fn transition(row: &Row<'_>) -> Result<Option<Box<Transition>>, Failure> {
    let bytes = row.get_ref(17)?.as_blob_or_null().map_err(rusqlite::Error::from)?;
    Ok(bytes.map(format::decode_transition).transpose()?.map(Box::new))
}

pub(crate) fn forms_named(connection: &Connection, partition: PartitionId, id: &str, tenant: &str) -> Result<Vec<Form>, Failure> {
    let mut select = connection.prepare_cached(statement::FORMS_NAMED)?;
    let rows = select.query_map(params![partition.0, id, tenant], read_form)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(crate) fn form(connection: &Connection, key: FormKey) -> Result<Option<Form>, Failure> {
    let mut select = connection.prepare_cached(statement::FORM_BY_KEY)?;
    Ok(select.query_row([PartitionId::of(key.0) as i64, key.0 as i64], read_form).optional()?)
}

fn read_form(row: &Row<'_>) -> rusqlite::Result<Form> {
    Ok(Form {
        key: FormKey(row.get::<_, i64>(0)? as u64),
        id: row.get(1)?,
        version: row.get(2)?,
        version_tag: row.get(3)?,
        tenant: row.get(4)?,
        resource: row.get::<_, i64>(5)? as u64,
        resource_name: row.get(6)?,
        deployment: row.get::<_, i64>(7)? as u64,
        checksum: row.get(8)?,
        deleted: row.get(9)?,
    })
}
