//! Requests against a server that answers what it is told to.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test that cannot go on has failed")]

use std::time::Duration;

use caudal_client::{Client, Error, Options, Resource, Start};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

const STARTED: &str = r#"{"processInstanceKey": "1", "processDefinitionId": "a", "processDefinitionVersion": 1}"#;

/// A client whose requests get these answers, one after the other; 0 is a connection that breaks. And the requests it sends.
async fn answered(answers: Vec<(u16, &'static str)>) -> (Client, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let client = Client::new(&format!("http://{}", listener.local_addr().unwrap()));
    let serving = tokio::spawn(async move {
        let mut requests = Vec::new();
        for (status, body) in answers {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = vec![0; 4_096];
            let length = stream.read(&mut request).await.unwrap();
            requests.push(String::from_utf8_lossy(&request[..length]).to_lowercase());
            if status != 0 {
                let head = format!("HTTP/1.1 {status} -\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
                stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
            }
        }
        requests
    });
    (client, serving)
}

fn key(request: &str) -> String {
    request.lines().find_map(|line| line.strip_prefix("idempotency-key: ")).unwrap().to_owned()
}

#[tokio::test]
async fn a_start_is_repeated_with_its_key() {
    let (client, serving) = answered(vec![(0, ""), (504, "{}"), (201, STARTED)]).await;
    // A task, so that this fails to compile if what clients do could not be sent to one.
    let started = tokio::spawn(async move { client.start(Start::of("a")).await });
    assert_eq!(started.await.unwrap().unwrap().id, "1");
    let keys: Vec<String> = serving.await.unwrap().iter().map(|request| key(request)).collect();
    assert_eq!(keys, vec![keys[0].clone(); 3]);
}

#[tokio::test]
async fn a_start_that_was_refused_gets_another_key() {
    let (client, serving) = answered(vec![(429, "{}"), (201, STARTED)]).await;
    client.start(Start::of("a")).await.unwrap();
    let requests = serving.await.unwrap();
    assert_ne!(key(&requests[0]), key(&requests[1]));
}

#[tokio::test]
async fn an_upload_without_an_answer_is_not_repeated() {
    let (client, serving) = answered(vec![(0, "")]).await;
    let error = client.deploy([Resource::workflow(&json!({"id": "a"})).unwrap()]).await.unwrap_err();
    assert!(matches!(error, Error::Unknown(_)), "{error}");
    assert_eq!(serving.await.unwrap().len(), 1);
}

#[tokio::test]
async fn refusals_have_the_servers_words() {
    let (client, _) = answered(vec![(404, r#"{"error": "NOT_FOUND", "message": "no such workflow"}"#)]).await;
    let error = client.start(Start::of("a")).await.unwrap_err();
    assert!(error.is_not_found());
    assert_eq!(error.to_string(), "no such workflow (NOT_FOUND, 404)");
}

#[tokio::test]
async fn a_server_that_is_not_there() {
    let client = Client::with("http://127.0.0.1:9", Options { patience: Duration::ZERO, ..Options::default() });
    assert!(client.start(Start::of("a")).await.unwrap_err().is_unavailable());
}
