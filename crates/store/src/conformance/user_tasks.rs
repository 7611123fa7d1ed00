//! Tasks for people, and forms.

use std::sync::Arc;

use engine::{FormKey, InstanceKey, UserTaskKey, Wait, WaitKind};
use model::ListenerEvent;

use super::load::{new, owner_with_definition, running};
use super::owner::{OTHER, PARTITION};
use super::rows;
use crate::query::{Entity, Field, Filter, Items, Op, Query, Scalar, Tenants, UserTaskView};
use crate::row::{Attributes, Candidates, Form, Transition, UserTask, UserTaskState};
use crate::{Changes, Store, Wanted};

fn key(n: u64) -> u64 {
    rows::key(PARTITION, n)
}

async fn load(store: &Arc<dyn Store>, keys: &[u64]) -> Vec<UserTask> {
    let wanted = Wanted { user_tasks: keys.iter().map(|n| UserTaskKey(key(*n))).collect(), ..Wanted::default() };
    store.load(PARTITION, &wanted, 0).await.unwrap().user_tasks
}

async fn waits(store: &Arc<dyn Store>, instance: InstanceKey) -> Vec<Wait> {
    let wanted = Wanted { instances: vec![instance], ..Wanted::default() };
    let loaded = store.load(PARTITION, &wanted, 0).await.unwrap().instances.remove(0);
    loaded.waits.into_iter().map(|(_, wait)| wait).filter(|wait| wait.kind == WaitKind::UserTask).collect()
}

async fn search(store: &Arc<dyn Store>, filter: Filter) -> Vec<UserTaskView> {
    let query = Query { filter, ..Query::of(Entity::UserTasks, Tenants::Everything) };
    match store.search(&query).await.unwrap().items {
        Items::UserTasks(views) => views,
        other => panic!("{other:?}"),
    }
}

fn in_state(word: &str) -> Filter {
    Filter::Is(Field::UserTaskState, Op::Eq(Scalar::Text(word.into())))
}

fn in_group(name: &str) -> Filter {
    let of_group = Filter::Candidate(Candidates::Groups, Op::Eq(Scalar::Text(name.into())));
    Filter::All(vec![of_group, in_state("CREATED")])
}

pub(super) async fn they_come_and_go(store: Arc<dyn Store>) {
    let (mut owner, definition) = owner_with_definition(&store).await;
    let (one, other) = (running(100, definition), running(200, definition));
    owner.commit(new(&one)).await;
    owner.commit(new(&other)).await;
    let full = UserTask {
        assignee: Some("ann".into()),
        candidate_groups: vec!["b\nc".into(), "a".into(), "a".into()],
        candidate_users: vec!["".into()],
        due: Some(-5),
        follow_up: Some(i64::MAX),
        priority: 0,
        form: Some(FormKey(key(7))),
        external_form: Some("elsewhere".into()),
        ..rows::user_task(key(112), &one.0.elements[0])
    };
    let plain = rows::user_task(key(111), &one.0.elements[0]);
    let elsewhere = rows::user_task(key(211), &other.0.elements[0]);
    let all = vec![full.clone(), plain.clone(), elsewhere.clone()];
    owner.commit(Changes { user_tasks_new: all, ..Changes::default() }).await;
    assert_eq!(load(&store, &[112, 111, 999, 112, 103]).await, [plain.clone(), full.clone()], "each once, by key");
    let waiting = |n| Wait { key: UserTaskKey(key(n)).wait(), catch: None, kind: WaitKind::UserTask };
    assert_eq!(waits(&store, one.0.instance.key).await, [waiting(111), waiting(112)]);
    assert_eq!(waits(&store, other.0.instance.key).await, [waiting(211)]);
    // Somebody listens: it is not free to be changed, but it is still there.
    let after = Attributes { assignee: None, priority: -1, ..full.attributes() };
    let transition = Some(Box::new(Transition { event: ListenerEvent::Assigning, action: "hand".into(), after }));
    let listening = UserTask { state: UserTaskState::Assigning, transition, ..full.clone() };
    owner.commit(Changes { user_tasks_changed: vec![listening.clone()], ..Changes::default() }).await;
    assert_eq!(load(&store, &[112]).await, [listening]);
    assert_eq!(waits(&store, one.0.instance.key).await, [waiting(111), waiting(112)]);
    assert_eq!(search(&store, in_group("a")).await.len(), 0);
    assert_eq!(search(&store, in_state("ASSIGNING")).await.len(), 1);
    // One is taken by somebody, one is done, one is not wanted any more.
    let taken = UserTask { assignee: None, due: None, priority: 9, ..full };
    let done = UserTask { state: UserTaskState::Completed, ended: Some(8), assignee: Some("bob".into()), ..plain };
    let dropped = UserTask { state: UserTaskState::Cancelled, ended: Some(9), ..elsewhere };
    let changed = vec![taken.clone(), done, dropped];
    owner.commit(Changes { user_tasks_changed: changed, ..Changes::default() }).await;
    assert_eq!(load(&store, &[111, 112, 211]).await, [taken]);
    assert_eq!(waits(&store, one.0.instance.key).await, [waiting(112)]);
    assert_eq!(waits(&store, other.0.instance.key).await, []);
    let views = search(&store, Filter::All(vec![])).await;
    let states: Vec<_> = views.iter().map(|view| (view.key.0 - key(0), view.state, view.assignee.as_deref())).collect();
    let expected = [
        (111, UserTaskState::Completed, Some("bob")),
        (112, UserTaskState::Created, None),
        (211, UserTaskState::Cancelled, None),
    ];
    assert_eq!(states, expected);
    assert_eq!((&*views[1].element_id, views[1].version, &*views[1].headers), ("work", 1, "{}"));
}

