//! Operations over many: what is asked for, with the filter that says of which.

use super::bytes::{Reader, Stored, Writer, record, unknown};
use crate::Error;
use crate::batch::{Asked, BatchCommand, Work};
use crate::query::{Entity, Field, Filter, Op, Scalar};
use crate::row::Candidates;

record!(Asked { work, filter, caller });

impl Stored for Work {
    fn put(&self, to: &mut Writer) {
        to.framed(|to| match self {
            Self::Cancel => to.byte(0),
            Self::ResolveIncidents => to.byte(1),
            Self::Change(change) => {
                to.byte(2);
                change.put(to);
            }
            Self::Delete => to.byte(3),
            Self::DeleteEvaluations => to.byte(4),
            Self::Suspend => to.byte(5),
            Self::Resume => to.byte(6),
        });
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        from.framed(|from| match from.byte()? {
            0 => Ok(Self::Cancel),
            1 => Ok(Self::ResolveIncidents),
            2 => Ok(Self::Change(Stored::take(from)?)),
            3 => Ok(Self::Delete),
            4 => Ok(Self::DeleteEvaluations),
            5 => Ok(Self::Suspend),
            6 => Ok(Self::Resume),
            tag => Err(unknown("kind of operation over many", tag)),
        })
    }
}

impl Stored for BatchCommand {
    fn put(&self, to: &mut Writer) {
        let mut one = |tag, batch: &u64| {
            to.byte(tag);
            batch.put(to);
        };
        match self {
            Self::Suspend { batch } => one(1, batch),
            Self::Resume { batch } => one(2, batch),
            Self::Cancel { batch } => one(3, batch),
            Self::Due { batch } => one(4, batch),
            Self::Start { work, filter } => {
                to.byte(0);
                work.put(to);
                filter.put(to);
            }
            Self::Item { batch, key } => {
                to.byte(5);
                batch.put(to);
                key.put(to);
            }
        }
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        match from.byte()? {
            0 => Ok(Self::Start { work: Stored::take(from)?, filter: Stored::take(from)? }),
            1 => Ok(Self::Suspend { batch: Stored::take(from)? }),
            2 => Ok(Self::Resume { batch: Stored::take(from)? }),
            3 => Ok(Self::Cancel { batch: Stored::take(from)? }),
            4 => Ok(Self::Due { batch: Stored::take(from)? }),
            5 => Ok(Self::Item { batch: Stored::take(from)?, key: Stored::take(from)? }),
            tag => Err(unknown("command about an operation over many", tag)),
        }
    }
}

impl Stored for Filter {
    fn put(&self, to: &mut Writer) {
        to.framed(|to| match self {
            Self::All(parts) => {
                to.byte(0);
                parts.put(to);
            }
            Self::Any(parts) => {
                to.byte(1);
                parts.put(to);
            }
            Self::Is(field, op) => {
                to.byte(2);
                field.put(to);
                op.put(to);
            }
            Self::HasTag(tag) => {
                to.byte(3);
                tag.put(to);
            }
            Self::Related(entity, part) => {
                to.byte(4);
                entity.put(to);
                part.put(to);
            }
            Self::OfInstance(part) => {
                to.byte(5);
                part.put(to);
            }
            Self::Candidate(kind, op) => {
                to.byte(6);
                to.byte(u8::from(*kind == Candidates::Users));
                op.put(to);
            }
            Self::Not(part) => {
                to.byte(7);
                part.put(to);
            }
        });
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        from.framed(|from| {
            Ok(match from.byte()? {
                0 => Self::All(Stored::take(from)?),
                1 => Self::Any(Stored::take(from)?),
                2 => Self::Is(Stored::take(from)?, Stored::take(from)?),
                3 => Self::HasTag(Stored::take(from)?),
                4 => Self::Related(Stored::take(from)?, Box::new(Stored::take(from)?)),
                5 => Self::OfInstance(Box::new(Stored::take(from)?)),
                6 => {
                    let kind = if from.byte()? == 1 { Candidates::Users } else { Candidates::Groups };
                    Self::Candidate(kind, Stored::take(from)?)
                }
                7 => Self::Not(Box::new(Stored::take(from)?)),
                tag => return Err(unknown("filter", tag)),
            })
        })
    }
}

impl Stored for Op {
    fn put(&self, to: &mut Writer) {
        to.byte(match self {
            Self::Eq(_) => 0,
            Self::Neq(_) => 1,
            Self::In(_) => 2,
            Self::NotIn(_) => 3,
            Self::Exists(_) => 4,
            Self::Lt(_) => 5,
            Self::Lte(_) => 6,
            Self::Gt(_) => 7,
            Self::Gte(_) => 8,
            Self::Like(_) => 9,
        });
        match self {
            Self::Eq(value) | Self::Neq(value) | Self::Lt(value) | Self::Lte(value) | Self::Gt(value) | Self::Gte(value) => {
                value.put(to);
            }
            Self::In(values) | Self::NotIn(values) => values.put(to),
            Self::Exists(exists) => exists.put(to),
            Self::Like(like) => like.put(to),
        }
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        Ok(match from.byte()? {
            0 => Self::Eq(Stored::take(from)?),
            1 => Self::Neq(Stored::take(from)?),
            2 => Self::In(Stored::take(from)?),
            3 => Self::NotIn(Stored::take(from)?),
            4 => Self::Exists(Stored::take(from)?),
            5 => Self::Lt(Stored::take(from)?),
            6 => Self::Lte(Stored::take(from)?),
            7 => Self::Gt(Stored::take(from)?),
            8 => Self::Gte(Stored::take(from)?),
            9 => Self::Like(Stored::take(from)?),
            tag => return Err(unknown("comparison", tag)),
        })
    }
}

