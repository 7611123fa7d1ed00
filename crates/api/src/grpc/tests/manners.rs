//! How the server behaves besides its calls.

use futures_util::StreamExt;
use tonic::Code;
use tonic::codec::CompressionEncoding::Gzip;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;

use super::*;
use crate::grpc::workflow_wire::CompleteJobRequest;
use crate::grpc::workflow_wire::workflow_engine_client::WorkflowEngineClient;

#[tokio::test]
async fn health_tells_of_the_gateway() {
    let server = Server::start().await;
    let mut health = HealthClient::new(server.endpoint().connect().await.unwrap());
    let named = |service: &str| HealthCheckRequest { service: service.to_owned() };
    for service in ["", "gateway_protocol.Gateway"] {
        let status = health.check(named(service)).await.unwrap().into_inner().status();
        assert_eq!(status, ServingStatus::Serving);
    }
    assert_eq!(health.check(named("nobody")).await.unwrap_err().code(), Code::NotFound);
    let mut watched = health.watch(named("")).await.unwrap().into_inner();
    assert_eq!(watched.message().await.unwrap().unwrap().status(), ServingStatus::Serving);
    server.draining.send(true).unwrap();
    assert_eq!(watched.message().await.unwrap().unwrap().status(), ServingStatus::NotServing);
}

#[tokio::test]
async fn reflection_knows_the_gateway() {
    let server = Server::start().await;
    let mut reflection = ServerReflectionClient::new(server.endpoint().connect().await.unwrap());
    let list = MessageRequest::ListServices(String::new());
    let request = ServerReflectionRequest { host: String::new(), message_request: Some(list) };
    let mut answers = reflection.server_reflection_info(futures_util::stream::iter([request])).await.unwrap().into_inner();
    let answer = answers.message().await.unwrap().unwrap();
    let Some(MessageResponse::ListServicesResponse(listed)) = answer.message_response else { panic!("{answer:?}") };
    assert!(listed.service.iter().any(|service| service.name == "gateway_protocol.Gateway"), "{listed:?}");
}

#[tokio::test]
async fn calls_that_wait_end_when_the_server_drains() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let mut stream = client.stream_activated_jobs(subscription()).await.unwrap().into_inner();
    let mut poller = server.client().await;
    let parked = tokio::spawn(async move { poller.activate_jobs(poll(1)).await });
    server.draining.send(true).unwrap();
    assert_eq!(stream.message().await.unwrap_err().code(), Code::Unavailable);
    // Sent before or after the connection was told to end: refused either way.
    assert_eq!(parked.await.unwrap().unwrap_err().code(), Code::Unavailable);
    server.serving.await.unwrap();
}

#[tokio::test]
async fn gzip_goes_both_ways() {
    let server = Server::start().await;
    let mut client = server.client().await.send_compressed(Gzip).accept_compressed(Gzip);
    let topology = client.topology(wire::TopologyRequest {}).await.unwrap();
    assert_eq!(topology.metadata().get("grpc-encoding").unwrap(), "gzip");
    assert_eq!(topology.into_inner().partitions_count, 1);
    let mut plain = server.client().await.accept_compressed(Gzip);
    let topology = plain.topology(wire::TopologyRequest {}).await.unwrap();
    assert_eq!(topology.metadata().get("grpc-encoding"), None);
}

#[tokio::test]
async fn an_empty_authorization_is_no_matter() {
    let server = Server::start().await;
    let mut request = tonic::Request::new(wire::TopologyRequest {});
    request.metadata_mut().insert("authorization", "".parse().unwrap());
    let topology = server.client().await.topology(request).await.unwrap().into_inner();
    assert_eq!(topology.brokers[0].partitions.len(), 1);
}

