//! The stream of what happened: whether there is one, and where it goes.

use std::time::Duration;

use host::{Exporting, Kept};

use crate::config::StoreUrl;
use crate::dispatch::{Brokers, brokers};
use crate::kept::{kept, refused};
use crate::settings::Settings;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Export {
    brokers: Brokers,
    topic: String,
    variables: bool,
    hold: Duration,
}

pub(crate) fn read(settings: &Settings, store: &StoreUrl) -> Result<Option<Export>, String> {
    let topic = settings.text("export.kafka.topic");
    if topic.is_empty() {
        return Ok(None);
    }
    if !cfg!(feature = "kafka") {
        return Err(
            "export.kafka.topic is given, but this server was built without Kafka: build it with its default features".to_owned()
        );
    }
    if *store == StoreUrl::Memory {
        return Err("export.kafka.topic is given, but a store in memory keeps no log to export: use another".to_owned());
    }
    let key = "export.kafka.hold";
    let hold = match kept(settings.text(key)).ok_or_else(|| refused(key, settings.text(key)))? {
        Kept::For(time) => time,
        Kept::Forever => Duration::MAX,
    };
    let brokers = brokers(settings, "export.kafka.topic is given")?;
    Ok(Some(Export { brokers, topic: topic.to_owned(), variables: settings.flag("export.kafka.variables"), hold }))
}

impl Export {
    #[cfg(feature = "kafka")]
    pub(crate) fn exporting(&self) -> Option<Exporting> {
        let Self { brokers, topic, variables, hold } = self;
        let exporter = kafka::Stream::new(brokers.options(""), topic.clone());
        let exporter = std::sync::Arc::new(exporter);
        Some(Exporting { name: topic.as_str().into(), variables: *variables, hold: *hold, exporter })
    }

    #[cfg(not(feature = "kafka"))]
    pub(crate) fn exporting(&self) -> Option<Exporting> {
        None
    }
}
