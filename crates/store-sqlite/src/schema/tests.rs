//! The schema is what it is said to be, and a newer one is left alone.

use std::path::{Path, PathBuf};

use engine::PartitionId;
use rusqlite::Connection;
use store::query::{Cursor, Entity, Field, Filter, Op, Page, Query, Scalar};
use store::sql::{self, Dialect};

use super::*;
use crate::statement;

/// A folder for one test, gone afterwards.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("caudal-sqlite-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn dump(connection: &Connection) -> String {
    let sql = "SELECT sql || ';' FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY tbl_name, type DESC, name";
    let mut select = connection.prepare(sql).unwrap();
    let parts: Vec<String> = select.query_map((), |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    parts.join("\n\n") + "\n"
}

/// `UPDATE_SCHEMA=1 cargo test -p store-sqlite` writes it anew.
#[test]
fn all_migrations_give_the_checked_in_schema() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema.sql");
    let found = dump(&connection);
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), found, "UPDATE_SCHEMA=1 writes schema.sql anew");
}

#[test]
fn migrating_twice_changes_nothing() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection).unwrap();
    let once = dump(&connection);
    migrate(&mut connection).unwrap();
    assert_eq!(dump(&connection), once);
}

#[test]
fn an_older_schema_is_brought_up_to_date() {
    for older in 0..MIGRATIONS.len() {
        let mut connection = Connection::open_in_memory().unwrap();
        MIGRATIONS[..older].iter().for_each(|migration| connection.execute_batch(migration).unwrap());
        connection.pragma_update(None, "user_version", older as i64).unwrap();
        migrate(&mut connection).unwrap();
        let mut newest = Connection::open_in_memory().unwrap();
        migrate(&mut newest).unwrap();
        assert_eq!(dump(&connection), dump(&newest));
    }
}

#[test]
fn a_newer_schema_is_refused() {
    let folder = Folder::new("newer-schema");
    drop(crate::open(folder.path()).unwrap());
    let connection = Connection::open(folder.path().join("caudal.db")).unwrap();
    connection.pragma_update(None, "user_version", MIGRATIONS.len() as i64 + 1).unwrap();
    drop(connection);
    match crate::open(folder.path()) {
        Err(Error::SchemaTooNew { found, known }) => assert_eq!((found, known), (3, 2)),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("a newer schema was opened"),
    }
}

#[test]
fn something_else_is_not_overwritten() {
    let folder = Folder::new("not-a-database");
    std::fs::create_dir_all(folder.path()).unwrap();
    let path = folder.path().join("caudal.db");
    std::fs::write(&path, vec![b'x'; 10_000]).unwrap();
    assert!(matches!(crate::open(folder.path()), Err(Error::Corrupt { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), vec![b'x'; 10_000]);
}

/// How SQLite would run a statement, step by step.
fn plan(connection: &Connection, sql: &str) -> Vec<String> {
    let mut explain = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    explain.raw_query().mapped(|row| row.get(3)).map(Result::unwrap).collect()
}

/// Hot statements touch live rows only, however long the history is.
#[test]
fn hot_statements_use_the_indexes_made_for_them() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection).unwrap();
    let expected = [
        (statement::PENDING_COMMANDS, "log USING PRIMARY KEY (partition=? AND position>?)"),
        (statement::RUNNING_INSTANCE, "instances USING PRIMARY KEY (partition=? AND key=?)"),
        (statement::LIVE_ELEMENTS, "elements USING INDEX elements_live (partition=? AND instance=?)"),
        (statement::LIVE_VARIABLES, "variables USING INDEX variables_by_instance (partition=? AND instance=? AND scope=?)"),
        (statement::OPEN_JOBS, "jobs USING INDEX jobs_open (partition=? AND instance=?)"),
        (statement::ACTIVE_INCIDENTS, "incidents USING INDEX incidents_active (partition=? AND instance=?)"),
        (statement::READY_JOBS, "jobs USING INDEX jobs_ready (partition=? AND job_type=? AND tenant=? AND key>?)"),
        (statement::TIMED_JOBS, "jobs USING COVERING INDEX jobs_timed (partition=? AND (due,key)>(?,?))"),
        (statement::HAS_RUNNING, "instances USING COVERING INDEX instances_running (definition=?)"),
        (statement::CHANGE_JOB, "jobs USING PRIMARY KEY (partition=? AND key=?)"),
        (
            statement::DELETE_EVALUATION,
            "evaluated_decisions USING INDEX evaluated_decisions_by_evaluation (partition=? AND evaluation=?)",
        ),
        (statement::CHANGE_ELEMENT, "elements USING PRIMARY KEY (partition=? AND key=?)"),
    ];
    for (sql, search) in expected {
        let plan = plan(&connection, sql);
        assert!(plan.contains(&format!("SEARCH {search}")), "{sql}{plan:#?}");
    }
}

#[test]
fn searches_by_instance_and_by_key_read_what_they_show() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection).unwrap();
    let of_instance = Filter::Is(Field::InstanceKey, Op::Eq(Scalar::Int(PartitionId(1).first_key() as i64)));
    let expected = [
        (Entity::Instances, "PRIMARY KEY (partition=? AND key=?)"),
        (Entity::Elements, "INDEX elements_by_instance (partition=? AND instance=?)"),
        (Entity::Variables, "INDEX variables_by_instance (partition=? AND instance=?)"),
        (Entity::Jobs, "INDEX jobs_by_instance (partition=? AND instance=?)"),
        (Entity::Incidents, "INDEX incidents_by_instance (partition=? AND instance=?)"),
        (Entity::EvaluatedDecisions, "INDEX evaluated_decisions_by_instance (partition=? AND instance=?)"),
    ];
    for (entity, index) in expected {
        let search = sql::search(&Query { filter: of_instance.clone(), ..Query::of(entity) }, Dialect::Sqlite);
        let plan = plan(&connection, &search.page.text);
        assert!(plan.iter().any(|step| *step == format!("SEARCH o0 USING {index}")), "{entity:?} {plan:#?}");
    }
    let cursor = Cursor(vec![Some(Scalar::Int(PartitionId(1).first_key() as i64))]);
    let next = Query { page: Page::After { cursor, limit: 50 }, ..Query::of(Entity::Elements) };
    let plan = plan(&connection, &sql::search(&next, Dialect::Sqlite).page.text);
    assert_eq!(plan[0], "SEARCH o0 USING PRIMARY KEY ((partition,key)>(?,?))");
    assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{plan:#?}");
}
