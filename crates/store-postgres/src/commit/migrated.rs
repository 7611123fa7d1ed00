//! Rows of instances that have migrated, as columns of statements.

use store::{Commit, MigratedTable};

use super::batches::batch;
use crate::call::Call;

pub(super) fn of_changes(commit: &Commit) -> impl Iterator<Item = Call<'_>> {
    let tables: &[MigratedTable] = if commit.changes.migrated.is_empty() { &[] } else { &MigratedTable::ALL };
    tables.iter().filter_map(|table| of_table(commit, *table))
}

fn of_table(commit: &Commit, table: MigratedTable) -> Option<Call<'_>> {
    let rows = || commit.changes.migrated.iter().filter(move |row| row.table == table);
    rows().next()?;
    batch(commit, statement(table), &commit.changes.migrated, |call, _| {
        let call = call.keys(rows().map(|row| row.key)).keys(rows().map(|row| row.definition.0));
        let elements = || rows().map(|row| row.element.0 as i32);
        match table {
            MigratedTable::Instances | MigratedTable::Variables => call,
            MigratedTable::Elements | MigratedTable::Timers | MigratedTable::UserTasks | MigratedTable::Incidents => {
                call.smalls(elements())
            }
            MigratedTable::Jobs => call.smalls(elements()).texts_opt(rows().map(|row| row.headers.as_deref())),
            MigratedTable::Subscriptions => call.smalls(elements()).texts(rows().map(|row| &*row.process_id)),
        }
    })
}

fn statement(table: MigratedTable) -> &'static str {
    match table {
        MigratedTable::Instances => include_str!("../../sql/migrate_instances.sql"),
        MigratedTable::Elements => include_str!("../../sql/migrate_elements.sql"),
        MigratedTable::Variables => include_str!("../../sql/migrate_variables.sql"),
        MigratedTable::Jobs => include_str!("../../sql/migrate_jobs.sql"),
        MigratedTable::Timers => include_str!("../../sql/migrate_timers.sql"),
        MigratedTable::UserTasks => include_str!("../../sql/migrate_user_tasks.sql"),
        MigratedTable::Subscriptions => include_str!("../../sql/migrate_subscriptions.sql"),
        MigratedTable::Incidents => include_str!("../../sql/migrate_incidents.sql"),
    }
}
