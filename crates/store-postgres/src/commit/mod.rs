//! One tick: one transaction, one round trip.
//!
//! The fence goes first and fails unless it holds. What most ticks write is one statement with it (`together.rs`); everything else is sent
//! behind it without waiting, one statement per kind of change, none for kinds without changes. If anything fails, nothing is written.
//!
//! Rows that change are found by their primary key, whatever the planner believes about a table. It plans a statement once, maybe
//! when the table is empty, without statistics or with old ones; then `partition = $1` looks selective, and a plan that reads the whole
//! partition looks as good as one look-up per row. (EXPLAIN on fresh tables shows it; a fresh database took 354 instances/s in batches
//! of 50 before, 5,773 after statements and indexes were changed for it, both on a busy machine.) So statements over a batch say the
//! partition only in rows of a sub-select that stays one (OFFSET 0), and compare it with ANY over an array of one: that serves a look-up
//! as well as `=` does, but a table cannot be joined by it in the order of its whole key, for which it would be read from end to end.
//! (Comparing keys as rows, from below and from above, goes through an index to its end; finding a row's place first and changing it
//! there costs 1.2 µs a row more.)
//! `tests/it/plans.rs` counts what is read, with statistics of every age.

mod audit;
mod batches;
mod decisions;
mod executions;
mod many;
mod migrated;
mod schedules;
mod together;
mod user_tasks;
mod waits;

use store::{Commit, CommitError, Error, Millis};
use tokio_postgres::error::SqlState;

use crate::Postgres;
use crate::call::Call;
use crate::fault::Fault;
use crate::reading::{Reading, only};
use crate::session::Isolation;

impl Postgres {
    pub(crate) async fn write_tick(&self, commit: &Commit) -> Result<Millis, CommitError> {
        let texts = batches::Texts::of(&commit.changes);
        let cleared = self.cleared.to(commit.fence.partition);
        let calls = calls(commit, &texts, cleared);
        // Those who ask get the connection in the order in which they asked, so ticks handed over one after the other are written so.
        let writer = self.writer.take().await.map_err(Error::from)?;
        let written = match <[_; 1]>::try_from(calls) {
            // A transaction of its own.
            Ok([alone]) => writer.query(alone).await.map(|answer| vec![answer]),
            Err(calls) => writer.transaction(Isolation::ReadCommitted, &calls).await,
        };
        match written {
            Ok(answers) => {
                let fence = answers.first().ok_or_else(|| Error::corrupt("a transaction without answers"))?;
                let clock = only(fence)?.clock_of_fence()?;
                self.cleared.set(commit.fence.partition, commit.inbox_to);
                Ok(clock)
            }
            Err(Fault { code: Some(SqlState::DIVISION_BY_ZERO), .. }) => {
                let call = Call::new(include_str!("../../sql/fence_status.sql")).int(commit.fence.partition.0.into());
                let rows = writer.query(call).await.map_err(Error::from)?;
                Err(why_not(commit, rows.first().map(Reading::of)))
            }
            Err(fault) => Err(Error::from(fault).into()),
        }
    }
}

/// What most ticks write is one statement, what else there is one each.
fn calls<'a>(commit: &'a Commit, texts: &'a batches::Texts, cleared: u64) -> Vec<Call<'a>> {
    let fence = fence(commit);
    let first = if batches::has_usual(commit) { together::together(fence, commit, texts) } else { fence };
    let wake = commit.wake.then(|| Call::new(include_str!("../../sql/wake.sql")));
    let rest = batches::of_inbox(commit, cleared).chain(batches::of_changes(commit, texts)).chain(wake);
    std::iter::once(first).chain(rest).collect()
}

fn fence(commit: &Commit) -> Call<'static> {
    let (first, last) = commit.changes.starts();
    Call::new(include_str!("../../sql/fence.sql"))
        .int(commit.fence.partition.0.into())
        .int(commit.fence.epoch)
        .key(commit.first_key)
        .key(commit.next_key)
        .key(commit.log.len() as u64)
        .key(commit.inbox_to)
        .int(first)
        .int(last)
}

/// Epochs and keys only grow, so what the fence stumbled over is still there to be seen.
fn why_not(commit: &Commit, found: Option<Reading<'_>>) -> CommitError {
    let found = found.map(|mut row| Ok::<_, Error>((row.get::<i64>()?, row.key()?)));
    match found {
        // Nobody ever owned it.
        None => CommitError::Deposed { epoch: 0 },
        Some(Err(error)) => error.into(),
        Some(Ok((epoch, _))) if epoch != commit.fence.epoch => CommitError::Deposed { epoch },
        Some(Ok((_, next_key))) => CommitError::OutOfOrder { next_key },
    }
}

impl Reading<'_> {
    fn clock_of_fence(mut self) -> Result<Millis, Error> {
        let _held: i64 = self.get()?;
        self.get()
    }
}

#[cfg(test)]
mod tests {
    use engine::PartitionId;
    use store::conformance::rows;
    use store::{Changes, Fence};

    use super::*;

    /// A tick costs what it does, however many kinds of rows there are: what most write is one statement.
    #[test]
    fn nothing_is_sent_for_what_does_not_change() {
        let (key, fence) = (PartitionId(1).first_key(), Fence { partition: PartitionId(1), epoch: 1 });
        let instance = rows::instance(key, key);
        let task = rows::element(key + 1, &instance);
        let changes = Changes {
            jobs_new: vec![rows::job(key + 2, &task)],
            elements_new: vec![task],
            instances_new: vec![instance],
            ..Changes::default()
        };
        let (log, answers) = (Vec::new(), Vec::new());
        let commit = Commit { fence, first_key: key, next_key: key + 3, log, inbox_to: 0, answers, now: 1, changes, wake: false };
        let into = |commit: &Commit| -> Vec<Vec<String>> {
            let texts = batches::Texts::of(&commit.changes);
            let table = |part: &str| part.split(' ').next().unwrap_or_default().to_owned();
            let tables = |call: Call<'_>| call.sql.split("INSERT INTO ").skip(1).map(table).collect();
            calls(commit, &texts, 0).into_iter().map(tables).collect()
        };
        assert_eq!(into(&commit), [["log", "instances", "elements", "variables", "jobs"]]);
        let changes = Changes { turns_done: vec![engine::WaitKey(key)], ..Changes::default() };
        assert_eq!(into(&Commit { changes, ..commit }), [[""; 0], []], "the fence, and what is deleted");
    }
}
