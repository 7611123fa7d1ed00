//! Definitions and the files they came in.

use std::sync::Arc;

use engine::{DefinitionKey, PartitionId};
use store::row::{Definition, DefinitionElement, DefinitionHead, Resource};
use store::{Error, Named, format, words};
use tokio_postgres::Row;

use crate::Postgres;
use crate::call::Call;
use crate::reading::{Reading, only};

const BY_KEY: &str = concat!(include_str!("../sql/definitions.sql"), include_str!("../sql/definition_by_key.sql"));
const BY_VERSION: &str = concat!(include_str!("../sql/definitions.sql"), include_str!("../sql/definition_by_version.sql"));
const BEFORE: &str = concat!(include_str!("../sql/definitions.sql"), include_str!("../sql/definition_before.sql"));

/// A process id of a tenant, at a version.
pub(crate) struct Versioned<'a> {
    pub(crate) partition: PartitionId,
    pub(crate) process_id: &'a str,
    pub(crate) tenant: &'a str,
    pub(crate) version: i32,
}

impl Postgres {
    pub(crate) async fn process_by_name(
        &self,
        partition: PartitionId,
        id: &str,
        tenant: &str,
    ) -> Result<Named<DefinitionHead>, Error> {
        let call = Call::new(include_str!("../sql/process_named.sql")).int(partition.0.into()).text(tenant).text(id);
        let rows = self.owner.query(call).await?;
        let mut row = only(&rows)?;
        let version_max = row.get::<Option<i32>>()?.unwrap_or(0);
        let Some(key) = row.key_maybe()?.map(DefinitionKey) else { return Ok(Named { version_max, latest: None }) };
        Ok(Named { version_max, latest: Some(DefinitionHead { key, version: row.get()?, checksum: row.get()? }) })
    }

    pub(crate) async fn definition_by_key(&self, key: DefinitionKey) -> Result<Option<Definition>, Error> {
        let rows = self.owner.query(Call::new(BY_KEY).key(PartitionId::of(key.0)).key(key.0)).await?;
        rows.first().map(definition).transpose()
    }

    pub(crate) async fn definition_at(&self, wanted: Versioned<'_>) -> Result<Option<Definition>, Error> {
        self.one_version(BY_VERSION, wanted).await
    }

    pub(crate) async fn definition_below(&self, wanted: Versioned<'_>) -> Result<Option<Definition>, Error> {
        self.one_version(BEFORE, wanted).await
    }

    async fn one_version(&self, sql: &'static str, wanted: Versioned<'_>) -> Result<Option<Definition>, Error> {
        let call =
            Call::new(sql).int(wanted.partition.0.into()).text(wanted.tenant).text(wanted.process_id).int(wanted.version.into());
        let rows = self.owner.query(call).await?;
        rows.first().map(definition).transpose()
    }

    pub(crate) async fn resource_by_key(&self, key: u64) -> Result<Option<Resource>, Error> {
        let call = Call::new(include_str!("../sql/resource.sql")).key(PartitionId::of(key)).key(key);
        let rows = self.owner.query(call).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let mut row = Reading::of(row);
        Ok(Some(Resource { key, name: row.text()?, content: row.get::<&[u8]>()?.into(), tenant: row.text()? }))
    }

    pub(crate) async fn definitions_running(&self, partition: PartitionId, limit: usize) -> Result<Vec<DefinitionKey>, Error> {
        let call = Call::new(include_str!("../sql/running_definitions.sql")).int(partition.0.into()).limit(limit);
        let rows = self.owner.query(call).await?;
        rows.iter().map(|row| Ok(DefinitionKey(Reading::of(row).key()?))).collect()
    }

    pub(crate) async fn is_running(&self, definition: DefinitionKey) -> Result<bool, Error> {
        let rows = self.owner.query(Call::new(include_str!("../sql/has_running.sql")).key(definition.0)).await?;
        only(&rows)?.get()
    }
}

fn definition(row: &Row) -> Result<Definition, Error> {
    let mut row = Reading::of(row);
    Ok(Definition {
        key: DefinitionKey(row.key()?),
        process_id: row.text()?,
        version: row.get()?,
        name: row.text_maybe()?,
        version_tag: row.text_maybe()?,
        tenant: row.text()?,
        resource: row.key()?,
        resource_name: row.text()?,
        deployment: row.key()?,
        checksum: row.get()?,
        deleted: row.get()?,
        flows: row.get::<Option<&[u8]>>()?.map(format::decode_flows).transpose()?,
        start_form: words::start_form(row.text_maybe()?, row.get()?)?,
        elements: elements(&mut row)?,
    })
}

/// Four arrays, one entry per element; absent where a definition has no elements.
fn elements(row: &mut Reading<'_>) -> Result<Vec<DefinitionElement>, Error> {
    let ids = row.get::<Option<Vec<&str>>>()?.unwrap_or_default();
    let names = row.get::<Option<Vec<Option<&str>>>>()?.unwrap_or_default();
    let kinds = row.get::<Option<Vec<&str>>>()?.unwrap_or_default();
    let headers = row.get::<Option<Vec<&str>>>()?.unwrap_or_default();
    let columns = ids.into_iter().zip(names).zip(kinds).zip(headers);
    let element = |(((id, name), kind), headers): (((&str, Option<&str>), &str), &str)| DefinitionElement {
        id: id.into(),
        name: name.map(Arc::from),
        kind: kind.into(),
        headers: headers.into(),
    };
    Ok(columns.map(element).collect())
}
