//! Signals: told to all that wait for them when they are broadcast, some at a time.
//!
//! A broadcast is a row that goes on, once it is committed, from subscription to subscription up to its own key: those are all that
//! waited when it came. However many there are, no transaction is larger than a page of them.

use std::sync::Arc;

use engine::{Document, Triggered};
use store::log::Answer;
use store::row::{self, Signal};
use store::{DueKind, Error};

use super::Partition;
use super::messages::bytes_of;
use super::needs::{AtRest, Needs};
use super::tick::Tick;
use super::unit::{Stop, Unit};

/// A signal under way, and who is told next.
#[derive(Debug)]
pub(super) struct Telling {
    signal: Signal,
    next: Vec<row::Subscription>,
    /// How many were asked for: fewer are the last.
    limit: usize,
}

impl Partition {
    pub(super) fn broadcast(
        &mut self,
        tick: &mut Tick,
        tenant: &Arc<str>,
        name: &Arc<str>,
        variables: &Document,
    ) -> Result<Answer, Stop> {
        let key = self.keys.take();
        self.send_signal(tick, key, tenant, name, variables);
        Ok(Answer::Published { key, tenant: tenant.clone() })
    }

    /// Puts a signal on its way.
    pub(super) fn send_signal(&mut self, tick: &mut Tick, key: u64, tenant: &Arc<str>, name: &Arc<str>, variables: &Document) {
        tick.bytes += bytes_of(variables);
        let (tenant, name, variables) = (tenant.clone(), name.clone(), variables.clone());
        tick.unit.changes.signals_put.push(Signal { key, tenant, name, variables, after: 0, due: tick.now });
        tick.unit.signals.push(key);
    }

    /// What is put on its way goes on after the commit, to those that are next by then.
    pub(super) fn accept_signals(&mut self, tick: &Tick, unit: &Unit) {
        for key in &unit.signals {
            self.timeline.insert(tick.now, (*key, DueKind::Signal));
        }
        for key in unit.signals.iter().chain(&unit.changes.signals_done) {
            self.rested.signals.remove(key);
        }
        for done in &unit.changes.signals_done {
            self.told_alone.remove(done);
        }
    }

    pub(super) fn signal_due(&mut self, tick: &mut Tick, key: u64) -> Result<Answer, Stop> {
        let Some(telling) = self.rested.signals.get(&key).cloned() else {
            return Err(Needs::at_rest(AtRest::Signal(key)).into());
        };
        let Some(telling) = telling else {
            return Err(Stop::not_found(format!("there is no signal {key} under way")));
        };
        self.foresee_told(tick, &telling)?;
        let skipped = self.told_alone.get(&key).copied().flatten();
        for row in telling.next.iter().filter(|row| Some(row.key) != skipped) {
            self.tell(tick, &telling.signal, row)?;
        }
        match telling.next.last() {
            Some(last) if telling.limit <= telling.next.len() => {
                let signal = Signal { after: last.key.0, due: tick.now, ..telling.signal.clone() };
                tick.unit.changes.signals_put.push(signal);
                tick.unit.signals.push(key);
            }
            Some(_) | None => tick.unit.changes.signals_done.push(key),
        }
        Ok(Answer::Done)
    }

    /// Telling a page of them was refused: from now on one is told at a time, and one that cannot be told keeps it from no other. False if
    /// not even who is to be told could be looked up.
    pub(super) fn tell_one_by_one(&mut self, signal: u64) -> bool {
        let Some(telling) = self.rested.signals.remove(&signal).flatten() else { return false };
        // Told alone already, it is the one that was tried.
        let skipped = self.told_alone.get(&signal).and_then(|_| telling.next.first()).map(|row| row.key);
        if let Some(subscription) = skipped {
            tracing::error!(signal, %subscription, "who waits for a signal could not be told");
        }
        self.told_alone.insert(signal, skipped);
        true
    }

    fn foresee_told(&self, tick: &Tick, telling: &Telling) -> Result<(), Stop> {
        let mut needs = Needs::default();
        let told = telling.next.iter().filter_map(|row| row.origin).map(|origin| origin.instance);
        let known = |key: u64| tick.known.absent.contains(&key) || tick.known.unusable.contains_key(&key);
        needs.wanted.instances.extend(told.filter(|key| !self.hot.contains(*key) && !known(key.0)));
        match needs.is_empty() {
            true => Ok(()),
            false => Err(needs.into()),
        }
    }

    fn tell(&mut self, tick: &mut Tick, signal: &Signal, row: &row::Subscription) -> Result<(), Stop> {
        let Some(origin) = row.origin else {
            if let Some(definition) = self.compiled(tick, row.definition)? {
                self.start_at(tick, &definition, row.element, &signal.variables)?;
            }
            return Ok(());
        };
        if !self.can_go_on(tick, origin.instance)? {
            return Ok(());
        }
        let variables = signal.variables.clone();
        let triggered = Triggered { element: origin.element_instance, wait: row.key, variables, next: None };
        // Refused where it waits no longer.
        let _told = self.step(tick, origin.instance, &engine::Command::Trigger(triggered))?;
        Ok(())
    }

    /// Who is to be told next, as the tables have it.
    pub(super) async fn look_up_signal(&self, key: u64) -> Result<Option<Arc<Telling>>, Error> {
        let partition = self.fence.partition;
        let wanted = store::Wanted { signals: vec![key], ..store::Wanted::default() };
        let loaded = self.store.load(partition, &wanted, 0).await?;
        let Some(signal) = loaded.signals.into_iter().next() else { return Ok(None) };
        let (after, up_to) = (engine::WaitKey(signal.after), engine::WaitKey(key));
        let limit = if self.told_alone.contains_key(&key) { 1 } else { self.limits.signal_page_max };
        let next = self.store.signal_subscriptions(partition, &signal.tenant, &signal.name, after, up_to, limit).await?;
        Ok(Some(Arc::new(Telling { signal, next, limit })))
    }
}
