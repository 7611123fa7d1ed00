//! Operations over many instances, through a real host on the memory store, also across restarts.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::server::layer::{Fate, Layer, broken};
use crate::server::{Server, clocked, memory, task};
use engine::{InstanceKey, Modification};
use host::{ClockMove, Limits, Role};
use store::batch::{BatchCommand, Work};
use store::change::Change;
use store::log::{Answer, Code, Command, FailJob};
use store::query::{BatchItemView, BatchView, Entity, Field, Filter, InstanceView, Items, Op, Page, Query, Scalar, Tenants};
use store::row::{BatchState, InstanceState, ItemState};
use store::{Error, Store};

async fn start(server: &Server, id: &str, count: usize) -> Vec<InstanceKey> {
    let mut keys = Vec::new();
    for _ in 0..count {
        match server.create(id, &[]).await {
            Answer::Created(created) => keys.push(created.instance),
            other => panic!("{other:?}"),
        }
    }
    keys
}

fn of_process(id: &str) -> Filter {
    Filter::Is(Field::ProcessId, Op::Eq(Scalar::Text(id.to_owned())))
}

async fn begin(server: &Server, work: Work, filter: Filter) -> u64 {
    match server.ask(Command::Batch(BatchCommand::Start { work, filter })).await {
        Answer::BatchStarted { key, .. } => key,
        other => panic!("{other:?}"),
    }
}

async fn search(store: &Arc<dyn Store>, entity: Entity, filter: Filter) -> Items {
    let page = Page::From { from: 0, limit: 10_000 };
    store.search(&Query { filter, page, ..Query::of(entity, Tenants::Everything) }).await.unwrap().items
}

async fn batch(store: &Arc<dyn Store>, key: u64) -> BatchView {
    match search(store, Entity::Batches, Filter::Is(Field::BatchKey, Op::Eq(Scalar::Int(key as i64)))).await {
        Items::Batches(mut views) => views.remove(0),
        _ => unreachable!("batches were asked for"),
    }
}

async fn items(store: &Arc<dyn Store>, key: u64) -> Vec<BatchItemView> {
    match search(store, Entity::BatchItems, Filter::Is(Field::BatchKey, Op::Eq(Scalar::Int(key as i64)))).await {
        Items::BatchItems(views) => views,
        _ => unreachable!("items were asked for"),
    }
}

async fn instances(store: &Arc<dyn Store>) -> Vec<InstanceView> {
    match search(store, Entity::Instances, Filter::All(Vec::new())).await {
        Items::Instances(views) => views,
        _ => unreachable!("instances were asked for"),
    }
}

