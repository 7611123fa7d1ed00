//! A fixed set of rows to search in: absent values, ties, odd characters, all states, two tenants.

use std::sync::Arc;

use engine::{DecisionKey, ElementKey, FormKey, IncidentKey, IncidentKind, InstanceKey, Keys, PartitionId, Phase, Progress};
use model::{Binding, ElementIx, ListenerEvent, StartForm};

use super::rows;
use crate::Changes;
use crate::row::{
    Audit, AuditEntity, Availability, BatchState, Definition, Element, ElementState, EvaluationOrigin, Execution, Instance,
    InstanceState, ItemState, JobKind, JobState, Operation, SubscriptionKind, SubscriptionState, TimerState, Unique,
    UserTaskState,
};

/// What breaks a statement that quotes badly, a pattern that escapes badly, and an order that is not that of bytes.
pub const ODD_TEXTS: &[&str] = &[
    "",
    "a",
    "A",
    "b",
    "aB",
    "AB",
    "ä",
    "z",
    "Z",
    "_",
    "a_b",
    "100%",
    "%",
    "star*",
    "*",
    "what?",
    "?",
    "back\\slash",
    "\\",
    "it's",
    "\"quoted\"",
    "[a]",
    "[",
    "a b",
    "line\nbreak",
    "tab\t",
    "日本語",
    "😀",
    "é",
    "e\u{301}",
    "null",
    "-1",
    "10",
    "9",
];

pub const TENANTS: [&str; 2] = [rows::TENANT, "ténant"];

const DEFINITIONS: usize = 9;
const REQUIREMENTS: usize = 6;
const KINDS: [&str; 3] = ["DECISION_TABLE", "LITERAL_EXPRESSION", "CONTEXT"];
const NOW: i64 = 1_700_000_000_000;

/// Rows for one partition, with the first key they leave free.
pub fn data(partition: PartitionId, instances: usize) -> (Changes, u64) {
    let mut making =
        Making { keys: Keys::starting_at(partition.first_key()), seed: 7 + u64::from(partition.0), changes: Changes::default() };
    making.definitions(partition);
    making.requirements(partition);
    for number in 0..instances {
        making.instance(number);
    }
    making.waits();
    for number in 0..instances / 4 {
        making.batch(number);
    }
    making.audit();
    (making.changes, making.keys.next_key())
}

struct Making {
    keys: Keys,
    /// Of a generator that gives the same data everywhere.
    seed: u64,
    changes: Changes,
}

