//! What an operation over many is about, and what of it is still to be done, as the tables have it.

use std::sync::Arc;

use engine::InstanceKey;
use store::batch::{Asked, Work};
use store::query::{
    Cursor, Entity, EvaluatedDecisionView, Field, Filter, IncidentView, InstanceView, Items, Op, Order, Page, Query, Scalar, Sort,
};
use store::row::{Batch, BatchItem, BatchState, ItemState};
use store::{Error, Millis};
use tokio::time::Instant;

use super::Partition;
use super::trouble::Trouble;

/// How many are looked for at once, and how many items are in memory at once.
const FOUND_MAX: u32 = 500;
const ITEMS_MAX: usize = 1_000;

/// How many rows an item changes, about, unless it is known better.
pub(super) const ROWS_OF_ONE: usize = 8;
/// An instance with more element instances and variables is deleted in pieces of so many rows.
pub(in super::super) const DELETED_AT_ONCE: usize = 1_000;

#[derive(Debug, Default)]
pub(in super::super) struct Found {
    /// Of what was found; without their own keys.
    pub(super) new: Vec<BatchItem>,
    /// Where it goes on.
    pub(super) after: Option<u64>,
    /// How long others had to wait for that.
    pub(super) took: Millis,
    /// Items whose turn has not come, each with about how many rows it changes.
    pub(super) open: Vec<(BatchItem, usize)>,
    /// Whether there are others, too large to be dealt with yet.
    pub(super) has_large: bool,
    /// Why neither could be read.
    pub(super) trouble: Option<Trouble>,
}

impl Partition {
    /// The operation is in memory after this, if there is one. That nothing can be found is its own trouble and nobody else's: if the
    /// store is away altogether, it will not take the tick either.
    pub(in super::super) async fn look_up_batch(&mut self, key: u64) -> Result<Option<Arc<Found>>, Error> {
        let row = match self.store.batch_operation(key).await {
            Err(Error::Corrupt { what }) => {
                tracing::error!(key, what, "a batch operation cannot be read, and stands still; please report it");
                None
            }
            row => row?,
        };
        self.batches.load(key, row);
        let Some(row) = self.batches.get(&key).cloned() else { return Ok(None) };
        let found = match self.troubles.given_up(key) {
            Some(trouble) => Found { trouble: Some(trouble), ..Found::default() },
            None => match self.read_batch(&row).await {
                Ok(found) => {
                    self.troubles.is_over(key);
                    found
                }
                Err(error) => Found { trouble: Some(self.troubles.add(key, &error)), ..Found::default() },
            },
        };
        Ok(Some(Arc::new(found)))
    }

    async fn read_batch(&self, row: &Batch) -> Result<Found, Error> {
        match row.after {
            Some(after) => self.find(row, after).await,
            None => {
                let open = self.store.open_items(row.key, ITEMS_MAX).await?;
                if row.asked.work == Work::Delete && row.state == BatchState::Active {
                    return self.weighed(open).await;
                }
                let open = open.into_iter().map(|item| (item, ROWS_OF_ONE)).collect();
                Ok(Found { open, ..Found::default() })
            }
        }
    }

    /// Instances to be deleted. The first of the large ones loses a few of its rows each time; the last go as those of others do.
    async fn weighed(&self, open: Vec<BatchItem>) -> Result<Found, Error> {
        let begun = Instant::now();
        let keys: Vec<InstanceKey> = open.iter().map(instance_of).collect();
        let weights = self.store.weights(self.fence.partition, &keys, DELETED_AT_ONCE).await?;
        let is_large = |(item, weight): &(BatchItem, usize)| DELETED_AT_ONCE <= *weight && item.root == item.instance;
        let (mut large, mut open): (Vec<_>, Vec<_>) = open.into_iter().zip(weights).partition(is_large);
        if let Some((first, _)) = large.first() {
            let purged = self.store.purge_instances(self.fence, &[instance_of(first)], DELETED_AT_ONCE).await?;
            let purged = purged.ok_or_else(|| Error::unavailable("another server owns the partition"))?;
            // Something that it called still runs, or all of it is gone.
            if purged.rows == 0 || !purged.is_cut {
                open.push(large.swap_remove(0));
            }
        }
        let took = begun.elapsed().as_millis() as Millis;
        Ok(Found { open, has_large: !large.is_empty(), took, ..Found::default() })
    }