/// It goes on by itself.
async fn ended(store: &Arc<dyn Store>, key: u64) -> BatchView {
    for _ in 0..20_000 {
        let view = batch(store, key).await;
        if view.ended.is_some() {
            return view;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("it does not end: {:?}", batch(store, key).await);
}

fn counts(view: &BatchView) -> (BatchState, u64, u64, u64) {
    (view.state, view.total, view.completed, view.failed)
}

fn refused(answer: &Answer) -> Option<Code> {
    match answer {
        Answer::Rejected(rejection) => Some(rejection.code),
        _ => None,
    }
}

#[tokio::test]
async fn all_that_a_filter_finds_is_cancelled_and_nothing_else() {
    let store = memory();
    let server = Server::start(&store).await;
    server.deploy(&[("a.bpmn", &task("many", "a")), ("b.bpmn", &task("few", "b"))]).await;
    // More than one page of what is found, and of items.
    start(&server, "many", 1_203).await;
    start(&server, "few", 3).await;
    let key = begin(&server, Work::Cancel, of_process("many")).await;
    let later = start(&server, "many", 1).await[0];
    let view = ended(&store, key).await;
    assert_eq!(counts(&view), (BatchState::Completed, 1_203, 1_203, 0));
    let all = instances(&store).await;
    let running: Vec<_> = all.iter().filter(|view| view.state == InstanceState::Active).collect();
    assert_eq!(running.len(), 4, "it is about what was there when it was asked for");
    assert!(running.iter().any(|view| view.key == later));
    let done = items(&store, key).await;
    assert!(done.iter().all(|item| item.state == ItemState::Completed && item.processed.is_some() && item.error.is_none()));
    assert_eq!(counts(&ended(&store, begin(&server, Work::Cancel, of_process("nobody")).await).await).1, 0);
    server.stop().await;
}

/// Whoever owns the partition next goes on where the last one stopped, and does nothing twice.
#[tokio::test]
async fn it_goes_on_with_the_next_server() {
    let commits = Arc::new(AtomicU64::new(0));
    let counting = commits.clone();
    // A disk that takes its time, loses some commits and the answers to others.
    let layer = Layer::over(clocked()).on_commit(move |commit| {
        if commit.changes.batch_items_changed.is_empty() {
            return Fate::Through;
        }
        match 1 + counting.fetch_add(1, Ordering::SeqCst) {
            commit if commit % 17 == 3 => Fate::Lost(broken()),
            commit if commit % 17 == 11 => Fate::AnswerLost,
            _ => Fate::Late(Duration::from_millis(1)),
        }
    });
    let store = layer.shared();
    let limits = || Limits { due_max: 5, ..Limits::default() };
    let server = Server::join(&store, "server", Role::Engine, limits());
    server.owning().await;
    server.deploy(&[("a.bpmn", &task("many", "a"))]).await;
    start(&server, "many", 1_100).await;
    let key = begin(&server, Work::Cancel, of_process("many")).await;
    let mut servers = 0;
    let mut server = server;
    while batch(&store, key).await.ended.is_none() {
        // Each server writes a little of it.
        let enough = commits.load(Ordering::SeqCst) + servers % 20;
        while commits.load(Ordering::SeqCst) < enough && batch(&store, key).await.ended.is_none() {
            tokio::task::yield_now().await;
        }
        match servers % 3 {
            0 => server.stop().await,
            _ => server.kill().await,
        }
        server = Server::join(&store, "server", Role::Engine, limits());
        server.owning().await;
        servers += 1;
        assert!(servers < 2_000, "{:?}", batch(&store, key).await);
    }
    assert!(3 < servers, "it was done before it was stopped");
    assert_eq!(counts(&batch(&store, key).await), (BatchState::Completed, 1_100, 1_100, 0));
    assert!(instances(&store).await.iter().all(|view| view.state == InstanceState::Terminated));
    server.stop().await;
}

#[tokio::test]
async fn one_that_is_refused_keeps_no_other_from_its_turn() {
    let store = memory();
    let server = Server::start(&store).await;
    server.deploy(&[("a.bpmn", &task("many", "a"))]).await;
    let keys = start(&server, "many", 4).await;
    server.ask(Command::Suspend { instance: keys[1] }).await;
    let modification = Modification::from_words(["work>work"], &Vec::new(), |key| Err(key.to_owned())).unwrap();
    let all = Filter::Is(Field::InstanceKey, Op::In(keys.iter().map(|key| Scalar::Int(key.0 as i64)).collect()));
    let key = begin(&server, Work::Change(Change::Modify(modification)), all.clone()).await;
    let view = ended(&store, key).await;
    assert_eq!(counts(&view), (BatchState::Completed, 3, 3, 0), "what is suspended is not meant");
    let nowhere = Modification::from_words(["work>nowhere"], &Vec::new(), |key| Err(key.to_owned())).unwrap();
    let key = begin(&server, Work::Change(Change::Modify(nowhere)), all).await;
    let view = ended(&store, key).await;
    assert_eq!(counts(&view), (BatchState::Completed, 3, 0, 3));
    for item in items(&store, key).await {
        assert_eq!((item.state, item.error.unwrap().starts_with("INVALID_ARGUMENT: Expected to")), (ItemState::Failed, true));
    }
    server.stop().await;
}

/// What can never be found is not looked for again, and nobody else hears of it.
#[tokio::test]
async fn a_search_that_fails_for_good_fails_the_operation() {
    let inner = memory();
    let mut searches = 0;
    let slow = Layer::of(inner.clone()).on_search(move |_| {
        searches += 1;
        match searches {
            1 => Ok(()),
            _ => Err(Error::TooSlow { limit: Duration::from_secs(10) }),
        }
    });
    let store = slow.shared();
    let limits = Limits { due_max: 5, ..Limits::default() };
    let server = Server::join(&store, "server", Role::Engine, limits);
    server.owning().await;
    server.deploy(&[("a.bpmn", &task("many", "a"))]).await;
    // The first page is found, the second is not.
    start(&server, "many", 501).await;
    let key = begin(&server, Work::Cancel, of_process("many")).await;
    let view = ended(&inner, key).await;
    assert_eq!(counts(&view), (BatchState::Failed, 500, 0, 0));
    assert_eq!(view.error.as_deref(), Some("a search takes longer than 10000 ms"));
    while items(&inner, key).await.iter().any(|item| item.state == ItemState::Active) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(items(&inner, key).await.iter().all(|item| item.state == ItemState::Canceled));
    assert!(instances(&inner).await.iter().all(|view| view.state == InstanceState::Active));
    assert_eq!(refused(&server.ask(Command::Batch(BatchCommand::Resume { batch: key })).await), Some(Code::NotFound));
    server.stop().await;
}

/// What may pass is tried a few times, while others go on.
#[tokio::test]
async fn a_search_that_fails_again_and_again_fails_the_operation() {
    let inner = memory();
    let tries = Arc::new(AtomicU64::new(0));
    let (counted, passes_after) = (tries.clone(), Arc::new(AtomicU64::new(u64::MAX)));
    let until = passes_after.clone();
    let layer = Layer::of(inner.clone()).on_search(move |_| match counted.fetch_add(1, Ordering::SeqCst) {
        tried if until.load(Ordering::SeqCst) <= tried => Ok(()),
        _ => Err(broken()),
    });
    let store = layer.shared();
    let server = Server::start(&store).await;
    server.deploy(&[("a.bpmn", &task("many", "a"))]).await;
    start(&server, "many", 1).await;
    let key = begin(&server, Work::Cancel, of_process("many")).await;
    for tried in 1..=8 {
        while tries.load(Ordering::SeqCst) < tried {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        // Nobody is told that the store is away.
        start(&server, "many", 1).await;
        server.host.move_clock(ClockMove::Advance(5_000)).unwrap();
    }
    let view = ended(&inner, key).await;
    assert_eq!((counts(&view), view.error.as_deref()), ((BatchState::Failed, 0, 0, 0), Some(&*broken().to_string())));
    assert_eq!(tries.load(Ordering::SeqCst), 8);
    passes_after.store(10, Ordering::SeqCst);
    let key = begin(&server, Work::Cancel, of_process("many")).await;
    for tried in 9..=10 {
        while tries.load(Ordering::SeqCst) < tried {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        server.ask(Command::Batch(BatchCommand::Cancel { batch: 5 })).await;
        server.host.move_clock(ClockMove::Advance(5_000)).unwrap();
    }
    assert_eq!(counts(&ended(&inner, key).await), (BatchState::Completed, 9, 9, 0), "trouble that has passed leaves nothing");
    server.stop().await;
}

/// Items that the store will never take fail the operation, too.
#[tokio::test]
async fn items_that_are_not_taken_fail_the_operation() {
    let layer = Layer::over(clocked()).on_commit(|commit| match commit.changes.batch_items_new.is_empty() {
        true => Fate::Through,
        false => Fate::Lost(Error::corrupt("no such column")),
    });
    let store = layer.shared();
    let server = Server::start(&store).await;
    server.deploy(&[("a.bpmn", &task("many", "a"))]).await;
    start(&server, "many", 1).await;
    let key = begin(&server, Work::Cancel, of_process("many")).await;
    let view = ended(&store, key).await;
    let why = "the store does not take what the command would write";
    assert_eq!((counts(&view), view.error.as_deref()), ((BatchState::Failed, 0, 0, 0), Some(why)));
    server.stop().await;
}

#[tokio::test]
async fn incidents_are_resolved_with_retries() {
    let store = memory();
    let server = Server::start(&store).await;
    server.deploy(&[("a.bpmn", &task("many", "a"))]).await;
    start(&server, "many", 3).await;
    for job in server.poll("a", None).await {
        let (message, variables) = ("no".into(), vec![]);
        server.ask(Command::FailJob(FailJob { job, retries: 0, message, backoff: 0, variables })).await;
    }
    let key = begin(&server, Work::ResolveIncidents, of_process("many")).await;
    assert_eq!(counts(&ended(&store, key).await), (BatchState::Completed, 3, 3, 0));
    assert!(items(&store, key).await.iter().all(|item| item.instance.is_some_and(|instance| instance.0 != item.item)));
    assert_eq!(server.poll("a", None).await.len(), 3, "they are tried again");
    server.stop().await;
}

#[tokio::test]
async fn instances_are_suspended_resumed_and_deleted() {
    let store = memory();
    let server = Server::start(&store).await;
    server.deploy(&[("a.bpmn", &task("many", "a")), ("b.bpmn", &task("few", "b"))]).await;
    let keys = start(&server, "many", 5).await;
    let others = start(&server, "few", 1).await;
    let suspended = ended(&store, begin(&server, Work::Suspend, of_process("many")).await).await;
    assert_eq!(counts(&suspended), (BatchState::Completed, 5, 5, 0));
    assert_eq!(server.poll("a", None).await.len(), 0);
    let resumed = ended(&store, begin(&server, Work::Resume, of_process("many")).await).await;
    assert_eq!(counts(&resumed), (BatchState::Completed, 5, 5, 0));
    assert_eq!(server.poll("a", None).await.len(), 5);
    for instance in &keys[..4] {
        server.ask(Command::Cancel { instance: *instance }).await;
    }
    assert_eq!(server.ask(Command::DeleteInstance { instance: keys[0] }).await, Answer::Done);
    assert_eq!(refused(&server.ask(Command::DeleteInstance { instance: keys[0] }).await), Some(Code::NotFound));
    assert_eq!(refused(&server.ask(Command::DeleteInstance { instance: keys[4] }).await), Some(Code::InvalidState));
    let deleted = ended(&store, begin(&server, Work::Delete, of_process("many")).await).await;
    assert_eq!(counts(&deleted), (BatchState::Completed, 3, 3, 0));
    let left: Vec<_> = instances(&store).await.iter().map(|view| view.key).collect();
    assert_eq!(left, [keys[4], others[0]], "what runs stays, and what is not meant");
    server.stop().await;
}

#[tokio::test]
async fn an_operation_can_be_suspended_resumed_and_cancelled() {
    let store = memory();
    let limits = || Limits { due_max: 7, ..Limits::default() };
    let server = Server::join(&store, "server", Role::Engine, limits());
    server.owning().await;
    server.deploy(&[("a.bpmn", &task("many", "a"))]).await;
    start(&server, "many", 600).await;
    let key = begin(&server, Work::Cancel, of_process("many")).await;
    assert_eq!(server.ask(Command::Batch(BatchCommand::Suspend { batch: key })).await, Answer::Done);
    let then = batch(&store, key).await;
    assert_eq!(then.state, BatchState::Suspended);
    assert!(then.completed < 600);
    server.stop().await;
    let server = Server::join(&store, "server", Role::Engine, limits());
    server.owning().await;
    assert_eq!(counts(&batch(&store, key).await), counts(&then), "it stands still");
    assert_eq!(refused(&server.ask(Command::Batch(BatchCommand::Suspend { batch: key })).await), Some(Code::InvalidState));
    assert_eq!(server.ask(Command::Batch(BatchCommand::Resume { batch: key })).await, Answer::Done);
    while batch(&store, key).await.completed == then.completed {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let cancelled = server.ask(Command::Batch(BatchCommand::Cancel { batch: key })).await;
    assert_eq!(cancelled, Answer::Done, "{:?}", batch(&store, key).await);
    let then = batch(&store, key).await;
    assert_eq!((then.state, then.ended.is_some(), then.completed < 600), (BatchState::Canceled, true, true));
    // What is left is marked by itself.
    while items(&store, key).await.iter().any(|item| item.state == ItemState::Active) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let found = items(&store, key).await;
    let cancelled = found.iter().filter(|item| item.state == ItemState::Canceled).count() as u64;
    assert_eq!(cancelled + then.completed, then.total);
    let ended = instances(&store).await.iter().filter(|view| view.state == InstanceState::Terminated).count() as u64;
    assert_eq!(ended, then.completed);
    assert_eq!(refused(&server.ask(Command::Batch(BatchCommand::Resume { batch: key })).await), Some(Code::NotFound));
    let nobody = Command::Batch(BatchCommand::Cancel { batch: 5 });
    assert_eq!(refused(&server.ask(nobody).await), Some(Code::NotFound));
    server.stop().await;
}

/// New instances are started while many are cancelled: neither waits for the other's end.
#[tokio::test]
async fn it_leaves_room_for_callers() {
    let store = memory();
    let server = Server::start(&store).await;
    server.deploy(&[("a.bpmn", &task("many", "a")), ("b.bpmn", &task("few", "b"))]).await;
    start(&server, "many", 2_000).await;
    let key = begin(&server, Work::Cancel, of_process("many")).await;
    let mut most = 0;
    let mut before = 0;
    while batch(&store, key).await.ended.is_none() {
        start(&server, "few", 1).await;
        let now = batch(&store, key).await.completed;
        (most, before) = (most.max(now - before), now);
    }
    // A caller's command has beside it what its share lets be done, in the tick it is in and in the one that is open meanwhile.
    assert!(most <= 3 * u64::try_from(Limits::default().due_max).unwrap(), "{most} items between two callers");
    let started = instances(&store).await.iter().filter(|view| view.process_id == "few").count();
    assert!(5 < started, "only {started} callers had their turn");
    assert_eq!(counts(&batch(&store, key).await), (BatchState::Completed, 2_000, 2_000, 0));
    server.stop().await;
}

/// While an operation finds what it is about, nobody else is served: then it is their turn for as long.
#[tokio::test(flavor = "multi_thread")]
async fn an_operation_that_finds_slowly_leaves_others_as_much_time() {
    const LOOKING: Duration = Duration::from_millis(50);
    let looks = Arc::new(Mutex::new(Vec::new()));
    let seen = looks.clone();
    let layer = Layer::over(clocked()).on_search(move |query| {
        if query.entity == Entity::Instances && query.uncounted {
            assert!(matches!(query.page, Page::After { .. }), "what was found before is not gone through again");
            let begun = Instant::now();
            while begun.elapsed() < LOOKING {
                std::hint::spin_loop();
            }
            seen.lock().unwrap().push((begun, Instant::now()));
        }
        Ok(())
    });
    let store = layer.shared();
    let server = Server::start(&store).await;
    server.deploy(&[("p.bpmn", &task("p", "work"))]).await;
    start(&server, "p", 1_200).await;
    let key = begin(&server, Work::Cancel, of_process("p")).await;
    assert_eq!(ended(&store, key).await.completed, 1_200);
    server.stop().await;
    let looks = looks.lock().unwrap();
    assert_eq!(looks.len(), 3);
    for pair in looks.windows(2) {
        // Clocks of the store count whole milliseconds.
        assert!(LOOKING - Duration::from_millis(5) < pair[1].0 - pair[0].1, "{looks:?}");
    }
}
