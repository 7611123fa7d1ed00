//! Timers, subscriptions, messages, signals and compensations, as columns of statements.

use store::row::{Subscription, Timer};
use store::{Changes, Commit, format, words};

use super::batches::batch;
use crate::call::Call;

/// What exists only in the database's form.
pub(super) struct Texts {
    variables: Vec<Vec<u8>>,
    taken_by: Vec<String>,
    taken: Vec<String>,
    signal_variables: Vec<Vec<u8>>,
}

impl Texts {
    pub(super) fn of(changes: &Changes) -> Self {
        let line = |process_id| words::tags_text(std::slice::from_ref(process_id));
        Self {
            variables: changes.messages_new.iter().map(|row| format::encode_document(&row.variables)).collect(),
            taken_by: changes.messages_new.iter().map(|row| words::tags_text(&row.taken_by)).collect(),
            taken: changes.messages_taken.iter().map(|row| line(&row.process_id)).collect(),
            signal_variables: changes.signals_put.iter().map(|row| format::encode_document(&row.variables)).collect(),
        }
    }
}

pub(super) fn of_changes<'a>(commit: &'a Commit, texts: &'a Texts) -> impl Iterator<Item = Call<'a>> {
    let all = [
        timers_new(commit),
        batch(commit, include_str!("../../sql/change_timers.sql"), &commit.changes.timers_changed, changing_of_timers),
        subscriptions_new(commit),
        subscriptions_changed(commit),
        messages_new(commit, texts),
        messages_taken(commit, texts),
        by_keys(commit, include_str!("../../sql/delete_messages.sql"), &commit.changes.messages_gone),
        correlations_new(commit),
        locks_gone(commit),
        locks_new(commit),
        signals_put(commit, texts),
        by_keys(commit, include_str!("../../sql/delete_signals.sql"), &commit.changes.signals_done),
        compensations_put(commit),
        compensations_gone(commit),
    ];
    all.into_iter().flatten()
}

fn by_keys<'a>(commit: &Commit, sql: &'static str, keys: &'a [u64]) -> Option<Call<'a>> {
    batch(commit, sql, keys, |call, keys| call.keys(keys.iter().copied()))
}

fn timers_new(commit: &Commit) -> Option<Call<'_>> {
    batch(commit, include_str!("../../sql/insert_timers.sql"), &commit.changes.timers_new, |call, rows| {
        changing_of_timers(call, rows)
            .keys(rows.iter().map(|row| row.wait.0))
            .keys_opt(rows.iter().map(|row| row.origin.map(|origin| origin.instance.0)))
            .keys_opt(rows.iter().map(|row| row.origin.map(|origin| origin.element_instance.0)))
            .keys(rows.iter().map(|row| row.definition.0))
            .texts(rows.iter().map(|row| &*row.tenant))
            .smalls(rows.iter().map(|row| row.element.0 as i32))
            .texts(rows.iter().map(|row| store::words::timer_kind_word(row.kind)))
            .texts(rows.iter().map(|row| &*row.text))
            .ints(rows.iter().map(|row| row.armed))
            .smalls(rows.iter().map(|row| row.number as i32))
            .ints(rows.iter().map(|row| row.created))
    })
}

/// The key and what may change, in the order both statements have it.
fn changing_of_timers<'a>(call: Call<'a>, rows: &'a [Timer]) -> Call<'a> {
    call.keys(rows.iter().map(|row| row.key.0))
        .texts(rows.iter().map(|row| row.state.word()))
        .ints(rows.iter().map(|row| row.due))
        .ints_opt(rows.iter().map(|row| row.ended))
}

fn subscriptions_new(commit: &Commit) -> Option<Call<'_>> {
    let rows: &[Subscription] = &commit.changes.subscriptions_new;
    batch(commit, include_str!("../../sql/insert_subscriptions.sql"), rows, |call, rows| {
        call.keys(rows.iter().map(|row| row.key.0))
            .texts(rows.iter().map(|row| row.kind.word()))
            .texts(rows.iter().map(|row| &*row.name))
            .texts(rows.iter().map(|row| &*row.correlation_key))
            .keys_opt(rows.iter().map(|row| row.child.map(|key| key.0)))
            .texts(rows.iter().map(|row| &*row.tenant))
            .keys(rows.iter().map(|row| row.definition.0))
            .texts(rows.iter().map(|row| &*row.process_id))
            .smalls(rows.iter().map(|row| row.element.0 as i32))
            .flags(rows.iter().map(|row| row.catches))
            .keys_opt(rows.iter().map(|row| row.origin.map(|origin| origin.instance.0)))
            .keys_opt(rows.iter().map(|row| row.origin.map(|origin| origin.element_instance.0)))
            .texts(rows.iter().map(|row| row.state.word()))
            .ints(rows.iter().map(|row| row.created))
            .ints(rows.iter().map(|row| row.updated))
    })
}

