//! A server of its own for every scenario, whose time can be moved.

use std::cell::RefCell;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::broker::ports;
use crate::given;

#[derive(Debug, Clone, Copy)]
pub(crate) enum StoreKind {
    Memory,
    Sqlite,
    Postgres,
}

pub(crate) struct Server {
    child: RefCell<Child>,
    pub(crate) rest: SocketAddr,
    pub(crate) grpc: SocketAddr,
    metrics: SocketAddr,
    url: String,
    folder: Option<PathBuf>,
    settings: Vec<String>,
}

impl Server {
    pub(crate) fn start(store: StoreKind) -> Self {
        Self::with(store, &[])
    }

    pub(crate) fn with(store: StoreKind, settings: &[&str]) -> Self {
        let [rest, grpc, metrics] = ports::addresses();
        let (url, folder) = place(store);
        let settings: Vec<String> = settings.iter().map(|setting| (*setting).to_owned()).collect();
        let child = RefCell::new(spawn(&url, [rest, grpc, metrics], &settings));
        Self { child, rest, grpc, metrics, url, folder, settings }
    }

    /// Stops the server and starts another on what it has left; in memory nothing is left, so it stays.
    pub(crate) fn restart(&self) {
        if self.url == "memory:" {
            return;
        }
        let mut child = self.child.borrow_mut();
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        child.wait().unwrap();
        *child = spawn(&self.url, [self.rest, self.grpc, self.metrics], &self.settings);
    }

    pub(crate) fn advance(&self, duration: &str) {
        let body = format!("{{\"duration\":\"{duration}\"}}");
        let url = format!("http://{}/v1/clock/advance", self.rest);
        ureq::post(&url).header("content-type", "application/json").send(body).unwrap();
    }
}

fn spawn(url: &str, [rest, grpc, metrics]: [SocketAddr; 3], settings: &[String]) -> Child {
    let addresses = [("--rest", rest), ("--grpc", grpc), ("--metrics", metrics)];
    let mut command = Command::new(env!("CARGO_BIN_EXE_caudal"));
    command.args(["serve", "--test-clock", "--log-level", "error", "--store", url]);
    command.args(settings);
    command.args(addresses.iter().flat_map(|(flag, address)| [(*flag).to_owned(), address.to_string()]));
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut banner = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(banner.next().unwrap().unwrap().contains("is ready"));
    child
}

impl Drop for Server {
    fn drop(&mut self) {
        let _already_gone = self.child.get_mut().kill();
        let _already_gone = self.child.get_mut().wait();
        if let Some(folder) = &self.folder {
            let _already_gone = std::fs::remove_dir_all(folder);
        }
    }
}

fn place(store: StoreKind) -> (String, Option<PathBuf>) {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = format!("scenario_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
    match store {
        StoreKind::Memory => ("memory:".to_owned(), None),
        StoreKind::Sqlite => {
            let folder = std::env::temp_dir().join(name);
            (format!("sqlite:{}", folder.display()), Some(folder))
        }
        StoreKind::Postgres => {
            let base = given::postgres().unwrap();
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let (client, connection) = tokio_postgres::connect(&base, tokio_postgres::NoTls).await.unwrap();
                let connection = tokio::spawn(connection);
                client.batch_execute(&format!("CREATE DATABASE {name}")).await.unwrap();
                connection.abort();
            });
            let (scheme, rest) = base.split_once("://").unwrap();
            let (place, options) =
                rest.split_once('?').map_or((rest, String::new()), |(place, options)| (place, format!("?{options}")));
            let host = place.split('/').next().unwrap();
            (format!("{scheme}://{host}/{name}{options}"), None)
        }
    }
}
