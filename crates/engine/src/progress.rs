//! How far the body of a repeated activity has come.

/// What a body remembers of its inner instances. Those that are gone are only counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// How many there will be; the bound, if that is all that is known.
    pub total: u32,
    pub started: u32,
    pub completed: u32,
    /// Ended from outside, one by one. Those dropped with the body do not count.
    pub terminated: u32,
}

impl Progress {
    /// How many live now.
    pub fn active(self) -> u32 {
        self.started.saturating_sub(self.completed).saturating_sub(self.terminated)
    }

    pub(crate) fn is_over(self) -> bool {
        self.total <= self.completed.saturating_add(self.terminated)
    }
}
