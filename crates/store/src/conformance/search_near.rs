//! Searches whose rows are found by their keys, which are nearly in the order of starts but for a clock that is set back now and then: by little,
//! and in the end by much (ADRs 97 and 98).

use std::sync::Arc;

use super::owner::{NOW, Owner, PARTITION};
use super::rows;
use super::search_reference::{Pair, ascending, descending, walk};
use crate::memory::Memory;
use crate::query::{Cursor, Entity, Field, Filter, Op, Page, Query, Scalar, Sort, Tenants};
use crate::row::{Availability, Element, ElementState, Instance, InstanceState, Job, JobState};
use crate::{Changes, ElementChange, InstanceChange, Store};

/// How many milliseconds one after the other lasts. Up to a quarter of a second, stores take them for quick.
const LASTING: [Option<i64>; 11] = [
    Some(0),
    Some(3),
    None,
    Some(249),
    Some(250),
    Some(251),
    Some(5_000),
    None,
    // The clock was set back meanwhile.
    Some(-20),
    Some(30),
    Some(30),
];

struct Filling {
    pair: Pair,
    owners: [Owner; 2],
    instances: Vec<Instance>,
    now: i64,
    number: u64,
    /// Those that are to end with the next tick.
    ending: Changes,
}

impl Filling {
    /// Over stores with one partition and a few instances of one process.
    async fn of(store: Arc<dyn Store>) -> Self {
        let reference: Arc<dyn Store> = Arc::new(Memory::new(Arc::new(|| 0)));
        let pair = Pair { store, reference };
        let definition = rows::definition(rows::key(PARTITION, 1), "p", 1);
        let mut instances: Vec<Instance> =
            (2..6).map(|number| rows::instance(rows::key(PARTITION, number), definition.key.0)).collect();
        (instances[3].state, instances[3].ended) = (InstanceState::Completed, Some(NOW));
        let first = Changes { definitions_new: vec![definition], instances_new: instances.clone(), ..Changes::default() };
        let owners = [Owner::of(&pair.store).await, Owner::of(&pair.reference).await];
        let mut filling = Self { pair, owners, instances, now: NOW, number: 10, ending: Changes::default() };
        filling.commit(first).await;
        filling
    }

    async fn commit(&mut self, changes: Changes) {
        for owner in &mut self.owners {
            owner.commit(changes.clone()).await;
        }
    }

    async fn ticks(&mut self, set_back: i64) {
        for tick in 0..30 {
            self.now += if tick % 10 == 9 { -set_back } else { [0, 3, 170, 0, 410][tick as usize % 5] };
            let mut changes = std::mem::take(&mut self.ending);
            for _ in 0..1 + tick % 3 {
                self.begin(&mut changes);
            }
            self.commit(changes).await;
        }
        let changes = std::mem::take(&mut self.ending);
        self.commit(changes).await;
    }

    /// An element instance and its job. Some are over when they are written, as in a tick that does much.
    fn begin(&mut self, changes: &mut Changes) {
        self.number += 2;
        let lasting = LASTING[self.number as usize / 2 % LASTING.len()];
        let instance = &self.instances[if lasting.is_some() { 3 } else { self.number as usize % 3 }];
        let mut element = rows::element(rows::key(PARTITION, self.number), instance);
        let mut job = rows::job(rows::key(PARTITION, self.number + 1), &element);
        (element.started, job.created) = (self.now, self.now);
        let is_over_at_once = self.number.is_multiple_of(4);
        if !is_over_at_once {
            changes.elements_new.push(element.clone());
            changes.jobs_new.push(job.clone());
        }
        if self.number.is_multiple_of(5) {
            (job.state, job.availability) = (JobState::Failed, Availability::Stuck);
        }
        if let Some(lasting) = lasting {
            element.state = if self.number.is_multiple_of(7) { ElementState::Terminated } else { ElementState::Completed };
            element.ended = Some(self.now + lasting);
            (job.state, job.availability, job.ended) = (JobState::Completed, Availability::Done, Some(self.now + lasting));
        }
        if is_over_at_once {
            changes.elements_new.push(element);
            changes.jobs_new.push(job);
        } else {
            self.end(element, job);
        }
    }

