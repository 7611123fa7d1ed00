//! Requirements and their decisions.

use std::sync::Arc;

use engine::{DecisionKey, PartitionId, RequirementsKey};
use store::row::{Decision, DecisionRequirements, LatestDecision};
use store::{Error, Named};
use tokio_postgres::Row;

use crate::Postgres;
use crate::call::Call;
use crate::reading::{Reading, only};
use crate::session::Isolation;

const LATEST: &str = concat!(include_str!("../sql/requirements.sql"), include_str!("../sql/requirements_latest.sql"));
const BY_KEY: &str = concat!(include_str!("../sql/requirements.sql"), include_str!("../sql/requirements_by_key.sql"));

impl Postgres {
    pub(crate) async fn requirements_by_name(
        &self,
        partition: PartitionId,
        id: &str,
        tenant: &str,
    ) -> Result<Named<DecisionRequirements>, Error> {
        let version_max = include_str!("../sql/requirements_version_max.sql");
        let calls = [version_max, LATEST].map(|sql| Call::new(sql).int(partition.0.into()).text(tenant).text(id));
        let answers = self.owner.take().await?.transaction(Isolation::Snapshot, &calls).await?;
        let [version_max, latest] = &answers[..] else { return Err(Error::corrupt("answers are missing")) };
        Ok(Named {
            version_max: only(version_max)?.get::<Option<i32>>()?.unwrap_or(0),
            latest: latest.first().map(requirements).transpose()?,
        })
    }

    pub(crate) async fn requirements_by_key(&self, key: RequirementsKey) -> Result<Option<DecisionRequirements>, Error> {
        let rows = self.owner.query(Call::new(BY_KEY).key(PartitionId::of(key.0)).key(key.0)).await?;
        rows.first().map(requirements).transpose()
    }

    pub(crate) async fn decision_by_name(
        &self,
        partition: PartitionId,
        id: &str,
        tenant: &str,
    ) -> Result<Named<LatestDecision>, Error> {
        let call = Call::new(include_str!("../sql/decision_named.sql")).int(partition.0.into()).text(tenant).text(id);
        let rows = self.owner.query(call).await?;
        let mut row = only(&rows)?;
        let version_max = row.get::<Option<i32>>()?.unwrap_or(0);
        let Some(key) = row.key_maybe()?.map(DecisionKey) else { return Ok(Named { version_max, latest: None }) };
        let requirements = RequirementsKey(row.key()?);
        Ok(Named { version_max, latest: Some(LatestDecision { id: id.into(), tenant: tenant.into(), key, requirements }) })
    }
}

fn requirements(row: &Row) -> Result<DecisionRequirements, Error> {
    let mut row = Reading::of(row);
    Ok(DecisionRequirements {
        key: RequirementsKey(row.key()?),
        id: row.text()?,
        version: row.get()?,
        name: row.text()?,
        tenant: row.text()?,
        resource: row.key()?,
        resource_name: row.text()?,
        deployment: row.key()?,
        checksum: row.get()?,
        deleted: row.get()?,
        decisions: decisions(&mut row)?,
    })
}

/// Five arrays, one entry per decision; absent where there are none.
fn decisions(row: &mut Reading<'_>) -> Result<Vec<Decision>, Error> {
    let keys = row.get::<Option<Vec<i64>>>()?.unwrap_or_default();
    let ids = row.get::<Option<Vec<&str>>>()?.unwrap_or_default();
    let names = row.get::<Option<Vec<&str>>>()?.unwrap_or_default();
    let versions = row.get::<Option<Vec<i32>>>()?.unwrap_or_default();
    let version_tags = row.get::<Option<Vec<Option<&str>>>>()?.unwrap_or_default();
    let mut decisions = Vec::with_capacity(keys.len());
    for ((((key, id), name), version), version_tag) in keys.into_iter().zip(ids).zip(names).zip(versions).zip(version_tags) {
        let (key, version_tag) = (DecisionKey(key as u64), version_tag.map(Arc::from));
        decisions.push(Decision { key, id: id.into(), name: name.into(), version, version_tag });
    }
    Ok(decisions)
}
