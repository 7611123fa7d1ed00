//! Judges what the audit trail tells against what workers were told.

use std::collections::BTreeMap;

use serde_json::Value;

/// What a worker was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Act {
    Given,
    Completed,
    Failed,
    GaveBack,
    /// Something it must never be told.
    Wrong(String),
}

#[derive(Debug, Clone)]
pub(super) struct Record {
    pub(super) job: u64,
    pub(super) worker: String,
    pub(super) act: Act,
}

/// An entry of the audit trail. Times are compared as texts.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) job: u64,
    pub(super) worker: String,
    pub(super) operation: String,
    pub(super) at: String,
}

impl Entry {
    pub(super) fn read(item: &Value) -> Entry {
        let text = |name: &str| item[name].as_str().unwrap_or_default().to_owned();
        let job = text("jobKey").parse().unwrap_or(0);
        Entry { job, worker: text("worker"), operation: text("operation"), at: text("timestamp") }
    }

    fn is_dispatch(&self) -> bool {
        self.operation == "DISPATCH"
    }
}

/// What is wrong.
pub(super) fn check(history: &[Record], trail: &[Entry], submitted: &[u64], limit: usize) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut jobs: BTreeMap<u64, Vec<&Entry>> = submitted.iter().map(|job| (*job, Vec::new())).collect();
    for entry in trail {
        match jobs.get_mut(&entry.job) {
            Some(entries) => entries.push(entry),
            None => wrong.push(format!("the trail tells of job {}, which nobody submitted", entry.job)),
        }
    }
    for (job, entries) in &jobs {
        told_once(*job, entries, &mut wrong);
    }
    remembered(history, &jobs, &mut wrong);
    in_order(submitted, &jobs, &mut wrong);
    within(limit, &jobs, &mut wrong);
    wrong
}

fn count(entries: &[&Entry], operation: &str) -> usize {
    entries.iter().filter(|entry| entry.operation == operation).count()
}

/// It was completed once, and every dispatch but one came to another end. (What comes after a lease is over ends nothing.)
fn told_once(job: u64, entries: &[&Entry], wrong: &mut Vec<String>) {
    let (dispatches, completions) = (count(entries, "DISPATCH"), count(entries, "COMPLETE"));
    let ends = entries.len() - dispatches;
    if completions != 1 || dispatches == 0 || ends < dispatches {
        wrong.push(format!("job {job} was completed {completions} times; {dispatches} dispatches are told, and {ends} ends"));
    }
    let over = count(entries, "TIME_OUT") + count(entries, "RELEASE");
    if dispatches < over {
        wrong.push(format!("job {job}: {dispatches} dispatches are told, but {over} leases came to an end"));
    }
}

/// What a worker was told is in the trail.
fn remembered(history: &[Record], jobs: &BTreeMap<u64, Vec<&Entry>>, wrong: &mut Vec<String>) {
    let mut told: BTreeMap<(u64, &str, &str), usize> = BTreeMap::new();
    for Record { job, worker, act } in history {
        match act {
            Act::Given => *told.entry((*job, worker, "DISPATCH")).or_default() += 1,
            Act::Failed => *told.entry((*job, worker, "FAIL")).or_default() += 1,
            Act::GaveBack => *told.entry((*job, worker, "RELEASE")).or_default() += 1,
            // Told again it is no error, whoever did it.
            Act::Completed => {}
            Act::Wrong(what) => wrong.push(format!("{worker} was told of job {job}: {what}")),
        }
    }
    for ((job, worker, operation), times) in told {
        let entries = jobs.get(&job).map(Vec::as_slice).unwrap_or_default();
        // Who gives back what it has no longer is told that all is well.
        let is_it = |entry: &Entry| entry.operation == operation || (operation, &*entry.operation) == ("RELEASE", "TIME_OUT");
        let found = entries.iter().filter(|entry| entry.worker == worker && is_it(entry)).count();
        if found < times {
            wrong.push(format!("{operation} of job {job} by {worker} is told {found} times instead of {times}"));
        }
    }
}

/// Nobody was first handed out before somebody who was submitted earlier.
fn in_order(submitted: &[u64], jobs: &BTreeMap<u64, Vec<&Entry>>, wrong: &mut Vec<String>) {
    let first = |job: &u64| jobs.get(job)?.iter().filter(|entry| entry.is_dispatch()).map(|entry| &entry.at).min();
    let firsts: Vec<_> = submitted.iter().filter_map(|job| Some((job, first(job)?))).collect();
    for pair in firsts.windows(2) {
        let [(one, before), (other, after)] = pair else { continue };
        if after < before {
            wrong.push(format!("job {other} was handed out at {after}, before job {one} at {before}"));
        }
    }
}

