//! Handing ready jobs to workers that wait, when a tick closes: new jobs of this very tick find them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use engine::{DefinitionKey, ElementKey, InstanceKey, JobKey};
use queue::Match;
use queue::retry::lease_end;
use store::log::{ActivatedJob, Answer, Code};
use store::row::{Availability, JobKind, JobOrigin};
use store::{Error, Millis};

use super::Partition;
use super::needs::Needs;
use super::tick::Tick;
use super::trace;
use super::unit::Stop;
use crate::json;
use crate::sinks::{Handed, QueueId, Sink, Waiter, Wish};

/// When the first job of a queue is not in memory, so many behind it are loaded with it at most.
const AHEAD_MAX: usize = 256;

/// As long as nothing is known of how large jobs and their instances are.
const AHEAD_FIRST: usize = 8;

/// How many jobs are loaded before they are asked for: as many as take a quarter of the room in memory, going by those that were loaded last.
/// More would be driven out again before their turn comes.
#[derive(Debug)]
pub(super) struct Ahead {
    jobs: usize,
}

impl Default for Ahead {
    fn default() -> Self {
        Self { jobs: AHEAD_FIRST }
    }
}

impl Ahead {
    fn learn(&mut self, before: &InMemory, after: &InMemory, bytes_max: usize) {
        let instances = after.instances.saturating_sub(before.instances);
        let loaded = instances.max(after.jobs.saturating_sub(before.jobs));
        if let Some(each) = after.bytes.saturating_sub(before.bytes).checked_div(loaded) {
            self.jobs = (bytes_max / 4 / each.max(1)).clamp(1, AHEAD_MAX);
        }
    }
}

/// How many there are, and what both take.
struct InMemory {
    instances: usize,
    jobs: usize,
    bytes: usize,
}

impl Partition {
    /// Matches until there are no jobs at hand or nobody who takes one; what is not in memory is loaded once for all queues.
    pub(super) async fn hand_out(&mut self, tick: &mut Tick) -> Result<(), Error> {
        self.dispatch.advance(tick.now);
        loop {
            let mut needs = Needs::default();
            let mut held: Vec<QueueId> = Vec::new();
            // What would make the tick too large goes with the next one.
            while tick.bytes < 2 * self.limits.tick_bytes_max
                && let Some(found) = {
                    let sinks = &self.sinks;
                    self.dispatch.next(|waiter| sinks.room(waiter))
                }
            {
                match self.hand(tick, &found) {
                    Ok(()) => {}
                    Err(Stop::Needs(missing)) => {
                        needs.add(*missing);
                        self.look_ahead(tick, &found.queue, &mut needs);
                        self.dispatch.pass(&found.queue);
                        held.push(found.queue);
                    }
                    // It cannot be handed out as it is; those behind it have their turn.
                    Err(Stop::Refused(rejection)) => {
                        self.dispatch.skip(&found);
                        if rejection.code == Code::InvalidState {
                            self.shunned.insert(found.queue);
                        }
                    }
                }
            }
            if held.is_empty() {
                return Ok(());
            }
            let before = self.in_memory();
            self.load(tick, needs).await?;
            let after = self.in_memory();
            self.ahead.learn(&before, &after, self.limits.instances_hot_bytes_max);
            held.into_iter().for_each(|queue| self.dispatch.reopen(queue));
        }
    }

    /// Everybody who is answered by this tick. Requests of the inbox are answered in it.
    pub(super) fn take_handed(&mut self, tick: &mut Tick) {
        for handed in self.sinks.handed(self.dispatch.is_dry()) {
            match handed {
                Handed::Waiter(Waiter { id, sink: Sink::Inbox { position, at, .. }, .. }, jobs) => {
                    self.dispatch.leave(id);
                    self.answer_received(tick, "activate", position, at, &Answer::Activated(jobs));
                }
                Handed::Waiter(waiter, jobs) => {
                    self.dispatch.leave(waiter.id);
                    tick.handed.push(Handed::Waiter(waiter, jobs));
                }
                Handed::Outbox(jobs) => {
                    self.write_outbox(tick, &jobs);
                    tick.handed.push(Handed::Outbox(jobs));
                }
                stream @ Handed::Stream(..) => tick.handed.push(stream),
            }
        }
    }

    fn hand(&mut self, tick: &mut Tick, found: &Match<QueueId>) -> Result<(), Stop> {
        let Some(wish) = self.sinks.wish(found.waiter).cloned() else {
            self.dispatch.leave(found.waiter);
            return Ok(());
        };
        let key = JobKey(found.job.key());
        let leased = catch_unwind(AssertUnwindSafe(|| self.lease(tick, key, &wish)));
        let job = match leased {
            Ok(leased) => leased?,
            Err(_) => {
                self.jobs.undo();
                self.metrics.quarantined.inc();
                self.quarantine(tick, key.0, "handing it out hit a fault of the engine");
                return Err(super::execute::unusable("handing it out hit a fault of the engine"));
            }
        };
        tick.bytes += job.variables.len();
        let line = self.sinks.give(found.waiter, job);
        self.dispatch.took(found, line);
        self.accept_jobs(tick);
        self.dispatch.paced(&found.queue, &found.group, tick.now);
        Ok(())
    }

