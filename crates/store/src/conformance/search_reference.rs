//! Every field, operator, order and page of every entity, compared with the reference model over the same rows.

use std::sync::Arc;

use engine::PartitionId;

use super::data::{self, ODD_TEXTS, TENANTS};
use super::owner::Owner;
use crate::Store;
use crate::memory::Memory;
use crate::query::{
    Counting, Cursor, Entity, Field, Filter, Op, Order, Page, Query, QueryPage, Scalar, ScalarKind, Sort, Tenants,
};
use crate::row::Candidates;

const ENTITIES: [Entity; 20] = [
    Entity::Definitions,
    Entity::Instances,
    Entity::Elements,
    Entity::Variables,
    Entity::Jobs,
    Entity::Incidents,
    Entity::Requirements,
    Entity::Decisions,
    Entity::EvaluatedDecisions,
    Entity::Timers,
    Entity::MessageSubscriptions,
    Entity::Waits,
    Entity::MessageCorrelations,
    Entity::UserTasks,
    Entity::Executions,
    Entity::Batches,
    Entity::BatchItems,
    Entity::Operations,
    Entity::Audit,
    Entity::DeadLetters,
];

/// The store under test beside the reference, with the same rows in both, in two partitions.
pub(super) struct Pair {
    pub(super) store: Arc<dyn Store>,
    pub(super) reference: Arc<dyn Store>,
}

impl Pair {
    async fn over(store: Arc<dyn Store>) -> Self {
        let reference: Arc<dyn Store> = Arc::new(Memory::new(Arc::new(|| 0)));
        for (partition, instances) in [(PartitionId(1), 36), (PartitionId(2), 9)] {
            let (changes, _) = data::data(partition, instances);
            for store in [&store, &reference] {
                Owner::of_partition(store, partition).await.commit(changes.clone()).await;
            }
        }
        Self { store, reference }
    }

    /// What both say.
    pub(super) async fn search(&self, query: &Query) -> QueryPage {
        let expected = self.reference.search(query).await.unwrap();
        let found = self.store.search(query).await.unwrap_or_else(|error| panic!("{error}\n{query:#?}"));
        assert_eq!(found, expected, "{query:#?}");
        found
    }

    /// Some values of a field, from both ends and the middle.
    async fn values(&self, entity: Entity, field: Field) -> Vec<Scalar> {
        let mut values: Vec<Scalar> = Vec::new();
        let mut query = Query { sort: vec![ascending(field)], ..Query::of(entity, Tenants::Everything) };
        let total = self.reference.search(&query).await.unwrap().total;
        for from in [0, total / 4, total / 2, total * 3 / 4, total.saturating_sub(1)] {
            query.page = Page::From { from, limit: 1 };
            let page = self.reference.search(&query).await.unwrap();
            let value = page.start.and_then(|cursor| cursor.0.first().cloned().flatten());
            values.extend(value.filter(|value| !values.contains(value)));
        }
        values
    }
}

pub(super) fn ascending(field: Field) -> Sort {
    Sort { field, order: Order::Ascending }
}

pub(super) fn descending(field: Field) -> Sort {
    Sort { field, order: Order::Descending }
}

pub(super) async fn every_field_and_operator(store: Arc<dyn Store>) {
    let pair = Pair::over(store).await;
    for entity in ENTITIES {
        let all = pair.reference.search(&Query::of(entity, Tenants::Everything)).await.unwrap().total;
        for field in entity.fields() {
            let values = pair.values(entity, *field).await;
            for op in operators(field.kind(), &values) {
                let is = Filter::Is(*field, op);
                let not = Filter::Not(Box::new(is.clone()));
                let matching = pair.search(&Query { filter: is, ..Query::of(entity, Tenants::Everything) }).await.total;
                let others = pair.search(&Query { filter: not, ..Query::of(entity, Tenants::Everything) }).await.total;
                assert_eq!(matching + others, all);
            }
        }
    }
}

