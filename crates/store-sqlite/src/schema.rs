//! Migrations: numbered, forward only, each in its file. `user_version` says how many have been applied.
//!
//! The folder's lock keeps two servers from doing this at once; the transaction keeps a crash from doing half of it.

use engine::InstanceKey;
use rusqlite::{Connection, TransactionBehavior, params};
use store::{Error, format};

use crate::failure::Failure;

/// Leads from one version to the next.
struct Migration {
    sql: &'static str,
    /// What SQL cannot do, after it.
    then: fn(&Connection) -> Result<(), Failure>,
}

impl Migration {
    const fn sql(sql: &'static str) -> Self {
        Self { sql, then: |_| Ok(()) }
    }

    fn apply(&self, connection: &Connection) -> Result<(), Failure> {
        connection.execute_batch(self.sql)?;
        (self.then)(connection)
    }
}

/// The n-th, counted from 1, leads from version n - 1 to version n.
const MIGRATIONS: &[Migration] = &[
    Migration::sql(include_str!("../migrations/0001_first.sql")),
    Migration::sql(include_str!("../migrations/0002_decisions.sql")),
    Migration::sql(include_str!("../migrations/0003_rows_by_key.sql")),
    Migration { sql: include_str!("../migrations/0004_inbox.sql"), then: give_tokens_rows },
    Migration::sql(include_str!("../migrations/0005_waits.sql")),
    Migration::sql(include_str!("../migrations/0006_listeners.sql")),
    Migration::sql(include_str!("../migrations/0007_incidents.sql")),
    Migration::sql(include_str!("../migrations/0008_queues.sql")),
    Migration::sql(include_str!("../migrations/0009_change.sql")),
    Migration::sql(include_str!("../migrations/0010_people.sql")),
    Migration::sql(include_str!("../migrations/0011_identity.sql")),
    Migration::sql(include_str!("../migrations/0012_policies.sql")),
    Migration::sql(include_str!("../migrations/0013_jobs.sql")),
    Migration::sql(include_str!("../migrations/0014_retention.sql")),
    Migration::sql(include_str!("../migrations/0015_outbox.sql")),
    Migration::sql(include_str!("../migrations/0016_export.sql")),
    Migration::sql(include_str!("../migrations/0017_people.sql")),
    Migration::sql(include_str!("../migrations/0018_jobs_by_state.sql")),
    Migration::sql(include_str!("../migrations/0019_outbox.sql")),
    Migration::sql(include_str!("../migrations/0020_started.sql")),
    Migration::sql(include_str!("../migrations/0021_log_by_place.sql")),
    Migration::sql(include_str!("../migrations/0022_late.sql")),
    Migration::sql(include_str!("../migrations/0023_starts.sql")),
    Migration::sql(include_str!("../migrations/0024_batches.sql")),
];

/// The version this server makes of every store.
pub(crate) fn known() -> i64 {
    MIGRATIONS.len() as i64
}

pub(crate) fn migrate(connection: &mut Connection) -> Result<(), Failure> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let known = known();
    if known < found {
        return Err(Error::SchemaTooNew { found, known }.into());
    }
    for migration in &MIGRATIONS[found as usize..] {
        migration.apply(&transaction)?;
    }
    transaction.pragma_update(None, "user_version", known)?;
    transaction.commit()?;
    Ok(())
}

/// The tokens of running instances, which were written as bytes; those of ended ones wait for nothing.
fn give_tokens_rows(connection: &Connection) -> Result<(), Failure> {
    let mut select = connection.prepare(
        "SELECT partition, key, tokens FROM instances WHERE state = 'ACTIVE' AND tokens <> x'' ORDER BY partition, key",
    )?;
    let mut add = connection.prepare(include_str!("../migrations/0004_add_token.sql"))?;
    let mut rows = select.query(())?;
    while let Some(row) = rows.next()? {
        let (partition, instance): (i64, i64) = (row.get(0)?, row.get(1)?);
        let tokens = format::decode_tokens(row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?);
        let tokens = tokens
            .map_err(|error| Error::corrupt(format_args!("tokens of instance {}: {error}", InstanceKey(instance as u64))))?;
        for token in tokens {
            add.execute(params![partition, instance, token.scope.0 as i64, token.gateway.0, token.flow.0])?;
        }
    }
    drop(rows);
    Ok(connection.execute_batch("ALTER TABLE instances DROP COLUMN tokens")?)
}

#[cfg(test)]
pub(crate) mod tests;
