//! Who gets which job: queues of ready jobs, workers that wait, in order on both sides. It decides from values; whoever delivers asks
//! for one decision after the other and says how it went.
//!
//! A queue's window of ready jobs is a cache of the table; workers that wait are known only here.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::{Place, Ready, Refill};

/// A worker that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WaiterId(pub u64);

/// How many more jobs a worker takes now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// It is not there any more.
    Gone,
    Jobs(usize),
}

/// The next job of a queue is for this worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match<Q> {
    pub queue: Q,
    pub waiter: WaiterId,
    pub job: Place,
}

#[derive(Debug)]
struct Queue {
    ready: Ready,
    /// In the order in which they came; may name ones that have gone.
    waiters: VecDeque<WaiterId>,
}

/// `Q` names a queue.
#[derive(Debug)]
pub struct Dispatch<Q> {
    queues: BTreeMap<Q, Queue>,
    waiters: BTreeMap<WaiterId, Vec<Q>>,
    /// Queues where something changed since nothing more could be matched there.
    open: BTreeSet<Q>,
    /// Queues that hold no job at hand although the table may have some.
    dry: BTreeSet<Q>,
    window_max: usize,
}

impl<Q: Clone + Ord> Dispatch<Q> {
    pub fn new(window_max: usize) -> Self {
        let (queues, waiters, open, dry) = Default::default();
        Self { queues, waiters, open, dry, window_max }
    }

    /// Forgets what is known of jobs; workers stay where they are.
    pub fn forget_jobs(&mut self) {
        for (id, queue) in &mut self.queues {
            queue.ready = Ready::unknown(self.window_max);
            if !queue.waiters.is_empty() {
                self.open.insert(id.clone());
            }
        }
        self.dry.clear();
    }

    /// Forgets what is known of one queue's jobs.
    pub fn forget_queue(&mut self, id: &Q) {
        if let Some(queue) = self.queues.get_mut(id) {
            queue.ready = Ready::unknown(self.window_max);
            self.open.insert(id.clone());
        }
    }

    /// A worker waits, at the end of each line.
    pub fn wait(&mut self, waiter: WaiterId, queues: Vec<Q>) {
        for id in &queues {
            let window_max = self.window_max;
            let new = || Queue { ready: Ready::unknown(window_max), waiters: VecDeque::new() };
            self.queues.entry(id.clone()).or_insert_with(new).waiters.push_back(waiter);
            self.open.insert(id.clone());
        }
        self.waiters.insert(waiter, queues);
    }

    /// A worker waits no longer.
    pub fn leave(&mut self, waiter: WaiterId) {
        self.waiters.remove(&waiter);
    }

    /// A worker that was full may have room again.
    pub fn has_room(&mut self, waiter: WaiterId) {
        self.open.extend(self.waiters.get(&waiter).into_iter().flatten().cloned());
    }

    /// A job may be handed out. A queue nobody ever asked for is not kept: its jobs are in the table.
    pub fn ready(&mut self, id: &Q, job: Place) {
        if let Some(queue) = self.queues.get_mut(id) {
            queue.ready.insert(job);
            if !queue.waiters.is_empty() && !self.open.contains(id) {
                self.open.insert(id.clone());
            }
        }
    }

    /// A job may not be handed out any more.
    pub fn not_ready(&mut self, id: &Q, job: Place) {
        if let Some(queue) = self.queues.get_mut(id) {
            queue.ready.remove(job);
        }
    }

    /// Whether something could be matched.
    pub fn has_work(&self) -> bool {
        !self.open.is_empty()
    }

    /// Whether somebody waits for what may be in the table.
    pub fn is_dry(&self) -> bool {
        !self.dry.is_empty()
    }

    /// Whether it is known what is first in this queue.
    pub fn is_known(&self, id: &Q) -> bool {
        self.queues.get(id).is_some_and(|queue| queue.ready.refill().is_none())
    }

    /// Somebody will ask for jobs of this queue.
    pub fn expect(&mut self, id: Q) {
        let window_max = self.window_max;
        let new = || Queue { ready: Ready::unknown(window_max), waiters: VecDeque::new() };
        if self.queues.entry(id.clone()).or_insert_with(new).ready.refill().is_some() {
            self.dry.insert(id);
        }
    }

    /// What to ask the table for, each to be answered by [`Dispatch::refilled`].
    pub fn refills(&mut self) -> Vec<(Q, Refill)> {
        let dry = std::mem::take(&mut self.dry);
        dry.into_iter().filter_map(|id| self.queues.get(&id)?.ready.refill().map(|refill| (id, refill))).collect()
    }

    pub fn refilled(&mut self, id: &Q, asked: Refill, jobs: impl IntoIterator<Item = Place>) {
        if let Some(queue) = self.queues.get_mut(id) {
            queue.ready.refilled(asked, jobs);
            self.open.insert(id.clone());
        }
    }

    /// The first job of the first queue for the first who takes it. The same until one of [`Dispatch::took`], [`Dispatch::pass`] and
    /// [`Dispatch::not_ready`] is told.
    pub fn next(&mut self, mut room: impl FnMut(WaiterId) -> Room) -> Option<Match<Q>> {
        while let Some(id) = self.open.first().cloned() {
            match self.next_of(&id, &mut room) {
                Some(found) => return Some(found),
                None => drop(self.open.remove(&id)),
            }
        }
        None
    }