pub(super) async fn counts_by_every_field(store: Arc<dyn Store>) {
    let pair = Pair::over(store).await;
    let compared = async |counting: &Counting| {
        let counted = pair.store.count(counting).await.unwrap();
        assert_eq!(counted, pair.reference.count(counting).await.unwrap(), "{counting:?}");
        counted
    };
    for entity in ENTITIES {
        let all = pair.reference.search(&Query::of(entity, Tenants::Everything)).await.unwrap().total;
        let fields = entity.fields();
        for (place, field) in fields.iter().enumerate() {
            let other = fields[(place + 1) % fields.len()];
            let filter = Filter::All(Vec::new());
            let by = vec![*field, other];
            let counting = Counting {
                entity,
                tenants: Tenants::Everything,
                filter,
                by,
                distinct: Some(other),
                latest: Some(entity.key()).filter(|key| key.kind() == crate::query::ScalarKind::Int),
                limit: 1_000_000,
            };
            let counted = compared(&counting).await;
            assert_eq!(counted.iter().map(|group| group.rows).sum::<u64>(), all);
            let first = compared(&Counting { limit: 2, distinct: None, latest: None, ..counting.clone() }).await;
            assert!(first.iter().zip(&counted).all(|(few, group)| few.values == group.values && few.distinct == few.rows));
        }
    }
    let running = Filter::Is(Field::InstanceState, Op::Eq(Scalar::Text("ACTIVE".to_owned())));
    let of_running = Filter::OfInstance(Box::new(running));
    for (entity, filter) in [
        (Entity::Elements, of_running.clone()),
        (Entity::Jobs, Filter::Not(Box::new(of_running.clone()))),
        (Entity::Timers, Filter::Not(Box::new(of_running))),
    ] {
        let by = vec![Field::ElementId];
        let tenants = Tenants::These(vec![TENANTS[0].into()]);
        compared(&Counting { entity, tenants, filter, by, distinct: Some(Field::InstanceKey), latest: None, limit: 100 }).await;
    }
}

fn operators(kind: ScalarKind, values: &[Scalar]) -> Vec<Op> {
    let mut ops = vec![
        Op::Exists(true),
        Op::Exists(false),
        Op::In(vec![]),
        Op::NotIn(vec![]),
        Op::In(values.to_vec()),
        Op::NotIn(values[values.len() / 2..].to_vec()),
    ];
    let absent = match kind {
        ScalarKind::Bool => Scalar::Bool(true),
        ScalarKind::Int => Scalar::Int(-1),
        ScalarKind::Text => Scalar::Text("' OR 1=1 --".to_owned()),
    };
    for value in values.iter().chain([&absent]) {
        ops.push(Op::Eq(value.clone()));
        ops.push(Op::Neq(value.clone()));
        if kind != ScalarKind::Bool {
            ops.push(Op::Lt(value.clone()));
            ops.push(Op::Lte(value.clone()));
            ops.push(Op::Gt(value.clone()));
            ops.push(Op::Gte(value.clone()));
        }
        if let Scalar::Text(text) = value {
            ops.extend(patterns(text).into_iter().map(Op::Like));
        }
    }
    if kind == ScalarKind::Text {
        ops.extend(
            ["*", "?", "", "*a*", "*\\**", "\\?", "*\\\\*", "*[*", "*\\_*", "*%*", "\\"].map(|like| Op::Like(like.into())),
        );
    }
    ops
}

/// Patterns around a text: itself, a part of it, and the same in another case.
fn patterns(text: &str) -> Vec<String> {
    let head: String = text.chars().take(50).collect();
    let literal: String = head.chars().flat_map(|character| ['\\', character]).collect();
    let rest: String = head.chars().skip(1).collect();
    vec![literal.clone(), format!("{literal}*"), format!("?{rest}"), format!("*{rest}*"), head.to_uppercase(), head]
}

pub(super) async fn every_order_and_page(store: Arc<dyn Store>) {
    let pair = Pair::over(store).await;
    for entity in ENTITIES {
        walk(&pair, &Query::of(entity, Tenants::Everything), 7).await;
        for field in entity.fields() {
            for sort in [ascending(*field), descending(*field)] {
                let query = Query { sort: vec![sort], ..Query::of(entity, Tenants::Everything) };
                walk(&pair, &query, 17).await;
            }
        }
    }
}

/// They have none, which says nothing of their order.
pub(super) async fn what_runs_by_its_end(store: Arc<dyn Store>) {
    let pair = Pair::over(store).await;
    let filter = Filter::Is(Field::InstanceState, Op::Eq(Scalar::Text("ACTIVE".to_owned())));
    let started = descending(Field::Started);
    for sort in [vec![ascending(Field::Ended)], vec![descending(Field::Ended)], vec![descending(Field::Ended), started]] {
        walk(&pair, &Query { filter: filter.clone(), sort, ..Query::of(Entity::Instances, Tenants::Everything) }, 5).await;
    }
}

