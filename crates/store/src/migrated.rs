//! Rows of instances that have migrated.

use std::sync::Arc;

use engine::DefinitionKey;
use model::ElementIx;

/// A row that belongs to another definition from now on, and to another element of it. Of a row that also comes into being or changes in the
/// tick, this is written last.
#[derive(Debug, Clone, PartialEq)]
pub struct MigratedRow {
    pub table: MigratedTable,
    pub key: u64,
    pub definition: DefinitionKey,
    /// Instances and variables have none.
    pub element: ElementIx,
    /// The process of the definition, for those that know it themselves.
    pub process_id: Arc<str>,
    /// Of a job: headers it has of its own from now on, since those of its element are others.
    pub headers: Option<Arc<str>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MigratedTable {
    Instances,
    Elements,
    Variables,
    Jobs,
    Timers,
    UserTasks,
    Subscriptions,
    Incidents,
}

impl MigratedTable {
    pub const ALL: [Self; 8] = [
        Self::Instances,
        Self::Elements,
        Self::Variables,
        Self::Jobs,
        Self::Timers,
        Self::UserTasks,
        Self::Subscriptions,
        Self::Incidents,
    ];
}
