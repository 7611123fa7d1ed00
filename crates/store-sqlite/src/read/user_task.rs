//! Tasks for people.

use engine::{DefinitionKey, ElementKey, FormKey, InstanceKey, UserTaskKey};
use model::ElementIx;
use rusqlite::Row;
use store::row::{UserTask, UserTaskState};
use store::words;

use super::load::{key_at, key_maybe, text_at};
use crate::failure::Failure;

pub(super) fn user_task(row: &Row<'_>) -> Result<UserTask, Failure> {
    let names = |column| Ok::<_, Failure>(words::tags_from_text(text_at(row, column)?).into_iter().map(Into::into).collect());
    Ok(UserTask {
        key: UserTaskKey(key_at(row, 0)?),
        instance: InstanceKey(key_at(row, 1)?),
        definition: DefinitionKey(key_at(row, 2)?),
        element: ElementIx(row.get(3)?),
        element_instance: ElementKey(key_at(row, 4)?),
        tenant: row.get(5)?,
        state: UserTaskState::from_word(text_at(row, 6)?)?,
        assignee: row.get(7)?,
        candidate_groups: names(8)?,
        candidate_users: names(9)?,
        due: row.get(10)?,
        follow_up: row.get(11)?,
        priority: row.get(12)?,
        form: key_maybe(row, 13)?.map(FormKey),
        external_form: row.get(14)?,
        created: row.get(15)?,
        ended: row.get(16)?,
    })
}
