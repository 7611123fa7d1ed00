//! Tasks for people, as they are read.

use engine::{DefinitionKey, ElementKey, FormKey, InstanceKey, UserTaskKey};
use model::ElementIx;
use store::row::{UserTask, UserTaskState};
use store::{Error, words};
use tokio_postgres::Row;

use crate::reading::Reading;

pub(crate) fn user_task(row: &Row) -> Result<UserTask, Error> {
    let mut row = Reading::of(row);
    let names = |text: &str| words::tags_from_text(text).into_iter().map(Into::into).collect();
    Ok(UserTask {
        key: UserTaskKey(row.key()?),
        instance: InstanceKey(row.key()?),
        definition: DefinitionKey(row.key()?),
        element: ElementIx(row.get::<i32>()? as u32),
        element_instance: ElementKey(row.key()?),
        tenant: row.text()?,
        state: UserTaskState::from_word(row.get()?)?,
        assignee: row.text_maybe()?,
        candidate_groups: names(row.get()?),
        candidate_users: names(row.get()?),
        due: row.get()?,
        follow_up: row.get()?,
        priority: row.get()?,
        form: row.key_maybe()?.map(FormKey),
        external_form: row.text_maybe()?,
        created: row.get()?,
        ended: row.get()?,
    })
}
