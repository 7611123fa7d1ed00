//! The end of a tick: what is written, and what happens once it is, or is not.

use std::collections::VecDeque;
use std::sync::Arc;

use store::log::Answer;
use store::row::{self, Availability, SubscriptionState, TimerState};
use store::{Commit, Error, Millis, Ownership, SubscriptionChange};
use tokio::sync::oneshot;

use super::messages::Group;
use super::needs::Rested;
use super::raised::Raised;
use super::tick::{Did, Ended, Tick};
use super::{Awaiting, End, Input, Partition, Reply, Told};
use crate::handle;
use crate::sinks::{Handed, deliver};
use crate::table::Change;
use crate::weigh::Weigh;

/// How long after its last command another server is taken to be interested.
const FOLLOWED_FOR: Millis = 60_000;

/// How often those who have gone are swept out.
const SWEEP_EVERY: Millis = 5_000;

/// What is kept for a group is weighed once a tick, in [`Partition::settle_memory`]: there may be thousands of messages, and each one more
/// changes it.
impl Weigh for Group {}

impl Partition {
    /// Hands out jobs and gives what is to be written; `None` if nothing is.
    pub(crate) async fn close(&mut self, tick: &mut Tick) -> Result<Option<Commit>, Error> {
        self.hand_out(tick).await?;
        self.take_handed(tick);
        self.write_paces(tick);
        let changes = &mut tick.recorder.changes;
        for (key, job, change) in self.jobs.written() {
            match (change, job.execution.is_some()) {
                (Change::New, false) => changes.jobs_new.push(job),
                (Change::Changed, false) => changes.jobs_changed.push(job),
                (Change::New, true) => changes.executions_new.push(job),
                (Change::Changed, true) => changes.executions_changed.push(job),
            }
            tick.changed.jobs.push(key);
        }
        self.write_waits(tick);
        self.write_schedules(tick);
        self.write_books(tick).await;
        let changes = &mut tick.recorder.changes;
        for (key, row, _) in self.idempotent.written() {
            changes.idempotent_new.push(row);
            tick.changed.idempotent.push(key);
        }
        for (key, row, _) in self.batches.written() {
            changes.batches_put.push(row);
            tick.changed.batches.push(key);
        }
        tick.changed.names = self.catalogue.written();
        if tick.is_empty() {
            return Ok(None);
        }
        // What was looked up is true until something is written.
        self.rested = Rested::default();
        // Every commit takes a key, so the stored counter tells which commits were written.
        self.keys.take();
        tick.first_key = self.key_sent;
        tick.next_key = self.keys.next_key();
        self.key_sent = tick.next_key;
        if !tick.answers.is_empty() {
            self.followed_until = tick.now + FOLLOWED_FOR;
        }
        let mut answers = std::mem::take(&mut tick.answers);
        answers.sort_unstable_by_key(|answer| answer.position);
        let changes = std::mem::take(&mut tick.recorder).finish();
        tick.raised = Raised::of(&changes.incidents_new);
        Ok(Some(Commit {
            fence: self.fence,
            first_key: tick.first_key,
            next_key: tick.next_key,
            log: std::mem::take(&mut tick.log),
            inbox_to: self.inbox_to,
            answers,
            now: tick.now,
            changes,
            wake: tick.now < self.followed_until,
        }))
    }

    /// Waits that are no jobs, and what is kept for them.
    fn write_waits(&mut self, tick: &mut Tick) {
        let changes = &mut tick.recorder.changes;
        for (key, timer, change) in self.timers.written() {
            match change {
                Change::New => changes.timers_new.push(timer),
                Change::Changed => changes.timers_changed.push(timer),
            }
            tick.changed.timers.push(key);
        }
        for (key, row, change) in self.user_tasks.written() {
            match change {
                Change::New => changes.user_tasks_new.push(row),
                Change::Changed => changes.user_tasks_changed.push(row),
            }
            tick.changed.user_tasks.push(key);
        }
        for (key, row, change) in self.subscriptions.written() {
            match change {
                Change::New => changes.subscriptions_new.push(row),
                Change::Changed => {
                    changes.subscriptions_changed.push(SubscriptionChange { key, state: row.state, updated: row.updated });
                }
            }
            tick.changed.subscriptions.push(key);
        }
        for (name, holder, change) in self.locks.written() {
            if change == Change::Changed || holder.is_none() {
                changes.locks_gone.push(name.clone());
            }
            if let Some(instance) = holder {
                let (tenant, process_id, correlation_key) = name.clone();
                changes.locks_new.push(row::MessageLock { tenant, process_id, correlation_key, instance });
            }
            tick.changed.locks.push(name);
        }
        tick.changed.unique.extend(self.unique.written().into_iter().map(|(name, _, _)| name));
        tick.changed.groups.extend(self.groups.written().into_iter().map(|(name, _, _)| name));
        tick.changed.starts.extend(self.starts.written().into_iter().map(|(name, _, _)| name));
    }

