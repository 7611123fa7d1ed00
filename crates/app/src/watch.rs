//! `caudal queues`: what waits and runs, action by action; once, or again and again with a plot of the last minutes.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use clap::Args;
use serde_json::Value;

use crate::cli::Remote;
use crate::client::{get, show, text};
use crate::table::{print, table};

/// Points of a plot.
const POINTS: usize = 40;
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Moves to the top left corner and clears what is below.
const CLEAR: &str = "\x1b[H\x1b[J";

const COLUMNS: [(&str, &str); 7] = [
    ("ACTION", "action"),
    ("WAITING", "queueLength"),
    ("SCHEDULED", "scheduledCount"),
    ("RUNNING", "activeCount"),
    ("LIMIT", "maxConcurrent"),
    ("PAUSED", "paused"),
    ("OLDEST", "oldestEnqueuedAt"),
];

#[derive(Debug, Args)]
pub(crate) struct Queues {
    /// Show it again and again, with plots of what waits and runs
    #[arg(long)]
    watch: bool,
    /// Seconds between two looks
    #[arg(long, value_name = "SECONDS", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=3600), requires = "watch")]
    every: u64,
    /// Stop after so many looks
    #[arg(long, value_name = "NUMBER", requires = "watch")]
    times: Option<u64>,
    #[command(flatten)]
    remote: Remote,
}

/// What was seen of an action, the newest last.
#[derive(Default)]
struct Seen {
    waiting: VecDeque<u64>,
    running: VecDeque<u64>,
}

pub(crate) fn run(queues: &Queues) -> Result<(), String> {
    let (mut seen, mut looks) = (BTreeMap::new(), 0);
    loop {
        let answer = get(&queues.remote, "/v1/actions")?;
        let items = answer["items"].as_array().cloned().unwrap_or_default();
        look(&mut seen, &items);
        match (queues.remote.json, queues.watch) {
            (true, _) => show(&answer)?,
            (false, false) => print(&shown(&items, None)),
            (false, true) => print(&format!("{CLEAR}{}", shown(&items, Some(&seen)))),
        }
        looks += 1;
        if !queues.watch || queues.times.is_some_and(|times| times <= looks) {
            return Ok(());
        }
        std::thread::sleep(Duration::from_secs(queues.every));
    }
}

/// One more point for each action; those that are not there any more have nothing that waits or runs.
fn look(seen: &mut BTreeMap<String, Seen>, items: &[Value]) {
    for item in items {
        seen.entry(text(&item["action"])).or_default();
    }
    for (action, points) in seen.iter_mut() {
        let item = items.iter().find(|item| text(&item["action"]) == *action);
        let number = |name: &str| item.and_then(|item| item[name].as_u64()).unwrap_or(0);
        for (points, now) in [(&mut points.waiting, number("queueLength")), (&mut points.running, number("activeCount"))] {
            points.push_back(now);
            if POINTS < points.len() {
                points.pop_front();
            }
        }
    }
    seen.retain(|_, points| points.waiting.iter().chain(&points.running).any(|count| 0 < *count));
}

fn shown(items: &[Value], seen: Option<&BTreeMap<String, Seen>>) -> String {
    let mut headers: Vec<&str> = COLUMNS.iter().map(|(header, _)| *header).collect();
    headers.extend(seen.iter().flat_map(|_| ["WAITING LATELY", "RUNNING LATELY"]));
    let rows = items.iter().map(|item| {
        let mut row: Vec<String> = COLUMNS.iter().map(|(_, name)| text(&item[*name])).collect();
        if let Some(points) = seen.and_then(|seen| seen.get(&text(&item["action"]))) {
            row.extend([plot(&points.waiting), plot(&points.running)]);
        }
        row
    });
    table(&headers, &rows.collect::<Vec<_>>())
}

/// Bars as high as their part of the highest.
fn plot(points: &VecDeque<u64>) -> String {
    let most = points.iter().copied().max().unwrap_or(0).max(1);
    points.iter().map(|point| if *point == 0 { ' ' } else { BARS[((point * 8).div_ceil(most) - 1) as usize] }).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_plot_shows_how_it_went() {
        assert_eq!(plot(&VecDeque::from([0, 1, 4, 8, 8, 2, 0])), " ▁▄██▂ ");
        assert_eq!(plot(&VecDeque::from([0, 0])), "  ");
        let mut seen = BTreeMap::new();
        for waiting in 0..100 {
            look(&mut seen, &[json!({ "action": "mail", "queueLength": waiting, "activeCount": 2 })]);
        }
        assert_eq!(seen["mail"].waiting.len(), POINTS);
        let text = shown(&[json!({ "action": "mail", "queueLength": 99 })], Some(&seen));
        assert!(text.contains("mail") && text.contains('█'), "{text}");
        for _ in 0..POINTS {
            look(&mut seen, &[]);
        }
        assert!(seen.is_empty(), "what has not been seen for long is forgotten");
    }
}
