//! What searches promise, said with few rows and expected answers. Every combination is in `search_reference`.

use std::sync::Arc;

use super::owner::{Owner, PARTITION};
use super::rows;
use crate::query::{Entity, Field, Filter, Items, Op, Order, Page, Query, QueryPage, Scalar, Sort, TOTAL_MAX, Tenants};
use crate::row::Instance;
use crate::{Changes, Store};

fn text(text: &str) -> Scalar {
    Scalar::Text(text.to_owned())
}

fn int(number: i64) -> Scalar {
    Scalar::Int(number)
}

/// Four instances: 10 and 12 have the business ids `b` and `B`, 11 and 13 have none.
async fn four(store: &Arc<dyn Store>) -> Owner {
    let definition = rows::definition(rows::key(PARTITION, 1), "p", 1);
    let instance = |n, business_id: Option<&str>| Instance {
        business_id: business_id.map(Arc::from),
        ..rows::instance(rows::key(PARTITION, n), definition.key.0)
    };
    let instances = vec![instance(10, Some("b")), instance(11, None), instance(12, Some("B")), instance(13, None)];
    let mut owner = Owner::of(store).await;
    owner.commit(Changes { definitions_new: vec![definition], instances_new: instances, ..Changes::default() }).await;
    owner
}

/// The numbers of the keys found.
async fn found(store: &Arc<dyn Store>, query: Query) -> Vec<u64> {
    numbers(&store.search(&query).await.unwrap())
}

fn numbers(page: &QueryPage) -> Vec<u64> {
    let keys: Vec<u64> = match &page.items {
        Items::Definitions(items) => items.iter().map(|one| one.key.0).collect(),
        Items::Instances(items) => items.iter().map(|one| one.key.0).collect(),
        Items::Elements(items) => items.iter().map(|one| one.key.0).collect(),
        Items::Variables(items) => items.iter().map(|one| one.key.0).collect(),
        Items::Jobs(items) => items.iter().map(|one| one.key.0).collect(),
        Items::Incidents(items) => items.iter().map(|one| one.key.0).collect(),
        Items::Requirements(items) => items.iter().map(|one| one.key.0).collect(),
        Items::Decisions(items) => items.iter().map(|one| one.key.0).collect(),
        Items::EvaluatedDecisions(items) => items.iter().map(|one| one.evaluation.0 + u64::from(one.place) - 1).collect(),
        Items::Timers(items) => items.iter().map(|one| one.key.0).collect(),
        Items::MessageSubscriptions(items) | Items::Waits(items) => items.iter().map(|one| one.key.0).collect(),
        Items::MessageCorrelations(items) => items.iter().map(|one| one.key).collect(),
        Items::UserTasks(items) => items.iter().map(|one| one.key.0).collect(),
        Items::Executions(items) => items.iter().map(|one| one.key.0).collect(),
        Items::Batches(items) => items.iter().map(|one| one.key).collect(),
        Items::BatchItems(items) => items.iter().map(|one| one.key).collect(),
        Items::Operations(items) | Items::Audit(items) => items.iter().map(|one| one.key).collect(),
        Items::DeadLetters(items) => items.iter().map(|one| one.key.0).collect(),
    };
    keys.into_iter().map(|key| key - rows::key(PARTITION, 0)).collect()
}

fn instances(filter: Filter) -> Query {
    Query { filter, ..Query::of(Entity::Instances, Tenants::Everything) }
}

fn business_id(op: Op) -> Filter {
    Filter::Is(Field::BusinessId, op)
}

pub(super) async fn absent_values_come_first(store: Arc<dyn Store>) {
    four(&store).await;
    let sorted = |order| Query {
        sort: vec![Sort { field: Field::BusinessId, order }],
        ..Query::of(Entity::Instances, Tenants::Everything)
    };
    assert_eq!(found(&store, sorted(Order::Ascending)).await, [11, 13, 12, 10], "and upper case before lower case");
    assert_eq!(found(&store, sorted(Order::Descending)).await, [10, 12, 11, 13], "of equals the older");
    let page = Query { page: Page::From { from: 1, limit: 2 }, ..sorted(Order::Ascending) };
    let page = store.search(&page).await.unwrap();
    assert_eq!((page.total, page.total_is_more), (4, false));
    let cursor = page.start.expect("two items");
    assert_eq!(cursor.0, [None, Some(int(rows::key(PARTITION, 13) as i64))]);
    let after = Query { page: Page::After { cursor: cursor.clone(), limit: 10 }, ..sorted(Order::Ascending) };
    assert_eq!(found(&store, after).await, [12, 10]);
    let before = Query { page: Page::Before { cursor, limit: 10 }, ..sorted(Order::Ascending) };
    assert_eq!(found(&store, before).await, [11]);
}

