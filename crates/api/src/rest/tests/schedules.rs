//! Schedules and statistics of queues, as callers see them.

use serde_json::json;

use super::*;

async fn put(server: &Server, name: &str, body: Value) -> Reply {
    server.call("PUT", &format!("/v1/schedules/{name}"), &body.to_string(), &[]).await
}

#[tokio::test]
async fn a_schedule_is_put_shown_and_deleted() {
    let server = Server::start().await;
    let execution =
        json!({ "input": { "report": "sales" }, "priority": 5, "uniqueKey": "k", "uniqueFor": "PT1.5S", "onConflict": "RETURN" });
    let body = json!({ "action": "report", "cron": "0 9 * * MON-FRI", "timeZone": "Europe/Madrid", "execution": execution });
    let reply = put(&server, "morning", body).await;
    assert_eq!(reply.status, 204, "{}", reply.text);
    let shown = server.get("/v1/schedules/morning").await.json();
    assert_eq!(
        (&shown["ref"], &shown["action"], &shown["cron"]),
        (&json!("morning"), &json!("report"), &json!("0 9 * * MON-FRI"))
    );
    assert_eq!((&shown["timeZone"], &shown["paused"], &shown["lastAt"]), (&json!("Europe/Madrid"), &json!(false), &Value::Null));
    assert!(shown["nextAt"].is_string());
    assert_eq!(shown["execution"]["input"], json!({ "report": "sales" }));
    assert_eq!((&shown["execution"]["uniqueFor"], &shown["execution"]["onConflict"]), (&json!("PT1.500S"), &json!("RETURN")));
    // What is shown can be put.
    let again =
        json!({ "action": "report", "cron": "0 9 * * MON-FRI", "timeZone": "Europe/Madrid", "execution": shown["execution"] });
    assert_eq!(put(&server, "morning", again).await.status, 204);
    assert_eq!(server.get("/v1/schedules").await.json()["items"].as_array().unwrap().len(), 1);
    for (body, detail) in [
        (json!({ "cron": "* * * * *" }), "action"),
        (json!({ "action": "report" }), "cron"),
        (json!({ "action": "report", "cron": "often" }), "cron"),
        (json!({ "action": "report", "cron": "* * * * *", "timeZone": "Nowhere" }), "cron"),
        (json!({ "action": " ", "cron": "* * * * *" }), "action"),
        (json!({ "action": "report", "cron": "* * * * *", "execution": { "priority": 101 } }), "priority"),
        (json!({ "action": "report", "cron": "* * * * *", "execution": { "runAt": "2026-01-01T00:00:00Z" } }), "runAt"),
    ] {
        let reply = put(&server, "wrong", body).await;
        assert!(reply.status == 400 && reply.text.contains(detail), "{}", reply.text);
    }
    assert_eq!(server.call("DELETE", "/v1/schedules/morning", "", &[]).await.status, 204);
    assert_eq!(server.call("DELETE", "/v1/schedules/morning", "", &[]).await.status, 404);
    assert_eq!(server.get("/v1/schedules/morning").await.status, 404);
}

#[tokio::test]
async fn a_schedule_that_begins_at_once_submits_at_once() {
    let server = Server::start().await;
    let body = json!({ "action": "work", "cron": "R1/2020-01-01T00:00:00Z/PT1H", "execution": { "input": { "x": 1 } } });
    assert_eq!(put(&server, "once", body).await.status, 204);
    let job = server.activate().await;
    assert_eq!(job["variables"], json!({ "x": 1 }));
    let shown = server.get("/v1/schedules/once").await.json();
    assert_eq!((&shown["lastExecutionId"], &shown["nextAt"]), (&job["jobKey"], &Value::Null), "{shown}");
}

#[tokio::test]
async fn a_queue_tells_what_is_going_on() {
    let server = Server::start().await;
    let policy = json!({ "scope": "ACTION", "action": "work", "concurrency": { "limit": 1, "parameters": ["customer"] } });
    assert_eq!(server.call("PUT", "/v1/policies/p", &policy.to_string(), &[]).await.status, 204);
    let executions: Vec<_> = [1, 1, 1, 2].iter().map(|customer| json!({ "input": { "customer": customer } })).collect();
    let bulk = json!({ "executions": executions }).to_string();
    assert_eq!(server.post(&format!("/v1/actions/{}/executions/bulk", "work"), &bulk).await.status, 201);
    let job = server.activate().await;
    let stats = server.get(&format!("/v1/actions/{}/queue-stats", "work")).await.json();
    assert_eq!((&stats["queueLength"], &stats["activeCount"], &stats["maxConcurrent"]), (&json!(3), &json!(1), &json!(1)));
    let group = |customer: u32, waiting: u32, running: u32| json!({ "group": { "customer": customer }, "queueLength": waiting, "activeCount": running });
    assert_eq!((&stats["groups"], &stats["groupCount"]), (&json!([group(1, 2, 1), group(2, 1, 0)]), &json!(2)), "{stats}");
    let ages = stats["ages"].as_array().unwrap();
    assert_eq!((ages.len(), ages.iter().map(|age| age["count"].as_u64().unwrap()).sum::<u64>()), (7, 3));
    assert_eq!(ages[6]["upToSeconds"], Value::Null);
    assert_eq!((&stats["stuck"], &stats["stuckSince"]), (&json!(false), &Value::Null));
    assert!(stats["waitMillis"].get("p95").is_some() && stats["rates"]["completedPerMinute"].is_number(), "{stats}");
    let key = job["jobKey"].as_str().unwrap();
    assert_eq!(server.post(&format!("/v2/jobs/{key}/completion"), "").await.status, 204);
}
