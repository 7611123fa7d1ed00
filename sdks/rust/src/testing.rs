//! For tests: handlers with fake jobs, and a real server in the background.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::TcpListener;
use std::ops::Range;
use std::process::Stdio;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use crate::http::{Http, Options, send};
use crate::rest::duration;
use crate::{Client, Error, Job, JobContext, Outcome, Registry};

const READY_MAX: Duration = Duration::from_secs(30);
/// More than any test says of its progress.
const SAID_MAX: usize = 1_000;

/// A job as a handler would get it.
pub fn fake_job(job_type: &str, variables: &impl Serialize) -> Result<Job, Error> {
    Ok(Job {
        id: "1".to_owned(),
        job_type: job_type.to_owned(),
        instance_id: "2".to_owned(),
        step_id: "step".to_owned(),
        step_execution_id: "3".to_owned(),
        retries_remaining: 0,
        variables: serde_json::value::to_raw_value(variables)?,
        lease: 1,
        progress: None,
        trace_context: BTreeMap::new(),
    })
}

/// Runs the handler of a job type as a runner would, without a server; what became of the job.
pub async fn run_job(registry: &Registry, job_type: &str, variables: &impl Serialize) -> Result<Outcome, Error> {
    let (report, _said) = mpsc::channel(SAID_MAX);
    Ok(registry.run(&JobContext::new(fake_job(job_type, variables)?, report)).await)
}

/// A real server on free ports of loopback: the `caudal` on the path, or `$CAUDAL_BINARY`. Its clock can be moved. Dropping it kills it.
#[derive(Debug)]
pub struct Server {
    /// Its address for REST.
    pub rest: String,
    /// Its address for gRPC.
    pub grpc: String,
    /// Where it tells its metrics.
    pub metrics: String,
    arguments: Vec<String>,
    folder: TempDir,
    process: Option<Child>,
}

impl Server {
    /// With a store in memory.
    pub async fn start() -> Result<Server, Error> {
        Server::start_with("memory:", &[]).await
    }

    /// With another store, such as `sqlite:FOLDER`, which survives [`Server::kill`], and with further arguments.
    pub async fn start_with(store: &str, arguments: &[&str]) -> Result<Server, Error> {
        let [rest, grpc, metrics] = free_places();
        let places = ["serve", "--test-clock", "--store", store, "--rest", &rest, "--grpc", &grpc, "--metrics", &metrics];
        let arguments = places.iter().chain(arguments).map(|word| (*word).to_owned()).collect();
        let (rest, grpc) = (format!("http://{rest}"), format!("grpc://{grpc}"));
        let mut server =
            Server { rest, grpc, metrics: format!("http://{metrics}"), arguments, folder: TempDir::new()?, process: None };
        server.start_again().await?;
        Ok(server)
    }

    /// A client of it.
    pub fn client(&self) -> Client {
        Client::new(&self.rest).expect("its address is one")
    }

    /// Starts it after [`Server::kill`], on the same ports and store.
    pub async fn start_again(&mut self) -> Result<(), Error> {
        let log = std::fs::OpenOptions::new().create(true).append(true).open(self.folder.path().join("server.log"))?;
        let binary = std::env::var_os("CAUDAL_BINARY").unwrap_or_else(|| OsString::from("caudal"));
        let mut command = Command::new(binary);
        command.args(&self.arguments).current_dir(self.folder.path()).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        self.process = Some(command.spawn()?);
        let http = Http::new(&self.metrics, Options::default())?;
        let deadline = Instant::now() + READY_MAX;
        while send(http.request(reqwest::Method::GET, "/health/ready")).await.is_err() {
            if deadline < Instant::now() {
                let said = std::fs::read_to_string(self.folder.path().join("server.log")).unwrap_or_default();
                return Err(std::io::Error::other(format!("the server did not start:\n{said}")).into());
            }
            sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    }

    /// Ends it without a warning.
    pub async fn kill(&mut self) -> Result<(), Error> {
        match self.process.take() {
            Some(mut process) => Ok(process.kill().await?),
            None => Ok(()),
        }
    }

    /// Moves its clock on: what falls due meanwhile happens.
    pub async fn advance(&self, by: Duration) -> Result<(), Error> {
        let http = Http::new(&self.rest, Options::default())?;
        send(http.post("/v1/clock/advance", &json!({ "duration": duration(by) }))).await.map(drop)
    }

    /// Lets its clock stand still at a time, in milliseconds since 1970.
    pub async fn pin(&self, millis: u64) -> Result<(), Error> {
        let http = Http::new(&self.rest, Options::default())?;
        send(http.request(reqwest::Method::PUT, "/v2/clock").json(&json!({ "timestamp": millis }))).await.map(drop)
    }
}

/// Below those that the system gives to outgoing connections: one of these could be taken at any moment.
const PORTS: Range<u16> = 10_000..12_000;

/// Addresses nobody listened on a moment ago, all different, and others each time.
fn free_places() -> [String; 3] {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let begin = (std::process::id() as u16).wrapping_mul(37);
    std::array::from_fn(|_| {
        loop {
            let place = begin.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
            let port = PORTS.start + place % (PORTS.end - PORTS.start);
            if TcpListener::bind(("127.0.0.1", port)).is_ok() {
                break format!("127.0.0.1:{port}");
            }
        }
    })
}
