//! The gRPC transport against a server that answers what it is told to.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;

use http::{HeaderMap, HeaderValue, Response};
use prost::Message as _;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::*;

type Answer = Result<Vec<u8>, Code>;

/// Of a server that answers every call, told by its path and its message, so.
async fn answered(answer: impl Fn(&str, &[u8]) -> Answer + Send + Sync + 'static) -> Grpc {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let grpc = Grpc::new(&format!("grpc://{}", listener.local_addr().unwrap())).unwrap();
    let answer = Arc::new(answer);
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut connection = h2::server::handshake(stream).await.unwrap();
        while let Some(Ok((request, mut respond))) = connection.accept().await {
            let answer = answer.clone();
            tokio::spawn(async move {
                let path = request.uri().path().to_owned();
                let (mut body, mut message) = (request.into_body(), Vec::new());
                while let Some(some) = body.data().await {
                    let some = some.unwrap();
                    body.flow_control().release_capacity(some.len()).unwrap();
                    message.extend_from_slice(&some);
                }
                let head = Response::builder().header("content-type", "application/grpc");
                match answer(&path, &message[5..]) {
                    Err(code) => {
                        let refused = head.header("grpc-status", i32::from(code)).body(()).unwrap();
                        respond.send_response(refused, true).unwrap();
                    }
                    Ok(message) => {
                        let mut stream = respond.send_response(head.body(()).unwrap(), false).unwrap();
                        let length = u32::try_from(message.len()).unwrap().to_be_bytes();
                        stream.send_data([&[0], &length[..], &message].concat().into(), false).unwrap();
                        let status = ("grpc-status".parse().unwrap(), HeaderValue::from_static("0"));
                        stream.send_trailers(HeaderMap::from_iter([status])).unwrap();
                    }
                }
            });
        }
    });
    grpc
}

fn job(id: usize) -> Job {
    let id = id.to_string();
    let job = json!({
        "id": id, "jobType": "work", "instanceId": "", "stepId": "", "stepExecutionId": "", "retriesRemaining": 0, "variables": {}, "lease": 3,
    });
    serde_json::from_value(job).unwrap()
}

fn raw(value: &serde_json::Value) -> Raw {
    serde_json::value::to_raw_value(value).unwrap()
}

#[tokio::test]
async fn a_thousand_heartbeats_in_one_call_each_with_an_answer_of_its_own() {
    let (sizes, mut seen) = mpsc::unbounded_channel();
    let grpc = answered(move |path, message| {
        assert_eq!(path, "/workflow.v1.WorkflowEngine/Heartbeats");
        let asked = HeartbeatsRequest::decode(message).unwrap().jobs;
        sizes.send(asked.len()).unwrap();
        let status = |one: &HeartbeatRequest| if one.job_id == "1001" { "LOST" } else { "HELD" };
        let jobs = asked.iter().map(|one| HeartbeatResponse { status: status(one).to_owned() }).collect();
        Ok(HeartbeatsResponse { jobs }.encode_to_vec())
    })
    .await;
    let jobs: Vec<Job> = (0..1_500).map(job).collect();
    let beats: Vec<Beat<'_>> = jobs.iter().map(|job| Beat { job, progress: None }).collect();
    let standings = grpc.heartbeat("w", Duration::from_secs(60), &beats).await.unwrap();
    let lost: Vec<usize> = (0..1_500).filter(|at| standings[*at] == Standing::Lost).collect();
    assert_eq!((standings.len(), lost), (1_500, vec![1_001]));
    assert_eq!([seen.recv().await, seen.recv().await], [Some(1_000), Some(500)]);
}

#[tokio::test]
async fn a_bpmn_error_is_thrown_by_whoever_has_the_lease() {
    let (said, mut heard) = mpsc::unbounded_channel();
    let grpc = answered(move |path, message| {
        said.send((path.to_owned(), ThrowErrorRequest::decode(message).unwrap())).unwrap();
        Ok(Vec::new())
    })
    .await;
    grpc.throw_error("w", &job(7), "E", "no", &raw(&json!({"a": 1}))).await.unwrap();
    let (path, request) = heard.recv().await.unwrap();
    assert_eq!(path, "/workflow.v1.WorkflowEngine/ThrowError");
    assert_eq!((request.job_id.as_str(), request.worker_id.as_str(), request.lease), ("7", "w", 3));
    assert_eq!((request.error_code.as_str(), request.error_message.as_str()), ("E", "no"));
    assert_eq!(from_struct(request.variables.unwrap()), json!({"a": 1}));
}

