//! What is asked for: every filter that an index serves, where it finds nothing, few and many, and a few that people put together.

use serde_json::{Value, json};

use super::super::http::Connection;
use super::fill::{business_id, customer, group, message, person, region, tag};
use super::{BenchSearch, ask};

/// How many instances the ranges of dates span.
const SPAN: u64 = 200;
/// Definitions, parents and dates that searches ask for in turn.
const SAMPLES: u64 = 10;

pub(super) struct Kind {
    pub(super) of: &'static str,
    filtered: &'static str,
    /// By the number of the search, so that not all ask for the same.
    pub(super) filter: Box<dyn Fn(u64) -> Value>,
}

impl Kind {
    pub(super) fn name(&self) -> String {
        format!("{}: {}", self.of, self.filtered)
    }

    pub(super) fn path(&self) -> String {
        let resource = match self.of {
            "instances" => "process-instances",
            "elements" => "element-instances",
            "tasks" => "user-tasks",
            other => other,
        };
        format!("/v2/{resource}/search")
    }

    /// The dates one can sort by.
    pub(super) fn dates(&self) -> &'static [&'static str] {
        match self.of {
            "instances" | "elements" => &["startDate", "endDate"],
            "jobs" => &["endTime"],
            "incidents" => &["creationTime"],
            "tasks" => &["creationDate"],
            _ => &[],
        }
    }
}

fn fixed(of: &'static str, filtered: &'static str, filter: Value) -> Kind {
    Kind { of, filtered, filter: Box::new(move |_| filter.clone()) }
}

fn varied(of: &'static str, filtered: &'static str, filter: impl Fn(u64) -> Value + 'static) -> Kind {
    Kind { of, filtered, filter: Box::new(filter) }
}

pub(super) async fn all(options: &BenchSearch, connection: &mut Connection) -> Result<Vec<Kind>, String> {
    let known = Known::of(options, connection).await?;
    let mut kinds = instances(&known);
    kinds.extend(by_date("startDate", &known.dates));
    kinds.extend(by_date("endDate", &known.dates));
    kinds.extend(by_variable(options.finished));
    kinds.extend(parts(&known));
    kinds.extend(people(&known));
    Ok(kinds)
}

/// Keys and dates of the store at hand.
struct Known {
    order: Value,
    rare: Value,
    parents: Vec<Value>,
    instances: Vec<Value>,
    dates: Vec<[Value; 2]>,
    finished: u64,
}

impl Known {
    async fn of(options: &BenchSearch, connection: &mut Connection) -> Result<Self, String> {
        let search = "/v2/process-instances/search";
        let mut definitions = Vec::new();
        for id in ["order", "rare"] {
            let found =
                ask(connection, "/v2/process-definitions/search", &json!({ "filter": { "processDefinitionId": id } })).await?;
            definitions.push(found["items"][0]["processDefinitionKey"].clone());
        }
        let families = ask(connection, search, &json!({ "filter": { "processDefinitionId": "family" } })).await?;
        let parents = families["items"].as_array().into_iter().flatten().map(|item| item["processInstanceKey"].clone());
        let (mut dates, mut instances) = (Vec::new(), Vec::new());
        for sample in 0..SAMPLES {
            let number = options.finished * sample / SAMPLES;
            let mut span = [Value::Null, Value::Null];
            for (date, number) in span.iter_mut().zip([number, number + SPAN]) {
                let found = ask(connection, search, &json!({ "filter": { "businessId": business_id(number) } })).await?;
                *date = found["items"][0]["startDate"].clone();
                instances.push(found["items"][0]["processInstanceKey"].clone());
            }
            dates.push(span);
        }
        let [order, rare] = [definitions[0].clone(), definitions[1].clone()];
        Ok(Self { order, rare, parents: parents.collect(), instances, dates, finished: options.finished })
    }
}

fn instances(known: &Known) -> Vec<Kind> {
    let of = "instances";
    let (parents, finished) = (known.parents.clone(), known.finished);
    vec![
        fixed(of, "all", json!({})),
        fixed(of, "state ACTIVE", json!({ "state": "ACTIVE" })),
        fixed(of, "state COMPLETED", json!({ "state": "COMPLETED" })),
        fixed(of, "state TERMINATED", json!({ "state": "TERMINATED" })),
        fixed(of, "process id, most", json!({ "processDefinitionId": "order" })),
        fixed(of, "process id, an eighth", json!({ "processDefinitionId": "refund" })),
        fixed(of, "process id, few", json!({ "processDefinitionId": "rare" })),
        fixed(of, "process id, none", json!({ "processDefinitionId": "nothing" })),
        fixed(of, "process id and ACTIVE", json!({ "processDefinitionId": "order", "state": "ACTIVE" })),
        fixed(of, "process id and COMPLETED", json!({ "processDefinitionId": "refund", "state": "COMPLETED" })),
        fixed(of, "definition key, most", json!({ "processDefinitionKey": known.order })),
        fixed(of, "definition key, few", json!({ "processDefinitionKey": known.rare })),
        varied(of, "business id", move |number| json!({ "businessId": business_id(number * 7_919 % finished) })),
        varied(of, "parent", move |number| json!({ "parentProcessInstanceKey": parents[number as usize % parents.len()] })),
        varied(of, "tag, a thousandth", |number| json!({ "tags": [tag(number)] })),
        fixed(of, "tag, a third", json!({ "tags": ["vip"] })),
        varied(of, "error", |number| json!({ "errorMessage": message(number) })),
        fixed(of, "incident", json!({ "hasIncident": true })),
        fixed(of, "element id, most", json!({ "elementId": "charge" })),
        fixed(of, "element id, few", json!({ "elementId": "seldom" })),
        fixed(of, "element id, none", json!({ "elementId": "nothing" })),
    ]
}

