//! People ask for what is theirs: what a search reads is what it shows, however much others have to do and however much is done.

use std::sync::Arc;

use store::conformance::rows::{self, TENANT};
use store::query::{Entity, Field, Filter, Op, Page, Query, Scalar, Tenants};
use store::row::{Candidates, InstanceState, UserTask, UserTaskState};
use store::{Changes, Commit, Store};
use store_postgres::Postgres;

use crate::database::{patient, with_database};
use crate::plans::{forbid_autovacuum, reads};
use crate::tick::{LEASE, ONE, tick};

/// Open tasks of everybody, and tasks that are done.
const OPEN: u64 = 20_000;
const DONE: u64 = 20_000;
/// One in so many is for somebody who has little to do.
const SELDOM: u64 = 1_000;
/// A page of twenty rows, each with its definition, element and instance, and their number: rows, index entries and pages.
const READS_MAX: i64 = 2_500;

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

fn open_and(filter: Filter, limit: u32) -> Query {
    let open = Filter::Is(Field::UserTaskState, text("CREATED"));
    Query {
        filter: Filter::All(vec![filter, open]),
        page: Page::From { from: 0, limit },
        ..Query::of(Entity::UserTasks, Tenants::These(vec![TENANT.into()]))
    }
}

#[test]
fn a_search_for_ones_own_tasks_reads_what_it_shows() {
    with_database(|database| async move {
        drop(database.store().await);
        let client = database.client().await;
        forbid_autovacuum(&client).await;
        let store = database.store().await;
        let owned = store.acquire(ONE, "filler", LEASE).await.unwrap().unwrap();
        store.commit(Commit { changes: contents(), ..tick(&owned) }).await.unwrap();
        drop(store);
        client.batch_execute("ANALYZE").await.unwrap();
        let searches = [
            ("assignee", open_and(Filter::Is(Field::Assignee, text("seldom")), 50), OPEN / SELDOM),
            ("group", open_and(Filter::Candidate(Candidates::Groups, text("seldom")), 50), OPEN / SELDOM),
        ];
        for (name, query, expected) in searches {
            let session = format!("search by {name}");
            let before = reads(&client, "caudal").await;
            let store = Postgres::connect(&database.url_of_application(&session), patient()).await.unwrap();
            let page = store.search(&query).await.unwrap();
            assert_eq!((page.items.len() as u64, page.total), (expected, expected), "{name}");
            drop(store);
            let reads = reads(&client, &session).await - before;
            assert!(reads < READS_MAX, "{name}: {reads} reads");
        }
    });
}
