//! One kind of search, in every order: its first page, and pages that begin at a cursor far from it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::histogram::Histogram;
use super::super::http::Connection;
use super::kinds::Kind;
use super::{BenchSearch, PAGE, WANTED_MILLIS, ask, usage};

/// How far from the first row a cursor is, where there are so many.
const FAR: u64 = 5_000;
/// What the server answers to a search that takes too long.
const DEADLINE_EXCEEDED: &str = ": 504: ";

/// Whose CPU is counted.
pub(super) struct Processes {
    pub(super) server: u32,
    pub(super) database: Option<u32>,
}

impl Processes {
    fn cpu(&self) -> Duration {
        let database = self.database.and_then(usage::database_cpu).unwrap_or_default();
        usage::cpu(self.server).unwrap_or_default() + database
    }
}

pub(super) struct Measured {
    name: String,
    sort: String,
    found: String,
    /// Of the first page, after a cursor and before one; the latter two where there is more than a page.
    times: [Option<Histogram>; 3],
    /// Milliseconds of server and database for a page; none where one took longer than the server lets it.
    cpu: Option<f64>,
}

/// Pages of one kind in one order.
#[derive(Default)]
struct Sums {
    found: String,
    times: [Option<Histogram>; 3],
    asked: u32,
    spent: Duration,
}

pub(super) async fn measure(
    options: &BenchSearch,
    connection: &mut Connection,
    kind: &Kind,
    processes: &Processes,
) -> Result<Vec<Measured>, String> {
    let mut measured = Vec::new();
    let orders = kind.dates().iter().flat_map(|date| [(*date, "ASC"), (*date, "DESC")]);
    for (field, order) in [("", "")].into_iter().chain(orders) {
        let sort = if field.is_empty() { json!([]) } else { json!([{ "field": field, "order": order }]) };
        let mut sums = Sums::default();
        let mut refused = false;
        for number in 0..options.searches {
            match ask_pages(connection, kind, processes, &sort, number, &mut sums).await {
                Ok(()) => {}
                Err(reason) if reason.contains(DEADLINE_EXCEEDED) => {
                    refused = true;
                    break;
                }
                Err(reason) => return Err(reason),
            }
        }
        let cpu = (!refused).then(|| sums.spent.as_secs_f64() * 1_000.0 / f64::from(sums.asked));
        let sort = format!("{field} {order}").trim().to_owned();
        let one = Measured { name: kind.name(), sort, found: sums.found, times: sums.times, cpu };
        eprintln!("measured  {}", one.row().join("  "));
        measured.push(one);
    }
    Ok(measured)
}

async fn ask_pages(
    connection: &mut Connection,
    kind: &Kind,
    processes: &Processes,
    sort: &Value,
    number: u64,
    sums: &mut Sums,
) -> Result<(), String> {
    let page = |page: Value| json!({ "filter": (kind.filter)(number), "sort": sort, "page": page });
    let first = ask(connection, &kind.path(), &page(json!({ "limit": PAGE }))).await?;
    sums.found = total(&first["page"]);
    let mut pages = vec![json!({ "limit": PAGE })];
    pages.extend(cursors(connection, kind, &first, &page).await?);
    let before = processes.cpu();
    for (page, times) in pages.into_iter().map(page).zip(&mut sums.times) {
        let begun = Instant::now();
        ask(connection, &kind.path(), &page).await?;
        times.get_or_insert_with(Histogram::default).record(begun.elapsed().as_micros() as u64);
        sums.asked += 1;
    }
    // A process of the database that is just ending is counted nowhere for a moment.
    sums.spent += processes.cpu().saturating_sub(before);
    Ok(())
}

fn total(page: &Value) -> String {
    let more = if page["hasMoreTotalItems"] == true { "+" } else { "" };
    format!("{}{more}", page["totalItems"])
}

/// What comes after a row in the middle, and before it.
async fn cursors(
    connection: &mut Connection,
    kind: &Kind,
    first: &Value,
    page: &impl Fn(Value) -> Value,
) -> Result<Vec<Value>, String> {
    let found = first["page"]["totalItems"].as_u64().unwrap_or(0);
    if found <= 2 * PAGE as u64 {
        return Ok(Vec::new());
    }
    let middle = page(json!({ "from": FAR.min(found / 2), "limit": 1 }));
    let middle = ask(connection, &kind.path(), &middle).await?;
    let [start, end] = ["startCursor", "endCursor"].map(|name| middle["page"][name].clone());
    Ok(vec![json!({ "after": end, "limit": PAGE }), json!({ "before": start, "limit": PAGE })])
}

impl Measured {
    pub(super) fn title(&self) -> String {
        match self.sort.as_str() {
            "" => self.name.clone(),
            sort => format!("{}, by {sort}", self.name),
        }
    }

    pub(super) fn is_slow(&self) -> bool {
        self.cpu.is_none() || self.times.iter().flatten().any(|times| WANTED_MILLIS < millis(times, 0.5))
    }

    pub(super) fn row(&self) -> Vec<String> {
        let shown = |times: &Option<Histogram>| {
            times
                .as_ref()
                .map_or_else(|| "–".to_owned(), |times| format!("{:.1} / {:.1}", millis(times, 0.5), millis(times, 0.99)))
        };
        let mut row = vec![self.name.clone(), self.sort.clone(), self.found.clone()];
        row.extend(self.times.iter().map(shown));
        row.push(self.cpu.map_or_else(|| "refused".to_owned(), |cpu| format!("{cpu:.1}")));
        row
    }

    pub(super) fn json(&self) -> Value {
        let [first, after, before] = self.times.each_ref().map(|times| {
            times.as_ref().map(|times| json!({ "p50": millis(times, 0.5), "p99": millis(times, 0.99) })).unwrap_or_default()
        });
        json!({
            "search": self.name, "sort": self.sort, "found": self.found, "firstMs": first, "afterMs": after, "beforeMs": before,
            "cpuMs": self.cpu,
        })
    }
}

fn millis(times: &Histogram, share: f64) -> f64 {
    times.quantile(share) as f64 / 1_000.0
}