    fn end(&mut self, Element { key, state, ended, .. }: Element, job: Job) {
        let change = ElementChange { key, state, ended, incident: None, progress: None, past: false };
        self.ending.elements_changed.push(change);
        self.ending.jobs_changed.push(job);
    }

    async fn walk(&self, entity: Entity, filter: &Filter, sort: &[Sort], limit: u32) {
        let query = Query { filter: filter.clone(), sort: sort.to_vec(), ..Query::of(entity, Tenants::Everything) };
        walk(&self.pair, &query, limit).await;
    }
}

fn is(field: Field, text: &str) -> Filter {
    Filter::Is(field, Op::Eq(Scalar::Text(text.to_owned())))
}

fn everything() -> Filter {
    Filter::All(Vec::new())
}

pub(super) async fn element_instances_by_start(store: Arc<dyn Store>) {
    let mut filling = Filling::of(store).await;
    for set_back in [40, 60_000] {
        filling.ticks(set_back).await;
        let sorts = [vec![ascending(Field::Started)], vec![descending(Field::Started), descending(Field::ElementKey)]];
        let since = Filter::Is(Field::Started, Op::Gte(Scalar::Int(NOW + 1_000)));
        let filters = [everything(), is(Field::ElementState, "ACTIVE"), is(Field::ProcessId, "p"), since];
        for filter in &filters {
            for sort in &sorts {
                filling.walk(Entity::Elements, filter, sort, 25).await;
            }
        }
        let filter = is(Field::ElementId, "nowhere");
        filling.pair.search(&Query { filter, sort: sorts[0].clone(), ..Query::of(Entity::Elements, Tenants::Everything) }).await;
    }
}

/// Instances of two processes: some run, some of these are suspended, some are over, at once or later.
fn instances_begin(filling: &mut Filling, changes: &mut Changes) {
    for _ in 0..2 {
        filling.number += 2;
        let number = filling.number;
        let of = filling.instances[0].definition.0 + u64::from(number.is_multiple_of(6));
        let mut instance = rows::instance(rows::key(PARTITION, number), of);
        instance.started = filling.now;
        if number.is_multiple_of(16) {
            instance.tags.push("t".into());
        }
        let (state, ended) = match number / 2 % 7 {
            0 | 4 => (InstanceState::Active, None),
            1 => (InstanceState::Terminated, Some(filling.now + 700)),
            2 => (InstanceState::Completed, Some(filling.now - 20)),
            3 => {
                changes.instances_suspended.push((instance.key, Some(filling.now)));
                (InstanceState::Active, None)
            }
            _ => (InstanceState::Completed, Some(filling.now + 30)),
        };
        if number.is_multiple_of(4) || ended.is_none() {
            (instance.state, instance.ended) = (state, ended);
        } else {
            let change = InstanceChange { key: instance.key, state, phase: instance.phase, ended };
            filling.ending.instances_changed.push(change);
        }
        changes.instances_new.push(instance);
    }
}

fn instances_asked() -> (Vec<Filter>, Vec<Filter>) {
    let state = |word| is(Field::InstanceState, word);
    let time = |field, op: fn(Scalar) -> Op, after| Filter::Is(field, op(Scalar::Int(NOW + after)));
    let began = |op, after| time(Field::Started, op, after);
    let all = |parts: &[Filter]| Filter::All(parts.to_vec());
    let since = began(Op::Gte, 1_500);
    let spans = vec![
        since.clone(),
        all(&[began(Op::Gt, 700), began(Op::Lt, 2_500)]),
        began(Op::Lte, 1_500),
        began(Op::Eq, 586),
        all(&[since.clone(), state("ACTIVE")]),
        all(&[since.clone(), state("COMPLETED")]),
        all(&[since.clone(), is(Field::ProcessId, "q"), state("ACTIVE")]),
        all(&[since.clone(), is(Field::ProcessId, "p")]),
        all(&[since.clone(), time(Field::Ended, Op::Lte, 4_000)]),
        all(&[since, Filter::HasTag("t".into())]),
    ];
    let others = vec![
        everything(),
        state("ACTIVE"),
        state("TERMINATED"),
        state("SUSPENDED"),
        state("COMPLETED"),
        is(Field::ProcessId, "q"),
        all(&[is(Field::ProcessId, "p"), state("ACTIVE")]),
        all(&[is(Field::ProcessId, "p"), state("COMPLETED")]),
        time(Field::Ended, Op::Gte, 1_500),
        Filter::HasTag("t".into()),
    ];
    (spans, others)
}

