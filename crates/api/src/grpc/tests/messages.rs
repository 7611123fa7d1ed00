//! Messages, signals and start conditions over gRPC.

use tonic::Code;

use super::*;

/// Starts with the message `go`, the signal `bell`, or when `level` is above 8.
fn started_by_events() -> wire::DeployResourceRequest {
    let model = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" id="d" targetNamespace="t">
        <message id="m" name="go"/><signal id="s" name="bell"/><process id="events" isExecutable="true">
        <startEvent id="a"><messageEventDefinition messageRef="m"/></startEvent><startEvent id="b"><signalEventDefinition signalRef="s"/></startEvent>
        <startEvent id="c"><conditionalEventDefinition id="x"><condition xsi:type="tFormalExpression">=level &gt; 8</condition></conditionalEventDefinition></startEvent>
        <endEvent id="end"/><sequenceFlow id="f" sourceRef="a" targetRef="end"/><sequenceFlow id="g" sourceRef="b" targetRef="end"/>
        <sequenceFlow id="h" sourceRef="c" targetRef="end"/></process></definitions>"#;
    let resource = wire::Resource { name: "events.bpmn".to_owned(), content: model.as_bytes().to_vec().into() };
    wire::DeployResourceRequest { resources: vec![resource], tenant_id: String::new() }
}

#[tokio::test]
async fn messages_signals_and_conditions_are_sent() {
    let server = Server::start().await;
    let mut client = server.client().await;
    client.deploy_resource(started_by_events()).await.unwrap();
    let message = wire::PublishMessageRequest {
        name: "go".to_owned(),
        message_id: "one".to_owned(),
        time_to_live: 600_000,
        ..Default::default()
    };
    let published = client.publish_message(message.clone()).await.unwrap().into_inner();
    assert!(0 < published.key && published.tenant_id == "<default>");
    let second = client.publish_message(message.clone()).await.unwrap_err();
    assert_eq!(second.code(), Code::AlreadyExists);
    assert!(second.message().starts_with("Command 'PUBLISH' rejected with code 'ALREADY_EXISTS': "));
    let elsewhere = wire::PublishMessageRequest { tenant_id: "blue".to_owned(), ..message };
    assert_eq!(client.publish_message(elsewhere).await.unwrap_err().code(), Code::InvalidArgument);

    let signal = wire::BroadcastSignalRequest { signal_name: "bell".to_owned(), ..Default::default() };
    assert!(0 < client.broadcast_signal(signal.clone()).await.unwrap().into_inner().key);
    let broken = wire::BroadcastSignalRequest { variables: "[1]".to_owned(), ..signal };
    assert_eq!(client.broadcast_signal(broken).await.unwrap_err().code(), Code::InvalidArgument);

    let condition = wire::EvaluateConditionalRequest { variables: r#"{"level": 9}"#.to_owned(), ..Default::default() };
    let started = client.evaluate_conditional(condition.clone()).await.unwrap().into_inner();
    let definition = started.process_instances[0].process_definition_key;
    let by_key = wire::EvaluateConditionalRequest { process_definition_key: Some(definition), ..condition.clone() };
    assert_eq!(client.evaluate_conditional(by_key).await.unwrap().into_inner().process_instances.len(), 1);
    let unknown = wire::EvaluateConditionalRequest { process_definition_key: Some(7), ..condition };
    assert_eq!(client.evaluate_conditional(unknown).await.unwrap_err().code(), Code::NotFound);
    let nothing = client.evaluate_conditional(wire::EvaluateConditionalRequest::default()).await.unwrap().into_inner();
    assert_eq!(nothing.process_instances, []);
}
