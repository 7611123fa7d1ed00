//! The edges: where they listen, and what they may use of the machine.

use std::net::SocketAddr;
use std::sync::Arc;

use api::budget::{Budget, Budgets};
use api::listen::{Edge, Speaks, Tls};
use api::{grpc, listen, rest};
use host::Host;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::config::Config;
use crate::health;

/// The version of Camunda 8 whose interface the edges speak: clients decide by it what they may ask.
const SPOKEN_VERSION: &str = "8.9.17";

/// What edges tell of the server they belong to.
pub(crate) struct Told {
    pub(crate) config: Config,
    /// Where it keeps what it has, without a password.
    pub(crate) store: String,
    /// Which store it is on: the same on every server of it.
    pub(crate) cluster: String,
    pub(crate) registry: Arc<Registry>,
}

/// All edges until they have drained.
pub(crate) async fn serve(listeners: Listeners, host: Host, told: Told, draining: watch::Receiver<bool>) {
    let Told { config, store, cluster, registry } = told;
    let about = health::About { server: config.node.clone(), store, cluster: cluster.clone() };
    let tls = listeners.tls;
    let rest_config = rest::Config { cluster_id: cluster.clone(), ..rest(&config) };
    let grpc_config = grpc::Config { cluster_id: cluster, ..grpc(&config) };
    let metrics_listen = listen::Config { connections_max: config.connections.metrics_max, ..rest_config.listen.clone() };
    let budgets =
        Budgets { bodies: Budget::of_bodies(config.bodies_bytes_max), answers: Budget::of_answers(config.answers_bytes_max) };
    let metrics = Edge {
        name: "metrics",
        listeners: vec![listeners.metrics],
        router: config.visitors.at(config.metrics.ip()).guard(health::router(registry, host.clone(), about)),
        speaks: Speaks::Http,
        tls: tls.metrics,
    };
    let rest = Edge {
        name: "REST",
        listeners: listeners.rest.into_iter().collect(),
        router: rest::router(host.clone(), &rest_config, budgets.clone(), draining.clone()),
        speaks: Speaks::Http,
        tls: tls.rest,
    };
    let grpc = Edge {
        name: "gRPC",
        listeners: listeners.grpc,
        router: grpc::router(host, &grpc_config, budgets, draining.clone()),
        speaks: Speaks::Http2,
        tls: tls.grpc,
    };
    tokio::join!(
        listen::serve(metrics, &metrics_listen, draining.clone()),
        listen::serve(rest, &rest_config.listen, draining.clone()),
        listen::serve(grpc, &grpc_config.listen, draining),
    );
}

fn rest(config: &Config) -> rest::Config {
    let connections = &config.connections;
    rest::Config {
        request_bytes_max: config.request_bytes_max,
        deployment_bytes_max: config.deployment_bytes_max,
        document_bytes_max: config.document_bytes_max,
        is_secure: config.tls.is_some(),
        body_timeout: connections.body_timeout,
        page_limit_max: config.page_max,
        page_bytes_max: config.page_bytes_max,
        test_clock: config.test_clock,
        visitors: config.visitors.clone(),
        listen: listen::Config {
            connections_max: connections.max,
            head_timeout: connections.head_timeout,
            take_timeout: connections.take_timeout,
            idle_timeout: connections.idle_timeout,
            ..rest::Config::default().listen
        },
        version: SPOKEN_VERSION.into(),
        advertised_host: config.advertised().host,
        advertised_port: config.advertised().port,
        ..rest::Config::default()
    }
}

fn grpc(config: &Config) -> grpc::Config {
    let connections = &config.connections;
    grpc::Config {
        message_bytes_max: config.request_bytes_max,
        deployment_bytes_max: config.deployment_bytes_max,
        body_timeout: connections.body_timeout,
        listen: listen::Config {
            connections_max: connections.max,
            head_timeout: connections.head_timeout,
            take_timeout: connections.take_timeout,
            idle_timeout: connections.grpc_idle_timeout,
            ..grpc::Config::default().listen
        },
        version: SPOKEN_VERSION.into(),
        advertised_host: config.advertised().host,
        advertised_port: config.advertised().port,
        ..grpc::Config::default()
    }
}

pub(crate) struct Listeners {
    rest: Option<TcpListener>,
    grpc: Vec<TcpListener>,
    metrics: TcpListener,
    tls: Certificates,
}

/// What each edge shows its clients; none where they speak plainly.
struct Certificates {
    rest: Option<Tls>,
    grpc: Option<Tls>,
    metrics: Option<Tls>,
}

impl Certificates {
    fn read(config: &Config) -> Result<Self, String> {
        let read = |speaks: Speaks| config.tls.clone().map(|files| Tls::read(files, speaks)).transpose();
        Ok(Self { rest: read(Speaks::Http)?, grpc: read(Speaks::Http2)?, metrics: read(Speaks::Http)? })
    }
}

impl Listeners {
    pub(crate) async fn bind(config: &Config) -> Result<Self, String> {
        let tls = Certificates::read(config)?;
        let metrics = bind("metrics", config.metrics).await?;
        if !config.roles.api {
            return Ok(Self { rest: None, grpc: Vec::new(), metrics, tls });
        }
        let rest = bind("REST", config.rest).await?;
        let mut grpc = Vec::new();
        for address in &config.grpc {
            grpc.push(bind("gRPC", *address).await?);
        }
        Ok(Self { rest: Some(rest), grpc, metrics, tls })
    }
}

async fn bind(what: &str, address: SocketAddr) -> Result<TcpListener, String> {
    let bound = TcpListener::bind(address).await;
    bound.map_err(|error| cannot_listen(what, address, &error))
}

fn cannot_listen(what: &str, address: SocketAddr, error: &std::io::Error) -> String {
    let hint = match error.kind() {
        // The service of a package starts at once, and those who do not know it start another by hand.
        std::io::ErrorKind::AddrInUse => "perhaps a server runs already (`caudal status`); otherwise ",
        _ => "",
    };
    format!("cannot listen on {address} for {what}: {error}; {hint}choose another address (see `caudal serve --help`)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_starts_a_second_server_is_led_to_the_first() {
        let address = SocketAddr::from(([127, 0, 0, 1], 8080));
        let told = |kind| cannot_listen("REST", address, &std::io::Error::from(kind));
        assert!(told(std::io::ErrorKind::AddrInUse).contains("a server runs already (`caudal status`)"));
        assert!(!told(std::io::ErrorKind::PermissionDenied).contains("runs already"));
    }
}
