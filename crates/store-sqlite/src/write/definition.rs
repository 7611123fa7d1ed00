//! Definitions and the files they came in.

use engine::{DefinitionKey, PartitionId};
use rusqlite::{Connection, params};
use store::row::{Definition, Resource};
use store::{format, words};

use crate::failure::Failure;
use crate::statement;

pub(super) fn insert_resources(connection: &Connection, partition: PartitionId, rows: &[Resource]) -> Result<(), Failure> {
    let mut insert = connection.prepare_cached(statement::INSERT_RESOURCE)?;
    for row in rows {
        insert.execute(params![partition.0, row.key as i64, row.name, &*row.content, row.tenant])?;
    }
    Ok(())
}

pub(super) fn insert_definitions(connection: &Connection, partition: PartitionId, rows: &[Definition]) -> Result<(), Failure> {
    let mut insert = connection.prepare_cached(statement::INSERT_DEFINITION)?;
    let mut insert_element = connection.prepare_cached(statement::INSERT_DEFINITION_ELEMENT)?;
    for row in rows {
        let key = row.key.0 as i64;
        insert.execute(params![
            partition.0,
            key,
            row.process_id,
            row.version,
            row.name,
            row.version_tag,
            row.tenant,
            row.resource as i64,
            row.resource_name,
            row.deployment as i64,
            row.checksum,
            row.deleted,
            row.flows.as_deref().map(format::encode_flows),
            row.start_form.as_ref().map(|form| &form.id),
            row.start_form.as_ref().and_then(|form| words::binding_text(&form.binding)),
        ])?;
        for (number, element) in (0i64..).zip(&row.elements) {
            insert_element.execute(params![partition.0, key, number, element.id, element.name, element.kind, element.headers])?;
        }
    }
    Ok(())
}

pub(super) fn delete_definitions(connection: &Connection, partition: PartitionId, keys: &[DefinitionKey]) -> Result<(), Failure> {
    let mut delete = connection.prepare_cached(statement::DELETE_DEFINITION)?;
    for key in keys {
        delete.execute(params![partition.0, key.0 as i64])?;
    }
    Ok(())
}
