//! Which flows an instance has gone along.

use serde_json::json;

use super::Server;

const MODEL: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="t">
<process id="ways" isExecutable="true">
  <startEvent id="start"/>
  <sequenceFlow id="to-merge" sourceRef="start" targetRef="merge"/>
  <exclusiveGateway id="merge"/>
  <sequenceFlow id="to-work" sourceRef="merge" targetRef="work"/>
  <serviceTask id="work">
    <extensionElements><zeebe:taskDefinition type="work"/></extensionElements>
    <multiInstanceLoopCharacteristics><extensionElements><zeebe:loopCharacteristics inputCollection="=[1, 2]"/></extensionElements></multiInstanceLoopCharacteristics>
  </serviceTask>
  <sequenceFlow id="to-again" sourceRef="work" targetRef="again"/>
  <exclusiveGateway id="again" default="on"/>
  <sequenceFlow id="back" sourceRef="again" targetRef="merge"><conditionExpression>=retry</conditionExpression></sequenceFlow>
  <sequenceFlow id="on" sourceRef="again" targetRef="some"/>
  <inclusiveGateway id="some" default="neither"/>
  <sequenceFlow id="left" sourceRef="some" targetRef="a"><conditionExpression>=left</conditionExpression></sequenceFlow>
  <sequenceFlow id="right" sourceRef="some" targetRef="b"><conditionExpression>=right</conditionExpression></sequenceFlow>
  <sequenceFlow id="neither" sourceRef="some" targetRef="join"/>
  <task id="a"/>
  <task id="b"/>
  <sequenceFlow id="left-join" sourceRef="a" targetRef="join"/>
  <sequenceFlow id="right-join" sourceRef="b" targetRef="join"/>
  <inclusiveGateway id="join"/>
  <sequenceFlow id="to-end" sourceRef="join" targetRef="end"/>
  <endEvent id="end"/>
</process></definitions>"#;

impl Server {
    async fn flows(&self, instance: &str) -> Vec<String> {
        let reply = self.get(&format!("/v2/process-instances/{instance}/sequence-flows")).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        let items = reply.json()["items"].as_array().unwrap().clone();
        for item in &items {
            assert_eq!(item["processInstanceKey"], instance);
            assert_eq!(item["sequenceFlowId"], format!("{instance}_{}", item["elementId"].as_str().unwrap()));
        }
        items.iter().map(|item| item["elementId"].as_str().unwrap().to_owned()).collect()
    }

    async fn ways(&self, left: bool, right: bool) -> String {
        let body = json!({"processDefinitionId": "ways", "variables": {"retry": false, "left": left, "right": right}});
        let reply = self.post("/v2/process-instances", &body.to_string()).await.json();
        reply["processInstanceKey"].as_str().unwrap().to_owned()
    }

    /// Does what there is to do, saying whether to do it again.
    async fn work(&self, retry: bool) {
        let poll = r#"{"type":"work","timeout":60000,"maxJobsToActivate":10}"#;
        let jobs = self.post("/v2/jobs/activation", poll).await.json();
        for job in jobs["jobs"].as_array().unwrap() {
            let path = format!("/v2/jobs/{}/completion", job["jobKey"].as_str().unwrap());
            let body = json!({"variables": {"retry": retry}}).to_string();
            assert_eq!(self.post(&path, &body).await.status, 204);
        }
    }
}

#[tokio::test]
async fn the_flows_that_were_taken_are_told() {
    let server = Server::start().await;
    assert_eq!(server.deploy_file("ways.bpmn", MODEL).await.status, 200);
    assert_eq!(server.flows("2251799813699999").await, Vec::<String>::new());
    let instance = server.ways(true, false).await;
    assert_eq!(server.flows(&instance).await, ["to-merge", "to-work"]);
    server.work(true).await;
    assert_eq!(server.flows(&instance).await, ["back", "to-again", "to-merge", "to-work"]);
    server.work(false).await;
    let all = ["back", "left", "left-join", "on", "to-again", "to-end", "to-merge", "to-work"];
    assert_eq!(server.flows(&instance).await, all);
}

#[tokio::test]
async fn a_gateway_that_leads_into_a_join_took_that_way_where_nothing_else_was_entered() {
    let server = Server::start().await;
    server.deploy_file("ways.bpmn", MODEL).await;
    let neither = server.ways(false, false).await;
    server.work(false).await;
    assert_eq!(server.flows(&neither).await, ["neither", "on", "to-again", "to-end", "to-merge", "to-work"]);
    let both = server.ways(true, true).await;
    server.work(false).await;
    let ways = ["left", "left-join", "on", "right", "right-join", "to-again", "to-end", "to-merge", "to-work"];
    assert_eq!(server.flows(&both).await, ways);
}
