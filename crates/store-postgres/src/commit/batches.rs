//! Rows of a tick as columns of statements.

use store::row::{Job, Tokens};
use store::{Changes, Commit, format, words};

use super::{audit, decisions, executions, many, migrated, schedules, user_tasks, waits};
use crate::call::Call;

/// Texts and bytes that exist only in the database's form; they live as long as the statements that send them.
pub(super) struct Texts {
    tags_new: Vec<String>,
    flows_new: Vec<Option<Vec<u8>>>,
    bindings_new: Vec<Option<String>>,
    listeners_new: Vec<Vec<u8>>,
    steps_new: Vec<Vec<u8>>,
    pub(super) details: Vec<Vec<u8>>,
    progress_new: Vec<Option<String>>,
    progress_changed: Vec<Option<String>>,
    pub(super) waits: waits::Texts,
    user_tasks: user_tasks::Texts,
    policies: Vec<Vec<u8>>,
    asked: Vec<Vec<u8>>,
    starts: Vec<Vec<u8>>,
    schedules: schedules::Texts,
}

impl Texts {
    pub(super) fn of(changes: &Changes) -> Self {
        Self {
            tags_new: changes.instances_new.iter().map(|row| words::tags_text(&row.tags)).collect(),
            listeners_new: changes.listeners_new.iter().map(|row| format::encode_listeners(&row.listeners)).collect(),
            bindings_new: changes
                .definitions_new
                .iter()
                .map(|row| words::binding_text(&row.start_form.as_ref()?.binding))
                .collect(),
            flows_new: changes.definitions_new.iter().map(|row| row.flows.as_deref().map(format::encode_flows)).collect(),
            steps_new: changes.turns_new.iter().map(|row| format::encode_turn(&row.left)).collect(),
            details: changes.evaluated_decisions_new.iter().map(format::encode_details).collect(),
            progress_new: changes.elements_new.iter().map(|row| row.progress.map(words::progress_text)).collect(),
            progress_changed: changes.elements_changed.iter().map(|row| row.progress.map(words::progress_text)).collect(),
            waits: waits::Texts::of(changes),
            user_tasks: user_tasks::Texts::of(changes),
            policies: changes.policies_new.iter().map(|row| format::encode_policy(row.policy.as_ref())).collect(),
            asked: many::asked(changes),
            starts: changes.paces_put.iter().map(|row| format::encode_starts(&row.starts)).collect(),
            schedules: schedules::Texts::of(changes),
        }
    }
}

fn log_new(commit: &Commit) -> Call<'_> {
    rows_of(commit, include_str!("../../sql/insert_log.sql"), &commit.log, |call, rows| {
        call.keys(rows.iter().map(|row| row.position))
            .texts(rows.iter().map(|row| row.kind))
            .ints(rows.iter().map(|_| commit.now))
            .keys_opt(rows.iter().map(|row| row.instance.map(|key| key.0)))
            .blobs(rows.iter().map(|row| row.events.as_slice()))
    })
}

/// Up to `cleared` nothing is left to be taken out.
pub(super) fn of_inbox(commit: &Commit, cleared: u64) -> impl Iterator<Item = Call<'_>> {
    let answers = batch(commit, include_str!("../../sql/insert_answers.sql"), &commit.answers, |call, rows| {
        call.keys(rows.iter().map(|row| row.position))
            .texts(rows.iter().map(|row| row.kind))
            .ints(rows.iter().map(|row| row.at))
            .blobs(rows.iter().map(|row| row.answer.as_slice()))
            .ints(rows.iter().map(|row| row.expires))
    });
    let clear = (cleared < commit.inbox_to).then(|| {
        let clear = Call::new(include_str!("../../sql/clear_inbox.sql"));
        clear.int(commit.fence.partition.0.into()).key(cleared).key(commit.inbox_to)
    });
    answers.into_iter().chain(clear)
}

/// What most ticks write, be there rows or not, and the names of these statements. None comes to a row that another has written.
pub(super) fn usual<'a>(commit: &'a Commit, texts: &'a Texts) -> [(&'static str, Call<'a>); 8] {
    [
        ("log_new", log_new(commit)),
        ("instances_new", instances_new(commit, texts)),
        ("instances_changed", instances_changed(commit)),
        ("elements_new", elements_new(commit, texts)),
        ("elements_changed", elements_changed(commit, texts)),
        ("variables_new", variables_new(commit)),
        ("jobs_new", jobs_new(commit)),
        ("jobs_changed", jobs_changed(commit)),
    ]
}

