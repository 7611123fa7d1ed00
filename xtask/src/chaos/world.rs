//! The system under test: one store, one or more servers, deployed and ready.

use std::fs;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;

use super::broker::Broker;
use super::check::Log;
use super::http::{Connection, Request};
use super::proxy::Proxy;
use super::server::{Roles, Server};
use super::{process, state};
use crate::places::Places;
use crate::postgres::Cluster;

/// Which servers there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    One,
    /// Two that both may own the partition.
    Pair,
    /// One that processes, and two that only append: commands reach the log by three ways at once.
    Split,
}

impl Layout {
    pub(crate) const ALL: [Layout; 3] = [Layout::One, Layout::Pair, Layout::Split];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Layout::One => "one",
            Layout::Pair => "pair",
            Layout::Split => "split",
        }
    }

    fn roles(self) -> &'static [Roles] {
        match self {
            Layout::One => &[Roles::Both],
            Layout::Pair => &[Roles::Both, Roles::Both],
            Layout::Split => &[Roles::Engine, Roles::Api, Roles::Api],
        }
    }
}

#[derive(Debug)]
pub(super) struct World<'a> {
    pub(super) servers: Vec<Server>,
    /// Where clients call.
    pub(super) doors: Vec<SocketAddr>,
    places: &'a Places,
    store: Site<'a>,
    /// Where jobs are announced, if they are.
    broker: Option<Broker>,
}

#[derive(Debug)]
enum Site<'a> {
    Sqlite(PathBuf),
    Postgres(Postgres<'a>),
}

/// A database on a cluster, which each server reaches through a network of its own that can be disturbed.
#[derive(Debug)]
pub(super) struct Postgres<'a> {
    pub(super) cluster: &'a mut Cluster,
    /// By server.
    pub(super) networks: Vec<Proxy>,
    pub(super) database: String,
    url: String,
}

impl<'a> World<'a> {
    /// Without a cluster the store is a file. `name` names logs, folder and database.
    pub(super) fn build(
        places: &'a Places,
        cluster: Option<&'a mut Cluster>,
        layout: Layout,
        name: &str,
        broker: Option<Broker>,
    ) -> Result<World<'a>, String> {
        let store = match cluster {
            None => Site::Sqlite(empty_folder(places, name)?),
            Some(cluster) => {
                let database = name.replace('-', "_");
                let url = cluster.fresh_database(&database)?;
                Site::Postgres(Postgres { cluster, networks: Vec::new(), database, url })
            }
        };
        // The shortest lease that a busy machine still renews in time, so that a run sees many owners.
        let mut settings = broker.as_ref().map_or(String::new(), |broker| {
            // Jobs that died with a worker, or that one forgot, are announced again soon.
            format!("dispatch = \"kafka_outbox\"\n[kafka]\nbrokers = \"{}\"\nlease_seconds = 10\n", broker.address)
        });
        if layout == Layout::Pair {
            // With one name, as from one image: they must not take each other for themselves.
            settings.insert_str(0, "node = \"chaos\"\n");
            settings.push_str("[limits]\nlease_millis = 2000\n");
        }
        let mut world = World { servers: Vec::new(), doors: Vec::new(), places, store, broker };
        for (number, roles) in (1..).zip(layout.roles()) {
            let address = world.store.address()?;
            let mut server = Server::new(places, &format!("{name}-server-{number}"), &address, &settings, *roles)?;
            server.start()?;
            if *roles != Roles::Engine {
                world.doors.push(server.rest);
            }
            world.servers.push(server);
        }
        for (process, file) in process::ALL {
            deploy(world.doors[0], process, file)?;
        }
        Ok(world)
    }

    pub(super) fn postgres(&mut self) -> Result<&mut Postgres<'a>, String> {
        match &mut self.store {
            Site::Postgres(postgres) => Ok(postgres),
            Site::Sqlite(_) => Err("this fault needs PostgreSQL".to_owned()),
        }
    }

    pub(super) fn broker(&mut self) -> Result<&mut Broker, String> {
        self.broker.as_mut().ok_or_else(|| "there is no broker".to_owned())
    }

    /// Stops every server and reads the log in the store.
    pub(super) fn close(&mut self) -> Result<Log, String> {
        self.servers.iter_mut().for_each(Server::stop);
        match &self.store {
            Site::Sqlite(folder) => state::sqlite_log(self.places, folder),
            Site::Postgres(postgres) => state::postgres_log(postgres.cluster, &postgres.url),
        }
    }
}

impl World<'_> {
    /// The same, with what a statement finds in the store.
    pub(super) fn close_and_ask(&mut self, statement: &str) -> Result<(Log, String), String> {
        let log = self.close()?;
        let found = match &self.store {
            Site::Sqlite(folder) => state::sqlite(self.places, &folder.join("caudal.db"), statement),
            Site::Postgres(postgres) => postgres.cluster.ask(&postgres.url, statement),
        };
        Ok((log, found?))
    }
}

impl Site<'_> {
    /// What the next server takes as `--store`.
    fn address(&mut self) -> Result<String, String> {
        match self {
            Site::Sqlite(folder) => Ok(format!("sqlite:{}", folder.display())),
            Site::Postgres(postgres) => {
                let host = host_and_port(&postgres.url);
                let with_port = if host.contains(':') { host.to_owned() } else { format!("{host}:5432") };
                let found = with_port.to_socket_addrs().map_err(|error| format!("{host}: {error}"))?.next();
                let network = Proxy::to(found.ok_or_else(|| format!("{host} names no address"))?)?;
                let address = postgres.url.replacen(host, &format!("127.0.0.1:{}", network.port), 1);
                postgres.networks.push(network);
                Ok(address)
            }
        }
    }
}

fn empty_folder(places: &Places, name: &str) -> Result<PathBuf, String> {
    let folder = places.own.join("data").join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| format!("cannot remove {}: {error}", folder.display()))?;
    }
    Ok(folder)
}

/// `HOST:PORT` of a `postgres://` URL, or `HOST` alone.
fn host_and_port(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

pub(super) fn deploy(server: SocketAddr, name: &str, file: &str) -> Result<(), String> {
    const BOUNDARY: &str = "caudal-chaos-boundary";
    let body = format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"resources\"; filename=\"{name}.bpmn\"\r\n\
         Content-Type: application/octet-stream\r\n\r\n{file}\r\n--{BOUNDARY}--\r\n"
    );
    let kind = format!("multipart/form-data; boundary={BOUNDARY}");
    let request = Request { method: "POST", path: "/v2/deployments", kind: &kind, idempotency_key: None, body: body.as_bytes() };
    Connection::default().must(server, &request).map(drop)
}

#[cfg(test)]
mod tests {
    use super::host_and_port;

    #[test]
    fn where_a_database_is() {
        assert_eq!(host_and_port("postgres://me:p@ss@db.example:5432/x?y=z"), "db.example:5432");
        assert_eq!(host_and_port("postgres://127.0.0.1:5433/x"), "127.0.0.1:5433");
    }
}
