//! What encloses an open incident, or has called what does, shows it; nothing else does.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::{ElementKey, IncidentKey};

use super::owner::{Owner, PARTITION};
use super::rows::{self, key};
use crate::query::{Entity, Field, Filter, Items, Op, Query, Scalar, Tenants};
use crate::row::{Element, Instance};
use crate::{Changes, IncidentChange, Store};

/// Three instances that call each other through sub-processes, and a fourth on its own.
struct Family {
    instances: Vec<Instance>,
    elements: Vec<Element>,
}

impl Family {
    /// Each instance has a task, and a sub-process with a task inside, which calls the next instance.
    fn new(definition: u64) -> Self {
        let (mut instances, mut elements): (Vec<Instance>, Vec<Element>) = (Vec::new(), Vec::new());
        for number in 0..4 {
            let mut instance = rows::instance(key(PARTITION, 100 * (number + 1)), definition);
            if let (1..3, Some(caller)) = (number, elements.last()) {
                instance.parent = Some((caller.instance, caller.key));
                instance.root = instances[0].key;
                instance.depth = number as u32;
            }
            let task = rows::element(instance.key.0 + 1, &instance);
            let sub_process = rows::element(instance.key.0 + 2, &instance);
            let inner = Element { scope: sub_process.key, ..rows::element(instance.key.0 + 3, &instance) };
            elements.extend([task, sub_process, inner]);
            instances.push(instance);
        }
        Self { instances, elements }
    }

    /// The element instance and all that is to show an incident of it.
    fn above(&self, element: ElementKey) -> BTreeSet<u64> {
        let mut above = BTreeSet::from([element.0]);
        let mut at = element.0;
        loop {
            let inner = self.elements.iter().find(|element| element.key.0 == at).map(|element| element.scope.0);
            let called = self.instances.iter().find(|instance| instance.key.0 == at);
            match inner.or(called.and_then(|called| called.parent).map(|(_, element)| element.0)) {
                Some(outer) => at = outer,
                None => return above,
            }
            above.insert(at);
        }
    }

    fn changes(&self, definition: crate::row::Definition) -> Changes {
        let (instances_new, elements_new) = (self.instances.clone(), self.elements.clone());
        Changes { definitions_new: vec![definition], instances_new, elements_new, ..Changes::default() }
    }
}

pub(super) async fn what_encloses_it_shows_an_incident(store: Arc<dyn Store>) {
    let definition = rows::definition(key(PARTITION, 1), "p", 1);
    let family = Family::new(definition.key.0);
    let mut owner = Owner::of(&store).await;
    let innermost = family.elements[8].key;
    let incident = rows::incident(key(PARTITION, 900), &family.elements[8]);
    // Raised in the commit that writes what encloses it, too.
    let mut changes = family.changes(definition);
    changes.incidents_new.push(incident.clone());
    owner.commit(changes).await;
    let all_above = family.above(innermost);
    assert_eq!(all_above.len(), 9, "three levels of three each");
    assert_eq!(shown(&store).await, all_above);
    owner.commit(resolved(&[incident.key])).await;
    assert_eq!(shown(&store).await, BTreeSet::new());
    // One that never was open for anybody else.
    let mut brief = rows::incident(key(PARTITION, 901), &family.elements[8]);
    brief.resolved = Some(7);
    owner.commit(Changes { incidents_new: vec![brief], ..Changes::default() }).await;
    assert_eq!(shown(&store).await, BTreeSet::new());
}

/// Many come and go in any order, several in a commit; the process itself may be stuck.
pub(super) async fn the_last_one_takes_it_away(store: Arc<dyn Store>) {
    let definition = rows::definition(key(PARTITION, 1), "p", 1);
    let family = Family::new(definition.key.0);
    let mut owner = Owner::of(&store).await;
    owner.commit(family.changes(definition)).await;
    let places: Vec<ElementKey> = family.elements.iter().map(|element| element.key).collect();
    let roots = family.instances.iter().map(|instance| instance.key.root());
    let places: Vec<ElementKey> = places.into_iter().chain(roots).collect();
    let mut open: BTreeMap<IncidentKey, ElementKey> = BTreeMap::new();
    let (mut random, mut next) = (7_u64, key(PARTITION, 1_000));
    for round in 0..60 {
        let mut changes = Changes::default();
        for _ in 0..3 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let chosen = (random >> 33) as usize;
            let known: Vec<IncidentKey> = open.keys().copied().collect();
            // More are raised at first, more are resolved in the end.
            match chosen % 3 < 1 + usize::from(round < 30) || known.is_empty() {
                true if round < 55 => {
                    let place = places[chosen / 3 % places.len()];
                    let task = family.elements.iter().find(|element| element.key == place);
                    let instance = family.instances.iter().find(|instance| instance.key.root() == place);
                    let of = task.map_or_else(|| instance.unwrap().key, |task| task.instance);
                    let mut incident = rows::incident(next, &family.elements[0]);
                    (incident.element_instance, incident.instance) = (place, of);
                    next += 1;
                    open.insert(incident.key, place);
                    changes.incidents_new.push(incident);
                }
                _ => {
                    let Some(key) = known.get(chosen % known.len().max(1)).copied() else { continue };
                    open.remove(&key);
                    match changes.incidents_new.iter_mut().find(|incident| incident.key == key) {
                        Some(new) => new.resolved = Some(9),
                        None => changes.incidents_changed.push(IncidentChange { key, resolved: 9 }),
                    }
                }
            }
        }
        owner.commit(changes).await;
        let expected: BTreeSet<u64> = open.values().flat_map(|place| family.above(*place)).collect();
        assert_eq!(shown(&store).await, expected, "round {round}: {open:?}");
    }
    let left: Vec<IncidentKey> = open.into_keys().collect();
    owner.commit(resolved(&left)).await;
    assert_eq!(shown(&store).await, BTreeSet::new());
}

fn resolved(keys: &[IncidentKey]) -> Changes {
    let incidents_changed = keys.iter().map(|key| IncidentChange { key: *key, resolved: 9 }).collect();
    Changes { incidents_changed, ..Changes::default() }
}

/// Everything that shows an incident, found by that and by looking at everything.
async fn shown(store: &Arc<dyn Store>) -> BTreeSet<u64> {
    let mut found = [BTreeSet::new(), BTreeSet::new()];
    for entity in [Entity::Instances, Entity::Elements] {
        let all = Query { value_chars_max: None, ..Query::of(entity, Tenants::Everything) };
        let only = Query { filter: Filter::Is(Field::HasIncident, Op::Eq(Scalar::Bool(true))), ..all.clone() };
        for (query, found) in [all, only].iter().zip(&mut found) {
            let with = |key: u64, has_incident: bool| has_incident.then_some(key);
            match store.search(query).await.unwrap().items {
                Items::Instances(views) => found.extend(views.iter().filter_map(|view| with(view.key.0, view.has_incident))),
                Items::Elements(views) => found.extend(views.iter().filter_map(|view| with(view.key.0, view.has_incident))),
                other => panic!("{other:?}"),
            }
        }
    }
    let [looked_at, asked_for] = found;
    assert_eq!(looked_at, asked_for);
    looked_at
}
