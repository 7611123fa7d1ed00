//! The schema is what it is said to be, and a newer one is left alone.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use engine::PartitionId;
use rusqlite::Connection;
use rusqlite::types::Value;
use store::query::{Cursor, Entity, Field, Filter, Op, Order, Page, Query, Scalar, Sort, Tenants};
use store::retention::{BELONGING, BESIDE, STAYING};
use store::row::Candidates;
use store::sql::{self, Dialect};

use super::*;
use crate::{Options, statement};

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

/// A new table that names instances is in one of the lists, or an instance that is removed leaves rows behind.
#[test]
fn every_table_that_names_an_instance_goes_with_it_or_is_said_to_stay() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection).unwrap();
    let with = |column: &str| {
        let sql = "SELECT t.name FROM pragma_table_list AS t, pragma_table_info(t.name) AS c
             WHERE t.schema = 'main' AND t.type = 'table' AND c.name = ?1";
        let mut select = connection.prepare(sql).unwrap();
        let tables = select.query_map([column], |row| row.get::<_, String>(0)).unwrap();
        tables.map(Result::unwrap).collect::<BTreeSet<String>>()
    };
    let listed = BELONGING.into_iter().chain(BESIDE).chain(STAYING).map(str::to_owned);
    assert_eq!(with("instance"), listed.collect(), "see store/src/retention.rs");
    assert!(BELONGING.into_iter().all(|table| with("key").contains(table)));
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
        MIGRATIONS[..older].iter().for_each(|migration| migration.apply(&connection).unwrap());
        connection.pragma_update(None, "user_version", older as i64).unwrap();
        migrate(&mut connection).unwrap();
        let mut newest = Connection::open_in_memory().unwrap();
        migrate(&mut newest).unwrap();
        assert_eq!(dump(&connection), dump(&newest));
    }
}

/// Every row of every table that searches show, by these columns.
fn contents(connection: &Connection, columns: &[(&str, String)]) -> Vec<String> {
    let mut rows = Vec::new();
    for (table, columns) in columns {
        let mut select = connection.prepare(&format!("SELECT {columns} FROM {table} ORDER BY key")).unwrap();
        let count = select.column_count();
        let mut found = select.query(()).unwrap();
        while let Some(row) = found.next().unwrap() {
            let values: Vec<Value> = (0..count).map(|column| row.get(column).unwrap()).collect();
            rows.push(format!("{table} {values:?}"));
        }
    }
    rows
}

/// A store as an earlier version has left it.
fn of_schema_2(name: &str) -> (Folder, Connection) {
    let folder = Folder::new(name);
    std::fs::create_dir_all(folder.path()).unwrap();
    let path = folder.path().join("caudal.db");
    std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/stores/schema-2.sqlite.db"), &path).unwrap();
    (folder, Connection::open(&path).unwrap())
}

/// Whatever migrations do to tables, what was in them is in them afterwards, but for tokens, which have a table of their own.
#[test]
fn rows_stay_as_they_are() {
    let (_folder, mut connection) = of_schema_2("rows-stay");
    let tables = [
        "definitions",
        "requirements",
        "decisions",
        "evaluated_decisions",
        "instances",
        "elements",
        "variables",
        "jobs",
        "incidents",
    ];
    let names = "SELECT group_concat(name) FROM pragma_table_info(?1) WHERE name <> 'tokens'";
    let columns = tables.map(|table| (table, connection.query_row(names, [table], |row| row.get(0)).unwrap()));
    // Of the log what was processed; the rest is in the inbox.
    let log = |connection: &Connection, position: &str| {
        let processed = format!(
            "SELECT group_concat(position || kind || hex(events), ' ')
            FROM (SELECT {position} AS position, kind, events FROM log ORDER BY 1 LIMIT 16)"
        );
        connection.query_row(&processed, (), |row| row.get::<_, String>(0)).unwrap()
    };
    let before = (contents(&connection, &columns), log(&connection, "position"));
    assert!(70 < before.0.len() && 1_000 < before.1.len(), "{before:?}");
    migrate(&mut connection).unwrap();
    assert_eq!((contents(&connection, &columns), log(&connection, "place - (1 << 51)")), before);
    let left: i64 = connection.query_row("SELECT count(*) FROM log", (), |row| row.get(0)).unwrap();
    assert_eq!(left, 16);
}

