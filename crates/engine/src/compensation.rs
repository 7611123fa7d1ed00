//! What an instance remembers to be able to undo.

use model::ElementIx;

use crate::CompensationKey;

/// An activity that completed and that something can undo, kept by the scope it completed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compensation {
    pub key: CompensationKey,
    pub activity: ElementIx,
}