pub(super) async fn mixed_orders(store: Arc<dyn Store>) {
    let pair = Pair::over(store).await;
    for entity in ENTITIES {
        let fields = entity.fields();
        for (one, other) in fields.iter().zip(fields[1..].iter().chain(&fields[..1])) {
            let query = Query { sort: vec![descending(*one), ascending(*other)], ..Query::of(entity, Tenants::Everything) };
            walk(&pair, &query, 23).await;
        }
        // Nothing after the key matters.
        let query =
            Query { sort: vec![descending(entity.key()), ascending(fields[1])], ..Query::of(entity, Tenants::Everything) };
        walk(&pair, &query, 23).await;
        let filter = Filter::Is(fields[1], Op::Exists(true));
        let query = Query { sort: vec![descending(fields[2])], filter, ..Query::of(entity, Tenants::Everything) };
        walk(&pair, &query, 5).await;
    }
}

pub(super) async fn pages_that_end_early(store: Arc<dyn Store>) {
    let pair = Pair::over(store).await;
    for entity in ENTITIES {
        let fields = entity.fields();
        for sort in [vec![], vec![ascending(fields[1])], vec![descending(fields[2]), ascending(fields[1])]] {
            for with_details in [false, true] {
                let query =
                    Query { sort: sort.clone(), bytes_max: Some(1_500), with_details, ..Query::of(entity, Tenants::Everything) };
                let mut page = pair.search(&query).await;
                let (mut found, mut cut) = (0, 0);
                while let Some(cursor) = page.end {
                    found += page.items.len() as u64;
                    cut += u32::from(page.is_cut);
                    pair.search(&Query { page: Page::Before { cursor: cursor.clone(), limit: 100 }, ..query.clone() }).await;
                    page = pair.search(&Query { page: Page::After { cursor, limit: 100 }, ..query.clone() }).await;
                }
                assert_eq!(found, page.total, "no row is left out: {query:?}");
                assert!(0 < cut, "no page ended early: {query:?}");
            }
        }
    }
}

/// Forward through all pages, backward through all pages, and by number.
pub(super) async fn walk(pair: &Pair, query: &Query, limit: u32) {
    let whole = Query { page: Page::From { from: 0, limit: 10_000 }, ..query.clone() };
    let total = pair.search(&whole).await.total;
    let pages = total.div_ceil(u64::from(limit));
    let first = Query { page: Page::From { from: 0, limit }, ..query.clone() };
    let mut page = pair.search(&first).await;
    for _ in 0..pages {
        let cursor = page.end.clone().expect("a page that is not past the end has an end");
        assert!(query.accepts(&cursor));
        page = pair.search(&Query { page: Page::After { cursor, limit }, ..query.clone() }).await;
    }
    assert_eq!((page.start, page.end), (None, None), "past the end there is nothing");
    let from = total - 1;
    let mut page = pair.search(&Query { page: Page::From { from, limit }, ..query.clone() }).await;
    for _ in 0..pages {
        let Some(cursor) = page.start.clone() else { break };
        page = pair.search(&Query { page: Page::Before { cursor, limit }, ..query.clone() }).await;
    }
    pair.search(&Query { page: Page::From { from: total / 2, limit: 0 }, ..query.clone() }).await;
    pair.search(&Query { page: Page::From { from: total + 5, limit }, ..query.clone() }).await;
    nowhere(pair, query, limit).await;
}

/// A cursor need not be that of any row: where the row was, the page goes on.
async fn nowhere(pair: &Pair, query: &Query, limit: u32) {
    let between = |sort: &Sort| match sort.field.kind() {
        ScalarKind::Bool => Some(Scalar::Bool(true)),
        ScalarKind::Int => Some(Scalar::Int(1_700_000_002_500)),
        ScalarKind::Text => Some(Scalar::Text("a0'".to_owned())),
    };
    let cursor = Cursor(query.order().iter().map(between).collect());
    pair.search(&Query { page: Page::After { cursor: cursor.clone(), limit }, ..query.clone() }).await;
    pair.search(&Query { page: Page::Before { cursor, limit }, ..query.clone() }).await;
}