/// Of those that are there already, by looking at all pairs of them.
#[test]
fn how_far_back_what_is_there_began_is_found_out() {
    for table in ["elements", "instances"] {
        let (_folder, mut connection) = of_schema_2(&format!("started-back-{table}"));
        // A clock that was set back before the last three.
        let set_back = format!(
            "UPDATE {table} SET started = started - 8000 WHERE key IN (SELECT key FROM {table} ORDER BY key DESC LIMIT 3)"
        );
        assert_eq!(connection.execute(&set_back, ()).unwrap(), 3);
        migrate(&mut connection).unwrap();
        let pair = |sql: &str| connection.query_row(sql, (), |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))).unwrap();
        let known = pair("SELECT started_latest, started_back FROM partitions");
        let all = pair(
            "WITH began AS (SELECT 'element' AS what, key, started AS at FROM elements
                UNION ALL SELECT 'job', key, created FROM jobs UNION ALL SELECT 'instance', key, started FROM instances)
            SELECT max(a.at), max(a.at - b.at) FROM began AS a JOIN began AS b ON a.what = b.what AND a.key <= b.key",
        );
        assert_eq!(known, all);
        assert!(7_000 <= known.1, "{known:?}");
    }
}

#[test]
fn a_newer_schema_is_refused() {
    let folder = Folder::new("newer-schema");
    drop(crate::open(folder.path(), Options::default()).unwrap());
    let connection = Connection::open(folder.path().join("caudal.db")).unwrap();
    let newest = MIGRATIONS.len() as i64;
    connection.pragma_update(None, "user_version", newest + 1).unwrap();
    drop(connection);
    match crate::open(folder.path(), Options::default()) {
        Err(Error::SchemaTooNew { found, known }) => assert_eq!((found, known), (newest + 1, newest)),
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
    assert!(matches!(crate::open(folder.path(), Options::default()), Err(Error::Corrupt { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), vec![b'x'; 10_000]);
}

/// How SQLite would run a statement, step by step.
pub(crate) fn plan(connection: &Connection, sql: &str) -> Vec<String> {
    let mut explain = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    explain.raw_query().mapped(|row| row.get(3)).map(Result::unwrap).collect()
}

/// They are read part by part, so no part may be sorted first.
const WINDOWS: [&str; 7] = [
    statement::READY_JOBS,
    statement::DUE,
    statement::WAITING_REQUESTS,
    statement::GROUP_SUBSCRIPTIONS,
    statement::GROUP_MESSAGES,
    statement::MESSAGE_STARTS,
    statement::SIGNAL_SUBSCRIPTIONS,
];

/// Hot statements touch live rows only, however long the history is.
#[test]
fn hot_statements_use_the_indexes_made_for_them() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection).unwrap();
    let expected = [
        (statement::WAITING_REQUESTS, "inbox USING PRIMARY KEY (partition=? AND position>?)"),
        (statement::INBOX_SIZE, "inbox USING PRIMARY KEY (partition=?)"),
        (statement::CLEAR_INBOX, "inbox USING PRIMARY KEY (partition=? AND position<?)"),
        (statement::WAITING_TOKENS, "tokens USING PRIMARY KEY (partition=? AND instance=?)"),
        (statement::WAITING_TURNS, "turns USING INDEX turns_by_instance (partition=? AND instance=?)"),
        (statement::KEPT_COMPENSATIONS, "compensations USING INDEX compensations_by_instance (partition=? AND instance=?)"),
        (statement::DELETE_COMPENSATION, "compensations USING INTEGER PRIMARY KEY (rowid=?)"),
        (statement::PROCESS_NAMED, "definitions USING INDEX definitions_by_version (partition=? AND process_id=? AND tenant=?)"),
        (statement::RUNNING_INSTANCE, "instances USING INTEGER PRIMARY KEY (rowid=?)"),
        (statement::LIVE_ELEMENTS, "elements USING INDEX elements_live (partition=? AND instance=?)"),
        (statement::LIVE_VARIABLES, "variables USING INDEX variables_by_instance (partition=? AND instance=? AND scope=?)"),
        (statement::OPEN_JOBS, "jobs USING INDEX jobs_open (partition=? AND instance=?)"),
        (statement::ACTIVE_INCIDENTS, "incidents USING INDEX incidents_active (partition=? AND instance=?)"),
        (
            statement::READY_JOBS,
            "jobs USING COVERING INDEX jobs_ready (partition=? AND job_type=? AND tenant=? AND priority=? AND key>?)",
        ),
        (statement::READY_JOBS, "jobs USING COVERING INDEX jobs_ready (partition=? AND job_type=? AND tenant=? AND priority<?)"),
        (
            statement::READY_JOBS_OF_ALL_GROUPS,
            "jobs USING INDEX jobs_ready (partition=? AND job_type=? AND tenant=? AND priority=? AND key>?)",
        ),
        (
            statement::READY_JOBS_OF_NO_GROUP,
            "jobs USING INDEX jobs_ready (partition=? AND job_type=? AND tenant=? AND priority=? AND key>?)",
        ),
        (
            statement::READY_JOBS_OF_GROUP,
            "jobs USING COVERING INDEX jobs_ready_by_group (partition=? AND job_type=? AND tenant=? AND group_key=? AND priority=? AND key>?)",
        ),
        (statement::COUNT_RUNNING_JOBS, "jobs USING INDEX jobs_timed (partition=? AND due>?)"),
        (statement::COUNT_WAITING_JOBS, "jobs USING INDEX jobs_ready (partition=? AND job_type=? AND tenant=?)"),
        (statement::DUE, "jobs USING COVERING INDEX jobs_timed (partition=? AND due=? AND key>?)"),
        (statement::DUE, "jobs USING COVERING INDEX jobs_timed (partition=? AND due>?)"),
        (statement::DUE, "turns USING INDEX turns_by_time (partition=? AND due=? AND key>?)"),
        (statement::DUE, "turns USING INDEX turns_by_time (partition=? AND due>?)"),
        (statement::DUE, "timers USING INDEX timers_by_time (partition=? AND due=? AND key>?)"),
        (statement::DUE, "timers USING INDEX timers_by_time (partition=? AND due>?)"),
        (statement::DUE, "messages USING COVERING INDEX messages_by_expiry (partition=? AND expires=? AND key>?)"),
        (statement::DUE, "messages USING COVERING INDEX messages_by_expiry (partition=? AND expires>?)"),
        (statement::DUE, "signals USING COVERING INDEX signals_by_time (partition=? AND due=? AND key>?)"),
        (statement::DUE, "signals USING COVERING INDEX signals_by_time (partition=? AND due>?)"),
        (statement::PENDING_TIMERS, "timers USING INDEX timers_pending (partition=? AND instance=?)"),
        (statement::PENDING_TIMER, "timers USING INTEGER PRIMARY KEY (rowid=?)"),
        (statement::CHANGE_TIMER, "timers USING INTEGER PRIMARY KEY (rowid=?)"),
        (statement::STARTING_TIMERS, "timers USING INDEX timers_starting (definition=?)"),
        (statement::OPEN_SUBSCRIPTIONS, "subscriptions USING INDEX subscriptions_open (partition=? AND instance=?)"),
        (statement::OPEN_SUBSCRIPTION, "subscriptions USING INTEGER PRIMARY KEY (rowid=?)"),
        (statement::CHANGE_SUBSCRIPTION, "subscriptions USING INTEGER PRIMARY KEY (rowid=?)"),
        (statement::STARTING_SUBSCRIPTIONS, "subscriptions USING INDEX subscriptions_starting (definition=?)"),
        (
            statement::GROUP_SUBSCRIPTIONS,
            "subscriptions USING INDEX subscriptions_to_messages (partition=? AND tenant=? AND name=? AND correlation_key=?)",
        ),
        (
            statement::MESSAGE_STARTS,
            "subscriptions USING INDEX subscriptions_to_messages (partition=? AND tenant=? AND name=? AND correlation_key=?)",
        ),
        (
            statement::SIGNAL_SUBSCRIPTIONS,
            "subscriptions USING INDEX subscriptions_to_signals (partition=? AND tenant=? AND name=? AND key>? AND key<?)",
        ),
        (
            statement::GROUP_MESSAGES,
            "messages USING INDEX messages_by_name (partition=? AND tenant=? AND name=? AND correlation_key=?)",
        ),
        (statement::MESSAGE, "messages USING INTEGER PRIMARY KEY (rowid=?)"),
        (statement::TAKE_MESSAGE, "messages USING INTEGER PRIMARY KEY (rowid=?)"),
        (statement::LOCK, "message_locks USING PRIMARY KEY (partition=? AND tenant=? AND process_id=? AND correlation_key=?)"),
        (
            statement::DELETE_LOCK,
            "message_locks USING PRIMARY KEY (partition=? AND tenant=? AND process_id=? AND correlation_key=?)",
        ),
        (
            statement::LOCKS_OF_INSTANCE,
            "message_locks USING COVERING INDEX message_locks_by_instance (partition=? AND instance=?)",
        ),
        (statement::OPEN_USER_TASKS, "user_tasks USING INDEX user_tasks_waiting (partition=? AND instance=?)"),
        (statement::OPEN_USER_TASK, "user_tasks USING INTEGER PRIMARY KEY (rowid=?)"),
        (statement::CHANGE_USER_TASK, "user_tasks USING INTEGER PRIMARY KEY (rowid=?)"),
        (statement::DELETE_USER_TASK_CANDIDATES, "user_task_candidates USING PRIMARY KEY (partition=? AND task=?)"),
        (statement::FORMS_NAMED, "forms USING INDEX forms_by_version (partition=? AND id=? AND tenant=?)"),
        (statement::FORM_BY_KEY, "forms USING INTEGER PRIMARY KEY (rowid=?)"),
        (statement::HAS_RUNNING, "instances USING COVERING INDEX instances_running (definition=?)"),
        (statement::CHANGE_JOB, "jobs USING INTEGER PRIMARY KEY (rowid=?)"),
        (statement::CHANGE_EXECUTION, "jobs USING INTEGER PRIMARY KEY (rowid=?)"),
        (
            statement::UNIQUE_HOLDER,
            "jobs USING INDEX jobs_by_unique_key (partition=? AND tenant=? AND job_type=? AND unique_key=?)",
        ),
        (
            statement::DELETE_EVALUATION,
            "evaluated_decisions USING INDEX evaluated_decisions_by_evaluation (partition=? AND evaluation=?)",
        ),
        (statement::CHANGE_ELEMENT, "elements USING INTEGER PRIMARY KEY (rowid=?)"),
        (statement::COUNT_INCIDENT_IN_ELEMENTS, "incidents USING INTEGER PRIMARY KEY (rowid=?)"),
        (statement::COUNT_INCIDENT_IN_ELEMENTS, "inner USING INTEGER PRIMARY KEY (rowid=?)"),
        (statement::COUNT_INCIDENT_IN_ELEMENTS, "called USING INTEGER PRIMARY KEY (rowid=?)"),
        (statement::COUNT_INCIDENT_IN_ELEMENTS, "elements USING INTEGER PRIMARY KEY (rowid=?)"),
        (statement::COUNT_INCIDENT_IN_INSTANCES, "instances USING INTEGER PRIMARY KEY (rowid=?)"),
    ];
    for (sql, search) in expected {
        let plan = plan(&connection, sql);
        assert!(plan.contains(&format!("SEARCH {search}")), "{sql}{plan:#?}");
        let is_window = WINDOWS.contains(&sql);
        assert!(!is_window || !plan.iter().any(|step| step.contains("TEMP B-TREE")), "{sql}{plan:#?}");
        assert!(!plan.iter().any(|step| step.contains("BLOOM FILTER")), "{sql}{plan:#?}");
    }
}

#[test]
fn searches_by_instance_and_by_key_read_what_they_show() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection).unwrap();
    let of_instance = Filter::Is(Field::InstanceKey, Op::Eq(Scalar::Int(PartitionId(1).first_key() as i64)));
    let expected = [
        (Entity::Instances, "INTEGER PRIMARY KEY (rowid=?)"),
        (Entity::Elements, "INDEX elements_by_instance (partition=? AND instance=?)"),
        (Entity::Variables, "INDEX variables_by_instance (partition=? AND instance=?)"),
        (Entity::Jobs, "INDEX jobs_by_instance (partition=? AND instance=?)"),
        (Entity::Incidents, "INDEX incidents_by_instance (partition=? AND instance=?)"),
        (Entity::EvaluatedDecisions, "INDEX evaluated_decisions_by_instance (partition=? AND instance=?)"),
        (Entity::Timers, "INDEX timers_by_instance (partition=? AND instance=?)"),
        (Entity::MessageSubscriptions, "INDEX subscriptions_by_instance (partition=? AND instance=?)"),
        (Entity::MessageCorrelations, "INDEX message_correlations_by_instance (partition=? AND instance=?)"),
        (Entity::UserTasks, "INDEX user_tasks_by_instance (partition=? AND instance=?)"),
    ];
    for (entity, index) in expected {
        let search =
            sql::search(&Query { filter: of_instance.clone(), ..Query::of(entity, Tenants::Everything) }, Dialect::Sqlite);
        let plan = plan(&connection, &search.page.text);
        assert!(plan.iter().any(|step| *step == format!("SEARCH o0 USING {index}")), "{entity:?} {plan:#?}");
    }
    let cursor = Cursor(vec![Some(Scalar::Int(PartitionId(1).first_key() as i64))]);
    let next = Query { page: Page::After { cursor, limit: 50 }, ..Query::of(Entity::Elements, Tenants::Everything) };
    let plan = plan(&connection, &sql::search(&next, Dialect::Sqlite).page.text);
    assert_eq!(plan[0], "SEARCH o0 USING INTEGER PRIMARY KEY (rowid>?)");
    assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{plan:#?}");
}

