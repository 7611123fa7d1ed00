//! The runner with an engine in memory: what it asks, what it says, and how often.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test that cannot go on has failed")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use caudal_client::testing::{fake_job, run_job};
use caudal_client::{Beat, EngineClient, Error, Failure, Job, JobContext, Loss, Outcome, Poll, Raw, Registry, Runner, Standing};
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot};

type Anything = Map<String, Value>;
type End = fn() -> Result<Value, Failure>;

/// Hands out one job and notes what is said. Each answer may be replaced by a failure, the next one first.
struct Engine {
    job: Mutex<Option<Job>>,
    failures: Mutex<Vec<Error>>,
    /// Without one it does not answer signs of life.
    standing: Option<Standing>,
    said: mpsc::UnboundedSender<String>,
}

impl Engine {
    fn new(failures: Vec<Error>) -> (Engine, mpsc::UnboundedReceiver<String>) {
        let (said, heard) = mpsc::unbounded_channel();
        let job = Mutex::new(Some(fake_job("work", &json!({"n": 1})).unwrap()));
        (Engine { job, failures: Mutex::new(failures), standing: Some(Standing::Held), said }, heard)
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
        let job = self.job.lock().unwrap().take();
        match job {
            Some(job) => Ok(vec![job]),
            None => std::future::pending().await,
        }
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
        match self.standing {
            Some(standing) => Ok(vec![standing; beats.len()]),
            None => std::future::pending().await,
        }
    }
    async fn release(&self, _: &str, job: &Job, delay: Option<Duration>) -> Result<(), Error> {
        self.say(format!("release {} {delay:?}", job.id))
    }
}

/// The first so many things that are said of a job that ends so.
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
    said
}

#[tokio::test]
async fn every_end_of_a_handler() {
    let all: [(End, &str); 9] = [
        (|| Ok(json!({"m": 2})), r#"complete 1 {"m":2}"#),
        (|| Ok(Value::Null), "complete 1 {}"),
        (|| Ok(json!(5)), "fail a handler must return an object of variables, false, None"),
        (|| Err(std::io::Error::other("odd").into()), "fail odd, true, None"),
        (
            || Err(Failure::Retryable { message: "busy".to_owned(), after: Some(Duration::from_secs(5)) }),
            "fail busy, true, Some(5s)",
        ),
        (|| Err(Failure::non_retryable("never")), "fail never, false, None"),
        (|| Err(Failure::bpmn("E", "no", &json!({"a": 1}))), r#"throw E no {"a":1}"#),
        (|| Err(Failure::Snooze(Duration::from_secs(5))), "release 1 Some(5s)"),
        (|| panic!("it broke"), "fail task"),
    ];
    for (end, expected) in all {
        let said = sayings(1, end, Vec::new()).await;
        assert!(said[0].starts_with(expected), "{said:?} instead of {expected}");
    }
}

fn refused(status: u16, message: &str) -> Error {
    Error::Refused { status, code: "CODE".to_owned(), message: message.to_owned() }
}

#[tokio::test(start_paused = true)]
async fn an_end_is_said_until_it_is_known() {
    let away = || Error::Unavailable { message: "away".to_owned(), retry_after: None, refused: false };
    let done = "complete 1 {}";
    assert_eq!(sayings(3, || Ok(Value::Null), vec![away(), away()]).await, [done, done, done]);
    assert_eq!(sayings(1, || Ok(Value::Null), vec![refused(409, "gone")]).await, [done]);
}

#[tokio::test]
async fn a_result_that_is_refused_is_a_failure_for_people() {
    let said = sayings(2, || Ok(Value::Null), vec![refused(413, "too large")]).await;
    assert_eq!(said[1], "fail the result was refused: too large (CODE, 413), false, None");
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
