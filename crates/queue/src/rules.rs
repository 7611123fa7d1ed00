//! What holds for handing out the jobs of one queue.

use std::sync::Arc;

use crate::adapt::Adaptive;
use crate::{Millis, Pace, Place, Seat};

/// The group of a job; `None` for all that have none.
pub type Group = Option<Arc<str>>;

/// What holds for a queue.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rules {
    /// How many may run at once; all if it says nothing.
    pub limit: Option<u32>,
    /// Whether so many of each group may.
    pub by_group: bool,
    /// Whether the limit is only the most it may become.
    pub adaptive: Option<Adaptive>,
    pub paused: bool,
    pub groups_paused: Vec<Group>,
    /// How many may start per window.
    pub rate: Option<Pace>,
    /// Whether so many of each group may.
    pub rate_by_group: bool,
    /// At least so long between two starts.
    pub delay: Option<Millis>,
    /// How many of all groups may run at once.
    pub running_max: Option<u32>,
    /// Whether jobs have groups that are told apart.
    pub has_groups: bool,
    /// Whether groups take turns.
    pub fair: bool,
    /// Whoever has waited so long counts as one priority more.
    pub ageing: Option<Millis>,
    /// Whether a job keeps its slot while it waits for its next try.
    pub holds: bool,
}

impl Rules {
    /// Whether anything is different from a queue without rules.
    pub fn says_something(&self) -> bool {
        self.limit.is_some()
            || self.running_max.is_some()
            || self.paused
            || !self.groups_paused.is_empty()
            || self.is_paced()
            || self.fair
            || self.ageing.is_some()
    }

    /// Whether it matters when jobs were started.
    pub fn is_paced(&self) -> bool {
        self.rate.is_some() || self.delay.is_some()
    }

    /// Of a queue without groups all jobs are in one lane.
    pub(crate) fn lane_of(&self, group: &Group) -> Group {
        if self.has_groups { group.clone() } else { None }
    }

    /// Where a job stands. Everybody ages alike, so who is before whom never changes.
    pub(crate) fn place(&self, seat: Seat) -> Place {
        match self.ageing {
            None => seat.place(),
            Some(ageing) => Place::aged(seat, ageing),
        }
    }
}
