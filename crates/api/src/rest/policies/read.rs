//! A policy as it is put.

use std::sync::Arc;

use queue::Pace;
use queue::adapt::Adaptive;
use queue::policy::{
    AGEING_MAX, Concurrency, Method, Overdue, Policy, QUEUE_LENGTH_DEFAULT, Quota, Rate, Scope, WAIT_DEFAULT, Wait,
};
use queue::retry::{BACKOFF_MAX, Delays, Retry};
use store::Millis;

use super::super::describe::Kind;
use super::super::shape::{Fields, Shape, field};
use super::super::time;
use crate::error::Failure;

const SCOPES: &[&str] = &["GLOBAL", "TENANT", "ACTION"];
const METHODS: &[&str] = &["ENQUEUE", "CANCEL"];
const OVERDUE: &[&str] = &["FAIL", "CANCEL"];
const PLACES: &[&str] = &["FRONT", "KEEP"];

/// Names of variables that tell groups apart.
const PARAMETERS_MAX: usize = 10;
/// Delays of retries that are listed.
const DELAYS_MAX: usize = 100;
/// How many times longer than the one before a delay may be.
const FACTOR_MAX: u32 = 100;

pub(super) static POLICY: Shape = Shape {
    name: "PolicyRequest",
    fields: &[
        field("scope", Kind::Word(SCOPES), "Which actions it is for: all, those of a tenant, or one").required(),
        field("action", Kind::Text, "Which action"),
        field("tenantId", Kind::Text, "Which tenant"),
        field("priority", Kind::Int32, "Of two of the same scope the higher one applies"),
        field("concurrency", Kind::Fields(&CONCURRENCY), "How many jobs run at once"),
        field("rate", Kind::Fields(&RATE), "How many jobs start per window"),
        field("delay", Kind::Text, "A duration such as PT0.1S: at least so long between two starts"),
        field("quota", Kind::Fields(&QUOTA), "How many jobs there are at once, of the action or of the tenant"),
        field("queue", Kind::Fields(&QUEUE), "How many jobs wait, how long, and in which order"),
        field("retry", Kind::Fields(&RETRY), "When a job that failed is tried again, where its worker does not say"),
        field("paused", Kind::Boolean, "Whether no job is handed out; false if left out"),
    ],
};

static CONCURRENCY: Shape = Shape {
    name: "PolicyConcurrency",
    fields: &[
        field("limit", Kind::Int32, "At most so many, 1 or more").required(),
        field("parameters", Kind::Texts, "Names of variables: so many for each of their values"),
        field("method", Kind::Word(METHODS), "What becomes of one that finds no slot: it waits, or it is refused"),
        field("adaptive", Kind::Fields(&ADAPTIVE), "Find a limit between a least and that one"),
    ],
};

static ADAPTIVE: Shape = Shape {
    name: "PolicyAdaptive",
    fields: &[
        field("minLimit", Kind::Int32, "Never fewer; 1 if left out"),
        field("latency", Kind::Text, "A duration: a job that runs longer counts as one that failed"),
    ],
};

static RATE: Shape = Shape {
    name: "PolicyRate",
    fields: &[
        field("limit", Kind::Int32, "At most so many, 1 or more").required(),
        field("window", Kind::Text, "In any span of this length, such as PT1S").required(),
        field(
            "parameters",
            Kind::Texts,
            "Names of variables, the same as those of concurrency: so many for each of their values",
        ),
    ],
};

static QUOTA: Shape = Shape {
    name: "PolicyQuota",
    fields: &[
        field("running", Kind::Int32, "At most so many run"),
        field("waiting", Kind::Int64, "At most so many wait"),
        field("total", Kind::Int64, "At most so many wait or run"),
    ],
};

static QUEUE: Shape = Shape {
    name: "PolicyQueue",
    fields: &[
        field("maxLength", Kind::Int64, "At most so many wait, 1 or more; 10,000 if left out"),
        field("maxWait", Kind::Text, "A duration: nobody waits longer for a worker; PT1H if only onMaxWait is given"),
        field("onMaxWait", Kind::Word(OVERDUE), "What becomes of an execution then; a job of a process is an incident"),
        field("fair", Kind::Boolean, "Whether groups take turns; false if left out"),
        field("ageing", Kind::Text, "A duration: who has waited so long counts as one priority more"),
    ],
};

