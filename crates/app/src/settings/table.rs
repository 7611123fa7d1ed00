//! Every setting: one line here, one in `caudal.toml`, one in `docs/settings.md`; tests compare the three.

use std::ops::RangeInclusive;

use super::{Default, Kind, Setting};

const MIB: u64 = 1024 * 1024;
const GIB: u64 = 1024 * MIB;
const YEAR_SECONDS: u64 = 366 * 24 * 60 * 60;

/// As many of something as fit into memory.
const MANY: u64 = 100_000_000;

pub(crate) static SETTINGS: &[Setting] = &[
    text("data", "./caudal-data", "FOLDER", "Folder of the embedded store"),
    Setting {
        is_secret: true,
        ..text(
            "store",
            "",
            "URL",
            "sqlite:FOLDER, postgres://USER:PASSWORD@HOST/DATABASE, or memory:; empty for the embedded store",
        )
    },
    words(
        "postgres_pooler",
        "none",
        &["none", "transaction"],
        "What stands between this server and PostgreSQL: transaction for a pooler such as PgBouncer in transaction mode",
    ),
    Setting {
        is_secret: true,
        ..text("postgres_direct_url", "", "URL", "Leads past the pooler to PostgreSQL, so that servers can wake each other")
    },
    text("rest", "127.0.0.1:8080", "ADDR", "Address of the REST API"),
    texts("grpc", "127.0.0.1:26500,127.0.0.1:9090", "ADDR", "Addresses of the gRPC API"),
    text("metrics", "127.0.0.1:9091", "ADDR", "Address of metrics and health"),
    flag(
        "insecure",
        false,
        "Listen on addresses that others can reach although nobody has to say who he is: for trusted networks",
    ),
    text(
        "tls_certificate",
        "",
        "FILE",
        "Certificate of this server in PEM, with those between it and its authority: REST, gRPC and metrics speak TLS",
    ),
    text("tls_key", "", "FILE", "The certificate's private key in PEM"),
    text("tls_client_ca", "", "FILE", "Authorities of clients in PEM: who has no certificate of theirs is refused"),
    texts("hosts", "", "NAMES", "Names this server may be asked by over HTTP, besides localhost and its addresses; * for any"),
    texts(
        "origins",
        "",
        "ORIGINS",
        "Pages from elsewhere that may use REST and read metrics, such as https://app.example; * for all",
    ),
    texts("roles", "api,engine", "ROLES", "What this server does: api accepts, answers and reads; engine processes"),
    text("node", "", "NAME", "This server's name among several on one database; empty for host name and REST address"),
    words("log_format", "text", &["text", "json"], "How log lines are written"),
    text(
        "log_level",
        "info",
        "LEVEL",
        "How much is logged: error, warn, info, debug, trace or off; of one part with PART=LEVEL, separated by commas",
    ),
    flag("warm_up", true, "Compile the definitions of running instances at the start"),
    flag("test_clock", false, "Let callers move the engine's time (PUT /v2/clock, POST /v1/clock/advance): for tests alone"),
    Setting {
        is_secret: true,
        ..text(
            "otlp_endpoint",
            "",
            "URL",
            "Where traces and metrics are sent by OTLP over HTTP, such as http://127.0.0.1:4318; empty for nowhere",
        )
    },
    number(
        "otlp_traces_percent",
        100,
        0..=100,
        "How many of a hundred requests are traced that come without a trace of their own",
    ),
    words(
        "dispatch",
        "polling",
        &["polling", "kafka_outbox"],
        "How jobs reach workers: they ask for them, or are told of them through Kafka",
    ),
    text("kafka.brokers", "", "ADDRS", "Addresses of Kafka's brokers, with commas between"),
    text("kafka.topic_prefix", "workflow.jobs.", "TEXT", "What the topic of a job type begins with; the type follows"),
    texts("kafka.job_types", "", "TYPES", "Job types that are announced on Kafka; all if there are none"),
    number("kafka.lease_seconds", 300, 1..=86_400, "How long a job is left to whoever hears of it before it is announced again"),
    words("kafka.security", "plaintext", &["plaintext", "sasl_tls"], "How to talk to the brokers"),
    words("kafka.mechanism", "SCRAM-SHA-512", &["SCRAM-SHA-256", "SCRAM-SHA-512"], "How this server proves who it is"),
    text("kafka.username", "", "NAME", "Who it is. The password is in CAUDAL_KAFKA_PASSWORD or in the file below"),
    text("kafka.password_file", "", "FILE", "File with the password alone"),
    text("kafka.ca", "", "FILE", "Authorities of the brokers' certificates in PEM; those the world trusts if there are none"),
    text("kafka.server_name", "", "NAME", "The name in the brokers' certificates where it is not their address"),
    number("kafka.outbox_rows", 100_000, 1..=MANY, "Jobs that may wait to be announced; others wait as if nobody asked for them"),
    number("kafka.outbox_bytes", 256 * MIB, MIB..=1024 * GIB, "Bytes of their variables"),
    number("limits.request_bytes", 4 * MIB, 1024..=GIB, "Bytes of one request"),
    number("limits.deployment_bytes", 16 * MIB, 1024..=GIB, "Bytes of one deployment"),
    number("limits.bodies_bytes", 256 * MIB, MIB..=1024 * GIB, "Bytes of all requests together that have not been answered"),
    number(
        "limits.answers_bytes",
        256 * MIB,
        MIB..=1024 * GIB,
        "Bytes of all answers to searches and all jobs that callers have not taken",
    ),
    number("limits.page_bytes", 16 * MIB, 1024..=GIB, "Bytes of the rows on one page of a search; a page of more ends early"),
    number("limits.connections", 10_000, 1..=1_000_000, "Open connections on each of REST and gRPC"),
    number("limits.metrics_connections", 100, 1..=1_000_000, "Open connections on the port of metrics and health"),
    number("limits.head_seconds", 10, 1..=3600, "How long the head of a request may take to come"),
    number("limits.body_seconds", 30, 1..=3600, "How long the body of a request may take to come"),
    number("limits.answer_seconds", 120, 1..=3600, "How long a client may take to take an answer"),
    number("limits.idle_seconds", 75, 1..=86_400, "How long a connection of REST is kept without a request"),
    number("limits.grpc_idle_seconds", 300, 1..=86_400, "How long a connection of gRPC is kept without a call"),
    number("limits.inbox", 10_000, 1..=MANY, "Commands accepted and not yet processed"),
    number("limits.inbox_bytes", 256 * MIB, MIB..=1024 * GIB, "Bytes of commands not yet answered"),
    number(
        "limits.backlog",
        100_000,
        1..=MANY,
        "Requests of other servers, and of callers that do not wait, that lie in the store unprocessed",
    ),
    number("limits.backlog_bytes", GIB, MIB..=1024 * GIB, "Bytes of those requests"),
    number("limits.batch", 1_000, 1..=100_000, "Commands in one tick"),
    number("limits.tick_bytes", 16 * MIB, 1024..=GIB, "Bytes that one tick writes, about"),
    number("limits.tick_rows", 50_000, 1..=10_000_000, "Rows that one tick writes, about"),
    number(
        "limits.command_elements",
        250,
        1..=1_000_000,
        "Elements that one command enters before its instance goes on in a later tick",
    ),
    number("limits.command_bytes", 16 * MIB, 1024..=GIB, "Bytes of variables that one command writes before that"),
    number("limits.call_depth", 1_000, 1..=1_000_000, "How deep processes call processes"),
    number("limits.instances_hot", 100_000, 0..=MANY, "Running instances kept in memory"),
    number(
        "limits.instances_hot_bytes",
        32 * MIB,
        0..=1024 * GIB,
        "Bytes they take there, about; their jobs, timers, subscriptions and tasks as many each",
    ),
    number("limits.ready_window", 10_000, 1..=MANY, "Jobs of one queue kept in memory"),
    number("limits.timeline", 100_000, 1..=MANY, "Timers and ends of leases kept in memory"),
    number("limits.due", 500, 1..=1_000_000, "Timers, ends of leases and the like that are done in one tick"),
    number(
        "limits.due_rate",
        2_000,
        1..=MANY,
        "How many of them a second while callers wait, items of batch operations included",
    ),
    words(
        "limits.timers_missed",
        "fire-once",
        &["fire-once", "fire-all", "skip"],
        "What becomes of occurrences of a cycle that nobody was there to fire",
    ),
    number("limits.waits_kept_days", 30, 0..=36_500, "Days that fired timers, closed subscriptions and correlations are kept"),
    number("limits.polls_parked", 10_000, 0..=MANY, "Polls waiting for jobs"),
    number("limits.streams", 10_000, 0..=MANY, "Open job streams"),
    number("limits.stream_buffer", 64, 1..=1_000_000, "Jobs pushed to one stream and not yet taken"),
    number("limits.awaiting", 50_000, 0..=MANY, "Callers waiting for an instance's end"),
    number("limits.definitions", 1_000, 1..=1_000_000, "Compiled definitions kept in memory"),
    number("limits.definitions_bytes", 256 * MIB, MIB..=1024 * GIB, "Bytes of their sources"),
    number("limits.variables", 10_000, 1..=1_000_000, "Variables in one command"),
    number("limits.variable_bytes", 4 * MIB, 1024..=GIB, "Bytes of one variable"),
    number("limits.page", 10_000, 1..=100_000, "Rows of one page of a search"),
    number("limits.search_timeout_millis", 10_000, 1..=3_600_000, "How long a search may take"),
    number(
        "limits.idempotency_kept_seconds",
        86_400,
        1..=YEAR_SECONDS,
        "How long the first answer to an Idempotency-Key is kept",
    ),
    number("limits.lease_millis", 5_000, 100..=3_600_000, "How long a server may own the partition without renewing"),
    number(
        "limits.poll_every_millis",
        500,
        1..=60_000,
        "How often a server that does not own the partition looks for answers by itself",
    ),
    number("limits.answer_timeout_millis", 15_000, 1..=3_600_000, "How long a caller waits for an answer"),
    number("limits.document_bytes", 64 * MIB, 1024..=GIB, "Bytes of one document"),
    text(
        "retention.instances",
        "30d",
        "TIME",
        "How long finished instances with all that belongs to them are kept: 30d, 12h, or forever",
    ),
    texts(
        "retention.instances_of",
        "",
        "RULES",
        "Another time for instances of a process, of a tenant, or of both: PROCESS=7d, TENANT/*=forever, TENANT/PROCESS=90d",
    ),
    text("retention.log", "30d", "TIME", "How long the log of commands is kept"),
    text("retention.executions", "30d", "TIME", "How long executions are kept that were completed or cancelled"),
    text("retention.evaluations", "30d", "TIME", "How long decisions are kept that were evaluated without a process"),
    text("retention.audit", "30d", "TIME", "How long the audit trail and operations over many are kept"),
    text(
        "export.kafka.topic",
        "",
        "TOPIC",
        "Topic on Kafka to which everything is published that happens to instances; empty for none",
    ),
    flag("export.kafka.variables", false, "Publish what variables become, too"),
    text(
        "export.kafka.hold",
        "7d",
        "TIME",
        "How much longer than said under retention what was not published yet is kept; then it goes, and is missing there",
    ),
    texts(
        "user_tasks.listeners",
        "",
        "LISTENERS",
        "Who listens to all user tasks: ID=TYPE EVENT … with the type of its jobs, and all, creating, assigning, updating, completing or canceling; also retries=3, priority=50 and after, to be asked after those of the process",
    ),
];

const fn text(key: &'static str, default: &'static str, value: &'static str, about: &'static str) -> Setting {
    Setting { key, about, default: Default::Text(default), kind: Kind::Text { value }, is_secret: false }
}

/// Separated by commas on the command line, a list in the file.
const fn texts(key: &'static str, default: &'static str, value: &'static str, about: &'static str) -> Setting {
    Setting { key, about, default: Default::Text(default), kind: Kind::Texts { value }, is_secret: false }
}

const fn words(key: &'static str, default: &'static str, words: &'static [&'static str], about: &'static str) -> Setting {
    Setting { key, about, default: Default::Text(default), kind: Kind::Word(words), is_secret: false }
}

const fn flag(key: &'static str, default: bool, about: &'static str) -> Setting {
    let default = Default::Text(if default { "true" } else { "false" });
    Setting { key, about, default, kind: Kind::Flag, is_secret: false }
}

const fn number(key: &'static str, default: u64, range: RangeInclusive<u64>, about: &'static str) -> Setting {
    Setting { key, about, default: Default::Number(default), kind: Kind::Number(range), is_secret: false }
}
