//! The command line. Help texts teach; those of `serve` are made from the table of settings.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::audit::Audit;
use crate::backup::{Backup, Restore};
use crate::batch::{Batch, SomeOrAll};
use crate::bench::batch::BenchBatch;
use crate::bench::crowd::BenchCrowd;
use crate::bench::options::{BenchProcess, BenchTimers, BenchWorkflow};
use crate::bench::queue::BenchQueue;
use crate::bench::search::BenchSearch;
use crate::bench::tasks::BenchTasks;
use crate::change::{Migrate, Modify};
use crate::check::Check;
use crate::dead_letters::DeadLetters;
use crate::decide::Decide;
use crate::definitions::{Definitions, Delete};
use crate::feel::Feel;
use crate::incidents::{Incident, Incidents};
use crate::instance::{Cancel, Instance};
use crate::manual::{Completions, Man};
use crate::purge::Purge;
use crate::queues::{Action, Policies};
use crate::retries::Retries;
use crate::schedules::Schedules;
use crate::settings::Given;
use crate::start::Start;
use crate::variables::Variables;
use crate::watch::Queues;
use crate::work::Work;

/// A durable workflow engine and job queue: BPMN 2.0 processes, Camunda 8 clients, one binary.
#[derive(Debug, Parser)]
#[command(
    name = "caudal",
    version,
    after_help = "Without a command, `caudal` starts the server: the same as `caudal serve`.\n\nFirst steps:\n  caudal serve\n  caudal deploy order.bpmn\n  caudal start order --variables '{\"amount\": 5}'\n  caudal work charge-card --complete-with '{\"paid\": true}'\n  caudal instances\n\nWhen something is stuck:\n  caudal incidents\n  caudal instance KEY\n  caudal variables set KEY '{\"amount\": 7}'\n  caudal incident resolve KEY"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start the server.
    Serve(Box<Given>),
    /// Print the commented configuration file with its defaults, or the settings in use.
    Config(Box<Config>),
    /// Deploy BPMN, DMN and form files and JSON workflows to a running server.
    Deploy(Deploy),
    /// Start an instance of a process.
    Start(Start),
    /// Show the server, its partitions and who owns them.
    Status(Plain),
    /// List process instances, the newest first.
    Instances(Instances),
    /// Show a process instance: its elements, variables, incidents, and what it waits for.
    Instance(Instance),
    /// Cancel process instances, with those they called.
    Cancel(Cancel),
    /// Get or set the variables of a process instance or of one of its elements.
    #[command(subcommand)]
    Variables(Variables),
    /// List incidents, the newest first.
    Incidents(Incidents),
    /// Try again what raised an incident.
    #[command(subcommand)]
    Incident(Incident),
    /// List jobs, the newest first.
    Jobs(Jobs),
    /// Give a job tries again, or take them.
    Retries(Retries),
    /// List the processes that are deployed, or the decisions.
    Definitions(Definitions),
    /// Delete what was deployed: processes without running instances, decisions, forms; or finished process instances.
    Delete(Delete),
    /// Work on jobs of a type: print each, and complete it if told to.
    Work(Work),
    /// List tasks for people, the oldest first.
    Tasks(Tasks),
    /// Claim a task, or complete it.
    #[command(subcommand)]
    Task(Task),
    /// Publish a message: to those that wait for it and, while it lives, to those that will.
    Publish(Publish),
    /// Give a message to those that wait for it now; somebody must.
    Correlate(Correlate),
    /// Broadcast a signal to all that wait for it.
    Signal(Signal),
    /// List timers, the next one due first.
    Timers(Timers),
    /// Let a timer fire now, or at another time.
    #[command(subcommand)]
    Timer(Timer),
    /// Change where an instance is: enter elements, end element instances, move between them.
    Modify(Modify),
    /// Let an instance go on as one of another definition.
    Migrate(Migrate),
    /// Suspend process instances, with those they called: they keep what they wait for, and nothing comes to them.
    Suspend(SomeOrAll),
    /// Let suspended process instances go on.
    Resume(SomeOrAll),
    /// Do one thing to many process instances, and see how far it has come.
    #[command(subcommand)]
    Batch(Batch),
    /// Write a backup of a running server's embedded store into a file.
    Backup(Backup),
    /// Bring a backup back into a folder that has no store.
    Restore(Restore),
    /// Read every row of a store, and compile every definition, decision and form.
    Check(Check),
    /// Remove what is kept no longer now, instead of in time; or count it.
    Purge(Purge),
    /// Show how many jobs of each action wait and run.
    Queues(Queues),
    /// Put, list or delete the policies that limit queues.
    #[command(subcommand)]
    Policies(Policies),
    /// Show who did what, and what happened to jobs, the latest first.
    Audit(Audit),
    /// Pause, resume or drain an action.
    #[command(subcommand)]
    Action(Action),
    /// List, show and retry jobs that nobody tries any more.
    #[command(subcommand)]
    DeadLetters(DeadLetters),
    /// List, make and delete what is submitted again and again.
    #[command(subcommand)]
    Schedules(Schedules),
    /// Evaluate a FEEL expression, without a server.
    Feel(Feel),
    /// Evaluate a decision of a DMN file, without a server.
    Decide(Decide),
    /// Print completions of this command line for a shell.
    Completions(Completions),
    /// Write manual pages into a folder.
    Man(Man),
    /// Measure how fast a server is.
    #[command(subcommand)]
    Bench(Bench),
}