static RETRY: Shape = Shape {
    name: "PolicyRetry",
    fields: &[
        field("delays", Kind::Texts, "Durations, one for each try after the first; the last for all others"),
        field("delay", Kind::Text, "Instead of these: the first duration"),
        field("factor", Kind::Int32, "So many times longer with every try; 1, always the same, if left out"),
        field("maxDelay", Kind::Text, "A duration: never longer than this"),
        field("jitterPercent", Kind::Int32, "Up to so much longer, other for every job: 0 to 100"),
        field("place", Kind::Word(PLACES), "Go to the front of its own order, or keep its slot while it waits"),
    ],
};

pub(super) fn policy(fields: &mut Fields<'_>) -> Result<Policy, Failure> {
    let policy = Policy {
        priority: fields.int32("priority").unwrap_or(0),
        concurrency: fields.object("concurrency").map(concurrency).transpose()?,
        rate: fields.object("rate").map(rate).transpose()?,
        delay: span(fields, "delay", "delay")?,
        quota: fields.object("quota").map(quota).transpose()?,
        retry: fields.object("retry").map(retry).transpose()?,
        paused: fields.boolean("paused").unwrap_or(false),
        ..Policy::new(scope(fields)?)
    };
    let policy = match fields.object("queue") {
        Some(queue) => in_queue(queue, policy)?,
        None => policy,
    };
    let (of_slots, of_rate) = (policy.concurrency.as_ref(), policy.rate.as_ref());
    if let (Some(one), Some(other)) = (of_slots.map(|one| &one.parameters), of_rate.map(|one| &one.parameters))
        && !one.is_empty()
        && !other.is_empty()
        && one != other
    {
        return Err(Failure::invalid("rate.parameters are those of concurrency.parameters, or none: a job is in one group"));
    }
    if policy.fair && policy.parameters().is_empty() {
        return Err(Failure::invalid("queue.fair needs groups: name their parameters in concurrency or in rate"));
    }
    Ok(policy)
}

fn scope(fields: &mut Fields<'_>) -> Result<Scope, Failure> {
    let (action, tenant) = (fields.shared("action"), fields.shared("tenantId"));
    match (fields.word("scope"), action, tenant) {
        (Some("GLOBAL"), None, None) => Ok(Scope::Global),
        (Some("TENANT"), None, Some(tenant)) => Ok(Scope::Tenant(tenant)),
        (Some("ACTION"), Some(action), None) => Ok(Scope::Action(action)),
        (None, _, _) => Err(Failure::invalid("No scope provided.")),
        (Some(_), _, _) => {
            let reason = "A policy of scope ACTION names an action, one of scope TENANT a tenantId, one of scope GLOBAL neither";
            Err(Failure::invalid(reason))
        }
    }
}

fn concurrency(mut fields: Fields<'_>) -> Result<Concurrency, Failure> {
    let limit = count(&mut fields, "limit", "concurrency.limit")?;
    let limit = limit.ok_or_else(|| Failure::invalid("No concurrency.limit provided."))?;
    let method = match fields.word("method") {
        Some("CANCEL") => Method::Cancel,
        Some(_) | None => Method::Enqueue,
    };
    let parameters = parameters(&mut fields, "concurrency.parameters")?;
    let adaptive = fields.object("adaptive").map(|fields| adaptive(fields, limit)).transpose()?;
    Ok(Concurrency { limit, parameters, method, adaptive })
}

fn adaptive(mut fields: Fields<'_>, limit: u32) -> Result<Adaptive, Failure> {
    let limit_min = count(&mut fields, "minLimit", "concurrency.adaptive.minLimit")?.unwrap_or(1);
    if limit < limit_min {
        return Err(Failure::invalid("concurrency.adaptive.minLimit must not be greater than concurrency.limit"));
    }
    Ok(Adaptive { limit_min, latency: span(&mut fields, "latency", "concurrency.adaptive.latency")? })
}

fn rate(mut fields: Fields<'_>) -> Result<Rate, Failure> {
    let limit = count(&mut fields, "limit", "rate.limit")?.ok_or_else(|| Failure::invalid("No rate.limit provided."))?;
    let window = span(&mut fields, "window", "rate.window")?.ok_or_else(|| Failure::invalid("No rate.window provided."))?;
    Ok(Rate { pace: Pace { limit, window }, parameters: parameters(&mut fields, "rate.parameters")? })
}

fn quota(mut fields: Fields<'_>) -> Result<Quota, Failure> {
    Ok(Quota {
        running: count(&mut fields, "running", "quota.running")?,
        waiting: length(&mut fields, "waiting", "quota.waiting")?,
        total: length(&mut fields, "total", "quota.total")?,
    })
}

