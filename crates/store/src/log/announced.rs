//! What became of announcements.

use std::sync::Arc;

use engine::JobKey;

use crate::row::AnnouncementKey;

#[derive(Debug, Clone, PartialEq)]
pub struct Announced {
    pub told: Vec<AnnouncementKey>,
    pub refused: Vec<Unannounced>,
    /// Of what they held.
    pub bytes: u64,
}

/// A job that the broker would not have.
#[derive(Debug, Clone, PartialEq)]
pub struct Unannounced {
    pub announcement: AnnouncementKey,
    pub job: JobKey,
    pub reason: Arc<str>,
    /// It would not have it later either.
    pub for_good: bool,
}
