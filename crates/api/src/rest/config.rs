//! Every bound and waiting time of the REST edge, by name.

use std::time::Duration;

use super::Visitors;
use crate::listen;

#[derive(Debug, Clone)]
pub struct Config {
    /// Bytes of a request's body.
    pub request_bytes_max: usize,
    /// Bytes of a deployment with all its files.
    pub deployment_bytes_max: usize,
    /// Bytes of a document.
    pub document_bytes_max: usize,
    /// How long a body may take to arrive.
    pub body_timeout: Duration,
    /// Items on a page unless the search says how many.
    pub page_limit_default: u32,
    /// Items on a page at most; a higher limit counts as this one.
    pub page_limit_max: u32,
    /// Bytes of the rows on a page, about; a page of more ends early.
    pub page_bytes_max: usize,
    /// How long a search waits while answers that have not been taken leave it no room.
    pub room_timeout: Duration,
    /// How long a worker waits for jobs unless it says how long.
    pub poll_wait_default: Duration,
    /// How long a worker may wait for jobs.
    pub poll_wait_max: Duration,
    /// How long a caller waits for an instance to end unless it says how long.
    pub await_timeout_default: Duration,
    pub await_timeout_max: Duration,
    /// Whether callers may move the engine's time.
    pub test_clock: bool,
    /// Whether it is asked over TLS.
    pub is_secure: bool,
    /// By which names it may be asked, and by pages from where.
    pub visitors: Visitors,
    pub listen: listen::Config,
    /// The version of Camunda 8 whose interface this is: clients decide by it what they may ask.
    pub version: String,
    /// Names this cluster for good.
    pub cluster_id: String,
    /// Where others reach this server.
    pub advertised_host: String,
    pub advertised_port: u16,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            request_bytes_max: 4 * 1024 * 1024,
            deployment_bytes_max: 16 * 1024 * 1024,
            document_bytes_max: 64 * 1024 * 1024,
            body_timeout: Duration::from_secs(30),
            page_limit_default: 100,
            page_limit_max: 10_000,
            page_bytes_max: 16 * 1024 * 1024,
            room_timeout: Duration::from_secs(5),
            poll_wait_default: Duration::from_secs(10),
            poll_wait_max: Duration::from_secs(600),
            await_timeout_default: Duration::from_secs(15),
            await_timeout_max: Duration::from_secs(3600),
            test_clock: false,
            is_secure: false,
            visitors: Visitors::default(),
            listen: listen::Config::default(),
            version: "8.9.17".into(),
            cluster_id: "00000000-0000-0000-0000-000000000000".into(),
            advertised_host: "127.0.0.1".into(),
            advertised_port: 26501,
        }
    }
}
