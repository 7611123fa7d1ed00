//! Tasks for people, who may do them, and forms, as columns of statements.

use store::row::UserTask;
use store::{Changes, Commit, format, words};

use super::batches::batch;
use crate::call::Call;

/// What of tasks is stored otherwise than it is held, of new tasks and of those that changed.
pub(super) struct Texts {
    new: Vec<Text>,
    changed: Vec<Text>,
}

struct Text {
    groups: String,
    users: String,
    transition: Option<Vec<u8>>,
}

impl Texts {
    pub(super) fn of(changes: &Changes) -> Self {
        let texts = |row: &UserTask| Text {
            groups: words::tags_text(&row.candidate_groups),
            users: words::tags_text(&row.candidate_users),
            transition: row.transition.as_deref().map(format::encode_transition),
        };
        Self {
            new: changes.user_tasks_new.iter().map(texts).collect(),
            changed: changes.user_tasks_changed.iter().map(texts).collect(),
        }
    }
}

pub(super) fn of_changes<'a>(commit: &'a Commit, texts: &'a Texts) -> impl Iterator<Item = Call<'a>> {
    let Changes { user_tasks_new, user_tasks_changed, .. } = &commit.changes;
    let all = [
        forms_new(commit),
        batch(commit, include_str!("../../sql/delete_forms.sql"), &commit.changes.forms_deleted, |call, keys| {
            call.keys(keys.iter().map(|key| key.0))
        }),
        tasks_new(commit, texts),
        batch(commit, include_str!("../../sql/change_user_tasks.sql"), user_tasks_changed, |call, rows| {
            changing(call, rows, &texts.changed)
        }),
        batch(commit, include_str!("../../sql/delete_user_task_candidates.sql"), user_tasks_changed, |call, rows| {
            candidates(call.keys(rows.iter().map(|row| row.key.0)), rows)
        }),
        candidates_put(commit, user_tasks_new),
        candidates_put(commit, user_tasks_changed),
    ];
    all.into_iter().flatten()
}

fn forms_new(commit: &Commit) -> Option<Call<'_>> {
    batch(commit, include_str!("../../sql/insert_forms.sql"), &commit.changes.forms_new, |call, rows| {
        call.keys(rows.iter().map(|row| row.key.0))
            .texts(rows.iter().map(|row| &*row.id))
            .smalls(rows.iter().map(|row| row.version))
            .texts_opt(rows.iter().map(|row| row.version_tag.as_deref()))
            .texts(rows.iter().map(|row| &*row.tenant))
            .keys(rows.iter().map(|row| row.resource))
            .texts(rows.iter().map(|row| &*row.resource_name))
            .keys(rows.iter().map(|row| row.deployment))
            .blobs(rows.iter().map(|row| row.checksum.as_slice()))
            .flags(rows.iter().map(|row| row.deleted))
    })
}

fn tasks_new<'a>(commit: &'a Commit, texts: &'a Texts) -> Option<Call<'a>> {
    batch(commit, include_str!("../../sql/insert_user_tasks.sql"), &commit.changes.user_tasks_new, |call, rows| {
        changing(call, rows, &texts.new)
            .keys(rows.iter().map(|row| row.instance.0))
            .keys(rows.iter().map(|row| row.definition.0))
            .smalls(rows.iter().map(|row| row.element.0 as i32))
            .keys(rows.iter().map(|row| row.element_instance.0))
            .texts(rows.iter().map(|row| &*row.tenant))
            .keys_opt(rows.iter().map(|row| row.form.map(|key| key.0)))
            .texts_opt(rows.iter().map(|row| row.external_form.as_deref()))
            .ints(rows.iter().map(|row| row.created))
    })
}

/// The key and what may change, in the order both statements have it.
fn changing<'a>(call: Call<'a>, rows: &'a [UserTask], texts: &'a [Text]) -> Call<'a> {
    call.keys(rows.iter().map(|row| row.key.0))
        .texts(rows.iter().map(|row| row.state.word()))
        .texts_opt(rows.iter().map(|row| row.assignee.as_deref()))
        .texts(texts.iter().map(|text| text.groups.as_str()))
        .texts(texts.iter().map(|text| text.users.as_str()))
        .ints_opt(rows.iter().map(|row| row.due))
        .ints_opt(rows.iter().map(|row| row.follow_up))
        .smalls(rows.iter().map(|row| row.priority))
        .ints_opt(rows.iter().map(|row| row.ended))
        .blobs_opt(texts.iter().map(|text| text.transition.as_deref()))
}

fn candidates_put<'a>(commit: &Commit, rows: &'a [UserTask]) -> Option<Call<'a>> {
    rows.iter().find(|row| row.candidates().next().is_some())?;
    batch(commit, include_str!("../../sql/put_user_task_candidates.sql"), rows, |call, rows| {
        candidates(call, rows)
            .flags(rows.iter().flat_map(|row| row.candidates().map(|_| row.is_open())))
            .texts(rows.iter().flat_map(|row| row.candidates().map(|_| &*row.tenant)))
            .ints(rows.iter().flat_map(|row| row.candidates().map(|_| row.created)))
            .flags(rows.iter().flat_map(|row| row.candidates().map(|_| row.assignee.is_none())))
            .smalls(rows.iter().flat_map(|row| row.candidates().map(|_| row.priority)))
    })
}

/// One column each for task, kind and name.
fn candidates<'a>(call: Call<'a>, rows: &'a [UserTask]) -> Call<'a> {
    call.keys(rows.iter().flat_map(|row| row.candidates().map(|_| row.key.0)))
        .texts(rows.iter().flat_map(|row| row.candidates().map(|(kind, _)| kind.word())))
        .texts(rows.iter().flat_map(|row| row.candidates().map(|(_, name)| &**name)))
}
