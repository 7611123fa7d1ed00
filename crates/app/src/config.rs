//! The configuration: what was written (`Raw`), and what it means (`Config`). Nobody else reads the environment.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use host::Limits;
use serde::Deserialize;

/// The commented file with all defaults: what `caudal config` prints.
pub(crate) const DEFAULT_FILE: &str = include_str!("../caudal.toml");

const MIB: usize = 1024 * 1024;

/// What a file may say. Unknown keys are errors.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    data: Option<PathBuf>,
    store: Option<String>,
    postgres_pooler: Option<String>,
    postgres_direct_url: Option<String>,
    rest: Option<String>,
    grpc: Option<Vec<String>>,
    metrics: Option<String>,
    roles: Option<Vec<String>>,
    node: Option<String>,
    log_format: Option<String>,
    log_level: Option<String>,
    warm_up: Option<bool>,
    test_clock: Option<bool>,
    #[serde(default)]
    limits: RawLimits,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLimits {
    request_bytes: Option<usize>,
    deployment_bytes: Option<usize>,
    bodies_bytes: Option<usize>,
    answers_bytes: Option<usize>,
    page_bytes: Option<usize>,
    connections: Option<usize>,
    metrics_connections: Option<usize>,
    head_seconds: Option<u64>,
    body_seconds: Option<u64>,
    idle_seconds: Option<u64>,
    grpc_idle_seconds: Option<u64>,
    answer_seconds: Option<u64>,
    inbox: Option<usize>,
    inbox_bytes: Option<usize>,
    backlog: Option<u64>,
    backlog_bytes: Option<u64>,
    batch: Option<usize>,
    tick_bytes: Option<usize>,
    tick_rows: Option<usize>,
    command_elements: Option<u32>,
    command_bytes: Option<usize>,
    call_depth: Option<u32>,
    instances_hot: Option<usize>,
    instances_hot_bytes: Option<usize>,
    ready_window: Option<usize>,
    timeline: Option<usize>,
    due: Option<usize>,
    due_share: Option<usize>,
    timers_missed: Option<RawMissed>,
    waits_kept_days: Option<u64>,
    polls_parked: Option<usize>,
    streams: Option<usize>,
    stream_buffer: Option<usize>,
    awaiting: Option<usize>,
    definitions: Option<usize>,
    definitions_bytes: Option<u64>,
    variables: Option<usize>,
    variable_bytes: Option<usize>,
    page: Option<u32>,
    search_timeout_millis: Option<u64>,
    idempotency_kept_seconds: Option<u64>,
    lease_millis: Option<u64>,
    poll_every_millis: Option<u64>,
    answer_timeout_millis: Option<u64>,
}

/// What becomes of occurrences of a cycle that nobody was there to fire.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RawMissed {
    FireOnce,
    FireAll,
    Skip,
}

impl From<RawMissed> for host::Missed {
    fn from(missed: RawMissed) -> Self {
        match missed {
            RawMissed::FireOnce => Self::FireOnce,
            RawMissed::FireAll => Self::FireAll,
            RawMissed::Skip => Self::Skip { late_max: LATE_MAX },
        }
    }
}

/// What is later than this was missed.
const LATE_MAX: i64 = 60_000;

