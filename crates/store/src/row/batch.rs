//! Operations over many, and what they are about.

use std::sync::Arc;

use engine::InstanceKey;

use crate::Millis;
use crate::batch::Asked;

/// An operation over all that a filter finds: first those are found and become items, then the items are dealt with one by one.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    pub key: u64,
    pub tenant: Arc<str>,
    pub state: BatchState,
    /// Who asked; empty for anybody.
    pub actor: Arc<str>,
    pub started: Option<Millis>,
    pub ended: Option<Millis>,
    /// Since when it could go on; none while nothing is to be done.
    pub due: Option<Millis>,
    pub total: u64,
    pub completed: u64,
    pub failed: u64,
    /// Up to which key they have been found; none once all are.
    pub after: Option<u64>,
    pub asked: Arc<Asked>,
    /// Why it could not go on.
    pub error: Option<Arc<str>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchState {
    /// Nothing has been done yet.
    Created,
    Active,
    Suspended,
    Canceled,
    Completed,
    /// It could not find what it is about.
    Failed,
}

/// One of those an operation is about.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchItem {
    pub key: u64,
    pub batch: u64,
    /// Its own key, of whatever it is.
    pub item: u64,
    pub tenant: Arc<str>,
    /// What is done to it, as the operation has it.
    pub kind: Arc<str>,
    pub instance: Option<InstanceKey>,
    pub root: Option<InstanceKey>,
    pub state: ItemState,
    pub processed: Option<Millis>,
    pub error: Option<Arc<str>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemState {
    Active,
    Completed,
    Failed,
    /// The operation was cancelled before its turn came.
    Canceled,
}
