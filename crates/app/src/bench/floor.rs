//! The ceiling of this machine: the rows of the bench's process written straight to the store, in commits as large as the server's own,
//! without engine, edges or clients.
//!
//! As in a busy server, every commit holds instances at every stage: some created, their jobs leased to workers that wait; others going on
//! because their job is completed. The next commit is put together while the store writes the last.

use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::{
    DefinitionKey, ElementKey, Event, InstanceKey, JobKey, Keys, On, Opened, Outcome, PartitionId, Phase, VariableKey, WaitEnd,
};
use model::ElementIx;
use store::row::{Availability, Definition, Element, ElementState, Instance, InstanceState, Job, JobOrigin, JobState, Variable};
use store::{Changes, Commit, ElementChange, InstanceChange, LogRow, Millis, Ownership, Store, format};

use super::subject::Subject;

const PARTITION: PartitionId = PartitionId(1);
const TENANT: &str = "<default>";
/// What is written before the clock starts.
const WARM_UP: Duration = Duration::from_secs(1);

/// Completed instances per second.
pub(super) async fn measure(store: &dyn Store, subject: &Subject, batch: usize, length: Duration) -> Result<f64, String> {
    let lease = WARM_UP + length + Duration::from_secs(60);
    let owned = store.acquire(PARTITION, "bench", lease).await.map_err(|error| error.to_string())?;
    let mut writer = Writer::new(owned.ok_or("somebody else owns the store")?, subject, batch);
    let first = writer.definition();
    store.commit(first).await.map_err(|error| error.to_string())?;
    let mut next = writer.commit();
    let begun = Instant::now();
    let (mut counted_from, mut instances) = (None, 0);
    while begun.elapsed() < WARM_UP + length {
        if counted_from.is_none() && WARM_UP <= begun.elapsed() {
            counted_from = Some(Instant::now());
        }
        let (written, following) = tokio::join!(store.commit(next), async { writer.commit() });
        written.map_err(|error| error.to_string())?;
        next = following;
        if counted_from.is_some() {
            instances += batch;
        }
    }
    Ok(counted_from.map_or(0.0, |from| instances as f64 / from.elapsed().as_secs_f64()))
}

/// An instance under way.
struct Work {
    instance: InstanceKey,
    task: ElementKey,
    job: Job,
}

struct Writer {
    owned: Ownership,
    keys: Keys,
    definition: DefinitionKey,
    name: Arc<str>,
    /// Names and values.
    variables: Vec<(Arc<str>, Arc<str>)>,
    batch: usize,
    tasks: u32,
    /// By the number of the task they are at, less one.
    underway: Vec<Vec<Work>>,
}

impl Writer {
    fn new(owned: Ownership, subject: &Subject, batch: usize) -> Self {
        let mut keys = Keys::starting_at(owned.next_key);
        let variables: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(&subject.variables(1_000_000)).expect("the bench writes an object");
        Self {
            definition: DefinitionKey(keys.take()),
            keys,
            owned,
            name: subject.process_id.as_str().into(),
            variables: variables.iter().map(|(name, value)| (name.as_str().into(), value.to_string().into())).collect(),
            batch,
            tasks: subject.steps,
            underway: (0..subject.steps).map(|_| Vec::new()).collect(),
        }
    }

    fn definition(&mut self) -> Commit {
        let resource = self.keys.take();
        let row = Definition {
            key: self.definition,
            process_id: self.name.clone(),
            version: 1,
            name: None,
            version_tag: None,
            tenant: TENANT.into(),
            resource,
            resource_name: "bench.bpmn".into(),
            deployment: self.keys.take(),
            checksum: vec![0; 32],
            deleted: false,
            elements: Vec::new(),
            flows: None,
            start_form: None,
        };
        self.commit_of(Changes { definitions_new: vec![row], ..Changes::default() }, Vec::new())
    }

    /// One commit: a batch at each stage.
    fn commit(&mut self) -> Commit {
        let now = self.owned.now + 1;
        self.owned.now = now;
        let (mut changes, mut log) = (Changes::default(), Vec::new());
        let before = std::mem::take(&mut self.underway);
        let created = (0..self.batch).map(|_| self.create(now, &mut changes, &mut log)).collect();
        self.underway.push(created);
        for (number, works) in (1..).zip(before) {
            let going_on: Vec<Work> =
                works.into_iter().filter_map(|work| self.complete(work, number, now, &mut changes, &mut log)).collect();
            if number < self.tasks {
                self.underway.push(going_on);
            }
        }
        self.commit_of(changes, log)
    }

    fn commit_of(&mut self, changes: Changes, mut log: Vec<LogRow>) -> Commit {
        for (row, position) in log.iter_mut().zip(self.owned.position + 1..) {
            row.position = position;
        }
        self.owned.position += log.len() as u64;
        // Every commit takes a key.
        self.keys.take();
        let first_key = std::mem::replace(&mut self.owned.next_key, self.keys.next_key());
        Commit {
            fence: self.owned.fence,
            first_key,
            next_key: self.keys.next_key(),
            log,
            inbox_to: self.owned.inbox_to,
            answers: Vec::new(),
            now: self.owned.now,
            changes,
            wake: false,
        }
    }

