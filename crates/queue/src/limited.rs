//! The window of a queue with rules: jobs by group, what each group may still do, and who goes next.
//!
//! What is taken of the limits is counted from the table once, when nothing is under way, and from then on by what is told here. A job is
//! handed out only while the queue and its group let it, and among all jobs that may go the first goes first: within a group the order is
//! never broken. Where groups take turns, the first of the group goes that has waited longest for its turn.
//!
//! Jobs of a group are a lane, a bounded window of its own. Lanes are found by going through the queue in order, as far as is needed to
//! find one that may go; groups nobody has work for take no memory.

use std::collections::{BTreeMap, BTreeSet};

use crate::adapt::Ran;
use crate::slots::{Counted, Gate, Paced, Slots};
use crate::{Group, Millis, Place, Ready, Refill, Rules, Seat};

/// What to ask the table for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    /// How many run, by group, and when jobs were started. Only when the table is not behind.
    Taken,
    /// How many of all queues of the pool run. Likewise.
    Pool,
    /// Jobs of all groups, in order.
    All(Refill),
    /// Jobs of one group, in order.
    Of(Group, Refill),
}

/// Where a lane stands among those that may go: by turn, then by its first job.
type Head = (u64, Place);

#[derive(Debug)]
struct Lane {
    ready: Ready,
    /// Where groups take turns: the round in which it may go.
    turn: u64,
    /// As it is among the heads.
    head: Option<Head>,
    /// As it is among those that wait for a time.
    opens: Option<Millis>,
}

impl Lane {
    fn new(ready: Ready, turn: u64) -> Self {
        Self { ready, turn, head: None, opens: None }
    }

    /// Where it goes on: at its first job, or past its horizon.
    fn next(&self) -> Option<Place> {
        self.ready.iter().next().or_else(|| self.ready.refill().map(|refill| refill.after))
    }
}

#[derive(Debug)]
pub struct Limited {
    rules: Rules,
    /// `None` until it is counted.
    slots: Option<Slots>,
    lanes: BTreeMap<Group, Lane>,
    /// Lanes that may go.
    heads: BTreeSet<(Head, Group)>,
    /// Lanes that may go from a time on.
    timed: BTreeSet<(Millis, Group)>,
    /// The latest round in which a lane went.
    round: u64,
    /// All ready jobs up to this place are in their lanes, or past the horizon of these; `None`: all there are.
    horizon: Option<Place>,
    page_max: usize,
    lane_max: usize,
    /// The time last told.
    now: Millis,
}

impl Limited {
    pub fn new(rules: Rules, page_max: usize, lane_max: usize) -> Self {
        let (slots, lanes, heads, timed) = Default::default();
        let (page_max, lane_max) = (page_max.max(1), lane_max.max(1));
        Self { rules, slots, lanes, heads, timed, round: 0, horizon: Some(Place::START), page_max, lane_max, now: Millis::MIN }
    }

    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Whether nothing waits here and nothing runs.
    pub fn is_idle(&self) -> bool {
        self.lanes.is_empty() && self.slots.as_ref().is_none_or(Slots::is_idle)
    }

    /// Whether any job may go, whatever its lane.
    fn gate(&self) -> Gate {
        self.slots.as_ref().map_or(Gate::Shut, |slots| slots.gate(&self.rules, self.now))
    }

    /// Changes a lane, or what is taken by it, and keeps it where it belongs.
    fn touch(&mut self, lane: &Group, change: impl FnOnce(&mut Self)) {
        change(self);
        let Some(known) = self.lanes.get_mut(lane) else { return };
        let place = known.next();
        let (head, opens) = match (place, &self.slots) {
            (Some(place), Some(slots)) => match slots.gate_of(&self.rules, lane, self.now) {
                Gate::Open => (Some((if self.rules.fair { known.turn } else { 0 }, place)), None),
                Gate::At(at) => (None, Some(at)),
                Gate::Shut => (None, None),
            },
            (None, _) | (_, None) => (None, None),
        };
        // Most changes leave the first job of a lane where it is.
        if known.head != head {
            let before = std::mem::replace(&mut known.head, head);
            before.map(|before| self.heads.remove(&(before, lane.clone())));
            head.map(|head| self.heads.insert((head, lane.clone())));
        }
        if known.opens != opens {
            let before = std::mem::replace(&mut known.opens, opens);
            before.map(|before| self.timed.remove(&(before, lane.clone())));
            opens.map(|opens| self.timed.insert((opens, lane.clone())));
        }
        if place.is_none() {
            self.lanes.remove(lane);
        }
    }

