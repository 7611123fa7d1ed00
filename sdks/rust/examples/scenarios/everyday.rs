//! What workers do every day.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use caudal_client::{Deployed, Failure, Filter, JobContext, Message, Raw, Registry, Resource, Start, Status, Submit};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::sync::watch;

use crate::world::{Scenario, Server, WITHIN, ended, file, is_json, json_object, start_work, until, work, work_with};

type Anything = Map<String, Value>;

pub(crate) fn all() -> Vec<Scenario> {
    vec![
        Scenario::new("happy path", happy_path()),
        Scenario::new("typed variables", typed_variables()),
        Scenario::new("retries", retries()),
        Scenario::new("non-retryable", non_retryable()),
        Scenario::new("parallelism", parallelism()),
        Scenario::new("snooze", snooze()),
        Scenario::new("large variables", large_variables()),
        Scenario::new("too large a result", too_large_a_result()),
        Scenario::new("refused end", refused_end()),
        Scenario::new("unicode", echo("unicode.json")),
        Scenario::new("numbers beyond 2^53", echo("numbers.json")),
        Scenario::new("bpmn", bpmn()),
        Scenario::new("people and signals", people_and_signals()),
        Scenario::new("start once", start_once()),
        Scenario::new("executions", executions()),
    ]
}

async fn happy_path() {
    #[derive(Deserialize)]
    struct Input {
        a: i64,
        b: i64,
    }
    #[derive(Serialize)]
    struct Output {
        sum: i64,
    }
    async fn add(context: JobContext, input: Input) -> Result<Output, Failure> {
        assert_eq!(context.job().step_id, "do");
        Ok(Output { sum: input.a + input.b })
    }
    let server = Server::start().await.unwrap();
    let working = work(&server, Registry::new().handle("work", add));
    let client = server.client();
    let instance = ended(&client, &start_work(&client, &json!({"a": 1, "b": 2})).await).await;
    assert_eq!(instance.status, Status::Completed);
    is_json(&instance.variables, json!({"a": 1, "b": 2, "sum": 3}));
    working.stop().await;
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Line {
    article: String,
    count: u32,
}

#[derive(Debug, Serialize, Deserialize)]
struct Order {
    customer: String,
    lines: Vec<Line>,
    note: Option<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Bill {
    pieces: u32,
    lines: Vec<Line>,
}

async fn typed_variables() {
    async fn bill(_: JobContext, order: Order) -> Result<Bill, Failure> {
        assert_eq!(order.note, None);
        Ok(Bill { pieces: order.lines.iter().map(|line| line.count).sum(), lines: order.lines })
    }
    let server = Server::start().await.unwrap();
    let working = work(&server, Registry::new().handle("work", bill));
    let client = server.client();
    let lines = vec![Line { article: "pen".to_owned(), count: 2 }, Line { article: "ink".to_owned(), count: 3 }];
    let order = Order { customer: "ann".to_owned(), lines: lines.clone(), note: None };
    let good = ended(&client, &start_work(&client, &order).await).await;
    assert_eq!(good.variables::<Bill>().unwrap(), Bill { pieces: 5, lines });
    let bad = Start::of("work").variables(&json!({"customer": "bob"})).unwrap();
    let bad = client.start_and_wait(bad, WITHIN).await.unwrap();
    assert_eq!(bad.status, Status::Failed);
    let reason = bad.failure_reason.unwrap();
    assert!(reason.starts_with("NotRetryable") && reason.contains("lines"), "{reason}");
    working.stop().await;
}

/// A handler of `work` that notes the retries left, and what it does the first so many times.
fn noting(left: &Arc<Mutex<Vec<i32>>>, times: usize, failure: fn() -> Failure) -> Registry {
    let left = left.clone();
    Registry::new().handle("work", move |context: JobContext, _: Anything| {
        let mut left = left.lock().unwrap();
        left.push(context.job().retries_remaining);
        let result = if left.len() <= times { Err(failure()) } else { Ok(()) };
        async move { result }
    })
}

async fn retries() {
    let left = Arc::default();
    let server = Server::start().await.unwrap();
    let working = work(&server, noting(&left, 2, || std::io::Error::other("the bureau is closed").into()));
    let client = server.client();
    let instance = ended(&client, &start_work(&client, &json!({})).await).await;
    assert_eq!(*left.lock().unwrap(), [3, 2, 1]);
    let attempts = client.history(&instance.id).await.unwrap();
    let attempts: Vec<_> =
        attempts.iter().filter(|one| one.step_id == "do").map(|one| (one.attempt_number, one.status.as_str())).collect();
    assert_eq!(attempts, [(1, "FAILED"), (2, "FAILED"), (3, "COMPLETED")]);
    working.stop().await;
}

async fn non_retryable() {
    let left = Arc::default();
    let server = Server::start().await.unwrap();
    let working = work(&server, noting(&left, 9, || Failure::non_retryable("no such account")));
    let client = server.client();
    let instance = ended(&client, &start_work(&client, &json!({})).await).await;
    assert_eq!(instance.status, Status::Failed);
    assert_eq!(instance.failure_reason.unwrap(), "NotRetryable: step 'do': no such account");
    working.stop().await;
}

async fn parallelism() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let full = Arc::new(watch::Sender::new(false));
    let seen = most.clone();
    let registry = Registry::new().handle("work", move |_: JobContext, _: Anything| {
        let (now, most, full) = (now.clone(), most.clone(), full.clone());
        async move {
            let running = now.fetch_add(1, Ordering::SeqCst) + 1;
            most.fetch_max(running, Ordering::SeqCst);
            if running == 3 {
                full.send_replace(true);
            }
            full.subscribe().wait_for(|full| *full).await?;
            now.fetch_sub(1, Ordering::SeqCst);
            Ok::<_, Failure>(())
        }
    });
    let server = Server::start().await.unwrap();
    let working = work_with(&server, registry, |runner| runner.max_parallel(3));
    let client = server.client();
    for id in client.submit("work", &vec![Submit::default(); 12], None).await.unwrap() {
        assert_eq!(client.wait_execution(&id, WITHIN).await.unwrap().state, Status::Completed);
    }
    assert_eq!(seen.load(Ordering::SeqCst), 3);
    working.stop().await;
}

async fn snooze() {
    let left: Arc<Mutex<Vec<i32>>> = Arc::default();
    let server = Server::start().await.unwrap();
    let working = work(&server, noting(&left, 1, || Failure::Snooze(Duration::from_secs(3_600))));
    let client = server.client();
    let id = client.submit("work", &[Submit::default()], None).await.unwrap().remove(0);
    let state = || async { client.execution(&id).await.unwrap().state };
    until("the handler is called", || async { left.lock().unwrap().len() == 1 }).await;
    until("it is put off", || async { state().await == Status::Waiting }).await;
    server.advance(Duration::from_secs(59 * 60)).await.unwrap();
    assert_eq!(state().await, Status::Waiting);
    server.advance(Duration::from_secs(120)).await.unwrap();
    assert_eq!(client.wait_execution(&id, WITHIN).await.unwrap().state, Status::Completed);
    assert_eq!(*left.lock().unwrap(), [2, 2]);
    working.stop().await;
}

async fn large_variables() {
    let registry = Registry::new().handle("work", |_: JobContext, mut given: Anything| async move {
        Ok::<_, Failure>(json!({"text": null, "copy": given.remove("text")}))
    });
    let server = Server::start().await.unwrap();
    let working = work(&server, registry);
    let client = server.client();
    let text = "x".repeat(3_000_000);
    let instance = ended(&client, &start_work(&client, &json_object("text", text.as_str())).await).await;
    assert!(instance.variables::<Value>().unwrap()["copy"] == text.as_str());
    working.stop().await;
}

/// Runs `work` instance by instance with these variables, one at a time: those that fail have a reason with this word in it, the others complete.
async fn each(server: &Server, given: &[(Value, Option<&str>)]) {
    let client = server.client();
    for (variables, reason) in given {
        let instance = ended(&client, &start_work(&client, variables).await).await;
        assert_eq!(instance.status, if reason.is_some() { Status::Failed } else { Status::Completed });
        let seen = instance.failure_reason.unwrap_or_default();
        let word = reason.unwrap_or_default();
        assert!(word.is_empty() || seen.starts_with("NotRetryable") && seen.contains(word), "{seen} instead of {word}");
    }
}

async fn too_large_a_result() {
    #[derive(Deserialize)]
    struct Input {
        bytes: usize,
    }
    let registry = Registry::new()
        .handle("work", |_: JobContext, Input { bytes }| async move { Ok::<_, Failure>(json_object("text", "x".repeat(bytes))) });
    let server = Server::start().await.unwrap();
    let working = work_with(&server, registry, |runner| runner.max_parallel(1));
    let given = [(json_object("bytes", 20_000_000), Some("the result was refused")), (json_object("bytes", 20), None)];
    each(&server, &given).await;
    working.stop().await;
}

async fn refused_end() {
    #[derive(Deserialize)]
    struct Input {
        end: String,
    }
    let registry = Registry::new().handle("work", |_: JobContext, Input { end }| async move {
        match end.as_str() {
            "snooze" => Err(Failure::Snooze(Duration::from_secs(10 * 365 * 24 * 3_600))),
            "error" => Err(Failure::bpmn("", "it has no code", &())),
            _ => Ok(()),
        }
    });
    let server = Server::start().await.unwrap();
    let working = work_with(&server, registry, |runner| runner.max_parallel(1));
    let given = [("snooze", Some("the snooze was refused")), ("error", Some("the BPMN error was refused")), ("good", None)];
    each(&server, &given.map(|(end, reason)| (json_object("end", end), reason))).await;
    working.stop().await;
}

async fn echo(name: &str) {
    #[derive(Serialize)]
    struct Copy {
        copy: Raw,
    }
    let text = std::fs::read_to_string(file(name)).unwrap();
    let given: std::collections::BTreeMap<String, Raw> = serde_json::from_str(&text).unwrap();
    let registry = Registry::new().handle("work", |_: JobContext, copy: Raw| async move { Ok::<_, Failure>(Copy { copy }) });
    let server = Server::start().await.unwrap();
    let working = work(&server, registry);
    let client = server.client();
    let instance = ended(&client, &start_work(&client, &given).await).await;
    let mut seen: std::collections::BTreeMap<String, Raw> = instance.variables().unwrap();
    let copy: std::collections::BTreeMap<String, Raw> = serde_json::from_str(seen.remove("copy").unwrap().get()).unwrap();
    // Texts are compared as values, numbers digit by digit.
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    for (name, value) in &given {
        for other in [&seen[name], &copy[name]] {
            let [value, other] = [value.get(), other.get()];
            assert_eq!(serde_json::from_str::<Value>(value).unwrap(), serde_json::from_str::<Value>(other).unwrap());
            assert!(value.contains('\\') || digits(value) == digits(other), "{other} instead of {value}");
        }
    }
    assert_eq!(seen.len(), given.len());
    working.stop().await;
}

async fn bpmn() {
    let registry = Registry::new().handle("charge-card", |_: JobContext, _: Anything| async {
        Err::<(), _>(Failure::bpmn("DECLINED", "the card was declined", &json!({"reason": "limit"})))
    });
    let server = Server::start().await.unwrap();
    let working = work(&server, registry);
    let client = server.client();
    let deployed = client.deploy([Resource::file(file("charge.bpmn"))]).await.unwrap();
    assert_eq!(deployed, [Deployed { id: "charge".to_owned(), version: 1 }]);
    let message = Message::of("customer-called", "ann").variables(&json!({"settled": true})).unwrap();
    client.publish(&message).await.unwrap();
    let start = Start::of("charge").variables(&json!({"customer": "ann"})).unwrap();
    let instance = client.start_and_wait(start, WITHIN).await.unwrap();
    assert_eq!(instance.status, Status::Completed);
    assert_eq!(instance.variables::<Value>().unwrap()["settled"], true);
    let history = client.history(&instance.id).await.unwrap();
    let passed = |step: &str| history.iter().any(|one| one.step_id == step);
    assert!(passed("settled") && !passed("paid"));
    working.stop().await;
}

async fn people_and_signals() {
    let server = Server::start().await.unwrap();
    let client = server.client();
    let talk = || Resource::file(file("talk.json"));
    let deployed = client.deploy([talk(), talk()]).await.unwrap();
    assert_eq!(deployed.iter().map(|one| one.version).collect::<Vec<_>>(), [1, 2]);
    let id = client.start(Start::of("talk").business_key("b-1")).await.unwrap().id;
    assert_eq!(client.instance(&id).await.unwrap().current_step_ids, ["review"]);
    assert!(client.signal(&id, "paid", &json!({"sum": 1}), false).await.unwrap_err().is_conflict());
    client.signal(&id, "paid", &json!({"sum": 2}), true).await.unwrap();
    client.complete_user_task(&id, "review", "anna", &json!({"approved": true}), false).await.unwrap();
    is_json(&ended(&client, &id).await.variables, json!({"approved": true, "sum": 2}));
    let other = client.start(Start::of("talk")).await.unwrap().id;
    assert_eq!(client.cancel(&other).await.unwrap().status, Status::Cancelled);
    let found = client.instances(&Filter { business_key: Some("b-1".to_owned()), ..Filter::default() }).await.unwrap();
    assert_eq!((found.total, found.items[0].id.as_str()), (1, id.as_str()));
    let filter = Filter { definition_id: Some("talk".to_owned()), status: Some(Status::Cancelled), ..Filter::default() };
    assert_eq!(client.instances(&filter).await.unwrap().total, 1);
    assert_eq!(client.definitions("talk", 0, 20).await.unwrap().items[0].id, "talk");
    let document: Value = serde_json::from_str(&std::fs::read_to_string(file("talk.json")).unwrap()).unwrap();
    let uploaded: Value = serde_json::from_str(client.definition("talk", None).await.unwrap().get()).unwrap();
    assert_eq!(uploaded["steps"], document["steps"]);
    let steps: Vec<String> = client.history(&id).await.unwrap().into_iter().map(|one| one.step_id).collect();
    assert_eq!(steps, ["review", "paid", "end"]);
    client.deploy([Resource::file(file("approval.bpmn"))]).await.unwrap();
    let process = client.start(Start::of("approval")).await.unwrap().id;
    client.complete_user_task(&process, "approve", "anna", &json!({"approved": true}), false).await.unwrap();
    is_json(&ended(&client, &process).await.variables, json!({"approved": true}));
}

async fn start_once() {
    let registry =
        Registry::new().handle("work", |_: JobContext, _: Anything| async { Ok::<_, Failure>(json_object("result", 7)) });
    let server = Server::start().await.unwrap();
    let working = work(&server, registry);
    let client = server.client();
    client.deploy([Resource::file(file("work.json"))]).await.unwrap();
    let start = Start::of("work").variables(&json!({"n": 1})).unwrap().idempotency_key("order-1");
    let first = client.start(start.clone()).await.unwrap();
    assert_eq!(client.start(start).await.unwrap(), first);
    let done = client.start_and_wait(Start::of("work").idempotency_key("order-2"), WITHIN).await.unwrap();
    is_json(&done.variables, json!({"result": 7}));
    let filter = Filter { definition_id: Some("work".to_owned()), ..Filter::default() };
    assert_eq!(client.instances(&filter).await.unwrap().total, 2);
    working.stop().await;
}

async fn executions() {
    #[derive(Serialize, Deserialize)]
    struct Input {
        n: u64,
    }
    let registry = Registry::new()
        .handle("work", |_: JobContext, Input { n }| async move { Ok::<_, Failure>(json_object("square", n * n)) });
    let server = Server::start().await.unwrap();
    let working = work(&server, registry);
    let client = server.client();
    let given: Vec<Submit> = (0..100).map(|n| Submit::input(&Input { n }).unwrap()).collect();
    let ids = client.submit("work", &given, Some("k")).await.unwrap();
    assert_eq!(client.submit("work", &given, Some("k")).await.unwrap(), ids);
    for (n, id) in (0..100_u64).zip(&ids) {
        is_json(&client.wait_execution(id, WITHIN).await.unwrap().result.unwrap(), json_object("square", n * n));
    }
    working.stop().await;
}
