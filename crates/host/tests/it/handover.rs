//! Several servers on one store: who comes, who goes, and what those hear who asked the other one.

use std::sync::Arc;
use std::time::Duration;

use crate::server::layer::{Fate, Layer};
use crate::server::{self, Server, TENANT, caller, create, memory, task, timed};
use engine::PartitionId;
use host::{Error, Limits, Poll, Role, Subscription};
use store::log::{Answer, Command, Create, IdempotencyKey, ProcessRef, Request};
use store::{Fence, Store};

fn limits() -> Limits {
    Limits { lease: Duration::from_secs(2), poll_every: Duration::from_millis(20), ..Limits::default() }
}

fn poll(wait: Duration) -> Poll {
    Poll {
        job_type: "work".into(),
        worker: "w".into(),
        timeout: 600_000,
        max: 10,
        tenants: vec![TENANT.into()],
        fetch: vec![],
        wait: Some(wait),
    }
}

/// How many requests have been put into the inbox.
async fn inbox_tail(store: &Arc<dyn Store>) -> u64 {
    store.partitions().await.unwrap().iter().find(|one| one.partition == PartitionId(1)).unwrap().inbox_tail
}

/// Before, the owner that came back leased the jobs to nobody until the worker's time was out.
#[tokio::test(flavor = "multi_thread")]
async fn jobs_asked_for_by_somebody_who_has_gone_are_given_back() {
    let store = memory();
    let owner = Server::join(&store, "owner", Role::Engine, limits());
    owner.owning().await;
    owner.deploy(&[("p.bpmn", &task("p", "work"))]).await;
    for _ in 0..10 {
        owner.create("p", &[]).await;
    }
    owner.stop().await;
    let follower = Server::join(&store, "follower", Role::Follower, limits());
    let before = inbox_tail(&store).await;
    let host = follower.host.clone();
    let asking = tokio::spawn(async move { host.activate(poll(Duration::from_secs(30))).await.is_ok() });
    while inbox_tail(&store).await == before {
        tokio::task::yield_now().await;
    }
    assert!(!asking.is_finished(), "nobody is there to answer");
    asking.abort();
    assert!(asking.await.unwrap_err().is_cancelled());
    let owner = Server::join(&store, "next", Role::Engine, limits());
    owner.owning().await;
    let mut found = Vec::new();
    while found.len() < 10 {
        found.extend(owner.poll("work", Some(Duration::from_secs(30))).await);
    }
    follower.stop().await;
    owner.stop().await;
}

/// Before, a stream opened on a server that followed went on asking through the store for ever.
#[tokio::test(flavor = "multi_thread")]
async fn a_stream_is_served_directly_once_its_server_owns_the_partition() {
    let store = memory();
    let first = Server::join(&store, "first", Role::Engine, limits());
    first.owning().await;
    first.deploy(&[("p.bpmn", &task("p", "work"))]).await;
    let second = Server::join(&store, "second", Role::Engine, limits());
    let subscription = Subscription {
        job_type: "work".into(),
        worker: "w".into(),
        timeout: 600_000,
        tenants: vec![TENANT.into()],
        fetch: vec![],
    };
    let mut stream = second.host.stream(subscription).unwrap();
    first.create("p", &[]).await;
    let job = stream.next().await.unwrap();
    assert_eq!(second.ask(Command::CompleteJob { job: job.key, variables: vec![], result: None }).await, Answer::Done);
    first.stop().await;
    second.owning().await;
    // What it asked for while it followed is answered first.
    second.create("p", &[]).await;
    stream.next().await.unwrap();
    let before = inbox_tail(&store).await;
    for _ in 0..20 {
        second.create("p", &[]).await;
        stream.next().await.unwrap();
    }
    assert_eq!(inbox_tail(&store).await, before, "it asks through the inbox no more");
    drop(stream);
    second.stop().await;
}