#[derive(Debug, Args)]
pub(crate) struct Config {
    /// Print the settings as `caudal serve` with the same flags, environment and file would use them, or what is wrong with them
    #[arg(long)]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) given: Given,
}

/// Which server to talk to, and how to print.
#[derive(Debug, Args, Clone)]
pub(crate) struct Remote {
    /// REST address of the server
    #[arg(long, value_name = "URL", env = "CAUDAL_URL", default_value = "http://127.0.0.1:8080")]
    pub(crate) url: String,
    /// Authorities in PEM that the server's certificate may be of [default: those the system trusts]
    #[arg(long, value_name = "FILE", env = "CAUDAL_CA")]
    pub(crate) ca: Option<PathBuf>,
    /// Certificate in PEM that says who asks, for a server that wants one
    #[arg(long, value_name = "FILE", env = "CAUDAL_CLIENT_CERT", requires = "client_key")]
    pub(crate) client_cert: Option<PathBuf>,
    /// Private key of that certificate in PEM
    #[arg(long, value_name = "FILE", env = "CAUDAL_CLIENT_KEY", requires = "client_cert")]
    pub(crate) client_key: Option<PathBuf>,
    /// Print JSON, one document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Plain {
    #[command(flatten)]
    pub(crate) remote: Remote,
}

