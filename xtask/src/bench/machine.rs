//! The machine while something is measured: what else ran on it, and what the databases are.

use std::fmt;
use std::time::Duration;

use super::{Bench, usage};
use crate::server::{Data, Server, Store};

/// Settings that decide what a commit costs.
const SETTINGS: &str = "'fsync', 'synchronous_commit', 'full_page_writes', 'wal_level', 'shared_buffers', 'max_wal_size', 'checkpoint_timeout', \
                        'autovacuum', 'jit', 'max_connections'";
/// Linux counts in hundredths of a second here.
const TICK: Duration = Duration::from_millis(10);

/// Where the rest of the machine's time went to: how much of all cores others took.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share(Option<f64>);

impl fmt::Display for Share {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(share) => write!(to, "{:.0} %", share * 100.0),
            None => write!(to, "not known"),
        }
    }
}

/// The machine's time so far, and ours in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment(Option<Times>);

#[derive(Debug, Clone, Copy)]
struct Times {
    all: Duration,
    busy: Duration,
    ours: Duration,
}

impl Moment {
    /// With processes of ours that run now and then, beside what we wait for and the database.
    pub(super) fn now(bench: &Bench, processes: &[u32]) -> Moment {
        let line = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        let Some((all, busy)) = line.lines().next().and_then(machine_times) else { return Moment(None) };
        let own = usage::Stat::of(std::process::id()).map(|stat| stat.own + stat.ended_children);
        let database = bench.cluster.process().and_then(|(pid, _)| usage::database_cpu(pid));
        let running = processes.iter().map(|pid| usage::cpu(*pid));
        let ours = [own, database].into_iter().chain(running).flatten().sum();
        Moment(Some(Times { all, busy, ours }))
    }

    pub(super) fn others_since(self, bench: &Bench, processes: &[u32]) -> Share {
        let (Some(before), Moment(Some(now))) = (self.0, Moment::now(bench, processes)) else { return Share(None) };
        let others = (now.busy - before.busy).saturating_sub(now.ours.saturating_sub(before.ours));
        Share(Some(others.as_secs_f64() / (now.all - before.all).as_secs_f64().max(0.01)))
    }
}

/// `cpu user nice system idle iowait irq softirq steal …`: all of it, and what is not idle.
fn machine_times(line: &str) -> Option<(Duration, Duration)> {
    let ticks: Vec<u32> = line.strip_prefix("cpu ")?.split_whitespace().take(8).filter_map(|word| word.parse().ok()).collect();
    let idle = ticks.get(3)? + ticks.get(4)?;
    let all: u32 = ticks.iter().sum();
    Some((TICK * all, TICK * (all - idle)))
}

/// Cores, versions and settings.
pub(super) fn describe(bench: &Bench) -> Result<(), String> {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split_whitespace().take(3).collect::<Vec<_>>().join(" ");
    println!("{cores} cores, load averages before {load}");
    println!("SQLite {}", sqlite_version(bench)?);
    let settings =
        format!("SELECT name || ' ' || current_setting(name) FROM pg_settings WHERE name IN ({SETTINGS}) ORDER BY name");
    let settings = bench.cluster.query(&settings)?.lines().collect::<Vec<_>>().join(", ");
    println!("PostgreSQL {}: {settings}\n", bench.cluster.query("SHOW server_version")?);
    Ok(())
}

/// SQLite writes its version into the file, at the end of the header.
fn sqlite_version(bench: &Bench) -> Result<String, String> {
    let data = Data::fresh(&bench.places, &bench.cluster, Store::Sqlite, "bench-version")?;
    drop(Server::on(&bench.binary, &data)?);
    let file = std::fs::read(data.folder.join("caudal.db")).map_err(|error| format!("caudal.db: {error}"))?;
    let version = file.get(96..100).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_be_bytes);
    Ok(format!("{}.{}.{}", version / 1_000_000, version / 1_000 % 1_000, version % 1_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_is_not_busy() {
        let (all, busy) = machine_times("cpu  10 20 30 400 50 1 2 3 9 9").expect("it is such a line");
        assert_eq!((all, busy), (TICK * 516, TICK * 66));
    }
}