#[tokio::test]
async fn a_message_that_is_too_large_is_refused() {
    const NAMED: &str = "longer than 1000 bytes, the most this server takes (limits.request_bytes in its configuration)";
    let server = Server::start_with(Config { message_bytes_max: 1_000, ..Config::default() }).await;
    let mut client = server.client().await;
    let large = create(&format!(r#"{{"text": "{}"}}"#, "x".repeat(2_000)));
    let refused = client.create_process_instance(large.clone()).await.unwrap_err();
    assert!(refused.code() == Code::ResourceExhausted && refused.message().contains(NAMED), "{refused:?}");
    let packed = server.client().await.send_compressed(Gzip).create_process_instance(large).await.unwrap_err();
    assert!(packed.code() == Code::ResourceExhausted && packed.message().contains(NAMED), "{packed:?}");
    let mut workers = WorkflowEngineClient::new(server.endpoint().connect().await.unwrap());
    let large = CompleteJobRequest { worker_id: "w".repeat(2_000), ..Default::default() };
    let mut packing = workers.clone().send_compressed(Gzip);
    for refused in [workers.complete_job(large.clone()).await, packing.complete_job(large).await] {
        let refused = refused.unwrap_err();
        assert_eq!(refused.code(), Code::OutOfRange, "nobody is to send it again");
        assert!(refused.message().contains(NAMED), "{refused:?}");
    }
}

#[tokio::test]
async fn a_deployment_has_a_limit_of_its_own() {
    const LARGE: usize = 100_000;
    let config = Config { message_bytes_max: 1_000, deployment_bytes_max: 2 * LARGE, ..Config::default() };
    let server = Server::start_with(config).await;
    let of = |bytes: usize| {
        let mut request = one_task();
        let comment = format!("<!-- {} -->", "x".repeat(bytes));
        let content = [request.resources[0].content.as_ref(), comment.as_bytes()].concat();
        request.resources[0].content = content.into();
        request
    };
    for mut client in [server.client().await, server.client().await.send_compressed(Gzip)] {
        client.deploy_resource(of(LARGE)).await.unwrap();
        let refused = client.deploy_resource(of(2 * LARGE)).await.unwrap_err();
        let named = "200000 bytes, the most this server takes (limits.deployment_bytes in its configuration)";
        assert!(refused.code() == Code::ResourceExhausted && refused.message().contains(named), "{refused:?}");
    }
}

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let config = Config { body_timeout: std::time::Duration::from_millis(50), ..Config::default() };
    let server = Server::start_with(config).await;
    let mut grpc = tonic::client::Grpc::new(server.endpoint().connect().await.unwrap());
    grpc.ready().await.unwrap();
    let never = futures_util::stream::pending::<wire::TopologyRequest>();
    let path = axum::http::uri::PathAndQuery::from_static("/gateway_protocol.Gateway/Topology");
    let codec = tonic_prost::ProstCodec::<wire::TopologyRequest, wire::TopologyResponse>::default();
    let answer = grpc.client_streaming(tonic::Request::new(never), path, codec).await;
    assert_eq!(answer.unwrap_err().code(), Code::DeadlineExceeded);
}

fn bodies(bytes_max: usize) -> Budgets {
    Budgets { bodies: Budget::of_bodies(bytes_max), ..Budgets::default() }
}

/// A call whose message has come and whose body does not end.
fn unfinished(server: &Server, message: wire::CreateProcessInstanceRequest) -> tokio::task::JoinHandle<Code> {
    let endpoint = server.endpoint();
    tokio::spawn(async move {
        let mut grpc = tonic::client::Grpc::new(endpoint.connect().await.unwrap());
        grpc.ready().await.unwrap();
        let never = futures_util::stream::iter([message]).chain(futures_util::stream::pending());
        let path = axum::http::uri::PathAndQuery::from_static("/gateway_protocol.Gateway/CreateProcessInstance");
        let codec = tonic_prost::ProstCodec::<_, wire::CreateProcessInstanceResponse>::default();
        grpc.client_streaming(tonic::Request::new(never), path, codec).await.unwrap_err().code()
    })
}

#[tokio::test]
async fn unfinished_bodies_hold_no_more_than_their_budget() {
    const BODY: usize = 300_000;
    let server = Server::start_within(Config::default(), bodies(1_000_000)).await;
    let in_use = || server.budgets.bodies.in_use();
    let mut client = server.client().await;
    client.deploy_resource(one_task()).await.unwrap();
    let large = create(&format!(r#"{{"text": "{}"}}"#, "x".repeat(BODY)));
    let unfinished: Vec<_> = (0..3).map(|_| unfinished(&server, large.clone())).collect();
    while in_use() < 3 * BODY {
        tokio::task::yield_now().await;
    }
    let refused = client.create_process_instance(large.clone()).await.unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted);
    assert!(refused.message().contains("bodies_bytes"), "{refused}");
    client.create_process_instance(create("{}")).await.unwrap();
    unfinished.iter().for_each(tokio::task::JoinHandle::abort);
    while 0 < in_use() {
        tokio::task::yield_now().await;
    }
    client.create_process_instance(large).await.unwrap();
}

#[tokio::test]
async fn what_is_compressed_counts_as_what_it_may_become() {
    let server = Server::start_within(Config::default(), bodies(120_000)).await;
    let plain = create(&format!(r#"{{"text": "{}"}}"#, "x".repeat(100_000)));
    assert_eq!(server.client().await.create_process_instance(plain.clone()).await.unwrap_err().code(), Code::NotFound);
    let refused = server.client().await.send_compressed(Gzip).create_process_instance(plain).await.unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted);
}
