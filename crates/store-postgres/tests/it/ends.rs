//! Element instances and jobs by their end are found without going through all, and a quick end leaves a row where it is (ADR 98).

use store::conformance::rows;
use store::query::{Cursor, Entity, Field, Filter, Op, Order, Page, Query, Scalar, Sort, Tenants};
use store::row::{Availability, Element, ElementState, JobState};
use store::{Changes, Commit, ElementChange, Store};
use store_postgres::Postgres;

use crate::database::{Database, patient, with_database};
use crate::plans::{forbid_autovacuum, key, reads};
use crate::tick::{LEASE, ONE, tick};

const ROWS: u64 = 9_000;
const EACH_COMMIT: u64 = 100;
/// At either end that many have no end.
const ALIVE: u64 = 60;
/// What a search may read: rows, index entries, pages. It finds keys by halves, and two spans of rows; all of them exceed it.
const READS_MAX: i64 = 4_000;

const DEFINITION: u64 = 1;
const INSTANCE: u64 = 3;
const ELEMENT: u64 = 4;
const JOB: u64 = 6;

/// When it began; a quick one ends five milliseconds later.
fn began(number: u64) -> i64 {
    1_000_000 + (number / EACH_COMMIT) as i64 * 500
}

fn is_alive(number: u64) -> bool {
    !(ALIVE..ROWS - ALIVE).contains(&number)
}

async fn fill(database: &Database) {
    let store = database.store().await;
    forbid_autovacuum(&database.client().await).await;
    let mut instance = rows::instance(key(0, INSTANCE), key(0, DEFINITION));
    instance.started = began(0);
    let definitions_new = vec![rows::definition(key(0, DEFINITION), "p", 1)];
    let mut changes = Changes { definitions_new, instances_new: vec![instance.clone()], ..Changes::default() };
    for number in 0..ROWS {
        let mut element = rows::element(key(number, ELEMENT), &instance);
        let mut job = rows::job(key(number, JOB), &element);
        (element.started, job.created) = (began(number), began(number));
        if !is_alive(number) {
            let ended = Some(began(number) + if number % 50 == 7 { 3_000 } else { 5 });
            (element.state, element.ended) = (ElementState::Completed, ended);
            (job.state, job.availability, job.ended) = (JobState::Completed, Availability::Done, ended);
        }
        changes.elements_new.push(element);
        changes.jobs_new.push(job);
        if number % EACH_COMMIT == EACH_COMMIT - 1 {
            let owned = store.acquire(ONE, "filler", LEASE).await.unwrap().unwrap();
            store.commit(Commit { changes: std::mem::take(&mut changes), ..tick(&owned) }).await.unwrap();
        }
    }
    database.client().await.batch_execute("ANALYZE").await.unwrap();
}

#[test]
fn what_is_found_by_its_end_is_not_looked_for_among_all() {
    with_database(|database| async move {
        fill(&database).await;
        let client = database.client().await;
        for (place, query) in queries().into_iter().enumerate() {
            let before = reads(&client, "caudal").await;
            let session = format!("by end {place}");
            let store = Postgres::connect(&database.url_of_application(&session), patient()).await.unwrap();
            assert_eq!(store.search(&query).await.unwrap().total, 50, "{query:?}");
            drop(store);
            let reads = reads(&client, &session).await - before;
            assert!(reads < READS_MAX, "{query:?}: {reads} reads");
        }
    });
}

/// First pages and pages in the middle, of all, of those that have ended and of those that have not.
fn queries() -> Vec<Query> {
    let mut queries = Vec::new();
    for (entity, state, alive, place) in
        [(Entity::Elements, Field::ElementState, "ACTIVE", ELEMENT), (Entity::Jobs, Field::JobState, "CREATED", JOB)]
    {
        let is = |word: &str| Filter::Is(state, Op::Eq(Scalar::Text(word.to_owned())));
        for order in [Order::Ascending, Order::Descending] {
            let by_end = vec![Sort { field: Field::Ended, order }];
            let of = |filter: Filter, sort: &[Sort], page: Page| Query {
                filter,
                sort: sort.to_vec(),
                page,
                uncounted: true,
                ..Query::of(entity, Tenants::Everything)
            };
            let first = Page::From { from: 0, limit: 50 };
            let number = ROWS / 2 + 9;
            let cursor = [began(number) + 5, key(number, place) as i64].map(|value| Some(Scalar::Int(value)));
            let next = Page::After { cursor: Cursor(cursor.to_vec()), limit: 50 };
            let before = Page::Before { cursor: Cursor(cursor.to_vec()), limit: 50 };
            for page in [first.clone(), next, before] {
                queries.push(of(Filter::All(Vec::new()), &by_end, page.clone()));
                queries.push(of(is("COMPLETED"), &by_end, page));
            }
            queries.push(of(is(alive), &by_end, first.clone()));
            queries.push(of(is(alive), &[Sort { field: entity.key(), order }], first));
        }
    }
    queries
}

/// Neither a column that an index has nor one that an index asks for changes with it.
#[test]
fn an_element_instance_that_ends_soon_stays_in_its_place() {
    with_database(|database| async move {
        let store = database.store().await;
        let client = database.client().await;
        forbid_autovacuum(&client).await;
        let instance = rows::instance(key(0, INSTANCE), key(0, DEFINITION));
        let elements: Vec<Element> = (0..20).map(|number| rows::element(key(number, ELEMENT), &instance)).collect();
        let jobs_new = elements.iter().map(|task| rows::job(task.key.0 + 1, task)).collect();
        let changes = Changes { instances_new: vec![instance], elements_new: elements.clone(), jobs_new, ..Changes::default() };
        let owned = store.acquire(ONE, "filler", LEASE).await.unwrap().unwrap();
        store.commit(Commit { changes, ..tick(&owned) }).await.unwrap();
        let end = |element: &Element, lasting: i64| ElementChange {
            key: element.key,
            state: ElementState::Completed,
            ended: Some(element.started + lasting),
            incident: None,
            progress: None,
            past: false,
        };
        for (those, lasting) in [(&elements[..15], 250), (&elements[15..], 251)] {
            let elements_changed = those.iter().map(|element| end(element, lasting)).collect();
            let owned = store.acquire(ONE, "filler", LEASE).await.unwrap().unwrap();
            let changes = Changes { elements_changed, ..Changes::default() };
            store.commit(Commit { changes, ..tick(&owned) }).await.unwrap();
        }
        drop(store);
        let _ = reads(&client, "caudal").await;
        let updated = "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'elements'";
        let updated = client.query_one(updated, &[]).await.unwrap();
        assert_eq!((updated.get::<_, i64>(0), updated.get::<_, i64>(1)), (20, 15));
    });
}