#[tokio::test]
async fn what_is_too_large_is_refused_and_what_broke_is_not() {
    let grpc = answered(|_, message| Err(if message.len() < 1_000 { Code::Internal } else { Code::OutOfRange })).await;
    let large = raw(&json!({"text": "x".repeat(1_000)}));
    let refused = grpc.complete("w", &job(7), &large).await.unwrap_err();
    assert!(matches!(refused, Error::Refused { status: 413, .. }), "{refused}");
    assert!(grpc.complete("w", &job(7), &raw(&json!({}))).await.unwrap_err().is_unavailable());
}

#[tokio::test]
async fn an_address_says_whether_it_is_secured() {
    for good in ["grpc://127.0.0.1:9", "grpcs://example.org"] {
        assert!(Grpc::new(good).is_ok(), "{good}");
    }
    for bad in ["http://127.0.0.1:9", "127.0.0.1:9", ""] {
        let refused = Grpc::new(bad).unwrap_err().to_string();
        assert_eq!(refused, format!("`{bad}` must begin with grpc:// or grpcs://"));
    }
    assert!(Grpc::new("grpc://").is_err());
}

#[test]
fn what_may_work_later() {
    for code in (1..=16).map(Code::from_i32) {
        let later = match failure(Status::new(code, "")) {
            Error::Unavailable { .. } => 503,
            Error::Refused { status, .. } => status,
            other => panic!("{other}"),
        };
        let expected = match code {
            Code::InvalidArgument => 400,
            Code::Unauthenticated => 401,
            Code::PermissionDenied => 403,
            Code::NotFound => 404,
            Code::AlreadyExists | Code::FailedPrecondition | Code::Aborted => 409,
            Code::OutOfRange => 413,
            Code::Unimplemented => 501,
            _ => 503,
        };
        assert_eq!(later, expected, "{code:?}");
    }
}

#[test]
fn no_integer_arrives_as_another() {
    let long = format!("1{}", "0".repeat(400));
    for other in ["9007199254740993", "[{\"b\": -9223372036854775807}]", "18446744073709551615", "123456789012345678901", &long] {
        let text = serde_json::value::RawValue::from_string(format!("{{\"text \\\\\": \"\\\"\", \"a\": {other}}}")).unwrap();
        let refused = to_struct(&text).unwrap_err();
        assert!(!refused.is_unavailable() && refused.to_string().contains("is no double"), "{refused}");
    }
    let texts = json!({"9007199254740993": "a \\\" 9007199254740993", "e": 1.5e22, "f": -0.5, "zero": 0});
    assert_eq!(from_struct(to_struct(&raw(&texts)).unwrap()), texts);
    let given = json!({"large": 1_i64 << 53, "small": (1_i64 << 53) - 1, "least": i64::MIN, "half": 0.5, "list": [1e300]});
    let came = from_struct(to_struct(&raw(&given)).unwrap());
    assert_eq!((came["small"].as_i64(), came["half"].as_f64()), (Some((1 << 53) - 1), Some(0.5)));
    assert_eq!((came["large"].as_i64(), came["large"].as_f64()), (None, Some(9_007_199_254_740_992.0)));
    assert!(came["least"].is_f64() && came["list"][0].is_f64(), "{came}");
}

#[test]
fn what_no_server_takes_is_refused() {
    assert!(fits(REQUEST_BYTES_MAX).is_ok());
    assert!(!fits(REQUEST_BYTES_MAX + 1).unwrap_err().is_unavailable());
}

#[tokio::test]
async fn headers_go_with_every_request() {
    let grpc = Grpc::new("grpc://127.0.0.1:9").unwrap().token("secret").unwrap().header("X-Api-Key", "k").unwrap();
    assert_eq!(grpc.headers.get("authorization").unwrap(), "Bearer secret");
    assert_eq!(grpc.headers.get("x-api-key").unwrap(), "k");
    assert!(!format!("{grpc:?}").contains("secret"), "{grpc:?}");
    let refused = grpc.token("sec\nret").unwrap_err().to_string();
    assert!(!refused.contains("sec"), "{refused}");
}
