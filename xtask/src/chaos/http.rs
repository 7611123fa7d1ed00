//! The least of HTTP/1.1 that the clients here need: one request at a time on a connection that is kept open.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

const CONNECT_MAX: Duration = Duration::from_secs(2);
/// No call may take longer: the server answers within 15 seconds, whatever happens to its store.
pub(super) const ANSWER_MAX: Duration = Duration::from_secs(20);

/// What came of a request.
#[derive(Debug)]
pub(super) enum Reply {
    Answer {
        status: u16,
        body: Vec<u8>,
    },
    /// Nobody listened: the server knows nothing of it.
    Unsent,
    /// The connection broke.
    Lost(String),
    /// The connection stood, and nothing came in time.
    Hung,
}

#[derive(Debug, Default)]
pub(super) struct Connection {
    stream: Option<(SocketAddr, TcpStream)>,
}

/// A request, with what its head says beside the usual.
#[derive(Debug)]
pub(super) struct Request<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) kind: &'a str,
    pub(super) idempotency_key: Option<&'a str>,
    pub(super) body: &'a [u8],
}

impl<'a> Request<'a> {
    pub(super) fn get(path: &'a str) -> Request<'a> {
        Request { method: "GET", path, kind: "text/plain", idempotency_key: None, body: &[] }
    }

    pub(super) fn post(path: &'a str, json: &'a str) -> Request<'a> {
        Request { method: "POST", path, kind: "application/json", idempotency_key: None, body: json.as_bytes() }
    }
}

impl Connection {
    pub(super) fn send(&mut self, to: SocketAddr, request: &Request<'_>) -> Reply {
        let stream = match self.stream.take().filter(|(address, _)| *address == to) {
            Some((_, stream)) => stream,
            None => match TcpStream::connect_timeout(&to, CONNECT_MAX) {
                Ok(stream) => stream,
                Err(_) => return Reply::Unsent,
            },
        };
        match exchange(&stream, to, request) {
            Ok((reply, keep)) => {
                self.stream = keep.then_some((to, stream));
                reply
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => Reply::Hung,
            Err(error) => Reply::Lost(error.to_string()),
        }
    }

    /// A request that has to succeed, and its answer as JSON.
    pub(super) fn must(&mut self, to: SocketAddr, request: &Request<'_>) -> Result<Value, String> {
        let told = |why: &str| Err(format!("{} {}: {why}", request.method, request.path));
        match self.send(to, request) {
            Reply::Answer { status: 200..300, body } => {
                serde_json::from_slice(&body).or_else(|error| told(&format!("not JSON: {error}")))
            }
            Reply::Answer { status, body } => told(&format!("{status}: {}", String::from_utf8_lossy(&body))),
            Reply::Unsent => told(&format!("nobody listens on {to}")),
            Reply::Lost(why) => told(&why),
            Reply::Hung => told("no answer"),
        }
    }
}

/// The answer, and whether the connection can be used again.
fn exchange(mut stream: &TcpStream, to: SocketAddr, request: &Request<'_>) -> std::io::Result<(Reply, bool)> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(ANSWER_MAX))?;
    stream.set_write_timeout(Some(ANSWER_MAX))?;
    let Request { method, path, kind, idempotency_key, body } = request;
    let mut sent =
        format!("{method} {path} HTTP/1.1\r\nhost: {to}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n", body.len());
    if let Some(key) = idempotency_key {
        sent.push_str(&format!("idempotency-key: {key}\r\n"));
    }
    sent.push_str("\r\n");
    let mut sent = sent.into_bytes();
    sent.extend_from_slice(body);
    stream.write_all(&sent)?;

    let mut received = Vec::new();
    let body_at = loop {
        if let Some(end) = received.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
        read_more(stream, &mut received)?;
    };
    let head = String::from_utf8_lossy(&received[..body_at]).to_ascii_lowercase();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| std::io::Error::other("this is not HTTP"))?;
    let header = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let length: usize = header("content-length:").and_then(|length| length.parse().ok()).unwrap_or(0);
    while received.len() < body_at + length {
        read_more(stream, &mut received)?;
    }
    let body = received[body_at..body_at + length].to_vec();
    Ok((Reply::Answer { status, body }, header("connection:") != Some("close")))
}

fn read_more(mut stream: &TcpStream, received: &mut Vec<u8>) -> std::io::Result<()> {
    let mut bytes = [0; 16 * 1024];
    match stream.read(&mut bytes)? {
        0 => Err(ErrorKind::UnexpectedEof.into()),
        count => {
            received.extend_from_slice(&bytes[..count]);
            Ok(())
        }
    }
}
