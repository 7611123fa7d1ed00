//! Work that belongs to no process and policies of queues, as columns of statements.

use store::Commit;
use store::row::{Execution, Job};

use super::batches::{batch, changing_of_jobs};
use crate::call::Call;

/// What is written as bytes: policies and starts.
pub(super) fn of_changes<'a>(
    commit: &'a Commit,
    policies: &'a [Vec<u8>],
    starts: &'a [Vec<u8>],
) -> impl Iterator<Item = Call<'a>> {
    let changes = &commit.changes;
    let new = batch(commit, include_str!("../../sql/insert_executions.sql"), &changes.executions_new, |call, rows| {
        changing(call, rows)
            .texts(rows.iter().map(|row| &*row.job_type))
            .texts(rows.iter().map(|row| &*row.tenant))
            .ints(rows.iter().map(|row| row.created))
            .texts_opt(rows.iter().map(|row| row.group.as_deref()))
            .texts_opt(rows.iter().map(|row| of(row).map(|execution| &*execution.input)))
            .texts_opt(rows.iter().map(|row| of(row)?.unique.as_ref().map(|unique| &*unique.key)))
            .ints_opt(rows.iter().map(|row| of(row)?.unique.as_ref()?.until))
            .texts_opt(rows.iter().map(|row| row.headers.as_deref()))
    });
    let changed = batch(commit, include_str!("../../sql/change_executions.sql"), &changes.executions_changed, changing);
    let put = batch(commit, include_str!("../../sql/insert_policies.sql"), &changes.policies_new, |call, rows| {
        call.texts(rows.iter().map(|row| &*row.reference))
            .smalls(rows.iter().map(|row| row.version as i32))
            .blobs(policies.iter().map(Vec::as_slice))
            .ints(rows.iter().map(|row| row.changed))
            .texts(rows.iter().map(|row| &*row.changed_by))
    });
    let paces = batch(commit, include_str!("../../sql/put_paces.sql"), &changes.paces_put, |call, rows| {
        call.texts(rows.iter().map(|row| &*row.job_type))
            .texts(rows.iter().map(|row| &*row.tenant))
            .texts(rows.iter().map(|row| &*row.bucket))
            .blobs(starts.iter().map(Vec::as_slice))
            .ints(rows.iter().map(|row| row.until))
    });
    [new, changed, leases_kept(commit), put, paces].into_iter().flatten()
}

/// After the rows themselves: few jobs have it.
fn leases_kept(commit: &Commit) -> Option<Call<'_>> {
    let kept = || commit.changes.jobs_written().filter_map(|row| row.extras().map(|(leases, progress)| (row, leases, progress)));
    kept().next()?;
    let call = Call::new(include_str!("../../sql/keep_leases.sql")).int(commit.fence.partition.0.into());
    let call = call.keys(kept().map(|(row, ..)| row.key.0)).smalls(kept().map(|(_, leases, _)| leases as i32));
    Some(call.texts_opt(kept().map(|(_, _, progress)| progress.map(|progress| &**progress))))
}

/// What is to be announced, and what was.
pub(super) fn outbox(commit: &Commit) -> impl Iterator<Item = Call<'_>> {
    let changes = &commit.changes;
    let new = batch(commit, include_str!("../../sql/insert_announcements.sql"), &changes.announcements_new, |call, rows| {
        call.keys(rows.iter().map(|row| row.key.0))
            .keys(rows.iter().map(|row| row.job.0))
            .keys(rows.iter().map(|row| row.instance.0))
            .keys(rows.iter().map(|row| row.element_instance.0))
            .texts(rows.iter().map(|row| &*row.job_type))
            .texts(rows.iter().map(|row| &*row.tenant))
            .smalls(rows.iter().map(|row| row.retries))
            .ints(rows.iter().map(|row| row.created))
            .texts(rows.iter().map(|row| &*row.payload))
            .smalls(rows.iter().map(|row| row.lease as i32))
            .texts(rows.iter().map(|row| &*row.element_id))
            .texts_opt(rows.iter().map(|row| row.progress.as_deref()))
            .texts_opt(rows.iter().map(|row| row.trace.as_deref()))
    });
    let gone = batch(commit, include_str!("../../sql/delete_announcements.sql"), &changes.announcements_gone, |call, rows| {
        call.keys(rows.iter().map(|key| key.0))
    });
    [new, gone].into_iter().flatten()
}

/// The key and what may change, in the order both statements have it.
fn changing<'a>(call: Call<'a>, rows: &'a [Job]) -> Call<'a> {
    changing_of_jobs(call, rows)
        .texts_opt(rows.iter().map(|row| of(row)?.result.as_deref()))
        .smalls_opt(rows.iter().map(|row| of(row).map(|execution| execution.attempts as i32)))
        .ints_opt(rows.iter().map(|row| of(row)?.started))
}

fn of(row: &Job) -> Option<&Execution> {
    row.execution.as_deref()
}
