//! The server loop: HTTP/1 and HTTP/2 on several addresses, bounded in connections and in patience, until the server drains.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tower_service::Service;

use super::Config;
use super::connection::{Active, Activity, Connection};

/// How long to wait when the system cannot accept (it has no more file handles, say).
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// How often a silent connection of HTTP/2 is asked whether it is still there.
const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(30);

/// Serves until `draining` turns true and then until requests have ended, or [`Config::drain_max`] has passed.
pub async fn serve(listeners: Vec<TcpListener>, router: Router, config: &Config, draining: watch::Receiver<bool>) {
    let places = Arc::new(Semaphore::new(config.connections_max.min(Semaphore::MAX_PERMITS)));
    let graceful = GracefulShutdown::new();
    let http = Arc::new(http(config));
    let accepting = listeners.into_iter().map(|listener| {
        let (places, http, router, graceful) = (places.clone(), http.clone(), router.clone(), &graceful);
        async move {
            loop {
                let stream = accept(&listener).await;
                let Ok(place) = places.clone().try_acquire_owned() else {
                    tracing::debug!("a connection was closed: there are too many");
                    continue;
                };
                let activity = Activity::default();
                let patience = (config.head_timeout, config.idle_timeout);
                let connection = Connection::new(stream, activity.clone(), patience, place);
                let service = TowerToHyperService::new(Served { router: router.clone(), activity });
                let served = http.serve_connection(TokioIo::new(connection), service).into_owned();
                let served = graceful.watch(served);
                tokio::spawn(async move {
                    if let Err(error) = served.await {
                        tracing::debug!(error, "a connection ended early");
                    }
                });
            }
        }
    });
    tokio::select! {
        _ = futures_util::future::join_all(accepting) => {}
        () = drained(draining) => {}
    }
    if tokio::time::timeout(config.drain_max, graceful.shutdown()).await.is_err() {
        tracing::warn!("REST requests were cut off: they did not end in time");
    }
}

fn http(config: &Config) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    // Patience with heads is the connection's own, which can tell a slow request from none.
    builder.http1().header_read_timeout(None);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(config.streams_per_connection_max)
        .keep_alive_interval(KEEP_ALIVE_EVERY)
        .keep_alive_timeout(config.head_timeout);
    builder
}

async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // Without it small answers may wait for more; a socket that refuses still works.
                let _ = stream.set_nodelay(true);
                return stream;
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Returns when the server drains; never, if whoever would say so is gone.
async fn drained(mut draining: watch::Receiver<bool>) {
    if draining.wait_for(|draining| *draining).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// The router, as one connection sees it: requests being answered are counted.
#[derive(Clone)]
struct Served {
    router: Router,
    activity: Activity,
}

impl<B> Service<Request<B>> for Served
where
    Router: Service<Request<B>, Response = Response, Error = Infallible>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Answering<<Router as Service<Request<B>>>::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.router.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        Answering { _active: self.activity.begin(), answer: Box::pin(self.router.call(request)) }
    }
}

struct Answering<F> {
    answer: Pin<Box<F>>,
    _active: Active,
}

impl<F: Future> Future for Answering<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.answer.as_mut().poll(cx)
    }
}
