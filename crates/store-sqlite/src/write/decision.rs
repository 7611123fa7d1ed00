//! Requirements, their decisions, and what evaluations leave.

use engine::{EvaluationKey, PartitionId, RequirementsKey};
use rusqlite::{Connection, params};
use store::format;
use store::row::{DecisionRequirements, EvaluatedDecision};

use crate::failure::Failure;
use crate::statement;

pub(super) fn insert_requirements(
    connection: &Connection,
    partition: PartitionId,
    rows: &[DecisionRequirements],
) -> Result<(), Failure> {
    let mut insert = connection.prepare_cached(statement::INSERT_REQUIREMENTS)?;
    let mut insert_decision = connection.prepare_cached(statement::INSERT_DECISION)?;
    for row in rows {
        let key = row.key.0 as i64;
        insert.execute(params![
            partition.0,
            key,
            row.id,
            row.version,
            row.name,
            row.tenant,
            row.resource as i64,
            row.resource_name,
            row.deployment as i64,
            row.checksum,
            row.deleted,
        ])?;
        for (place, decision) in (0i64..).zip(&row.decisions) {
            insert_decision.execute(params![
                partition.0,
                decision.key.0 as i64,
                key,
                place,
                decision.id,
                decision.version,
                decision.name,
                decision.version_tag,
                row.tenant,
                row.deleted,
            ])?;
        }
    }
    Ok(())
}

pub(super) fn delete_requirements(
    connection: &Connection,
    partition: PartitionId,
    keys: &[RequirementsKey],
) -> Result<(), Failure> {
    let mut delete = connection.prepare_cached(statement::DELETE_REQUIREMENTS)?;
    let mut delete_decisions = connection.prepare_cached(statement::DELETE_DECISIONS)?;
    for key in keys {
        delete.execute(params![partition.0, key.0 as i64])?;
        delete_decisions.execute(params![partition.0, key.0 as i64])?;
    }
    Ok(())
}

pub(super) fn insert_evaluated_decisions(
    connection: &Connection,
    partition: PartitionId,
    rows: &[EvaluatedDecision],
) -> Result<(), Failure> {
    let mut insert = connection.prepare_cached(statement::INSERT_EVALUATED_DECISION)?;
    for row in rows {
        insert.execute(params![
            partition.0,
            row.key() as i64,
            row.evaluation.0 as i64,
            row.place,
            row.decision.map(|key| key.0 as i64),
            row.decision_id,
            row.name,
            row.version,
            row.kind,
            row.requirements.0 as i64,
            row.root_decision.0 as i64,
            row.tenant,
            row.evaluated,
            row.output,
            format::encode_details(row),
            row.origin.map(|origin| origin.instance.0 as i64),
            row.origin.map(|origin| origin.definition.0 as i64),
            row.origin.map(|origin| origin.element_instance.0 as i64),
        ])?;
    }
    Ok(())
}

pub(super) fn delete_evaluations(connection: &Connection, partition: PartitionId, keys: &[EvaluationKey]) -> Result<(), Failure> {
    let mut delete = connection.prepare_cached(statement::DELETE_EVALUATION)?;
    for key in keys {
        delete.execute(params![partition.0, key.0 as i64])?;
    }
    Ok(())
}
