//! Every bound and waiting time of the gRPC edge, by name.

use std::time::Duration;

use crate::listen;

#[derive(Debug, Clone)]
pub struct Config {
    /// Bytes of one message, in or out. A single job that is larger still goes out, alone.
    pub message_bytes_max: usize,
    /// Bytes of a deployment with all its files.
    pub deployment_bytes_max: usize,
    /// How long a poll waits for a job when it does not say.
    pub poll_wait: Duration,
    /// How long a caller waits for an instance to end when it does not say.
    pub result_wait: Duration,
    /// How long the body of a request may take.
    pub body_timeout: Duration,
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
            message_bytes_max: 4 * 1024 * 1024,
            deployment_bytes_max: 16 * 1024 * 1024,
            poll_wait: Duration::from_secs(10),
            result_wait: Duration::from_secs(15),
            body_timeout: Duration::from_secs(30),
            listen: listen::Config {
                // Clients keep one connection for all their calls, and for the time between them.
                idle_timeout: Duration::from_secs(300),
                streams_per_connection_max: 1_000,
                ..listen::Config::default()
            },
            version: "8.9.17".to_owned(),
            cluster_id: "00000000-0000-0000-0000-000000000000".to_owned(),
            advertised_host: "127.0.0.1".to_owned(),
            advertised_port: 26501,
        }
    }
}
