//! What is shown of requirements, decisions and evaluated decisions.

use engine::{DecisionKey, DefinitionKey, ElementKey, EvaluationKey, InstanceKey, RequirementsKey};

use super::row::Row;
use super::{Cells, Columns};
use crate::query::ScalarKind::{Bool, Int, Text};
use crate::query::{DecisionView, EvaluatedDecisionView, RequirementsView};
use crate::sql::column::Table::{Instance, Own, Requirements};
use crate::{Error, format};

pub(super) const REQUIREMENTS: Columns = &[
    (Own, "@.key", Int),
    (Own, "@.id", Text),
    (Own, "@.name", Text),
    (Own, "@.version", Int),
    (Own, "@.resource_name", Text),
    (Own, "@.resource", Int),
    (Own, "@.tenant", Text),
    (Own, "@.deleted", Bool),
];

pub(super) fn requirements(row: &mut Row<'_, impl Cells>) -> Result<RequirementsView, Error> {
    Ok(RequirementsView {
        key: RequirementsKey(row.key()?),
        id: row.text()?,
        name: row.text()?,
        version: row.number()?,
        resource_name: row.text()?,
        resource: row.key()?,
        tenant: row.text()?,
        deleted: row.bool()?,
    })
}

pub(super) const DECISION: Columns = &[
    (Own, "@.key", Int),
    (Own, "@.id", Text),
    (Own, "@.name", Text),
    (Own, "@.version", Int),
    (Own, "@.version_tag", Text),
    (Own, "@.tenant", Text),
    (Own, "@.requirements", Int),
    (Requirements, "@.id", Text),
    (Requirements, "@.name", Text),
    (Requirements, "@.version", Int),
    (Requirements, "@.resource", Int),
    (Own, "@.deleted", Bool),
];

pub(super) fn decision(row: &mut Row<'_, impl Cells>) -> Result<DecisionView, Error> {
    Ok(DecisionView {
        key: DecisionKey(row.key()?),
        id: row.text()?,
        name: row.text()?,
        version: row.number()?,
        version_tag: row.text_maybe()?,
        tenant: row.text()?,
        requirements: RequirementsKey(row.key()?),
        requirements_id: row.text()?,
        requirements_name: row.text()?,
        requirements_version: row.number()?,
        resource: row.key()?,
        deleted: row.bool()?,
    })
}

pub(super) const EVALUATED_DECISION: Columns = &[
    (Own, "@.evaluation", Int),
    (Own, "@.place", Int),
    (Own, "@.decision", Int),
    (Own, "@.decision_id", Text),
    (Own, "@.name", Text),
    (Own, "@.version", Int),
    (Own, "@.kind", Text),
    (Own, "@.root_decision", Int),
    (Own, "@.tenant", Text),
    (Own, "@.evaluated", Int),
    (Own, "@.output", Text),
    (Own, "@.instance", Int),
    (Instance, "@.root", Int),
    (Instance, "@.business_id", Text),
    (Own, "@.definition", Int),
    (Own, "@.element_instance", Int),
];

/// The details come last: they are not always asked for.
pub(super) fn evaluated(row: &mut Row<'_, impl Cells>, with_details: bool) -> Result<EvaluatedDecisionView, Error> {
    let mut view = EvaluatedDecisionView {
        evaluation: EvaluationKey(row.key()?),
        place: u32::try_from(row.int()?).map_err(Error::corrupt)?,
        decision: row.key_maybe()?.map(DecisionKey),
        decision_id: row.text()?,
        name: row.text()?,
        version: row.number_maybe()?,
        kind: row.text()?,
        root_decision: DecisionKey(row.key()?),
        tenant: row.text()?,
        evaluated: row.int()?,
        output: row.text()?,
        instance: row.key_maybe()?.map(InstanceKey),
        root: row.key_maybe()?.map(InstanceKey),
        business_id: row.text_maybe()?,
        definition: row.key_maybe()?.map(DefinitionKey),
        element_instance: row.key_maybe()?.map(ElementKey),
        inputs: Vec::new(),
        rules: Vec::new(),
    };
    if with_details {
        let details = format::decode_details(&row.bytes()?)?;
        (view.inputs, view.rules) = (details.inputs, details.rules);
    }
    Ok(view)
}