    fn next_of(&mut self, id: &Q, room: &mut impl FnMut(WaiterId) -> Room) -> Option<Match<Q>> {
        let queue = self.queues.get_mut(id)?;
        let mut full = 0;
        while full < queue.waiters.len() {
            let waiter = queue.waiters.front().copied()?;
            let there = match self.waiters.contains_key(&waiter) {
                true => room(waiter),
                false => Room::Gone,
            };
            match there {
                Room::Gone => {
                    self.waiters.remove(&waiter);
                    queue.waiters.pop_front();
                }
                Room::Jobs(0) => {
                    full += 1;
                    queue.waiters.rotate_left(1);
                }
                Room::Jobs(_) => {
                    let Some(job) = queue.ready.iter().next() else {
                        if queue.ready.refill().is_some() {
                            self.dry.insert(id.clone());
                        }
                        return None;
                    };
                    return Some(Match { queue: id.clone(), waiter, job });
                }
            }
        }
        None
    }

    /// The worker has the job. `Line::Rotate` sends it to the end of the line.
    pub fn took(&mut self, found: &Match<Q>, line: Line) {
        let Some(queue) = self.queues.get_mut(&found.queue) else { return };
        queue.ready.remove(found.job);
        match line {
            Line::Stay => {}
            Line::Rotate => queue.waiters.rotate_left(1),
        }
    }

    /// Nothing more of this queue for now.
    pub fn pass(&mut self, id: &Q) {
        self.open.remove(id);
    }

    /// Look at this queue again.
    pub fn reopen(&mut self, id: Q) {
        self.open.insert(id);
    }

    /// The first jobs at hand.
    pub fn upcoming(&self, id: &Q, limit: usize) -> Vec<Place> {
        self.queues.get(id).map_or(Vec::new(), |queue| queue.ready.iter().take(limit).collect())
    }

    /// Drops waiters that have gone and queues that nobody waits for.
    pub fn sweep(&mut self, mut is_gone: impl FnMut(WaiterId) -> bool) {
        self.waiters.retain(|waiter, _| !is_gone(*waiter));
        let waiters = &self.waiters;
        for queue in self.queues.values_mut() {
            queue.waiters.retain(|waiter| waiters.contains_key(waiter));
        }
        self.queues.retain(|_, queue| !queue.waiters.is_empty() || !queue.ready.is_empty());
    }
}

/// What becomes of a worker's place in line when it gets a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    /// It is served first until it has enough.
    Stay,
    /// The next in line is served next.
    Rotate,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(dispatch: &mut Dispatch<&'static str>, waiter: u64, queues: &[&'static str]) {
        dispatch.wait(WaiterId(waiter), queues.to_vec());
    }

    /// Hands out until nothing fits: who got what.
    fn serve(dispatch: &mut Dispatch<&'static str>, room: &mut [usize], line: Line) -> Vec<(u64, u64)> {
        let mut served = Vec::new();
        loop {
            let found = dispatch.next(|waiter| Room::Jobs(room[waiter.0 as usize]));
            let Some(found) = found else {
                let refills = dispatch.refills();
                if refills.is_empty() {
                    return served;
                }
                refills.into_iter().for_each(|(id, asked)| dispatch.refilled(&id, asked, []));
                continue;
            };
            room[found.waiter.0 as usize] -= 1;
            dispatch.took(&found, line);
            served.push((found.waiter.0, found.job.key()));
        }
    }

    #[test]
    fn first_come_first_served_on_both_sides() {
        let mut dispatch = Dispatch::new(10);
        waiting(&mut dispatch, 0, &["a"]);
        waiting(&mut dispatch, 1, &["a"]);
        serve(&mut dispatch, &mut [9, 9], Line::Stay);
        for key in [3, 1, 2] {
            dispatch.ready(&"a", Place::new(0, key));
        }
        dispatch.ready(&"a", Place::new(5, 4));
        assert_eq!(serve(&mut dispatch, &mut [2, 9], Line::Stay), [(0, 4), (0, 1), (1, 2), (1, 3)]);
        assert!(!dispatch.has_work());
    }

    #[test]
    fn streams_take_turns_and_never_get_more_than_they_have_room_for() {
        let mut dispatch = Dispatch::new(10);
        waiting(&mut dispatch, 0, &["a"]);
        waiting(&mut dispatch, 1, &["a"]);
        serve(&mut dispatch, &mut [9, 9], Line::Rotate);
        (1..=5).for_each(|key| dispatch.ready(&"a", Place::new(0, key)));
        assert_eq!(serve(&mut dispatch, &mut [1, 2], Line::Rotate), [(0, 1), (1, 2), (1, 3)]);
        assert!(!dispatch.has_work(), "nobody has room");
        dispatch.has_room(WaiterId(0));
        assert_eq!(serve(&mut dispatch, &mut [1, 0], Line::Rotate), [(0, 4)]);
    }

    #[test]
    fn who_has_gone_leaves_the_line() {
        let mut dispatch = Dispatch::new(10);
        waiting(&mut dispatch, 0, &["a", "b"]);
        waiting(&mut dispatch, 1, &["b"]);
        dispatch.leave(WaiterId(0));
        serve(&mut dispatch, &mut [9, 9], Line::Stay);
        dispatch.ready(&"a", Place::new(0, 1));
        dispatch.ready(&"b", Place::new(0, 2));
        assert_eq!(serve(&mut dispatch, &mut [9, 9], Line::Stay), [(1, 2)]);
    }
}