    /// After the commit: answer callers, hand jobs to workers, wake who waits for an end. What workers did not take comes back.
    pub(crate) fn effects(&mut self, mut tick: Tick) -> Vec<Input> {
        for compiled in tick.deployed.drain(..) {
            self.catalogue.fresh.remove(&compiled.row.key);
            self.definitions.insert(compiled);
        }
        for compiled in tick.decisions_deployed.drain(..) {
            self.catalogue.fresh_decisions.remove(&compiled.row.key);
            self.definitions.insert_decisions(compiled);
        }
        self.metrics.tick_commands.observe(tick.commands as f64);
        self.metrics.tick_seconds.observe(tick.begun.elapsed().as_secs_f64());
        for did in tick.done.drain(..) {
            if let Did::Request { input, answer, .. } = did
                && let Some(reply) = input.into_reply()
            {
                self.reply(reply, Ok(answer));
            }
        }
        self.incident_lines.log(&tick.raised, tick.now);
        for ended in tick.ended.drain(..) {
            self.metrics.instances_ended.inc();
            self.tell_end(&ended);
        }
        for job in tick.finished.drain(..) {
            for sender in self.awaiting_executions.remove(&job).into_iter().flatten() {
                let _gone_is_fine = sender.send(());
            }
        }
        let mut released = Vec::new();
        for handed in tick.handed.drain(..) {
            if matches!(handed, Handed::Outbox(_)) {
                self.tell_of_outbox();
            }
            self.metrics.jobs_activated.inc_by(handed.jobs() as u64);
            let jobs = deliver(handed);
            if !jobs.is_empty() {
                released.push(Input::Release { jobs });
            }
        }
        self.settle_memory(&tick);
        released
    }

    fn settle_memory(&mut self, tick: &Tick) {
        let instances: Vec<_> = tick.changed.instances.iter().copied().collect();
        self.hot.committed(tick.number, &instances);
        self.jobs.committed(tick.number, &tick.changed.jobs, |job| job.availability == Availability::Done);
        let is_over = |timer: &row::Timer| timer.state != TimerState::Pending;
        self.timers.committed(tick.number, &tick.changed.timers, is_over);
        let is_closed = |row: &row::Subscription| row.state != SubscriptionState::Open;
        self.subscriptions.committed(tick.number, &tick.changed.subscriptions, is_closed);
        self.user_tasks.committed(tick.number, &tick.changed.user_tasks, |row| row.is_over());
        self.groups.committed(tick.number, &tick.changed.groups, |_| false);
        for name in &tick.changed.groups {
            self.groups_large.note(name, self.groups.get(name).map_or(0, Group::bytes));
        }
        self.groups.committed(tick.number, &self.groups_large.too_many(self.limits.instances_hot_bytes_max), |_| true);
        self.starts.committed(tick.number, &tick.changed.starts, |_| false);
        self.locks.committed(tick.number, &tick.changed.locks, |_| false);
        self.unique.committed(tick.number, &tick.changed.unique, |_| false);
        self.schedules.committed(tick.number, &tick.changed.schedules, Option::is_none);
        self.idempotent.committed(tick.number, &tick.changed.idempotent, |_| true);
        self.batches.committed(tick.number, &tick.changed.batches, |row| row.due.is_none());
        self.catalogue.committed(tick.number, &tick.changed.names);
        self.newest = self.newest.max(tick.now);
        self.trim(tick.now);
        self.measure_timeline(tick.now);
        if self.sweep_at <= tick.now {
            self.sweep_at = tick.now + SWEEP_EVERY;
            self.metrics.timeline_overdue.set(self.timeline.overdue(tick.now) as i64);
            self.sinks.sweep();
            let sinks = &self.sinks;
            self.dispatch.sweep(|waiter| sinks.is_gone(waiter));
            self.awaiting.retain(|_, waiting| {
                waiting.retain(|waiting| !waiting.sender.is_closed());
                !waiting.is_empty()
            });
            self.awaiting_executions.retain(|_, waiting| {
                waiting.retain(|sender| !sender.is_closed());
                !waiting.is_empty()
            });
        }
    }

    /// Each kind of row has as much room as the instances: one that takes much drives nothing else out.
    fn trim(&mut self, now: Millis) {
        let (rows, bytes) = (self.limits.instances_hot_max, self.limits.instances_hot_bytes_max);
        self.hot.trim(rows, bytes);
        self.jobs.trim(rows, bytes);
        self.timers.trim(rows, bytes);
        self.subscriptions.trim(rows, bytes);
        self.user_tasks.trim(rows, bytes);
        self.groups.trim(if now < self.newest { 0 } else { rows }, bytes);
        self.starts.trim(rows, bytes);
        self.locks.trim(rows, bytes);
        self.unique.trim(rows, bytes);
        self.idempotent.trim(self.limits.batch_max, bytes);
        self.batches.trim(self.limits.batch_max, bytes);
        self.catalogue.trim(bytes);
        self.metrics.instances_hot.set(self.hot.len() as i64);
        self.metrics.instances_hot_bytes.set(self.hot.bytes() as i64);
        self.metrics.rows_hot_bytes.set(self.bytes_of_rows() as i64);
    }

