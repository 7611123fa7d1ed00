//! The tick: one batch, one transaction.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use engine::{DefinitionKey, EvaluationKey, Event, InstanceKey, RequirementsKey};
use rustc_hash::{FxHashMap, FxHashSet};
use store::log::{ActivatedJob, Answer, Pending, Released};
use store::{Commit, CommitError, Error, LogRow, Millis, Ownership, format, row};

use super::deploy::Deletion;
use super::{Awaiting, End, Input, Partition, Reply, released};
use crate::definitions::{Compiled, CompiledDecisions};
use crate::dispatch::{QueueId, Sink, Waiter};
use crate::recorder::Recorder;

/// How long after its last command another server is taken to be interested.
const FOLLOWED_FOR: Millis = 60_000;

/// How long a server's own commands go through the log after a tick was overtaken.
pub(super) const CONTENDED_FOR: Millis = 5_000;

/// How often those who have gone are swept out.
const SWEEP_EVERY: Millis = 5_000;

/// A tick as it goes on: all that becomes true with its commit.
#[derive(Default)]
pub(super) struct Tick {
    pub(super) now: Millis,
    pub(super) recorder: Recorder,
    /// Commands from the log, with their answers.
    pub(super) processed: Vec<LogRow>,
    pub(super) appended: Vec<LogRow>,
    pub(super) replies: Vec<(Reply, Answer)>,
    pub(super) ended: Vec<Ended>,
    pub(super) handed: Vec<Handed>,
    /// First answers to idempotency keys: loaded, or given in this tick.
    pub(super) idempotent: FxHashMap<(Arc<str>, Arc<str>), row::Idempotent>,
    pub(super) compiled: FxHashMap<DefinitionKey, Arc<Compiled>>,
    pub(super) deployed: Vec<Arc<Compiled>>,
    pub(super) deletions: FxHashMap<u64, Deletion>,
    pub(super) deleted: Vec<DefinitionKey>,
    pub(super) decisions: FxHashMap<RequirementsKey, Arc<CompiledDecisions>>,
    pub(super) decisions_deployed: Vec<Arc<CompiledDecisions>>,
    pub(super) decisions_deleted: Vec<RequirementsKey>,
    /// Evaluations that commands want to delete, as far as they are there.
    pub(super) evaluations: FxHashSet<EvaluationKey>,
    /// Instances of jobs, elements and incidents named by commands.
    pub(super) owners: FxHashMap<u64, InstanceKey>,
    /// Definitions, instances, jobs, elements and incidents that cannot be run as they are stored, and why.
    pub(super) unusable: FxHashMap<u64, String>,
    pub(super) touched: FxHashSet<InstanceKey>,
    /// Jobs that commands of the log will ask for.
    pub(super) expected: FxHashMap<QueueId, usize>,
}

pub(super) struct Ended {
    pub(super) instance: InstanceKey,
    pub(super) completed: bool,
    pub(super) result: Vec<engine::Variable>,
}

/// Jobs on their way to a worker.
pub(super) struct Handed {
    pub(super) sink: HandedTo,
    pub(super) jobs: Vec<ActivatedJob>,
}

pub(super) enum HandedTo {
    Waiter(Waiter),
    Stream(tokio::sync::mpsc::Sender<ActivatedJob>),
}

/// Inputs of a tick, in order: what was in the log comes before what enters it now.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) pending: Vec<Pending>,
    /// More lies in the log after `pending`: nothing may enter it in this tick.
    pub(crate) is_partial: bool,
    /// Callers of this server whose commands are in the log already.
    pub(crate) callers: FxHashMap<u64, Reply>,
    pub(crate) inputs: VecDeque<Input>,
}

impl Batch {
    pub(crate) fn commands(&self) -> usize {
        let requests = self.inputs.iter().filter(|input| matches!(input, Input::Request { .. } | Input::Release { .. }));
        self.pending.len() + requests.count()
    }
}

