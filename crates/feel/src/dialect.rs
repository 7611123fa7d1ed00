//! The two dialects.

/// Which functions an expression may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Library {
    /// Those of FEEL, in a dialect.
    Feel(Dialect),
    /// The two of the small language of JSON workflows.
    Workflow,
}

/// Which rules apply where Camunda and the standard's test suite differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// As Camunda 8 evaluates expressions in processes.
    Camunda,
    /// As the DMN standard and its test suite demand, for decisions.
    Dmn,
}
