//! What the host counts. Label sets are bounded: kinds of commands and outcomes, never keys; of job types only so many
//! (`queue_metrics.rs`).

use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use crate::export::ExportMetrics;
use crate::purge_metrics::PurgeMetrics;
use crate::queue_metrics::QueueMetrics;
use crate::workflow_metrics::{self, WorkflowMetrics};

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct CommandLabels {
    pub kind: &'static str,
    /// `done` or `rejected`.
    pub outcome: &'static str,
}

#[derive(Debug, Clone)]
pub struct Metrics {
    pub commands: Family<CommandLabels, Counter>,
    pub tick_commands: Histogram,
    pub tick_seconds: Histogram,
    pub commit_seconds: Histogram,
    pub commit_failures: Counter,
    pub instances_started: Counter,
    pub instances_ended: Counter,
    pub jobs_created: Counter,
    pub jobs_activated: Counter,
    pub jobs_completed: Counter,
    pub jobs_failed: Counter,
    pub jobs_timed_out: Counter,
    pub activation_seconds: Histogram,
    pub timeline_window: Gauge,
    pub timeline_overdue: Gauge,
    pub timers_pending: Gauge,
    pub recovery_seconds: Gauge<f64, AtomicU64>,
    pub timers_fired: Counter,
    pub timer_lateness_seconds: Histogram,
    pub messages_correlated: Counter,
    pub incidents_raised: Counter,
    pub inbox_depth: Gauge,
    pub instances_hot: Gauge,
    pub instances_hot_bytes: Gauge,
    pub rows_hot_bytes: Gauge,
    pub definition_hits: Counter,
    pub definition_misses: Counter,
    pub definition_entries: Gauge,
    pub definition_bytes: Gauge,
    pub partitions_owned: Gauge,
    pub quarantined: Counter,
    pub unreadable: Counter,
    pub blamed: Counter,
    pub pool_used: Gauge,
    pub pool_max: Gauge,
    pub outbox: Gauge,
    pub outbox_bytes: Gauge,
    pub announced: Counter,
    pub announcements_refused: Counter,
    pub workflows: WorkflowMetrics,
    pub queues: QueueMetrics,
    pub purge: PurgeMetrics,
    pub export: ExportMetrics,
}

impl Default for Metrics {
    fn default() -> Self {
        let seconds = || Histogram::new(exponential_buckets(0.000_1, 2.5, 14));
        Self {
            commands: Family::default(),
            tick_commands: Histogram::new(exponential_buckets(1.0, 2.0, 12)),
            tick_seconds: seconds(),
            commit_seconds: seconds(),
            commit_failures: Counter::default(),
            instances_started: Counter::default(),
            instances_ended: Counter::default(),
            jobs_created: Counter::default(),
            jobs_activated: Counter::default(),
            jobs_completed: Counter::default(),
            jobs_failed: Counter::default(),
            jobs_timed_out: Counter::default(),
            activation_seconds: seconds(),
            timeline_window: Gauge::default(),
            timeline_overdue: Gauge::default(),
            timers_pending: Gauge::default(),
            recovery_seconds: Gauge::default(),
            timers_fired: Counter::default(),
            timer_lateness_seconds: Histogram::new(exponential_buckets(0.001, 3.0, 14)),
            messages_correlated: Counter::default(),
            incidents_raised: Counter::default(),
            inbox_depth: Gauge::default(),
            instances_hot: Gauge::default(),
            instances_hot_bytes: Gauge::default(),
            rows_hot_bytes: Gauge::default(),
            definition_hits: Counter::default(),
            definition_misses: Counter::default(),
            definition_entries: Gauge::default(),
            definition_bytes: Gauge::default(),
            partitions_owned: Gauge::default(),
            quarantined: Counter::default(),
            unreadable: Counter::default(),
            blamed: Counter::default(),
            pool_used: Gauge::default(),
            pool_max: Gauge::default(),
            outbox: Gauge::default(),
            outbox_bytes: Gauge::default(),
            announced: Counter::default(),
            announcements_refused: Counter::default(),
            workflows: WorkflowMetrics::default(),
            queues: QueueMetrics::default(),
            purge: PurgeMetrics::default(),
            export: ExportMetrics::default(),
        }
    }
}

