//! A private PostgreSQL cluster for the tests: found or installed, made anew under the target folder, on a free loopback port, gone at
//! the end. Its settings are the server's defaults; only the number of connections is raised, since tests run side by side, and where nothing is
//! measured and no server is killed it does not wait for the disk.

mod rewind;

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::children::{Farewell, Running};
use crate::places::Places;
use crate::{children, logged, packages};

const VERSION_MIN: u32 = 14;
const STEP_MAX: Duration = Duration::from_secs(60);
/// The superuser of the cluster; connections from loopback need no password.
const SUPERUSER: &str = "caudal";

/// A running cluster, or the one the caller brought. Dropping it stops and removes a private one.
#[derive(Debug)]
pub(crate) struct Cluster {
    /// `postgres://…` of its maintenance database.
    pub(crate) url: String,
    pub(crate) version: String,
    private: Option<Private>,
}

#[derive(Debug)]
struct Private {
    binaries: Binaries,
    port: u16,
    folder: PathBuf,
    user: Option<User>,
    log: PathBuf,
    disk: Disk,
    server: Running,
}

/// What a cluster does for the case that the machine loses its power, which no test does to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Disk {
    /// It waits for the disk, as everybody's does.
    Waits,
    /// It writes as much and waits for nothing.
    Hurries,
}

#[derive(Debug, Clone)]
struct Binaries {
    folder: PathBuf,
    version: String,
    major: u32,
}

/// PostgreSQL refuses to run as root, so it runs as somebody else there.
#[derive(Debug, Clone, Copy)]
struct User {
    uid: u32,
    gid: u32,
}

impl Cluster {
    pub(crate) fn start(places: &Places, disk: Disk) -> Result<Cluster, String> {
        if let Ok(url) = std::env::var("CAUDAL_TEST_POSTGRES") {
            return Ok(Cluster { version: "given by CAUDAL_TEST_POSTGRES".to_owned(), ..Cluster::given(&url) });
        }
        Cluster::start_with(places, "postgres", disk)
    }

    /// A server that somebody else runs.
    pub(crate) fn given(url: &str) -> Cluster {
        Cluster { url: url.to_owned(), version: "given".to_owned(), private: None }
    }

    /// One of our own in any case: it may be killed. `purpose` names its folder and its log.
    pub(crate) fn start_private(places: &Places, purpose: &str) -> Result<Cluster, String> {
        Cluster::start_with(places, purpose, Disk::Waits)
    }

    fn start_with(places: &Places, purpose: &str, disk: Disk) -> Result<Cluster, String> {
        let binaries = find_or_install(places)?;
        let user = if we_are_root() { Some(other_user()?) } else { None };
        let folder = empty_folder(places, purpose, user)?;
        children::remove_with_us(&folder);
        let log = places.log(purpose);
        let private = Private::start(binaries, &folder, user, log, disk).inspect_err(|_| drop(fs::remove_dir_all(&folder)))?;
        Ok(Cluster {
            url: format!("postgres://{SUPERUSER}@127.0.0.1:{}/postgres", private.port),
            version: private.binaries.version.clone(),
            private: Some(private),
        })
    }

    /// The URL of a fresh, empty database for one server under test.
    pub(crate) fn fresh_database(&self, name: &str) -> Result<String, String> {
        self.query(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))?;
        self.query(&format!("CREATE DATABASE {name}"))?;
        let (server, options) = self.url.split_once('?').map_or((self.url.as_str(), ""), |(server, options)| (server, options));
        let server = server.rsplit_once('/').map_or(server, |(server, _)| server);
        let options = if options.is_empty() { String::new() } else { format!("?{options}") };
        Ok(format!("{server}/{name}{options}"))
    }

    /// What a statement answers, one line per row.
    pub(crate) fn query(&self, statement: &str) -> Result<String, String> {
        self.ask(&self.url, statement).map(|answer| answer.trim().to_owned())
    }

    /// The server's process and its log, if it is a private one.
    pub(crate) fn process(&self) -> Option<(u32, PathBuf)> {
        self.private.as_ref().map(|private| (private.server.child.id(), private.log.clone()))
    }

    /// What a statement gives in the database of that URL: a line per row, columns apart by `|`.
    pub(crate) fn ask(&self, url: &str, statement: &str) -> Result<String, String> {
        let psql = match &self.private {
            Some(private) => private.binaries.program("psql"),
            None => PathBuf::from("psql"),
        };
        let output = Command::new(&psql)
            .args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--command", statement, url])
            .output()
            .map_err(|error| format!("cannot run {}: {error}", psql.display()))?;
        if !output.status.success() {
            return Err(format!("{statement}: {}", String::from_utf8_lossy(&output.stderr)));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Ends the server and all its sessions as a power cut would, or (`immediate`) as an operator in a hurry.
    pub(crate) fn end(&mut self, how: Sudden) -> Result<(), String> {
        let private = self.private.as_mut().ok_or("only a private PostgreSQL server may be ended")?;
        match how {
            Sudden::Kill => {
                let sessions = children::of(private.server.child.id());
                private.server.kill();
                sessions.into_iter().for_each(children::kill_one);
            }
            Sudden::ImmediateStop => {
                private.server.signal("QUIT")?;
                private.server.wait().map_err(|error| error.to_string())?;
            }
        }
        Ok(())
    }

    /// Starts it again after its end, on what it left behind.
    pub(crate) fn start_again(&mut self) -> Result<(), String> {
        let private = self.private.as_mut().ok_or("only a private PostgreSQL server may be started")?;
        private.launch()
    }
}

/// Ways to go without finishing anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sudden {
    Kill,
    ImmediateStop,
}

