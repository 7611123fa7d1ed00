//! Decisions over gRPC.

use tonic::Code;

use super::*;
use wire::deployment::Metadata;

#[tokio::test]
async fn a_decision_is_deployed_evaluated_and_deleted() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let model = r#"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="rules" name="Rules" namespace="t">
        <decision id="double" name="Double"><literalExpression><text>n * 2</text></literalExpression></decision></definitions>"#;
    let resource = wire::Resource { name: "rules.dmn".to_owned(), content: model.as_bytes().to_vec().into() };
    let deploy = wire::DeployResourceRequest { resources: vec![resource], tenant_id: String::new() };
    let deployed = client.deploy_resource(deploy).await.unwrap().into_inner().deployments;
    let (Some(Metadata::Decision(decision)), Some(Metadata::DecisionRequirements(requirements))) =
        (&deployed[0].metadata, &deployed[1].metadata)
    else {
        panic!("{deployed:?}")
    };
    let by_id = wire::EvaluateDecisionRequest {
        decision_id: "double".to_owned(),
        variables: r#"{"n": 4}"#.to_owned(),
        ..Default::default()
    };
    let by_key =
        wire::EvaluateDecisionRequest { decision_id: String::new(), decision_key: decision.decision_key, ..by_id.clone() };
    for request in [by_id.clone(), by_key] {
        let evaluated = client.evaluate_decision(request).await.unwrap().into_inner();
        assert_eq!((evaluated.decision_output.as_str(), evaluated.failure_message.as_str()), ("8", ""));
        assert_eq!(evaluated.evaluated_decisions[0].decision_type, "LITERAL_EXPRESSION");
    }
    let delete = wire::DeleteResourceRequest { resource_key: requirements.decision_requirements_key, ..Default::default() };
    client.delete_resource(delete).await.unwrap();
    assert_eq!(client.evaluate_decision(by_id).await.unwrap_err().code(), Code::NotFound);
    let nothing = wire::EvaluateDecisionRequest::default();
    assert_eq!(client.evaluate_decision(nothing).await.unwrap_err().code(), Code::NotFound);
}
