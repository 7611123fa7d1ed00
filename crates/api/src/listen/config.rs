//! Every bound and waiting time of the connections of one edge, by name.

use std::time::Duration;

#[derive(Debug, Clone)]
pub struct Config {
    /// Connections open at a time, over all addresses. One more takes the place of the one that has been silent longest; if all are being
    /// answered, it is closed at once.
    pub connections_max: usize,
    /// How long the head of a request may take from its first byte, and how long a new connection may be silent.
    pub head_timeout: Duration,
    /// How long a client may take to take what there is of an answer.
    pub take_timeout: Duration,
    /// How long a connection may be kept without a request.
    pub idle_timeout: Duration,
    /// Requests open at a time on one connection of HTTP/2.
    pub streams_per_connection_max: u32,
    /// How often a silent connection of HTTP/2 is asked whether it is still there, and how long it may take to say so.
    pub keep_alive_every: Duration,
    pub keep_alive_timeout: Duration,
    /// How long requests may go on once the server drains.
    pub drain_max: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            connections_max: 10_000,
            head_timeout: Duration::from_secs(10),
            take_timeout: Duration::from_secs(120),
            idle_timeout: Duration::from_secs(75),
            streams_per_connection_max: 250,
            keep_alive_every: Duration::from_secs(30),
            keep_alive_timeout: Duration::from_secs(20),
            drain_max: Duration::from_secs(10),
        }
    }
}
