//! From the metrics page to metrics of the protocol: the same names, the same numbers.

use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use serde_json::{Map, Value, json};

/// Added up since the start, as the page has it.
const CUMULATIVE: u8 = 2;
/// The label of a bucket that says how far it reaches.
const BOUND: &str = "le";

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
                metric["histogram"] = json!({ "aggregationTemporality": CUMULATIVE, "dataPoints": histograms(&samples, &times) });
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
    labels: Vec<(&'p str, String)>,
    value: f64,
}

/// What tells samples of one metric apart.
type Labels<'s> = Vec<&'s (&'s str, String)>;

impl<'p> Sample<'p> {
    fn read(line: &'p str) -> Option<Self> {
        let (name, labels, value) = match line.split_once('{') {
            Some((name, labelled)) => {
                let (labels, value) = labels(labelled)?;
                (name, labels, value)
            }
            None => line.split_once(' ').map(|(name, value)| (name, Vec::new(), value))?,
        };
        Some(Self { name, labels, value: value.trim().parse().ok()? })
    }

    fn point(&self, times: &Value) -> Value {
        with(times, [("asDouble", json!(self.value)), ("attributes", attributes(&self.labels))])
    }

    /// The upper end of a bucket.
    fn bound(&self) -> Option<f64> {
        self.labels.iter().find(|(key, _)| *key == BOUND)?.1.parse().ok()
    }

    fn but_for_the_bound(&self) -> Labels<'_> {
        self.labels.iter().filter(|(key, _)| *key != BOUND).collect()
    }
}

/// Labels up to their closing brace, and what comes behind. A value may hold every sign there is; three of them are written otherwise.
fn labels(text: &str) -> Option<(Vec<(&str, String)>, &str)> {
    let (mut labels, mut rest) = (Vec::new(), text);
    loop {
        rest = rest.strip_prefix(',').unwrap_or(rest);
        if let Some(behind) = rest.strip_prefix('}') {
            return Some((labels, behind));
        }
        let (key, quoted) = rest.split_once("=\"")?;
        let (mut value, mut signs) = (String::new(), quoted.chars());
        loop {
            match signs.next()? {
                '"' => break,
                '\\' => value.push(match signs.next()? {
                    'n' => '\n',
                    itself => itself,
                }),
                sign => value.push(sign),
            }
        }
        labels.push((key, value));
        rest = signs.as_str();
    }
}

fn attributes<'l>(labels: impl IntoIterator<Item = &'l (&'l str, String)>) -> Value {
    labels.into_iter().map(|(key, value)| super::attribute(key, value)).collect()
}

/// One for each set of labels, in the order of the page.
fn histograms(samples: &[Sample<'_>], times: &Value) -> Vec<Value> {
    let mut sets: Vec<Labels<'_>> = Vec::new();
    for sample in samples {
        let labels = sample.but_for_the_bound();
        if !sets.contains(&labels) {
            sets.push(labels);
        }
    }
    let of = |labels: &Labels<'_>| -> Vec<&Sample<'_>> {
        samples.iter().filter(|sample| sample.but_for_the_bound() == *labels).collect()
    };
    sets.iter().map(|labels| histogram(labels, &of(labels), times)).collect()
}

/// The page adds buckets up; the protocol has each on its own.
fn histogram(labels: &Labels<'_>, samples: &[&Sample<'_>], times: &Value) -> Value {
    let ending = |end: &str| samples.iter().find(|sample| sample.name.ends_with(end)).map_or(0.0, |sample| sample.value);
    let (mut bounds, mut counts, mut before) = (Vec::new(), Vec::new(), 0.0);
    for sample in samples.iter().filter(|sample| sample.name.ends_with("_bucket")) {
        bounds.extend(sample.bound().filter(|bound| bound.is_finite()));
        counts.push(format!("{}", sample.value - before));
        before = sample.value;
    }
    let of = [
        ("count", json!(format!("{}", ending("_count")))),
        ("sum", json!(ending("_sum"))),
        ("bucketCounts", json!(counts)),
        ("explicitBounds", json!(bounds)),
        ("attributes", attributes(labels.iter().copied())),
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
    use prometheus_client::metrics::counter::Counter;
    use prometheus_client::metrics::family::Family;
    use prometheus_client::metrics::histogram::Histogram;

    use super::*;

    type Labelled = Vec<(&'static str, String)>;

    fn labelled(action: &str) -> Labelled {
        vec![("event", "done".to_owned()), ("action", action.to_owned())]
    }

    fn action(point: &Value) -> &str {
        point["attributes"][1]["value"]["stringValue"].as_str().unwrap()
    }

    #[test]
    fn what_callers_call_their_jobs_stays_whole() {
        let actions = ["a,b=\"c\"", "{x} y", "\\n\n}\" 7", ",", ""];
        let counted = Family::<Labelled, Counter>::default();
        for action in actions {
            counted.get_or_create(&labelled(action)).inc_by(3);
        }
        let mut registry = Registry::default();
        registry.register("counted", "Counted", counted);
        let made = metrics(&registry, 1, 2);
        let points = made[0]["sum"]["dataPoints"].as_array().unwrap();
        let mut found: Vec<&str> = points.iter().map(action).collect();
        found.sort_unstable();
        let mut expected = actions.to_vec();
        expected.sort_unstable();
        assert_eq!(found, expected, "{made}");
        assert!(points.iter().all(|point| point["asDouble"] == 3.0 && point["attributes"].as_array().unwrap().len() == 2));
    }

    #[test]
    fn histograms_with_labels_stay_apart() {
        let took = Family::<Labelled, Histogram>::new_with_constructor(|| Histogram::new([1.0, 10.0]));
        for (action, seconds) in [("quick", 0.5), ("slow", 5.0), ("slow", 50.0)] {
            took.get_or_create(&labelled(action)).observe(seconds);
        }
        let mut registry = Registry::default();
        registry.register("took", "Took", took);
        let made = metrics(&registry, 1, 2);
        let points = made[0]["histogram"]["dataPoints"].as_array().unwrap();
        let of = |name: &str| points.iter().find(|point| action(point) == name).unwrap();
        assert_eq!(
            (points.len(), &of("quick")["bucketCounts"], &of("slow")["bucketCounts"]),
            (2, &json!(["1", "0", "0"]), &json!(["0", "1", "1"])),
            "{made}"
        );
        assert_eq!((&of("slow")["count"], &of("slow")["sum"]), (&json!("2"), &json!(55.0)));
        assert_eq!(of("quick")["explicitBounds"], json!([1.0, 10.0]));
    }

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
