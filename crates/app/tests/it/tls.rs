//! TLS between a running server and those who ask it.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use crate::server::{Answer, Server, caudal};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
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

type Stream = StreamOwned<ClientConnection, TcpStream>;

/// A client that trusts this authority, speaks what it is told, and shows a certificate if it has one.
fn connect(address: SocketAddr, authority: &str, client: Option<&str>, alpn: &str) -> Stream {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(file(authority)).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots);
    let mut config = match client {
        None => config.with_no_client_auth(),
        Some(name) => {
            let chain = vec![CertificateDer::from_pem_file(file(&format!("{name}.crt"))).unwrap()];
            let key = PrivateKeyDer::from_pem_file(file(&format!("{name}.key"))).unwrap();
            config.with_client_auth_cert(chain, key).unwrap()
        }
    };
    config.alpn_protocols = vec![alpn.as_bytes().to_vec()];
    let connection = ClientConnection::new(Arc::new(config), ServerName::try_from("localhost").unwrap()).unwrap();
    StreamOwned::new(connection, TcpStream::connect(address).unwrap())
}

/// Whether the port of metrics answers such a client.
fn metrics(server: &Server, authority: &str, client: Option<&str>) -> io::Result<()> {
    let mut metrics = connect(server.metrics, authority, client, "http/1.1");
    metrics.write_all(b"GET /health/ready HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")?;
    let mut answer = String::new();
    metrics.read_to_string(&mut answer)?;
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    Ok(())
}

/// Whether gRPC does.
fn grpc(server: &Server, authority: &str, client: Option<&str>) -> io::Result<()> {
    let mut grpc = connect(server.grpc, authority, client, "h2");
    grpc.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0")?;
    let mut frame = [0; 9];
    grpc.read_exact(&mut frame)?;
    assert_eq!((frame[3], grpc.conn.alpn_protocol()), (4, Some(&b"h2"[..])), "its first frame says its settings");
    Ok(())
}

#[test]
fn all_edges_speak_tls() {
    let server = secured(&[]);
    assert!(status(&server, &["--ca", &file("authority.crt")]).done().contains("healthy"));
    for ask in [metrics, grpc] {
        ask(&server, "authority.crt", None).unwrap();
        let distrusted = ask(&server, "stranger.crt", None).unwrap_err();
        assert!(distrusted.to_string().contains("UnknownIssuer"), "{distrusted}");
    }
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
    for ask in [metrics, grpc] {
        ask(&server, "authority.crt", Some("client")).unwrap();
        for (client, why) in [(None, "CertificateRequired"), (Some("imposter"), "")] {
            let refused = ask(&server, "authority.crt", client).unwrap_err();
            assert!(refused.to_string().contains(why), "{client:?}: {refused}");
        }
    }
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
    let trusted = |authority: &str| {
        assert_eq!(status(&server, &["--ca", &file(authority)]).code, Some(0), "{authority}");
        for ask in [metrics, grpc] {
            ask(&server, authority, None).unwrap();
        }
    };
    trusted("authority.crt");
    std::fs::write(&certificate, "half of it").unwrap();
    trusted("authority.crt");
    put("imposter");
    trusted("stranger.crt");
    assert_eq!(status(&server, &["--ca", &file("authority.crt")]).code, Some(1));
    for ask in [metrics, grpc] {
        let distrusted = ask(&server, "authority.crt", None).unwrap_err();
        assert!(distrusted.to_string().contains("UnknownIssuer"), "{distrusted}");
    }
}

#[test]
fn files_that_cannot_be_used_keep_the_server_from_starting() {
    let [certificate, key] = ["server.crt", "client.key"].map(file);
    let refused = caudal(&["serve", "--store", "memory:", "--tls-certificate", &certificate, "--tls-key", &key]);
    assert!(refused.code == Some(1) && refused.err.contains("do not go together"), "{}", refused.err);
    let none = caudal(&["serve", "--store", "memory:", "--tls-certificate", &certificate, "--tls-key", &certificate]);
    assert!(none.code == Some(1) && none.err.contains("cannot read a private key"), "{}", none.err);
}
