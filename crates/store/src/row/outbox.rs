//! Jobs that are to be announced to workers who are told through a broker.

use std::sync::Arc;

use engine::{ElementKey, InstanceKey, JobKey};

use crate::Millis;

/// They are told in the order of their keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AnnouncementKey(pub u64);

/// That a job waits for its worker: what the worker is told, as it was when the job was leased for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Announcement {
    pub key: AnnouncementKey,
    pub job: JobKey,
    /// Both are 0 where the job belongs to no process.
    pub instance: InstanceKey,
    pub element_instance: ElementKey,
    pub job_type: Arc<str>,
    pub tenant: Arc<str>,
    pub retries: i32,
    pub created: Millis,
    /// The job's variables, as JSON.
    pub payload: Arc<str>,
    /// Which lease of the job this is; 0 for what was written before they were told.
    pub lease: u32,
    /// Empty where the job belongs to no process, too.
    pub element_id: Arc<str>,
    /// What an earlier worker said of how far it came, as a JSON object.
    pub progress: Option<Arc<str>>,
    /// The trace that its instance or execution was started from, as a JSON object of headers.
    pub trace: Option<Arc<str>>,
}