pub(super) async fn related_tags_and_tenants(store: Arc<dyn Store>) {
    let pair = Pair::over(store).await;
    let belonging =
        [Entity::Elements, Entity::Variables, Entity::Jobs, Entity::Incidents, Entity::Timers, Entity::MessageCorrelations];
    for entity in belonging {
        for field in entity.fields() {
            for value in pair.values(entity, *field).await.into_iter().take(2) {
                let related = Filter::Related(entity, Box::new(Filter::Is(*field, Op::Eq(value))));
                pair.search(&Query { filter: related.clone(), ..Query::of(Entity::Instances, Tenants::Everything) }).await;
                let not = Filter::Not(Box::new(related));
                pair.search(&Query { filter: not, ..Query::of(Entity::Instances, Tenants::Everything) }).await;
            }
        }
    }
    for tag in ODD_TEXTS {
        let tagged = Filter::HasTag((*tag).into());
        let either = Filter::Any(vec![tagged.clone(), Filter::Is(Field::BusinessId, Op::Like(format!("{tag}*")))]);
        for filter in [tagged.clone(), Filter::Not(Box::new(tagged)), either] {
            pair.search(&Query { filter, ..Query::of(Entity::Instances, Tenants::Everything) }).await;
        }
    }
    for entity in ENTITIES {
        for tenants in [vec![], vec![TENANTS[0].into()], vec![TENANTS[1].into()], TENANTS.map(Arc::from).to_vec()] {
            pair.search(&Query::of(entity, Tenants::These(tenants))).await;
        }
    }
    for entity in [Entity::Definitions, Entity::Decisions] {
        for field in entity.fields() {
            for op in operators(field.kind(), &pair.values(entity, *field).await) {
                let filter = Filter::Is(*field, op);
                let tenants = Tenants::These(vec![TENANTS[0].into()]);
                pair.search(&Query { filter: filter.clone(), latest_version: true, ..Query::of(entity, Tenants::Everything) })
                    .await;
                pair.search(&Query { filter, latest_version: true, ..Query::of(entity, tenants) }).await;
            }
        }
    }
}

/// A few pages of the tasks in each order, forth and back.
async fn pages_of(pair: &Pair, filter: Filter) {
    for sort in [vec![], vec![ascending(Field::Created)], vec![descending(Field::Created)], vec![descending(Field::Priority)]] {
        let page = Page::From { from: 1, limit: 2 };
        let query = Query { filter: filter.clone(), sort, page, ..Query::of(Entity::UserTasks, Tenants::Everything) };
        let first = pair.search(&query).await;
        pair.search(&Query { uncounted: true, ..query.clone() }).await;
        let Some(cursor) = first.end else { continue };
        let next = pair.search(&Query { page: Page::After { cursor, limit: 3 }, ..query.clone() }).await;
        let Some(cursor) = next.end else { continue };
        pair.search(&Query { page: Page::Before { cursor, limit: 3 }, ..query }).await;
    }
}

pub(super) async fn user_tasks_by_what_belongs_to_them(store: Arc<dyn Store>) {
    let pair = Pair::over(store).await;
    let open = Filter::Is(Field::UserTaskState, Op::Eq(Scalar::Text("CREATED".into())));
    let all = pair.search(&Query::of(Entity::UserTasks, Tenants::Everything)).await.total;
    let mut found = 0;
    let mut both = async |filter: Filter| {
        let of = |filter| Query { filter, ..Query::of(Entity::UserTasks, Tenants::Everything) };
        let matching = pair.search(&of(filter.clone())).await.total;
        let others = pair.search(&of(Filter::Not(Box::new(filter.clone())))).await.total;
        assert_eq!(matching + others, all, "{filter:?}");
        pair.search(&of(Filter::All(vec![filter.clone(), open.clone()]))).await;
        pair.search(&of(Filter::All(vec![open.clone(), Filter::Not(Box::new(filter))]))).await;
        found += matching;
    };
    let names: Vec<Scalar> = ODD_TEXTS.iter().step_by(3).map(|text| Scalar::Text((*text).to_owned())).collect();
    for kind in [Candidates::Groups, Candidates::Users] {
        for op in operators(ScalarKind::Text, &names) {
            both(Filter::Candidate(kind, op.clone())).await;
            for filter in [vec![Filter::Candidate(kind, op.clone())], vec![open.clone(), Filter::Candidate(kind, op)]] {
                pages_of(&pair, Filter::All(filter)).await;
            }
        }
    }
    for value in ODD_TEXTS {
        both(Filter::OfInstance(Box::new(Filter::HasTag((*value).into())))).await;
        let variable = Filter::Is(Field::Name, Op::Eq(Scalar::Text((*value).to_owned())));
        let variable = Filter::Related(Entity::Variables, Box::new(variable));
        both(variable.clone()).await;
        both(Filter::OfInstance(Box::new(variable))).await;
    }
    assert!(all < found, "the filters found {found} in {all}");
}