pub(super) async fn patterns_tell_case(store: Arc<dyn Store>) {
    four(&store).await;
    assert_eq!(found(&store, instances(business_id(Op::Like("b*".into())))).await, [10]);
    assert_eq!(found(&store, instances(business_id(Op::Like("?".into())))).await, [10, 12]);
    assert_eq!(found(&store, instances(business_id(Op::Like("\\?".into())))).await, [] as [u64; 0]);
    assert_eq!(found(&store, instances(business_id(Op::Eq(text("B"))))).await, [12]);
}

pub(super) async fn a_filter_and_its_opposite_divide_all_rows(store: Arc<dyn Store>) {
    four(&store).await;
    let is_b = business_id(Op::Eq(text("b")));
    assert_eq!(found(&store, instances(is_b.clone())).await, [10]);
    assert_eq!(found(&store, instances(Filter::Not(Box::new(is_b.clone())))).await, [11, 12, 13]);
    assert_eq!(found(&store, instances(business_id(Op::Neq(text("b"))))).await, [11, 12, 13]);
    assert_eq!(found(&store, instances(business_id(Op::NotIn(vec![text("b")])))).await, [11, 12, 13]);
    assert_eq!(found(&store, instances(business_id(Op::Exists(false)))).await, [11, 13]);
    let neither = Filter::Not(Box::new(Filter::Any(vec![is_b, business_id(Op::Lt(text("a")))])));
    assert_eq!(found(&store, instances(neither)).await, [11, 13]);
}

pub(super) async fn lists_may_be_empty(store: Arc<dyn Store>) {
    four(&store).await;
    assert_eq!(found(&store, instances(business_id(Op::In(vec![])))).await, [] as [u64; 0]);
    assert_eq!(found(&store, instances(business_id(Op::NotIn(vec![])))).await, [10, 11, 12, 13]);
    assert_eq!(found(&store, instances(Filter::Any(vec![]))).await, [] as [u64; 0]);
    assert_eq!(found(&store, instances(Filter::All(vec![]))).await, [10, 11, 12, 13]);
}

pub(super) async fn the_latest_of_what_matches(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let versions = (1..=3).map(|version| rows::definition(rows::key(PARTITION, version as u64), "p", version));
    owner.commit(Changes { definitions_new: versions.collect(), ..Changes::default() }).await;
    let latest = |filter| Query { filter, latest_version: true, ..Query::of(Entity::Definitions, Tenants::Everything) };
    assert_eq!(found(&store, latest(Filter::All(vec![]))).await, [3]);
    assert_eq!(found(&store, latest(Filter::Is(Field::Version, Op::Lt(int(3))))).await, [2]);
    let page = store.search(&latest(Filter::All(vec![]))).await.unwrap();
    assert_eq!(page.total, 1);
}

pub(super) async fn instances_by_what_belongs_to_them(store: Arc<dyn Store>) {
    let mut owner = four(&store).await;
    let definition = rows::key(PARTITION, 1);
    let instance = |n| rows::instance(rows::key(PARTITION, n), definition);
    let variables = vec![
        rows::variable(rows::key(PARTITION, 20), &instance(10), "x", "1"),
        rows::variable(rows::key(PARTITION, 21), &instance(10), "y", "2"),
        rows::variable(rows::key(PARTITION, 22), &instance(12), "x", "2"),
    ];
    let task = rows::element(rows::key(PARTITION, 23), &instance(13));
    let incident = rows::incident(rows::key(PARTITION, 24), &task);
    let changes =
        Changes { variables_new: variables, elements_new: vec![task], incidents_new: vec![incident], ..Changes::default() };
    owner.commit(changes).await;
    let x_is = |value: &str| {
        let both = vec![Filter::Is(Field::Name, Op::Eq(text("x"))), Filter::Is(Field::Value, Op::Eq(text(value)))];
        Filter::Related(Entity::Variables, Box::new(Filter::All(both)))
    };
    assert_eq!(found(&store, instances(x_is("1"))).await, [10]);
    assert_eq!(found(&store, instances(x_is("2"))).await, [12], "both conditions hold of the same variable");
    assert_eq!(found(&store, instances(Filter::Not(Box::new(x_is("2"))))).await, [10, 11, 13]);
    let stuck = Filter::Is(Field::ErrorMessage, Op::Like("no more*".into()));
    let stuck = Filter::Related(Entity::Incidents, Box::new(stuck));
    assert_eq!(found(&store, instances(stuck.clone())).await, [13]);
    let at_work = Filter::Is(Field::ElementId, Op::Eq(text("work")));
    let at_work = Filter::Related(Entity::Elements, Box::new(at_work));
    assert_eq!(found(&store, instances(Filter::All(vec![at_work, stuck]))).await, [13]);
}

