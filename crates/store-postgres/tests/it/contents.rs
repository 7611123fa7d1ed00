//! All rows, as they are stored.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::PartitionId;
use store::conformance::data::data;
use store::contents::{Holds, Row, Table, Visitor};
use store::{Error, Store, conformance};
use store_postgres::{Options, Postgres, is_current, read_all};

use crate::database::{Begins, Database, patient, with_database, with_database_that};

/// What a check would hear.
#[derive(Default)]
struct Heard {
    tables: BTreeMap<&'static str, usize>,
    faults: Vec<String>,
}

impl Visitor for Heard {
    fn begin(&mut self, table: &'static Table) {
        self.tables.insert(table.name, 0);
    }

    fn row(&mut self, row: &Row<'_>) {
        *self.tables.get_mut(row.table.name).unwrap() += 1;
        self.faults.extend(row.fault(|_| Ok(())));
    }

    fn unreadable(&mut self, table: &'static Table, why: &Error) {
        self.faults.push(format!("{}: {why}", table.name));
    }
}

async fn heard(database: &Database) -> Heard {
    let mut heard = Heard::default();
    read_all(&database.url, &Options::default(), &mut heard).await.unwrap();
    heard
}

/// A new table, or a new column of bytes, is one that nobody would look at.
#[test]
fn every_table_and_every_column_of_bytes_is_read() {
    with_database(|database| async move {
        let sql = "SELECT table_name::text, column_name::text, data_type::text FROM information_schema.columns
             WHERE table_schema = current_schema()";
        let rows = database.client().await.query(sql, &[]).await.unwrap();
        let mut of: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        for row in &rows {
            of.entry(row.get(0)).or_default().insert(row.get(1), row.get(2));
        }
        let read = heard(&database).await;
        assert_eq!(read.faults, Vec::<String>::new());
        assert!(of.keys().eq(read.tables.keys()), "see TABLES in store/src/contents.rs");
        for (name, columns) in &of {
            let special: BTreeMap<_, _> = Table::named(name).unwrap().special().collect();
            for (column, kind) in columns {
                let is_bytes = matches!(special.get(column.as_str()), Some(Holds::Stored(_) | Holds::Bytes));
                assert_eq!(is_bytes, kind == "bytea", "{name}.{column}: see TABLES in store/src/contents.rs");
            }
            assert!(special.keys().all(|column| columns.contains_key(*column)), "{name}");
        }
        let kinds: BTreeSet<&str> = of.values().flat_map(|columns| columns.values().map(String::as_str)).collect();
        let known = ["bigint", "boolean", "bytea", "integer", "smallint", "text", "timestamp with time zone"];
        assert_eq!(kinds, BTreeSet::from(known), "a new type is one that is not read");
    });
}

#[test]
fn damaged_rows_are_named_and_the_rest_is_read() {
    with_database(|database| async move {
        let store: Arc<dyn Store> = Arc::new(Postgres::connect(&database.url, patient()).await.unwrap());
        let (rows, _) = data(PartitionId(1), 40);
        conformance::fill(&store, PartitionId(1), rows).await;
        let client = database.client().await;
        // What the suite writes there are no events.
        client.batch_execute("UPDATE log SET events = ''").await.unwrap();
        let whole = heard(&database).await;
        assert_eq!(whole.faults, Vec::<String>::new());
        for table in ["instances", "variables", "jobs", "log", "timers", "user_tasks", "audit", "batch_operations"] {
            assert!(0 < whole.tables[table], "{table}: {:?}", whole.tables);
        }
        let damage = "UPDATE batch_operations SET asked = '\\xfa01' WHERE key = (SELECT min(key) FROM batch_operations);
            UPDATE jobs SET state = 'GONE' WHERE key = (SELECT min(key) FROM jobs);
            ALTER TABLE timers RENAME TO gone";
        client.batch_execute(damage).await.unwrap();
        let read = heard(&database).await;
        let keys = "SELECT (SELECT min(key) FROM batch_operations), (SELECT min(key) FROM jobs)";
        let keys = client.query_one(keys, &[]).await.unwrap();
        let (batch, job): (i64, i64) = (keys.get(0), keys.get(1));
        let [first, second, third] = read.faults.as_slice() else { panic!("{:?}", read.faults) };
        assert!(first.starts_with(&format!("table batch_operations, key {batch}, column asked: ")), "{first}");
        assert!(second.starts_with(&format!("table jobs, key {job}, column state: ")), "{second}");
        assert!(third.starts_with("timers: ") && third.contains("does not exist"), "{third}");
        assert_eq!(read.tables["variables"], whole.tables["variables"], "the tables after it are read");
    });
}

#[test]
fn whether_tables_are_current_is_told_without_changing_them() {
    with_database_that(Begins::Empty, |database| async move {
        let none = is_current(&database.url, &patient()).await.unwrap_err().to_string();
        assert!(none.contains("no store of Caudal"), "{none}");
        drop(Postgres::connect(&database.url, patient()).await.unwrap());
        assert!(is_current(&database.url, &patient()).await.unwrap());
        let client = database.client().await;
        client
            .batch_execute("DELETE FROM schema_version WHERE version = (SELECT max(version) FROM schema_version)")
            .await
            .unwrap();
        assert!(!is_current(&database.url, &patient()).await.unwrap());
        client.batch_execute("INSERT INTO schema_version (version) VALUES (999)").await.unwrap();
        assert!(matches!(is_current(&database.url, &patient()).await, Err(Error::SchemaTooNew { found: 999, .. })));
    });
}
