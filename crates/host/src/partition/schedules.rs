//! What is submitted again and again: putting it, deleting it, and what happens when its time comes. An occurrence and what it submits
//! are one command, so there is exactly one execution for each, whoever owns the partition by then.

use std::sync::Arc;

use schedule::{Due, Kind, Occurrence, Timer};
use store::log::{Answer, Caller, Code, PutSchedule, Submit};
use store::row::{LastOccurrence, Schedule};
use store::{DueKind, Error, Millis};

use super::Partition;
use super::needs::{AtRest, Needs};
use super::tick::Tick;
use super::unit::Stop;
use crate::sinks::QueueId;
use crate::table::Change;

/// Schedules of a partition. All of them are in memory once one is looked at.
const SCHEDULES_MAX: usize = 10_000;

/// The expression as `schedule` reads it.
pub fn parse_schedule(cron: &str, time_zone: Option<&str>) -> Result<Timer, String> {
    let text = match time_zone {
        Some(_) if cron.trim_start().starts_with(['R', 'T', 'C']) => {
            return Err("a time zone beside the expression is for cron that names none itself".to_owned());
        }
        Some(zone) => format!("TZ={zone} {cron}"),
        None => cron.to_owned(),
    };
    Timer::parse(Kind::Cycle, &text).map_err(|error| error.to_string())
}

impl Partition {
    pub(super) fn put_schedule(&mut self, tick: &mut Tick, caller: &Caller, put: &PutSchedule) -> Result<Answer, Stop> {
        let timer = parse_schedule(&put.cron, put.time_zone.as_deref()).map_err(|reason| {
            Stop::refused(Code::InvalidArgument, format!("Expected a schedule '{}', but {reason}", put.cron))
        })?;
        let before = self.schedule_named(&put.tenant, &put.reference)?.cloned();
        if before.is_none() && SCHEDULES_MAX <= self.schedules.rows().filter(|row| row.is_some()).count() {
            let reason = format!("The limit schedules is reached: there are {SCHEDULES_MAX} already");
            return Err(Stop::refused(Code::Exhausted, reason));
        }
        // What is only given something else to do keeps its times.
        let kept = before.as_ref().filter(|before| {
            (&before.cron, &before.time_zone, before.paused) == (&put.cron, &put.time_zone, put.paused) && before.due.is_some()
        });
        let (armed, number, due) = match kept {
            Some(kept) => (kept.armed, kept.number, kept.due),
            None if put.paused => (tick.now, 1, None),
            None => {
                let first = timer.first(tick.now).map_err(|error| Stop::refused(Code::InvalidArgument, error.to_string()))?;
                (first.armed, first.number, Some(first.at))
            }
        };
        let key = before.as_ref().map_or_else(|| self.keys.take(), |before| before.key);
        let PutSchedule { tenant, reference, action, cron, time_zone, execution, paused } = put.clone();
        let row = Schedule {
            key,
            tenant,
            reference,
            action,
            cron,
            time_zone,
            execution,
            paused,
            armed,
            number,
            due,
            created: before.as_ref().map_or(tick.now, |before| before.created),
            changed: tick.now,
            changed_by: caller.name.clone(),
            last: before.and_then(|before| before.last),
        };
        self.schedules.put(key, Some(row), tick.number);
        Ok(Answer::Done)
    }

    pub(super) fn delete_schedule(&mut self, tick: &Tick, (tenant, reference): (&Arc<str>, &Arc<str>)) -> Result<Answer, Stop> {
        let Some(key) = self.schedule_named(tenant, reference)?.map(|row| row.key) else {
            return Err(Stop::not_found(format!("Expected to delete schedule '{reference}', but there is none")));
        };
        self.schedules.put(key, None, tick.number);
        Ok(Answer::Done)
    }

