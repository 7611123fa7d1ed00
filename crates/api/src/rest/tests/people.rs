//! The audit trail, start forms and global listeners, as clients see them.

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

const LISTENED: &str =
    "<zeebe:userTask/><zeebe:taskListeners><zeebe:taskListener eventType=\"completing\" type=\"own\"/></zeebe:taskListeners>";

/// Leases the one job of a type, if there is one.
async fn lease(server: &Server, job_type: &str) -> Option<String> {
    let body = format!(r#"{{"type":"{job_type}","timeout":3600000,"maxJobsToActivate":1,"worker":"w","requestTimeout":-1}}"#);
    let jobs = server.post("/v2/jobs/activation", &body).await.json();
    jobs["jobs"][0]["jobKey"].as_str().map(str::to_owned)
}

async fn listener(server: &Server, id: &str, more: &str) -> Reply {
    let body = format!(r#"{{"id":"{id}","type":"{id}","eventTypes":["completing"]{more}}}"#);
    server.post("/v2/global-task-listeners", &body).await
}

/// Which of these types have a job, one after the other, until the task is done.
async fn asked(server: &Server, task: &str, meanwhile: impl AsyncFn(&str)) -> Vec<String> {
    let reply = server.call("POST", &format!("/v2/user-tasks/{task}/completion"), "{}", &[("prefer", "respond-async")]).await;
    assert_eq!(reply.status, 202, "{}", reply.text);
    let mut asked = Vec::new();
    for _ in 0..1_000 {
        for job_type in ["first", "second", "own", "last"] {
            if let Some(job) = lease(server, job_type).await {
                meanwhile(job_type).await;
                asked.push(job_type.to_owned());
                assert_eq!(server.post(&format!("/v2/jobs/{job}/completion"), "{}").await.status, 204);
            }
        }
        if server.get(&format!("/v2/user-tasks/{task}")).await.json()["state"] == "COMPLETED" {
            return asked;
        }
        tokio::task::yield_now().await;
    }
    panic!("it was never done; asked were {asked:?}");
}

#[tokio::test]
async fn global_listeners_are_asked_around_those_of_the_process() {
    let server = Server::start().await;
    let user = ONE_TASK.replace("serviceTask", "userTask").replace("<zeebe:taskDefinition type=\"work\"/>", LISTENED);
    server.deploy_file("work.bpmn", &user).await;
    let reply = listener(&server, "second", "").await;
    assert_eq!(reply.status, 201, "{}", reply.text);
    let expected = serde_json::json!({"id":"second","type":"second","retries":3,"eventTypes":["completing"],"afterNonGlobal":false,"priority":50,"source":"API"});
    assert_eq!(reply.json(), expected);
    listener(&server, "first", r#","priority":60,"retries":5"#).await;
    listener(&server, "last", r#","afterNonGlobal":true"#).await;
    assert_eq!(listener(&server, "last", "").await.status, 409);
    let task = async || {
        server.create("{}").await;
        let filter = r#"{"filter":{"state":"CREATED"}}"#;
        let found = server.post("/v2/user-tasks/search", filter).await.json();
        found["items"][0]["userTaskKey"].as_str().unwrap().to_owned()
    };
    // What changes meanwhile changes nothing of what has begun.
    let meanwhile = async |job_type: &str| {
        if job_type == "second" {
            assert_eq!(server.call("DELETE", "/v2/global-task-listeners/last", "", &[]).await.status, 204);
            let more = r#"{"type":"first","eventTypes":["all"],"afterNonGlobal":true}"#;
            let reply = server.call("PUT", "/v2/global-task-listeners/first", more, &[]).await;
            assert_eq!((reply.status, &reply.json()["eventTypes"][0]), (200, &"all".into()));
        }
    };
    let first = task().await;
    assert_eq!(asked(&server, &first, meanwhile).await, ["first", "second", "own", "last"]);
    server.create("{}").await;
    // The next task is listened to from its creation on.
    let job = lease(&server, "first").await.expect("it listens to everything now");
    server.post(&format!("/v2/jobs/{job}/completion"), "{}").await;
    let found = server.post("/v2/user-tasks/search", r#"{"filter":{"state":"CREATED"}}"#).await.json();
    let next = found["items"][0]["userTaskKey"].as_str().unwrap().to_owned();
    assert_eq!(asked(&server, &next, async |_: &str| ()).await, ["second", "own", "first"]);
    let told = server.get("/v1/audit?entityType=LISTENER&sort=auditKey").await.json();
    let told: Vec<_> =
        told["items"].as_array().unwrap().iter().map(|item| item["operation"].as_str().unwrap().to_owned()).collect();
    assert_eq!(told, ["CREATE", "CREATE", "CREATE", "DELETE", "UPDATE"]);
}

#[tokio::test]
async fn global_listeners_are_found_and_checked() {
    let server = Server::start().await;
    for id in ["b", "a", "c"] {
        assert_eq!(listener(&server, id, "").await.status, 201);
    }
    let ids = async |body: &str| {
        let found = server.post("/v2/global-task-listeners/search", body).await.json();
        let items = found["items"].as_array().unwrap_or_else(|| panic!("{found}")).clone();
        items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids("").await, ["a", "b", "c"]);
    assert_eq!(ids(r#"{"sort":[{"field":"id","order":"DESC"}],"page":{"from":1,"limit":1}}"#).await, ["b"]);
    assert_eq!(ids(r#"{"filter":{"id":{"$in":["a","x"]},"source":"API","priority":{"$gte":50}}}"#).await, ["a"]);
    assert_eq!(ids(r#"{"filter":{"eventTypes":["creating",{"$like":"compl*"}]}}"#).await.len(), 3);
    assert_eq!(ids(r#"{"filter":{"eventTypes":["creating"]}}"#).await.len(), 0);
    assert_eq!(ids(r#"{"filter":{"type":{"$notIn":["a"],"$like":"?"},"afterNonGlobal":false,"retries":3}}"#).await, ["b", "c"]);
    let first = server.post("/v2/global-task-listeners/search", r#"{"page":{"limit":2}}"#).await.json();
    let (after, before) =
        (serde_json::json!({ "page": { "after": first["page"]["endCursor"] } }), r#"{"page":{"before":"Mg=="}}"#);
    assert_eq!(ids(&after.to_string()).await, ["c"]);
    assert_eq!(ids(before).await, ["a", "b"]);
    assert_eq!(server.get("/v2/global-task-listeners/a").await.json()["type"], "a");
    assert_eq!(server.get("/v2/global-task-listeners/x").await.status, 404);
    assert_eq!(server.call("DELETE", "/v2/global-task-listeners/x", "", &[]).await.status, 404);
    let update = r#"{"type":"t","eventTypes":["all"]}"#;
    assert_eq!(server.call("PUT", "/v2/global-task-listeners/x", update, &[]).await.status, 404);
    for body in [
        r#"{"id":"x","type":"t","eventTypes":[]}"#,
        r#"{"id":"x","type":"t","eventTypes":["sleeping"]}"#,
        r#"{"id":"x","type":" ","eventTypes":["all"]}"#,
        r#"{"id":"a b","type":"t","eventTypes":["all"]}"#,
        r#"{"id":"x","type":"t","eventTypes":["all"],"retries":0}"#,
        r#"{"type":"t","eventTypes":["all"]}"#,
    ] {
        assert_eq!(server.post("/v2/global-task-listeners", body).await.status, 400, "{body}");
    }
    for body in [
        r#"{"filter":{"colour":"blue"}}"#,
        r#"{"filter":{"source":"ELSEWHERE"}}"#,
        r#"{"filter":{"id":{"$gt":"a"}}}"#,
        r#"{"sort":[{"field":"colour"}]}"#,
        r#"{"page":{"from":1,"after":"MQ=="}}"#,
        r#"{"page":{"from":-1}}"#,
    ] {
        assert_eq!(server.post("/v2/global-task-listeners/search", body).await.status, 400, "{body}");
    }
}