/// What the command line and the environment say; both come through `clap`.
#[derive(Debug, Default)]
pub(crate) struct Overrides {
    pub(crate) file: Option<PathBuf>,
    pub(crate) data: Option<PathBuf>,
    pub(crate) store: Option<String>,
    pub(crate) postgres_pooler: Option<String>,
    pub(crate) postgres_direct_url: Option<String>,
    pub(crate) rest: Option<String>,
    pub(crate) grpc: Option<Vec<String>>,
    pub(crate) metrics: Option<String>,
    pub(crate) roles: Option<Vec<String>>,
    pub(crate) node: Option<String>,
    pub(crate) test_clock: bool,
    pub(crate) log_format: Option<String>,
    pub(crate) log_level: Option<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) store: StoreUrl,
    pub(crate) access: Access,
    pub(crate) rest: SocketAddr,
    pub(crate) grpc: Vec<SocketAddr>,
    pub(crate) metrics: SocketAddr,
    pub(crate) roles: Roles,
    pub(crate) node: String,
    pub(crate) log_json: bool,
    pub(crate) log_level: String,
    pub(crate) warm_up: bool,
    pub(crate) test_clock: bool,
    pub(crate) request_bytes_max: usize,
    pub(crate) deployment_bytes_max: usize,
    pub(crate) bodies_bytes_max: usize,
    pub(crate) answers_bytes_max: usize,
    pub(crate) page_bytes_max: usize,
    pub(crate) connections: Connections,
    pub(crate) page_max: u32,
    pub(crate) limits: Limits,
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

/// Reads the file, puts command line and environment over it, and checks every value.
pub(crate) fn resolve(over: Overrides) -> Result<Config, String> {
    let raw = match &over.file {
        None => Raw::default(),
        Some(path) => read(path)?,
    };
    let data: PathBuf = over.data.or(raw.data).unwrap_or_else(|| PathBuf::from("./caudal-data"));
    let store = match over.store.or(raw.store) {
        None => StoreUrl::Sqlite(data),
        Some(url) => store_url(&url)?,
    };
    let access = Access {
        pooler: pooler(
            &store,
            over.postgres_pooler.or(raw.postgres_pooler),
            over.postgres_direct_url.or(raw.postgres_direct_url),
        )?,
        search_timeout: raw.limits.search_timeout_millis.map_or(Access::default().search_timeout, Duration::from_millis),
    };
    let rest = address("rest", over.rest.or(raw.rest).as_deref().unwrap_or("127.0.0.1:8080"))?;
    let grpc = over.grpc.or(raw.grpc).unwrap_or_else(|| vec!["127.0.0.1:26500".to_owned(), "127.0.0.1:9090".to_owned()]);
    let grpc = grpc.iter().map(|text| address("grpc", text)).collect::<Result<Vec<_>, _>>()?;
    let metrics = address("metrics", over.metrics.or(raw.metrics).as_deref().unwrap_or("127.0.0.1:9091"))?;
    let roles = roles(over.roles.or(raw.roles))?;
    if !roles.engine && !matches!(store, StoreUrl::Postgres(_)) {
        return Err(
            "a server without the engine role needs a store that several servers can share: use --store postgres://…".to_owned()
        );
    }
    let node = over.node.or(raw.node).filter(|node| !node.is_empty()).unwrap_or_else(|| format!("{}/{rest}", host_name()));
    let log_json = match over.log_format.or(raw.log_format).as_deref() {
        None | Some("text") => false,
        Some("json") => true,
        Some(other) => return Err(format!("log_format is '{other}': use text or json")),
    };
    let log_level = over.log_level.or(raw.log_level).unwrap_or_else(|| "info".to_owned());
    Ok(Config {
        store,
        access,
        rest,
        grpc,
        metrics,
        roles,
        node,
        log_json,
        log_level,
        warm_up: raw.warm_up.unwrap_or(true),
        test_clock: over.test_clock || raw.test_clock.unwrap_or(false),
        request_bytes_max: raw.limits.request_bytes.unwrap_or(4 * MIB),
        deployment_bytes_max: raw.limits.deployment_bytes.unwrap_or(16 * MIB),
        bodies_bytes_max: raw.limits.bodies_bytes.unwrap_or(256 * MIB),
        answers_bytes_max: raw.limits.answers_bytes.unwrap_or(256 * MIB),
        page_bytes_max: raw.limits.page_bytes.unwrap_or(16 * MIB),
        connections: connections(&raw.limits),
        page_max: raw.limits.page.unwrap_or(10_000),
        limits: limits(&raw.limits),
    })
}

