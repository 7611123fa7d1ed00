//! What is submitted again and again: exactly one execution for each time, across restarts, changes of the owner and lost commits.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;

use crate::server::layer::{Fate, Layer, broken};
use crate::server::{Server, TENANT};
use host::{Limits, Role};
use queue::policy::{Policy, Scope};
use schedule::Missed;
use store::Store;
use store::log::{Answer, Code, Command, NewExecution, NewUnique, OnConflict, PutPolicy, PutSchedule, Submit};
use store::memory::Memory;
use store::query::{Entity, ExecutionView, Items, Query, Tenants};
use store::row::{ExecutionState, Schedule};

/// The start of a minute.
const START: i64 = 1_700_000_040_000;

fn stopped() -> (Memory, Arc<AtomicI64>) {
    let time = Arc::new(AtomicI64::new(START));
    let clock = time.clone();
    (Memory::new(Arc::new(move || clock.load(Ordering::SeqCst))), time)
}

fn every(cron: &str) -> PutSchedule {
    let execution = NewExecution {
        input: vec![("report".into(), "1".into())],
        priority: 4,
        retries: 2,
        run_at: None,
        unique: None,
        group: vec![],
    };
    PutSchedule {
        tenant: TENANT.into(),
        reference: "nightly".into(),
        action: "report".into(),
        cron: cron.into(),
        time_zone: None,
        execution,
        paused: false,
    }
}

async fn put(server: &Server, put: PutSchedule) -> Answer {
    server.ask(Command::PutSchedule(Box::new(put))).await
}

async fn executions(store: &Arc<dyn Store>) -> Vec<ExecutionView> {
    match store.search(&Query::of(Entity::Executions, Tenants::Everything)).await.unwrap().items {
        Items::Executions(views) => views,
        other => panic!("{other:?}"),
    }
}

async fn only(store: &Arc<dyn Store>) -> Schedule {
    store.schedules(engine::PartitionId(1)).await.unwrap().remove(0)
}

