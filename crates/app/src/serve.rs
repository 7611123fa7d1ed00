//! Starting and stopping the server: store, host, edges, health, in that order; and back.

use std::io::IsTerminal as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use host::{Definitions, Host, Metrics, Parts, Role};
use prometheus_client::registry::Registry;
use store::Store;
use store::memory::Memory;
use store_postgres::Postgres;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::config::{Config, StoreUrl};
use crate::{health, table};

/// The version of Camunda 8 whose interface the edges speak: clients decide by it what they may ask.
const SPOKEN_VERSION: &str = "8.9.17";

/// How long a second signal is waited for before giving up on draining.
const DRAIN_MAX: Duration = Duration::from_secs(15);

pub(crate) fn run(config: Config) -> Result<(), String> {
    log_to_stderr(&config)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start: {error}"))?;
    let served = runtime.block_on(serve(config));
    runtime.shutdown_timeout(Duration::from_secs(1));
    served
}

async fn serve(config: Config) -> Result<(), String> {
    let begun = Instant::now();
    let listeners = Listeners::bind(&config).await?;
    let store = open(&config.store).await?;
    let limits = Arc::new(config.limits.clone());
    let metrics = Arc::new(Metrics::default());
    let mut registry = Registry::default();
    metrics.register(&mut registry);
    let definitions = Arc::new(Definitions::new(store.clone(), &limits, metrics.clone()));
    let role = if config.roles.engine { Role::Engine } else { Role::Follower };
    let parts = Parts { store, limits, metrics, definitions };
    let (host, mut driver) = host::prepare(parts, config.node.as_str().into(), role);
    driver.warm_up = config.warm_up;

    let (drain, draining) = watch::channel(false);
    let (stop, stopping) = watch::channel(false);
    let driving = tokio::spawn(driver.run(stopping));
    wait_for_owner(&host, &config).await;
    let edges = tokio::spawn(edges(listeners, host.clone(), config.clone(), registry, draining));
    banner(&config, begun.elapsed());

    signalled().await;
    tracing::info!("stopping: finishing what was accepted; a second signal stops at once");
    let orderly = async {
        let _edges_gone_is_fine = drain.send(true);
        let _ = edges.await;
        let _driver_gone_is_fine = stop.send(true);
        let _ = driving.await;
    };
    tokio::select! {
        () = orderly => tracing::info!("stopped"),
        () = signalled() => tracing::warn!("stopped at once"),
        () = tokio::time::sleep(DRAIN_MAX) => tracing::warn!("stopped before everything was finished"),
    }
    Ok(())
}