/// Before, a server remembered definitions as they were when it last owned the partition.
#[tokio::test(flavor = "multi_thread")]
async fn a_definition_another_owner_has_deleted_cannot_be_started() {
    let store = memory();
    let first = Server::join(&store, "first", Role::Engine, limits());
    first.owning().await;
    first.deploy(&[("p.bpmn", &task("p", "work"))]).await;
    let Answer::Created(created) = first.create("p", &[]).await else { panic!("not created") };
    assert_eq!(first.ask(Command::Cancel { instance: created.instance }).await, Answer::Done);
    // The second takes the partition over behind the first one's back, and gives it back to it.
    let second = Server::join(&store, "second", Role::Engine, limits());
    while !second.host.owns() {
        let epoch = store.partitions().await.unwrap()[0].epoch;
        store.release(Fence { partition: PartitionId(1), epoch }).await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let key = created.definition;
    let deleted = patient(&second, || Command::DeleteResource { key: key.0 }).await;
    assert!(matches!(deleted, Answer::ResourceDeleted { .. }), "{deleted:?}");
    second.stop().await;
    let started = patient(&first, || Command::Create(Create { process: ProcessRef::Key(key), ..server::create("p", &[]) })).await;
    assert!(matches!(started, Answer::Rejected(_)), "{started:?}");
    first.stop().await;
}

/// As a patient client asks: again while the server says to try again.
async fn patient(server: &Server, command: impl Fn() -> Command) -> Answer {
    loop {
        match server.host.submit(Request { caller: caller(), command: command(), idempotency: None }).await {
            Ok(answer) => return answer,
            Err(Error::Rejected(rejection)) => return Answer::Rejected(rejection),
            Err(Error::Unavailable { .. } | Error::Timeout) => tokio::time::sleep(Duration::from_millis(10)).await,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Before, each took the other's lease for its own, for ever.
#[tokio::test(flavor = "multi_thread")]
async fn two_servers_with_one_name_do_not_push_each_other_out() {
    let store = memory();
    let long = || Limits { lease: Duration::from_secs(600), ..limits() };
    let one = Server::join(&store, &host::unique("twin"), Role::Engine, long());
    one.owning().await;
    let two = Server::join(&store, &host::unique("twin"), Role::Engine, long());
    one.deploy(&[("p.bpmn", &task("p", "work"))]).await;
    let epoch = || async { store.partitions().await.unwrap()[0].epoch };
    let before = epoch().await;
    for _ in 0..30 {
        two.create("p", &[]).await;
    }
    assert_eq!(epoch().await, before, "the partition has not changed hands");
    let shown = one.host.topology().await.unwrap();
    assert_eq!((&*shown.node, shown.partitions[0].owner.as_deref()), ("twin", Some("twin")));
    two.stop().await;
    one.stop().await;
}

/// The lease is renewed beside the tick. The time of both servers and of their store is the runtime's.
#[tokio::test(start_paused = true)]
async fn a_command_that_takes_longer_than_the_lease_does_not_lose_it() {
    let inner: Arc<dyn Store> = Arc::new(timed());
    let long = 4 * limits().lease;
    let layer = Layer::of(inner.clone())
        .slow(move |wanted| if wanted.idempotent.is_empty() { Duration::ZERO } else { long })
        .on_commit(move |commit| if commit.changes.idempotent_new.is_empty() { Fate::Through } else { Fate::Late(long) });
    let patient = || Limits { answer_timeout: 4 * long, ..limits() };
    let one = Server::join(&layer.shared(), "one", Role::Engine, patient());
    one.owning().await;
    one.deploy(&[("p.bpmn", &task("p", "work"))]).await;
    let two = Server::join(&inner, "two", Role::Engine, patient());
    let epoch = || async { inner.partitions().await.unwrap()[0].epoch };
    let (before, began) = (epoch().await, tokio::time::Instant::now());

    let idempotency = Some(IdempotencyKey { tenant: TENANT.into(), key: "k".into(), fingerprint: 1 });
    let request = Request { caller: caller(), command: Command::Create(create("p", &[])), idempotency };
    let answer = one.host.submit(request).await;
    assert!(matches!(answer, Ok(Answer::Created(_))), "{answer:?}");
    assert!(2 * long <= began.elapsed(), "it was slow to load and slow to commit");
    assert_eq!((epoch().await, one.host.owns(), two.host.owns()), (before, true, false));
    assert_eq!(one.host.metrics().commit_failures.get(), 0);
    assert!(matches!(two.ask(Command::Create(create("p", &[]))).await, Answer::Created(_)), "it answers the other's callers too");
    two.stop().await;
    one.stop().await;
}
