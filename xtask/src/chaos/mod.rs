//! `cargo xtask chaos`: the real binary under load, killed and disturbed at random moments, and then a check of everything the clients
//! were told against everything that is there.
//!
//! Reading order: `run.rs` is one run, `fault.rs` what is done to the system, `load.rs` the clients, `check.rs` the judgement.

mod broker;
mod burden;
mod check;
mod fault;
mod history;
mod http;
mod load;
pub(crate) mod part;
mod process;
mod proxy;
pub(crate) mod queues;
mod random;
mod refusals;
mod run;
mod server;
mod small_disk;
mod state;
pub(crate) mod timers;
mod world;

use std::time::{Instant, SystemTime};

use crate::metadata::Metadata;
use crate::places::{self, Places};
use crate::postgres::Cluster;
use crate::{Verdict, children, rust, summary};

use fault::Fault;
use run::Plan;
use world::Layout;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    times: usize,
    store: String,
    fault: Fault,
    layout: Option<Layout>,
    seed: Option<u64>,
}

impl Options {
    pub(crate) fn parse(words: &[&str]) -> Result<Options, String> {
        let mut options = Options { times: 20, store: "sqlite".to_owned(), fault: Fault::Kill, layout: None, seed: None };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let value = *words.next().ok_or_else(|| format!("`{word}` needs a value; see `cargo xtask help`"))?;
            let number = || value.parse::<u64>().map_err(|_| format!("`{value}` is no number"));
            match *word {
                "--kills" => options.times = number()? as usize,
                "--seed" => options.seed = Some(number()?),
                "--store" if value == "sqlite" || value == "postgres" || value.starts_with("postgres://") => {
                    options.store = value.to_owned();
                }
                "--store" => return Err("--store wants sqlite, postgres or postgres://…".to_owned()),
                "--fault" => options.fault = named(&Fault::ALL, Fault::name, value)?,
                "--servers" => options.layout = Some(named(&Layout::ALL, Layout::name, value)?),
                other => return Err(format!("`chaos` does not know `{other}`; see `cargo xtask help`")),
            }
        }
        Ok(options)
    }

    fn plan(&self) -> Plan {
        let pair = self.fault == Fault::Pause;
        let clock = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(1, |since| since.as_millis() as u64);
        Plan {
            name: format!("chaos-{}", self.fault.name()),
            fault: self.fault,
            layout: self.layout.unwrap_or(if pair { Layout::Pair } else { Layout::One }),
            times: self.times,
            seed: self.seed.unwrap_or_else(clock),
            // What jobs go through has to be found again by those who listen, too.
            working_max: if self.fault.needs_broker() { run::PATIENT } else { run::PROMISED },
        }
    }
}

fn named<T: Copy>(all: &[T], name: fn(T) -> &'static str, wanted: &str) -> Result<T, String> {
    let names = || all.iter().map(|one| name(*one)).collect::<Vec<_>>().join(", ");
    all.iter().copied().find(|one| name(*one) == wanted).ok_or_else(|| format!("`{wanted}` is not one of {}", names()))
}

/// `cargo xtask chaos refusals`: stores that are full, read-only or taken.
pub(crate) fn refusals() -> Result<Verdict, String> {
    let began = Instant::now();
    let places = Places::find(&Metadata::read(&places::root())?)?;
    let _lock = places.sole_run()?;
    children::end_with_us().map_err(|error| format!("cannot listen for signals: {error}"))?;
    rust::build_server(&places)?;
    let cluster = Cluster::start_private(&places, "chaos-postgres")?;
    let mut reports = Vec::new();
    part::refuse(&places, &cluster, &mut |report| reports.push(report));
    summary::print(&reports, began.elapsed());
    Ok(if summary::count(&reports).1 == 0 { Verdict::Good } else { Verdict::Bad })
}

/// `cargo xtask chaos timers`: servers killed while thousands of timers fall due; on PostgreSQL there are two.
pub(crate) fn kill_at_due_time(words: &[&str]) -> Result<Verdict, String> {
    beside(words, &|places, cluster, (layout, kills, seed)| {
        let plan = timers::Plan { name: "chaos-timers".to_owned(), layout, timers: 3_000, kills, seed };
        timers::run(places, cluster, &plan, &mut |line| println!("{line}"))
    })
}

