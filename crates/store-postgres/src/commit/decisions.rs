//! Requirements, their decisions and what evaluations left, as columns of statements.

use store::Commit;

use super::batches::{Texts, batch};
use crate::call::Call;

pub(super) fn requirements_new(commit: &Commit) -> Option<Call<'_>> {
    batch(commit, include_str!("../../sql/insert_requirements.sql"), &commit.changes.requirements_new, |call, rows| {
        call.keys(rows.iter().map(|row| row.key.0))
            .texts(rows.iter().map(|row| &*row.id))
            .smalls(rows.iter().map(|row| row.version))
            .texts(rows.iter().map(|row| &*row.name))
            .texts(rows.iter().map(|row| &*row.tenant))
            .keys(rows.iter().map(|row| row.resource))
            .texts(rows.iter().map(|row| &*row.resource_name))
            .keys(rows.iter().map(|row| row.deployment))
            .blobs(rows.iter().map(|row| row.checksum.as_slice()))
            .flags(rows.iter().map(|row| row.deleted))
    })
}

pub(super) fn decisions_new(commit: &Commit) -> Option<Call<'_>> {
    let files = &commit.changes.requirements_new;
    let decisions = || files.iter().flat_map(|row| row.decisions.iter().map(move |decision| (row, decision)));
    decisions().next()?;
    batch(commit, include_str!("../../sql/insert_decisions.sql"), files, |call, rows| {
        let places = rows.iter().flat_map(|row| (0..row.decisions.len()).map(|place| place as i32));
        call.keys(decisions().map(|(_, decision)| decision.key.0))
            .keys(decisions().map(|(row, _)| row.key.0))
            .smalls(places)
            .texts(decisions().map(|(_, decision)| &*decision.id))
            .smalls(decisions().map(|(_, decision)| decision.version))
            .texts(decisions().map(|(_, decision)| &*decision.name))
            .texts_opt(decisions().map(|(_, decision)| decision.version_tag.as_deref()))
            .texts(decisions().map(|(row, _)| &*row.tenant))
            .flags(decisions().map(|(row, _)| row.deleted))
    })
}

pub(super) fn requirements_deleted(commit: &Commit) -> Option<Call<'_>> {
    batch(commit, include_str!("../../sql/delete_requirements.sql"), &commit.changes.requirements_deleted, |call, rows| {
        call.keys(rows.iter().map(|key| key.0))
    })
}

pub(super) fn evaluated_decisions_new<'a>(commit: &'a Commit, texts: &'a Texts) -> Option<Call<'a>> {
    let evaluated = &commit.changes.evaluated_decisions_new;
    batch(commit, include_str!("../../sql/insert_evaluated_decisions.sql"), evaluated, |call, rows| {
        call.keys(rows.iter().map(|row| row.key()))
            .keys(rows.iter().map(|row| row.evaluation.0))
            .smalls(rows.iter().map(|row| row.place as i32))
            .keys_opt(rows.iter().map(|row| row.decision.map(|key| key.0)))
            .texts(rows.iter().map(|row| &*row.decision_id))
            .texts(rows.iter().map(|row| &*row.name))
            .smalls_opt(rows.iter().map(|row| row.version))
            .texts(rows.iter().map(|row| &*row.kind))
            .keys(rows.iter().map(|row| row.requirements.0))
            .keys(rows.iter().map(|row| row.root_decision.0))
            .texts(rows.iter().map(|row| &*row.tenant))
            .ints(rows.iter().map(|row| row.evaluated))
            .texts(rows.iter().map(|row| &*row.output))
            .blobs(texts.details.iter().map(Vec::as_slice))
            .keys_opt(rows.iter().map(|row| row.origin.map(|origin| origin.instance.0)))
            .keys_opt(rows.iter().map(|row| row.origin.map(|origin| origin.definition.0)))
            .keys_opt(rows.iter().map(|row| row.origin.map(|origin| origin.element_instance.0)))
    })
}

pub(super) fn evaluations_deleted(commit: &Commit) -> Option<Call<'_>> {
    batch(commit, include_str!("../../sql/delete_evaluations.sql"), &commit.changes.evaluations_deleted, |call, rows| {
        call.keys(rows.iter().map(|key| key.0))
    })
}
