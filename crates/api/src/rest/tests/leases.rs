//! What workers say between getting and doing a job, and what is left when nobody does it.

use serde_json::json;

use super::*;

async fn submitted(server: &Server) -> String {
    let reply = server.post(&format!("/v1/actions/{}/executions", "work"), r#"{"retries":2}"#).await;
    assert_eq!(reply.status, 201, "{}", reply.text);
    reply.json()["id"].as_str().unwrap().to_owned()
}

async fn poll(server: &Server, worker: &str) -> Value {
    let body = json!({ "workerId": worker, "jobTypes": ["work"], "waitSeconds": 5 });
    server.post("/v1/jobs/poll", &body.to_string()).await.json()["jobs"][0].clone()
}

async fn say(server: &Server, job: &str, what: &str, body: Value) -> (u16, Value) {
    let reply = server.post(&format!("/v1/jobs/{job}/{what}"), &body.to_string()).await;
    (reply.status, reply.json())
}

#[tokio::test]
async fn a_heartbeat_tells_a_worker_where_it_stands() {
    let server = Server::start().await;
    let id = submitted(&server).await;
    let job = poll(&server, "w").await;
    assert_eq!((&job["id"], &job["lease"], &job["progress"]), (&json!(id), &json!(1), &Value::Null));
    let progress = json!({ "percent": 40, "message": "half \"way\"", "data": { "page": 7 } });
    let beat = json!({ "workerId": "w", "lease": 1, "leaseSeconds": 3600, "progress": progress });
    let (status, held) = say(&server, &id, "heartbeat", beat.clone()).await;
    assert_eq!((status, &held["status"]), (200, &json!("HELD")), "{held}");
    assert!(job["lockExpiresAt"].as_str() < held["lockExpiresAt"].as_str(), "{held}");
    assert_eq!(server.get(&format!("/v1/executions/{id}")).await.json()["progress"], progress);
    // Nothing more to say keeps what was said.
    let (_, held) = say(&server, &id, "heartbeat", json!({ "workerId": "w" })).await;
    assert_eq!(held["status"], "HELD");
    for (body, detail) in [
        (json!({ "lease": 1 }), "workerId"),
        (json!({ "workerId": "w", "leaseSeconds": 1 }), "leaseSeconds"),
        (json!({ "workerId": "w", "progress": { "percent": 101 } }), "percent"),
        (json!({ "workerId": "w", "progress": { "data": { "x": "y".repeat(70_000) } } }), "progress is too large"),
    ] {
        let (status, refused) = say(&server, &id, "heartbeat", body).await;
        assert!(status == 400 && refused["message"].as_str().unwrap().contains(detail), "{refused}");
    }
    let (_, lost) = say(&server, &id, "heartbeat", json!({ "workerId": "v" })).await;
    assert_eq!(lost["status"], "LOST");
    assert_eq!(say(&server, "1", "heartbeat", json!({ "workerId": "w" })).await.0, 404);
    assert_eq!(say(&server, &id, "release", json!({ "workerId": "w", "lease": 1 })).await.0, 204);
    let again = poll(&server, "v").await;
    assert_eq!((&again["lease"], &again["progress"]), (&json!(2), &progress), "the next one goes on from there");
    let shown = server.get(&format!("/v1/executions/{id}")).await.json();
    assert_eq!((&shown["attempts"], &shown["retries"]), (&json!(1), &json!(2)), "giving back has used up nothing");
    for what in ["complete", "release"] {
        let (status, lost) = say(&server, &id, what, json!({ "workerId": "w", "lease": 1 })).await;
        assert!(status == 409 && lost["message"].as_str().unwrap().contains("another worker"), "{lost}");
    }
    // Cancelled while it runs: its worker learns of it with the next heartbeat.
    assert_eq!(server.post(&format!("/v1/executions/{id}/cancel"), "").await.status, 204);
    let (_, cancelled) = say(&server, &id, "heartbeat", json!({ "workerId": "v", "lease": 2 })).await;
    assert_eq!(cancelled["status"], "CANCELLED");
    assert_eq!(say(&server, &id, "complete", json!({ "workerId": "v" })).await.0, 409);
}

#[tokio::test]
async fn a_job_of_a_process_that_is_cancelled_tells_its_worker_too() {
    let server = Server::start().await;
    server.deploy().await;
    let instance = server.create("{}").await;
    let job = poll(&server, "w").await;
    let id = job["id"].as_str().unwrap();
    let (_, held) = say(&server, id, "heartbeat", json!({ "workerId": "w", "lease": 1 })).await;
    assert_eq!(held["status"], "HELD");
    assert_eq!(server.post(&format!("/v2/process-instances/{instance}/cancellation"), "").await.status, 204);
    let (_, gone) = say(&server, id, "heartbeat", json!({ "workerId": "w", "lease": 1 })).await;
    assert_eq!(gone["status"], "CANCELLED");
}

#[tokio::test]
async fn many_are_given_back_and_kept_at_once() {
    let server = Server::start().await;
    let ids = [submitted(&server).await, submitted(&server).await];
    poll(&server, "w").await;
    poll(&server, "w").await;
    let body = |lease: u32| json!({ "workerId": "w", "jobs": ids.iter().map(|id| json!({ "jobId": id, "lease": lease })).collect::<Vec<_>>() });
    let beat = server.post("/v1/jobs/heartbeat", &body(1).to_string()).await.json();
    assert!(beat["jobs"].as_array().unwrap().iter().all(|one| one["status"] == "HELD"), "{beat}");
    // What is no job's keeps nobody from hearing of the others.
    let some =
        json!({ "workerId": "w", "jobs": [{ "jobId": "999" }, { "jobId": "no key" }, { "jobId": "" }, { "jobId": ids[0] }] });
    let beat = server.post("/v1/jobs/heartbeat", &some.to_string()).await.json();
    let told: Vec<_> = beat["jobs"].as_array().unwrap().iter().map(|one| (one["jobId"].clone(), one["status"].clone())).collect();
    let expected = [("999", "UNKNOWN"), ("no key", "UNKNOWN"), ("", "UNKNOWN"), (&*ids[0], "HELD")];
    assert_eq!(told, expected.map(|(id, status)| (json!(id), json!(status))), "{beat}");
    let released = server.post("/v1/jobs/release", &body(1).to_string()).await.json();
    let statuses: Vec<_> = released["jobs"].as_array().unwrap().iter().map(|one| one["status"].clone()).collect();
    assert_eq!(statuses, ["RELEASED", "RELEASED"]);
    poll(&server, "v").await;
    poll(&server, "v").await;
    let late = server.post("/v1/jobs/release", &body(1).to_string()).await.json();
    assert!(late["jobs"].as_array().unwrap().iter().all(|one| one["status"] == "LOST"), "{late}");
    // A batch of completions says for which leases.
    let jobs: Vec<_> = ids.iter().zip([1, 2]).map(|(id, lease)| json!({ "jobKey": id, "lease": lease })).collect();
    let done = server.post("/v1/jobs/completion", &json!({ "jobs": jobs }).to_string()).await.json();
    assert_eq!((&done["completed"], &done["refused"][0]["status"]), (&json!(1), &json!(409)), "{done}");
    assert_eq!(server.post("/v1/jobs/release", r#"{"workerId":"w","jobs":[]}"#).await.status, 400);
}

#[tokio::test]
async fn a_job_is_put_off() {
    let server = Server::start().await;
    let id = submitted(&server).await;
    poll(&server, "w").await;
    let (status, refused) = say(&server, &id, "snooze", json!({ "workerId": "w", "duration": "soon" })).await;
    assert_eq!(status, 400, "{refused}");
    assert_eq!(say(&server, &id, "snooze", json!({ "workerId": "w", "lease": 1, "duration": "PT1H" })).await.0, 204);
    let shown = server.get(&format!("/v1/executions/{id}")).await.json();
    assert_eq!((&shown["state"], &shown["attempts"]), (&json!("WAITING"), &json!(0)));
    assert!(shown["runAt"].is_string());
}

#[tokio::test]
async fn dead_letters_are_found_looked_at_and_retried() {
    let server = Server::start().await;
    server.deploy().await;
    server.create("{}").await;
    let (job, execution) = (poll(&server, "w").await, submitted(&server).await);
    poll(&server, "w").await;
    let job = job["id"].as_str().unwrap();
    let fail =
        |variables: Value| json!({ "workerId": "w", "retryable": false, "errorMessage": "broken", "variables": variables });
    assert_eq!(say(&server, job, "fail", fail(json!({ "at": 1 }))).await.0, 204);
    assert_eq!(say(&server, &execution, "fail", fail(json!({ "at": 2 }))).await.0, 204);
    let found = server.post("/v1/dead-letters/search", r#"{"filter":{"error":{"$like":"brok*"}}}"#).await.json();
    let kinds: Vec<_> = found["items"].as_array().unwrap().iter().map(|one| one["kind"].clone()).collect();
    assert_eq!(kinds, ["JOB", "EXECUTION"], "{found}");
    let shown = server.get(&format!("/v1/dead-letters/{execution}")).await.json();
    assert_eq!((&shown["attempts"], &shown["input"], &shown["worker"]), (&json!(1), &json!({}), &json!("w")));
    assert_eq!(server.get(&format!("/v1/executions/{execution}")).await.json()["result"], json!({ "at": 2 }));
    assert_eq!(server.get("/v1/dead-letters/1").await.status, 404);
    assert_eq!(server.post(&format!("/v1/dead-letters/{job}/retry"), r#"{"retries":0}"#).await.status, 400);
    assert_eq!(server.post(&format!("/v1/dead-letters/{job}/retry"), "").await.status, 204);
    assert_eq!(server.post(&format!("/v1/dead-letters/{job}/retry"), "").await.status, 409);
    let again = server.post("/v1/dead-letters/retry?retries=3", r#"{"filter":{"action":"work"}}"#).await;
    assert_eq!(again.json(), json!({ "retried": 1, "refused": [], "hasMore": false }), "{}", again.text);
    let (first, second) = (poll(&server, "w").await, poll(&server, "w").await);
    assert_eq!((&first["id"], &second["id"], &second["retriesRemaining"]), (&json!(job), &json!(execution), &json!(2)));
    assert_eq!(server.post("/v1/dead-letters/search", "").await.json()["page"]["totalItems"], 0);
}
