//! What ran, how long it took, and how it ended.

use std::path::PathBuf;
use std::time::Duration;

use crate::logged::tail;

const LOG_LINES_SHOWN: usize = 120;

/// One row of the closing table.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) part: String,
    pub(crate) on: &'static str,
    pub(crate) took: Duration,
    pub(crate) outcome: Outcome,
    pub(crate) logs: Vec<PathBuf>,
}

#[derive(Debug)]
pub(crate) enum Outcome {
    Ran {
        passed: usize,
        failed: usize,
        note: String,
    },
    /// Could not even run: counts as one failure.
    Broken(String),
}

impl Report {
    pub(crate) fn failed(&self) -> usize {
        match &self.outcome {
            Outcome::Ran { failed, .. } => *failed,
            Outcome::Broken(_) => 1,
        }
    }

    fn passed(&self) -> usize {
        match &self.outcome {
            Outcome::Ran { passed, .. } => *passed,
            Outcome::Broken(_) => 0,
        }
    }

    fn line(&self) -> String {
        let (passed, failed, note) = match &self.outcome {
            Outcome::Ran { passed, failed, note } => (passed.to_string(), failed.to_string(), note.clone()),
            Outcome::Broken(why) => ("-".to_owned(), "1".to_owned(), why.lines().next().unwrap_or_default().to_owned()),
        };
        let took = format!("{:.1} s", self.took.as_secs_f64());
        format!("{:<34} {:<9} {passed:>6} {failed:>6} {took:>9}  {note}", self.part, self.on).trim_end().to_owned()
    }
}

/// A line before a part, so that it is known what a silent machine does.
pub(crate) fn begin(part: &str, on: &str) {
    println!("running {part} {on} …");
}

/// One line as soon as a part has ended, so that a long run can be followed.
pub(crate) fn announce(report: &Report) {
    println!("{}", report.line());
}

pub(crate) fn print(reports: &[Report], took: Duration) {
    for report in reports.iter().filter(|report| 0 < report.failed()) {
        println!("\n──── {} on {}", report.part, report.on);
        if let Outcome::Broken(why) = &report.outcome {
            println!("{why}");
        }
        for log in &report.logs {
            let text = std::fs::read_to_string(log).unwrap_or_default();
            println!("── {} (its last lines)\n{}", log.display(), tail(&text, LOG_LINES_SHOWN));
        }
    }
    println!("\n{:<34} {:<9} {:>6} {:>6} {:>9}", "part", "on", "passed", "failed", "time");
    for report in reports {
        println!("{}", report.line());
    }
    println!("\nclients that ran: {}", clients(reports));
    println!("everything took {:.0} s", took.as_secs_f64());
    let (passed, failed) = count(reports);
    println!("{passed} passed, {failed} failed");
}

pub(crate) fn count(reports: &[Report]) -> (usize, usize) {
    (reports.iter().map(Report::passed).sum(), reports.iter().map(Report::failed).sum())
}

fn clients(reports: &[Report]) -> String {
    let ran = reports.iter().filter(|report| matches!(report.outcome, Outcome::Ran { .. }));
    let mut names: Vec<&str> = ran.filter_map(|report| report.part.strip_prefix("client ")).collect();
    names.dedup();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
