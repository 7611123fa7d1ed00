//! The scenarios of `spec/scenarios` against the real server: each over REST and over gRPC, and drawn as BPMN, on every store, with clients in
//! Python and Node, and with jobs announced on Kafka. See the README there for their notation.

#[cfg(feature = "kafka")]
mod announced;
mod drawn;
mod foreign;
mod grpc;
mod rest;
mod script;
mod server;
mod trace;

use std::path::PathBuf;

use crate::given;
use foreign::{Language, Program, Speaks};
use script::Script;
use server::{Server, StoreKind};

/// What a caller is told: the status as HTTP has it, and what came with it as JSON.
type Reply = (u16, serde_json::Value);

/// One way of speaking to the server.
trait Surface {
    fn upload(&self, document: &serde_json::Value) -> Reply;
    fn start(&self, body: &serde_json::Value) -> Reply;
    fn instance(&self, id: &str) -> Reply;
    fn history(&self, id: &str) -> Reply;
    fn list(&self, filters: &[(&str, &str)]) -> Reply;
    fn poll(&self, worker: &str, job_types: &[&str]) -> Reply;
    fn complete(&self, job: &str, worker: &str, variables: &serde_json::Value) -> Reply;
    fn fail(&self, job: &str, worker: &str, retryable: bool, message: &str) -> Reply;
    fn user_task(&self, instance: &str, step: &str, body: &serde_json::Value, buffer: bool) -> Reply;
    fn signal(&self, instance: &str, step: &str, variables: &serde_json::Value, buffer: bool) -> Reply;
    fn cancel(&self, instance: &str) -> Reply;
    fn retry(&self, instance: &str) -> Reply;
}

fn scenarios() -> Vec<Script> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../spec/scenarios");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "scenario"));
    files.sort();
    assert!(!files.is_empty());
    files.iter().map(|file| Script::read(file)).collect()
}

fn run_all(store: StoreKind, surface: fn(&Server) -> Box<dyn Surface>) {
    for script in scenarios() {
        let server = Server::start(store);
        script.run(&*surface(&server), &server);
    }
}

fn over_rest(server: &Server) -> Box<dyn Surface> {
    Box::new(rest::Rest::new(server))
}

fn over_grpc(server: &Server) -> Box<dyn Surface> {
    Box::new(grpc::Grpc::new(server))
}

fn drawn_over_rest(server: &Server) -> Box<dyn Surface> {
    Box::new(drawn::Drawn::new(server))
}

#[test]
fn drawn_as_bpmn_in_memory() {
    run_all(StoreKind::Memory, drawn_over_rest);
}

#[test]
fn drawn_as_bpmn_on_sqlite() {
    run_all(StoreKind::Sqlite, drawn_over_rest);
}

#[test]
fn over_rest_in_memory() {
    run_all(StoreKind::Memory, over_rest);
}

#[test]
fn over_grpc_in_memory() {
    run_all(StoreKind::Memory, over_grpc);
}

#[test]
fn over_rest_on_sqlite() {
    run_all(StoreKind::Sqlite, over_rest);
}

#[test]
fn over_grpc_on_sqlite() {
    run_all(StoreKind::Sqlite, over_grpc);
}

#[test]
fn over_rest_and_grpc_on_postgres() {
    if given::postgres().is_some() {
        run_all(StoreKind::Postgres, over_rest);
        run_all(StoreKind::Postgres, over_grpc);
    }
}

/// With a client in another language, over one surface on SQLite and over the other on PostgreSQL.
fn run_all_in(language: Language, on_sqlite: Speaks, on_postgres: Speaks) {
    for (store, speaks) in [(StoreKind::Sqlite, on_sqlite), (StoreKind::Postgres, on_postgres)] {
        if matches!(store, StoreKind::Postgres) && given::postgres().is_none() {
            continue;
        }
        let Some(program) = Program::start(language, speaks) else { return };
        for script in scenarios() {
            let server = Server::start(store);
            script.run(&program.client(&server), &server);
        }
    }
}

#[test]
fn with_a_client_in_python() {
    run_all_in(Language::Python, Speaks::Rest, Speaks::Grpc);
}

#[test]
fn with_a_client_in_node() {
    run_all_in(Language::Node, Speaks::Grpc, Speaks::Rest);
}

#[cfg(feature = "kafka")]
#[test]
fn announced_to_a_group_of_one_on_sqlite() {
    announced::run_all(StoreKind::Sqlite, 1);
}

/// On PostgreSQL unless it is left out.
#[cfg(feature = "kafka")]
#[test]
fn announced_to_a_group_of_three() {
    announced::run_all(if given::postgres().is_some() { StoreKind::Postgres } else { StoreKind::Sqlite }, 3);
}
