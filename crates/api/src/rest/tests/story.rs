//! What workers and their users do from day to day.

use super::*;

#[tokio::test]
async fn a_process_is_deployed_started_worked_on_and_found() {
    let server = Server::start().await;
    let deployed = server.deploy().await.json();
    let process = &deployed["deployments"][0]["processDefinition"];
    assert_eq!((process["processDefinitionId"].as_str(), process["processDefinitionVersion"].as_i64()), (Some("work"), Some(1)));
    let key = server.create(r#"{"n": 1, "who": {"name": "Ada"}}"#).await;
    let job = server.activate().await;
    assert_eq!(job["processInstanceKey"], key.as_str());
    assert_eq!(job["variables"].to_string(), r#"{"n":1,"who":{"name":"Ada"}}"#);
    let path = format!("/v2/jobs/{}/completion", job["jobKey"].as_str().unwrap());
    assert_eq!(server.post(&path, r#"{"variables":{"done":true}}"#).await.status, 204);
    let instance = server.get(&format!("/v2/process-instances/{key}")).await.json();
    assert_eq!(instance["state"], "COMPLETED");
    let variables = server
        .post(
            "/v2/variables/search",
            &format!("{{\"filter\":{{\"processInstanceKey\":\"{key}\"}},\"sort\":[{{\"field\":\"name\"}}]}}"),
        )
        .await;
    let names: Vec<_> = variables.json()["items"].as_array().unwrap().iter().map(|item| item["name"].clone()).collect();
    assert_eq!(names, ["done", "n", "who"]);
}

#[tokio::test]
async fn the_end_of_an_instance_can_be_awaited() {
    let server = Server::start().await;
    server.deploy().await;
    let body = r#"{"processDefinitionId":"work","awaitCompletion":true,"fetchVariables":["done"],"variables":{"n":1}}"#;
    let (awaited, ()) = tokio::join!(server.post("/v2/process-instances", body), async {
        let job = server.activate().await;
        let path = format!("/v2/jobs/{}/completion", job["jobKey"].as_str().unwrap());
        assert_eq!(server.post(&path, r#"{"variables":{"done":[true]}}"#).await.status, 204);
    });
    assert_eq!(awaited.json()["variables"].to_string(), r#"{"done":[true]}"#);
    let body = r#"{"processDefinitionId":"work","awaitCompletion":true,"requestTimeout":1}"#;
    let late = server.post("/v2/process-instances", body).await;
    assert_eq!((late.status, late.title().as_str()), (504, "DEADLINE_EXCEEDED"));
}

#[tokio::test]
async fn an_instance_begins_and_ends_where_it_is_told() {
    let server = Server::start().await;
    server.deploy().await;
    let create = async |more: &str| {
        let body = format!("{{\"processDefinitionId\":\"work\",{more}}}");
        server.post("/v2/process-instances", &body).await
    };
    let state = async |created: &Value| {
        let path = format!("/v2/process-instances/{}", created["processInstanceKey"].as_str().unwrap());
        server.get(&path).await.json()["state"].clone()
    };
    let at_the_end = create(r#""startInstructions":[{"elementId":"end"}]"#).await.json();
    assert_eq!(state(&at_the_end).await, "COMPLETED");
    let not_far =
        create(r#""runtimeInstructions":[{"type":"TERMINATE_PROCESS_INSTANCE","afterElementId":"start"}]"#).await.json();
    assert_eq!(state(&not_far).await, "TERMINATED");
    let seen = server.post("/v2/variables/search", "").await.json();
    assert_eq!(seen["page"]["totalItems"], 0, "where it ends is nobody's variable");
    for more in [
        r#""startInstructions":[{"elementId":"nowhere"}]"#,
        r#""startInstructions":[{"elementId":"work"}]"#,
        r#""startInstructions":[{"elementId":"end"},{"elementId":"start"}]"#,
        r#""runtimeInstructions":[{"type":"TERMINATE_PROCESS_INSTANCE","afterElementId":"nowhere"}]"#,
    ] {
        let refused = create(more).await;
        assert_eq!((refused.status, refused.title().as_str()), (400, "INVALID_ARGUMENT"), "{more}");
    }
    assert_eq!(server.post("/v2/process-instances/search", "").await.json()["page"]["totalItems"], 2);
}

#[tokio::test]
async fn a_command_may_be_answered_before_it_is_done() {
    let server = Server::start().await;
    server.deploy().await;
    for (body, state) in [(r#"{"processDefinitionId":"work"}"#, "DONE"), (r#"{"processDefinitionId":"nobody"}"#, "REJECTED")] {
        let accepted = server.call("POST", "/v2/process-instances", body, &[("prefer", "wait=5, respond-async")]).await;
        assert_eq!(accepted.status, 202, "{}", accepted.text);
        let path = format!("/v1/commands/{}", accepted.json()["commandPosition"].as_str().unwrap());
        let mut command = server.get(&path).await.json();
        while command["state"] == "PENDING" {
            tokio::task::yield_now().await;
            command = server.get(&path).await.json();
        }
        assert_eq!(command["state"], state, "{command}");
    }
    assert_eq!(server.get("/v1/commands/999999").await.status, 404);
}

#[tokio::test]
async fn a_request_with_a_key_has_one_effect() {
    let server = Server::start().await;
    server.deploy().await;
    let send = async |body: &str| server.call("POST", "/v2/process-instances", body, &[("idempotency-key", "k-1")]).await;
    let first = send(r#"{"processDefinitionId":"work"}"#).await;
    let second = send(r#"{"processDefinitionId":"work"}"#).await;
    assert_eq!((first.status, &first.text), (200, &second.text));
    let other = send(r#"{"processDefinitionId":"work","variables":{"n":1}}"#).await;
    assert!((400..500).contains(&other.status), "{}", other.text);
    let found = server.post("/v2/process-instances/search", "").await.json();
    assert_eq!(found["page"]["totalItems"], 1);
}

/// Whatever they come with, and nothing has happened then.
#[tokio::test]
async fn variables_of_the_engine_are_refused() {
    let server = Server::start().await;
    server.deploy().await;
    let instance = server.create("{}").await;
    let job = server.activate().await["jobKey"].as_str().unwrap().to_owned();
    let variables = r#""variables":{"a":1,"caudal:end-after":["task"]}"#;
    for (method, path, more) in [
        ("POST", "/v2/process-instances".to_owned(), r#""processDefinitionId":"work","#),
        (
            "POST",
            "/v2/process-instances".to_owned(),
            r#""processDefinitionId":"work","startInstructions":[{"elementId":"end"}],"#,
        ),
        ("PUT", format!("/v2/element-instances/{instance}/variables"), ""),
        ("POST", format!("/v2/jobs/{job}/completion"), ""),
        ("POST", format!("/v2/jobs/{job}/failure"), ""),
        ("POST", format!("/v2/jobs/{job}/error"), r#""errorCode":"E","#),
        ("POST", "/v2/user-tasks/5/completion".to_owned(), ""),
        ("POST", "/v2/messages/publication".to_owned(), r#""name":"m","correlationKey":"k","#),
        ("POST", "/v2/messages/correlation".to_owned(), r#""name":"m","correlationKey":"k","#),
        ("POST", "/v2/signals/broadcast".to_owned(), r#""signalName":"s","#),
        ("POST", "/v2/conditionals/evaluation".to_owned(), ""),
    ] {
        let refused = server.call(method, &path, &format!("{{{more}{variables}}}"), &[]).await;
        assert_eq!((refused.status, refused.title().as_str()), (400, "INVALID_ARGUMENT"), "{path}: {}", refused.text);
        assert!(refused.text.contains("caudal:end-after"), "{path}: {}", refused.text);
    }
    let begun = r#"{"elements":[{"elementId":"x","variables":{"caudal:x":1}}]}"#;
    let refused = server.post(&format!("/v2/element-instances/ad-hoc-activities/{instance}/activation"), begun).await;
    assert_eq!((refused.status, refused.title().as_str()), (400, "INVALID_ARGUMENT"), "{}", refused.text);
    assert_eq!(server.post("/v2/variables/search", "").await.json()["page"]["totalItems"], 0);
    assert_eq!(server.post(&format!("/v2/jobs/{job}/completion"), "").await.status, 204, "nobody has touched it");
}

#[tokio::test]
async fn pages_lead_from_one_to_the_next_and_back() {
    let server = Server::start().await;
    server.deploy().await;
    for n in 0..5 {
        server.create(&format!("{{\"n\":{n}}}")).await;
    }
    let page = async |page: &str| {
        let body = format!("{{\"sort\":[{{\"field\":\"processInstanceKey\",\"order\":\"DESC\"}}],\"page\":{page}}}");
        server.post("/v2/process-instances/search", &body).await.json()
    };
    let keys = |page: &Value| -> Vec<Value> {
        page["items"].as_array().unwrap().iter().map(|item| item["processInstanceKey"].clone()).collect()
    };
    let all = keys(&page("{\"limit\":100}").await);
    let first = page("{\"limit\":2}").await;
    let second = page(&format!("{{\"limit\":2,\"after\":{}}}", first["page"]["endCursor"])).await;
    let back = page(&format!("{{\"limit\":2,\"before\":{}}}", second["page"]["startCursor"])).await;
    assert_eq!([keys(&first), keys(&second)].concat(), all[..4]);
    assert_eq!(keys(&back), keys(&first));
    assert_eq!(keys(&page("{\"from\":4,\"limit\":2}").await), all[4..]);
}

#[tokio::test]
async fn a_failed_job_raises_an_incident_that_can_be_resolved() {
    let server = Server::start().await;
    server.deploy().await;
    let key = server.create("{}").await;
    let job = server.activate().await["jobKey"].as_str().unwrap().to_owned();
    assert_eq!(server.post(&format!("/v2/jobs/{job}/failure"), r#"{"errorMessage":"no glue"}"#).await.status, 204);
    let again = server.post(&format!("/v2/jobs/{job}/completion"), "").await;
    assert_eq!((again.status, again.title().as_str()), (409, "INVALID_STATE"));
    let found = server.post(&format!("/v2/process-instances/{key}/incidents/search"), "").await.json();
    let incident = found["items"][0]["incidentKey"].as_str().unwrap().to_owned();
    assert_eq!(found["items"][0]["errorType"], "JOB_NO_RETRIES");
    let patched = server.call("PATCH", &format!("/v2/jobs/{job}"), r#"{"changeset":{"retries":1}}"#, &[]).await;
    assert_eq!(patched.status, 204, "{}", patched.text);
    assert_eq!(server.post(&format!("/v2/incidents/{incident}/resolution"), "").await.status, 204);
    assert_eq!(server.get(&format!("/v2/incidents/{incident}")).await.json()["state"], "RESOLVED");
}

#[tokio::test]
async fn a_job_without_a_priority_shows_0() {
    let server = Server::start().await;
    server.deploy().await;
    server.create("{}").await;
    assert_eq!(server.post("/v2/jobs/search", "").await.json()["items"][0]["priority"], 0);
}
