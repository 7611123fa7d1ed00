//! What happened, told so that it can be understood without asking: rows of the log, with names from the rows of what they speak of.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::{ElementKey, Event, IncidentKey, IncidentKind, InstanceKey, JobKey, KEPT, Outcome, PartitionId, VariableKey};
use store::query::{ElementView, Entity, Field, Filter, InstanceView, Items, LIST_MAX, Op, Page, Query, Scalar, Tenants};
use store::{Error, Logged, Millis, Store, format};

use crate::drive::PARTITION;

/// A value of more characters than this is not told; whoever wants it asks for it.
const VALUE_CHARS_MAX: usize = 64 * 1024;

/// Elements with this in their ids are the engine's own: parts of workflows that nobody wrote.
const OWN: char = '#';

/// One thing that happened to an instance.
#[derive(Debug, Clone, PartialEq)]
pub struct Happened {
    pub partition: PartitionId,
    /// Where the command that did it is in the log.
    pub position: u64,
    /// Which of the things that the command did.
    pub index: u32,
    pub at: Millis,
    /// As it is by now.
    pub instance: Arc<InstanceView>,
    pub what: What,
}

#[derive(Debug, Clone, PartialEq)]
pub enum What {
    Started,
    Ended(Outcome),
    Suspended,
    Resumed,
    /// It goes on as an instance of another definition.
    Migrated,
    Entered(Arc<ElementView>),
    Left(Arc<ElementView>),
    /// It was ended from outside.
    Dropped(Arc<ElementView>),
    VariableCreated(Variable),
    VariableUpdated(Variable),
    IncidentRaised {
        key: IncidentKey,
        on: Option<Arc<ElementView>>,
        job: Option<JobKey>,
        kind: IncidentKind,
        message: Arc<str>,
    },
    IncidentResolved {
        key: IncidentKey,
        on: Option<Arc<ElementView>>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    pub key: VariableKey,
    pub scope: ElementKey,
    pub name: Arc<str>,
    /// JSON text; nothing where it is too large to be told.
    pub value: Option<Arc<str>>,
}

/// What a page of the log says.
pub(crate) struct Told {
    pub(crate) happened: Vec<Happened>,
    /// How much of it belongs to instances that have left no trace, or cannot be read.
    pub(crate) left_out: u64,
}

pub(crate) async fn told(store: &dyn Store, page: &[Logged], with_variables: bool) -> Result<Told, Error> {
    let mut left_out = 0;
    let mut read: Vec<(&Logged, InstanceKey, Vec<Event>)> = Vec::new();
    for logged in page.iter().filter(|logged| !logged.events.is_empty()) {
        let Some(instance) = logged.instance else { continue };
        // What is in its row alone is looked up below: nothing is no JSON.
        match format::decode_events(&logged.events, |_| Some("".into())) {
            Ok(events) => read.push((logged, instance, events)),
            Err(error) => {
                tracing::error!(position = logged.position, %error, "a row of the log cannot be read and is not told");
                left_out += 1;
            }
        }
    }
    let names = Names::of(store, &read, with_variables).await?;
    let mut happened = Vec::new();
    for (logged, instance, events) in read {
        let Some(instance) = names.instances.get(&instance) else {
            left_out += events.len() as u64;
            continue;
        };
        for (index, event) in events.iter().enumerate() {
            if let Some(what) = names.what(event, with_variables) {
                let (position, at, index) = (logged.position, logged.at, u32::try_from(index).unwrap_or(u32::MAX));
                let (partition, instance) = (PARTITION, instance.clone());
                happened.push(Happened { partition, position, index, at, instance, what });
            }
        }
    }
    Ok(Told { happened, left_out })
}

/// What the rows of a page say of those it speaks of.
struct Names {
    instances: BTreeMap<InstanceKey, Arc<InstanceView>>,
    elements: BTreeMap<ElementKey, Arc<ElementView>>,
    /// Values that are in their rows alone, as they are by now.
    values: BTreeMap<VariableKey, Arc<str>>,
}

impl Names {
    async fn of(store: &dyn Store, read: &[(&Logged, InstanceKey, Vec<Event>)], with_variables: bool) -> Result<Self, Error> {
        let (mut instances, mut elements, mut variables) = (Vec::new(), Vec::new(), Vec::new());
        for (_, instance, events) in read {
            instances.push(instance.0);
            for event in events {
                elements.extend(element_of(event).map(|key| key.0));
                variables.extend(variable_in_row(event).filter(|_| with_variables).map(|key| key.0));
            }
        }
        let mut names = Self { instances: BTreeMap::new(), elements: BTreeMap::new(), values: BTreeMap::new() };
        for items in look_up(store, Entity::Instances, Field::InstanceKey, instances).await? {
            let Items::Instances(views) = items else { continue };
            names.instances.extend(views.into_iter().map(|view| (view.key, Arc::new(view))));
        }
        for items in look_up(store, Entity::Elements, Field::ElementKey, elements).await? {
            let Items::Elements(views) = items else { continue };
            names.elements.extend(views.into_iter().map(|view| (view.key, Arc::new(view))));
        }
        for items in look_up(store, Entity::Variables, Field::VariableKey, variables).await? {
            let Items::Variables(views) = items else { continue };
            let whole = views.into_iter().filter(|view| !view.is_truncated);
            names.values.extend(whole.map(|view| (view.key, view.value.into())));
        }
        Ok(names)
    }