pub(super) async fn tenants_do_not_see_each_other(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let mut changes = Changes::default();
    for (n, tenant) in [(1, "t"), (2, "u")] {
        let mut definition = rows::definition(rows::key(PARTITION, n), "p", 1);
        definition.tenant = tenant.into();
        let instance = rows::instance(rows::key(PARTITION, n + 10), definition.key.0);
        let task = rows::element(rows::key(PARTITION, n + 20), &instance);
        let mut job = rows::job(rows::key(PARTITION, n + 30), &task);
        job.tenant = tenant.into();
        changes.incidents_new.push(rows::incident(rows::key(PARTITION, n + 40), &task));
        changes.variables_new.push(rows::variable(rows::key(PARTITION, n + 50), &instance, "x", "1"));
        changes.jobs_new.push(job);
        changes.elements_new.push(task);
        changes.instances_new.push(instance);
        changes.definitions_new.push(definition);
        let mut requirements = rows::requirements(rows::key(PARTITION, n + 60), "r", 1);
        requirements.tenant = tenant.into();
        requirements.decisions = vec![rows::decision(rows::key(PARTITION, n + 70), "d", 1)];
        let mut evaluated = rows::evaluated_decision(rows::key(PARTITION, n + 80), &requirements);
        evaluated.tenant = tenant.into();
        changes.evaluated_decisions_new.push(evaluated);
        changes.requirements_new.push(requirements);
    }
    owner.commit(changes).await;
    let entities = [
        (Entity::Definitions, 0),
        (Entity::Instances, 10),
        (Entity::Elements, 20),
        (Entity::Jobs, 30),
        (Entity::Incidents, 40),
        (Entity::Variables, 50),
        (Entity::Requirements, 60),
        (Entity::Decisions, 70),
        (Entity::EvaluatedDecisions, 80),
    ];
    for (entity, first) in entities {
        let of = |tenants: &[&str]| Query::of(entity, Tenants::These(tenants.iter().map(|one| Arc::from(*one)).collect()));
        assert_eq!(found(&store, of(&["t"])).await, [first + 1], "{entity:?}");
        assert_eq!(found(&store, of(&["u", "w"])).await, [first + 2], "{entity:?}");
        assert_eq!(found(&store, of(&["u", "t"])).await, [first + 1, first + 2], "{entity:?}");
        assert_eq!(store.search(&of(&[])).await.unwrap().total, 0, "{entity:?}");
    }
}

pub(super) async fn totals_are_bounded(store: Arc<dyn Store>) {
    let definition = rows::definition(rows::key(PARTITION, 1), "p", 1);
    let mut owner = Owner::of(&store).await;
    let many = |from, to| (from..to).map(|n| rows::instance(rows::key(PARTITION, 10 + n), definition.key.0)).collect();
    let first = Changes { definitions_new: vec![definition.clone()], instances_new: many(0, TOTAL_MAX), ..Changes::default() };
    owner.commit(first).await;
    let query = Query { page: Page::From { from: 0, limit: 1 }, ..Query::of(Entity::Instances, Tenants::Everything) };
    let page = store.search(&query).await.unwrap();
    assert_eq!((page.total, page.total_is_more), (TOTAL_MAX, false));
    owner.commit(Changes { instances_new: many(TOTAL_MAX, TOTAL_MAX + 1), ..Changes::default() }).await;
    let page = store.search(&query).await.unwrap();
    assert_eq!((page.total, page.total_is_more), (TOTAL_MAX, true));
    let none = Query { page: Page::From { from: 0, limit: 0 }, ..query };
    let page = store.search(&none).await.unwrap();
    assert_eq!((page.total, page.start, page.end), (TOTAL_MAX, None, None));
}

