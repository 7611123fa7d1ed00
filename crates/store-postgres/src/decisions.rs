//! Requirements and their decisions.

use std::sync::Arc;

use engine::{DecisionKey, PartitionId, RequirementsKey};
use store::row::{Decision, DecisionRequirements, LatestDecision};
use store::{DecisionCounters, Error};
use tokio_postgres::Row;

use crate::Postgres;
use crate::call::Call;
use crate::reading::Reading;

const LATEST: &str = concat!(include_str!("../sql/requirements.sql"), include_str!("../sql/requirements_latest.sql"));
const BY_KEY: &str = concat!(include_str!("../sql/requirements.sql"), include_str!("../sql/requirements_by_key.sql"));

impl Postgres {
    pub(crate) async fn requirements_latest(&self, partition: PartitionId) -> Result<Vec<DecisionRequirements>, Error> {
        let rows = self.owner.query(Call::new(LATEST).int(partition.0.into())).await?;
        rows.iter().map(requirements).collect()
    }

    pub(crate) async fn requirements_by_key(&self, key: RequirementsKey) -> Result<Option<DecisionRequirements>, Error> {
        let rows = self.owner.query(Call::new(BY_KEY).key(PartitionId::of(key.0)).key(key.0)).await?;
        rows.first().map(requirements).transpose()
    }

    pub(crate) async fn decisions_latest(&self, partition: PartitionId) -> Result<Vec<LatestDecision>, Error> {
        let call = Call::new(include_str!("../sql/decisions_latest.sql")).int(partition.0.into());
        let rows = self.owner.query(call).await?;
        let latest = |row| {
            let mut row = Reading::of(row);
            Ok(LatestDecision {
                id: row.text()?,
                tenant: row.text()?,
                key: DecisionKey(row.key()?),
                requirements: RequirementsKey(row.key()?),
            })
        };
        rows.iter().map(latest).collect()
    }

    pub(crate) async fn decision_versions_given(&self, partition: PartitionId) -> Result<DecisionCounters, Error> {
        Ok(DecisionCounters {
            requirements: self.counters(include_str!("../sql/requirements_counters.sql"), partition).await?,
            decisions: self.counters(include_str!("../sql/decision_counters.sql"), partition).await?,
        })
    }

    async fn counters(&self, sql: &'static str, partition: PartitionId) -> Result<Vec<(Arc<str>, Arc<str>, i32)>, Error> {
        let rows = self.owner.query(Call::new(sql).int(partition.0.into())).await?;
        let counter = |row| {
            let mut row = Reading::of(row);
            Ok((row.text()?, row.text()?, row.get()?))
        };
        rows.iter().map(counter).collect()
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
