//! TLS between a running server and those who ask it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use crate::server::{Answer, Server, caudal};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

fn file(name: &str) -> String {
    format!("{}/../../spec/tls/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn secured(more: &[&str]) -> Server {
    let (certificate, key) = (file("server.crt"), file("server.key"));
    let words = [&["--tls-certificate", &*certificate, "--tls-key", &key], more].concat();
    Server::start_with("memory:", &words)
}

fn status(server: &Server, more: &[&str]) -> Answer {
    let url = format!("https://localhost:{}", server.rest.port());
    caudal(&[&["status", "--url", &url], more].concat())
}

/// A client that trusts our authority and speaks what it is told.
fn connect(address: SocketAddr, name: &'static str, alpn: &str) -> StreamOwned<ClientConnection, TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(file("authority.crt")).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![alpn.as_bytes().to_vec()];
    let connection = ClientConnection::new(Arc::new(config), ServerName::try_from(name).unwrap()).unwrap();
    StreamOwned::new(connection, TcpStream::connect(address).unwrap())
}

#[test]
fn all_edges_speak_tls() {
    let server = secured(&[]);
    assert!(status(&server, &["--ca", &file("authority.crt")]).done().contains("healthy"));
    let mut metrics = connect(server.metrics, "localhost", "http/1.1");
    metrics.write_all(b"GET /health/ready HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    metrics.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    let mut grpc = connect(server.grpc, "localhost", "h2");
    grpc.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").unwrap();
    let mut frame = [0; 9];
    grpc.read_exact(&mut frame).unwrap();
    assert_eq!((frame[3], grpc.conn.alpn_protocol()), (4, Some(&b"h2"[..])), "its first frame says its settings");
}

#[test]
fn a_server_is_trusted_by_its_authority_and_its_name_alone() {
    let server = secured(&[]);
    for (more, why) in [
        (vec![], "cannot reach"),
        (vec!["--ca".to_owned(), file("stranger.crt")], "with --ca FILE"),
        (vec!["--ca".to_owned(), file("server.key")], "has no certificate in PEM"),
        (vec!["--ca".to_owned(), "/nowhere".to_owned()], "cannot read /nowhere"),
    ] {
        let refused = status(&server, &more.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(refused.code == Some(1) && refused.err.contains(why), "{}", refused.err);
    }
    let plain = server.caudal(&["status"]);
    assert!(plain.code == Some(1) && plain.err.contains("ask by https://"), "{}{}", plain.out, plain.err);
    let other = Server::start("memory:");
    let refused = status(&other, &["--ca", &file("authority.crt")]);
    assert!(refused.code == Some(1) && refused.err.contains("ask by http://"), "{}", refused.err);
    let [certificate, key] = ["elsewhere.crt", "elsewhere.key"].map(file);
    let elsewhere = Server::start_with("memory:", &["--tls-certificate", &certificate, "--tls-key", &key]);
    let refused = status(&elsewhere, &["--ca", &file("authority.crt")]);
    assert!(refused.err.contains("not valid for name"), "{}", refused.err);
}

#[test]
fn clients_show_a_certificate_where_one_is_wanted() {
    let authority = file("authority.crt");
    let server = secured(&["--tls-client-ca", &authority]);
    let with = |name: &str| {
        let (certificate, key) = (file(&format!("{name}.crt")), file(&format!("{name}.key")));
        status(&server, &["--ca", &authority, "--client-cert", &certificate, "--client-key", &key])
    };
    with("client").done();
    assert_eq!(with("imposter").code, Some(1));
    let anonymous = status(&server, &["--ca", &authority]);
    assert!(anonymous.code == Some(1) && anonymous.err.contains("--client-cert FILE"), "{}", anonymous.err);
    let half = status(&server, &["--ca", &authority, "--client-cert", &file("client.crt")]);
    assert_eq!(half.code, Some(2), "{}", half.err);
}

#[test]
fn a_changed_certificate_is_used_and_a_broken_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let [certificate, key] = ["server.crt", "server.key"].map(|name| folder.path().join(name));
    let put = |name: &str| {
        std::fs::copy(file(&format!("{name}.crt")), &certificate).unwrap();
        std::fs::copy(file(&format!("{name}.key")), &key).unwrap();
    };
    put("server");
    let words = ["--tls-certificate", certificate.to_str().unwrap(), "--tls-key", key.to_str().unwrap()];
    let server = Server::start_with("memory:", &words);
    let authority = file("authority.crt");
    status(&server, &["--ca", &authority]).done();
    std::fs::write(&certificate, "half of it").unwrap();
    status(&server, &["--ca", &authority]).done();
    put("imposter");
    assert_eq!(status(&server, &["--ca", &authority]).code, Some(1));
    status(&server, &["--ca", &file("stranger.crt")]).done();
}

#[test]
fn files_that_cannot_be_used_keep_the_server_from_starting() {
    let [certificate, key] = ["server.crt", "client.key"].map(file);
    let refused = caudal(&["serve", "--store", "memory:", "--tls-certificate", &certificate, "--tls-key", &key]);
    assert!(refused.code == Some(1) && refused.err.contains("do not go together"), "{}", refused.err);
    let none = caudal(&["serve", "--store", "memory:", "--tls-certificate", &certificate, "--tls-key", &certificate]);
    assert!(none.code == Some(1) && none.err.contains("cannot read a private key"), "{}", none.err);
}
