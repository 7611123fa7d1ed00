//! JSON workflows as callers of `/v1` and of `workflow.v1` see them, decided once for both: definitions, instances with a status, history
//! with attempts, jobs, steps told by their ids. What they are made of is what `/v2` shows, in other words.

mod definitions;
mod history;
mod instances;
mod jobs;
mod leases;
mod steps;

use std::sync::Arc;

use engine::{IncidentKind, InstanceKey};
use host::{Host, Timed};
use store::log::{Answer, Command, Request};
use store::query::{Entity, Field, Filter, Items, Op, Page, Query, Scalar};

use crate::caller::Caller;
use crate::error::{Failure, Reason};

pub(crate) use definitions::{Definition, ListDefinitions};
pub(crate) use history::Execution;
pub(crate) use instances::{Instance, ListInstances, Start, Status};
pub(crate) use jobs::{Holder, PollJobs, cancelled, lost};
pub(crate) use leases::{DURATION_MAX, OneReport, Standing, Status as LeaseStatus, delay, lease_for, progress};
pub(crate) use steps::Told;

pub(crate) const PAGE_SIZE_DEFAULT: u32 = 20;
pub(crate) const PAGE_SIZE_MAX: u32 = 200;

/// Who asks, of whom, and how many bytes of rows an answer may be made of.
pub(crate) struct Workflows {
    pub(crate) host: Host,
    pub(crate) caller: Caller,
    pub(crate) bytes_max: usize,
    /// By which a second try is told from a second wish.
    pub(crate) idempotency_key: Option<Arc<str>>,
    /// Observes how long the call takes, where nothing around it does.
    pub(crate) _timed: Option<Timed>,
}

/// A part of a list, with how many there are in all.
#[derive(Debug)]
pub(crate) struct Listed<T> {
    pub(crate) items: Vec<T>,
    pub(crate) total: u64,
}

/// A step type in the words of the contract, by the kind of its element.
pub(crate) fn step_type(kind: &str) -> &str {
    match kind {
        "EXCLUSIVE_GATEWAY" => "DECISION",
        "SCRIPT_TASK" => "TRANSFORMATION",
        "RECEIVE_TASK" => "WAIT",
        "INCLUSIVE_GATEWAY" => "JOIN_GATEWAY",
        "CALL_ACTIVITY" => "CALL",
        "END_EVENT" => "END",
        other => other,
    }
}

/// Whether it is a step, and not what compiling has put between steps.
pub(crate) fn is_step(element_id: &str) -> bool {
    !element_id.contains('#')
}

impl Workflows {
    async fn submit(&self, command: Command) -> Result<Answer, Failure> {
        self.host.submit(self.request(command)).await.map_err(failed)
    }

    fn request(&self, command: Command) -> Request {
        self.caller.request(command, self.idempotency_key.clone())
    }

    async fn search(&self, query: Query) -> Result<store::query::QueryPage, Failure> {
        let query = Query { bytes_max: Some(self.bytes_max), ..query };
        let page = self.host.store().search(&query).await?;
        match page.is_cut {
            true => Err(Failure::invalid(format!(
                "The answer would be made of more than {} bytes: ask for a smaller page",
                self.bytes_max
            ))),
            false => Ok(page),
        }
    }

    fn query(&self, entity: Entity, filter: Vec<Filter>, page: Page) -> Query {
        Query { filter: Filter::All(filter), page, ..Query::of(entity, self.caller.tenants()) }
    }

    /// The first row of a kind that matches.
    async fn first(&self, entity: Entity, filter: Vec<Filter>) -> Result<Items, Failure> {
        Ok(self.search(self.query(entity, filter, Page::From { from: 0, limit: 1 })).await?.items)
    }
}

/// What the host said, in its own words.
fn failed(error: host::Error) -> Failure {
    match error {
        host::Error::Rejected(rejection) => Failure::new(Reason::from(rejection.code), rejection.reason),
        error => Failure::of_command("request", error),
    }
}

fn is(field: Field, value: impl Into<Word>) -> Filter {
    Filter::Is(field, Op::Eq(value.into().0))
}

/// A scalar from what is at hand.
struct Word(Scalar);

impl From<&str> for Word {
    fn from(text: &str) -> Self {
        Self(Scalar::Text(text.to_owned()))
    }
}

impl From<u64> for Word {
    fn from(key: u64) -> Self {
        Self(Scalar::Int(i64::try_from(key).unwrap_or(0)))
    }
}

impl From<bool> for Word {
    fn from(flag: bool) -> Self {
        Self(Scalar::Bool(flag))
    }
}

/// Ids are opaque to callers: what is no key names nothing.
pub(crate) fn key(id: &str) -> Option<u64> {
    let is_plain = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
    id.parse().ok().filter(|key| is_plain && i64::try_from(*key).is_ok())
}

fn no_instance(id: &str) -> Failure {
    Failure::not_found(format!("There is no instance '{id}'"))
}

/// Why a step failed, in words for a person: a code to branch on, the step, and what happened.
fn reason(kind: IncidentKind, step: &str, message: &str) -> String {
    let (code, message) = match (kind, message.split_once(": ")) {
        (IncidentKind::JobNoRetries, Some((code @ ("RetriesExhausted" | "NotRetryable"), message))) => (code, message),
        (IncidentKind::JobNoRetries, _) => ("RetriesExhausted", message),
        (IncidentKind::Condition, _) => ("DecisionNoBranchMatched", "no condition is true"),
        (IncidentKind::ExtractValue, _) => ("ExpressionFailed", message),
        (IncidentKind::CalledElement, _) => ("NextWorkflowMissing", message),
        (_, _) => ("StepFailed", message),
    };
    match is_step(step) {
        true => format!("{code}: step '{step}': {message}"),
        false => format!("{code}: {message}"),
    }
}

fn instance_key(id: &str) -> Result<InstanceKey, Failure> {
    key(id).map(InstanceKey).ok_or_else(|| no_instance(id))
}
