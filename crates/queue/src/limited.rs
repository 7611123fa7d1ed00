//! The window of a queue with a limit: jobs by group, and how many of each group run.
//!
//! Who runs is counted from the table once, when nothing is under way, and from then on by what is told here. A job is handed out only
//! while its group has a slot, and among all jobs that may go the first goes first: within a group the order is never broken.
//!
//! Jobs of a group are a lane, a bounded window of its own. Lanes are found by going through the queue in order, as far as is needed to
//! find one that may go; groups nobody has work for take no memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::{Place, Ready, Refill};

/// The group of a job; `None` for all that have none.
pub type Group = Option<Arc<str>>;

/// What holds for a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// How many may run at once; all if it says nothing.
    pub limit: Option<u32>,
    /// Whether groups are told apart.
    pub by_group: bool,
    pub paused: bool,
}

/// What to ask the table for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    /// How many run, by group. Only when the table is not behind.
    Running,
    /// Jobs of all groups, in order.
    All(Refill),
    /// Jobs of one group, in order.
    Of(Group, Refill),
}

#[derive(Debug)]
pub struct Limited {
    rules: Rules,
    /// `None` until it is counted.
    running: Option<BTreeMap<Group, u32>>,
    lanes: BTreeMap<Group, Ready>,
    /// Where each lane goes on, of those whose group has a slot.
    heads: BTreeSet<(Place, Group)>,
    /// All ready jobs up to this place are in their lanes, or past the horizon of these; `None`: all there are.
    horizon: Option<Place>,
    page_max: usize,
    lane_max: usize,
}

impl Limited {
    pub fn new(rules: Rules, page_max: usize, lane_max: usize) -> Self {
        let (running, lanes, heads) = Default::default();
        Self { rules, running, lanes, heads, horizon: Some(Place::START), page_max: page_max.max(1), lane_max: lane_max.max(1) }
    }

    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Whether nothing waits here and nothing runs.
    pub fn is_idle(&self) -> bool {
        self.lanes.is_empty() && self.running.as_ref().is_none_or(BTreeMap::is_empty)
    }

    /// Of a queue without groups all jobs are in one lane.
    fn lane_of(&self, group: &Group) -> Group {
        if self.rules.by_group { group.clone() } else { None }
    }

    fn has_slot(&self, lane: &Group) -> bool {
        let running = self.running.as_ref().map_or(u32::MAX, |running| running.get(lane).copied().unwrap_or(0));
        !self.rules.paused && self.running.is_some() && self.rules.limit.is_none_or(|limit| running < limit)
    }

    /// Where a lane goes on: at its first job, or past its horizon.
    fn head(ready: &Ready) -> Option<Place> {
        ready.iter().next().or_else(|| ready.refill().map(|refill| refill.after))
    }

    /// Changes a lane, or how many of its group run, and keeps the heads right.
    fn touch(&mut self, lane: &Group, change: impl FnOnce(&mut Self)) {
        if let Some(head) = self.lanes.get(lane).and_then(Self::head) {
            self.heads.remove(&(head, lane.clone()));
        }
        change(self);
        let Some(ready) = self.lanes.get(lane) else { return };
        match Self::head(ready) {
            Some(head) if self.has_slot(lane) => drop(self.heads.insert((head, lane.clone()))),
            Some(_) => {}
            None => drop(self.lanes.remove(lane)),
        }
    }

    fn put(&mut self, lane: &Group, place: Place) {
        let lane_max = if self.rules.by_group { self.lane_max } else { self.page_max };
        self.touch(lane, |limited| {
            limited.lanes.entry(lane.clone()).or_insert_with(|| Ready::complete(lane_max)).insert(place);
        });
    }

    /// A job may be handed out, as far as its state goes.
    pub fn insert(&mut self, place: Place, group: &Group) {
        if self.horizon.is_none_or(|horizon| place <= horizon) {
            self.put(&self.lane_of(group), place);
        }
    }

    /// A job may not be handed out any more.
    pub fn remove(&mut self, place: Place, group: &Group) {
        let lane = self.lane_of(group);
        self.touch(&lane, |limited| {
            if let Some(ready) = limited.lanes.get_mut(&lane) {
                ready.remove(place);
            }
        });
    }

