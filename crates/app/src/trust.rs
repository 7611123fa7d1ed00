//! Whom the command line trusts over https, and who it says it is.

use std::path::Path;
use std::sync::Arc;

use ureq::tls::{Certificate, ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, parse_pem};

use crate::cli::Remote;

/// Where systems keep the authorities they trust.
const SYSTEM: [&str; 4] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"];

/// Speaks to an address from inside the server, which trusts whom the system does.
pub(crate) fn agent(url: &str, patience: std::time::Duration) -> Result<ureq::Agent, String> {
    let remote = Remote { url: url.to_owned(), ca: None, client_cert: None, client_key: None, json: false };
    let mut config = ureq::Agent::config_builder().timeout_global(Some(patience));
    if let Some(tls) = tls(&remote)? {
        config = config.tls_config(tls);
    }
    Ok(config.build().into())
}

/// None for a server that is spoken to plainly.
pub(crate) fn tls(remote: &Remote) -> Result<Option<TlsConfig>, String> {
    if !remote.url.starts_with("https://") {
        return Ok(None);
    }
    let authorities = match &remote.ca {
        Some(path) => certificates(path)?,
        None => {
            let found = SYSTEM.iter().map(Path::new).find(|path| path.exists());
            certificates(found.ok_or("this system has no list of authorities: name the server's with --ca FILE")?)?
        }
    };
    let client = match (&remote.client_cert, &remote.client_key) {
        (Some(certificate), Some(key)) => Some(ClientCert::new_with_certs(&certificates(certificate)?, private_key(key)?)),
        // The command line gives both or none.
        (None | Some(_), None) | (None, Some(_)) => None,
    };
    let config = TlsConfig::builder()
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .root_certs(RootCerts::Specific(Arc::new(authorities)))
        .client_cert(client);
    Ok(Some(config.build()))
}

fn certificates(path: &Path) -> Result<Vec<Certificate<'static>>, String> {
    let read = read(path)?;
    let found = parse_pem(&read).filter_map(|item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    });
    match found.collect::<Vec<_>>() {
        none if none.is_empty() => Err(format!("{} has no certificate in PEM", path.display())),
        found => Ok(found),
    }
}

fn private_key(path: &Path) -> Result<PrivateKey<'static>, String> {
    PrivateKey::from_pem(&read(path)?).map_err(|error| format!("{}: cannot read a private key: {error}", path.display()))
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}