/// A server that processes commands is worth announcing once it does; one that has to wait for another's lease serves meanwhile.
async fn wait_for_owner(host: &Host, config: &Config) {
    let patience = Instant::now() + Duration::from_millis(500);
    while config.roles.engine && !host.owns() && Instant::now() < patience {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

pub(crate) async fn open(url: &StoreUrl) -> Result<Arc<dyn Store>, String> {
    let store: Arc<dyn Store> = match url {
        StoreUrl::Memory => Arc::new(Memory::new(Arc::new(system_now))),
        StoreUrl::Sqlite(folder) => Arc::new(store_sqlite::open(folder).map_err(|error| error.to_string())?),
        StoreUrl::Postgres(url) => {
            let connected = Postgres::connect(url, store_postgres::Options::default()).await;
            Arc::new(connected.map_err(|error| error.to_string())?)
        }
    };
    Ok(store)
}

pub(crate) fn system_now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

struct Listeners {
    rest: Option<TcpListener>,
    grpc: Vec<TcpListener>,
    metrics: TcpListener,
}

impl Listeners {
    async fn bind(config: &Config) -> Result<Self, String> {
        let metrics = bind("metrics", config.metrics).await?;
        if !config.roles.api {
            return Ok(Self { rest: None, grpc: Vec::new(), metrics });
        }
        let rest = bind("REST", config.rest).await?;
        let mut grpc = Vec::new();
        for address in &config.grpc {
            grpc.push(bind("gRPC", *address).await?);
        }
        Ok(Self { rest: Some(rest), grpc, metrics })
    }
}

async fn bind(what: &str, address: SocketAddr) -> Result<TcpListener, String> {
    let bound = TcpListener::bind(address).await;
    bound.map_err(|error| {
        format!("cannot listen on {address} for {what}: {error}; choose another address (see `caudal serve --help`)")
    })
}

/// All edges until they have drained.
async fn edges(listeners: Listeners, host: Host, config: Config, registry: Registry, draining: watch::Receiver<bool>) {
    let health = health::router(registry, host.clone());
    let mut drained = draining.clone();
    let health = axum::serve(listeners.metrics, health).with_graceful_shutdown(async move {
        let _ = drained.wait_for(|draining| *draining).await;
    });
    let port = config.grpc.first().map_or(0, SocketAddr::port);
    let rest_config = api::rest::Config {
        request_bytes_max: config.request_bytes_max,
        connections_max: config.connections_max,
        page_limit_max: config.page_max,
        version: SPOKEN_VERSION.into(),
        advertised_host: config.rest.ip().to_string(),
        advertised_port: port,
        ..api::rest::Config::default()
    };
    let grpc_config = api::grpc::Config {
        message_bytes_max: config.request_bytes_max,
        connections_max: config.connections_max,
        version: SPOKEN_VERSION.into(),
        advertised_host: config.rest.ip().to_string(),
        advertised_port: port,
        ..api::grpc::Config::default()
    };
    let rest_router = api::rest::router(host.clone(), &rest_config, draining.clone());
    let grpc_routes = api::grpc::routes(host, &grpc_config, draining.clone());
    let rest = api::rest::serve(listeners.rest.into_iter().collect(), rest_router, &rest_config, draining.clone());
    let grpc = api::grpc::serve(listeners.grpc, grpc_routes, &grpc_config, draining);
    let (healthy, (), ()) = tokio::join!(health, rest, grpc);
    if let Err(error) = healthy {
        tracing::error!(%error, "metrics and health ended");
    }
}

fn banner(config: &Config, took: Duration) {
    let store = match &config.store {
        StoreUrl::Memory => "memory (everything is forgotten at the end)".to_owned(),
        StoreUrl::Sqlite(folder) => format!("{} (SQLite)", folder.display()),
        StoreUrl::Postgres(url) => format!("{} (PostgreSQL)", without_password(url)),
    };
    let mut lines = vec![format!("Caudal {} is ready after {} ms.", env!("CARGO_PKG_VERSION"), took.as_millis())];
    if config.roles.api {
        let grpc: Vec<String> = config.grpc.iter().map(ToString::to_string).collect();
        lines.push(format!("  REST     http://{}   (browse it at /docs)", config.rest));
        lines.push(format!("  gRPC     {}", grpc.join(", ")));
    }
    lines.push(format!("  metrics  http://{}/metrics", config.metrics));
    lines.push(format!("  data     {store}"));
    lines.push("Next: caudal deploy FILE.bpmn   (Ctrl-C stops)".to_owned());
    table::print(&format!("{}\n", lines.join("\n")));
}

/// What stands between `:` and `@` never reaches a screen or a log.
fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return "postgres".to_owned() };
    let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
    let place = place.split('?').next().unwrap_or(place);
    format!("{scheme}://{place}")
}

fn log_to_stderr(config: &Config) -> Result<(), String> {
    let level = config.log_level.parse::<tracing_subscriber::filter::EnvFilter>();
    let level = level.map_err(|_| format!("log_level is '{}': use error, warn, info, debug or trace", config.log_level))?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(level)
        .with_writer(std::io::stderr)
        .with_target(false)
        .with_ansi(std::io::stderr().is_terminal());
    if config.log_json {
        builder.json().init();
    } else {
        builder.init();
    }
    Ok(())
}

async fn signalled() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return std::future::pending().await };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn passwords_are_not_shown() {
        assert_eq!(super::without_password("postgres://me:se:cr@et@db.example/x?password=z"), "postgres://db.example/x");
        assert_eq!(super::without_password("postgres://db.example/x"), "postgres://db.example/x");
    }
}
