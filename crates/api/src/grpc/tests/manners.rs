//! How the server behaves besides its calls.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
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
    let server = Server::start_with(Config { message_bytes_max: 1_000, ..Config::default() }).await;
    let mut client = server.client().await;
    let large = create(&format!(r#"{{"text": "{}"}}"#, "x".repeat(2_000)));
    assert_eq!(client.create_process_instance(large).await.unwrap_err().code(), Code::ResourceExhausted);
}

#[tokio::test]
async fn a_connection_that_says_too_little_is_closed() {
    let config = Config { preface_timeout: std::time::Duration::from_millis(50), ..Config::default() };
    let server = Server::start_with(config).await;
    for said in ["", "PRI * HTTP/2.0"] {
        let mut silent = TcpStream::connect(server.address).await.unwrap();
        silent.write_all(said.as_bytes()).await.unwrap();
        // What the server says first may be its settings; then it hangs up.
        let _ = silent.read_to_end(&mut Vec::new()).await;
    }
}

#[tokio::test]
async fn one_connection_too_many_is_closed() {
    let server = Server::start_with(Config { connections_max: 1, ..Config::default() }).await;
    let mut client = server.client().await;
    client.topology(wire::TopologyRequest {}).await.unwrap();
    let mut extra = TcpStream::connect(server.address).await.unwrap();
    let _ = extra.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
    assert_eq!(extra.read_to_end(&mut Vec::new()).await.unwrap_or(0), 0);
    client.topology(wire::TopologyRequest {}).await.unwrap();
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
