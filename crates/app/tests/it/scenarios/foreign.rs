//! Clients in other languages, written from the contract (`clients/`): each is told what to ask, a line of JSON for each call, and tells what it
//! was answered.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::server::Server;
use super::{Reply, Surface};
use crate::given::given;

/// Where `cargo xtask test` has put what the clients need: a Python with gRPC, and a folder of Node packages with the client beside them.
const PYTHON: &str = "CAUDAL_TEST_PYTHON";
const NODE: &str = "CAUDAL_TEST_NODE";
/// From the folder of this crate.
const PROTO: &str = "../api/proto/workflow.proto";

#[derive(Debug, Clone, Copy)]
pub(crate) enum Language {
    Python,
    Node,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaks {
    Rest,
    Grpc,
}

/// What starts the client, unless it is left out.
fn program(language: Language, speaks: Speaks) -> Option<Command> {
    let surface = if speaks == Speaks::Rest { "rest" } else { "grpc" };
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = match language {
        Language::Python => {
            let mut command = Command::new(given(PYTHON, "python")?);
            command.arg(here.join("../../clients/python/workflow_client.py"));
            command
        }
        Language::Node => {
            let mut command = Command::new("node");
            command.arg(Path::new(&given(NODE, "node")?).join("workflow_client.mjs"));
            command
        }
    };
    command.arg(surface).arg(here.join(PROTO));
    Some(command)
}

/// A client that is running.
pub(crate) struct Program {
    child: Child,
    pipes: RefCell<(ChildStdin, Lines<BufReader<ChildStdout>>)>,
    speaks: Speaks,
}

impl Program {
    pub(crate) fn start(language: Language, speaks: Speaks) -> Option<Self> {
        let mut child = program(language, speaks)?.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let pipes = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()).lines());
        Some(Self { child, pipes: RefCell::new(pipes), speaks })
    }

    pub(crate) fn client<'a>(&'a self, server: &Server) -> Foreign<'a> {
        let address = if self.speaks == Speaks::Rest { server.rest } else { server.grpc };
        Foreign { program: self, address: address.to_string() }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _already_gone = self.child.kill();
        let _already_gone = self.child.wait();
    }
}

/// The client as it speaks to one server.
pub(crate) struct Foreign<'a> {
    program: &'a Program,
    address: String,
}

impl Foreign<'_> {
    #[expect(clippy::needless_pass_by_value, reason = "what is asked is made for it")]
    fn ask(&self, call: &str, with: Value) -> Reply {
        let mut pipes = self.program.pipes.borrow_mut();
        let (out, lines) = &mut *pipes;
        writeln!(out, "{}", json!({ "address": self.address, "call": call, "with": with })).unwrap();
        let line = lines.next().expect("the client lives").unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        (told["status"].as_u64().unwrap() as u16, told["answer"].clone())
    }
}

impl Surface for Foreign<'_> {
    fn upload(&self, document: &Value) -> Reply {
        self.ask("upload", json!({ "document": document }))
    }

    fn start(&self, body: &Value) -> Reply {
        self.ask("start", json!({ "body": body }))
    }

    fn instance(&self, id: &str) -> Reply {
        self.ask("instance", json!({ "id": id }))
    }

    fn history(&self, id: &str) -> Reply {
        self.ask("history", json!({ "id": id }))
    }

    fn list(&self, filters: &[(&str, &str)]) -> Reply {
        let filters: serde_json::Map<String, Value> =
            filters.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        self.ask("list", json!({ "filters": filters }))
    }

    fn poll(&self, worker: &str, job_types: &[&str]) -> Reply {
        self.ask("poll", json!({ "worker": worker, "jobTypes": job_types }))
    }

    fn complete(&self, job: &str, worker: &str, variables: &Value) -> Reply {
        self.ask("complete", json!({ "job": job, "worker": worker, "variables": variables }))
    }

    fn fail(&self, job: &str, worker: &str, retryable: bool, message: &str) -> Reply {
        self.ask("fail", json!({ "job": job, "worker": worker, "retryable": retryable, "message": message }))
    }

    fn user_task(&self, instance: &str, step: &str, body: &Value, buffer: bool) -> Reply {
        self.ask("userTask", json!({ "instance": instance, "step": step, "result": body, "buffer": buffer }))
    }

    fn signal(&self, instance: &str, step: &str, variables: &Value, buffer: bool) -> Reply {
        self.ask("signal", json!({ "instance": instance, "step": step, "variables": variables, "buffer": buffer }))
    }

    fn cancel(&self, instance: &str) -> Reply {
        self.ask("cancel", json!({ "instance": instance }))
    }

    fn retry(&self, instance: &str) -> Reply {
        self.ask("retry", json!({ "instance": instance }))
    }
}