    fn touch_all(&mut self) {
        let lanes: Vec<Group> = self.lanes.keys().cloned().collect();
        lanes.iter().for_each(|lane| self.touch(lane, |_| ()));
    }

    fn put(&mut self, lane: &Group, place: Place) {
        let lane_max = if self.rules.has_groups { self.lane_max } else { self.page_max };
        self.touch(lane, |limited| {
            let turn = limited.round + 1;
            let new = || Lane::new(Ready::complete(lane_max), turn);
            limited.lanes.entry(lane.clone()).or_insert_with(new).ready.insert(place);
        });
    }

    /// A job may be handed out, as far as its state goes.
    pub fn insert(&mut self, seat: Seat, group: &Group) {
        let place = self.rules.place(seat);
        if self.horizon.is_none_or(|horizon| place <= horizon) {
            self.put(&self.rules.lane_of(group), place);
        }
    }

    /// A job may not be handed out any more.
    pub fn remove(&mut self, seat: Seat, group: &Group) {
        self.take_out(self.rules.place(seat), group);
    }

    pub(crate) fn take_out(&mut self, place: Place, group: &Group) {
        let lane = self.rules.lane_of(group);
        self.touch(&lane, |limited| {
            if let Some(lane) = limited.lanes.get_mut(&lane) {
                lane.ready.remove(place);
            }
        });
    }

    /// A job runs: it takes a slot of its group. It never counts more than there are, whatever the limit.
    pub fn started(&mut self, group: &Group) {
        let lane = self.rules.lane_of(group);
        self.touch(&lane, |limited| {
            if let Some(slots) = &mut limited.slots {
                slots.started(&lane);
            }
        });
    }

    /// A job was handed out: that takes a token, and its group has had its turn.
    pub fn paced(&mut self, group: &Group, now: Millis) {
        if !self.rules.is_paced() && !self.rules.fair {
            return;
        }
        let lane = self.rules.lane_of(group);
        self.touch(&lane, |limited| {
            if let Some(slots) = &mut limited.slots {
                slots.paced(&limited.rules, &lane, now);
            }
            if let Some(lane) = limited.lanes.get_mut(&lane) {
                limited.round = limited.round.max(lane.turn);
                lane.turn = limited.round + 1;
            }
        });
    }

    /// A job runs no longer: its slot is free.
    pub fn stopped(&mut self, group: &Group) {
        let lane = self.rules.lane_of(group);
        self.touch(&lane, |limited| {
            if let Some(slots) = &mut limited.slots {
                slots.stopped(&lane);
            }
        });
    }

    /// How a run came out, for a limit that adapts.
    pub fn ended(&mut self, ran: Ran) {
        let is_other = self.slots.as_mut().is_some_and(|slots| slots.ended(&self.rules, ran));
        if is_other && self.rules.by_group {
            self.touch_all();
        }
    }

    /// How many of a group run, once that is counted.
    pub fn running(&self, group: &Group) -> Option<u32> {
        Some(self.slots.as_ref()?.running(&self.rules.lane_of(group)))
    }

    /// The limit as it stands, once it is known.
    pub fn limit(&self) -> Option<u32> {
        self.slots.as_ref()?.limit(&self.rules)
    }

    /// It is so late: who waited for that may go. If the clock was set back, who could go may have to wait again: what was started since
    /// would otherwise look long ago.
    pub fn advance(&mut self, now: Millis) {
        let was_set_back = now < self.now;
        self.now = now;
        if was_set_back && self.rules.is_paced() {
            self.touch_all();
        }
        while let Some((at, lane)) = self.timed.first().cloned()
            && at <= self.now
        {
            self.touch(&lane, |_| ());
        }
    }