/// Whether there is a row of these.
pub(super) fn has_usual(commit: &Commit) -> bool {
    let changes = &commit.changes;
    let instances = changes.instances_new.len() + changes.instances_changed.len();
    let elements = changes.elements_new.len() + changes.elements_changed.len();
    let jobs = changes.jobs_new.len() + changes.jobs_changed.len();
    0 < commit.log.len() + instances + elements + changes.variables_new.len() + jobs
}

/// A statement each for all else that changes, none for what does not.
pub(super) fn of_changes<'a>(commit: &'a Commit, texts: &'a Texts) -> impl Iterator<Item = Call<'a>> {
    let all = [
        resources_new(commit),
        definitions_new(commit, texts),
        definition_elements_new(commit),
        definitions_deleted(commit),
        decisions::requirements_new(commit),
        decisions::decisions_new(commit),
        decisions::requirements_deleted(commit),
        decisions::evaluated_decisions_new(commit, texts),
        decisions::evaluations_deleted(commit),
        instance_tags_new(commit),
        instances_suspended(commit),
        variables_changed(commit),
        tokens_put(commit),
        tokens_removed(commit),
        turns_new(commit, texts),
        turns_done(commit),
        incidents_new(commit),
        incidents_counted(commit, include_str!("../../sql/count_incidents_in_elements.sql")),
        incidents_counted(commit, include_str!("../../sql/count_incidents_in_instances.sql")),
        incidents_changed(commit),
        idempotent_new(commit),
    ];
    let all = all.into_iter().flatten().chain(waits::of_changes(commit, &texts.waits));
    all.chain(user_tasks::of_changes(commit, &texts.user_tasks))
        .chain(migrated::of_changes(commit))
        .chain(executions::of_changes(commit, &texts.policies, &texts.starts))
        .chain(many::of_changes(commit, &texts.asked))
        .chain(audit::of_changes(commit))
        .chain(listeners_new(commit, texts))
        .chain(schedules::of_changes(commit, &texts.schedules))
        .chain(executions::outbox(commit))
}

/// A statement over these rows, if there are any. Its first parameter is the partition.
pub(super) fn batch<'a, T>(
    commit: &Commit,
    sql: &'static str,
    rows: &'a [T],
    columns: impl FnOnce(Call<'a>, &'a [T]) -> Call<'a>,
) -> Option<Call<'a>> {
    (!rows.is_empty()).then(|| rows_of(commit, sql, rows, columns))
}

/// The same, be there rows or not.
fn rows_of<'a, T>(
    commit: &Commit,
    sql: &'static str,
    rows: &'a [T],
    columns: impl FnOnce(Call<'a>, &'a [T]) -> Call<'a>,
) -> Call<'a> {
    columns(Call::new(sql).int(commit.fence.partition.0.into()), rows)
}

fn resources_new(commit: &Commit) -> Option<Call<'_>> {
    batch(commit, include_str!("../../sql/insert_resources.sql"), &commit.changes.resources_new, |call, rows| {
        call.keys(rows.iter().map(|row| row.key))
            .texts(rows.iter().map(|row| &*row.name))
            .blobs(rows.iter().map(|row| &*row.content))
            .texts(rows.iter().map(|row| &*row.tenant))
    })
}

fn definitions_new<'a>(commit: &'a Commit, texts: &'a Texts) -> Option<Call<'a>> {
    batch(commit, include_str!("../../sql/insert_definitions.sql"), &commit.changes.definitions_new, |call, rows| {
        call.keys(rows.iter().map(|row| row.key.0))
            .texts(rows.iter().map(|row| &*row.process_id))
            .smalls(rows.iter().map(|row| row.version))
            .texts_opt(rows.iter().map(|row| row.name.as_deref()))
            .texts_opt(rows.iter().map(|row| row.version_tag.as_deref()))
            .texts(rows.iter().map(|row| &*row.tenant))
            .keys(rows.iter().map(|row| row.resource))
            .texts(rows.iter().map(|row| &*row.resource_name))
            .keys(rows.iter().map(|row| row.deployment))
            .blobs(rows.iter().map(|row| row.checksum.as_slice()))
            .flags(rows.iter().map(|row| row.deleted))
            .blobs_opt(texts.flows_new.iter().map(Option::as_deref))
            .texts_opt(rows.iter().map(|row| row.start_form.as_ref().map(|form| &*form.id)))
            .texts_opt(texts.bindings_new.iter().map(Option::as_deref))
    })
}