fn subscriptions_changed(commit: &Commit) -> Option<Call<'_>> {
    batch(commit, include_str!("../../sql/change_subscriptions.sql"), &commit.changes.subscriptions_changed, |call, rows| {
        call.keys(rows.iter().map(|row| row.key.0))
            .texts(rows.iter().map(|row| row.state.word()))
            .ints(rows.iter().map(|row| row.updated))
    })
}

fn messages_new<'a>(commit: &'a Commit, texts: &'a Texts) -> Option<Call<'a>> {
    batch(commit, include_str!("../../sql/insert_messages.sql"), &commit.changes.messages_new, |call, rows| {
        call.keys(rows.iter().map(|row| row.key))
            .texts(rows.iter().map(|row| &*row.tenant))
            .texts(rows.iter().map(|row| &*row.name))
            .texts(rows.iter().map(|row| &*row.correlation_key))
            .texts(rows.iter().map(|row| &*row.message_id))
            .blobs(texts.variables.iter().map(Vec::as_slice))
            .ints(rows.iter().map(|row| row.published))
            .ints(rows.iter().map(|row| row.expires))
            .texts(texts.taken_by.iter().map(String::as_str))
    })
}

fn messages_taken<'a>(commit: &'a Commit, texts: &'a Texts) -> Option<Call<'a>> {
    batch(commit, include_str!("../../sql/take_messages.sql"), &commit.changes.messages_taken, |call, rows| {
        call.keys(rows.iter().map(|row| row.message)).texts(texts.taken.iter().map(String::as_str))
    })
}

fn correlations_new(commit: &Commit) -> Option<Call<'_>> {
    batch(commit, include_str!("../../sql/insert_correlations.sql"), &commit.changes.correlations_new, |call, rows| {
        call.keys(rows.iter().map(|row| row.key))
            .keys(rows.iter().map(|row| row.message))
            .keys(rows.iter().map(|row| row.subscription.0))
            .texts(rows.iter().map(|row| &*row.tenant))
            .texts(rows.iter().map(|row| &*row.name))
            .texts(rows.iter().map(|row| &*row.correlation_key))
            .keys(rows.iter().map(|row| row.definition.0))
            .texts(rows.iter().map(|row| &*row.process_id))
            .keys(rows.iter().map(|row| row.instance.0))
            .keys(rows.iter().map(|row| row.root.0))
            .smalls(rows.iter().map(|row| row.element.0 as i32))
            .keys_opt(rows.iter().map(|row| row.element_instance.map(|key| key.0)))
            .ints(rows.iter().map(|row| row.at))
    })
}

fn locks_gone(commit: &Commit) -> Option<Call<'_>> {
    batch(commit, include_str!("../../sql/delete_locks.sql"), &commit.changes.locks_gone, |call, rows| {
        call.texts(rows.iter().map(|(tenant, _, _)| &**tenant))
            .texts(rows.iter().map(|(_, process_id, _)| &**process_id))
            .texts(rows.iter().map(|(_, _, correlation_key)| &**correlation_key))
    })
}

fn locks_new(commit: &Commit) -> Option<Call<'_>> {
    batch(commit, include_str!("../../sql/insert_locks.sql"), &commit.changes.locks_new, |call, rows| {
        call.texts(rows.iter().map(|row| &*row.tenant))
            .texts(rows.iter().map(|row| &*row.process_id))
            .texts(rows.iter().map(|row| &*row.correlation_key))
            .keys(rows.iter().map(|row| row.instance.0))
    })
}

fn compensations_put(commit: &Commit) -> Option<Call<'_>> {
    batch(commit, include_str!("../../sql/put_compensations.sql"), &commit.changes.compensations_put, |call, rows| {
        call.keys(rows.iter().map(|row| row.key.0))
            .keys(rows.iter().map(|row| row.instance.0))
            .keys(rows.iter().map(|row| row.scope.0))
            .smalls(rows.iter().map(|row| row.activity.0 as i32))
    })
}

fn compensations_gone(commit: &Commit) -> Option<Call<'_>> {
    batch(commit, include_str!("../../sql/delete_compensations.sql"), &commit.changes.compensations_gone, |call, keys| {
        call.keys(keys.iter().map(|key| key.0))
    })
}

fn signals_put<'a>(commit: &'a Commit, texts: &'a Texts) -> Option<Call<'a>> {
    batch(commit, include_str!("../../sql/put_signals.sql"), &commit.changes.signals_put, |call, rows| {
        call.keys(rows.iter().map(|row| row.key))
            .texts(rows.iter().map(|row| &*row.tenant))
            .texts(rows.iter().map(|row| &*row.name))
            .blobs(texts.signal_variables.iter().map(Vec::as_slice))
            .keys(rows.iter().map(|row| row.after))
            .ints(rows.iter().map(|row| row.due))
    })
}
