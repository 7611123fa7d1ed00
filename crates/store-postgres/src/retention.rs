//! Removing what is old.
//!
//! Every statement is a transaction of its own: an instance goes after all it has called and all that belongs to it, so whatever stops
//! this in between, what is left is found again. Nothing here waits for a tick, nor a tick for it: what has ended is written by nobody.

use std::sync::LazyLock;

use engine::{InstanceKey, PartitionId};
use store::retention::{Aged, BELONGING, BESIDE, Finished, FinishedAfter, Purged};
use store::{Error, Fence, Millis};

use crate::Postgres;
use crate::call::Call;
use crate::reading::{Reading, only};

/// One for every table whose rows belong to instances, $1, of which at most $2 go.
static PURGE_BELONGING: LazyLock<Vec<String>> = LazyLock::new(|| {
    let counted = |(_, delete)| format!("WITH gone AS (\n{delete})\nSELECT count(*) FROM gone");
    belonging("UNNEST($1)", "$2").map(counted).collect()
});

/// Instances with all that belongs to them, at once.
pub(crate) static DELETE_INSTANCES: LazyLock<String> = LazyLock::new(|| {
    let parts: Vec<String> = belonging("doomed", "ALL").map(|(table, delete)| format!("gone_{table} AS (\n{delete})")).collect();
    include_str!("../sql/delete_instances.sql").replace("{belonging}", &parts.join(", "))
});

/// Every table whose rows belong to instances, and how so many rows of these instances are deleted from it; candidates before their
/// tasks.
fn belonging<'a>(instances: &'a str, limit: &'a str) -> impl Iterator<Item = (&'static str, String)> + 'a {
    let tables = BELONGING.into_iter().chain(BESIDE).map(|table| (table, include_str!("../sql/delete_belonging.sql")));
    let all = [("user_task_candidates", include_str!("../sql/delete_candidates.sql"))].into_iter().chain(tables);
    all.map(move |(table, sql)| {
        (table, sql.replace("{table}", table).replace("{instances}", instances).replace("{limit}", limit))
    })
}

static PURGE_AGED: LazyLock<Vec<String>> = LazyLock::new(|| Aged::ALL.into_iter().map(purge_sql).collect());
static COUNT_AGED: LazyLock<Vec<String>> = LazyLock::new(|| Aged::ALL.into_iter().map(count_sql).collect());

/// Its table, and where in it what is so old lies, the oldest first.
fn aged(what: Aged) -> (&'static str, &'static str) {
    match what {
        Aged::Log => ("log", include_str!("../sql/aged_log.sql")),
        Aged::Executions => ("jobs", include_str!("../sql/aged_executions.sql")),
        Aged::Evaluations => ("evaluated_decisions", include_str!("../sql/aged_evaluations.sql")),
        Aged::Timers => ("timers", include_str!("../sql/aged_timers.sql")),
        Aged::Subscriptions => ("subscriptions", include_str!("../sql/aged_subscriptions.sql")),
        Aged::Correlations => ("message_correlations", include_str!("../sql/aged_correlations.sql")),
        Aged::FirstAnswers => ("idempotent", include_str!("../sql/aged_idempotent.sql")),
        Aged::Answers => ("answers", include_str!("../sql/aged_answers.sql")),
        Aged::Paces => ("paces", include_str!("../sql/aged_paces.sql")),
        Aged::Audit => ("audit", include_str!("../sql/aged_audit.sql")),
        Aged::BatchItems => ("batch_items", include_str!("../sql/aged_batch_items.sql")),
        Aged::Batches => ("batch_operations", include_str!("../sql/aged_batches.sql")),
    }
}

fn purge_sql(what: Aged) -> String {
    let (table, aged) = aged(what);
    include_str!("../sql/purge_aged.sql").replace("{table}", table).replace("{aged}", aged)
}

/// Batch operations that still have items are counted, too: these go before them.
fn count_sql(what: Aged) -> String {
    let aged = if what == Aged::Batches { include_str!("../sql/ended_batches.sql") } else { aged(what).1 };
    format!("SELECT count(*) FROM ({aged}) AS aged")
}