impl Metrics {
    /// Names them for whoever scrapes.
    pub fn register(&self, registry: &mut Registry) {
        let r = registry.sub_registry_with_prefix("caudal");
        r.register("commands", "Commands by kind and outcome", self.commands.clone());
        r.register("tick_commands", "Commands in one tick", self.tick_commands.clone());
        r.register("tick_seconds", "Time of one tick, commit included", self.tick_seconds.clone());
        r.register("commit_seconds", "Time of one commit", self.commit_seconds.clone());
        r.register(
            "commit_failures",
            "Commits and renewals of the lease that the store did not take",
            self.commit_failures.clone(),
        );
        r.register("instances_started", "Process instances started", self.instances_started.clone());
        r.register("instances_ended", "Process instances completed or terminated", self.instances_ended.clone());
        r.register("jobs_created", "Jobs created", self.jobs_created.clone());
        r.register("jobs_activated", "Jobs leased to workers", self.jobs_activated.clone());
        r.register("jobs_completed", "Jobs completed", self.jobs_completed.clone());
        r.register("jobs_failed", "Jobs failed by workers", self.jobs_failed.clone());
        r.register("jobs_timed_out", "Leases that ran out", self.jobs_timed_out.clone());
        r.register("activation_seconds", "From a job's creation to its first lease", self.activation_seconds.clone());
        r.register("timeline_window", "Timers, ends of leases and the like kept in memory", self.timeline_window.clone());
        r.register("timeline_overdue", "Those of them that are due, counted every few seconds", self.timeline_overdue.clone());
        r.register("timers_pending", "Timers that wait, in the table, counted every minute", self.timers_pending.clone());
        r.register(
            "recovery_seconds",
            "From when the partition was last taken over to when all that was overdue then was done",
            self.recovery_seconds.clone(),
        );
        r.register("timers_fired", "Timers fired", self.timers_fired.clone());
        r.register("timer_lateness_seconds", "From when a timer was due to when it fired", self.timer_lateness_seconds.clone());
        r.register("messages_correlated", "Messages given to those that wait for them", self.messages_correlated.clone());
        r.register("incidents_raised", "Incidents raised", self.incidents_raised.clone());
        r.register("inbox_depth", "Commands accepted and not yet taken by a tick", self.inbox_depth.clone());
        r.register("instances_hot", "Running instances in memory", self.instances_hot.clone());
        r.register("instances_hot_bytes", "About as many bytes as they take", self.instances_hot_bytes.clone());
        let rows = "About as many bytes as jobs, timers, tasks and other rows in memory take beside them";
        r.register("rows_hot_bytes", rows, self.rows_hot_bytes.clone());
        r.register("definition_cache_hits", "Compiled definitions found in memory", self.definition_hits.clone());
        r.register("definition_cache_misses", "Definitions compiled anew", self.definition_misses.clone());
        r.register("definition_cache_entries", "Compiled definitions in memory", self.definition_entries.clone());
        r.register("definition_cache_bytes", "Bytes of sources of compiled definitions in memory", self.definition_bytes.clone());
        r.register("partitions_owned", "Partitions this server owns", self.partitions_owned.clone());
        r.register("quarantined", "Commands stopped by a fault of ours", self.quarantined.clone());
        r.register("unreadable", "Things found stored that cannot be run", self.unreadable.clone());
        r.register("blamed", "Commands refused because the store does not take them", self.blamed.clone());
        r.register("store_pool_used", "Store connections in use", self.pool_used.clone());
        r.register("store_pool_max", "Store connections allowed", self.pool_max.clone());
        self.queues.register(r);
        self.purge.register(r);
        r.register("outbox", "Jobs that wait to be announced through a broker", self.outbox.clone());
        r.register("outbox_bytes", "Bytes of the variables of jobs that wait to be announced", self.outbox_bytes.clone());
        r.register("announced", "Jobs announced through a broker", self.announced.clone());
        r.register("announcements_refused", "Jobs that the broker did not take", self.announcements_refused.clone());
        self.export.register(r);
        workflow_metrics::register(self, registry);
    }

    /// So much waits to be announced.
    pub(crate) fn outbox_is(&self, rows: u64, bytes: u64) {
        self.outbox.set(i64::try_from(rows).unwrap_or(i64::MAX));
        self.outbox_bytes.set(i64::try_from(bytes).unwrap_or(i64::MAX));
    }

    pub(crate) fn count(&self, kind: &'static str, outcome: &'static str) {
        self.commands.get_or_create(&CommandLabels { kind, outcome }).inc();
    }
}
