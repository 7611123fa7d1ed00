//! What limits mean for a queue, and for those that share one: what is taken, when time lets jobs go, whose turn it is.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use super::{Dispatch, Pool, Queue, Window};
use crate::adapt::Ran;
use crate::slots::{Counted, Paced};
use crate::{Group, Limited, Millis, Rules};

impl<Q: Clone + Ord> Dispatch<Q> {
    /// What holds for several queues together. What runs is counted anew only where nothing was said before.
    pub fn share(&mut self, limits: BTreeMap<Arc<str>, u32>) {
        let before = std::mem::take(&mut self.pools);
        let pool = |(name, limit): (Arc<str>, u32)| {
            let running = before.get(&name).and_then(|pool| pool.running);
            (name, Pool { limit, running })
        };
        self.pools = limits.into_iter().map(pool).collect();
        if self.pools != before {
            self.open.extend(self.queues.keys().cloned());
        }
        self.has_limits |= !self.pools.is_empty();
    }

    pub(super) fn pool(&self, id: &Q) -> Option<&Pool> {
        if self.pools.is_empty() { None } else { self.pools.get((self.pool_of)(id)) }
    }

    /// What holds for a queue.
    pub fn rules(&self, id: &Q) -> Option<&Rules> {
        self.queues.get(id).and_then(|queue| queue.window.rules())
    }

    /// Whether a job of the queue keeps its slot while it waits for its next try.
    pub fn holds(&self, id: &Q) -> bool {
        self.rules(id).is_some_and(|rules| rules.holds)
    }

    fn limited(&mut self, id: &Q) -> Option<&mut Limited> {
        match self.queues.get_mut(id) {
            Some(Queue { window: Window::Limited(limited), .. }) => Some(limited),
            Some(_) | None => None,
        }
    }

    /// A job takes a slot of its queue: it runs, or waits for its next try where that keeps it.
    pub fn started(&mut self, id: &Q, group: &Group) {
        if let Some(limited) = self.limited(id) {
            limited.started(group);
        }
    }

    /// A job runs: that counts for its pool, whatever the rules of its queue. What waits does not, as in the tables.
    pub fn runs(&mut self, id: &Q) {
        if !self.pools.is_empty()
            && let Some(Pool { running: Some(running), .. }) = self.pools.get_mut((self.pool_of)(id))
        {
            *running += 1;
        }
    }

    /// A job was handed out.
    pub fn paced(&mut self, id: &Q, group: &Group, now: Millis) {
        if !self.marks_starts {
            return;
        }
        if let Some(limited) = self.limited(id) {
            limited.paced(group, now);
        }
    }

    /// Whether it matters how runs come out.
    pub fn marks_ends(&self) -> bool {
        self.marks_ends
    }

    /// How a run came out.
    pub fn ended(&mut self, id: &Q, ran: Ran) {
        if let Some(limited) = self.limited(id) {
            limited.ended(ran);
        }
    }

    /// A job takes no slot of its queue any longer; another may have it.
    pub fn stopped(&mut self, id: &Q, group: &Group) {
        if let Some(limited) = self.limited(id) {
            limited.stopped(group);
            self.reopen_if_awaited(id);
        }
    }

    /// A job runs no longer; another of the pool may.
    pub fn rests(&mut self, id: &Q) {
        if self.pools.is_empty() {
            return;
        }
        let name = (self.pool_of)(id);
        if let Some(Pool { running: Some(running), .. }) = self.pools.get_mut(name) {
            *running = running.saturating_sub(1);
            let of_pool = |(id, queue): &(&Q, &Queue)| (self.pool_of)(id) == name && !queue.waiters.is_empty();
            self.open.extend(self.queues.iter().filter(of_pool).map(|(id, _)| id.clone()));
        }
    }

    fn reopen_if_awaited(&mut self, id: &Q) {
        if self.queues.get(id).is_some_and(|queue| !queue.waiters.is_empty()) && !self.open.contains(id) {
            self.open.insert(id.clone());
        }
    }

    /// When a job may go to somebody who waits, if time alone decides.
    pub fn opens_at(&self) -> Option<Millis> {
        if !self.is_paced {
            return None;
        }
        let awaited = self.queues.values().filter(|queue| !queue.waiters.is_empty());
        let opens = |queue: &Queue| match &queue.window {
            Window::Limited(limited) => limited.opens_at(),
            Window::Plain(_) => None,
        };
        awaited.filter_map(opens).min()
    }

    /// It is so late.
    pub fn advance(&mut self, now: Millis) {
        if !self.is_paced {
            return;
        }
        for (id, queue) in &mut self.queues {
            let Window::Limited(limited) = &mut queue.window else { continue };
            let opens = limited.opens_at().is_some_and(|at| at <= now);
            limited.advance(now);
            if opens && !queue.waiters.is_empty() {
                self.open.insert(id.clone());
            }
        }
    }

    /// Starts to be stored since this was last asked.
    pub fn take_paced(&mut self) -> Vec<(Q, Paced)> {
        if !self.is_paced {
            return Vec::new();
        }
        let mut all = Vec::new();
        for (id, queue) in &mut self.queues {
            if let Window::Limited(limited) = &mut queue.window {
                all.extend(limited.take_paced().into_iter().map(|paced| (id.clone(), paced)));
            }
        }
        all
    }

    /// The limit of a queue as it stands, where that is known.
    pub fn limit(&self, id: &Q) -> Option<u32> {
        match &self.queues.get(id)?.window {
            Window::Limited(limited) => limited.limit(),
            Window::Plain(_) => None,
        }
    }

    /// What is taken of a queue's limits.
    pub fn counted(&mut self, id: &Q, counted: Counted) {
        if let Some(limited) = self.limited(id) {
            limited.counted(counted);
            self.open.insert(id.clone());
        }
    }

    /// How many of a queue's pool run.
    pub fn counted_pool(&mut self, id: &Q, count: u32) {
        if let Some(pool) = self.pools.get_mut((self.pool_of)(id)) {
            pool.running = Some(count);
            self.open.insert(id.clone());
        }
    }

    /// Queues that share a limit take turns.
    pub(super) fn first_open(&self) -> Option<Q> {
        let after = self.served.as_ref().filter(|_| !self.pools.is_empty());
        let next = after.and_then(|served| self.open.range((Bound::Excluded(served), Bound::Unbounded)).next());
        next.or(self.open.first()).cloned()
    }
}
