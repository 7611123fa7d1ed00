//! Rows of instances that have migrated.

use engine::PartitionId;
use rusqlite::{Connection, params};
use store::{MigratedRow, MigratedTable};

use crate::failure::Failure;
use crate::statement;

pub(super) fn write(connection: &Connection, partition: PartitionId, rows: &[MigratedRow]) -> Result<(), Failure> {
    for row in rows {
        let (key, definition, element) = (row.key as i64, row.definition.0 as i64, row.element.0);
        let of_element =
            |statement| connection.prepare_cached(statement)?.execute(params![partition.0, key, definition, element]);
        let whole = |statement| connection.prepare_cached(statement)?.execute(params![partition.0, key, definition]);
        match row.table {
            MigratedTable::Instances => whole(statement::MIGRATE_INSTANCE)?,
            MigratedTable::Variables => whole(statement::MIGRATE_VARIABLE)?,
            MigratedTable::Elements => of_element(statement::MIGRATE_ELEMENT)?,
            MigratedTable::Timers => of_element(statement::MIGRATE_TIMER)?,
            MigratedTable::UserTasks => of_element(statement::MIGRATE_USER_TASK)?,
            MigratedTable::Incidents => of_element(statement::MIGRATE_INCIDENT)?,
            MigratedTable::Jobs => {
                let mut update = connection.prepare_cached(statement::MIGRATE_JOB)?;
                update.execute(params![partition.0, key, definition, element, row.headers])?
            }
            MigratedTable::Subscriptions => {
                let mut update = connection.prepare_cached(statement::MIGRATE_SUBSCRIPTION)?;
                update.execute(params![partition.0, key, definition, element, row.process_id])?
            }
        };
    }
    Ok(())
}