fn listeners_new<'a>(commit: &'a Commit, texts: &'a Texts) -> Option<Call<'a>> {
    batch(commit, include_str!("../../sql/insert_global_listeners.sql"), &commit.changes.listeners_new, |call, rows| {
        call.smalls(rows.iter().map(|row| row.version as i32))
            .blobs(texts.listeners_new.iter().map(Vec::as_slice))
            .ints(rows.iter().map(|row| row.changed))
            .texts(rows.iter().map(|row| &*row.changed_by))
    })
}

fn definition_elements_new(commit: &Commit) -> Option<Call<'_>> {
    let definitions = &commit.changes.definitions_new;
    let elements = || definitions.iter().flat_map(|row| &row.elements);
    elements().next()?;
    batch(commit, include_str!("../../sql/insert_definition_elements.sql"), definitions, |call, rows| {
        let keys = rows.iter().flat_map(|row| row.elements.iter().map(|_| row.key.0));
        let places = rows.iter().flat_map(|row| (0..row.elements.len()).map(|place| place as i32));
        call.keys(keys)
            .smalls(places)
            .texts(elements().map(|element| &*element.id))
            .texts_opt(elements().map(|element| element.name.as_deref()))
            .texts(elements().map(|element| &*element.kind))
            .texts(elements().map(|element| &*element.headers))
    })
}

fn definitions_deleted(commit: &Commit) -> Option<Call<'_>> {
    batch(commit, include_str!("../../sql/delete_definitions.sql"), &commit.changes.definitions_deleted, |call, rows| {
        call.keys(rows.iter().map(|key| key.0))
    })
}

fn instances_new<'a>(commit: &'a Commit, texts: &'a Texts) -> Call<'a> {
    rows_of(commit, include_str!("../../sql/insert_instances.sql"), &commit.changes.instances_new, |call, rows| {
        call.keys(rows.iter().map(|row| row.key.0))
            .keys(rows.iter().map(|row| row.definition.0))
            .texts(rows.iter().map(|row| row.state.stored()))
            .codes(rows.iter().map(|row| words::phase_number(row.phase) as i16))
            .ints(rows.iter().map(|row| row.started))
            .ints_opt(rows.iter().map(|row| row.ended))
            .keys_opt(rows.iter().map(|row| row.parent.map(|(instance, _)| instance.0)))
            .keys_opt(rows.iter().map(|row| row.parent.map(|(_, element)| element.0)))
            .keys(rows.iter().map(|row| row.root.0))
            .texts(texts.tags_new.iter().map(String::as_str))
            .texts_opt(rows.iter().map(|row| row.business_id.as_deref()))
            .smalls(rows.iter().map(|row| row.depth as i32))
    })
}

fn instance_tags_new(commit: &Commit) -> Option<Call<'_>> {
    let instances = &commit.changes.instances_new;
    instances.iter().find(|row| !row.tags.is_empty())?;
    batch(commit, include_str!("../../sql/insert_instance_tags.sql"), instances, |call, rows| {
        call.texts(rows.iter().flat_map(|row| row.tags.iter().map(|tag| &**tag)))
            .keys(rows.iter().flat_map(|row| row.tags.iter().map(|_| row.key.0)))
    })
}

fn instances_changed(commit: &Commit) -> Call<'_> {
    rows_of(commit, include_str!("../../sql/change_instances.sql"), &commit.changes.instances_changed, |call, rows| {
        call.keys(rows.iter().map(|row| row.key.0))
            .texts(rows.iter().map(|row| row.state.stored()))
            .codes(rows.iter().map(|row| words::phase_number(row.phase) as i16))
            .ints_opt(rows.iter().map(|row| row.ended))
    })
}

fn instances_suspended(commit: &Commit) -> Option<Call<'_>> {
    batch(commit, include_str!("../../sql/suspend_instances.sql"), &commit.changes.instances_suspended, |call, rows| {
        call.keys(rows.iter().map(|(key, _)| key.0)).ints_opt(rows.iter().map(|(_, since)| *since))
    })
}

