//! `cargo xtask test`: sets everything up, runs every test, takes everything down.
//!
//! The order: the database, then the server is built with the clients' environments being made beside it; then three lanes side by side, since much of what
//! they do is waiting. One has the Rust tests; in one the server is killed and disturbed; in one it meets what others have written: each real client on each
//! store, our own SDKs, generated requests, the book.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::chaos::part as chaos;
use crate::clients::{self, Client};
use crate::dist::part as dist;
use crate::environment::Readiness;
use crate::logged::{Audience, End, Finished, run as run_logged};
use crate::metadata::Metadata;
use crate::places::{self, Places};
use crate::postgres::{Cluster, Disk};
use crate::schemathesis::Extent;
use crate::server::{Server, Store};
use crate::summary::{self, Outcome, Report};
use crate::{Verdict, book, children, fuzz, restore, rust, schemathesis, sdks};

const CLIENT_MAX: Duration = Duration::from_secs(600);

/// Parts that bring tools with them that take long to build: they run when they are named.
const ASKED_FOR: [&str; 1] = [dist::NAME];

/// Which parts to run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Everything,
    Only(Vec<String>),
    /// What is left out is left out by name: a part whose toolchain is missing fails.
    Except(Vec<String>),
    List,
}

impl Choice {
    pub(crate) fn parse(words: &[&str]) -> Result<Choice, String> {
        let (flag, parts) = match words {
            [] => return Ok(Choice::Everything),
            ["--list"] => return Ok(Choice::List),
            [flag, parts] => (*flag, *parts),
            [word] => word.split_once('=').ok_or_else(|| format!("`test` does not know `{word}`; see `cargo xtask help`"))?,
            [..] => return Err("`test` takes --only NAME,…, --skip NAME,… or --list; see `cargo xtask help`".to_owned()),
        };
        let parts: Vec<String> = parts.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let names = names();
        if let Some(unknown) = parts.iter().find(|name| !names.contains(name)) {
            return Err(format!("there is no part `{unknown}`; there are: {}", names.join(", ")));
        }
        match flag {
            "--only" => Ok(Choice::Only(parts)),
            "--skip" => Ok(Choice::Except(parts)),
            other => Err(format!("`test` does not know `{other}`; see `cargo xtask help`")),
        }
    }

    fn takes(&self, name: &str) -> bool {
        match self {
            Choice::Everything => !ASKED_FOR.contains(&name),
            Choice::Only(chosen) => chosen.iter().any(|chosen| chosen == name),
            Choice::Except(skipped) => !ASKED_FOR.contains(&name) && skipped.iter().all(|skipped| skipped != name),
            Choice::List => false,
        }
    }

    /// A crate's tests run with all Rust tests, or by its name.
    fn takes_crate(&self, name: &str) -> bool {
        self.takes_within(rust::NAME, name)
    }

    /// A piece of a part, which runs with the whole of it or by its name.
    fn takes_within(&self, part: &str, name: &str) -> bool {
        match self {
            Choice::Everything | Choice::Except(_) => self.takes(part) && self.takes(name),
            Choice::Only(_) | Choice::List => self.takes(part) || self.takes(name),
        }
    }

    /// The Debian package is a part of its own, and of `dist`.
    fn takes_packages(&self) -> bool {
        self.takes(dist::DEB) || self.takes(dist::NAME)
    }

    fn takes_rust(&self) -> bool {
        rust::crates().iter().any(|name| self.takes_crate(name))
    }

    /// Running the targets takes minutes to build: they run when they are named.
    fn fuzzing(&self) -> fuzz::Depth {
        match self {
            Choice::Only(_) => fuzz::Depth::Replay,
            Choice::Everything | Choice::Except(_) | Choice::List => fuzz::Depth::Check,
        }
    }
}

