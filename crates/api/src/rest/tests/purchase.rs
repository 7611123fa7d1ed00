//! The example of an order that is paid for, reserved item by item, and put back when nobody ships it; and a process longer than any person
//! draws.

use serde_json::{Value, json};

use super::Server;

fn example(name: &str) -> String {
    std::fs::read_to_string(format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

impl Server {
    async fn deploy_purchase(&self) {
        for name in ["reserve-item.bpmn", "purchase.bpmn"] {
            assert_eq!(self.deploy_file(name, &example(name)).await.status, 200);
        }
    }

    async fn purchase(&self, order: &str, items: &[&str]) -> String {
        let body = json!({"processDefinitionId": "purchase", "variables": {"orderId": order, "items": items}});
        let reply = self.post("/v2/process-instances", &body.to_string()).await;
        reply.json()["processInstanceKey"].as_str().unwrap().to_owned()
    }

    async fn jobs_of(&self, job_type: &str) -> Vec<Value> {
        let poll = json!({"type": job_type, "timeout": 60_000, "maxJobsToActivate": 10}).to_string();
        self.post("/v2/jobs/activation", &poll).await.json()["jobs"].as_array().unwrap().clone()
    }

    async fn do_all(&self, job_type: &str, variables: Value) -> usize {
        let jobs = self.jobs_of(job_type).await;
        for job in &jobs {
            let path = format!("/v2/jobs/{}/completion", job["jobKey"].as_str().unwrap());
            assert_eq!(self.post(&path, &json!({ "variables": variables }).to_string()).await.status, 204);
        }
        jobs.len()
    }

    async fn ended_at(&self, instance: &str) -> (Value, Vec<String>) {
        let state = self.get(&format!("/v2/process-instances/{instance}")).await.json()["state"].clone();
        let filter = json!({"filter": {"processInstanceKey": instance, "type": "END_EVENT"}}).to_string();
        let ends = self.post("/v2/element-instances/search", &filter).await.json();
        let ids = ends["items"].as_array().unwrap().iter().map(|end| end["elementId"].as_str().unwrap().to_owned());
        (state, ids.collect())
    }
}

#[tokio::test]
async fn a_payment_may_come_early_and_what_was_reserved_is_put_back_when_shipping_fails() {
    let server = Server::start().await;
    server.deploy_purchase().await;
    let payment = json!({"name": "payment", "correlationKey": "order-7", "timeToLive": 60_000, "variables": {"paid": 12}});
    assert_eq!(server.post("/v2/messages/publication", &payment.to_string()).await.status, 200);
    let order = server.purchase("order-7", &["mug", "tea"]).await;
    assert_eq!(server.do_all("reserve-item", json!({"shelf": "B4"})).await, 2, "one process for each item");
    let ship = server.jobs_of("ship-order").await;
    assert_eq!(ship[0]["variables"]["shelves"], json!(["B4", "B4"]), "{ship:?}");
    let path = format!("/v2/jobs/{}/error", ship[0]["jobKey"].as_str().unwrap());
    assert_eq!(server.post(&path, r#"{"errorCode":"NO_CARRIER"}"#).await.status, 204);
    assert_eq!(server.jobs_of("refund-payment").await.len(), 0, "not before everything is put back");
    assert_eq!(server.do_all("release-items", json!({})).await, 1);
    assert_eq!(server.do_all("refund-payment", json!({})).await, 1);
    assert_eq!(server.ended_at(&order).await, (json!("COMPLETED"), vec!["cancelled".to_owned()]));
}

#[tokio::test]
async fn an_order_that_is_never_paid_expires() {
    let server = Server::start().await;
    server.deploy_purchase().await;
    let order = server.purchase("order-8", &[]).await;
    let timers = server.get(&format!("/v1/timers?processInstanceKey={order}")).await.json();
    let fire = format!("/v1/timers/{}/fire", timers["items"][0]["timerKey"].as_str().unwrap());
    assert_eq!(server.post(&fire, "").await.status, 204);
    assert_eq!(server.ended_at(&order).await, (json!("COMPLETED"), vec!["expired".to_owned()]));
}

#[tokio::test]
async fn ten_thousand_elements_are_compiled_and_run() {
    const TASKS: usize = 5_000;
    let server = Server::start().await;
    let task = |number: usize| {
        let next = number + 1;
        format!(r#"<task id="t{number}"/><sequenceFlow id="f{number}" sourceRef="t{number}" targetRef="t{next}"/>"#)
    };
    let tasks: String = (0..TASKS).map(task).collect();
    let model = format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" targetNamespace="t"><process id="long" isExecutable="true">
        <startEvent id="start"/><sequenceFlow id="first" sourceRef="start" targetRef="t0"/>{tasks}<endEvent id="t{TASKS}"/></process></definitions>"#
    );
    let deployed = server.deploy_file("long.bpmn", &model).await;
    assert_eq!(deployed.status, 200, "{}", deployed.text);
    let created = server.post("/v2/process-instances", r#"{"processDefinitionId":"long","awaitCompletion":true}"#).await;
    assert_eq!(created.status, 200, "{}", created.text);
    let count =
        server.post("/v2/element-instances/search", r#"{"filter":{"state":"COMPLETED","type":"TASK"},"page":{"limit":1}}"#);
    assert_eq!(count.await.json()["page"]["totalItems"], TASKS);
}
