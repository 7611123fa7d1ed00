//! Removing what is old, in the writer's transaction.

use std::sync::LazyLock;

use engine::{InstanceKey, PartitionId};
use rusqlite::{Connection, OptionalExtension as _, params};
use store::retention::{Aged, BELONGING, Purged};
use store::{Fence, Millis};

use crate::failure::Failure;
use crate::statement;

/// One for every table whose rows belong to instances.
static PURGE_BELONGING: LazyLock<Vec<String>> =
    LazyLock::new(|| BELONGING.iter().map(|table| statement::PURGE_BELONGING.replace("{table}", table)).collect());

pub(crate) fn purge(
    connection: &Connection,
    fence: Fence,
    what: Aged,
    before: Millis,
    limit: usize,
) -> Result<Option<usize>, Failure> {
    if !holds(connection, fence)? {
        return Ok(None);
    }
    let purged = connection.prepare_cached(purge_sql(what))?.execute(params![fence.partition.0, before, limit as i64])?;
    Ok(Some(purged))
}

pub(crate) fn count_aged(
    connection: &Connection,
    partition: PartitionId,
    what: Aged,
    before: Millis,
    limit: usize,
) -> Result<usize, Failure> {
    let sql = format!("SELECT count(*) FROM ({})", aged_sql(what));
    let count: i64 = connection.prepare_cached(&sql)?.query_row(params![partition.0, before, limit as i64], |row| row.get(0))?;
    Ok(count as usize)
}

/// What is so old, the oldest first; of batch operations also those that still have items.
fn aged_sql(what: Aged) -> &'static str {
    match what {
        Aged::Log => statement::AGED_LOG,
        Aged::Executions => statement::AGED_EXECUTIONS,
        Aged::Evaluations => statement::AGED_EVALUATIONS,
        Aged::Timers => statement::AGED_TIMERS,
        Aged::Subscriptions => statement::AGED_SUBSCRIPTIONS,
        Aged::Correlations => statement::AGED_CORRELATIONS,
        Aged::FirstAnswers => statement::AGED_FIRST_ANSWERS,
        Aged::Answers => statement::AGED_ANSWERS,
        Aged::Paces => statement::AGED_PACES,
        Aged::Audit => statement::AGED_AUDIT,
        Aged::BatchItems => statement::AGED_BATCH_ITEMS,
        Aged::Batches => statement::ENDED_BATCHES,
    }
}

macro_rules! purge_sql {
    ($from:literal, $file:literal) => {
        concat!("DELETE FROM ", $from, " IN (", include_str!($file), ")")
    };
}

fn purge_sql(what: Aged) -> &'static str {
    match what {
        Aged::Log => purge_sql!("log WHERE place", "../../sql/aged_log.sql"),
        Aged::Executions => purge_sql!("jobs WHERE key", "../../sql/aged_executions.sql"),
        Aged::Evaluations => purge_sql!("evaluated_decisions WHERE key", "../../sql/aged_evaluations.sql"),
        Aged::Timers => purge_sql!("timers WHERE key", "../../sql/aged_timers.sql"),
        Aged::Subscriptions => purge_sql!("subscriptions WHERE key", "../../sql/aged_subscriptions.sql"),
        Aged::Correlations => purge_sql!("message_correlations WHERE key", "../../sql/aged_correlations.sql"),
        Aged::FirstAnswers => {
            purge_sql!("idempotent WHERE (partition, tenant, key)", "../../sql/aged_first_answers.sql")
        }
        Aged::Answers => purge_sql!("answers WHERE (partition, position)", "../../sql/aged_answers.sql"),
        Aged::Paces => purge_sql!("paces WHERE (partition, job_type, tenant, bucket)", "../../sql/aged_paces.sql"),
        Aged::Audit => purge_sql!("audit WHERE key", "../../sql/aged_audit.sql"),
        Aged::BatchItems => purge_sql!("batch_items WHERE key", "../../sql/aged_batch_items.sql"),
        Aged::Batches => purge_sql!("batch_operations WHERE key", "../../sql/aged_batches.sql"),
    }
}

