//! The same services on several addresses, over HTTP/2 without TLS, until the server drains.
//!
//! Not tonic's own loop: that one also ends calls at the deadline their client names, and tells them so as "cancelled" when it is a moment
//! faster than the client, which knows its deadline itself and hangs up.

use std::sync::Arc;

use axum::Router;
use futures_util::future;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tonic::service::Routes;

use super::Config;
use super::connection::accept;
use super::drain::drained;

/// Serves until `draining` turns true and then until calls have ended, or [`Config::drain_max`] has passed.
pub async fn serve(listeners: Vec<TcpListener>, routes: Routes, config: &Config, draining: watch::Receiver<bool>) {
    let server = Server {
        http: http(config),
        router: routes.prepare().into_axum_router(),
        places: Arc::new(Semaphore::new(config.connections_max.min(Semaphore::MAX_PERMITS))),
        graceful: GracefulShutdown::new(),
    };
    tokio::select! {
        _ = future::join_all(listeners.into_iter().map(|listener| server.accept_all(listener, config))) => {}
        () = drained(draining) => {}
    }
    tokio::select! {
        () = server.graceful.shutdown() => {}
        () = tokio::time::sleep(config.drain_max) => tracing::warn!("gRPC calls were cut off: they did not end in time"),
    }
}

struct Server {
    http: auto::Builder<TokioExecutor>,
    router: Router,
    places: Arc<Semaphore>,
    graceful: GracefulShutdown,
}

impl Server {
    async fn accept_all(&self, listener: TcpListener, config: &Config) {
        loop {
            let connection = accept(&listener, &self.places, config.preface_timeout).await;
            let service = TowerToHyperService::new(self.router.clone());
            let served = self.http.serve_connection(TokioIo::new(connection), service).into_owned();
            let served = self.graceful.watch(served);
            tokio::spawn(async move {
                if let Err(error) = served.await {
                    tracing::debug!(error, "a gRPC connection ended early");
                }
            });
        }
    }
}

/// Pings of clients are answered however often they come; ours find out who has gone silently.
fn http(config: &Config) -> auto::Builder<TokioExecutor> {
    let mut http = auto::Builder::new(TokioExecutor::new()).http2_only();
    http.http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(config.streams_per_connection_max)
        .keep_alive_interval(config.keep_alive_every)
        .keep_alive_timeout(config.keep_alive_timeout);
    http
}
