//! A worker as a process of its own, for scenarios that kill or terminate it.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use caudal_client::{Failure, JobContext, Registry, Runner, shutdown_signal};
use serde_json::{Map, Value};
use tokio::process::{Child, Command};

use crate::world::{Server, address, engine, json_object, until};

/// Handlers say `begun`, and return when the file `gate` is there.
pub(crate) async fn run(address: &str, gate: &str) {
    tracing_subscriber::fmt().init();
    let gate = PathBuf::from(gate);
    let registry = Registry::new().handle("work", move |_: JobContext, _: Map<String, Value>| {
        let gate = gate.clone();
        async move {
            println!("begun");
            until("the gate opens", || async { gate.exists() }).await;
            Ok::<_, Failure>(json_object("by", "process"))
        }
    });
    let engine = engine(address, "");
    let kafka = engine.kafka.clone();
    Runner::new(registry, engine).max_parallel(2).run(shutdown_signal()).await.unwrap();
    if let Some(kafka) = kafka {
        kafka.close().await;
    }
}

/// Handlers do nothing, so many at once.
pub(crate) async fn bench(address: &str, parallel: usize) {
    let registry = Registry::new().handle("work", |_: JobContext, _: Map<String, Value>| async { Ok::<_, Failure>(()) });
    Runner::new(registry, engine(address, "")).max_parallel(parallel).run(shutdown_signal()).await.unwrap();
}

pub(crate) struct Process {
    pub(crate) child: Child,
    pub(crate) gate: PathBuf,
    output: PathBuf,
}

impl Process {
    pub(crate) fn start(server: &Server, folder: &Path) -> Process {
        let (gate, output) = (folder.join("gate"), folder.join("output"));
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["worker", &address(server)]).arg(&gate).kill_on_drop(true);
        let child = command.stdin(Stdio::null()).stdout(std::fs::File::create(&output).unwrap()).spawn().unwrap();
        Process { child, gate, output }
    }

    pub(crate) async fn wait_said(&self, word: &str, times: usize) {
        let said = || async { std::fs::read_to_string(&self.output).unwrap().matches(word).count() == times };
        until(&format!("it says {word} {times} times"), said).await;
    }
}