pub(super) async fn instances_by_start(store: Arc<dyn Store>) {
    let mut filling = Filling::of(store).await;
    let other = rows::definition(filling.instances[0].definition.0 + 1, "q", 1);
    filling.commit(Changes { definitions_new: vec![other], ..Changes::default() }).await;
    let (spans, others) = instances_asked();
    // The second time keys say too little: as elsewhere, all are sorted.
    for (set_back, every) in [(40, 1), (60_000, 4)] {
        for tick in 0..30 {
            filling.now += if tick % 10 == 9 { -set_back } else { [0, 3, 170, 0, 410][tick % 5] };
            let mut changes = std::mem::take(&mut filling.ending);
            instances_begin(&mut filling, &mut changes);
            filling.commit(changes).await;
        }
        let (up, down) = (ascending(Field::Started), descending(Field::Started));
        for filter in spans.iter().chain(&others).step_by(every) {
            for sort in [vec![up], vec![down, descending(Field::InstanceKey)]] {
                filling.walk(Entity::Instances, filter, &sort, 21).await;
            }
        }
        for filter in spans.iter().step_by(every) {
            for sort in
                [vec![], vec![descending(Field::InstanceKey)], vec![ascending(Field::Ended)], vec![descending(Field::Ended)]]
            {
                filling.walk(Entity::Instances, filter, &sort, 21).await;
            }
        }
        // None began so early, or has such a parent.
        let early = Filter::Is(Field::Started, Op::Lt(Scalar::Int(-1)));
        for filter in [early, Filter::Is(Field::ParentInstanceKey, Op::Eq(Scalar::Int(5)))] {
            for sort in [vec![], vec![up], vec![descending(Field::Ended)]] {
                let query = Query { filter: filter.clone(), sort, ..Query::of(Entity::Instances, Tenants::Everything) };
                assert_eq!(filling.pair.search(&query).await.total, 0);
            }
        }
    }
}

/// So many in each state that none of these is looked for as one that few are in.
pub(super) async fn instances_by_start_among_many(store: Arc<dyn Store>) {
    let mut filling = Filling::of(store).await;
    let definition = filling.instances[0].definition.0;
    for tick in 0..10 {
        filling.now += if tick % 4 == 3 { -30 } else { 25 };
        let mut changes = Changes::default();
        for _ in 0..1_560 {
            filling.number += 1;
            let mut instance = rows::instance(rows::key(PARTITION, filling.number), definition);
            instance.started = filling.now;
            match filling.number % 3 {
                0 => {}
                1 => changes.instances_suspended.push((instance.key, Some(filling.now))),
                _ => (instance.state, instance.ended) = (InstanceState::Terminated, Some(filling.now + 1)),
            }
            changes.instances_new.push(instance);
        }
        filling.commit(changes).await;
    }
    let state = |word| is(Field::InstanceState, word);
    let running = Filter::All(vec![is(Field::ProcessId, "p"), state("ACTIVE")]);
    let since = Filter::Is(Field::Started, Op::Gte(Scalar::Int(NOW + 30)));
    let recent = Filter::All(vec![state("ACTIVE"), since.clone()]);
    for filter in [state("ACTIVE"), state("TERMINATED"), state("SUSPENDED"), running, since, recent] {
        for sort in [vec![], vec![ascending(Field::Started)], vec![descending(Field::Started)], vec![descending(Field::Ended)]] {
            let query = Query { filter: filter.clone(), sort, ..Query::of(Entity::Instances, Tenants::Everything) };
            let middle = filling.pair.search(&Query { page: Page::From { from: 2_900, limit: 40 }, ..query.clone() }).await;
            let cursor = middle.end.expect("there are so many");
            filling.pair.search(&Query { page: Page::From { from: 0, limit: 40 }, ..query.clone() }).await;
            filling.pair.search(&Query { page: Page::After { cursor: cursor.clone(), limit: 40 }, ..query.clone() }).await;
            filling.pair.search(&Query { page: Page::Before { cursor, limit: 40 }, ..query }).await;
        }
    }
}

