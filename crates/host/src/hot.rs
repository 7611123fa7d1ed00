//! Running instances kept in memory: a cache of the tables, bounded in number and bytes, dropped whole when in doubt.

use std::collections::VecDeque;
use std::sync::Arc;

use engine::{Compensation, ElementInstance, Incident, Instance, InstanceKey, Parent, Phase, State, Variable, Wait, WaitKind};
use rustc_hash::FxHashMap;
use store::row::SubscriptionKind;
use store::{LoadedInstance, row};

use crate::definitions::Compiled;

/// A running instance with everything a tick needs of it.
#[derive(Debug)]
pub(crate) struct HotInstance {
    pub(crate) instance: Instance,
    /// What does not change while it runs; state and incidents are those of `instance`.
    pub(crate) row: row::Instance,
    pub(crate) definition: Arc<Compiled>,
    /// Whether it keeps a message from starting another.
    pub(crate) lock: Lock,
    /// The tick that last changed it and is not committed; 0 if the tables have it as it is here.
    tick: u64,
    /// When it was last looked at, counted in trims.
    used: u64,
    /// What it counted for when it was last weighed.
    bytes: usize,
    /// Commands it has gone through since it began; those of one that was loaded are not known.
    commands: Option<u32>,
}

/// Whatever ends in an instance that went through more commands is put out of the way of loads, which costs PostgreSQL more than leaving it.
const SHORT_MAX: u32 = 64;

/// Whether a running instance keeps others of its process from being started with its correlation key.
#[derive(Debug, Clone)]
pub(crate) enum Lock {
    None,
    Key(Arc<str>),
    /// It is in the tables.
    Unknown,
}

#[derive(Debug, Default)]
pub(crate) struct Hot {
    instances: FxHashMap<InstanceKey, Box<HotInstance>>,
    /// In the order in which they came; may name instances that have gone.
    order: VecDeque<InstanceKey>,
    trims: u64,
    bytes: usize,
}

