//! What is known of definitions and decisions by name: the latest of each, and the version numbers given so far. Looked up when asked
//! for, and kept as long as there is room.

use std::sync::Arc;

use engine::{DecisionKey, DefinitionKey, RequirementsKey};
use rustc_hash::FxHashMap;
use store::{Named, row};

use super::super::Partition;
use super::super::needs::Needs;
use super::super::unit::Stop;
use crate::definitions::{Compiled, CompiledDecisions};
use crate::table::Table;

/// Id and tenant.
pub(crate) type Name = (Arc<str>, Arc<str>);

/// Past this many looked up in one way they are looked up again.
const KNOWN_MAX: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct Catalogue {
    pub(in crate::partition) processes: Table<Name, Named<row::DefinitionHead>>,
    pub(in crate::partition) files: Table<Name, Named<row::DecisionRequirements>>,
    pub(in crate::partition) decisions: Table<Name, Named<row::LatestDecision>>,
    /// All versions of a form, the first first.
    pub(in crate::partition) forms: Table<Name, Vec<row::Form>>,
    /// Whether a definition is deleted.
    pub(in crate::partition) definitions: Table<DefinitionKey, bool>,
    /// Deployed and not committed: their keys may yet be given to something else.
    pub(in crate::partition) fresh: FxHashMap<DefinitionKey, Arc<Compiled>>,
    pub(in crate::partition) fresh_decisions: FxHashMap<RequirementsKey, Arc<CompiledDecisions>>,
    /// Versions looked up by number.
    versions: FxHashMap<(Name, i32), Option<DefinitionKey>>,
    /// Decisions looked up otherwise; forgotten whenever decisions are deployed or deleted.
    found: FxHashMap<Sought, Option<DecisionPlace>>,
    /// Processes looked up otherwise; forgotten whenever processes are deployed or deleted.
    found_processes: FxHashMap<SoughtProcess, Option<DefinitionKey>>,
}

/// What a tick changed, until it is committed.
#[derive(Default)]
pub(in crate::partition) struct ChangedNames {
    processes: Vec<Name>,
    files: Vec<Name>,
    decisions: Vec<Name>,
    forms: Vec<Name>,
    definitions: Vec<DefinitionKey>,
}

/// A version of a decision, and the file it is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DecisionPlace {
    pub(crate) key: DecisionKey,
    pub(crate) requirements: RequirementsKey,
}

/// A decision that takes a query to find.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Sought {
    Key(DecisionKey),
    Deployed { id: Arc<str>, tenant: Arc<str>, deployment: u64 },
    Tagged { id: Arc<str>, tenant: Arc<str>, tag: Arc<str> },
}

/// A process that takes a query to find.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum SoughtProcess {
    Deployed { id: Arc<str>, tenant: Arc<str>, deployment: u64 },
    Tagged { id: Arc<str>, tenant: Arc<str>, tag: Arc<str> },
}

impl Catalogue {
    pub(in crate::partition) fn accept(&mut self) {
        self.processes.accept();
        self.files.accept();
        self.decisions.accept();
        self.forms.accept();
        self.definitions.accept();
    }

    pub(in crate::partition) fn undo(&mut self) {
        self.processes.undo();
        self.files.undo();
        self.decisions.undo();
        self.forms.undo();
        self.definitions.undo();
    }

    pub(in crate::partition) fn written(&mut self) -> ChangedNames {
        fn keys<K, V>(written: Vec<(K, V, crate::table::Change)>) -> Vec<K> {
            written.into_iter().map(|(key, _, _)| key).collect()
        }
        ChangedNames {
            processes: keys(self.processes.written()),
            files: keys(self.files.written()),
            decisions: keys(self.decisions.written()),
            forms: keys(self.forms.written()),
            definitions: keys(self.definitions.written()),
        }
    }

