//! Who gets which job: queues of ready jobs, workers that wait, in order on both sides. It decides from values; whoever delivers asks
//! for one decision after the other and says how it went.
//!
//! A queue's window of ready jobs is a cache of the table; workers that wait are known only here.

mod limits;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use crate::{Ask, Group, Limited, Place, Ready, Refill, Rules, Seat};

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
    Limited(Box<Limited>),
}

impl Window {
    fn new(rules: Option<Rules>, window_max: usize) -> Self {
        match rules {
            None => Self::Plain(Ready::unknown(window_max)),
            Some(rules) => Self::Limited(Box::new(Limited::new(rules, window_max, LANE_MAX))),
        }
    }

    fn rules(&self) -> Option<&Rules> {
        match self {
            Self::Plain(_) => None,
            Self::Limited(limited) => Some(limited.rules()),
        }
    }

    /// The same, with nothing known.
    fn forgotten(&self, window_max: usize) -> Self {
        Self::new(self.rules().cloned(), window_max)
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

    fn insert(&mut self, job: Seat, group: &Group) {
        match self {
            Self::Plain(ready) => ready.insert(job.place()),
            Self::Limited(limited) => limited.insert(job, group),
        }
    }

    fn remove(&mut self, job: Seat, group: &Group) {
        match self {
            Self::Plain(ready) => ready.remove(job.place()),
            Self::Limited(limited) => limited.remove(job, group),
        }
    }

    fn take_out(&mut self, job: Place, group: &Group) {
        match self {
            Self::Plain(ready) => ready.remove(job),
            Self::Limited(limited) => limited.take_out(job, group),
        }
    }
}

#[derive(Debug)]
struct Queue {
    window: Window,
    /// In the order in which they came; may name ones that have gone.
    waiters: VecDeque<WaiterId>,
}

/// A limit that several queues share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pool {
    /// How many may run at once.
    pub limit: u32,
    /// How many do; `None` until it is counted.
    running: Option<u32>,
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
    /// Whether time alone lets jobs of any queue go.
    is_paced: bool,
    /// Whether it matters for any queue that a job was handed out, and how its run came out.
    marks_starts: bool,
    marks_ends: bool,
    /// By name; each is for all queues that `pool_of` says it is for.
    pools: BTreeMap<Arc<str>, Pool>,
    pool_of: fn(&Q) -> &Arc<str>,
    /// The queue of a pool that was served last: the others have their turn first.
    served: Option<Q>,
}

impl<Q: Clone + Ord> Dispatch<Q> {
    pub fn new(window_max: usize, pool_of: fn(&Q) -> &Arc<str>) -> Self {
        let (queues, waiters, open, dry, pools) = Default::default();
        let (has_limits, is_paced, marks_starts, marks_ends, served) = (false, false, false, false, None);
        Self { queues, waiters, open, dry, window_max, has_limits, is_paced, marks_starts, marks_ends, pools, pool_of, served }
    }

    /// Forgets what is known of jobs; workers stay where they are.
    pub fn forget_jobs(&mut self) {
        self.pools.values_mut().for_each(|pool| pool.running = None);
        for (id, queue) in &mut self.queues {
            queue.window = queue.window.forgotten(self.window_max);
            if !queue.waiters.is_empty() {
                self.open.insert(id.clone());
            }
        }
        self.dry.clear();
    }

