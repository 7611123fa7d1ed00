//! A real broker of its own, which can be killed and started again. Its jars are in the folder that `CAUDAL_TEST_KAFKA_JARS` names, which
//! `cargo xtask test` does.
#![allow(dead_code, reason = "each test uses its part")]

#[path = "../../../app/tests/ports/mod.rs"]
pub(crate) mod ports;

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

pub(crate) const USER: &str = "caudal";
pub(crate) const PASSWORD: &str = "no secret";

/// A busy machine takes its time.
const READY_WITHIN: Duration = Duration::from_secs(120);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Security {
    Plain,
    ScramOverTls,
    /// Everybody may do everything but where somebody was given a right.
    Guarded,
}

pub(crate) struct Broker {
    /// Where clients begin.
    pub(crate) address: String,
    folder: PathBuf,
    port: u16,
    child: Child,
}

impl Broker {
    pub(crate) fn start(security: Security) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("caudal-broker-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        let _not_there = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let [port, controller] = ports::free(ports::BROKERS);
        fs::write(folder.join("server.properties"), properties(&folder, security, port, controller)).unwrap();
        if security == Security::ScramOverTls {
            fs::write(folder.join("keystore.pem"), pem(&["server.key", "server.crt"])).unwrap();
        }
        let users = [256, 512].map(|bits| format!("SCRAM-SHA-{bits}=[name={USER},password={PASSWORD}]"));
        let mut format = java("kafka.tools.StorageTool");
        format
            .args(["format", "--standalone", "--cluster-id", "Q2F1ZGFsQnJva2VyVGVzdA", "--config"])
            .arg(folder.join("server.properties"));
        if security == Security::ScramOverTls {
            format.args(users.iter().flat_map(|user| ["--add-scram", user]));
        }
        let formatted = format.output().unwrap();
        assert!(formatted.status.success(), "{formatted:?}");
        let child = launch(&folder);
        let broker = Self { address: format!("127.0.0.1:{port}"), folder, port, child };
        broker.ready();
        broker
    }

    /// Without a word.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// In order, as an operator would.
    pub(crate) fn stop(&mut self) {
        self.signal("TERM");
        let until = Instant::now() + READY_WITHIN;
        while self.child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < until, "the broker does not stop; see {}", self.folder.join("log").display());
            std::thread::park_timeout(Duration::from_millis(50));
        }
    }

    /// It does nothing until it is released, and does not know.
    pub(crate) fn hold(&self) {
        self.signal("STOP");
    }

    pub(crate) fn release(&self) {
        self.signal("CONT");
    }

    /// Rights to topics: which, whose and what. Whoever has none where somebody has one may do nothing there.
    pub(crate) fn allow(&self, rights: &[[&str; 3]]) {
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kafka/tests/broker/Rights.java");
        let mut command = java(&program.display().to_string());
        let given = command.arg(&self.address).args(rights.as_flattened()).output().unwrap();
        assert!(given.status.success(), "{given:?}");
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([format!("-{name}"), self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    pub(crate) fn start_again(&mut self) {
        self.child = launch(&self.folder);
        self.ready();
    }

    fn ready(&self) {
        let until = Instant::now() + READY_WITHIN;
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(Instant::now() < until, "the broker does not start; see {}", self.folder.join("log").display());
            std::thread::park_timeout(Duration::from_millis(50));
        }
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        let _already_gone = self.child.kill();
        let _already_gone = self.child.wait();
        let _already_gone = fs::remove_dir_all(&self.folder);
    }
}

fn launch(folder: &Path) -> Child {
    let log = fs::File::create(folder.join("log")).unwrap();
    let mut command = java("kafka.Kafka");
    command.arg(folder.join("server.properties")).stdout(log.try_clone().unwrap()).stderr(log);
    command.stdin(Stdio::null()).spawn().unwrap()
}

fn java(class: &str) -> Command {
    let jars = std::env::var("CAUDAL_TEST_KAFKA_JARS")
        .expect("CAUDAL_TEST_KAFKA_JARS names a folder with the jars of Kafka; `cargo xtask test` makes one");
    let mut command = Command::new("java");
    command.args(["-Xmx512m", "-XX:TieredStopAtLevel=1", "-cp", &format!("{jars}/*"), class]);
    command
}

fn properties(folder: &Path, security: Security, port: u16, controller: u16) -> String {
    let protocol = match security {
        Security::Plain | Security::Guarded => "PLAINTEXT",
        Security::ScramOverTls => "SASL_SSL",
    };
    let mut lines = vec![
        "process.roles=broker,controller".to_owned(),
        "node.id=1".to_owned(),
        format!("controller.quorum.bootstrap.servers=127.0.0.1:{controller}"),
        format!("listeners=CLIENTS://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}"),
        format!("advertised.listeners=CLIENTS://127.0.0.1:{port}"),
        format!("listener.security.protocol.map=CLIENTS:{protocol},CONTROLLER:PLAINTEXT"),
        "inter.broker.listener.name=CLIENTS".to_owned(),
        "controller.listener.names=CONTROLLER".to_owned(),
        format!("log.dirs={}", folder.join("data").display()),
        "num.partitions=3".to_owned(),
        "offsets.topic.replication.factor=1".to_owned(),
        "offsets.topic.num.partitions=1".to_owned(),
        "transaction.state.log.replication.factor=1".to_owned(),
        "transaction.state.log.min.isr=1".to_owned(),
        "group.initial.rebalance.delay.ms=0".to_owned(),
    ];
    if security == Security::Guarded {
        lines.push("authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer".to_owned());
        lines.push("allow.everyone.if.no.acl.found=true".to_owned());
    }
    if security == Security::ScramOverTls {
        let login = "org.apache.kafka.common.security.scram.ScramLoginModule required";
        lines.extend([
            "sasl.enabled.mechanisms=SCRAM-SHA-256,SCRAM-SHA-512".to_owned(),
            "sasl.mechanism.inter.broker.protocol=SCRAM-SHA-512".to_owned(),
            "ssl.keystore.type=PEM".to_owned(),
            format!("ssl.keystore.location={}", folder.join("keystore.pem").display()),
            "ssl.truststore.type=PEM".to_owned(),
            format!("ssl.truststore.location={}", tls("authority.crt").display()),
            "ssl.endpoint.identification.algorithm=".to_owned(),
        ]);
        for mechanism in ["scram-sha-256", "scram-sha-512"] {
            lines.push(format!(
                "listener.name.clients.{mechanism}.sasl.jaas.config={login} username=\"{USER}\" password=\"{PASSWORD}\";"
            ));
        }
    }
    lines.join("\n")
}

fn tls(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/tls").join(file)
}

fn pem(files: &[&str]) -> String {
    files.iter().map(|file| fs::read_to_string(tls(file)).unwrap()).collect()
}