    /// When somebody may go who may not go now, if time alone decides.
    pub fn opens_at(&self) -> Option<Millis> {
        match self.gate() {
            Gate::Open => self.timed.first().map(|(at, _)| *at),
            Gate::At(at) => (!self.lanes.is_empty() || self.horizon.is_some()).then_some(at),
            Gate::Shut => None,
        }
    }

    /// The first job that may go, with its group. `None` with [`Limited::ask`] saying something: that has to be known first.
    pub fn next(&self) -> Option<(Place, Group)> {
        if self.gate() != Gate::Open {
            return None;
        }
        let ((_, place), lane) = self.heads.first().filter(|((_, place), _)| self.is_known_up_to(*place))?;
        let is_there = self.lanes.get(lane)?.ready.iter().next() == Some(*place);
        is_there.then(|| (*place, lane.clone()))
    }

    /// Whether no other lane may have a job that goes before this place. Where groups take turns, all of them have to be known.
    fn is_known_up_to(&self, place: Place) -> bool {
        self.horizon.is_none_or(|horizon| !self.rules.fair && place <= horizon)
    }

    /// What keeps [`Limited::next`] from being known.
    pub fn ask(&self) -> Option<Ask> {
        if self.slots.is_none() {
            return Some(Ask::Taken);
        }
        if self.gate() != Gate::Open {
            return None;
        }
        match self.heads.first() {
            Some(((_, place), lane)) if self.is_known_up_to(*place) => {
                let refill = self.lanes.get(lane)?.ready.refill()?;
                Some(if self.rules.has_groups { Ask::Of(lane.clone(), refill) } else { Ask::All(refill) })
            }
            Some(_) | None => self.horizon.map(|after| Ask::All(Refill { after, limit: self.page_max })),
        }
    }

    /// The table's answer to [`Ask::Taken`].
    pub fn counted(&mut self, counted: Counted) {
        self.slots = Some(Slots::of(&self.rules, counted));
        self.touch_all();
    }

    /// The table's answer to [`Ask::All`], in order. Fewer than asked for means there are no more.
    pub fn found(&mut self, asked: Refill, jobs: Vec<(Place, Group)>) {
        let (count, last) = (jobs.len(), jobs.last().map(|(place, _)| *place));
        if !self.rules.has_groups {
            // The one lane is the queue, with the one horizon.
            self.touch(&None, |limited| {
                let page_max = limited.page_max;
                let lane = limited.lanes.entry(None).or_insert_with(|| Lane::new(Ready::unknown(page_max), 0));
                lane.ready.refilled(asked, jobs.into_iter().map(|(place, _)| place));
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
            if let Some(lane) = limited.lanes.get_mut(lane) {
                lane.ready.refilled(asked, jobs);
            }
        });
    }

    /// Starts to be stored since this was last asked.
    pub fn take_paced(&mut self) -> Vec<Paced> {
        self.slots.as_mut().map_or_else(Vec::new, |slots| slots.take_changed(&self.rules))
    }

    /// Forgets what makes no difference any more.
    pub fn forget(&mut self) {
        if let Some(slots) = &mut self.slots {
            slots.forget(&self.rules, self.now);
        }
    }

    /// The jobs that may go next, about.
    pub fn upcoming(&self, limit: usize) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::new();
        let most = self.limit();
        for (_, lane) in self.heads.iter().take(limit) {
            let running = self.slots.as_ref().map_or(0, |slots| slots.running(lane));
            let slots = most.map_or(limit, |most| most.saturating_sub(running) as usize);
            places.extend(self.lanes.get(lane).into_iter().flat_map(|lane| lane.ready.iter().take(slots.min(limit))));
        }
        places.sort_unstable();
        places.truncate(limit);
        places
    }
}

#[cfg(test)]
mod tests;