fn in_queue(mut fields: Fields<'_>, policy: Policy) -> Result<Policy, Failure> {
    let queue_max = length(&mut fields, "maxLength", "queue.maxLength")?.unwrap_or(QUEUE_LENGTH_DEFAULT);
    let most = span(&mut fields, "maxWait", "queue.maxWait")?;
    let wait = match (most, fields.word("onMaxWait")) {
        (None, None) => None,
        (most, Some("CANCEL")) => Some(Wait { most: most.unwrap_or(WAIT_DEFAULT), then: Overdue::Cancel }),
        (most, _) => Some(Wait { most: most.unwrap_or(WAIT_DEFAULT), then: Overdue::Fail }),
    };
    let ageing = span(&mut fields, "ageing", "queue.ageing")?;
    if ageing.is_some_and(|ageing| AGEING_MAX < ageing) {
        return Err(Failure::invalid("queue.ageing must not be longer than P7D"));
    }
    Ok(Policy { queue_max: Some(queue_max), wait, fair: fields.boolean("fair").unwrap_or(false), ageing, ..policy })
}

fn retry(mut fields: Fields<'_>) -> Result<Retry, Failure> {
    let listed = fields.texts_maybe("delays");
    let first = fields.text("delay").map(|text| time::duration(&text, "retry.delay")).transpose()?;
    let factor = count(&mut fields, "factor", "retry.factor")?;
    let most = span(&mut fields, "maxDelay", "retry.maxDelay")?;
    let delays = match (listed, first) {
        (Some(_), Some(_)) => return Err(Failure::invalid("Either retry.delays or retry.delay, not both")),
        (_, Some(first)) => Delays::Growing { first, factor: factor.unwrap_or(1), most: most.unwrap_or(BACKOFF_MAX) },
        (_, None) if factor.is_some() || most.is_some() => {
            return Err(Failure::invalid("retry.factor and retry.maxDelay go with retry.delay"));
        }
        (listed, None) => {
            let listed = listed.unwrap_or_default();
            if DELAYS_MAX < listed.len() {
                return Err(Failure::invalid(format!("retry.delays are at most {DELAYS_MAX}")));
            }
            Delays::Listed(listed.iter().map(|text| time::duration(text, "retry.delays")).collect::<Result<_, _>>()?)
        }
    };
    if factor.is_some_and(|factor| FACTOR_MAX < factor) {
        return Err(Failure::invalid(format!("retry.factor must not be greater than {FACTOR_MAX}")));
    }
    let jitter = fields.int32("jitterPercent").unwrap_or(0);
    let jitter_percent = u32::try_from(jitter).ok().filter(|jitter| *jitter <= 100);
    let jitter_percent = jitter_percent.ok_or_else(|| Failure::invalid("retry.jitterPercent must be between 0 and 100"))?;
    Ok(Retry { delays, jitter_percent, holds: fields.word("place") == Some("KEEP") })
}

fn parameters(fields: &mut Fields<'_>, name: &str) -> Result<Vec<Arc<str>>, Failure> {
    let parameters = fields.texts("parameters");
    if PARAMETERS_MAX < parameters.len() || parameters.iter().any(|name| name.is_empty()) {
        return Err(Failure::invalid(format!("{name} are at most {PARAMETERS_MAX} names of variables")));
    }
    Ok(parameters)
}

fn none_of_it(name: &str) -> Failure {
    Failure::invalid(format!("The value for {name} must be greater than 0: pause what is not to run."))
}

fn count(fields: &mut Fields<'_>, field: &str, name: &str) -> Result<Option<u32>, Failure> {
    let Some(count) = fields.int32(field) else { return Ok(None) };
    u32::try_from(count).ok().filter(|count| 0 < *count).map(Some).ok_or_else(|| none_of_it(name))
}

fn length(fields: &mut Fields<'_>, field: &str, name: &str) -> Result<Option<u64>, Failure> {
    let Some(count) = fields.number(field) else { return Ok(None) };
    u64::try_from(count).ok().filter(|count| 0 < *count).map(Some).ok_or_else(|| none_of_it(name))
}

/// A duration that is one.
fn span(fields: &mut Fields<'_>, field: &str, name: &str) -> Result<Option<Millis>, Failure> {
    let Some(text) = fields.text(field) else { return Ok(None) };
    match time::duration(&text, name)? {
        0 => Err(Failure::invalid(format!("The value for {name} must be longer than nothing"))),
        millis => Ok(Some(millis)),
    }
}
