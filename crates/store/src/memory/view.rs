//! Rows as searches show them. A row without its definition or element is not shown, as an inner join would have it.

use engine::InstanceKey;

use super::audit;
use super::database::Tables;
use super::field::{Row, definition, element};
use crate::query::{
    BatchItemView, BatchView, DeadLetterView, DecisionView, DefinitionView, ElementView, EvaluatedDecisionView, ExecutionView,
    IncidentView, InstanceView, Items, JobView, MessageCorrelationView, Query, RequirementsView, Room, SubscriptionView,
    TimerView, UserTaskView, VariableView, Weight,
};
use crate::row::{
    Availability, Batch, BatchItem, Correlation, Decision, DecisionRequirements, Definition, Element, EvaluatedDecision,
    Incident, Instance, Job, Subscription, Timer, UserTask, Variable, WaitOrigin,
};
use crate::words;

/// The rows a page has room for, and how many of those given these are.
pub(super) fn items<'a>(query: &Query, rows: impl Iterator<Item = (&'a Tables, Row<'a>)>) -> (Items, usize) {
    let mut items = Items::none(query.entity);
    let mut room = Room::of(query.bytes_max);
    let mut shown = 0;
    for (tables, row) in rows {
        put(&mut room, &mut items, query, tables, row);
        if room.is_full() {
            break;
        }
        shown += 1;
    }
    (items, shown)
}

fn put(room: &mut Room, items: &mut Items, query: &Query, tables: &Tables, row: Row<'_>) {
    match (items, row) {
        (Items::Definitions(items), Row::Definition(row)) => put_maybe(room, items, Some(of_definition(row))),
        (Items::Instances(items), Row::Instance(row)) => put_maybe(room, items, of_instance(tables, row)),
        (Items::Elements(items), Row::Element(row)) => put_maybe(room, items, of_element(tables, row)),
        (Items::Variables(items), Row::Variable(row)) => put_maybe(room, items, of_variable(tables, row, query.value_chars_max)),
        (Items::Jobs(items), Row::Job(row)) => put_maybe(room, items, of_job(tables, row)),
        (Items::Incidents(items), Row::Incident(row)) => put_maybe(room, items, of_incident(tables, row)),
        (Items::Requirements(items), Row::Requirements(row)) => put_maybe(room, items, Some(of_requirements(row))),
        (Items::Decisions(items), Row::Decision(requirements, row)) => {
            put_maybe(room, items, Some(of_decision(requirements, row)));
        }
        (Items::EvaluatedDecisions(items), Row::EvaluatedDecision(row)) => {
            let mut view = of_evaluated_decision(tables, row);
            if query.with_details {
                (view.inputs, view.rules) = (row.inputs.clone(), row.rules.clone());
            }
            put_maybe(room, items, Some(view));
        }
        (Items::Timers(items), Row::Timer(row)) => put_maybe(room, items, of_timer(tables, row)),
        (Items::MessageSubscriptions(items) | Items::Waits(items), Row::Subscription(row)) => {
            put_maybe(room, items, of_subscription(tables, row));
        }
        (Items::UserTasks(items), Row::UserTask(row)) => put_maybe(room, items, of_user_task(tables, row)),
        (Items::Operations(items) | Items::Audit(items), Row::Audit(row)) => {
            put_maybe(room, items, Some(audit::view(tables, &row.row())))
        }
        (Items::Executions(items), Row::Execution(row)) => put_maybe(room, items, of_execution(row)),
        (Items::Batches(items), Row::Batch(row)) => put_maybe(room, items, Some(of_batch(row))),
        (Items::BatchItems(items), Row::BatchItem(row)) => put_maybe(room, items, Some(of_batch_item(row))),
        (Items::DeadLetters(items), Row::DeadLetter(row)) => put_maybe(room, items, Some(of_dead_letter(row))),
        (Items::MessageCorrelations(items), Row::MessageCorrelation(row)) => put_maybe(room, items, of_correlation(tables, row)),
        _ => unreachable!("rows are of the entity asked for"),
    }
}

fn put_maybe<V: Weight>(room: &mut Room, items: &mut Vec<V>, view: Option<V>) {
    if let Some(view) = view {
        room.put(items, view);
    }
}

