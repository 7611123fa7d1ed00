//! Who gets which job: queues of ready jobs, workers that wait, in order on both sides. It decides from values; whoever delivers asks
//! for one decision after the other and says how it went.
//!
//! A queue's window of ready jobs is a cache of the table; workers that wait are known only here.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::{Ask, Group, Limited, Place, Ready, Refill, Rules};

/// Jobs of one group kept in memory.
const LANE_MAX: usize = 64;

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
    /// Its group, where the queue tells groups apart.
    pub group: Group,
}

/// The jobs of a queue that are at hand.
#[derive(Debug)]
enum Window {
    Plain(Ready),
    Limited(Limited),
}

impl Window {
    fn new(rules: Option<Rules>, window_max: usize) -> Self {
        match rules {
            None => Self::Plain(Ready::unknown(window_max)),
            Some(rules) => Self::Limited(Limited::new(rules, window_max, LANE_MAX)),
        }
    }

    fn rules(&self) -> Option<Rules> {
        match self {
            Self::Plain(_) => None,
            Self::Limited(limited) => Some(limited.rules()),
        }
    }

    fn first(&self) -> Option<(Place, Group)> {
        match self {
            Self::Plain(ready) => ready.iter().next().map(|place| (place, None)),
            Self::Limited(limited) => limited.next(),
        }
    }

    /// What has to be known before it is known who is first.
    fn ask(&self) -> Option<Ask> {
        match self {
            Self::Plain(ready) => ready.refill().map(Ask::All),
            Self::Limited(limited) => limited.ask(),
        }
    }

    fn insert(&mut self, job: Place, group: &Group) {
        match self {
            Self::Plain(ready) => ready.insert(job),
            Self::Limited(limited) => limited.insert(job, group),
        }
    }

    fn remove(&mut self, job: Place, group: &Group) {
        match self {
            Self::Plain(ready) => ready.remove(job),
            Self::Limited(limited) => limited.remove(job, group),
        }
    }
}

#[derive(Debug)]
struct Queue {
    window: Window,
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
    /// Whether any queue has limits.
    has_limits: bool,
}

impl<Q: Clone + Ord> Dispatch<Q> {
    pub fn new(window_max: usize) -> Self {
        let (queues, waiters, open, dry) = Default::default();
        Self { queues, waiters, open, dry, window_max, has_limits: false }
    }

    /// Forgets what is known of jobs; workers stay where they are.
    pub fn forget_jobs(&mut self) {
        for (id, queue) in &mut self.queues {
            queue.window = Window::new(queue.window.rules(), self.window_max);
            if !queue.waiters.is_empty() {
                self.open.insert(id.clone());
            }
        }
        self.dry.clear();
    }

    /// Forgets what is known of one queue's jobs.
    pub fn forget_queue(&mut self, id: &Q) {
        if let Some(queue) = self.queues.get_mut(id) {
            queue.window = Window::new(queue.window.rules(), self.window_max);
            self.open.insert(id.clone());
        }
    }

    /// A worker waits, at the end of each line.
    pub fn wait(&mut self, waiter: WaiterId, queues: Vec<Q>) {
        for id in &queues {
            self.queue(id).waiters.push_back(waiter);
            self.open.insert(id.clone());
        }
        self.waiters.insert(waiter, queues);
    }

    fn queue(&mut self, id: &Q) -> &mut Queue {
        let window_max = self.window_max;
        let new = || Queue { window: Window::new(None, window_max), waiters: VecDeque::new() };
        self.queues.entry(id.clone()).or_insert_with(new)
    }

    /// What holds for a queue, which is kept from now on. If it is something else than before, what is known of its jobs is forgotten.
    pub fn rule(&mut self, id: &Q, rules: Option<Rules>) {
        let window_max = self.window_max;
        let queue = self.queue(id);
        if queue.window.rules() != rules {
            queue.window = Window::new(rules, window_max);
            self.open.insert(id.clone());
        }
        self.has_limits |= rules.is_some();
    }

