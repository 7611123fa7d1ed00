//! Work without a process, as those see it who submit it and those who do it.

use serde_json::json;

use super::*;

/// What is asked of the action whose jobs `Server::activate` takes.
fn action(what: &str) -> String {
    format!("/v1/actions/{}/{what}", "work")
}

async fn submit(server: &Server, body: Value) -> Reply {
    server.post(&action("executions"), &body.to_string()).await
}

async fn submitted(server: &Server, body: Value) -> String {
    let reply = submit(server, body).await;
    assert_eq!(reply.status, 201, "{}", reply.text);
    reply.json()["id"].as_str().unwrap().to_owned()
}

async fn shown(server: &Server, id: &str) -> Value {
    server.get(&format!("/v1/executions/{id}")).await.json()
}

#[tokio::test]
async fn an_execution_goes_to_a_worker_and_keeps_its_result() {
    let server = Server::start().await;
    let reply = submit(&server, json!({ "input": { "order": 5, "items": ["a"] }, "priority": 7 })).await;
    assert_eq!(reply.status, 201, "{}", reply.text);
    let sent = reply.json();
    let id = sent["id"].as_str().unwrap();
    assert_eq!((&sent["state"], &sent["priority"], &sent["attempts"]), (&json!("WAITING"), &json!(7), &json!(0)));
    let mut read = shown(&server, id).await;
    assert_eq!(read["position"], 1);
    read["position"] = Value::Null;
    assert_eq!(read, sent, "the answer has the shape it is read in");
    let job = server.activate().await;
    assert_eq!((&job["jobKey"], &job["variables"]), (&json!(id), &json!({ "order": 5, "items": ["a"] })));
    let running = shown(&server, id).await;
    assert_eq!((&running["state"], &running["worker"], &running["attempts"]), (&json!("RUNNING"), &json!("w"), &json!(1)));
    assert!(running["startedAt"].is_string() && running["endedAt"].is_null());
    let done = server.post(&format!("/v2/jobs/{id}/completion"), r#"{"variables":{"paid":true}}"#).await;
    assert_eq!(done.status, 204, "{}", done.text);
    let completed = shown(&server, id).await;
    assert_eq!((&completed["state"], &completed["result"]), (&json!("COMPLETED"), &json!({ "paid": true })));
    assert!(completed["endedAt"].is_string());
    assert_eq!(server.post(&format!("/v2/jobs/{id}/completion"), "").await.status, 404, "once");
    assert_eq!(server.post("/v2/jobs/search", "").await.json()["page"]["totalItems"], 0);
}

#[tokio::test]
async fn many_are_submitted_and_completed_at_once() {
    let server = Server::start().await;
    server.deploy().await;
    server.create("{}").await;
    let executions: Vec<Value> = (0..50).map(|n| json!({ "input": { "n": n } })).collect();
    let reply = server.post(&action("executions/bulk"), &json!({ "executions": executions }).to_string()).await;
    assert_eq!(reply.status, 201, "{}", reply.text);
    assert_eq!(reply.json()["executions"].as_array().unwrap().len(), 50);
    let poll = r#"{"type":"work","timeout":3600000,"maxJobsToActivate":100,"fetchVariable":["n"]}"#;
    let jobs = server.post("/v2/jobs/activation", poll).await.json()["jobs"].as_array().unwrap().clone();
    let numbers: Vec<_> = jobs.iter().skip(1).map(|job| job["variables"]["n"].as_i64().unwrap()).collect();
    assert_eq!(numbers, (0..50).collect::<Vec<_>>(), "after the job of the process, in the order of submission");
    let mut completions: Vec<Value> = jobs.iter().map(|job| json!({ "jobKey": job["jobKey"] })).collect();
    completions.push(json!({ "jobKey": "1" }));
    let reply = server.post("/v1/jobs/completion", &json!({ "jobs": completions }).to_string()).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    let outcome = reply.json();
    assert_eq!((&outcome["completed"], &outcome["refused"][0]["jobKey"]), (&json!(51), &json!("1")));
    assert_eq!(outcome["refused"][0]["status"], 404);
    let found = server.post("/v1/executions/search", r#"{"filter":{"action":"work","state":"COMPLETED"}}"#).await.json();
    assert_eq!(found["page"]["totalItems"], 50);
    let instances = server.post("/v2/process-instances/search", "").await.json();
    assert_eq!(instances["items"][0]["state"], "COMPLETED", "jobs of processes may be among them");
}

#[tokio::test]
async fn one_that_fails_is_tried_again_and_can_be_revived() {
    let server = Server::start().await;
    let id = submitted(&server, json!({ "retries": 2 })).await;
    server.activate().await;
    let fail = async |retries: i32| {
        let body = json!({ "retries": retries, "errorMessage": "no luck", "variables": { "at": 3 } });
        server.post(&format!("/v2/jobs/{id}/failure"), &body.to_string()).await.status
    };
    assert_eq!(fail(1).await, 204);
    let waiting = shown(&server, &id).await;
    assert_eq!(
        (&waiting["state"], &waiting["error"], &waiting["result"]),
        (&json!("WAITING"), &json!("no luck"), &json!({ "at": 3 }))
    );
    assert_eq!(server.activate().await["retries"], 1);
    assert_eq!(fail(0).await, 204);
    let failed = shown(&server, &id).await;
    assert_eq!((&failed["state"], &failed["attempts"]), (&json!("FAILED"), &json!(2)));
    assert!(failed["endedAt"].is_string());
    assert_eq!(server.post(&format!("/v1/executions/{id}/retry"), r#"{"retries":0}"#).await.status, 400);
    assert_eq!(server.post(&format!("/v1/executions/{id}/retry"), "").await.status, 204);
    assert_eq!(server.post(&format!("/v1/executions/{id}/retry"), "").await.status, 409);
    server.activate().await;
    let error = server.post(&format!("/v2/jobs/{id}/error"), r#"{"errorCode":"E1","errorMessage":"bad"}"#).await;
    assert_eq!(error.status, 204, "{}", error.text);
    let thrown = shown(&server, &id).await;
    assert_eq!((&thrown["state"], &thrown["errorCode"], &thrown["error"]), (&json!("FAILED"), &json!("E1"), &json!("bad")));
    // Retries given by the way of Camunda's clients revive it, too.
    let update = server.call("PATCH", &format!("/v2/jobs/{id}"), r#"{"changeset":{"retries":1}}"#, &[]).await;
    assert_eq!(update.status, 204, "{}", update.text);
    assert_eq!(shown(&server, &id).await["state"], "WAITING");
    assert_eq!(server.post(&format!("/v1/executions/{id}/cancel"), "").await.status, 204);
    assert_eq!(shown(&server, &id).await["state"], "CANCELLED");
    for what in ["cancel", "retry"] {
        let ended = server.post(&format!("/v1/executions/{id}/{what}"), "").await;
        assert_eq!(ended.status, 409, "{}", ended.text);
        assert!(ended.text.contains("it is CANCELLED"), "{}", ended.text);
        assert_eq!(server.post(&format!("/v1/executions/1/{what}"), "").await.status, 404);
    }
}

#[tokio::test]
async fn a_unique_key_is_held_by_one() {
    let server = Server::start().await;
    let with = |on_conflict: &str| json!({ "uniqueKey": "nightly", "onConflict": on_conflict, "input": { "of": on_conflict } });
    let first = submitted(&server, with("REJECT")).await;
    let refused = submit(&server, with("REJECT")).await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    let same = submit(&server, with("RETURN")).await;
    assert_eq!((same.status, &same.json()["id"]), (200, &json!(first)));
    let second = submitted(&server, with("REPLACE")).await;
    assert_eq!(shown(&server, &first).await["state"], "CANCELLED");
    server.activate().await;
    assert_eq!(submit(&server, with("REPLACE")).await.status, 409, "it runs");
    server.post(&format!("/v2/jobs/{second}/completion"), "").await;
    let third = submitted(&server, json!({ "uniqueKey": "nightly", "uniqueFor": "PT1H" })).await;
    server.activate().await;
    server.post(&format!("/v2/jobs/{third}/completion"), "").await;
    assert_eq!(submit(&server, with("REJECT")).await.status, 409, "the hour is not over");
    // In one request, too: all of it or nothing.
    let bulk = json!({ "executions": [{ "uniqueKey": "a" }, { "uniqueKey": "a" }] });
    assert_eq!(server.post(&action("executions/bulk"), &bulk.to_string()).await.status, 409);
    assert_eq!(submit(&server, json!({ "uniqueKey": "a" })).await.status, 201);
    assert_eq!(submit(&server, json!({ "onConflict": "RETURN" })).await.status, 400);
}

#[tokio::test]
async fn its_sender_may_wait_for_it() {
    let server = Server::start().await;
    let sent = submit(&server, json!({ "waitFor": "PT30S" }));
    let worked = async {
        let job = server.activate().await;
        server.post(&format!("/v2/jobs/{}/completion", job["jobKey"].as_str().unwrap()), r#"{"variables":{"x":1}}"#).await
    };
    let (reply, _) = tokio::join!(sent, worked);
    assert_eq!(reply.status, 201, "{}", reply.text);
    assert_eq!((&reply.json()["state"], &reply.json()["result"]), (&json!("COMPLETED"), &json!({ "x": 1 })));
    let nobody = submit(&server, json!({ "waitFor": "PT0.05S", "priority": 1 })).await;
    assert_eq!((nobody.status, &nobody.json()["state"]), (201, &json!("WAITING")));
}

#[tokio::test]
async fn the_same_request_is_submitted_once() {
    let server = Server::start().await;
    let send =
        async || server.call("POST", &action("executions"), r#"{"input":{"a":1}}"#, &[("idempotency-key", "k")]).await.json();
    let first = send().await;
    assert_eq!(send().await["id"], first["id"]);
    assert_eq!(server.post("/v1/executions/search", "").await.json()["page"]["totalItems"], 1);
}

#[tokio::test]
async fn what_cannot_be_is_refused() {
    let server = Server::start().await;
    for body in [
        json!({ "priority": 101 }),
        json!({ "priority": -1 }),
        json!({ "retries": 0 }),
        json!({ "runAt": "soon" }),
        json!({ "uniqueKey": "" }),
        json!({ "uniqueKey": "a", "uniqueFor": "an hour" }),
        json!({ "waitFor": "-PT1S" }),
        json!({ "colour": 1 }),
    ] {
        let reply = submit(&server, body.clone()).await;
        assert_eq!(reply.status, 400, "{body}: {}", reply.text);
    }
    assert_eq!(server.post(&action("executions/bulk"), r#"{"executions":[]}"#).await.status, 400);
    let bad = server.post(&action("executions/bulk"), r#"{"executions":[{},{"priority":500}]}"#).await;
    assert!(bad.text.contains("executions.1"), "{}", bad.text);
    assert_eq!(server.get("/v1/executions/1").await.status, 404);
    assert_eq!(server.post("/v1/actions/%ff/executions", "").await.status, 400);
    let odd = server.post("/v1/actions/a%20b/executions", "").await.json();
    assert_eq!(odd["action"], "a b");
    let later = submit(&server, json!({ "runAt": "2999-01-01T00:00:00Z" })).await.json();
    assert_eq!((&later["state"], &later["runAt"]), (&json!("WAITING"), &json!("2999-01-01T00:00:00.000Z")));
    let jobs =
        server.post("/v2/jobs/activation", r#"{"type":"work","timeout":1000,"maxJobsToActivate":5,"requestTimeout":-1}"#).await;
    assert_eq!(jobs.json()["jobs"], json!([]), "not before its time");
}

#[tokio::test]
async fn a_policy_limits_an_action_and_is_kept_with_its_history() {
    let server = Server::start().await;
    let policy = json!({ "scope": "ACTION", "action": "work", "priority": 3,
        "concurrency": { "limit": 1, "parameters": ["customer"], "method": "ENQUEUE" }, "queue": { "maxLength": 3 }, "paused": false });
    let put = async |policy: &Value| server.call("PUT", "/v1/policies/per-customer", &policy.to_string(), &[]).await;
    assert_eq!(put(&policy).await.status, 204);
    let got = server.get("/v1/policies/per-customer").await.json();
    assert_eq!((&got["policy"], &got["version"], &got["changedBy"]), (&policy, &json!(1), &json!("anonymous")));
    for customer in [1, 1, 2] {
        submitted(&server, json!({ "input": { "customer": customer } })).await;
    }
    let full = submit(&server, json!({})).await;
    assert_eq!(full.status, 429, "{}", full.text);
    assert!(full.text.contains("queue.maxLength"), "{}", full.text);
    let poll = r#"{"type":"work","timeout":3600000,"maxJobsToActivate":9,"requestTimeout":5000}"#;
    let jobs = server.post("/v2/jobs/activation", poll).await.json();
    assert_eq!(jobs["jobs"].as_array().unwrap().len(), 2);
    let stats = server.get(&action("queue-stats")).await.json();
    assert_eq!((&stats["queueLength"], &stats["activeCount"], &stats["maxConcurrent"]), (&json!(1), &json!(2), &json!(1)));
    assert!(stats["oldestEnqueuedAt"].is_string() && stats["lastUpdated"].is_string());
    assert_eq!(server.get("/v1/actions").await.json()["items"][0]["action"], "work");
    assert_eq!(put(&json!({ "scope": "GLOBAL" })).await.status, 204);
    assert_eq!(server.call("DELETE", "/v1/policies/per-customer", "", &[]).await.status, 204);
    assert_eq!(server.call("DELETE", "/v1/policies/per-customer", "", &[]).await.status, 404);
    assert_eq!(server.get("/v1/policies/per-customer").await.status, 404);
    assert_eq!(server.get("/v1/policies").await.json()["items"], json!([]));
    let versions = server.get("/v1/policies/per-customer/versions").await.json();
    assert_eq!(server.get("/v1/policies/per-customer/history").await.json(), versions);
    let policies: Vec<_> = versions["items"].as_array().unwrap().iter().map(|one| one["policy"].is_object()).collect();
    assert_eq!(policies, [true, true, false]);
}

#[tokio::test]
async fn an_action_is_paused_and_resumed() {
    let server = Server::start().await;
    let id = submitted(&server, json!({})).await;
    assert_eq!(server.post(&action("pause"), "").await.status, 204);
    assert_eq!(server.get("/v1/actions/work").await.json()["paused"], true);
    assert_eq!(server.get("/v1/policies").await.json()["items"], json!([]), "it is no policy of anybody's");
    let poll = r#"{"type":"work","timeout":3600000,"maxJobsToActivate":9,"requestTimeout":-1}"#;
    assert_eq!(server.post("/v2/jobs/activation", poll).await.json()["jobs"], json!([]));
    assert_eq!(server.get(&format!("/v1/executions/{id}/position")).await.json()["position"], 1);
    assert_eq!(server.post(&action("resume"), "").await.status, 204);
    assert_eq!(server.activate().await["jobKey"], json!(id));
    assert_eq!(server.get(&format!("/v1/executions/{id}/position")).await.json()["position"], Value::Null);
    assert_eq!(server.post(&action("resume"), "").await.status, 204, "saying it again is no error");
}

#[tokio::test]
async fn a_policy_that_cannot_be_kept_is_refused() {
    let server = Server::start().await;
    for policy in [
        json!({}),
        json!({ "scope": "ACTION" }),
        json!({ "scope": "GLOBAL", "action": "work" }),
        json!({ "scope": "TENANT", "action": "work" }),
        json!({ "scope": "GLOBAL", "concurrency": {} }),
        json!({ "scope": "GLOBAL", "concurrency": { "limit": 0 } }),
        json!({ "scope": "GLOBAL", "concurrency": { "limit": 1, "parameters": [""] } }),
        json!({ "scope": "GLOBAL", "queue": { "maxLength": 0 } }),
        json!({ "scope": "GLOBAL", "rate": { "limit": 5 } }),
        json!({ "scope": "GLOBAL", "rate": { "limit": 5, "window": "PT0S" } }),
        json!({ "scope": "GLOBAL", "rate": { "limit": 0, "window": "PT1S" } }),
        json!({ "scope": "GLOBAL", "rate": { "limit": 1, "window": "PT1S", "parameters": ["a"] }, "concurrency": { "limit": 1, "parameters": ["b"] } }),
        json!({ "scope": "GLOBAL", "delay": "soon" }),
        json!({ "scope": "GLOBAL", "quota": { "running": -1 } }),
        json!({ "scope": "GLOBAL", "queue": { "maxWait": "PT0S" } }),
        json!({ "scope": "GLOBAL", "queue": { "ageing": "P8D" } }),
        json!({ "scope": "GLOBAL", "queue": { "fair": true } }),
        json!({ "scope": "GLOBAL", "queue": { "onMaxWait": "WAIT" } }),
        json!({ "scope": "GLOBAL", "retry": { "delays": ["PT1S"], "delay": "PT1S" } }),
        json!({ "scope": "GLOBAL", "retry": { "factor": 2 } }),
        json!({ "scope": "GLOBAL", "retry": { "delay": "PT1S", "factor": 101 } }),
        json!({ "scope": "GLOBAL", "retry": { "jitterPercent": 101 } }),
        json!({ "scope": "GLOBAL", "concurrency": { "limit": 1, "adaptive": { "minLimit": 2 } } }),
    ] {
        let reply = server.call("PUT", "/v1/policies/p", &policy.to_string(), &[]).await;
        assert_eq!(reply.status, 400, "{policy}: {}", reply.text);
    }
    for (policy, named) in [
        (r#"{"scope":"GLOBAL","rates":{"limit":5}}"#, "[rates]"),
        (r#"{"scope":"GLOBAL","rate":{"limit":5,"window":"PT1S","burst":1}}"#, "[rate.burst]"),
        (r#"{"scope":"GLOBAL","concurrency":{"limit":1,"adaptive":{"max":1}}}"#, "[concurrency.adaptive.max]"),
    ] {
        let reply = server.call("PUT", "/v1/policies/p", policy, &[]).await;
        assert!(reply.text.contains(named), "{}", reply.text);
    }
    assert_eq!(server.call("PUT", "/v1/policies/paused%3Awork", r#"{"scope":"GLOBAL"}"#, &[]).await.status, 400);
    assert_eq!(server.get("/v1/policies/none").await.status, 404);
}
