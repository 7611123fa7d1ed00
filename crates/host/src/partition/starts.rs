//! Start events that something triggers: those of the latest version of a process wait, those of others do not.

use std::sync::Arc;

use engine::{DefinitionKey, Document, InstanceKey, On, TimerKey, WaitEnd, WaitKey};
use model::{ElementIx, Process};
use store::log::Code;
use store::row::{self, SubscriptionKind, SubscriptionState, TimerState};

use super::Partition;
use super::needs::{AtRest, Needs};
use super::tick::Tick;
use super::unit::Stop;
use super::waits::SUBSCRIPTIONS_MAX;
use crate::definitions::Compiled;

/// What waits to start instances of a definition.
pub(super) type Starts = (Vec<row::Timer>, Vec<row::Subscription>);

impl Partition {
    /// A new instance that begins at a start event which was triggered.
    pub(super) fn start_at(
        &mut self,
        tick: &mut Tick,
        definition: &Arc<Compiled>,
        start: ElementIx,
        variables: &Document,
    ) -> Result<InstanceKey, Stop> {
        let key = InstanceKey(self.keys.take());
        let row = row::Instance::begun(key, definition.row.key, tick.now);
        self.begin(tick, row, definition.clone());
        let command = engine::Command::Start { at: Some(start), parent: None, variables: variables.clone() };
        match self.step(tick, key, &command)? {
            Ok(()) => self.follow_trace(tick, key, tick.unit.trace.clone()).map(|()| key),
            Err(_) => Err(Stop::not_found(format!("process '{}' has no such start event", definition.process.id))),
        }
    }

    /// What the start events of a process that is being deployed wait for. Only said if all of them can.
    pub(super) fn start_triggers(process: &Process, now: store::Millis) -> Result<Vec<(ElementIx, On)>, String> {
        let starts = process.scope(Process::ROOT).map(|scope| &*scope.triggered).unwrap_or_default();
        let mut triggers = Vec::with_capacity(starts.len());
        for start in starts {
            let on = engine::start_trigger(process, *start, now)
                .map_err(|reason| format!("start event '{}': {reason}", process.element(*start).id))?;
            triggers.extend(on.map(|on| (*start, on)));
        }
        Ok(triggers)
    }

    /// The start events of a definition that has become the latest of its process begin to wait.
    pub(super) fn open_starts(
        &mut self,
        tick: &mut Tick,
        row: &row::Definition,
        starts: Vec<(ElementIx, On)>,
    ) -> Result<(), Stop> {
        for (element, on) in starts {
            let key = WaitKey(self.keys.take());
            let (kind, name) = match on {
                On::Timer { kind, text, at } => {
                    let timer = row::Timer {
                        key: TimerKey(key.0),
                        wait: key,
                        origin: None,
                        definition: row.key,
                        tenant: row.tenant.clone(),
                        element,
                        kind,
                        text,
                        armed: at.armed,
                        number: 1,
                        due: at.at,
                        state: TimerState::Pending,
                        created: tick.now,
                        ended: None,
                    };
                    self.timers.put(timer.key, timer, tick.number);
                    continue;
                }
                On::Message { name, .. } => (SubscriptionKind::Message, name),
                On::Signal { name } => (SubscriptionKind::Signal, name),
                On::Condition => (SubscriptionKind::Condition, "".into()),
                On::Job { .. } | On::Turn(_) | On::Child { .. } | On::UserTask(_) => continue,
            };
            let subscription = row::Subscription {
                key,
                kind,
                name,
                correlation_key: "".into(),
                child: None,
                tenant: row.tenant.clone(),
                definition: row.key,
                process_id: row.process_id.clone(),
                element,
                catches: false,
                origin: None,
                state: SubscriptionState::Open,
                created: tick.now,
                updated: tick.now,
            };
            if kind == SubscriptionKind::Message {
                self.add_message_start(tick, &subscription)?;
            }
            self.subscriptions.put(key, subscription, tick.number);
        }
        Ok(())
    }

    fn add_message_start(&mut self, tick: &Tick, start: &row::Subscription) -> Result<(), Stop> {
        let name = (start.tenant.clone(), start.name.clone());
        let known = self.starts_by_message(&name.0, &name.1)?;
        if SUBSCRIPTIONS_MAX <= known.len() {
            let reason = format!("Expected to deploy, but message '{}' starts {SUBSCRIPTIONS_MAX} processes already", start.name);
            return Err(Stop::refused(Code::Exhausted, reason));
        }
        let starts = [known, vec![start.clone()]].concat();
        self.starts.put(name, starts, tick.number);
        Ok(())
    }

    /// The start events of a definition that is not the latest any more, or deleted, wait no longer.
    pub(super) fn close_starts(&mut self, tick: &mut Tick, definition: DefinitionKey) -> Result<(), Stop> {
        let Some(starts) = self.rested.starts.get(&definition).cloned() else {
            return Err(Needs::at_rest(AtRest::Starts(definition)).into());
        };
        let (timers, subscriptions) = &*starts;
        for timer in timers {
            self.timers.load(timer.key, Some(timer.clone()));
            self.close_timer(tick, timer.key, WaitEnd::Cancelled)?;
        }
        for start in subscriptions {
            self.subscriptions.load(start.key, Some(start.clone()));
            self.close_subscription(tick, start.key, WaitEnd::Cancelled)?;
            if start.kind == SubscriptionKind::Message {
                let mut left = self.starts_by_message(&start.tenant, &start.name)?;
                left.retain(|known| known.key != start.key);
                self.starts.put((start.tenant.clone(), start.name.clone()), left, tick.number);
            }
        }
        Ok(())
    }
}
