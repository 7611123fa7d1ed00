//! Definitions, their elements and the files they came in.

use engine::{DefinitionKey, PartitionId};
use rusqlite::{Connection, OptionalExtension, Params, Row, params};
use store::row::{Definition, DefinitionElement, DefinitionHead, Resource};
use store::{Named, format, words};

use crate::failure::Failure;
use crate::statement;

pub(crate) fn definition(connection: &Connection, key: DefinitionKey) -> Result<Option<Definition>, Failure> {
    let partition = PartitionId::of(key.0) as i64;
    Ok(definitions(connection, statement::DEFINITION_BY_KEY, [partition, key.0 as i64])?.pop())
}

pub(crate) fn definition_version(
    connection: &Connection,
    partition: PartitionId,
    process_id: &str,
    tenant: &str,
    version: i32,
) -> Result<Option<Definition>, Failure> {
    let which = params![partition.0, process_id, tenant, version];
    Ok(definitions(connection, statement::DEFINITION_BY_VERSION, which)?.pop())
}

pub(crate) fn definition_before(
    connection: &Connection,
    partition: PartitionId,
    process_id: &str,
    tenant: &str,
    version: i32,
) -> Result<Option<Definition>, Failure> {
    let which = params![partition.0, process_id, tenant, version];
    Ok(definitions(connection, statement::DEFINITION_BEFORE, which)?.pop())
}

pub(crate) fn process_named(
    connection: &Connection,
    partition: PartitionId,
    id: &str,
    tenant: &str,
) -> Result<Named<DefinitionHead>, Failure> {
    let mut select = connection.prepare_cached(statement::PROCESS_NAMED)?;
    let mut rows = select.query(params![partition.0, id, tenant])?;
    let mut named = Named::default();
    while let (None, Some(row)) = (&named.latest, rows.next()?) {
        let version: i32 = row.get(0)?;
        named.version_max = version.max(named.version_max);
        if !row.get::<_, bool>(1)? {
            let (key, checksum) = (DefinitionKey(row.get::<_, i64>(2)? as u64), row.get(3)?);
            named.latest = Some(DefinitionHead { key, version, checksum });
        }
    }
    Ok(named)
}

pub(crate) fn resource(connection: &Connection, key: u64) -> Result<Option<Resource>, Failure> {
    let mut select = connection.prepare_cached(statement::RESOURCE_BY_KEY)?;
    let resource = select.query_row([PartitionId::of(key) as i64, key as i64], |row| {
        let content = row.get_ref(1)?.as_blob()?;
        Ok(Resource { key, name: row.get(0)?, content: content.into(), tenant: row.get(2)? })
    });
    Ok(resource.optional()?)
}

pub(crate) fn running_definitions(
    connection: &Connection,
    partition: PartitionId,
    limit: usize,
) -> Result<Vec<DefinitionKey>, Failure> {
    let mut select = connection.prepare_cached(statement::RUNNING_DEFINITIONS)?;
    let rows = select.query_map(params![partition.0, limit as i64], |row| Ok(DefinitionKey(row.get::<_, i64>(0)? as u64)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(crate) fn has_running(connection: &Connection, definition: DefinitionKey) -> Result<bool, Failure> {
    let mut select = connection.prepare_cached(statement::HAS_RUNNING)?;
    Ok(select.query_row([definition.0 as i64], |row| row.get(0))?)
}

fn definitions(connection: &Connection, sql: &str, which: impl Params) -> Result<Vec<Definition>, Failure> {
    let mut select = connection.prepare_cached(sql)?;
    let mut rows = select.query(which)?;
    let mut definitions = Vec::new();
    while let Some(row) = rows.next()? {
        let (partition, mut definition) = (row.get(0)?, without_elements(row)?);
        definition.elements = elements(connection, partition, definition.key)?;
        definitions.push(definition);
    }
    Ok(definitions)
}

fn without_elements(row: &Row<'_>) -> Result<Definition, Failure> {
    let flows = row.get_ref(12)?.as_blob_or_null().map_err(rusqlite::Error::from)?;
    let binding = row.get_ref(14)?.as_str_or_null().map_err(rusqlite::Error::from)?;
    Ok(Definition {
        key: DefinitionKey(row.get::<_, i64>(1)? as u64),
        process_id: row.get(2)?,
        version: row.get(3)?,
        name: row.get(4)?,
        version_tag: row.get(5)?,
        tenant: row.get(6)?,
        resource: row.get::<_, i64>(7)? as u64,
        resource_name: row.get(8)?,
        deployment: row.get::<_, i64>(9)? as u64,
        checksum: row.get(10)?,
        deleted: row.get(11)?,
        elements: Vec::new(),
        flows: flows.map(format::decode_flows).transpose()?,
        start_form: words::start_form(row.get(13)?, binding)?,
    })
}

fn elements(connection: &Connection, partition: i64, definition: DefinitionKey) -> Result<Vec<DefinitionElement>, Failure> {
    let mut select = connection.prepare_cached(statement::DEFINITION_ELEMENTS)?;
    let rows = select.query_map([partition, definition.0 as i64], |row| {
        Ok(DefinitionElement { id: row.get(0)?, name: row.get(1)?, kind: row.get(2)?, headers: row.get(3)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