/// An instance goes after all it has called and after all that belongs to it. Where rows run out, it stays, to be found again.
pub(crate) fn purge_instances(
    connection: &Connection,
    fence: Fence,
    roots: &[InstanceKey],
    rows_max: usize,
) -> Result<Option<Purged>, Failure> {
    if !holds(connection, fence)? {
        return Ok(None);
    }
    let mut purged = Purged::default();
    for root in roots {
        let left = rows_max.saturating_sub(purged.rows);
        let mut select = connection.prepare_cached(statement::CALLED_INSTANCES)?;
        let called = select
            .query_map(params![root.0 as i64, left as i64], |row| Ok((InstanceKey(row.get::<_, i64>(0)? as u64), row.get(1)?)))?;
        let called: Vec<(InstanceKey, bool)> = called.collect::<Result<_, _>>()?;
        if called.iter().any(|(_, runs)| *runs) {
            continue;
        }
        let fits = called.len() < left;
        for key in called.into_iter().map(|(key, _)| key).chain(fits.then_some(*root)) {
            let before = purged.instances;
            if !purge_instance(connection, fence.partition, key, rows_max, &mut purged)? {
                break;
            }
            purged.roots += if key == *root { purged.instances - before } else { 0 };
        }
        if purged.is_cut || rows_max <= purged.rows {
            purged.is_cut = true;
            break;
        }
    }
    Ok(Some(purged))
}

/// A finished instance with those it called, as far as they have finished: all of it at once.
pub(super) fn delete_instance(connection: &Connection, partition: PartitionId, key: InstanceKey) -> Result<(), Failure> {
    let mut select = connection.prepare_cached(statement::FINISHED_TREE)?;
    let doomed = select.query_map(params![partition.0, key.0 as i64], |row| row.get(0))?;
    let doomed: Vec<i64> = doomed.collect::<Result<_, _>>()?;
    for key in doomed {
        purge_instance(connection, partition, InstanceKey(key as u64), i64::MAX as usize, &mut Purged::default())?;
    }
    Ok(())
}

/// False if the rows of this step did not suffice.
fn purge_instance(
    connection: &Connection,
    partition: PartitionId,
    key: InstanceKey,
    rows_max: usize,
    purged: &mut Purged,
) -> Result<bool, Failure> {
    let instance = key.0 as i64;
    let left = |purged: &Purged| rows_max.saturating_sub(purged.rows) as i64;
    purged.rows +=
        connection.prepare_cached(statement::PURGE_CANDIDATES)?.execute(params![partition.0, instance, left(purged)])?;
    for sql in PURGE_BELONGING.iter() {
        purged.rows += connection.prepare_cached(sql)?.execute(params![partition.0, instance, left(purged)])?;
    }
    purged.rows += connection.prepare_cached(statement::PURGE_INSTANCE_TAGS)?.execute(params![instance, left(purged)])?;
    if left(purged) <= 0 {
        purged.is_cut = true;
        return Ok(false);
    }
    let gone = connection.prepare_cached(statement::PURGE_INSTANCE)?.execute(params![instance])?;
    purged.rows += gone;
    purged.instances += gone;
    Ok(true)
}

/// How far the log was told of: what is behind that may be removed.
pub(crate) fn put_export_place(connection: &Connection, fence: Fence, name: &str, position: u64) -> Result<bool, Failure> {
    if !holds(connection, fence)? {
        return Ok(false);
    }
    let mut put = connection.prepare_cached(statement::PUT_EXPORT_PLACE)?;
    put.execute(params![fence.partition.0, name, position as i64])?;
    Ok(true)
}

/// Whether the epoch is still the latest.
fn holds(connection: &Connection, fence: Fence) -> Result<bool, Failure> {
    let mut state = connection.prepare_cached(statement::PARTITION_STATE)?;
    let epoch: Option<i64> = state.query_row(params![fence.partition.0], |row| row.get(0)).optional()?;
    Ok(epoch == Some(fence.epoch))
}

#[cfg(test)]
mod tests;
