//! Repeated and undone activities through a real host on the memory store, across restarts.

use std::sync::Arc;
use std::time::Duration;

use crate::server::{Server, TENANT, memory};
use engine::{InstanceKey, JobKey};
use host::Poll;
use store::Store;
use store::log::{Answer, Code, Command};
use store::query::{ElementView, Entity, Field, Filter, InstanceView, Items, Op, Query, Scalar, Tenants, VariableView};

fn process(id: &str, body: &str) -> String {
    format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="t">
  <process id="{id}" isExecutable="true"><startEvent id="s"/>{body}<endEvent id="e"/></process></definitions>"#
    )
}

fn flow(ids: &[&str]) -> String {
    let pairs = ids.windows(2);
    pairs.map(|pair| format!(r#"<sequenceFlow id="{0}-{1}" sourceRef="{0}" targetRef="{1}"/>"#, pair[0], pair[1])).collect()
}

fn task(id: &str, inside: &str) -> String {
    format!(
        r#"<serviceTask id="{id}"><extensionElements><zeebe:taskDefinition type="{id}"/></extensionElements>{inside}</serviceTask>"#
    )
}

/// For each of `n` items, with what each gave as `all`.
fn each(sequential: bool) -> String {
    format!(
        r#"<multiInstanceLoopCharacteristics isSequential="{sequential}"><extensionElements><zeebe:loopCharacteristics
        inputCollection="=for i in 1..n return i" inputElement="item" outputCollection="all" outputElement="=r"/></extensionElements>
        </multiInstanceLoopCharacteristics>"#
    )
}

async fn start(server: &Server, id: &str, n: usize) -> InstanceKey {
    match server.create(id, &[("n", &n.to_string())]).await {
        Answer::Created(created) => created.instance,
        other => panic!("{other:?}"),
    }
}

async fn search(store: &Arc<dyn Store>, entity: Entity, instance: InstanceKey, more: Option<Filter>) -> Items {
    let mut filters = vec![Filter::Is(Field::InstanceKey, Op::Eq(Scalar::Int(instance.0 as i64)))];
    filters.extend(more);
    let query = Query { filter: Filter::All(filters), ..Query::of(entity, Tenants::These(vec![TENANT.into()])) };
    store.search(&query).await.unwrap().items
}

async fn instance(store: &Arc<dyn Store>, key: InstanceKey) -> InstanceView {
    match search(store, Entity::Instances, key, None).await {
        Items::Instances(mut views) => views.remove(0),
        _ => unreachable!("instances were asked for"),
    }
}

async fn elements(store: &Arc<dyn Store>, key: InstanceKey, kind: &str) -> Vec<ElementView> {
    let filter = Filter::Is(Field::ElementKind, Op::Eq(Scalar::Text(kind.into())));
    match search(store, Entity::Elements, key, Some(filter)).await {
        Items::Elements(views) => views,
        _ => unreachable!("element instances were asked for"),
    }
}

async fn variable(store: &Arc<dyn Store>, key: InstanceKey, name: &str) -> Vec<VariableView> {
    let name = Filter::Is(Field::Name, Op::Eq(Scalar::Text(name.into())));
    match search(store, Entity::Variables, key, Some(name)).await {
        Items::Variables(views) => views,
        _ => unreachable!("variables were asked for"),
    }
}

/// Up to so many jobs, as soon as there is one, with the item of each.
async fn jobs(server: &Server, job_type: &str, max: usize) -> Vec<(JobKey, String)> {
    let poll = Poll {
        job_type: job_type.into(),
        worker: "w".into(),
        timeout: 600_000,
        max: max as u32,
        tenants: vec![TENANT.into()],
        fetch: vec![],
        wait: Some(Duration::from_secs(60)),
    };
    let jobs = server.host.activate(poll).await.unwrap().take();
    let item = |json: &str| {
        assert!(!json.contains(engine::KEPT), "a worker sees {json}");
        let value = feel::Value::from_json(json).unwrap();
        let context = value.as_context().unwrap();
        context.get("item").map(feel::Value::to_json).unwrap_or_default()
    };
    jobs.iter().map(|job| (job.key, item(&job.variables))).collect()
}

/// Completes so many jobs, each with its item times ten.
async fn work(server: &Server, job_type: &str, mut count: usize) {
    while 0 < count {
        for (job, item) in jobs(server, job_type, count.min(100)).await {
            let variables = vec![("r".into(), format!("{item}0").into())];
            let answer = server.ask(Command::CompleteJob { job, variables, result: None }).await;
            assert!(!matches!(answer, Answer::Rejected(_)), "{answer:?}");
            count -= 1;
        }
    }
}

fn tens(n: usize) -> String {
    let items: Vec<_> = (1..=n).map(|item| format!("{item}0")).collect();
    format!("[{}]", items.join(","))
}

#[tokio::test]
async fn two_thousand_side_by_side_go_on_after_restarts() {
    const ITEMS: usize = 2_000;
    let store = memory();
    let server = Server::start(&store).await;
    let body = format!("{}{}", task("work", &each(false)), flow(&["s", "work", "e"]));
    server.deploy(&[("p.bpmn", &process("p", &body))]).await;
    let key = start(&server, "p", ITEMS).await;
    // Some are started, the rest is left for turns.
    server.stop().await;
    let server = Server::start(&store).await;
    work(&server, "work", ITEMS / 2).await;
    server.stop().await;
    let body = elements(&store, key, "MULTI_INSTANCE_BODY").await;
    assert_eq!(body.len(), 1);
    assert_eq!(&*body[0].element_id, "work");
    let server = Server::start(&store).await;
    work(&server, "work", ITEMS / 2).await;
    server.stop().await;
    let ended = instance(&store, key).await;
    assert_eq!((format!("{:?}", ended.state), ended.has_incident), ("Completed".to_owned(), false));
    let outside = variable(&store, key, "all").await;
    let outside: Vec<_> = outside.iter().filter(|one| one.scope.0 == key.0).map(|one| one.value.clone()).collect();
    assert_eq!(outside, [tens(ITEMS)]);
    assert_eq!(elements(&store, key, "MULTI_INSTANCE_BODY").await.len(), 1, "also when it is over");
    assert_eq!(variable(&store, key, "caudal:items:0").await.len(), 0);
}

#[tokio::test]
async fn one_after_the_other_goes_on_after_a_restart() {
    let store = memory();
    let mut server = Server::start(&store).await;
    let body = format!("{}{}", task("work", &each(true)), flow(&["s", "work", "e"]));
    server.deploy(&[("p.bpmn", &process("p", &body))]).await;
    let key = start(&server, "p", 5).await;
    for _ in 0..5 {
        server.stop().await;
        server = Server::start(&store).await;
        work(&server, "work", 1).await;
    }
    server.stop().await;
    assert_eq!(format!("{:?}", instance(&store, key).await.state), "Completed");
    let all = variable(&store, key, "all").await;
    assert!(all.iter().any(|one| one.scope.0 == key.0 && one.value == "[10,20,30,40,50]"), "{all:?}");
}

#[tokio::test]
async fn a_process_is_called_for_each_item_and_goes_with_the_body() {
    let store = memory();
    let server = Server::start(&store).await;
    let call = format!(
        r#"<callActivity id="call"><extensionElements><zeebe:calledElement processId="child"/></extensionElements>{}</callActivity>"#,
        each(false)
    );
    server.deploy(&[("p.bpmn", &process("p", &format!("{call}{}", flow(&["s", "call", "e"]))))]).await;
    server.deploy(&[("c.bpmn", &process("child", &format!("{}{}", task("work", ""), flow(&["s", "work", "e"]))))]).await;
    let key = start(&server, "p", 300).await;
    work(&server, "work", 100).await;
    server.stop().await;
    let server = Server::start(&store).await;
    work(&server, "work", 200).await;
    assert_eq!(format!("{:?}", instance(&store, key).await.state), "Completed");
    let all = variable(&store, key, "all").await;
    assert!(all.iter().any(|one| one.scope.0 == key.0 && one.value == tens(300)), "{all:?}");

    let gone = start(&server, "p", 3).await;
    assert_eq!(jobs(&server, "work", 3).await.len(), 3);
    server.ask(Command::Cancel { instance: gone }).await;
    let children = Query {
        filter: Filter::Is(Field::ParentInstanceKey, Op::Eq(Scalar::Int(gone.0 as i64))),
        ..Query::of(Entity::Instances, Tenants::Everything)
    };
    match store.search(&children).await.unwrap().items {
        Items::Instances(views) => {
            let states: Vec<_> = views.iter().map(|view| format!("{:?}", view.state)).collect();
            assert_eq!(states, ["Terminated"; 3]);
        }
        _ => unreachable!("instances were asked for"),
    }
    server.stop().await;
}

/// How many of its element instances and jobs are open.
async fn open(store: &Arc<dyn Store>, key: InstanceKey) -> (usize, usize) {
    let active = Filter::Is(Field::ElementState, Op::Eq(Scalar::Text("ACTIVE".into())));
    let created = Filter::Is(Field::JobState, Op::Eq(Scalar::Text("CREATED".into())));
    let elements = search(store, Entity::Elements, key, Some(active)).await.len();
    (elements, search(store, Entity::Jobs, key, Some(created)).await.len())
}

#[tokio::test]
async fn a_long_list_is_cancelled_in_turns_and_by_whoever_comes_next() {
    const ITEMS: usize = 1_500;
    let store = memory();
    let server = Server::start(&store).await;
    let body = format!("{}{}", task("work", &each(false)), flow(&["s", "work", "e"]));
    server.deploy(&[("p.bpmn", &process("p", &body))]).await;
    let key = start(&server, "p", ITEMS).await;
    let (leased, _) = jobs(&server, "work", 1).await.remove(0);
    // Who does not wait for the end hears that it goes, and nothing comes to it any more.
    let cancel = Command::Cancel { instance: key };
    assert_eq!(server.ask_durably(cancel.clone()).await, Answer::Going { instance: key });
    server.stop().await;
    let server = Server::start(&store).await;
    let complete = Command::CompleteJob { job: leased, variables: vec![], result: None };
    for refused in [complete, cancel, Command::Suspend { instance: key }, Command::Resume { instance: key }] {
        let answer = server.ask(refused.clone()).await;
        assert!(matches!(&answer, Answer::Rejected(rejection) if rejection.code == Code::NotFound), "{refused:?}: {answer:?}");
    }
    let gone = tokio::time::timeout(Duration::from_secs(60), async {
        while instance(&store, key).await.ended.is_none() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    gone.await.expect("it goes");
    let ended = instance(&store, key).await;
    assert_eq!((format!("{:?}", ended.state), ended.suspended), ("Terminated".to_owned(), None));
    assert_eq!(open(&store, key).await, (0, 0));
    server.stop().await;
}

#[tokio::test]
async fn who_cancels_a_large_instance_waits_until_all_it_called_has_gone() {
    // All it called stands still until its turn comes; or that is too much.
    for items in [600, 1_200] {
        cancel_caller(items).await;
    }
}

async fn cancel_caller(items: usize) {
    let store = memory();
    let server = Server::start(&store).await;
    let call = format!(
        r#"<callActivity id="call"><extensionElements><zeebe:calledElement processId="child"/></extensionElements>{}</callActivity>"#,
        each(false)
    );
    server.deploy(&[("p.bpmn", &process("p", &format!("{call}{}", flow(&["s", "call", "e"]))))]).await;
    server.deploy(&[("c.bpmn", &process("child", &format!("{}{}", task("work", ""), flow(&["s", "work", "e"]))))]).await;
    let key = start(&server, "p", items).await;
    let mut begun = 0;
    while begun < items {
        begun += jobs(&server, "work", items).await.len();
    }
    assert_eq!(server.ask(Command::Cancel { instance: key }).await, Answer::Done);
    assert_eq!(format!("{:?}", instance(&store, key).await.state), "Terminated");
    let running = Filter::Is(Field::InstanceState, Op::In(vec![Scalar::Text("ACTIVE".into()), Scalar::Text("SUSPENDED".into())]));
    let running = Query { filter: running, ..Query::of(Entity::Instances, Tenants::Everything) };
    assert_eq!(store.search(&running).await.unwrap().total, 0);
    let open = Filter::Is(Field::JobState, Op::Eq(Scalar::Text("CREATED".into())));
    assert_eq!(store.search(&Query { filter: open, ..Query::of(Entity::Jobs, Tenants::Everything) }).await.unwrap().total, 0);
    server.stop().await;
}

async fn rows(store: &Arc<dyn Store>, key: InstanceKey) -> u64 {
    let its = Filter::Is(Field::InstanceKey, Op::Eq(Scalar::Int(key.0 as i64)));
    let of = |entity| Query { filter: its.clone(), ..Query::of(entity, Tenants::Everything) };
    let mut rows = 0;
    for entity in [Entity::Instances, Entity::Elements, Entity::Variables, Entity::Jobs] {
        rows += store.search(&of(entity)).await.unwrap().total;
    }
    rows
}

#[tokio::test]
async fn a_large_instance_is_deleted_in_pieces_and_by_whoever_comes_next() {
    const ITEMS: usize = 2_500;
    let store = memory();
    let server = Server::start(&store).await;
    let body = format!("{}{}", task("work", &each(false)), flow(&["s", "work", "e"]));
    server.deploy(&[("p.bpmn", &process("p", &body))]).await;
    let mut keys = Vec::new();
    for _ in 0..3 {
        let key = start(&server, "p", ITEMS).await;
        assert_eq!(server.ask(Command::Cancel { instance: key }).await, Answer::Done);
        keys.push(key);
    }
    // Who does not wait for the end hears that it goes; it is the next server that removes it.
    assert_eq!(server.ask_durably(Command::DeleteInstance { instance: keys[0] }).await, Answer::Going { instance: keys[0] });
    server.stop().await;
    let server = Server::start(&store).await;
    let gone = tokio::time::timeout(Duration::from_secs(60), async {
        while 0 < rows(&store, keys[0]).await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    gone.await.expect("it goes");
    // Who waits is answered when nothing is left.
    assert_eq!(server.ask(Command::DeleteInstance { instance: keys[1] }).await, Answer::Done);
    assert_eq!(rows(&store, keys[1]).await, 0);
    assert!(ITEMS as u64 <= rows(&store, keys[2]).await, "what was not asked for stays");
    let again = server.ask(Command::DeleteInstance { instance: keys[1] }).await;
    assert!(matches!(&again, Answer::Rejected(rejection) if rejection.code == Code::NotFound), "{again:?}");
    server.stop().await;
}

/// Without waiting for anything, so nothing but the list bounds it.
#[tokio::test]
async fn called_processes_that_end_at_once_are_no_loop() {
    const ITEMS: usize = 11_000;
    let store = memory();
    let server = Server::start(&store).await;
    let call = |sequential| {
        let each = each(sequential);
        format!(
            r#"<callActivity id="call"><extensionElements><zeebe:calledElement processId="child"/></extensionElements>{each}</callActivity>{}"#,
            flow(&["s", "call", "e"])
        )
    };
    let script = r#"<scriptTask id="t"><extensionElements><zeebe:script expression="=item * 10" resultVariable="r"/></extensionElements></scriptTask>"#;
    server.deploy(&[("c.bpmn", &process("child", &format!("{script}{}", flow(&["s", "t", "e"]))))]).await;
    for sequential in [false, true] {
        server.deploy(&[("p.bpmn", &process("p", &call(sequential)))]).await;
        let key = start(&server, "p", ITEMS).await;
        let patience = tokio::time::timeout(Duration::from_secs(120), async {
            while format!("{:?}", instance(&store, key).await.state) == "Active" {
                assert!(!instance(&store, key).await.has_incident);
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        });
        patience.await.expect("it ends");
        let all = variable(&store, key, "all").await;
        assert!(all.iter().any(|one| one.scope.0 == key.0 && one.value.len() == tens(ITEMS).len()));
    }
    server.stop().await;
}

#[tokio::test]
async fn what_completed_is_undone_after_a_restart() {
    let undo = |activity: &str, handler: &str| {
        format!(
            r#"<boundaryEvent id="{activity}-undo" attachedToRef="{activity}"><compensateEventDefinition/></boundaryEvent>
            <association id="{activity}-a" sourceRef="{activity}-undo" targetRef="{handler}"/>{}"#,
            task(handler, "").replace("<serviceTask ", r#"<serviceTask isForCompensation="true" "#)
        )
    };
    let sub_process = format!(
        r#"<subProcess id="trip"><startEvent id="ts"/>{}{}<endEvent id="te"/>{}</subProcess>"#,
        task("hotel", ""),
        undo("hotel", "no-hotel"),
        flow(&["ts", "hotel", "te"])
    );
    let back = r#"<intermediateThrowEvent id="back"><compensateEventDefinition/></intermediateThrowEvent>"#;
    let body = format!(
        "{sub_process}{}{}{}{back}{}",
        task("flight", ""),
        undo("flight", "no-flight"),
        task("pay", ""),
        flow(&["s", "trip", "flight", "pay", "back", "e"])
    );
    let store = memory();
    let mut server = Server::start(&store).await;
    server.deploy(&[("p.bpmn", &process("p", &body))]).await;
    let key = start(&server, "p", 1).await;
    for job_type in ["hotel", "flight", "pay", "no-hotel", "no-flight"] {
        server.stop().await;
        server = Server::start(&store).await;
        work(&server, job_type, 1).await;
    }
    assert_eq!(format!("{:?}", instance(&store, key).await.state), "Completed");

    // What is cancelled is not undone, and nothing of it is left.
    let gone = start(&server, "p", 1).await;
    work(&server, "hotel", 1).await;
    server.stop().await;
    let server = Server::start(&store).await;
    server.ask(Command::Cancel { instance: gone }).await;
    assert_eq!(format!("{:?}", instance(&store, gone).await.state), "Terminated");
    server.stop().await;
}
