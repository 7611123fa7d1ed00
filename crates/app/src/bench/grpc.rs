//! The least of gRPC that the bench needs, on one connection of HTTP/2. A general client costs more CPU than the server it is to measure.

use std::sync::Arc;

use api::grpc::wire::gateway_server::SERVICE_NAME;
use axum::http::{HeaderMap, Request};
use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use h2::RecvStream;
use h2::client::{Builder, SendRequest};
use prost::Message;
use tokio::net::TcpStream;
use tonic::{Code, Status};

/// What the server may send before it hears that it was read.
const WINDOW: u32 = 16 << 20;
/// Before each message: whether it is compressed, and its length.
const PREFIX: usize = 5;
const MESSAGE_BYTES_MAX: usize = 64 << 20;

/// Clones share the connection; it ends with the last of them.
#[derive(Clone)]
pub(super) struct Channel {
    requests: SendRequest<Bytes>,
    /// HOST:PORT
    address: Arc<str>,
}

impl Channel {
    pub(super) async fn connect(address: &str) -> Result<Self, String> {
        let failed = |error: &dyn std::fmt::Display| format!("cannot reach {address} over gRPC: {error}");
        let stream = TcpStream::connect(address).await.map_err(|error| failed(&error))?;
        stream.set_nodelay(true).map_err(|error| failed(&error))?;
        let mut builder = Builder::new();
        builder.initial_window_size(WINDOW).initial_connection_window_size(WINDOW);
        let (requests, connection) = builder.handshake(stream).await.map_err(|error| failed(&error))?;
        // What ends it ends the requests on it, too: they say so.
        tokio::spawn(async { connection.await.unwrap_or_default() });
        Ok(Self { requests, address: address.into() })
    }

    /// A call that has one answer.
    pub(super) async fn call<A: Message + Default>(&mut self, method: &str, request: &impl Message) -> Result<A, Status> {
        let mut answers = self.open(method, request).await?;
        let answer = answers.next().await?.ok_or_else(|| Status::internal("the server answered without a message"))?;
        match answers.next::<A>().await? {
            None => Ok(answer),
            Some(_) => Err(Status::internal("the server answered twice")),
        }
    }

    /// A call that has as many answers as come.
    pub(super) async fn open(&mut self, method: &str, request: &impl Message) -> Result<Answers, Status> {
        let head = Request::post(format!("http://{}/{SERVICE_NAME}/{method}", self.address))
            .header("content-type", "application/grpc")
            .header("te", "trailers");
        let head = head.body(()).map_err(|error| Status::internal(error.to_string()))?;
        let mut requests = self.requests.clone().ready().await.map_err(lost)?;
        let (response, mut body) = requests.send_request(head, false).map_err(lost)?;
        body.send_data(framed(request), true).map_err(lost)?;
        let (head, body) = response.await.map_err(lost)?.into_parts();
        refused(&head.headers)?;
        if !head.status.is_success() {
            return Err(Status::unknown(format!("the server answers with status {}: is it gRPC?", head.status)));
        }
        Ok(Answers { body, received: BytesMut::new() })
    }
}

/// Those of one call, in order.
pub(super) struct Answers {
    body: RecvStream,
    received: BytesMut,
}

impl Answers {
    /// `None` once the server has ended the call well.
    pub(super) async fn next<A: Message + Default>(&mut self) -> Result<Option<A>, Status> {
        loop {
            if let Some(message) = taken(&mut self.received)? {
                return A::decode(message).map(Some).map_err(|error| Status::internal(error.to_string()));
            }
            match self.body.data().await {
                Some(bytes) => {
                    let bytes = bytes.map_err(lost)?;
                    self.body.flow_control().release_capacity(bytes.len()).map_err(lost)?;
                    self.received.extend_from_slice(&bytes);
                }
                None => {
                    let trailers = self.body.trailers().await.map_err(lost)?;
                    refused(&trailers.unwrap_or_default())?;
                    return Ok(None);
                }
            }
        }
    }
}

fn framed(message: &impl Message) -> Bytes {
    let length = message.encoded_len();
    let mut frame = BytesMut::with_capacity(PREFIX + length);
    frame.put_u8(0);
    frame.put_u32(length as u32);
    message.encode(&mut frame).expect("there is room for it");
    frame.freeze()
}

/// The first message, once all of it is there.
fn taken(received: &mut BytesMut) -> Result<Option<Bytes>, Status> {
    let Some((prefix, rest)) = received.split_first_chunk::<PREFIX>() else { return Ok(None) };
    let [compressed, length @ ..] = *prefix;
    let length = u32::from_be_bytes(length) as usize;
    if compressed != 0 || MESSAGE_BYTES_MAX < length {
        return Err(Status::internal(format!("a message of {length} bytes is not read, nor one that is compressed")));
    }
    if rest.len() < length {
        return Ok(None);
    }
    received.advance(PREFIX);
    Ok(Some(received.split_to(length).freeze()))
}

fn refused(headers: &HeaderMap) -> Result<(), Status> {
    match Status::from_header_map(headers) {
        Some(status) if status.code() != Code::Ok => Err(status),
        _ => Ok(()),
    }
}

fn lost(error: h2::Error) -> Status {
    Status::unavailable(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_taken_once_all_of_it_is_there() {
        let frame = framed(&"hello".to_owned());
        let mut received = BytesMut::new();
        for (place, byte) in frame.iter().enumerate() {
            assert_eq!(taken(&mut received).unwrap(), None, "{place} bytes");
            received.put_u8(*byte);
        }
        received.put_u8(0);
        let message = taken(&mut received).unwrap().expect("it is there");
        assert_eq!(String::decode(message).unwrap(), "hello");
        assert_eq!(&received[..], [0]);
        assert!(taken(&mut BytesMut::from(&[1, 0, 0, 0, 0][..])).is_err());
        assert!(taken(&mut BytesMut::from(&[0, 255, 255, 255, 255][..])).is_err());
    }

    #[test]
    fn a_refusal_is_known_by_its_headers() {
        let mut headers = HeaderMap::new();
        assert!(refused(&headers).is_ok());
        headers.insert("grpc-status", "0".parse().unwrap());
        assert!(refused(&headers).is_ok());
        headers.insert("grpc-status", "5".parse().unwrap());
        headers.insert("grpc-message", "no%20such%20job".parse().unwrap());
        let status = refused(&headers).expect_err("it is one");
        assert_eq!((status.code(), status.message()), (Code::NotFound, "no such job"));
    }
}
