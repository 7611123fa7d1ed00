//! Requirements and their decisions.

use engine::{DecisionKey, PartitionId, RequirementsKey};
use rusqlite::{Connection, OptionalExtension, Row, params};
use store::Named;
use store::row::{Decision, DecisionRequirements, LatestDecision};

use crate::failure::Failure;
use crate::statement;

pub(crate) fn requirements(connection: &Connection, key: RequirementsKey) -> Result<Option<DecisionRequirements>, Failure> {
    let partition = PartitionId::of(key.0) as i64;
    let mut select = connection.prepare_cached(statement::REQUIREMENTS_BY_KEY)?;
    let found = select.query_row([partition, key.0 as i64], without_decisions).optional()?;
    found.map(|found| with_decisions(connection, partition, found)).transpose()
}

pub(crate) fn requirements_named(
    connection: &Connection,
    partition: PartitionId,
    id: &str,
    tenant: &str,
) -> Result<Named<DecisionRequirements>, Failure> {
    let mut select = connection.prepare_cached(statement::REQUIREMENTS_NAMED)?;
    let mut rows = select.query(params![partition.0, id, tenant])?;
    let mut named = Named::default();
    while let (None, Some(row)) = (&named.latest, rows.next()?) {
        let found = without_decisions(row)?;
        named.version_max = found.version.max(named.version_max);
        if !found.deleted {
            named.latest = Some(with_decisions(connection, partition.0.into(), found)?);
        }
    }
    Ok(named)
}

pub(crate) fn decision_named(
    connection: &Connection,
    partition: PartitionId,
    id: &str,
    tenant: &str,
) -> Result<Named<LatestDecision>, Failure> {
    let mut select = connection.prepare_cached(statement::DECISION_NAMED)?;
    let mut rows = select.query(params![partition.0, id, tenant])?;
    let mut named = Named::default();
    while let (None, Some(row)) = (&named.latest, rows.next()?) {
        named.version_max = row.get::<_, i32>(0)?.max(named.version_max);
        if !row.get::<_, bool>(1)? {
            let key = DecisionKey(row.get::<_, i64>(2)? as u64);
            let requirements = RequirementsKey(row.get::<_, i64>(3)? as u64);
            named.latest = Some(LatestDecision { id: id.into(), tenant: tenant.into(), key, requirements });
        }
    }
    Ok(named)
}

fn with_decisions(
    connection: &Connection,
    partition: i64,
    mut found: DecisionRequirements,
) -> Result<DecisionRequirements, Failure> {
    found.decisions = decisions(connection, partition, found.key)?;
    Ok(found)
}

fn without_decisions(row: &Row<'_>) -> rusqlite::Result<DecisionRequirements> {
    Ok(DecisionRequirements {
        key: RequirementsKey(row.get::<_, i64>(1)? as u64),
        id: row.get(2)?,
        version: row.get(3)?,
        name: row.get(4)?,
        tenant: row.get(5)?,
        resource: row.get::<_, i64>(6)? as u64,
        resource_name: row.get(7)?,
        deployment: row.get::<_, i64>(8)? as u64,
        checksum: row.get(9)?,
        deleted: row.get(10)?,
        decisions: Vec::new(),
    })
}

fn decisions(connection: &Connection, partition: i64, requirements: RequirementsKey) -> Result<Vec<Decision>, Failure> {
    let mut select = connection.prepare_cached(statement::REQUIREMENTS_DECISIONS)?;
    let rows = select.query_map([partition, requirements.0 as i64], |row| {
        Ok(Decision {
            key: DecisionKey(row.get::<_, i64>(0)? as u64),
            id: row.get(1)?,
            name: row.get(2)?,
            version: row.get(3)?,
            version_tag: row.get(4)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
