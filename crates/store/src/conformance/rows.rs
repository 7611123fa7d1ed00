//! Plain rows to start from; tests change what they are about.

use engine::{
    CompensationKey, DecisionKey, DefinitionKey, ElementKey, EvaluationKey, FormKey, IncidentKey, IncidentKind, InstanceKey,
    JobKey, PartitionId, Phase, RequirementsKey, TimerKey, Token, UserTaskKey, VariableKey, WaitKey,
};
use model::{ElementIx, FlowIx};

use std::sync::Arc;

use crate::batch::{Asked, Work};
use crate::log::Caller;
use crate::query::{Field, Filter, Op, Scalar, Tenants};
use crate::row::{
    Availability, Batch, BatchItem, BatchState, Compensation, Correlation, Decision, DecisionRequirements, Definition,
    DefinitionElement, Element, ElementState, EvaluatedDecision, EvaluatedInput, EvaluatedOutput, Execution, Form, Idempotent,
    Incident, Instance, InstanceState, ItemState, Job, JobKind, JobOrigin, JobState, MatchedRule, Message, MessageLock, Resource,
    Signal, Subscription, SubscriptionKind, SubscriptionState, Timer, TimerKind, TimerState, Tokens, Turn, UserTask,
    UserTaskState, Variable, WaitOrigin,
};

pub const TENANT: &str = "<default>";
const STARTED: i64 = 1_700_000_000_000;

/// The n-th key of a partition.
pub fn key(partition: PartitionId, n: u64) -> u64 {
    partition.first_key() + n
}

/// A definition with a start event, a service task and an end event, elements 1 to 3.
pub fn definition(key: u64, process_id: &str, version: i32) -> Definition {
    let element = |id: &str, kind: &str| DefinitionElement { id: id.into(), name: None, kind: kind.into(), headers: "{}".into() };
    Definition {
        key: DefinitionKey(key),
        process_id: process_id.into(),
        version,
        name: None,
        version_tag: None,
        tenant: TENANT.into(),
        resource: key + 1_000,
        resource_name: "process.bpmn".into(),
        deployment: key + 2_000,
        checksum: vec![version as u8; 32],
        deleted: false,
        elements: vec![
            element(process_id, "PROCESS"),
            element("start", "START_EVENT"),
            element("work", "SERVICE_TASK"),
            element("end", "END_EVENT"),
        ],
        flows: Some(vec!["to-work".into(), "to-end".into()]),
        start_form: None,
    }
}

/// Without decisions.
pub fn requirements(key: u64, id: &str, version: i32) -> DecisionRequirements {
    DecisionRequirements {
        key: RequirementsKey(key),
        id: id.into(),
        name: "Rules".into(),
        version,
        tenant: TENANT.into(),
        resource: key + 1_000,
        resource_name: "rules.dmn".into(),
        deployment: key + 2_000,
        checksum: vec![version as u8; 32],
        deleted: false,
        decisions: Vec::new(),
    }
}

pub fn decision(key: u64, id: &str, version: i32) -> Decision {
    Decision { key: DecisionKey(key), id: id.into(), name: "Rule".into(), version, version_tag: None }
}

/// The first decision of the requirements, evaluated on its own: one input, one rule that matched.
pub fn evaluated_decision(key: u64, requirements: &DecisionRequirements) -> EvaluatedDecision {
    let decision = &requirements.decisions[0];
    let output = EvaluatedOutput { id: "o".into(), name: "Output".into(), value: "1".into() };
    EvaluatedDecision {
        evaluation: EvaluationKey(key),
        place: 1,
        decision: Some(decision.key),
        decision_id: decision.id.clone(),
        name: decision.name.clone(),
        version: Some(decision.version),
        kind: "DECISION_TABLE".into(),
        requirements: requirements.key,
        root_decision: decision.key,
        tenant: requirements.tenant.clone(),
        evaluated: STARTED,
        output: "1".into(),
        inputs: vec![EvaluatedInput { id: "i".into(), name: "Input".into(), value: "\"x\"".into() }],
        rules: vec![MatchedRule { id: "r".into(), index: 1, outputs: vec![output] }],
        origin: None,
    }
}

pub fn resource(key: u64) -> Resource {
    Resource { key, name: "process.bpmn".into(), content: b"<definitions/>".as_slice().into(), tenant: TENANT.into() }
}

