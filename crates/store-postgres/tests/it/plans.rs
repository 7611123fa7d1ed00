//! What a call reads is what it gives, however much there is beside it and whatever the planner believes: before the first ANALYZE
//! (also after a restore), after one that saw empty tables, after one that saw a single row of each, after one that saw it all; with
//! plans made before there was anything and with plans made afterwards.

use std::sync::Arc;

use engine::{EvaluationKey, IncidentKey, InstanceKey, JobKey, PartitionId};
use futures_util::future::BoxFuture;
use store::conformance::rows::{self, TENANT};
use store::log::NewRequest;
use store::query::{Cursor, Entity, Field, Filter, Items, Op, Order, Page, Query, Scalar, Sort, Tenants};
use store::retention::{Aged, FinishedAfter};
use store::row::{Availability, ElementState, Instance, InstanceState};
use store::{
    AnswerRow, Changes, Commit, ElementChange, IncidentChange, InstanceChange, LogRow, Ownership, ReadyAfter, Store,
    VariableChange, Wanted,
};
use store_postgres::{Options, Path, Postgres};
use tokio_postgres::Client;

use crate::database::{Database, patient, with_database};
use crate::tick::{LEASE, ONE, ROOM, request, tick};

/// Running instances beside the few that are asked for, finished ones, and what the one with a long past has left behind.
const CROWD: u64 = 6_000;
const PAST: u64 = 9_000;
/// What each call asks for.
const FEW: u64 = 4;
/// What a call may read in all tables: rows, index entries, pages. It gives at most fifty rows, found by way of a few indexes, and a commit writes to all of them; one look
/// at the crowd or at the past alone exceeds it.
const READS_MAX: i64 = 1_500;

