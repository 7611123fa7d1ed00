//! A server of the binary under test, and the binary as an operator types it.

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use crate::broker::ports;

pub(crate) struct Answer {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) code: Option<i32>,
}

impl Answer {
    /// What was printed by a command that has done what it was told.
    pub(crate) fn done(self) -> String {
        assert_eq!(self.code, Some(0), "{}{}", self.out, self.err);
        self.out
    }
}

pub(crate) struct Server {
    child: Option<Child>,
    store: String,
    more: Vec<String>,
    pub(crate) rest: SocketAddr,
    pub(crate) grpc: SocketAddr,
    pub(crate) metrics: SocketAddr,
}

impl Server {
    pub(crate) fn start(store: &str) -> Self {
        Self::start_with(store, &[])
    }

    pub(crate) fn start_with(store: &str, more: &[&str]) -> Self {
        let [rest, grpc, metrics] = ports::addresses();
        let more = more.iter().map(|&word| word.to_owned()).collect();
        let mut server = Self { child: None, store: store.to_owned(), more, rest, grpc, metrics };
        server.run();
        server
    }

    /// Starts it again, at the same addresses.
    pub(crate) fn run(&mut self) {
        let mut child = self.command().stdout(Stdio::piped()).spawn().unwrap();
        let mut banner = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(banner.next().expect("it starts").unwrap().contains("is ready"));
        self.child = Some(child);
    }

    pub(crate) fn command(&self) -> Command {
        let addresses = [self.rest, self.grpc, self.metrics].map(|address| address.to_string());
        let [rest, grpc, metrics] = &addresses;
        let mut command = Command::new(env!("CARGO_BIN_EXE_caudal"));
        command.args(["serve", "--store", &self.store, "--rest", rest, "--grpc", grpc, "--metrics", metrics]);
        command.args(["--log-level", "error"]).args(&self.more);
        command
    }

    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Ends it in order, as a service manager does.
    pub(crate) fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let asked = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
            assert!(asked.success() && child.wait().unwrap().success());
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.rest)
    }

    /// A command that talks to this server.
    pub(crate) fn caudal(&self, words: &[&str]) -> Answer {
        self.caudal_given(words, "")
    }

    pub(crate) fn caudal_given(&self, words: &[&str], input: &str) -> Answer {
        caudal_given(&[words, &["--url", &self.url()]].concat(), input)
    }

    pub(crate) fn json(&self, words: &[&str]) -> serde_json::Value {
        serde_json::from_str(&self.caudal(&[words, &["--json"]].concat()).done()).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

pub(crate) fn caudal(words: &[&str]) -> Answer {
    caudal_given(words, "")
}

pub(crate) fn caudal_given(words: &[&str], input: &str) -> Answer {
    let mut command = Command::new(env!("CARGO_BIN_EXE_caudal"));
    let piped = command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    // Who does not read it has gone.
    let _not_wanted = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    Answer { out, err, code: output.status.code() }
}

pub(crate) fn example(name: &str) -> String {
    format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"))
}
