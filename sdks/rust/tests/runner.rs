//! The runner with an engine in memory: what it asks, what it says, and how often.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test that cannot go on has failed")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use caudal_client::testing::{fake_job, run_job};
use caudal_client::{Beat, EngineClient, Error, Failure, Job, JobContext, Loss, Outcome, Poll, Raw, Registry, Runner, Standing};
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep};

type Anything = Map<String, Value>;
type End = fn() -> Result<Value, Failure>;

/// Hands out its jobs once and notes what is said. Each answer may be replaced by a failure, the next one first.
struct Engine {
    jobs: Mutex<Vec<Job>>,
    failures: Mutex<Vec<Error>>,
    /// Without one it does not answer signs of life.
    standing: Option<Standing>,
    beats: Arc<AtomicUsize>,
    release_takes: Duration,
    said: mpsc::UnboundedSender<String>,
}

impl Engine {
    fn new(failures: Vec<Error>) -> (Engine, mpsc::UnboundedReceiver<String>) {
        let (said, heard) = mpsc::unbounded_channel();
        let jobs = Mutex::new(vec![fake_job("work", &json!({"n": 1})).unwrap()]);
        let (failures, standing, release_takes) = (Mutex::new(failures), Some(Standing::Held), Duration::ZERO);
        (Engine { jobs, failures, standing, beats: Arc::default(), release_takes, said }, heard)
    }

    fn say(&self, what: String) -> Result<(), Error> {
        self.said.send(what).unwrap();
        let mut failures = self.failures.lock().unwrap();
        if failures.is_empty() { Ok(()) } else { Err(failures.remove(0)) }
    }
}