    pub(in crate::partition) fn committed(&mut self, tick: u64, changed: &ChangedNames) {
        self.processes.committed(tick, &changed.processes, |_| false);
        self.files.committed(tick, &changed.files, |_| false);
        self.decisions.committed(tick, &changed.decisions, |_| false);
        self.forms.committed(tick, &changed.forms, |_| false);
        self.definitions.committed(tick, &changed.definitions, |_| false);
    }

    pub(in crate::partition) fn trim(&mut self, bytes_max: usize) {
        self.processes.trim(KNOWN_MAX, bytes_max);
        self.files.trim(KNOWN_MAX, bytes_max);
        self.decisions.trim(KNOWN_MAX, bytes_max);
        self.forms.trim(KNOWN_MAX, bytes_max);
        self.definitions.trim(KNOWN_MAX, bytes_max);
        if KNOWN_MAX < self.versions.len() {
            self.versions.clear();
        }
        if KNOWN_MAX < self.found.len() {
            self.found.clear();
        }
        if KNOWN_MAX < self.found_processes.len() {
            self.found_processes.clear();
        }
    }

    /// What is known of a version by its number.
    pub(in crate::partition) fn version(&self, name: &Name, version: i32) -> Option<Option<DefinitionKey>> {
        self.versions.get(&(name.clone(), version)).copied()
    }

    pub(in crate::partition) fn remember_version(&mut self, name: Name, version: i32, key: Option<DefinitionKey>) {
        self.versions.insert((name, version), key);
    }

    /// A process has a new version: one that was not there may be now.
    pub(in crate::partition) fn forget_versions(&mut self) {
        self.versions.retain(|_, key| key.is_some());
    }

    /// What a query for it found, if it was made already.
    pub(in crate::partition) fn found(&self, sought: &Sought) -> Option<Option<DecisionPlace>> {
        self.found.get(sought).copied()
    }

    pub(in crate::partition) fn remember_found(&mut self, sought: Sought, place: Option<DecisionPlace>) {
        self.found.insert(sought, place);
    }

    pub(in crate::partition) fn found_process(&self, sought: &SoughtProcess) -> Option<Option<DefinitionKey>> {
        self.found_processes.get(sought).copied()
    }

    pub(in crate::partition) fn remember_process(&mut self, sought: SoughtProcess, found: Option<DefinitionKey>) {
        self.found_processes.insert(sought, found);
    }

    /// Processes have come or gone.
    pub(in crate::partition) fn forget_processes(&mut self) {
        self.found_processes.clear();
    }

    /// Decisions have come or gone.
    pub(in crate::partition) fn forget_found(&mut self) {
        self.found.clear();
    }
}

impl Partition {
    pub(in crate::partition) fn latest_process(&self, name: &Name) -> Result<Option<&row::DefinitionHead>, Stop> {
        match self.catalogue.processes.get(name) {
            Some(named) => Ok(named.latest.as_ref()),
            None => Err(Needs::process(name.clone()).into()),
        }
    }

    pub(in crate::partition) fn latest_decision(&self, name: &Name) -> Result<Option<DecisionPlace>, Stop> {
        match self.catalogue.decisions.get(name) {
            Some(named) => {
                let place = |latest: &row::LatestDecision| DecisionPlace { key: latest.key, requirements: latest.requirements };
                Ok(named.latest.as_ref().map(place))
            }
            None => Err(Needs::decision(name.clone()).into()),
        }
    }

    /// All versions of a form, the first first.
    pub(in crate::partition) fn forms_named(&self, name: &Name) -> Result<&[row::Form], Stop> {
        match self.catalogue.forms.get(name) {
            Some(forms) => Ok(forms),
            None => Err(Needs::form(name.clone()).into()),
        }
    }

    pub(super) fn latest_file(&self, name: &Name) -> Result<Option<&row::DecisionRequirements>, Stop> {
        match self.catalogue.files.get(name) {
            Some(named) => Ok(named.latest.as_ref()),
            None => Err(Needs::file(name.clone()).into()),
        }
    }
}
