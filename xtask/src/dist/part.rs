//! The parts `deb` and `dist` of `cargo xtask test`. `deb`: packages are made, and the Debian one is installed, started, upgraded with data,
//! removed and purged in a copy of this system that vanishes. `dist` is that, and the chart is linted and rendered, with a helm that Go builds
//! where there is none: minutes, and nothing of a system's package manager, so it runs when it is named.
//!
//! It packs the binary that the other tests use: what is tested is the packing. `cargo xtask dist` sees to it that its own is static.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::{Made, bill, make};
use crate::environment::{Readiness, keep};
use crate::logged;
use crate::packages;
use crate::places::Places;
use crate::summary::{self, Outcome, Report};

pub(crate) const NAME: &str = "dist";
pub(crate) const DEB: &str = "deb";
const PREVIOUS: &str = "0.0.1";
/// A released package to upgrade from.
const PREVIOUS_PACKAGE: &str = "CAUDAL_PREVIOUS_DEB";
/// What the oldest store with something of everything in it was written by.
const ANCIENT: &str = "spec/stores/schema-5.sqlite.db";
const LIFE_MAX: Duration = Duration::from_secs(600);
const STEP_MAX: Duration = Duration::from_secs(60);
const HELM: &str = "v3.16.4";
const HELM_MAX: Duration = Duration::from_secs(1800);

/// Layers a folder in memory over this system, in name spaces of its own, and runs there what it is given.
const COPY: &str = "mount -t tmpfs none \"$1\" && cd \"$1\" && mkdir above work root \
    && mount -t overlay overlay -o lowerdir=/,upperdir=above,workdir=work root \
    && mount --rbind /dev root/dev && mount -t proc proc root/proc && mount -t tmpfs none root/run && mount -t tmpfs none root/tmp \
    && cp \"$2\" \"$3\" \"$4\" \"$6\" root/tmp/ \
    && exec chroot root sh \"/tmp/$(basename \"$4\")\" \"/tmp/$(basename \"$2\")\" \"/tmp/$(basename \"$3\")\" \"$5\" \"/tmp/$(basename \"$6\")\"";

pub(crate) fn prepare(places: &Places) -> Readiness {
    let missing = ["dpkg", "dpkg-deb", "unshare", "setpriv", "ip"].into_iter().find(|program| !packages::found(program));
    match missing {
        Some(program) => Readiness::Missing(format!("{program} is not installed")),
        None if packages::found("systemd-analyze") => Readiness::Ready,
        None => packages::install(&packages::SYSTEMD, &places.log("install-systemd")).into(),
    }
}

pub(crate) fn prepare_chart(places: &Places) -> Readiness {
    helm(places).map(drop).into()
}

/// The one on the path, or one that Go builds, once.
fn helm(places: &Places) -> Result<PathBuf, String> {
    if packages::found("helm") {
        return Ok(PathBuf::from("helm"));
    }
    let folder = places.own.join("helm");
    keep(&folder, HELM, || {
        let mut go = Command::new("go");
        go.args(["install", &format!("helm.sh/helm/v3/cmd/helm@{HELM}")]).env("GOBIN", &folder).env("GOTOOLCHAIN", "local");
        logged::must(&mut go, &places.log("install-helm"), HELM_MAX).map(drop)
    })?;
    Ok(folder.join("helm"))
}

pub(crate) fn test(places: &Places, readiness: &Readiness) -> Report {
    report(DEB, places.log("dist-life"), readiness, || check(places))
}

pub(crate) fn test_chart(places: &Places, readiness: &Readiness) -> Report {
    report(NAME, places.log("dist-helm"), readiness, || {
        chart(places).map(|passed| Outcome::Ran { passed, failed: 0, note: String::new() })
    })
}

fn report(part: &str, log: PathBuf, readiness: &Readiness, check: impl FnOnce() -> Result<Outcome, String>) -> Report {
    summary::begin(part, "");
    let began = Instant::now();
    let outcome = readiness.unless_ready(part).unwrap_or_else(|| check().unwrap_or_else(Outcome::Broken));
    let logs = [log].into_iter().filter(|log| log.exists()).collect();
    Report { part: part.to_owned(), on: "", took: began.elapsed(), outcome, logs }
}

