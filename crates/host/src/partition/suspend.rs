//! Suspending instances and letting them go on.
//!
//! An instance that is suspended, with all it has called, is marked and nothing else: what it waits for stays where it is, and is put
//! aside when its turn comes. Of a job that would be handed out the row says so; timers and turns are dropped from memory and found
//! again in the tables; signals are kept by the engine; messages pass by, and are kept as long as they live. So one that was never
//! suspended costs nothing, and one that is costs little however much it waits for. Going on, it is given again what was put aside.

use engine::{InstanceKey, Rejected, State, TimerKey, WaitKey, WaitKind};
use store::DueKind;
use store::log::{Answer, Caller, Code};
use store::row::Availability;

use super::Partition;
use super::needs::Needs;
use super::tick::Tick;
use super::unit::Stop;
use super::waits::due_of;

impl Partition {
    pub(super) fn suspend(&mut self, tick: &mut Tick, caller: &Caller, instance: InstanceKey) -> Result<Answer, Stop> {
        self.check_root(tick, caller, instance, "suspend")?;
        if self.is_suspended(instance) {
            let reason = format!("Expected to suspend process instance with key '{instance}', but it is suspended already");
            return Err(Stop::refused(Code::InvalidState, reason));
        }
        let max = self.limits.suspended_max;
        let Some(tree) = self.tree(tick, instance, max)? else {
            let reason = format!(
                "Expected to suspend process instance with key '{instance}', but with those it has called it is more than {max} \
                 instances: others would have to wait for that"
            );
            return Err(Stop::refused(Code::InvalidState, reason));
        };
        for key in tree {
            // In this very tick it may have ended.
            if self.step(tick, key, &engine::Command::Suspend)?.is_err() && key == instance {
                return Err(super::change::gone(instance, "suspend"));
            }
        }
        Ok(Answer::Done)
    }

    pub(super) fn resume(&mut self, tick: &mut Tick, caller: &Caller, instance: InstanceKey) -> Result<Answer, Stop> {
        self.check_root(tick, caller, instance, "resume")?;
        for key in self.tree(tick, instance, usize::MAX)?.unwrap_or_default() {
            match self.step(tick, key, &engine::Command::Resume)? {
                Ok(()) => self.wake(tick, key)?,
                Err(Rejected::NotSuspended) if key == instance => {
                    let reason = format!("Expected to resume process instance with key '{instance}', but it is not suspended");
                    return Err(Stop::refused(Code::InvalidState, reason));
                }
                Err(Rejected::NotRunning) if key == instance => return Err(super::change::gone(instance, "resume")),
                Err(_) => {}
            }
        }
        Ok(Answer::Done)
    }

    pub(super) fn is_suspended(&self, instance: InstanceKey) -> bool {
        self.hot.get(instance).is_some_and(|hot| hot.instance.state == State::Suspended)
    }

    fn check_root(&mut self, tick: &Tick, caller: &Caller, instance: InstanceKey, what: &str) -> Result<(), Stop> {
        if !self.runs(tick, caller, instance)? || self.goes(instance) {
            return Err(super::change::gone(instance, what));
        }
        let hot = self.hot.get(instance).expect("it runs");
        match hot.instance.parent {
            None => Ok(()),
            Some(_) => {
                let root = hot.row.root;
                let reason = format!(
                    "Expected to {what} process instance with key '{instance}', but it is called by another: {what} the instance with \
                     key '{root}', which began it all"
                );
                Err(Stop::refused(Code::InvalidState, reason))
            }
        }
    }

    /// An instance and all it has called, one through the other, those that call before those that are called; none if they are more
    /// than so many.
    pub(super) fn tree(&self, tick: &Tick, root: InstanceKey, max: usize) -> Result<Option<Vec<InstanceKey>>, Stop> {
        let mut tree = vec![root];
        let mut place = 0;
        let mut needs = Needs::default();
        while let Some(key) = tree.get(place).copied() {
            place += 1;
            let Some(hot) = self.hot.get(key) else {
                let is_known = tick.known.absent.contains(&key.0) || tick.known.unusable.contains_key(&key.0);
                needs.wanted.instances.extend((!is_known).then_some(key));
                continue;
            };
            let waits = hot.instance.elements.values().flat_map(|element| &element.waits);
            tree.extend(waits.filter_map(|wait| match wait.kind {
                WaitKind::Child { instance } => Some(instance),
                WaitKind::Job
                | WaitKind::Turn(_)
                | WaitKind::Timer
                | WaitKind::Message
                | WaitKind::Signal
                | WaitKind::Condition
                | WaitKind::UserTask => None,
            }));
            if max < tree.len() {
                return Ok(None);
            }
        }
        match needs.is_empty() {
            true => Ok(Some(tree.into_iter().filter(|key| self.hot.contains(*key)).collect())),
            false => Err(needs.into()),
        }
    }

    /// Gives an instance that goes on what was put aside for it.
    fn wake(&mut self, tick: &mut Tick, instance: InstanceKey) -> Result<(), Stop> {
        let Some(hot) = self.hot.get(instance) else { return Ok(()) };
        let (mut jobs, mut messages, mut needs) = (Vec::new(), Vec::new(), Needs::default());
        let waits = hot.instance.elements.values().flat_map(|element| &element.waits);
        for wait in waits {
            match &wait.kind {
                WaitKind::Job => jobs.extend(wait.job()),
                WaitKind::Message => messages.push(wait.key),
                WaitKind::Timer => self.wake_timer(tick, wait.key, &mut needs),
                WaitKind::Turn(_) => tick.unit.woken.push((tick.now, (wait.key.0, DueKind::Turn { instance }))),
                WaitKind::Signal | WaitKind::Condition | WaitKind::UserTask | WaitKind::Child { .. } => {}
            }
        }
        needs.wanted.jobs.extend(jobs.iter().filter(|job| !self.jobs.knows(job)));
        if !needs.is_empty() {
            return Err(needs.into());
        }
        for job in jobs {
            if self.jobs.get(&job).is_some_and(|job| job.availability == Availability::Held) {
                self.change_job(tick, job, |job| job.availability = Availability::Ready);
            }
        }
        messages.into_iter().try_for_each(|wait| self.offer_kept(tick, wait))
    }

    fn wake_timer(&self, tick: &mut Tick, wait: WaitKey, needs: &mut Needs) {
        let key = TimerKey(wait.0);
        match self.timers.get(&key).and_then(due_of) {
            Some((at, what)) => tick.unit.woken.push((at, (key.0, what))),
            None if !self.timers.knows(&key) => needs.wanted.timers.push(key),
            None => {}
        }
    }
}

pub(super) fn suspended(instance: InstanceKey) -> Stop {
    let reason = format!("Process instance with key '{instance}' is suspended: resume it first");
    Stop::refused(Code::InvalidState, reason)
}
