//! Changes of running instances.

use engine::{Activation, Ancestor, Modification, Move, ScopedVariables, Which};

use super::bytes::{Reader, Stored, Writer, record, unknown};
use crate::Error;
use crate::change::{Change, Migrate};

record!(Modification { activate, terminate, moves });
record!(Activation { element, ancestor, variables });
record!(Move { source, target, ancestor, variables });
record!(ScopedVariables { scope, variables });
record!(Migrate { definition, mappings });

impl Stored for Change {
    fn put(&self, to: &mut Writer) {
        to.framed(|to| match self {
            Self::Modify(modification) => {
                to.byte(0);
                modification.put(to);
            }
            Self::Migrate(migrate) => {
                to.byte(1);
                migrate.put(to);
            }
        });
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        from.framed(|from| match from.byte()? {
            0 => Ok(Self::Modify(Stored::take(from)?)),
            1 => Ok(Self::Migrate(Stored::take(from)?)),
            tag => Err(unknown("change of an instance", tag)),
        })
    }
}

impl Stored for Which {
    fn put(&self, to: &mut Writer) {
        match self {
            Self::Key(key) => {
                to.byte(0);
                key.put(to);
            }
            Self::Id(id) => {
                to.byte(1);
                id.put(to);
            }
        }
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        match from.byte()? {
            0 => Ok(Self::Key(Stored::take(from)?)),
            1 => Ok(Self::Id(Stored::take(from)?)),
            tag => Err(unknown("choice of element instances", tag)),
        }
    }
}

impl Stored for Ancestor {
    fn put(&self, to: &mut Writer) {
        match self {
            Self::Any => to.byte(0),
            Self::Key(key) => {
                to.byte(1);
                key.put(to);
            }
            Self::OfSource => to.byte(2),
            Self::ParentOfSource => to.byte(3),
        }
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        match from.byte()? {
            0 => Ok(Self::Any),
            1 => Ok(Self::Key(Stored::take(from)?)),
            2 => Ok(Self::OfSource),
            3 => Ok(Self::ParentOfSource),
            tag => Err(unknown("choice of an ancestor", tag)),
        }
    }
}