/// What a search may read that counts up to ten thousand of many more.
const MANY_READS_MAX: i64 = 40_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Analyzed {
    Never,
    Empty,
    OneRow,
    Filled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Planned {
    BeforeTheFilling,
    AfterTheFilling,
}

#[test]
fn plans_made_before_there_were_rows_and_statistics() {
    for analyzed in [Analyzed::Never, Analyzed::Empty, Analyzed::OneRow] {
        check(analyzed, Planned::BeforeTheFilling, patient());
    }
}

#[test]
fn plans_made_when_statistics_are_missing_old_or_true() {
    for analyzed in [Analyzed::Never, Analyzed::Empty, Analyzed::OneRow, Analyzed::Filled] {
        check(analyzed, Planned::AfterTheFilling, patient());
    }
}

/// There every statement is planned each time, and settings hold for one transaction only.
#[test]
fn plans_made_behind_a_pooler() {
    for analyzed in [Analyzed::Never, Analyzed::OneRow] {
        let options = Options { path: Path::TransactionPooler { direct_url: None }, ..patient() };
        check(analyzed, Planned::AfterTheFilling, options);
    }
}

fn check(analyzed: Analyzed, planned: Planned, options: Options) {
    with_database(move |database| async move {
        let greedy = greedy(&database, analyzed, planned, options).await;
        assert!(greedy.is_empty(), "statistics: {analyzed:?}, planned: {planned:?}\n{}", greedy.join("\n"));
    });
}

/// A call by name.
type Probe = (&'static str, for<'a> fn(&'a Postgres, &'a Ownership) -> BoxFuture<'a, ()>);

const PROBES: [Probe; 32] = [
    ("load instances", |store, _| {
        Box::pin(load(store, Wanted { instances: few(INSTANCE).map(InstanceKey).collect(), ..none() }))
    }),
    ("load by jobs", |store, _| Box::pin(load(store, Wanted { instances_of_jobs: few(JOB).map(JobKey).collect(), ..none() }))),
    ("load jobs", |store, _| Box::pin(load(store, Wanted { jobs: few(JOB).map(JobKey).collect(), ..none() }))),
    ("load by elements", |store, _| {
        Box::pin(load(store, Wanted { elements: few(ELEMENT).map(engine::ElementKey).collect(), ..none() }))
    }),
    ("load by incidents", |store, _| {
        Box::pin(load(store, Wanted { incidents: few(INCIDENT).map(IncidentKey).collect(), ..none() }))
    }),
    ("load one with a past", |store, _| {
        Box::pin(load(store, Wanted { instances: vec![InstanceKey(key(LONG_LIVED, INSTANCE))], ..none() }))
    }),
    ("load first answers", |store, _| {
        let wanted = (0..FEW).map(|number| (TENANT.into(), format!("{number}").into())).collect();
        Box::pin(load(store, Wanted { idempotent: wanted, ..none() }))
    }),
    ("ready jobs", |store, _| {
        Box::pin(async { drop(store.ready_jobs(ONE, "rare", TENANT, ReadyAfter::START, 50).await.expect("ready jobs")) })
    }),
    ("ready jobs, further on", |store, _| {
        let after = ReadyAfter { priority: 0, key: JobKey(key(CROWD - 20, JOB)) };
        Box::pin(async move { drop(store.ready_jobs(ONE, "work", TENANT, after, 10).await.expect("ready jobs")) })
    }),
    ("due", |store, _| Box::pin(async { drop(store.due(ONE, (0, 0), 50).await.expect("what is due")) })),
    ("due, further on", |store, _| {
        let after = (1_000 + CROWD as i64 / 2, key(CROWD / 2, TURN));
        Box::pin(async move { drop(store.due(ONE, after, 10).await.expect("what is due")) })
    }),
    ("load timers", |store, _| {
        Box::pin(load(store, Wanted { timers: waits::few(waits::TIMER).map(engine::TimerKey).collect(), ..none() }))
    }),
    ("load subscriptions", |store, _| {
        Box::pin(load(store, Wanted { subscriptions: waits::few(waits::MESSAGE_WAIT).map(engine::WaitKey).collect(), ..none() }))
    }),
    ("load user tasks", |store, _| {
        Box::pin(load(store, Wanted { user_tasks: waits::few(waits::USER_TASK).map(engine::UserTaskKey).collect(), ..none() }))
    }),
    ("load groups", |store, _| {
        let groups = (0..FEW).map(|number| waits::group(CROWD / 2 + number)).collect();
        Box::pin(load(store, Wanted { groups, ..none() }))
    }),
    ("load start events", |store, _| {
        Box::pin(load(store, Wanted { starts: vec![(TENANT.into(), "m".into()), (TENANT.into(), "none".into())], ..none() }))
    }),
    ("load messages and signals", |store, _| {
        let (messages, signals) = (waits::few(waits::MESSAGE).collect(), waits::few(waits::SIGNAL).collect());
        Box::pin(load(store, Wanted { messages, signals, ..none() }))
    }),
    ("load locks", |store, _| {
        let locks = (0..FEW).map(|number| waits::lock(CROWD / 2 + number).name()).collect();
        let locks_of = few(INSTANCE).map(InstanceKey).collect();
        Box::pin(load(store, Wanted { locks, locks_of, ..none() }))
    }),
    ("who waits for a signal", |store, _| {
        let (after, up_to) = (waits::key(CROWD / 2, waits::SIGNAL_WAIT), waits::key(CROWD, waits::SIGNAL_WAIT));
        let (after, up_to) = (engine::WaitKey(after), engine::WaitKey(up_to));
        Box::pin(async move {
            drop(store.signal_subscriptions(ONE, TENANT, "s", after, up_to, 10).await.expect("subscriptions"));
        })
    }),
    ("starts of a definition", |store, _| {
        let definition = engine::DefinitionKey(key(0, DEFINITION));
        Box::pin(async move { drop(store.starts_of(definition).await.expect("start events")) })
    }),
    ("purge waits", |store, _| Box::pin(purge(store, &[Aged::Timers, Aged::Subscriptions, Aged::Correlations], 2_000, 5))),
    ("commit of waits", |store, _| {
        Box::pin(async {
            let owned = store.acquire(ONE, "filler", LEASE).await.expect("an answer").expect("the partition is free");
            let _ = store.commit(Commit { log: Vec::new(), changes: waits::changing(), ..tick(&owned) }).await.expect("a commit");
        })
    }),
    ("inbox", |store, owned| Box::pin(async { drop(store.inbox(ONE, owned.inbox_to, 10, 5).await.expect("the inbox")) })),
    ("append", |store, _| Box::pin(async { drop(store.append(ONE, vec![request("a")], ROOM).await.expect("an append")) })),
    ("statuses", |store, owned| {
        let asked = [3, 2, 7, owned.inbox_to + 3, owned.inbox_to + 1];
        Box::pin(async move { drop(store.statuses(ONE, &asked).await.expect("statuses")) })
    }),
    ("purge", |store, _| Box::pin(purge(store, &[Aged::FirstAnswers, Aged::Answers], 1_000, 10))),
    ("purge the rest", |store, _| Box::pin(purge(store, &[Aged::Log, Aged::Executions, Aged::Evaluations], 1_000, 10))),
    ("purge what people did", |store, _| Box::pin(purge(store, &[Aged::Audit, Aged::BatchItems, Aged::Batches], 1_000, 10))),
    ("finished instances", |store, _| {
        Box::pin(async { drop(store.finished(ONE, FinishedAfter::START, i64::MAX, 10).await.expect("instances")) })
    }),
    ("purge instances", |store, _| {
        Box::pin(async {
            let owned = store.acquire(ONE, "filler", LEASE).await.expect("an answer").expect("the partition is free");
            let finished = store.finished(ONE, FinishedAfter::START, i64::MAX, 4).await.expect("instances");
            let keys: Vec<InstanceKey> = finished.into_iter().map(|one| one.key).collect();
            let _ = store.purge_instances(owned.fence, &keys, 100).await.expect("a purge");
        })
    }),
    ("delete instances", |store, _| {
        Box::pin(async {
            let owned = store.acquire(ONE, "filler", LEASE).await.expect("an answer").expect("the partition is free");
            let finished = store.finished(ONE, FinishedAfter::START, i64::MAX, 4).await.expect("instances");
            let instances_deleted = finished.into_iter().map(|one| one.key).collect();
            let changes = Changes { instances_deleted, ..Changes::default() };
            let _ = store.commit(Commit { log: Vec::new(), changes, ..tick(&owned) }).await.expect("a commit");
        })
    }),
    ("commit", |store, _| {
        Box::pin(async {
            let owned = store.acquire(ONE, "filler", LEASE).await.expect("an answer").expect("the partition is free");
            let _ = store.commit(changing(&owned)).await.expect("a commit");
        })
    }),
];

/// Calls that are made once in a while, hence planned for what is there; they need not bear every mistake.
const NOW_AND_THEN: [Probe; 2] = [
    ("has running", |store, _| {
        Box::pin(async {
            assert!(!store.has_running(engine::DefinitionKey(key(0, FORMER_DEFINITION))).await.expect("has running"))
        })
    }),
    ("running definitions", |store, _| {
        Box::pin(async { drop(store.running_definitions(ONE, 10).await.expect("running definitions")) })
    }),
];

/// That many rows match only statistics say.
const WITH_STATISTICS: [Probe; 6] = [
    ("instances of a process that has none", |store, _| {
        Box::pin(async {
            let named = Filter::Is(Field::ProcessId, Op::Eq(Scalar::Text("nobody's".to_owned())));
            let query = Query { filter: named, ..Query::of(Entity::Instances, Tenants::Everything) };
            assert_eq!(store.search(&query).await.expect("a page").total, 0);
        })
    }),
    ("instances that have been at an element where nobody was", |store, _| {
        Box::pin(async {
            let nowhere = Filter::Is(Field::ElementId, Op::Eq(Scalar::Text("nowhere".to_owned())));
            let filter = Filter::All(vec![Filter::Related(Entity::Elements, Box::new(nowhere))]);
            let query = Query { filter, ..Query::of(Entity::Instances, Tenants::Everything) };
            assert_eq!(store.search(&query).await.expect("a page").total, 0);
        })
    }),
    ("instances of a process that has few, behind all others", |store, _| {
        Box::pin(async {
            let cursor = Cursor(vec![Some(Scalar::Int(key(1, INSTANCE) as i64))]);
            let named = Filter::Is(Field::ProcessId, Op::Eq(Scalar::Text("seldom".to_owned())));
            let page = Page::After { cursor, limit: 50 };
            let query = Query { filter: named, page, ..Query::of(Entity::Instances, Tenants::Everything) };
            assert_eq!(store.search(&query).await.expect("a page").total, FEW);
        })
    }),
    ("element instances of which there are few, behind all others", |store, _| {
        Box::pin(async {
            let cursor = Cursor(vec![Some(Scalar::Int(key(1, ELEMENT) as i64))]);
            let named = Filter::Is(Field::ProcessId, Op::Eq(Scalar::Text("seldom".to_owned())));
            let at = Filter::Is(Field::ElementId, Op::Eq(Scalar::Text("work".to_owned())));
            let (page, filter) = (Page::After { cursor, limit: 50 }, Filter::All(vec![named, at]));
            let query = Query { filter, page, ..Query::of(Entity::Elements, Tenants::Everything) };
            assert_eq!(store.search(&query).await.expect("a page").total, FEW);
        })
    }),
    ("those that run, by the end they do not have", |store, _| {
        Box::pin(async {
            let sort = vec![Sort { field: Field::Ended, order: Order::Ascending }];
            let page = Page::From { from: 0, limit: 20 };
            let query = Query { sort, page, uncounted: true, ..Query::of(Entity::Instances, Tenants::Everything) };
            assert_eq!(store.search(&query).await.expect("a page").total, 20);
        })
    }),
    ("what a batch operation is about, further on", |store, _| {
        Box::pin(async {
            let cursor = Cursor(vec![Some(Scalar::Int(key(CROWD / 2, INSTANCE) as i64))]);
            let running = Filter::Is(Field::InstanceState, Op::Eq(Scalar::Text("ACTIVE".to_owned())));
            let before = Filter::Is(Field::InstanceKey, Op::Lt(Scalar::Int(key(LONG_LIVED, INSTANCE) as i64)));
            let sort = vec![Sort { field: Field::InstanceKey, order: Order::Ascending }];
            let (page, filter) = (Page::After { cursor, limit: 20 }, Filter::All(vec![running, before]));
            let query = Query { filter, sort, page, uncounted: true, ..Query::of(Entity::Instances, Tenants::Everything) };
            assert_eq!(store.search(&query).await.expect("a page").total, 20);
        })
    }),
];

/// All instances have the same value: they come in order, and are counted as far as anybody is told.
#[test]
fn what_very_many_have_comes_in_order_and_is_not_read_to_its_end() {
    with_database(move |database| async move {
        let owned = &mut filler(&database).await.acquire(ONE, "filler", LEASE).await.unwrap().unwrap();
        let client = database.client().await;
        forbid_autovacuum(&client).await;
        fill(&database, owned, &contents()).await;
        client.batch_execute("ANALYZE").await.unwrap();
        let is = |field, text: &str| Filter::Is(field, Op::Eq(Scalar::Text(text.to_owned())));
        let value = Filter::All(vec![is(Field::Name, "x"), is(Field::Value, "1")]);
        let filter = Filter::Related(Entity::Variables, Box::new(value));
        let page = Page::From { from: 0, limit: 50 };
        let query = Query { filter, page, ..Query::of(Entity::Instances, Tenants::Everything) };
        let before = reads(&client, "caudal").await;
        let store = Postgres::connect(&database.url_of_application("many"), patient()).await.unwrap();
        let found = store.search(&query).await.unwrap();
        drop(store);
        let reads = reads(&client, "many").await - before;
        assert_eq!((found.total, found.total_is_more), (10_000, true));
        assert!(reads < MANY_READS_MAX, "{reads} reads");
        let Items::Instances(shown) = found.items else { unreachable!("instances were asked for") };
        let first: Vec<InstanceKey> = (0..50).map(|number| InstanceKey(key(number, INSTANCE))).collect();
        assert_eq!(shown.iter().map(|view| view.key).collect::<Vec<_>>(), first);
    });
}

/// No index has when they began, but their keys say it nearly.
#[test]
fn element_instances_by_their_start_are_found_by_their_keys() {
    with_database(|database| async move {
        let store = filler(&database).await;
        let client = database.client().await;
        forbid_autovacuum(&client).await;
        let instance = rows::instance(key(0, INSTANCE), key(0, DEFINITION));
        for number in 0..PAST / 100 {
            let elements_new = (0..100).map(|place| {
                let mut element = rows::element(key(number * 100 + place, ELEMENT), &instance);
                element.started += number as i64;
                element
            });
            let mut changes = Changes { elements_new: elements_new.collect(), ..Changes::default() };
            if number == 0 {
                changes.definitions_new = vec![rows::definition(key(0, DEFINITION), "p", 1)];
                changes.instances_new = vec![instance.clone()];
            }
            let owned = store.acquire(ONE, "filler", LEASE).await.unwrap().unwrap();
            store.commit(Commit { changes, ..tick(&owned) }).await.unwrap();
        }
        drop(store);
        client.batch_execute("ANALYZE").await.unwrap();
        let middle = |order| {
            let started = rows::element(1, &instance).started + (PAST / 200) as i64;
            let cursor = Cursor(vec![Some(Scalar::Int(started)), Some(Scalar::Int(key(PAST / 2 + 7, ELEMENT) as i64))]);
            (order, Page::After { cursor, limit: 50 })
        };
        let first = |order| (order, Page::From { from: 0, limit: 50 });
        // Of what has begun so early or so late there is little.
        let back = |order| {
            let number = if order == Order::Ascending { 200 } else { PAST - 200 };
            let started = rows::element(1, &instance).started + (number / 100) as i64;
            let cursor = Cursor(vec![Some(Scalar::Int(started)), Some(Scalar::Int(key(number, ELEMENT) as i64))]);
            (order, Page::Before { cursor, limit: 50 })
        };
        let both = [Order::Ascending, Order::Descending].into_iter();
        let pages = both.flat_map(|order| [first(order), middle(order), back(order)]);
        for (number, (order, page)) in pages.enumerate() {
            let sort = vec![Sort { field: Field::Started, order }];
            let query = Query { sort, page, uncounted: true, ..Query::of(Entity::Elements, Tenants::Everything) };
            let before = reads(&client, "caudal").await;
            let session = format!("by start {number}");
            let store = Postgres::connect(&database.url_of_application(&session), patient()).await.unwrap();
            assert_eq!(store.search(&query).await.unwrap().total, 50);
            drop(store);
            let reads = reads(&client, &session).await - before;
            assert!(reads < READS_MAX, "{query:?}: {reads} reads");
        }
    });
}

/// Neither has an index when instances began: they are found by their keys, those that run by the index that has them in the order of these.
#[test]
fn instances_by_their_start_are_found_by_their_keys() {
    with_database(|database| async move {
        let store = filler(&database).await;
        let client = database.client().await;
        forbid_autovacuum(&client).await;
        for number in 0..PAST / 100 {
            let begin = |place| {
                let number = number * 100 + place;
                let mut instance = rows::instance(
                    key(number, INSTANCE),
                    key(0, if number.is_multiple_of(8) { FORMER_DEFINITION } else { DEFINITION }),
                );
                instance.started += number as i64 / 100;
                if !number.is_multiple_of(3) {
                    (instance.state, instance.ended) = (InstanceState::Completed, Some(instance.started + 1));
                }
                instance
            };
            let mut changes = Changes { instances_new: (0..100).map(begin).collect(), ..Changes::default() };
            if number == 0 {
                let definition = |place, name| rows::definition(key(0, place), name, 1);
                changes.definitions_new = vec![definition(DEFINITION, "p"), definition(FORMER_DEFINITION, "q")];
            }
            let owned = store.acquire(ONE, "filler", LEASE).await.unwrap().unwrap();
            store.commit(Commit { changes, ..tick(&owned) }).await.unwrap();
        }
        drop(store);
        client.batch_execute("ANALYZE").await.unwrap();
        for (number, query) in of_starts().into_iter().enumerate() {
            let before = reads(&client, "caudal").await;
            let session = format!("instances by start {number}");
            let store = Postgres::connect(&database.url_of_application(&session), patient()).await.unwrap();
            let found = store.search(&query).await.unwrap();
            drop(store);
            let reads = reads(&client, &session).await - before;
            assert_eq!(found.items.len(), 50, "{query:?}");
            assert!(reads < READS_MAX, "{query:?}: {reads} reads");
        }
    });
}

/// Pages by start, and what began in a span of time: in the midst, counted, and in other orders.
fn of_starts() -> Vec<Query> {
    let state = |word: &str| Filter::Is(Field::InstanceState, Op::Eq(Scalar::Text(word.to_owned())));
    let began = |op: fn(Scalar) -> Op, number: u64| {
        Filter::Is(Field::Started, op(Scalar::Int(rows::instance(1, 1).started + number as i64 / 100)))
    };
    let (first, both) = (Page::From { from: 0, limit: 50 }, [Order::Ascending, Order::Descending]);
    let of = |filter, sort: Vec<Sort>| Query {
        filter,
        sort,
        page: first.clone(),
        ..Query::of(Entity::Instances, Tenants::Everything)
    };
    let mut queries = Vec::new();
    let filters = [Filter::All(Vec::new()), state("ACTIVE"), state("COMPLETED"), began(Op::Gte, PAST / 2)];
    for (filter, order) in filters.iter().flat_map(|filter| both.map(|order| (filter, order))) {
        let query = Query { uncounted: true, ..of(filter.clone(), vec![Sort { field: Field::Started, order }]) };
        let cursor = Cursor(vec![
            Some(Scalar::Int(rows::instance(1, 1).started + (PAST / 200) as i64)),
            Some(Scalar::Int(key(PAST / 2 + 7, INSTANCE) as i64)),
        ]);
        queries.push(Query { page: Page::After { cursor, limit: 50 }, ..query.clone() });
        queries.push(query);
    }
    let short = Filter::All(vec![began(Op::Gte, PAST / 2), began(Op::Lt, PAST / 2 + 100)]);
    queries.extend(both.map(|order| of(short.clone(), vec![Sort { field: Field::InstanceKey, order }])));
    queries
}

/// The calls that read too much.
async fn greedy(database: &Database, analyzed: Analyzed, planned: Planned, options: Options) -> Vec<String> {
    let client = database.client().await;
    forbid_autovacuum(&client).await;
    let mut owned = filler(database).await.acquire(ONE, "filler", LEASE).await.unwrap().unwrap();
    if analyzed == Analyzed::OneRow {
        fill(database, &mut owned, &[one_of_each()]).await;
    }
    if matches!(analyzed, Analyzed::Empty | Analyzed::OneRow) {
        client.batch_execute("ANALYZE").await.unwrap();
    }
    // One for each call: what a session has read is known for sure only once it has ended.
    let mut stores = Vec::new();
    let now_and_then = if planned == Planned::AfterTheFilling && analyzed != Analyzed::OneRow { &NOW_AND_THEN[..] } else { &[] };
    let with_statistics = if analyzed == Analyzed::Filled { &WITH_STATISTICS[..] } else { &[] };
    for (number, (name, probe)) in PROBES.iter().chain(now_and_then).chain(with_statistics).enumerate() {
        let session = format!("probe {number}");
        let store = Postgres::connect(&database.url_of_application(&session), options.clone()).await.unwrap();
        if planned == Planned::BeforeTheFilling {
            probe(&store, &owned).await;
            owned = store.acquire(ONE, "filler", LEASE).await.unwrap().unwrap();
        }
        stores.push((name, probe, store, session));
    }
    fill(database, &mut owned, &contents()).await;
    if analyzed == Analyzed::Filled {
        client.batch_execute("ANALYZE").await.unwrap();
    }
    let mut greedy = Vec::new();
    for (name, probe, store, session) in stores {
        let before = reads(&client, "caudal").await;
        probe(&store, &owned).await;
        drop(store);
        let reads = reads(&client, &session).await - before;
        if READS_MAX < reads {
            greedy.push(format!("{name}: {reads} reads"));
        }
    }
    greedy
}

async fn filler(database: &Database) -> Postgres {
    database.store().await
}

/// Nothing is analyzed behind our back.
pub(crate) async fn forbid_autovacuum(client: &Client) {
    let tables =
        "SELECT format('ALTER TABLE %I SET (autovacuum_enabled = off)', tablename) FROM pg_tables WHERE schemaname = 'public'";
    for row in client.query(tables, &[]).await.unwrap() {
        client.batch_execute(row.get(0)).await.unwrap();
    }
}

/// Rows, index entries and pages read so far (a page may be gone through without giving any), once the sessions of that name are over: only then what they did is counted for sure.
pub(crate) async fn reads(client: &Client, sessions: &str) -> i64 {
    let open = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1";
    while 0 < client.query_one(open, &[&sessions]).await.unwrap().get::<_, i64>(0) {
        tokio::task::yield_now().await;
    }
    let reads = "
        SELECT (SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_user_tables)::bigint
             + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes)::bigint
             + (SELECT sum(heap_blks_read + heap_blks_hit + coalesce(idx_blks_read + idx_blks_hit, 0)) FROM pg_statio_user_tables)::bigint";
    client.query_one(reads, &[]).await.unwrap().get(0)
}

async fn purge(store: &Postgres, kinds: &[Aged], before: i64, limit: usize) {
    let owned = store.acquire(ONE, "filler", LEASE).await.expect("an answer").expect("the partition is free");
    for what in kinds {
        let _ = store.purge(owned.fence, *what, before, limit).await.expect("a purge");
    }
}

async fn load(store: &Postgres, wanted: Wanted) {
    drop(store.load(ONE, &wanted, 0).await.expect("a load"));
}

fn none() -> Wanted {
    Wanted::default()
}

#[path = "plans_aged.rs"]
mod aged;
#[path = "plans_waits.rs"]
mod waits;

// ---- what is there ----

/// Keys are made of a number and a place, so that calls can name what was never handed to them.
const DEFINITION: u64 = 1;
const FORMER_DEFINITION: u64 = 2;
const INSTANCE: u64 = 3;
const ELEMENT: u64 = 4;
const VARIABLE: u64 = 5;
const JOB: u64 = 6;
const INCIDENT: u64 = 7;
const EVALUATION: u64 = 8;
const TURN: u64 = 0;
const LONG_LIVED: u64 = 20_000;
const SELDOM: u64 = 50_000;

pub(crate) fn key(number: u64, place: u64) -> u64 {
    rows::key(ONE, number * 10 + place)
}

/// Keys of the few that are asked for, in the midst of the crowd.
fn few(place: u64) -> impl Iterator<Item = u64> {
    (0..FEW).map(move |number| key(CROWD / 2 + number, place))
}

fn one_of_each() -> Changes {
    let mut changes =
        Changes { definitions_new: vec![rows::definition(key(30_000, DEFINITION), "first", 1)], ..Changes::default() };
    running(&mut changes, 30_000);
    changes
}

fn contents() -> Vec<Changes> {
    let mut all = Changes {
        definitions_new: vec![
            rows::definition(key(0, DEFINITION), "p", 1),
            rows::definition(key(0, FORMER_DEFINITION), "former", 1),
            rows::definition(key(1, DEFINITION), "seldom", 1),
        ],
        ..Changes::default()
    };
    (0..CROWD).for_each(|number| running(&mut all, number));
    (CROWD..CROWD + PAST).for_each(|number| finished(&mut all, number));
    for number in SELDOM..SELDOM + FEW {
        let instance = rows::instance(key(number, INSTANCE), key(1, DEFINITION));
        all.elements_new.push(rows::element(key(number, ELEMENT), &instance));
        all.instances_new.push(instance);
    }
    waits::starting(&mut all);
    aged::done_by_people(&mut all);
    vec![all, past()]
}

/// A running instance with all that belongs to it, and a first answer.
fn running(changes: &mut Changes, number: u64) {
    let instance = rows::instance(key(number, INSTANCE), key(0, DEFINITION));
    let task = rows::element(key(number, ELEMENT), &instance);
    let mut job = rows::job(key(number, JOB), &task);
    // One in a hundred waits for a worker of a rare kind, the others are leased or wait for one that is common.
    match number % 100 {
        0 => job.job_type = "rare".into(),
        1..50 => (job.availability, job.deadline) = (Availability::Leased, Some(1_000 + number as i64)),
        _ => {}
    }
    let expires = if number.is_multiple_of(100) { 500 } else { 5_000 };
    changes.idempotent_new.push(rows::idempotent(TENANT, &number.to_string(), expires));
    changes.tokens.extend((0..3).map(|flow| rows::tokens(&instance, 1, flow, 1)));
    changes.turns_new.push(rows::turn(key(number, TURN), &instance, 1_000 + number as i64));
    changes.variables_new.push(rows::variable(key(number, VARIABLE), &instance, "x", "1"));
    changes.incidents_new.push(rows::incident(key(number, INCIDENT), &task));
    let mut requirements = rows::requirements(key(number, 9), "r", 1);
    requirements.decisions.push(rows::decision(key(number, 9), "d", 1));
    changes.evaluated_decisions_new.push(rows::evaluated_decision(key(number, EVALUATION), &requirements));
    waits::running(changes, number, &instance, &task);
    changes.jobs_new.push(job);
    changes.elements_new.push(task);
    changes.instances_new.push(instance);
}

fn finished(changes: &mut Changes, number: u64) {
    let mut instance = rows::instance(key(number, INSTANCE), key(0, FORMER_DEFINITION));
    (instance.state, instance.ended) = (InstanceState::Completed, Some(1));
    went_by(changes, &instance, number);
    changes.instances_new.push(instance);
}

/// One instance has been through a loop many times.
fn past() -> Changes {
    let mut changes = Changes::default();
    running(&mut changes, LONG_LIVED);
    let instance = changes.instances_new[0].clone();
    (LONG_LIVED + 1..LONG_LIVED + PAST).for_each(|number| went_by(&mut changes, &instance, number));
    changes
}

/// A task that is over, with a variable of its own, a job that is done and an incident that is resolved.
fn went_by(changes: &mut Changes, instance: &Instance, number: u64) {
    let mut task = rows::element(key(number, ELEMENT), instance);
    (task.state, task.ended) = (ElementState::Completed, Some(1));
    let mut variable = rows::variable(key(number, VARIABLE), instance, "x", "1");
    variable.scope = task.key;
    let mut job = rows::job(key(number, JOB), &task);
    (job.availability, job.ended) = (Availability::Done, Some(1));
    let mut incident = rows::incident(key(number, INCIDENT), &task);
    incident.resolved = Some(1);
    waits::went_by(changes, number, instance, &task);
    changes.elements_new.push(task);
    changes.variables_new.push(variable);
    changes.jobs_new.push(job);
    changes.incidents_new.push(incident);
}

/// Commits it, with a log, an inbox and answers to requests that were in it.
async fn fill(database: &Database, owned: &mut Ownership, contents: &[Changes]) {
    let store = filler(database).await;
    for changes in contents {
        let waiting: Vec<_> = (0..CROWD).map(|_| NewRequest { kind: "cancel", request: vec![1], lives: None }).collect();
        let (positions, _) =
            (store.append(ONE, waiting.clone(), ROOM).await.unwrap(), store.append(ONE, waiting, ROOM).await.unwrap());
        let log = (1..=CROWD).map(|number| LogRow { position: owned.position + number, ..tick(owned).log[0].clone() });
        let inbox_to = owned.inbox_to + CROWD;
        let commit = Commit {
            log: log.collect(),
            inbox_to,
            answers: answers(owned.inbox_to + 1),
            changes: changes.clone(),
            ..tick(owned)
        };
        store.commit(commit).await.unwrap();
        assert!(owned.inbox_to < positions[0]);
        *owned = store.acquire(ONE, "filler", LEASE).await.unwrap().unwrap();
    }
}

/// One in a hundred has expired.
fn answers(first: u64) -> Vec<AnswerRow> {
    let answer = |position: u64| {
        let expires = if position.is_multiple_of(100) { 500 } else { 5_000 };
        AnswerRow { position, kind: "cancel", answer: vec![1], at: 1, expires }
    };
    (first..first + CROWD).map(answer).collect()
}

/// A tick that changes a few rows of every kind.
fn changing(owned: &Ownership) -> Commit {
    let token = engine::Phase::Active;
    let changes = Changes {
        evaluations_deleted: few(EVALUATION).map(EvaluationKey).collect(),
        instances_changed: few(INSTANCE)
            .map(|key| InstanceChange { key: InstanceKey(key), state: InstanceState::Active, phase: token, ended: None })
            .collect(),
        elements_changed: few(ELEMENT)
            .map(|key| ElementChange {
                key: engine::ElementKey(key),
                state: ElementState::Completed,
                ended: Some(9),
                incident: None,
                progress: None,
                past: false,
            })
            .collect(),
        variables_changed: few(VARIABLE)
            .map(|key| VariableChange { key: engine::VariableKey(key), value: Arc::from("2") })
            .collect(),
        jobs_changed: few(JOB)
            .map(|key| {
                let task = rows::element(key, &rows::instance(key, key));
                store::row::Job { availability: Availability::Done, ..rows::job(key, &task) }
            })
            .collect(),
        tokens: few(INSTANCE).map(|key| rows::tokens(&rows::instance(key, 1), 1, 1, (key % 2) as u32)).collect(),
        turns_done: few(TURN).map(engine::WaitKey).collect(),
        incidents_changed: few(INCIDENT).map(|key| IncidentChange { key: IncidentKey(key), resolved: 9 }).collect(),
        ..Changes::default()
    };
    let inbox_to = (owned.inbox_to + FEW).min(owned.inbox_tail);
    Commit { log: Vec::new(), inbox_to, changes, ..tick(owned) }
}

/// Keys carry their partition.
#[test]
fn the_crowd_fits_into_its_partition() {
    assert_eq!(PartitionId::of(key(50_000, 9)), u64::from(ONE.0));
}
