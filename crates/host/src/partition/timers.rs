//! Timers that are due, and what operators do to them.

use engine::{InstanceKey, On, TimerKey, Triggered, WaitEnd};
use schedule::{Due, Missed, Occurrence};
use store::log::{Answer, Caller, Code};
use store::row::{self, TimerState};
use store::{DueKind, Millis};

use super::Partition;
use super::needs::Needs;
use super::tick::Tick;
use super::unit::Stop;

/// A recovery that takes more seconds than this is told of.
const LONG: f64 = 1.0;

impl Partition {
    /// The time of a timer has come, unless something happened to it meanwhile.
    pub(super) fn timer_due(&mut self, tick: &mut Tick, key: TimerKey, instance: Option<InstanceKey>) -> Result<Answer, Stop> {
        let Some(timer) = self.timer(tick, key)? else { return Err(no_timer(key)) };
        if tick.now < timer.due {
            // Not yet: it was rescheduled, or the clock was set back since it was taken out of the timeline.
            self.postponed.insert((timer.due, (key.0, DueKind::Timer { instance })));
            return Err(no_timer(key));
        }
        if let Some(origin) = timer.origin
            && self.runs(tick, &Caller::engine(), origin.instance)?
            && self.is_suspended(origin.instance)
        {
            // It is overdue when its instance goes on.
            return Err(no_timer(key));
        }
        self.fire(tick, &timer, tick.now, self.limits.timers_missed)
    }

    /// An operator lets a timer fire before its time.
    pub(super) fn fire_timer(&mut self, tick: &mut Tick, caller: &Caller, key: TimerKey) -> Result<Answer, Stop> {
        let timer = self.timer(tick, key)?.filter(|timer| caller.tenants.has(&timer.tenant)).ok_or_else(|| no_timer(key))?;
        // The next occurrence of a cycle follows the one that was planned.
        let at = tick.now.max(timer.due);
        // However late it is: somebody wants it to.
        self.fire(tick, &timer, at, Missed::FireOnce)
    }

    pub(super) fn reschedule_timer(
        &mut self,
        tick: &mut Tick,
        caller: &Caller,
        key: TimerKey,
        due: Millis,
    ) -> Result<Answer, Stop> {
        self.timer(tick, key)?.filter(|timer| caller.tenants.has(&timer.tenant)).ok_or_else(|| no_timer(key))?;
        self.timers.change(&key, tick.number, |timer| timer.due = due);
        Ok(Answer::Done)
    }

    pub(super) fn measure_timeline(&mut self, now: Millis) {
        let next = self.timeline.next();
        self.metrics.timeline_window.set(self.timeline.len() as i64);
        if next.is_none_or(|at| now < at) {
            self.metrics.timeline_overdue.set(0);
        }
        if let Some(since) = self.recovering_since
            && next.is_none_or(|at| since < at)
        {
            self.recovering_since = None;
            let took = now.saturating_sub(since).max(0) as f64 / 1_000.0;
            self.metrics.recovery_seconds.set(took);
            if LONG < took {
                tracing::info!(seconds = took, "all that was overdue when the partition was taken over is done");
            }
        }
    }

    /// A pending timer, if there is one under this key.
    fn timer(&self, tick: &Tick, key: TimerKey) -> Result<Option<row::Timer>, Stop> {
        if let Some(what) = tick.known.unusable.get(&key.0) {
            return Err(super::execute::unusable(what));
        }
        match self.timers.knows(&key) {
            true => Ok(self.timers.get(&key).filter(|timer| timer.state == TimerState::Pending).cloned()),
            false => Err(Needs::timer(key).into()),
        }
    }

    fn fire(&mut self, tick: &mut Tick, timer: &row::Timer, at: Millis, missed: Missed) -> Result<Answer, Stop> {
        let Due { fire, next } = due_of_timer(timer, at, missed)?;
        if fire.is_none() {
            return self.skip(tick, timer, next);
        }
        let Some(origin) = timer.origin else {
            self.start_by_timer(tick, timer, next)?;
            return Ok(Answer::Done);
        };
        if !self.runs(tick, &Caller::engine(), origin.instance)? {
            return Err(no_timer(timer.key));
        }
        let next = next.map(|at| On::Timer { kind: timer.kind, text: timer.text.clone(), at });
        let triggered = Triggered { element: origin.element_instance, wait: timer.wait, variables: Vec::new(), next };
        let command = engine::Command::Trigger(triggered);
        self.step(tick, origin.instance, &command)?.map_err(|_| no_timer(timer.key))?;
        self.count_fired(tick, timer);
        Ok(Answer::Done)
    }

    /// What was missed does not fire: the next occurrence is waited for, if there is one.
    fn skip(&mut self, tick: &Tick, timer: &row::Timer, next: Option<Occurrence>) -> Result<Answer, Stop> {
        match next {
            Some(next) => self.timers.change(&timer.key, tick.number, |timer| timer.due = next.at),
            None => self.close_timer(tick, timer.key, WaitEnd::Cancelled)?,
        }
        Ok(Answer::Done)
    }

    fn start_by_timer(&mut self, tick: &mut Tick, timer: &row::Timer, next: Option<Occurrence>) -> Result<(), Stop> {
        let Some(definition) = self.compiled(tick, timer.definition)? else { return Err(no_timer(timer.key)) };
        self.close_timer(tick, timer.key, WaitEnd::Completed)?;
        if let Some(at) = next {
            let key = TimerKey(self.keys.take());
            let number = u32::try_from(at.number).unwrap_or(u32::MAX);
            let again = row::Timer { key, number, due: at.at, created: tick.now, ended: None, ..timer.clone() };
            self.timers.put(key, again, tick.number);
        }
        self.start_at(tick, &definition, timer.element, &Vec::new())?;
        self.count_fired(tick, timer);
        Ok(())
    }

    fn count_fired(&self, tick: &Tick, timer: &row::Timer) {
        self.metrics.timers_fired.inc();
        self.metrics.timer_lateness_seconds.observe((tick.now - timer.due).max(0) as f64 / 1000.0);
    }
}

/// Whether the planned occurrence fires, and the one after it.
fn due_of_timer(timer: &row::Timer, at: Millis, missed: Missed) -> Result<Due, Stop> {
    let unreadable = |reason| Stop::refused(Code::InvalidState, format!("timer {} cannot be read: {reason}", timer.key));
    let parsed = engine::timer(timer.kind, &timer.text).map_err(unreadable)?;
    let pending = Occurrence { armed: timer.armed, number: timer.number.into(), at: timer.due };
    Ok(parsed.due(pending, at, missed))
}

fn no_timer(key: TimerKey) -> Stop {
    Stop::not_found(format!("Expected to fire or change timer with key '{key}', but no such timer is pending"))
}
