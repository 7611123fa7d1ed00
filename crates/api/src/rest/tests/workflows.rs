//! JSON workflows over REST.

use serde_json::{Value, json};

use super::{ONE_TASK, Server};

const LINEAR: &str = r#"{"id":"order","name":"Order","description":"Two tasks","metadata":{"team":[1.50,"a"]},"steps":[
    {"id":"pack","name":"Pack","type":"SERVICE_TASK","jobType":"pack","retryCount":1,"nextStep":"ship"},
    {"id":"ship","name":"Ship","type":"SERVICE_TASK","jobType":"ship","nextStep":"done"},
    {"id":"done","name":"Done","type":"END"}]}"#;

impl Server {
    async fn upload(&self, document: &str) -> Value {
        let reply = self.post("/v1/definitions", document).await;
        assert_eq!(reply.status, 201, "{}", reply.text);
        reply.json()
    }

    async fn start_workflow(&self, body: Value) -> Value {
        let reply = self.post("/v1/instances", &body.to_string()).await;
        assert_eq!(reply.status, 201, "{}", reply.text);
        reply.json()
    }

    /// Leases one job of a type.
    async fn job(&self, job_type: &str) -> Value {
        let reply = self.post("/v1/jobs/poll", &json!({"workerId": "w", "jobTypes": [job_type]}).to_string()).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.json()["jobs"][0].clone()
    }

    async fn complete_job(&self, job: &Value, variables: Value) -> u16 {
        let path = format!("/v1/jobs/{}/complete", job["id"].as_str().unwrap());
        self.post(&path, &json!({"workerId": "w", "variables": variables}).to_string()).await.status
    }

    async fn fail_job(&self, job: &Value, retryable: bool) -> u16 {
        let path = format!("/v1/jobs/{}/fail", job["id"].as_str().unwrap());
        self.post(&path, &json!({"workerId": "w", "retryable": retryable, "errorMessage": "no glue"}).to_string()).await.status
    }

    async fn instance(&self, instance: &Value) -> Value {
        self.get(&format!("/v1/instances/{}", instance["id"].as_str().unwrap())).await.json()
    }

    /// What happened, as `step attempt status`.
    async fn happened(&self, instance: &Value) -> Vec<String> {
        let history = self.get(&format!("/v1/instances/{}/history", instance["id"].as_str().unwrap())).await.json();
        let items = history["items"].as_array().unwrap().iter();
        items
            .map(|item| {
                format!("{} {} {}", item["stepId"].as_str().unwrap(), item["attemptNumber"], item["status"].as_str().unwrap())
            })
            .collect()
    }
}

#[tokio::test]
async fn a_linear_workflow_runs_to_its_end() {
    let server = Server::start().await;
    let uploaded = server.upload(LINEAR).await;
    assert_eq!(
        (&uploaded["id"], &uploaded["version"], &uploaded["description"]),
        (&json!("order"), &json!(1), &json!("Two tasks"))
    );
    assert!(uploaded["uploadedAt"].as_str().unwrap().starts_with("20"), "{uploaded}");
    let body = json!({"definitionId": "order", "variables": {"a": {"x": 1}}, "businessKey": "k-1"});
    let instance = server.start_workflow(body).await;
    assert_eq!((&instance["status"], &instance["currentStepIds"]), (&json!("ACTIVE"), &json!(["pack"])), "{instance}");
    let job = server.job("pack").await;
    assert_eq!(
        (&job["stepId"], &job["retriesRemaining"], &job["variables"]),
        (&json!("pack"), &json!(1), &json!({"a": {"x": 1}}))
    );
    assert_eq!(job["instanceId"], instance["id"]);
    assert_eq!(server.job("pack").await, Value::Null);
    assert_eq!(server.complete_job(&job, json!({"a": {"y": 2}, "b": true})).await, 204);
    assert_eq!(server.complete_job(&job, json!({"b": false})).await, 204, "a second completion has no effect");
    let next = server.job("ship").await;
    assert_eq!(next["variables"], json!({"a": {"x": 1, "y": 2}, "b": true}));
    assert_eq!(server.complete_job(&next, json!({})).await, 204);
    let ended = server.instance(&instance).await;
    assert_eq!(
        (&ended["status"], &ended["currentStepIds"], &ended["businessKey"]),
        (&json!("COMPLETED"), &json!([]), &json!("k-1"))
    );
    assert!(ended["completedAt"].is_string() && ended["failureReason"].is_null(), "{ended}");
    assert_eq!(server.happened(&instance).await, ["pack 1 COMPLETED", "ship 1 COMPLETED", "done 1 COMPLETED"]);
}

