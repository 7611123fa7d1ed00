//! What is shown of user tasks.

use engine::{DefinitionKey, ElementKey, FormKey, InstanceKey, UserTaskKey};

use super::row::Row;
use super::{Cells, Columns};
use crate::query::ScalarKind::{Int, Text};
use crate::query::UserTaskView;
use crate::row::UserTaskState;
use crate::sql::column::Table::{Definition, DefinitionElement, Instance, Own};
use crate::{Error, words};

pub(super) const USER_TASK: Columns = &[
    (Own, "@.key", Int),
    (Own, "@.instance", Int),
    (Instance, "@.root", Int),
    (Own, "@.definition", Int),
    (Definition, "@.process_id", Text),
    (Definition, "@.name", Text),
    (Definition, "@.version", Int),
    (Own, "@.tenant", Text),
    (DefinitionElement, "@.id", Text),
    (DefinitionElement, "@.name", Text),
    (Own, "@.element_instance", Int),
    (DefinitionElement, "@.headers", Text),
    (Own, "@.state", Text),
    (Own, "@.assignee", Text),
    (Own, "@.candidate_groups", Text),
    (Own, "@.candidate_users", Text),
    (Own, "@.due", Int),
    (Own, "@.follow_up", Int),
    (Own, "@.priority", Int),
    (Own, "@.form", Int),
    (Own, "@.external_form", Text),
    (Own, "@.created", Int),
    (Own, "@.ended", Int),
    (Instance, "@.tags", Text),
    (Instance, "@.business_id", Text),
];

pub(super) fn user_task(row: &mut Row<'_, impl Cells>) -> Result<UserTaskView, Error> {
    Ok(UserTaskView {
        key: UserTaskKey(row.key()?),
        instance: InstanceKey(row.key()?),
        root: InstanceKey(row.key()?),
        definition: DefinitionKey(row.key()?),
        process_id: row.text()?,
        process_name: row.text_maybe()?,
        version: row.number()?,
        tenant: row.text()?,
        element_id: row.text()?,
        element_name: row.text_maybe()?,
        element_instance: ElementKey(row.key()?),
        headers: row.text()?,
        state: UserTaskState::from_word(&row.text()?)?,
        assignee: row.text_maybe()?,
        candidate_groups: words::tags_from_text(&row.text()?),
        candidate_users: words::tags_from_text(&row.text()?),
        due: row.int_maybe()?,
        follow_up: row.int_maybe()?,
        priority: row.number()?,
        form: row.key_maybe()?.map(FormKey),
        external_form: row.text_maybe()?,
        created: row.int()?,
        ended: row.int_maybe()?,
        tags: words::tags_from_text(&row.text()?),
        business_id: row.text_maybe()?,
    })
}
