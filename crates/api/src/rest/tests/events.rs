//! Messages, signals, start conditions, timers, the clock; statistics and calls.

use super::*;

pub(super) fn model(id: &str, roots: &str, body: &str) -> String {
    format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"
        xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" id="d" targetNamespace="t">{roots}<process id="{id}" isExecutable="true">{body}</process></definitions>"#
    )
}

pub(super) fn flow(from: &str, to: &str) -> String {
    format!(r#"<sequenceFlow id="{from}-{to}" sourceRef="{from}" targetRef="{to}"/>"#)
}

/// Waits for the message `paid` with the key `order`, then for an hour.
fn order() -> String {
    let message = r#"<message id="m" name="paid"><extensionElements><zeebe:subscription correlationKey="=order"/></extensionElements></message>"#;
    let body = r#"<startEvent id="start"/><receiveTask id="paid" messageRef="m"/><intermediateCatchEvent id="hour"><timerEventDefinition>
        <timeDuration>PT1H</timeDuration></timerEventDefinition></intermediateCatchEvent><endEvent id="end"/>"#;
    model("order", message, &format!("{body}{}{}{}", flow("start", "paid"), flow("paid", "hour"), flow("hour", "end")))
}

/// Starts when `level` is above 8.
fn tank() -> String {
    let body = r#"<startEvent id="high"><conditionalEventDefinition id="c"><condition xsi:type="tFormalExpression">=level &gt; 8</condition>
        </conditionalEventDefinition></startEvent><endEvent id="end"/>"#;
    model("tank", "", &format!("{body}{}", flow("high", "end")))
}

impl Server {
    pub(super) async fn deploy_model(&self, xml: &str) -> String {
        let form =
            format!("--b\r\nContent-Disposition: form-data; name=\"resources\"; filename=\"m.bpmn\"\r\n\r\n{xml}\r\n--b--\r\n");
        let reply = self.call("POST", "/v2/deployments", &form, &[("content-type", "multipart/form-data; boundary=b")]).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.json()["deployments"][0]["processDefinition"]["processDefinitionKey"].as_str().unwrap().to_owned()
    }

    pub(super) async fn begin(&self, process: &str, variables: &str) -> String {
        let body = format!("{{\"processDefinitionId\":\"{process}\",\"variables\":{variables}}}");
        self.post("/v2/process-instances", &body).await.json()["processInstanceKey"].as_str().unwrap().to_owned()
    }

    pub(super) async fn items(&self, path: &str, body: &str) -> Vec<Value> {
        let reply = if body.is_empty() { self.get(path).await } else { self.post(path, body).await };
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.json()["items"].as_array().unwrap().clone()
    }

    pub(super) async fn state(&self, instance: &str) -> String {
        self.get(&format!("/v2/process-instances/{instance}")).await.json()["state"].as_str().unwrap().to_owned()
    }

    async fn until(&self, instance: &str, state: &str) {
        while self.state(instance).await != state {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// As in Camunda 8: it waits for more, and shows what it has had.
#[tokio::test]
async fn a_boundary_event_that_has_had_a_message_is_correlated() {
    let server = Server::start().await;
    let message = r#"<message id="m" name="asked"><extensionElements><zeebe:subscription correlationKey="=order"/></extensionElements></message>"#;
    let body = r#"<startEvent id="start"/><serviceTask id="ship"><extensionElements><zeebe:taskDefinition type="ship"/></extensionElements></serviceTask>
        <boundaryEvent id="asked" attachedToRef="ship" cancelActivity="false"><messageEventDefinition messageRef="m"/></boundaryEvent>"#;
    server.deploy_model(&model("parcel", message, &format!("{body}{}", flow("start", "ship")))).await;
    let instance = server.begin("parcel", r#"{"order":"o-1"}"#).await;
    let states = async |filter: &str| -> Vec<Value> {
        let found = server.items("/v2/message-subscriptions/search", &format!("{{\"filter\":{{{filter}}}}}")).await;
        found.iter().map(|one| one["messageSubscriptionState"].clone()).collect()
    };
    assert_eq!(states("").await, ["CREATED"]);
    for _ in 0..2 {
        let published = server.post("/v2/messages/correlation", r#"{"name":"asked","correlationKey":"o-1"}"#).await;
        assert_eq!(published.status, 200, "it waits for more: {}", published.text);
        assert_eq!(states(r#""messageSubscriptionState":"CORRELATED""#).await, ["CORRELATED"]);
        assert_eq!(states(r#""messageSubscriptionState":"CREATED""#).await, Vec::<Value>::new());
    }
    server.post(&format!("/v2/process-instances/{instance}/cancellation"), "{}").await;
    assert_eq!(states("").await, ["DELETED"]);
}

#[tokio::test]
async fn a_message_is_correlated_and_found() {
    let server = Server::start().await;
    server.deploy_model(&order()).await;
    let instance = server.begin("order", r#"{"order":"o-1"}"#).await;
    let open = server.items("/v2/message-subscriptions/search", r#"{"filter":{"messageName":"paid"}}"#).await;
    assert_eq!((open.len(), open[0]["messageSubscriptionState"].as_str()), (1, Some("CREATED")));
    let body = r#"{"name":"paid","correlationKey":"o-1","variables":{"sum":5}}"#;
    let correlated = server.post("/v2/messages/correlation", body).await.json();
    assert_eq!(correlated["processInstanceKey"], instance.as_str());
    assert_eq!(server.post("/v2/messages/correlation", body).await.title(), "NOT_FOUND");
    let filter = r#"{"filter":{"partitionId":1,"correlationKey":{"$like":"o-*"}},"sort":[{"field":"partitionId"}]}"#;
    let found = server.items("/v2/correlated-message-subscriptions/search", filter).await;
    assert_eq!((found.len(), found[0]["messageKey"].as_str()), (1, correlated["messageKey"].as_str()));
    let elsewhere = r#"{"filter":{"partitionId":{"$gt":1}}}"#;
    assert_eq!(server.items("/v2/correlated-message-subscriptions/search", elsewhere).await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_message_waits_and_its_id_is_taken_once() {
    let server = Server::start().await;
    server.deploy_model(&order()).await;
    let body = r#"{"name":"paid","correlationKey":"o-2","timeToLive":600000,"messageId":"one"}"#;
    assert_eq!(server.post("/v2/messages/publication", body).await.status, 200);
    let second = server.post("/v2/messages/publication", body).await;
    assert_eq!((second.status, second.title()), (409, "ALREADY_EXISTS".to_owned()));
    assert!(second.text.contains("Command 'PUBLISH' rejected with code 'ALREADY_EXISTS': "));
    let instance = server.begin("order", r#"{"order":"o-2"}"#).await;
    let inside = format!("{{\"filter\":{{\"processInstanceKey\":\"{instance}\"}}}}");
    let elements = server.items("/v2/element-instances/search", &inside).await;
    assert_eq!(elements.len(), 3, "it has gone on to the timer");
}

#[tokio::test]
async fn activities_of_an_ad_hoc_sub_process_are_started() {
    let server = Server::start().await;
    let room = r#"<adHocSubProcess id="room"><task id="pass"/><serviceTask id="dance"><extensionElements><zeebe:taskDefinition type="dance"/></extensionElements></serviceTask></adHocSubProcess>"#;
    let flows = r#"<sequenceFlow id="f" sourceRef="s" targetRef="room"/>"#;
    server
        .deploy_model(&format!(
            r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="t">
<process id="party" isExecutable="true"><startEvent id="s"/>{room}{flows}</process></definitions>"#
        ))
        .await;
    let instance = server.begin("party", "{}").await;
    let inside = format!("{{\"filter\":{{\"processInstanceKey\":\"{instance}\",\"elementId\":\"room\"}}}}");
    let room = server.items("/v2/element-instances/search", &inside).await[0]["elementInstanceKey"].as_str().unwrap().to_owned();
    let path = format!("/v2/element-instances/ad-hoc-activities/{room}/activation");
    for (body, title) in [
        (r#"{"elements":[]}"#, "INVALID_ARGUMENT"),
        (r#"{"elements":[{"elementId":"sleep"}]}"#, "NOT_FOUND"),
        (r#"{"elements":[{"variables":{}}]}"#, "INVALID_ARGUMENT"),
    ] {
        assert_eq!(server.post(&path, body).await.title(), title, "{body}");
    }
    let dance = r#"{"elements":[{"elementId":"dance","variables":{"song":"x"}}]}"#;
    assert_eq!(server.post(&path, dance).await.status, 204);
    let started = format!("{{\"filter\":{{\"processInstanceKey\":\"{instance}\",\"elementId\":\"dance\"}}}}");
    assert_eq!(server.items("/v2/element-instances/search", &started).await.len(), 1);
    let gone = path.replace(&room, &instance);
    assert_eq!(server.post(&gone, dance).await.title(), "NOT_FOUND");
}

#[tokio::test]
async fn what_cannot_be_sent_is_refused() {
    let server = Server::start().await;
    for (path, body, title) in [
        ("messages/publication", r#"{"name":""}"#, "INVALID_ARGUMENT"),
        ("messages/publication", r#"{"name":"n","timeToLive":"soon"}"#, "Bad Request"),
        ("messages/publication", r#"{"name":"n","tenantId":"blue"}"#, "INVALID_ARGUMENT"),
        ("messages/publication", r#"{"name":"n","colour":1}"#, "Bad Request"),
        ("messages/correlation", "{}", "INVALID_ARGUMENT"),
        ("messages/correlation", r#"{"name":"n","timeToLive":1}"#, "Bad Request"),
        ("signals/broadcast", "{}", "INVALID_ARGUMENT"),
        ("signals/broadcast", r#"{"signalName":"s","variables":[1]}"#, "Bad Request"),
        ("signals/broadcast", r#"{"signalName":"s","tenantId":"blue"}"#, "INVALID_ARGUMENT"),
        ("conditionals/evaluation", r#"{"variables":{}}"#, "INVALID_ARGUMENT"),
        ("conditionals/evaluation", r#"{"variables":{"a":1},"processDefinitionKey":"x"}"#, "INVALID_ARGUMENT"),
        ("message-subscriptions/search", r#"{"filter":{"messageSubscriptionState":"LOST"}}"#, "Bad Request"),
        ("incidents/statistics/process-instances-by-definition", "{}", "INVALID_ARGUMENT"),
        ("incidents/statistics/process-instances-by-error", r#"{"sort":[{"field":"colour"}]}"#, "Bad Request"),
        ("process-definitions/statistics/process-instances-by-version", r#"{"filter":{}}"#, "INVALID_ARGUMENT"),
        ("process-definitions/statistics/process-instances", r#"{"page":{"from":-1}}"#, "INVALID_ARGUMENT"),
    ] {
        let reply = server.post(&format!("/v2/{path}"), body).await;
        assert_eq!((reply.status, reply.title()), (400, title.to_owned()), "{path} {body}: {}", reply.text);
    }
    assert_eq!(server.post("/v2/signals/broadcast", r#"{"signalName":"nobody"}"#).await.status, 200);
}

#[tokio::test]
async fn start_conditions_are_evaluated() {
    let server = Server::start().await;
    let definition = server.deploy_model(&tank()).await;
    let evaluate = |body: String| {
        let server = &server;
        async move { server.post("/v2/conditionals/evaluation", &body).await }
    };
    let none = evaluate(r#"{"variables":{"level":5}}"#.to_owned()).await.json();
    assert_eq!(none["processInstances"], Value::Array(Vec::new()));
    for body in [
        r#"{"variables":{"level":9}}"#.to_owned(),
        format!("{{\"processDefinitionKey\":\"{definition}\",\"variables\":{{\"level\":9}}}}"),
    ] {
        let started = evaluate(body).await.json();
        assert_eq!(started["processInstances"][0]["processDefinitionKey"], definition.as_str());
        let instance = started["processInstances"][0]["processInstanceKey"].as_str().unwrap();
        assert_eq!(server.state(instance).await, "COMPLETED");
    }
    // Those of a version that is not the latest any more wait no longer.
    let second = server.deploy_model(&tank().replace("8</condition>", "80</condition>")).await;
    assert_ne!(second, definition);
    assert_eq!(evaluate(r#"{"variables":{"level":9}}"#.to_owned()).await.json()["processInstances"], Value::Array(Vec::new()));
    let unknown = evaluate(r#"{"processDefinitionKey":"7","variables":{"level":9}}"#.to_owned()).await;
    assert_eq!((unknown.status, unknown.title()), (404, "NOT_FOUND".to_owned()));
}

#[tokio::test]
async fn timers_are_listed_rescheduled_and_fired() {
    let server = Server::start().await;
    server.deploy_model(&order()).await;
    let mut instances = Vec::new();
    for order in ["a", "b"] {
        instances.push(server.begin("order", &format!("{{\"order\":\"{order}\"}}")).await);
        let body = format!("{{\"name\":\"paid\",\"correlationKey\":\"{order}\"}}");
        assert_eq!(server.post("/v2/messages/publication", &body).await.status, 200);
    }
    let timers =
        server.items("/v1/timers?processDefinitionId=order&elementId=hour&state=pending&sort=dueDate,timerKey", "").await;
    assert_eq!((timers.len(), timers[0]["expression"].as_str()), (2, Some("PT1H")));
    assert_eq!(server.items(&format!("/v1/timers?processInstanceKey={}", instances[1]), "").await, timers[1..]);
    assert_eq!(server.items("/v1/timers?dueBefore=2020-01-01T00:00:00Z", "").await, Vec::<Value>::new());
    assert_eq!(server.items("/v1/timers?limit=1&from=1", "").await.len(), 1);
    for bad in ["colour=blue", "limit=many", "state=tired", "dueAfter=noon", "sort=colour", "processInstanceKey=x"] {
        assert_eq!(server.get(&format!("/v1/timers?{bad}")).await.status, 400, "{bad}");
    }
    let path = |timer: &Value| format!("/v1/timers/{}", timer["timerKey"].as_str().unwrap());
    assert_eq!(server.post(&format!("{}/fire", path(&timers[0])), "").await.status, 204);
    assert_eq!(server.state(&instances[0]).await, "COMPLETED");
    assert_eq!(server.post(&format!("{}/fire", path(&timers[0])), "").await.title(), "NOT_FOUND");
    assert_eq!(server.get(&path(&timers[0])).await.json()["state"], "FIRED");
    assert_eq!(server.call("PATCH", &path(&timers[1]), "{}", &[]).await.title(), "INVALID_ARGUMENT");
    let sooner = r#"{"dueDate":"2020-01-01T00:00:00Z"}"#;
    assert_eq!(server.call("PATCH", &path(&timers[1]), sooner, &[]).await.status, 204);
    server.until(&instances[1], "COMPLETED").await;
}

#[tokio::test]
async fn time_moves_only_where_it_may() {
    let fixed = Server::start().await;
    for (method, path, body) in [
        ("PUT", "/v2/clock", r#"{"timestamp":1}"#),
        ("POST", "/v2/clock/reset", ""),
        ("POST", "/v1/clock/advance", r#"{"duration":"PT1H"}"#),
    ] {
        let reply = fixed.call(method, path, body, &[]).await;
        assert_eq!((reply.status, reply.title()), (409, "INVALID_STATE".to_owned()), "{path}");
    }
    let server = Server::start_with(&Config { test_clock: true, ..Config::default() }).await;
    for (body, title) in
        [("{}", "INVALID_ARGUMENT"), (r#"{"timestamp":-1}"#, "INVALID_ARGUMENT"), (r#"{"timestamp":"noon"}"#, "Bad Request")]
    {
        assert_eq!(server.call("PUT", "/v2/clock", body, &[]).await.title(), title);
    }
    for body in [r#"{"duration":"an hour"}"#, r#"{"duration":"-PT1H"}"#, "{}"] {
        assert_eq!(server.post("/v1/clock/advance", body).await.title(), "INVALID_ARGUMENT", "{body}");
    }
    server.deploy_model(&order()).await;
    assert_eq!(server.call("PUT", "/v2/clock", r#"{"timestamp":1900000000000}"#, &[]).await.status, 204);
    let instance = server.begin("order", r#"{"order":"c"}"#).await;
    server.post("/v2/messages/publication", r#"{"name":"paid","correlationKey":"c"}"#).await;
    let timers = server.items("/v1/timers", "").await;
    assert_eq!(timers[0]["dueDate"], "2030-03-17T18:46:40.000Z", "time stands still");
    assert_eq!(server.post("/v1/clock/advance", r#"{"duration":"PT59M59S"}"#).await.status, 204);
    assert_eq!(server.state(&instance).await, "ACTIVE");
    assert_eq!(server.post("/v1/clock/advance", r#"{"duration":"PT1S"}"#).await.status, 204);
    server.until(&instance, "COMPLETED").await;
    assert_eq!(server.get(&format!("/v2/process-instances/{instance}")).await.json()["endDate"], "2030-03-17T18:46:40.000Z");
    // A month of its calendar.
    assert_eq!(server.post("/v1/clock/advance", r#"{"duration":"P1M"}"#).await.status, 204);
    let later = server.begin("order", r#"{"order":"d"}"#).await;
    let shown = server.get(&format!("/v2/process-instances/{later}")).await.json();
    assert_eq!(shown["startDate"], "2030-04-17T18:46:40.000Z");
    let evaluated = server.post("/v2/expression/evaluation", r#"{"expression":"=string(date(now()))"}"#).await.json();
    assert_eq!(evaluated["result"], "2030-04-17", "expressions know it too");
    assert_eq!(server.post("/v2/clock/reset", "").await.status, 204);
}

const ANY_TIME: &str = r#""from":"2000-01-01T00:00:00Z","to":"2999-01-01T00:00:00Z""#;

#[tokio::test]
async fn calls_incidents_and_statistics() {
    let server = Server::start().await;
    let leaf = server.deploy().await.json()["deployments"][0]["processDefinition"]["processDefinitionKey"].clone();
    let call = r#"<startEvent id="start"/><callActivity id="call"><extensionElements><zeebe:calledElement processId="work"/></extensionElements></callActivity><endEvent id="end"/>"#;
    server.deploy_model(&model("top", "", &format!("{call}{}{}", flow("start", "call"), flow("call", "end")))).await;
    let top = server.begin("top", "{}").await;
    let job = server.activate().await;
    let below = job["processInstanceKey"].as_str().unwrap().to_owned();
    let chain = server.get(&format!("/v2/process-instances/{below}/call-hierarchy")).await.json();
    assert_eq!(
        (chain[0]["processInstanceKey"].as_str(), chain[1]["processDefinitionName"].as_str()),
        (Some(&*top), Some("Work"))
    );
    assert_eq!(server.get(&format!("/v2/process-instances/{top}/call-hierarchy")).await.text, "[]");
    assert_eq!(server.get("/v2/process-instances/7/call-hierarchy").await.title(), "NOT_FOUND");

    let key = job["jobKey"].as_str().unwrap();
    server.post(&format!("/v2/jobs/{key}/failure"), r#"{"retries":0,"errorMessage":"no luck"}"#).await;
    let incidents = server.items(&format!("/v2/process-instances/{top}/incidents/search"), "{}").await;
    assert_eq!((incidents.len(), incidents[0]["processInstanceKey"].as_str()), (1, Some(&*below)));
    let calling = format!("{{\"filter\":{{\"processInstanceKey\":\"{top}\",\"elementId\":\"call\"}}}}");
    let element = server.items("/v2/element-instances/search", &calling).await[0]["elementInstanceKey"].clone();
    let path = format!("/v2/element-instances/{}/incidents/search", element.as_str().unwrap());
    assert_eq!(server.items(&path, "{}").await, incidents);
    let shown = server.get(&format!("/v2/element-instances/{}", element.as_str().unwrap())).await.json();
    assert_eq!((shown["hasIncident"].as_bool(), shown["incidentKey"].as_str()), (Some(true), None));
    assert_eq!(server.get(&format!("/v2/process-instances/{top}")).await.json()["hasIncident"], true);

    let counted = server.items(&format!("/v2/process-instances/{below}/statistics/element-instances"), "").await;
    let task = counted.iter().find(|one| one["elementId"] == "task").unwrap();
    assert_eq!((task["incidents"].as_u64(), task["active"].as_u64(), counted.len()), (Some(1), Some(0), 2));
    let path = format!("/v2/process-definitions/{}/statistics/element-instances", leaf.as_str().unwrap());
    assert_eq!(server.items(&path, r#"{"filter":{"hasIncident":true}}"#).await, counted);
    assert_eq!(server.items(&path, r#"{"filter":{"hasIncident":false}}"#).await, Vec::<Value>::new());
    // What is asked of element instances is asked of those that are counted, too.
    assert_eq!(server.items(&path, r#"{"filter":{"elementId":"task"}}"#).await, std::slice::from_ref(task));
    assert_eq!(server.items(&path, r#"{"filter":{"elementId":"nowhere"}}"#).await, Vec::<Value>::new());
    assert_eq!(server.post(&path, r#"{"sort":[]}"#).await.status, 400);

    let sort = r#"{"sort":[{"field":"activeInstancesWithIncidentCount","order":"DESC"}],"page":{"limit":2}}"#;
    server.begin("work", "{}").await;
    let by_process = server.items("/v2/process-definitions/statistics/process-instances", sort).await;
    let stuck =
        |one: &Value| (one["activeInstancesWithIncidentCount"].clone(), one["activeInstancesWithoutIncidentCount"].clone());
    assert_eq!(by_process.iter().map(stuck).collect::<Vec<_>>(), [(1.into(), 0.into()), (1.into(), 1.into())]);
    let versions = r#"{"filter":{"processDefinitionId":"top"}}"#;
    let by_version = server.items("/v2/process-definitions/statistics/process-instances-by-version", versions).await;
    assert_eq!(by_version[0]["activeInstancesWithIncidentCount"], 1, "what it has called is stuck");
    let by_error = server.items("/v2/incidents/statistics/process-instances-by-error", "{}").await;
    assert_eq!(
        (by_error[0]["errorMessage"].as_str(), by_error[0]["activeInstancesWithErrorCount"].as_u64()),
        (Some("no luck"), Some(1))
    );
    let hash = format!("{{\"filter\":{{\"errorHashCode\":{}}}}}", by_error[0]["errorHashCode"]);
    let by_definition = server.items("/v2/incidents/statistics/process-instances-by-definition", &hash).await;
    assert_eq!(by_definition[0]["processDefinitionKey"], leaf);

    for (condition, found) in
        [(r#"{"$like":"no*"}"#, 1), (r#"{"$in":["no luck","other"]}"#, 1), (r#"{"$neq":"no luck"}"#, 0), (r#""no luck""#, 1)]
    {
        let filter =
            format!(r#"{{"filter":{{{ANY_TIME},"jobType":"work","errorMessage":{condition},"errorCode":{{"$eq":""}}}}}}"#);
        assert_eq!(server.items("/v2/jobs/statistics/errors", &filter).await.len(), found, "{condition}");
    }
    for (condition, found) in [(r#"{"$like":"w?rk"}"#, 1), (r#"{"$notIn":["work"]}"#, 0), (r#""""#, 1)] {
        let filter = format!(r#"{{"filter":{{{ANY_TIME},"jobType":{condition}}}}}"#);
        assert_eq!(server.items("/v2/jobs/statistics/by-types", &filter).await.len(), found, "{condition}");
    }

    server.deploy_model(&order()).await;
    server.begin("order", r#"{"order":"d"}"#).await;
    let waiting = server.items("/v2/process-definitions/statistics/message-subscriptions", "{}").await;
    assert_eq!((waiting.len(), waiting[0]["activeSubscriptions"].as_u64()), (1, Some(1)));
}