fn elements_new<'a>(commit: &'a Commit, texts: &'a Texts) -> Call<'a> {
    rows_of(commit, include_str!("../../sql/insert_elements.sql"), &commit.changes.elements_new, |call, rows| {
        call.keys(rows.iter().map(|row| row.key.0))
            .keys(rows.iter().map(|row| row.instance.0))
            .keys(rows.iter().map(|row| row.definition.0))
            .smalls(rows.iter().map(|row| row.element.0 as i32))
            .keys(rows.iter().map(|row| row.scope.0))
            .texts(rows.iter().map(|row| row.state.word()))
            .codes(rows.iter().map(|row| row.state.phase_number() as i16))
            .ints(rows.iter().map(|row| row.started))
            .ints_opt(rows.iter().map(|row| row.ended))
            .keys_opt(rows.iter().map(|row| row.incident.map(|key| key.0)))
            .texts_opt(texts.progress_new.iter().map(Option::as_deref))
    })
}

fn elements_changed<'a>(commit: &'a Commit, texts: &'a Texts) -> Call<'a> {
    rows_of(commit, include_str!("../../sql/change_elements.sql"), &commit.changes.elements_changed, |call, rows| {
        call.keys(rows.iter().map(|row| row.key.0))
            .texts(rows.iter().map(|row| row.state.word()))
            .codes(rows.iter().map(|row| row.state.phase_number() as i16))
            .ints_opt(rows.iter().map(|row| row.ended))
            .keys_opt(rows.iter().map(|row| row.incident.map(|key| key.0)))
            .texts_opt(texts.progress_changed.iter().map(Option::as_deref))
            .flags(rows.iter().map(|row| row.past))
    })
}

fn variables_new(commit: &Commit) -> Call<'_> {
    rows_of(commit, include_str!("../../sql/insert_variables.sql"), &commit.changes.variables_new, |call, rows| {
        call.keys(rows.iter().map(|row| row.key.0))
            .keys(rows.iter().map(|row| row.instance.0))
            .keys(rows.iter().map(|row| row.definition.0))
            .keys(rows.iter().map(|row| row.scope.0))
            .texts(rows.iter().map(|row| &*row.name))
            .texts(rows.iter().map(|row| &*row.value))
    })
}

fn variables_changed(commit: &Commit) -> Option<Call<'_>> {
    batch(commit, include_str!("../../sql/change_variables.sql"), &commit.changes.variables_changed, |call, rows| {
        call.keys(rows.iter().map(|row| row.key.0)).texts(rows.iter().map(|row| &*row.value))
    })
}

fn jobs_new(commit: &Commit) -> Call<'_> {
    rows_of(commit, include_str!("../../sql/insert_jobs.sql"), &commit.changes.jobs_new, |call, rows| {
        changing_of_jobs(call, rows)
            .keys_opt(rows.iter().map(|row| row.origin.map(|origin| origin.instance.0)))
            .keys_opt(rows.iter().map(|row| row.origin.map(|origin| origin.definition.0)))
            .smalls_opt(rows.iter().map(|row| row.origin.map(|origin| origin.element.0 as i32)))
            .keys_opt(rows.iter().map(|row| row.origin.map(|origin| origin.element_instance.0)))
            .texts(rows.iter().map(|row| &*row.job_type))
            .texts(rows.iter().map(|row| &*row.tenant))
            .ints(rows.iter().map(|row| row.created))
            .texts_opt(rows.iter().map(|row| row.headers.as_deref()))
            .texts_opt(rows.iter().map(|row| row.kind.stored()))
            .texts_opt(rows.iter().map(|row| row.group.as_deref()))
    })
}

fn jobs_changed(commit: &Commit) -> Call<'_> {
    rows_of(commit, include_str!("../../sql/change_jobs.sql"), &commit.changes.jobs_changed, changing_of_jobs)
}

/// The key and what may change, in the order both statements have it.
pub(super) fn changing_of_jobs<'a>(call: Call<'a>, rows: &'a [Job]) -> Call<'a> {
    call.keys(rows.iter().map(|row| row.key.0))
        .smalls(rows.iter().map(|row| row.priority))
        .texts(rows.iter().map(|row| row.state.word()))
        .texts(rows.iter().map(|row| row.availability.word()))
        .ints_opt(rows.iter().map(|row| row.due()))
        .smalls(rows.iter().map(|row| row.retries))
        .texts(rows.iter().map(|row| &*row.worker))
        .ints_opt(rows.iter().map(|row| row.deadline))
        .texts(rows.iter().map(|row| &*row.error_code))
        .texts(rows.iter().map(|row| &*row.error_message))
        .flags(rows.iter().map(|row| row.failed_with_retries_left))
        .ints(rows.iter().map(|row| row.updated))
        .ints_opt(rows.iter().map(|row| row.ended))
        .texts_opt(rows.iter().map(|row| row.denied.as_deref()))
        .ints_opt(rows.iter().map(|row| row.dispatched))
}

