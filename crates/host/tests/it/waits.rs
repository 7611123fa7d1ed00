//! Timers, messages, signals and called processes through a real host on the memory store, also across a restart.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::server::layer::{Fate, Layer, broken};
use crate::server::{self, Server, TENANT, clocked, memory, with_clock};
use engine::InstanceKey;
use host::{Limits, Role};
use schedule::Missed;
use store::Store;
use store::log::{Answer, Code, Command, Created, Publish, Request};
use store::query::{Entity, Field, Filter, InstanceView, Items, Op, Query, Scalar, Tenants, TimerView};
use store::row::TimerState;

fn process(id: &str, roots: &str, body: &str) -> String {
    format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="t">
  {roots}<process id="{id}" isExecutable="true">{body}</process></definitions>"#
    )
}

fn flow(ids: &[&str]) -> String {
    let pairs = ids.windows(2);
    pairs.map(|pair| format!(r#"<sequenceFlow id="{0}-{1}" sourceRef="{0}" targetRef="{1}"/>"#, pair[0], pair[1])).collect()
}

fn task(id: &str, job_type: &str) -> String {
    format!(
        r#"<serviceTask id="{id}"><extensionElements><zeebe:taskDefinition type="{job_type}"/></extensionElements></serviceTask>"#
    )
}

const MONEY: &str = r#"<message id="m" name="money"><extensionElements><zeebe:subscription correlationKey="=order"/></extensionElements></message>"#;

fn publish(name: &str, key: &str, time_to_live: i64, id: &str) -> Command {
    Command::Publish(message(name, key, time_to_live, id))
}

fn message(name: &str, key: &str, time_to_live: i64, id: &str) -> Publish {
    let variables = vec![("paid".into(), "12".into())];
    Publish { tenant: TENANT.into(), name: name.into(), correlation_key: key.into(), id: id.into(), time_to_live, variables }
}

async fn start(server: &Server, id: &str, variables: &[(&str, &str)]) -> Created {
    match server.create(id, variables).await {
        Answer::Created(created) => created,
        other => panic!("{other:?}"),
    }
}

async fn instances(store: &Arc<dyn Store>) -> Vec<InstanceView> {
    let query = Query::of(Entity::Instances, Tenants::These(vec![TENANT.into()]));
    match store.search(&query).await.unwrap().items {
        Items::Instances(views) => views,
        _ => unreachable!("instances were asked for"),
    }
}

async fn view(store: &Arc<dyn Store>, key: InstanceKey) -> InstanceView {
    let query = Query {
        filter: Filter::Is(Field::InstanceKey, Op::Eq(Scalar::Int(key.0 as i64))),
        ..Query::of(Entity::Instances, Tenants::These(vec![TENANT.into()]))
    };
    match store.search(&query).await.unwrap().items {
        Items::Instances(mut views) => views.remove(0),
        _ => unreachable!("instances were asked for"),
    }
}

async fn state(store: &Arc<dyn Store>, key: InstanceKey) -> String {
    format!("{:?}", view(store, key).await.state)
}

/// Until the instance is in that state; what follows a broadcast or a timer comes a tick later.
async fn reaches(store: &Arc<dyn Store>, key: InstanceKey, wanted: &str) {
    let patience = tokio::time::timeout(Duration::from_secs(60), async {
        while state(store, key).await != wanted {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    });
    patience.await.unwrap_or_else(|_| panic!("it never becomes {wanted}"));
}

#[tokio::test]
async fn a_message_goes_to_who_waits_and_is_kept_for_who_will() {
    let store = memory();
    let server = Server::start(&store).await;
    let event = r#"<intermediateCatchEvent id="paid"><messageEventDefinition messageRef="m"/></intermediateCatchEvent>"#;
    let body = format!(r#"<startEvent id="s"/>{event}<endEvent id="e"/>{}"#, flow(&["s", "paid", "e"]));
    server.deploy(&[("p.bpmn", &process("p", MONEY, &body))]).await;

    let first = start(&server, "p", &[("order", "\"a\"")]).await;
    let second = start(&server, "p", &[("order", "\"a\"")]).await;
    server.ask(publish("money", "b", 0, "")).await;
    assert_eq!(state(&store, first.instance).await, "Active", "the key is another");
    server.ask(publish("money", "a", 0, "")).await;
    assert_eq!(state(&store, first.instance).await, "Completed", "who waited first");
    assert_eq!(state(&store, second.instance).await, "Active", "once per process");
    server.stop().await;

    // Another server finds who waits in the tables, and keeps messages for those that come.
    let server = Server::start(&store).await;
    server.ask(publish("money", "a", 0, "")).await;
    assert_eq!(state(&store, second.instance).await, "Completed");
    server.ask(publish("money", "c", 3_600_000, "one")).await;
    let again = server.ask(publish("money", "c", 3_600_000, "one")).await;
    assert!(matches!(&again, Answer::Rejected(rejection) if rejection.code == Code::AlreadyExists), "{again:?}");
    server.stop().await;
    let server = Server::start(&store).await;
    let late = server.run("p", &[("order", "\"c\"")]).await;
    assert!(late.completed && late.variables.iter().any(|(name, value)| &**name == "paid" && &**value == "12"));
    let not_again = start(&server, "p", &[("order", "\"c\"")]).await;
    assert_eq!(state(&store, not_again.instance).await, "Active", "the process has had that message");
    let nobody = server.ask(Command::Correlate(message("money", "z", 0, ""))).await;
    assert!(matches!(&nobody, Answer::Rejected(rejection) if rejection.code == Code::NotFound), "{nobody:?}");
    let somebody = server.ask(Command::Correlate(message("money", "c", 0, ""))).await;
    assert!(matches!(&somebody, Answer::Correlated { instance, .. } if *instance == not_again.instance), "{somebody:?}");
    server.stop().await;
}

#[tokio::test]
async fn a_message_starts_one_instance_per_key_and_the_next_when_that_ends() {
    let store = memory();
    let server = Server::start(&store).await;
    let event = r#"<startEvent id="s"><messageEventDefinition messageRef="m"/></startEvent>"#;
    let body = format!(r#"{event}{}<endEvent id="e"/>{}"#, task("work", "work"), flow(&["s", "work", "e"]));
    server.deploy(&[("p.bpmn", &process("p", r#"<message id="m" name="go"/>"#, &body))]).await;
    server.ask(publish("go", "k", 3_600_000, "")).await;
    server.ask(publish("go", "k", 3_600_000, "")).await;
    server.ask(publish("go", "", 0, "")).await;
    server.ask(publish("go", "", 0, "")).await;
    assert_eq!(instances(&store).await.len(), 3, "one for the key, one for each without a key");
    server.stop().await;

    let server = Server::start(&store).await;
    let jobs = server.poll("work", None).await;
    assert_eq!(jobs.len(), 3);
    server.ask(Command::CompleteJob { job: jobs[0], variables: vec![], result: None }).await;
    assert_eq!(instances(&store).await.len(), 4, "the next one with the key");
    let jobs = server.poll("work", None).await;
    server.ask(Command::CompleteJob { job: jobs[0], variables: vec![], result: None }).await;
    assert_eq!(instances(&store).await.len(), 4, "no more of them");

    // A new version takes over; the old one is not started any more.
    let other = body.replace("id=\"work\"", "id=\"other\"").replace("\"work\" targetRef", "\"other\" targetRef");
    let other = other.replace("targetRef=\"work\"", "targetRef=\"other\"").replace("type=\"work\"", "type=\"other\"");
    server.deploy(&[("p.bpmn", &process("p", r#"<message id="m" name="go"/>"#, &other))]).await;
    server.ask(publish("go", "k", 0, "")).await;
    assert_eq!(server.poll("other", None).await.len(), 1);
    assert_eq!(server.poll("work", None).await.len(), 0);
    server.stop().await;
}

#[tokio::test]
async fn a_signal_reaches_all_that_wait_and_starts_processes() {
    let store = memory();
    let server = Server::start(&store).await;
    let signal = r#"<signal id="sig" name="alarm"/>"#;
    let event = r#"<intermediateCatchEvent id="heard"><signalEventDefinition signalRef="sig"/></intermediateCatchEvent>"#;
    let body = format!(r#"<startEvent id="s"/>{event}<endEvent id="e"/>{}"#, flow(&["s", "heard", "e"]));
    server.deploy(&[("p.bpmn", &process("p", signal, &body))]).await;
    let start_event = r#"<startEvent id="s"><signalEventDefinition signalRef="sig"/></startEvent>"#;
    let started = format!(r#"{start_event}{}<endEvent id="e"/>{}"#, task("work", "work"), flow(&["s", "work", "e"]));
    server.deploy(&[("q.bpmn", &process("q", signal, &started))]).await;
    let mut waiting = Vec::new();
    for _ in 0..250 {
        waiting.push(start(&server, "p", &[]).await.instance);
    }
    let variables = vec![("where".into(), "\"cellar\"".into())];
    let answer = server.ask(Command::Broadcast { tenant: TENANT.into(), name: "alarm".into(), variables }).await;
    assert!(matches!(answer, Answer::Published { .. }), "{answer:?}");
    let late = start(&server, "p", &[]).await.instance;
    for key in waiting {
        reaches(&store, key, "Completed").await;
    }
    assert_eq!(server.poll("work", Some(Duration::from_secs(30))).await.len(), 1);
    assert_eq!(state(&store, late).await, "Active", "it was not there when the signal came");
    server.stop().await;
}

/// What a signal sets going may need what is not in memory: that is looked up without forgetting who is told.
#[tokio::test]
async fn who_hears_a_signal_may_call_a_process() {
    let store = memory();
    let server = Server::start(&store).await;
    let event = r#"<intermediateCatchEvent id="heard"><signalEventDefinition signalRef="sig"/></intermediateCatchEvent>"#;
    let call = r#"<callActivity id="call"><extensionElements><zeebe:calledElement processId="child"/></extensionElements></callActivity>"#;
    let body = format!(r#"<startEvent id="s"/>{event}{call}<endEvent id="e"/>{}"#, flow(&["s", "heard", "call", "e"]));
    let child = format!(r#"<startEvent id="s"/><endEvent id="e"/>{}"#, flow(&["s", "e"]));
    server.deploy(&[("c.bpmn", &process("child", "", &child))]).await;
    server.deploy(&[("p.bpmn", &process("p", r#"<signal id="sig" name="alarm"/>"#, &body))]).await;
    let waiting = start(&server, "p", &[]).await.instance;
    server.ask(Command::Broadcast { tenant: TENANT.into(), name: "alarm".into(), variables: vec![] }).await;
    reaches(&store, waiting, "Completed").await;
    server.stop().await;
}

#[tokio::test]
async fn a_message_that_has_expired_does_not_live_again_when_the_clock_is_set_back() {
    const HOUR: i64 = 3_600_000;
    let (store, clock) = with_clock();
    let gone = Arc::new(AtomicUsize::new(0));
    let seen = gone.clone();
    let layer = Layer::of(store).on_commit(move |commit| {
        seen.fetch_add(commit.changes.messages_gone.len(), Ordering::SeqCst);
        Fate::Through
    });
    let store = layer.shared();
    let server = Server::start(&store).await;
    let event = r#"<intermediateCatchEvent id="paid"><messageEventDefinition messageRef="m"/></intermediateCatchEvent>"#;
    let body = format!(r#"<startEvent id="s"/>{event}<endEvent id="e"/>{}"#, flow(&["s", "paid", "e"]));
    server.deploy(&[("p.bpmn", &process("p", MONEY, &body))]).await;
    let published = clock.load(Ordering::SeqCst);
    server.ask(publish("money", "a", HOUR, "")).await;
    clock.fetch_add(2 * HOUR, Ordering::SeqCst);
    // Others keep the server going until it has seen that the message is over, and then until it has heard that it is not yet.
    while gone.load(Ordering::SeqCst) == 0 {
        start(&server, "p", &[("order", "\"z\"")]).await;
    }
    clock.fetch_sub(2 * HOUR, Ordering::SeqCst);
    let other = async || view(&store, start(&server, "p", &[("order", "\"z\"")]).await.instance).await;
    while published + HOUR <= other().await.started {}
    let late = start(&server, "p", &[("order", "\"a\"")]).await.instance;
    assert_eq!(state(&store, late).await, "Active", "its message has expired");
    server.stop().await;
}

#[tokio::test]
async fn timers_fire_when_due_and_not_before_also_after_a_restart() {
    let (store, clock) = with_clock();
    let server = Server::start(&store).await;
    let event = r#"<intermediateCatchEvent id="nap"><timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition></intermediateCatchEvent>"#;
    let body = format!(r#"<startEvent id="s"/>{event}<endEvent id="e"/>{}"#, flow(&["s", "nap", "e"]));
    server.deploy(&[("p.bpmn", &process("p", "", &body))]).await;
    let first = start(&server, "p", &[]).await.instance;
    let due = timers(&store, TimerState::Pending).await[0].due;
    clock.store(due - 1, Ordering::SeqCst);
    // The server hears of the time with every commit.
    start(&server, "p", &[]).await;
    let second = start(&server, "p", &[]).await.instance;
    assert_eq!(state(&store, first).await, "Active");
    server.stop().await;
    clock.store(due, Ordering::SeqCst);
    let server = Server::start(&store).await;
    reaches(&store, first, "Completed").await;
    assert_eq!(state(&store, second).await, "Active");
    assert_eq!(server.host.metrics().timeline_overdue.get(), 0, "it is not only counted when the window is filled");
    server.stop().await;
    // The next server finds out how many wait.
    clock.fetch_add(-10, Ordering::SeqCst);
    let waiting = instances(&store).await.iter().filter(|view| view.ended.is_none()).count();
    let server = Server::start(&store).await;
    server.host.count_timers().await.unwrap();
    assert_eq!(server.host.metrics().timers_pending.get(), waiting as i64);
    server.stop().await;
}

/// The database's clock is set back: what is armed then counts from there, and what was armed before waits until its time is shown again.
/// It is set forward: what fell due meanwhile fires at once.
#[tokio::test]
async fn timers_follow_the_clock_wherever_it_is_set() {
    let (store, clock) = with_clock();
    clock.store(10 * 86_400_000, Ordering::SeqCst);
    let server = Server::start(&store).await;
    let event = r#"<intermediateCatchEvent id="nap"><timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition></intermediateCatchEvent>"#;
    let body = format!(r#"<startEvent id="s"/>{event}<endEvent id="e"/>{}"#, flow(&["s", "nap", "e"]));
    server.deploy(&[("p.bpmn", &process("p", "", &body))]).await;
    let early = start(&server, "p", &[]).await.instance;
    clock.fetch_sub(86_400_000, Ordering::SeqCst);
    // The server hears of it with this commit.
    start(&server, "p", &[]).await;
    let late = start(&server, "p", &[]).await.instance;
    // The server's own clock goes on while this one stands: a minute more than an hour.
    clock.fetch_add(3_660_000, Ordering::SeqCst);
    start(&server, "p", &[]).await;
    reaches(&store, late, "Completed").await;
    assert_eq!(state(&store, early).await, "Active", "its time is not shown yet");
    clock.fetch_add(86_400_000, Ordering::SeqCst);
    start(&server, "p", &[]).await;
    reaches(&store, early, "Completed").await;
    server.stop().await;
}

#[tokio::test]
async fn a_cycle_beside_a_task_and_a_start_timer_fire_again_and_again() {
    let (store, clock) = with_clock();
    let server = Server::start(&store).await;
    let remind = r#"<boundaryEvent id="remind" attachedToRef="work" cancelActivity="false"><timerEventDefinition><timeCycle>R2/PT10S</timeCycle></timerEventDefinition></boundaryEvent>"#;
    let body = format!(
        r#"<startEvent id="s"/>{}{remind}{}<endEvent id="e"/>{}{}"#,
        task("work", "work"),
        task("mail", "mail"),
        flow(&["s", "work", "e"]),
        flow(&["remind", "mail"])
    );
    server.deploy(&[("p.bpmn", &process("p", "", &body))]).await;
    let tick = r#"<startEvent id="s"><timerEventDefinition><timeCycle>R/PT1H</timeCycle></timerEventDefinition></startEvent>"#;
    let hourly = format!(r#"{tick}{}<endEvent id="e"/>{}"#, task("hourly", "hourly"), flow(&["s", "hourly", "e"]));
    server.deploy(&[("q.bpmn", &process("q", "", &hourly))]).await;
    start(&server, "p", &[]).await;
    // A little more than that: the server's own clock goes on while this one stands.
    for count in [1, 1, 0] {
        clock.fetch_add(11_000, Ordering::SeqCst);
        let wait = (0 < count).then_some(Duration::from_secs(30));
        assert_eq!(server.poll("mail", wait).await.len(), count, "twice, and no more");
    }
    server.stop().await;
    let server = Server::start(&store).await;
    for _ in 0..2 {
        assert_eq!(server.poll("hourly", None).await.len(), 0);
        clock.fetch_add(3_660_000, Ordering::SeqCst);
        let jobs = server.poll("hourly", Some(Duration::from_secs(30))).await;
        assert_eq!(jobs.len(), 1);
        server.ask(Command::CompleteJob { job: jobs[0], variables: vec![], result: None }).await;
    }
    server.stop().await;
}

async fn timers(store: &Arc<dyn Store>, state: TimerState) -> Vec<TimerView> {
    match store.search(&Query::of(Entity::Timers, Tenants::These(vec![TENANT.into()]))).await.unwrap().items {
        Items::Timers(views) => views.into_iter().filter(|view| view.state == state).collect(),
        _ => unreachable!("timers were asked for"),
    }
}

/// Those of the latest version wait, and no others: when one comes, when it goes, and when it was the only one.
#[tokio::test]
async fn timers_of_start_events_belong_to_the_latest_version() {
    let (store, clock) = with_clock();
    let server = Server::start(&store).await;
    let starting = |every: &str| {
        let start = format!(
            r#"<startEvent id="s"><timerEventDefinition><timeCycle>{every}</timeCycle></timerEventDefinition></startEvent>"#
        );
        process("p", "", &format!(r#"{start}{}{}"#, task("work", every), flow(&["s", "work"])))
    };
    server.deploy(&[("p.bpmn", &starting("R/PT1H"))]).await;
    let first = timers(&store, TimerState::Pending).await;
    assert_eq!((first.len(), &*first[0].text), (1, "R/PT1H"));
    server.deploy(&[("p.bpmn", &starting("R/PT2H"))]).await;
    let second = timers(&store, TimerState::Pending).await;
    assert_eq!((second.len(), &*second[0].text), (1, "R/PT2H"));
    assert_eq!(timers(&store, TimerState::Cancelled).await.len(), 1);
    // A minute more than that: the server's own clock goes on while this one stands.
    clock.fetch_add(7_260_000, Ordering::SeqCst);
    assert_eq!(server.poll("R/PT2H", Some(Duration::from_secs(30))).await.len(), 1);
    assert_eq!(server.poll("R/PT1H", None).await.len(), 0, "that of the first version is gone");
    // Without the second version the first is the latest again, for whoever owns the partition then.
    let started = instances(&store).await.remove(0).key;
    assert_eq!(server.ask(Command::Cancel { instance: started }).await, Answer::Done);
    let delete = |key: engine::DefinitionKey| Command::DeleteResource { key: key.0 };
    assert!(matches!(server.ask(delete(second[0].definition)).await, Answer::ResourceDeleted { .. }));
    server.stop().await;
    let server = Server::start(&store).await;
    let again = timers(&store, TimerState::Pending).await;
    assert_eq!((again.len(), again[0].definition), (1, first[0].definition));
    assert!(clock.load(Ordering::SeqCst) + 3_600_000 <= again[0].due, "it begins anew");
    clock.fetch_add(3_660_000, Ordering::SeqCst);
    assert_eq!(server.poll("R/PT1H", Some(Duration::from_secs(30))).await.len(), 1);
    assert_eq!(server.poll("R/PT2H", None).await.len(), 0);
    for view in instances(&store).await.iter().filter(|view| view.ended.is_none()) {
        assert_eq!(server.ask(Command::Cancel { instance: view.key }).await, Answer::Done);
    }
    assert!(matches!(server.ask(delete(first[0].definition)).await, Answer::ResourceDeleted { .. }));
    assert_eq!(timers(&store, TimerState::Pending).await, []);
    server.stop().await;
}

/// Where what was missed is left out, what an operator lets fire does, however late it is.
#[tokio::test]
async fn what_an_operator_fires_is_not_skipped() {
    let (store, _) = with_clock();
    let limits = Limits { timers_missed: Missed::Skip { late_max: 0 }, ..Limits::default() };
    let server = Server::join(&store, "server", Role::Engine, limits);
    server.owning().await;
    let tick = r#"<startEvent id="s"><timerEventDefinition><timeCycle>R/PT1H</timeCycle></timerEventDefinition></startEvent>"#;
    let body = format!(r#"{tick}{}{}"#, task("work", "work"), flow(&["s", "work"]));
    server.deploy(&[("p.bpmn", &process("p", "", &body))]).await;
    let timer = timers(&store, TimerState::Pending).await[0].key;
    // At once, so that nobody else looks at it in between.
    let (late, fired) =
        tokio::join!(server.ask(Command::RescheduleTimer { timer, due: 1_000 }), server.ask(Command::FireTimer { timer }));
    assert_eq!((late, fired), (Answer::Done, Answer::Done));
    assert_eq!(server.poll("work", Some(Duration::from_secs(30))).await.len(), 1);
    assert_eq!(timers(&store, TimerState::Fired).await.len(), 1);
    assert_eq!(timers(&store, TimerState::Pending).await.len(), 1, "the next one");
    server.stop().await;
}

#[tokio::test]
async fn a_called_process_gives_back_its_variables_and_goes_with_its_caller() {
    let store = memory();
    let server = Server::start(&store).await;
    let call = r#"<callActivity id="call"><extensionElements><zeebe:calledElement processId="child"/></extensionElements></callActivity>"#;
    let caught = r#"<boundaryEvent id="oops" attachedToRef="call"><errorEventDefinition errorRef="err"/></boundaryEvent><endEvent id="bad"/>"#;
    let body =
        format!(r#"<startEvent id="s"/>{call}{caught}<endEvent id="e"/>{}{}"#, flow(&["s", "call", "e"]), flow(&["oops", "bad"]));
    server.deploy(&[("p.bpmn", &process("p", r#"<error id="err" errorCode="E1"/>"#, &body))]).await;
    let parent = start(&server, "p", &[]).await.instance;
    assert_eq!(state(&store, parent).await, "Active", "there is no such process yet");
    assert!(instances(&store).await[0].has_incident);
    let child = format!(r#"<startEvent id="s"/>{}<endEvent id="e"/>{}"#, task("work", "work"), flow(&["s", "work", "e"]));
    server.deploy(&[("c.bpmn", &process("child", "", &child))]).await;

    let done = start(&server, "p", &[("a", "1")]).await.instance;
    server.stop().await;
    let server = Server::start(&store).await;
    let jobs = server.poll("work", None).await;
    server.ask(Command::CompleteJob { job: jobs[0], variables: vec![("a".into(), "2".into())], result: None }).await;
    assert_eq!(state(&store, done).await, "Completed");

    let thrown = start(&server, "p", &[]).await.instance;
    let jobs = server.poll("work", None).await;
    let (code, message) = ("E1".into(), "".into());
    let throw = store::log::ThrowError { job: jobs[0], code, message, variables: vec![] };
    server.ask(Command::ThrowError(throw)).await;
    assert_eq!(state(&store, thrown).await, "Completed", "the error of the child was caught");

    // Of two versions, the one that came in the same deployment.
    let bound = call.replace(r#"processId="child""#, r#"processId="child" bindingType="deployment""#);
    let bound = format!(r#"<startEvent id="s"/>{bound}<endEvent id="e"/>{}"#, flow(&["s", "call", "e"]));
    let old = format!(r#"<startEvent id="s"/>{}<endEvent id="e"/>{}"#, task("old", "old"), flow(&["s", "old", "e"]));
    server.deploy(&[("q.bpmn", &process("q", "", &bound)), ("c.bpmn", &process("child", "", &old))]).await;
    server.deploy(&[("c.bpmn", &process("child", "", &child))]).await;
    start(&server, "q", &[]).await;
    assert_eq!(server.poll("old", None).await.len(), 1);
    let refused = server.deploy_refused(&[("q.bpmn", &process("q", "", &bound))]).await;
    assert!(refused.contains("element 'call': its process 'child' is bound to the deployment, but is not in it"), "{refused}");

    let gone = start(&server, "p", &[]).await.instance;
    let views = instances(&store).await;
    let child = views.iter().find(|view| view.parent_instance == Some(gone)).unwrap();
    let refused = server.ask(Command::Cancel { instance: child.key }).await;
    assert!(matches!(&refused, Answer::Rejected(rejection) if rejection.code == Code::InvalidState), "{refused:?}");
    server.ask(Command::Cancel { instance: gone }).await;
    assert_eq!(state(&store, child.key).await, "Terminated");
    assert_eq!(server.poll("work", None).await.len(), 0, "its job is gone too");
    server.stop().await;
}

#[tokio::test]
async fn more_messages_than_memory_has_room_for_are_kept_in_the_store_alone() {
    let read = Arc::new(AtomicUsize::new(0));
    let count = read.clone();
    let store = Layer::over(clocked()).on_load(move |wanted, _| {
        count.fetch_add(wanted.groups.len(), Ordering::Relaxed);
        Ok(())
    });
    let store = store.shared();
    let limits = Limits { instances_hot_bytes_max: 5_000, ..Limits::default() };
    let server = Server::join(&store, "one", Role::Engine, limits);
    server.owning().await;
    let publish = |key: &str, bytes: usize, time_to_live: i64| {
        let variables = vec![("v".into(), format!("\"{}\"", "x".repeat(bytes)).into())];
        let (tenant, name, id) = (TENANT.into(), "m".into(), "".into());
        Command::Publish(Publish { tenant, name, correlation_key: key.into(), id, time_to_live, variables })
    };
    for (key, bytes, reads) in [("small", 10, 1), ("middling", 1_000, 1), ("large", 10_000, 3)] {
        read.store(0, Ordering::Relaxed);
        server.ask(publish(key, bytes, 60_000)).await;
        for _ in 0..2 {
            server.ask(publish(key, 1, 0)).await;
        }
        assert_eq!(read.load(Ordering::Relaxed), reads, "{key}");
    }
    server.stop().await;
}

#[tokio::test]
async fn what_can_never_be_looked_up_stops_nobody_else() {
    let watched = Layer::over(clocked()).on_load(|wanted, _| match wanted.signals.is_empty() {
        true => Ok(()),
        false => Err(broken()),
    });
    let store = watched.shared();
    let server = Server::start(&store).await;
    server.deploy(&[("p.bpmn", &server::task("p", "work"))]).await;
    server.ask(Command::Broadcast { tenant: TENANT.into(), name: "alarm".into(), variables: vec![] }).await;
    let patience = tokio::time::timeout(Duration::from_secs(60), async {
        loop {
            let command = Command::Create(server::create("p", &[]));
            let request = Request { caller: server::caller(), command, idempotency: None };
            match server.host.submit(request).await {
                Ok(answer) => break answer,
                Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
    });
    let answer = patience.await.expect("others are served");
    assert!(matches!(answer, Answer::Created(_)), "{answer:?}");
    server.stop().await;
}

/// Everything that one step opens or closes is asked for at once: each load does the whole command again.
#[tokio::test]
async fn many_that_wait_for_messages_and_many_called_take_few_loads() {
    const MANY: usize = 100;
    let loads = Arc::new(AtomicUsize::new(0));
    let counted = loads.clone();
    let store = Layer::over(clocked()).on_load(move |_, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        Ok(())
    });
    let store = store.shared();
    let server = Server::start(&store).await;
    let each = r#"<multiInstanceLoopCharacteristics><extensionElements><zeebe:loopCharacteristics inputCollection="=items" inputElement="item"/></extensionElements></multiInstanceLoopCharacteristics>"#;
    let message = r#"<message id="m" name="come"><extensionElements><zeebe:subscription correlationKey="=item"/></extensionElements></message>"#;
    let waits = format!(r#"<startEvent id="s"/><receiveTask id="t" messageRef="m">{each}</receiveTask>{}"#, flow(&["s", "t"]));
    let child = format!(r#"<startEvent id="s"/>{}{}"#, task("work", "work"), flow(&["s", "work"]));
    let called = r#"<extensionElements><zeebe:calledElement processId="child"/></extensionElements>"#;
    let calls = format!(r#"<startEvent id="s"/><callActivity id="t">{called}{each}</callActivity>{}"#, flow(&["s", "t"]));
    for (id, roots, body) in [("waits", message, waits), ("child", "", child), ("calls", "", calls)] {
        server.deploy(&[("p.bpmn", &process(id, roots, &body))]).await;
    }
    let items: Vec<String> = (0..MANY).map(|number| format!("\"k{number}\"")).collect();
    let items = format!("[{}]", items.join(","));

    let before = loads.load(Ordering::SeqCst);
    let waiting = start(&server, "waits", &[("items", &items)]).await.instance;
    let calling = start(&server, "calls", &[("items", &items)]).await.instance;
    let opened = loads.load(Ordering::SeqCst) - before;
    assert!(opened < 20, "{opened} loads to begin");
    server.stop().await;

    let server = Server::start(&store).await;
    let before = loads.load(Ordering::SeqCst);
    for instance in [waiting, calling] {
        assert_eq!(server.ask(Command::Cancel { instance }).await, Answer::Done);
    }
    let closed = loads.load(Ordering::SeqCst) - before;
    assert!(closed < 30, "{closed} loads to end");
    assert_eq!(server.poll("work", None).await.len(), 0);
    server.stop().await;
}

/// Before, the deployment did not ask for what the deletion had looked up, which was gone with the tick: each time it asked for the one half, it
/// lost the other, and the partition stood still.
#[tokio::test(start_paused = true)]
async fn a_deployment_beside_a_deletion_looks_up_all_it_replaces() {
    let server = Server::start(&memory()).await;
    server.deploy(&[("p.bpmn", &server::task("p", "t")), ("q.bpmn", &server::task("q", "t"))]).await;
    let Answer::Created(created) = server.ask(Command::Create(server::create("p", &[]))).await else { panic!("it is created") };
    let (p, q) = (server::task("p", "u"), server::task("q", "u"));
    let files = [("p.bpmn", &*p), ("q.bpmn", &*q)];
    // Neither waits for the other, so both are in one tick.
    let (deleted, ()) = tokio::join!(server.ask(Command::DeleteResource { key: created.definition.0 }), server.deploy(&files));
    assert!(matches!(&deleted, Answer::Rejected(rejection) if rejection.reason.contains("running instances")), "{deleted:?}");
    server.stop().await;
}
