//! Rounds over the commands that are there: each is tried; what it turns out to need is collected, also for those behind it, and loaded
//! once; then the next round goes on where the last stopped.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use engine::JobKey;
use store::batch::BatchCommand;
use store::log::{Activate, Answer, Caller, Code, Command, Rejection, Request};
use store::{AnswerRow, Due, DueKind, Error, Millis, format};

use super::batches::Taken;
use super::needs::{AtRest, Needs};
use super::tick::{Did, Source, Tick};
use super::unit::Stop;
use super::{Input, LOOK_AGAIN_EVERY, Partition, ReceivedRequest};
use crate::caution::Caution;
use crate::sinks::{QueueId, Sink, Waiter, Wish};

/// When a command turns out to need something, so many behind it are tried to see what they need.
const PROBED_MAX: usize = 64;

/// How much of what is due is done in one tick beside callers: enough to be read from the store at once, too little to be noticed.
const DUE_BESIDE_CALLERS: usize = 128;
/// And with how many rows: the turns of a long list would fill the tick while the one before is committed, and callers wait for both.
const DUE_ROWS_BESIDE_CALLERS: usize = 2_000;

/// How long after one callers are taken to be waiting, at least: those who are answered may ask again.
const BUSY_FOR: Millis = 250;
const BUSY_FOR_TICKS: u64 = 3;

/// How far a run has come.
#[derive(Debug)]
pub(crate) enum Ran {
    /// Everything that was there is done.
    All,
    /// The tick is as large as it may be.
    Full,
    /// The next command needs something that can only be looked up when everything is committed.
    Rest(Box<Needs>),
}

/// An input as a command.
pub(super) struct Asked<'a> {
    pub(super) request: Cow<'a, Request>,
    /// Where it lies in the inbox, and when it came.
    received: Option<(u64, Millis)>,
}

impl Partition {
    pub(crate) fn open_tick(&mut self, now: Millis) -> Tick {
        self.ticks += 1;
        if now < self.newest {
            self.groups.trim(0, 0);
        }
        Tick::new(self.ticks, now)
    }

    /// Takes what has become due by a time that the database's clock has reached, then does what is there, in order. On an error nothing of the command under way has happened, and it
    /// is still there.
    pub(crate) async fn run(
        &mut self,
        tick: &mut Tick,
        inputs: &mut VecDeque<Input>,
        now: Millis,
        due_by: Millis,
    ) -> Result<Ran, Error> {
        tick.now = tick.now.max(now);
        self.take_due(tick, inputs, due_by);
        self.look_up_blamed(tick, inputs).await;
        let mut needs = self.foresee_all(inputs);
        loop {
            self.load(tick, std::mem::take(&mut needs)).await?;
            while let Some(input) = inputs.pop_front() {
                if input.is_command() && self.is_full(tick) {
                    inputs.push_front(input);
                    return Ok(Ran::Full);
                }
                if let Some((input, found)) = self.take(tick, input) {
                    inputs.push_front(input);
                    needs = *found;
                    break;
                }
            }
            if inputs.is_empty() {
                return Ok(if self.is_full(tick) { Ran::Full } else { Ran::All });
            }
            if !needs.at_rest.is_empty() {
                return Ok(Ran::Rest(Box::new(needs)));
            }
            self.probe(tick, inputs, &mut needs);
        }
    }

    pub(super) fn is_full(&self, tick: &Tick) -> bool {
        self.caution.commands_max().min(self.limits.batch_max) <= tick.commands
            || self.limits.tick_bytes_max <= tick.bytes
            || self.limits.tick_rows_max <= tick.recorder.rows() + self.jobs.unwritten()
    }

    /// How much of what is due is done in one tick: while callers wait, only so much that it does not keep them waiting.
    fn due_max(&self, tick: &Tick) -> usize {
        match self.is_busy(tick) {
            true if DUE_ROWS_BESIDE_CALLERS <= tick.recorder.rows() => 0,
            true => self.limits.due_max.min(DUE_BESIDE_CALLERS),
            false => self.limits.due_max,
        }
    }

