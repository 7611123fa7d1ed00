//! How the store talks to the database.

use std::str::FromStr;
use std::time::Duration;

use store::Error;
use tokio_postgres::config::TargetSessionAttrs;
use tokio_postgres::{Client, Config, Connection, Socket};

use crate::fault::with_causes;
use crate::tls::{self, Encrypted, Tls};

/// A server that does not answer the handshake in this time counts as away.
const CONNECT_MAX: Duration = Duration::from_secs(5);
/// A peer that is gone without a word is noticed after about this time, also on a connection that only listens.
const PEER_SILENCE_MAX: Duration = Duration::from_secs(10);
pub(crate) const KEEPALIVES_AFTER: Duration = PEER_SILENCE_MAX.checked_div(2).expect("two is not zero");
pub(crate) const KEEPALIVES_EVERY: Duration = PEER_SILENCE_MAX.checked_div(10).expect("ten is not zero");
pub(crate) const KEEPALIVES_MAX: u32 = 5;

#[derive(Debug, Clone)]
pub struct Options {
    /// Connections that serve searches; further searches wait without holding one.
    pub searches_max: usize,
    /// How long a call other than a search may take, waiting for a connection included. Also the server's `statement_timeout`.
    pub call_timeout: Duration,
    /// How long the database looks for a page, and how long it counts, before it gives up.
    pub search_timeout: Duration,
    /// What stands between us and the database.
    pub path: Path,
}

/// What stands between us and the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Path {
    /// Nothing: a connection is a session of the database.
    Direct,
    /// A pooler that hands out database sessions per transaction (PgBouncer in `transaction` mode and the like). Statements are
    /// then not prepared by name, and every transaction brings its settings with it, in the same round trip; both cost the database
    /// some time.
    TransactionPooler {
        /// Leads to the database itself, for `LISTEN`. Without it nobody is woken by another server and all rely on polling.
        direct_url: Option<String>,
    },
}

impl Default for Options {
    fn default() -> Self {
        let timeout = Duration::from_secs(10);
        Self { searches_max: 8, call_timeout: timeout, search_timeout: timeout, path: Path::Direct }
    }
}

impl Options {
    pub(crate) fn connect_timeout(&self) -> Duration {
        self.call_timeout.min(CONNECT_MAX)
    }
}

/// A database, and how it is reached.
#[derive(Clone)]
pub(crate) struct Target {
    config: Config,
    tls: Tls,
}

impl Target {
    pub(crate) async fn connect(&self) -> Result<(Client, Connection<Socket, Encrypted>), tokio_postgres::Error> {
        self.config.connect(self.tls.clone()).await
    }
}

/// A URL as libpq knows it, with what we insist on.
pub(crate) fn parse(url: &str, options: &Options) -> Result<Target, Error> {
    let unusable = |reason: String| Error::unavailable(format!("the database URL cannot be used: {reason}"));
    let (url, wish) = tls::split(url);
    let mut config = Config::from_str(&url).map_err(|cause| unusable(with_causes(&cause)))?;
    let (mode, tls) = wish.granted().map_err(unusable)?;
    config.ssl_mode(mode);
    if config.get_application_name().is_none() {
        config.application_name("caudal");
    }
    // With several hosts one of them is the primary; the others refuse to write.
    if 1 < config.get_hosts().len() && config.get_target_session_attrs() == TargetSessionAttrs::Any {
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
    }
    config
        .connect_timeout(options.connect_timeout())
        .tcp_user_timeout(PEER_SILENCE_MAX)
        .keepalives(true)
        .keepalives_idle(KEEPALIVES_AFTER)
        .keepalives_interval(KEEPALIVES_EVERY)
        .keepalives_retries(KEEPALIVES_MAX);
    Ok(Target { config, tls })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_that_cannot_be_used_is_told_without_its_password() {
        for query in ["sslmode=sometimes", "port=secret&x=1", "nonsense"] {
            let refused = parse(&format!("postgres://me:secret@db.example/caudal?{query}"), &Options::default());
            let told = refused.err().unwrap().to_string();
            assert!(told.contains("the database URL cannot be used: ") && !told.contains("secret"), "{told}");
        }
    }

    #[test]
    fn of_several_hosts_the_primary_is_asked_for() {
        let target = parse("postgres://a,b/caudal", &Options::default()).unwrap();
        assert_eq!(target.config.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
    }
}