pub(super) async fn candidates_follow_their_task(store: Arc<dyn Store>) {
    let (mut owner, definition) = owner_with_definition(&store).await;
    let one = running(100, definition);
    owner.commit(new(&one)).await;
    let task = UserTask { candidate_groups: vec!["hr".into(), "it".into()], ..rows::user_task(key(111), &one.0.elements[0]) };
    owner.commit(Changes { user_tasks_new: vec![task.clone()], ..Changes::default() }).await;
    let counts = async || {
        let mut counts = Vec::new();
        for name in ["hr", "it", "ops"] {
            counts.push(search(&store, in_group(name)).await.len());
        }
        counts
    };
    assert_eq!(counts().await, [1, 1, 0]);
    let changed = UserTask { candidate_groups: vec!["it".into(), "ops".into()], assignee: Some("ann".into()), ..task };
    owner.commit(Changes { user_tasks_changed: vec![changed.clone()], ..Changes::default() }).await;
    assert_eq!(counts().await, [0, 1, 1]);
    let done = UserTask { state: UserTaskState::Completed, ended: Some(1), ..changed };
    owner.commit(Changes { user_tasks_changed: vec![done], ..Changes::default() }).await;
    assert_eq!(counts().await, [0, 0, 0]);
    let ever = Filter::Candidate(Candidates::Groups, Op::Eq(Scalar::Text("ops".into())));
    assert_eq!(search(&store, ever).await.len(), 1);
}

pub(super) async fn forms_by_name_and_key(store: Arc<dyn Store>) {
    let (mut owner, _) = owner_with_definition(&store).await;
    let first = Form { version_tag: Some("v\u{e9}".into()), ..rows::form(key(11), "ask", 1) };
    let (second, other) = (rows::form(key(12), "ask", 2), rows::form(key(13), "Ask", 1));
    let elsewhere = Form { tenant: "t".into(), ..rows::form(key(14), "ask", 1) };
    let all = vec![second.clone(), first.clone(), other.clone(), elsewhere.clone()];
    owner.commit(Changes { forms_new: all, ..Changes::default() }).await;
    let named = async |id, tenant| store.forms_named(PARTITION, id, tenant).await.unwrap();
    assert_eq!(named("ask", rows::TENANT).await, [first.clone(), second.clone()]);
    assert_eq!(named("ask", "t").await, [elsewhere]);
    assert_eq!(named("none", rows::TENANT).await, []);
    assert_eq!(store.forms_named(OTHER, "ask", rows::TENANT).await.unwrap(), []);
    owner.commit(Changes { forms_deleted: vec![first.key], ..Changes::default() }).await;
    let deleted = Form { deleted: true, ..first };
    assert_eq!(named("ask", rows::TENANT).await, [deleted.clone(), second]);
    assert_eq!(store.form(deleted.key).await.unwrap(), Some(deleted));
    assert_eq!(store.form(other.key).await.unwrap(), Some(other));
    assert_eq!(store.form(FormKey(key(99))).await.unwrap(), None);
}
