//! Every bound the host keeps, by name. Past a bound the caller gets an error that names it and can be retried.

use std::time::Duration;

use schedule::Missed;

use crate::retention::Retention;

#[derive(Debug, Clone)]
pub struct Limits {
    /// Commands accepted and not yet taken by a tick.
    pub inbox_max: usize,
    /// Bytes of commands accepted and not yet answered.
    pub inbox_bytes_max: usize,
    /// Requests of other servers, and of callers that do not wait, that lie in the store unprocessed; and their bytes.
    pub backlog_max: u64,
    pub backlog_bytes_max: u64,
    /// Commands in one tick.
    pub batch_max: usize,
    /// About as many bytes and rows as one tick writes; the command that goes past it is its last.
    pub tick_bytes_max: usize,
    pub tick_rows_max: usize,
    /// Elements entered and bytes of variables written by one command; a step that takes more goes on in a later tick.
    pub command_elements_max: u32,
    pub command_bytes_max: usize,
    /// How deep processes call processes.
    pub call_depth_max: u32,
    /// How many instances are suspended in one command: one with all it has called.
    pub suspended_max: usize,
    /// How many that wait for a signal are told in one command.
    pub signal_page_max: usize,
    /// Running instances kept in memory, by number and bytes; and each kind of row beside them.
    pub instances_hot_max: usize,
    pub instances_hot_bytes_max: usize,
    /// Jobs of one queue kept in memory.
    pub ready_window_max: usize,
    /// Lease ends, back-offs and turns kept in memory.
    pub timeline_max: usize,
    /// Polls that wait for jobs.
    pub polls_parked_max: usize,
    /// Open job streams.
    pub streams_max: usize,
    /// Jobs pushed to a stream and not yet taken from it.
    pub stream_buffer_max: usize,
    /// Callers that wait for an instance to end.
    pub awaiting_max: usize,
    /// Compiled definitions kept in memory, by count and by the bytes of their sources.
    pub definitions_max: usize,
    pub definitions_bytes_max: u64,
    /// Variables in one command.
    pub variables_max: usize,
    /// Bytes of one variable's JSON.
    pub variable_bytes_max: usize,
    /// How long a first answer to an idempotency key is kept.
    pub idempotency_kept: Duration,
    /// Things due by themselves (timers, leases, turns) in one tick, so that they leave room for callers.
    pub due_max: usize,
    /// While callers wait: how many of them a second.
    pub due_rate: usize,
    /// What becomes of occurrences of a cycle that nobody was there to fire.
    pub timers_missed: Missed,
    /// How long timers, subscriptions and correlations are kept after they ended.
    pub waits_kept: Duration,
    /// How long what has ended is kept otherwise.
    pub retention: Retention,
    /// How long an owner holds a partition without renewing.
    pub lease: Duration,
    /// How long a follower waits before it looks for answers by itself.
    pub poll_every: Duration,
    /// How long a caller waits for the answer to a command.
    pub answer_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            inbox_max: 10_000,
            inbox_bytes_max: 256 * 1024 * 1024,
            backlog_max: 100_000,
            backlog_bytes_max: 1024 * 1024 * 1024,
            batch_max: 1_000,
            tick_bytes_max: 16 * 1024 * 1024,
            tick_rows_max: 50_000,
            command_elements_max: 250,
            command_bytes_max: 16 * 1024 * 1024,
            call_depth_max: 1_000,
            suspended_max: 10_000,
            signal_page_max: 100,
            instances_hot_max: 100_000,
            instances_hot_bytes_max: 32 * 1024 * 1024,
            ready_window_max: 10_000,
            timeline_max: 100_000,
            polls_parked_max: 10_000,
            streams_max: 10_000,
            stream_buffer_max: 64,
            awaiting_max: 50_000,
            definitions_max: 1_000,
            definitions_bytes_max: 256 * 1024 * 1024,
            variables_max: 10_000,
            variable_bytes_max: 4 * 1024 * 1024,
            idempotency_kept: Duration::from_secs(24 * 60 * 60),
            due_max: 500,
            due_rate: 2_000,
            timers_missed: Missed::FireOnce,
            waits_kept: Duration::from_secs(30 * 24 * 60 * 60),
            retention: Retention::default(),
            lease: Duration::from_secs(5),
            poll_every: Duration::from_millis(500),
            answer_timeout: Duration::from_secs(15),
        }
    }
}
