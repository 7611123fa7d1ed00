//! Kafka beside the servers: one broker that can be killed, and one who listens and says which jobs there are.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use super::process;
use crate::children::{Farewell, Running};
use crate::places::Places;
use crate::server::address;
use crate::{children, kafka, logged};

const READY_MAX: Duration = Duration::from_secs(120);
const BUILD_MAX: Duration = Duration::from_secs(3_600);

#[derive(Debug)]
pub(super) struct Broker {
    pub(super) address: String,
    jars: PathBuf,
    folder: PathBuf,
    log: PathBuf,
    running: Option<Running>,
}

impl Broker {
    pub(super) fn start(places: &Places, name: &str) -> Result<Broker, String> {
        let jars = kafka::jars(places)?;
        let folder = places.own.join("data").join(format!("{name}-broker"));
        drop(fs::remove_dir_all(&folder));
        fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        children::remove_with_us(&folder);
        let (address, controller) = (address()?, address()?);
        fs::write(folder.join("server.properties"), properties(&folder, &address, &controller))
            .map_err(|error| format!("cannot write the broker's settings: {error}"))?;
        let log = places.log(&format!("{name}-broker"));
        let mut format = java(&jars, "kafka.tools.StorageTool");
        format.args(["format", "--standalone", "--cluster-id", "Q2F1ZGFsQnJva2VyVGVzdA", "--config"]);
        logged::must(format.arg(folder.join("server.properties")), &log, READY_MAX)?;
        let mut broker = Broker { address, jars, folder, log, running: None };
        broker.start_again()?;
        Ok(broker)
    }

    /// Without a word.
    pub(super) fn kill(&mut self) {
        if let Some(mut running) = self.running.take() {
            running.kill();
        }
    }

    pub(super) fn start_again(&mut self) -> Result<Duration, String> {
        let began = Instant::now();
        let log = File::options().create(true).append(true).open(&self.log);
        let log = log.map_err(|error| format!("cannot write {}: {error}", self.log.display()))?;
        let mut command = java(&self.jars, "kafka.Kafka");
        command.arg(self.folder.join("server.properties"));
        command.stdout(log.try_clone().map_err(|error| error.to_string())?).stderr(log);
        let running = Running::start(&mut command, Farewell::Terminate);
        self.running = Some(running.map_err(|error| format!("cannot start a broker: {error}"))?);
        while TcpStream::connect(&self.address).is_err() {
            if READY_MAX < began.elapsed() {
                return Err(format!("the broker does not start; see {}", self.log.display()));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(began.elapsed())
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.kill();
        drop(fs::remove_dir_all(&self.folder));
    }
}

/// Hears of jobs until it is dropped.
#[derive(Debug)]
pub(super) struct Listener {
    _running: Running,
}

impl Listener {
    /// What it hears comes as lines: the key of a job and that of its instance.
    pub(super) fn start(places: &Places, broker: &Broker, name: &str) -> Result<(Listener, Receiver<String>), String> {
        let log = places.log(&format!("{name}-listener"));
        let mut build = places.cargo();
        // With the features that the whole workspace has: it is built already in a test run, and its dependencies need not be built anew.
        logged::must(build.args(["build", "--workspace", "--example", "listen"]), &log, BUILD_MAX)?;
        let program = places.caudal().with_file_name("examples").join("listen");
        let said = File::create(&log).map_err(|error| format!("cannot write {}: {error}", log.display()))?;
        let mut command = Command::new(program);
        command.arg(&broker.address).args(process::ALL.map(|(job_type, _)| job_type)).stdout(Stdio::piped()).stderr(said);
        let mut running = Running::start(&mut command, Farewell::Terminate).map_err(|error| error.to_string())?;
        let out = running.child.stdout.take().ok_or("the listener says nothing")?;
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            // It ends with the listener.
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok((Listener { _running: running }, receiver))
    }
}

fn java(jars: &Path, class: &str) -> Command {
    let mut command = Command::new("java");
    command.args(["-Xmx512m", "-XX:TieredStopAtLevel=1", "-cp", &format!("{}/*", jars.display()), class]);
    command
}

fn properties(folder: &Path, address: &str, controller: &str) -> String {
    [
        "process.roles=broker,controller".to_owned(),
        "node.id=1".to_owned(),
        format!("controller.quorum.bootstrap.servers={controller}"),
        format!("listeners=CLIENTS://{address},CONTROLLER://{controller}"),
        format!("advertised.listeners=CLIENTS://{address}"),
        "listener.security.protocol.map=CLIENTS:PLAINTEXT,CONTROLLER:PLAINTEXT".to_owned(),
        "inter.broker.listener.name=CLIENTS".to_owned(),
        "controller.listener.names=CONTROLLER".to_owned(),
        format!("log.dirs={}", folder.join("data").display()),
        "offsets.topic.replication.factor=1".to_owned(),
        "transaction.state.log.replication.factor=1".to_owned(),
        "transaction.state.log.min.isr=1".to_owned(),
        "offsets.topic.num.partitions=1".to_owned(),
        "group.initial.rebalance.delay.ms=0".to_owned(),
    ]
    .join("\n")
}
