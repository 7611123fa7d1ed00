//! Every row of every table, as it is stored; then what a server makes of it.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::de::IgnoredAny;
use store::Error;
use store::contents::{Cell, Row, Table, Visitor};

use super::served;
use crate::config::{Access, StoreUrl};
use crate::progress::Progress;
use crate::serve;

/// Faults that are listed; the others are counted.
const FAULTS_MAX: usize = 100;

/// What was found in a store.
#[derive(Default)]
pub(crate) struct Found {
    /// Rows by table.
    pub(crate) counts: BTreeMap<&'static str, u64>,
    pub(crate) faults: Vec<String>,
    pub(crate) more: u64,
}

impl Found {
    pub(super) fn fault(&mut self, fault: String) {
        match self.faults.len() < FAULTS_MAX {
            true => self.faults.push(fault),
            false => self.more += 1,
        }
    }
}

/// Something deployed, which has to compile.
pub(super) struct Source {
    pub(super) table: &'static str,
    pub(super) key: u64,
    pub(super) file: String,
}

/// Goes through the rows.
struct Reading {
    found: Found,
    sources: Vec<Source>,
    progress: Progress,
}

impl Visitor for Reading {
    fn begin(&mut self, table: &'static Table) {
        self.found.counts.insert(table.name, 0);
    }

    fn row(&mut self, row: &Row<'_>) {
        let table = row.table.name;
        let count = self.found.counts.entry(table).or_default();
        *count += 1;
        self.progress.tell(|| format!("Reading {table}: {count} rows"));
        if let Some(fault) = row.fault(is_json) {
            self.found.fault(fault);
        }
        if matches!(table, "definitions" | "requirements" | "forms") && row.number("deleted") == Some(0) {
            let Cell::Text(file) = row.cell("resource_name") else { return };
            let file = String::from_utf8_lossy(file).into_owned();
            self.sources.push(Source { table, key: row.number("key").unwrap_or_default() as u64, file });
        }
    }

    fn unreadable(&mut self, table: &'static Table, why: &Error) {
        let read = self.found.counts.get(table.name).copied().unwrap_or_default();
        self.found.fault(format!("table {}, what comes after the first {read} rows: {why}", table.name));
    }
}

fn is_json(text: &str) -> Result<(), String> {
    serde_json::from_str::<IgnoredAny>(text).map(drop).map_err(|error| error.to_string())
}

/// Patient, and looked at by nobody else.
fn access() -> Access {
    Access { search_timeout: Duration::from_secs(3600), ..Access::default() }
}

fn database() -> store_postgres::Options {
    store_postgres::Options { search_timeout: access().search_timeout, ..store_postgres::Options::default() }
}

fn run<T>(future: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|error| format!("cannot start: {error}"))?.block_on(future)
}

/// Whether a database has the tables of this server; looking changes nothing.
pub(super) fn is_current(url: &str) -> Result<bool, String> {
    run(async { store_postgres::is_current(url, &database()).await.map_err(|error| error.to_string()) })
}

pub(super) fn read(store: &StoreUrl) -> Result<Found, String> {
    run(async {
        let mut reading = Reading { found: Found::default(), sources: Vec::new(), progress: Progress::begin() };
        let read = match store {
            StoreUrl::Memory => Ok(()),
            StoreUrl::Sqlite(folder) => store_sqlite::read_all(folder, &mut reading),
            StoreUrl::Postgres(url) => store_postgres::read_all(url, &database(), &mut reading).await,
        };
        read.map_err(|error| error.to_string())?;
        let Reading { mut found, sources, mut progress } = reading;
        let opened = serve::open(store, &access()).await?;
        served::compile(&opened, &sources, &mut progress, &mut found).await;
        // What a search finds in a row that is damaged is told already.
        if found.faults.is_empty() {
            served::search(&*opened, &mut progress, &mut found).await;
        }
        Ok(found)
    })
}