impl Hot {
    pub(crate) fn len(&self) -> usize {
        self.instances.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn contains(&self, key: InstanceKey) -> bool {
        self.instances.contains_key(&key)
    }

    pub(crate) fn get(&self, key: InstanceKey) -> Option<&HotInstance> {
        self.instances.get(&key).map(|hot| &**hot)
    }

    /// To be changed by this tick.
    pub(crate) fn get_mut(&mut self, key: InstanceKey, tick: u64) -> Option<&mut HotInstance> {
        let found = self.instances.get_mut(&key)?;
        (found.used, found.tick) = (self.trims, tick);
        Some(found)
    }

    /// It is needed now: it does not leave with the next trim.
    pub(crate) fn touch(&mut self, key: InstanceKey) {
        if let Some(found) = self.instances.get_mut(&key) {
            found.used = self.trims;
        }
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &HotInstance> {
        self.instances.values().map(|hot| &**hot)
    }

    pub(crate) fn insert(&mut self, mut hot: HotInstance) {
        let key = hot.instance.key;
        hot.used = self.trims;
        self.bytes += hot.bytes;
        match self.instances.insert(key, Box::new(hot)) {
            Some(before) => self.bytes -= before.bytes,
            None => self.order.push_back(key),
        }
    }

    /// A command is over: what it changed stays.
    pub(crate) fn accept(&mut self, key: InstanceKey) {
        if let Some(hot) = self.instances.get_mut(&key) {
            hot.instance.accept();
            hot.commands = hot.commands.map(|commands| commands.saturating_add(1));
            let bytes = hot.weight();
            self.bytes = self.bytes + bytes - hot.bytes;
            hot.bytes = bytes;
        }
    }

    pub(crate) fn remove(&mut self, key: InstanceKey) -> Option<Box<HotInstance>> {
        let gone = self.instances.remove(&key)?;
        self.bytes -= gone.bytes;
        Some(gone)
    }

    /// The tick is committed: the tables have what it changed. Instances that have ended leave memory.
    pub(crate) fn committed(&mut self, tick: u64, keys: &[InstanceKey]) {
        for key in keys {
            let Some(hot) = self.instances.get_mut(key) else { continue };
            if tick < hot.tick {
                continue;
            }
            hot.tick = 0;
            match hot.instance.state {
                State::New | State::Active | State::Suspended => {}
                State::Completed | State::Terminated => drop(self.remove(*key)),
            }
        }
    }

    /// Between ticks: makes room, those longest in memory first; what is not committed or was used since the last time stays.
    pub(crate) fn trim(&mut self, instances_max: usize, bytes_max: usize) {
        let mut looked_at = 0;
        while (instances_max < self.instances.len() || bytes_max < self.bytes) && looked_at < self.order.len() {
            let Some(key) = self.order.pop_front() else { break };
            match self.instances.get(&key) {
                None => {}
                Some(hot) if hot.used == self.trims || hot.tick != 0 => {
                    looked_at += 1;
                    self.order.push_back(key);
                }
                Some(_) => drop(self.remove(key)),
            }
        }
        self.trims += 1;
        if self.instances.len() * 2 + 1024 < self.order.len() {
            self.order.retain(|key| self.instances.contains_key(key));
        }
    }
}

impl HotInstance {
    /// One that begins in this tick.
    pub(crate) fn new(instance: Instance, row: row::Instance, definition: Arc<Compiled>, tick: u64) -> Self {
        let mut hot = Self { instance, row, definition, lock: Lock::None, tick, used: 0, bytes: 0, commands: Some(0) };
        hot.bytes = hot.weight();
        hot
    }

    /// Whether it may have gone through much.
    pub(crate) fn is_long(&self) -> bool {
        self.commands.is_none_or(|commands| SHORT_MAX < commands)
    }

    fn weight(&self) -> usize {
        let tags: usize = self.row.tags.iter().map(|tag| tag.len() + 32).sum();
        size_of::<Self>() + self.instance.bytes() + tags
    }

    /// Puts an instance together from its rows. Events applied to nothing give the same; a test says so. What does not fit together is
    /// said in words.
    pub(crate) fn from_rows(loaded: LoadedInstance, definition: Arc<Compiled>) -> Result<Self, String> {
        let LoadedInstance { instance: row, elements, variables, tokens, waits, timers, subscriptions, incidents, compensations } =
            loaded;
        let known = definition.process.elements.len();
        let mut instance = Instance::restored(row.key, row.definition, row.phase);
        for element in elements {
            if known <= element.element.0 as usize {
                return Err(format!("element instance {} is of element {}, which is not there", element.key, element.element.0));
            }
            let phase = match element.state {
                row::ElementState::Alive(phase) => phase,
                row::ElementState::Completed | row::ElementState::Terminated => Phase::Active,
            };
            let mut alive = ElementInstance::new(element.element, element.scope, phase);
            alive.progress = element.progress;
            instance.restore_element(element.key, alive)?;
        }
        for row::Variable { key, scope, name, value, .. } in variables {
            instance.restore_variable(scope, Variable { key, name, value })?;
        }
        for tokens in tokens {
            instance.restore_tokens(tokens.token, tokens.count)?;
        }
        // In the order in which they were opened, whatever they are.
        let mut waits = waits;
        for timer in timers {
            let origin = timer.origin.ok_or_else(|| format!("timer {} belongs to no element instance", timer.key))?;
            let catch = (instance.elements.get(&origin.element_instance).map(|alive| alive.element) != Some(timer.element))
                .then_some(timer.element);
            waits.push((origin.element_instance, Wait { key: timer.wait, catch, kind: WaitKind::Timer }));
        }
        for row in subscriptions {
            let origin = row.origin.ok_or_else(|| format!("subscription {} belongs to no element instance", row.key))?;
            waits.push((origin.element_instance, wait_of(&row)?));
        }
        waits.sort_unstable_by_key(|(_, wait)| wait.key);
        for (element, wait) in waits {
            instance.restore_wait(element, wait)?;
        }
        for incident in incidents {
            let active = Incident { element: incident.element_instance, job: incident.job, kind: incident.kind };
            instance.restore_incident(incident.key, active)?;
        }
        for row::Compensation { key, scope, activity, .. } in compensations {
            if known <= activity.0 as usize {
                return Err(format!("compensation {key} is of element {}, which is not there", activity.0));
            }
            instance.restore_compensation(scope, Compensation { key, activity })?;
        }
        instance.check_restored(&definition.process)?;
        if row.state == row::InstanceState::Suspended {
            instance.state = State::Suspended;
        }
        instance.parent = row.parent.map(|(instance, element)| Parent { instance, element });
        let mut hot = Self::new(instance, row, definition, 0);
        (hot.lock, hot.commands) = (Lock::Unknown, None);
        Ok(hot)
    }
}

fn wait_of(row: &row::Subscription) -> Result<Wait, String> {
    let kind = match row.kind {
        SubscriptionKind::Message => WaitKind::Message,
        SubscriptionKind::Signal => WaitKind::Signal,
        SubscriptionKind::Condition => WaitKind::Condition,
        SubscriptionKind::Child => {
            let instance = row.child.ok_or_else(|| format!("subscription {} names no called instance", row.key))?;
            WaitKind::Child { instance }
        }
    };
    Ok(Wait { key: row.key, catch: row.catches.then_some(row.element), kind })
}