    async fn find(&self, row: &Batch, after: u64) -> Result<Found, Error> {
        let Asked { work, filter, caller } = &*row.asked;
        let entity = work.entity();
        let key = |op: fn(Scalar) -> Op, key: u64| Filter::Is(entity.key(), op(Scalar::Int(key as i64)));
        let asked = match entity {
            Entity::Incidents => Filter::OfInstance(Box::new(filter.clone())),
            _ => filter.clone(),
        };
        let within = Filter::All(vec![key(Op::Lt, row.key), fitting(work)]);
        // By a cursor: as a filter, PostgreSQL would go through all that was found before.
        let cursor = Cursor(vec![Some(Scalar::Int(after as i64))]);
        let query = Query {
            filter: asked.and(within),
            sort: vec![Sort { field: entity.key(), order: Order::Ascending }],
            page: Page::After { cursor, limit: FOUND_MAX },
            uncounted: true,
            ..Query::of(entity, caller.tenants.clone())
        };
        let begun = Instant::now();
        let items = self.store.search(&query).await?.items;
        let is_last = items.len() < FOUND_MAX as usize;
        let (new, last) = match items {
            Items::Instances(views) => {
                (views.iter().map(|view| of_instance(view, row)).collect(), views.last().map(|view| view.key.0))
            }
            Items::Incidents(views) => {
                (views.iter().map(|view| of_incident(view, row)).collect(), views.last().map(|view| view.key.0))
            }
            Items::EvaluatedDecisions(views) => {
                let last = views.last().map(|view| view.evaluation.0 + u64::from(view.place) - 1);
                (of_evaluations(&views, after, row), last)
            }
            _ => (Vec::new(), None),
        };
        let took = begun.elapsed().as_millis() as Millis;
        Ok(Found { new, after: last.filter(|_| !is_last), took, ..Found::default() })
    }
}

fn word(field: Field, word: &str) -> Filter {
    Filter::Is(field, Op::Eq(Scalar::Text(word.to_owned())))
}

fn in_state(states: &[&str]) -> Filter {
    Filter::Any(states.iter().map(|state| word(Field::InstanceState, state)).collect())
}

/// What the work can be done to at all. What is called ends, stops and goes on with what called it.
fn fitting(work: &Work) -> Filter {
    let is_root = || Filter::Is(Field::ParentInstanceKey, Op::Exists(false));
    match work {
        Work::Cancel => in_state(&["ACTIVE", "SUSPENDED"]).and(is_root()),
        Work::ResolveIncidents => word(Field::IncidentState, "ACTIVE"),
        Work::Change(_) => in_state(&["ACTIVE"]),
        Work::Delete => in_state(&["COMPLETED", "TERMINATED"]),
        Work::Suspend => in_state(&["ACTIVE"]).and(is_root()),
        Work::Resume => in_state(&["SUSPENDED"]).and(is_root()),
        Work::DeleteEvaluations => Filter::All(Vec::new()),
    }
}

fn item(item: u64, tenant: &str, instance: Option<InstanceKey>, root: Option<InstanceKey>, row: &Batch) -> BatchItem {
    BatchItem {
        key: 0,
        batch: row.key,
        item,
        tenant: tenant.into(),
        kind: row.asked.work.word().into(),
        instance,
        root,
        state: ItemState::Active,
        processed: None,
        error: None,
    }
}

fn of_instance(view: &InstanceView, row: &Batch) -> BatchItem {
    item(view.key.0, &view.tenant, Some(view.key), Some(view.root), row)
}

fn of_incident(view: &IncidentView, row: &Batch) -> BatchItem {
    item(view.key.0, &view.tenant, Some(view.instance), Some(view.root), row)
}

/// One for each evaluation. Its decisions have keys that follow each other: one that began before the page is an item already.
fn of_evaluations(views: &[EvaluatedDecisionView], after: u64, row: &Batch) -> Vec<BatchItem> {
    let mut items: Vec<BatchItem> = Vec::new();
    for view in views {
        let evaluation = view.evaluation.0;
        if after < evaluation && items.last().is_none_or(|last| last.item != evaluation) {
            items.push(item(evaluation, &view.tenant, view.instance, view.root, row));
        }
    }
    items
}

pub(super) fn instance_of(item: &BatchItem) -> InstanceKey {
    item.instance.unwrap_or(InstanceKey(item.item))
}