pub(crate) fn run(choice: &Choice) -> Result<Verdict, String> {
    if *choice == Choice::List {
        names().iter().for_each(|name| println!("{name}"));
        return Ok(Verdict::Good);
    }
    let began = Instant::now();
    let places = Places::find(&Metadata::read(&places::root())?)?;
    let _lock = places.sole_run()?;
    children::end_with_us().map_err(|error| format!("cannot listen for signals: {error}"))?;
    let cluster = Cluster::start(&places, Disk::Hurries)?;
    println!("PostgreSQL {} at {}", cluster.version, cluster.url);

    let chosen: Vec<&Client> = clients::ALL.iter().filter(|client| choice.takes(client.name)).collect();
    let (built, ready) = std::thread::scope(|scope| {
        let environments = scope.spawn(|| prepare(&places, &chosen, choice));
        let built = build(&places);
        (built, environments.join().expect("making environments reports failures instead of panicking"))
    });
    let usable = built.failed() == 0;
    let reports = Mutex::new(Vec::new());
    let note = |report: Report| {
        summary::announce(&report);
        reports.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(report);
    };
    note(built);
    if usable {
        let run = Run { places: &places, cluster: &cluster, choice, ready: &ready, note: &note };
        let lanes: [&(dyn Fn() + Sync); 3] = [&|| run.rust(), &|| run.disturbed(), &|| run.of_others(&chosen)];
        std::thread::scope(|scope| lanes.iter().for_each(|lane| drop(scope.spawn(lane))));
    }
    drop(cluster);
    let reports = reports.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    summary::print(&reports, began.elapsed());
    Ok(if summary::count(&reports).1 == 0 { Verdict::Good } else { Verdict::Bad })
}

/// What the lanes have in common.
struct Run<'a> {
    places: &'a Places,
    cluster: &'a Cluster,
    choice: &'a Choice,
    ready: &'a Ready,
    note: &'a (dyn Fn(Report) + Sync),
}

impl Run<'_> {
    fn rust(&self) {
        if self.choice.takes_rust() {
            let chosen = |name: &str| self.choice.takes_crate(name);
            rust::test(self.places, self.cluster, &self.ready.rust, &chosen, &mut |report| (self.note)(report));
        }
    }

    /// The server is killed, its database is, and taken back to an earlier moment.
    fn disturbed(&self) {
        let blows = |name: &str| self.choice.takes_within(chaos::NAME, name);
        chaos::test(self.places, &blows, &mut |report| (self.note)(report));
        if self.choice.takes(restore::NAME) {
            (self.note)(restore::test(self.places));
        }
        if self.choice.takes_packages() {
            (self.note)(dist::test(self.places, &self.ready.deb));
        }
        if self.choice.takes(dist::NAME) {
            (self.note)(dist::test_chart(self.places, &self.ready.chart));
        }
    }

    /// The server meets programs that are not its own.
    fn of_others(&self, clients: &[&Client]) {
        let by_name = matches!(self.choice, Choice::Only(_));
        if self.choice.takes(schemathesis::NAME) {
            let extent = if by_name { Extent::Whole } else { Extent::Bounded };
            (self.note)(schemathesis::test(self.places, self.cluster, &self.ready.schemathesis, extent));
        }
        for (client, readiness) in clients.iter().zip(&self.ready.clients) {
            let on = |store| client_test(self.places, self.cluster, client, readiness, store);
            Store::ALL.into_iter().for_each(|store| (self.note)(on(store)));
        }
        if self.choice.takes(sdks::NAME) {
            let extent = if by_name { sdks::Extent::Whole } else { sdks::Extent::Usual };
            sdks::test(self.places, extent, &mut |report| (self.note)(report));
        }
        if self.choice.takes(book::NAME) {
            (self.note)(book::test(self.places, self.cluster, &self.ready.book));
        }
        if self.choice.takes(fuzz::NAME) {
            (self.note)(fuzz::test(self.places, self.choice.fuzzing()));
        }
    }
}

