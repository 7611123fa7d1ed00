//! The server loop of every edge (REST, gRPC, metrics): connections bounded in number and in patience, until the server drains.
//!
//! Reading order: `serve` here, `places` (how many connections there may be, and which one makes room), `activity` (what a connection is
//! busy with), `tls` and `stream` (whether it is encrypted), `connection` (how long a client may take to ask), `answer` (and how long to be answered).
//!
//! Invariants:
//! - no edge has more connections than it may, so that the file handles of one cannot be used up by another;
//! - a client that connects gets in unless all others are being answered: who has been silent longest makes room;
//! - a connection that is silent, slow to say what it wants, or slow to take what it gets, ends by itself.

mod activity;
mod answer;
mod config;
mod connection;
mod places;
mod stream;
#[cfg(test)]
mod tests;
mod tls;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use futures_util::future;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

pub use config::Config;
pub use tls::{Files, Tls};

use crate::drain::drained;
use activity::Activity;
use answer::Counted;
use connection::{Connection, Writes};
use places::Places;
use stream::Stream;

/// How long to wait when the system cannot accept (it has no more file handles, say).
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// What a connection of HTTP/1 reads ahead and leaves unwritten; also the longest head of a request.
const BUFFER_BYTES_MAX: usize = 64 * 1024;

/// What is served, and where.
pub struct Edge {
    /// For the operator's eyes.
    pub name: &'static str,
    pub listeners: Vec<TcpListener>,
    pub router: Router,
    pub speaks: Speaks,
    /// Clients speak plainly without.
    pub tls: Option<Tls>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaks {
    /// HTTP/1 and HTTP/2.
    Http,
    /// HTTP/2 alone.
    Http2,
}

/// Serves until `draining` turns true and then until requests have ended, or [`Config::drain_max`] has passed.
pub async fn serve(edge: Edge, config: &Config, draining: watch::Receiver<bool>) {
    let Edge { name, listeners, router, speaks, tls } = edge;
    let server = Server {
        http: Arc::new(http(speaks, config)),
        router,
        places: Places::new(config.connections_max),
        config: config.clone(),
        writes: match speaks {
            Speaks::Http => Writes::AtOnce,
            Speaks::Http2 => Writes::Gathered,
        },
        tls,
        draining: draining.clone(),
    };
    tokio::select! {
        _ = future::join_all(listeners.iter().map(|listener| server.accept_all(listener))) => {}
        () = drained(draining) => {}
    }
    // Whoever connects from now on is refused by the system.
    drop(listeners);
    if tokio::time::timeout(config.drain_max, server.places.all_free()).await.is_err() {
        tracing::warn!(edge = name, "requests were cut off: they did not end in time");
    }
}

type Http = auto::Builder<TokioExecutor>;

fn http(speaks: Speaks, config: &Config) -> Http {
    let mut http = auto::Builder::new(TokioExecutor::new());
    if speaks == Speaks::Http2 {
        http = http.http2_only();
    }
    // Patience with heads is the connection's own, which can tell a slow request from none.
    http.http1().header_read_timeout(None).max_buf_size(BUFFER_BYTES_MAX);
    // Pings of clients are answered however often they come; ours find out who has gone silently.
    http.http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(config.streams_per_connection_max)
        .keep_alive_interval(config.keep_alive_every)
        .keep_alive_timeout(config.keep_alive_timeout);
    http
}

struct Server {
    http: Arc<Http>,
    router: Router,
    places: Places,
    config: Config,
    writes: Writes,
    tls: Option<Tls>,
    draining: watch::Receiver<bool>,
}

impl Server {
    async fn accept_all(&self, listener: &TcpListener) {
        loop {
            let stream = accept(listener).await;
            let activity = Activity::new();
            let Some(place) = self.places.take(&activity).await else {
                tracing::debug!("a connection was closed: there are too many");
                continue;
            };
            let (head_timeout, writes) = (self.config.head_timeout, self.writes);
            let service =
                Counted { router: self.router.clone(), activity: activity.clone(), take_timeout: self.config.take_timeout };
            let (http, patience, counted) = (self.http.clone(), self.patience(), activity.clone());
            let tls = self.tls.as_ref().map(|tls| TlsAcceptor::from(tls.config()));
            let attended = async move {
                let Some(stream) = greet(stream, tls, head_timeout).await else { return };
                attend(Connection::new(stream, counted, head_timeout, writes, place), service, http, patience).await;
            };
            activity.served_by(tokio::spawn(attended).abort_handle());
        }
    }

    fn patience(&self) -> Patience {
        Patience { idle: self.config.idle_timeout, farewell: self.config.keep_alive_timeout, draining: self.draining.clone() }
    }
}

/// How long a connection is kept.
struct Patience {
    /// Without a request.
    idle: Duration,
    /// For a client to go once it was told to.
    farewell: Duration,
    draining: watch::Receiver<bool>,
}

/// Agrees on keys with a client that is to speak TLS. None if it does not, or takes too long.
async fn greet(stream: TcpStream, tls: Option<TlsAcceptor>, patience: Duration) -> Option<Stream> {
    let Some(tls) = tls else { return Some(Stream::Plain(stream)) };
    match tokio::time::timeout(patience, tls.accept(stream)).await {
        Ok(Ok(stream)) => Some(Stream::Tls(Box::new(stream))),
        Ok(Err(error)) => {
            tracing::debug!(%error, "a client did not agree on TLS");
            None
        }
        Err(_) => None,
    }
}

/// Serves one connection until it ends, or until it has been idle for too long, or the server drains. Then it is told to end, which leaves
/// it the time for what it has begun.
async fn attend(connection: Connection, service: Counted, http: Arc<Http>, patience: Patience) {
    let activity = service.activity.clone();
    let mut served = pin!(http.serve_connection(TokioIo::new(connection), TowerToHyperService::new(service)));
    let must_end = async {
        tokio::select! {
            () = drained(patience.draining) => {}
            () = activity.quiet_for(patience.idle) => {}
        }
    };
    let ended = tokio::select! {
        ended = served.as_mut() => ended,
        () = must_end => {
            served.as_mut().graceful_shutdown();
            tokio::select! {
                ended = served.as_mut() => ended,
                // It answers nothing and goes nowhere.
                () = activity.still_quiet_after(patience.farewell) => return,
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(error, "a connection ended early");
    }
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