/// However many there are without, and in the order of their keys.
#[test]
fn what_has_an_incident_is_found_by_that() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection).unwrap();
    let filter = Filter::Is(Field::HasIncident, Op::Eq(Scalar::Bool(true)));
    for (entity, index) in [(Entity::Instances, "instances_stuck"), (Entity::Elements, "elements_stuck")] {
        let query = Query { filter: filter.clone(), ..Query::of(entity, Tenants::Everything) };
        let search = sql::search(&query, Dialect::Sqlite);
        for text in [&search.page.text, &search.total.text] {
            let plan = plan(&connection, text);
            assert!(plan.iter().any(|step| *step == format!("SCAN o0 USING INDEX {index}")), "{text}\n{plan:#?}");
            assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{text}\n{plan:#?}");
        }
    }
}

/// Incidents that were open before anything above them showed it.
#[test]
fn open_incidents_are_counted_when_the_schema_begins_to() {
    let mut connection = Connection::open_in_memory().unwrap();
    for migration in &MIGRATIONS[..5] {
        migration.apply(&connection).unwrap();
    }
    connection.pragma_update(None, "user_version", 5).unwrap();
    let rows = "
        INSERT INTO instances (partition, key, definition, state, phase, started, parent_instance, parent_element, root, tags, incidents)
        VALUES (1, 10, 1, 'ACTIVE', 1, 0, NULL, NULL, 10, '', 0), (1, 20, 1, 'ACTIVE', 1, 0, 10, 12, 10, '', 2),
            (1, 30, 1, 'ACTIVE', 1, 0, NULL, NULL, 30, '', 0);
        INSERT INTO elements (partition, key, instance, definition, element, scope, state, phase, started)
        VALUES (1, 11, 10, 1, 1, 10, 'ACTIVE', 1, 0), (1, 12, 10, 1, 2, 11, 'ACTIVE', 1, 0), (1, 13, 10, 1, 3, 10, 'ACTIVE', 1, 0),
            (1, 21, 20, 1, 1, 20, 'ACTIVE', 1, 0);
        INSERT INTO incidents (partition, key, instance, definition, element, element_instance, kind, message, message_hash, created, resolved)
        VALUES (1, 41, 20, 1, 1, 21, 'CONDITION_ERROR', '', 0, 0, NULL), (1, 42, 20, 1, 0, 20, 'CONDITION_ERROR', '', 0, 0, NULL),
            (1, 43, 10, 1, 3, 13, 'CONDITION_ERROR', '', 0, 0, 7)";
    connection.execute_batch(rows).unwrap();
    migrate(&mut connection).unwrap();
    let counted = "SELECT group_concat(key || ':' || stuck, ' ') FROM (SELECT key, stuck FROM instances WHERE stuck IS NOT NULL
        UNION ALL SELECT key, stuck FROM elements WHERE stuck IS NOT NULL ORDER BY key)";
    let counted: String = connection.query_row(counted, (), |row| row.get(0)).unwrap();
    assert_eq!(counted, "10:2 11:2 12:2 20:2 21:1");
}

