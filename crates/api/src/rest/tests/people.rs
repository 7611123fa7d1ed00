//! The audit trail and start forms, as clients see them.

use super::*;

const FORM: &str = r#"{"id":"ask","type":"default","components":[]}"#;

fn with_form(definition: &str) -> String {
    let start = format!(
        "<startEvent id=\"start\"><extensionElements><zeebe:formDefinition {definition}/></extensionElements></startEvent>"
    );
    ONE_TASK.replace("<startEvent id=\"start\"/>", &start)
}

fn key_of(deployed: &Reply) -> String {
    deployed.json()["deployments"][0]["processDefinition"]["processDefinitionKey"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_start_form_is_shown_in_the_version_that_is_meant() {
    let server = Server::start().await;
    let without = key_of(&server.deploy().await);
    let reply = server.get(&format!("/v2/process-definitions/{without}/form")).await;
    assert_eq!((reply.status, reply.text.as_str()), (204, ""));
    assert_eq!(server.get("/v2/process-definitions/5/form").await.status, 404);

    let bound = key_of(&server.deploy_file("work.bpmn", &with_form(r#"formId="ask""#)).await);
    let path = format!("/v2/process-definitions/{bound}/form");
    assert_eq!(server.get(&path).await.status, 204, "it is not deployed yet");
    server.deploy_file("ask.form", FORM).await;
    let tagged = FORM.replace("\"type\"", "\"versionTag\":\"v1\",\"type\"");
    server.deploy_file("ask.form", &tagged).await;
    server.deploy_file("ask.form", &FORM.replace("[]", "[{}]")).await;
    assert_eq!(server.get(&path).await.json()["version"], 3);
    let by_tag = with_form(r#"formId="ask" bindingType="versionTag" versionTag="v1""#);
    let by_tag = key_of(&server.deploy_file("work.bpmn", &by_tag).await);
    let shown = server.get(&format!("/v2/process-definitions/{by_tag}/form")).await.json();
    assert_eq!((&shown["version"], &shown["schema"]), (&2.into(), &tagged.as_str().into()), "{shown}");
    let by_deployment = with_form(r#"formId="ask" bindingType="deployment""#);
    let by_deployment = key_of(&server.deploy_file("work.bpmn", &by_deployment).await);
    let path_of_deployment = format!("/v2/process-definitions/{by_deployment}/form");
    assert_eq!(server.get(&path_of_deployment).await.status, 204, "none was deployed with it");

    let found = server.post("/v2/process-definitions/search", r#"{"filter":{"hasStartForm":true}}"#).await.json();
    let flags: Vec<_> = found["items"].as_array().unwrap().iter().map(|item| item["hasStartForm"].clone()).collect();
    assert_eq!(flags, [true, true, true].map(Value::from), "{found}");
    // One that was deleted stays readable; then the one before is meant.
    let form = server.get(&path).await.json()["formKey"].as_str().unwrap().to_owned();
    server.post(&format!("/v2/resources/{form}/deletion"), "{}").await;
    assert_eq!(server.get(&path).await.json()["version"], 2);
    let refused = server.deploy_file("work.bpmn", &with_form(r#"formId="ask" bindingType="versionTag""#)).await;
    assert_eq!(refused.status, 400, "{}", refused.text);
}

#[tokio::test]
async fn who_did_what_can_be_searched() {
    let server = Server::start().await;
    let definition = key_of(&server.deploy().await);
    let instance = server.create("{}").await;
    let job = server.activate().await["jobKey"].as_str().unwrap().to_owned();
    let body = r#"{"retries":1,"errorMessage":"no paper"}"#;
    assert_eq!(server.post(&format!("/v2/jobs/{job}/failure"), body).await.status, 204);
    server.activate().await;
    let set = server.call("PUT", &format!("/v2/element-instances/{instance}/variables"), r#"{"variables":{"x":1}}"#, &[]).await;
    assert_eq!(set.status, 204, "{}", set.text);
    assert_eq!(server.post(&format!("/v2/process-instances/{instance}/cancellation"), "{}").await.status, 204);

    let sorted = r#"{"sort":[{"field":"auditLogKey"}]}"#;
    let found = server.post("/v2/audit-logs/search", sorted).await.json();
    let items = found["items"].as_array().unwrap();
    let told: Vec<_> =
        items.iter().map(|item| format!("{} {}", item["operationType"], item["entityType"]).replace('"', "")).collect();
    assert_eq!(told, ["CREATE RESOURCE", "CREATE VARIABLE", "CANCEL PROCESS_INSTANCE"]);
    assert_eq!((&items[0]["entityKey"], &items[0]["entityDescription"]), (&definition.as_str().into(), &"work.bpmn".into()));
    assert_eq!((&items[2]["actorType"], &items[2]["actorId"]), (&"ANONYMOUS".into(), &Value::Null));
    assert_eq!((&items[2]["processDefinitionId"], &items[2]["category"]), (&"work".into(), &"DEPLOYED_RESOURCES".into()));
    let key = items[2]["auditLogKey"].as_str().unwrap();
    assert_eq!(server.get(&format!("/v2/audit-logs/{key}")).await.json(), items[2]);
    assert_eq!(server.get("/v2/audit-logs/5").await.status, 404);
    for (filter, count) in [
        (format!(r#"{{"processInstanceKey":"{instance}"}}"#), 2),
        (r#"{"operationType":{"$in":["CANCEL","MODIFY"]}}"#.to_owned(), 1),
        (r#"{"result":"FAIL"}"#.to_owned(), 0),
        (r#"{"entityType":"VARIABLE","entityDescription":"x"}"#.to_owned(), 1),
        (r#"{"actorType":"ANONYMOUS","category":"DEPLOYED_RESOURCES"}"#.to_owned(), 3),
        (r#"{"actorId":"ann"}"#.to_owned(), 0),
    ] {
        let found = server.post("/v2/audit-logs/search", &format!(r#"{{"filter":{filter}}}"#)).await.json();
        assert_eq!(found["page"]["totalItems"], count, "{filter}: {found}");
    }

    let mut found = Vec::new();
    for item in server.get(&format!("/v1/audit?jobKey={job}")).await.json()["items"].as_array().unwrap() {
        assert_eq!(
            (&item["action"], &item["worker"], &item["processInstanceKey"]),
            (&"work".into(), &"w".into(), &instance.as_str().into())
        );
        found.push(item["operation"].as_str().unwrap().to_owned());
    }
    found.sort();
    assert_eq!(found, ["CANCEL", "DISPATCH", "DISPATCH", "FAIL"]);
    for (query, count) in [
        (format!("processInstanceKey={instance}"), 6),
        ("action=work".to_owned(), 4),
        ("action=other".to_owned(), 0),
        ("operation=FAIL".to_owned(), 1),
        ("since=2999-01-01T00:00:00Z".to_owned(), 0),
        ("until=2999-01-01T00:00:00Z&limit=2".to_owned(), 7),
    ] {
        let found = server.get(&format!("/v1/audit?{query}")).await.json();
        assert_eq!(found["page"]["totalItems"], count, "{query}: {found}");
    }
    assert_eq!(server.get("/v1/audit?colour=blue").await.status, 400);
}

#[tokio::test]
async fn what_people_did_to_a_task_can_be_searched() {
    let server = Server::start().await;
    let user = ONE_TASK.replace("serviceTask", "userTask").replace("<zeebe:taskDefinition type=\"work\"/>", "<zeebe:userTask/>");
    server.deploy_file("work.bpmn", &user).await;
    server.create("{}").await;
    let task = server.post("/v2/user-tasks/search", "{}").await.json()["items"][0]["userTaskKey"].as_str().unwrap().to_owned();
    let path = format!("/v2/user-tasks/{task}");
    server.post(&format!("{path}/assignment"), r#"{"assignee":"ann"}"#).await;
    server.call("PATCH", &path, r#"{"changeset":{"priority":7}}"#, &[]).await;
    server.call("DELETE", &format!("{path}/assignee"), "", &[]).await;
    // A second claim of somebody else's task is refused and leaves nothing.
    server.post(&format!("{path}/completion"), "{}").await;
    assert_eq!(server.post(&format!("{path}/completion"), "{}").await.status, 404);
    let found = server.post(&format!("{path}/audit-logs/search"), r#"{"sort":[{"field":"auditLogKey"}]}"#).await.json();
    let told: Vec<_> = found["items"].as_array().unwrap().iter().map(|item| item["operationType"].clone()).collect();
    assert_eq!(told, ["ASSIGN", "UPDATE", "UNASSIGN", "COMPLETE"].map(Value::from), "{found}");
    assert!(
        found["items"].as_array().unwrap().iter().all(|item| item["userTaskKey"] == task && item["category"] == "USER_TASKS")
    );
    let filter = r#"{"filter":{"operationType":"ASSIGN"}}"#;
    assert_eq!(server.post(&format!("{path}/audit-logs/search"), filter).await.json()["page"]["totalItems"], 1);
    assert_eq!(server.post("/v2/user-tasks/5/audit-logs/search", "{}").await.status, 404);
}

#[tokio::test]
async fn what_is_not_served_says_so() {
    let server = Server::start().await;
    for (method, pattern) in crate::rest::contract::unserved() {
        let path: String = pattern
            .split('/')
            .skip(1)
            .map(|part| if part.starts_with('{') { "/5" } else { part })
            .fold(String::new(), |path, part| path + if part.starts_with('/') { "" } else { "/" } + part);
        let reply = server.call(method, &path, "", &[]).await;
        let detail = reply.json()["detail"].as_str().unwrap_or_default().to_owned();
        assert_eq!(reply.status, 404, "{method} {path}: {}", reply.text);
        assert!(detail.contains(pattern) && detail.contains("does not serve it"), "{method} {path}: {detail}");
    }
}
