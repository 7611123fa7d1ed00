//! Starting and stopping the server: store, host, edges, health, in that order; and back.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use host::{Definitions, Host, Metrics, Parts, Role};
use prometheus_client::registry::Registry;
use store::Store;
use store::memory::Memory;
use store_postgres::Postgres;
use tokio::sync::watch;
use tracing_subscriber::prelude::*;

use crate::config::{Access, Config, Pooler, StoreUrl};
use crate::settings::without_password;
use crate::{descriptors, edges, export, table, telemetry};

/// How long a second signal is waited for before giving up on draining.
const DRAIN_MAX: Duration = Duration::from_secs(15);

pub(crate) fn run(mut config: Config) -> Result<(), String> {
    let telemetry = log_to_stderr(&config)?;
    descriptors::share(&mut config.connections);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start: {error}"))?;
    let served = runtime.block_on(serve(config, telemetry));
    runtime.shutdown_timeout(Duration::from_secs(1));
    served
}

async fn serve(config: Config, telemetry: Option<telemetry::Sender>) -> Result<(), String> {
    let begun = Instant::now();
    let listeners = edges::Listeners::bind(&config).await?;
    warn_of_reach(&config);
    for variable in crate::strays::found() {
        tracing::warn!(variable = %variable.display(), "a variable is named like a setting of the server and is none: it has no effect (`caudal config` lists them)");
    }
    let store = open(&config.store, &config.access).await?;
    let cluster = store.identity().await.map_err(|error| error.to_string())?;
    let limits = Arc::new(config.limits.clone());
    let metrics = Arc::new(Metrics::default());
    let mut registry = Registry::default();
    metrics.register(&mut registry);
    let registry = Arc::new(registry);
    if let Some(telemetry) = telemetry {
        telemetry.run(registry.clone())?;
    }
    let definitions = Arc::new(Definitions::new(store.clone(), &limits, metrics.clone()));
    let role = if config.roles.engine { Role::Engine } else { Role::Follower };
    let announcing = config.dispatch.announcing().map(Arc::new);
    let exporting = config.export.as_ref().and_then(export::Export::exporting).map(Arc::new);
    let parts = Parts { store, limits, metrics, definitions, announcing, exporting };
    let (host, mut driver) = host::prepare(parts, host::reachable(&config.node, &config.advertised()), role);
    driver.warm_up = config.warm_up;

    let (drain, draining) = watch::channel(false);
    let (stop, stopping) = watch::channel(false);
    let driving = tokio::spawn(driver.run(stopping));
    let counted = host.clone();
    tokio::spawn(async move { counted.keep_counting_timers().await });
    wait_for_owner(&host, &config).await;
    if config.roles.engine {
        tokio::spawn(crate::listeners::configure(host.clone(), config.listeners.clone()));
    }
    let told = edges::Told { config: config.clone(), store: shown(&config.store), cluster, registry };
    let edges = tokio::spawn(edges::serve(listeners, host.clone(), told, draining));
    banner(&config, begun.elapsed());
    #[cfg(target_os = "linux")]
    crate::notify::ready();

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

/// It was asked for; it is still worth a line in every log.
fn warn_of_reach(config: &Config) {
    if config.tls.as_ref().is_some_and(|files| files.client_authorities.is_some()) {
        return;
    }
    let api = config.grpc.iter().chain([&config.rest]).filter(|_| config.roles.api);
    for address in api.chain([&config.metrics]).filter(|address| !address.ip().is_loopback()) {
        tracing::warn!(%address, "others can reach this address, and nobody has to say who he is: whoever reaches it can do everything");
    }
}

/// A server that processes commands is worth announcing once it does; one that has to wait for another's lease serves meanwhile.
async fn wait_for_owner(host: &Host, config: &Config) {
    let patience = Instant::now() + Duration::from_millis(500);
    while config.roles.engine && !host.owns() && Instant::now() < patience {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

pub(crate) async fn open(url: &StoreUrl, access: &Access) -> Result<Arc<dyn Store>, String> {
    let search_timeout = access.search_timeout;
    let store: Arc<dyn Store> = match url {
        StoreUrl::Memory => Arc::new(Memory::new(Arc::new(system_now))),
        StoreUrl::Sqlite(folder) => {
            let options = store_sqlite::Options { search_timeout };
            Arc::new(store_sqlite::open(folder, options).map_err(|error| error.to_string())?)
        }
        StoreUrl::Postgres(url) => {
            let path = match &access.pooler {
                Pooler::None => store_postgres::Path::Direct,
                Pooler::Transaction { direct_url } => store_postgres::Path::TransactionPooler { direct_url: direct_url.clone() },
            };
            let options = store_postgres::Options { search_timeout, path, ..store_postgres::Options::default() };
            let connected = Postgres::connect(url, options).await;
            Arc::new(connected.map_err(|error| format!("{}: {error}", without_password(url)))?)
        }
    };
    Ok(store)
}

pub(crate) fn system_now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

/// Which store that is, for people.
fn shown(store: &StoreUrl) -> String {
    match store {
        StoreUrl::Memory => "memory (everything is forgotten at the end)".to_owned(),
        StoreUrl::Sqlite(folder) => format!("{} (SQLite)", folder.display()),
        StoreUrl::Postgres(url) => format!("{} (PostgreSQL)", without_password(url)),
    }
}

fn banner(config: &Config, took: Duration) {
    let store = shown(&config.store);
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    let mut lines = vec![format!("Caudal {} is ready after {} ms.", env!("CARGO_PKG_VERSION"), took.as_millis())];
    if config.roles.api {
        let grpc: Vec<String> = config.grpc.iter().map(ToString::to_string).collect();
        lines.push(format!("  REST     {scheme}://{}   (browse it at /docs)", config.rest));
        lines.push(format!("  gRPC     {}", grpc.join(", ")));
    }
    lines.push(format!("  metrics  {scheme}://{}/metrics", config.metrics));
    lines.push(format!("  data     {store}"));
    lines.push("Next: caudal deploy FILE.bpmn   (Ctrl-C stops)".to_owned());
    table::print(&format!("{}\n", lines.join("\n")));
}

/// Logs, and traces where somebody collects them.
fn log_to_stderr(config: &Config) -> Result<Option<telemetry::Sender>, String> {
    let level = config.log_level.parse::<tracing_subscriber::filter::EnvFilter>();
    let level = level.map_err(|_| format!("log_level is '{}': use error, warn, info, debug or trace", config.log_level))?;
    let is_terminal = std::io::stderr().is_terminal();
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_target(false).with_ansi(is_terminal);
    let lines = if config.log_json { lines.json().boxed() } else { lines.boxed() };
    let registry = tracing_subscriber::registry();
    let Some(collector) = config.collector.clone() else {
        registry.with(lines).with(level).init();
        return Ok(None);
    };
    let (tracer, sender) = telemetry::start(collector);
    let traced = tracing_subscriber::filter::filter_fn(|metadata| metadata.target() == host::TRACED);
    registry.with(lines.with_filter(level)).with(tracer.with_filter(traced)).init();
    Ok(Some(sender))
}

async fn signalled() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return std::future::pending().await };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}
