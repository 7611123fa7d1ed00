//! What servers of schema version 22 (SQLite) and 24 (PostgreSQL) left goes on: executions under a policy, a schedule, an outbox, operations
//! over many, suspended instances, listeners, compensation, messages that wait.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::previous::{all, kept, with_dump};
use crate::server::Server;

/// Instances that wait: for one of each kind; suspended before a listener was heard; with a leased job.
const EVERYTHING: &str = "2251799813685303";
const SUSPENDED: &str = "2251799813685342";
const UNDOING: &str = "2251799813685355";
/// The job of the last one, said to be half done.
const PAY: &str = "2251799813685367";
/// Executions: two of them leased, two behind the first in its group, one put off, one without retries, one on its way to a broker.
const MAIL: &str = "2251799813685386";
const BEHIND: [&str; 2] = ["2251799813685388", "2251799813685390"];
const MAIL_OF_ANOTHER: &str = "2251799813685392";
const REPORT: &str = "2251799813685395";
const FAILED: &str = "2251799813685406";
const ANNOUNCED: &str = "2251799813685412";
/// It stands still with six instances to cancel.
const BATCH: &str = "2251799813685477";

fn ask(server: &Server, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let url = format!("{}{path}", server.url());
    let answer = match method {
        "GET" => agent.get(&url).call(),
        _ => agent.post(&url).content_type("application/json").send(body.to_string()),
    };
    let mut answer = answer.unwrap();
    let text = answer.body_mut().read_to_string().unwrap();
    (answer.status().as_u16(), serde_json::from_str(&text).unwrap_or_default())
}

/// The worker that had the job before the server stopped says that it is done, whether its lease has ended meanwhile or not.
fn complete(server: &Server, job: &str, variables: &Value) {
    let done = json!({ "workerId": "worker-1", "lease": 1, "variables": variables });
    let (status, told) = ask(server, "POST", &format!("/v1/jobs/{job}/complete"), &done);
    assert!(status < 300, "{job}: {told}");
}

fn work(server: &Server, job_type: &str, count: &str) {
    server.caudal(&["work", job_type, "--count", count, "--complete-with", "{}"]).done();
}

fn completed(server: &Server, process: &str, count: usize) -> Value {
    let mut asked = (0..500).map(|_| server.json(&["instances", "--process", process, "--state", "completed"]));
    asked.find(|found| found["items"].as_array().unwrap().len() == count).expect("they end")
}

