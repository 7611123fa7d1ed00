//! What processes use, as /proc tells it; nothing where there is no /proc. `cargo xtask bench` reads this file, too.

use std::time::Duration;

/// Linux counts CPU here in hundredths of a second, whatever its timer does.
const TICK: Duration = Duration::from_millis(10);

/// Memory in use, in MB.
pub(super) fn rss_mb(pid: u32) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: f64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes / 1024.0)
}

/// CPU used so far.
pub(super) fn cpu(pid: u32) -> Option<Duration> {
    Stat::of(pid).map(|stat| stat.own)
}

/// CPU used so far by the PostgreSQL server that this process is or belongs to; by those of its processes that have ended, too.
pub(super) fn database_cpu(process: u32) -> Option<Duration> {
    let parent = Stat::of(process).filter(|stat| stat.name == "postgres")?.parent;
    let postmaster = if Stat::of(parent).is_some_and(|stat| stat.name == "postgres") { parent } else { process };
    let server = Stat::of(postmaster)?;
    let all = std::fs::read_dir("/proc").ok()?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let children = all.filter_map(Stat::of).filter(|stat| stat.parent == postmaster);
    Some(server.own + server.ended_children + children.map(|stat| stat.own).sum::<Duration>())
}

pub(super) struct Stat {
    name: String,
    parent: u32,
    /// CPU of the process itself.
    pub(super) own: Duration,
    /// CPU of its children that have ended and were waited for, and of theirs.
    pub(super) ended_children: Duration,
}

impl Stat {
    pub(super) fn of(pid: u32) -> Option<Self> {
        Self::parse(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// The name stands in brackets and may contain anything, brackets too.
    fn parse(text: &str) -> Option<Self> {
        let (before, after) = text.rsplit_once(')')?;
        let (_, name) = before.split_once('(')?;
        let fields: Vec<&str> = after.split_whitespace().collect();
        let ticks = |field: usize| fields.get(field)?.parse::<u32>().ok();
        Some(Self {
            name: name.to_owned(),
            parent: ticks(1)?,
            own: TICK * (ticks(11)? + ticks(12)?),
            ended_children: TICK * (ticks(13)? + ticks(14)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Stat;

    #[test]
    fn a_stat_line() {
        let stat = Stat::parse("77 (a) b) S 12 1 1 0 -1 4194560 1 2 3 4 500 20 30 1 20 0").expect("it is one");
        assert_eq!((stat.name.as_str(), stat.parent), ("a) b", 12));
        assert_eq!((stat.own.as_millis(), stat.ended_children.as_millis()), (5_200, 310));
    }
}
