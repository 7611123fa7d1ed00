//! What is going on in one queue: as it is, and what has happened.

use axum::response::Response;
use host::{GroupStatus, QueueReport};
use queue::stats::{Counts, Recent, Stats};

use super::answer;
use super::call::Call;
use super::describe::Kind;
use super::executions::action;
use super::layout::{Cell, Layout, column, optional};
use crate::error::Failure;

pub(super) async fn get(call: Call) -> Result<Response, Failure> {
    let (action, tenant) = (action(&call)?, call.caller.home());
    let report = call.host().queue_report(&action, &tenant).await.map_err(|error| Failure::of_command("GET", error))?;
    Ok(answer::ok(LAYOUT.to_vec(&report)))
}

fn total(report: &QueueReport, of: fn(&Counts) -> u64) -> Cell<'static> {
    Cell::Number(of(&report.stats.totals) as i64)
}

pub(super) static LAYOUT: Layout<QueueReport> = Layout {
    name: "QueueStats",
    columns: &[
        column("action", Kind::Text, |report| Cell::Text(&report.status.action)),
        column("queueLength", Kind::Int64, |report| Cell::Number((report.status.ready + report.status.scheduled) as i64)),
        // Of these, the ones that wait for a time.
        column("scheduledCount", Kind::Int64, |report| Cell::Number(report.status.scheduled as i64)),
        column("activeCount", Kind::Int64, |report| Cell::Number(report.status.running as i64)),
        optional("maxConcurrent", Kind::Int64, |report| Cell::maybe(report.status.limit, |limit| Cell::Number(limit.into()))),
        optional("maxLength", Kind::Int64, |report| Cell::maybe(report.status.length_max, |most| Cell::Number(most as i64))),
        column("paused", Kind::Boolean, |report| Cell::Boolean(report.status.paused)),
        optional("oldestEnqueuedAt", Kind::Time, |report| Cell::maybe(report.status.oldest, Cell::Time)),
        column("totalEnqueued", Kind::Int64, |report| total(report, |counts| counts.enqueued)),
        column("totalStarted", Kind::Int64, |report| total(report, |counts| counts.started)),
        column("totalCompleted", Kind::Int64, |report| total(report, |counts| counts.completed)),
        column("totalFailed", Kind::Int64, |report| total(report, |counts| counts.failed)),
        column("totalTimedOut", Kind::Int64, |report| total(report, |counts| counts.timed_out)),
        column("totalCancelled", Kind::Int64, |report| total(report, |counts| counts.cancelled)),
        column("rates", Kind::Nested(&RATES), |report| Cell::Nested(Box::new(|out| RATES.write(out, report)))),
        column("waitMillis", Kind::Nested(&PERCENTILES), |report| percentiles(&report.stats.waits)),
        column("runMillis", Kind::Nested(&PERCENTILES), |report| percentiles(&report.stats.runs)),
        // How many of those that wait are how old.
        column("ages", Kind::NestedList(&AGE), |report| Cell::Nested(Box::new(|out| AGE.write_list(out, &ages(report))))),
        // The ones with the most jobs.
        column("groups", Kind::NestedList(&GROUP), |report| Cell::Nested(Box::new(|out| GROUP.write_list(out, &report.groups)))),
        column("groupCount", Kind::Int64, |report| Cell::Number(report.group_count as i64)),
        column("stuck", Kind::Boolean, |report| Cell::Boolean(report.stats.stuck_since.is_some())),
        optional("stuckSince", Kind::Time, |report| Cell::maybe(report.stats.stuck_since, Cell::Time)),
        optional("lastProgressAt", Kind::Time, |report| {
            Cell::maybe(Some(report.stats.progressed).filter(|at| 0 < *at), Cell::Time)
        }),
        column("lastUpdated", Kind::Time, |report| Cell::Time(report.updated.unwrap_or(report.status.at))),
        column("tenantId", Kind::Text, |report| Cell::Text(&report.status.tenant)),
    ],
};

static RATES: Layout<QueueReport> = Layout {
    name: "QueueRates",
    columns: &[
        column("enqueuedPerMinute", Kind::Any, |report| rate(report, |counts| counts.enqueued)),
        column("startedPerMinute", Kind::Any, |report| rate(report, |counts| counts.started)),
        column("completedPerMinute", Kind::Any, |report| rate(report, |counts| counts.completed)),
        column("failedPerMinute", Kind::Any, |report| rate(report, |counts| counts.failed)),
    ],
};

fn rate(report: &QueueReport, of: fn(&Counts) -> u64) -> Cell<'_> {
    let (stats, at): (&Stats, _) = (&report.stats, report.status.at);
    Cell::Nested(Box::new(move |out| {
        let rate = stats.rate(of, at);
        out.extend_from_slice(format!("{}.{:03}", rate / 1_000, rate % 1_000).as_bytes());
    }))
}

static PERCENTILES: Layout<Recent> = Layout {
    name: "QueuePercentiles",
    columns: &[
        optional("p50", Kind::Int64, |recent| Cell::maybe(recent.percentile(500), Cell::Number)),
        optional("p95", Kind::Int64, |recent| Cell::maybe(recent.percentile(950), Cell::Number)),
        optional("p99", Kind::Int64, |recent| Cell::maybe(recent.percentile(990), Cell::Number)),
    ],
};

fn percentiles(recent: &Recent) -> Cell<'_> {
    Cell::Nested(Box::new(|out| PERCENTILES.write(out, recent)))
}

struct Age {
    up_to: Option<i64>,
    count: u64,
}

fn ages(report: &QueueReport) -> Vec<Age> {
    let bounds = host::AGE_BOUNDS.iter().map(|bound| Some(bound / 1_000)).chain([None]);
    bounds.zip(report.ages).map(|(up_to, count)| Age { up_to, count }).collect()
}

static AGE: Layout<Age> = Layout {
    name: "QueueAge",
    columns: &[
        // Nothing for all that are older.
        optional("upToSeconds", Kind::Int64, |age| Cell::maybe(age.up_to, Cell::Number)),
        column("count", Kind::Int64, |age| Cell::Number(age.count as i64)),
    ],
};

static GROUP: Layout<GroupStatus> = Layout {
    name: "QueueGroup",
    columns: &[
        column("group", Kind::Object, |group| Cell::Json(&group.group)),
        column("queueLength", Kind::Int64, |group| Cell::Number(group.waiting as i64)),
        column("activeCount", Kind::Int64, |group| Cell::Number(group.running as i64)),
    ],
};
