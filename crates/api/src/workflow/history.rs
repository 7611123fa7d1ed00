//! History: one item per attempt at a step, in the order in which steps were reached.

use std::collections::{BTreeMap, HashMap};

use engine::{ElementKey, InstanceKey, KEPT};
use store::Millis;
use store::query::{ElementView, Entity, Field, Filter, IncidentView, Items, JobView, Op, Page, Query};
use store::row::InstanceState;

use super::{Listed, Workflows, instance_key, is, is_step, reason, step_type};
use crate::error::Failure;

/// Rows of one kind that a page of history may be made of, beside the steps themselves.
const ROWS_MAX: u32 = 100_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExecutionStatus {
    Running,
    Completed,
    Failed,
    /// Ended from outside: by a timer, or with its instance.
    Skipped,
}

impl ExecutionStatus {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Running => "RUNNING",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
            Self::Skipped => "SKIPPED",
        }
    }
}

/// One attempt at a step.
#[derive(Debug, Clone)]
pub(crate) struct Execution {
    pub(crate) id: String,
    pub(crate) instance: InstanceKey,
    pub(crate) step: String,
    pub(crate) step_type: String,
    pub(crate) attempt: i32,
    pub(crate) status: ExecutionStatus,
    pub(crate) started: Millis,
    pub(crate) ended: Option<Millis>,
    pub(crate) failure: Option<String>,
    pub(crate) worker: Option<String>,
}

/// An attempt that failed, as the engine has kept it.
struct Attempt {
    number: i32,
    worker: String,
    started: Millis,
    ended: Millis,
    message: String,
}

/// What is known about a step besides its element instance.
#[derive(Default)]
struct Beside {
    attempts: Vec<Attempt>,
    incident: Option<IncidentView>,
    worker: Option<String>,
}

impl Workflows {
    pub(crate) async fn history(&self, id: &str, page: u32, page_size: u32) -> Result<Listed<Execution>, Failure> {
        let key = instance_key(id)?;
        self.instance_of(key).await?.ok_or_else(|| super::no_instance(id))?;
        let of_instance = || vec![is(Field::InstanceKey, key.0)];
        let from = u64::from(page) * u64::from(page_size);
        let steps =
            vec![is(Field::InstanceKey, key.0), Filter::Not(Box::new(Filter::Is(Field::ElementId, Op::Like("*#*".to_owned()))))];
        let found = self.search(self.query(Entity::Elements, steps, Page::From { from, limit: page_size })).await?;
        let Items::Elements(elements) = found.items else { return Ok(Listed { items: Vec::new(), total: 0 }) };
        let all = Page::From { from: 0, limit: ROWS_MAX };
        let mut beside: HashMap<ElementKey, Beside> = HashMap::new();
        if let Items::Jobs(jobs) = self.search(self.query(Entity::Jobs, of_instance(), all.clone())).await?.items {
            for JobView { element_instance, worker, .. } in jobs.into_iter().filter(|job| !job.worker.is_empty()) {
                beside.entry(element_instance).or_default().worker = Some(worker);
            }
        }
        let active = [of_instance(), vec![is(Field::IncidentState, "ACTIVE")]].concat();
        if let Items::Incidents(incidents) = self.search(self.query(Entity::Incidents, active, all.clone())).await?.items {
            for incident in incidents {
                let element = incident.element_instance;
                beside.entry(element).or_default().incident = Some(incident);
            }
        }
        let kept = [of_instance(), vec![Filter::Is(Field::Name, Op::Like(format!("{KEPT}attempt:*")))]].concat();
        let kept = Query { with_kept: true, ..self.query(Entity::Variables, kept, all) };
        if let Items::Variables(variables) = self.search(kept).await?.items {
            for variable in variables {
                let attempts = &mut beside.entry(variable.scope).or_default().attempts;
                attempts.extend(attempt(&variable.value));
            }
        }
        let items = elements.into_iter().filter(|element| is_step(&element.element_id)).flat_map(|element| {
            let beside = beside.remove(&element.key).unwrap_or_default();
            executions(&element, beside)
        });
        Ok(Listed { items: items.collect(), total: found.total })
    }
}

fn attempt(kept: &str) -> Option<Attempt> {
    let texts: BTreeMap<String, String> = serde_json::from_str(kept).ok()?;
    Some(Attempt {
        number: texts.get("number")?.parse().ok()?,
        worker: texts.get("worker")?.clone(),
        started: texts.get("started")?.parse().ok()?,
        ended: texts.get("ended")?.parse().ok()?,
        message: texts.get("message")?.clone(),
    })
}

/// The last has the id of the step's execution itself, as its job names it; earlier ones are told from it by their number.
fn executions(element: &ElementView, beside: Beside) -> Vec<Execution> {
    let Beside { mut attempts, incident, worker } = beside;
    attempts.sort_by_key(|attempt| attempt.number);
    // A job without retries stands where its last attempt failed.
    let is_over = incident.as_ref().is_some_and(|incident| incident.job.is_some()) && !attempts.is_empty();
    let last = attempts.last().map(|attempt| (attempt.number, attempt.ended));
    let failed = attempts.into_iter().map(|attempt| Execution {
        id: match is_over && Some(attempt.number) == last.map(|last| last.0) {
            true => element.key.to_string(),
            false => format!("{}.{}", element.key, attempt.number),
        },
        status: ExecutionStatus::Failed,
        attempt: attempt.number,
        started: attempt.started,
        ended: Some(attempt.ended),
        failure: Some(attempt.message),
        worker: Some(attempt.worker),
        ..execution(element, ExecutionStatus::Failed)
    });
    let mut all: Vec<Execution> = failed.collect();
    if is_over {
        return all;
    }
    let status = match element.state {
        InstanceState::Active if incident.is_some() => ExecutionStatus::Failed,
        InstanceState::Active | InstanceState::Suspended => ExecutionStatus::Running,
        InstanceState::Completed => ExecutionStatus::Completed,
        InstanceState::Terminated => ExecutionStatus::Skipped,
    };
    all.push(Execution {
        attempt: last.map_or(1, |last| last.0 + 1),
        started: last.map_or(element.started, |last| last.1),
        failure: incident.map(|incident| reason(incident.kind, &incident.element_id, &incident.message)),
        worker,
        ..execution(element, status)
    });
    all
}

fn execution(element: &ElementView, status: ExecutionStatus) -> Execution {
    Execution {
        id: element.key.to_string(),
        instance: element.instance,
        step: element.element_id.clone(),
        step_type: step_type(&element.kind).to_owned(),
        attempt: 1,
        status,
        started: element.started,
        ended: element.ended,
        failure: None,
        worker: None,
    }
}
