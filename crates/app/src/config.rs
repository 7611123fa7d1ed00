//! The configuration: what the settings mean. Nobody else reads the environment.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use api::listen::Files;
use api::rest::Visitors;
use axum::http::Uri;
use host::{Address, Limits, Missed};
use model::GlobalListener;

use crate::dispatch::{self, Dispatch};
use crate::export::{self, Export};
use crate::settings::{Given, Settings};
use crate::telemetry::Collector;

/// The commented file with all defaults: what `caudal config` prints.
pub(crate) const DEFAULT_FILE: &str = include_str!("../caudal.toml");

/// What is later than this was missed.
const LATE_MAX: i64 = 60_000;

#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) store: StoreUrl,
    pub(crate) access: Access,
    pub(crate) rest: SocketAddr,
    pub(crate) grpc: Vec<SocketAddr>,
    pub(crate) metrics: SocketAddr,
    pub(crate) roles: Roles,
    pub(crate) node: String,
    pub(crate) visitors: Visitors,
    pub(crate) tls: Option<Files>,
    pub(crate) log_json: bool,
    pub(crate) log_level: String,
    pub(crate) warm_up: bool,
    pub(crate) test_clock: bool,
    pub(crate) collector: Option<Collector>,
    pub(crate) request_bytes_max: usize,
    pub(crate) deployment_bytes_max: usize,
    pub(crate) document_bytes_max: usize,
    pub(crate) bodies_bytes_max: usize,
    pub(crate) answers_bytes_max: usize,
    pub(crate) page_bytes_max: usize,
    pub(crate) connections: Connections,
    pub(crate) page_max: u32,
    pub(crate) limits: Limits,
    pub(crate) dispatch: Dispatch,
    pub(crate) export: Option<Export>,
    /// Those who listen to all user tasks.
    pub(crate) listeners: Vec<GlobalListener>,
}

impl Config {
    /// Where clients of other machines reach this server, as far as it can know.
    pub(crate) fn advertised(&self) -> Address {
        let host = if self.rest.ip().is_unspecified() { host_name() } else { self.rest.ip().to_string() };
        Address { host, port: self.grpc.first().map_or(0, SocketAddr::port) }
    }
}

/// How many connections there may be, and how long their clients may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Connections {
    /// On each of REST and gRPC.
    pub(crate) max: usize,
    pub(crate) metrics_max: usize,
    /// For the head and for the body of a request.
    pub(crate) head_timeout: Duration,
    pub(crate) body_timeout: Duration,
    /// For an answer to be taken.
    pub(crate) take_timeout: Duration,
    /// Between requests.
    pub(crate) idle_timeout: Duration,
    pub(crate) grpc_idle_timeout: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StoreUrl {
    Sqlite(PathBuf),
    Postgres(String),
    Memory,
}

/// How the store is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) search_timeout: Duration,
    pub(crate) pooler: Pooler,
}

impl Default for Access {
    fn default() -> Self {
        Self { search_timeout: Duration::from_secs(10), pooler: Pooler::None }
    }
}