    /// Of those tables whose rows come and go with instances and executions.
    fn bytes_of_rows(&self) -> usize {
        let waits = self.timers.bytes() + self.subscriptions.bytes() + self.user_tasks.bytes();
        let names = self.groups.bytes() + self.starts.bytes() + self.locks.bytes() + self.unique.bytes();
        self.jobs.bytes() + waits + names + self.idempotent.bytes() + self.batches.bytes()
    }

    fn reply(&mut self, reply: Reply, told: Told) {
        match (reply, told) {
            (Reply::Answer(sender), told) => {
                let _gone_is_fine = sender.send(told);
            }
            (Reply::Begun { begun, sender }, told) => {
                let _gone_is_fine = sender.send((told, begun));
            }
            (Reply::Execution(sender), told) => {
                let awaited = match &told {
                    Ok(Answer::Submitted(submitted)) => submitted.executions.first().map(|one| one.job),
                    Ok(_) | Err(_) => None,
                };
                let ended = awaited.map(|job| {
                    let (sender, receiver) = oneshot::channel();
                    self.awaiting_executions.entry(job).or_default().push(sender);
                    receiver
                });
                let _gone_is_fine = sender.send((told, ended));
            }
            (Reply::End { fetch, sender }, Ok(Answer::Created(created))) if self.hot.contains(created.instance) => {
                let waiting = self.awaiting.entry(created.instance).or_default();
                waiting.push(Awaiting { created, fetch, sender });
            }
            (Reply::End { sender, .. }, Ok(Answer::Created(created))) => {
                let _gone_is_fine = sender.send(End::Before { created });
            }
            (Reply::End { sender, .. }, told) => {
                let _gone_is_fine = sender.send(End::NotCreated(told));
            }
        }
    }

    fn tell_end(&mut self, ended: &Ended) {
        for waiting in self.awaiting.remove(&ended.instance).into_iter().flatten() {
            let wanted = |name: &Arc<str>| waiting.fetch.is_empty() || waiting.fetch.contains(name);
            let variables = ended.result.iter().filter(|v| wanted(&v.name)).map(|v| (v.name.clone(), v.value.clone())).collect();
            let end = End::Ended { created: waiting.created, completed: ended.completed, variables };
            let _gone_is_fine = waiting.sender.send(end);
        }
    }

    /// A tick that was not committed: its inputs are there again, in order, before those that came later; workers that were to get jobs
    /// wait as before. What was due or lay in the inbox is read again. Memory is to be read again too, by [`Partition::reopen`].
    pub(crate) fn undo(&mut self, tick: Tick, inputs: &mut VecDeque<Input>) {
        for did in tick.done.into_iter().rev() {
            match did {
                Did::Request { input, .. } => inputs.push_front(input),
                Did::Other(input @ Input::Release { .. }) => inputs.push_front(input),
                Did::Other(_) => {}
            }
        }
        self.wait_again(tick.handed);
    }

    /// A tick of which it is not known whether it was committed: its callers hear nothing more.
    pub(crate) fn abandon(&mut self, tick: Tick, inputs: &mut VecDeque<Input>) {
        for did in tick.done.into_iter().rev() {
            if let Did::Other(input @ Input::Release { .. }) = did {
                inputs.push_front(input);
            }
        }
        self.wait_again(tick.handed);
    }

    /// A tick that the store has no room for: its callers are told so at once.
    pub(crate) fn refuse(&mut self, tick: Tick, error: &handle::Error) {
        for did in tick.done {
            if let Did::Request { input, .. } = did
                && let Some(reply) = input.into_reply()
            {
                self.reply(reply, Err(error.clone()));
            }
        }
        self.wait_again(tick.handed);
    }

    /// They had come first, and do again.
    fn wait_again(&mut self, handed: Vec<Handed>) {
        for handed in handed.into_iter().rev() {
            match handed {
                Handed::Waiter(waiter, _) => {
                    let queues = self.asked_for(&waiter);
                    self.dispatch.wait_again(waiter.id, queues);
                    self.sinks.wait(waiter);
                }
                Handed::Stream(_, id, jobs) => self.sinks.take_back(id, jobs.len()),
                Handed::Outbox(_) => {}
            }
        }
    }

    /// Whether the commit of a tick went through, now that nobody else can write: the counter tells, unless somebody else has written.
    pub(crate) fn was_committed(&self, tick: &Tick, ownership: &Ownership) -> Option<bool> {
        let alone = ownership.fence.epoch == self.fence.epoch + 1;
        match ownership.next_key {
            next if alone && next == tick.next_key => Some(true),
            next if alone && next == tick.first_key => Some(false),
            _ => None,
        }
    }
}

impl Handed {
    fn jobs(&self) -> usize {
        match self {
            Self::Waiter(_, jobs) | Self::Stream(_, _, jobs) | Self::Outbox(jobs) => jobs.len(),
        }
    }
}