impl Private {
    fn start(binaries: Binaries, folder: &Path, user: Option<User>, log: PathBuf, disk: Disk) -> Result<Private, String> {
        make(&binaries, folder, user, &log)?;
        let port = crate::server::free_port()?;
        fs::remove_file(&log).ok();
        let mut server = launch(&binaries, folder, port, user, (&log, disk))?;
        wait_until_ready(&binaries, port, &mut server).map_err(|why| format!("{why}; see {}", log.display()))?;
        Ok(Private { binaries, port, folder: folder.to_owned(), user, log, disk, server })
    }

    fn launch(&mut self) -> Result<(), String> {
        let deadline = Instant::now() + STEP_MAX;
        loop {
            self.server = launch(&self.binaries, &self.folder, self.port, self.user, (&self.log, self.disk))?;
            match wait_until_ready(&self.binaries, self.port, &mut self.server) {
                Ok(()) => return Ok(()),
                // What the last one left in shared memory may take a moment to go.
                Err(_) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(50)),
                Err(why) => return Err(format!("{why}; see {}", self.log.display())),
            }
        }
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        self.server.stop();
        if let Err(error) = fs::remove_dir_all(&self.folder) {
            eprintln!("could not remove {} (port {}): {error}", self.folder.display(), self.port);
        }
    }
}

impl Binaries {
    /// The program from the same installation, or, for the client tools, from the path.
    fn program(&self, name: &str) -> PathBuf {
        let here = self.folder.join(name);
        if here.is_file() { here } else { PathBuf::from(name) }
    }
}

pub(crate) fn we_are_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

fn find_or_install(places: &Places) -> Result<Binaries, String> {
    if let Some(binaries) = find() {
        return Ok(binaries);
    }
    packages::install(&packages::POSTGRES, &places.log("install-postgres"))?;
    find().ok_or_else(|| {
        format!("the package manager brought no PostgreSQL server of version {VERSION_MIN} or later; please install one")
    })
}

/// The newest installation there is, if it is new enough.
fn find() -> Option<Binaries> {
    let mut folders = Vec::new();
    for parent in ["/usr/lib/postgresql", "/usr", "/opt/homebrew/opt", "/usr/local/opt", "/usr/local"] {
        let entries = fs::read_dir(parent).into_iter().flatten().flatten();
        folders.extend(entries.map(|entry| entry.path().join("bin")));
    }
    if let Ok(output) = Command::new("pg_config").arg("--bindir").output() {
        folders.push(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()));
    }
    if let Some(path) = std::env::var_os("PATH") {
        let linked = |folder: PathBuf| fs::canonicalize(folder.join("initdb")).ok()?.parent().map(Path::to_owned);
        folders.extend(std::env::split_paths(&path).filter_map(linked));
    }
    folders.iter().filter_map(|folder| inspect(folder)).filter(|found| VERSION_MIN <= found.major).max_by_key(|found| found.major)
}

/// What is installed there: `postgres --version` says `postgres (PostgreSQL) 15.4 (Debian …)`.
fn inspect(folder: &Path) -> Option<Binaries> {
    if !folder.join("initdb").is_file() {
        return None;
    }
    let output = Command::new(folder.join("postgres")).arg("--version").output().ok()?;
    let words = String::from_utf8_lossy(&output.stdout).into_owned();
    let version = words.split_whitespace().nth(2)?.to_owned();
    let major = version.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()?;
    Some(Binaries { folder: folder.to_owned(), version, major })
}

