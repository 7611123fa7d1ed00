//! TLS of the edges: certificate and key from files, which are read again when they have changed.
//!
//! The files are looked at when somebody connects. What cannot be used (half of it is written, it does not fit together) is said once and
//! leaves what was read before in use.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig, crypto};

use super::Speaks;

/// Where certificates and keys are, as PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// The server's, with those between it and its authority.
    pub certificate: PathBuf,
    pub key: PathBuf,
    /// Authorities of clients. If there are any, a client without a certificate of theirs is refused.
    pub client_authorities: Option<PathBuf>,
}

pub struct Tls {
    files: Files,
    speaks: Speaks,
    read: Mutex<Read>,
}

struct Read {
    stamps: Stamps,
    config: Arc<ServerConfig>,
}

/// When each file was changed last, and how long it was.
type Stamps = Vec<Option<(SystemTime, u64)>>;

impl Tls {
    pub fn read(files: Files, speaks: Speaks) -> Result<Self, String> {
        let read = Read { stamps: stamps(&files), config: Arc::new(config(&files, speaks)?) };
        Ok(Self { files, speaks, read: Mutex::new(read) })
    }

    /// What a new connection is to use.
    pub(super) fn config(&self) -> Arc<ServerConfig> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let stamps = stamps(&self.files);
        if stamps != read.stamps {
            read.stamps = stamps;
            match config(&self.files, self.speaks) {
                Ok(config) => {
                    read.config = Arc::new(config);
                    tracing::info!(certificate = %self.files.certificate.display(), "the certificate was read again");
                }
                Err(reason) => tracing::error!(reason, "the changed certificate cannot be used; the one before stays in use"),
            }
        }
        read.config.clone()
    }
}

fn stamps(files: &Files) -> Stamps {
    let paths = [Some(&files.certificate), Some(&files.key), files.client_authorities.as_ref()];
    let stamp = |path: &PathBuf| path.metadata().ok().and_then(|found| Some((found.modified().ok()?, found.len())));
    paths.into_iter().flatten().map(stamp).collect()
}

fn config(files: &Files, speaks: Speaks) -> Result<ServerConfig, String> {
    let provider = Arc::new(crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone());
    let builder = builder.with_safe_default_protocol_versions().map_err(|error| error.to_string())?;
    let builder = match &files.client_authorities {
        None => builder.with_no_client_auth(),
        Some(path) => {
            let roots = Arc::new(authorities(path)?);
            let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider).build();
            builder.with_client_cert_verifier(verifier.map_err(|error| format!("{}: {error}", path.display()))?)
        }
    };
    let key = PrivateKeyDer::from_pem_file(&files.key);
    let key = key.map_err(|error| format!("{}: cannot read a private key: {error}", files.key.display()))?;
    let mut config = builder
        .with_single_cert(certificates(&files.certificate)?, key)
        .map_err(|error| format!("{} and {} do not go together: {error}", files.certificate.display(), files.key.display()))?;
    config.alpn_protocols = match speaks {
        Speaks::Http => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
        Speaks::Http2 => vec![b"h2".to_vec()],
    };
    Ok(config)
}

fn authorities(path: &Path) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        roots.add(certificate).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(roots)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let shown = path.display();
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match read {
        Ok(certificates) if certificates.is_empty() => Err(format!("{shown} has no certificate in PEM")),
        read => read.map_err(|error| format!("{shown}: cannot read certificates: {error}")),
    }
}
