//! Tasks for people as clients see them.

use serde_json::json;

use super::*;

const REVIEW: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
    xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="t"><process id="work" name="Work" isExecutable="true">
    <startEvent id="start"/><sequenceFlow id="a" sourceRef="start" targetRef="part"/>
    <subProcess id="part"><extensionElements><zeebe:ioMapping><zeebe:input source="=2" target="mid"/><zeebe:input source="=2" target="x"/></zeebe:ioMapping></extensionElements>
      <startEvent id="in"/><sequenceFlow id="b" sourceRef="in" targetRef="task"/>
      <userTask id="task"><extensionElements><zeebe:userTask/><zeebe:assignmentDefinition candidateGroups="=groups" candidateUsers="ann,bob"/>
        <zeebe:formDefinition formId="ask"/><zeebe:taskHeaders><zeebe:header key="k" value="v"/></zeebe:taskHeaders>
        <zeebe:ioMapping><zeebe:input source="=3" target="x"/></zeebe:ioMapping></extensionElements></userTask>
    </subProcess></process></definitions>"#;
const FORM: &str = r#"{"id": "ask", "components": []}"#;

/// A server with one open task, and its key.
async fn with_task() -> (Server, String) {
    let server = Server::start().await;
    let form = server.deploy_file("ask.form", FORM).await;
    assert_eq!(form.status, 200, "{}", form.text);
    assert_eq!(form.json()["deployments"][0]["form"]["formId"], "ask");
    assert_eq!(server.deploy_file("review.bpmn", REVIEW).await.status, 200);
    server.create(r#"{"groups":["hr"],"x":1,"top":1}"#).await;
    let found = server.post("/v2/user-tasks/search", "").await.json();
    (server, found["items"][0]["userTaskKey"].as_str().unwrap().to_owned())
}

async fn found(server: &Server, filter: Value) -> u64 {
    let reply = server.post("/v2/user-tasks/search", &json!({ "filter": filter }).to_string()).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.json()["page"]["totalItems"].as_u64().unwrap()
}

#[tokio::test]
async fn a_task_is_found_by_every_filter() {
    let (server, key) = with_task().await;
    server.post(&format!("/v2/user-tasks/{key}/assignment"), r#"{"assignee":"ann"}"#).await;
    let variable = |name: &str, value: &str| json!([{ "name": name, "value": value }]);
    for (filter, count) in [
        (json!({ "state": "CREATED", "assignee": "ann", "priority": { "$gte": 50 } }), 1),
        (json!({ "state": { "$in": ["COMPLETED"] } }), 0),
        (json!({ "assignee": { "$exists": false } }), 0),
        (json!({ "candidateGroup": "hr", "candidateUser": { "$in": ["bob", "eve"] }, "state": "CREATED" }), 1),
        (json!({ "candidateGroup": { "$neq": "hr" } }), 0),
        (json!({ "candidateGroup": { "$like": "h*" } }), 1),
        (json!({ "elementId": "task", "processDefinitionId": "work", "userTaskKey": key }), 1),
        (json!({ "dueDate": { "$exists": false }, "creationDate": { "$gt": "2020-01-01T00:00:00Z" } }), 1),
        (json!({ "processInstanceVariables": variable("top", "1") }), 1),
        (json!({ "processInstanceVariables": variable("top", "2") }), 0),
        (json!({ "localVariables": variable("x", "3") }), 1),
        (json!({ "localVariables": variable("top", "1") }), 0),
        (json!({ "name": "task" }), 1),
        (json!({ "tags": ["none"] }), 0),
    ] {
        assert_eq!(found(&server, filter.clone()).await, count, "{filter}");
    }
    for field in ["creationDate", "completionDate", "followUpDate", "dueDate", "priority", "name"] {
        let body = json!({ "sort": [{ "field": field, "order": "DESC" }] });
        assert_eq!(server.post("/v2/user-tasks/search", &body.to_string()).await.status, 200, "{field}");
    }
}

#[tokio::test]
async fn a_task_sees_its_own_variables_and_those_around_it() {
    let (server, key) = with_task().await;
    let shown = async |path: &str, body: Value| {
        let reply = server.post(&format!("/v2/user-tasks/{key}/{path}/search"), &body.to_string()).await.json();
        let items: Vec<String> =
            reply["items"].as_array().unwrap().iter().map(|one| format!("{}={}", one["name"], one["value"])).collect();
        (items.join(" ").replace(['"', '\\'], ""), reply["page"].clone())
    };
    let by_name = json!({ "sort": [{ "field": "name" }, { "field": "scopeKey" }] });
    let (all, page) = shown("variables", by_name.clone()).await;
    assert_eq!(all, "groups=[hr] mid=2 top=1 x=1 x=2 x=3");
    assert!(page["endCursor"].is_string());
    let (effective, page) = shown("effective-variables", by_name).await;
    assert_eq!(effective, "groups=[hr] mid=2 top=1 x=3");
    assert_eq!((&page["totalItems"], &page["endCursor"]), (&json!(4), &Value::Null));
    let (some, _) =
        shown("effective-variables", json!({ "filter": { "name": { "$in": ["x", "top"] } }, "page": { "from": 1 } })).await;
    assert_eq!(some, "x=3");
}

#[tokio::test]
async fn a_task_has_its_form_and_goes_on_when_it_is_done() {
    let (server, key) = with_task().await;
    let form = server.get(&format!("/v2/user-tasks/{key}/form")).await;
    assert_eq!((form.status, form.json()["schema"].as_str()), (200, Some(FORM)));
    let key_of_form = form.json()["formKey"].as_str().unwrap().to_owned();
    assert_eq!(server.get(&format!("/v2/forms/{key_of_form}")).await.json(), form.json());
    assert_eq!(server.get("/v2/forms/1").await.status, 404);
    assert_eq!(server.get("/v2/user-tasks/1/form").await.status, 404);
    let bad = r#"{"changeset":{"candidateUsers":["a"],"priority":500}}"#;
    assert_eq!(server.call("PATCH", &format!("/v2/user-tasks/{key}"), bad, &[]).await.status, 400);
    let long = format!(r#"{{"assignee":"{}"}}"#, "a".repeat(1_001));
    assert_eq!(server.post(&format!("/v2/user-tasks/{key}/assignment"), &long).await.status, 400);
    let done = server.post(&format!("/v2/user-tasks/{key}/completion"), r#"{"variables":{"ok":true}}"#).await;
    assert_eq!(done.status, 204, "{}", done.text);
    assert_eq!(found(&server, json!({ "state": "COMPLETED" })).await, 1);
    assert_eq!(server.post(&format!("/v2/user-tasks/{key}/completion"), "").await.status, 404);
    let instances = server.post("/v2/process-instances/search", "").await.json();
    assert_eq!(instances["items"][0]["state"], "COMPLETED");
}
