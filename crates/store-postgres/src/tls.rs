//! TLS to PostgreSQL: what `sslmode`, `sslrootcert`, `sslcert` and `sslkey` of the URL say, as libpq means them.
//!
//! | sslmode | encrypted | whose server it is |
//! |---|---|---|
//! | disable | no | |
//! | allow, prefer (the default) | if the server can | not checked |
//! | require | yes | not checked; like verify-ca if there is a sslrootcert |
//! | verify-ca | yes | one with a certificate of a trusted authority |
//! | verify-full | yes | and for the host of the URL |

use std::future::Future;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::config::SslMode;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::CryptoProvider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme, crypto,
};
use tokio_rustls::{TlsConnector, client};

/// Where systems keep the authorities they trust.
const SYSTEM: [&str; 4] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"];

/// What a URL says about TLS.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Wish {
    mode: Option<String>,
    authorities: Option<String>,
    certificate: Option<String>,
    key: Option<String>,
}

#[derive(Clone)]
pub(crate) struct Tls(Arc<ClientConfig>);

/// The URL without what it says about TLS, which the driver knows less of, and that.
pub(crate) fn split(url: &str) -> (String, Wish) {
    let mut wish = Wish::default();
    let Some((place, query)) = url.split_once('?') else { return (url.to_owned(), wish) };
    let mut rest = Vec::new();
    for pair in query.split('&') {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let place = match name {
            "sslmode" => &mut wish.mode,
            "sslrootcert" => &mut wish.authorities,
            "sslcert" => &mut wish.certificate,
            "sslkey" => &mut wish.key,
            _ => {
                rest.push(pair);
                continue;
            }
        };
        *place = Some(decoded(value));
    }
    let url = if rest.is_empty() { place.to_owned() } else { format!("{place}?{}", rest.join("&")) };
    (url, wish)
}

/// Without `%2F` and the like.
fn decoded(value: &str) -> String {
    let mut out = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.filter(|_| *first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        out.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&out).into_owned()
}

impl Wish {
    /// Whether to encrypt, and how.
    pub(crate) fn granted(&self) -> Result<(SslMode, Tls), String> {
        let roots = self.authorities.as_deref();
        let (mode, check) = match (self.mode.as_deref().unwrap_or("prefer"), roots) {
            ("disable", _) => (SslMode::Disable, Check::Nothing),
            ("allow" | "prefer", _) => (SslMode::Prefer, Check::Nothing),
            ("require", None) => (SslMode::Require, Check::Nothing),
            ("require" | "verify-ca", _) => (SslMode::Require, Check::Authority),
            ("verify-full", _) => (SslMode::Require, Check::AuthorityAndName),
            (other, _) => {
                return Err(format!("sslmode is '{other}': use disable, prefer, require, verify-ca or verify-full"));
            }
        };
        Ok((mode, Tls(Arc::new(self.config(check)?))))
    }

    fn config(&self, check: Check) -> Result<ClientConfig, String> {
        let provider = Arc::new(crypto::ring::default_provider());
        let verifier = self.verifier(check, &provider)?;
        let builder = ClientConfig::builder_with_provider(provider);
        let builder = builder.with_safe_default_protocol_versions().map_err(|error| error.to_string())?;
        let builder = builder.dangerous().with_custom_certificate_verifier(verifier);
        let mut config = match (&self.certificate, &self.key) {
            (None, None) => builder.with_no_client_auth(),
            (Some(certificate), Some(key)) => {
                let private = PrivateKeyDer::from_pem_file(key).map_err(|error| format!("sslkey {key}: {error}"))?;
                let chain = certificates("sslcert", certificate)?;
                builder.with_client_auth_cert(chain, private).map_err(|error| format!("sslcert {certificate}: {error}"))?
            }
            (Some(_), None) | (None, Some(_)) => return Err("sslcert and sslkey go together: give both".to_owned()),
        };
        config.alpn_protocols = vec![b"postgresql".to_vec()];
        Ok(config)
    }

    fn verifier(&self, check: Check, provider: &Arc<CryptoProvider>) -> Result<Arc<Verifier>, String> {
        let authorities = match check {
            Check::Nothing => None,
            Check::Authority | Check::AuthorityAndName => {
                let path = match self.authorities.as_deref() {
                    None | Some("system") => *SYSTEM
                        .iter()
                        .find(|path| Path::new(path).exists())
                        .ok_or("this system has no list of authorities: name the database's with sslrootcert=FILE")?,
                    Some(path) => path,
                };
                let mut roots = RootCertStore::empty();
                roots.add_parsable_certificates(certificates("sslrootcert", path)?);
                let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build();
                Some(verifier.map_err(|error| format!("sslrootcert {path}: {error}"))?)
            }
        };
        Ok(Arc::new(Verifier { authorities, check, provider: provider.clone() }))
    }
}

fn certificates(what: &str, path: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match read {
        Ok(none) if none.is_empty() => Err(format!("{what} {path} has no certificate in PEM")),
        read => read.map_err(|error| format!("{what} {path}: {error}")),
    }
}

/// What of a server's certificate counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Check {
    Nothing,
    Authority,
    AuthorityAndName,
}

#[derive(Debug)]
struct Verifier {
    authorities: Option<Arc<WebPkiServerVerifier>>,
    check: Check,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(authorities) = &self.authorities else { return Ok(ServerCertVerified::assertion()) };
        match authorities.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            // The name is looked at last: everything else was right.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.check == Check::Authority => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        crypto::verify_tls12_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        crypto::verify_tls13_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = Encrypted;
    type TlsConnect = Connect;
    type Error = io::Error;

    fn make_tls_connect(&mut self, domain: &str) -> io::Result<Connect> {
        let name = ServerName::try_from(domain.to_owned()).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        Ok(Connect { name, config: self.0.clone() })
    }
}

/// One connection that is about to be encrypted.
pub(crate) struct Connect {
    name: ServerName<'static>,
    config: Arc<ClientConfig>,
}

impl TlsConnect<Socket> for Connect {
    type Stream = Encrypted;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        let connecting = TlsConnector::from(self.config).connect(self.name, socket);
        Box::pin(async move { connecting.await.map(|stream| Encrypted(Box::new(stream))) })
    }
}

pub(crate) struct Encrypted(Box<client::TlsStream<Socket>>);

impl TlsStream for Encrypted {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Encrypted {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Encrypted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests;
