//! The least of HTTP/1.1 that the bench needs: one request at a time on a connection that is kept open. A general client costs more CPU
//! than the server it is to measure.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const HEAD_BYTES_MAX: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct Connection {
    /// HOST:PORT
    address: String,
    stream: Option<TcpStream>,
    sent: Vec<u8>,
    received: Vec<u8>,
}

#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
}

impl Answer {
    pub(super) fn expect_success(self) -> Result<Vec<u8>, String> {
        if (200..300).contains(&self.status) {
            return Ok(self.body);
        }
        Err(format!("{}: {}", self.status, String::from_utf8_lossy(&self.body)))
    }
}

impl Connection {
    /// Opened with the first request.
    pub(super) fn to(address: &str) -> Self {
        Self { address: address.to_owned(), stream: None, sent: Vec::new(), received: Vec::new() }
    }

    pub(super) fn another(&self) -> Self {
        Self::to(&self.address)
    }

    pub(super) async fn get(&mut self, path: &str, patience: Duration) -> Result<Answer, String> {
        self.send("GET", path, "text/plain", &[], patience).await
    }

    pub(super) async fn post(&mut self, path: &str, json: &[u8], patience: Duration) -> Result<Answer, String> {
        self.send("POST", path, "application/json", json, patience).await
    }

    pub(super) async fn deploy(&mut self, name: &str, bpmn: &str, patience: Duration) -> Result<(), String> {
        const BOUNDARY: &str = "caudal-bench-boundary";
        let body = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"resources\"; filename=\"{name}\"\r\nContent-Type: application/octet-stream\r\n\r\n{bpmn}\r\n--{BOUNDARY}--\r\n"
        );
        let kind = format!("multipart/form-data; boundary={BOUNDARY}");
        self.send("POST", "/v2/deployments", &kind, body.as_bytes(), patience).await?.expect_success().map(drop)
    }

    /// After a failure the next request opens a new connection.
    pub(super) async fn send(
        &mut self,
        method: &str,
        path: &str,
        kind: &str,
        body: &[u8],
        patience: Duration,
    ) -> Result<Answer, String> {
        let host = &self.address;
        let length = body.len();
        let head =
            format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n");
        self.sent.clear();
        self.sent.extend_from_slice(head.as_bytes());
        self.sent.extend_from_slice(body);
        let answered = tokio::time::timeout(patience, self.exchange()).await;
        let answered = answered.unwrap_or_else(|_| Err(format!("no answer within {} s", patience.as_secs())));
        if answered.is_err() {
            self.stream = None;
        }
        answered.map_err(|reason| format!("{method} {path}: {reason}"))
    }

    async fn exchange(&mut self) -> Result<Answer, String> {
        let stream = match &mut self.stream {
            Some(stream) => stream,
            None => {
                let stream =
                    TcpStream::connect(&self.address).await.map_err(|error| format!("cannot reach {}: {error}", self.address))?;
                stream.set_nodelay(true).map_err(|error| error.to_string())?;
                self.stream.insert(stream)
            }
        };
        stream.write_all(&self.sent).await.map_err(|error| error.to_string())?;
        let received = &mut self.received;
        received.clear();
        let head = loop {
            if let Some(end) = received.windows(4).position(|four| four == b"\r\n\r\n") {
                break Head::parse(&received[..end], end + 4)?;
            }
            if HEAD_BYTES_MAX < received.len() {
                return Err("the head of the answer does not end".to_owned());
            }
            read_more(stream, received).await?;
        };
        while received.len() < head.length + head.body {
            read_more(stream, received).await?;
        }
        let body = received[head.length..head.length + head.body].to_vec();
        if head.closes {
            self.stream = None;
        }
        Ok(Answer { status: head.status, body })
    }
}

async fn read_more(stream: &mut TcpStream, received: &mut Vec<u8>) -> Result<(), String> {
    received.reserve(4096);
    match stream.read_buf(received).await {
        Ok(0) => Err("the server closed the connection".to_owned()),
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Head {
    /// Bytes of the head and of the body.
    length: usize,
    body: usize,
    status: u16,
    closes: bool,
}

impl Head {
    fn parse(head: &[u8], length: usize) -> Result<Self, String> {
        let text = String::from_utf8_lossy(head);
        let mut lines = text.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|status| status.parse().ok());
        let mut head = Self { length, body: 0, status: status.ok_or("this is not HTTP")?, closes: false };
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            let value = value.trim();
            if name.eq_ignore_ascii_case("content-length") {
                head.body = value.parse().map_err(|_| format!("'{value}' is no content-length"))?;
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                return Err("the answer comes in chunks, which the bench does not read: is there a proxy in between?".to_owned());
            } else if name.eq_ignore_ascii_case("connection") {
                head.closes = value.eq_ignore_ascii_case("close");
            }
        }
        Ok(head)
    }
}

#[cfg(test)]
mod tests {
    use super::Head;

    #[test]
    fn heads() {
        let head = Head::parse(b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\nconnection: close", 60);
        assert_eq!(head, Ok(Head { length: 60, body: 12, status: 200, closes: true }));
        let head = Head::parse(b"HTTP/1.1 204 No Content", 27);
        assert_eq!(head, Ok(Head { length: 27, body: 0, status: 204, closes: false }));
        assert!(Head::parse(b"SSH-2.0", 7).is_err());
    }
}