    /// Whether a worker waits for jobs of this queue.
    pub fn is_awaited(&self, id: &Q) -> bool {
        self.queues.get(id).is_some_and(|queue| queue.waiters.iter().any(|waiter| self.waiters.contains_key(waiter)))
    }

    /// The queues that are kept.
    pub fn queues(&self) -> Vec<Q> {
        self.queues.keys().cloned().collect()
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
    pub fn ready(&mut self, id: &Q, job: Place, group: &Group) {
        if let Some(queue) = self.queues.get_mut(id) {
            queue.window.insert(job, group);
            if !queue.waiters.is_empty() && !self.open.contains(id) {
                self.open.insert(id.clone());
            }
        }
    }

    /// A job may not be handed out any more.
    pub fn not_ready(&mut self, id: &Q, job: Place, group: &Group) {
        if let Some(queue) = self.queues.get_mut(id) {
            queue.window.remove(job, group);
        }
    }

    /// Whether it matters how many run.
    pub fn has_limits(&self) -> bool {
        self.has_limits
    }

    /// A job runs.
    pub fn started(&mut self, id: &Q, group: &Group) {
        if let Some(Queue { window: Window::Limited(limited), .. }) = self.queues.get_mut(id) {
            limited.started(group);
        }
    }

    /// A job runs no longer; another may have its slot.
    pub fn stopped(&mut self, id: &Q, group: &Group) {
        if let Some(Queue { window: Window::Limited(limited), waiters }) = self.queues.get_mut(id) {
            limited.stopped(group);
            if !waiters.is_empty() {
                self.open.insert(id.clone());
            }
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
        self.queues.get(id).is_some_and(|queue| queue.window.ask().is_none())
    }

    /// Somebody will ask for jobs of this queue.
    pub fn expect(&mut self, id: Q) {
        if self.queue(&id).window.ask().is_some() {
            self.dry.insert(id);
        }
    }

    /// The queues for which the table has to be asked, each for what [`Dispatch::ask`] says until that says nothing.
    pub fn take_dry(&mut self) -> BTreeSet<Q> {
        std::mem::take(&mut self.dry)
    }

    /// What to ask the table for.
    pub fn ask(&self, id: &Q) -> Option<Ask> {
        self.queues.get(id)?.window.ask()
    }

    /// How many run, by group.
    pub fn counted(&mut self, id: &Q, running: impl IntoIterator<Item = (Group, u32)>) {
        if let Some(Queue { window: Window::Limited(limited), .. }) = self.queues.get_mut(id) {
            limited.counted(running);
            self.open.insert(id.clone());
        }
    }

    /// Jobs of the whole queue, in order.
    pub fn refilled(&mut self, id: &Q, asked: Refill, jobs: Vec<(Place, Group)>) {
        let Some(queue) = self.queues.get_mut(id) else { return };
        match &mut queue.window {
            Window::Plain(ready) => ready.refilled(asked, jobs.into_iter().map(|(place, _)| place)),
            Window::Limited(limited) => limited.found(asked, jobs),
        }
        self.open.insert(id.clone());
    }

    /// Jobs of one group, in order.
    pub fn refilled_of(&mut self, id: &Q, group: &Group, asked: Refill, jobs: Vec<Place>) {
        if let Some(Queue { window: Window::Limited(limited), .. }) = self.queues.get_mut(id) {
            limited.found_of(group, asked, jobs);
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
                    let Some((job, group)) = queue.window.first() else {
                        if queue.window.ask().is_some() {
                            self.dry.insert(id.clone());
                        }
                        return None;
                    };
                    return Some(Match { queue: id.clone(), waiter, job, group });
                }
            }
        }
        None
    }

    /// The worker has the job. `Line::Rotate` sends it to the end of the line.
    pub fn took(&mut self, found: &Match<Q>, line: Line) {
        let Some(queue) = self.queues.get_mut(&found.queue) else { return };
        queue.window.remove(found.job, &found.group);
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
        match self.queues.get(id).map(|queue| &queue.window) {
            Some(Window::Plain(ready)) => ready.iter().take(limit).collect(),
            Some(Window::Limited(limited)) => limited.upcoming(limit),
            None => Vec::new(),
        }
    }