    /// Its time has come, unless something happened to it meanwhile.
    pub(super) fn schedule_due(&mut self, tick: &mut Tick, key: u64) -> Result<Answer, Stop> {
        if !self.has_schedules {
            return Err(Needs::at_rest(AtRest::Schedules).into());
        }
        let gone = || Stop::not_found(format!("schedule {key} is not waiting any more"));
        let schedule = self.schedules.get(&key).cloned().flatten().ok_or_else(gone)?;
        let at = schedule.due.ok_or_else(gone)?;
        if tick.now < at {
            // Not yet: it was changed, or the clock was set back since it was taken out of the timeline.
            self.postponed.insert((at, (key, DueKind::Schedule)));
            return Err(gone());
        }
        let timer = parse_schedule(&schedule.cron, schedule.time_zone.as_deref());
        let timer =
            timer.map_err(|reason| Stop::refused(Code::InvalidState, format!("schedule {key} cannot be read: {reason}")))?;
        let pending = Occurrence { armed: schedule.armed, number: schedule.number, at };
        let Due { fire, next } = timer.due(pending, tick.now, self.limits.timers_missed);
        let last = match fire {
            Some(occurrence) => Some(self.submit_scheduled(tick, &schedule, occurrence.at)?),
            None => schedule.last.clone(),
        };
        self.schedules.change(&key, tick.number, |row| {
            if let Some(row) = row {
                row.due = next.map(|next| next.at);
                row.number = next.map_or(row.number, |next| next.number);
                row.last = last;
            }
        });
        Ok(Answer::Done)
    }

    /// What its queue does not take is not made up for: the next occurrence is another. What is refused has changed nothing.
    fn submit_scheduled(&mut self, tick: &mut Tick, schedule: &Schedule, at: Millis) -> Result<LastOccurrence, Stop> {
        let Schedule { tenant, action, execution, .. } = schedule;
        let queue = QueueId { job_type: action.clone(), tenant: tenant.clone() };
        let mut gate = self.gate(&queue)?;
        let submit = Submit { tenant: tenant.clone(), action: action.clone(), executions: Vec::new() };
        let submitted = match self.refuse_while_draining(action) {
            Ok(()) => self.submit_one(tick, &submit, execution, gate.as_mut()),
            Err(draining) => Err(draining),
        };
        match submitted {
            Ok(submitted) => Ok(LastOccurrence { at, execution: Some(submitted.job), refused: None }),
            Err(Stop::Refused(rejection)) => Ok(LastOccurrence { at, execution: None, refused: Some(rejection.reason.into()) }),
            Err(needs @ Stop::Needs(_)) => Err(needs),
        }
    }

    fn schedule_named(&self, tenant: &str, reference: &str) -> Result<Option<&Schedule>, Stop> {
        if !self.has_schedules {
            return Err(Needs::at_rest(AtRest::Schedules).into());
        }
        let mut all = self.schedules.rows().flatten();
        Ok(all.find(|row| *row.tenant == *tenant && *row.reference == *reference))
    }

    /// Only when everything is committed.
    pub(super) async fn load_schedules(&mut self) -> Result<(), Error> {
        for row in self.store.schedules(self.fence.partition).await? {
            self.schedules.load(row.key, Some(Some(row)));
        }
        self.has_schedules = true;
        Ok(())
    }

    pub(super) fn accept_schedules(&mut self) {
        for (key, before) in self.schedules.changes() {
            if let Some(at) = before.and_then(|before| before.as_ref().as_ref()?.due) {
                self.timeline.remove(at, (key, DueKind::Schedule));
            }
            if let Some(at) = self.schedules.get(&key).and_then(|row| row.as_ref()?.due) {
                self.timeline.insert(at, (key, DueKind::Schedule));
            }
        }
        self.schedules.accept();
    }

    pub(super) fn write_schedules(&mut self, tick: &mut Tick) {
        let changes = &mut tick.recorder.changes;
        for (key, row, change) in self.schedules.written() {
            match (row, change) {
                (Some(row), Change::New | Change::Changed) => changes.schedules_put.push(row),
                (None, Change::New | Change::Changed) => changes.schedules_gone.push(key),
            }
            tick.changed.schedules.push(key);
        }
    }
}