/// `cargo xtask chaos queues`: servers killed while workers do thousands of executions under a limit; on PostgreSQL there are two.
pub(crate) fn kill_at_work(words: &[&str]) -> Result<Verdict, String> {
    beside(words, &|places, cluster, (layout, kills, seed)| {
        let plan = queues::Plan { name: "chaos-queues".to_owned(), layout, executions: 10_000, kills, seed };
        queues::run(places, cluster, &plan, &mut |line| println!("{line}"))
    })
}

/// A run with a plan of its own.
type Planned<'a> = dyn Fn(&Places, Option<&mut Cluster>, (Layout, usize, u64)) -> Result<run::Outcome, String> + 'a;

fn beside(words: &[&str], run: &Planned<'_>) -> Result<Verdict, String> {
    let options = Options::parse(words)?;
    let places = Places::find(&Metadata::read(&places::root())?)?;
    let _lock = places.sole_run()?;
    children::end_with_us().map_err(|error| format!("cannot listen for signals: {error}"))?;
    rust::build_server(&places)?;
    let (mut cluster, layout) = match options.store.as_str() {
        "sqlite" => (None, Layout::One),
        "postgres" => (Some(Cluster::start_private(&places, "chaos-postgres")?), Layout::Pair),
        url => (Some(Cluster::given(url)), Layout::Pair),
    };
    let seed = options.plan().seed;
    println!("seed {seed}");
    let outcome = run(&places, cluster.as_mut(), (layout, options.times, seed))?;
    println!("{}", outcome.summary);
    outcome.wrong.iter().take(20).for_each(|what| println!("wrong: {what}"));
    println!("verdict: {}", if outcome.wrong.is_empty() { "good" } else { "BAD" });
    Ok(if outcome.wrong.is_empty() { Verdict::Good } else { Verdict::Bad })
}

pub(crate) fn run(options: &Options) -> Result<Verdict, String> {
    let began = Instant::now();
    let places = Places::find(&Metadata::read(&places::root())?)?;
    let _lock = places.sole_run()?;
    children::end_with_us().map_err(|error| format!("cannot listen for signals: {error}"))?;
    rust::build_server(&places)?;
    let mut cluster = match options.store.as_str() {
        "sqlite" => None,
        "postgres" => Some(Cluster::start_private(&places, "chaos-postgres")?),
        url => Some(Cluster::given(url)),
    };
    let plan = options.plan();
    println!("seed {}", plan.seed);
    let outcome = run::run(&places, cluster.as_mut(), &plan, &mut |line| println!("{line}"))?;
    println!("{} in {:.0} s", outcome.summary, began.elapsed().as_secs_f64());
    if outcome.wrong.is_empty() {
        println!("verdict: good");
        return Ok(Verdict::Good);
    }
    outcome.wrong.iter().for_each(|what| println!("wrong: {what}"));
    println!("verdict: BAD; once more: {}", command(options, &plan));
    Ok(Verdict::Bad)
}

fn command(options: &Options, plan: &Plan) -> String {
    format!(
        "cargo xtask chaos --kills {} --store {} --fault {} --servers {} --seed {}",
        plan.times,
        options.store,
        plan.fault.name(),
        plan.layout.name(),
        plan.seed
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_repeated() {
        let words = ["--kills", "7", "--store", "postgres", "--fault", "pause", "--seed", "9"];
        let options = Options::parse(&words).expect("they are all known");
        let again = command(&options, &options.plan());
        assert_eq!(again, "cargo xtask chaos --kills 7 --store postgres --fault pause --servers pair --seed 9");
        let words: Vec<&str> = again.split(' ').skip(3).collect();
        assert_eq!(Options::parse(&words).map(|options| command(&options, &options.plan())), Ok(again.clone()));
    }

    #[test]
    fn unknown_options_are_refused() {
        for words in [&["--kills", "many"][..], &["--kills"], &["--store", "oracle"], &["--fault", "rust"], &["--loud", "yes"]] {
            assert!(Options::parse(words).is_err(), "{words:?}");
        }
    }
}
