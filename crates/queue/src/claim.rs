//! Whether what a worker says of a job still counts: leases are numbered, and a worker speaks for the one it was given.

use std::sync::Arc;

/// What a worker knows of its lease. The less it says, the more it is believed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Claim {
    pub worker: Option<Arc<str>>,
    /// The number of the lease.
    pub lease: Option<u32>,
}

/// The lease there is, or was last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leased<'a> {
    /// Whether it lasts.
    pub lasts: bool,
    pub worker: &'a str,
    pub lease: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The worker has the job.
    Held,
    /// Nobody has it: what was done under an earlier lease may still count.
    Open,
    /// Somebody else has it, or the worker never had it.
    Lost,
}

pub fn standing(claim: &Claim, leased: Leased<'_>) -> Standing {
    let is_future = claim.lease.is_some_and(|lease| !(1..=leased.lease).contains(&lease));
    let is_older = claim.lease.is_some_and(|lease| lease < leased.lease);
    let is_other = claim.worker.as_ref().is_some_and(|worker| **worker != *leased.worker);
    match leased.lasts {
        _ if is_future => Standing::Lost,
        true if is_older || is_other => Standing::Lost,
        true => Standing::Held,
        false => Standing::Open,
    }
}

/// Whether the claim is to the very lease there was last.
pub fn is_last(claim: &Claim, leased: Leased<'_>) -> bool {
    standing(claim, Leased { lasts: true, ..leased }) == Standing::Held
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn claim(worker: Option<&str>, lease: Option<u32>) -> Claim {
        Claim { worker: worker.map(Into::into), lease }
    }

    #[test]
    fn what_a_claim_is_worth() {
        let now = |lasts| Leased { lasts, worker: "b", lease: 3 };
        for (worker, lease, while_it_lasts, after) in [
            (None, None, Standing::Held, Standing::Open),
            (Some("b"), None, Standing::Held, Standing::Open),
            (Some("a"), None, Standing::Lost, Standing::Open),
            (Some("b"), Some(3), Standing::Held, Standing::Open),
            (Some("b"), Some(2), Standing::Lost, Standing::Open),
            (Some("a"), Some(3), Standing::Lost, Standing::Open),
            (None, Some(1), Standing::Lost, Standing::Open),
            (None, Some(0), Standing::Lost, Standing::Lost),
            (None, Some(4), Standing::Lost, Standing::Lost),
        ] {
            let claim = claim(worker, lease);
            assert_eq!((standing(&claim, now(true)), standing(&claim, now(false))), (while_it_lasts, after), "{claim:?}");
        }
    }

    proptest! {
        /// Of all who name their lease at most one has the job, and nobody while it is nobody's.
        #[test]
        fn at_most_one_holds_it(leases in prop::collection::btree_set(0..6u32, 0..6), lasts: bool, lease in 0..6u32) {
            let leased = Leased { lasts, worker: "w", lease };
            let held = leases.iter().filter(|one| standing(&claim(None, Some(**one)), leased) == Standing::Held).count();
            prop_assert!(held <= usize::from(lasts));
        }

        /// Saying more is never believed more.
        #[test]
        fn the_number_only_narrows(lasts: bool, lease in 0..6u32, given in 0..6u32, same: bool) {
            let leased = Leased { lasts, worker: "w", lease };
            let worker = if same { "w" } else { "v" };
            let (less, more) = (claim(Some(worker), None), claim(Some(worker), Some(given)));
            if standing(&less, leased) == Standing::Lost {
                prop_assert_eq!(standing(&more, leased), Standing::Lost);
            }
        }
    }
}