fn of_definition(row: &Definition) -> DefinitionView {
    DefinitionView {
        key: row.key,
        process_id: row.process_id.to_string(),
        name: row.name.as_deref().map(str::to_owned),
        version: row.version,
        version_tag: row.version_tag.as_deref().map(str::to_owned),
        resource_name: row.resource_name.to_string(),
        resource: row.resource,
        tenant: row.tenant.to_string(),
        deleted: row.deleted,
        has_start_form: row.start_form.is_some(),
    }
}

fn of_instance(tables: &Tables, row: &Instance) -> Option<InstanceView> {
    let definition = definition(tables, row.definition)?;
    Some(InstanceView {
        key: row.key,
        definition: row.definition,
        process_id: definition.process_id.to_string(),
        name: definition.name.as_deref().map(str::to_owned),
        version: definition.version,
        version_tag: definition.version_tag.as_deref().map(str::to_owned),
        tenant: definition.tenant.to_string(),
        state: row.state,
        started: row.started,
        ended: row.ended,
        has_incident: tables.stuck.contains_key(&row.key.0),
        parent_instance: row.parent.map(|(instance, _)| instance),
        parent_element: row.parent.map(|(_, element)| element),
        root: row.root,
        tags: row.tags.iter().map(|tag| tag.to_string()).collect(),
        business_id: row.business_id.as_deref().map(str::to_owned),
        suspended: tables.suspended.get(&row.key).copied(),
    })
}

fn of_element(tables: &Tables, row: &Element) -> Option<ElementView> {
    let definition = definition(tables, row.definition)?;
    let element = element(tables, row.definition, row.element)?;
    Some(ElementView {
        key: row.key,
        instance: row.instance,
        root: tables.instances.get(&row.instance)?.root,
        definition: row.definition,
        process_id: definition.process_id.to_string(),
        tenant: definition.tenant.to_string(),
        element_id: element.id.to_string(),
        element_name: element.name.as_deref().map(str::to_owned),
        kind: row.progress.map_or(&*element.kind, |_| words::BODY).to_owned(),
        scope: row.scope,
        state: row.state.shown(),
        started: row.started,
        ended: row.ended,
        has_incident: tables.stuck.contains_key(&row.key.0),
        incident: row.incident,
    })
}

fn of_variable(tables: &Tables, row: &Variable, chars_max: Option<usize>) -> Option<VariableView> {
    // Where the first character too many begins.
    let cut = chars_max.and_then(|max| row.value.char_indices().nth(max)).map(|(at, _)| at);
    Some(VariableView {
        key: row.key,
        instance: row.instance,
        root: tables.instances.get(&row.instance)?.root,
        scope: row.scope,
        tenant: definition(tables, row.definition)?.tenant.to_string(),
        name: row.name.to_string(),
        value: row.value[..cut.unwrap_or(row.value.len())].to_owned(),
        is_truncated: cut.is_some(),
    })
}

fn of_job(tables: &Tables, row: &Job) -> Option<JobView> {
    let origin = row.origin?;
    let element = element(tables, origin.definition, origin.element)?;
    Some(JobView {
        key: row.key,
        job_type: row.job_type.to_string(),
        instance: origin.instance,
        root: tables.instances.get(&origin.instance)?.root,
        definition: origin.definition,
        process_id: definition(tables, origin.definition)?.process_id.to_string(),
        tenant: row.tenant.to_string(),
        element_id: element.id.to_string(),
        element_instance: origin.element_instance,
        headers: row.headers.as_ref().unwrap_or(&element.headers).to_string(),
        state: row.state,
        retries: row.retries,
        worker: row.worker.to_string(),
        deadline: row.deadline,
        error_code: row.error_code.to_string(),
        error_message: row.error_message.to_string(),
        failed_with_retries_left: row.failed_with_retries_left,
        kind: row.kind,
        denied: row.denied.as_ref().map(ToString::to_string),
        created: row.created,
        updated: row.updated,
        ended: row.ended,
    })
}

fn of_batch(row: &Batch) -> BatchView {
    BatchView {
        key: row.key,
        tenant: row.tenant.to_string(),
        kind: row.asked.work.word().to_owned(),
        state: row.state,
        actor: row.actor.to_string(),
        started: row.started,
        ended: row.ended,
        total: row.total,
        completed: row.completed,
        failed: row.failed,
        error: row.error.as_deref().map(str::to_owned),
    }
}

