//! One tick: one transaction, one round trip.
//!
//! The fence goes first and fails unless it holds; everything else is sent behind it without waiting, one statement per kind of
//! change, none for kinds without changes. If anything fails, nothing is written.
//!
//! All of it as one statement of many CTEs, put together for the changes at hand, was tried on a busy machine, three runs each: CPU
//! in the database 1 to 22 % lower at 50 instances per tick, between 13 % lower and 2 % higher at 200. That did not settle it, and
//! the price is texts made at run time and one prepared statement per mixture of changes; worth another look on a quiet machine.
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
        let mut calls = vec![fence(commit)];
        let cleared = self.cleared.to(commit.fence.partition);
        calls.extend(batches::of_log(commit));
        calls.extend(batches::of_inbox(commit, cleared));
        calls.extend(batches::of_changes(commit, &texts));
        if commit.wake {
            calls.push(Call::new(include_str!("../../sql/wake.sql")));
        }
        // Those who ask get the connection in the order in which they asked, so ticks handed over one after the other are written so.
        let writer = self.writer.take().await.map_err(Error::from)?;
        match writer.transaction(Isolation::ReadCommitted, &calls).await {
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

    /// A tick costs what it does, however many kinds of rows there are.
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
        let sent: Vec<_> = batches::of_changes(&commit, &batches::Texts::of(&commit.changes)).map(|call| call.sql).collect();
        let into: Vec<_> = sent.iter().filter_map(|sql| sql.split("INSERT INTO ").nth(1)?.split(' ').next()).collect();
        assert_eq!((sent.len(), into), (3, vec!["instances", "elements", "jobs"]));
    }
}