impl Making {
    /// A number below `below`.
    fn pick(&mut self, below: usize) -> usize {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 33) as usize % below
    }

    fn odd(&mut self) -> &'static str {
        ODD_TEXTS[self.pick(ODD_TEXTS.len())]
    }

    fn odd_maybe(&mut self) -> Option<Arc<str>> {
        match self.pick(3) {
            0 => None,
            _ => Some(self.odd().into()),
        }
    }

    fn time(&mut self) -> i64 {
        NOW + self.pick(6) as i64 * 1_000
    }

    fn time_maybe(&mut self) -> Option<i64> {
        match self.pick(3) {
            0 => None,
            _ => Some(self.time()),
        }
    }

    fn definitions(&mut self, partition: PartitionId) {
        for number in 0..DEFINITIONS {
            let key = self.keys.take();
            // Three processes of three versions; the third belongs to the other tenant.
            let process_id = format!("process-{}-{}", partition.0, ["A", "a", "_"][number / 3]);
            let mut definition = rows::definition(key, &process_id, number as i32 % 3 + 1);
            definition.tenant = TENANTS[usize::from(number / 3 == 2)].into();
            definition.name = self.odd_maybe();
            definition.version_tag = self.odd_maybe();
            definition.resource_name = self.odd().into();
            definition.deleted = number % 4 == 2;
            definition.start_form = self.odd_maybe().map(|id| StartForm { id, binding: Binding::Latest });
            for element in &mut definition.elements[1..] {
                element.name = self.odd_maybe();
                element.id = format!("{}{}", element.id, self.odd()).into();
            }
            self.changes.definitions_new.push(definition);
        }
    }

    /// Three files of two versions with two decisions each; the third belongs to the other tenant.
    fn requirements(&mut self, partition: PartitionId) {
        for number in 0..REQUIREMENTS {
            let (file, version) = (["A", "a", "_"][number / 2], number as i32 % 2 + 1);
            let mut requirements = rows::requirements(self.keys.take(), &format!("rules-{}-{file}", partition.0), version);
            requirements.tenant = TENANTS[usize::from(number / 2 == 2)].into();
            requirements.name = self.odd().into();
            requirements.resource_name = self.odd().into();
            requirements.deleted = number % 4 == 3;
            for name in ["x", "y"] {
                let mut decision = rows::decision(self.keys.take(), &format!("{name}-{}-{file}", partition.0), version);
                decision.name = self.odd().into();
                decision.version_tag = self.odd_maybe();
                requirements.decisions.push(decision);
            }
            self.changes.requirements_new.push(requirements);
        }
        for _ in 0..3 {
            self.evaluation(None);
        }
    }

    /// One to three decisions; the first of three is a knowledge model.
    fn evaluation(&mut self, origin: Option<EvaluationOrigin>) {
        let of = self.pick(REQUIREMENTS);
        let requirements = self.changes.requirements_new[of].clone();
        let (evaluation, evaluated) = (self.keys.take(), self.time());
        let count = 1 + self.pick(3) as u32;
        for place in 1..=count {
            let mut decision = rows::evaluated_decision(evaluation, &requirements);
            decision.place = place;
            decision.kind = KINDS[self.pick(KINDS.len())].into();
            decision.name = self.odd().into();
            decision.decision_id = self.odd().into();
            decision.output = self.odd().into();
            decision.root_decision = DecisionKey(requirements.decisions[1].key.0);
            decision.evaluated = evaluated;
            decision.origin = origin;
            if count == 3 && place == 1 {
                (decision.decision, decision.version) = (None, None);
            }
            if 1 < place {
                self.keys.take();
            }
            self.changes.evaluated_decisions_new.push(decision);
        }
    }

    fn instance(&mut self, number: usize) {
        let of = self.pick(DEFINITIONS);
        let definition = self.changes.definitions_new[of].key;
        let mut instance = rows::instance(self.keys.take(), definition.0);
        instance.state = [InstanceState::Active, InstanceState::Completed, InstanceState::Terminated][number % 3];
        if number % 9 == 3 {
            self.changes.instances_suspended.push((instance.key, Some(7 + number as i64)));
        }
        instance.started = self.time();
        if instance.state != InstanceState::Active {
            instance.ended = Some(self.time());
        }
        if number % 4 == 1 {
            let parent = self.changes.instances_new[self.changes.instances_new.len() - 1].key;
            instance.parent = Some((parent, ElementKey(parent.0 + 1)));
            instance.root = parent;
        }
        for _ in 0..self.pick(3) {
            let tag: Arc<str> = self.odd().into();
            if !instance.tags.contains(&tag) {
                instance.tags.push(tag);
            }
        }
        instance.business_id = self.odd_maybe();
        for _ in 0..1 + self.pick(3) {
            self.element(&instance);
        }
        for _ in 0..self.pick(3) {
            self.variable(&instance);
        }
        if number % 3 == 1 {
            self.execution();
        }
        self.changes.instances_new.push(instance);
    }

    fn element(&mut self, instance: &Instance) {
        let mut element = rows::element(self.keys.take(), instance);
        element.element = ElementIx(1 + self.pick(3) as u32);
        element.started = self.time();
        let states = [ElementState::Completed, ElementState::Terminated, ElementState::Alive(Phase::Active)];
        // Nothing is alive in what has ended.
        element.state = states[self.pick(if instance.state == InstanceState::Active { 3 } else { 2 })];
        element.ended = self.time_maybe();
        if self.pick(3) == 0 {
            element.scope = ElementKey(element.key.0 - 1);
            element.progress = Some(Progress { total: 2, started: 1, ..Progress::default() });
        }
        if self.pick(5) == 0 {
            let (instance, definition) = (element.instance, element.definition);
            self.evaluation(Some(EvaluationOrigin { instance, definition, element_instance: element.key }));
        }
        if self.pick(2) == 0 {
            self.job(&element);
        }
        if self.pick(3) == 0 {
            element.incident = Some(self.incident(&element));
        }
        self.changes.elements_new.push(element);
    }

    fn variable(&mut self, instance: &Instance) {
        let mut variable = rows::variable(self.keys.take(), instance, "", "");
        variable.name = self.odd().into();
        variable.value = match self.pick(8) {
            // One at the bound of what is shown, one past it, in characters of two bytes.
            0 => "ü".repeat(8_191).into(),
            1 => "ü".repeat(8_192).into(),
            _ => self.odd().into(),
        };
        if self.pick(3) == 0 {
            variable.scope = ElementKey(variable.key.0 - 1);
        }
        self.changes.variables_new.push(variable);
    }

    fn job(&mut self, task: &Element) {
        let mut job = rows::job(self.keys.take(), task);
        let definition = self.changes.definitions_new.iter().find(|one| one.key == task.definition);
        job.tenant = definition.expect("made before").tenant.clone();
        job.job_type = self.odd().into();
        job.state = JobState::ALL[self.pick(JobState::ALL.len())];
        job.availability = match self.pick(5) {
            0 => Availability::Ready,
            1 => Availability::Leased,
            2 => Availability::BackingOff { until: self.time() },
            3 => Availability::Stuck,
            _ => Availability::Done,
        };
        job.retries = self.pick(4) as i32 - 1;
        job.worker = self.odd().into();
        job.deadline = self.time_maybe();
        job.error_code = self.odd().into();
        job.error_message = self.odd().into();
        job.failed_with_retries_left = self.pick(2) == 0;
        job.created = self.time();
        job.updated = self.time();
        (job.ended, job.dispatched) = (self.time_maybe(), self.time_maybe());
        job.kind = match self.pick(3) {
            0 => JobKind::Listener(ListenerEvent::ALL[self.pick(ListenerEvent::ALL.len())]),
            _ => JobKind::Element,
        };
        job.denied = self.odd_maybe();
        job.headers = (self.pick(2) == 0).then(|| "{\"own\":\"header\"}".into());
        self.changes.jobs_new.push(job);
    }

    /// Which no search for jobs shows.
    fn batch(&mut self, number: usize) {
        let mut batch = rows::batch(self.keys.take());
        batch.tenant = TENANTS[self.pick(TENANTS.len())].into();
        batch.state = BatchState::ALL[number % BatchState::ALL.len()];
        batch.actor = self.odd().into();
        batch.started = self.time_maybe();
        batch.ended = self.time_maybe();
        batch.error = self.odd_maybe();
        for item in 0..self.pick(4) {
            let instance = {
                let place = self.pick(self.changes.instances_new.len());
                self.changes.instances_new[place].clone()
            };
            let mut row = rows::batch_item(self.keys.take(), &batch, &instance);
            row.instance = (item != 2).then_some(instance.key);
            row.state = ItemState::ALL[self.pick(ItemState::ALL.len())];
            row.processed = self.time_maybe();
            row.error = self.odd_maybe();
            self.changes.batch_items_new.push(row);
        }
        self.changes.batches_put.push(batch);
    }

    fn execution(&mut self) {
        let mut job = rows::execution(self.keys.take());
        job.tenant = TENANTS[self.pick(TENANTS.len())].into();
        job.job_type = self.odd().into();
        job.priority = self.pick(5) as i32;
        job.state = JobState::ALL[self.pick(JobState::ALL.len())];
        job.availability = match self.pick(5) {
            0 => Availability::Ready,
            1 => Availability::Leased,
            2 => Availability::BackingOff { until: self.time() },
            3 => Availability::Stuck,
            _ => Availability::Done,
        };
        job.worker = self.odd().into();
        job.error_code = self.odd().into();
        job.error_message = self.odd().into();
        job.created = self.time();
        job.ended = self.time_maybe();
        job.group = self.odd_maybe();
        let unique = self.odd_maybe().map(|key| Unique { key, until: self.time_maybe() });
        job.execution = Some(Box::new(Execution {
            input: self.odd().into(),
            result: self.odd_maybe(),
            attempts: self.pick(3) as u32,
            started: self.time_maybe(),
            unique,
        }));
        self.changes.executions_new.push(job);
    }

    /// Start events of every definition, and waits of every third element instance.
    fn waits(&mut self) {
        let instance = self.changes.instances_new[0].clone();
        for definition in self.changes.definitions_new.clone() {
            let mut start = rows::element(self.keys.take(), &instance);
            (start.definition, start.element) = (definition.key, ElementIx(1));
            self.timer(&start, &definition, false);
            self.subscription(&start, &definition, false);
        }
        for task in self.changes.elements_new.clone().iter().step_by(3) {
            let definition = self.changes.definitions_new.iter().find(|one| one.key == task.definition);
            let definition = definition.expect("made before").clone();
            self.timer(task, &definition, true);
            self.subscription(task, &definition, true);
            self.user_task(task, &definition);
        }
    }

    fn user_task(&mut self, task: &Element, definition: &Definition) {
        let mut row = rows::user_task(self.keys.take(), task);
        row.tenant = definition.tenant.clone();
        row.state = UserTaskState::ALL[self.pick(UserTaskState::ALL.len())];
        row.assignee = self.odd_maybe();
        row.candidate_groups = (0..self.pick(4)).map(|_| self.odd().into()).collect();
        row.candidate_users = (0..self.pick(3)).map(|_| self.odd().into()).collect();
        (row.due, row.follow_up) = (self.time_maybe(), self.time_maybe());
        row.priority = self.pick(5) as i32;
        row.form = (self.pick(2) == 0).then(|| FormKey(self.keys.take()));
        row.external_form = self.odd_maybe();
        (row.created, row.ended) = (self.time(), self.time_maybe());
        self.changes.user_tasks_new.push(row);
    }

    fn timer(&mut self, task: &Element, definition: &Definition, has_origin: bool) {
        let mut timer = rows::timer(self.keys.take(), task, 0);
        timer.tenant = definition.tenant.clone();
        timer.origin = timer.origin.filter(|_| has_origin);
        timer.kind = crate::words::TIMER_KINDS[self.pick(3)];
        timer.state = TimerState::ALL[self.pick(3)];
        timer.text = self.odd().into();
        timer.number = 1 + self.pick(4) as u32;
        (timer.due, timer.created, timer.ended) = (self.time(), self.time(), self.time_maybe());
        self.changes.timers_new.push(timer);
    }

    /// To a message mostly, which may have come.
    fn subscription(&mut self, task: &Element, definition: &Definition, has_origin: bool) {
        let mut subscription = rows::subscription(self.keys.take(), task, "");
        subscription.tenant = definition.tenant.clone();
        subscription.process_id = definition.process_id.clone();
        subscription.origin = subscription.origin.filter(|_| has_origin);
        subscription.state = SubscriptionState::ALL[self.pick(3)];
        subscription.name = self.odd().into();
        subscription.correlation_key = self.odd().into();
        (subscription.created, subscription.updated) = (self.time(), self.time());
        if self.pick(5) == 0 {
            subscription.kind = [SubscriptionKind::Signal, SubscriptionKind::Condition, SubscriptionKind::Child][self.pick(3)];
        } else if self.pick(2) == 0 {
            let instance = self.changes.instances_new.iter().find(|one| one.key == task.instance).expect("made before").clone();
            let message = self.keys.take();
            let mut correlation = rows::correlation(self.keys.take(), message, &subscription, &instance);
            correlation.at = self.time();
            self.changes.correlations_new.push(correlation);
        }
        self.changes.subscriptions_new.push(subscription);
    }

    /// Of all kinds of things, some of which are not there any more.
    fn audit(&mut self) {
        for number in 0..Operation::ALL.len() * 3 {
            let (operation, entity) = (Operation::ALL[number / 3], AuditEntity::ALL[self.pick(AuditEntity::ALL.len())]);
            let tenant = TENANTS[self.pick(TENANTS.len())].into();
            // The key before its own is that of the dispatch.
            self.keys.take();
            let mut row = Audit::of(self.keys.take(), self.time(), operation, entity, self.odd().into(), tenant);
            (row.actor, row.description) = (self.odd_maybe(), self.odd_maybe());
            (row.job_type, row.worker) = (self.odd_maybe(), self.odd_maybe());
            (row.decision_id, row.dispatched) = (self.odd_maybe(), self.time_maybe());
            let task = self.pick(self.changes.elements_new.len());
            let (task, has_task) = (self.changes.elements_new[task].clone(), self.pick(2) == 0);
            row.instance = has_task.then_some(task.instance);
            row.definition = has_task.then_some(task.definition);
            row.element_instance = has_task.then_some(task.key);
            row.job = self.changes.jobs_new.get(number).map(|job| job.key);
            row.user_task = self.changes.user_tasks_new.get(number).map(|task| task.key);
            row.requirements = self.changes.requirements_new.get(number).map(|requirements| requirements.key);
            row.decision = has_task.then(|| DecisionKey(self.keys.take()));
            row.form = (!has_task).then(|| FormKey(self.keys.take()));
            (row.deployment, row.resource) = (row.decision.map(|key| key.0), row.form.map(|key| key.0));
            row.batch = (self.pick(3) == 0).then(|| self.keys.take());
            self.changes.audit_new.push(row);
        }
    }

    fn incident(&mut self, task: &Element) -> IncidentKey {
        let mut incident = rows::incident(self.keys.take(), task);
        incident.job = self.changes.jobs_new.last().map(|job| job.key).filter(|_| incident.key.0.is_multiple_of(2));
        incident.kind = [IncidentKind::IoMapping, IncidentKind::Condition, IncidentKind::LoopLimit][self.pick(3)];
        incident.message = self.odd().into();
        incident.created = self.time();
        incident.resolved = self.time_maybe();
        self.changes.incidents_new.push(incident.clone());
        incident.key
    }
}

/// The instances among the rows, for filters that name one.
pub fn instance_keys(changes: &Changes) -> Vec<InstanceKey> {
    changes.instances_new.iter().map(|instance| instance.key).collect()
}
