//! Handing ready jobs to workers that wait, first come first served on both sides.

use std::sync::atomic::Ordering;

use engine::JobKey;
use queue::retry::lease_end;
use store::log::{Activate, ActivatedJob};
use store::row::Availability;

use super::Partition;
use super::tick::{Handed, HandedTo, Tick};
use crate::dispatch::{QueueId, Sink, Waiter, Wish};
use crate::json;

/// An answer to a poll stops growing past this many bytes of variables, so that it fits into one message.
const ANSWER_BYTES_MAX: usize = 3 * 1024 * 1024;

impl Partition {
    /// A command of the log asks for jobs: it will wait for this tick only.
    pub(super) fn plan_activate(&mut self, tick: &mut Tick, activate: &Activate) {
        for tenant in &activate.tenants {
            let id = QueueId { tenant: tenant.clone(), job_type: activate.job_type.clone() };
            self.dispatch.expect(id.clone());
            *tick.expected.entry(id).or_default() += activate.max as usize;
        }
    }

    pub(super) fn hand_out(&mut self, tick: &mut Tick) {
        for id in self.dispatch.take_dirty() {
            self.serve_line(tick, &id);
        }
        for waiter in self.dispatch.impatient() {
            if let Sink::Poll { .. } = waiter.sink {
                tick.handed.push(Handed { sink: HandedTo::Waiter(waiter), jobs: Vec::new() });
            }
        }
    }

    /// Serves who stands in line until there are no jobs at hand or nobody who takes one.
    fn serve_line(&mut self, tick: &mut Tick, id: &QueueId) {
        let mut full = 0;
        while let Some(number) = self.dispatch.front(id) {
            if self.dispatch.first(id).is_none() {
                if self.dispatch.refill(id).is_some() {
                    self.dispatch.mark(id.clone());
                }
                return;
            }
            let Some(waiter) = self.dispatch.waiter(number) else { return };
            let (appetite, wish) = (waiter.appetite(), waiter.wish.clone());
            let jobs = self.lease(tick, id, &wish, appetite);
            self.ask_for_room(id, number, jobs.len());
            if !jobs.is_empty() {
                self.give(tick, id, number, jobs);
            } else if appetite == 0 && full < self.dispatch.line(id) {
                full += 1;
                self.dispatch.rotate(id);
            } else {
                return;
            }
        }
    }

    fn give(&mut self, tick: &mut Tick, id: &QueueId, number: u64, jobs: Vec<ActivatedJob>) {
        match self.dispatch.waiter(number).map(|waiter| &waiter.sink) {
            Some(Sink::Stream { jobs: sender, .. }) => {
                let sender = sender.clone();
                self.dispatch.rotate(id);
                tick.handed.push(Handed { sink: HandedTo::Stream(sender), jobs });
            }
            Some(Sink::Poll { .. }) => {
                let waiter = self.dispatch.remove_waiter(number).expect("it was just looked at");
                tick.handed.push(Handed { sink: HandedTo::Waiter(waiter), jobs });
            }
            Some(Sink::Log { slot, .. }) => {
                let slot = *slot;
                self.dispatch.remove_waiter(number);
                let answer = store::log::Answer::Activated(jobs);
                tick.processed[slot].answer = Some(store::format::encode_answer(&answer));
            }
            None => {}
        }
    }

    /// A stream that is full while jobs are left says when it has room again. It may have made room just now, unheard: look again then.
    fn ask_for_room(&mut self, id: &QueueId, number: u64, handed: usize) {
        if self.dispatch.first(id).is_none() {
            return;
        }
        let Some(Waiter { sink: Sink::Stream { jobs, starved }, .. }) = self.dispatch.waiter(number) else { return };
        starved.store(true, Ordering::SeqCst);
        if handed < jobs.capacity() {
            self.dispatch.mark(id.clone());
        }
    }

    /// Leases up to `max` jobs, strictly in order: a job whose instance is not in memory yet holds the others back until it is.
    fn lease(&mut self, tick: &mut Tick, id: &QueueId, wish: &Wish, max: usize) -> Vec<ActivatedJob> {
        let mut jobs = Vec::new();
        let mut bytes = 0;
        while jobs.len() < max && bytes < ANSWER_BYTES_MAX {
            let Some((job, instance)) = self.dispatch.first(id) else { break };
            if !self.hot.contains(instance) {
                self.dispatch.mark(id.clone());
                break;
            }
            self.dispatch.not_ready(id, job);
            if let Some(activated) = self.lease_one(tick, job, wish) {
                bytes += activated.variables.len();
                jobs.push(activated);
            }
        }
        jobs
    }

    fn lease_one(&mut self, tick: &mut Tick, key: JobKey, wish: &Wish) -> Option<ActivatedJob> {
        let instance = self.hot.instance_of(key)?;
        let hot = self.hot.get_mut(instance)?;
        let job = hot.jobs.get_mut(&key)?;
        if job.availability != Availability::Ready {
            return None;
        }
        if job.worker.is_empty() {
            self.metrics.activation_seconds.observe((tick.now - job.created).max(0) as f64 / 1000.0);
        }
        let deadline = lease_end(wish.timeout, tick.now);
        job.availability = Availability::Leased;
        job.worker = wish.worker.clone();
        job.deadline = Some(deadline);
        tick.recorder.job(job);
        self.timeline.insert(deadline, key.0);
        let definition = &hot.definition.row;
        let element = &definition.elements[job.element.0 as usize];
        Some(ActivatedJob {
            key,
            job_type: job.job_type.clone(),
            instance,
            root: hot.row.root,
            definition: definition.key,
            process_id: definition.process_id.clone(),
            version: definition.version,
            element_id: element.id.clone(),
            element_instance: job.element_instance,
            headers: element.headers.clone(),
            worker: job.worker.clone(),
            retries: job.retries,
            deadline,
            variables: json::object(&engine::visible(&hot.instance, job.element_instance, &wish.fetch)),
            tenant: job.tenant.clone(),
            tags: hot.row.tags.clone(),
            business_id: hot.row.business_id.clone(),
        })
    }

    /// After a failed commit: the worker waits as if nothing had been handed to it.
    pub(super) fn wait_again(&mut self, handed: Handed) {
        if let HandedTo::Waiter(waiter) = handed.sink {
            self.dispatch.wait(waiter);
        }
    }
}
