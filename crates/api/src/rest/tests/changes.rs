//! Modification and migration as clients ask for them.

use serde_json::json;

use super::*;

/// Start, a task, a sub-process with a task.
fn model(id: &str, first: &str) -> String {
    format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="t">
    <process id="{id}" isExecutable="true"><startEvent id="start"/><sequenceFlow id="f1" sourceRef="start" targetRef="{first}"/>
    <serviceTask id="{first}"><extensionElements><zeebe:taskDefinition type="t"/></extensionElements></serviceTask>
    <sequenceFlow id="f2" sourceRef="{first}" targetRef="box"/><subProcess id="box"><startEvent id="s"/><sequenceFlow id="f3" sourceRef="s" targetRef="in"/>
    <serviceTask id="in"><extensionElements><zeebe:taskDefinition type="t"/></extensionElements></serviceTask></subProcess></process></definitions>"#
    )
}

async fn with_instance() -> (Server, String, String) {
    let server = Server::start().await;
    assert_eq!(server.deploy_file("work.bpmn", &model("work", "a")).await.status, 200);
    let other = server.deploy_file("other.bpmn", &model("other", "b")).await.json();
    let other = other["deployments"][0]["processDefinition"]["processDefinitionKey"].as_str().unwrap().to_owned();
    let instance = server.create("{}").await;
    (server, instance, other)
}

async fn active(server: &Server) -> Vec<String> {
    let body = json!({ "filter": { "state": "ACTIVE" }, "sort": [{ "field": "elementInstanceKey" }] });
    let found = server.post("/v2/element-instances/search", &body.to_string()).await.json();
    found["items"].as_array().unwrap().iter().map(|item| item["elementId"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn instructions_that_say_too_little_are_refused() {
    let (server, instance, other) = with_instance().await;
    let source = |more: Value| json!({ "moveInstructions": [{ "sourceElementInstruction": more, "targetElementId": "a" }] });
    let by_id = json!({ "sourceType": "byId", "sourceElementId": "a" });
    for body in [
        json!({ "activateInstructions": [{}] }),
        json!({ "terminateInstructions": [{}] }),
        json!({ "terminateInstructions": [{ "elementId": "a", "elementInstanceKey": "5" }] }),
        json!({ "moveInstructions": [{ "targetElementId": "a" }] }),
        source(json!({})),
        source(json!({ "sourceType": "byId" })),
        source(json!({ "sourceType": "byKey" })),
        source(json!({ "sourceType": "by" })),
        json!({ "moveInstructions": [{ "sourceElementInstruction": by_id }] }),
        json!({ "moveInstructions": [{ "sourceElementInstruction": by_id, "targetElementId": "a", "ancestorScopeInstruction": {} }] }),
        json!({ "moveInstructions": [{ "sourceElementInstruction": by_id, "targetElementId": "a",
            "ancestorScopeInstruction": { "ancestorScopeType": "direct" } }] }),
        json!({ "operationReference": 0 }),
    ] {
        let reply = server.post(&format!("/v2/process-instances/{instance}/modification"), &body.to_string()).await;
        assert_eq!((reply.status, reply.title().as_str()), (400, "INVALID_ARGUMENT"), "{body}: {}", reply.text);
    }
    for body in [
        json!({}),
        json!({ "targetProcessDefinitionKey": other }),
        json!({ "targetProcessDefinitionKey": other, "mappingInstructions": [{ "sourceElementId": "a" }] }),
        json!({ "targetProcessDefinitionKey": other, "mappingInstructions": [{ "targetElementId": "a" }] }),
    ] {
        let reply = server.post(&format!("/v2/process-instances/{instance}/migration"), &body.to_string()).await;
        assert_eq!((reply.status, reply.title().as_str()), (400, "INVALID_ARGUMENT"), "{body}: {}", reply.text);
    }
    assert_eq!(active(&server).await, ["a"]);
}

/// The Java client always says in which element instance: -1 is none.
#[tokio::test]
async fn no_ancestor_may_be_said() {
    let (server, instance, _) = with_instance().await;
    let body = json!({ "activateInstructions": [{ "elementId": "in", "ancestorElementInstanceKey": "-1" }],
        "terminateInstructions": [{ "elementId": "a" }] });
    let reply = server.post(&format!("/v2/process-instances/{instance}/modification"), &body.to_string()).await;
    assert_eq!(reply.status, 204, "{}", reply.text);
    assert_eq!(active(&server).await, ["box", "in"]);
}

#[tokio::test]
async fn an_instance_is_moved_and_becomes_another() {
    let (server, instance, other) = with_instance().await;
    let moved = json!({ "moveInstructions": [{ "sourceElementInstruction": { "sourceType": "byId", "sourceElementId": "a" },
        "targetElementId": "in", "ancestorScopeInstruction": { "ancestorScopeType": "inferred" },
        "variableInstructions": [{ "variables": { "x": 1 }, "scopeId": "box" }] }] });
    let reply = server.post(&format!("/v2/process-instances/{instance}/modification"), &moved.to_string()).await;
    assert_eq!(reply.status, 204, "{}", reply.text);
    assert_eq!(active(&server).await, ["box", "in"]);
    let mapping = |from: &str, to: &str| json!({ "sourceElementId": from, "targetElementId": to });
    let half = json!({ "targetProcessDefinitionKey": other, "mappingInstructions": [mapping("in", "in")] });
    let reply = server.post(&format!("/v2/process-instances/{instance}/migration"), &half.to_string()).await;
    assert_eq!((reply.status, reply.title().as_str()), (409, "INVALID_STATE"), "{}", reply.text);
    let whole =
        json!({ "targetProcessDefinitionKey": other, "mappingInstructions": [mapping("in", "in"), mapping("box", "box")] });
    let reply = server.post(&format!("/v2/process-instances/{instance}/migration"), &whole.to_string()).await;
    assert_eq!(reply.status, 204, "{}", reply.text);
    let view = server.get(&format!("/v2/process-instances/{instance}")).await.json();
    assert_eq!(view["processDefinitionId"], "other");
}
