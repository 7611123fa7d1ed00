//! `cargo xtask book`: the book as web pages; and its test: it can be built, and the workers in it work as they are written.
//!
//! mdBook comes from the crate registry, pinned, and is kept like any other environment: it takes two minutes of CPU once. What the first
//! hour shows is run by a test of the binary; links are checked by `tidy`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::children::{Farewell, Running};
use crate::environment::{Readiness, keep};
use crate::metadata::Metadata;
use crate::places::{self, Places};
use crate::postgres::Cluster;
use crate::server::{Server, Store};
use crate::summary::{self, Outcome, Report};
use crate::{Verdict, go, java, logged, node, python};

pub(crate) const NAME: &str = "book";
const MDBOOK: &str = "0.5.4";
const INSTALL_MAX: Duration = Duration::from_secs(1200);
const BUILD_MAX: Duration = Duration::from_secs(120);
/// How long a worker of the book may take for its one job.
const WORK_MAX: Duration = Duration::from_secs(90);
const WORKERS: &str = "docs/workers.md";
/// The language of the worker there that one of our SDKs makes, and the page it is from.
const OF_SDK: &str = "rust";
const SDK_README: &str = "sdks/rust/README.md";

pub(crate) fn run() -> Result<Verdict, String> {
    let places = Places::find(&Metadata::read(&places::root())?)?;
    let pages = build(&places)?;
    println!("{}", pages.join("index.html").display());
    Ok(Verdict::Good)
}

/// The book and, beside it, what its pages link to in the source.
fn build(places: &Places) -> Result<PathBuf, String> {
    let mdbook = install(places)?;
    let site = places.target.join("book");
    let pages = site.join("docs");
    let mut command = Command::new(mdbook);
    command.arg("build").arg(places.root.join("docs")).arg("--dest-dir").arg(&pages);
    logged::must(&mut command, &places.log("book"), BUILD_MAX)?;
    for linked in ["examples", "spec/traces", "spec/scenarios", "deploy"] {
        copy_tree(&places.root.join(linked), &site.join(linked))?;
    }
    Ok(pages)
}

fn install(places: &Places) -> Result<PathBuf, String> {
    let folder = places.own.join("mdbook");
    keep(&folder, MDBOOK, || {
        let mut cargo = places.cargo();
        cargo.args(["install", "--quiet", "--locked", "--no-default-features", "--version", MDBOOK, "--root"]).arg(&folder);
        cargo.arg("mdbook").env("CARGO_TARGET_DIR", folder.join("build"));
        logged::must(&mut cargo, &places.log("install-mdbook"), INSTALL_MAX)?;
        fs::remove_dir_all(folder.join("build")).map_err(|error| format!("cannot remove the build of mdbook: {error}"))
    })?;
    Ok(folder.join("bin").join("mdbook"))
}

pub(crate) fn copy_tree(from: &Path, to: &Path) -> Result<(), String> {
    let told = |error: std::io::Error| format!("cannot copy {}: {error}", from.display());
    fs::create_dir_all(to).map_err(told)?;
    for entry in fs::read_dir(from).map_err(told)? {
        let path = entry.map_err(told)?.path();
        let Some(name) = path.file_name() else { continue };
        if path.is_dir() {
            copy_tree(&path, &to.join(name))?;
        } else {
            fs::copy(&path, to.join(name)).map_err(told)?;
        }
    }
    Ok(())
}

pub(crate) fn prepare(places: &Places) -> Readiness {
    let made = [python::prepare(places, "pyzeebe"), node::prepare(places), java::prepare(places), go::prepare(places)];
    let missing = made.into_iter().find(|readiness| *readiness != Readiness::Ready);
    missing.unwrap_or_else(|| install(places).map(drop).into())
}

pub(crate) fn test(places: &Places, cluster: &Cluster, readiness: &Readiness) -> Report {
    summary::begin(NAME, "");
    let began = Instant::now();
    let outcome = readiness.unless_ready(NAME).unwrap_or_else(|| check(places, cluster).unwrap_or_else(Outcome::Broken));
    let logs = [places.log("book"), places.log("book-workers")].into_iter().filter(|log| log.exists()).collect();
    Report { part: NAME.to_owned(), on: "", took: began.elapsed(), outcome, logs }
}