    fn create(&mut self, now: Millis, changes: &mut Changes, log: &mut Vec<LogRow>) -> Work {
        let instance = InstanceKey(self.keys.take());
        let (definition, root) = (self.definition, instance.root());
        changes.instances_new.push(Instance {
            key: instance,
            definition,
            state: InstanceState::Active,
            phase: Phase::Active,
            started: now,
            ended: None,
            parent: None,
            root: instance,
            depth: 0,
            tags: Vec::new(),
            business_id: None,
        });
        let mut events = vec![
            Event::Started { instance, definition, parent: None },
            Event::Entered { key: root, element: ElementIx(0), scope: root },
        ];
        for (name, value) in &self.variables {
            let (key, name, value) = (VariableKey(self.keys.take()), name.clone(), value.clone());
            let (scope, of_row) = (root, (name.clone(), value.clone()));
            changes.variables_new.push(Variable { key, instance, definition, scope, name: of_row.0, value: of_row.1 });
            events.push(Event::VariableCreated { key, scope, name, value });
        }
        events.push(Event::Activated { key: root });
        self.pass(instance, ElementIx(1), now, changes, &mut events);
        let work = self.task(instance, 1, now, changes, &mut events);
        log.push(row("create", instance, &events));
        work
    }

    /// The job of a task is done: the next task, or the end.
    fn complete(&mut self, work: Work, number: u32, now: Millis, changes: &mut Changes, log: &mut Vec<LogRow>) -> Option<Work> {
        let Work { instance, task, job } = work;
        let mut events = vec![
            Event::WaitClosed { key: job.key.wait(), element: task, on: engine::Waited::Job, end: WaitEnd::Completed },
            Event::Leaving { key: task },
            Event::Left { key: task },
        ];
        let ended = Some(now);
        changes.jobs_changed.push(Job {
            state: JobState::Completed,
            availability: Availability::Done,
            updated: now,
            ended,
            ..job
        });
        changes.elements_changed.push(ElementChange {
            key: task,
            state: ElementState::Completed,
            ended,
            incident: None,
            progress: None,
            past: false,
        });
        let next = if number < self.tasks {
            Some(self.task(instance, number + 1, now, changes, &mut events))
        } else {
            self.end(instance, now, changes, &mut events);
            None
        };
        log.push(row("complete-job", instance, &events));
        next
    }

    fn end(&mut self, instance: InstanceKey, now: Millis, changes: &mut Changes, events: &mut Vec<Event>) {
        self.pass(instance, ElementIx(self.tasks + 2), now, changes, events);
        events.extend([Event::Leaving { key: instance.root() }, Event::Left { key: instance.root() }]);
        events.push(Event::Ended { outcome: Outcome::Completed });
        changes.instances_changed.push(InstanceChange {
            key: instance,
            state: InstanceState::Completed,
            phase: Phase::Leaving,
            ended: Some(now),
        });
    }

    /// An element that is entered and left at once.
    fn pass(&mut self, instance: InstanceKey, element: ElementIx, now: Millis, changes: &mut Changes, events: &mut Vec<Event>) {
        let key = ElementKey(self.keys.take());
        let scope = instance.root();
        let row = self.element(key, instance, element, now);
        changes.elements_new.push(Element { state: ElementState::Completed, ended: Some(now), ..row });
        events.extend([
            Event::Entered { key, element, scope },
            Event::Activated { key },
            Event::Leaving { key },
            Event::Left { key },
        ]);
    }

    /// A task that waits for a worker, who has its job already.
    fn task(&mut self, instance: InstanceKey, number: u32, now: Millis, changes: &mut Changes, events: &mut Vec<Event>) -> Work {
        let (task, key) = (ElementKey(self.keys.take()), JobKey(self.keys.take()));
        let element = ElementIx(number + 1);
        changes.elements_new.push(self.element(task, instance, element, now));
        let nothing: Arc<str> = "".into();
        let job = Job {
            key,
            origin: Some(JobOrigin { instance, definition: self.definition, element, element_instance: task }),
            job_type: self.name.clone(),
            tenant: TENANT.into(),
            priority: 0,
            headers: None,
            state: JobState::Created,
            availability: Availability::Leased,
            retries: 3,
            worker: "worker-0".into(),
            deadline: Some(now + 60_000),
            error_code: nothing.clone(),
            error_message: nothing,
            failed_with_retries_left: false,
            denied: None,
            kind: store::row::JobKind::Element,
            created: now,
            updated: now,
            ended: None,
            group: None,
            execution: None,
            dispatched: Some(now),
            wait_until: None,
            leases: 0,
            progress: None,
        };
        changes.jobs_new.push(job.clone());
        events.extend([Event::Entered { key: task, element, scope: instance.root() }, Event::Activated { key: task }]);
        let on = On::Job { job_type: self.name.clone(), retries: 3, headers: None, listener: None };
        events.push(Event::WaitOpened(Opened { key: key.wait(), element: task, catch: None, on }));
        Work { instance, task, job }
    }

    fn element(&self, key: ElementKey, instance: InstanceKey, element: ElementIx, now: Millis) -> Element {
        Element {
            key,
            instance,
            definition: self.definition,
            element,
            scope: instance.root(),
            state: ElementState::Alive(Phase::Active),
            started: now,
            ended: None,
            incident: None,
            progress: None,
        }
    }
}

fn row(kind: &'static str, instance: InstanceKey, events: &[Event]) -> LogRow {
    LogRow { position: 0, kind, instance: Some(instance), events: format::encode_events(events) }
}
