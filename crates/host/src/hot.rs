//! Running instances kept in memory: a cache of the tables, bounded, dropped whole when in doubt.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use engine::{ElementInstance, Incident, Instance, InstanceKey, JobKey, Phase, State, Variable};
use model::Process;
use rustc_hash::FxHashMap;
use store::{LoadedInstance, row};

use crate::definitions::Compiled;

/// A running instance with everything a tick needs of it.
#[derive(Debug)]
pub(crate) struct HotInstance {
    pub(crate) instance: Instance,
    /// What does not change while it runs; state, tokens and incidents are those of `instance`.
    pub(crate) row: row::Instance,
    /// Jobs not done.
    pub(crate) jobs: BTreeMap<JobKey, row::Job>,
    pub(crate) definition: Arc<Compiled>,
    used: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Hot {
    instances: FxHashMap<InstanceKey, HotInstance>,
    /// Which instance a job belongs to, for those in memory.
    jobs: FxHashMap<JobKey, InstanceKey>,
    /// In the order in which they came; may name instances that have gone.
    order: VecDeque<InstanceKey>,
    tick: u64,
}

impl Hot {
    pub(crate) fn len(&self) -> usize {
        self.instances.len()
    }

    pub(crate) fn contains(&self, key: InstanceKey) -> bool {
        self.instances.contains_key(&key)
    }

    pub(crate) fn get(&self, key: InstanceKey) -> Option<&HotInstance> {
        self.instances.get(&key)
    }

    pub(crate) fn get_mut(&mut self, key: InstanceKey) -> Option<&mut HotInstance> {
        let found = self.instances.get_mut(&key)?;
        found.used = self.tick;
        Some(found)
    }

    pub(crate) fn instance_of(&self, job: JobKey) -> Option<InstanceKey> {
        self.jobs.get(&job).copied()
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &HotInstance> {
        self.instances.values()
    }

    pub(crate) fn insert(&mut self, mut hot: HotInstance) {
        let key = hot.instance.key;
        hot.used = self.tick;
        for job in hot.jobs.keys() {
            self.jobs.insert(*job, key);
        }
        if self.instances.insert(key, hot).is_none() {
            self.order.push_back(key);
        }
    }

    pub(crate) fn add_job(&mut self, job: row::Job) {
        self.jobs.insert(job.key, job.instance);
        if let Some(hot) = self.instances.get_mut(&job.instance) {
            hot.jobs.insert(job.key, job);
        }
    }

    pub(crate) fn remove_job(&mut self, job: JobKey) -> Option<row::Job> {
        let instance = self.jobs.remove(&job)?;
        self.instances.get_mut(&instance)?.jobs.remove(&job)
    }

    pub(crate) fn remove(&mut self, key: InstanceKey) -> Option<HotInstance> {
        let gone = self.instances.remove(&key)?;
        for job in gone.jobs.keys() {
            self.jobs.remove(job);
        }
        Some(gone)
    }

    pub(crate) fn clear(&mut self) {
        *self = Self { tick: self.tick, ..Self::default() };
    }

    /// Between ticks: makes room, those longest in memory first unless they were used just now.
    pub(crate) fn trim(&mut self, instances_max: usize) {
        self.tick += 1;
        let mut looked_at = 0;
        while instances_max < self.instances.len() && looked_at < self.order.len() {
            let Some(key) = self.order.pop_front() else { break };
            match self.instances.get(&key) {
                None => {}
                Some(hot) if hot.used + 1 == self.tick => {
                    looked_at += 1;
                    self.order.push_back(key);
                }
                Some(_) => {
                    self.remove(key);
                }
            }
        }
        if self.instances.len() * 2 + 1024 < self.order.len() {
            self.order.retain(|key| self.instances.contains_key(key));
        }
    }
}

impl HotInstance {
    pub(crate) fn new(instance: Instance, row: row::Instance, definition: Arc<Compiled>) -> Self {
        Self { instance, row, jobs: BTreeMap::new(), definition, used: 0 }
    }

    /// Puts an instance together from its rows. Events applied to nothing give the same; a test says so.
    pub(crate) fn from_rows(loaded: LoadedInstance, definition: Arc<Compiled>) -> Self {
        let row = loaded.instance;
        let mut instance = Instance::new(row.key, row.definition);
        instance.state = State::Active;
        instance.tokens.clone_from(&row.tokens);
        let root =
            ElementInstance { element: Process::ROOT, scope: row.key.root(), phase: row.phase, variables: Vec::new(), job: None };
        instance.elements.insert(row.key.root(), root);
        for element in loaded.elements {
            let phase = match element.state {
                row::ElementState::Alive(phase) => phase,
                row::ElementState::Completed | row::ElementState::Terminated => Phase::Active,
            };
            let alive =
                ElementInstance { element: element.element, scope: element.scope, phase, variables: Vec::new(), job: None };
            instance.elements.insert(element.key, alive);
        }
        for variable in loaded.variables {
            if let Some(scope) = instance.elements.get_mut(&variable.scope) {
                scope.variables.push(Variable { key: variable.key, name: variable.name, value: variable.value });
            }
        }
        for incident in loaded.incidents {
            let active = Incident { element: incident.element_instance, job: incident.job, kind: incident.kind };
            instance.incidents.insert(incident.key, active);
        }
        let mut jobs = BTreeMap::new();
        for job in loaded.jobs {
            if let Some(element) = instance.elements.get_mut(&job.element_instance) {
                element.job = Some(job.key);
            }
            jobs.insert(job.key, job);
        }
        Self { instance, row, jobs, definition, used: 0 }
    }
}
