//! The real binary as a server under test, on a fresh store and free loopback ports.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::children::{Farewell, Running};
use crate::places::Places;
use crate::postgres::Cluster;

const READY_MAX: Duration = Duration::from_secs(30);

/// A store the product supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Store {
    Sqlite,
    Postgres,
}

impl Store {
    pub(crate) const ALL: [Store; 2] = [Store::Sqlite, Store::Postgres];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Store::Sqlite => "sqlite",
            Store::Postgres => "postgres",
        }
    }
}

/// A running server. Dropping it stops it and removes its data.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) rest: String,
    pub(crate) grpc: String,
    data: PathBuf,
    process: Running,
}

impl Server {
    /// `purpose` names its log, its data folder and its database.
    pub(crate) fn start(places: &Places, cluster: &Cluster, store: Store, purpose: &str) -> Result<Server, String> {
        let [rest, grpc, metrics] = [address()?, address()?, address()?];
        let data = places.own.join("data").join(format!("{purpose}-{}", store.name()));
        if data.exists() {
            fs::remove_dir_all(&data).map_err(|error| format!("cannot remove {}: {error}", data.display()))?;
        }
        fs::create_dir_all(&data).map_err(|error| format!("cannot make {}: {error}", data.display()))?;
        let log = places.log(&format!("server-{purpose}-{}", store.name()));
        let file = fs::File::create(&log).map_err(|error| format!("cannot write {}: {error}", log.display()))?;
        let other = file.try_clone().map_err(|error| error.to_string())?;

        let mut command = Command::new(places.caudal());
        command.arg("serve").arg("--data").arg(&data).args(["--rest", &rest, "--grpc", &grpc, "--metrics", &metrics]);
        if store == Store::Postgres {
            let database = format!("clients_{}", purpose.replace('-', "_"));
            command.args(["--store", &cluster.fresh_database(&database)?]);
        }
        command.current_dir(&data).stdout(file).stderr(other);
        let process = Running::start(&mut command, Farewell::Terminate)
            .map_err(|error| format!("cannot start {}: {error}", places.caudal().display()))?;
        let mut server = Server { rest: format!("http://{rest}"), grpc, data, process };
        server
            .wait_until_ready(&metrics)
            .map_err(|why| format!("{why}\n{}", crate::logged::tail(&fs::read_to_string(&log).unwrap_or_default(), 30)))?;
        Ok(server)
    }

    /// Tells a client program where the server is, under the names the client libraries themselves read.
    pub(crate) fn address(&self, command: &mut Command) {
        command.env("CAMUNDA_REST_ADDRESS", &self.rest).env("ZEEBE_REST_ADDRESS", &self.rest);
        command.env("CAMUNDA_GRPC_ADDRESS", format!("http://{}", self.grpc)).env("ZEEBE_ADDRESS", &self.grpc);
        command.env("ZEEBE_GRPC_ADDRESS", format!("grpc://{}", self.grpc)).env("CAMUNDA_AUTH_STRATEGY", "NONE");
        command.env("ZEEBE_INSECURE_CONNECTION", "true").env("LOGURU_LEVEL", "WARNING");
    }

    /// Whether it still runs: a server that died under a client is a failure, whatever the client says.
    pub(crate) fn check(&mut self) -> Result<(), String> {
        match self.process.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => Err(format!("the server ended by itself ({status})")),
            Err(error) => Err(error.to_string()),
        }
    }

    fn wait_until_ready(&mut self, metrics: &str) -> Result<(), String> {
        let deadline = Instant::now() + READY_MAX;
        while Instant::now() < deadline {
            self.check()?;
            if is_ready(metrics) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Err(format!("the server was not ready within {} s", READY_MAX.as_secs()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.stop();
        fs::remove_dir_all(&self.data).ok();
    }
}

/// A port that was free a moment ago.
pub(crate) fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(|error| format!("no free port on loopback: {error}"))?;
    listener.local_addr().map(|address| address.port()).map_err(|error| error.to_string())
}

/// An address nobody listened on a moment ago.
pub(crate) fn address() -> Result<String, String> {
    free_port().map(|port| format!("127.0.0.1:{port}"))
}

/// Whether the server with that address for metrics does what it is asked.
pub(crate) fn is_ready(metrics: &str) -> bool {
    get(metrics, "/health/ready").is_ok_and(|answer| answer.split_whitespace().nth(1) == Some("200"))
}

/// The whole answer to a plain GET, head and body.
pub(crate) fn get(address: &str, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