    /// While callers wait, what is due rests after each batch, so that on average there are no more than the rate.
    fn rest_after(&mut self, tick: &Tick, taken: usize) {
        if self.is_busy(tick) {
            let micros = taken as i64 * 1_000_000 / self.limits.due_rate.max(1) as i64;
            self.due_rests_until = self.due_rests_until.max(tick.now * 1_000) + micros;
        }
    }

    /// Until when what is due rests. Whatever is to be found out by trying is tried at once.
    pub(super) fn due_rests_until(&self) -> Millis {
        if self.caution == Caution::None { self.due_rests_until / 1_000 } else { Millis::MIN }
    }

    /// Whether callers wait, or will again once they are answered.
    fn is_busy(&self, tick: &Tick) -> bool {
        tick.now < self.busy_until || tick.number <= self.busy_until_tick
    }

    /// What is due becomes commands, after those that are there, unless it is one of these that is to blame.
    fn take_due(&mut self, tick: &Tick, inputs: &mut VecDeque<Input>, due_by: Millis) {
        if tick.now < self.due_rests_until() {
            return;
        }
        let room = match self.blamed {
            None => self.caution.commands_max().min(self.limits.batch_max).saturating_sub(tick.commands + inputs.len()),
            Some(Source::Due) => 1,
            Some(Source::Caller | Source::Inbox) => 0,
        };
        let taken = tick.due + inputs.iter().filter(|input| input.source() == Some(Source::Due)).count();
        let room = room.min(self.due_max(tick).saturating_sub(taken));
        let mut due = self.timeline.due(due_by, room);
        while due.len() < room && self.postponed.first().is_some_and(|(at, _)| *at <= due_by) {
            due.extend(self.postponed.pop_first().map(|(_, what)| what));
        }
        // With so much to do no batch of items is taken too.
        let Taken { items, work } = self.pages.take(room.saturating_sub(due.len()));
        self.rest_after(tick, due.len() + work);
        let due = due.into_iter().map(|(key, what)| Input::Due(Due { at: tick.now, key, what }));
        for due in due.chain(items.into_iter().map(|(batch, key)| Input::Item { batch, key })) {
            match self.blamed {
                Some(_) => inputs.push_front(due),
                None => inputs.push_back(due),
            }
        }
    }

    fn foresee_all(&self, inputs: &VecDeque<Input>) -> Needs {
        let mut needs = Needs::default();
        if self.caution.refuses() {
            return needs;
        }
        for input in inputs.iter().take(self.caution.commands_max()) {
            if let Some(asked) = asked(input) {
                self.foresee(&asked.request, &mut needs);
            }
        }
        needs
    }

    /// What the next commands need, seen by trying them. Nothing of it stays.
    fn probe(&mut self, tick: &mut Tick, inputs: &VecDeque<Input>, needs: &mut Needs) {
        for input in inputs.iter().skip(1).take(PROBED_MAX) {
            let Some(asked) = asked(input) else { continue };
            let tried = catch_unwind(AssertUnwindSafe(|| self.execute(tick, &asked.request)));
            self.undo_unit(tick);
            if let Ok(Err(Stop::Needs(more))) = tried
                && more.at_rest.is_empty()
            {
                needs.add(*more);
            }
        }
    }