    fn lease(&mut self, tick: &mut Tick, key: JobKey, wish: &Wish) -> Result<ActivatedJob, Stop> {
        if let Some(what) = tick.known.unusable.get(&key.0) {
            return Err(super::execute::unusable(what));
        }
        if !self.jobs.knows(&key) {
            let mut needs = Needs::jobs(vec![key]);
            needs.wanted.instances_of_jobs.push(key);
            return Err(needs.into());
        }
        let gone = || Stop::not_found(format!("job {key} is not ready any more"));
        let job = self.jobs.get(&key).filter(|job| job.availability == Availability::Ready).ok_or_else(gone)?;
        let (created, is_first, origin) = (job.created, job.worker.is_empty(), job.origin);
        if let Some(origin) = origin
            && !self.runs(tick, &store::log::Caller::engine(), origin.instance)?
        {
            return Err(gone());
        }
        if let Some(origin) = origin
            && self.is_suspended(origin.instance)
        {
            self.change_job(tick, key, |job| job.availability = Availability::Held);
            self.accept_jobs(tick);
            return Err(gone());
        }
        if is_first {
            self.metrics.activation_seconds.observe((tick.now - created).max(0) as f64 / 1000.0);
        }
        let (now, deadline) = (tick.now, lease_end(wish.timeout, tick.now));
        self.change_job(tick, key, |job| {
            job.availability = Availability::Leased;
            job.worker = wish.worker.clone();
            job.deadline = Some(deadline);
            job.dispatched = Some(now);
            job.leases = job.leases.saturating_add(1);
            if let Some(execution) = &mut job.execution {
                execution.attempts = execution.attempts.saturating_add(1);
                execution.started = Some(now);
            }
        });
        Ok(match origin {
            Some(origin) => self.activated(key, &origin, wish, deadline),
            None => self.activated_execution(key, wish, deadline),
        })
    }

    /// The job as its worker gets it.
    fn activated(&self, key: JobKey, origin: &JobOrigin, wish: &Wish, deadline: Millis) -> ActivatedJob {
        let hot = self.hot.get(origin.instance).expect("it was just looked at");
        let job = self.jobs.get(&key).expect("it was just leased");
        let definition = &hot.definition.row;
        let element = &definition.elements[origin.element.0 as usize];
        let variables = match job.kind {
            JobKind::Listener(event) if event.is_of_task() => {
                engine::visible_to_listener(&hot.instance, origin.element_instance, &wish.fetch)
            }
            JobKind::Listener(_) | JobKind::Element | JobKind::AdHoc => {
                engine::visible(&hot.instance, origin.element_instance, &wish.fetch)
            }
        };
        let trace = trace::of(&hot.instance);
        ActivatedJob {
            key,
            job_type: job.job_type.clone(),
            instance: origin.instance,
            root: hot.row.root,
            definition: definition.key,
            process_id: definition.process_id.clone(),
            version: definition.version,
            element_id: element.id.clone(),
            element_instance: origin.element_instance,
            headers: trace::among(job.headers.as_ref().unwrap_or(&element.headers), trace),
            worker: job.worker.clone(),
            retries: job.retries,
            deadline,
            variables: json::object(&variables),
            tenant: job.tenant.clone(),
            tags: hot.row.tags.clone(),
            business_id: hot.row.business_id.clone(),
            kind: job.kind,
            lease: job.leases,
            progress: job.progress.clone(),
            trace: trace.cloned(),
        }
    }

    /// Work that belongs to no process, as its worker gets it: what it is asked to do is all there is.
    fn activated_execution(&self, key: JobKey, wish: &Wish, deadline: Millis) -> ActivatedJob {
        let job = self.jobs.get(&key).expect("it was just leased");
        let input = job.execution.as_ref().map_or("{}", |execution| &*execution.input);
        ActivatedJob {
            kind: JobKind::Element,
            key,
            job_type: job.job_type.clone(),
            instance: InstanceKey(0),
            root: InstanceKey(0),
            definition: DefinitionKey(0),
            process_id: "".into(),
            version: 0,
            element_id: "".into(),
            element_instance: ElementKey(0),
            headers: job.headers.clone().unwrap_or_else(|| "{}".into()),
            worker: job.worker.clone(),
            retries: job.retries,
            deadline,
            variables: json::picked(input, &wish.fetch),
            tenant: job.tenant.clone(),
            tags: Vec::new(),
            business_id: None,
            lease: job.leases,
            progress: job.progress.clone(),
            trace: job.headers.clone(),
        }
    }

    fn in_memory(&self) -> InMemory {
        let (instances, jobs) = (self.hot.len(), self.jobs.len());
        InMemory { instances, jobs, bytes: self.hot.bytes() + self.jobs.bytes() }
    }

    /// The jobs behind the first one will be wanted too.
    fn look_ahead(&self, tick: &Tick, queue: &QueueId, needs: &mut Needs) {
        for place in self.dispatch.upcoming(queue, self.ahead.jobs.min(self.limits.batch_max)) {
            let key = JobKey(place.key());
            match self.jobs.get(&key) {
                Some(job) => {
                    needs.wanted.instances.extend(job.origin.map(|origin| origin.instance));
                }
                None if tick.known.unusable.contains_key(&key.0) => {}
                None => {
                    needs.wanted.jobs.push(key);
                    needs.wanted.instances_of_jobs.push(key);
                }
            }
        }
    }
}
