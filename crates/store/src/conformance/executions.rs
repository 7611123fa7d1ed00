//! Work that belongs to no process: rows among the jobs.

use std::sync::Arc;

use engine::JobKey;

use super::load::{new, owner_with_definition, running};
use super::owner::{Owner, PARTITION};
use super::rows;
use crate::query::{Entity, ExecutionView, Items, Query, Tenants};
use crate::row::{Availability, Execution, ExecutionState, Job, JobState, Unique, UniqueHolder, UniqueName};
use crate::{Changes, ReadyAfter, ReadyJob, Store, Wanted};

fn key(n: u64) -> u64 {
    rows::key(PARTITION, n)
}

fn with(job: Job, change: impl FnOnce(&mut Execution)) -> Job {
    let mut execution = job.execution.clone().expect("it is one");
    change(&mut execution);
    Job { execution: Some(execution), ..job }
}

async fn load(store: &Arc<dyn Store>, keys: &[u64]) -> Vec<Job> {
    let wanted = Wanted { jobs: keys.iter().map(|n| JobKey(key(*n))).collect(), ..Wanted::default() };
    store.load(PARTITION, &wanted, 0).await.unwrap().jobs
}

async fn search(store: &Arc<dyn Store>) -> Vec<ExecutionView> {
    match store.search(&Query::of(Entity::Executions, Tenants::Everything)).await.unwrap().items {
        Items::Executions(views) => views,
        other => panic!("{other:?}"),
    }
}

pub(super) async fn they_come_and_go(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let plain = rows::execution(key(11));
    let full = Job {
        priority: 7,
        headers: Some("{\"traceparent\":\"00-1-2-01\"}".into()),
        group: Some("{\"customer\":\"\u{e9}\"}".into()),
        availability: Availability::BackingOff { until: 90 },
        ..with(rows::execution(key(12)), |execution| {
            execution.input = "{\"a\":[1,\"x\"]}".into();
            execution.unique = Some(Unique { key: "once".into(), until: Some(99) });
        })
    };
    owner.commit(Changes { executions_new: vec![plain.clone(), full.clone()], ..Changes::default() }).await;
    assert_eq!(load(&store, &[12, 11, 13]).await, [plain.clone(), full.clone()]);
    let leased = Job {
        availability: Availability::Leased,
        deadline: Some(500),
        worker: "w".into(),
        updated: 3,
        ..with(plain, |execution| (execution.attempts, execution.started) = (2, Some(3)))
    };
    owner.commit(Changes { executions_changed: vec![leased.clone()], ..Changes::default() }).await;
    assert_eq!(load(&store, &[11]).await, std::slice::from_ref(&leased));
    let done = Job {
        availability: Availability::Done,
        state: JobState::Completed,
        ended: Some(4),
        ..with(leased, |execution| execution.result = Some("{\"ok\":true}".into()))
    };
    owner.commit(Changes { executions_changed: vec![done], ..Changes::default() }).await;
    assert_eq!(load(&store, &[11]).await, []);
    let [first, second] = <[ExecutionView; 2]>::try_from(search(&store).await).unwrap();
    assert_eq!((first.state, first.attempts, first.started), (ExecutionState::Completed, 2, Some(3)));
    assert_eq!((first.result.as_deref(), first.ended, first.due), (Some("{\"ok\":true}"), Some(4), None));
    assert_eq!((second.state, second.due, second.priority), (ExecutionState::Waiting, Some(90), 7));
    assert_eq!(second.group, full.group.as_deref().map(str::to_owned));
    assert_eq!((&*second.input, second.unique_key.as_deref()), ("{\"a\":[1,\"x\"]}", Some("once")));
    let jobs = store.search(&Query::of(Entity::Jobs, Tenants::Everything)).await.unwrap();
    assert_eq!(jobs.total, 0, "they are shown among themselves");
}

pub(super) async fn they_are_handed_out_with_jobs(store: Arc<dyn Store>) {
    let (mut owner, definition) = owner_with_definition(&store).await;
    let one = running(100, definition);
    owner.commit(new(&one)).await;
    let job = Job { group: Some("g".into()), ..rows::job(key(111), &one.0.elements[0]) };
    let (first, second) = (rows::execution(key(110)), Job { priority: 1, ..rows::execution(key(112)) });
    let changes =
        Changes { jobs_new: vec![job.clone()], executions_new: vec![first.clone(), second.clone()], ..Changes::default() };
    owner.commit(changes).await;
    let ready = store.ready_jobs(PARTITION, &job.job_type, &job.tenant, ReadyAfter::START, 10).await.unwrap();
    let listed = |job: &Job| ReadyJob { key: job.key, priority: job.priority };
    let of_instance = ready.iter().filter(|one| ![110, 111, 112].contains(&(one.key.0 - key(0)))).cloned();
    let mut expected = vec![listed(&second)];
    expected.extend(of_instance);
    expected.extend([listed(&first), listed(&job)]);
    assert_eq!(ready, expected);
    assert_eq!(load(&store, &[111]).await, [job], "the group stays with a job of a process, too");
    // They belong to no instance.
    let wanted = Wanted { instances_of_jobs: vec![first.key], ..Wanted::default() };
    assert_eq!(store.load(PARTITION, &wanted, 0).await.unwrap().instances, []);
}

