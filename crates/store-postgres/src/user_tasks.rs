//! Tasks for people and forms, as they are read.

use engine::{DefinitionKey, ElementKey, FormKey, InstanceKey, PartitionId, UserTaskKey};
use model::ElementIx;
use store::row::{Form, UserTask, UserTaskState};
use store::{Error, format, words};
use tokio_postgres::Row;

use crate::Postgres;
use crate::call::Call;
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
        transition: row.get::<Option<&[u8]>>()?.map(format::decode_transition).transpose()?.map(Box::new),
    })
}

impl Postgres {
    pub(crate) async fn forms_by_name(&self, partition: PartitionId, id: &str, tenant: &str) -> Result<Vec<Form>, Error> {
        let call = Call::new(include_str!("../sql/forms_named.sql")).int(partition.0.into()).text(id).text(tenant);
        self.owner.query(call).await?.iter().map(form).collect()
    }

    pub(crate) async fn form_by_key(&self, key: FormKey) -> Result<Option<Form>, Error> {
        let call = Call::new(include_str!("../sql/form_by_key.sql")).key(PartitionId::of(key.0)).key(key.0);
        self.owner.query(call).await?.first().map(form).transpose()
    }
}

fn form(row: &Row) -> Result<Form, Error> {
    let mut row = Reading::of(row);
    Ok(Form {
        key: FormKey(row.key()?),
        id: row.text()?,
        version: row.get()?,
        version_tag: row.text_maybe()?,
        tenant: row.text()?,
        resource: row.key()?,
        resource_name: row.text()?,
        deployment: row.key()?,
        checksum: row.get()?,
        deleted: row.get()?,
    })
}
