//! One server of the system under test: started, killed, held and started again on the same addresses.

use std::fs::File;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::children::{Farewell, Running};
use crate::places::Places;
use crate::server::{address, get, is_ready};

const READY_MAX: Duration = Duration::from_secs(30);

/// What a server does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Roles {
    Both,
    Api,
    Engine,
}

#[derive(Debug)]
pub(super) struct Server {
    pub(super) rest: SocketAddr,
    metrics: String,
    program: PathBuf,
    arguments: Vec<String>,
    pub(super) log: PathBuf,
    process: Option<Running>,
    held: bool,
}

impl Server {
    /// Not yet started. `store` is what `--store` takes; `settings` is its configuration file.
    pub(super) fn new(places: &Places, name: &str, store: &str, settings: &str, roles: Roles) -> Result<Server, String> {
        let (rest, grpc, metrics) = (address()?, address()?, address()?);
        let file = places.own.join(format!("{name}.toml"));
        std::fs::write(&file, settings).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
        let log = places.log(name);
        std::fs::remove_file(&log).ok();
        let file = file.to_string_lossy();
        let mut arguments =
            vec!["serve", "--config", &file, "--store", store, "--rest", &rest, "--grpc", &grpc, "--metrics", &metrics];
        match roles {
            Roles::Both => {}
            Roles::Api => arguments.extend(["--roles", "api"]),
            Roles::Engine => arguments.extend(["--roles", "engine"]),
        }
        Ok(Server {
            arguments: arguments.into_iter().map(str::to_owned).collect(),
            rest: rest.parse().map_err(|error| format!("{rest}: {error}"))?,
            metrics,
            program: places.caudal(),
            log,
            process: None,
            held: false,
        })
    }

    /// The same behind another program that starts it, such as one that enters a namespace.
    pub(super) fn started_by(mut self, words: &[String]) -> Server {
        let program = std::mem::replace(&mut self.program, PathBuf::from(&words[0]));
        let mut arguments = words[1..].to_vec();
        arguments.push(program.to_string_lossy().into_owned());
        arguments.append(&mut self.arguments);
        self.arguments = arguments;
        self
    }

    /// Starts it and expects it to leave by itself, with an error. What it said.
    pub(super) fn refuse(&mut self) -> Result<String, String> {
        let said = self.log_text().len();
        match self.start() {
            Ok(_) => {
                self.stop();
                Err("the server started where it should have refused".to_owned())
            }
            Err(_) if self.ended().is_some() => Ok(self.log_text()[said..].to_owned()),
            Err(why) => Err(why),
        }
    }

    /// Starts it and waits until it does what it is asked. How long that took.
    pub(super) fn start(&mut self) -> Result<Duration, String> {
        let began = Instant::now();
        self.launch()?;
        while began.elapsed() < READY_MAX {
            if let Some(end) = self.ended() {
                return Err(format!("the server ended while starting ({end}); see {}", self.log.display()));
            }
            if is_ready(&self.metrics) {
                return Ok(began.elapsed());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Err(format!("the server was not ready within {} s; see {}", READY_MAX.as_secs(), self.log.display()))
    }

    pub(super) fn launch(&mut self) -> Result<(), String> {
        let file = File::options().create(true).append(true).open(&self.log);
        let file = file.map_err(|error| format!("cannot write {}: {error}", self.log.display()))?;
        let other = file.try_clone().map_err(|error| error.to_string())?;
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).stdout(file).stderr(other);
        let process = Running::start(&mut command, Farewell::Terminate);
        self.process = Some(process.map_err(|error| format!("cannot start {}: {error}", self.program.display()))?);
        Ok(())
    }

    /// How it ended, if it did.
    pub(super) fn ended(&mut self) -> Option<String> {
        let status = self.process.as_mut()?.child.try_wait().ok()??;
        Some(status.to_string())
    }

    pub(super) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill();
        }
    }

    /// Asks it to finish and leave.
    pub(super) fn stop(&mut self) {
        self.release().ok();
        self.process = None;
    }

    /// SIGSTOP: it does nothing until it is released, and does not know.
    pub(super) fn hold(&mut self) -> Result<(), String> {
        self.held = true;
        self.process.as_ref().map_or(Ok(()), |process| process.signal("STOP"))
    }

    pub(super) fn release(&mut self) -> Result<(), String> {
        if !std::mem::take(&mut self.held) {
            return Ok(());
        }
        self.process.as_ref().map_or(Ok(()), |process| process.signal("CONT"))
    }

    /// Whether it says that it owns the partition.
    pub(super) fn owns(&self) -> bool {
        !self.held && get(&self.metrics, "/metrics").is_ok_and(|text| text.contains("\ncaudal_partitions_owned 1"))
    }

    pub(super) fn log_text(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}
