//! Traces and metrics, as a collector gets them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::server::{Server, example};
use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(60);
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

/// Takes what is posted, and passes it on with its path.
fn collector() -> (String, Receiver<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, received) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (sender, mut stream) = (sender.clone(), BufReader::new(stream.unwrap()));
            std::thread::spawn(move || {
                while let Some((path, body)) = posted(&mut stream) {
                    stream.get_mut().write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").unwrap();
                    sender.send((path, serde_json::from_slice(&body).unwrap())).unwrap();
                }
            });
        }
    });
    (url, received)
}

fn posted(stream: &mut BufReader<TcpStream>) -> Option<(String, Vec<u8>)> {
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        head.push(line.to_lowercase());
    }
    let length = head.iter().find_map(|line| line.strip_prefix("content-length: "))?.trim().parse().unwrap();
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some((head[0].split(' ').nth(1)?.to_owned(), body))
}

/// What is posted there until enough is.
fn until(received: &Receiver<(String, Value)>, wanted: &str, pointer: &str, enough: impl Fn(&[Value]) -> bool) -> Vec<Value> {
    let mut found = Vec::new();
    while !enough(&found) {
        let (path, body) = received.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("not all of {wanted} came: {found:?}"));
        if path == wanted {
            found.extend(body.pointer(pointer).unwrap().as_array().unwrap().iter().cloned());
        }
    }
    found
}

/// Asks from a span of the trace.
fn post(server: &Server, path: &str, body: &str, span: &str) -> Value {
    let (rest, length) = (server.rest, body.len());
    let head = format!("host: {rest}\r\ntraceparent: 00-{TRACE}-{span}-01\r\ncontent-type: application/json");
    let mut stream = TcpStream::connect(rest).unwrap();
    write!(stream, "POST {path} HTTP/1.1\r\n{head}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 20"), "{answer}");
    serde_json::from_str(body).unwrap_or_default()
}

#[test]
fn what_is_done_for_an_instance_links_to_the_span_it_was_started_from() {
    const WORKER: &str = "1111111111111111";
    let (url, received) = collector();
    let server = Server::start_with("memory:", &["--otlp-endpoint", &url, "--otlp-traces-percent", "0"]);
    server.caudal(&["deploy", &example("order.bpmn")]).done();
    post(&server, "/v2/process-instances", r#"{"processDefinitionId": "order", "variables": {"amount": 7}}"#, CALLER);
    let activation = r#"{"type": "charge-card", "worker": "w", "timeout": 60000, "maxJobsToActivate": 1}"#;
    let jobs = post(&server, "/v2/jobs/activation", activation, WORKER);
    let job = jobs["jobs"][0]["jobKey"].as_str().unwrap();
    post(&server, &format!("/v2/jobs/{job}/completion"), "{}", WORKER);

    let is_completion = |span: &Value| span["name"] == "POST /v2/jobs/{jobKey}/completion";
    let spans = until(&received, "/v1/traces", "/resourceSpans/0/scopeSpans/0/spans", |spans| spans.iter().any(is_completion));
    let completion = spans.iter().find(|span| is_completion(span)).unwrap();
    let tick = spans.iter().find(|span| span["parentSpanId"] == completion["spanId"]).unwrap();
    assert_eq!(completion["parentSpanId"], WORKER);
    assert_eq!((&tick["links"][0]["traceId"], &tick["links"][0]["spanId"]), (&TRACE.into(), &CALLER.into()));
}

#[test]
fn a_request_is_traced_to_its_commit_below_its_caller() {
    let (url, received) = collector();
    // Only those are traced that say so themselves.
    let server = Server::start_with("memory:", &["--otlp-endpoint", &url, "--otlp-traces-percent", "0"]);
    server.caudal(&["deploy", &example("order.bpmn")]).done();
    post(&server, "/v2/process-instances", r#"{"processDefinitionId": "order"}"#, CALLER);

    let spans = until(&received, "/v1/traces", "/resourceSpans/0/scopeSpans/0/spans", |spans| 3 <= spans.len());
    let named = |name: &str| spans.iter().find(|span| span["name"] == name).unwrap_or_else(|| panic!("no {name}: {spans:?}"));
    let (request, tick, commit) = (named("POST /v2/process-instances"), named("tick"), named("commit"));
    assert!(spans.len() == 3 && spans.iter().all(|span| span["traceId"] == TRACE), "{spans:?}");
    assert_eq!(request["parentSpanId"], CALLER);
    assert_eq!(tick["parentSpanId"], request["spanId"]);
    assert_eq!(commit["parentSpanId"], tick["spanId"]);
    let metrics = until(&received, "/v1/metrics", "/resourceMetrics/0/scopeMetrics/0/metrics", |metrics| {
        metrics
            .iter()
            .any(|metric| metric["name"] == "caudal_instances_started" && metric["sum"]["dataPoints"][0]["asDouble"] == 1.0)
    });
    assert!(metrics.iter().any(|metric| metric["name"] == "caudal_commit_seconds"));
}

#[test]
fn a_call_over_grpc_is_traced_to_its_commit_below_its_caller() {
    use api::grpc::wire::{self, gateway_client::GatewayClient};

    let (url, received) = collector();
    let server = Server::start_with("memory:", &["--otlp-endpoint", &url, "--otlp-traces-percent", "0"]);
    server.caudal(&["deploy", &example("order.bpmn")]).done();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut client = GatewayClient::connect(format!("http://{}", server.grpc)).await.unwrap();
        let order = wire::CreateProcessInstanceRequest { bpmn_process_id: "order".to_owned(), version: -1, ..Default::default() };
        // Its owner does not want this one to be seen.
        let mut unseen = tonic::Request::new(order.clone());
        unseen.metadata_mut().insert("traceparent", format!("00-{TRACE}-1111111111111111-00").parse().unwrap());
        client.create_process_instance(unseen).await.unwrap();
        let mut request = tonic::Request::new(order);
        request.metadata_mut().insert("traceparent", format!("00-{TRACE}-{CALLER}-01").parse().unwrap());
        client.create_process_instance(request).await.unwrap();
    });

    let spans = until(&received, "/v1/traces", "/resourceSpans/0/scopeSpans/0/spans", |spans| 3 <= spans.len());
    let named = |name: &str| spans.iter().find(|span| span["name"] == name).unwrap_or_else(|| panic!("no {name}: {spans:?}"));
    let request = named("POST /gateway_protocol.Gateway/CreateProcessInstance");
    let (tick, commit) = (named("tick"), named("commit"));
    assert!(spans.len() == 3 && spans.iter().all(|span| span["traceId"] == TRACE), "{spans:?}");
    assert_eq!(request["parentSpanId"], CALLER);
    assert_eq!(tick["parentSpanId"], request["spanId"]);
    assert_eq!(commit["parentSpanId"], tick["spanId"]);
}

#[test]
fn health_says_who_owns_the_partition() {
    let server = Server::start("memory:");
    let mut stream = TcpStream::connect(server.metrics).unwrap();
    write!(stream, "GET /health HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", server.metrics).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let told: Value = serde_json::from_str(answer.rsplit("\r\n\r\n").next().unwrap()).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && told["status"] == "UP" && told["owns"] == true, "{answer}");
    assert_eq!(told["partitions"][0]["owner"], told["server"]);
}
