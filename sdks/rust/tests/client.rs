//! Requests against a server that answers what it is told to.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test that cannot go on has failed")]

use std::time::Duration;

use caudal_client::{Client, Error, Message, Options, Resource, Start, Submit};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

const STARTED: &str = r#"{"processInstanceKey": "1", "processDefinitionId": "a", "processDefinitionVersion": 1}"#;

/// A client whose requests get these answers, one after the other; 0 is a connection that breaks. And the requests it sends.
async fn answered(answers: Vec<(u16, &'static str)>) -> (Client, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let client = Client::new(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
    let serving = tokio::spawn(async move {
        let mut requests = Vec::new();
        for (status, body) in answers {
            let (mut stream, _) = listener.accept().await.unwrap();
            requests.push(read(&mut stream).await);
            if status != 0 {
                let head = format!("HTTP/1.1 {status} -\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
                stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
            }
        }
        requests
    });
    (client, serving)
}

/// A request to its end: what was not read would break the connection on which the answer goes.
async fn read(stream: &mut TcpStream) -> String {
    let mut request = String::new();
    loop {
        let mut some = [0; 4_096];
        let length = stream.read(&mut some).await.unwrap();
        request += &String::from_utf8_lossy(&some[..length]).to_lowercase();
        let is_whole = |(head, body): (&str, &str)| body.len() == header(head, "content-length").parse::<usize>().unwrap();
        if length == 0 || request.split_once("\r\n\r\n").is_some_and(is_whole) {
            return request;
        }
    }
}

fn header<'a>(request: &'a str, name: &str) -> &'a str {
    request.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).unwrap()
}

fn key(request: &str) -> String {
    header(request, "idempotency-key").to_owned()
}

#[tokio::test]
async fn a_start_is_repeated_with_its_key() {
    let (client, serving) = answered(vec![(0, ""), (504, "{}"), (429, "{}"), (500, "{}"), (201, STARTED)]).await;
    // A task, so that this fails to compile if what clients do could not be sent to one.
    let started = tokio::spawn(async move { client.start(Start::of("a")).await });
    assert_eq!(started.await.unwrap().unwrap().id, "1");
    let keys: Vec<String> = serving.await.unwrap().iter().map(|request| key(request)).collect();
    assert_eq!(keys, vec![keys[0].clone(); 5]);
}

async fn command(client: &Client, path: &str) -> Result<(), Error> {
    match path {
        "/v1/definitions" => client.deploy([Resource::workflow(&json!({"id": "a"}))?]).await.map(drop),
        "/v2/deployments" => {
            client.deploy([Resource::file(concat!(env!("CARGO_MANIFEST_DIR"), "/rustfmt.toml"))]).await.map(drop)
        }
        "/v1/instances/1/cancel" => client.cancel("1").await.map(drop),
        "/v1/instances/1/retry" => client.retry("1").await.map(drop),
        "/v1/instances/1/user-tasks/s/complete" => client.complete_user_task("1", "s", "ann", &json!({}), false).await,
        "/v1/instances/1/signals/s?buffer=true" => client.signal("1", "s", &json!({}), true).await,
        "/v2/messages/publication" => client.publish(&Message::default()).await,
        "/v2/signals/broadcast" => client.broadcast_signal("s", &json!({})).await,
        "/v1/actions/a/executions/bulk" => client.submit("a", &[Submit::default()], None).await.map(drop),
        "/v1/executions/1/cancel" => client.cancel_execution("1").await,
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn every_command_is_repeated_with_its_key() {
    let instance = r#"{"id": "1", "definitionId": "a", "definitionVersion": 1, "status": "ACTIVE", "currentStepIds": [], "variables": {}, "startedAt": ""}"#;
    let all = [
        ("/v1/definitions", r#"{"id": "a", "version": 1}"#),
        ("/v2/deployments", r#"{"deployments": []}"#),
        ("/v1/instances/1/cancel", instance),
        ("/v1/instances/1/retry", instance),
        ("/v1/instances/1/user-tasks/s/complete", ""),
        ("/v1/instances/1/signals/s?buffer=true", ""),
        ("/v2/messages/publication", "{}"),
        ("/v2/signals/broadcast", "{}"),
        ("/v1/actions/a/executions/bulk", r#"{"executions": [{"id": "1"}]}"#),
        ("/v1/executions/1/cancel", ""),
    ];
    let mut keys = std::collections::BTreeSet::new();
    for (path, answer) in all {
        let (client, serving) = answered(vec![(0, ""), (200, answer)]).await;
        command(&client, path).await.unwrap();
        let requests = serving.await.unwrap();
        assert!(requests.iter().all(|request| request.starts_with(&format!("post {path} "))), "{requests:?}");
        assert_eq!(key(&requests[0]), key(&requests[1]), "{path}");
        keys.insert(key(&requests[0]));
    }
    assert_eq!(keys.len(), all.len());
}

#[tokio::test]
async fn refusals_have_the_servers_words() {
    let (client, _) = answered(vec![(404, r#"{"error": "NOT_FOUND", "message": "no such workflow"}"#)]).await;
    let error = client.start(Start::of("a")).await.unwrap_err();
    assert!(error.is_not_found());
    assert_eq!(error.to_string(), "no such workflow (NOT_FOUND, 404)");
}

#[tokio::test]
async fn an_answer_that_is_no_json_is_somebody_elses() {
    let (client, _) = answered(vec![(200, "<html>"), (201, STARTED)]).await;
    assert_eq!(client.start(Start::of("a")).await.unwrap().id, "1");
}

#[tokio::test]
async fn a_server_that_is_not_there() {
    let client = Client::with("http://127.0.0.1:9", Options { patience: Duration::ZERO, ..Options::default() }).unwrap();
    assert!(client.start(Start::of("a")).await.unwrap_err().is_unavailable());
}
