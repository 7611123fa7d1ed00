//! The jars of a Kafka broker, which tests start themselves: as many as they need, and kill them.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::environment::{keep, pins};
use crate::places::{self, Places};
use crate::{java, logged};

const FETCH_MAX: Duration = Duration::from_secs(600);

/// Where tests look for the jars.
pub(crate) const VARIABLE: &str = "CAUDAL_TEST_KAFKA_JARS";

/// The folder of the jars, made if it is not there.
pub(crate) fn jars(places: &Places) -> Result<PathBuf, String> {
    java::install(places)?;
    let source = places::root().join("xtask/kafka");
    let folder = places.own.join("kafka");
    let lib = folder.join("lib");
    keep(&folder, &pins(&[&source.join("pom.xml")])?, || {
        println!("fetching a Kafka broker with mvn …");
        let mut maven = Command::new("mvn");
        maven.args(["--quiet", "--batch-mode", "dependency:copy-dependencies", "-DincludeScope=runtime"]);
        maven.arg(format!("-DoutputDirectory={}", lib.display())).current_dir(&source);
        logged::must(&mut maven, &places.log("fetch-kafka"), FETCH_MAX).map(drop)
    })?;
    Ok(lib)
}
