//! Decisions: deployed, evaluated, found, deleted; and expressions on their own.

use super::*;

/// `fee` is a table over `total`, which is an expression.
const FEES: &str = r##"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="fees" name="Fees" namespace="t">
    <decision id="total" name="Total"><literalExpression><text>amount * 2</text></literalExpression></decision>
    <decision id="fee" name="Fee"><informationRequirement id="n"><requiredDecision href="#total"/></informationRequirement>
      <decisionTable id="t"><input id="in" label="Total"><inputExpression id="ie"><text>total</text></inputExpression></input>
        <output id="out" name="fee" label="Fee"/>
        <rule id="small"><inputEntry id="a"><text>&lt; 100</text></inputEntry><outputEntry id="b"><text>5</text></outputEntry></rule>
      </decisionTable></decision></definitions>"##;

impl Server {
    async fn deploy_fees(&self) -> Value {
        let form = format!(
            "--b\r\nContent-Disposition: form-data; name=\"resources\"; filename=\"fees.dmn\"\r\n\r\n{FEES}\r\n--b--\r\n"
        );
        let reply = self.call("POST", "/v2/deployments", &form, &[("content-type", "multipart/form-data; boundary=b")]).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.json()["deployments"].clone()
    }

    async fn evaluate(&self, body: &str) -> Reply {
        self.post("/v2/decision-definitions/evaluation", body).await
    }

    async fn found(&self, kind: &str, filter: &str) -> Vec<Value> {
        let reply = self.post(&format!("/v2/{kind}/search"), &format!("{{\"filter\":{filter}}}")).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.json()["items"].as_array().unwrap().clone()
    }
}

