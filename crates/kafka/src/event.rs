//! What a worker is told.

use prost::Message;
use prost_types::Timestamp;
use store::row::Announcement;

/// The version of the message's shape.
const SCHEMA_VERSION: u32 = 1;

#[derive(Clone, PartialEq, Message)]
pub struct JobDispatchEvent {
    #[prost(uint32, tag = "1")]
    pub schema_version: u32,
    /// The same however often this announcement is published; another for every time the job is announced.
    #[prost(string, tag = "2")]
    pub dedup_id: String,
    #[prost(string, tag = "10")]
    pub job_id: String,
    #[prost(string, tag = "11")]
    pub instance_id: String,
    #[prost(string, tag = "12")]
    pub step_execution_id: String,
    #[prost(string, tag = "13")]
    pub job_type: String,
    #[prost(string, tag = "14")]
    pub step_id: String,
    #[prost(int32, tag = "20")]
    pub retries_remaining: i32,
    /// What its worker says counts only while this is the job's lease, or nobody has it; 0 is any.
    #[prost(uint32, tag = "21")]
    pub lease: u32,
    /// The job's variables as JSON, as a poll would give them.
    #[prost(bytes = "vec", tag = "30")]
    pub job_payload: Vec<u8>,
    /// What an earlier attempt said of how far it came, as a poll would give it; empty if none did.
    #[prost(bytes = "vec", tag = "31")]
    pub progress: Vec<u8>,
    /// Headers of the trace in which its instance or execution was started, as a JSON object; empty if it was in none.
    #[prost(bytes = "vec", tag = "32")]
    pub trace_context: Vec<u8>,
    #[prost(message, optional, tag = "40")]
    pub created_at: Option<Timestamp>,
}

impl From<&Announcement> for JobDispatchEvent {
    fn from(announcement: &Announcement) -> Self {
        let created = announcement.created;
        let bytes = |text: &Option<std::sync::Arc<str>>| text.as_ref().map_or(Vec::new(), |text| text.as_bytes().to_vec());
        Self {
            schema_version: SCHEMA_VERSION,
            dedup_id: format!("{}-{}", announcement.job, announcement.key.0),
            job_id: announcement.job.to_string(),
            instance_id: announcement.instance.to_string(),
            step_execution_id: announcement.element_instance.to_string(),
            job_type: announcement.job_type.to_string(),
            step_id: announcement.element_id.to_string(),
            // Those after the one this is for.
            retries_remaining: (announcement.retries - 1).max(0),
            lease: announcement.lease,
            job_payload: announcement.payload.as_bytes().to_vec(),
            progress: bytes(&announcement.progress),
            trace_context: bytes(&announcement.trace),
            created_at: Some(Timestamp {
                seconds: created.div_euclid(1_000),
                nanos: i32::try_from(created.rem_euclid(1_000)).unwrap_or(0) * 1_000_000,
            }),
        }
    }
}

/// What keeps messages of one instance in order. Work that belongs to no process has an order of its own.
pub(crate) fn key(announcement: &Announcement) -> String {
    match announcement.instance.0 {
        0 => announcement.job.to_string(),
        _ => announcement.instance.to_string(),
    }
}