/// All names that `--only` takes.
fn names() -> Vec<String> {
    let ours = [sdks::NAME, chaos::NAME, schemathesis::NAME, restore::NAME, book::NAME, dist::DEB, dist::NAME, fuzz::NAME];
    let others = clients::ALL.iter().map(|client| client.name).chain(ours);
    let mut names = vec![rust::NAME.to_owned()];
    names.extend(rust::crates());
    names.extend(chaos::names());
    names.extend(others.map(str::to_owned));
    names
}

struct Ready {
    rust: Result<rust::Needed, String>,
    clients: Vec<Readiness>,
    schemathesis: Readiness,
    book: Readiness,
    deb: Readiness,
    chart: Readiness,
}

/// Makes what the chosen parts need; runs beside the build, since it mostly waits for downloads.
fn prepare(places: &Places, chosen: &[&Client], choice: &Choice) -> Ready {
    let clients = chosen.iter().map(|client| {
        let began = Instant::now();
        let readiness = (client.prepare)(places);
        if Duration::from_secs(2) < began.elapsed() {
            println!("environment of {} made in {:.1} s", client.name, began.elapsed().as_secs_f64());
        }
        readiness
    });
    let clients = clients.collect();
    let chosen = |is_chosen: bool, prepare: fn(&Places) -> Readiness| match is_chosen {
        true => prepare(places),
        false => Readiness::Missing("not chosen".to_owned()),
    };
    let schemathesis = chosen(choice.takes(schemathesis::NAME), schemathesis::prepare);
    let rust = if choice.takes_rust() { rust::prepare(places) } else { Err("not chosen".to_owned()) };
    let book = chosen(choice.takes(book::NAME), book::prepare);
    let deb = chosen(choice.takes_packages(), dist::prepare);
    let chart = chosen(choice.takes(dist::NAME), dist::prepare_chart);
    Ready { rust, clients, schemathesis, book, deb, chart }
}

fn build(places: &Places) -> Report {
    let began = Instant::now();
    let outcome = match rust::build_server(places) {
        Ok(()) => Outcome::Ran { passed: 0, failed: 0, note: String::new() },
        Err(why) => Outcome::Broken(why),
    };
    Report { part: "build".to_owned(), on: "", took: began.elapsed(), outcome, logs: vec![places.log("build")] }
}

fn client_test(places: &Places, cluster: &Cluster, client: &Client, readiness: &Readiness, store: Store) -> Report {
    summary::begin(&format!("client {}", client.package), store.name());
    let began = Instant::now();
    let log = places.log(&format!("client-{}-{}", client.name, store.name()));
    let server_log = places.log(&format!("server-{}-{}", client.name, store.name()));
    let ran = || {
        Server::start(places, cluster, store, client.name).map_or_else(Outcome::Broken, |mut server| {
            let mut command = (client.program)(places);
            server.address(&mut command);
            command.env("CAUDAL_FIXTURES", places.clients().join("fixtures"));
            let outcome = outcome(run_logged(&mut command, &log, Audience::LogOnly, CLIENT_MAX), client_counts);
            server.check().map_or_else(Outcome::Broken, |()| outcome)
        })
    };
    let outcome = readiness.unless_ready(client.name).unwrap_or_else(ran);
    let logs = [log, server_log].into_iter().filter(|log| log.exists()).collect();
    Report { part: format!("client {}", client.package), on: store.name(), took: began.elapsed(), outcome, logs }
}

/// Passed and failed as counted; a bad exit without a failed count, or nothing counted at all, is a failure as well.
pub(crate) fn outcome(finished: Result<Finished, String>, counts: fn(&str) -> (usize, usize)) -> Outcome {
    let finished = match finished {
        Ok(finished) => finished,
        Err(why) => return Outcome::Broken(why),
    };
    let (passed, failed) = counts(&finished.text);
    match finished.end {
        End::Success if passed == 0 && failed == 0 => Outcome::Broken("it ran no test at all".to_owned()),
        End::Success => Outcome::Ran { passed, failed, note: String::new() },
        End::Failure(why) => Outcome::Ran { passed, failed: failed.max(1), note: why },
    }
}