/// What stands between this server and PostgreSQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pooler {
    None,
    Transaction { direct_url: Option<String> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Roles {
    pub(crate) api: bool,
    pub(crate) engine: bool,
}

/// Reads the settings and finds out what they mean.
pub(crate) fn resolve(given: Given) -> Result<Config, String> {
    meaning(&Settings::read(given)?)
}

fn collector(settings: &Settings, node: &str) -> Result<Option<Collector>, String> {
    let url = settings.text("otlp_endpoint");
    if url.is_empty() {
        return Ok(None);
    }
    let has_place = |url: &str| url.parse::<Uri>().is_ok_and(|url| url.host().is_some_and(|host| !host.is_empty()));
    if !(url.starts_with("http://") || url.starts_with("https://")) || !has_place(url) {
        // It is not said what it is: that may have a password in it.
        return Err(
            "otlp_endpoint makes no sense: use the address of a collector's HTTP receiver, such as http://127.0.0.1:4318"
                .to_owned(),
        );
    }
    let traces_percent = settings.number("otlp_traces_percent");
    Ok(Some(Collector { url: url.to_owned(), traces_percent, node: node.to_owned() }))
}

pub(crate) fn meaning(settings: &Settings) -> Result<Config, String> {
    let store = match settings.text("store") {
        "" => StoreUrl::Sqlite(PathBuf::from(settings.text("data"))),
        url => store_url(url)?,
    };
    let access = Access {
        pooler: pooler(&store, settings.text("postgres_pooler"), settings.text("postgres_direct_url"))?,
        search_timeout: Duration::from_millis(settings.number("limits.search_timeout_millis")),
    };
    let rest = address("rest", settings.text("rest"))?;
    let grpc = settings.texts("grpc").iter().map(|text| address("grpc", text)).collect::<Result<Vec<_>, _>>()?;
    let metrics = address("metrics", settings.text("metrics"))?;
    let roles = roles(&settings.texts("roles"))?;
    if !roles.engine && !matches!(store, StoreUrl::Postgres(_)) {
        return Err(
            "a server without the engine role needs a store that several servers can share: use --store postgres://…".to_owned()
        );
    }
    let tls = tls(settings)?;
    let knows_clients = tls.as_ref().is_some_and(|files| files.client_authorities.is_some());
    if !settings.flag("insecure") && !knows_clients {
        let api = std::iter::once(("rest", rest)).chain(grpc.iter().map(|address| ("grpc", *address)));
        for (what, address) in api.filter(|_| roles.api).chain([("metrics", metrics)]) {
            check_reach(what, address)?;
        }
    }
    let node = match settings.text("node") {
        "" => format!("{}/{rest}", host_name()),
        node => node.to_owned(),
    };
    let collector = collector(settings, &node)?;
    let export = export::read(settings, &store)?;
    Ok(Config {
        store,
        access,
        rest,
        grpc,
        metrics,
        roles,
        node,
        tls,
        visitors: crate::visitors::read(settings, rest.ip())?,
        log_json: settings.text("log_format") == "json",
        log_level: log_level(settings.text("log_level"))?,
        warm_up: settings.flag("warm_up"),
        test_clock: settings.flag("test_clock"),
        collector,
        request_bytes_max: settings.number("limits.request_bytes"),
        deployment_bytes_max: settings.number("limits.deployment_bytes"),
        document_bytes_max: settings.number("limits.document_bytes"),
        bodies_bytes_max: settings.number("limits.bodies_bytes"),
        answers_bytes_max: settings.number("limits.answers_bytes"),
        page_bytes_max: settings.number("limits.page_bytes"),
        connections: connections(settings),
        page_max: settings.number("limits.page"),
        limits: Limits { retention: crate::kept::retention(settings)?, ..limits(settings) },
        dispatch: dispatch::read(settings)?,
        export,
        listeners: crate::listeners::parse(&settings.texts("user_tasks.listeners"))?,
    })
}

fn tls(settings: &Settings) -> Result<Option<Files>, String> {
    let path = |key: &str| Some(PathBuf::from(settings.text(key))).filter(|path| !path.as_os_str().is_empty());
    match (path("tls_certificate"), path("tls_key"), path("tls_client_ca")) {
        (None, None, None) => Ok(None),
        (Some(certificate), Some(key), client_authorities) => Ok(Some(Files { certificate, key, client_authorities })),
        (None, Some(_), _) => Err("tls_key is nothing without tls_certificate: give both".to_owned()),
        (Some(_), None, _) => Err("tls_certificate is nothing without tls_key: give both".to_owned()),
        (None, None, Some(_)) => Err("tls_client_ca needs tls_certificate and tls_key as well".to_owned()),
    }
}

/// Nobody has to say who he is: so nobody else may come.
fn check_reach(what: &str, address: SocketAddr) -> Result<(), String> {
    match address.ip().is_loopback() {
        true => Ok(()),
        false => Err(format!(
            "{what} is {address}, which others can reach, and there is no authentication: whoever reaches it can do everything. \
             Listen on 127.0.0.1 behind a proxy that knows its users, ask for client certificates (tls_client_ca), or say --insecure (CAUDAL_INSECURE=true, or insecure = true in the \
             file) if you trust everybody in that network"
        )),
    }
}

/// A level, or several for parts of the server. The filter itself takes every word for the name of a part.
fn log_level(text: &str) -> Result<String, String> {
    const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
    let is_level = |level: &str| LEVELS.contains(&level.trim().to_lowercase().as_str());
    let all_are = text.split(',').all(|part| is_level(part.rsplit_once('=').map_or(part, |(_, level)| level)));
    match all_are {
        true => Ok(text.to_owned()),
        false => Err(format!("log_level is '{text}': use error, warn, info, debug, trace or off, or PART=LEVEL")),
    }
}

pub(crate) fn store_url(url: &str) -> Result<StoreUrl, String> {
    if url == "memory:" {
        return Ok(StoreUrl::Memory);
    }
    if let Some(path) = url.strip_prefix("sqlite:") {
        let path = path.strip_prefix("//").unwrap_or(path);
        if path.is_empty() {
            return Err("--store sqlite: needs a folder, as in sqlite:./caudal-data".to_owned());
        }
        return Ok(StoreUrl::Sqlite(PathBuf::from(path)));
    }
    if url.starts_with("postgres://") || url.starts_with("postgresql://") {
        return Ok(StoreUrl::Postgres(url.to_owned()));
    }
    Err("--store wants sqlite:FOLDER, postgres://USER:PASSWORD@HOST/DATABASE or memory:".to_owned())
}

fn pooler(store: &StoreUrl, mode: &str, direct_url: &str) -> Result<Pooler, String> {
    let direct_url = Some(direct_url.to_owned()).filter(|url| !url.is_empty());
    let is_postgres = matches!(store, StoreUrl::Postgres(_));
    match (mode, direct_url) {
        ("none", None) => Ok(Pooler::None),
        ("none", Some(_)) => {
            Err("postgres_direct_url is for servers behind a pooler: say postgres_pooler = \"transaction\" as well".to_owned())
        }
        ("transaction", _) if !is_postgres => {
            Err("postgres_pooler needs a PostgreSQL store: use --store postgres://…".to_owned())
        }
        ("transaction", Some(url)) if !matches!(store_url(&url), Ok(StoreUrl::Postgres(_))) => {
            Err("postgres_direct_url wants postgres://USER:PASSWORD@HOST/DATABASE, past the pooler".to_owned())
        }
        ("transaction", direct_url) => Ok(Pooler::Transaction { direct_url }),
        (other, _) => Err(format!("postgres_pooler is '{other}': use none or transaction")),
    }
}

fn address(what: &str, text: &str) -> Result<SocketAddr, String> {
    use std::net::ToSocketAddrs as _;
    let found =
        text.to_socket_addrs().map_err(|error| format!("{what} '{text}' is not an address such as 127.0.0.1:8080: {error}"))?;
    found.into_iter().next().ok_or_else(|| format!("{what} '{text}' names no address"))
}

fn roles(names: &[String]) -> Result<Roles, String> {
    let mut roles = Roles { api: false, engine: false };
    for name in names {
        match name.as_str() {
            "api" => roles.api = true,
            "engine" => roles.engine = true,
            other => return Err(format!("'{other}' is no role: use api, engine or both")),
        }
    }
    if !roles.api && !roles.engine {
        return Err("a server needs at least one role: api, engine or both".to_owned());
    }
    Ok(roles)
}

fn host_name() -> String {
    let from_file = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    from_file.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).unwrap_or_else(|| "caudal".to_owned())
}