#[tokio::test]
async fn every_upload_is_a_version_and_comes_back_as_it_was() {
    let server = Server::start().await;
    for version in 1..=3 {
        assert_eq!(server.upload(LINEAR).await["version"], version);
    }
    let other = LINEAR.replace(r#""id":"order""#, r#""id":"other""#).replace("Order", "Another");
    server.upload(&other).await;
    let latest = server.get("/v1/definitions/order").await;
    assert!(latest.text.contains(r#""metadata":{"team":[1.50,"a"]}"#), "{}", latest.text);
    let mut document = latest.json();
    assert_eq!(document["version"], 3);
    server.upload(&document.to_string()).await;
    document.as_object_mut().unwrap().retain(|name, _| name != "version" && name != "uploadedAt");
    assert_eq!(document, serde_json::from_str::<Value>(LINEAR).unwrap());
    assert_eq!(server.get("/v1/definitions/order/versions/2").await.json()["version"], 2);
    for missing in ["/v1/definitions/nobody", "/v1/definitions/order/versions/9", "/v1/definitions/order/versions/x"] {
        assert_eq!(server.get(missing).await.status, 404, "{missing}");
    }
    let listed = server.get("/v1/definitions?pageSize=1&page=1").await.json();
    assert_eq!((&listed["total"], &listed["page"], &listed["pageSize"]), (&json!(2), &json!(1), &json!(1)));
    assert_eq!(listed["items"][0]["id"], "other");
    let found = server.get("/v1/definitions?keyword=nothe").await.json();
    assert_eq!(
        (&found["total"], &found["items"][0]["id"], &found["items"][0]["version"]),
        (&json!(1), &json!("other"), &json!(1))
    );
}

#[tokio::test]
async fn retries_are_counted_by_the_server() {
    let server = Server::start().await;
    server.upload(LINEAR).await;
    let instance = server.start_workflow(json!({"definitionId": "order"})).await;
    let job = server.job("pack").await;
    assert_eq!(server.fail_job(&job, true).await, 204);
    assert_eq!(server.instance(&instance).await["status"], "ACTIVE");
    let again = server.job("pack").await;
    assert_eq!((&again["id"], &again["retriesRemaining"]), (&job["id"], &json!(0)));
    assert_eq!(server.fail_job(&again, true).await, 204);
    let failed = server.instance(&instance).await;
    assert_eq!(
        (&failed["status"], &failed["failureReason"]),
        (&json!("FAILED"), &json!("RetriesExhausted: step 'pack': no glue"))
    );
    assert_eq!(server.fail_job(&again, true).await, 204, "what has failed has failed");
    assert_eq!(server.complete_job(&again, json!({})).await, 409);
    assert_eq!(server.happened(&instance).await, ["pack 1 FAILED", "pack 2 FAILED"]);
    let path = format!("/v1/instances/{}/retry", instance["id"].as_str().unwrap());
    assert_eq!(server.post(&path, "").await.json()["status"], "ACTIVE");
    assert_eq!(server.post(&path, "").await.status, 409);
    let job = server.job("pack").await;
    assert_eq!(job["retriesRemaining"], 1);
    assert_eq!(server.complete_job(&job, json!({})).await, 204);
    assert_eq!(server.happened(&instance).await, ["pack 1 FAILED", "pack 2 FAILED", "pack 3 COMPLETED", "ship 1 RUNNING"]);
    let job = server.job("ship").await;
    assert_eq!(server.fail_job(&job, false).await, 204);
    assert_eq!(server.instance(&instance).await["failureReason"], "NotRetryable: step 'ship': no glue");
}

#[tokio::test]
async fn an_instance_can_be_cancelled_once() {
    let server = Server::start().await;
    server.upload(LINEAR).await;
    let instance = server.start_workflow(json!({"definitionId": "order"})).await;
    let job = server.job("pack").await;
    let path = format!("/v1/instances/{}/cancel", instance["id"].as_str().unwrap());
    let cancelled = server.post(&path, "").await;
    assert_eq!((cancelled.status, &cancelled.json()["status"]), (200, &json!("CANCELLED")), "{}", cancelled.text);
    assert_eq!(server.post(&path, "").await.status, 409);
    assert_eq!(server.complete_job(&job, json!({})).await, 409);
    assert_eq!(server.happened(&instance).await, ["pack 1 SKIPPED"]);
    for status in ["CANCELLED", "ACTIVE", "WAITING", "FAILED", "COMPLETED"] {
        let listed = server.get(&format!("/v1/instances?definitionId=order&status={status}")).await.json();
        assert_eq!(listed["total"], i32::from(status == "CANCELLED"), "{status}: {listed}");
    }
}

#[tokio::test]
async fn bad_requests_say_what_is_wrong() {
    let server = Server::start().await;
    server.upload(LINEAR).await;
    let instance = server.start_workflow(json!({"definitionId": "order"})).await;
    let id = instance["id"].as_str().unwrap();
    for (path, body, status, words) in [
        (
            "/v1/definitions",
            r#"{"id":"w","steps":[{"id":"a","type":"SERVICE_TASK","name":"A"}]}"#,
            400,
            "element 'a': steps[0].jobType is missing",
        ),
        ("/v1/definitions", r#"{"id":"w","steps":[{"id":"a","type":"SERVICE_TASK","name":"A"}]}"#, 400, "name is missing"),
        ("/v1/definitions", "nonsense", 400, "not JSON"),
        ("/v1/instances", r#"{"definitionId":"order","colour":1}"#, 400, "[colour]"),
        ("/v1/instances", r#"{"definitionId":5}"#, 400, "[definitionId]"),
        ("/v1/instances", r#"{"definitionId":"order","variables":[]}"#, 400, "[variables]"),
        ("/v1/instances", "{}", 400, "definitionId"),
        ("/v1/instances", r#"{"definitionId":"nobody"}"#, 404, "nobody"),
        ("/v1/instances", r#"{"definitionId":"order","definitionVersion":7}"#, 404, "version 7"),
        ("/v1/jobs/poll", r#"{"jobTypes":["a"]}"#, 400, "workerId"),
        ("/v1/jobs/poll", r#"{"workerId":"w","jobTypes":[]}"#, 400, "jobTypes"),
        ("/v1/jobs/poll", r#"{"workerId":"w","jobTypes":["a"],"maxJobs":101}"#, 400, "maxJobs"),
        ("/v1/jobs/poll", r#"{"workerId":"w","jobTypes":["a"],"leaseSeconds":4}"#, 400, "leaseSeconds"),
        ("/v1/jobs/poll", r#"{"workerId":"w","jobTypes":["a"],"waitSeconds":-1}"#, 400, "waitSeconds"),
        ("/v1/jobs/99/complete", r#"{"workerId":"w"}"#, 404, "99"),
        ("/v1/jobs/abc/fail", r#"{"workerId":"w","retryable":true,"errorMessage":"x"}"#, 404, "abc"),
        ("/v1/jobs/99/fail", r#"{"workerId":"w","errorMessage":"x"}"#, 400, "retryable"),
        ("/v1/jobs/99/error", r#"{"workerId":"w","errorCode":"E"}"#, 404, "99"),
        ("/v1/jobs/99/error", r#"{"workerId":"w","errorCode":""}"#, 400, "errorCode"),
        ("/v1/jobs/99/error", r#"{"errorCode":"E"}"#, 400, "workerId"),
        ("/v1/instances/99/cancel", "", 404, "99"),
        ("/v1/instances/99/signals/a", "{}", 404, "99"),
        (&format!("/v1/instances/{id}/signals/pack"), "{}", 404, "no step 'pack' of type WAIT"),
        (&format!("/v1/instances/{id}/user-tasks/nothing/complete"), "{}", 404, "nothing"),
    ] {
        let reply = server.post(path, body).await;
        let error = reply.json();
        assert_eq!(reply.status, status, "{path} {body}: {}", reply.text);
        assert!(error["message"].as_str().unwrap().contains(words), "{path} {body}: {}", reply.text);
        assert_eq!(error["message"], error["reason"]);
        assert!(error["error"].as_str().unwrap().chars().all(|c| c.is_ascii_uppercase() || c == '_'), "{error}");
    }
    for (path, status) in [
        ("/v1/instances?page=-1", 400),
        ("/v1/instances?pageSize=201", 400),
        ("/v1/instances?status=NONE", 400),
        ("/v1/instances?colour=1", 400),
        ("/v1/instances/abc", 404),
        ("/v1/instances/99/history", 404),
    ] {
        assert_eq!(server.get(path).await.status, status, "{path}");
    }
    let reply = server.call("POST", "/v1/definitions", LINEAR, &[("content-type", "text/plain")]).await;
    assert_eq!((reply.status, reply.json()["error"].as_str()), (415, Some("UNSUPPORTED_MEDIA_TYPE")));
}

#[tokio::test]
async fn a_poll_may_wait_for_whatever_comes_first() {
    let server = Server::start().await;
    server.upload(LINEAR).await;
    let poll = json!({"workerId": "w", "jobTypes": ["other", "pack", "ship"], "maxJobs": 5, "waitSeconds": 30}).to_string();
    let (polled, instance) =
        tokio::join!(server.post("/v1/jobs/poll", &poll), server.start_workflow(json!({"definitionId": "order"})));
    let jobs = polled.json()["jobs"].as_array().unwrap().clone();
    assert_eq!((jobs.len(), &jobs[0]["instanceId"]), (1, &instance["id"]), "{}", polled.text);
    // What waited in vain for the other types has given nothing away.
    assert_eq!(server.complete_job(&jobs[0], json!({})).await, 204);
    assert_eq!(server.job("ship").await["stepId"], "ship");
}

#[tokio::test]
async fn the_other_surface_shows_workflows_too() {
    let server = Server::start().await;
    server.upload(LINEAR).await;
    let instance = server.start_workflow(json!({"definitionId": "order", "businessKey": "k"})).await;
    let found = server.post("/v2/process-instances/search", r#"{"filter":{"processDefinitionId":"order"}}"#).await.json();
    assert_eq!(found["items"][0]["processInstanceKey"], instance["id"]);
    assert_eq!(found["items"][0]["businessId"], "k");
    let definition = found["items"][0]["processDefinitionKey"].as_str().unwrap();
    assert_eq!(server.get(&format!("/v2/process-definitions/{definition}/xml")).await.status, 404);
    let job = server.post("/v2/jobs/search", "").await.json()["items"][0].clone();
    let path = format!("/v2/jobs/{}/completion", job["jobKey"].as_str().unwrap());
    assert_eq!(server.post(&path, r#"{"variables":{"by":"v2"}}"#).await.status, 204);
    assert_eq!(server.instance(&instance).await["currentStepIds"], json!(["ship"]));
}

#[tokio::test]
async fn a_workflow_is_drawn_as_bpmn_that_is_the_same_workflow() {
    let server = Server::start().await;
    server.upload(LINEAR).await;
    server.upload(&LINEAR.replace("Two tasks", "Still two")).await;
    assert_eq!(server.get("/v1/definitions/nobody/bpmn").await.status, 404);
    assert_eq!(server.get("/v1/definitions/order/versions/3/bpmn").await.status, 404);
    let first = server.get("/v1/definitions/order/versions/1/bpmn").await;
    assert_eq!(first.status, 200, "{}", first.text);
    assert!(first.text.contains("Two tasks") && first.text.contains("<bpmndi:BPMNEdge"), "{}", first.text);
    assert!(server.get("/v1/definitions/order/bpmn").await.text.contains("Still two"));
    assert_eq!(server.deploy_file("order.bpmn", &first.text).await.status, 200);
    let instance = server.start_workflow(json!({"definitionId": "order", "variables": {"a": {"x": 1}}})).await;
    assert_eq!((&instance["definitionVersion"], &instance["currentStepIds"]), (&json!(3), &json!(["pack"])), "{instance}");
    let job = server.job("pack").await;
    assert_eq!(server.complete_job(&job, json!({"a": {"y": 2}})).await, 204);
    assert_eq!(server.job("ship").await["variables"], json!({"a": {"x": 1, "y": 2}}), "objects are merged");
    let control = LINEAR.replace("\"jobType\":\"pack\"", "\"jobType\":\"pa\\u0001ck\"");
    server.upload(&control).await;
    assert_eq!(server.get("/v1/definitions/order/bpmn").await.status, 409);
}

#[tokio::test]
async fn a_second_try_with_its_key_gets_the_first_answer() {
    let server = Server::start().await;
    let upload = async |key: &str, document: &str| {
        server.call("POST", "/v1/definitions", document, &[("content-type", "application/json"), ("idempotency-key", key)]).await
    };
    assert_eq!(upload("u-1", LINEAR).await.json()["version"], 1);
    assert_eq!(upload("u-1", LINEAR).await.json()["version"], 1, "no second version");
    assert_eq!(upload("u-2", LINEAR).await.json()["version"], 2);
    let other = upload("u-1", &LINEAR.replace("Two tasks", "Others")).await;
    assert_eq!(other.status, 400, "{}", other.text);
    assert_eq!(upload("two words", LINEAR).await.status, 400);
    let start = async |key: &str| {
        let headers = [("content-type", "application/json"), ("idempotency-key", key)];
        server.call("POST", "/v1/instances", r#"{"definitionId":"order"}"#, &headers).await.json()
    };
    let first = start("s-1").await;
    assert_eq!(start("s-1").await["id"], first["id"], "no second instance");
    assert_ne!(start("s-2").await["id"], first["id"]);
    assert_eq!(server.get("/v1/instances").await.json()["total"], 2);
}

/// Who starts an instance is told what it is like without anything being read: the same as whoever asks for it.
#[tokio::test]
async fn what_was_started_is_shown_as_it_is() {
    let server = Server::start().await;
    let steps = [
        (r#"{"id":"a","name":"A","type":"SERVICE_TASK","jobType":"pack","nextStep":"z"}"#, "ACTIVE"),
        (r#"{"id":"a","name":"A","type":"USER_TASK","nextStep":"z"}"#, "WAITING"),
        (r#"{"id":"a","name":"A","type":"WAIT","nextStep":"z"}"#, "WAITING"),
        (r#"{"id":"a","name":"A","type":"TRANSFORMATION","transformations":{"n":"${m}"},"nextStep":"z"}"#, "COMPLETED"),
        (r#"{"id":"a","name":"A","type":"DECISION","conditionalNextSteps":{"m == 8":"z"}}"#, "FAILED"),
    ];
    for (number, (step, status)) in steps.iter().enumerate() {
        let id = format!("w{number}");
        server.upload(&format!(r#"{{"id":"{id}","name":"W","steps":[{step},{{"id":"z","name":"Z","type":"END"}}]}}"#)).await;
        let start = json!({"definitionId": id, "variables": {"m": 7, "t": "é"}, "businessKey": "k"});
        let started = server.start_workflow(start).await;
        assert_eq!(started["status"], *status, "{started}");
        assert_eq!(started, server.instance(&started).await);
    }
}

/// A process of one task for a person.
fn one_user_task(inside: &str) -> String {
    let task = ONE_TASK.replace("<zeebe:taskDefinition type=\"work\"/>", "<zeebe:userTask/>");
    task.replace("serviceTask", "userTask").replace("</extensionElements>", &format!("</extensionElements>{inside}"))
}

#[tokio::test]
async fn a_user_task_of_a_process_is_completed_by_the_id_of_its_element() {
    let server = Server::start().await;
    server.deploy_file("work.bpmn", &one_user_task("")).await;
    let instance = json!({"id": server.create("{}").await});
    let path = format!("/v1/instances/{}/user-tasks/task/complete", instance["id"].as_str().unwrap());
    let completion = json!({"completedBy": "ann", "result": {"approved": true}}).to_string();
    assert_eq!(server.post(&path, &completion).await.status, 204);
    let ended = server.instance(&instance).await;
    assert_eq!((&ended["status"], &ended["variables"]), (&json!("COMPLETED"), &json!({"approved": true})));
    let task = server.post("/v2/user-tasks/search", "{}").await.json()["items"][0].clone();
    assert_eq!((&task["assignee"], &task["state"]), (&json!("ann"), &json!("COMPLETED")), "{task}");
    assert_eq!(server.post(&path, &completion).await.status, 204, "what is done is done");
}

#[tokio::test]
async fn of_several_tasks_that_wait_at_once_none_is_meant() {
    let server = Server::start().await;
    let many = "<multiInstanceLoopCharacteristics><extensionElements><zeebe:loopCharacteristics inputCollection=\"=people\"/>\
                </extensionElements></multiInstanceLoopCharacteristics>";
    let deployed = server.deploy_file("work.bpmn", &one_user_task(many)).await;
    assert_eq!(deployed.status, 200, "{}", deployed.text);
    let instance = json!({"id": server.create(r#"{"people":["ann","bob"]}"#).await});
    let path = format!("/v1/instances/{}/user-tasks/task/complete", instance["id"].as_str().unwrap());
    let refused = server.post(&path, "{}").await;
    assert_eq!(refused.status, 400, "{}", refused.text);
    assert!(refused.json()["message"].as_str().unwrap().contains("waits 2 times"), "{}", refused.text);
    let tasks = server.post("/v2/user-tasks/search", "{}").await.json();
    let first = tasks["items"][0]["userTaskKey"].as_str().unwrap();
    assert_eq!(server.post(&format!("/v2/user-tasks/{first}/completion"), "{}").await.status, 204);
    assert_eq!(server.post(&path, "{}").await.status, 204, "the one that is left");
    assert_eq!(server.instance(&instance).await["status"], "COMPLETED");
}

#[tokio::test]
async fn nothing_is_kept_for_a_task_of_a_process() {
    let server = Server::start().await;
    let later = one_user_task("").replace(
        "<startEvent id=\"start\"/>",
        "<startEvent id=\"start\"/><sequenceFlow id=\"z\" sourceRef=\"start\" targetRef=\"first\"/>\
         <serviceTask id=\"first\"><extensionElements><zeebe:taskDefinition type=\"first\"/></extensionElements></serviceTask>",
    );
    let later = later.replace("sourceRef=\"start\" targetRef=\"task\"", "sourceRef=\"first\" targetRef=\"task\"");
    let deployed = server.deploy_file("work.bpmn", &later).await;
    assert_eq!(deployed.status, 200, "{}", deployed.text);
    let instance = server.create("{}").await;
    let refused = server.post(&format!("/v1/instances/{instance}/user-tasks/task/complete?buffer=true"), "{}").await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    let why = format!("Step 'task' of instance '{instance}' is not waiting for a person now");
    assert_eq!(refused.json()["message"], why);
}
