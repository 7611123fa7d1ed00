//! What evaluations may still use up.

use crate::error::{Error, Limit};
use crate::limits::{BYTES_MAX, EVALUATION_DEPTH_MAX, STEPS_MAX};

/// Bytes of text read or of values made that count as one step.
pub(crate) const BYTES_PER_STEP: u64 = 32;

/// Steps, bytes and depth left. Evaluations that belong together share one, so that many small ones are bounded like a
/// single large one.
///
/// A step is what evaluating a node or looking at an item takes. What takes longer is charged more: text by its length,
/// comparisons by the smaller side, numbers by their digits, patterns by every move. Bytes are those of all values
/// made, also of those dropped again: what is shared counts once.
#[derive(Clone, Debug)]
pub struct Budget {
    steps_left: u64,
    bytes_left: u64,
    depth: u32,
}

impl Default for Budget {
    /// What one evaluation may use, see [`limits`](crate::limits).
    fn default() -> Budget {
        Budget::new(STEPS_MAX, BYTES_MAX)
    }
}

impl Budget {
    /// So many steps, and bytes of values.
    pub fn new(steps: u64, bytes: u64) -> Budget {
        Budget { steps_left: steps, bytes_left: bytes, depth: 0 }
    }

    /// Steps not taken yet.
    pub fn steps_left(&self) -> u64 {
        self.steps_left
    }

    /// Bytes of values not made yet.
    pub fn bytes_left(&self) -> u64 {
        self.bytes_left
    }

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

    /// Takes the steps of looking through so many bytes.
    pub fn read(&mut self, bytes: usize) -> Result<(), Error> {
        self.charge(bytes as u64 / BYTES_PER_STEP)
    }

    /// Takes bytes for a value, and the steps of writing them. Asked before the value is made, it never takes memory
    /// that is not there.
    pub fn make(&mut self, bytes: u64) -> Result<(), Error> {
        let left = self.bytes_left.checked_sub(bytes).ok_or(Error::Limit(Limit::Bytes))?;
        self.charge(bytes / BYTES_PER_STEP)?;
        self.bytes_left = left;
        Ok(())
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

    /// Does something and comes back to the depth of before, also where it ends in the middle.
    pub fn level<T>(&mut self, run: impl FnOnce(&mut Budget) -> T) -> T {
        let depth = self.depth;
        let result = run(self);
        self.depth = depth;
        result
    }
}
