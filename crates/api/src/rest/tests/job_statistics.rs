//! How many jobs were created, completed and failed in a time.

use serde_json::json;

use super::*;

const ALL: [(&str, &str); 2] = [("from", "2020-01-01T00:00:00Z"), ("to", "2100-01-01T00:00:00Z")];

async fn count(server: &Server, what: &str, more: Value) -> Value {
    let mut filter = json!({ ALL[0].0: ALL[0].1, ALL[1].0: ALL[1].1 });
    filter.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let reply = server.post(&format!("/v2/jobs/statistics/{what}"), &json!({ "filter": filter }).to_string()).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.json()["items"].clone()
}

#[tokio::test]
async fn jobs_are_counted_by_what_happened_to_them() {
    let server = Server::start().await;
    server.deploy().await;
    for _ in 0..3 {
        server.create("{}").await;
    }
    let (done, failed) = (server.activate().await, server.activate().await);
    let key = |job: &Value| job["jobKey"].as_str().unwrap().to_owned();
    assert_eq!(server.post(&format!("/v2/jobs/{}/completion", key(&done)), "").await.status, 204);
    let body = r#"{"retries":0,"errorMessage":"broken"}"#;
    assert_eq!(server.post(&format!("/v2/jobs/{}/failure", key(&failed)), body).await.status, 204);
    let times = format!("from={}&to={}", ALL[0].1, ALL[1].1);
    let all = server.get(&format!("/v2/jobs/statistics/global?{times}")).await.json();
    let counts = |item: &Value| ["created", "completed", "failed"].map(|name| item[name]["count"].as_u64().unwrap());
    assert_eq!(counts(&all), [3, 1, 1], "{all}");
    assert!(all["failed"]["lastUpdatedAt"].is_string() && all["isIncomplete"] == false);
    let none = server.get(&format!("/v2/jobs/statistics/global?{times}&jobType=other")).await.json();
    assert_eq!((counts(&none), &none["created"]["lastUpdatedAt"]), ([0, 0, 0], &Value::Null));
    let types = count(&server, "by-types", json!({})).await;
    assert_eq!(
        (counts(&types[0]), &types[0]["jobType"], &types[0]["workers"]),
        ([3, 1, 1], &json!("work"), &json!(1)),
        "{types}"
    );
    let workers = count(&server, "by-workers", json!({ "jobType": "work" })).await;
    assert_eq!((counts(&workers[0]), &workers[0]["worker"]), ([2, 1, 1], &json!("w")), "{workers}");
    let points = count(&server, "time-series", json!({ "jobType": "work", "resolution": "P366D" })).await;
    let sum: u64 = points.as_array().unwrap().iter().map(|point| counts(point)[0]).sum();
    assert_eq!(sum, 3, "{points}");
    let errors = count(&server, "errors", json!({ "jobType": "work" })).await;
    assert_eq!(errors, json!([{ "errorCode": "", "errorMessage": "broken", "workers": 1 }]));
    assert_eq!(count(&server, "errors", json!({ "jobType": "work", "errorMessage": "other" })).await, json!([]));
}

#[tokio::test]
async fn what_is_missing_is_said() {
    let server = Server::start().await;
    for (path, body, detail) in [
        ("by-types", json!({}), "No filter provided."),
        ("by-types", json!({ "filter": {} }), "from must not be null"),
        ("by-workers", json!({ "filter": {} }), "No jobType provided."),
        (
            "errors",
            json!({ "filter": { "jobType": "work", "from": "now" } }),
            "The provided from 'now' cannot be parsed as a date",
        ),
        ("time-series", json!({ "filter": { "jobType": "work", "resolution": "daily" } }), "The provided resolution 'daily'"),
        ("by-types", json!({ "filter": {}, "page": { "from": 0 } }), "Request property [page.from] cannot be parsed"),
    ] {
        let reply = server.post(&format!("/v2/jobs/statistics/{path}"), &body.to_string()).await;
        assert!(reply.status == 400 && reply.text.contains(detail), "{path}: {}", reply.text);
    }
    let reply = server.get("/v2/jobs/statistics/global?from=2020-01-01T00:00:00Z").await;
    assert!(reply.status == 400 && reply.text.contains("Required parameter 'to' is not present."), "{}", reply.text);
}
