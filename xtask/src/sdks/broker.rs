//! A Kafka broker for the scenarios that go over it, with the topics that they use: `NAME-1.work`, `NAME-2.work`, … for each SDK. Each has
//! something in it, before anything else, that is no announcement of a job.

use std::fs::{self, File};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::children::{Farewell, Running};
use crate::places::Places;
use crate::server::free_port;
use crate::{kafka, logged};

pub(super) const TRANSPORT: &str = "kafka";
/// Where the scenarios find it.
pub(super) const VARIABLE: &str = "CAUDAL_KAFKA";

const READY_MAX: Duration = Duration::from_secs(120);
/// A busy machine takes its time.
const STEP_MAX: Duration = Duration::from_secs(300);
/// As many as one run of the scenarios starts servers, and some.
const SERVERS_EACH: usize = 24;
/// Of which they have jobs.
const JOB_TYPES: [&str; 2] = ["work", "charge-card"];

pub(super) struct Broker {
    pub(super) address: String,
    jars: PathBuf,
    log: PathBuf,
    _process: Running,
}

impl Broker {
    pub(super) fn start(places: &Places) -> Result<Broker, String> {
        let (jars, log) = (kafka::jars(places)?, places.log("sdk-broker"));
        let folder = places.own.join("sdk-broker");
        fs::remove_dir_all(&folder).ok();
        fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        let (port, controller) = (free_port()?, free_port()?);
        let file = folder.join("server.properties");
        fs::write(&file, properties(&folder, port, controller)).map_err(|error| format!("{}: {error}", file.display()))?;
        let mut format = java(&jars);
        format.args(["kafka.tools.StorageTool", "format", "--standalone", "--cluster-id", "Q2F1ZGFsQnJva2VyVGVzdA", "--config"]);
        logged::must(format.arg(&file), &log, STEP_MAX)?;
        let mut command = java(&jars);
        let output = File::create(folder.join("log")).map_err(|error| error.to_string())?;
        let errors = output.try_clone().map_err(|error| error.to_string())?;
        command.arg("kafka.Kafka").arg(&file).stdout(output).stderr(errors);
        let process = Running::start(&mut command, Farewell::Terminate).map_err(|error| format!("cannot start it: {error}"))?;
        let broker = Broker { address: format!("127.0.0.1:{port}"), jars, log, _process: process };
        let deadline = Instant::now() + READY_MAX;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if deadline < Instant::now() {
                return Err(format!("the broker does not start; see {}", folder.join("log").display()));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(broker)
    }

    /// Those of one SDK.
    pub(super) fn make_topics(&self, places: &Places, sdk: &str) -> Result<(), String> {
        let mut topics = java(&self.jars);
        topics.arg(places.root.join("xtask/kafka/Topics.java")).arg(&self.address);
        let servers = (1..=SERVERS_EACH).map(|number| format!("{sdk}-{number}"));
        topics.args(servers.flat_map(|server| JOB_TYPES.map(|job_type| format!("{server}.{job_type}"))));
        logged::must(&mut topics, &self.log, STEP_MAX).map(drop)
    }
}

fn java(jars: &Path) -> Command {
    let mut command = Command::new("java");
    command.args(["-Xmx512m", "-XX:TieredStopAtLevel=1", "-cp"]).arg(jars.join("*"));
    command
}

fn properties(folder: &Path, port: u16, controller: u16) -> String {
    let data: PathBuf = folder.join("data");
    [
        "process.roles=broker,controller".to_owned(),
        "node.id=1".to_owned(),
        format!("controller.quorum.bootstrap.servers=127.0.0.1:{controller}"),
        format!("listeners=CLIENTS://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}"),
        format!("advertised.listeners=CLIENTS://127.0.0.1:{port}"),
        "listener.security.protocol.map=CLIENTS:PLAINTEXT,CONTROLLER:PLAINTEXT".to_owned(),
        "inter.broker.listener.name=CLIENTS".to_owned(),
        "controller.listener.names=CONTROLLER".to_owned(),
        format!("log.dirs={}", data.display()),
        "offsets.topic.replication.factor=1".to_owned(),
        "offsets.topic.num.partitions=1".to_owned(),
        // A worker that was killed is missed soon.
        "group.min.session.timeout.ms=1000".to_owned(),
        "group.initial.rebalance.delay.ms=0".to_owned(),
    ]
    .join("\n")
}