fn read(path: &Path) -> Result<Raw, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
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

fn pooler(store: &StoreUrl, mode: Option<String>, direct_url: Option<String>) -> Result<Pooler, String> {
    let direct_url = direct_url.filter(|url| !url.is_empty());
    let is_postgres = matches!(store, StoreUrl::Postgres(_));
    match (mode.as_deref(), direct_url) {
        (None | Some("none"), None) => Ok(Pooler::None),
        (None | Some("none"), Some(_)) => {
            Err("postgres_direct_url is for servers behind a pooler: say postgres_pooler = \"transaction\" as well".to_owned())
        }
        (Some("transaction"), _) if !is_postgres => {
            Err("postgres_pooler needs a PostgreSQL store: use --store postgres://…".to_owned())
        }
        (Some("transaction"), Some(url)) if !matches!(store_url(&url), Ok(StoreUrl::Postgres(_))) => {
            Err("postgres_direct_url wants postgres://USER:PASSWORD@HOST/DATABASE, past the pooler".to_owned())
        }
        (Some("transaction"), direct_url) => Ok(Pooler::Transaction { direct_url }),
        (Some(other), _) => Err(format!("postgres_pooler is '{other}': use none or transaction")),
    }
}

fn address(what: &str, text: &str) -> Result<SocketAddr, String> {
    use std::net::ToSocketAddrs as _;
    let found =
        text.to_socket_addrs().map_err(|error| format!("{what} '{text}' is not an address such as 127.0.0.1:8080: {error}"))?;
    found.into_iter().next().ok_or_else(|| format!("{what} '{text}' names no address"))
}

