//! Waits that are no jobs: what the engine opens and closes becomes rows, and timers go into the timeline.

use engine::{Event, InstanceKey, On, Opened, TimerKey, WaitEnd, WaitKey, Waited};
use store::log::Code;
use store::row::{self, SubscriptionKind, SubscriptionState, TimerState, WaitOrigin};
use store::{DueKind, MessageGroup, Millis};

use super::Partition;
use super::messages::group_of;
use super::needs::{Missing, Needs};
use super::tick::Tick;
use super::unit::Stop;

/// How many may wait for messages of one name and correlation key.
pub(super) const SUBSCRIPTIONS_MAX: usize = store::GROUP_MAX - 1;

impl Partition {
    /// Follows what the events of a step opened and closed. All that is missing is asked for at once: each load does the whole command
    /// again.
    pub(super) fn follow_waits(&mut self, tick: &mut Tick, instance: InstanceKey, events: &[Event]) -> Result<(), Stop> {
        let mut missing = Missing::default();
        for event in events {
            let followed = match event {
                Event::WaitOpened(opened) => self.follow_opened(tick, instance, opened, events),
                Event::WaitClosed { key, on, end, .. } => self.follow_closed(tick, *key, *on, *end),
                _ => Ok(()),
            };
            missing.after(followed)?;
        }
        missing.told()
    }

    fn follow_opened(&mut self, tick: &mut Tick, key: InstanceKey, opened: &Opened, events: &[Event]) -> Result<(), Stop> {
        let (kind, name, correlation_key, child) = match &opened.on {
            On::Job { .. } | On::Turn(_) | On::UserTask(_) => return Ok(()),
            On::Timer { kind, text, at } => {
                let row = self.new_timer(tick, key, opened, events, (*kind, text.clone()), *at);
                self.timers.put(row.key, row, tick.number);
                return Ok(());
            }
            On::Message { name, correlation_key } => (SubscriptionKind::Message, name.clone(), correlation_key.clone(), None),
            On::Signal { name } => (SubscriptionKind::Signal, name.clone(), "".into(), None),
            On::Condition => (SubscriptionKind::Condition, "".into(), "".into(), None),
            On::Child { instance } => (SubscriptionKind::Child, "".into(), "".into(), Some(*instance)),
        };
        let hot = self.hot.get(key).expect("it was just stepped");
        let definition = &hot.definition.row;
        let row = row::Subscription {
            key: opened.key,
            kind,
            name,
            correlation_key,
            child,
            tenant: definition.tenant.clone(),
            definition: definition.key,
            process_id: definition.process_id.clone(),
            element: self.event_of(key, opened, events),
            catches: opened.catch.is_some(),
            origin: Some(WaitOrigin { instance: key, element_instance: opened.element }),
            state: SubscriptionState::Open,
            created: tick.now,
            updated: tick.now,
        };
        if kind == SubscriptionKind::Message {
            self.join_group(tick, &row)?;
        }
        self.subscriptions.put(row.key, row, tick.number);
        Ok(())
    }

    fn follow_closed(&mut self, tick: &mut Tick, key: WaitKey, on: Waited, end: WaitEnd) -> Result<(), Stop> {
        match on {
            Waited::Job | Waited::Turn | Waited::UserTask => Ok(()),
            Waited::Timer => self.close_timer(tick, TimerKey(key.0), end),
            Waited::Message | Waited::Signal | Waited::Condition | Waited::Child { .. } => {
                self.close_subscription(tick, key, end)
            }
        }
    }

    pub(super) fn close_timer(&mut self, tick: &Tick, key: TimerKey, end: WaitEnd) -> Result<(), Stop> {
        if !self.timers.knows(&key) {
            return Err(Needs::timer(key).into());
        }
        let state = match end {
            WaitEnd::Completed => TimerState::Fired,
            WaitEnd::Cancelled | WaitEnd::ErrorThrown => TimerState::Cancelled,
        };
        let now = tick.now;
        self.timers.change(&key, tick.number, |timer| (timer.state, timer.ended) = (state, Some(now)));
        Ok(())
    }

