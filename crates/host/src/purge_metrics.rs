//! What is known of removing what is old.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct PurgedLabels {
    pub what: &'static str,
}

#[derive(Debug, Clone)]
pub struct PurgeMetrics {
    pub rows: Family<PurgedLabels, Counter>,
    pub instances: Counter,
    pub step_seconds: Histogram,
}

impl Default for PurgeMetrics {
    fn default() -> Self {
        let step_seconds = Histogram::new(exponential_buckets(0.000_1, 2.5, 14));
        Self { rows: Family::default(), instances: Counter::default(), step_seconds }
    }
}

impl PurgeMetrics {
    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register("purged_rows", "Rows removed because they were old, by what they are", self.rows.clone());
        registry.register("purged_instances", "Finished instances removed because they were old", self.instances.clone());
        registry.register("purge_step_seconds", "Time of one step of removing what is old", self.step_seconds.clone());
    }

    pub(crate) fn count(&self, what: &'static str, rows: usize, time: Duration) {
        self.rows.get_or_create(&PurgedLabels { what }).inc_by(rows as u64);
        self.step_seconds.observe(time.as_secs_f64());
    }
}
