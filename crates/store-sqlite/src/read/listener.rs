//! Listeners to all user tasks.

use engine::PartitionId;
use rusqlite::{Connection, params};
use store::format;
use store::row::GlobalListeners;

use crate::failure::Failure;
use crate::statement;

pub(crate) fn global_listeners(
    connection: &Connection,
    partition: PartitionId,
    limit: usize,
) -> Result<Vec<GlobalListeners>, Failure> {
    let mut select = connection.prepare_cached(statement::GLOBAL_LISTENERS)?;
    let mut rows = select.query(params![partition.0, i64::try_from(limit).unwrap_or(i64::MAX)])?;
    let mut versions = Vec::new();
    while let Some(row) = rows.next()? {
        let listeners = format::decode_listeners(row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?)?;
        versions.push(GlobalListeners { version: row.get(0)?, listeners, changed: row.get(2)?, changed_by: row.get(3)? });
    }
    Ok(versions)
}