    /// Drops waiters that have gone and queues that nobody waits for.
    pub fn sweep(&mut self, mut is_gone: impl FnMut(WaiterId) -> bool) {
        self.waiters.retain(|waiter, _| !is_gone(*waiter));
        let waiters = &self.waiters;
        for queue in self.queues.values_mut() {
            queue.waiters.retain(|waiter| waiters.contains_key(waiter));
        }
        let is_empty = |window: &Window| match window {
            Window::Plain(ready) => ready.is_empty(),
            // What is known of one with limits is worth keeping while jobs run: it would have to be counted again.
            Window::Limited(limited) => limited.is_idle(),
        };
        self.queues.retain(|_, queue| !queue.waiters.is_empty() || !is_empty(&queue.window));
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
                let dry = dispatch.take_dry();
                if dry.is_empty() {
                    return served;
                }
                for id in dry {
                    match dispatch.ask(&id) {
                        Some(Ask::All(asked)) => dispatch.refilled(&id, asked, Vec::new()),
                        Some(Ask::Running) => dispatch.counted(&id, []),
                        Some(Ask::Of(group, asked)) => dispatch.refilled_of(&id, &group, asked, Vec::new()),
                        None => {}
                    }
                }
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
            dispatch.ready(&"a", Place::new(0, key), &None);
        }
        dispatch.ready(&"a", Place::new(5, 4), &None);
        assert_eq!(serve(&mut dispatch, &mut [2, 9], Line::Stay), [(0, 4), (0, 1), (1, 2), (1, 3)]);
        assert!(!dispatch.has_work());
    }

    #[test]
    fn streams_take_turns_and_never_get_more_than_they_have_room_for() {
        let mut dispatch = Dispatch::new(10);
        waiting(&mut dispatch, 0, &["a"]);
        waiting(&mut dispatch, 1, &["a"]);
        serve(&mut dispatch, &mut [9, 9], Line::Rotate);
        (1..=5).for_each(|key| dispatch.ready(&"a", Place::new(0, key), &None));
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
        dispatch.ready(&"a", Place::new(0, 1), &None);
        dispatch.ready(&"b", Place::new(0, 2), &None);
        assert_eq!(serve(&mut dispatch, &mut [9, 9], Line::Stay), [(1, 2)]);
    }

    #[test]
    fn no_more_than_the_limit_and_the_next_when_one_is_done() {
        let mut dispatch = Dispatch::new(10);
        dispatch.rule(&"a", Some(Rules { limit: Some(2), by_group: false, paused: false }));
        waiting(&mut dispatch, 0, &["a"]);
        serve(&mut dispatch, &mut [0], Line::Stay);
        (1..=4).for_each(|key| dispatch.ready(&"a", Place::new(0, key), &None));
        let mut room = [9];
        let mut taken = |dispatch: &mut Dispatch<&'static str>| -> Vec<u64> {
            let mut taken = Vec::new();
            loop {
                let found = dispatch.next(|_| Room::Jobs(room[0]));
                match found {
                    Some(found) => {
                        room[0] -= 1;
                        dispatch.took(&found, Line::Stay);
                        dispatch.started(&"a", &None);
                        taken.push(found.job.key());
                    }
                    None if dispatch.is_dry() => {
                        dispatch.take_dry();
                        match dispatch.ask(&"a") {
                            Some(Ask::Running) => dispatch.counted(&"a", []),
                            Some(Ask::All(asked)) => {
                                let jobs =
                                    (1..=4).map(|key| (Place::new(0, key), None)).filter(|(place, _)| asked.after < *place);
                                dispatch.refilled(&"a", asked, jobs.collect());
                            }
                            other => panic!("{other:?}"),
                        }
                    }
                    None => return taken,
                }
            }
        };
        assert_eq!(taken(&mut dispatch), [1, 2]);
        dispatch.stopped(&"a", &None);
        assert_eq!(taken(&mut dispatch), [3]);
        // A higher limit admits at once, a lower one lets what runs finish.
        assert!(!dispatch.has_work());
        dispatch.stopped(&"a", &None);
        assert_eq!(taken(&mut dispatch), [4]);
    }
}
