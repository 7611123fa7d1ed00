//! What an operator may change about a running instance.

use std::sync::Arc;

use engine::{DefinitionKey, Document, Modification, ScopedVariables, Which};

#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Enter elements, end element instances, move between them.
    Modify(Modification),
    /// Go on as an instance of another definition.
    Migrate(Migrate),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Migrate {
    pub definition: DefinitionKey,
    /// Ids of elements: what is at the first goes on at the second.
    pub mappings: Vec<(Arc<str>, Arc<str>)>,
}

impl Change {
    /// One word for logs and metrics.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Modify(_) => "modify",
            Self::Migrate(_) => "migrate",
        }
    }

    /// About as many bytes as it takes in memory beyond itself.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Modify(modification) => modification_bytes(modification),
            Self::Migrate(migrate) => migrate.mappings.iter().map(|(source, target)| source.len() + target.len() + 64).sum(),
        }
    }
}

impl Change {
    /// The variables that come with it.
    pub fn variables(&self) -> impl Iterator<Item = &Document> {
        let (activate, moves): (&[_], &[_]) = match self {
            Self::Modify(modification) => (&modification.activate, &modification.moves),
            Self::Migrate(_) => (&[], &[]),
        };
        let scoped = activate.iter().map(|activation| &activation.variables).chain(moves.iter().map(|moved| &moved.variables));
        scoped.flatten().map(|scoped| &scoped.variables)
    }
}

fn modification_bytes(modification: &Modification) -> usize {
    let Modification { activate, terminate, moves } = modification;
    let ended = terminate.iter().chain(moves.iter().map(|moved| &moved.source)).map(|which| match which {
        Which::Key(_) => 32,
        Which::Id(id) => id.len() + 32,
    });
    let entered = activate.iter().map(|activation| (&activation.element, &activation.variables));
    let entered = entered.chain(moves.iter().map(|moved| (&moved.target, &moved.variables)));
    let entered = entered.map(|(id, variables)| id.len() + 96 + variables.iter().map(scoped_bytes).sum::<usize>());
    ended.chain(entered).sum()
}

fn scoped_bytes(scoped: &ScopedVariables) -> usize {
    let texts = |document: &Document| document.iter().map(|(name, value)| name.len() + value.len() + 64).sum::<usize>();
    scoped.scope.len() + 48 + texts(&scoped.variables)
}
