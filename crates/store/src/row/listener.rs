//! Listeners to all user tasks.

use std::sync::Arc;

use model::GlobalListener;

use crate::Millis;

/// One version of all of them. None is ever changed: what is put or deleted later makes another version.
#[derive(Debug, Clone, PartialEq)]
pub struct GlobalListeners {
    /// From 1.
    pub version: u32,
    pub listeners: Vec<GlobalListener>,
    pub changed: Millis,
    pub changed_by: Arc<str>,
}
