//! Who sends a command.

use std::sync::Arc;

use super::Trace;
use crate::query::Tenants;

/// Who asks, and what they may reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub name: Arc<str>,
    pub tenants: Tenants,
    /// The trace they ask from: what they start belongs to it.
    pub trace: Option<Box<Trace>>,
}

impl Caller {
    /// The name of whoever did not say who they are. Everybody, as long as nobody can.
    pub const ANONYMOUS: &'static str = "anonymous";

    /// Who it was, as the audit trail has it: nobody where nobody said so, or where it happened by itself.
    pub fn actor(&self) -> Option<Arc<str>> {
        let has_name = !self.name.is_empty() && *self.name != *Self::ANONYMOUS;
        has_name.then(|| self.name.clone())
    }

    /// The server itself, for what happens by itself.
    pub fn engine() -> Self {
        Self { name: "".into(), tenants: Tenants::Everything, trace: None }
    }
}
