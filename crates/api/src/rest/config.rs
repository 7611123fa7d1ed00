//! Every bound and waiting time of the REST edge, by name.

use std::time::Duration;

#[derive(Debug, Clone)]
pub struct Config {
    /// Bytes of a request's body.
    pub request_bytes_max: usize,
    /// Bytes of a deployment with all its files.
    pub deployment_bytes_max: usize,
    /// How long a body may take to arrive.
    pub body_timeout: Duration,
    /// Items on a page unless the search says how many.
    pub page_limit_default: u32,
    /// Items on a page at most; a higher limit counts as this one.
    pub page_limit_max: u32,
    /// How long a worker waits for jobs unless it says how long.
    pub poll_wait_default: Duration,
    /// How long a worker may wait for jobs.
    pub poll_wait_max: Duration,
    /// How long a caller waits for an instance to end unless it says how long.
    pub await_timeout_default: Duration,
    pub await_timeout_max: Duration,
    /// Connections open at a time, over all addresses. One more is closed at once.
    pub connections_max: usize,
    /// How long the head of a request may take from its first byte, and how long a new connection may be silent.
    pub head_timeout: Duration,
    /// How long a connection may be kept without a request.
    pub idle_timeout: Duration,
    /// Requests open at a time on one connection of HTTP/2.
    pub streams_per_connection_max: u32,
    /// How long requests may go on once the server drains.
    pub drain_max: Duration,
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
            body_timeout: Duration::from_secs(30),
            page_limit_default: 100,
            page_limit_max: 10_000,
            poll_wait_default: Duration::from_secs(10),
            poll_wait_max: Duration::from_secs(600),
            await_timeout_default: Duration::from_secs(15),
            await_timeout_max: Duration::from_secs(3600),
            connections_max: 10_000,
            head_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(75),
            streams_per_connection_max: 250,
            drain_max: Duration::from_secs(10),
            version: "8.9.17".into(),
            cluster_id: "00000000-0000-0000-0000-000000000000".into(),
            advertised_host: "127.0.0.1".into(),
            advertised_port: 26501,
        }
    }
}
