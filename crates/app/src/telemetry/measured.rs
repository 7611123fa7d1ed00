//! From the metrics page to metrics of the protocol: the same names, the same numbers.

use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use serde_json::{Map, Value, json};

/// Added up since the start, as the page has it.
const CUMULATIVE: u8 = 2;

pub(super) fn metrics(registry: &Registry, started: u128, now: u128) -> Value {
    let mut page = String::new();
    if encode(&mut page, registry).is_err() {
        return json!([]);
    }
    let times = json!({ "startTimeUnixNano": started.to_string(), "timeUnixNano": now.to_string() });
    let mut metrics = Vec::new();
    let (mut name, mut about) = ("", "");
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(described) = line.strip_prefix("# HELP ") {
            (name, about) = described.split_once(' ').unwrap_or((described, ""));
        }
        let Some((_, kind)) = line.strip_prefix("# TYPE ").and_then(|typed| typed.split_once(' ')) else { continue };
        let mut samples = Vec::new();
        while let Some(sample) = lines.next_if(|line| !line.starts_with('#')) {
            samples.extend(Sample::read(sample));
        }
        let mut metric = json!({ "name": name, "description": about });
        let points: Vec<Value> = samples.iter().map(|sample| sample.point(&times)).collect();
        match kind {
            "counter" => {
                metric["sum"] = json!({ "aggregationTemporality": CUMULATIVE, "isMonotonic": true, "dataPoints": points });
            }
            "gauge" => metric["gauge"] = json!({ "dataPoints": points }),
            "histogram" => {
                let point = histogram(&samples, &times);
                metric["histogram"] = json!({ "aggregationTemporality": CUMULATIVE, "dataPoints": [point] });
            }
            _ => continue,
        }
        metrics.push(metric);
    }
    Value::Array(metrics)
}

/// One line of the page.
struct Sample<'p> {
    name: &'p str,
    labels: Vec<(&'p str, &'p str)>,
    value: f64,
}

impl<'p> Sample<'p> {
    fn read(line: &'p str) -> Option<Self> {
        let (named, value) = line.rsplit_once(' ')?;
        let (name, labels) = named.split_once('{').map_or((named, ""), |(name, labels)| (name, labels.trim_end_matches('}')));
        let labels = labels.split(',').filter_map(|label| label.split_once('='));
        let labels = labels.map(|(key, value)| (key, value.trim_matches('"'))).collect();
        Some(Self { name, labels, value: value.parse().ok()? })
    }

    fn point(&self, times: &Value) -> Value {
        let attributes = self.labels.iter().map(|(key, value)| super::attribute(key, value));
        with(times, [("asDouble", json!(self.value)), ("attributes", attributes.collect())])
    }
}

/// The page adds buckets up; the protocol has each on its own. Ours have no labels.
fn histogram(samples: &[Sample<'_>], times: &Value) -> Value {
    let ending = |end: &str| samples.iter().find(|sample| sample.name.ends_with(end)).map_or(0.0, |sample| sample.value);
    let (mut bounds, mut counts, mut before) = (Vec::new(), Vec::new(), 0.0);
    for sample in samples.iter().filter(|sample| sample.name.ends_with("_bucket")) {
        let bound = sample.labels.iter().find(|(key, _)| *key == "le").and_then(|(_, bound)| bound.parse::<f64>().ok());
        bounds.extend(bound.filter(|bound| bound.is_finite()));
        counts.push(format!("{}", sample.value - before));
        before = sample.value;
    }
    let of = [
        ("count", json!(format!("{}", ending("_count")))),
        ("sum", json!(ending("_sum"))),
        ("bucketCounts", json!(counts)),
        ("explicitBounds", json!(bounds)),
    ];
    with(times, of)
}

fn with<const N: usize>(times: &Value, more: [(&str, Value); N]) -> Value {
    let mut point: Map<String, Value> = times.as_object().cloned().unwrap_or_default();
    point.extend(more.into_iter().map(|(key, value)| (key.to_owned(), value)));
    Value::Object(point)
}

#[cfg(test)]
mod tests {
    use host::{CommandLabels, Metrics};

    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_page() {
        let measured = Metrics::default();
        let mut registry = Registry::default();
        measured.register(&mut registry);
        measured.commands.get_or_create(&CommandLabels { kind: "create", outcome: "done" }).inc_by(3);
        measured.instances_hot.set(7);
        [0.000_05, 0.001, 0.001, 1_000_000.0].iter().for_each(|seconds| measured.tick_seconds.observe(*seconds));
        let made = metrics(&registry, 1, 2);
        let named = |name: &str| made.as_array().unwrap().iter().find(|metric| metric["name"] == name).unwrap().clone();
        let commands = &named("caudal_commands")["sum"]["dataPoints"][0];
        assert_eq!((&commands["asDouble"], &commands["startTimeUnixNano"]), (&json!(3.0), &json!("1")));
        assert_eq!(commands["attributes"][0]["value"]["stringValue"], "create");
        assert_eq!(named("caudal_instances_hot")["gauge"]["dataPoints"][0]["asDouble"], 7.0);
        let ticks = named("caudal_tick_seconds")["histogram"]["dataPoints"][0].clone();
        let counts: Vec<u64> =
            ticks["bucketCounts"].as_array().unwrap().iter().map(|count| count.as_str().unwrap().parse().unwrap()).collect();
        assert_eq!((counts[0], counts.iter().sum::<u64>(), counts.last()), (1, 4, Some(&1)), "{ticks}");
        assert_eq!(ticks["count"], "4");
        assert_eq!(ticks["explicitBounds"].as_array().unwrap().len() + 1, counts.len());
    }
}
