//! What is told of queues to whoever scrapes. Names of actions are labels, so only so many of them have one of their own.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use queue::stats::{Counts, Recent, Stats};

/// Actions with a label of their own; what happens in the others is counted together.
const ACTIONS_MAX: usize = 100;
/// What the others are called.
const OTHERS: &str = "(others)";

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct ActionLabels {
    pub action: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct EventLabels {
    pub action: String,
    /// `enqueued`, `started`, `completed`, `failed`, `timed_out` or `cancelled`.
    pub event: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct QuantileLabels {
    pub action: String,
    pub quantile: &'static str,
}

#[derive(Debug, Clone, Default)]
pub struct QueueMetrics {
    pub waiting: Family<ActionLabels, Gauge>,
    pub running: Family<ActionLabels, Gauge>,
    pub stuck: Family<ActionLabels, Gauge>,
    pub events: Family<EventLabels, Counter>,
    pub wait_millis: Family<QuantileLabels, Gauge>,
    pub run_millis: Family<QuantileLabels, Gauge>,
    /// What was exported of each action, so that counters only grow.
    exported: Arc<Mutex<BTreeMap<Arc<str>, Counts>>>,
}

impl QueueMetrics {
    pub(crate) fn register(&self, r: &mut Registry) {
        r.register("queue_waiting", "Jobs of an action that wait", self.waiting.clone());
        r.register("queue_running", "Jobs of an action that workers have", self.running.clone());
        r.register("queue_stuck", "Whether workers ask for jobs of an action in vain", self.stuck.clone());
        r.register("queue_events", "What happened to jobs of an action", self.events.clone());
        r.register("queue_wait_milliseconds", "How long jobs of an action waited lately", self.wait_millis.clone());
        r.register("queue_run_milliseconds", "How long jobs of an action ran lately", self.run_millis.clone());
    }

    /// What is known of an action now.
    pub(crate) fn export(&self, action: &Arc<str>, (waiting, running): (i64, i64), stats: &Stats) {
        let mut exported = self.exported.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = !exported.contains_key(action);
        let has_label = !is_new || exported.len() < ACTIONS_MAX;
        let name = if has_label { &**action } else { OTHERS };
        // What happened before this server counted is not news; of those that share a label there is no telling.
        let before = exported.get(action).copied().unwrap_or(stats.totals);
        self.count(name, &before, &stats.totals);
        if !has_label {
            return;
        }
        exported.insert(action.clone(), stats.totals);
        let labels = ActionLabels { action: name.to_owned() };
        self.waiting.get_or_create(&labels).set(waiting);
        self.running.get_or_create(&labels).set(running);
        self.stuck.get_or_create(&labels).set(stats.stuck_since.is_some().into());
        for (family, recent) in [(&self.wait_millis, &stats.waits), (&self.run_millis, &stats.runs)] {
            quantiles(family, name, recent);
        }
    }

    fn count(&self, action: &str, before: &Counts, after: &Counts) {
        let events = [
            ("enqueued", before.enqueued, after.enqueued),
            ("started", before.started, after.started),
            ("completed", before.completed, after.completed),
            ("failed", before.failed, after.failed),
            ("timed_out", before.timed_out, after.timed_out),
            ("cancelled", before.cancelled, after.cancelled),
        ];
        for (event, before, after) in events {
            let labels = EventLabels { action: action.to_owned(), event };
            self.events.get_or_create(&labels).inc_by(after.saturating_sub(before));
        }
    }
}

fn quantiles(family: &Family<QuantileLabels, Gauge>, action: &str, recent: &Recent) {
    for (quantile, per_mille) in [("0.5", 500), ("0.95", 950), ("0.99", 990)] {
        let labels = QuantileLabels { action: action.to_owned(), quantile };
        family.get_or_create(&labels).set(recent.percentile(per_mille).unwrap_or(0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use queue::stats::Happened;

    #[test]
    fn labels_are_bounded_and_counters_grow() {
        let metrics = QueueMetrics::default();
        let mut stats = Stats::default();
        for n in 0..300 {
            stats.tell(Happened::Enqueued, 1);
            metrics.export(&format!("action-{n}").into(), (1, 0), &stats);
        }
        stats.tell(Happened::Enqueued, 1);
        metrics.export(&"action-5".into(), (7, 2), &stats);
        let mut registry = Registry::default();
        metrics.register(&mut registry);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        assert_eq!(text.lines().filter(|line| line.starts_with("queue_waiting{")).count(), ACTIONS_MAX);
        assert!(text.contains("queue_waiting{action=\"action-5\"} 7"), "{text}");
        let of_five = "queue_events_total{action=\"action-5\",event=\"enqueued\"} 295";
        assert!(text.contains(of_five), "{text}");
    }
}