/// Every client program prints one line per scenario: `ok NAME`, or `FAIL NAME: why`.
fn client_counts(text: &str) -> (usize, usize) {
    let count = |word: &str| text.lines().filter(|line| line.starts_with(word)).count();
    (count("ok "), count("FAIL "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_takes_known_names() {
        assert_eq!(Choice::parse(&["--only", "rust, go"]), Ok(Choice::Only(vec!["rust".to_owned(), "go".to_owned()])));
        assert_eq!(Choice::parse(&["--only=java"]), Ok(Choice::Only(vec!["java".to_owned()])));
        assert_eq!(Choice::parse(&["--skip", "java"]), Ok(Choice::Except(vec!["java".to_owned()])));
        assert!(Choice::parse(&["--skip=java"]).is_ok_and(|choice| choice.takes("go") && !choice.takes("java")));
        assert!(Choice::parse(&["--only", "rust,cobol"]).is_err());
        assert!(Choice::parse(&["--without", "rust"]).is_err());
        assert!(Choice::parse(&["--fast"]).is_err());
    }

    #[test]
    fn a_crate_runs_with_all_or_by_its_name() {
        let parse = |words: &[&str]| Choice::parse(words).expect("its names are known");
        assert!(Choice::Everything.takes_crate("host"));
        assert!(parse(&["--only", "rust"]).takes_crate("host"));
        assert!(parse(&["--only", "host"]).takes_crate("host") && !parse(&["--only", "host"]).takes_crate("app"));
        assert!(!parse(&["--skip", "rust"]).takes_crate("host") && !parse(&["--skip", "rust"]).takes_rust());
        assert!(!parse(&["--skip", "host"]).takes_crate("host") && parse(&["--skip", "host"]).takes_crate("app"));
        assert!(!parse(&["--only", "chaos"]).takes_rust());
    }

    #[test]
    fn the_debian_package_has_its_life_in_every_run_and_the_chart_where_it_is_named() {
        let taken = |words: &[&str]| {
            let choice = Choice::parse(words).expect("its names are known");
            (choice.takes_packages(), choice.takes(dist::NAME))
        };
        assert_eq!(taken(&[]), (true, false));
        assert_eq!(taken(&["--skip", "deb"]), (false, false));
        assert_eq!(taken(&["--only", "deb"]), (true, false));
        assert_eq!(taken(&["--only", "dist"]), (true, true));
        assert_eq!(taken(&["--only", "go"]), (false, false));
    }

    #[test]
    fn a_run_of_chaos_runs_with_all_or_by_its_name() {
        let parse = |words: &[&str]| Choice::parse(words).expect("its names are known");
        let taken = |words: &[&str]| {
            let choice = parse(words);
            chaos::names().into_iter().filter(|name| choice.takes_within(chaos::NAME, name)).collect::<Vec<_>>()
        };
        let all = chaos::names();
        assert!(all.len() == 16 && all.iter().collect::<std::collections::BTreeSet<_>>().len() == 16, "{all:?}");
        assert_eq!(taken(&["--only", "chaos"]), all);
        assert_eq!(taken(&["--skip", "go"]), all);
        assert_eq!(taken(&["--only", "chaos-kill-one-sqlite,go"]), ["chaos-kill-one-sqlite"]);
        assert_eq!(taken(&["--skip", "chaos-refusals"]), all[..15]);
        assert!(taken(&["--skip", "chaos"]).is_empty() && taken(&["--only", "go"]).is_empty());
    }

    #[test]
    fn client_lines_are_counted() {
        assert_eq!(client_counts("ok deploy\nsome words\nFAIL cancel: still active\nok search\n"), (2, 1));
    }
}
