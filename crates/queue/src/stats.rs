//! What has happened in a queue: totals, rates of the last minutes, and how long jobs waited and ran. It is told of each job, and
//! written down now and then; two parts of one story can be put together.

use crate::Millis;

/// Minutes of which counts are kept.
pub const MINUTES_MAX: usize = 15;
/// Over so many whole minutes a rate is taken.
const RATE_MINUTES: i64 = 5;
/// How long a distribution is added to before it becomes the one before.
const WINDOW: Millis = 5 * 60_000;
/// Steps within a doubling: a percentile is told to within a fifth.
const STEPS: u64 = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    pub enqueued: u64,
    pub started: u64,
    pub completed: u64,
    /// Told by workers, also with retries left.
    pub failed: u64,
    pub timed_out: u64,
    pub cancelled: u64,
}

/// What happened in one minute, counted from 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Minute {
    pub minute: i64,
    pub counts: Counts,
}

/// How many took how long, by steps that grow with it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Durations(pub Vec<u32>);

/// How long it took lately: in the window that is open, and in the one before.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recent {
    /// When the window was opened.
    pub since: Millis,
    pub now: Durations,
    pub before: Durations,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stats {
    pub totals: Counts,
    /// The newest last.
    pub minutes: Vec<Minute>,
    /// From when a job came, or its time had come, to when it was handed out first.
    pub waits: Recent,
    /// From when a job was handed out to when it was done.
    pub runs: Recent,
    /// When a job last started or ended, or a worker said it was still at it.
    pub progressed: Millis,
    /// Since when workers have asked in vain although jobs wait.
    pub stuck_since: Option<Millis>,
}

/// What can happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happened {
    Enqueued,
    /// With how long it waited, if it was the first time.
    Started {
        waited: Option<Millis>,
    },
    Completed {
        ran: Option<Millis>,
    },
    Failed,
    TimedOut,
    Cancelled,
    /// A worker is still at it.
    Progressed,
}

impl Stats {
    pub fn tell(&mut self, what: Happened, now: Millis) {
        let this = self.minute(now);
        let counts = [&mut self.totals, &mut self.minutes[this].counts];
        for counts in counts {
            match what {
                Happened::Enqueued => counts.enqueued += 1,
                Happened::Started { .. } => counts.started += 1,
                Happened::Completed { .. } => counts.completed += 1,
                Happened::Failed => counts.failed += 1,
                Happened::TimedOut => counts.timed_out += 1,
                Happened::Cancelled => counts.cancelled += 1,
                Happened::Progressed => {}
            }
        }
        match what {
            Happened::Started { waited: Some(waited) } => self.waits.add(waited, now),
            Happened::Completed { ran: Some(ran) } => self.runs.add(ran, now),
            Happened::Started { waited: None } | Happened::Completed { ran: None } => {}
            Happened::Failed | Happened::TimedOut | Happened::Cancelled | Happened::Progressed => {}
            Happened::Enqueued => return,
        }
        self.progressed = self.progressed.max(now);
        self.stuck_since = None;
    }

    /// The place of the minute it is; the newest there is if the clock was set back.
    fn minute(&mut self, now: Millis) -> usize {
        let minute = now.div_euclid(60_000);
        if self.minutes.last().is_none_or(|last| last.minute < minute) {
            self.minutes.push(Minute { minute, counts: Counts::default() });
            if MINUTES_MAX < self.minutes.len() {
                self.minutes.remove(0);
            }
        }
        self.minutes.len() - 1
    }

    /// How many of something in a minute, over the last whole minutes and the one that has begun, in thousandths.
    pub fn rate(&self, of: impl Fn(&Counts) -> u64, now: Millis) -> u64 {
        let oldest = now.div_euclid(60_000) - RATE_MINUTES + 1;
        let lately = self.minutes.iter().filter(|minute| oldest <= minute.minute);
        lately.map(|minute| of(&minute.counts)).sum::<u64>() * 1_000 / RATE_MINUTES as u64
    }

    /// This goes on from an earlier part.
    pub fn follow(&mut self, earlier: Self) {
        self.totals.add(&earlier.totals);
        let mut minutes = earlier.minutes;
        for later in &self.minutes {
            match minutes.last_mut() {
                Some(last) if later.minute <= last.minute => last.counts.add(&later.counts),
                Some(_) | None => minutes.push(*later),
            }
        }
        minutes.drain(..minutes.len().saturating_sub(MINUTES_MAX));
        self.minutes = minutes;
        self.waits.follow(earlier.waits);
        self.runs.follow(earlier.runs);
        if self.progressed < earlier.progressed {
            self.stuck_since = earlier.stuck_since;
        }
        self.progressed = self.progressed.max(earlier.progressed);
    }
}

impl Counts {
    fn add(&mut self, more: &Self) {
        self.enqueued += more.enqueued;
        self.started += more.started;
        self.completed += more.completed;
        self.failed += more.failed;
        self.timed_out += more.timed_out;
        self.cancelled += more.cancelled;
    }
}

