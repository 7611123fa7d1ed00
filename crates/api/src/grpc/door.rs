//! What every call to the gateway passes: time for the request's body, compression only for those who compress, slices for large
//! answers, and the status clients expect for a request that is too large.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, Request, Response};
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::time::Sleep;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::Service;
use tonic::server::NamedService;

/// How much of an answer is handed to a connection at a time.
const SLICE_BYTES: usize = 16 * 1024;

#[derive(Clone)]
pub(super) struct Door<S> {
    inner: S,
    body_timeout: Duration,
}

impl<S> Door<S> {
    pub(super) fn new(inner: S, body_timeout: Duration) -> Self {
        Self { inner, body_timeout }
    }
}

impl<S: NamedService> NamedService for Door<S> {
    const NAME: &'static str = S::NAME;
}

impl<S> Service<Request<Body>> for Door<S>
where
    S: Service<Request<Timed>, Response = Response<Body>, Error = Infallible, Future: Unpin>,
{
    type Response = Response<Sliced>;
    type Error = Infallible;
    type Future = Passing<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        compress_for_those_who_do(request.headers_mut());
        let request = request.map(|body| Timed { body, timeout: self.body_timeout, end: None });
        Passing { answer: self.inner.call(request) }
    }
}

/// Most clients say that they accept gzip; only those that send it are worth its price.
fn compress_for_those_who_do(headers: &mut HeaderMap) {
    let compresses = headers.get("grpc-encoding").is_some_and(|encoding| encoding != "identity");
    if !compresses {
        headers.remove("grpc-accept-encoding");
    }
}

pub(super) struct Passing<F> {
    answer: F,
}

impl<F> Future for Passing<F>
where
    F: Future<Output = Result<Response<Body>, Infallible>> + Unpin,
{
    type Output = Result<Response<Sliced>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Ok(mut answer) = ready!(Pin::new(&mut self.answer).poll(cx));
        too_large_is_exhausted(answer.headers_mut());
        Poll::Ready(Ok(answer.map(|body| Sliced { body, rest: Bytes::new() })))
    }
}

/// Only a request over the size limit is "out of range" here; clients know that as a resource exhausted.
fn too_large_is_exhausted(headers: &mut HeaderMap) {
    if let Some(status) = headers.get_mut(Status::GRPC_STATUS)
        && status == "11"
    {
        *status = HeaderValue::from_static("8");
    }
}

/// A request's body, which must come in time.
pub(super) struct Timed {
    body: Body,
    timeout: Duration,
    /// Set when the body first lets itself be waited for.
    end: Option<Pin<Box<Sleep>>>,
}

impl http_body::Body for Timed {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) {
            return Poll::Ready(frame);
        }
        let timeout = self.timeout;
        let end = self.end.get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
        ready!(end.as_mut().poll(cx));
        Poll::Ready(Some(Err(Status::deadline_exceeded("the body of the request did not come in time"))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// An answer's body in slices, so that the connection asks for the next message only when the client has let in nearly all of the last.
pub(super) struct Sliced {
    body: Body,
    rest: Bytes,
}

impl http_body::Body for Sliced {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if self.rest.is_empty() {
            let frame = match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                Some(Ok(frame)) => frame,
                end => return Poll::Ready(end),
            };
            match frame.into_data() {
                Ok(data) => self.rest = data,
                Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
            }
        }
        let slice = self.rest.len().min(SLICE_BYTES);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(slice)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.rest.len() as u64;
        let mut hint = self.body.size_hint();
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper + rest);
        }
        hint.set_lower(hint.lower() + rest);
        hint
    }
}