fn of_batch_item(row: &BatchItem) -> BatchItemView {
    BatchItemView {
        key: row.key,
        batch: row.batch,
        item: row.item,
        tenant: row.tenant.to_string(),
        kind: row.kind.to_string(),
        instance: row.instance,
        root: row.root,
        state: row.state,
        processed: row.processed,
        error: row.error.as_deref().map(str::to_owned),
    }
}

fn of_execution(row: &Job) -> Option<ExecutionView> {
    let execution = row.execution.as_deref()?;
    Some(ExecutionView {
        key: row.key,
        action: row.job_type.to_string(),
        tenant: row.tenant.to_string(),
        state: row.execution_state(),
        input: execution.input.to_string(),
        result: execution.result.as_deref().map(str::to_owned),
        error_code: row.error_code.to_string(),
        error_message: row.error_message.to_string(),
        priority: row.priority,
        attempts: execution.attempts as i32,
        retries: row.retries,
        worker: row.worker.to_string(),
        due: match row.availability {
            Availability::BackingOff { until } => Some(until),
            Availability::Ready | Availability::Leased | Availability::Held | Availability::Stuck | Availability::Done => None,
        },
        created: row.created,
        started: execution.started,
        ended: row.ended,
        unique_key: execution.unique.as_ref().map(|unique| unique.key.to_string()),
        group: row.group.as_deref().map(str::to_owned),
        position: None,
        progress: row.progress.as_deref().map(str::to_owned),
    })
}

fn of_dead_letter(row: &Job) -> DeadLetterView {
    let execution = row.execution.as_deref();
    DeadLetterView {
        key: row.key,
        action: row.job_type.to_string(),
        tenant: row.tenant.to_string(),
        instance: row.origin.map(|origin| origin.instance),
        element_instance: row.origin.map(|origin| origin.element_instance),
        state: row.state,
        error_code: row.error_code.to_string(),
        error_message: row.error_message.to_string(),
        priority: row.priority,
        attempts: execution.map_or(row.leases, |execution| execution.attempts) as i32,
        retries: row.retries,
        worker: row.worker.to_string(),
        created: row.created,
        failed: row.updated,
        input: execution.map(|execution| execution.input.to_string()),
        group: row.group.as_deref().map(str::to_owned),
        progress: row.progress.as_deref().map(str::to_owned),
    }
}

fn of_incident(tables: &Tables, row: &Incident) -> Option<IncidentView> {
    Some(IncidentView {
        key: row.key,
        instance: row.instance,
        root: tables.instances.get(&row.instance)?.root,
        definition: row.definition,
        process_id: definition(tables, row.definition)?.process_id.to_string(),
        tenant: definition(tables, row.definition)?.tenant.to_string(),
        element_id: element(tables, row.definition, row.element)?.id.to_string(),
        element_instance: row.element_instance,
        job: row.job,
        kind: row.kind,
        message: row.message.to_string(),
        created: row.created,
        resolved: row.resolved,
    })
}

fn of_requirements(row: &DecisionRequirements) -> RequirementsView {
    RequirementsView {
        key: row.key,
        id: row.id.to_string(),
        name: row.name.to_string(),
        version: row.version,
        resource_name: row.resource_name.to_string(),
        resource: row.resource,
        tenant: row.tenant.to_string(),
        deleted: row.deleted,
    }
}

fn of_decision(requirements: &DecisionRequirements, row: &Decision) -> DecisionView {
    DecisionView {
        key: row.key,
        id: row.id.to_string(),
        name: row.name.to_string(),
        version: row.version,
        version_tag: row.version_tag.as_deref().map(str::to_owned),
        tenant: requirements.tenant.to_string(),
        requirements: requirements.key,
        requirements_id: requirements.id.to_string(),
        requirements_name: requirements.name.to_string(),
        requirements_version: requirements.version,
        resource: requirements.resource,
        deleted: requirements.deleted,
    }
}