fn instances_go_on(server: &Server) {
    let running = server.json(&["instances", "--state", "active"]);
    assert_eq!(running["items"].as_array().unwrap().len(), 11, "one more is suspended: {running}");
    work(server, "pack", "2");
    work(server, "check", "1");
    let timers = server.json(&["timers", "--instance", EVERYTHING]);
    let [timer] = all(&timers, "timerKey").into_iter().collect::<Vec<_>>()[..] else { panic!("{timers}") };
    server.caudal(&["timer", "fire", timer]).done();
    server.caudal(&["signal", "go"]).done();
    server.caudal(&["variables", "set", EVERYTHING, r#"{"ready": true}"#]).done();
    server.caudal(&["correlate", "arrived", "--key", "o-1"]).done();
    let ended = completed(server, "all", 1);
    assert_eq!(all(&ended, "processInstanceKey"), BTreeSet::from([EVERYTHING]));
    let variables = server.json(&["variables", "get", EVERYTHING]);
    assert_eq!((&variables["packed"], &variables["note"]), (&json!([2, 4, 6]), &json!("ä \"quoted\"")));
    assert_eq!(variables["approved"], json!(true), "what was said before the listener heard it");

    complete(server, PAY, &json!({}));
    work(server, "unbook", "1");
    assert_eq!(all(&completed(server, "undo", 1), "processInstanceKey"), BTreeSet::from([UNDOING]));
    server.caudal(&["resume", SUSPENDED]).done();
    work(server, "hear", "1");
    work(server, "pay", "1");
    work(server, "unbook", "1");
    assert_eq!(all(&completed(server, "undo", 2), "processInstanceKey"), BTreeSet::from([UNDOING, SUSPENDED]));
}

/// The second message was kept until what the first had started was over; another until somebody waited for it.
fn messages_arrive(server: &Server) {
    work(server, "answer", "1");
    work(server, "answer", "1");
    let begun = completed(server, "begun", 2);
    let numbers = begun["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| server.json(&["variables", "get", one["processInstanceKey"].as_str().unwrap()])["n"].as_i64());
    assert_eq!(numbers.collect::<BTreeSet<_>>(), BTreeSet::from([Some(1), Some(2)]));
    let waiting = server.json(&["start", "all", "--variables", r#"{"order": "o-2"}"#]);
    let variables = server.json(&["variables", "get", waiting["processInstanceKey"].as_str().unwrap()]);
    assert_eq!(variables["from"], json!("earlier"));
}

fn queues_go_on(server: &Server) {
    complete(server, MAIL, &json!({ "sent": true }));
    complete(server, MAIL_OF_ANOTHER, &json!({}));
    let poll = json!({ "workerId": "worker-2", "jobTypes": ["mail"], "maxJobs": 10, "waitSeconds": 30 });
    for behind in BEHIND {
        let (_, polled) = ask(server, "POST", "/v1/jobs/poll", &poll);
        let jobs: Vec<&str> = polled["jobs"].as_array().unwrap().iter().map(|job| job["id"].as_str().unwrap()).collect();
        assert_eq!(jobs, [behind], "one of a group at a time, in order");
        complete_as(server, behind, "worker-2");
    }
    let (_, mail) = ask(server, "GET", &format!("/v1/executions/{MAIL}"), &Value::Null);
    assert_eq!((&mail["state"], &mail["result"]), (&json!("COMPLETED"), &json!({ "sent": true })));
    let again = json!({ "input": {}, "uniqueKey": "report" });
    assert_eq!(ask(server, "POST", "/v1/actions/report/executions", &again).0, 409, "it waits");
    assert_eq!(ask(server, "POST", &format!("/v1/executions/{REPORT}/cancel"), &json!({})).0 / 100, 2);
    server.caudal(&["dead-letters", "retry", FAILED]).done();
    work(server, "print", "1");
    complete(server, ANNOUNCED, &json!({}));
    let (_, schedule) = ask(server, "GET", "/v1/schedules/yearly", &Value::Null);
    assert_eq!(schedule["nextAt"].as_str().map(|at| &at[..10]), Some("2126-01-01"), "{schedule}");
}

fn complete_as(server: &Server, job: &str, worker: &str) {
    let (status, told) = ask(server, "POST", &format!("/v1/jobs/{job}/complete"), &json!({ "workerId": worker }));
    assert!(status < 300, "{job}: {told}");
}

fn operations_go_on(server: &Server) {
    server.caudal(&["batch", "continue", BATCH]).done();
    server.caudal(&["batch", "wait", BATCH]).done();
    let (_, batch) = ask(server, "GET", &format!("/v2/batch-operations/{BATCH}"), &Value::Null);
    assert_eq!((&batch["state"], &batch["operationsCompletedCount"]), (&json!("COMPLETED"), &json!(6)));
    assert_eq!(server.json(&["instances", "--process", "many", "--state", "active"])["items"], json!([]));
}

fn goes_on(server: &Server) {
    instances_go_on(server);
    messages_arrive(server);
    queues_go_on(server);
    operations_go_on(server);
}

#[test]
fn a_file_of_schema_version_22_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(kept("schema-22.sqlite.db"), folder.path().join("caudal.db")).unwrap();
    goes_on(&Server::start(&format!("sqlite:{}", folder.path().display())));
}

#[test]
fn a_database_of_schema_version_24_goes_on() {
    with_dump("schema-24.postgres.sql", goes_on);
}
