//! What one seed plays: how many of whom, which faults, how small the bounds. All drawn from the seed; shrinking changes it by hand.

use std::time::Duration;

use host::Limits;

use crate::fault::{Fault, Faults};
use crate::rng::Rng;
use crate::sabotage::Sabotage;

pub(crate) const LEASE: Duration = Duration::from_secs(5);

/// What servers call themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// Another name at every start.
    New,
    /// A server that starts again has its old name, and so gets its lease back at once.
    Kept,
    /// All are given one name, which the host makes unique.
    Shared,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub seed: u64,
    pub faults: Faults,
    /// How often faults strike; 100 is usual.
    pub pressure: u64,
    /// Servers that may own the partition.
    pub engines: usize,
    /// Servers that only append and read.
    pub followers: usize,
    pub clients: usize,
    /// What each client does before it has done enough.
    pub acts: usize,
    pub workers: usize,
    pub processes: usize,
    pub job_types: usize,
    /// Whether processes wait for more than workers: 0 for no.
    pub waits: usize,
    /// Whether there is work without a process, under policies: 0 for no.
    pub queues: usize,
    /// Whether operators suspend, change and migrate what runs: 0 for no.
    pub operators: usize,
    pub names: Names,
    /// Broken on purpose; never drawn.
    pub sabotage: Option<Sabotage>,
}

impl Plan {
    pub fn of(seed: u64) -> Self {
        let mut rng = Rng::new(seed, 1);
        let mut faults = Faults::default();
        // One seed in eight has all faults, one has none; the others a few.
        let share = match rng.below(8) {
            0 => 1000,
            1 => 0,
            _ => rng.between(100, 500),
        };
        for fault in Fault::ALL {
            if rng.chance(share) {
                faults = faults.with(fault);
            }
        }
        Self {
            seed,
            faults,
            pressure: rng.between(20, 180),
            engines: rng.between(1, 3) as usize,
            followers: rng.below(2) as usize,
            clients: rng.between(1, 3) as usize,
            acts: rng.between(3, 9) as usize,
            workers: rng.between(1, 3) as usize,
            processes: rng.between(1, 2) as usize,
            job_types: rng.between(1, 2) as usize,
            names: *rng.pick(&[Names::New, Names::Kept, Names::Shared]),
            waits: rng.below(4).min(1) as usize,
            queues: 0,
            operators: rng.below(2) as usize,
            sabotage: None,
        }
        .with_queues()
    }

    /// Seeds without other waits have queues: one thing at a time, so that a seed stays short.
    fn with_queues(self) -> Self {
        Self { queues: usize::from(self.waits == 0), ..self }
    }

    /// Bounds small enough to be reached.
    pub(crate) fn limits(&self) -> Limits {
        let mut rng = Rng::new(self.seed, 2);
        let mut small = |usual: usize, least: u64, most: u64| match rng.below(3) {
            0 => usual,
            _ => rng.between(least, most) as usize,
        };
        Limits {
            inbox_max: small(10_000, 2, 6),
            batch_max: small(1_000, 1, 5),
            instances_hot_max: small(1_000, 1, 3),
            ready_window_max: small(1_000, 1, 3),
            timeline_max: small(1_000, 1, 3),
            stream_buffer_max: small(64, 1, 2),
            command_elements_max: small(1_000, 1, 6) as u32,
            tick_rows_max: small(50_000, 5, 60),
            signal_page_max: small(100, 1, 3),
            lease: LEASE,
            ..Limits::default()
        }
    }

    /// What replays exactly this.
    pub fn command(&self) -> String {
        let drawn = Self::of(self.seed);
        let mut command = format!("cargo xtask sim --seed {}", self.seed);
        if self.faults != drawn.faults {
            let faults: Vec<_> = self.faults.iter().map(Fault::name).collect();
            command += &format!(" --only {}", if faults.is_empty() { "none".to_owned() } else { faults.join(",") });
        }
        if let Some(sabotage) = self.sabotage {
            command += &format!(" --sabotage {sabotage:?}");
        }
        let sizes = [
            ("engines", self.engines, drawn.engines),
            ("followers", self.followers, drawn.followers),
            ("clients", self.clients, drawn.clients),
            ("acts", self.acts, drawn.acts),
            ("workers", self.workers, drawn.workers),
            ("processes", self.processes, drawn.processes),
            ("job-types", self.job_types, drawn.job_types),
            ("waits", self.waits, drawn.waits),
            ("queues", self.queues, drawn.queues),
            ("operators", self.operators, drawn.operators),
        ];
        for (name, size, _) in sizes.into_iter().filter(|(_, size, drawn)| size != drawn) {
            command += &format!(" --{name} {size}");
        }
        command
    }

    /// As the command line changes it: `without`, `only`, `sabotage` or a size by its name.
    pub fn changed(mut self, name: &str, value: &str) -> Result<Self, String> {
        let fault = |name: &str| Fault::of_name(name).ok_or_else(|| format!("there is no fault `{name}`; see --list"));
        let size = value.parse::<usize>().map_err(|_| format!("--{name} needs a number, not `{value}`"));
        match name {
            "without" => {
                for name in value.split(',') {
                    self.faults = self.faults.without(fault(name)?);
                }
            }
            "only" => {
                self.faults = Faults::default();
                for name in value.split(',').filter(|name| *name != "none") {
                    self.faults = self.faults.with(fault(name)?);
                }
            }
            "sabotage" => {
                let sabotage = Sabotage::of_name(value);
                self.sabotage = Some(sabotage.ok_or_else(|| format!("there is no sabotage `{value}`; see --list"))?);
            }
            "engines" => self.engines = size?.max(1),
            "followers" => self.followers = size?,
            "clients" => self.clients = size?,
            "acts" => self.acts = size?,
            "workers" => self.workers = size?,
            "processes" => self.processes = size?.max(1),
            "job-types" => self.job_types = size?.max(1),
            "waits" => self.waits = size?,
            "queues" => self.queues = size?,
            "operators" => self.operators = size?,
            _ => return Err(format!("there is no option --{name}")),
        }
        Ok(self)
    }
}
