//! Times in a bounded space: exact below 128 µs, within 1.6 % above.

/// Steps per power of two.
const STEPS: usize = 64;
const POWERS: usize = 32;

#[derive(Debug, Clone)]
pub(super) struct Histogram {
    counts: Vec<u64>,
    total: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; STEPS * POWERS], total: 0 }
    }
}

impl Histogram {
    pub(super) fn record(&mut self, micros: u64) {
        let step = step_of(micros).min(self.counts.len() - 1);
        self.counts[step] += 1;
        self.total += 1;
    }

    /// The time, in microseconds, that this share of all stayed within; zero if there are none.
    pub(super) fn quantile(&self, share: f64) -> u64 {
        let wanted = ((self.total as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        for (step, count) in self.counts.iter().enumerate() {
            seen += count;
            if wanted <= seen {
                return start_of(step);
            }
        }
        0
    }
}

/// The first two powers' worth of steps are single microseconds; each power after that is twice as coarse.
fn step_of(micros: u64) -> usize {
    let steps = STEPS as u64;
    if micros < 2 * steps {
        return micros as usize;
    }
    let coarseness = micros.ilog2() - steps.ilog2();
    (u64::from(coarseness) * steps + (micros >> coarseness)) as usize
}

fn start_of(step: usize) -> u64 {
    if step < 2 * STEPS {
        return step as u64;
    }
    let coarseness = step / STEPS - 1;
    ((step - coarseness * STEPS) as u64) << coarseness
}

#[cfg(test)]
mod tests {
    use super::{Histogram, start_of, step_of};

    #[test]
    fn steps_are_narrow_and_in_order() {
        for micros in (0..5_000).chain([1 << 20, (1 << 20) + 12_345, 3_600_000_000]) {
            let start = start_of(step_of(micros));
            assert!(start <= micros && micros - start <= micros / 64, "{micros} is in the step from {start}");
        }
    }

    #[test]
    fn quantiles() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(0.5), 0);
        (1..=100).for_each(|micros| histogram.record(micros));
        assert_eq!([0.5, 0.95, 0.99].map(|share| histogram.quantile(share)), [50, 95, 99]);
    }
}