    /// One input. What needs something comes back.
    fn take(&mut self, tick: &mut Tick, mut input: Input) -> Option<(Input, Box<Needs>)> {
        match input {
            Input::Wait(waiter) => self.wait(waiter),
            Input::Room(waiter) => self.dispatch.has_room(waiter),
            Input::Look => {}
            Input::Received(received) if received.is_refused(tick.now).is_some() => {
                let (kind, rejection) = received.is_refused(tick.now).expect("it was just seen");
                self.answer_received(tick, kind, received.position, received.at, &Answer::Rejected(rejection));
            }
            Input::Request { .. } | Input::Release { .. } | Input::Received(_) | Input::Due(_) | Input::Item { .. } => {
                let asked = asked(&input)?;
                let answer = match self.answer(tick, &asked) {
                    Ok(answer) => answer,
                    Err(needs) => return Some((input, needs)),
                };
                if let (Input::Due(due), Answer::Rejected(Rejection { code, .. })) = (&input, &answer)
                    && *code != Code::NotFound
                {
                    self.not_done(tick.now, due);
                }
                if input.is_callers() {
                    self.busy_until = tick.now + BUSY_FOR;
                    self.busy_until_tick = tick.number + BUSY_FOR_TICKS;
                }
                tick.due += usize::from(matches!(input, Input::Due(_) | Input::Item { .. }));
                self.note_begun(&mut input, &answer);
                tick.done.push(match input {
                    Input::Request { .. } => Did::Request { input, answer, follows: tick.follows.take() },
                    other => Did::Other(other),
                });
            }
        }
        None
    }

    /// What was due could not be done as things are; it is still to be done.
    fn not_done(&mut self, now: Millis, due: &Due) {
        let again = match due.what {
            DueKind::Signal if self.tell_one_by_one(due.key) => now,
            DueKind::Batch if self.troubles.given_up(due.key).is_some() => now,
            DueKind::Signal
            | DueKind::Job
            | DueKind::Turn { .. }
            | DueKind::Timer { .. }
            | DueKind::MessageExpires
            | DueKind::Batch
            | DueKind::Schedule => now + LOOK_AGAIN_EVERY,
        };
        self.postponed.insert((again, (due.key, due.what)));
    }

    pub(super) fn wait(&mut self, waiter: Waiter) {
        let queues = self.asked_for(&waiter);
        self.dispatch.wait(waiter.id, queues);
        self.sinks.wait(waiter);
    }

    /// The queues that a worker asks for, which are kept from now on.
    pub(super) fn asked_for(&mut self, waiter: &Waiter) -> Vec<QueueId> {
        let queues = waiter.wish.queues();
        self.books.asked(&queues, self.newest);
        self.rule(&queues);
        queues
    }

    fn answer(&mut self, tick: &mut Tick, asked: &Asked<'_>) -> Result<Answer, Box<Needs>> {
        let request = &*asked.request;
        let command = &request.command;
        if let (Some((position, at)), Command::Activate(activate)) = (asked.received, command) {
            self.ask_for_jobs(tick, activate, position, at)?;
            return Ok(Answer::Done);
        }
        let answer = match self.tried(tick, request) {
            Ok(answer) => {
                self.accept(tick, command);
                answer
            }
            Err(Stop::Needs(needs)) => {
                self.undo_unit(tick);
                return Err(needs);
            }
            Err(Stop::Refused(rejection)) => {
                self.undo_unit(tick);
                // A bound that was reached is no answer to keep: the caller is told to come again, with the same key.
                let lasts = rejection.code != Code::Exhausted;
                let answer = Answer::Rejected(rejection);
                if lasts && request.idempotency.is_some() {
                    self.remember(tick, request, &answer);
                    self.accept(tick, command);
                }
                answer
            }
        };
        self.metrics.count(command.kind(), outcome(&answer));
        if let Some((position, at)) = asked.received {
            self.answer_received(tick, command.kind(), position, at, &answer);
        }
        Ok(answer)
    }

    /// Does the command unless its idempotency key has an answer already, or it is the one at fault. A fault of ours in one command
    /// must not stop the partition: that command is refused and its instance shows it to a person.
    fn tried(&mut self, tick: &mut Tick, request: &Request) -> Result<Answer, Stop> {
        if self.caution.refuses() {
            self.metrics.blamed.inc();
            return self.blame(tick, &request.command, "the store does not take what the command would write");
        }
        if let Some(first) = self.first_answer(request)? {
            return Ok(first);
        }
        let tried = catch_unwind(AssertUnwindSafe(|| {
            let answer = self.execute(tick, request)?;
            self.remember(tick, request, &answer);
            Ok(answer)
        }));
        match tried {
            Ok(done) => done,
            Err(_) => {
                self.undo_unit(tick);
                self.metrics.quarantined.inc();
                self.blame(tick, &request.command, "the engine hit a fault of its own")
            }
        }
    }

