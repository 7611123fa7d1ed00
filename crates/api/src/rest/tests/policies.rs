//! Policies with everything in them, groups that are paused and actions that drain, over REST.

use serde_json::json;

use super::*;

const POLL: &str = r#"{"type":"mail","timeout":3600000,"maxJobsToActivate":9,"requestTimeout":-1}"#;

async fn put(server: &Server, policy: &Value) {
    let reply = server.call("PUT", "/v1/policies/p", &policy.to_string(), &[]).await;
    assert_eq!(reply.status, 204, "{}", reply.text);
}

async fn submit(server: &Server, execution: Value) -> Value {
    let reply = server.post("/v1/actions/mail/executions", &execution.to_string()).await;
    assert_eq!(reply.status, 201, "{}", reply.text);
    reply.json()["id"].clone()
}

async fn activated(server: &Server) -> Vec<Value> {
    let jobs = server.post("/v2/jobs/activation", POLL).await.json();
    jobs["jobs"].as_array().unwrap().iter().map(|job| job["jobKey"].clone()).collect()
}

#[tokio::test]
async fn a_policy_comes_back_as_it_was_put() {
    let server = Server::start().await;
    let adaptive = json!({ "minLimit": 2, "latency": "PT1.5S" });
    let full = json!({ "scope": "ACTION", "action": "mail", "priority": 1,
        "concurrency": { "limit": 9, "parameters": ["customer"], "method": "CANCEL", "adaptive": adaptive },
        "rate": { "limit": 100, "window": "PT1S", "parameters": ["customer"] }, "delay": "PT0.1S",
        "quota": { "running": 50, "waiting": 1000, "total": 1010 },
        "queue": { "maxLength": 500, "maxWait": "PT1H30M", "onMaxWait": "CANCEL", "fair": true, "ageing": "PT10M" },
        "retry": { "delays": ["PT1S", "PT5S"], "jitterPercent": 10, "place": "KEEP" }, "paused": true });
    put(&server, &full).await;
    assert_eq!(server.get("/v1/policies/p").await.json()["policy"], full);
    let growing = json!({ "delay": "PT1S", "factor": 2, "maxDelay": "PT1M", "jitterPercent": 0, "place": "FRONT" });
    let tenant =
        json!({ "scope": "TENANT", "tenantId": "t", "priority": 0, "quota": { "total": 5 }, "retry": growing, "paused": false });
    put(&server, &tenant).await;
    assert_eq!(server.get("/v1/policies/p").await.json()["policy"], tenant);
    // What is left out has its default, in words of either case.
    put(&server, &json!({ "scope": "global", "queue": { "onMaxWait": "fail" }, "retry": {} })).await;
    let policy = server.get("/v1/policies/p").await.json()["policy"].clone();
    assert_eq!(policy["queue"], json!({ "maxLength": 10000, "maxWait": "PT1H", "onMaxWait": "FAIL" }));
    assert_eq!(policy["retry"], json!({ "delays": [], "jitterPercent": 0, "place": "FRONT" }));
}

#[tokio::test]
async fn a_rate_holds_over_rest() {
    let server = Server::start().await;
    put(&server, &json!({ "scope": "ACTION", "action": "mail", "rate": { "limit": 2, "window": "PT1H" } })).await;
    let ids = [submit(&server, json!({})).await, submit(&server, json!({})).await, submit(&server, json!({})).await];
    assert_eq!(activated(&server).await, ids[..2]);
    assert_eq!(activated(&server).await, [] as [Value; 0]);
}

#[tokio::test]
async fn a_group_is_paused_and_resumed() {
    let server = Server::start().await;
    let group = r#"{"group":{"customer":7}}"#;
    let reply = server.post("/v1/actions/mail/pause", group).await;
    assert_eq!(reply.status, 400, "no policy tells groups apart: {}", reply.text);
    put(&server, &json!({ "scope": "ACTION", "action": "mail", "concurrency": { "limit": 5, "parameters": ["customer"] } }))
        .await;
    let submitted = server.post("/v1/actions/mail/executions", r#"{"input":{"customer":7}}"#).await.json();
    assert_eq!(submitted["group"], json!({ "customer": 7 }), "as it is stored");
    let seven = submitted["id"].clone();
    let eight = submit(&server, json!({ "input": { "customer": 8 } })).await;
    assert_eq!(server.post("/v1/actions/mail/pause", r#"{"group":{"client":7}}"#).await.status, 400);
    assert_eq!(server.post("/v1/actions/mail/pause", group).await.status, 204);
    let shown = server.get("/v1/actions/mail").await.json();
    assert_eq!((&shown["paused"], &shown["pausedGroups"]), (&json!(false), &json!([{ "customer": 7 }])));
    assert_eq!(activated(&server).await, [eight]);
    assert_eq!(server.post("/v1/actions/mail/resume", group).await.status, 204);
    assert_eq!(activated(&server).await, [seven]);
    assert_eq!(server.post("/v1/actions/mail/resume", group).await.status, 204, "again is no error");
}

#[tokio::test]
async fn an_action_that_drains_takes_nothing_new() {
    let server = Server::start().await;
    let there = submit(&server, json!({})).await;
    assert_eq!(server.post("/v1/actions/mail/drain", "").await.status, 204);
    assert_eq!(server.get("/v1/actions/mail").await.json()["draining"], true);
    let refused = server.post("/v1/actions/mail/executions", "{}").await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    assert!(refused.text.contains("drains"), "{}", refused.text);
    assert_eq!(activated(&server).await, [there]);
    // Resuming ends both.
    assert_eq!(server.post("/v1/actions/mail/pause", "").await.status, 204);
    assert_eq!(server.post("/v1/actions/mail/resume", "").await.status, 204);
    let shown = server.get("/v1/actions/mail").await.json();
    assert_eq!((&shown["paused"], &shown["draining"]), (&json!(false), &json!(false)));
    submit(&server, json!({})).await;
}