pub(super) async fn unique_keys_lead_to_the_newest(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store).await;
    let unique = |n, name: &str, until| {
        with(rows::execution(key(n)), |execution| execution.unique = Some(Unique { key: name.into(), until }))
    };
    let done = Job { availability: Availability::Done, state: JobState::Completed, ..unique(11, "a", Some(5)) };
    let elsewhere = Job { tenant: "t".into(), ..unique(14, "a", None) };
    let other = Job { job_type: "other".into(), ..unique(15, "a", None) };
    let all = vec![done, unique(12, "a", None), unique(13, "b", Some(7)), elsewhere, other];
    owner.commit(Changes { executions_new: all, ..Changes::default() }).await;
    let name = |tenant: &str, action: &str, name: &str| -> UniqueName { (tenant.into(), action.into(), name.into()) };
    let names = [(rows::TENANT, "work", "b"), (rows::TENANT, "work", "a"), ("t", "work", "a"), ("t", "other", "a")];
    let names = names.map(|(tenant, action, unique)| name(tenant, action, unique));
    let holder = |name: &UniqueName, n, until| UniqueHolder { name: name.clone(), job: JobKey(key(n)), until };
    let mut expected = vec![holder(&names[1], 12, None), holder(&names[0], 13, Some(7)), holder(&names[2], 14, None)];
    expected.sort_by(|a, b| a.name.cmp(&b.name));
    let wanted = Wanted { unique: names.to_vec(), ..Wanted::default() };
    assert_eq!(store.load(PARTITION, &wanted, 0).await.unwrap().unique, expected);
    // Also what has ended.
    let done = Job { availability: Availability::Done, state: JobState::Cancelled, ..unique(12, "a", None) };
    owner.commit(Changes { executions_changed: vec![done], ..Changes::default() }).await;
    assert_eq!(store.load(PARTITION, &wanted, 0).await.unwrap().unique, expected);
}

/// Of a process and of none: a second lease and what a worker says are kept, and cost nothing where there is neither.
pub(super) async fn leases_and_progress_are_kept(store: Arc<dyn Store>) {
    let (mut owner, definition) = owner_with_definition(&store).await;
    let one = running(100, definition);
    owner.commit(new(&one)).await;
    let job = rows::job(key(111), &one.0.elements[0]);
    let execution = rows::execution(key(112));
    let fresh = Job { leases: 2, ..rows::execution(key(113)) };
    let changes =
        Changes { jobs_new: vec![job.clone()], executions_new: vec![execution.clone(), fresh.clone()], ..Changes::default() };
    owner.commit(changes).await;
    assert_eq!(load(&store, &[111, 112, 113]).await, [job.clone(), execution.clone(), fresh.clone()]);
    let lease = |job: Job| Job { availability: Availability::Leased, deadline: Some(9), worker: "w".into(), leases: 1, ..job };
    let (job, execution) = (lease(job), with(lease(execution), |execution| execution.attempts = 1));
    assert!(job.extras().is_none() && execution.extras().is_none(), "the first lease is told by the rest of the row");
    let changed = |job: &Job, execution: &Job| Changes {
        jobs_changed: vec![job.clone()],
        executions_changed: vec![execution.clone()],
        ..Changes::default()
    };
    owner.commit(changed(&job, &execution)).await;
    assert_eq!(load(&store, &[111, 112]).await, [job.clone(), execution.clone()]);
    let told = |job: Job| Job { leases: 7, progress: Some("{\"percent\":40,\"message\":\"\u{e9}\"}".into()), ..job };
    let given_back = |job: Job| Job { availability: Availability::Ready, deadline: None, worker: "".into(), ..job };
    let (job, execution) = (given_back(told(job)), with(given_back(told(execution)), |execution| execution.attempts = 0));
    owner.commit(changed(&job, &execution)).await;
    assert_eq!(load(&store, &[111, 112]).await, [job, execution.clone()]);
    let shown = search(&store).await;
    assert_eq!(shown[0].progress.as_deref(), execution.progress.as_deref());
    assert_eq!(shown[1].progress, None);
}

pub(super) async fn dead_letters_are_of_both_kinds(store: Arc<dyn Store>) {
    let (mut owner, definition) = owner_with_definition(&store).await;
    let one = running(100, definition);
    owner.commit(new(&one)).await;
    let stuck = |job: Job, worker: &str| Job {
        availability: Availability::Stuck,
        state: JobState::Failed,
        worker: worker.into(),
        error_message: "no".into(),
        updated: 30,
        ..job
    };
    let never = stuck(rows::job(key(111), &one.0.elements[0]), "");
    let often = Job { leases: 3, progress: Some("{}".into()), ..stuck(rows::job(key(112), &one.0.elements[0]), "w") };
    let execution = with(Job { leases: 2, ..stuck(rows::execution(key(113)), "w") }, |execution| execution.attempts = 2);
    let waiting = rows::execution(key(114));
    let changes = Changes {
        jobs_new: vec![never.clone(), often.clone()],
        executions_new: vec![execution.clone(), waiting],
        ..Changes::default()
    };
    owner.commit(changes).await;
    let found = store.search(&Query::of(Entity::DeadLetters, Tenants::Everything)).await.unwrap();
    let Items::DeadLetters(found) = found.items else { panic!("dead letters were asked for") };
    let found: Vec<_> = found.iter().filter(|view| key(110) < view.key.0).collect();
    let keys: Vec<_> = found.iter().map(|view| view.key).collect();
    assert_eq!(keys, [never.key, often.key, execution.key]);
    assert_eq!(found.iter().map(|view| view.attempts).collect::<Vec<_>>(), [0, 3, 2]);
    let origin = often.origin.expect("it belongs to a process");
    assert_eq!((found[1].instance, found[1].element_instance), (Some(origin.instance), Some(origin.element_instance)));
    assert_eq!((found[2].instance, found[2].input.as_deref(), found[2].failed), (None, Some("{}"), 30));
    assert_eq!((&*found[1].error_message, found[1].progress.as_deref()), ("no", Some("{}")));
}
