//! Commands about tasks: assign, change, complete.

use std::sync::Arc;

use axum::response::Response;
use engine::UserTaskKey;
use store::Millis;
use store::log::{AssignUserTask, Command, UpdateUserTask};

use crate::error::Failure;
use crate::rest::call::Call;
use crate::rest::describe::Kind;
use crate::rest::shape::{Fields, Shape, field};
use crate::rest::time;

/// Names go into indexes of the stores, whose entries are bounded.
const NAME_BYTES_MAX: usize = 1_000;
const NAMES_MAX: usize = 1_000;
const PRIORITY_MAX: i32 = 100;

pub(super) static ASSIGNMENT: Shape = Shape {
    name: "UserTaskAssignmentRequest",
    fields: &[
        field("assignee", Kind::Text, "Who is to do it").required(),
        field("allowOverride", Kind::Boolean, "Whether it may be taken from somebody else; true if left out"),
        field("action", Kind::Text, "What the caller calls this"),
    ],
};

pub(super) static UPDATE: Shape = Shape {
    name: "UserTaskUpdateRequest",
    fields: &[
        field("changeset", Kind::Fields(&CHANGES), "What to change; what is left out stays as it is"),
        field("action", Kind::Text, "What the caller calls this"),
    ],
};

static CHANGES: Shape = Shape {
    name: "Changeset",
    fields: &[
        field("dueDate", Kind::Text, "A date and time after RFC 3339; empty for none"),
        field("followUpDate", Kind::Text, "A date and time after RFC 3339; empty for none"),
        field("candidateUsers", Kind::Texts, "Users who may do it; empty for none"),
        field("candidateGroups", Kind::Texts, "Groups who may do it; empty for none"),
        field("priority", Kind::Int32, "From 0 to 100, the higher the more urgent"),
        field("assignee", Kind::Text, "Not changed this way; without effect"),
    ],
};

pub(super) static COMPLETION: Shape = Shape {
    name: "UserTaskCompletionRequest",
    fields: &[field("variables", Kind::Object, "What came of it"), field("action", Kind::Text, "What the caller calls this")],
};

pub(super) async fn assign(call: Call) -> Result<Response, Failure> {
    let task = UserTaskKey(call.existing_key()?);
    let mut fields = call.required(&ASSIGNMENT)?;
    let assignee = fields.shared("assignee").filter(|assignee| !assignee.trim().is_empty());
    let assignee = assignee.ok_or_else(|| Failure::invalid("No assignee provided"))?;
    check_name(&assignee)?;
    let overrides = fields.boolean("allowOverride").unwrap_or(true);
    let intent = if overrides { "ASSIGN" } else { "CLAIM" };
    let action = action(&mut fields);
    call.perform(intent, Command::AssignUserTask(AssignUserTask { task, assignee, overrides, action })).await
}

pub(super) async fn unassign(call: Call) -> Result<Response, Failure> {
    let task = UserTaskKey(call.existing_key()?);
    call.perform("ASSIGN", Command::UnassignUserTask { task, action: "".into() }).await
}

pub(super) async fn update(call: Call) -> Result<Response, Failure> {
    let task = UserTaskKey(call.existing_key()?);
    let mut fields = call.optional(&UPDATE)?;
    let action = action(&mut fields);
    let mut update = UpdateUserTask {
        task,
        candidate_groups: None,
        candidate_users: None,
        due: None,
        follow_up: None,
        priority: None,
        action,
    };
    let nothing = update.clone();
    if let Some(mut changes) = fields.object("changeset") {
        update.candidate_groups = names(&mut changes, "candidateGroups")?;
        update.candidate_users = names(&mut changes, "candidateUsers")?;
        update.due = date(&mut changes, "dueDate", "due date")?;
        update.follow_up = date(&mut changes, "followUpDate", "follow-up date")?;
        update.priority = priority(&mut changes)?;
    }
    if update == nothing && update.action.is_empty() {
        return Err(Failure::invalid(
            "No update data provided. Provide at least an \"action\" or a non-null value for a supported attribute in the \"changeset\".",
        ));
    }
    call.perform("UPDATE", Command::UpdateUserTask(update)).await
}

pub(super) async fn complete(call: Call) -> Result<Response, Failure> {
    let task = UserTaskKey(call.existing_key()?);
    let mut fields = call.optional(&COMPLETION)?;
    let (variables, action) = (fields.document("variables"), action(&mut fields));
    call.perform("COMPLETE", Command::CompleteUserTask { task, variables, action }).await
}

fn action(fields: &mut Fields<'_>) -> Arc<str> {
    fields.shared("action").unwrap_or_default()
}

fn check_name(name: &str) -> Result<(), Failure> {
    match name.len() <= NAME_BYTES_MAX {
        true => Ok(()),
        false => Err(Failure::invalid(format!("A name has {} bytes; at most {NAME_BYTES_MAX} are allowed", name.len()))),
    }
}

fn names(changes: &mut Fields<'_>, name: &str) -> Result<Option<Vec<Arc<str>>>, Failure> {
    let Some(names) = changes.texts_maybe(name) else { return Ok(None) };
    if NAMES_MAX < names.len() {
        return Err(Failure::invalid(format!("[{name}] has {} names; at most {NAMES_MAX} are allowed", names.len())));
    }
    names.iter().try_for_each(|name| check_name(name))?;
    Ok(Some(names))
}

/// An empty text takes the date away.
fn date(changes: &mut Fields<'_>, name: &str, words: &str) -> Result<Option<Option<Millis>>, Failure> {
    let Some(text) = changes.text(name) else { return Ok(None) };
    if text.is_empty() {
        return Ok(Some(None));
    }
    let date = time::read(&text, name).map_err(|_| {
        Failure::invalid(format!("The provided {words} '{text}' cannot be parsed as a date according to RFC 3339, section 5.6."))
    })?;
    Ok(Some(Some(date)))
}

fn priority(changes: &mut Fields<'_>) -> Result<Option<i32>, Failure> {
    match changes.int32("priority") {
        Some(priority) if !(0..=PRIORITY_MAX).contains(&priority) => Err(Failure::invalid(format!(
            "The value for priority is '{priority}' but must be within the [0,{PRIORITY_MAX}] range."
        ))),
        priority => Ok(priority),
    }
}