pub fn instance(key: u64, definition: u64) -> Instance {
    Instance {
        key: InstanceKey(key),
        definition: DefinitionKey(definition),
        state: InstanceState::Active,
        phase: Phase::Active,
        started: STARTED,
        ended: None,
        parent: None,
        root: InstanceKey(key),
        depth: 0,
        tags: Vec::new(),
        business_id: None,
    }
}

/// An operation over many that has just begun.
pub fn batch(key: u64) -> Batch {
    let caller = Caller { name: "ada".into(), tenants: Tenants::These(vec![TENANT.into()]), trace: None };
    let filter = Filter::Any(vec![
        Filter::HasTag("red".into()),
        Filter::Not(Box::new(Filter::Is(Field::BusinessId, Op::In(vec![Scalar::Text("x".to_owned())])))),
    ]);
    Batch {
        key,
        tenant: TENANT.into(),
        state: BatchState::Created,
        actor: "".into(),
        started: None,
        ended: None,
        due: None,
        total: 0,
        completed: 0,
        failed: 0,
        after: Some(0),
        asked: Arc::new(Asked { work: Work::Cancel, filter, caller }),
        error: None,
    }
}

pub fn batch_item(key: u64, batch: &Batch, instance: &Instance) -> BatchItem {
    BatchItem {
        key,
        batch: batch.key,
        item: instance.key.0,
        tenant: batch.tenant.clone(),
        kind: batch.asked.work.word().into(),
        instance: Some(instance.key),
        root: Some(instance.root),
        state: ItemState::Active,
        processed: None,
        error: None,
    }
}

/// The service task of an instance, at work.
pub fn element(key: u64, instance: &Instance) -> Element {
    Element {
        key: ElementKey(key),
        instance: instance.key,
        definition: instance.definition,
        element: ElementIx(2),
        scope: instance.key.root(),
        state: ElementState::Alive(Phase::Active),
        started: STARTED,
        ended: None,
        incident: None,
        progress: None,
    }
}

/// A variable of the instance itself.
pub fn variable(key: u64, instance: &Instance, name: &str, value: &str) -> Variable {
    Variable {
        key: VariableKey(key),
        instance: instance.key,
        definition: instance.definition,
        scope: instance.key.root(),
        name: name.into(),
        value: value.into(),
    }
}

/// A job of a task, ready.
pub fn job(key: u64, task: &Element) -> Job {
    Job {
        key: JobKey(key),
        origin: Some(JobOrigin {
            instance: task.instance,
            definition: task.definition,
            element: task.element,
            element_instance: task.key,
        }),
        job_type: "work".into(),
        tenant: TENANT.into(),
        priority: 0,
        headers: None,
        kind: JobKind::Element,
        state: JobState::Created,
        availability: Availability::Ready,
        retries: 3,
        worker: "".into(),
        deadline: None,
        error_code: "".into(),
        error_message: "".into(),
        failed_with_retries_left: false,
        denied: None,
        created: STARTED,
        updated: STARTED,
        ended: None,
        group: None,
        execution: None,
        dispatched: None,
        wait_until: None,
        leases: 0,
        progress: None,
    }
}

/// Work of no process, ready.
pub fn execution(key: u64) -> Job {
    let instance = instance(key, key);
    let execution = Execution { input: "{}".into(), result: None, attempts: 0, started: None, unique: None };
    Job { origin: None, execution: Some(Box::new(execution)), ..job(key, &element(key, &instance)) }
}

/// Tokens in the outermost scope.
pub fn tokens(instance: &Instance, gateway: u32, flow: u32, count: u32) -> Tokens {
    let token = Token { scope: instance.key.root(), gateway: ElementIx(gateway), flow: FlowIx(flow) };
    Tokens { instance: instance.key, token, count }
}

/// A step with one element instance left to go on with.
pub fn turn(key: u64, instance: &Instance, due: i64) -> Turn {
    let left = engine::Turn { work: vec![ElementKey(key + 1)], entered: 1_000, entered_by: vec![] };
    Turn { key: WaitKey(key), instance: instance.key, due, left }
}

/// The process can undo its activity with this number.
pub fn compensation(key: u64, instance: &Instance, activity: u32) -> Compensation {
    let (key, activity) = (CompensationKey(key), ElementIx(activity));
    Compensation { key, instance: instance.key, scope: instance.key.root(), activity }
}