    /// A job runs: it takes a slot of its group. It never counts more than there are, whatever the limit.
    pub fn started(&mut self, group: &Group) {
        let lane = self.lane_of(group);
        self.touch(&lane, |limited| {
            if let Some(running) = &mut limited.running {
                *running.entry(lane.clone()).or_default() += 1;
            }
        });
    }

    /// A job runs no longer: its slot is free.
    pub fn stopped(&mut self, group: &Group) {
        let lane = self.lane_of(group);
        self.touch(&lane, |limited| {
            let Some(running) = &mut limited.running else { return };
            match running.get_mut(&lane) {
                Some(count) if 1 < *count => *count -= 1,
                Some(_) => drop(running.remove(&lane)),
                None => {}
            }
        });
    }

    /// How many of a group run, once that is counted.
    pub fn running(&self, group: &Group) -> Option<u32> {
        Some(self.running.as_ref()?.get(&self.lane_of(group)).copied().unwrap_or(0))
    }

    /// The first job that may go, with its group. `None` with [`Limited::ask`] saying something: that has to be known first.
    pub fn next(&self) -> Option<(Place, Group)> {
        let (head, lane) = self.heads.first().filter(|(head, _)| self.is_known_up_to(*head))?;
        let is_there = self.lanes.get(lane)?.iter().next() == Some(*head);
        is_there.then(|| (*head, lane.clone()))
    }

    /// Whether no other lane may have a job before this place.
    fn is_known_up_to(&self, place: Place) -> bool {
        self.horizon.is_none_or(|horizon| place <= horizon)
    }

    /// What keeps [`Limited::next`] from being known.
    pub fn ask(&self) -> Option<Ask> {
        if self.running.is_none() {
            return Some(Ask::Running);
        }
        if self.rules.paused {
            return None;
        }
        match self.heads.first() {
            Some((head, lane)) if self.is_known_up_to(*head) => {
                let refill = self.lanes.get(lane)?.refill()?;
                Some(if self.rules.by_group { Ask::Of(lane.clone(), refill) } else { Ask::All(refill) })
            }
            Some(_) | None => self.horizon.map(|after| Ask::All(Refill { after, limit: self.page_max })),
        }
    }

    /// The table's answer to [`Ask::Running`].
    pub fn counted(&mut self, running: impl IntoIterator<Item = (Group, u32)>) {
        let mut counts: BTreeMap<Group, u32> = BTreeMap::new();
        for (group, count) in running.into_iter().filter(|(_, count)| 0 < *count) {
            *counts.entry(self.lane_of(&group)).or_default() += count;
        }
        self.running = Some(counts);
        let lanes: Vec<Group> = self.lanes.keys().cloned().collect();
        lanes.iter().for_each(|lane| self.touch(lane, |_| ()));
    }

    /// The table's answer to [`Ask::All`], in order. Fewer than asked for means there are no more.
    pub fn found(&mut self, asked: Refill, jobs: Vec<(Place, Group)>) {
        let (count, last) = (jobs.len(), jobs.last().map(|(place, _)| *place));
        if !self.rules.by_group {
            // The one lane is the queue, with the one horizon.
            self.touch(&None, |limited| {
                let page_max = limited.page_max;
                let lane = limited.lanes.entry(None).or_insert_with(|| Ready::unknown(page_max));
                lane.refilled(asked, jobs.into_iter().map(|(place, _)| place));
            });
            self.horizon = None;
            return;
        }
        self.horizon = if count < asked.limit { None } else { last };
        for (place, group) in jobs {
            self.put(&group, place);
        }
    }

    /// The table's answer to [`Ask::Of`].
    pub fn found_of(&mut self, lane: &Group, asked: Refill, jobs: Vec<Place>) {
        self.touch(lane, |limited| {
            if let Some(ready) = limited.lanes.get_mut(lane) {
                ready.refilled(asked, jobs);
            }
        });
    }

    /// The jobs that may go next, about.
    pub fn upcoming(&self, limit: usize) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::new();
        for (_, lane) in self.heads.iter().take(limit) {
            let running = self.running.as_ref().and_then(|running| running.get(lane)).copied().unwrap_or(0);
            let slots = self.rules.limit.map_or(limit, |most| most.saturating_sub(running) as usize);
            places.extend(self.lanes.get(lane).into_iter().flat_map(|ready| ready.iter().take(slots.min(limit))));
        }
        places.sort_unstable();
        places.truncate(limit);
        places
    }
}

#[cfg(test)]
mod tests;
