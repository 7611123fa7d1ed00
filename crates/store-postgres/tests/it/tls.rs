//! A database behind TLS: what stands before it encrypts, as the database itself would, with a certificate of `spec/tls`.

use std::sync::Arc;

use store::Store;
use store_postgres::Postgres;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig, crypto};

use crate::database::{Database, patient, with_database};

/// How a client asks whether it may encrypt, with the length before it.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

#[test]
fn the_mode_says_which_database_is_believed() {
    with_database(|database| async move {
        for (certificate, query, expected) in [
            ("server", "sslmode=verify-full&sslrootcert=AUTHORITY", Ok(())),
            ("server", "sslmode=verify-full&sslrootcert=STRANGER", Err("UnknownIssuer")),
            ("elsewhere", "sslmode=verify-full&sslrootcert=AUTHORITY", Err("not valid for name")),
            ("elsewhere", "sslmode=verify-ca&sslrootcert=AUTHORITY", Ok(())),
            ("imposter", "sslmode=verify-ca&sslrootcert=AUTHORITY", Err("UnknownIssuer")),
            ("imposter", "sslmode=require&sslrootcert=AUTHORITY", Err("UnknownIssuer")),
            ("imposter", "sslmode=require", Ok(())),
            ("imposter", "application_name=x", Ok(())),
            ("server", "sslmode=disable", Err("")),
        ] {
            let port = encrypting(&database, certificate, Clients::Anybody).await;
            let url = database.url_through(port);
            let query = query.replace("AUTHORITY", &file("authority.crt")).replace("STRANGER", &file("stranger.crt"));
            let url = format!("{url}{}{query}", if url.contains('?') { '&' } else { '?' });
            let connected = match Postgres::connect(&url, patient()).await {
                Ok(store) => store.now().await.map(drop),
                Err(refused) => Err(refused),
            };
            match (connected, expected) {
                (Ok(()), Ok(())) => {}
                (Err(refused), Err(why)) => assert!(refused.to_string().contains(why), "{query}: {refused}"),
                (connected, expected) => panic!("{certificate}, {query}: {connected:?} rather than {expected:?}"),
            }
        }
        let plain = format!("{}{}sslmode=require", database.url, if database.url.contains('?') { '&' } else { '?' });
        let refused = Postgres::connect(&plain, patient()).await.err().expect("the test server does not encrypt");
        assert!(refused.to_string().contains("TLS"), "{refused}");
    });
}

#[test]
fn a_database_that_wants_a_certificate_gets_the_one_the_url_names() {
    with_database(|database| async move {
        let port = encrypting(&database, "server", Clients::OfOurAuthority).await;
        let url = database.url_through(port);
        let and = if url.contains('?') { '&' } else { '?' };
        for (client, welcome) in [(Some("client"), true), (Some("imposter"), false), (None, false)] {
            let shown = client.map_or(String::new(), |name| {
                format!("&sslcert={}&sslkey={}", file(&format!("{name}.crt")), file(&format!("{name}.key")))
            });
            let url = format!("{url}{and}sslmode=verify-full&sslrootcert={}{shown}", file("authority.crt"));
            let connected = match Postgres::connect(&url, patient()).await {
                Ok(store) => store.now().await.map(drop),
                Err(refused) => Err(refused),
            };
            assert_eq!(connected.is_ok(), welcome, "{client:?}: {connected:?}");
        }
    });
}

/// Who may come.
#[derive(Clone, Copy)]
enum Clients {
    Anybody,
    OfOurAuthority,
}

fn file(name: &str) -> String {
    format!("{}/../../spec/tls/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Encrypts for the database; who does not want that is turned away. Ends with the test.
async fn encrypting(database: &Database, certificate: &str, clients: Clients) -> u16 {
    let chain = vec![CertificateDer::from_pem_file(file(&format!("{certificate}.crt"))).unwrap()];
    let key = PrivateKeyDer::from_pem_file(file(&format!("{certificate}.key"))).unwrap();
    let provider = Arc::new(crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions().unwrap();
    let config = match clients {
        Clients::Anybody => config.with_no_client_auth(),
        Clients::OfOurAuthority => {
            let mut roots = RootCertStore::empty();
            roots.add(CertificateDer::from_pem_file(file("authority.crt")).unwrap()).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap();
            config.with_client_cert_verifier(verifier)
        }
    };
    let mut config = config.with_single_cert(chain, key).unwrap();
    config.alpn_protocols = vec![b"postgresql".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let behind = database.host_and_port();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let (acceptor, behind) = (acceptor.clone(), behind.clone());
            tokio::spawn(async move {
                let mut asked = [0; 8];
                client.read_exact(&mut asked).await.ok()?;
                if asked != SSL_REQUEST {
                    return None;
                }
                client.write_all(b"S").await.ok()?;
                let mut client = acceptor.accept(client).await.ok()?;
                let mut server = TcpStream::connect(behind).await.ok()?;
                tokio::io::copy_bidirectional(&mut client, &mut server).await.ok()
            });
        }
    });
    port
}