fn of(texts: &'static [String], what: Aged) -> &'static str {
    let place = Aged::ALL.iter().position(|one| *one == what);
    &texts[place.expect("all of them are in the list")]
}

impl Postgres {
    pub(crate) async fn finished_window(
        &self,
        partition: PartitionId,
        after: FinishedAfter,
        before: Millis,
        limit: usize,
    ) -> Result<Vec<Finished>, Error> {
        let call = Call::new(include_str!("../sql/finished_instances.sql")).int(partition.0.into());
        let call = call.int(after.ended).key(after.key.0).int(before).limit(limit);
        let finished = |row| {
            let mut row = Reading::of(row);
            Ok(Finished {
                key: InstanceKey(row.key()?),
                ended: row.get()?,
                process_id: row.text()?,
                tenant: row.text()?,
                is_called: row.get()?,
            })
        };
        self.upkeep.query(call).await?.iter().map(finished).collect()
    }

    pub(crate) async fn purge_aged(
        &self,
        fence: Fence,
        what: Aged,
        before: Millis,
        limit: usize,
    ) -> Result<Option<usize>, Error> {
        if !self.holds(fence).await? {
            return Ok(None);
        }
        let call = Call::new(of(&PURGE_AGED, what)).int(fence.partition.0.into()).int(before).limit(limit);
        Ok(Some(self.upkeep.query(call).await?.len()))
    }

    pub(crate) async fn aged_count(
        &self,
        partition: PartitionId,
        what: Aged,
        before: Millis,
        limit: usize,
    ) -> Result<usize, Error> {
        let call = Call::new(of(&COUNT_AGED, what)).int(partition.0.into()).int(before).limit(limit);
        self.counted(call).await
    }

    pub(crate) async fn purge_finished(
        &self,
        fence: Fence,
        roots: &[InstanceKey],
        rows_max: usize,
    ) -> Result<Option<Purged>, Error> {
        if !self.holds(fence).await? {
            return Ok(None);
        }
        let (mut keys, is_cut) = self.called(roots, rows_max).await?;
        let mut purged = Purged { is_cut, ..Purged::default() };
        if keys.is_empty() {
            return Ok(Some(purged));
        }
        let of = |sql, left: usize| Call::new(sql).keys(keys.iter().map(|key| key.0)).limit(left);
        for sql in PURGE_BELONGING.iter().map(String::as_str) {
            let left = rows_max.saturating_sub(purged.rows);
            purged.rows += self.counted(of(sql, left)).await?;
        }
        if rows_max <= purged.rows {
            return Ok(Some(Purged { is_cut: true, ..purged }));
        }
        // Children before those that called them, whatever happens in between.
        keys.sort_unstable_by_key(|key| std::cmp::Reverse(*key));
        let call = Call::new(include_str!("../sql/purge_instances.sql")).int(fence.partition.0.into());
        purged.instances = self.counted(call.keys(keys.iter().map(|key| key.0))).await?;
        purged.roots = roots.iter().filter(|root| keys.contains(root)).count().min(purged.instances);
        purged.rows += purged.instances;
        Ok(Some(purged))
    }

    pub(crate) async fn weigh(
        &self,
        partition: PartitionId,
        instances: &[InstanceKey],
        limit: usize,
    ) -> Result<Vec<usize>, Error> {
        let call = Call::new(include_str!("../sql/instance_weights.sql")).int(partition.0.into());
        let rows = self.upkeep.query(call.keys(instances.iter().map(|key| key.0)).limit(limit)).await?;
        rows.iter().map(|row| Ok(Reading::of(row).get::<i64>()? as usize)).collect()
    }

    /// These instances and all they have called, unless something of it runs; and whether that is not all, since there is too much. Then
    /// nobody is among them who has called another.
    async fn called(&self, roots: &[InstanceKey], limit: usize) -> Result<(Vec<InstanceKey>, bool), Error> {
        let call = Call::new(include_str!("../sql/called_instances.sql"));
        let rows = self.upkeep.query(call.keys(roots.iter().map(|key| key.0)).limit(limit)).await?;
        let mut called: Vec<(InstanceKey, InstanceKey)> = Vec::with_capacity(rows.len());
        let mut busy: Vec<InstanceKey> = Vec::new();
        for row in &rows {
            let mut row = Reading::of(row);
            let (key, root) = (InstanceKey(row.key()?), InstanceKey(row.key()?));
            if row.get()? {
                busy.push(root);
            }
            called.push((key, root));
        }
        let is_cut = limit <= called.len();
        let free = |root: &InstanceKey| !busy.contains(root);
        let keys = called.iter().filter(|(_, root)| free(root)).map(|(key, _)| *key);
        let roots = roots.iter().filter(|root| !is_cut && free(root)).copied();
        Ok((keys.chain(roots).collect(), is_cut))
    }

    /// Whether the epoch is still the latest. It may end right after: then two remove what is old, which is as good as one.
    pub(crate) async fn holds(&self, fence: Fence) -> Result<bool, Error> {
        let partitions = self.partition_statuses().await?;
        Ok(partitions.iter().any(|one| one.partition == fence.partition && one.epoch == fence.epoch))
    }

    pub(crate) async fn counted(&self, call: Call<'_>) -> Result<usize, Error> {
        let rows = self.upkeep.query(call).await?;
        let count: i64 = only(&rows)?.get()?;
        Ok(count as usize)
    }
}
