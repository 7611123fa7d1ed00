//! What an evaluation may still use up.

use crate::error::{Error, Limit};
use crate::limits::{EVALUATION_DEPTH_MAX, STEPS_MAX};

/// Steps and depth left. Evaluations that belong together share one, so that many small ones are bounded like a
/// single large one.
#[derive(Clone, Debug)]
pub struct Budget {
    steps_left: u64,
    depth: u32,
}

impl Default for Budget {
    /// The whole budget, see [`limits`](crate::limits).
    fn default() -> Budget {
        Budget { steps_left: STEPS_MAX, depth: 0 }
    }
}

impl Budget {
    /// Takes steps.
    pub fn charge(&mut self, steps: u64) -> Result<(), Error> {
        match self.steps_left.checked_sub(steps) {
            Some(left) => {
                self.steps_left = left;
                Ok(())
            }
            None => Err(Error::Limit(Limit::Steps)),
        }
    }

    /// Goes so many levels deeper; [`Budget::leave`] comes back.
    pub fn enter(&mut self, levels: u32) -> Result<(), Error> {
        if EVALUATION_DEPTH_MAX < self.depth + levels {
            return Err(Error::Limit(Limit::Depth));
        }
        self.depth += levels;
        Ok(())
    }

    /// Comes back so many levels.
    pub fn leave(&mut self, levels: u32) {
        self.depth = self.depth.saturating_sub(levels);
    }

    /// Takes over the steps another evaluation has left, at the own depth.
    pub(crate) fn continue_from(&mut self, other: &Budget) {
        self.steps_left = other.steps_left;
    }
}