impl Partition {
    /// One batch; gives the database's clock if anything was written. On an error the batch is whole again, or in doubt until
    /// [`Partition::settle`].
    pub(crate) async fn tick(&mut self, batch: &mut Batch, now: Millis) -> Result<Option<Millis>, CommitError> {
        let begun = Instant::now();
        let mut tick = Tick { now, ..Tick::default() };
        if let Some(last) = batch.pending.last() {
            self.tail = self.tail.max(last.position);
        }
        self.plan(&mut tick, batch).await?;
        let mut kept = Vec::new();
        if let Err(error) = self.execute_all(&mut tick, batch, &mut kept).await {
            self.undo(tick, batch, kept);
            return Err(error.into());
        }
        self.hand_out(&mut tick);
        if tick.processed.is_empty() && tick.appended.is_empty() && tick.recorder.is_empty() {
            self.effects(tick, batch);
            return Ok(None);
        }
        let commands = tick.processed.len() + tick.appended.len();
        let commit = self.commit_of(&mut tick);
        let (tail, processed_to) = (self.tail + commit.appended.len() as u64, commit.processed_to);
        let sent = Instant::now();
        match self.store.commit(commit).await {
            Ok(db_now) => {
                self.tail = tail;
                self.processed_to = processed_to;
                self.metrics.commit_seconds.observe(sent.elapsed().as_secs_f64());
                self.effects(tick, batch);
                self.metrics.tick_commands.observe(commands as f64);
                self.metrics.tick_seconds.observe(begun.elapsed().as_secs_f64());
                Ok(Some(db_now))
            }
            Err(error @ CommitError::Store(_)) => {
                self.metrics.commit_failures.inc();
                self.in_doubt = Some(InDoubt { tick, kept, next_key: self.keys.next_key() });
                Err(error)
            }
            Err(error @ (CommitError::Deposed { .. } | CommitError::Overtaken { .. })) => {
                self.metrics.commit_failures.inc();
                self.undo(tick, batch, kept);
                Err(error)
            }
        }
    }

    /// The store is back: a commit whose answer was lost either went through, then its callers are answered now, or it did not,
    /// then the batch is whole again. If somebody else may have written since, the key counter tells nothing, and neither do we: callers
    /// hear that it is not known. Memory starts again from what the store holds.
    pub(crate) async fn settle(&mut self, batch: &mut Batch, ownership: &Ownership) -> Result<(), Error> {
        if let Some(doubt) = self.in_doubt.take() {
            let alone = ownership.fence.epoch == self.fence.epoch + 1;
            if !alone {
                self.abandon(doubt.tick, batch, doubt.kept);
            } else if ownership.next_key == doubt.next_key {
                self.effects(doubt.tick, batch);
            } else {
                self.undo(doubt.tick, batch, doubt.kept);
            }
        }
        batch.pending.clear();
        self.reopen(ownership).await
    }

    fn commit_of(&mut self, tick: &mut Tick) -> Commit {
        // Every commit takes a key, so the stored counter tells whether a commit whose answer was lost went through.
        self.keys.take();
        let followed = !tick.processed.is_empty();
        if followed {
            self.followed_until = tick.now + FOLLOWED_FOR;
        }
        let processed = std::mem::take(&mut tick.processed);
        let mut appended = std::mem::take(&mut tick.appended);
        for (row, position) in appended.iter_mut().zip(self.tail + 1..) {
            row.position = position;
        }
        let processed_to = match (processed.last(), appended.last()) {
            (_, Some(row)) | (Some(row), None) => row.position,
            (None, None) => self.processed_to,
        };
        let recorder = std::mem::take(&mut tick.recorder);
        let changes = recorder.finish();
        Commit {
            fence: self.fence,
            tail: self.tail,
            processed,
            appended,
            processed_to,
            next_key: self.keys.next_key(),
            now: tick.now,
            changes,
            wake: tick.now < self.followed_until,
        }
    }

