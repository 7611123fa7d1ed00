//! What goes, and in which order.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use engine::PartitionId;
use host::{ClockMove, Limits, PurgedLabels, PurgedRows, Role};
use queue::Starts;
use store::conformance::{fill, rows};
use store::documents::{Document, Link, UNFINISHED_KEPT};
use store::log::{Answer, Command, IdempotencyKey, Request};
use store::query::{Entity, Query, Tenants};
use store::retention::Aged;
use store::row::{
    Audit, AuditEntity, Availability, Batch, DecisionRequirements, Instance, InstanceState, Job, JobState, Operation, PaceState,
    Subscription, SubscriptionState, Timer, TimerState,
};
use store::{Changes, Store};

use crate::server::layer::Layer;
use crate::server::{Server, TENANT, caller, clocked, create, plain_tasks, timed};

const MONTHS: i64 = 100 * 24 * 60 * 60 * 1_000;

/// Where instances come to be old as fast as they go, there are always some.
#[tokio::test]
async fn the_log_goes_while_there_still_are_instances_to_go() {
    let asked: Arc<Mutex<Vec<Option<Aged>>>> = Arc::default();
    let heard = asked.clone();
    let layer = Layer::over(clocked()).on_purge(move |what| heard.lock().unwrap().push(what));
    let store: Arc<dyn Store> = Arc::new(layer);
    let server = Server::start(&store).await;
    server.deploy(&[("p.bpmn", &plain_tasks("p", 1))]).await;
    for _ in 0..300 {
        server.run("p", &[]).await;
    }
    server.host.move_clock(ClockMove::Advance(MONTHS)).unwrap();
    server.host.purge(Duration::from_secs(60)).await.unwrap();
    let asked = asked.lock().unwrap().clone();
    let log = asked.iter().position(|what| *what == Some(Aged::Log));
    let instances = asked.iter().rposition(Option::is_none);
    assert!(log.is_some() && log < instances, "{asked:?}");
    server.stop().await;
}

/// Rows of every kind that an owner writes without a command, all long over, beside an instance that runs.
fn one_of_each() -> Changes {
    let key = |n| rows::key(PartitionId(1), n);
    let over = Instance { state: InstanceState::Completed, ended: Some(1), ..rows::instance(key(2), key(1)) };
    let runs = rows::instance(key(3), key(1));
    let task = rows::element(key(4), &runs);
    let subscription = rows::subscription(key(5), &task, "m");
    let ended = |job| Job { availability: Availability::Done, state: JobState::Completed, ended: Some(1), ..job };
    let batch = Batch { ended: Some(1), ..rows::batch(key(7)) };
    let pace = PaceState { job_type: "work".into(), tenant: TENANT.into(), bucket: "".into(), starts: Starts::of([]), until: 1 };
    let rules = DecisionRequirements { decisions: vec![rows::decision(key(21), "d", 1)], ..rows::requirements(key(20), "d", 1) };
    Changes {
        definitions_new: vec![rows::definition(key(1), "p", 1)],
        elements_new: vec![task.clone()],
        executions_new: vec![ended(rows::execution(key(6)))],
        evaluated_decisions_new: vec![rows::evaluated_decision(key(8), &rules)],
        timers_new: vec![Timer { state: TimerState::Fired, ended: Some(1), ..rows::timer(key(9), &task, 1) }],
        correlations_new: vec![rows::correlation(key(10), key(11), &subscription, &runs)],
        subscriptions_new: vec![Subscription { state: SubscriptionState::Closed, updated: 1, ..subscription }],
        idempotent_new: vec![rows::idempotent("t", "k", 1)],
        audit_new: vec![Audit::of(key(12), 1, Operation::ALL[0], AuditEntity::ALL[0], "x".into(), TENANT.into())],
        batch_items_new: vec![rows::batch_item(key(13), &batch, &runs), rows::batch_item(key(14), &batch, &over)],
        batches_put: vec![batch],
        paces_put: vec![pace],
        instances_new: vec![over, runs],
        ..Changes::default()
    }
}