/// A timer of a task, pending.
pub fn timer(key: u64, task: &Element, due: i64) -> Timer {
    Timer {
        key: TimerKey(key),
        wait: WaitKey(key),
        origin: Some(WaitOrigin { instance: task.instance, element_instance: task.key }),
        definition: task.definition,
        tenant: TENANT.into(),
        element: task.element,
        kind: TimerKind::Duration,
        text: "PT10S".into(),
        armed: STARTED,
        number: 1,
        due,
        state: TimerState::Pending,
        created: STARTED,
        ended: None,
    }
}

pub fn form(key: u64, id: &str, version: i32) -> Form {
    Form {
        key: FormKey(key),
        id: id.into(),
        version,
        version_tag: None,
        tenant: TENANT.into(),
        resource: key + 1_000,
        resource_name: "ask.form".into(),
        deployment: key + 2_000,
        checksum: vec![version as u8; 32],
        deleted: false,
    }
}

/// A task for a person that waits, with nobody named.
pub fn user_task(key: u64, task: &Element) -> UserTask {
    UserTask {
        key: UserTaskKey(key),
        instance: task.instance,
        definition: task.definition,
        element: task.element,
        element_instance: task.key,
        tenant: TENANT.into(),
        state: UserTaskState::Created,
        assignee: None,
        candidate_groups: Vec::new(),
        candidate_users: Vec::new(),
        due: None,
        follow_up: None,
        priority: 50,
        form: None,
        external_form: None,
        created: STARTED,
        ended: None,
        transition: None,
    }
}

/// A task's open wait for a message of that name, with an empty correlation key.
pub fn subscription(key: u64, task: &Element, name: &str) -> Subscription {
    Subscription {
        key: WaitKey(key),
        kind: SubscriptionKind::Message,
        name: name.into(),
        correlation_key: "".into(),
        child: None,
        tenant: TENANT.into(),
        definition: task.definition,
        process_id: "p".into(),
        element: task.element,
        catches: false,
        origin: Some(WaitOrigin { instance: task.instance, element_instance: task.key }),
        state: SubscriptionState::Open,
        created: STARTED,
        updated: STARTED,
    }
}

/// A message without variables.
pub fn message(key: u64, name: &str, correlation_key: &str, expires: i64) -> Message {
    Message {
        key,
        tenant: TENANT.into(),
        name: name.into(),
        correlation_key: correlation_key.into(),
        message_id: "".into(),
        variables: Vec::new(),
        published: STARTED,
        expires,
        taken_by: Vec::new(),
    }
}

/// The message came to the subscription.
pub fn correlation(key: u64, message: u64, subscription: &Subscription, instance: &Instance) -> Correlation {
    Correlation {
        key,
        message,
        subscription: subscription.key,
        tenant: subscription.tenant.clone(),
        name: subscription.name.clone(),
        correlation_key: subscription.correlation_key.clone(),
        definition: subscription.definition,
        process_id: subscription.process_id.clone(),
        instance: instance.key,
        root: instance.root,
        element: subscription.element,
        element_instance: subscription.origin.map(|origin| origin.element_instance),
        at: STARTED,
    }
}

pub fn lock(process_id: &str, correlation_key: &str, instance: u64) -> MessageLock {
    let (process_id, correlation_key) = (process_id.into(), correlation_key.into());
    MessageLock { tenant: TENANT.into(), process_id, correlation_key, instance: InstanceKey(instance) }
}

/// A signal nobody has had yet, without variables.
pub fn signal(key: u64, name: &str, due: i64) -> Signal {
    Signal { key, tenant: TENANT.into(), name: name.into(), variables: Vec::new(), after: 0, due }
}

pub fn incident(key: u64, task: &Element) -> Incident {
    Incident {
        key: IncidentKey(key),
        instance: task.instance,
        definition: task.definition,
        element: task.element,
        element_instance: task.key,
        job: None,
        kind: IncidentKind::JobNoRetries,
        message: "no more retries".into(),
        created: STARTED,
        resolved: None,
    }
}

pub fn idempotent(tenant: &str, key: &str, expires: i64) -> Idempotent {
    Idempotent { tenant: tenant.into(), key: key.into(), fingerprint: u64::MAX - 1, position: 1, answer: vec![1, 2, 3], expires }
}
