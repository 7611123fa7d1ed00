//! What is held for callers is bounded for all of them together.

use bytes::Bytes;
use futures_util::{FutureExt, StreamExt, stream};

use super::*;

const MIB: usize = 1024 * 1024;

fn bodies(bytes_max: usize) -> Budgets {
    Budgets { bodies: Budget::of_bodies(bytes_max), ..Budgets::default() }
}

/// A deployment that has begun to come and does not end.
fn unfinished() -> Request<Body> {
    let begun = stream::iter([Ok::<_, std::convert::Infallible>(Bytes::from(vec![b'x'; MIB]))]).chain(stream::pending());
    let request = Request::builder().method("POST").uri("/v2/deployments");
    let request =
        request.header(header::CONTENT_TYPE, "multipart/form-data; boundary=b").header(header::CONTENT_LENGTH, 16 * MIB);
    request.body(Body::from_stream(begun)).unwrap()
}

#[tokio::test]
async fn unfinished_bodies_hold_no_more_than_their_budget() {
    let server = Server::start_within(&Config::default(), bodies(8 * MIB)).await;
    let mut waiting = Vec::new();
    let mut refused = 0;
    for _ in 0..20 {
        let mut sent = Box::pin(server.send(unfinished()));
        match sent.as_mut().now_or_never() {
            None => waiting.push(sent),
            Some(reply) => {
                assert_eq!((reply.status, reply.title().as_str()), (503, "RESOURCE_EXHAUSTED"));
                refused += 1;
            }
        }
        assert!(server.budgets.bodies.in_use() <= 8 * MIB);
    }
    assert_eq!((waiting.len(), refused), (8, 12));
    drop(waiting);
    assert_eq!(server.budgets.bodies.in_use(), 0);
    assert_eq!(server.deploy().await.status, 200);
}

#[tokio::test]
async fn a_slow_body_gives_its_bytes_back() {
    let config = Config { body_timeout: Duration::from_millis(20), ..Config::default() };
    let server = Server::start_within(&config, bodies(MIB)).await;
    assert_eq!(server.send(unfinished()).await.status, 408);
    assert_eq!(server.budgets.bodies.in_use(), 0);
}

#[tokio::test]
async fn a_command_holds_its_body_until_it_is_answered() {
    let server = Server::start().await;
    server.deploy().await;
    let body =
        format!(r#"{{"processDefinitionId":"work","variables":{{"x":"{}"}},"awaitCompletion":true}}"#, "y".repeat(100_000));
    let mut created = Box::pin(server.post("/v2/process-instances", &body));
    assert!(created.as_mut().now_or_never().is_none());
    assert_eq!(server.budgets.bodies.in_use(), body.len());
    drop(created);
    assert_eq!(server.budgets.bodies.in_use(), 0);
}

const LONG: usize = 100_000;

/// An instance with 64 long variables.
async fn with_long_variables(server: &Server) {
    server.deploy().await;
    let variables: Vec<String> = (0..64).map(|n| format!("\"v{n}\":\"{}\"", "x".repeat(LONG))).collect();
    server.create(&format!("{{{}}}", variables.join(","))).await;
}

fn small_pages() -> Config {
    let (page_bytes_max, room_timeout) = (MIB, Duration::from_millis(20));
    Config { request_bytes_max: 8 * MIB, page_bytes_max, room_timeout, ..Config::default() }
}

const SEARCH: &str = "/v2/variables/search?truncateValues=false";

#[tokio::test]
async fn a_page_of_long_rows_ends_early_and_leads_on() {
    let server = Server::start_with(&small_pages()).await;
    with_long_variables(&server).await;
    let mut names = std::collections::BTreeSet::new();
    let mut page = r#"{"limit":64}"#.to_owned();
    loop {
        let reply = server.post(SEARCH, &format!(r#"{{"page":{page}}}"#)).await;
        assert!(reply.text.len() < 2 * MIB, "{} bytes", reply.text.len());
        let json = reply.json();
        assert_eq!(json["page"]["totalItems"], 64);
        let items = json["items"].as_array().unwrap();
        if items.is_empty() {
            break;
        }
        names.extend(items.iter().map(|item| item["name"].to_string()));
        page = format!(r#"{{"limit":64,"after":{}}}"#, json["page"]["endCursor"]);
    }
    assert_eq!(names.len(), 64);
    let by_position = server.post(SEARCH, r#"{"page":{"from":0,"limit":64}}"#).await;
    assert_eq!((by_position.status, by_position.title().as_str()), (400, "INVALID_ARGUMENT"), "rows would be missed");
    assert_eq!(server.post(SEARCH, r#"{"page":{"from":60,"limit":4}}"#).await.json()["items"].as_array().unwrap().len(), 4);
    assert_eq!(
        server.post("/v2/variables/search", "").await.json()["items"].as_array().unwrap().len(),
        64,
        "cut values are short"
    );
}

#[tokio::test]
async fn answers_that_are_not_taken_hold_no_more_than_their_budget() {
    let answers = Budget::of_answers(4 * MIB);
    let server = Server::start_within(&small_pages(), Budgets { answers: answers.clone(), ..Budgets::default() }).await;
    with_long_variables(&server).await;
    let mut untaken = Vec::new();
    let refused = loop {
        let request = Request::builder().method("POST").uri(SEARCH).header(header::CONTENT_TYPE, "application/json");
        let answer = server.router.clone().oneshot(request.body(Body::from("{}")).unwrap()).await.unwrap();
        assert!(answers.in_use() <= 4 * MIB);
        if answer.status() != 200 {
            break answer;
        }
        untaken.push(answer);
    };
    assert_eq!((untaken.len(), refused.status().as_u16()), (4, 503));
    let lengths: u64 = untaken.iter().map(|answer| http_body::Body::size_hint(answer.body()).exact().unwrap()).sum();
    assert_eq!(answers.in_use() as u64, lengths, "as many bytes are held as there are");
    let first = untaken.remove(0);
    axum::body::to_bytes(first.into_body(), usize::MAX).await.unwrap();
    assert_eq!(server.post(SEARCH, "{}").await.status, 200);
    drop(untaken);
    assert_eq!(answers.in_use(), 0);
}

#[tokio::test]
async fn jobs_there_is_no_room_for_are_given_back() {
    let answers = Budget::of_answers(LONG);
    let server = Server::start_within(&Config::default(), Budgets { answers, ..Budgets::default() }).await;
    server.deploy().await;
    server.create(&format!("{{\"x\":\"{}\"}}", "y".repeat(2 * LONG))).await;
    let activation = r#"{"type":"work","timeout":3600000,"maxJobsToActivate":1,"requestTimeout":60000"#;
    let reply = server.post("/v2/jobs/activation", &format!("{activation}}}")).await;
    assert_eq!((reply.status, reply.title().as_str()), (503, "RESOURCE_EXHAUSTED"));
    let reply = server.post("/v2/jobs/activation", &format!(r#"{activation},"fetchVariable":["none"]}}"#)).await;
    assert_eq!(reply.json()["jobs"].as_array().unwrap().len(), 1, "{}", reply.text);
}