    /// After the commit: answer callers, hand jobs to workers, wake who waits for an end.
    fn effects(&mut self, tick: Tick, batch: &mut Batch) {
        batch.pending.clear();
        for compiled in tick.deployed {
            self.definitions.insert(compiled);
        }
        for key in tick.deleted {
            self.definitions.forget(key);
        }
        for compiled in tick.decisions_deployed {
            self.definitions.insert_decisions(compiled);
        }
        for key in tick.decisions_deleted {
            self.definitions.forget_decisions(key);
        }
        for (reply, answer) in tick.replies {
            self.reply(reply, answer);
        }
        for ended in tick.ended {
            self.metrics.instances_ended.inc();
            self.tell_end(&ended);
        }
        for handed in tick.handed {
            self.metrics.jobs_activated.inc_by(handed.jobs.len() as u64);
            if let Some(jobs) = deliver(handed) {
                batch.inputs.push_back(Input::Release { jobs });
            }
        }
        for instance in tick.touched {
            if self.hot.get(instance).is_some_and(crate::recorder::has_ended) {
                self.hot.remove(instance);
            }
        }
        self.hot.trim(self.limits.instances_hot_max);
        self.metrics.instances_hot.set(self.hot.len() as i64);
        if self.sweep_at <= tick.now {
            self.sweep_at = tick.now + SWEEP_EVERY;
            self.dispatch.sweep();
            self.awaiting.retain(|_, waiting| {
                waiting.retain(|waiting| !waiting.sender.is_closed());
                !waiting.is_empty()
            });
        }
    }

    fn reply(&mut self, reply: Reply, answer: Answer) {
        match (reply, answer) {
            (Reply::Answer(sender), answer) => {
                let _gone_is_fine = sender.send(answer);
            }
            (Reply::End { fetch, sender }, Answer::Created(created)) if self.hot.contains(created.instance) => {
                let waiting = self.awaiting.entry(created.instance).or_default();
                waiting.push(Awaiting { created, fetch, sender });
            }
            (Reply::End { sender, .. }, Answer::Created(created)) => {
                let _gone_is_fine = sender.send(End::Before { created });
            }
            (Reply::End { sender, .. }, answer) => {
                let _gone_is_fine = sender.send(End::NotCreated(answer));
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

    /// Puts the batch together again; workers that were to get jobs wait as before.
    fn undo(&mut self, tick: Tick, batch: &mut Batch, kept: Vec<Kept>) {
        let mut replies = tick.replies.into_iter();
        for kept in kept.into_iter().rev() {
            match kept {
                Kept::Input(input) => batch.inputs.push_front(input),
                Kept::Request(request) => {
                    let reply = replies.next_back().expect("every request of the batch has a reply").0;
                    batch.inputs.push_front(Input::Request { request, reply });
                }
                Kept::Caller(position) => {
                    let reply = replies.next_back().expect("every caller of the batch has a reply").0;
                    batch.callers.insert(position, reply);
                }
            }
        }
        for handed in tick.handed {
            self.wait_again(handed);
        }
        self.forget();
    }

    /// Drops the callers of a tick whose outcome is not known; what asked for nothing but work is done again.
    fn abandon(&mut self, tick: Tick, batch: &mut Batch, kept: Vec<Kept>) {
        for kept in kept.into_iter().rev() {
            match kept {
                Kept::Input(input) => batch.inputs.push_front(input),
                Kept::Request(_) | Kept::Caller(_) => {}
            }
        }
        for handed in tick.handed {
            self.wait_again(handed);
        }
    }
}

/// A tick whose commit may or may not have gone through.
pub(super) struct InDoubt {
    tick: Tick,
    kept: Vec<Kept>,
    next_key: u64,
}

/// What a tick took out of its batch, to put it back if the commit fails.
pub(super) enum Kept {
    Input(Input),
    /// Its reply is among the tick's.
    Request(store::log::Request),
    /// Its command is in the log; its reply is among the tick's.
    Caller(u64),
}

/// Gives jobs to their worker; those it can no longer take come back.
fn deliver(handed: Handed) -> Option<Vec<Released>> {
    match handed.sink {
        HandedTo::Waiter(Waiter { sink: Sink::Poll { answer, .. }, .. }) => {
            answer.send(handed.jobs).err().map(|jobs| released(&jobs))
        }
        HandedTo::Waiter(_) => None,
        HandedTo::Stream(sender) => {
            let mut lost = Vec::new();
            for job in handed.jobs {
                if let Err(error) = sender.try_send(job) {
                    lost.push(error.into_inner());
                }
            }
            (!lost.is_empty()).then(|| released(&lost))
        }
    }
}

/// What of an instance's history the log keeps.
pub(super) fn log_row(kind: &'static str, instance: Option<InstanceKey>, events: &[Event], answer: Option<Vec<u8>>) -> LogRow {
    let events = if events.is_empty() { Vec::new() } else { format::encode_events(events) };
    LogRow { position: 0, kind, instance, events, answer }
}
