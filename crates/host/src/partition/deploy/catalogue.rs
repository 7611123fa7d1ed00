//! What is known of definitions and decisions without a query: the latest of each, and the version numbers given so far.

use std::sync::Arc;

use engine::{DecisionKey, DefinitionKey, PartitionId, RequirementsKey};
use rustc_hash::FxHashMap;
use store::{Error, Store, row};

/// Id and tenant.
pub(super) type Name = (Arc<str>, Arc<str>);

/// Past this many decisions looked up by key, deployment or tag they are looked up again.
const FOUND_MAX: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct Catalogue {
    pub(super) latest: FxHashMap<Name, Latest>,
    counters: FxHashMap<Name, i32>,
    /// Versions looked up by number.
    pub(super) versions: FxHashMap<(Arc<str>, Arc<str>, i32), DefinitionKey>,
    /// The latest version of each DMN file.
    pub(super) requirements: FxHashMap<Name, row::DecisionRequirements>,
    requirements_counters: FxHashMap<Name, i32>,
    /// The latest version of each decision.
    pub(super) decisions: FxHashMap<Name, DecisionPlace>,
    decision_counters: FxHashMap<Name, i32>,
    /// Decisions looked up otherwise; forgotten whenever decisions are deployed or deleted.
    found: FxHashMap<Sought, Option<DecisionPlace>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Latest {
    pub(crate) key: DefinitionKey,
    pub(crate) version: i32,
    pub(super) checksum: Vec<u8>,
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

impl Catalogue {
    pub(crate) async fn load(store: &dyn Store, partition: PartitionId) -> Result<Self, Error> {
        let mut catalogue = Self::default();
        for row in store.latest_definitions(partition).await? {
            catalogue.set_latest(&row);
        }
        catalogue.counters = counted(store.version_counters(partition).await?);
        for row in store.latest_requirements(partition).await? {
            catalogue.requirements.insert((row.id.clone(), row.tenant.clone()), row);
        }
        for row in store.latest_decisions(partition).await? {
            let place = DecisionPlace { key: row.key, requirements: row.requirements };
            catalogue.decisions.insert((row.id, row.tenant), place);
        }
        let counters = store.decision_counters(partition).await?;
        catalogue.requirements_counters = counted(counters.requirements);
        catalogue.decision_counters = counted(counters.decisions);
        Ok(catalogue)
    }

    pub(crate) fn latest(&self, id: &Arc<str>, tenant: &Arc<str>) -> Option<&Latest> {
        self.latest.get(&(id.clone(), tenant.clone()))
    }

    pub(crate) fn version(&self, id: &Arc<str>, tenant: &Arc<str>, version: i32) -> Option<DefinitionKey> {
        self.versions.get(&(id.clone(), tenant.clone(), version)).copied()
    }

    pub(crate) fn remember(&mut self, row: &row::Definition) {
        self.versions.insert((row.process_id.clone(), row.tenant.clone(), row.version), row.key);
    }

    pub(super) fn set_latest(&mut self, row: &row::Definition) {
        let latest = Latest { key: row.key, version: row.version, checksum: row.checksum.clone() };
        self.latest.insert((row.process_id.clone(), row.tenant.clone()), latest);
    }

    pub(super) fn next_version(&mut self, id: &Arc<str>, tenant: &Arc<str>) -> i32 {
        next(&mut self.counters, id, tenant)
    }

    /// The latest version of a decision.
    pub(crate) fn decision(&self, id: &Arc<str>, tenant: &Arc<str>) -> Option<DecisionPlace> {
        self.decisions.get(&(id.clone(), tenant.clone())).copied()
    }

    /// What a query for it found, if it was made already.
    pub(crate) fn found(&self, sought: &Sought) -> Option<Option<DecisionPlace>> {
        self.found.get(sought).copied()
    }

    pub(crate) fn remember_found(&mut self, sought: Sought, place: Option<DecisionPlace>) {
        if FOUND_MAX <= self.found.len() {
            self.found.clear();
        }
        self.found.insert(sought, place);
    }

    /// A decision just deployed: until the commit a query would not find it.
    pub(super) fn add_decision(
        &mut self,
        row: &row::Decision,
        tenant: &Arc<str>,
        deployment: u64,
        requirements: RequirementsKey,
    ) {
        let (id, tenant) = (row.id.clone(), tenant.clone());
        let place = DecisionPlace { key: row.key, requirements };
        self.decisions.insert((id.clone(), tenant.clone()), place);
        self.found.insert(Sought::Key(row.key), Some(place));
        if let Some(tag) = row.version_tag.clone() {
            self.found.insert(Sought::Tagged { id: id.clone(), tenant: tenant.clone(), tag }, Some(place));
        }
        self.found.insert(Sought::Deployed { id, tenant, deployment }, Some(place));
    }

    pub(super) fn forget_found(&mut self) {
        self.found.clear();
    }

    pub(super) fn next_requirements_version(&mut self, id: &Arc<str>, tenant: &Arc<str>) -> i32 {
        next(&mut self.requirements_counters, id, tenant)
    }

    pub(super) fn next_decision_version(&mut self, id: &Arc<str>, tenant: &Arc<str>) -> i32 {
        next(&mut self.decision_counters, id, tenant)
    }
}

fn counted(counters: Vec<(Arc<str>, Arc<str>, i32)>) -> FxHashMap<Name, i32> {
    counters.into_iter().map(|(id, tenant, version)| ((id, tenant), version)).collect()
}

fn next(counters: &mut FxHashMap<Name, i32>, id: &Arc<str>, tenant: &Arc<str>) -> i32 {
    let counter = counters.entry((id.clone(), tenant.clone())).or_insert(0);
    *counter += 1;
    *counter
}