    /// Forgets what is known of one queue's jobs.
    pub fn forget_queue(&mut self, id: &Q) {
        if let Some(queue) = self.queues.get_mut(id) {
            queue.window = queue.window.forgotten(self.window_max);
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

    /// What a worker was given has never been: it waits again, at the head of each line, once.
    pub fn wait_again(&mut self, waiter: WaiterId, queues: Vec<Q>) {
        for id in &queues {
            let line = &mut self.queue(id).waiters;
            // Who has left may still stand there.
            line.retain(|other| *other != waiter);
            line.push_front(waiter);
            self.open.insert(id.clone());
        }
        self.waiters.insert(waiter, queues);
    }

    fn queue(&mut self, id: &Q) -> &mut Queue {
        let window_max = self.window_max;
        let new = || Queue { window: Window::new(None, window_max), waiters: VecDeque::new() };
        self.queues.entry(id.clone()).or_insert_with(new)
    }

    /// A queue that has had no ready job until now is kept from now on; what is known of one that is kept already stays.
    pub fn begin(&mut self, id: &Q) {
        let window = Window::Plain(Ready::complete(self.window_max));
        self.queues.entry(id.clone()).or_insert_with(|| Queue { window, waiters: VecDeque::new() });
    }

    /// What holds for a queue, which is kept from now on. If it is something else than before, what is known of its jobs is forgotten.
    pub fn rule(&mut self, id: &Q, rules: Option<Rules>) {
        let window_max = self.window_max;
        self.has_limits |= rules.is_some();
        if let Some(rules) = &rules {
            self.is_paced |= rules.is_paced();
            self.marks_starts |= rules.is_paced() || rules.fair;
            self.marks_ends |= rules.adaptive.is_some();
        }
        let queue = self.queue(id);
        if queue.window.rules() != rules.as_ref() {
            queue.window = Window::new(rules, window_max);
            self.open.insert(id.clone());
        }
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
    pub fn ready(&mut self, id: &Q, job: Seat, group: &Group) {
        if let Some(queue) = self.queues.get_mut(id) {
            queue.window.insert(job, group);
            if !queue.waiters.is_empty() && !self.open.contains(id) {
                self.open.insert(id.clone());
            }
        }
    }

    /// A job may not be handed out any more.
    pub fn not_ready(&mut self, id: &Q, job: Seat, group: &Group) {
        if let Some(queue) = self.queues.get_mut(id) {
            queue.window.remove(job, group);
        }
    }

    /// The one found cannot be handed out.
    pub fn skip(&mut self, found: &Match<Q>) {
        if let Some(queue) = self.queues.get_mut(&found.queue) {
            queue.window.take_out(found.job, &found.group);
        }
    }

    /// Whether it matters how many run.
    pub fn has_limits(&self) -> bool {
        self.has_limits
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
        self.queues.contains_key(id) && self.ask(id).is_none()
    }

    /// Somebody will ask for jobs of this queue.
    pub fn expect(&mut self, id: Q) {
        self.queue(&id);
        if self.ask(&id).is_some() {
            self.dry.insert(id);
        }
    }

    /// The queues for which the table has to be asked, each for what [`Dispatch::ask`] says until that says nothing.
    pub fn take_dry(&mut self) -> BTreeSet<Q> {
        std::mem::take(&mut self.dry)
    }

    /// What to ask the table for.
    pub fn ask(&self, id: &Q) -> Option<Ask> {
        let queue = self.queues.get(id)?;
        match self.pool(id) {
            Some(Pool { running: None, .. }) => Some(Ask::Pool),
            Some(_) | None => queue.window.ask(),
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
    /// [`Dispatch::skip`] is told.
    pub fn next(&mut self, mut room: impl FnMut(WaiterId) -> Room) -> Option<Match<Q>> {
        while let Some(id) = self.first_open() {
            match self.next_of(&id, &mut room) {
                Some(found) => return Some(found),
                None => drop(self.open.remove(&id)),
            }
        }
        None
    }

    fn next_of(&mut self, id: &Q, room: &mut impl FnMut(WaiterId) -> Room) -> Option<Match<Q>> {
        let pool = self.pool(id).copied();
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
                    if pool.is_some_and(|pool| pool.running.is_some_and(|running| pool.limit <= running)) {
                        return None;
                    }
                    let is_counted = pool.is_none_or(|pool| pool.running.is_some());
                    let Some((job, group)) = queue.window.first().filter(|_| is_counted) else {
                        if !is_counted || queue.window.ask().is_some() {
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
        queue.window.take_out(found.job, &found.group);
        match line {
            Line::Stay => {}
            Line::Rotate => queue.waiters.rotate_left(1),
        }
        if !self.pools.is_empty() {
            self.served = Some(found.queue.clone());
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
            if let Window::Limited(limited) = &mut queue.window {
                limited.forget();
            }
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
mod tests;