fn check(places: &Places, cluster: &Cluster) -> Result<Outcome, String> {
    build(places)?;
    let page = fs::read_to_string(places.root.join(WORKERS)).map_err(|error| format!("{WORKERS}: {error}"))?;
    let (mut passed, mut notes) = (1, Vec::new());
    let workers = blocks(&page);
    for (number, (language, text)) in workers.iter().enumerate() {
        let outcome = match language.as_str() {
            OF_SDK => is_of_sdk(places, text),
            _ => works(places, cluster, language, text),
        };
        match outcome {
            Ok(()) => passed += 1,
            Err(why) => notes.push(format!("worker {} ({language}): {why}", number + 1)),
        }
    }
    if workers.len() < 7 {
        notes.push(format!("{WORKERS} has {} workers only", workers.len()));
    }
    Ok(Outcome::Ran { passed, failed: notes.len(), note: notes.join("; ") })
}

/// What a README says is run in an empty project by `cargo xtask sdks`; so is this, if it is the same.
fn is_of_sdk(places: &Places, text: &str) -> Result<(), String> {
    let readme = places.root.join(SDK_README);
    let readme = fs::read_to_string(&readme).map_err(|error| format!("{SDK_README}: {error}"))?;
    match blocks(&readme).iter().any(|(_, shown)| shown == text) {
        true => Ok(()),
        false => Err(format!("{SDK_README} shows another one")),
    }
}

/// Starts an order, and lets the worker do its one job.
fn works(places: &Places, cluster: &Cluster, language: &str, text: &str) -> Result<(), String> {
    let mut server = Server::start(places, cluster, Store::Sqlite, "book")?;
    let caudal = |words: &[&str]| {
        let mut command = Command::new(places.caudal());
        command.args(words).args(["--url", &server.rest]);
        logged::must(&mut command, &places.log("book-caudal"), BUILD_MAX)
    };
    caudal(&["deploy", &places.root.join("examples/order.bpmn").display().to_string()])?;
    caudal(&["start", "order", "--variables", r#"{"amount": 7}"#])?;
    let text = text.replace("http://127.0.0.1:8080", &server.rest).replace("127.0.0.1:26500", &server.grpc);
    let log = fs::File::create(places.log("book-workers")).map_err(|error| format!("cannot write a log: {error}"))?;
    let other = log.try_clone().map_err(|error| error.to_string())?;
    let mut command = program(places, language, &text)?;
    let mut worker = Running::start(command.stdout(log).stderr(other), Farewell::Terminate)
        .map_err(|error| format!("cannot be started: {error}"))?;
    let deadline = Instant::now() + WORK_MAX;
    while !caudal(&["instances", "--state", "completed"])?.contains("order") {
        if let Ok(Some(status)) = worker.child.try_wait() {
            return Err(format!("it ended by itself: {status}"));
        }
        if deadline < Instant::now() {
            return Err(format!("no job done within {} s", WORK_MAX.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    worker.kill();
    server.check()
}

/// How a program of the page is run, in the environment of the client of its language.
fn program(places: &Places, language: &str, text: &str) -> Result<Command, String> {
    let folder = places.own.join("book");
    fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let written = |path: PathBuf| {
        fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        Ok::<_, String>(path)
    };
    match language {
        "python" => {
            let mut command = python::program(places, "pyzeebe", "python");
            command.arg(written(folder.join("worker.py"))?);
            Ok(command)
        }
        "js" => {
            written(node::folder(places).join("book.mjs"))?;
            Ok(node::script(places, "book.mjs"))
        }
        "java" => Ok(java::source(places, &written(folder.join("Charge.java"))?)),
        "go" => {
            written(folder.join("main.go"))?;
            go::build(places, &folder)
        }
        other => Err(format!("nobody knows how to run '{other}'")),
    }
}

/// Fenced blocks with a language, in order.
fn blocks(page: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in page.lines() {
        match (open.as_mut(), line.strip_prefix("```")) {
            (None, Some(language)) => open = Some((language.to_owned(), String::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some((_, text)), None) => text.push_str(&format!("{line}\n")),
            (None, None) => {}
        }
    }
    blocks
}
