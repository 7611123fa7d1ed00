//! Requests that take their time, and the end of the server.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::*;
use crate::listen::{self, Edge, Speaks};

const SHORT: Duration = Duration::from_millis(40);

struct Listening {
    address: SocketAddr,
    server: Server,
    serving: JoinHandle<()>,
}

async fn start(config: Config) -> Listening {
    let server = Server::start_with(&config).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (router, draining) = (server.router.clone(), server.draining.subscribe());
    let edge = Edge { name: "REST", listeners: vec![listener], router, speaks: Speaks::Http, tls: None };
    let serving = tokio::spawn(async move { listen::serve(edge, &config.listen, draining).await });
    Listening { address, server, serving }
}

impl Listening {
    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }
}

/// All that comes until the server closes.
async fn rest_of(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    // A connection that is reset has ended too.
    let _ = stream.read_to_end(&mut text).await;
    String::from_utf8(text).unwrap()
}

#[tokio::test]
async fn a_body_that_does_not_come_is_given_up() {
    let listening = start(Config { body_timeout: SHORT, ..Config::default() }).await;
    let mut stream = listening.connect().await;
    let head =
        b"POST /v2/jobs/search HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 5\r\n\r\n{";
    stream.write_all(head).await.unwrap();
    assert!(rest_of(&mut stream).await.starts_with("HTTP/1.1 408"));
}

#[tokio::test]
async fn a_long_poll_outlives_every_patience_and_ends_when_the_server_drains() {
    let listen = listen::Config { head_timeout: SHORT, idle_timeout: SHORT, ..listen::Config::default() };
    let config = Config { listen, body_timeout: SHORT, ..Config::default() };
    let listening = start(config).await;
    let body = r#"{"type":"work","timeout":1000,"maxJobsToActivate":1,"requestTimeout":60000}"#;
    let head = format!(
        "POST /v2/jobs/activation HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = listening.connect().await;
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut byte = [0];
    let early = tokio::time::timeout(5 * SHORT, stream.read(&mut byte)).await;
    assert!(early.is_err(), "the poll ended early: {early:?}");
    listening.server.draining.send(true).unwrap();
    assert!(rest_of(&mut stream).await.ends_with("{\"jobs\":[]}"));
    listening.serving.await.unwrap();
}
