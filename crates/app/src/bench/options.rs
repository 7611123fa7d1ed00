//! What the benches can be told.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct BenchTimers {
    /// Where the fresh store is made: sqlite:FOLDER (a new folder in it) or postgres://… (a new database beside the one named)
    #[arg(long, value_name = "URL", hide_env_values = true)]
    pub(crate) store: Option<String>,
    /// Timers that are pending meanwhile
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000_000)]
    pub(crate) pending: u64,
    /// Print JSON, one document
    #[arg(long)]
    pub(crate) json: bool,
}

/// What the benches of processes and of workflows have in common.
#[derive(Debug, Clone, Args)]
pub(crate) struct BenchRun {
    /// REST address of a running server [default: a server started for the bench]
    #[arg(long, value_name = "URL", conflicts_with = "store")]
    pub(crate) url: Option<String>,
    /// gRPC address of the running server
    #[arg(long, value_name = "ADDR", requires = "url", default_value = "127.0.0.1:26500")]
    pub(crate) grpc: String,
    /// Process of the running server, for its memory and CPU
    #[arg(long, value_name = "PID", requires = "url")]
    pub(crate) server_pid: Option<u32>,
    /// A process of the running server's database, for the database's CPU
    #[arg(long, value_name = "PID", requires = "url")]
    pub(crate) database_pid: Option<u32>,
    /// Where the fresh store is made: sqlite:FOLDER (a new folder in it), postgres://… (a new database beside the one named), or memory:
    #[arg(long, value_name = "URL", hide_env_values = true)]
    pub(crate) store: Option<String>,
    /// Instances started per second [default: as many as go]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rate: Option<u32>,
    /// How long to warm up before anything counts
    #[arg(long, value_name = "SECONDS", default_value_t = 2)]
    pub(crate) warm_up: u64,
    /// How long to measure, after warming up
    #[arg(long, value_name = "NUMBER", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) seconds: u64,
    /// Measure until this many instances are completed, instead of a time
    #[arg(long, value_name = "NUMBER", conflicts_with = "seconds")]
    pub(crate) instances: Option<u64>,
    /// Workers, each with a stream of its own (gRPC) or a poll of its own (REST); without any, instances are left running once created
    #[arg(long, value_name = "NUMBER", default_value_t = 4)]
    pub(crate) workers: u32,
    /// Instances being created at the same time, at most
    #[arg(long, value_name = "NUMBER", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) starters: u32,
    /// Size of an instance's variables as JSON
    #[arg(long, value_name = "NUMBER", default_value_t = 512)]
    pub(crate) variables_bytes: usize,
    /// How many variables an instance has; they share that size
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) variables_count: u32,
    /// Instances running at the same time, at most [default: four for each that may be in creation]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) running: Option<u32>,
    /// Print JSON, one document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BenchProcess {
    #[command(flatten)]
    pub(crate) run: BenchRun,
    /// What starters and workers speak
    #[arg(long, value_enum, default_value_t = Protocol::Grpc)]
    pub(crate) protocol: Protocol,
    /// Service tasks one after the other
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) tasks: u32,
    /// A model to measure instead: BPMN or JSON, with the files it calls or decides by; the first process of the first is started
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["tasks", "floor"])]
    pub(crate) model: Vec<PathBuf>,
    /// With a model: jobs completed and messages published until an instance counts as done [default: found out with one instance]
    #[arg(long, value_name = "NUMBER", requires = "model", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) steps: Option<u32>,
    /// With a model: the process that is started
    #[arg(long, value_name = "ID", requires = "model")]
    pub(crate) process_id: Option<String>,
    /// With a model: a job type it computes; those that are written out are found
    #[arg(long, value_name = "TYPE", requires = "model")]
    pub(crate) job_type: Vec<String>,
    /// With a model: a message published for every instance once it is created, with the correlation key `order.key`
    #[arg(long, value_name = "MESSAGE", requires = "model")]
    pub(crate) publish: Vec<String>,
    /// With a model: variables of every instance beside `order`, as a JSON object
    #[arg(long, value_name = "JSON", requires = "model", default_value = "{}")]
    pub(crate) variables: String,
    /// Also measure what the store takes of the same rows in the same batches without the engine: the ceiling of this machine
    #[arg(long, conflicts_with = "url")]
    pub(crate) floor: bool,
    /// How workers get their jobs; kafka measures jobs through a broker next to jobs asked for, as fast as each goes and at a tenth of that
    #[arg(long, value_enum, default_value_t = Dispatch::Polling, conflicts_with_all = ["url", "model", "floor"])]
    pub(crate) dispatch: Dispatch,
    /// Where Kafka is, for the dispatch through it
    #[arg(long, value_name = "ADDRS", required_if_eq("dispatch", "kafka"))]
    pub(crate) brokers: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dispatch {
    /// They ask for them
    Polling,
    /// They hear of them on a topic
    Kafka,
}

#[derive(Debug, Args)]
pub(crate) struct BenchWorkflow {
    #[command(flatten)]
    pub(crate) run: BenchRun,
    /// How workers ask for jobs
    #[arg(long, value_enum, default_value_t = Polling::Waiting)]
    pub(crate) polling: Polling,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Polling {
    /// As clients of the contract do: one job at a time, half a second of sleep when there is none
    Contract,
    /// Up to 32 jobs at a time, with a poll that waits for them
    Waiting,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Protocol {
    Grpc,
    Rest,
}
