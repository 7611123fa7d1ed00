//! What every call to the gateway passes: time and room for the request's body, compression only for those who compress, and the status
//! clients expect for a request that is too large.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, Request, Response};
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::time::Sleep;
use tonic::body::Body;
use tonic::codegen::Service;
use tonic::server::NamedService;
use tonic::{Code, Status};
use tracing::Span;

use crate::bound::Bound;
use crate::budget::{Budget, Held};
use crate::traced;

/// How much larger a message can be than it was sent: gzip does not pack tighter.
const INFLATION_MAX: usize = 1_032;

/// What stands before a message: whether it is compressed, and its length.
const HEADER_BYTES: usize = 5;

/// Calls that bring files.
const DEPLOYING: [&str; 2] = ["/gateway_protocol.Gateway/DeployResource", "/gateway_protocol.Gateway/DeployProcess"];

#[derive(Clone)]
pub(super) struct Door<S> {
    pub(super) inner: S,
    /// The same service for calls that bring files, which may be longer.
    pub(super) deploying: Option<S>,
    pub(super) bodies: Budget,
    pub(super) manners: Manners,
}

/// What is asked of every request.
#[derive(Clone, Copy)]
pub(super) struct Manners {
    pub(super) request: Bound,
    pub(super) deployment: Bound,
    /// How long the body may take to come.
    pub(super) body_timeout: Duration,
    /// How long the bytes of a call count that has not been answered. What takes longer waits for something else than its command.
    pub(super) held_max: Duration,
    pub(super) too_large: TooLarge,
}

/// What a request over the size limit is answered with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TooLarge {
    /// As clients of Camunda 8 know it.
    Exhausted,
    /// Not what a busy server says, so that nobody sends it again.
    OutOfRange,
}

impl<S: NamedService> NamedService for Door<S> {
    const NAME: &'static str = S::NAME;
}

impl<S> Service<Request<Body>> for Door<S>
where
    S: Service<Request<Arriving>, Response = Response<Body>, Error = Infallible, Future: Unpin>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Passing<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        if let Some(deploying) = &mut self.deploying {
            ready!(deploying.poll_ready(cx))?;
        }
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let inflation = if compresses(request.headers()) { INFLATION_MAX } else { 1 };
        if inflation == 1 {
            // Most clients say that they accept gzip; only those that send it are worth its price.
            request.headers_mut().remove("grpc-accept-encoding");
        }
        let span = traced::request(request.method(), request.uri().path(), request.headers());
        let held = Arc::new(Mutex::new(self.bodies.nothing()));
        let arriving = held.clone();
        let manners = self.manners;
        let (service, bound) = match &mut self.deploying {
            Some(deploying) if DEPLOYING.contains(&request.uri().path()) => (deploying, manners.deployment),
            Some(_) | None => (&mut self.inner, manners.request),
        };
        let timeout = manners.body_timeout;
        let request = request.map(|body| Arriving { body, bound, timeout, inflation, held: arriving, end: None });
        Passing { answer: service.call(request), held, manners, bound, let_go: None, span }
    }
}

fn compresses(headers: &HeaderMap) -> bool {
    headers.get("grpc-encoding").is_some_and(|encoding| encoding != "identity")
}

pub(super) struct Passing<F> {
    answer: F,
    held: Arc<Mutex<Held>>,
    manners: Manners,
    bound: Bound,
    /// When the bytes of the request no longer count.
    let_go: Option<Pin<Box<Sleep>>>,
    span: Span,
}

impl<F> Passing<F> {
    fn hold_on(&mut self, cx: &mut Context<'_>) {
        let is_arriving = 1 < Arc::strong_count(&self.held);
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if is_arriving || held.is_small() {
            return;
        }
        let let_go = self.let_go.get_or_insert_with(|| Box::pin(tokio::time::sleep(self.manners.held_max)));
        if let_go.as_mut().poll(cx).is_ready() {
            held.let_go();
        }
    }
}

impl<F> Future for Passing<F>
where
    F: Future<Output = Result<Response<Body>, Infallible>> + Unpin,
{
    type Output = Result<Response<Body>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let span = self.span.clone();
        let _entered = span.enter();
        let Poll::Ready(Ok(mut answer)) = Pin::new(&mut self.answer).poll(cx) else {
            self.hold_on(cx);
            return Poll::Pending;
        };
        name_the_bound(answer.headers_mut(), self.bound, self.manners.too_large);
        Poll::Ready(Ok(answer))
    }
}

/// Says which limit it was that a request went beyond.
fn name_the_bound(headers: &mut HeaderMap, bound: Bound, too_large: TooLarge) {
    if !is_too_large(headers) {
        return;
    }
    let code = match too_large {
        TooLarge::Exhausted => Code::ResourceExhausted,
        TooLarge::OutOfRange => Code::OutOfRange,
    };
    let named = Status::new(code, bound.exceeded().detail).add_header(headers);
    debug_assert!(named.is_ok(), "the text has nothing that a header cannot hold");
}

/// Only a request over the size limit is "out of range" here; one that turns out to be when it is unpacked is told from others by its text.
fn is_too_large(headers: &HeaderMap) -> bool {
    let said = |name: &str| headers.get(name).map_or(&b""[..], HeaderValue::as_bytes);
    match said("grpc-status") {
        b"11" => true,
        b"8" => said("grpc-message").starts_with(b"Error%20decompressing:%20size%20limit"),
        _ => false,
    }
}

/// A request's body, which must come in time, and for which there must be room.
pub(super) struct Arriving {
    body: Body,
    bound: Bound,
    /// How long it may take to come.
    timeout: Duration,
    /// By how much it may grow when it is read.
    inflation: usize,
    /// Until the call is answered.
    held: Arc<Mutex<Held>>,
    /// Set when the body first lets itself be waited for.
    end: Option<Pin<Box<Sleep>>>,
}

impl Arriving {
    fn hold(&self, frame: &Frame<Bytes>) -> Result<(), Status> {
        let bytes = frame.data_ref().map_or(0, Bytes::len).saturating_mul(self.inflation);
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        // A message that turns out larger than this is refused as such.
        let bytes = bytes.min((self.bound.bytes_max + HEADER_BYTES).saturating_sub(held.bytes()));
        Ok(held.grow(bytes)?)
    }
}

impl http_body::Body for Arriving {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) {
            return Poll::Ready(match frame {
                Some(Ok(frame)) => Some(self.hold(&frame).map(|()| frame)),
                end => end,
            });
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