fn by_date(date: &'static str, dates: &[[Value; 2]]) -> Vec<Kind> {
    let of = "instances";
    let spans = dates.to_vec();
    let since = dates[dates.len() / 2][0].clone();
    let (span, half, none) = match date {
        "startDate" => ("start date, a moment", "start date, half", "start date, none"),
        _ => ("end date, a moment", "end date, half", "end date, none"),
    };
    vec![
        varied(of, span, move |number| {
            let [from, until] = &spans[number as usize % spans.len()];
            json!({ date: { "$gte": from, "$lte": until } })
        }),
        fixed(of, half, json!({ date: { "$gte": since } })),
        fixed(of, none, json!({ date: { "$lt": "2001-01-01T00:00:00Z" } })),
    ]
}

fn by_variable(finished: u64) -> Vec<Kind> {
    let one = |name: &str, value: Value| json!([{ "name": name, "value": value.to_string() }]);
    let of_instances = move |name: &'static str, value: Value| json!({ "variables": one(name, value) });
    vec![
        varied("instances", "variable, one", move |number| of_instances("amount", json!(number * 7_919 % finished))),
        varied("instances", "variable, few", move |number| of_instances("customer", json!(customer(number)))),
        varied("instances", "variable, an eighth", move |number| of_instances("region", json!(region(number)))),
        fixed("instances", "variable, none", of_instances("customer", json!("nobody"))),
        varied(
            "variables",
            "name and value, one",
            move |number| json!({ "name": "amount", "value": (number * 7_919 % finished).to_string() }),
        ),
        varied(
            "variables",
            "name and value, an eighth",
            |number| json!({ "name": "region", "value": json!(region(number)).to_string() }),
        ),
        fixed("variables", "name, all", json!({ "name": "amount" })),
        fixed("variables", "name, none", json!({ "name": "nothing" })),
    ]
}

fn parts(known: &Known) -> Vec<Kind> {
    let (of_elements, of_jobs) = (known.instances.clone(), known.instances.clone());
    let of = |keys: &[Value], number: u64| json!({ "processInstanceKey": keys[number as usize % keys.len()] });
    vec![
        fixed("elements", "all", json!({})),
        fixed("elements", "element id, most", json!({ "elementId": "charge" })),
        fixed("elements", "element id, few", json!({ "elementId": "seldom" })),
        fixed("elements", "element id, none", json!({ "elementId": "nothing" })),
        fixed("elements", "state ACTIVE", json!({ "state": "ACTIVE" })),
        fixed("elements", "state COMPLETED", json!({ "state": "COMPLETED" })),
        fixed("elements", "element id and ACTIVE", json!({ "elementId": "charge", "state": "ACTIVE" })),
        fixed("elements", "process id, most", json!({ "processDefinitionId": "order" })),
        fixed("elements", "process id, few", json!({ "processDefinitionId": "rare" })),
        fixed("elements", "incident", json!({ "hasIncident": true })),
        varied("elements", "of an instance", move |number| of(&of_elements, number)),
        fixed("jobs", "all", json!({})),
        fixed("jobs", "type, most", json!({ "type": "charge" })),
        fixed("jobs", "type, few", json!({ "type": "broken" })),
        fixed("jobs", "type, none", json!({ "type": "nothing" })),
        fixed("jobs", "state CREATED", json!({ "state": "CREATED" })),
        fixed("jobs", "state COMPLETED", json!({ "state": "COMPLETED" })),
        fixed("jobs", "state FAILED", json!({ "state": "FAILED" })),
        fixed("jobs", "state CANCELED", json!({ "state": "CANCELED" })),
        fixed("jobs", "type and CREATED", json!({ "type": "charge", "state": "CREATED" })),
        fixed("jobs", "type and COMPLETED", json!({ "type": "charge", "state": "COMPLETED" })),
        varied("jobs", "of an instance", move |number| of(&of_jobs, number)),
    ]
}

fn people(known: &Known) -> Vec<Kind> {
    vec![
        fixed("incidents", "all", json!({})),
        fixed("incidents", "state ACTIVE", json!({ "state": "ACTIVE" })),
        fixed("incidents", "error type", json!({ "errorType": "JOB_NO_RETRIES" })),
        fixed("incidents", "definition key", json!({ "processDefinitionKey": known.order })),
        varied("incidents", "error message", |number| json!({ "errorMessage": message(number) })),
        fixed("tasks", "all", json!({})),
        fixed("tasks", "state CREATED", json!({ "state": "CREATED" })),
        varied("tasks", "assignee", |number| json!({ "assignee": person(number) })),
        varied("tasks", "assignee and CREATED", |number| json!({ "assignee": person(number), "state": "CREATED" })),
        varied("tasks", "candidate group", |number| json!({ "candidateGroup": group(number) })),
    ]
}
