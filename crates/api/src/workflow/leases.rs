//! How a worker stands to a job, and how far it says it has come.

use std::sync::Arc;

use engine::{Document, JobKey};
use store::Millis;
use store::log::{Became, Report, Reported, Said};

use super::jobs::{Holder, LEASE_SECONDS, Over, check_worker, job_key};
use super::{Workflows, cancelled, lost};
use crate::document;
use crate::error::{Failure, Reason};
use crate::json;

/// Jobs of which one request says something.
const REPORTS_MAX: usize = 1_000;

/// The longest time that callers may give, in milliseconds.
pub(crate) const DURATION_MAX: Millis = 366 * 24 * 60 * 60 * 1000;

/// No job has this key.
const NOBODYS: JobKey = JobKey(0);

/// Bytes of what a worker says of how far it has come.
const PROGRESS_BYTES_MAX: usize = 64 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Held,
    Released,
    Lost,
    Cancelled,
    Completed,
    Unknown,
}

impl Status {
    pub(crate) const WORDS: &[&str] = &["HELD", "RELEASED", "LOST", "CANCELLED", "COMPLETED", "UNKNOWN"];

    pub(crate) fn word(self) -> &'static str {
        Self::WORDS[self as usize]
    }
}

#[derive(Debug)]
pub(crate) struct Standing {
    pub(crate) job: String,
    pub(crate) status: Status,
    /// When the lease ends.
    pub(crate) until: Option<Millis>,
}

/// What a worker says of one job among many.
#[derive(Debug)]
pub(crate) struct OneReport {
    pub(crate) job: String,
    pub(crate) holder: Holder,
    pub(crate) said: Said,
}

impl Workflows {
    /// Each by itself, in the same order.
    pub(crate) async fn report_many(&self, given: Vec<OneReport>, taken: Status) -> Result<Vec<Standing>, Failure> {
        if !(1..=REPORTS_MAX).contains(&given.len()) {
            return Err(Failure::invalid(format!("jobs has {} items but must have 1 to {REPORTS_MAX}", given.len())));
        }
        let (mut ids, mut reports) = (Vec::with_capacity(given.len()), Vec::with_capacity(given.len()));
        for OneReport { job, holder, said } in given {
            check_worker(&holder.worker)?;
            // What can be no job's is unknown, as one that is gone: the others are not to suffer for it.
            reports.push(Report { job: job_key(&job).unwrap_or(NOBODYS), claim: holder.claim(), said });
            ids.push(job);
        }
        let mut standings = Vec::with_capacity(ids.len());
        for (id, Reported { became, .. }) in ids.into_iter().zip(self.reports(reports).await?) {
            standings.push(self.standing(id, became, taken).await);
        }
        Ok(standings)
    }

    /// A job that is over is looked up: its worker is to know why.
    pub(crate) async fn standing(&self, job: String, became: Became, taken: Status) -> Standing {
        let (status, until) = match became {
            Became::Taken { until } => (taken, until),
            Became::Lost | Became::Alone | Became::Refused(_) => (Status::Lost, None),
            Became::Gone => match self.over(&job).await {
                Ok(Over::Completed) => (Status::Completed, None),
                Ok(Over::Cancelled) => (Status::Cancelled, None),
                Err(_) => (Status::Unknown, None),
            },
        };
        Standing { job, status, until }
    }

    /// A worker has given a job back, or put it off.
    pub(crate) async fn given_up(&self, id: &str, became: Became) -> Result<(), Failure> {
        match became {
            Became::Taken { .. } => Ok(()),
            Became::Gone => match self.over(id).await? {
                Over::Completed => Err(Failure::new(Reason::InvalidState, format!("Job '{id}' was completed"))),
                Over::Cancelled => Err(cancelled(id)),
            },
            Became::Lost | Became::Alone | Became::Refused(_) => Err(lost(id)),
        }
    }
}

/// In milliseconds.
pub(crate) fn lease_for(seconds: Option<i64>) -> Result<Option<Millis>, Failure> {
    match seconds {
        Some(seconds) if !LEASE_SECONDS.contains(&seconds) => {
            let (least, most) = (LEASE_SECONDS.start(), LEASE_SECONDS.end());
            Err(Failure::invalid(format!("leaseSeconds is {seconds}, but must be {least} to {most}")))
        }
        seconds => Ok(seconds.map(|seconds| seconds * 1_000)),
    }
}

/// How long a job may be put off, in milliseconds.
pub(crate) fn delay(millis: Millis, name: &str) -> Result<Millis, Failure> {
    match (0..=DURATION_MAX).contains(&millis) {
        true => Ok(millis),
        false => Err(Failure::invalid(format!("{name} is {millis}, but must be 0 to {DURATION_MAX}, a year"))),
    }
}

/// As it is stored and shown.
pub(crate) fn progress(percent: Option<i64>, message: Option<&str>, data: &Document) -> Result<Arc<str>, Failure> {
    if percent.is_some_and(|percent| !(0..=100).contains(&percent)) {
        return Err(Failure::invalid("progress.percent must be 0 to 100"));
    }
    let mut out = b"{\"percent\":".to_vec();
    out.extend_from_slice(percent.map_or("null".to_owned(), |percent| percent.to_string()).as_bytes());
    out.extend_from_slice(b",\"message\":");
    match message {
        Some(message) => json::write_text(&mut out, message),
        None => out.extend_from_slice(b"null"),
    }
    out.extend_from_slice(b",\"data\":");
    out.extend_from_slice(document::to_json(data).as_bytes());
    out.push(b'}');
    if PROGRESS_BYTES_MAX < out.len() {
        return Err(Failure::invalid(format!("progress is too large: at most {PROGRESS_BYTES_MAX} bytes are kept")));
    }
    Ok(String::from_utf8_lossy(&out).as_ref().into())
}
