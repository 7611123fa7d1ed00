//! A running server whose clients open connections and say nothing.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};

use crate::broker::ports;

/// Open files the server may have: fewer than the idle connections made.
const OPEN_FILES: usize = 256;
const IDLE: usize = 400;

struct Server {
    child: Child,
    rest: SocketAddr,
    metrics: SocketAddr,
}

impl Server {
    fn start() -> Self {
        let [rest, grpc, metrics] = ports::addresses();
        let caudal = env!("CARGO_BIN_EXE_caudal");
        let command = format!(
            "ulimit -n {OPEN_FILES}; exec {caudal} serve --store memory: --rest {rest} --grpc {grpc} --metrics {metrics} --log-level error"
        );
        let mut child = Command::new("sh").args(["-c", &command]).stdout(Stdio::piped()).spawn().unwrap();
        let mut banner = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(banner.next().unwrap().unwrap().contains("is ready"));
        Self { child, rest, metrics }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _already_gone = self.child.kill();
        let _already_gone = self.child.wait();
    }
}

/// The first line of the answer.
fn get(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn idle_connections_to_one_port_leave_all_ports_reachable() {
    let server = Server::start();
    let mut idle = Vec::new();
    for address in [server.metrics, server.rest] {
        for _ in 0..IDLE {
            idle.push(TcpStream::connect(address).unwrap());
        }
        assert_eq!(get(server.rest, "/v2/status"), "HTTP/1.1 204 No Content");
        assert_eq!(get(server.metrics, "/metrics"), "HTTP/1.1 200 OK");
    }
}
