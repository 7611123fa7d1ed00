//! The real binary as a server under test, on a fresh store and free loopback ports.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use crate::children::{self, Farewell, Running};
use crate::places::Places;
use crate::postgres::Cluster;

const READY_MAX: Duration = Duration::from_secs(120);
const PORTS: Range<u16> = 12_000..20_000;

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

/// A fresh store for servers under test, removed when the last of them is gone.
#[derive(Debug)]
pub(crate) struct Data {
    pub(crate) folder: PathBuf,
    /// As `--store` takes it.
    url: String,
    log: PathBuf,
}

impl Data {
    /// `purpose` names the log, the data folder and the database.
    pub(crate) fn fresh(places: &Places, cluster: &Cluster, store: Store, purpose: &str) -> Result<Rc<Data>, String> {
        let folder = places.own.join("data").join(format!("{purpose}-{}", store.name()));
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(|error| format!("cannot remove {}: {error}", folder.display()))?;
        }
        fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        children::remove_with_us(&folder);
        let url = match store {
            Store::Sqlite => format!("sqlite:{}", folder.display()),
            Store::Postgres => cluster.fresh_database(&format!("clients_{}", purpose.replace('-', "_")))?,
        };
        Data::with_log(places, folder, url, &format!("{purpose}-{}", store.name()))
    }

    /// A store that is gone with its server.
    pub(crate) fn memory(places: &Places, purpose: &str) -> Result<Rc<Data>, String> {
        let folder = places.own.join("data").join(format!("{purpose}-memory"));
        fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        Data::with_log(places, folder, "memory:".to_owned(), &format!("{purpose}-memory"))
    }

    fn with_log(places: &Places, folder: PathBuf, url: String, purpose: &str) -> Result<Rc<Data>, String> {
        let log = places.log(&format!("server-{purpose}"));
        fs::write(&log, "").map_err(|error| format!("cannot write {}: {error}", log.display()))?;
        Ok(Rc::new(Data { folder, url, log }))
    }

    /// As `--store` takes it.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Data {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.folder).ok();
    }
}

/// A running server. Dropping it stops it.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) rest: String,
    pub(crate) grpc: String,
    pub(crate) metrics: String,
    /// How long it took from being started to being ready.
    pub(crate) start: Duration,
    process: Running,
    _data: Rc<Data>,
}

impl Server {
    /// On a store of its own.
    pub(crate) fn start(places: &Places, cluster: &Cluster, store: Store, purpose: &str) -> Result<Server, String> {
        Server::on(&places.caudal(), &Data::fresh(places, cluster, store, purpose)?)
    }

    pub(crate) fn on(binary: &Path, data: &Rc<Data>) -> Result<Server, String> {
        Server::with(binary, data, &[])
    }

    /// With flags of its own.
    pub(crate) fn with(binary: &Path, data: &Rc<Data>, more: &[&str]) -> Result<Server, String> {
        let [rest, grpc, metrics] = [address()?, address()?, address()?];
        let log = fs::OpenOptions::new().append(true).open(&data.log);
        let log = log.map_err(|error| format!("cannot write {}: {error}", data.log.display()))?;
        let other = log.try_clone().map_err(|error| error.to_string())?;
        let mut command = Command::new(binary);
        command.args(["serve", "--store", &data.url, "--rest", &rest, "--grpc", &grpc, "--metrics", &metrics]);
        command.args(more).current_dir(&data.folder).stdout(log).stderr(other);
        let begun = Instant::now();
        let process = Running::start(&mut command, Farewell::Terminate)
            .map_err(|error| format!("cannot start {}: {error}", binary.display()))?;
        let rest = format!("http://{rest}");
        let mut server = Server { rest, grpc, metrics, start: Duration::ZERO, process, _data: data.clone() };
        server
            .wait_until_ready()
            .map_err(|why| format!("{why}\n{}", crate::logged::tail(&fs::read_to_string(&data.log).unwrap_or_default(), 30)))?;
        server.start = begun.elapsed();
        Ok(server)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.child.id()
    }

    /// Ends it without a warning.
    pub(crate) fn kill(mut self) -> Result<(), String> {
        self.process
            .child
            .kill()
            .and_then(|()| self.process.wait())
            .map(drop)
            .map_err(|error| format!("cannot kill the server: {error}"))
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

    fn wait_until_ready(&mut self) -> Result<(), String> {
        let deadline = Instant::now() + READY_MAX;
        while Instant::now() < deadline {
            self.check()?;
            if is_ready(&self.metrics) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Err(format!("the server was not ready within {} s", READY_MAX.as_secs()))
    }
}

/// A port that was free a moment ago, and is given to nobody else for long: several parts of a test run ask side by side. It is below those that the system
/// gives to outgoing connections, one of which could take it at any moment, and away from those that the Rust tests take.
pub(crate) fn free_port() -> Result<u16, String> {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let begin = (std::process::id() as u16).wrapping_mul(37);
    let candidates = (0..PORTS.len()).map(|_| {
        let place = begin.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        PORTS.start + place % (PORTS.end - PORTS.start)
    });
    let mut free = candidates.filter(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    free.next().ok_or_else(|| format!("no free port on loopback between {} and {}", PORTS.start, PORTS.end))
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
    request(address, &format!("GET {path}"), "")
}

/// The whole answer to a request with JSON in it, head and body.
pub(crate) fn request(address: &str, what: &str, body: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let length = body.len();
    write!(
        stream,
        "{what} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