fn tokens_put(commit: &Commit) -> Option<Call<'_>> {
    let there = || commit.changes.tokens.iter().filter(|row| row.count != 0);
    there().next()?;
    batch(commit, include_str!("../../sql/put_tokens.sql"), &commit.changes.tokens, |call, _| {
        places(call, there()).smalls(there().map(|row| row.count as i32))
    })
}

fn tokens_removed(commit: &Commit) -> Option<Call<'_>> {
    let gone = || commit.changes.tokens.iter().filter(|row| row.count == 0);
    gone().next()?;
    batch(commit, include_str!("../../sql/remove_tokens.sql"), &commit.changes.tokens, |call, _| places(call, gone()))
}

fn places<'a>(call: Call<'a>, tokens: impl Iterator<Item = &'a Tokens> + Clone) -> Call<'a> {
    call.keys(tokens.clone().map(|row| row.instance.0))
        .keys(tokens.clone().map(|row| row.token.scope.0))
        .smalls(tokens.clone().map(|row| row.token.gateway.0 as i32))
        .smalls(tokens.map(|row| row.token.flow.0 as i32))
}

fn turns_new<'a>(commit: &'a Commit, texts: &'a Texts) -> Option<Call<'a>> {
    batch(commit, include_str!("../../sql/insert_turns.sql"), &commit.changes.turns_new, |call, rows| {
        call.keys(rows.iter().map(|row| row.key.0))
            .keys(rows.iter().map(|row| row.instance.0))
            .ints(rows.iter().map(|row| row.due))
            .blobs(texts.steps_new.iter().map(Vec::as_slice))
    })
}

fn turns_done(commit: &Commit) -> Option<Call<'_>> {
    batch(commit, include_str!("../../sql/delete_turns.sql"), &commit.changes.turns_done, |call, rows| {
        call.keys(rows.iter().map(|key| key.0))
    })
}

fn incidents_new(commit: &Commit) -> Option<Call<'_>> {
    batch(commit, include_str!("../../sql/insert_incidents.sql"), &commit.changes.incidents_new, |call, rows| {
        call.keys(rows.iter().map(|row| row.key.0))
            .keys(rows.iter().map(|row| row.instance.0))
            .keys(rows.iter().map(|row| row.definition.0))
            .smalls(rows.iter().map(|row| row.element.0 as i32))
            .keys(rows.iter().map(|row| row.element_instance.0))
            .keys_opt(rows.iter().map(|row| row.job.map(|key| key.0)))
            .texts(rows.iter().map(|row| words::incident_kind_word(row.kind)))
            .texts(rows.iter().map(|row| &*row.message))
            .smalls(rows.iter().map(|row| words::message_hash(&row.message)))
            .ints(rows.iter().map(|row| row.created))
            .ints_opt(rows.iter().map(|row| row.resolved))
    })
}

/// Raised ones and, while they are still open, those about to be resolved.
fn incidents_counted<'a>(commit: &'a Commit, sql: &'static str) -> Option<Call<'a>> {
    let raised = commit.changes.incidents_new.iter().map(|row| (row.key.0, 1));
    let counted = raised.chain(commit.changes.incidents_changed.iter().map(|row| (row.key.0, -1)));
    counted.clone().next()?;
    let call = Call::new(sql).int(commit.fence.partition.0.into());
    Some(call.keys(counted.clone().map(|(key, _)| key)).smalls(counted.map(|(_, more)| more)))
}

fn incidents_changed(commit: &Commit) -> Option<Call<'_>> {
    batch(commit, include_str!("../../sql/change_incidents.sql"), &commit.changes.incidents_changed, |call, rows| {
        call.keys(rows.iter().map(|row| row.key.0)).ints(rows.iter().map(|row| row.resolved))
    })
}

fn idempotent_new(commit: &Commit) -> Option<Call<'_>> {
    batch(commit, include_str!("../../sql/insert_idempotent.sql"), &commit.changes.idempotent_new, |call, rows| {
        call.texts(rows.iter().map(|row| &*row.tenant))
            .texts(rows.iter().map(|row| &*row.key))
            .keys(rows.iter().map(|row| row.fingerprint))
            .keys(rows.iter().map(|row| row.position))
            .blobs(rows.iter().map(|row| row.answer.as_slice()))
            .ints(rows.iter().map(|row| row.expires))
    })
}
