//! The server under test: one that runs already, or this very binary, started on free ports with a fresh store.

use std::fs::File;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::fresh::{Folder, Fresh};
use super::http::Connection;
use super::options::BenchRun;

/// How long a server may take to start.
const START_MAX: Duration = Duration::from_secs(15);
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) struct Target {
    /// HOST:PORT
    pub(super) rest: String,
    /// HOST:PORT
    pub(super) grpc: String,
    own: Option<Own>,
    /// The server's process, if it is known.
    pub(super) pid: Option<u32>,
    /// A process of the database, if it runs on this machine and is known.
    pub(super) backend: Option<u32>,
}

/// A server of the bench's own.
struct Own {
    server: Server,
    fresh: Fresh,
    metrics: String,
}

impl Target {
    pub(super) async fn of(options: &BenchRun) -> Result<Self, String> {
        match &options.url {
            Some(url) => Ok(Self {
                rest: authority(url)?,
                grpc: authority(&options.grpc)?,
                own: None,
                pid: options.server_pid,
                backend: options.database_pid,
            }),
            None => Self::start(options.store.as_deref(), &[]).await,
        }
    }

    /// A server of the bench's own, with these settings.
    pub(super) async fn start(store: Option<&str>, settings: &[&str]) -> Result<Self, String> {
        let fresh = Fresh::make(store).await?;
        let [rest, grpc, metrics] = free_addresses()?;
        let mut server = match Server::start(&fresh.url(), [&rest, &grpc, &metrics], settings) {
            Ok(server) => server,
            Err(reason) => return Err(gone(fresh, reason).await),
        };
        match server.ready(&metrics).await {
            Ok(()) => {
                let (pid, backend) = (Some(server.child.id()), fresh.database().and_then(|database| database.backend));
                Ok(Self { rest, grpc, own: Some(Own { server, fresh, metrics }), pid, backend })
            }
            Err(reason) => {
                drop(server);
                Err(gone(fresh, reason).await)
            }
        }
    }

    /// How many commits the server has made.
    pub(super) async fn ticks(&self) -> Option<u64> {
        let own = self.own.as_ref()?;
        let answer = Connection::to(&own.metrics).get("/metrics", PATIENCE).await.ok()?;
        let text = String::from_utf8(answer.body).ok()?;
        let (_, count) = text.split_once("tick_commands_count ")?;
        count.split_whitespace().next()?.parse().ok()
    }

    /// What the server wrote last.
    pub(super) fn log(&self) -> Option<String> {
        self.own.as_ref().map(|own| own.server.log())
    }

    /// Stops the bench's own server and gives its store.
    pub(super) fn stop(self) -> Option<Fresh> {
        self.own.map(|Own { server, fresh, .. }| {
            drop(server);
            fresh
        })
    }
}

/// The store goes with the server that could not start.
async fn gone(fresh: Fresh, reason: String) -> String {
    match fresh.remove().await {
        Ok(()) => reason,
        Err(more) => format!("{reason}; {more}"),
    }
}

/// A process that ends with its owner.
pub(super) struct Server {
    child: Child,
    folder: Folder,
}

impl Server {
    pub(super) fn start(store: &str, [rest, grpc, metrics]: [&str; 3], settings: &[&str]) -> Result<Self, String> {
        let binary = std::env::current_exe().map_err(|error| format!("cannot find the own binary: {error}"))?;
        let folder = Folder::make(&std::env::temp_dir())?;
        let log = File::create(folder.path().join("log")).map_err(|error| format!("cannot write a log: {error}"))?;
        let mut command = Command::new(binary);
        command.args(["serve", "--store", store, "--rest", rest, "--grpc", grpc, "--metrics", metrics, "--log-level", "warn"]);
        command.args(settings);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("CAUDAL_") {
                command.env_remove(name);
            }
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let child = command.spawn().map_err(|error| format!("cannot start a server: {error}"))?;
        Ok(Self { child, folder })
    }

    pub(super) async fn ready(&mut self, metrics: &str) -> Result<(), String> {
        let begun = Instant::now();
        let mut connection = Connection::to(metrics);
        while begun.elapsed() < START_MAX {
            if let Ok(answer) = connection.get("/health/ready", PATIENCE).await
                && answer.status == 200
            {
                return Ok(());
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(format!("the server ended with {status}:\n{}", self.log()));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Err(format!("the server was not ready within {} s:\n{}", START_MAX.as_secs(), self.log()))
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Lets it finish and give back its lease.
    pub(super) fn stop(mut self) {
        let pid = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(pid) = pid
            && rustix::process::kill_process(pid, rustix::process::Signal::TERM).is_ok()
        {
            // What it says at its end nobody reads.
            let _ = self.child.wait();
        }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Addresses nobody listens at just now. All are held before any is given away, so that they differ.
pub(super) fn free_addresses() -> Result<[String; 3], String> {
    let bind = || TcpListener::bind("127.0.0.1:0").map_err(|error| format!("no free port: {error}"));
    let held = [bind()?, bind()?, bind()?];
    let mut addresses = [String::new(), String::new(), String::new()];
    for (address, listener) in addresses.iter_mut().zip(&held) {
        *address = listener.local_addr().map_err(|error| error.to_string())?.to_string();
    }
    Ok(addresses)
}

/// HOST:PORT of an address with or without a scheme.
fn authority(url: &str) -> Result<String, String> {
    let place = match url.split_once("://") {
        Some(("http", place)) => place,
        Some((scheme, _)) => return Err(format!("{scheme} is not spoken here: use http://HOST:PORT")),
        None => url,
    };
    let place = place.trim_end_matches('/');
    if place.rsplit_once(':').is_none_or(|(_, port)| port.parse::<u16>().is_err()) {
        return Err(format!("'{url}' has no port: use http://HOST:PORT"));
    }
    Ok(place.to_owned())
}

#[cfg(test)]
mod tests {
    use super::authority;

    #[test]
    fn addresses() {
        assert_eq!(authority("http://localhost:8080/").as_deref(), Ok("localhost:8080"));
        assert_eq!(authority("127.0.0.1:26500").as_deref(), Ok("127.0.0.1:26500"));
        assert!(authority("https://localhost:8080").is_err());
        assert!(authority("http://localhost").is_err());
    }
}