#[tokio::test]
async fn a_decision_is_deployed_evaluated_and_found() {
    let server = Server::start().await;
    let deployed = server.deploy_fees().await;
    assert_eq!(deployed[0]["decisionDefinition"]["decisionDefinitionId"], "total", "decisions come before their file");
    assert_eq!(deployed[2]["decisionRequirements"]["decisionRequirementsName"], "Fees");
    let evaluated = server.evaluate(r#"{"decisionDefinitionId":"fee","variables":{"amount":10}}"#).await.json();
    assert_eq!((evaluated["output"].as_str(), evaluated["failureMessage"].as_str()), (Some("5"), None));
    let fee = &evaluated["evaluatedDecisions"][1];
    assert_eq!(fee["matchedRules"][0]["evaluatedOutputs"][0]["outputValue"], "5");
    let id = fee["decisionEvaluationInstanceKey"].as_str().unwrap();
    assert_eq!(id, format!("{}-2", evaluated["decisionEvaluationKey"].as_str().unwrap()));

    let instance = server.get(&format!("/v2/decision-instances/{id}")).await.json();
    assert_eq!((instance["state"].as_str(), instance["result"].as_str()), (Some("EVALUATED"), Some("5")));
    assert_eq!(instance["evaluatedInputs"][0]["inputValue"], "20");
    assert_eq!(instance["matchedRules"][0]["ruleId"], "small");
    assert_eq!(server.get("/v2/decision-instances/12-1").await.status, 404);
    assert_eq!(server.get("/v2/decision-instances/no-key").await.status, 400);
    for (filter, count) in [
        (r#"{"state":"EVALUATED","decisionDefinitionId":"fee"}"#, 1),
        (r#"{"state":"FAILED"}"#, 0),
        (r#"{"decisionDefinitionType":"LITERAL_EXPRESSION"}"#, 1),
        (&format!("{{\"decisionEvaluationInstanceKey\":{{\"$in\":[\"{id}\",\"x\"]}}}}"), 1),
        ("{}", 2),
    ] {
        assert_eq!(server.found("decision-instances", filter).await.len(), count, "{filter}");
    }
    let path = format!("/v2/decision-instances/{}/deletion", evaluated["decisionEvaluationKey"].as_str().unwrap());
    assert_eq!(server.post(&path, "").await.status, 204);
    assert_eq!(server.post(&path, "").await.status, 404);
    assert_eq!(server.found("decision-instances", "{}").await.len(), 0);
}

#[tokio::test]
async fn definitions_and_files_are_found_and_deleted() {
    let server = Server::start().await;
    let deployed = server.deploy_fees().await;
    let key = deployed[1]["decisionDefinition"]["decisionDefinitionKey"].as_str().unwrap();
    let file = deployed[2]["decisionRequirements"]["decisionRequirementsKey"].as_str().unwrap();
    assert_eq!(
        server.found("decision-definitions", r#"{"isLatestVersion":true,"decisionRequirementsName":"Fees"}"#).await.len(),
        2
    );
    assert_eq!(server.found("decision-requirements", r#"{"resourceName":"fees.dmn"}"#).await[0]["version"], 1);
    assert_eq!(server.get(&format!("/v2/decision-definitions/{key}")).await.json()["name"], "Fee");
    for path in [format!("/v2/decision-definitions/{key}/xml"), format!("/v2/decision-requirements/{file}/xml")] {
        assert_eq!(server.get(&path).await.text, FEES, "{path}");
    }
    assert_eq!(server.post(&format!("/v2/resources/{file}/deletion"), "").await.status, 200);
    assert_eq!(server.found("decision-definitions", "{}").await.len(), 0);
    assert_eq!(server.found("decision-requirements", "{}").await.len(), 0);
    assert_eq!(server.get(&format!("/v2/decision-definitions/{key}")).await.status, 200, "by its key it is still there");
    let gone = server.evaluate(r#"{"decisionDefinitionId":"fee"}"#).await;
    assert_eq!((gone.status, gone.title().as_str()), (404, "NOT_FOUND"));
}

#[tokio::test]
async fn evaluations_are_checked() {
    let server = Server::start().await;
    for (body, status) in [
        ("{}", 400),
        (r#"{"decisionDefinitionId":"a","decisionDefinitionKey":"1"}"#, 400),
        (r#"{"decisionDefinitionKey":"x"}"#, 400),
        (r#"{"decisionDefinitionId":"a","variables":[1]}"#, 400),
        (r#"{"decisionDefinitionId":"a","tenantId":"blue"}"#, 400),
        (r#"{"decisionDefinitionKey":"1"}"#, 404),
    ] {
        let reply = server.evaluate(body).await;
        assert_eq!(reply.status, status, "{body}: {}", reply.text);
    }
}

#[tokio::test]
async fn expressions_are_evaluated_on_their_own() {
    let server = Server::start().await;
    let evaluate = async |body: &str| server.post("/v2/expression/evaluation", body).await;
    let sum = evaluate(r#"{"expression":"=x + 1","variables":{"x":2}}"#).await;
    assert_eq!(sum.text, r#"{"expression":"=x + 1","result":3,"referencedSecrets":[],"warnings":[]}"#);
    let missing = evaluate(r#"{"expression":"=missing"}"#).await.json();
    assert!(missing["result"].is_null() && missing["warnings"][0]["message"].is_string(), "{missing}");
    for body in ["{}", r#"{"expression":"  "}"#, r#"{"expression":"=1 +"}"#, r#"{"expression":"=?"}"#] {
        let reply = evaluate(body).await;
        assert_eq!(reply.status, 400, "{body}: {}", reply.text);
    }
}

#[tokio::test]
async fn a_small_expression_does_not_get_a_large_answer() {
    let server = Server::start().await;
    let doubled = |times: usize, expression: &str| {
        let texts: Vec<String> = (1..=times).map(|at| format!(",a{at}:a{0}+a{0}", at - 1)).collect();
        format!(r#"{{"expression":"={{a0:\"0123456789abcdef\"{},r:{expression}}}.r"}}"#, texts.concat())
    };
    let warned = server.post("/v2/expression/evaluation", &doubled(12, "count(for i in 1..100 return number(a12))")).await;
    assert_eq!((warned.status, warned.json()["warnings"].as_array().map(Vec::len)), (200, Some(100)));
    assert!(warned.text.len() < 100_000, "{} bytes", warned.text.len());
    for (times, expression) in [(20, "count(for i in 1..100 return number(a20))"), (19, "a19")] {
        let refused = server.post("/v2/expression/evaluation", &doubled(times, expression)).await;
        assert_eq!(refused.status, 400, "{}", refused.text);
        assert!(refused.text.len() < 10_000, "{} bytes", refused.text.len());
    }
}
