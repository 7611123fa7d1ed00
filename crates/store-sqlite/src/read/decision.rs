//! Requirements and their decisions.

use engine::{DecisionKey, PartitionId, RequirementsKey};
use rusqlite::{Connection, Params, Row};
use store::DecisionCounters;
use store::row::{Decision, DecisionRequirements, LatestDecision};

use super::definition::Counter;
use crate::failure::Failure;
use crate::statement;

pub(crate) fn requirements(connection: &Connection, key: RequirementsKey) -> Result<Option<DecisionRequirements>, Failure> {
    let which = [PartitionId::of(key.0) as i64, key.0 as i64];
    Ok(with_decisions(connection, statement::REQUIREMENTS_BY_KEY, which)?.pop())
}

pub(crate) fn latest_requirements(connection: &Connection, partition: PartitionId) -> Result<Vec<DecisionRequirements>, Failure> {
    with_decisions(connection, statement::LATEST_REQUIREMENTS, [partition.0])
}

pub(crate) fn latest_decisions(connection: &Connection, partition: PartitionId) -> Result<Vec<LatestDecision>, Failure> {
    let mut select = connection.prepare_cached(statement::LATEST_DECISIONS)?;
    let rows = select.query_map([partition.0], |row| {
        Ok(LatestDecision {
            id: row.get(0)?,
            tenant: row.get(1)?,
            key: DecisionKey(row.get::<_, i64>(2)? as u64),
            requirements: RequirementsKey(row.get::<_, i64>(3)? as u64),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(crate) fn decision_counters(connection: &Connection, partition: PartitionId) -> Result<DecisionCounters, Failure> {
    Ok(DecisionCounters {
        requirements: counters(connection, statement::REQUIREMENTS_COUNTERS, partition)?,
        decisions: counters(connection, statement::DECISION_COUNTERS, partition)?,
    })
}

fn counters(connection: &Connection, sql: &str, partition: PartitionId) -> Result<Vec<Counter>, Failure> {
    let mut select = connection.prepare_cached(sql)?;
    let rows = select.query_map([partition.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn with_decisions(connection: &Connection, sql: &str, which: impl Params) -> Result<Vec<DecisionRequirements>, Failure> {
    let mut select = connection.prepare_cached(sql)?;
    let rows = select.query_map(which, |row| Ok((row.get::<_, i64>(0)?, without_decisions(row)?)))?;
    let mut found = Vec::new();
    for row in rows {
        let (partition, mut requirements) = row?;
        requirements.decisions = decisions(connection, partition, requirements.key)?;
        found.push(requirements);
    }
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