/// People ask for what is theirs, however much others have to do and whatever is done.
#[test]
fn user_tasks_are_found_by_who_has_them_and_who_may() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection).unwrap();
    let open = Filter::Is(Field::UserTaskState, Op::Eq(Scalar::Text("CREATED".into())));
    let ann = || Op::Eq(Scalar::Text("ann".into()));
    let expected = [
        (Filter::Is(Field::Assignee, ann()), "SEARCH o0 USING INDEX user_tasks_by_assignee (assignee=? AND state=?)"),
        (
            Filter::Candidate(Candidates::Groups, ann()),
            "SEARCH c USING COVERING INDEX user_task_candidates_by_name (kind=? AND name=? AND open=?)",
        ),
    ];
    let newest = vec![Sort { field: Field::Created, order: Order::Descending }];
    for (filter, step) in expected {
        let filter = Filter::All(vec![filter, open.clone()]);
        let query = Query { filter, ..Query::of(Entity::UserTasks, Tenants::These(vec!["<default>".into()])) };
        let newest = Query { sort: newest.clone(), ..query.clone() };
        let (search, newest) = (sql::search(&query, Dialect::Sqlite), sql::search(&newest, Dialect::Sqlite));
        let by_creation = step.replace("candidates_by_name", "candidates_by_creation");
        // What is counted comes in any order.
        for (text, steps) in [
            (&search.page.text, vec![step]),
            (&newest.page.text, vec![&*by_creation]),
            (&search.total.text, vec![step, &by_creation]),
        ] {
            let plan = plan(&connection, text);
            assert!(plan.iter().any(|one| steps.contains(&&**one)), "{text}\n{plan:#?}");
            assert!(!plan.iter().any(|one| one.starts_with("SCAN o0") || one.starts_with("SCAN c")), "{text}\n{plan:#?}");
        }
    }
}

/// Whoever asks what happened to a job or in an instance does not look through all jobs there ever were.
#[test]
fn the_audit_trail_of_a_job_and_of_an_instance_is_found_by_indexes() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection).unwrap();
    for field in [Field::JobKey, Field::InstanceKey] {
        let filter = Filter::Is(field, Op::Eq(Scalar::Int(PartitionId(1).first_key() as i64)));
        let sort = vec![store::query::Sort { field: Field::At, order: store::query::Order::Descending }];
        let query = Query { filter, sort, ..Query::of(Entity::Audit, Tenants::Everything) };
        let plan = plan(&connection, &sql::search(&query, Dialect::Sqlite).page.text);
        let scans: Vec<_> = plan.iter().filter(|step| step.starts_with("SCAN audit") || step.starts_with("SCAN jobs")).collect();
        assert!(scans.is_empty(), "{field:?}: {plan:#?}");
        let searched = |table: &str| plan.iter().filter(|step| step.starts_with(&format!("SEARCH {table} "))).count();
        assert_eq!((searched("audit"), searched("jobs")), (2, 2), "{field:?}: {plan:#?}");
    }
}