/// Waits until the next time is another than this.
async fn moved_on(store: &Arc<dyn Store>, from: Option<i64>) -> Schedule {
    loop {
        let schedule = only(store).await;
        if schedule.due != from {
            return schedule;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

async fn start(store: &Arc<dyn Store>, node: &str, missed: Missed) -> Server {
    let limits = Limits { timers_missed: missed, lease: Duration::from_millis(400), ..Limits::default() };
    let server = Server::join(store, node, Role::Engine, limits);
    server.owning().await;
    server
}

#[tokio::test]
async fn each_time_submits_one_also_across_restarts() {
    let (memory, time) = stopped();
    let store: Arc<dyn Store> = Arc::new(memory);
    let mut server = start(&store, "a", Missed::FireOnce).await;
    assert_eq!(put(&server, every("* * * * *")).await, Answer::Done);
    let first = only(&store).await;
    assert_eq!((first.due, first.number), (Some(START + 60_000), 1));
    for n in 1..=4 {
        let due = only(&store).await.due;
        time.store(due.unwrap(), Ordering::SeqCst);
        // Another server goes on, each time.
        server.stop().await;
        server = start(&store, &format!("server-{n}"), Missed::FireOnce).await;
        let schedule = moved_on(&store, due).await;
        assert_eq!((schedule.due, schedule.number), (Some(START + 60_000 * (n + 1)), n as u64 + 1));
        let all = executions(&store).await;
        assert_eq!(all.len() as i64, n);
        let newest = all.last().unwrap();
        assert_eq!((&*newest.action, &*newest.input, newest.priority, newest.retries), ("report", r#"{"report":1}"#, 4, 2));
        assert_eq!(schedule.last.unwrap().execution, Some(newest.key));
    }
    server.stop().await;
}

#[tokio::test]
async fn what_was_missed_is_made_up_for_as_timers_do() {
    for (missed, expected) in [(Missed::FireOnce, 1), (Missed::FireAll, 5), (Missed::Skip { late_max: 1_000 }, 1)] {
        let (memory, time) = stopped();
        let store: Arc<dyn Store> = Arc::new(memory);
        let server = start(&store, "a", missed).await;
        assert_eq!(put(&server, every("* * * * *")).await, Answer::Done);
        server.stop().await;
        time.store(START + 5 * 60_000, Ordering::SeqCst);
        let server = start(&store, "b", missed).await;
        while only(&store).await.due != Some(START + 6 * 60_000) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(executions(&store).await.len(), expected, "{missed:?}");
        server.stop().await;
    }
}

/// A commit that is lost, and one whose answer is: each time still has one execution.
#[tokio::test]
async fn lost_commits_submit_nothing_twice() {
    let (memory, time) = stopped();
    let fires = Arc::new(AtomicUsize::new(0));
    let seen = fires.clone();
    let layer = Layer::over(memory).on_commit(move |commit| {
        if commit.changes.schedules_put.iter().all(|row| row.last.is_none()) {
            return Fate::Through;
        }
        match seen.fetch_add(1, Ordering::SeqCst) % 3 {
            0 => Fate::Lost(broken()),
            1 => Fate::AnswerLost,
            _ => Fate::Through,
        }
    });
    let store = layer.shared();
    let server = start(&store, "a", Missed::FireOnce).await;
    assert_eq!(put(&server, every("* * * * *")).await, Answer::Done);
    for n in 1..=4 {
        let due = only(&store).await.due;
        time.store(due.unwrap(), Ordering::SeqCst);
        moved_on(&store, due).await;
        assert_eq!(executions(&store).await.len(), n);
    }
    assert!(4 < fires.load(Ordering::SeqCst), "some were lost");
    server.stop().await;
}

#[tokio::test]
async fn schedules_are_changed_paused_and_deleted() {
    let (memory, time) = stopped();
    let store: Arc<dyn Store> = Arc::new(memory);
    let server = start(&store, "a", Missed::FireOnce).await;
    for (cron, zone) in [("nonsense", None), ("* * * * *", Some("Mars/Olympus")), ("R/PT1H", Some("Europe/Madrid"))] {
        let refused = put(&server, PutSchedule { time_zone: zone.map(Into::into), ..every(cron) }).await;
        assert!(matches!(refused, Answer::Rejected(rejection) if rejection.code == Code::InvalidArgument), "{cron} {zone:?}");
    }
    let madrid = PutSchedule { time_zone: Some("Europe/Madrid".into()), ..every("0 9 * * *") };
    assert_eq!(put(&server, madrid.clone()).await, Answer::Done);
    let nine = only(&store).await;
    assert_eq!(nine.due.unwrap().rem_euclid(86_400_000), 8 * 3_600_000, "nine in Madrid in winter");
    // What it submits is another thing; when is not.
    time.fetch_add(1_000, Ordering::SeqCst);
    let other = PutSchedule { action: "other".into(), ..madrid.clone() };
    assert_eq!(put(&server, other).await, Answer::Done);
    let changed = only(&store).await;
    assert_eq!((changed.key, changed.due, changed.armed, &*changed.action), (nine.key, nine.due, nine.armed, "other"));
    assert_eq!(put(&server, PutSchedule { paused: true, ..madrid.clone() }).await, Answer::Done);
    assert_eq!(only(&store).await.due, None);
    assert_eq!(put(&server, madrid).await, Answer::Done);
    assert_eq!(only(&store).await.due, nine.due);
    let delete = || Command::DeleteSchedule { tenant: TENANT.into(), reference: "nightly".into() };
    assert_eq!(server.ask(delete()).await, Answer::Done);
    assert!(matches!(server.ask(delete()).await, Answer::Rejected(rejection) if rejection.code == Code::NotFound));
    assert_eq!(store.schedules(engine::PartitionId(1)).await.unwrap(), []);
    server.stop().await;
}

/// What is not submitted because an earlier one still waits is said, and not made up for.
#[tokio::test]
async fn what_is_refused_is_told() {
    let (memory, time) = stopped();
    let store: Arc<dyn Store> = Arc::new(memory);
    let server = start(&store, "a", Missed::FireOnce).await;
    let mut schedule = every("* * * * *");
    schedule.execution.unique = Some(NewUnique { key: "k".into(), window: None, on_conflict: OnConflict::Reject });
    assert_eq!(put(&server, schedule).await, Answer::Done);
    for n in 1..=2 {
        let due = only(&store).await.due;
        time.store(due.unwrap(), Ordering::SeqCst);
        let last = moved_on(&store, due).await.last.unwrap();
        assert_eq!(last.at, START + n * 60_000);
        assert_eq!((last.execution.is_some(), last.refused.is_some()), (n == 1, n == 2), "{last:?}");
    }
    assert_eq!(executions(&store).await.len(), 1);
    server.stop().await;
}

/// What a schedule submits comes to its queue like anything else: not while that drains, and nothing is cancelled for one that is refused.
#[tokio::test]
async fn what_is_refused_changes_nothing() {
    let (memory, time) = stopped();
    let store: Arc<dyn Store> = Arc::new(memory);
    let server = start(&store, "a", Missed::FireOnce).await;
    let mut schedule = every("* * * * *");
    schedule.execution.unique = Some(NewUnique { key: "k".into(), window: None, on_conflict: OnConflict::Replace });
    let other = NewExecution { unique: None, ..schedule.execution.clone() };
    assert_eq!(put(&server, schedule).await, Answer::Done);
    let occur = async || {
        let due = only(&store).await.due;
        time.store(due.unwrap(), Ordering::SeqCst);
        moved_on(&store, due).await.last.unwrap()
    };
    let first = occur().await.execution;
    let second = occur().await.execution;
    assert!(first.is_some() && second.is_some() && first != second, "in place of the first");
    let put_policy = async |reference: &Arc<str>, policy| {
        let put = PutPolicy { reference: reference.clone(), policy: Box::new(policy) };
        assert_eq!(server.ask(Command::PutPolicy(put)).await, Answer::Done);
    };
    // One too many wait already.
    let submit = Submit { tenant: TENANT.into(), action: "report".into(), executions: vec![other] };
    assert!(matches!(server.ask(Command::Submit(submit)).await, Answer::Submitted(_)));
    put_policy(&"p".into(), Policy { queue_max: Some(1), ..Policy::new(Scope::Action("report".into())) }).await;
    let refused = occur().await.refused.unwrap();
    assert!(refused.contains("queue.maxLength"), "{refused}");
    assert_eq!(server.ask(Command::DeletePolicy { reference: "p".into() }).await, Answer::Done);
    let (reference, drain) = host::drain(&"report".into());
    put_policy(&reference, drain).await;
    let refused = occur().await.refused.unwrap();
    assert!(refused.contains("drains"), "{refused}");
    let states: Vec<_> = executions(&store).await.iter().map(|view| view.state).collect();
    assert_eq!(states, [ExecutionState::Cancelled, ExecutionState::Waiting, ExecutionState::Waiting]);
    assert_eq!(server.ask(Command::DeletePolicy { reference }).await, Answer::Done);
    assert!(occur().await.execution.is_some());
    server.stop().await;
}

/// Half past two in Madrid: once a day, also on the day that has none and on the one that has two.
#[tokio::test]
async fn a_schedule_goes_with_the_clocks() {
    let at = |text: &str| match schedule::Timer::parse(schedule::Kind::Date, text).unwrap() {
        schedule::Timer::Date(date) => date.at(),
        other => panic!("{other}"),
    };
    let days = [
        ("2026-03-28T00:00:00Z", ["2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"]),
        ("2026-10-24T00:00:00Z", ["2026-10-24T00:30:00Z", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"]),
    ];
    for (from, expected) in days {
        let (memory, time) = stopped();
        time.store(at(from), Ordering::SeqCst);
        let store: Arc<dyn Store> = Arc::new(memory);
        let server = start(&store, "a", Missed::FireOnce).await;
        let madrid = PutSchedule { time_zone: Some("Europe/Madrid".into()), ..every("30 2 * * *") };
        assert_eq!(put(&server, madrid).await, Answer::Done);
        for expected in expected {
            let due = only(&store).await.due;
            assert_eq!(due, Some(at(expected)), "{expected}");
            time.store(due.unwrap(), Ordering::SeqCst);
            assert_eq!(moved_on(&store, due).await.last.unwrap().at, at(expected));
        }
        assert_eq!(executions(&store).await.len(), expected.len());
        server.stop().await;
    }
}