    /// A worker of another server asks for jobs: it waits for this tick only, and is answered when the tick closes.
    fn ask_for_jobs(&mut self, tick: &mut Tick, activate: &Activate, position: u64, at: Millis) -> Result<(), Box<Needs>> {
        let wish = Wish {
            job_type: activate.job_type.clone(),
            tenants: activate.tenants.clone(),
            worker: activate.worker.clone(),
            timeout: activate.timeout,
            fetch: activate.fetch.clone(),
        };
        let unknown = wish.queues().into_iter().filter(|queue| !self.dispatch.is_known(queue));
        let at_rest: Vec<_> = unknown.map(AtRest::Queue).collect();
        if !at_rest.is_empty() {
            return Err(Box::new(Needs { at_rest, ..Needs::default() }));
        }
        let id = queue::WaiterId(u64::MAX - position);
        tick.commands += 1;
        self.inbox_to = position;
        self.wait(Waiter { id, wish, sink: Sink::Inbox { max: activate.max as usize, position, at } });
        Ok(())
    }

    pub(super) fn answer_received(&mut self, tick: &mut Tick, kind: &'static str, position: u64, at: Millis, answer: &Answer) {
        let answer = format::encode_answer(answer);
        let expires = tick.now + self.limits.idempotency_kept.as_millis() as Millis;
        tick.bytes += answer.len();
        tick.answers.push(AnswerRow { position, kind, answer, at, expires });
        self.inbox_to = self.inbox_to.max(position);
    }
}

impl ReceivedRequest {
    /// Why it is not even tried: it cannot be read, or nobody waits for it any more.
    fn is_refused(&self, now: Millis) -> Option<(&'static str, Rejection)> {
        match &self.request {
            Err(reason) => Some(("unreadable", Rejection { code: Code::InvalidArgument, reason: reason.clone() })),
            Ok(request) if self.expires.is_some_and(|expires| expires <= now) => {
                let reason = "the request came too late: its sender no longer waited for it, and nothing was done".to_owned();
                Some((request.command.kind(), Rejection { code: Code::Expired, reason }))
            }
            Ok(_) => None,
        }
    }
}

/// The command an input stands for.
pub(super) fn asked(input: &Input) -> Option<Asked<'_>> {
    let by_itself = |command| {
        let request = Request { caller: Caller::engine(), command, idempotency: None };
        Some(Asked { request: Cow::Owned(request), received: None })
    };
    match input {
        Input::Request { request, .. } => Some(Asked { request: Cow::Borrowed(request), received: None }),
        Input::Release { jobs } => by_itself(Command::Release { jobs: jobs.clone() }),
        Input::Due(Due { key, what, .. }) => by_itself(match what {
            DueKind::Job => Command::JobDue { job: JobKey(*key) },
            DueKind::Turn { instance } => Command::Turn { wait: engine::WaitKey(*key), instance: *instance },
            DueKind::Timer { instance } => Command::TimerDue { wait: engine::WaitKey(*key), instance: *instance },
            DueKind::MessageExpires => Command::MessageExpired { message: *key },
            DueKind::Signal => Command::SignalDue { signal: *key },
            DueKind::Batch => Command::Batch(BatchCommand::Due { batch: *key }),
            DueKind::Schedule => Command::ScheduleDue { schedule: *key },
        }),
        Input::Item { batch, key } => by_itself(Command::Batch(BatchCommand::Item { batch: *batch, key: *key })),
        Input::Received(received) => {
            let request = Cow::Borrowed(received.request.as_ref().ok()?);
            Some(Asked { request, received: Some((received.position, received.at)) })
        }
        Input::Wait(_) | Input::Room(_) | Input::Look => None,
    }
}

fn outcome(answer: &Answer) -> &'static str {
    match answer {
        Answer::Rejected(_) => "rejected",
        _ => "done",
    }
}