fn of_evaluated_decision(tables: &Tables, row: &EvaluatedDecision) -> EvaluatedDecisionView {
    let instance = row.origin.map(|origin| origin.instance);
    EvaluatedDecisionView {
        evaluation: row.evaluation,
        place: row.place,
        decision: row.decision,
        decision_id: row.decision_id.to_string(),
        name: row.name.to_string(),
        version: row.version,
        kind: row.kind.to_string(),
        root_decision: row.root_decision,
        tenant: row.tenant.to_string(),
        evaluated: row.evaluated,
        output: row.output.to_string(),
        instance,
        root: instance.and_then(|key| tables.instances.get(&key)).map(|instance| instance.root),
        business_id: instance.and_then(|key| tables.instances.get(&key)?.business_id.as_deref().map(str::to_owned)),
        definition: row.origin.map(|origin| origin.definition),
        element_instance: row.origin.map(|origin| origin.element_instance),
        inputs: Vec::new(),
        rules: Vec::new(),
    }
}

fn root(tables: &Tables, origin: Option<WaitOrigin>) -> Option<InstanceKey> {
    Some(tables.instances.get(&origin?.instance)?.root)
}

fn of_timer(tables: &Tables, row: &Timer) -> Option<TimerView> {
    Some(TimerView {
        key: row.key,
        definition: row.definition,
        process_id: definition(tables, row.definition)?.process_id.to_string(),
        tenant: row.tenant.to_string(),
        instance: row.origin.map(|origin| origin.instance),
        root: root(tables, row.origin),
        element_id: element(tables, row.definition, row.element)?.id.to_string(),
        element_instance: row.origin.map(|origin| origin.element_instance),
        kind: row.kind,
        text: row.text.to_string(),
        number: row.number,
        due: row.due,
        state: row.state,
        created: row.created,
        ended: row.ended,
    })
}

fn of_subscription(tables: &Tables, row: &Subscription) -> Option<SubscriptionView> {
    Some(SubscriptionView {
        key: row.key,
        kind: row.kind,
        definition: row.definition,
        process_id: row.process_id.to_string(),
        tenant: row.tenant.to_string(),
        instance: row.origin.map(|origin| origin.instance),
        root: root(tables, row.origin),
        element_id: element(tables, row.definition, row.element)?.id.to_string(),
        element_instance: row.origin.map(|origin| origin.element_instance),
        state: row.state.shown(row.created, row.updated),
        name: row.name.to_string(),
        correlation_key: row.correlation_key.to_string(),
        created: row.created,
        updated: row.updated,
    })
}

fn of_correlation(tables: &Tables, row: &Correlation) -> Option<MessageCorrelationView> {
    Some(MessageCorrelationView {
        key: row.key,
        message: row.message,
        subscription: row.subscription,
        definition: row.definition,
        process_id: row.process_id.to_string(),
        tenant: row.tenant.to_string(),
        instance: row.instance,
        root: row.root,
        element_id: element(tables, row.definition, row.element)?.id.to_string(),
        element_instance: row.element_instance,
        message_name: row.name.to_string(),
        correlation_key: row.correlation_key.to_string(),
        correlated: row.at,
    })
}

fn of_user_task(tables: &Tables, row: &UserTask) -> Option<UserTaskView> {
    let definition = definition(tables, row.definition)?;
    let element = element(tables, row.definition, row.element)?;
    let instance = tables.instances.get(&row.instance)?;
    let texts = |texts: &[std::sync::Arc<str>]| texts.iter().map(|text| text.to_string()).collect();
    let maybe = |text: &Option<std::sync::Arc<str>>| text.as_deref().map(str::to_owned);
    Some(UserTaskView {
        key: row.key,
        instance: row.instance,
        root: instance.root,
        definition: row.definition,
        process_id: definition.process_id.to_string(),
        process_name: maybe(&definition.name),
        version: definition.version,
        tenant: row.tenant.to_string(),
        element_id: element.id.to_string(),
        element_name: maybe(&element.name),
        element_instance: row.element_instance,
        headers: element.headers.to_string(),
        state: row.state,
        assignee: maybe(&row.assignee),
        candidate_groups: texts(&row.candidate_groups),
        candidate_users: texts(&row.candidate_users),
        due: row.due,
        follow_up: row.follow_up,
        priority: row.priority,
        form: row.form,
        external_form: maybe(&row.external_form),
        created: row.created,
        ended: row.ended,
        tags: texts(&instance.tags),
        business_id: maybe(&instance.business_id),
    })
}
