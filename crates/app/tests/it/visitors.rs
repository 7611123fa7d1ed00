//! Browsers, foreign names and foreign networks before a running server.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};

use crate::broker::ports;
use crate::server::{Server, caudal};

/// The whole answer to a request with these lines in its head.
fn asked(server: &Server, first: &str, lines: &[&str]) -> String {
    asked_at(server.rest, first, lines)
}

fn asked_at(address: SocketAddr, first: &str, lines: &[&str]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let lines: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
    stream.write_all(format!("{first} HTTP/1.1\r\n{lines}connection: close\r\n\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn pages_from_elsewhere_cannot_use_the_server() {
    let server = Server::start("memory:");
    let own = format!("origin: http://{}", server.rest);
    let host = format!("host: {}", server.rest);
    assert!(asked(&server, "GET /v2/topology", &[&host]).starts_with("HTTP/1.1 200"));
    assert!(asked(&server, "GET /v2/topology", &[&host, &own]).starts_with("HTTP/1.1 200"));
    let rebound = asked(&server, "GET /v2/topology", &["host: evil.example"]);
    assert!(rebound.starts_with("HTTP/1.1 403") && rebound.contains("--hosts NAME"), "{rebound}");
    let foreign = asked(&server, "POST /v2/jobs/search", &[&host, "origin: http://evil.example", "content-length: 0"]);
    assert!(foreign.starts_with("HTTP/1.1 403") && foreign.contains("\"title\":\"FORBIDDEN\""), "{foreign}");
    let may_i = [&*host, "origin: http://evil.example", "access-control-request-method: POST"];
    let refused = asked(&server, "OPTIONS /v2/jobs/search", &may_i);
    assert!(refused.starts_with("HTTP/1.1 403") && !refused.contains("access-control-allow"), "{refused}");
}

#[test]
fn metrics_and_health_go_by_the_same_names() {
    const PATHS: [&str; 4] = ["/metrics", "/health", "/health/ready", "/health/live"];
    let server = Server::start_with("memory:", &["--hosts", "caudal.example", "--origins", "https://app.example"]);
    let asked = |path: &str, lines: &[&str]| asked_at(server.metrics, &format!("GET {path}"), lines);
    let own = format!("host: {}", server.metrics);
    for path in PATHS {
        for host in [&*own, "host: localhost:9091", "host: [::1]", "host: Caudal.Example:9091", "accept: */*"] {
            assert!(asked(path, &[host]).starts_with("HTTP/1.1 200"), "{path} {host}");
        }
        let rebound = asked(path, &["host: evil.example:9091"]);
        assert!(rebound.starts_with("HTTP/1.1 403") && rebound.contains("--hosts NAME"), "{rebound}");
        let foreign = asked(path, &[&own, "origin: http://evil.example"]);
        assert!(foreign.starts_with("HTTP/1.1 403") && foreign.contains("--origins ORIGIN"), "{foreign}");
        let page = asked(path, &[&own, "origin: https://app.example"]);
        assert!(page.contains("access-control-allow-origin: https://app.example\r\n"), "{page}");
    }
    assert!(asked("/nowhere", &["host: evil.example"]).starts_with("HTTP/1.1 403"));
    assert!(asked("/nowhere", &[&own]).starts_with("HTTP/1.1 404"));
}

#[test]
fn names_and_pages_can_be_allowed() {
    let more = ["--hosts", "caudal.example,other.example", "--origins", "https://app.example"];
    let server = Server::start_with("memory:", &more);
    let (host, origin) = ("host: other.example:8443", "origin: https://app.example");
    let answered = asked(&server, "GET /v2/topology", &[host, origin]);
    assert!(answered.starts_with("HTTP/1.1 200"), "{answered}");
    assert!(answered.contains("access-control-allow-origin: https://app.example\r\n"), "{answered}");
    let may_i = [host, origin, "access-control-request-method: POST", "access-control-request-headers: content-type"];
    let allowed = asked(&server, "OPTIONS /v2/jobs/search", &may_i);
    assert!(
        allowed.starts_with("HTTP/1.1 204") && allowed.contains("access-control-allow-headers: content-type\r\n"),
        "{allowed}"
    );
    let plain = asked(&server, "OPTIONS /v2/jobs/search", &[host, origin]);
    assert!(plain.starts_with("HTTP/1.1 405"), "{plain}");
}

#[test]
fn an_address_that_others_reach_must_be_meant() {
    let refused = caudal(&["serve", "--store", "memory:", "--rest", "0.0.0.0:0"]);
    assert!(refused.code == Some(1) && refused.err.contains("--insecure (CAUDAL_INSECURE=true"), "{}", refused.err);
    let [rest, grpc, metrics] = ports::addresses().map(|address| address.to_string());
    let rest = rest.replace("127.0.0.1", "0.0.0.0");
    let mut meant = Command::new(env!("CARGO_BIN_EXE_caudal"));
    meant.args(["serve", "--store", "memory:", "--insecure", "--rest", &rest, "--grpc", &grpc, "--metrics", &metrics]);
    let mut meant = meant.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut logged = BufReader::new(meant.stderr.take().unwrap()).lines();
    let warned = logged.find(|line| line.as_ref().is_ok_and(|line| line.contains("others can reach this address")));
    meant.kill().unwrap();
    meant.wait().unwrap();
    assert!(warned.is_some());
}
