//! Requests and their answers, as one connection sees them.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::task::AbortHandle;
use tower_service::Service;

use super::activity::{Active, Activity};

/// How much of an answer is handed to a connection at a time.
const SLICE_BYTES: usize = 16 * 1024;

/// The router, as one connection sees it: requests are counted until their answers have been taken.
#[derive(Clone)]
pub(super) struct Counted {
    pub(super) router: Router,
    pub(super) activity: Activity,
    pub(super) take_timeout: Duration,
}

impl<B> Service<Request<B>> for Counted
where
    Router: Service<Request<B>, Response = Response, Error = Infallible>,
{
    type Response = axum::http::Response<Answer>;
    type Error = Infallible;
    type Future = Answering<<Router as Service<Request<B>>>::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.router.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (active, answer) = (self.activity.begin(), Box::pin(self.router.call(request)));
        Answering { answer, active: Some(active), take_timeout: self.take_timeout }
    }
}

pub(super) struct Answering<F> {
    answer: Pin<Box<F>>,
    /// Goes on to the answer.
    active: Option<Active>,
    take_timeout: Duration,
}

impl<F: Future<Output = Result<Response, Infallible>>> Future for Answering<F> {
    type Output = Result<axum::http::Response<Answer>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Ok(answer) = ready!(self.answer.as_mut().poll(cx));
        let (active, take_timeout) = (self.active.take(), self.take_timeout);
        Poll::Ready(Ok(answer.map(|body| Answer { body, rest: Bytes::new(), active, take_timeout, untaken: None })))
    }
}

/// An answer's body in slices, so that the connection comes back for the next piece only when the client has let in nearly all of the last,
/// and the answer counts as being written until then.
pub(super) struct Answer {
    body: Body,
    rest: Bytes,
    active: Option<Active>,
    take_timeout: Duration,
    /// While there is more than the connection was handed.
    untaken: Option<Untaken>,
}

impl http_body::Body for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.rest.is_empty() {
            let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) else {
                // The client has taken all there is, as yet.
                self.untaken = None;
                return Poll::Pending;
            };
            let Some(Ok(frame)) = frame else { return Poll::Ready(frame) };
            match frame.into_data() {
                Ok(data) => self.rest = data,
                Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
            }
        }
        if SLICE_BYTES < self.rest.len() && self.untaken.is_none() {
            self.untaken = self.active.as_ref().map(|active| Untaken::new(active.activity(), self.take_timeout));
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

/// Ends the connection unless it is dropped in time. A body is not asked while its client takes nothing: somebody else must look.
struct Untaken(AbortHandle);

impl Untaken {
    fn new(activity: &Activity, patience: Duration) -> Self {
        let activity = activity.clone();
        let watching = tokio::spawn(async move {
            tokio::time::sleep(patience).await;
            tracing::debug!("a connection was closed: its client did not take the answer");
            activity.close();
        });
        Self(watching.abort_handle())
    }
}

impl Drop for Untaken {
    fn drop(&mut self) {
        self.0.abort();
    }
}