fn check(places: &Places) -> Result<Outcome, String> {
    let out = places.own.join(NAME);
    if out.exists() {
        fs::remove_dir_all(&out).map_err(|error| format!("cannot remove {}: {error}", out.display()))?;
    }
    make(&out)?;
    let version = env!("CARGO_PKG_VERSION");
    let pack = |version| Made::stage(places, &places.caudal(), version, &out)?.package("none");
    // As long as nothing was released, the one before is this one with another number.
    let old = std::env::var_os(PREVIOUS_PACKAGE).map(PathBuf::from).map_or_else(|| pack(PREVIOUS), Ok)?;
    let new = pack(version)?;
    bill::write(places, "all", version, &out)?;
    let text = live(places, &out, &old, &new, version)?;
    let count = |word: &str| text.lines().filter(|line| line.starts_with(word)).count();
    let failures: Vec<&str> = text.lines().filter(|line| line.starts_with("FAIL ")).collect();
    fs::remove_dir_all(&out).map_err(|error| format!("cannot remove {}: {error}", out.display()))?;
    Ok(Outcome::Ran { passed: count("ok "), failed: failures.len(), note: failures.join("; ") })
}

fn live(places: &Places, out: &Path, old: &Path, new: &Path, version: &str) -> Result<String, String> {
    let script = out.join("lifecycle.sh");
    fs::write(&script, include_str!("lifecycle.sh")).map_err(|error| format!("cannot write {}: {error}", script.display()))?;
    let below = out.join("system");
    make(&below)?;
    let apart = ["unshare", "--mount", "--propagation", "private", "--net", "--pid", "--fork", "--kill-child"];
    let mut command = packages::as_root(apart[0], &apart.map(str::to_owned))?;
    command.args(["sh", "-ec", COPY, "sh"]);
    command.arg(&below).args([old, new, &script]).arg(version).arg(places.root.join(ANCIENT));
    let finished = logged::run(&mut command, &places.log("dist-life"), logged::Audience::LogOnly, LIFE_MAX)?;
    match finished.end {
        logged::End::Failure(why) if !finished.text.contains("FAIL ") => Err(why),
        logged::End::Success | logged::End::Failure(_) => Ok(finished.text),
    }
}

/// How many ways to install the chart were looked at.
fn chart(places: &Places) -> Result<usize, String> {
    let (helm, chart, log) = (helm(places)?, places.root.join("deploy/helm"), places.log("dist-helm"));
    let run = |words: &[&str]| {
        let mut command = Command::new(&helm);
        command.args(words).arg(&chart);
        logged::must(&mut command, &log, STEP_MAX)
    };
    run(&["lint", "--strict"])?;
    let told = "postgres://me:secret@db.example/caudal";
    let embedded = run(&["template", "mine"])?;
    let url = format!("postgres.url={told}");
    let shared = run(&["template", "mine", "--set", &url, "--set", "replicas=3", "--set", "settings.LIMITS_PAGE=1000"])?;
    let secured = run(&["template", "mine", "--set", "tls.secret=mine-tls"])?;
    let closed = run(&["template", "mine", "--set", "tls.secret=mine-tls,tls.clients=true"])?;
    let ways = [
        (&embedded, vec!["kind: StatefulSet", "replicas: 1", "mountPath: /data", "storage: 10Gi", "scheme: HTTP }"]),
        (&shared, vec!["kind: Deployment", "replicas: 3", "kind: Secret", told, "name: CAUDAL_LIMITS_PAGE"]),
        (&secured, vec!["secretName: mine-tls", "value: /tls/tls.key", "scheme: HTTPS }"]),
        (&closed, vec!["value: /tls/ca.crt", "tcpSocket: { port: metrics }"]),
    ];
    for (text, wanted) in &ways {
        if let Some(missing) = wanted.iter().find(|word| !text.contains(**word)) {
            return Err(format!("the chart does not render '{missing}':\n{text}"));
        }
    }
    if shared.contains("volumeClaimTemplates") || shared.contains("mountPath: /data") || embedded.contains("kind: Secret") {
        return Err("the chart renders what belongs to the other store".to_owned());
    }
    // And that it is linted.
    Ok(ways.len() + 1)
}
