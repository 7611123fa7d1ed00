//! Suspension, deletion and batch operations as clients ask for them.

use serde_json::json;

use super::*;

async fn with_instances(count: usize) -> (Server, Vec<String>) {
    let server = Server::start().await;
    server.deploy().await;
    let mut keys = Vec::new();
    for _ in 0..count {
        keys.push(server.create("{}").await);
    }
    (server, keys)
}

async fn ended(server: &Server, key: &str) -> Value {
    for _ in 0..10_000 {
        let batch = server.get(&format!("/v2/batch-operations/{key}")).await.json();
        if !batch["endDate"].is_null() {
            return batch;
        }
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    panic!("it does not end");
}

async fn begun(server: &Server, path: &str, body: &Value) -> (String, Value) {
    let reply = server.post(path, &body.to_string()).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    let key = reply.json()["batchOperationKey"].as_str().unwrap().to_owned();
    let batch = ended(server, &key).await;
    (key, batch)
}

async fn found(server: &Server, filter: &Value) -> Vec<String> {
    let body = json!({ "filter": filter, "sort": [{ "field": "processInstanceKey" }] });
    let found = server.post("/v2/process-instances/search", &body.to_string()).await.json();
    found["items"].as_array().unwrap().iter().map(|item| item["processInstanceKey"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn an_instance_is_suspended_shown_so_and_resumed() {
    let (server, keys) = with_instances(2).await;
    let path = |what: &str| format!("/v2/process-instances/{}/{what}", keys[0]);
    let job = server.activate().await;
    assert_eq!(server.post(&path("suspension"), r#"{"operationReference":5}"#).await.status, 204);
    let view = server.get(&format!("/v2/process-instances/{}", keys[0])).await.json();
    assert_eq!((&view["state"], view["suspendedDate"].is_string()), (&json!("SUSPENDED"), true));
    assert_eq!(found(&server, &json!({ "state": "SUSPENDED" })).await, keys[..1]);
    assert_eq!(found(&server, &json!({ "state": { "$neq": "SUSPENDED" } })).await, keys[1..]);
    assert_eq!(found(&server, &json!({ "state": { "$in": ["ACTIVE", "SUSPENDED"] } })).await, keys);
    for (path, body) in [
        (path("suspension"), ""),
        (path("modification"), r#"{"terminateInstructions":[{"elementId":"work"}]}"#),
        (format!("/v2/jobs/{}/completion", job["jobKey"].as_str().unwrap()), "{}"),
    ] {
        let reply = server.post(&path, body).await;
        assert_eq!((reply.status, reply.title().as_str()), (409, "INVALID_STATE"), "{path}: {}", reply.text);
        assert!(reply.text.contains("suspended"), "{}", reply.text);
    }
    assert_eq!(server.post(&path("resumption"), "").await.status, 204);
    assert_eq!(server.post(&path("resumption"), "").await.status, 409);
    assert_eq!(server.post("/v2/process-instances/77/suspension", "").await.status, 404);
    assert_eq!(found(&server, &json!({ "state": "ACTIVE" })).await, keys);
}

#[tokio::test]
async fn a_finished_instance_is_deleted() {
    let (server, keys) = with_instances(2).await;
    let path = format!("/v2/process-instances/{}/deletion", keys[0]);
    assert_eq!(server.post(&path, "").await.status, 409, "it runs");
    server.post(&format!("/v2/process-instances/{}/cancellation", keys[0]), "").await;
    assert_eq!(server.post(&path, "").await.status, 204);
    assert_eq!(server.post(&path, "").await.status, 404);
    assert_eq!(server.get(&format!("/v2/process-instances/{}", keys[0])).await.status, 404);
    let of_it = json!({ "filter": { "processInstanceKey": keys[0] } }).to_string();
    let elements = server.post("/v2/element-instances/search", &of_it).await;
    assert_eq!(elements.json()["page"]["totalItems"], 0);
}

#[tokio::test]
async fn one_thing_is_done_to_many() {
    let (server, keys) = with_instances(4).await;
    let three = json!({ "filter": { "processInstanceKey": { "$in": keys[..3] } } });
    let (key, batch) = begun(&server, "/v2/process-instances/cancellation", &three).await;
    assert_eq!((&batch["state"], &batch["batchOperationType"]), (&json!("COMPLETED"), &json!("CANCEL_PROCESS_INSTANCE")));
    assert_eq!((&batch["operationsTotalCount"], &batch["operationsCompletedCount"]), (&json!(3), &json!(3)));
    assert_eq!((&batch["actorType"], &batch["actorId"], &batch["errors"]), (&json!("ANONYMOUS"), &Value::Null, &json!([])));
    assert_eq!(found(&server, &json!({ "batchOperationKey": key })).await, keys[..3]);
    let (begins, ends) = key.split_at(3);
    assert_eq!(found(&server, &json!({ "batchOperationId": { "$like": format!("{begins}*") } })).await, keys[..3]);
    assert_eq!(found(&server, &json!({ "batchOperationKey": { "$like": format!("{ends}*?") } })).await, [] as [String; 0]);
    let items = json!({ "filter": { "batchOperationKey": key, "state": "COMPLETED" }, "sort": [{ "field": "itemKey" }] });
    let items = server.post("/v2/batch-operation-items/search", &items.to_string()).await.json();
    assert_eq!(items["items"].as_array().unwrap().len(), 3);
    assert_eq!((&items["items"][0]["itemKey"], &items["items"][0]["processInstanceKey"]), (&json!(keys[0]), &json!(keys[0])));
    let of_type = json!({ "filter": { "operationType": "CANCEL_PROCESS_INSTANCE", "actorType": "ANONYMOUS" } });
    let listed = server.post("/v2/batch-operations/search", &of_type.to_string()).await.json();
    assert_eq!(listed["items"][0]["batchOperationKey"], json!(key));

    let nothing_fits = json!({ "filter": { "processDefinitionId": "work" }, "moveInstructions":
        [{ "sourceElementId": "work", "targetElementId": "nowhere" }] });
    let (key, batch) = begun(&server, "/v2/process-instances/modification", &nothing_fits).await;
    assert_eq!((&batch["operationsTotalCount"], &batch["operationsFailedCount"]), (&json!(1), &json!(1)));
    let of_it = json!({ "filter": { "batchOperationKey": key } }).to_string();
    let items = server.post("/v2/batch-operation-items/search", &of_it).await;
    let error = items.json()["items"][0]["errorMessage"].as_str().unwrap().to_owned();
    assert!(error.starts_with("INVALID_ARGUMENT: "), "{error}");

    for (path, done) in [("suspension", 1), ("suspension", 0), ("resumption", 1), ("deletion", 3)] {
        let of_process = json!({ "filter": { "processDefinitionId": "work" } });
        let (_, batch) = begun(&server, &format!("/v2/process-instances/{path}"), &of_process).await;
        assert_eq!(batch["operationsCompletedCount"], done, "{path}");
    }
    assert_eq!(found(&server, &json!({})).await, keys[3..]);
}

#[tokio::test]
async fn requests_that_say_too_little_are_refused() {
    let (server, keys) = with_instances(1).await;
    let one = json!({ "processInstanceKey": keys[0] });
    for (path, body) in [
        ("cancellation", json!({})),
        ("cancellation", json!({ "filter": {} })),
        ("cancellation", json!({ "filter": one, "operationReference": 0 })),
        ("migration", json!({ "filter": one })),
        ("migration", json!({ "filter": one, "migrationPlan": {} })),
        ("modification", json!({ "filter": one, "moveInstructions": [] })),
        ("modification", json!({ "filter": one, "moveInstructions": [{ "sourceElementId": "a" }] })),
    ] {
        let reply = server.post(&format!("/v2/process-instances/{path}"), &body.to_string()).await;
        assert_eq!((reply.status, reply.title().as_str()), (400, "INVALID_ARGUMENT"), "{path} {body}: {}", reply.text);
    }
    let unknown = server.post("/v2/process-instances/cancellation", r#"{"filter":{"colour":"blue"}}"#).await;
    assert_eq!((unknown.status, unknown.title().as_str()), (400, "Bad Request"));
    for what in ["suspension", "resumption", "cancellation"] {
        assert_eq!(server.post(&format!("/v2/batch-operations/77/{what}"), "").await.status, 404);
    }
    assert_eq!(server.post("/v2/process-instances/77/incident-resolution", "").await.status, 404);
    assert_eq!(server.get("/v2/batch-operations/77").await.status, 404);
}