/// No more run at once than may.
fn within(limit: usize, jobs: &BTreeMap<u64, Vec<&Entry>>, wrong: &mut Vec<String>) {
    // Ends come before what begins at the same time: a slot is handed on within a commit.
    let mut moments: Vec<(&str, i64)> = Vec::new();
    for entries in jobs.values() {
        let times = |is_dispatch: bool| {
            let mut times: Vec<&str> =
                entries.iter().filter(|entry| entry.is_dispatch() == is_dispatch).map(|entry| entry.at.as_str()).collect();
            times.sort_unstable();
            times
        };
        let mut ends = times(false).into_iter();
        for begin in times(true) {
            moments.push((begin, 1));
            moments.extend(ends.find(|end| begin <= *end).map(|end| (end, -1)));
        }
    }
    moments.sort_unstable();
    let mut running = 0;
    for (at, by) in moments {
        running += by;
        if (limit as i64) < running {
            wrong.push(format!("{running} run at {at}, where {limit} may"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(at: &str, operation: &str, job: u64, worker: &str) -> Entry {
        Entry { job, worker: worker.to_owned(), operation: operation.to_owned(), at: at.to_owned() }
    }

    fn record(job: u64, worker: &str, act: Act) -> Record {
        Record { job, worker: worker.to_owned(), act }
    }

    /// Two jobs one after the other; the first failed, timed out and was given back before.
    fn good() -> (Vec<Record>, Vec<Entry>) {
        let history = vec![
            record(1, "a", Act::Given),
            record(1, "a", Act::Failed),
            record(1, "b", Act::Given),
            record(1, "b", Act::GaveBack),
            record(1, "a", Act::Given),
            record(1, "a", Act::Completed),
            record(2, "b", Act::Given),
            record(2, "b", Act::Completed),
        ];
        let trail = vec![
            entry("10", "DISPATCH", 1, "a"),
            entry("11", "FAIL", 1, "a"),
            entry("11", "DISPATCH", 1, "c"),
            entry("16", "TIME_OUT", 1, "c"),
            entry("16", "DISPATCH", 1, "b"),
            entry("17", "RELEASE", 1, "b"),
            entry("17", "DISPATCH", 1, "a"),
            entry("18", "COMPLETE", 1, "a"),
            entry("18", "DISPATCH", 2, "b"),
            entry("18", "COMPLETE", 2, "b"),
        ];
        (history, trail)
    }

    /// The first thing that is wrong after a change of a good run.
    fn blamed(change: impl FnOnce(&mut Vec<Record>, &mut Vec<Entry>)) -> String {
        let (mut history, mut trail) = good();
        change(&mut history, &mut trail);
        check(&history, &trail, &[1, 2], 1).into_iter().next().unwrap_or_default()
    }

    #[track_caller]
    fn assert_says(wrong: &str, part: &str) {
        assert!(wrong.contains(part), "'{wrong}' does not say '{part}'");
    }

    #[test]
    fn a_good_run_is_not_blamed() {
        assert_eq!(blamed(|_, _| ()), "");
    }

    #[test]
    fn what_is_told_too_often_or_not_at_all() {
        assert_says(&blamed(|_, trail| drop(trail.pop())), "completed 0 times");
        assert_says(&blamed(|_, trail| trail.push(entry("19", "COMPLETE", 2, "b"))), "completed 2 times");
        assert_says(&blamed(|_, trail| drop(trail.remove(3))), "dispatches are told, and 3 ends");
        assert_says(&blamed(|_, trail| trail.push(entry("12", "DISPATCH", 3, "b"))), "which nobody submitted");
    }

    #[test]
    fn what_a_worker_was_told_and_nobody_remembers() {
        assert_says(&blamed(|_, trail| trail[1].worker = "b".to_owned()), "FAIL of job 1 by a is told 0 times");
        assert_says(&blamed(|_, trail| trail[8].worker = "a".to_owned()), "DISPATCH of job 2 by b is told 0 times");
        assert_says(&blamed(|history, _| history.push(record(2, "b", Act::Wrong("500".to_owned())))), "was told of job 2: 500");
    }

    #[test]
    fn who_was_passed_over() {
        let passed = blamed(|_, trail| {
            trail[8].at = "08".to_owned();
            trail[9].at = "09".to_owned();
        });
        assert_says(&passed, "before job 1");
    }

    #[test]
    fn one_more_than_may() {
        assert_says(&blamed(|_, trail| trail[8].at = "17".to_owned()), "2 run at 17, where 1 may");
    }
}
