//! What operators of JSON workflows know, under the names they know it by. What is counted for all processes anyway goes by both names.

use std::time::Instant;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use crate::metrics::Metrics;

/// Counted for JSON workflows alone.
#[derive(Debug, Clone)]
pub struct WorkflowMetrics {
    pub uploaded: Counter,
    pub started: Counter,
    pub completed: Counter,
    pub steps: Counter,
    pub retries: Counter,
    /// Failures told by somebody who did not have the lease any more.
    pub lock_conflicts: Counter,
    pub poll_seconds: Histogram,
    pub http_seconds: Histogram,
    pub grpc_seconds: Histogram,
}

impl Default for WorkflowMetrics {
    fn default() -> Self {
        let seconds = || Histogram::new(exponential_buckets(0.000_1, 2.5, 14));
        Self {
            uploaded: Counter::default(),
            started: Counter::default(),
            completed: Counter::default(),
            steps: Counter::default(),
            retries: Counter::default(),
            lock_conflicts: Counter::default(),
            poll_seconds: seconds(),
            http_seconds: seconds(),
            grpc_seconds: seconds(),
        }
    }
}

/// Observes how long something took, however it ends.
#[derive(Debug)]
pub struct Timed {
    histogram: Histogram,
    begun: Instant,
}

impl Timed {
    pub fn new(histogram: &Histogram) -> Self {
        Self { histogram: histogram.clone(), begun: Instant::now() }
    }
}

impl Drop for Timed {
    fn drop(&mut self) {
        self.histogram.observe(self.begun.elapsed().as_secs_f64());
    }
}

pub(crate) fn register(metrics: &Metrics, r: &mut Registry) {
    let own = &metrics.workflows;
    r.register("workflow_definitions_uploaded", "Versions of JSON workflows uploaded", own.uploaded.clone());
    r.register("workflow_instances_started", "Instances of JSON workflows started", own.started.clone());
    r.register("workflow_instances_completed", "Instances of JSON workflows completed", own.completed.clone());
    r.register("workflow_steps_executed", "Steps of JSON workflows executed", own.steps.clone());
    r.register("job_retries", "Jobs put back after a failure that may be tried again", own.retries.clone());
    for name in ["job_lock_conflicts", "workflow_engine_job_lock_conflicts"] {
        r.register(name, "Failures told by workers whose lease had run out", own.lock_conflicts.clone());
    }
    for name in ["job_poll_latency_seconds", "workflow_engine_job_poll_latency_seconds"] {
        r.register(name, "Time of one poll for jobs, waiting included", own.poll_seconds.clone());
    }
    r.register("http_requests_duration_seconds", "Time of one request about JSON workflows over REST", own.http_seconds.clone());
    r.register("grpc_requests_duration_seconds", "Time of one call about JSON workflows over gRPC", own.grpc_seconds.clone());
    r.register("engine_job_timeout", "Leases that ran out", metrics.jobs_timed_out.clone());
    r.register(
        "engine_job_pickup_latency_seconds",
        "From a job's creation to its first lease",
        metrics.activation_seconds.clone(),
    );
    let commits = r.sub_registry_with_label(("tx_type".into(), "commit".into()));
    commits.register("engine_db_transaction_duration_seconds", "Time of one commit", metrics.commit_seconds.clone());
}
