//! What is submitted again and again and what has happened in queues, as columns of statements.

use store::row::QueueStats;
use store::{Changes, Commit, format};

use super::batches::batch;
use crate::call::Call;

/// As [`format`] writes them.
pub(super) struct Texts {
    schedules: Vec<Vec<u8>>,
    stats: Vec<Vec<u8>>,
}

impl Texts {
    pub(super) fn of(changes: &Changes) -> Self {
        Self {
            schedules: changes.schedules_put.iter().map(format::encode_schedule).collect(),
            stats: changes.queue_stats_put.iter().map(|row| format::encode_stats(&row.stats)).collect(),
        }
    }
}

pub(super) fn of_changes<'a>(commit: &'a Commit, texts: &'a Texts) -> impl Iterator<Item = Call<'a>> {
    let changes = &commit.changes;
    let put = batch(commit, include_str!("../../sql/put_schedules.sql"), &changes.schedules_put, |call, rows| {
        call.keys(rows.iter().map(|row| row.key))
            .texts(rows.iter().map(|row| &*row.tenant))
            .texts(rows.iter().map(|row| &*row.reference))
            .texts(rows.iter().map(|row| &*row.action))
            .texts(rows.iter().map(|row| &*row.cron))
            .ints_opt(rows.iter().map(|row| row.due))
            .blobs(texts.schedules.iter().map(Vec::as_slice))
    });
    let gone = batch(commit, include_str!("../../sql/delete_schedules.sql"), &changes.schedules_gone, |call, keys| {
        call.keys(keys.iter().copied())
    });
    let stats = batch(commit, include_str!("../../sql/put_queue_stats.sql"), &changes.queue_stats_put, |call, rows| {
        let call = call.texts(rows.iter().map(|row| &*row.job_type)).texts(rows.iter().map(|row| &*row.tenant));
        let columns: Vec<_> = rows.iter().map(QueueStats::columns).collect();
        let column = |call: Call<'a>, place: usize| call.ints_opt(columns.iter().map(|row| row[place]));
        (0..QueueStats::COLUMNS).fold(call, column).blobs(texts.stats.iter().map(Vec::as_slice))
    });
    [put, gone, stats].into_iter().flatten()
}
