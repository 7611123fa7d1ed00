//! A limit that finds its own height: one more for every round that goes well, a part less when something goes wrong, between bounds.

use crate::Millis;

/// Parts of a slot: a limit grows by fractions.
const PARTS: u64 = 1_000;

/// What is left of a limit after something went wrong, in percent.
const LESS_PERCENT: u64 = 70;

/// Between which bounds a limit moves, and what counts as going wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Adaptive {
    /// Never fewer; the most is the limit itself.
    pub limit_min: u32,
    /// A job that runs longer than this counts as one that failed.
    pub latency: Option<Millis>,
}

/// How a run of a job came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ran {
    Well {
        took: Millis,
    },
    /// It failed, or its lease ran out.
    Badly,
}

/// The limit as it stands. It is not stored: a new owner begins at the lower bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Height {
    parts: u64,
    /// Ends that are still of jobs started before the last step down, which say nothing about the limit since.
    stale: u32,
}

impl Height {
    pub fn lowest(adaptive: Adaptive) -> Self {
        Self { parts: u64::from(adaptive.limit_min.max(1)) * PARTS, stale: 0 }
    }

    pub fn limit(&self) -> u32 {
        u32::try_from(self.parts / PARTS).unwrap_or(u32::MAX)
    }

    /// A job has ended.
    pub fn ended(&mut self, adaptive: Adaptive, limit_max: u32, ran: Ran) {
        let well = match ran {
            Ran::Well { took } => adaptive.latency.is_none_or(|most| took <= most),
            Ran::Badly => false,
        };
        let (least, most) = (adaptive.limit_min.max(1), limit_max.max(adaptive.limit_min).max(1));
        let is_stale = 0 < self.stale;
        self.stale = self.stale.saturating_sub(1);
        match well {
            true => self.parts += PARTS * PARTS / self.parts.max(PARTS),
            false if is_stale => {}
            false => {
                self.stale = self.limit();
                self.parts = self.parts * LESS_PERCENT / 100;
            }
        }
        self.parts = self.parts.clamp(u64::from(least) * PARTS, u64::from(most) * PARTS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_stays_between_its_bounds(runs in proptest::collection::vec(0..200i64, 0..500), least in 1..20u32, span in 0..50u32) {
            let adaptive = Adaptive { limit_min: least, latency: Some(100) };
            let mut height = Height::lowest(adaptive);
            for took in runs {
                let before = height.limit();
                let ran = if took < 150 { Ran::Well { took } } else { Ran::Badly };
                height.ended(adaptive, least + span, ran);
                prop_assert!((least..=least + span).contains(&height.limit()));
                prop_assert!(height.limit() <= before + 1, "never more than one more at once");
            }
        }
    }

    #[test]
    fn it_climbs_by_one_a_round_and_falls_once_a_round() {
        let adaptive = Adaptive { limit_min: 1, latency: Some(10) };
        let mut height = Height::lowest(adaptive);
        for _ in 0..60 {
            height.ended(adaptive, 100, Ran::Well { took: 10 });
        }
        let high = height.limit();
        assert!((9..=12).contains(&high), "about the root of twice as many as went well: {high}");
        height.ended(adaptive, 100, Ran::Well { took: 11 });
        let low = height.limit();
        assert!(low < high);
        for _ in 1..high {
            height.ended(adaptive, 100, Ran::Badly);
        }
        assert_eq!(height.limit(), low, "those were started under the limit before");
        height.ended(adaptive, 100, Ran::Badly);
        height.ended(adaptive, 100, Ran::Badly);
        assert!(height.limit() < low);
    }
}