/// Quick ones, some that took long, and some that have no end.
pub(super) async fn element_instances_and_jobs_by_end(store: Arc<dyn Store>) {
    let mut filling = Filling::of(store).await;
    for set_back in [40, 60_000] {
        filling.ticks(set_back).await;
        for (entity, state, alive) in
            [(Entity::Elements, Field::ElementState, "ACTIVE"), (Entity::Jobs, Field::JobState, "CREATED")]
        {
            let time = |op: fn(Scalar) -> Op, after| Filter::Is(Field::Ended, op(Scalar::Int(NOW + after)));
            let filters = [
                everything(),
                is(state, "COMPLETED"),
                is(state, alive),
                is(Field::ProcessId, "p"),
                Filter::All(vec![time(Op::Gte, 1_500), time(Op::Lt, 4_000)]),
                time(Op::Lte, 3_000),
                Filter::Is(Field::Ended, Op::Exists(false)),
            ];
            let (up, down) = (ascending(Field::Ended), descending(Field::Ended));
            let key = entity.key();
            for sort in [vec![up, descending(key)], vec![down, descending(key)]] {
                filling.walk(entity, &everything(), &sort, 25).await;
            }
            for filter in &filters {
                for sort in [vec![up], vec![down]] {
                    filling.walk(entity, filter, &sort, 25).await;
                }
            }
            // Cursors of rows that are not among those asked for.
            for (filter, end) in [(is(state, "COMPLETED"), None), (is(state, alive), Some(Scalar::Int(NOW + 2_000)))] {
                for sort in [up, down] {
                    let cursor = Cursor(vec![end.clone(), Some(Scalar::Int(rows::key(PARTITION, 60) as i64))]);
                    let query = Query { filter: filter.clone(), sort: vec![sort], ..Query::of(entity, Tenants::Everything) };
                    let page = Page::After { cursor: cursor.clone(), limit: 7 };
                    filling.pair.search(&Query { page, ..query.clone() }).await;
                    filling.pair.search(&Query { page: Page::Before { cursor, limit: 7 }, ..query }).await;
                }
            }
            let by_both = [down, ascending(if entity == Entity::Jobs { Field::JobType } else { Field::Started })];
            filling.walk(entity, &everything(), &by_both, 25).await;
        }
    }
}

/// More than anybody goes through in search of a page lie between those that are alive.
pub(super) async fn those_alive_among_many(store: Arc<dyn Store>) {
    let mut filling = Filling::of(store).await;
    filling.ticks(40).await;
    let instance = filling.instances[3].clone();
    let ended = (0..11_000).map(|number| {
        let mut element = rows::element(rows::key(PARTITION, 1_000 + number), &instance);
        (element.started, element.state) = (filling.now, ElementState::Completed);
        element.ended = Some(filling.now + 1);
        element
    });
    let changes = Changes { elements_new: ended.collect(), ..Changes::default() };
    filling.commit(changes).await;
    filling.number = 20_000;
    filling.ticks(40).await;
    for sort in [vec![], vec![descending(Field::ElementKey)], vec![ascending(Field::Started)], vec![descending(Field::Ended)]] {
        filling.walk(Entity::Elements, &is(Field::ElementState, "ACTIVE"), &sort, 9).await;
    }
    // At one element, of one process: most that have been there have ended.
    let more = Filter::Is(Field::Started, Op::Lt(Scalar::Int(filling.now - 3_000)));
    for of in [is(Field::ElementId, "work"), is(Field::ProcessId, "p"), Filter::All(vec![is(Field::ProcessId, "p"), more])] {
        let filter = Filter::All(vec![of, is(Field::ElementState, "ACTIVE")]);
        filling.walk(Entity::Elements, &filter, &[], 9).await;
    }
}
