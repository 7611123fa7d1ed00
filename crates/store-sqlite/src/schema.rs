//! Migrations: numbered, forward only, each in its file. `user_version` says how many have been applied.
//!
//! The folder's lock keeps two servers from doing this at once; the transaction keeps a crash from doing half of it.

use rusqlite::{Connection, TransactionBehavior};
use store::Error;

use crate::failure::Failure;

/// The n-th, counted from 1, leads from version n - 1 to version n.
const MIGRATIONS: &[&str] = &[include_str!("../migrations/0001_first.sql"), include_str!("../migrations/0002_decisions.sql")];

pub(crate) fn migrate(connection: &mut Connection) -> Result<(), Failure> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let known = MIGRATIONS.len() as i64;
    if known < found {
        return Err(Error::SchemaTooNew { found, known }.into());
    }
    for migration in &MIGRATIONS[found as usize..] {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", known)?;
    transaction.commit()?;
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests;
