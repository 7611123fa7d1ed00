//! What every client asked and what it was told, in memory for the check and on disk for the reader of a bad verdict.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

use serde_json::{Value, json};

/// One request and its outcome. A request that is sent again has one record per try, under one name.
#[derive(Debug, Clone)]
pub(super) struct Record {
    /// Milliseconds of the run when it was sent, and how many it took.
    pub(super) at: u64,
    pub(super) took: u64,
    /// Names the call; for a start and a completion it is also what they write into the variables.
    pub(super) call: String,
    pub(super) act: Act,
    pub(super) told: Told,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Act {
    Start {
        process: &'static str,
    },
    /// Reads an instance right after its start was acknowledged.
    Look {
        instance: u64,
    },
    Complete(Work),
    /// Gives the job back with retries left.
    Fail(Work),
    /// Asks for jobs.
    Poll,
    /// Was given a job by a poll, for itself alone between these milliseconds of the run. The answer may come later than that.
    Given {
        work: Work,
        from: u64,
        until: u64,
    },
}

/// A job a worker was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) job: u64,
    pub(super) instance: u64,
    pub(super) element: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Told {
    /// Success; a start is told its instance.
    Done(Option<u64>),
    /// Understood and refused: it has no effect.
    Refused(u16),
    /// Never reached a server: it has no effect.
    Unsent,
    /// Whether it has an effect is not known: try again, the server said, or it said nothing.
    Unknown(String),
    /// Something a caller must never see: what it was.
    Wrong(String),
}

#[derive(Debug)]
pub(super) struct History {
    pub(super) path: PathBuf,
    began: Instant,
    /// The same moment by the clock that deadlines of jobs are given in.
    began_at: SystemTime,
    kept: Mutex<Kept>,
    /// The latest sending time among acknowledged starts and completions: how the run knows that work goes on.
    start_done: AtomicU64,
    complete_done: AtomicU64,
    starts: AtomicUsize,
    completions: AtomicUsize,
    unknown: AtomicUsize,
}

#[derive(Debug)]
struct Kept {
    file: BufWriter<File>,
    records: Vec<Record>,
}

/// Numbers for a line of progress.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counts {
    pub(super) starts: usize,
    pub(super) completions: usize,
    pub(super) unknown: usize,
}

impl History {
    pub(super) fn create(path: &Path) -> Result<History, String> {
        let file = File::create(path).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        Ok(History {
            path: path.to_owned(),
            began: Instant::now(),
            began_at: SystemTime::now(),
            kept: Mutex::new(Kept { file: BufWriter::new(file), records: Vec::new() }),
            start_done: AtomicU64::new(0),
            complete_done: AtomicU64::new(0),
            starts: AtomicUsize::new(0),
            completions: AtomicUsize::new(0),
            unknown: AtomicUsize::new(0),
        })
    }

    /// Milliseconds of the run.
    pub(super) fn now(&self) -> u64 {
        self.began.elapsed().as_millis() as u64
    }

    /// A moment in milliseconds since 1970 as one of the run.
    pub(super) fn of_run(&self, millis: u64) -> u64 {
        let began = self.began_at.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
        millis.saturating_sub(began)
    }

    pub(super) fn note(&self, at: u64, call: &str, act: Act, told: Told) {
        match (&act, &told) {
            (Act::Start { .. }, Told::Done(_)) => count(&self.starts, &self.start_done, at),
            (Act::Complete(_), Told::Done(_)) => count(&self.completions, &self.complete_done, at),
            (_, Told::Unknown(_)) => drop(self.unknown.fetch_add(1, Ordering::Relaxed)),
            _ => {}
        }
        let record = Record { at, took: self.now().saturating_sub(at), call: call.to_owned(), act, told };
        let line = line(&record).to_string();
        let mut kept = self.kept();
        // A full disk must not end the run; the records in memory are what is checked.
        let _ = writeln!(kept.file, "{line}");
        kept.records.push(record);
    }

    /// Whether a start and a completion sent after that time were acknowledged.
    pub(super) fn works_since(&self, at: u64) -> bool {
        at < self.start_done.load(Ordering::Relaxed) && at < self.complete_done.load(Ordering::Relaxed)
    }

    pub(super) fn counts(&self) -> Counts {
        let read = |number: &AtomicUsize| number.load(Ordering::Relaxed);
        Counts { starts: read(&self.starts), completions: read(&self.completions), unknown: read(&self.unknown) }
    }

    pub(super) fn records(&self) -> Vec<Record> {
        let mut kept = self.kept();
        let _ = kept.file.flush();
        kept.records.clone()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn count(number: &AtomicUsize, latest: &AtomicU64, at: u64) {
    number.fetch_add(1, Ordering::Relaxed);
    latest.fetch_max(at, Ordering::Relaxed);
}

fn line(record: &Record) -> Value {
    let work = |work: &Work| json!({ "job": work.job, "instance": work.instance, "element": work.element });
    let (word, on) = match &record.act {
        Act::Start { process } => ("start", json!(process)),
        Act::Look { instance } => ("look", json!(instance)),
        Act::Complete(job) => ("complete", work(job)),
        Act::Fail(job) => ("fail", work(job)),
        Act::Poll => ("poll", Value::Null),
        Act::Given { work: job, from, until } => ("given", json!({ "from": from, "until": until, "work": work(job) })),
    };
    let told = match &record.told {
        Told::Done(None) => json!("ok"),
        Told::Done(Some(instance)) => json!({ "ok": instance }),
        Told::Refused(status) => json!({ "refused": status }),
        Told::Unsent => json!("unsent"),
        Told::Unknown(why) => json!({ "unknown": why }),
        Told::Wrong(what) => json!({ "wrong": what }),
    };
    json!({ "at": record.at, "took": record.took, "call": record.call, "do": word, "on": on, "told": told })
}
