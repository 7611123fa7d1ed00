//! What is kept in memory is bounded by bytes: instances, executions and what waits leave it when they take more than their room, and are
//! read again when they are needed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use engine::{Document, JobKey};
use host::{Limits, Role};
use store::Store;
use store::log::{Answer, Command, NewExecution, Publish, Submit};

use crate::server::layer::Layer;
use crate::server::{Server, TENANT, clocked, task};

/// A thousandth of what it is unless somebody says otherwise; so are the variables below.
const ROOM: usize = 32 << 10;
/// What the tick under way may take beside it, and the one being committed.
const UNDER_WAY: usize = 16 << 10;

/// What was read.
#[derive(Debug, Clone, Default)]
struct Read {
    jobs: Arc<AtomicUsize>,
    /// The most variables and inputs at once.
    bytes: Arc<AtomicUsize>,
}

fn counted() -> (Arc<dyn Store>, Read) {
    let read = Read::default();
    let counts = read.clone();
    let store = Layer::over(clocked()).on_load(move |wanted, loaded| {
        counts.jobs.fetch_add(wanted.jobs.len(), Ordering::SeqCst);
        let variables = loaded.instances.iter().flat_map(|one| &one.variables).map(|variable| variable.value.len());
        let inputs = loaded.jobs.iter().filter_map(|job| job.execution.as_ref()).map(|execution| execution.input.len());
        counts.bytes.fetch_max(variables.chain(inputs).sum(), Ordering::SeqCst);
        Ok(())
    });
    (store.shared(), read)
}

async fn small(store: &Arc<dyn Store>) -> Server {
    let server = Server::join(store, "server", Role::Engine, Limits { instances_hot_bytes_max: ROOM, ..Limits::default() });
    server.owning().await;
    server
}

fn text(bytes: usize) -> String {
    format!("\"{}\"", "x".repeat(bytes))
}

fn instances_take(server: &Server) -> usize {
    server.host.metrics().instances_hot_bytes.get() as usize
}

fn rows_take(server: &Server) -> usize {
    server.host.metrics().rows_hot_bytes.get() as usize
}

async fn publish(server: &Server, key: &str) {
    let (tenant, name, id) = (TENANT.into(), "paid".into(), "".into());
    let publish = Publish { tenant, name, correlation_key: key.into(), id, time_to_live: 0, variables: vec![] };
    server.ask(Command::Publish(publish)).await;
}

/// All jobs there are, done one after the other; how many there were.
async fn work_off(server: &Server) -> usize {
    let mut done = 0;
    loop {
        let jobs: Vec<JobKey> = server.poll("work", Some(Duration::ZERO)).await;
        if jobs.is_empty() {
            return done;
        }
        for job in jobs {
            assert_eq!(server.ask(Command::CompleteJob { job, variables: Document::new(), result: None }).await, Answer::Done);
            done += 1;
        }
    }
}

/// 120 with four megabytes each, 1,500 with one, a thousand times smaller.
#[tokio::test]
async fn hot_instances_take_no_more_than_their_room() {
    for (count, bytes) in [(120, 4 << 10), (1_500, 1 << 10)] {
        let (store, read) = counted();
        let server = small(&store).await;
        server.deploy(&[("p.bpmn", &task("p", "work"))]).await;
        let value = text(bytes);
        for _ in 0..count {
            server.create("p", &[("v", &value)]).await;
            assert!(instances_take(&server) <= ROOM + UNDER_WAY, "{} bytes", instances_take(&server));
        }
        assert!(ROOM / 2 < instances_take(&server), "there is room for some");
        assert_eq!(work_off(&server).await, count, "nothing is lost with them");
        let at_once = read.bytes.load(Ordering::SeqCst);
        assert!(0 < at_once && at_once <= ROOM + UNDER_WAY, "{at_once} bytes were read at once");
        server.stop().await;
    }
}

/// Before, up to 100,000 executions were kept, whatever their input.
#[tokio::test]
async fn executions_that_wait_take_no_more_than_their_room() {
    const COUNT: usize = 1_500;
    let (store, read) = counted();
    let server = small(&store).await;
    let input: Document = vec![("v".into(), text(1 << 10).into())];
    let new = NewExecution { input, priority: 0, retries: 3, run_at: None, unique: None, group: vec![] };
    for _ in 0..COUNT / 5 {
        let executions = vec![new.clone(); 5];
        let submitted = server.ask(Command::Submit(Submit { tenant: TENANT.into(), action: "work".into(), executions })).await;
        assert!(matches!(submitted, Answer::Submitted(_)), "{submitted:?}");
        assert!(rows_take(&server) <= ROOM + UNDER_WAY, "{} bytes", rows_take(&server));
    }
    assert!(ROOM / 2 < rows_take(&server), "there is room for some");
    assert_eq!(work_off(&server).await, COUNT);
    let at_once = read.bytes.load(Ordering::SeqCst);
    assert!(at_once <= ROOM, "{at_once} bytes were read at once");
    let read = read.jobs.load(Ordering::SeqCst);
    assert!(COUNT / 2 < read, "most were in the store alone");
    assert!(
        read < 2 * COUNT,
        "{read} were read: not more at once than there is room for, or they are driven out before their turn"
    );
    server.stop().await;
}

/// The same for what waits otherwise, and for the names under which it is found.
#[tokio::test]
async fn subscriptions_take_no_more_than_their_room() {
    const COUNT: usize = 300;
    let (store, _) = counted();
    let server = small(&store).await;
    server.deploy(&[("m.bpmn", MESSAGE)]).await;
    let key = |n: usize| format!("{n}-{}", "k".repeat(500));
    for n in 0..COUNT {
        server.create("m", &[("order", &format!("\"{}\"", key(n)))]).await;
        assert!(rows_take(&server) <= 2 * ROOM + UNDER_WAY, "{} bytes", rows_take(&server));
    }
    for n in 0..COUNT {
        publish(&server, &key(n)).await;
        assert!(rows_take(&server) <= 2 * ROOM + UNDER_WAY, "{} bytes", rows_take(&server));
    }
    assert_eq!(server.host.metrics().instances_ended.get(), COUNT as u64);
    server.stop().await;
}

const MESSAGE: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">
  <message id="paid" name="paid"><extensionElements><zeebe:subscription correlationKey="=order"/></extensionElements></message>
  <process id="m" isExecutable="true">
    <startEvent id="start"/>
    <sequenceFlow id="in" sourceRef="start" targetRef="payment"/>
    <intermediateCatchEvent id="payment"><messageEventDefinition messageRef="paid"/></intermediateCatchEvent>
  </process>
</definitions>"#;
