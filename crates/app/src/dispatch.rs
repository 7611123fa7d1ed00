//! How jobs reach workers: by asking, or through Kafka.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use host::Announcing;

use crate::settings::Settings;

pub(crate) const PASSWORD: &str = "CAUDAL_KAFKA_PASSWORD";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Dispatch {
    Polling,
    Kafka(Box<Kafka>),
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Kafka {
    brokers: Brokers,
    topic_prefix: String,
    job_types: Vec<Arc<str>>,
    lease: Duration,
    rows_max: u64,
    bytes_max: u64,
}

impl std::fmt::Debug for Kafka {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Kafka").field("brokers", &self.brokers).finish_non_exhaustive()
    }
}

/// Where Kafka is, and who this server is there.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Brokers {
    addresses: String,
    sasl: Option<Sasl>,
}

impl std::fmt::Debug for Brokers {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.addresses.fmt(formatter)
    }
}

#[derive(Clone, PartialEq, Eq)]
struct Sasl {
    is_sha512: bool,
    username: String,
    password: String,
    ca: Option<PathBuf>,
    server_name: Option<String>,
}

pub(crate) fn read(settings: &Settings) -> Result<Dispatch, String> {
    match settings.text("dispatch") {
        "polling" => Ok(Dispatch::Polling),
        _ if !cfg!(feature = "kafka") => {
            Err("dispatch is kafka_outbox, but this server was built without Kafka: build it with its default features"
                .to_owned())
        }
        _ => kafka(settings).map(|kafka| Dispatch::Kafka(Box::new(kafka))),
    }
}

/// `wanted` says what for.
pub(crate) fn brokers(settings: &Settings, wanted: &str) -> Result<Brokers, String> {
    let addresses = settings.text("kafka.brokers");
    if addresses.trim().is_empty() {
        return Err(format!("{wanted}, but kafka.brokers is empty: say where Kafka is, such as kafka:9092"));
    }
    let sasl = match settings.text("kafka.security") {
        "sasl_tls" => Some(sasl(settings, std::env::var(PASSWORD).ok())?),
        _ => None,
    };
    Ok(Brokers { addresses: addresses.to_owned(), sasl })
}

fn kafka(settings: &Settings) -> Result<Kafka, String> {
    Ok(Kafka {
        brokers: brokers(settings, "dispatch is kafka_outbox")?,
        topic_prefix: settings.text("kafka.topic_prefix").to_owned(),
        job_types: settings.texts("kafka.job_types").iter().map(|job_type| job_type.as_str().into()).collect(),
        lease: Duration::from_secs(settings.number("kafka.lease_seconds")),
        rows_max: settings.number("kafka.outbox_rows"),
        bytes_max: settings.number("kafka.outbox_bytes"),
    })
}

fn sasl(settings: &Settings, password: Option<String>) -> Result<Sasl, String> {
    let some = |key: &str| Some(settings.text(key).to_owned()).filter(|text| !text.is_empty());
    let username = some("kafka.username").ok_or("kafka.security is sasl_tls, but kafka.username is empty")?;
    let password = match (password, some("kafka.password_file")) {
        (Some(password), None) => password,
        (None, Some(file)) => read_password(Path::new(&file))?,
        (None, None) => {
            return Err(format!(
                "kafka.security is sasl_tls: give the password in {PASSWORD} or name its file in kafka.password_file"
            ));
        }
        (Some(_), Some(_)) => return Err(format!("{PASSWORD} and kafka.password_file are both given: leave one out")),
    };
    Ok(Sasl {
        is_sha512: settings.text("kafka.mechanism") == "SCRAM-SHA-512",
        username,
        password,
        ca: some("kafka.ca").map(PathBuf::from),
        server_name: some("kafka.server_name"),
    })
}

fn read_password(file: &Path) -> Result<String, String> {
    let text =
        std::fs::read_to_string(file).map_err(|error| format!("cannot read kafka.password_file {}: {error}", file.display()))?;
    match text.trim_end_matches(['\r', '\n']) {
        "" => Err(format!("kafka.password_file {} is empty", file.display())),
        password => Ok(password.to_owned()),
    }
}

impl Dispatch {
    /// What the engine announces, and to whom.
    #[cfg(feature = "kafka")]
    pub(crate) fn announcing(&self) -> Option<Announcing> {
        let Self::Kafka(kafka) = self else { return None };
        let options = kafka.brokers.options(&kafka.topic_prefix);
        Some(Announcing {
            job_types: kafka.job_types.clone(),
            lease: kafka.lease,
            rows_max: kafka.rows_max,
            bytes_max: kafka.bytes_max,
            publisher: Arc::new(kafka::Kafka::new(options)),
        })
    }

    #[cfg(not(feature = "kafka"))]
    pub(crate) fn announcing(&self) -> Option<Announcing> {
        None
    }
}

#[cfg(feature = "kafka")]
impl Brokers {
    pub(crate) fn options(&self, topic_prefix: &str) -> kafka::Options {
        let sasl = self.sasl.as_ref().map(|sasl| kafka::Sasl {
            mechanism: if sasl.is_sha512 { kafka::Mechanism::ScramSha512 } else { kafka::Mechanism::ScramSha256 },
            username: sasl.username.clone(),
            password: sasl.password.clone(),
            tls: kafka::Tls { ca: sasl.ca.clone(), server_name: sasl.server_name.clone() },
        });
        kafka::Options { brokers: self.addresses.clone(), topic_prefix: topic_prefix.to_owned(), sasl }
    }
}