/// `postgres` where it exists, otherwise `nobody`.
fn other_user() -> Result<User, String> {
    let accounts = fs::read_to_string("/etc/passwd").map_err(|error| format!("/etc/passwd: {error}"))?;
    let account = |name: &str| {
        let fields = accounts.lines().map(|line| line.split(':').collect::<Vec<_>>()).find(|fields| fields[0] == name)?;
        Some(User { uid: fields.get(2)?.parse().ok()?, gid: fields.get(3)?.parse().ok()? })
    };
    ["postgres", "nobody"]
        .into_iter()
        .find_map(account)
        .ok_or_else(|| "PostgreSQL does not run as root, and there is no user `postgres` or `nobody` to run it as".to_owned())
}

/// Under the target folder if that user can get there, otherwise (a checkout below /root, say) in the system's temporary folder.
fn empty_folder(places: &Places, purpose: &str, user: Option<User>) -> Result<PathBuf, String> {
    let temporary = std::env::temp_dir().join(format!("caudal-xtask-{purpose}-{}", std::process::id()));
    for folder in [places.own.join(purpose), temporary] {
        end_leftover(&folder);
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(|error| format!("cannot remove {}: {error}", folder.display()))?;
        }
        fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        let Some(user) = user else { return Ok(folder) };
        chown(&folder, Some(user.uid), Some(user.gid)).map_err(|error| format!("chown {}: {error}", folder.display()))?;
        let mut probe = Command::new("sh");
        probe
            .args(["-c", "cd \"$0\" && touch probe && rm probe"])
            .arg(&folder)
            .uid(user.uid)
            .gid(user.gid)
            .current_dir("/")
            .stderr(Stdio::null());
        if probe.status().is_ok_and(|status| status.success()) {
            return Ok(folder);
        }
        fs::remove_dir_all(&folder).ok();
    }
    Err("found no folder that PostgreSQL's user may write to".to_owned())
}

/// A run that was killed outright leaves its cluster running.
fn end_leftover(folder: &Path) {
    let Ok(content) = fs::read_to_string(folder.join("data").join("postmaster.pid")) else { return };
    let Some(pid) = content.lines().next().and_then(|line| line.trim().parse::<u32>().ok()) else { return };
    let is_postgres =
        fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.contains(&*folder.to_string_lossy()));
    if is_postgres {
        Command::new("sh").args(["-c", &format!("kill -QUIT {pid}")]).status().ok();
    }
}

fn make(binaries: &Binaries, folder: &Path, user: Option<User>, log: &Path) -> Result<(), String> {
    let mut initdb = as_user(&binaries.program("initdb"), user);
    initdb
        .args(["--username", SUPERUSER, "--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync", "--pgdata"])
        .arg(folder.join("data"));
    logged::must(&mut initdb, log, STEP_MAX).map(drop)
}

fn launch(
    binaries: &Binaries,
    folder: &Path,
    port: u16,
    user: Option<User>,
    (log, disk): (&Path, Disk),
) -> Result<Running, String> {
    let file = fs::File::options().create(true).append(true).open(log);
    let file = file.map_err(|error| format!("cannot write {}: {error}", log.display()))?;
    let other = file.try_clone().map_err(|error| error.to_string())?;
    let mut postgres = as_user(&binaries.program("postgres"), user);
    postgres.arg("-D").arg(folder.join("data")).args(["-h", "127.0.0.1", "-p", &port.to_string(), "-k", ""]);
    postgres.args(["-c", "max_connections=300"]).stdout(file).stderr(other);
    if disk == Disk::Hurries {
        postgres.args(["-c", "fsync=off"]);
    }
    Running::start(&mut postgres, Farewell::Interrupt).map_err(|error| format!("cannot start PostgreSQL: {error}"))
}

fn as_user(program: &Path, user: Option<User>) -> Command {
    let mut command = Command::new(program);
    command.current_dir("/").env("LC_ALL", "C");
    if let Some(user) = user {
        command.uid(user.uid).gid(user.gid);
    }
    command
}

fn wait_until_ready(binaries: &Binaries, port: u16, server: &mut Running) -> Result<(), String> {
    let deadline = Instant::now() + STEP_MAX;
    let port = port.to_string();
    while Instant::now() < deadline {
        if let Ok(Some(status)) = server.child.try_wait() {
            return Err(format!("PostgreSQL ended while starting ({status})"));
        }
        let answer = Command::new(binaries.program("pg_isready")).args(["-q", "-h", "127.0.0.1", "-p", &port]).status();
        if answer.is_ok_and(|status| status.success()) {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Err(format!("PostgreSQL was not ready within {} s", STEP_MAX.as_secs()))
}
