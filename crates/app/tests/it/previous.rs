//! What an earlier server left of schema version 5 goes on: calls, tasks, timers, messages and an incident below a call.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::server::Server;
use serde_json::{Value, json};

/// Instances of `outer`: one waits for a message, one for a person with a timer beside, one for what it has called.
const PAYING: &str = "2251799813685260";
const LOOKING: &str = "2251799813685293";
const STUCK: &str = "2251799813685319";
/// What the last one has called, the job that failed in it, and its incident.
const CALLED: &str = "2251799813685325";
const JOB: &str = "2251799813685330";
const INCIDENT: &str = "2251799813685333";
const TASK: &str = "2251799813685310";
const TIMER: &str = "2251799813685309";

pub(crate) fn kept(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/stores").join(name)
}

/// One field of all items of a list.
pub(crate) fn all<'a>(list: &'a Value, field: &str) -> BTreeSet<&'a str> {
    list["items"].as_array().unwrap().iter().map(|item| item[field].as_str().unwrap_or_default()).collect()
}

/// The called process ends before the caller goes on, so this asks until there are some.
fn tasks_of(server: &Server, instance: &str) -> Value {
    let mut asked = (0..500).map(|_| {
        let mut tasks = server.json(&["tasks"]);
        tasks["items"].as_array_mut().unwrap().retain(|task| task["processInstanceKey"] == instance);
        tasks
    });
    asked.find(|tasks| tasks["items"] != json!([])).expect("a task")
}

fn goes_on(server: &Server) {
    let running = server.json(&["instances", "--state", "active"]);
    assert_eq!(all(&running, "processInstanceKey"), BTreeSet::from([PAYING, LOOKING, STUCK, CALLED]));
    let with_incident: BTreeSet<&str> = {
        let items = running["items"].as_array().unwrap().iter().filter(|item| item["hasIncident"] == true);
        items.map(|item| item["processInstanceKey"].as_str().unwrap()).collect()
    };
    assert_eq!(with_incident, BTreeSet::from([STUCK, CALLED]), "who called it shows it, too");
    assert_eq!(all(&server.json(&["incidents"]), "incidentKey"), BTreeSet::from([INCIDENT]));

    server.caudal(&["retries", JOB, "1"]).done();
    server.caudal(&["incident", "resolve", INCIDENT]).done();
    let running = server.json(&["instances", "--state", "active"]);
    assert!(running["items"].as_array().unwrap().iter().all(|item| item["hasIncident"] == false), "{running}");
    server.caudal(&["work", "price", "--count", "1", "--complete-with", "{}"]).done();
    let called = tasks_of(server, STUCK);
    let task = called["items"][0]["userTaskKey"].as_str().unwrap();
    server.caudal(&["task", "claim", task, "--as", "bob"]).done();
    server.caudal(&["task", "complete", task]).done();

    server.caudal(&["timer", "fire", TIMER]).done();
    let looking = tasks_of(server, LOOKING);
    assert_eq!((all(&looking, "userTaskKey"), all(&looking, "assignee")), (BTreeSet::from([TASK]), BTreeSet::from(["ada"])));
    assert_eq!(looking["items"][0]["candidateGroups"], json!(["clerks"]));
    server.caudal(&["task", "complete", TASK, "--variables", r#"{"seen": true}"#]).done();

    for order in ["paying", "looking", "stuck"] {
        server.caudal(&["correlate", "paid", "--key", order]).done();
    }
    let completed = server.json(&["instances", "--process", "outer", "--state", "completed"]);
    assert_eq!(all(&completed, "processInstanceKey"), BTreeSet::from([PAYING, LOOKING, STUCK]));
}

#[test]
fn a_file_of_schema_version_5_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(kept("schema-5.sqlite.db"), folder.path().join("caudal.db")).unwrap();
    goes_on(&Server::start(&format!("sqlite:{}", folder.path().display())));
}

#[test]
fn a_database_of_schema_version_5_goes_on() {
    with_dump("schema-5.postgres.sql", goes_on);
}

/// A server on a database that is made of a dump, where `CAUDAL_TEST_POSTGRES` leads to one that makes databases, as `cargo xtask test`
/// does.
pub(crate) fn with_dump(dump: &str, test: impl Fn(&Server)) {
    let Some(base) = crate::given::postgres() else { return };
    let name = format!("previous_{}_{}", dump.split('.').next().unwrap().replace('-', "_"), std::process::id());
    let (scheme, rest) = base.split_once("://").unwrap();
    let (place, options) = rest.split_once('?').map_or((rest, String::new()), |(place, options)| (place, format!("?{options}")));
    let url = format!("{scheme}://{}/{name}{options}", place.split('/').next().unwrap());
    execute(&base, &format!("CREATE DATABASE {name}"));
    execute(&url, &std::fs::read_to_string(kept(dump)).unwrap());
    test(&Server::start(&url));
    execute(&base, &format!("DROP DATABASE {name} WITH (FORCE)"));
}

fn execute(url: &str, sql: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
        let connection = tokio::spawn(connection);
        client.batch_execute(sql).await.unwrap();
        connection.abort();
    });
}
