//! Compiled decisions as plain data: one [`Requirements`] per DMN file, references as indices, expressions parsed.
//!
//! Read [`Requirements`] first, then [`Decision`] and [`Logic`]. What is many is shared, so that a function made during an
//! evaluation can hold on to the model it came from.
//!
//! What holds for every `Requirements` that `compile` produces:
//! - every index stored anywhere points into the list it is documented to point into;
//! - required decisions, knowledge models and item definitions form no cycle, and no chain of decisions is longer than
//!   `compile` allows.

mod logic;
mod table;
mod types;

use std::sync::Arc;

pub use logic::{Binding, Boxed, Entry, Filter, Invocation, Iteration, Lambda, Logic, Quantifier};
pub use table::{Aggregation, HitPolicy, Input, Output, Rule, Table, Test};
pub use types::{ItemDefinition, Shape, Type};

/// One DMN file: its decisions and what they are made of. Cloning shares.
#[derive(Debug, Clone)]
pub struct Requirements {
    pub id: Arc<str>,
    pub name: Arc<str>,
    pub namespace: Arc<str>,
    pub typing: Typing,
    /// The file's own decisions in document order, then those of imported files.
    pub decisions: Arc<[Decision]>,
    pub knowledge: Arc<[Knowledge]>,
    pub services: Arc<[Service]>,
    pub inputs: Arc<[InputData]>,
    pub types: Arc<[ItemDefinition]>,
}

/// What becomes of a value that is not of the type its place declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Typing {
    /// It stays as it is, as in Camunda: types are documentation, except those of parameters.
    Loose,
    /// It is converted if the standard has a conversion, else it is `null`.
    Strict,
}

#[derive(Debug, Clone)]
pub struct Decision {
    pub id: Arc<str>,
    pub name: Arc<str>,
    pub version_tag: Option<Arc<str>>,
    /// What its result is called where it is required, and the result's type.
    pub variable: Variable,
    /// Absent only where the standard allows it: such a decision is `null`.
    pub logic: Option<Boxed>,
    /// What it needs, in document order.
    pub requires: Vec<Requirement>,
}

/// A named value with its declared type.
#[derive(Debug, Clone)]
pub struct Variable {
    pub name: Arc<str>,
    pub declared: Option<Type>,
}

/// One arrow of the graph, and the name its value has at this end.
#[derive(Debug, Clone)]
pub struct Requirement {
    /// The import the value is found under, `import.name`; absent for the file's own.
    pub import: Option<Arc<str>>,
    pub target: Target,
}

/// What an arrow points at; each an index into the list of that name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    Input(usize),
    Decision(usize),
    Knowledge(usize),
    Service(usize),
}

/// A business knowledge model: a function for those who require it.
#[derive(Debug, Clone)]
pub struct Knowledge {
    pub id: Arc<str>,
    pub name: Arc<str>,
    pub variable: Variable,
    pub lambda: Arc<Lambda>,
    pub requires: Vec<Requirement>,
}

/// A decision service: some decisions as one function.
#[derive(Debug, Clone)]
pub struct Service {
    pub id: Arc<str>,
    pub name: Arc<str>,
    pub variable: Variable,
    /// Indices into [`Requirements::inputs`] and [`Requirements::decisions`]: the parameters, in this order.
    pub input_data: Vec<usize>,
    pub input_decisions: Vec<usize>,
    /// Indices into [`Requirements::decisions`]; several make a context.
    pub outputs: Vec<usize>,
}

#[derive(Debug, Clone)]
pub struct InputData {
    pub id: Arc<str>,
    pub name: Arc<str>,
    pub variable: Variable,
}

impl Requirements {
    /// The index of the decision with this id, or else with this name.
    pub fn find(&self, id: &str) -> Option<usize> {
        let by_id = self.decisions.iter().position(|decision| &*decision.id == id);
        by_id.or_else(|| self.decisions.iter().position(|decision| &*decision.name == id))
    }

    /// The name a target's value goes by.
    pub fn variable(&self, target: Target) -> &Variable {
        match target {
            Target::Input(index) => &self.inputs[index].variable,
            Target::Decision(index) => &self.decisions[index].variable,
            Target::Knowledge(index) => &self.knowledge[index].variable,
            Target::Service(index) => &self.services[index].variable,
        }
    }
}