impl Stored for Scalar {
    fn put(&self, to: &mut Writer) {
        match self {
            Self::Bool(value) => {
                to.byte(0);
                value.put(to);
            }
            Self::Int(value) => {
                to.byte(1);
                value.put(to);
            }
            Self::Text(value) => {
                to.byte(2);
                value.put(to);
            }
        }
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        match from.byte()? {
            0 => Ok(Self::Bool(Stored::take(from)?)),
            1 => Ok(Self::Int(Stored::take(from)?)),
            2 => Ok(Self::Text(Stored::take(from)?)),
            tag => Err(unknown("value", tag)),
        }
    }
}

impl Stored for Entity {
    fn put(&self, to: &mut Writer) {
        to.byte(ENTITIES.iter().find(|(_, entity)| entity == self).map_or(0, |(number, _)| *number));
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        let tag = from.byte()?;
        ENTITIES.iter().find(|(number, _)| *number == tag).map(|(_, entity)| *entity).ok_or_else(|| unknown("entity", tag))
    }
}

impl Stored for Field {
    fn put(&self, to: &mut Writer) {
        to.byte(FIELDS.iter().find(|(_, field)| field == self).map_or(0, |(number, _)| *number));
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        let tag = from.byte()?;
        FIELDS.iter().find(|(number, _)| *number == tag).map(|(_, field)| *field).ok_or_else(|| unknown("field", tag))
    }
}

/// What instances and evaluated decisions can be found by is written under these numbers, which stay.
const ENTITIES: &[(u8, Entity)] = &[
    (1, Entity::Instances),
    (2, Entity::Elements),
    (3, Entity::Variables),
    (4, Entity::Jobs),
    (5, Entity::Incidents),
    (6, Entity::EvaluatedDecisions),
    (7, Entity::BatchItems),
];

#[rustfmt::skip]
const FIELDS: &[(u8, Field)] = &[
    (1, Field::InstanceKey), (2, Field::InstanceState), (3, Field::Started), (4, Field::Ended),
    (5, Field::ParentInstanceKey), (6, Field::ParentElementKey), (7, Field::HasIncident), (8, Field::BusinessId),
    (9, Field::DefinitionKey), (10, Field::ProcessId), (11, Field::DefinitionName), (12, Field::Version),
    (13, Field::VersionTag), (14, Field::Tenant), (15, Field::ElementKey), (16, Field::ElementId),
    (17, Field::ElementName), (18, Field::ElementKind), (19, Field::ElementState), (20, Field::ScopeKey),
    (21, Field::IncidentKey), (22, Field::VariableKey), (23, Field::Name), (24, Field::Value), (25, Field::IsTruncated),
    (26, Field::JobKey), (27, Field::JobType), (28, Field::JobState), (29, Field::Retries), (30, Field::Worker),
    (31, Field::Deadline), (32, Field::ErrorCode), (33, Field::ErrorMessage), (34, Field::FailedWithRetriesLeft),
    (35, Field::JobKind), (36, Field::ListenerEvent), (37, Field::IsDenied), (38, Field::DeniedReason),
    (39, Field::Created), (40, Field::Updated), (41, Field::IncidentKind), (42, Field::IncidentState),
    (43, Field::MessageHash), (44, Field::EvaluatedKey), (45, Field::EvaluatedId), (46, Field::EvaluationKey),
    (47, Field::DecisionKey), (48, Field::DecisionId), (49, Field::DecisionName), (50, Field::DecisionKind),
    (51, Field::RootDecisionKey), (52, Field::RequirementsKey), (53, Field::Evaluated), (54, Field::BatchKey),
    (55, Field::BatchKind), (56, Field::ItemKey), (57, Field::ItemState), (58, Field::Processed),
    (59, Field::BatchItemKey),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// A filter that cannot be written would be read as another, or not at all.
    #[test]
    fn whatever_can_be_asked_has_a_number_of_its_own() {
        for (_, entity) in ENTITIES {
            for field in entity.fields() {
                assert!(FIELDS.iter().any(|(_, known)| known == field), "{field:?} of {entity:?}");
            }
        }
        let numbers: BTreeSet<u8> = FIELDS.iter().map(|(number, _)| *number).collect();
        assert_eq!((numbers.len(), numbers.contains(&0)), (FIELDS.len(), false));
    }
}
