//! Ad-hoc sub-processes that a worker directs; events with several definitions.

use super::events::{flow, model};
use super::*;

/// A room that the worker of `direct` directs, with one task and two behind each other.
fn party() -> String {
    let task = |id: &str| {
        format!(
            r#"<serviceTask id="{id}"><extensionElements><zeebe:taskDefinition type="{id}"/></extensionElements></serviceTask>"#
        )
    };
    let inside = format!("{}{}{}{}", task("dance"), task("eat"), task("wash"), flow("eat", "wash"));
    let extensions = r#"<extensionElements><zeebe:taskDefinition type="direct" retries="2"/><zeebe:taskHeaders><zeebe:header key="mode" value="fast"/></zeebe:taskHeaders></extensionElements>"#;
    let room = format!(r#"<adHocSubProcess id="room">{extensions}{inside}</adHocSubProcess>"#);
    model("party", "", &format!(r#"<startEvent id="s"/>{room}<endEvent id="e"/>{}{}"#, flow("s", "room"), flow("room", "e")))
}

impl Server {
    async fn next(&self, job_type: &str) -> Value {
        let body = format!("{{\"type\":\"{job_type}\",\"timeout\":60000,\"maxJobsToActivate\":5}}");
        let jobs = self.post("/v2/jobs/activation", &body).await.json()["jobs"].as_array().unwrap().clone();
        assert_eq!(jobs.len(), 1, "one job of {job_type} at a time");
        jobs[0].clone()
    }

    async fn complete(&self, job: &Value, body: &str) -> Reply {
        self.post(&format!("/v2/jobs/{}/completion", job["jobKey"].as_str().unwrap()), body).await
    }
}

#[tokio::test]
async fn a_worker_directs_an_ad_hoc_sub_process() {
    let server = Server::start().await;
    server.deploy_model(&party()).await;
    let instance = server.begin("party", "{}").await;
    let job = server.next("direct").await;
    assert_eq!((&job["kind"], &job["elementId"], &job["retries"]), (&"AD_HOC_SUB_PROCESS".into(), &"room".into(), &2.into()));
    assert_eq!(job["customHeaders"]["mode"], "fast");
    assert_eq!(job["variables"]["adHocSubProcessElements"][1]["elementId"], "eat");
    for (result, title) in [
        (r#"{"activateElements":[{"elementId":"wash"}]}"#, "NOT_FOUND"),
        (r#"{"activateElements":[{"elementId":"eat"}],"isCompletionConditionFulfilled":true}"#, "INVALID_ARGUMENT"),
        (r#"{"activateElements":[{}]}"#, "INVALID_ARGUMENT"),
    ] {
        let body = format!("{{\"result\":{}}}", result.replacen('{', r#"{"type":"adHocSubProcess","#, 1));
        assert_eq!(server.complete(&job, &body).await.title(), title, "{result}");
    }
    let both = r#"{"variables":{"n":1},"result":{"type":"adHocSubProcess","activateElements":[{"elementId":"dance","variables":{"song":"x"}},{"elementId":"eat"}]}}"#;
    assert_eq!(server.complete(&job, both).await.status, 204);
    let dance = server.next("dance").await;
    assert_eq!(
        (&dance["kind"], &dance["variables"]["song"], &dance["variables"]["n"]),
        (&"BPMN_ELEMENT".into(), &"x".into(), &1.into())
    );
    assert_eq!(server.complete(&dance, "{}").await.status, 204);
    let asked = server.next("direct").await;
    let over = r#"{"result":{"type":"adHocSubProcess","isCompletionConditionFulfilled":true,"isCancelRemainingInstances":true}}"#;
    assert_eq!(server.complete(&asked, over).await.status, 204);
    assert_eq!(server.state(&instance).await, "COMPLETED");

    for (kind, count) in [("AD_HOC_SUB_PROCESS", 2), ("BPMN_ELEMENT", 2), ("TASK_LISTENER", 0)] {
        let filter = format!("{{\"filter\":{{\"kind\":\"{kind}\"}},\"sort\":[{{\"field\":\"kind\"}}]}}");
        let found = server.items("/v2/jobs/search", &filter).await;
        assert_eq!(found.len(), count, "{kind}");
        assert!(found.iter().all(|job| job["kind"] == kind));
    }
}

#[tokio::test]
async fn a_worker_that_gives_up_leaves_an_incident_of_its_own_kind() {
    let server = Server::start().await;
    server.deploy_model(&party()).await;
    server.begin("party", "{}").await;
    let job = server.next("direct").await;
    let failure = format!("/v2/jobs/{}/failure", job["jobKey"].as_str().unwrap());
    assert_eq!(server.post(&failure, r#"{"retries":0,"errorMessage":"no idea"}"#).await.status, 204);
    let filter = r#"{"filter":{"errorType":"AD_HOC_SUB_PROCESS_NO_RETRIES"}}"#;
    let incidents = server.items("/v2/incidents/search", filter).await;
    assert_eq!((incidents.len(), &incidents[0]["elementId"]), (1, &"room".into()));
    let resolution = format!("/v2/incidents/{}/resolution", incidents[0]["incidentKey"].as_str().unwrap());
    assert_eq!(server.post(&resolution, "").await.title(), "INVALID_STATE", "it needs retries first");
}

#[tokio::test]
async fn an_event_with_several_definitions_is_shown_as_one() {
    let server = Server::start().await;
    let message = r#"<message id="m" name="paid"><extensionElements><zeebe:subscription correlationKey="=&quot;k&quot;"/></extensionElements></message>"#;
    let body = r#"<startEvent id="s"/><intermediateCatchEvent id="wait" name="Wait" parallelMultiple="true"><messageEventDefinition messageRef="m"/>
        <timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition></intermediateCatchEvent>"#;
    server.deploy_model(&model("both", message, &format!("{body}{}", flow("s", "wait")))).await;
    let instance = server.begin("both", "{}").await;
    let subscriptions = server.items("/v2/message-subscriptions/search", "{}").await;
    assert_eq!((subscriptions.len(), &subscriptions[0]["elementId"]), (1, &"wait".into()));
    let timers = server.items("/v1/timers", "").await;
    assert_eq!((timers.len(), &timers[0]["elementId"]), (1, &"wait".into()));
    let paid = r#"{"name":"paid","correlationKey":"k","variables":{"sum":3}}"#;
    assert_eq!(server.post("/v2/messages/publication", paid).await.status, 200);
    assert_eq!(server.state(&instance).await, "ACTIVE", "the timer has not fired");
    let fire = format!("/v1/timers/{}/fire", timers[0]["timerKey"].as_str().unwrap());
    assert!(server.post(&fire, "").await.status < 300);
    assert_eq!(server.state(&instance).await, "COMPLETED");
}