fn connections(settings: &Settings) -> Connections {
    let seconds = |key: &str| Duration::from_secs(settings.number(key));
    Connections {
        max: settings.number("limits.connections"),
        metrics_max: settings.number("limits.metrics_connections"),
        head_timeout: seconds("limits.head_seconds"),
        body_timeout: seconds("limits.body_seconds"),
        take_timeout: seconds("limits.answer_seconds"),
        idle_timeout: seconds("limits.idle_seconds"),
        grpc_idle_timeout: seconds("limits.grpc_idle_seconds"),
    }
}

fn limits(settings: &Settings) -> Limits {
    let millis = |key: &str| Duration::from_millis(settings.number(key));
    Limits {
        inbox_max: settings.number("limits.inbox"),
        inbox_bytes_max: settings.number("limits.inbox_bytes"),
        backlog_max: settings.number("limits.backlog"),
        backlog_bytes_max: settings.number("limits.backlog_bytes"),
        batch_max: settings.number("limits.batch"),
        tick_bytes_max: settings.number("limits.tick_bytes"),
        tick_rows_max: settings.number("limits.tick_rows"),
        command_elements_max: settings.number("limits.command_elements"),
        command_bytes_max: settings.number("limits.command_bytes"),
        call_depth_max: settings.number("limits.call_depth"),
        instances_hot_max: settings.number("limits.instances_hot"),
        instances_hot_bytes_max: settings.number("limits.instances_hot_bytes"),
        ready_window_max: settings.number("limits.ready_window"),
        timeline_max: settings.number("limits.timeline"),
        due_max: settings.number("limits.due"),
        due_rate: settings.number("limits.due_rate"),
        timers_missed: match settings.text("limits.timers_missed") {
            "fire-all" => Missed::FireAll,
            "skip" => Missed::Skip { late_max: LATE_MAX },
            _ => Missed::FireOnce,
        },
        waits_kept: Duration::from_secs(settings.number::<u64>("limits.waits_kept_days") * 24 * 60 * 60),
        polls_parked_max: settings.number("limits.polls_parked"),
        streams_max: settings.number("limits.streams"),
        stream_buffer_max: settings.number("limits.stream_buffer"),
        awaiting_max: settings.number("limits.awaiting"),
        definitions_max: settings.number("limits.definitions"),
        definitions_bytes_max: settings.number("limits.definitions_bytes"),
        variables_max: settings.number("limits.variables"),
        variable_bytes_max: settings.number("limits.variable_bytes"),
        idempotency_kept: Duration::from_secs(settings.number("limits.idempotency_kept_seconds")),
        lease: millis("limits.lease_millis"),
        poll_every: millis("limits.poll_every_millis"),
        answer_timeout: millis("limits.answer_timeout_millis"),
        ..Limits::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SETTINGS;

    #[test]
    fn limits_that_nobody_sets_are_those_of_the_host() {
        let config = resolve(Given::default()).unwrap();
        assert_eq!(format!("{:?}", config.limits), format!("{:?}", Limits::default()));
    }

    /// Every number can be as small and as large as its range says, and nothing beyond.
    #[test]
    fn ranges_fit_the_types_of_what_they_limit() {
        for setting in SETTINGS {
            let crate::settings::Kind::Number(range) = &setting.kind else { continue };
            let with = |number: String| resolve(Given::of(&[(setting.key, &number)]));
            for number in [*range.start(), *range.end()] {
                assert!(with(number.to_string()).is_ok(), "{} = {number}", setting.key);
            }
            let mut beyond = vec![(range.end() + 1).to_string(), "-1".to_owned(), "many".to_owned(), String::new()];
            beyond.extend(range.start().checked_sub(1).map(|number| number.to_string()));
            for number in beyond {
                let told = with(number.clone()).unwrap_err();
                let expected = format!("{} is '{number}' (here): use {} to {}", setting.key, range.start(), range.end());
                assert_eq!(told, expected);
            }
        }
    }

    #[test]
    fn bad_values_are_refused_with_a_reason() {
        for (key, value, why) in [
            ("store", "mysql://x", "postgres://"),
            ("roles", "api", "engine role"),
            ("roles", "", "at least one role"),
            ("log_level", "loud", "error, warn, info"),
            ("log_level", "host=info,loud", "error, warn, info"),
            ("log_format", "xml", "text or json"),
            ("test_clock", "yes", "true or false"),
            ("otlp_endpoint", "127.0.0.1:4318", "http://127.0.0.1:4318"),
            ("otlp_endpoint", "http://me:secret@", "http://127.0.0.1:4318"),
            ("otlp_endpoint", "me:secret@collector:4318", "otlp_endpoint makes no sense"),
            ("hosts", "caudal.example:8080", "without scheme, port or path"),
            ("origins", "app.example", "with the scheme"),
            ("rest", "here", "127.0.0.1:8080"),
            ("rest", "0.0.0.0:8080", "--insecure"),
            ("grpc", "127.0.0.1:1,[::]:2", "--insecure"),
            ("metrics", "10.0.0.1:1", "--insecure"),
            ("tls_certificate", "x", "without tls_key"),
            ("tls_key", "x", "without tls_certificate"),
            ("tls_client_ca", "x", "tls_certificate and tls_key"),
            ("retention.instances", "a month", "such as 30d"),
            ("retention.log", "", "such as 30d"),
            ("retention.instances_of", "p=1d,q", "PROCESS=7d"),
        ] {
            let error = resolve(Given::of(&[(key, value)])).unwrap_err();
            assert!(error.contains(why) && !error.contains("secret"), "{error}");
        }
        assert!(resolve(Given::of(&[("log_level", "warn,host=debug")])).is_ok());
        assert!(resolve(Given::of(&[("rest", "0.0.0.0:8080"), ("insecure", "true")])).is_ok());
    }

    #[cfg(not(feature = "kafka"))]
    #[test]
    fn a_server_that_was_built_without_kafka_says_so_where_it_is_wanted() {
        for wanted in [("dispatch", "kafka_outbox"), ("export.kafka.topic", "workflow.events")] {
            let error = resolve(Given::of(&[("kafka.brokers", "kafka:9092"), wanted])).unwrap_err();
            assert!(error.contains("this server was built without Kafka: build it with its default features"), "{error}");
        }
        assert!(resolve(Given::of(&[("dispatch", "polling")])).is_ok());
    }

    #[test]
    fn a_pooler_is_told_with_the_way_past_it() {
        let told = |store: &str, mode: &str, direct_url: &str| {
            let given = [("store", store), ("postgres_pooler", mode), ("postgres_direct_url", direct_url)];
            resolve(Given::of(&given)).map(|config| config.access.pooler)
        };
        let (pooled, direct) = ("postgres://db:6432/x", "postgres://db:5432/x");
        assert_eq!(told(pooled, "none", ""), Ok(Pooler::None));
        assert_eq!(told(pooled, "transaction", ""), Ok(Pooler::Transaction { direct_url: None }));
        assert_eq!(told(pooled, "transaction", direct), Ok(Pooler::Transaction { direct_url: Some(direct.to_owned()) }));
        for (store, mode, direct_url, why) in [
            (pooled, "session", "", "none or transaction"),
            (pooled, "none", direct, "postgres_pooler"),
            (pooled, "transaction", "db:5432", "past the pooler"),
            ("memory:", "transaction", "", "--store postgres"),
        ] {
            let error = told(store, mode, direct_url).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
