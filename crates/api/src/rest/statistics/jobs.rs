//! How many jobs were created, completed and failed in a time: in all, by type, by worker, over time, and by error. It is counted from
//! the jobs there are, each by what last happened to it.

use std::collections::BTreeMap;

use axum::http::Method;
use axum::response::Response;
use store::Millis;
use store::query::{Counted, Counting, Entity, Field, Filter, Op, Scalar};

use super::groups::{self, Part, counted, text};
use crate::error::Failure;
use crate::rest::call::Call;
use crate::rest::describe::Kind;
use crate::rest::layout::{Cell, Layout, column, optional};
use crate::rest::operation::{Input, Operation, Output};
use crate::rest::search::{Operators, Value};
use crate::rest::shape::{Field as FieldOf, Fields, Shape, field};
use crate::rest::{answer, time};

/// Between two points of a series, if nothing is said.
const RESOLUTION_DEFAULT: Millis = 60_000;

pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::GET,
        path: "/v2/jobs/statistics/global",
        id: "getGlobalJobStatistics",
        summary: "How many jobs were created, completed and failed in a time",
        input: Input::None,
        query: &[
            field("from", Kind::Time, "From this time on").required(),
            field("to", Kind::Time, "Until this time, which counts too").required(),
            field("jobType", Kind::Text, "Of this type only"),
        ],
        output: Output::Object(&GLOBAL),
        failures: &[],
        run: |call| Box::pin(global(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/jobs/statistics/by-types",
        id: "getJobTypeStatistics",
        summary: "The same for each type",
        input: Input::Required(&BY_TYPES),
        query: &[],
        output: Output::Page(&TYPE),
        failures: &[],
        run: |call| Box::pin(by_types(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/jobs/statistics/by-workers",
        id: "getJobWorkerStatistics",
        summary: "The same of one type for each worker",
        input: Input::Required(&BY_WORKERS),
        query: &[],
        output: Output::Page(&WORKER),
        failures: &[],
        run: |call| Box::pin(by_workers(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/jobs/statistics/time-series",
        id: "getJobTimeSeriesStatistics",
        summary: "The same of one type over time",
        input: Input::Required(&TIME_SERIES),
        query: &[],
        output: Output::Page(&POINT),
        failures: &[],
        run: |call| Box::pin(time_series(call)),
    },
    Operation {
        method: Method::POST,
        path: "/v2/jobs/statistics/errors",
        id: "getJobErrorStatistics",
        summary: "What jobs of one type failed with, and how many workers told it",
        input: Input::Required(&ERRORS),
        query: &[],
        output: Output::Page(&ERROR),
        failures: &[],
        run: |call| Box::pin(errors(call)),
    },
];

static PAGE: Shape = Shape {
    name: "CursorForwardPagination",
    fields: &[
        field("after", Kind::Text, "Where the page before ended"),
        field("limit", Kind::Int32, "How many at most; 100 if left out"),
    ],
};

const FROM: FieldOf = field("from", Kind::Time, "From this time on").required();
const TO: FieldOf = field("to", Kind::Time, "Until this time, which counts too").required();
const JOB_TYPE: FieldOf = field("jobType", Kind::Text, "Of this type");
const JOB_TYPES: FieldOf = field("jobType", Kind::Condition(Value::Text, Operators::Like), "Of these types");
const PART: FieldOf = field("page", Kind::Fields(&PAGE), "Which part of them; the first if left out");

const fn which(filter: &'static Shape) -> FieldOf {
    field("filter", Kind::Fields(filter), "Which jobs, and in which time").required()
}

static BY_TYPES: Shape = Shape { name: "JobTypeStatisticsQuery", fields: &[which(&TYPE_FILTER), PART] };
static TYPE_FILTER: Shape = Shape { name: "JobTypeStatisticsFilter", fields: &[FROM, TO, JOB_TYPES] };

static BY_WORKERS: Shape = Shape { name: "JobWorkerStatisticsQuery", fields: &[which(&WORKER_FILTER), PART] };
static WORKER_FILTER: Shape = Shape { name: "JobWorkerStatisticsFilter", fields: &[FROM, TO, JOB_TYPE.required()] };

static TIME_SERIES: Shape = Shape { name: "JobTimeSeriesStatisticsQuery", fields: &[which(&SERIES_FILTER), PART] };
static SERIES_FILTER: Shape = Shape {
    name: "JobTimeSeriesStatisticsFilter",
    fields: &[
        FROM,
        TO,
        JOB_TYPE.required(),
        field("resolution", Kind::Text, "The duration between two points, after ISO 8601; PT1M if left out"),
    ],
};

static ERRORS: Shape = Shape { name: "JobErrorStatisticsQuery", fields: &[which(&ERROR_FILTER), PART] };
static ERROR_FILTER: Shape = Shape {
    name: "JobErrorStatisticsFilter",
    fields: &[
        FROM,
        TO,
        JOB_TYPE.required(),
        field("errorCode", Kind::Condition(Value::Text, Operators::Like), "With these codes"),
        field("errorMessage", Kind::Condition(Value::Text, Operators::Like), "With these messages"),
    ],
};

/// Which jobs, and in which time.
struct Asked {
    from: Millis,
    to: Millis,
    job_type: Vec<Op>,
}

#[derive(Clone, Copy)]
enum What {
    Created,
    Completed,
    Failed,
}

/// How many, and when the last was.
#[derive(Default, Clone, Copy)]
struct Metric {
    count: u64,
    last: Option<Millis>,
}

#[derive(Default)]
struct Item {
    name: String,
    at: Millis,
    metrics: [Metric; 3],
    workers: u64,
}

impl Asked {
    fn filter(&self, what: What) -> Filter {
        let time = what.time();
        let mut all = vec![Filter::Is(time, Op::Gte(Scalar::Int(self.from))), Filter::Is(time, Op::Lte(Scalar::Int(self.to)))];
        let words: &[&str] = match what {
            What::Created => &[],
            What::Completed => &["COMPLETED"],
            What::Failed => &["FAILED", "ERROR_THROWN"],
        };
        if !words.is_empty() {
            let words = words.iter().map(|word| Scalar::Text((*word).to_owned())).collect();
            all.push(Filter::Is(Field::JobState, Op::In(words)));
        }
        all.extend(self.job_type.iter().map(|op| Filter::Is(Field::JobType, op.clone())));
        Filter::All(all)
    }
}

impl What {
    const ALL: [Self; 3] = [Self::Created, Self::Completed, Self::Failed];

    /// When it happened.
    fn time(self) -> Field {
        match self {
            Self::Created => Field::Created,
            Self::Completed => Field::Ended,
            Self::Failed => Field::Updated,
        }
    }
}

/// Counts by these fields and gives what was counted, by `place`.
async fn items<K: Ord>(
    call: &Call,
    asked: &Asked,
    by: &[Field],
    place: impl Fn(&Counted, What) -> K,
) -> Result<BTreeMap<K, Item>, Failure> {
    let mut items: BTreeMap<K, Item> = BTreeMap::new();
    for what in What::ALL {
        let by: Vec<Field> = by.iter().map(|field| if *field == Field::Created { what.time() } else { *field }).collect();
        let counting = Counting {
            entity: Entity::Jobs,
            tenants: call.caller.tenants(),
            filter: asked.filter(what),
            by,
            distinct: Some(Field::Worker),
            latest: Some(what.time()),
            limit: 0,
        };
        for group in counted(call, counting).await? {
            let item = items.entry(place(&group, what)).or_default();
            let metric = &mut item.metrics[what as usize];
            metric.count += group.rows;
            metric.last = metric.last.max(group.latest);
            // Of those that were only created some have no worker yet.
            if !matches!(what, What::Created) {
                item.workers = item.workers.max(group.distinct);
            }
        }
    }
    Ok(items)
}

async fn global(call: Call) -> Result<Response, Failure> {
    let parameters = call.parameters()?;
    let given = |name: &str| parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let time = |name: &str| {
        let text = given(name).ok_or_else(|| Failure::unreadable(format!("Required parameter '{name}' is not present.")))?;
        time::read(text, name).map_err(|_| Failure::unreadable(format!("Failed to convert '{name}' with value: '{text}'")))
    };
    let asked = Asked { from: time("from")?, to: time("to")?, job_type: given("jobType").map(equal).into_iter().collect() };
    let mut all = items(&call, &asked, &[Field::JobType], |_, _| ()).await?;
    Ok(answer::ok(GLOBAL.to_vec(&all.remove(&()).unwrap_or_default())))
}

fn equal(text: &str) -> Op {
    Op::Eq(Scalar::Text(text.to_owned()))
}

/// The filter of what counts one type.
fn asked_of_one(filter: &mut Fields<'_>) -> Result<Asked, Failure> {
    let job_type = filter.text("jobType").filter(|text| !text.is_empty());
    let job_type = job_type.ok_or_else(|| Failure::invalid("No jobType provided."))?;
    asked(filter, vec![equal(&job_type)])
}

/// The filter, in the words clients expect when something is missing.
fn asked(filter: &mut Fields<'_>, job_type: Vec<Op>) -> Result<Asked, Failure> {
    let mut time = |name: &str| {
        let text = filter.text(name).ok_or_else(|| Failure::unreadable(format!("{name} must not be null")))?;
        let unreadable = |_| {
            Failure::invalid(format!(
                "The provided {name} '{text}' cannot be parsed as a date according to RFC 3339, section 5.6."
            ))
        };
        time::read(&text, name).map_err(unreadable)
    };
    Ok(Asked { from: time("from")?, to: time("to")?, job_type })
}

fn filter_of<'a>(fields: &mut Fields<'a>) -> Result<Fields<'a>, Failure> {
    fields.object("filter").ok_or_else(|| Failure::invalid("No filter provided."))
}

fn part(call: &Call, fields: &mut Fields<'_>) -> Result<Part, Failure> {
    let Some(mut page) = fields.object("page") else { return Part::after(call, None, None) };
    let limit = page.number("limit");
    Part::after(call, page.text("after").as_deref(), limit)
}

async fn by_types(call: Call) -> Result<Response, Failure> {
    let mut fields = call.required(&BY_TYPES)?;
    let mut filter = filter_of(&mut fields)?;
    // An empty type is none.
    let mut job_type = filter.operations("jobType");
    job_type.retain(|op| *op != equal(""));
    let asked = asked(&mut filter, job_type)?;
    let part = part(&call, &mut fields)?;
    let all = items(&call, &asked, &[Field::JobType], |group, _| text(group, 0)).await?;
    let all = all.into_iter().map(|(name, item)| Item { name, ..item });
    Ok(groups::page(all.collect(), &part, &TYPE))
}

async fn by_workers(call: Call) -> Result<Response, Failure> {
    let mut fields = call.required(&BY_WORKERS)?;
    let asked = asked_of_one(&mut filter_of(&mut fields)?)?;
    let part = part(&call, &mut fields)?;
    let mut all = items(&call, &asked, &[Field::Worker], |group, _| text(group, 0)).await?;
    // Nobody had those yet.
    all.remove("");
    let all = all.into_iter().map(|(name, item)| Item { name, ..item });
    Ok(groups::page(all.collect(), &part, &WORKER))
}

async fn time_series(call: Call) -> Result<Response, Failure> {
    let mut fields = call.required(&TIME_SERIES)?;
    let mut filter = filter_of(&mut fields)?;
    let resolution = filter.text("resolution").map(|text| {
        let step = time::duration(&text, "resolution").ok().filter(|step| 0 < *step);
        step.ok_or_else(|| {
            let example = "ISO 8601 (e.g. PT1M, PT1H).";
            Failure::invalid(format!("The provided resolution '{text}' cannot be parsed as a duration according to {example}"))
        })
    });
    let resolution = resolution.transpose()?.unwrap_or(RESOLUTION_DEFAULT);
    let asked = asked_of_one(&mut filter)?;
    let part = part(&call, &mut fields)?;
    let point = |group: &Counted, _| groups::integer(group, 0).div_euclid(resolution) * resolution;
    let all = items(&call, &asked, &[Field::Created], point).await?;
    let all = all.into_iter().map(|(at, item)| Item { at, ..item });
    Ok(groups::page(all.collect(), &part, &POINT))
}

async fn errors(call: Call) -> Result<Response, Failure> {
    let mut fields = call.required(&ERRORS)?;
    let mut filter = filter_of(&mut fields)?;
    let mut named = Vec::new();
    for (field, name) in [(Field::ErrorCode, "errorCode"), (Field::ErrorMessage, "errorMessage")] {
        named.extend(filter.operations(name).into_iter().map(|op| Filter::Is(field, op)));
    }
    let asked = asked_of_one(&mut filter)?;
    let part = part(&call, &mut fields)?;
    let mut all = vec![asked.filter(What::Failed)];
    all.extend(named);
    let by = vec![Field::ErrorCode, Field::ErrorMessage];
    let found = groups::count(&call, Entity::Jobs, Filter::All(all), by, Some(Field::Worker)).await?;
    Ok(groups::page(found, &part, &ERROR))
}

fn metric(item: &Item, what: What) -> Cell<'_> {
    Cell::Nested(Box::new(move |out| METRIC.write(out, &item.metrics[what as usize])))
}

static METRIC: Layout<Metric> = Layout {
    name: "StatusMetric",
    columns: &[
        column("count", Kind::Int64, |metric| Cell::Number(metric.count as i64)),
        optional("lastUpdatedAt", Kind::Time, |metric| Cell::maybe(metric.last, Cell::Time)),
    ],
};

static GLOBAL: Layout<Item> = Layout {
    name: "GlobalJobStatisticsQueryResult",
    columns: &[
        column("created", Kind::Nested(&METRIC), |item| metric(item, What::Created)),
        column("completed", Kind::Nested(&METRIC), |item| metric(item, What::Completed)),
        column("failed", Kind::Nested(&METRIC), |item| metric(item, What::Failed)),
        column("isIncomplete", Kind::Boolean, |_| Cell::Boolean(false)),
    ],
};

static TYPE: Layout<Item> = Layout {
    name: "JobTypeStatisticsItem",
    columns: &[
        column("jobType", Kind::Text, |item| Cell::Text(&item.name)),
        column("created", Kind::Nested(&METRIC), |item| metric(item, What::Created)),
        column("completed", Kind::Nested(&METRIC), |item| metric(item, What::Completed)),
        column("failed", Kind::Nested(&METRIC), |item| metric(item, What::Failed)),
        column("workers", Kind::Int32, |item| Cell::Number(item.workers as i64)),
    ],
};

static WORKER: Layout<Item> = Layout {
    name: "JobWorkerStatisticsItem",
    columns: &[
        column("worker", Kind::Text, |item| Cell::Text(&item.name)),
        column("created", Kind::Nested(&METRIC), |item| metric(item, What::Created)),
        column("completed", Kind::Nested(&METRIC), |item| metric(item, What::Completed)),
        column("failed", Kind::Nested(&METRIC), |item| metric(item, What::Failed)),
    ],
};

static POINT: Layout<Item> = Layout {
    name: "JobTimeSeriesStatisticsItem",
    columns: &[
        column("time", Kind::Time, |item| Cell::Time(item.at)),
        column("created", Kind::Nested(&METRIC), |item| metric(item, What::Created)),
        column("completed", Kind::Nested(&METRIC), |item| metric(item, What::Completed)),
        column("failed", Kind::Nested(&METRIC), |item| metric(item, What::Failed)),
    ],
};

static ERROR: Layout<Counted> = Layout {
    name: "JobErrorStatisticsItem",
    columns: &[
        column("errorCode", Kind::Text, |group| written(group, 0)),
        column("errorMessage", Kind::Text, |group| written(group, 1)),
        column("workers", Kind::Int32, |group| Cell::Number(group.distinct as i64)),
    ],
};

fn written(group: &Counted, place: usize) -> Cell<'_> {
    match group.values.get(place) {
        Some(Some(Scalar::Text(text))) => Cell::Text(text),
        _ => Cell::Text(""),
    }
}
