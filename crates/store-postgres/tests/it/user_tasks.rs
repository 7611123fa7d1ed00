//! People ask for what is theirs: what a search reads is what it shows, however much others have to do and however much is done.

use std::sync::Arc;

use store::conformance::rows::{self, TENANT};
use store::query::{Entity, Field, Filter, Op, Order, Page, Query, Scalar, Sort, TOTAL_MAX, Tenants};
use store::row::{Candidates, InstanceState, UserTask, UserTaskState};
use store::{Changes, Commit, Store};
use store_postgres::Postgres;

use crate::database::{Database, patient, with_database};
use crate::plans::{forbid_autovacuum, reads};
use crate::tick::{LEASE, ONE, tick};

/// Open tasks of everybody, and tasks that are done.
const OPEN: u64 = 20_000;
const DONE: u64 = 20_000;
/// One in so many is for somebody who has little to do.
const SELDOM: u64 = 1_000;
/// What a page shows.
const PAGE: u32 = 50;
/// A page of rows, each with its definition, element and instance, and their number: rows, index entries and pages.
const READS_MAX: i64 = 4_000;
/// For each that is counted: its index entry, its row and the page that is on.
const READS_PER_COUNTED: i64 = 4;

fn contents() -> Changes {
    let definition = rows::definition(rows::key(ONE, 1), "p", 1);
    let mut changes = Changes::default();
    for number in 0..OPEN + DONE {
        let mut instance = rows::instance(rows::key(ONE, 10 + 10 * number), definition.key.0);
        let mut task =
            rows::user_task(rows::key(ONE, 12 + 10 * number), &rows::element(rows::key(ONE, 11 + 10 * number), &instance));
        let is_seldom = number < OPEN && number.is_multiple_of(SELDOM);
        task.assignee = Some(if is_seldom { "seldom".into() } else { format!("user-{}", number % 50).into() });
        // Of those that are done all were for the group that has little to do now.
        let group = if is_seldom || OPEN <= number { "seldom".to_owned() } else { format!("group-{}", number % 50) };
        task.candidate_groups = vec![Arc::from(group), "all".into()];
        task.candidate_users = vec![task.assignee.clone().unwrap()];
        task.created = number as i64;
        if OPEN <= number {
            (instance.state, instance.ended) = (InstanceState::Completed, Some(1));
            task = UserTask { state: UserTaskState::Completed, ended: Some(1), assignee: Some("seldom".into()), ..task };
        }
        changes.instances_new.push(instance);
        changes.user_tasks_new.push(task);
    }
    Changes { definitions_new: vec![definition], ..changes }
}

fn text(text: &str) -> Op {
    Op::Eq(Scalar::Text(text.into()))
}

fn search(filter: Filter, sort: Vec<Sort>) -> Query {
    let page = Page::From { from: 0, limit: PAGE };
    Query { filter, sort, page, ..Query::of(Entity::UserTasks, Tenants::These(vec![TENANT.into()])) }
}

/// What task lists ask for, with how many tasks there are of it. One in fifty is of each busy group and person, all are of one group.
fn searches() -> Vec<(String, Query, u64)> {
    let open = || Filter::Is(Field::UserTaskState, text("CREATED"));
    let group = |name: &str| Filter::Candidate(Candidates::Groups, text(name));
    let several = |names: &[&str]| {
        let names = names.iter().map(|name| Scalar::Text((*name).into())).collect();
        Filter::Candidate(Candidates::Groups, Op::In(names))
    };
    let (seldom, busy) = (OPEN / SELDOM, OPEN / 50);
    let instance = Scalar::Int(rows::key(ONE, 10 + 10 * (OPEN - 1)) as i64);
    let of_whom = [
        ("one instance", Filter::Is(Field::InstanceKey, Op::Eq(instance)), 1),
        ("assignee with little to do", Filter::Is(Field::Assignee, text("seldom")), seldom),
        ("group with little to do", group("seldom"), seldom),
        ("user with little to do", Filter::Candidate(Candidates::Users, text("seldom")), seldom),
        ("busy group", group("group-7"), busy),
        ("busy user", Filter::Candidate(Candidates::Users, text("user-7")), busy),
        ("two groups", several(&["group-7", "group-8"]), 2 * busy),
        ("groups that have tasks in common", several(&["group-7", "all"]), TOTAL_MAX),
        ("group of all", group("all"), TOTAL_MAX),
        ("everybody", Filter::All(Vec::new()), TOTAL_MAX),
    ];
    let newest = vec![Sort { field: Field::Created, order: Order::Descending }];
    let mut searches = Vec::new();
    for (name, filter, expected) in of_whom {
        for (order, sort) in [("", Vec::new()), (", newest first", newest.clone())] {
            let query = search(Filter::All(vec![filter.clone(), open()]), sort);
            searches.push((format!("{name}{order}"), query, expected));
        }
    }
    let urgent = vec![Sort { field: Field::Priority, order: Order::Descending }];
    for (name, filter, sort) in [
        ("everybody's, most urgent first", open(), urgent),
        ("all there ever were, newest first", Filter::All(Vec::new()), newest),
    ] {
        searches.push((name.to_owned(), Query { uncounted: true, ..search(filter, sort) }, PAGE.into()));
    }
    searches
}

/// Those who have been read too much for, of those with less to do than that.
async fn greedy(database: &Database, client: &tokio_postgres::Client, less_than: u64) -> Vec<String> {
    let mut greedy = Vec::new();
    let is_asked = |query: &Query, expected: u64| expected < less_than && (less_than == u64::MAX || !query.uncounted);
    let searches = searches().into_iter().filter(|(_, query, expected)| is_asked(query, *expected));
    for (number, (name, query, expected)) in searches.enumerate() {
        let session = format!("search {number}");
        let before = reads(client, "caudal").await;
        let store = Postgres::connect(&database.url_of_application(&session), patient()).await.unwrap();
        let page = store.search(&query).await.unwrap();
        let shown = expected.min(PAGE.into());
        assert_eq!((page.items.len() as u64, page.total.min(TOTAL_MAX)), (shown, expected), "{name}");
        drop(store);
        let reads = reads(client, &session).await - before;
        if READS_MAX + READS_PER_COUNTED * (expected as i64) < reads {
            greedy.push(format!("{name}: {reads} reads"));
        }
    }
    greedy
}

#[test]
fn a_search_for_ones_own_tasks_reads_what_it_shows() {
    for analyzed in [true, false] {
        with_database(move |database| async move {
            let client = database.client().await;
            forbid_autovacuum(&client).await;
            let store = database.store().await;
            let owned = store.acquire(ONE, "filler", LEASE).await.unwrap().unwrap();
            store.commit(Commit { changes: contents(), ..tick(&owned) }).await.unwrap();
            drop(store);
            if analyzed {
                client.batch_execute("ANALYZE").await.unwrap();
            }
            // That there are many of something only statistics say.
            let less_than = if analyzed { u64::MAX } else { TOTAL_MAX };
            let greedy = greedy(&database, &client, less_than).await;
            assert!(greedy.is_empty(), "analyzed: {analyzed}\n{}", greedy.join("\n"));
        });
    }
}
