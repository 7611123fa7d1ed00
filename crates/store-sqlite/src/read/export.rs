//! The log, for whoever follows it.

use engine::{InstanceKey, PartitionId};
use rusqlite::{Connection, OptionalExtension as _, params};
use store::Logged;

use crate::failure::Failure;
use crate::statement;

pub(crate) fn happened(
    connection: &Connection,
    partition: PartitionId,
    after: u64,
    limit: usize,
    bytes_max: usize,
) -> Result<Vec<Logged>, Failure> {
    let mut select = connection.prepare_cached(statement::HAPPENED)?;
    let mut rows = select.query(params![partition.0, after as i64, limit as i64])?;
    let (mut bytes, mut found) = (0, Vec::new());
    while let Some(row) = rows.next()? {
        let instance: Option<i64> = row.get(2)?;
        let logged = Logged {
            position: row.get::<_, i64>(0)? as u64,
            at: row.get(1)?,
            instance: instance.map(|key| InstanceKey(key as u64)),
            events: row.get(3)?,
        };
        bytes += logged.events.len();
        if bytes_max < bytes && !found.is_empty() {
            break;
        }
        found.push(logged);
    }
    Ok(found)
}

pub(crate) fn export_place(connection: &Connection, partition: PartitionId, name: &str) -> Result<Option<u64>, Failure> {
    let mut select = connection.prepare_cached(statement::EXPORT_PLACE)?;
    let place: Option<i64> = select.query_row(params![partition.0, name], |row| row.get(0)).optional()?;
    Ok(place.map(|position| position as u64))
}
