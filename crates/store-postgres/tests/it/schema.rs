//! The schema is made once, whoever comes first, and never used by a server too old for it.

use std::collections::BTreeSet;
use std::path::Path;

use store::Error;
use store::retention::{BELONGING, BESIDE, STAYING};
use store_postgres::Postgres;

use crate::database::{Begins, patient, with_database, with_database_that};

/// The versions that the files of migrations lead to; some have several files.
fn versions_in_files() -> Vec<i64> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    let names = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let versions: BTreeSet<i64> = names.map(|name| name[..4].parse().unwrap()).collect();
    versions.into_iter().collect()
}

#[test]
fn servers_that_start_at_once_make_one_schema() {
    with_database_that(Begins::Empty, |database| async move {
        let starting = (0..6).map(|_| {
            let url = database.url.clone();
            tokio::spawn(async move { Postgres::connect(&url, patient()).await.map(drop) })
        });
        for started in starting.collect::<Vec<_>>() {
            started.await.unwrap().unwrap();
        }
        let rows = database.client().await.query("SELECT version FROM schema_version ORDER BY version", &[]).await.unwrap();
        let versions: Vec<i64> = rows.iter().map(|row| row.get(0)).collect();
        assert_eq!(versions, versions_in_files(), "each migration once");
    });
}

/// A new table that names instances is in one of the lists, or an instance that is removed leaves rows behind.
#[test]
fn every_table_that_names_an_instance_goes_with_it_or_is_said_to_stay() {
    with_database(|database| async move {
        let sql = "SELECT table_name::text FROM information_schema.columns
             WHERE table_schema = current_schema() AND column_name = 'instance'";
        let rows = database.client().await.query(sql, &[]).await.unwrap();
        let found: BTreeSet<String> = rows.iter().map(|row| row.get(0)).collect();
        let listed = BELONGING.into_iter().chain(BESIDE).chain(STAYING).map(str::to_owned);
        assert_eq!(found, listed.collect(), "see store/src/retention.rs");
    });
}

#[test]
fn a_newer_schema_is_refused() {
    with_database(|database| async move {
        database.client().await.execute("INSERT INTO schema_version (version) VALUES (999)", &[]).await.unwrap();
        match Postgres::connect(&database.url, patient()).await.map(drop) {
            Err(Error::SchemaTooNew { found: 999, known }) => assert_eq!(Some(&known), versions_in_files().last()),
            other => panic!("{other:?}"),
        }
    });
}

#[test]
fn every_primary_key_begins_with_the_partition() {
    with_database(|database| async move {
        let others = "
            SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE c.relkind = 'r' AND n.nspname = 'public' AND c.relname NOT IN ('schema_version', 'identity') AND c.relname NOT LIKE 'document%' AND NOT EXISTS (
                SELECT FROM pg_index i JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
                WHERE i.indrelid = c.oid AND i.indisprimary AND a.attname = 'partition')";
        let rows = database.client().await.query(others, &[]).await.unwrap();
        let names: Vec<&str> = rows.iter().map(|row| row.get(0)).collect();
        assert!(names.is_empty(), "{names:?}");
    });
}

#[test]
fn large_values_are_not_compressed_by_the_slow_default() {
    with_database(|database| async move {
        let slow = "
            SELECT attrelid::regclass || '.' || attname FROM pg_attribute
            WHERE attrelid::regclass::text || '.' || attname IN ('variables.value', 'log.events', 'inbox.request',
                'answers.answer', 'turns.step', 'jobs.input', 'jobs.result', 'messages.variables', 'signals.variables', 'idempotent.answer', 'resources.content', 'evaluated_decisions.output', 'evaluated_decisions.details')
              AND NOT (attcompression = 'l' OR attstorage = 'e')";
        let rows = database.client().await.query(slow, &[]).await.unwrap();
        let names: Vec<&str> = rows.iter().map(|row| row.get(0)).collect();
        assert!(names.is_empty(), "{names:?}");
    });
}

/// Tables whose rows hardly ever change or go: the defaults do for them.
const CALM: [(&str, &str); 10] = [
    ("schema_version", "a row for each migration"),
    ("identity", "one row, written once"),
    ("resources", "deployed"),
    ("definitions", "deployed; analyzed early"),
    ("definition_elements", "deployed; analyzed early"),
    ("requirements", "deployed"),
    ("decisions", "deployed"),
    ("forms", "deployed"),
    ("policies", "a row for each version that people make"),
    ("global_listeners", "a row for each version that people make"),
];

/// A table that is new says whether its rows come and go, or it grows by a fifth and more before there is room again.
#[test]
fn every_table_makes_room_early_or_is_said_to_be_calm() {
    with_database(|database| async move {
        let rows = "
            SELECT relname::text, coalesce(reloptions, '{}') FROM pg_class
            WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace";
        let rows = database.client().await.query(rows, &[]).await.unwrap();
        let is_early = |options: &[String]| {
            let option = |name| options.iter().find_map(|option| option.strip_prefix(name)?.parse::<f64>().ok());
            // A new version in the same page needs no vacuum.
            let has_room = option("fillfactor=").is_some_and(|filled| filled <= 50.0);
            option("autovacuum_vacuum_scale_factor=").map_or(has_room, |scale| scale <= 0.1)
        };
        let (early, late): (Vec<_>, Vec<_>) = rows
            .iter()
            .map(|row| (row.get::<_, String>(0), row.get::<_, Vec<String>>(1)))
            .partition(|(_, options)| is_early(options));
        let calm: BTreeSet<&str> = CALM.into_iter().map(|(table, _)| table).collect();
        let unsaid: Vec<_> = late.iter().filter(|(table, _)| !calm.contains(table.as_str())).collect();
        assert!(unsaid.is_empty(), "{unsaid:?}");
        let all: BTreeSet<&str> = early.iter().chain(&late).map(|(table, _)| table.as_str()).collect();
        assert!(calm.is_subset(&all), "{calm:?}");
    });
}
