//! The schema: created and brought up to date by whichever server comes first.

use std::time::Duration;

use store::{Error, format};
use tokio::time::Instant;

use crate::call::Call;
use crate::options::{Options, Target};
use crate::reading::{Reading, only};
use crate::session::{Role, Session};

/// In order; the first is version 1. They go forward only, and each says in its head whether servers that do not know it can go on.
const MIGRATIONS: [&str; 26] = [
    include_str!("../migrations/0001_tables.sql"),
    include_str!("../migrations/0002_decisions.sql"),
    include_str!("../migrations/0003_reads.sql"),
    include_str!("../migrations/0004_inbox.sql"),
    include_str!("../migrations/0005_waits.sql"),
    include_str!("../migrations/0006_listeners.sql"),
    include_str!("../migrations/0007_incidents.sql"),
    include_str!("../migrations/0008_queues.sql"),
    include_str!("../migrations/0009_change.sql"),
    include_str!("../migrations/0010_people.sql"),
    include_str!("../migrations/0011_identity.sql"),
    include_str!("../migrations/0012_policies.sql"),
    include_str!("../migrations/0013_jobs.sql"),
    include_str!("../migrations/0014_retention.sql"),
    include_str!("../migrations/0015_outbox.sql"),
    include_str!("../migrations/0016_export.sql"),
    include_str!("../migrations/0017_past.sql"),
    include_str!("../migrations/0018_people.sql"),
    include_str!("../migrations/0019_jobs_by_state.sql"),
    include_str!("../migrations/0020_people.sql"),
    include_str!("../migrations/0021_outbox.sql"),
    include_str!("../migrations/0022_room.sql"),
    include_str!("../migrations/0023_started.sql"),
    include_str!("../migrations/0024_late.sql"),
    include_str!("../migrations/0025_starts.sql"),
    include_str!("../migrations/0026_room.sql"),
];

/// The one after which tokens are moved, which SQL cannot read.
const INBOX: i64 = 4;

/// How many instances' tokens are moved at a time.
const INSTANCES_MAX: usize = 10_000;

/// Rewriting a large table takes its time.
const MIGRATION_MAX: Duration = Duration::from_secs(3600);

/// Tells our lock from other people's.
const LOCK: i64 = 0x0063_6175_6461_6c00;

pub(crate) async fn migrate(target: &Target, options: &Options) -> Result<(), Error> {
    // Dropped, and thereby rolled back, whichever way this ends.
    let session = Session::open(target, options, Role::Search).await?;
    let deadline = Instant::now() + MIGRATION_MAX;
    if version(&session, deadline).await? == known() {
        return Ok(());
    }
    // Servers that start at once stand in line here; all but the first find nothing left to do.
    session.batch(deadline, "BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0").await?;
    session.query_within(deadline, Call::new("SELECT pg_advisory_xact_lock($1)").int(LOCK)).await?;
    let found = version(&session, deadline).await?;
    if known() < found {
        return Err(Error::SchemaTooNew { found, known: known() });
    }
    for (number, migration) in (1..).zip(MIGRATIONS) {
        if found < number {
            apply(&session, deadline, number, migration).await?;
        }
    }
    session.batch(deadline, "COMMIT").await?;
    Ok(())
}

/// Whether there is nothing to do; no tables, and those of a newer server, are refused.
pub(crate) async fn is_current(target: &Target, options: &Options) -> Result<bool, Error> {
    let session = Session::open(target, options, Role::Search).await?;
    let found = version(&session, Instant::now() + options.call_timeout).await?;
    match found {
        0 => Err(Error::unavailable(
            "there is no store of Caudal in this database, or not where the search path of its user leads",
        )),
        found if known() < found => Err(Error::SchemaTooNew { found, known: known() }),
        found => Ok(found == known()),
    }
}

fn known() -> i64 {
    MIGRATIONS.len() as i64
}

/// 0 before the first migration.
async fn version(session: &Session, deadline: Instant) -> Result<i64, Error> {
    // Read from the catalog's rows: a look-up by name may answer from before we waited for the lock.
    let there = session.query_within(deadline, Call::new(include_str!("../sql/has_schema.sql"))).await?;
    if !only(&there)?.get::<bool>()? {
        return Ok(0);
    }
    let version = session.query_within(deadline, Call::new("SELECT coalesce(max(version), 0) FROM schema_version")).await?;
    only(&version)?.get()
}

async fn apply(session: &Session, deadline: Instant, number: i64, migration: &str) -> Result<(), Error> {
    if number == 1 {
        let table = "CREATE TABLE schema_version (version bigint PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now())";
        session.batch(deadline, table).await?;
    }
    session.batch(deadline, migration).await?;
    if number == INBOX {
        give_tokens_rows(session, deadline).await?;
    }
    session.query_within(deadline, Call::new("INSERT INTO schema_version (version) VALUES ($1)").int(number)).await?;
    tracing::info!(version = number, "the schema is migrated");
    Ok(())
}

/// The tokens of running instances, which were written as bytes; those of ended ones wait for nothing.
async fn give_tokens_rows(session: &Session, deadline: Instant) -> Result<(), Error> {
    let mut after = (0, 0);
    loop {
        let page = Call::new(include_str!("../migrations/0004_tokens.sql")).int(after.0).int(after.1).limit(INSTANCES_MAX);
        let rows = session.query_within(deadline, page).await?;
        let mut tokens = Vec::new();
        for row in &rows {
            let mut row = Reading::of(row);
            after = (row.get::<i64>()?, row.get::<i64>()?);
            let decoded = format::decode_tokens(row.get()?);
            let decoded = decoded.map_err(|error| Error::corrupt(format_args!("tokens of instance {}: {error}", after.1)))?;
            tokens.extend(decoded.into_iter().map(|token| (after, token)));
        }
        let add = Call::new(include_str!("../migrations/0004_add_tokens.sql"))
            .ints(tokens.iter().map(|((partition, _), _)| *partition))
            .ints(tokens.iter().map(|((_, instance), _)| *instance))
            .keys(tokens.iter().map(|(_, token)| token.scope.0))
            .smalls(tokens.iter().map(|(_, token)| token.gateway.0 as i32))
            .smalls(tokens.iter().map(|(_, token)| token.flow.0 as i32));
        session.query_within(deadline, add).await?;
        if rows.len() < INSTANCES_MAX {
            break;
        }
    }
    Ok(session.batch(deadline, "ALTER TABLE instances DROP COLUMN tokens").await?)
}
