//! How far a multi-instance body has come.

/// How many instances a multi-instance body is to have, and what became of them so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    pub total: u32,
    pub started: u32,
    pub completed: u32,
    pub terminated: u32,
}