pub(super) async fn values_are_cut(store: Arc<dyn Store>) {
    let mut owner = four(&store).await;
    let instance = rows::instance(rows::key(PARTITION, 10), rows::key(PARTITION, 1));
    let variables = vec![
        rows::variable(rows::key(PARTITION, 20), &instance, "x", "äöü"),
        rows::variable(rows::key(PARTITION, 21), &instance, "y", "äöüß"),
        // Not shown by any search.
        rows::variable(rows::key(PARTITION, 22), &instance, &format!("{}z", engine::KEPT), "z"),
    ];
    owner.commit(Changes { variables_new: variables, ..Changes::default() }).await;
    let cut = |value_chars_max| Query { value_chars_max, ..Query::of(Entity::Variables, Tenants::Everything) };
    for (max, expected) in [
        (Some(3), [("äöü", false), ("äöü", true)]),
        (Some(4), [("äöü", false), ("äöüß", false)]),
        (Some(0), [("", true), ("", true)]),
        (None, [("äöü", false), ("äöüß", false)]),
    ] {
        match store.search(&cut(max)).await.unwrap().items {
            Items::Variables(items) => {
                let seen: Vec<_> = items.iter().map(|one| (one.value.as_str(), one.is_truncated)).collect();
                assert_eq!(seen, expected, "{max:?}");
            }
            other => panic!("{other:?}"),
        }
    }
    let kept = Query { with_kept: true, ..cut(None) };
    assert_eq!(store.search(&kept).await.unwrap().items.len(), 3);
}

pub(super) async fn pages_end_before_they_hold_too_much(store: Arc<dyn Store>) {
    const KIB: usize = 1024;
    let mut owner = four(&store).await;
    let instance = rows::instance(rows::key(PARTITION, 10), rows::key(PARTITION, 1));
    let variable = |n: u64, bytes| rows::variable(rows::key(PARTITION, n), &instance, "x", &"x".repeat(bytes));
    let variables = vec![variable(20, 40 * KIB), variable(21, 10 * KIB), variable(22, 10 * KIB), variable(23, 10 * KIB)];
    owner.commit(Changes { variables_new: variables, ..Changes::default() }).await;
    let bounded = |page| Query { page, bytes_max: Some(25 * KIB), ..Query::of(Entity::Variables, Tenants::Everything) };
    let first = store.search(&bounded(Page::From { from: 0, limit: 10 })).await.unwrap();
    assert_eq!((numbers(&first), first.is_cut, first.total), (vec![20], true, 4), "the first row is given, however long it is");
    let cursor = first.end.unwrap();
    let second = store.search(&bounded(Page::After { cursor, limit: 10 })).await.unwrap();
    assert_eq!((numbers(&second), second.is_cut), (vec![21, 22], true));
    let cursor = second.end.clone().unwrap();
    let third = store.search(&bounded(Page::After { cursor: cursor.clone(), limit: 10 })).await.unwrap();
    assert_eq!((numbers(&third), third.is_cut), (vec![23], false));
    let back = store.search(&bounded(Page::Before { cursor: third.end.unwrap(), limit: 10 })).await.unwrap();
    assert_eq!((numbers(&back), back.is_cut), (vec![21, 22], true), "backwards it ends at its beginning");
    assert_eq!((back.start, back.end), (second.start, second.end));
    let cut = Query { value_chars_max: Some(10), ..bounded(Page::Before { cursor, limit: 10 }) };
    let cut = store.search(&cut).await.unwrap();
    assert_eq!((numbers(&cut), cut.is_cut), (vec![20, 21], false), "what is not read takes no room");
}

/// A read that begins after a commit was acknowledged sees it, however many readers there are.
pub(super) async fn a_commit_is_seen_at_once(store: Arc<dyn Store>) {
    let definition = rows::definition(rows::key(PARTITION, 1), "p", 1);
    let mut owner = Owner::of(&store).await;
    owner.commit(Changes { definitions_new: vec![definition.clone()], ..Changes::default() }).await;
    for n in 1..=20 {
        let instance = rows::instance(rows::key(PARTITION, 10 + n), definition.key.0);
        owner.commit(Changes { instances_new: vec![instance], ..Changes::default() }).await;
        let readers: Vec<_> = (0..4)
            .map(|_| {
                let store = store.clone();
                tokio::spawn(async move { store.search(&Query::of(Entity::Instances, Tenants::Everything)).await.unwrap().total })
            })
            .collect();
        for reader in readers {
            assert_eq!(reader.await.unwrap(), n);
        }
    }
}