impl Recent {
    fn add(&mut self, took: Millis, now: Millis) {
        if self.since + WINDOW <= now || now < self.since {
            let is_old = self.since + 2 * WINDOW <= now;
            self.before = if is_old { Durations::default() } else { std::mem::take(&mut self.now) };
            self.now = Durations::default();
            self.since = now;
        }
        let place = place(took.max(0) as u64);
        if self.now.0.len() <= place {
            self.now.0.resize(place + 1, 0);
        }
        self.now.0[place] = self.now.0[place].saturating_add(1);
    }

    /// So many of a thousand took no longer, to within a fifth; nothing if there was none lately.
    pub fn percentile(&self, per_mille: u64) -> Option<Millis> {
        let both = |place: usize| {
            let of = |durations: &Durations| u64::from(durations.0.get(place).copied().unwrap_or(0));
            of(&self.now) + of(&self.before)
        };
        let places = self.now.0.len().max(self.before.0.len());
        let total: u64 = (0..places).map(both).sum();
        let wanted = (total * per_mille).div_ceil(1_000).max(1);
        let mut seen = 0;
        (0..places)
            .find(|place| {
                seen += both(*place);
                wanted <= seen
            })
            .map(longest)
    }

    fn follow(&mut self, earlier: Self) {
        if self.now.0.is_empty() && self.before.0.is_empty() {
            *self = earlier;
            return;
        }
        for (place, count) in earlier.now.0.into_iter().enumerate() {
            if self.before.0.len() <= place {
                self.before.0.resize(place + 1, 0);
            }
            self.before.0[place] = self.before.0[place].saturating_add(count);
        }
    }
}

/// Which step a duration belongs to.
fn place(took: u64) -> usize {
    if took < STEPS {
        return took as usize;
    }
    let doubling = u64::from(took.ilog2());
    let within = (took >> (doubling - 2)) & (STEPS - 1);
    ((doubling - 1) * STEPS + within) as usize
}

/// The longest duration of a step.
fn longest(place: usize) -> Millis {
    let place = place as u64;
    if place < STEPS {
        return place as Millis;
    }
    let (doubling, within) = (place / STEPS + 1, place % STEPS);
    (((STEPS + within + 1) << (doubling - 2)) - 1) as Millis
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_step_holds_what_is_near(took in 0..1_000_000_000u64) {
            let longest = longest(place(took)) as u64;
            prop_assert!(took <= longest && longest <= took + took / 4, "{took} counts as {longest}");
        }

        /// However the story is cut in two, it is the same one.
        #[test]
        fn parts_put_together_count_the_same(times in prop::collection::vec(0..600_000i64, 1..60), cut in any::<prop::sample::Index>()) {
            let mut times = times;
            times.sort_unstable();
            let tell = |times: &[i64]| {
                let mut stats = Stats::default();
                for at in times {
                    stats.tell(Happened::Enqueued, *at);
                    stats.tell(Happened::Completed { ran: Some(7) }, *at);
                }
                stats
            };
            let cut = cut.index(times.len());
            let (whole, mut later) = (tell(&times), tell(&times[cut..]));
            later.follow(tell(&times[..cut]));
            prop_assert_eq!((later.totals, &later.minutes, later.progressed), (whole.totals, &whole.minutes, whole.progressed));
            prop_assert_eq!(later.runs.percentile(500), Some(7));
        }
    }

    #[test]
    fn percentiles_and_rates_are_of_late() {
        let mut stats = Stats::default();
        for n in 1..=100 {
            stats.tell(Happened::Enqueued, n);
            stats.tell(Happened::Started { waited: Some(n * 10) }, n);
        }
        let p = |per_mille| stats.waits.percentile(per_mille).unwrap();
        assert!((500..=625).contains(&p(500)) && (950..=1_190).contains(&p(950)) && (990..=1_250).contains(&p(990)));
        assert_eq!(stats.runs.percentile(500), None);
        assert_eq!(stats.rate(|counts| counts.started, 61_000), 20_000, "100 in five minutes");
        assert_eq!(stats.rate(|counts| counts.started, 6 * 60_000), 0);
        // Two windows later nothing is left of them.
        stats.tell(Happened::Started { waited: Some(1) }, 11 * 60_000);
        assert_eq!(stats.waits.percentile(990), Some(1));
        assert_eq!(stats.totals.started, 101);
    }

    #[test]
    fn what_moves_is_not_stuck() {
        let mut stats = Stats { stuck_since: Some(5), ..Stats::default() };
        stats.tell(Happened::Enqueued, 10);
        assert_eq!((stats.stuck_since, stats.progressed), (Some(5), 0), "that more come is no progress");
        stats.tell(Happened::Progressed, 11);
        assert_eq!((stats.stuck_since, stats.progressed), (None, 11));
    }
}
