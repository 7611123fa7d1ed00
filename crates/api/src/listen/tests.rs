//! Slow, idle and too many connections.

use std::net::SocketAddr;

use axum::routing::get;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Semaphore;

use super::*;

const SHORT: Duration = Duration::from_millis(40);
const LONG: Duration = Duration::from_secs(3600);
const GET: &[u8] = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n";
const LARGE_BYTES: usize = 32 * 1024 * 1024;

/// An edge with something small, something large, and something that does not answer before it is let to.
struct Served {
    address: SocketAddr,
    /// One for each request that waits.
    waiting: Arc<Semaphore>,
    let_answer: Arc<Semaphore>,
    _draining: watch::Sender<bool>,
}

async fn served(speaks: Speaks, config: Config) -> Served {
    let [waiting, let_answer] = [0; 2].map(|none| Arc::new(Semaphore::new(none)));
    let (waits, lets) = (waiting.clone(), let_answer.clone());
    let wait = move || async move {
        waits.add_permits(1);
        let _let_go = lets.acquire().await;
        "done"
    };
    let router = Router::new()
        .route("/", get(|| async { "here" }))
        .route("/large", get(|| async { "x".repeat(LARGE_BYTES) }))
        .route("/wait", get(wait));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, draining) = watch::channel(false);
    let edge = Edge { name: "test", listeners: vec![listener], router, speaks, tls: None };
    tokio::spawn(async move { serve(edge, &config, draining).await });
    Served { address, waiting, let_answer, _draining: sender }
}

impl Served {
    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    async fn ask(&self, path: &str) -> TcpStream {
        let mut stream = self.connect().await;
        stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").as_bytes()).await.unwrap();
        stream
    }
}

/// All that comes until the server closes.
async fn rest_of(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    // A connection that is reset has ended too.
    let _ = stream.read_to_end(&mut bytes).await;
    bytes
}

/// Asks on a connection that stays open.
async fn is_here(stream: &mut TcpStream) {
    asks(stream).await.unwrap();
}

async fn asks(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.write_all(GET).await?;
    let mut answer = Vec::new();
    while !answer.ends_with(b"here") {
        answer.push(stream.read_u8().await?);
    }
    Ok(())
}

#[tokio::test]
async fn who_says_too_little_is_given_up() {
    for (speaks, said) in [
        (Speaks::Http, ""),
        (Speaks::Http, "GET / HTTP/1.1\r\nhost:"),
        (Speaks::Http, "PRI * HTTP/2.0\r\n"),
        (Speaks::Http2, ""),
        (Speaks::Http2, "PRI * HTTP/2.0\r\n"),
    ] {
        let served = served(speaks, Config { head_timeout: SHORT, ..Config::default() }).await;
        let mut stream = served.connect().await;
        stream.write_all(said.as_bytes()).await.unwrap();
        rest_of(&mut stream).await;
    }
}

#[tokio::test]
async fn a_connection_may_be_idle_between_requests() {
    let served = served(Speaks::Http, Config { head_timeout: SHORT, idle_timeout: LONG, ..Config::default() }).await;
    // A machine that is busy may not even get the first head over in time.
    let mut stream = loop {
        let mut stream = served.connect().await;
        if asks(&mut stream).await.is_ok() {
            break stream;
        }
    };
    // Longer than a head may take, however long it turns out.
    tokio::time::sleep(2 * SHORT).await;
    is_here(&mut stream).await;
}

#[tokio::test]
async fn a_connection_is_not_idle_for_ever() {
    let served = served(Speaks::Http, Config { head_timeout: LONG, idle_timeout: SHORT, ..Config::default() }).await;
    let mut stream = served.connect().await;
    is_here(&mut stream).await;
    assert_eq!(rest_of(&mut stream).await, b"");
}

#[tokio::test]
async fn an_idle_client_of_http2_is_told_to_go_and_then_left() {
    const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];
    for speaks in [Speaks::Http, Speaks::Http2] {
        let config = Config { idle_timeout: SHORT, keep_alive_timeout: SHORT, ..Config::default() };
        let served = served(speaks, config).await;
        let mut stream = served.connect().await;
        stream.write_all(&[b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", SETTINGS].concat()).await.unwrap();
        let said = rest_of(&mut stream).await;
        assert!(frames(&said).contains(&7), "no GOAWAY in {said:?}");
    }
}

/// The types of the frames.
fn frames(mut bytes: &[u8]) -> Vec<u8> {
    let mut types = Vec::new();
    while let [high, middle, low, kind, ..] = bytes {
        types.push(*kind);
        let length = u32::from_be_bytes([0, *high, *middle, *low]) as usize;
        bytes = bytes.get(9 + length..).unwrap_or_default();
    }
    types
}

#[tokio::test]
async fn silent_connections_make_room() {
    let served = served(Speaks::Http, Config { connections_max: 3, ..Config::default() }).await;
    let mut honest = served.connect().await;
    is_here(&mut honest).await;
    let mut silent = Vec::new();
    for _ in 0..20 {
        silent.push(served.connect().await);
    }
    assert!(rest_of(&mut served.ask("/").await).await.ends_with(b"here"));
    for stream in &mut silent[..18] {
        assert_eq!(rest_of(stream).await, b"");
    }
    is_here(&mut honest).await;
}

#[tokio::test]
async fn one_too_many_is_closed_while_all_are_being_answered() {
    let served = served(Speaks::Http, Config { connections_max: 2, ..Config::default() }).await;
    let mut waiting = [served.ask("/wait").await, served.ask("/wait").await];
    let _both = served.waiting.acquire_many(2).await.unwrap();
    assert_eq!(rest_of(&mut served.ask("/").await).await, b"");
    served.let_answer.add_permits(2);
    for stream in &mut waiting {
        assert!(rest_of(stream).await.ends_with(b"done"));
    }
}

#[tokio::test]
async fn an_answer_that_is_being_taken_makes_no_room() {
    let served = served(Speaks::Http, Config { connections_max: 1, ..Config::default() }).await;
    let mut taking = served.ask("/large").await;
    taking.read_u8().await.unwrap();
    assert_eq!(rest_of(&mut served.ask("/").await).await, b"");
    assert!(LARGE_BYTES < rest_of(&mut taking).await.len());
}

#[tokio::test]
async fn an_answer_that_is_not_taken_is_given_up() {
    let served = served(Speaks::Http, Config { take_timeout: SHORT, connections_max: 1, ..Config::default() }).await;
    let mut stalled = served.ask("/large").await;
    stalled.read_u8().await.unwrap();
    // It makes no room before. The system holds some of it for the client; the rest is not sent to one that does not read.
    while !rest_of(&mut served.ask("/").await).await.ends_with(b"here") {}
    assert!(rest_of(&mut stalled).await.len() < LARGE_BYTES);
}