    /// Nothing where nobody outside is to hear of it.
    fn what(&self, event: &Event, with_variables: bool) -> Option<What> {
        let step = |key: &ElementKey| self.elements.get(key).filter(|view| !view.element_id.contains(OWN)).cloned();
        Some(match event {
            Event::Started { .. } => What::Started,
            Event::Ended { outcome } => What::Ended(*outcome),
            Event::Suspended => What::Suspended,
            Event::Resumed => What::Resumed,
            Event::Migrated(_) => What::Migrated,
            Event::Entered { key, .. } => What::Entered(step(key)?),
            Event::Left { key } => What::Left(step(key)?),
            Event::Dropped { key } => What::Dropped(step(key)?),
            Event::VariableCreated { key, scope, name, value } if with_variables => {
                What::VariableCreated(self.variable(*key, *scope, name, value)?)
            }
            Event::VariableUpdated { key, scope, name, value } if with_variables => {
                What::VariableUpdated(self.variable(*key, *scope, name, value)?)
            }
            Event::IncidentRaised { key, element, job, kind, message } => What::IncidentRaised {
                key: *key,
                on: self.elements.get(element).cloned(),
                job: *job,
                kind: *kind,
                message: message.clone(),
            },
            Event::IncidentResolved { key, element } => {
                What::IncidentResolved { key: *key, on: self.elements.get(element).cloned() }
            }
            Event::VariableCreated { .. }
            | Event::VariableUpdated { .. }
            | Event::Activated { .. }
            | Event::Leaving { .. }
            | Event::Progressed { .. }
            | Event::CompensationKept { .. }
            | Event::CompensationsHandedOn { .. }
            | Event::CompensationTaken { .. }
            | Event::TokenArrived(_)
            | Event::TokensTaken { .. }
            | Event::TokenDropped(_)
            | Event::WaitOpened(_)
            | Event::WaitClosed { .. }
            | Event::DecisionCalled { .. }
            | Event::FormSought { .. }
            | Event::Called { .. }
            | Event::MessageThrown(_)
            | Event::SignalThrown { .. }
            | Event::ThrownOut(_)
            | Event::Listened { .. } => return None,
        })
    }

    fn variable(&self, key: VariableKey, scope: ElementKey, name: &Arc<str>, value: &Arc<str>) -> Option<Variable> {
        if name.starts_with(KEPT) {
            return None;
        }
        let value = if value.is_empty() { self.values.get(&key).cloned() } else { Some(value.clone()) };
        Some(Variable { key, scope, name: name.clone(), value })
    }
}

/// Whose name is told. The process itself has no row; its name is that of the instance.
fn element_of(event: &Event) -> Option<ElementKey> {
    match event {
        Event::Entered { key, .. } | Event::Left { key } | Event::Dropped { key } => Some(*key),
        Event::IncidentRaised { element, .. } | Event::IncidentResolved { element, .. } => Some(*element),
        _ => None,
    }
}

fn variable_in_row(event: &Event) -> Option<VariableKey> {
    match event {
        Event::VariableCreated { key, value, .. } | Event::VariableUpdated { key, value, .. } if value.is_empty() => Some(*key),
        _ => None,
    }
}

/// All that are there of these, a list at a time.
async fn look_up(store: &dyn Store, entity: Entity, field: Field, mut keys: Vec<u64>) -> Result<Vec<Items>, Error> {
    keys.sort_unstable();
    keys.dedup();
    let mut found = Vec::new();
    for some in keys.chunks(LIST_MAX) {
        let keys = some.iter().map(|key| Scalar::Int(*key as i64)).collect();
        let query = Query {
            filter: Filter::Is(field, Op::In(keys)),
            page: Page::From { from: 0, limit: LIST_MAX as u32 },
            value_chars_max: (entity == Entity::Variables).then_some(VALUE_CHARS_MAX),
            ..Query::of(entity, Tenants::Everything)
        };
        found.push(store.search(&query).await?.items);
    }
    Ok(found)
}