    pub(super) fn close_subscription(&mut self, tick: &Tick, key: WaitKey, end: WaitEnd) -> Result<(), Stop> {
        if !self.subscriptions.knows(&key) {
            return Err(Needs::subscription(key).into());
        }
        let Some(row) = self.subscriptions.get(&key) else { return Ok(()) };
        if row.kind == SubscriptionKind::Message && row.origin.is_some() {
            self.leave_group(tick, group_of(row), key)?;
        }
        let state = match end {
            WaitEnd::Completed => SubscriptionState::Correlated,
            WaitEnd::Cancelled | WaitEnd::ErrorThrown => SubscriptionState::Closed,
        };
        let now = tick.now;
        self.subscriptions.change(&key, tick.number, |row| (row.state, row.updated) = (state, now));
        Ok(())
    }

    fn join_group(&mut self, tick: &Tick, row: &row::Subscription) -> Result<(), Stop> {
        let name = group_of(row);
        let Some(group) = self.groups.get(&name) else { return Err(Needs::group(name).into()) };
        if SUBSCRIPTIONS_MAX <= group.subscriptions.len() {
            let reason = format!(
                "Expected to wait for message '{}' with correlation key '{}', but {SUBSCRIPTIONS_MAX} wait for it already",
                row.name, row.correlation_key
            );
            return Err(Stop::refused(Code::Exhausted, reason));
        }
        self.groups.change(&name, tick.number, |group| group.subscriptions.push(row.key));
        Ok(())
    }

    /// Who waits for a message must be known when somebody asks, so its group is in memory as long as that is not committed.
    fn leave_group(&mut self, tick: &Tick, name: MessageGroup, key: WaitKey) -> Result<(), Stop> {
        if !self.groups.knows(&name) {
            return Err(Needs::group(name).into());
        }
        self.groups.change(&name, tick.number, |group| group.subscriptions.retain(|waiting| *waiting != key));
        Ok(())
    }

    /// The element an open wait is about: the event it triggers, or the one that waits.
    fn event_of(&self, key: InstanceKey, opened: &Opened, events: &[Event]) -> model::ElementIx {
        let own = || self.origin_in(key, opened.element, events).map(|origin| origin.element);
        opened.catch.or_else(own).unwrap_or(model::Process::ROOT)
    }

    fn new_timer(
        &self,
        tick: &Tick,
        key: InstanceKey,
        opened: &Opened,
        events: &[Event],
        timer: (model::TimerKind, std::sync::Arc<str>),
        at: schedule::Occurrence,
    ) -> row::Timer {
        let definition = &self.hot.get(key).expect("it was just stepped").definition.row;
        row::Timer {
            key: TimerKey(opened.key.0),
            wait: opened.key,
            origin: Some(WaitOrigin { instance: key, element_instance: opened.element }),
            definition: definition.key,
            tenant: definition.tenant.clone(),
            element: self.event_of(key, opened, events),
            kind: timer.0,
            text: timer.1,
            armed: at.armed,
            number: u32::try_from(at.number).unwrap_or(u32::MAX),
            due: at.at,
            state: TimerState::Pending,
            created: tick.now,
            ended: None,
        }
    }

    /// Timers that changed go into the timeline, or out of it.
    pub(super) fn accept_timers(&mut self) {
        for (key, before) in self.timers.changes() {
            if let Some((at, what)) = before.as_deref().and_then(due_of) {
                self.timeline.remove(at, (key.0, what));
            }
            if let Some((at, what)) = self.timers.get(&key).and_then(due_of) {
                self.timeline.insert(at, (key.0, what));
            }
        }
        self.timers.accept();
    }
}

pub(super) fn due_of(timer: &row::Timer) -> Option<(Millis, DueKind)> {
    let instance = timer.origin.map(|origin| origin.instance);
    (timer.state == TimerState::Pending).then_some((timer.due, DueKind::Timer { instance }))
}
