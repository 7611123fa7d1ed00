//! What is kept no longer goes, what runs stays, whenever the server is killed.

use std::process::{Command, Stdio};

use crate::server::{Server, caudal, example};
use serde_json::{Value, json};
use store::retention::BELONGING;

fn post(server: &Server, path: &str, body: &Value) -> Value {
    let mut sent = ureq::post(format!("{}{path}", server.url())).send_json(body).unwrap();
    sent.body_mut().read_json().unwrap_or(Value::Null)
}

fn instances(server: &Server) -> u64 {
    post(server, "/v2/process-instances/search", &json!({}))["page"]["totalItems"].as_u64().unwrap()
}

/// How many rows of each kind there are, but for what is deployed.
fn rows(data: &str) -> Value {
    let checked: Value = serde_json::from_str(&caudal(&["check", "--json", "--data", data]).done()).unwrap();
    let mut rows = checked["rows"].clone();
    // What was deployed stays, and everything else has an age of its own.
    rows.as_object_mut().unwrap().retain(|table, _| table == "instances" || BELONGING.contains(&table.as_str()));
    rows
}

#[test]
fn what_is_old_goes_and_what_runs_stays_however_often_the_server_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data").display().to_string();
    let mut server = Server::start_with(&format!("sqlite:{data}"), &["--test-clock"]);
    server.caudal(&["deploy", &example("order.bpmn")]).done();
    for amount in ["5", "6", "7"] {
        server.caudal(&["start", "order", "--variables", &format!(r#"{{"amount": {amount}}}"#)]).done();
    }
    server.kill();
    let running = rows(&data);
    server.run();
    let url = server.url();
    let grpc = server.grpc.to_string();
    caudal(&["bench", "process", "--url", &url, "--grpc", &grpc, "--instances", "600", "--warm-up", "0"]).done();
    let all = instances(&server);
    assert!(600 <= all, "{all}");
    assert_eq!(server.json(&["purge", "--dry-run"])["instances"], 0, "nothing is old yet");
    post(&server, "/v1/clock/advance", &json!({ "duration": "P31D" }));
    for _ in 0..3 {
        // It purges by itself, since its clock was moved, and because it is told to; neither is waited for.
        let purge = [env!("CARGO_BIN_EXE_caudal"), "purge", "--url", &url];
        let mut purging = Command::new(purge[0]).args(&purge[1..]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while instances(&server) == all {}
        server.kill();
        purging.wait().unwrap();
        server.run();
        assert!(3 <= instances(&server));
        post(&server, "/v1/clock/advance", &json!({ "duration": "P31D" }));
    }
    let told = server.json(&["purge"]);
    assert!(told.is_object(), "{told}");
    assert_eq!(server.json(&["purge", "--dry-run"])["instances"], 0);
    assert_eq!(instances(&server), 3, "those that run");
    server.kill();
    assert_eq!(rows(&data), running, "and nothing of what else has run");
    server.run();
    server.caudal(&["work", "charge-card", "--complete-with", "{}", "--count", "3"]).done();
}

#[test]
fn a_process_has_a_time_of_its_own() {
    let server = Server::start_with(
        "memory:",
        &["--test-clock", "--retention-instances", "forever", "--retention-instances-of", "order=1d"],
    );
    server.caudal(&["deploy", &example("order.bpmn"), &example("reserve-item.bpmn")]).done();
    let key = server.caudal(&["start", "order", "--variables", r#"{"amount": 5}"#]).done().trim().to_owned();
    server.caudal(&["work", "charge-card", "--complete-with", "{}", "--count", "1"]).done();
    assert!(server.caudal(&["instance", &key]).done().contains("COMPLETED"));
    post(&server, "/v1/clock/advance", &json!({ "duration": "PT23H" }));
    assert_eq!(server.json(&["purge", "--dry-run"])["instances"], 0);
    post(&server, "/v1/clock/advance", &json!({ "duration": "PT2H" }));
    // By itself.
    while server.caudal(&["instance", &key]).code == Some(0) {}
    assert_eq!(instances(&server), 0);
}