fn roles(names: Option<Vec<String>>) -> Result<Roles, String> {
    let names = names.unwrap_or_else(|| vec!["api".to_owned(), "engine".to_owned()]);
    let mut roles = Roles { api: false, engine: false };
    for name in &names {
        match name.trim() {
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

fn connections(raw: &RawLimits) -> Connections {
    let seconds = |value: Option<u64>, default: u64| Duration::from_secs(value.unwrap_or(default).max(1));
    Connections {
        max: raw.connections.unwrap_or(10_000).max(1),
        metrics_max: raw.metrics_connections.unwrap_or(100).max(1),
        head_timeout: seconds(raw.head_seconds, 10),
        body_timeout: seconds(raw.body_seconds, 30),
        take_timeout: seconds(raw.answer_seconds, 120),
        idle_timeout: seconds(raw.idle_seconds, 75),
        grpc_idle_timeout: seconds(raw.grpc_idle_seconds, 300),
    }
}

fn limits(raw: &RawLimits) -> Limits {
    let d = Limits::default();
    let millis = |value: Option<u64>, default: Duration| value.map_or(default, Duration::from_millis);
    Limits {
        inbox_max: raw.inbox.unwrap_or(d.inbox_max).max(1),
        inbox_bytes_max: raw.inbox_bytes.unwrap_or(d.inbox_bytes_max).max(1),
        backlog_max: raw.backlog.unwrap_or(d.backlog_max).max(1),
        backlog_bytes_max: raw.backlog_bytes.unwrap_or(d.backlog_bytes_max).max(1),
        batch_max: raw.batch.unwrap_or(d.batch_max).max(1),
        tick_bytes_max: raw.tick_bytes.unwrap_or(d.tick_bytes_max).max(1),
        tick_rows_max: raw.tick_rows.unwrap_or(d.tick_rows_max).max(1),
        command_elements_max: raw.command_elements.unwrap_or(d.command_elements_max).max(1),
        command_bytes_max: raw.command_bytes.unwrap_or(d.command_bytes_max).max(1),
        call_depth_max: raw.call_depth.unwrap_or(d.call_depth_max).max(1),
        instances_hot_max: raw.instances_hot.unwrap_or(d.instances_hot_max),
        instances_hot_bytes_max: raw.instances_hot_bytes.unwrap_or(d.instances_hot_bytes_max),
        ready_window_max: raw.ready_window.unwrap_or(d.ready_window_max).max(1),
        timeline_max: raw.timeline.unwrap_or(d.timeline_max).max(1),
        due_max: raw.due.unwrap_or(d.due_max).max(1),
        due_share: raw.due_share.unwrap_or(d.due_share),
        timers_missed: raw.timers_missed.map_or(d.timers_missed, Into::into),
        waits_kept: raw.waits_kept_days.map_or(d.waits_kept, |days| Duration::from_secs(days.saturating_mul(24 * 60 * 60))),
        polls_parked_max: raw.polls_parked.unwrap_or(d.polls_parked_max),
        streams_max: raw.streams.unwrap_or(d.streams_max),
        stream_buffer_max: raw.stream_buffer.unwrap_or(d.stream_buffer_max).max(1),
        awaiting_max: raw.awaiting.unwrap_or(d.awaiting_max),
        definitions_max: raw.definitions.unwrap_or(d.definitions_max),
        definitions_bytes_max: raw.definitions_bytes.unwrap_or(d.definitions_bytes_max),
        variables_max: raw.variables.unwrap_or(d.variables_max),
        variable_bytes_max: raw.variable_bytes.unwrap_or(d.variable_bytes_max),
        idempotency_kept: raw.idempotency_kept_seconds.map_or(d.idempotency_kept, Duration::from_secs),
        lease: millis(raw.lease_millis, d.lease),
        poll_every: millis(raw.poll_every_millis, d.poll_every),
        answer_timeout: millis(raw.answer_timeout_millis, d.answer_timeout),
        ..d
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The commented file, with every key uncommented, is accepted and means the same as no file.
    #[test]
    fn the_default_file_states_the_defaults() {
        let uncommented: String = DEFAULT_FILE
            .lines()
            .map(|line| match line.strip_prefix('#') {
                Some(key) if key.starts_with(|c: char| c.is_ascii_lowercase()) && key.contains(" = ") => format!("{key}\n"),
                _ => format!("{line}\n"),
            })
            .collect();
        let file = std::env::temp_dir().join(format!("caudal-config-{}.toml", std::process::id()));
        std::fs::write(&file, uncommented).unwrap();
        let from_file = resolve(Overrides { file: Some(file.clone()), ..Overrides::default() }).unwrap();
        std::fs::remove_file(&file).unwrap();
        let from_nothing = resolve(Overrides::default()).unwrap();
        assert_eq!(format!("{from_file:?}"), format!("{from_nothing:?}"));
    }

    #[test]
    fn unknown_keys_and_bad_values_are_refused_with_a_reason() {
        let file = std::env::temp_dir().join(format!("caudal-config-bad-{}.toml", std::process::id()));
        std::fs::write(&file, "colour = 1\n").unwrap();
        let error = resolve(Overrides { file: Some(file.clone()), ..Overrides::default() }).unwrap_err();
        std::fs::remove_file(&file).unwrap();
        assert!(error.contains("colour"), "{error}");
        let error = resolve(Overrides { store: Some("mysql://x".to_owned()), ..Overrides::default() }).unwrap_err();
        assert!(error.contains("postgres://"), "{error}");
        let error = resolve(Overrides { roles: Some(vec!["api".to_owned()]), ..Overrides::default() }).unwrap_err();
        assert!(error.contains("engine role"), "{error}");
    }

    #[test]
    fn a_pooler_is_told_with_the_way_past_it() {
        let told = |store: &str, mode: &str, direct_url: &str| {
            let some = |text: &str| Some(text.to_owned());
            let over = Overrides {
                store: some(store),
                postgres_pooler: some(mode),
                postgres_direct_url: some(direct_url),
                ..Overrides::default()
            };
            resolve(over).map(|config| config.access.pooler)
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