#[async_trait]
impl EngineClient for Engine {
    async fn poll(&self, _: Poll<'_>) -> Result<Vec<Job>, Error> {
        let jobs = std::mem::take(&mut *self.jobs.lock().unwrap());
        if jobs.is_empty() { std::future::pending().await } else { Ok(jobs) }
    }
    async fn complete(&self, _: &str, job: &Job, variables: &Raw) -> Result<(), Error> {
        self.say(format!("complete {} {variables}", job.id))
    }
    async fn fail(&self, _: &str, _: &Job, message: &str, retryable: bool, after: Option<Duration>) -> Result<(), Error> {
        self.say(format!("fail {message}, {retryable}, {after:?}"))
    }
    async fn throw_error(&self, _: &str, _: &Job, code: &str, message: &str, variables: &Raw) -> Result<(), Error> {
        self.say(format!("throw {code} {message} {variables}"))
    }
    async fn heartbeat(&self, _: &str, _: Duration, beats: &[Beat<'_>]) -> Result<Vec<Standing>, Error> {
        self.beats.fetch_add(1, Ordering::SeqCst);
        match self.standing {
            Some(standing) => Ok(vec![standing; beats.len()]),
            None => std::future::pending().await,
        }
    }
    async fn release(&self, _: &str, job: &Job, delay: Option<Duration>) -> Result<(), Error> {
        sleep(self.release_takes).await;
        self.say(format!("release {} {delay:?}", job.id))
    }
}

/// What is said of a job that ends so, so many things at least.
async fn sayings(count: usize, end: End, failures: Vec<Error>) -> Vec<String> {
    let (engine, mut heard) = Engine::new(failures);
    let registry = Registry::new().handle("work", move |_: JobContext, _: Anything| async move { end() });
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(Runner::new(registry, engine).run(async move { drop(stopped.await) }));
    let mut said = Vec::new();
    for _ in 0..count {
        said.push(heard.recv().await.unwrap());
    }
    drop(stop);
    running.await.unwrap().unwrap();
    said.extend(std::iter::from_fn(|| heard.try_recv().ok()));
    said
}

#[tokio::test]
async fn every_end_of_a_handler() {
    let all: [(End, &str); 10] = [
        (|| Ok(json!({"m": 2})), r#"complete 1 {"m":2}"#),
        (|| Ok(Value::Null), "complete 1 {}"),
        (|| Ok(json!(5)), "fail variables must be written as a JSON object, false, None"),
        (|| Err(std::io::Error::other("odd").into()), "fail odd, true, None"),
        (
            || Err(Failure::Retryable { message: "busy".to_owned(), after: Some(Duration::from_secs(5)) }),
            "fail busy, true, Some(5s)",
        ),
        (|| Err(Failure::non_retryable("never")), "fail never, false, None"),
        (|| Err(Failure::bpmn("E", "no", &json!({"a": 1}))), r#"throw E no {"a":1}"#),
        (|| Err(Failure::bpmn("E", "no", &5)), "fail variables must be written as a JSON object, false, None"),
        (|| Err(Failure::Snooze(Duration::from_secs(5))), "release 1 Some(5s)"),
        (|| panic!("it broke"), "fail task"),
    ];
    for (end, expected) in all {
        let said = sayings(1, end, Vec::new()).await;
        assert!(said[0].starts_with(expected), "{said:?} instead of {expected}");
    }
}

fn away() -> Error {
    Error::Unavailable { message: "away".to_owned(), retry_after: None }
}

fn refused(status: u16, message: &str) -> Error {
    Error::Refused { status, code: "CODE".to_owned(), message: message.to_owned() }
}

#[tokio::test(start_paused = true)]
async fn an_end_is_said_until_it_is_known() {
    let done = "complete 1 {}";
    assert_eq!(sayings(3, || Ok(Value::Null), vec![away(), away()]).await, [done, done, done]);
    assert_eq!(sayings(1, || Ok(Value::Null), vec![refused(409, "gone")]).await, [done]);
}

#[tokio::test]
async fn an_end_that_is_refused_is_a_failure_for_people() {
    let all: [(End, &str); 3] = [
        (|| Ok(Value::Null), "the result"),
        (|| Err(Failure::bpmn("", "no", &())), "the BPMN error"),
        (|| Err(Failure::Snooze(Duration::MAX)), "the snooze"),
    ];
    for (end, what) in all {
        let said = sayings(2, end, vec![refused(413, "too large")]).await;
        assert_eq!(said[1..], [format!("fail {what} was refused: too large (CODE, 413), false, None")]);
    }
}

#[tokio::test]
async fn a_failure_that_is_refused_is_said_once_more_with_less() {
    let end: End = || Err(Failure::Retryable { message: "\0".to_owned() + &"ä".repeat(20_000), after: Some(Duration::MAX) });
    let short = format!("fail \u{FFFD}{}, true, None", "ä".repeat(9_999));
    let said = sayings(2, end, vec![refused(400, "too long")]).await;
    assert_eq!(said[1..], [short.as_str()]);
    let said = sayings(2, end, vec![refused(400, "too long"), refused(400, "too odd")]).await;
    assert_eq!(said[1..], [short], "then it is given up");
    let unsayable: End = || Ok(Value::Null);
    assert_eq!(sayings(3, unsayable, vec![refused(400, "a"), refused(400, "b"), refused(400, "c")]).await.len(), 3);
}

#[tokio::test]
async fn a_handler_that_panics_before_it_waits_has_failed() {
    let registry = Registry::new().handle("work", |_: JobContext, given: Anything| {
        assert!(given.is_empty(), "it broke");
        async { Ok::<_, Failure>(()) }
    });
    let ended = run_job(&registry, "work", &json!({"n": 1})).await.unwrap();
    assert!(matches!(&ended, Outcome::Failed { message, retryable: true, .. } if message.contains("it broke")), "{ended:?}");
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_a_transport_extends_no_lease() {
    let (engine, heard) = Engine::new(Vec::new());
    // Nobody hears it: saying something panics.
    drop(heard);
    let beats = engine.beats.clone();
    let registry = Registry::new().handle("work", |_: JobContext, _: Anything| async { Ok::<_, Failure>(()) });
    let runner = Runner::new(registry, engine).lease(Duration::from_secs(60)).grace(Duration::from_secs(1));
    let began = Instant::now();
    runner.run(sleep(Duration::from_secs(600))).await.unwrap();
    assert_eq!((began.elapsed().as_secs(), beats.load(Ordering::SeqCst)), (600, 0));
}

/// Runs a handler that waits until it is told to stop: why, and what was said of its job.
async fn told(standing: Option<Standing>, grace: Duration, wait: bool) -> (Loss, Vec<String>) {
    let (mut engine, mut heard) = Engine::new(Vec::new());
    engine.standing = standing;
    let (begun, mut has_begun) = mpsc::channel(1);
    let (told, mut is_told) = mpsc::channel(1);
    let registry = Registry::new().handle("work", move |context: JobContext, _: Anything| {
        let (begun, told) = (begun.clone(), told.clone());
        async move {
            begun.send(()).await?;
            told.send(context.lost().await).await?;
            Ok::<_, Failure>(())
        }
    });
    let (stop, stopped) = oneshot::channel::<()>();
    let runner = Runner::new(registry, engine).lease(Duration::from_millis(30)).grace(grace);
    let running = tokio::spawn(runner.run(async move { drop(stopped.await) }));
    has_begun.recv().await.unwrap();
    let before = if wait { is_told.recv().await } else { None };
    drop(stop);
    running.await.unwrap().unwrap();
    let loss = match before {
        Some(loss) => loss,
        None => is_told.recv().await.unwrap(),
    };
    let mut said = Vec::new();
    while let Ok(one) = heard.try_recv() {
        said.push(one);
    }
    (loss, said)
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_lost_its_job_says_nothing() {
    assert_eq!(told(Some(Standing::Cancelled), Duration::from_secs(30), true).await, (Loss::Cancelled, Vec::new()));
}

#[tokio::test(start_paused = true)]
async fn a_handler_is_told_when_its_lease_must_be_over_though_nobody_answers() {
    assert_eq!(told(None, Duration::from_secs(30), true).await, (Loss::LeaseLost, Vec::new()));
}

#[tokio::test(start_paused = true)]
async fn what_does_not_finish_in_time_is_given_back() {
    let given_back = vec!["release 1 None".to_owned()];
    assert_eq!(told(Some(Standing::Held), Duration::from_millis(1), false).await, (Loss::Shutdown, given_back));
}

/// Stops a runner with twenty handlers that do not listen, where giving a job back takes so long: how often it was said, and how long it took.
async fn given_back(release_takes: Duration, failures: Vec<Error>) -> (usize, Duration) {
    let (mut engine, mut heard) = Engine::new(failures);
    engine.release_takes = release_takes;
    engine.jobs = Mutex::new(vec![fake_job("work", &json!({})).unwrap(); 20]);
    let (begun, mut has_begun) = mpsc::channel(20);
    let registry = Registry::new().handle("work", move |_: JobContext, _: Anything| {
        let begun = begun.clone();
        async move {
            begun.send(()).await?;
            std::future::pending::<Result<(), Failure>>().await
        }
    });
    let stopped = async move {
        for _ in 0..20 {
            has_begun.recv().await.unwrap();
        }
    };
    let began = Instant::now();
    Runner::new(registry, engine).max_parallel(20).grace(Duration::from_secs(7)).run(stopped).await.unwrap();
    (std::iter::from_fn(|| heard.try_recv().ok()).count(), began.elapsed())
}

#[tokio::test(start_paused = true)]
async fn giving_back_has_one_limit_for_all() {
    let seconds = Duration::from_secs;
    assert_eq!(given_back(seconds(2), Vec::new()).await, (20, seconds(7 + 2)));
    assert_eq!(given_back(seconds(3_600), Vec::new()).await, (0, seconds(7 + 5)));
    let (said, took) = given_back(seconds(0), vec![away(), away()]).await;
    assert!(said == 22 && took < seconds(7 + 1), "{said} times in {took:?}");
}

#[tokio::test]
async fn a_handler_runs_without_a_server() {
    #[derive(serde::Deserialize)]
    struct Input {
        n: i64,
    }
    let registry = Registry::new().handle("double", |context: JobContext, Input { n }| async move {
        context.progress(50, "half", &json!({})).await?;
        Ok::<_, Failure>(json!({"n": n * 2}))
    });
    let Outcome::Completed(variables) = run_job(&registry, "double", &json!({"n": 2, "other": []})).await.unwrap() else {
        panic!()
    };
    assert_eq!(variables.get(), r#"{"n":4}"#);
    let Outcome::Failed { message, retryable: false, .. } = run_job(&registry, "double", &json!({"n": "2"})).await.unwrap()
    else {
        panic!()
    };
    assert!(message.starts_with("variables: invalid type: string \"2\", expected i64"), "{message}");
    assert_eq!(registry.job_types(), ["double"]);
    let _shared: Arc<Registry> = Arc::new(registry);
}

/// Has no jobs, never waits, and counts how often it is asked.
struct Impatient(Arc<Mutex<usize>>);

#[async_trait]
impl EngineClient for Impatient {
    async fn poll(&self, _: Poll<'_>) -> Result<Vec<Job>, Error> {
        *self.0.lock().unwrap() += 1;
        tokio::task::yield_now().await;
        Ok(Vec::new())
    }
    async fn complete(&self, _: &str, _: &Job, _: &Raw) -> Result<(), Error> {
        unreachable!("there are no jobs")
    }
    async fn fail(&self, _: &str, _: &Job, _: &str, _: bool, _: Option<Duration>) -> Result<(), Error> {
        unreachable!("there are no jobs")
    }
    async fn throw_error(&self, _: &str, _: &Job, _: &str, _: &str, _: &Raw) -> Result<(), Error> {
        unreachable!("there are no jobs")
    }
    async fn heartbeat(&self, _: &str, _: Duration, _: &[Beat<'_>]) -> Result<Vec<Standing>, Error> {
        unreachable!("there are no jobs")
    }
    async fn release(&self, _: &str, _: &Job, _: Option<Duration>) -> Result<(), Error> {
        unreachable!("there are no jobs")
    }
}

#[tokio::test]
async fn polls_that_do_not_wait_come_less_and_less_often() {
    let asked = Arc::new(Mutex::new(0));
    let registry = Registry::new().handle("work", |_: JobContext, _: Anything| async { Ok::<_, Failure>(()) });
    let runner = Runner::new(registry, Impatient(asked.clone())).poll_wait(Duration::ZERO);
    // Without a pause there would be thousands; a slow machine has fewer.
    runner.run(tokio::time::sleep(Duration::from_millis(300))).await.unwrap();
    assert!(*asked.lock().unwrap() < 10);
}