/// A document with its part and link, a link to one that stays, and a part that nobody finished.
async fn documents(store: &dyn Store) {
    let documents = store.documents();
    for (id, expires) in [("over", Some(1)), ("stays", None)] {
        documents.put_part(id, 0, vec![1], 0).await.unwrap();
        let document = Document {
            tenant: TENANT.into(),
            id: id.into(),
            upload: id.into(),
            size: 1,
            hash: "h".into(),
            file_name: "f".into(),
            content_type: "text/plain".into(),
            created: 0,
            expires,
            process_id: None,
            instance: None,
            properties: "{}".into(),
        };
        assert!(documents.finish(&document, 0).await.unwrap());
        documents.put_link(&Link { token: id.into(), tenant: TENANT.into(), id: id.into(), expires: 1 }).await.unwrap();
    }
    documents.put_part("left", 0, vec![1], -UNFINISHED_KEPT).await.unwrap();
}

/// For each kind, also those that are gone only once others are; and so do the metrics.
#[tokio::test]
async fn what_a_dry_run_counts_is_what_goes() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_sqlite::open(&folder.path().join("data"), store_sqlite::Options::default()).unwrap();
    let store: Arc<dyn Store> = Arc::new(store);
    // A tick, whose time is in the past.
    fill(&store, PartitionId(1), one_of_each()).await;
    documents(&*store).await;
    // The one that has filled it comes back.
    let server = Server::join(&store, "owner", Role::Engine, Limits::default());
    server.owning().await;
    let counted = server.host.count_purgeable().await.unwrap();
    let kinds = Aged::ALL.map(Aged::word).into_iter().chain(["documents", "instances"]);
    let expected = kinds.map(|what| {
        let count = match what {
            // That takes another server.
            "answers" => 0,
            "batch-items" => 2,
            "documents" => 3,
            _ => 1,
        };
        (what, count)
    });
    assert_eq!(counted, expected.collect::<PurgedRows>());
    let (mut purged, is_done) = server.host.purge(Duration::from_secs(600)).await.unwrap();
    assert!(is_done);
    purged.entry("answers").or_default();
    assert_eq!(purged, counted);
    let metrics = &server.host.metrics().purge;
    for (what, count) in &counted {
        if *what != "instances" {
            assert_eq!(metrics.rows.get_or_create(&PurgedLabels { what }).get(), *count, "{what}");
        }
    }
    assert_eq!(metrics.instances.get(), 1);
    assert_eq!(metrics.rows.get_or_create(&PurgedLabels { what: "instances" }).get(), 1, "it has nothing else");
    let left = server.host.count_purgeable().await.unwrap();
    assert!(left.values().all(|count| *count == 0), "{left:?}");
    assert_eq!(store.search(&Query::of(Entity::Instances, Tenants::Everything)).await.unwrap().total, 1, "the one that runs");
    server.stop().await;
}

/// The time is the runtime's, and nobody asks for a purge.
#[tokio::test(start_paused = true)]
async fn first_answers_go_also_where_all_come_through_another_server() {
    let store: Arc<dyn Store> = Arc::new(timed());
    let kept = Duration::from_secs(60 * 60);
    let limits = || Limits { idempotency_kept: kept, ..Limits::default() };
    let owner = Server::join(&store, "owner", Role::Engine, limits());
    owner.owning().await;
    owner.deploy(&[("p.bpmn", &plain_tasks("p", 1))]).await;
    let follower = Server::join(&store, "follower", Role::Follower, limits());
    for number in 0..20 {
        let idempotency = Some(IdempotencyKey { tenant: TENANT.into(), key: number.to_string().into(), fingerprint: 1 });
        let request = Request { caller: caller(), command: Command::Create(create("p", &[])), idempotency };
        let first = follower.host.submit(request.clone()).await.unwrap();
        assert!(matches!(first, Answer::Created(_)), "{first:?}");
        assert_eq!(follower.host.submit(request).await.unwrap(), first);
    }
    let left = async |what| store.count_aged(PartitionId(1), what, i64::MAX, 1_000).await.unwrap();
    assert_eq!((left(Aged::FirstAnswers).await, left(Aged::Answers).await), (20, 40));
    tokio::time::sleep(kept / 2).await;
    assert_eq!(left(Aged::FirstAnswers).await, 20, "not before their time");
    tokio::time::sleep(kept).await;
    assert_eq!((left(Aged::FirstAnswers).await, left(Aged::Answers).await), (0, 0));
    follower.stop().await;
    owner.stop().await;
}