#[derive(Debug, Args)]
pub(crate) struct Deploy {
    /// Files (.bpmn, .dmn, .form, .json); all of them are deployed, or none
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

#[derive(Debug, Args)]
pub(crate) struct Instances {
    /// Of this process only
    #[arg(long, value_name = "PROCESS_ID")]
    pub(crate) process: Option<String>,
    /// In this state only: active, completed or terminated
    #[arg(long, value_name = "STATE")]
    pub(crate) state: Option<String>,
    /// How many at most
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

#[derive(Debug, Args)]
pub(crate) struct Jobs {
    /// Of this type only
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) job_type: Option<String>,
    /// In this state only: created, completed, failed, …
    #[arg(long, value_name = "STATE")]
    pub(crate) state: Option<String>,
    /// How many at most
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

#[derive(Debug, Args)]
pub(crate) struct Publish {
    /// Name of the message
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Correlation key: whom it is for
    #[arg(long, value_name = "KEY", default_value = "")]
    pub(crate) key: String,
    /// How long it is kept for those that do not wait yet, such as PT1H
    #[arg(long, value_name = "DURATION", default_value = "PT0S")]
    pub(crate) ttl: String,
    /// While it is kept, no second message with this id is taken
    #[arg(long, value_name = "ID", default_value = "")]
    pub(crate) id: String,
    /// Variables as a JSON object; @FILE reads them from a file, - from standard input
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) variables: String,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

#[derive(Debug, Args)]
pub(crate) struct Correlate {
    /// Name of the message
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Correlation key: whom it is for
    #[arg(long, value_name = "KEY", default_value = "")]
    pub(crate) key: String,
    /// Variables as a JSON object; @FILE reads them from a file, - from standard input
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) variables: String,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

#[derive(Debug, Args)]
pub(crate) struct Signal {
    /// Name of the signal
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Variables as a JSON object; @FILE reads them from a file, - from standard input
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) variables: String,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

#[derive(Debug, Args)]
pub(crate) struct Timers {
    /// Of this process only
    #[arg(long, value_name = "PROCESS_ID")]
    pub(crate) process: Option<String>,
    /// Of this process instance only
    #[arg(long, value_name = "KEY")]
    pub(crate) instance: Option<String>,
    /// Of this event only
    #[arg(long, value_name = "ELEMENT_ID")]
    pub(crate) element: Option<String>,
    /// In this state only: pending, fired or canceled; all for every state
    #[arg(long, value_name = "STATE", default_value = "pending")]
    pub(crate) state: String,
    /// How many at most
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Timer {
    /// Let a pending timer fire now.
    Fire(TimerFire),
    /// Let a pending timer fire at another time.
    Reschedule(TimerReschedule),
}

#[derive(Debug, Args)]
pub(crate) struct TimerFire {
    /// Key of the timer (see `caudal timers`)
    #[arg(value_name = "KEY")]
    pub(crate) key: u64,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

#[derive(Debug, Args)]
pub(crate) struct TimerReschedule {
    /// Key of the timer (see `caudal timers`)
    #[arg(value_name = "KEY")]
    pub(crate) key: u64,
    /// When it is to fire, such as 2027-01-01T08:00:00Z
    #[arg(value_name = "TIME")]
    pub(crate) due: String,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

#[derive(Debug, Args)]
pub(crate) struct Tasks {
    /// Of this person only
    #[arg(long, value_name = "NAME")]
    pub(crate) assignee: Option<String>,
    /// Those this group may do
    #[arg(long, value_name = "NAME")]
    pub(crate) group: Option<String>,
    /// In this state: created, completed or canceled
    #[arg(long, value_name = "STATE", default_value = "created")]
    pub(crate) state: String,
    /// How many at most
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    /// Take a task that nobody has.
    Claim(Claim),
    /// A task is done.
    Complete(Complete),
}

#[derive(Debug, Args)]
pub(crate) struct Claim {
    /// Key of the task, as `caudal tasks` shows it
    #[arg(value_name = "KEY")]
    pub(crate) key: u64,
    /// Who takes it
    #[arg(long = "as", value_name = "NAME", env = "USER")]
    pub(crate) assignee: String,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

#[derive(Debug, Args)]
pub(crate) struct Complete {
    /// Key of the task, as `caudal tasks` shows it
    #[arg(value_name = "KEY")]
    pub(crate) key: u64,
    /// What came of it, as a JSON object; @FILE reads it from a file, - from standard input
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) variables: String,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    /// Run instances of start → service task → end, or of a model, and report their rate, their latencies, memory and CPU.
    ///
    /// Without --url a server is started on free ports with a fresh store, which is removed at the end.
    Process(BenchProcess),
    /// Keep timers pending and report what they cost, how late timers fire and how fast those that were missed are caught up.
    ///
    /// A server is started on free ports with a fresh store, which is removed at the end.
    Timers(BenchTimers),
    /// Submit executions in bulk, lease and complete them in batches.
    ///
    /// A server is started on free ports with a fresh store, which is removed at the end.
    Queue(BenchQueue),
    /// Run instances of a JSON workflow of two tasks over REST and report the same as for a process.
    ///
    /// Without --url a server is started on free ports with a fresh store, which is removed at the end.
    Workflow(BenchWorkflow),
    /// Create, assign and complete user tasks, then keep many open and report how fast people find theirs.
    ///
    /// A server is started on free ports with a fresh store, which is removed at the end.
    Tasks(BenchTasks),
    /// Go through a long list, send a signal to many and messages among many that wait, and report how others fare meanwhile.
    ///
    /// A server is started on free ports with a fresh store, which is removed at the end.
    Crowd(BenchCrowd),
    /// Cancel many instances by one operation while others are started, and report both rates.
    Batch(BenchBatch),
    /// Fill a store with instances that have ended and that run, and report how long pages of every kind of search take.
    ///
    /// A server is started on free ports with a fresh store, which is removed at the end.
    Search(BenchSearch),
}
