//! Some value of every kind that is stored, for properties.

use std::sync::Arc;

use engine::{
    Activation, Ancestor, Compensation, CompensationKey, DecisionKey, DefinitionKey, Document, ElementKey, EvaluationKey, Event,
    FormKey, IncidentKey, IncidentKind, InstanceKey, JobKey, MessageThrown, Migrated, Modification, Move, On, Opened, Outcome,
    Parent, Progress, Recaught, Rejoined, RequirementsKey, ScopedVariables, Thrown, ThrownOut, TimerKey, Token, Turn, UserTask,
    UserTaskKey, VariableKey, WaitEnd, WaitKey, Waited, Which,
};
use model::{ElementIx, FlowIx, ListenerEvent, TimerKind};
use proptest::prelude::*;
use schedule::Occurrence;

use super::some_jobs;
use super::some_policy::policy;
use crate::change::{Change, Migrate};
use crate::log::*;
use crate::query::Tenants;
use crate::row::{
    AnnouncementKey, Attributes, EvaluatedDecision, EvaluatedInput, EvaluatedOutput, EvaluationOrigin, JobKind, MatchedRule,
    Transition,
};

pub(super) fn text() -> impl Strategy<Value = Arc<str>> {
    prop_oneof![Just(String::new()), any::<String>()].prop_map(Arc::from)
}

pub(super) fn texts() -> impl Strategy<Value = Vec<Arc<str>>> {
    prop::collection::vec(text(), 0..3)
}

pub(super) fn document() -> impl Strategy<Value = Document> {
    prop::collection::vec((text(), text()), 0..4)
}

pub(super) fn number() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(u64::MAX), 0..300u64, any::<u64>()]
}

pub(super) fn element_key() -> impl Strategy<Value = ElementKey> {
    number().prop_map(ElementKey)
}

pub(super) fn job_key() -> impl Strategy<Value = JobKey> {
    number().prop_map(JobKey)
}

pub(super) fn element_ix() -> impl Strategy<Value = ElementIx> {
    any::<u32>().prop_map(ElementIx)
}

pub(super) fn token() -> impl Strategy<Value = Token> {
    (element_key(), element_ix(), any::<u32>()).prop_map(|(scope, gateway, flow)| Token { scope, gateway, flow: FlowIx(flow) })
}

pub(super) fn turn() -> impl Strategy<Value = Turn> {
    let counts = prop::collection::vec((element_key(), any::<u32>()), 0..3);
    (prop::collection::vec(element_key(), 0..4), any::<u32>(), counts).prop_map(|(work, entered, entered_by)| Turn {
        work,
        entered,
        entered_by,
    })
}

fn timer_kind() -> impl Strategy<Value = TimerKind> {
    prop::sample::select(vec![TimerKind::Date, TimerKind::Duration, TimerKind::Cycle])
}

fn waited() -> impl Strategy<Value = Waited> {
    let child = number().prop_map(|key| Waited::Child { instance: InstanceKey(key) });
    let plain = [Waited::Job, Waited::Turn, Waited::Timer, Waited::Message, Waited::Signal, Waited::Condition, Waited::UserTask];
    prop_oneof![prop::sample::select(plain.to_vec()), child]
}

fn message_thrown() -> impl Strategy<Value = MessageThrown> {
    (element_key(), text(), text(), text(), any::<i64>(), document()).prop_map(
        |(element, name, correlation_key, id, time_to_live, variables)| MessageThrown {
            element,
            name,
            correlation_key,
            id,
            time_to_live,
            variables,
        },
    )
}

fn thrown_out() -> impl Strategy<Value = ThrownOut> {
    let what = prop::sample::select(vec![Thrown::Error, Thrown::Escalation]);
    (element_key(), prop::option::of(job_key()), what, text(), text(), document())
        .prop_map(|(element, job, what, code, message, variables)| ThrownOut { element, job, what, code, message, variables })
}

fn migrated() -> impl Strategy<Value = Migrated> {
    let catch = (element_key(), number(), element_ix());
    let catch = catch.prop_map(|(element, wait, catch)| Recaught { element, wait: WaitKey(wait), catch });
    let rejoined = (token(), token(), any::<u32>()).prop_map(|(from, to, count)| Rejoined { from, to, count });
    let elements = prop::collection::vec((element_key(), element_ix()), 0..3);
    let kept = prop::collection::vec((element_key(), compensation()), 0..3);
    (number(), elements, prop::collection::vec(catch, 0..3), prop::collection::vec(rejoined, 0..3), kept).prop_map(
        |(definition, elements, catches, tokens, compensations)| Migrated {
            definition: DefinitionKey(definition),
            elements,
            catches,
            tokens,
            compensations,
        },
    )
}

fn compensation() -> impl Strategy<Value = Compensation> {
    (number(), element_ix()).prop_map(|(key, activity)| Compensation { key: CompensationKey(key), activity })
}

pub(super) fn progress() -> impl Strategy<Value = Progress> {
    any::<(u32, u32, u32, u32)>().prop_map(|(total, started, completed, terminated)| Progress {
        total,
        started,
        completed,
        terminated,
    })
}

fn user_task() -> impl Strategy<Value = UserTask> {
    let names = (prop::option::of(text()), texts(), texts(), prop::option::of(text()));
    let numbers = (any::<Option<i64>>(), any::<Option<i64>>(), any::<i32>(), prop::option::of(number()));
    (names, numbers).prop_map(|(names, numbers)| UserTask {
        assignee: names.0,
        candidate_groups: names.1,
        candidate_users: names.2,
        due: numbers.0,
        follow_up: numbers.1,
        priority: numbers.2,
        form: numbers.3.map(FormKey),
        external_form: names.3,
    })
}

fn incident_kind() -> impl Strategy<Value = IncidentKind> {
    prop::sample::select(vec![
        IncidentKind::IoMapping,
        IncidentKind::ExtractValue,
        IncidentKind::Condition,
        IncidentKind::JobNoRetries,
        IncidentKind::UnhandledError,
        IncidentKind::LoopLimit,
        IncidentKind::CalledElement,
        IncidentKind::CalledDecision,
        IncidentKind::DecisionEvaluation,
        IncidentKind::FormNotFound,
        IncidentKind::AdHocNoRetries,
        IncidentKind::Fault,
        IncidentKind::ExecutionListenerNoRetries,
        IncidentKind::TaskListenerNoRetries,
    ])
}

fn on() -> impl Strategy<Value = On> {
    prop_oneof![
        (text(), any::<i32>(), prop::option::of(text()), prop::option::of(listener_event()))
            .prop_map(|(job_type, retries, headers, listener)| On::Job { job_type, retries, headers, listener }),
        user_task().prop_map(|task| On::UserTask(Box::new(task))),
        turn().prop_map(On::Turn),
        (timer_kind(), text(), any::<i64>(), number(), any::<i64>()).prop_map(|(kind, text, armed, number, at)| On::Timer {
            kind,
            text,
            at: Occurrence { armed, number, at }
        }),
        (text(), text()).prop_map(|(name, correlation_key)| On::Message { name, correlation_key }),
        text().prop_map(|name| On::Signal { name }),
        Just(On::Condition),
        number().prop_map(|key| On::Child { instance: InstanceKey(key) }),
    ]
}

pub(super) fn event() -> impl Strategy<Value = Event> {
    let ends = prop::sample::select(vec![WaitEnd::Completed, WaitEnd::Cancelled, WaitEnd::ErrorThrown]);
    let parent = (number(), element_key()).prop_map(|(key, element)| Parent { instance: InstanceKey(key), element });
    prop_oneof![
        (number(), number(), prop::option::of(parent)).prop_map(|(a, b, parent)| Event::Started {
            instance: InstanceKey(a),
            definition: DefinitionKey(b),
            parent
        }),
        (element_key(), text()).prop_map(|(element, process)| Event::Called { element, process }),
        (number(), element_key(), text(), document()).prop_map(|(key, element, name, variables)| Event::SignalThrown {
            key,
            element,
            name,
            variables
        }),
        message_thrown().prop_map(Event::MessageThrown),
        thrown_out().prop_map(Event::ThrownOut),
        (element_key(), element_ix(), element_key()).prop_map(|(key, element, scope)| Event::Entered { key, element, scope }),
        element_key().prop_map(|key| Event::Activated { key }),
        element_key().prop_map(|key| Event::Leaving { key }),
        element_key().prop_map(|key| Event::Left { key }),
        element_key().prop_map(|key| Event::Dropped { key }),
        token().prop_map(Event::TokenArrived),
        (element_key(), element_ix()).prop_map(|(scope, gateway)| Event::TokensTaken { scope, gateway }),
        token().prop_map(Event::TokenDropped),
        (number(), element_key(), text(), text()).prop_map(|(key, scope, name, value)| Event::VariableCreated {
            key: VariableKey(key),
            scope,
            name,
            value
        }),
        (number(), element_key(), text(), text()).prop_map(|(key, scope, name, value)| Event::VariableUpdated {
            key: VariableKey(key),
            scope,
            name,
            value
        }),
        (number(), element_key(), prop::option::of(element_ix()), on())
            .prop_map(|(key, element, catch, on)| { Event::WaitOpened(Opened { key: WaitKey(key), element, catch, on }) }),
        (number(), element_key(), waited(), ends).prop_map(|(key, element, on, end)| Event::WaitClosed {
            key: WaitKey(key),
            element,
            on,
            end
        }),
        (element_key(), text()).prop_map(|(element, decision)| Event::DecisionCalled { element, decision }),
        (element_key(), text()).prop_map(|(element, form)| Event::FormSought { element, form }),
        (number(), element_key(), prop::option::of(job_key()), incident_kind(), text()).prop_map(
            |(key, element, job, kind, message)| { Event::IncidentRaised { key: IncidentKey(key), element, job, kind, message } }
        ),
        (number(), number())
            .prop_map(|(key, element)| Event::IncidentResolved { key: IncidentKey(key), element: ElementKey(element) }),
        prop::sample::select(vec![Outcome::Completed, Outcome::Terminated]).prop_map(|outcome| Event::Ended { outcome }),
        (element_key(), number(), listener_event()).prop_map(|(element, task, event)| Event::Listened {
            element,
            task: WaitKey(task),
            event
        }),
        (element_key(), progress()).prop_map(|(key, progress)| Event::Progressed { key, progress }),
        (element_key(), compensation()).prop_map(|(scope, compensation)| Event::CompensationKept { scope, compensation }),
        (element_key(), element_key(), prop::collection::vec(compensation(), 0..4))
            .prop_map(|(from, to, compensations)| Event::CompensationsHandedOn { from, to, compensations }),
        (number(), element_key()).prop_map(|(key, scope)| Event::CompensationTaken { key: CompensationKey(key), scope }),
        migrated().prop_map(|migrated| Event::Migrated(Box::new(migrated))),
        Just(Event::Suspended),
        Just(Event::Resumed),
    ]
}

pub(super) fn request() -> impl Strategy<Value = Request> {
    let idempotency =
        (text(), text(), any::<u64>()).prop_map(|(tenant, key, fingerprint)| IdempotencyKey { tenant, key, fingerprint });
    let tenants = prop_oneof![Just(Tenants::Everything), texts().prop_map(Tenants::These)];
    let trace = (text(), prop::option::of(text())).prop_map(|(parent, state)| Box::new(Trace { parent, state }));
    let caller = (text(), tenants, prop::option::of(trace)).prop_map(|(name, tenants, trace)| Caller { name, tenants, trace });
    let request = (command(), prop::option::of(idempotency), caller);
    request.prop_map(|(command, idempotency, caller)| Request { command, idempotency, caller })
}

pub(super) fn command() -> impl Strategy<Value = Command> {
    let resource = (text(), prop::collection::vec(any::<u8>(), 0..50))
        .prop_map(|(name, content)| DeployResource { name, content: content.into() });
    let process = prop_oneof![
        number().prop_map(|key| ProcessRef::Key(DefinitionKey(key))),
        (text(), any::<Option<i32>>()).prop_map(|(id, version)| ProcessRef::Id { id, version }),
    ];
    let create = (process, text(), document(), texts(), prop::option::of(text()))
        .prop_map(|(process, tenant, variables, tags, business_id)| Create { process, tenant, variables, tags, business_id })
        .boxed();
    prop_oneof![
        (text(), prop::collection::vec(resource, 0..3))
            .prop_map(|(tenant, resources)| Command::Deploy(Deploy { tenant, resources })),
        number().prop_map(|key| Command::DeleteResource { key }),
        create.clone().prop_map(Command::Create),
        (create, texts(), texts()).prop_map(|(create, start, end_after)| Command::CreateAt(CreateAt {
            create,
            start,
            end_after
        })),
        number().prop_map(|instance| Command::Cancel { instance: InstanceKey(instance) }),
        (job_key(), document(), prop::option::of(job_result().prop_map(Box::new)))
            .prop_map(|(job, variables, result)| Command::CompleteJob { job, variables, result }),
        (job_key(), any::<i32>(), text(), any::<i64>(), document()).prop_map(|(job, retries, message, backoff, variables)| {
            Command::FailJob(FailJob { job, retries, message, backoff, variables })
        }),
        (job_key(), text(), text(), document())
            .prop_map(|(job, code, message, variables)| { Command::ThrowError(ThrowError { job, code, message, variables }) }),
        (job_key(), any::<Option<i32>>(), any::<Option<i64>>())
            .prop_map(|(job, retries, timeout)| Command::UpdateJob(UpdateJob { job, retries, timeout })),
        (element_key(), document(), any::<bool>()).prop_map(|(scope, variables, local)| Command::SetVariables {
            scope,
            variables,
            local
        }),
        user_task_command(),
        execution_command(),
        number().prop_map(|incident| Command::ResolveIncident { incident: IncidentKey(incident) }),
        (text(), text(), any::<i64>(), any::<u32>(), texts(), texts()).prop_map(
            |(job_type, worker, timeout, max, tenants, fetch)| {
                Command::Activate(Activate { job_type, worker, timeout, max, tenants, fetch })
            }
        ),
        prop::collection::vec(
            (job_key(), any::<i64>(), any::<u32>()).prop_map(|(job, deadline, lease)| Released { job, deadline, lease }),
            0..4
        )
        .prop_map(|jobs| Command::Release { jobs }),
        job_key().prop_map(|job| Command::JobDue { job }),
        (
            prop::collection::vec(number().prop_map(AnnouncementKey), 0..3),
            prop::collection::vec(some_jobs::unannounced(), 0..3),
            number()
        )
            .prop_map(|(told, refused, bytes)| Command::Announced(Announced { told, refused, bytes })),
        (number(), number()).prop_map(|(wait, instance)| Command::Turn { wait: WaitKey(wait), instance: InstanceKey(instance) }),
        waits_command(),
        change_command(),
        workflow_command(),
        number().prop_map(|key| Command::DeleteEvaluation { evaluation: EvaluationKey(key) }),
        (decision_ref(), text(), document()).prop_map(|(decision, tenant, variables)| Command::Evaluate(Evaluate {
            decision,
            tenant,
            variables
        })),
    ]
}

fn listener_event() -> impl Strategy<Value = ListenerEvent> {
    prop::sample::select(ListenerEvent::ALL.to_vec())
}

fn job_result() -> impl Strategy<Value = JobResult> {
    let names = (prop::option::of(prop::option::of(text())), prop::option::of(texts()), prop::option::of(texts()));
    let rest = (any::<Option<Option<i64>>>(), any::<Option<Option<i64>>>(), any::<Option<i32>>());
    let of_task = (prop::option::of(text()), names, rest).prop_map(|(denied, names, rest)| {
        let corrections = Corrections {
            assignee: names.0,
            candidate_groups: names.1,
            candidate_users: names.2,
            due: rest.0,
            follow_up: rest.1,
            priority: rest.2,
        };
        JobResult::UserTask(TaskResult { denied, corrections })
    });
    let of_ad_hoc = (prop::collection::vec((text(), document()), 0..3), any::<bool>(), any::<bool>())
        .prop_map(|(activities, is_over, drop_rest)| JobResult::AdHoc(AdHocResult { activities, is_over, drop_rest }));
    prop_oneof![of_task, of_ad_hoc]
}

pub(super) fn transition() -> impl Strategy<Value = Transition> {
    let rest = (any::<Option<i64>>(), any::<Option<i64>>(), any::<i32>());
    (listener_event(), text(), prop::option::of(text()), texts(), texts(), rest).prop_map(
        |(event, action, assignee, candidate_groups, candidate_users, (due, follow_up, priority))| Transition {
            event,
            action,
            after: Attributes { assignee, candidate_groups, candidate_users, due, follow_up, priority },
        },
    )
}

fn listening() -> impl Strategy<Value = Listening> {
    let keys = (number(), element_key(), number(), prop::option::of(number()));
    (keys, text(), listener_event(), any::<u32>()).prop_map(|(keys, tenant, event, listeners)| Listening {
        task: UserTaskKey(keys.0),
        element_instance: keys.1,
        tenant,
        event,
        since: keys.2,
        listeners,
        then: keys.3,
    })
}

fn user_task_command() -> impl Strategy<Value = Command> {
    let key = || number().prop_map(UserTaskKey);
    let changes = (prop::option::of(texts()), prop::option::of(texts()), any::<Option<Option<i64>>>());
    let more = (any::<Option<Option<i64>>>(), any::<Option<i32>>(), text());
    prop_oneof![
        (key(), text(), any::<bool>(), text()).prop_map(|(task, assignee, overrides, action)| {
            Command::AssignUserTask(AssignUserTask { task, assignee, overrides, action })
        }),
        (key(), text()).prop_map(|(task, action)| Command::UnassignUserTask { task, action }),
        (key(), document(), text()).prop_map(|(task, variables, action)| Command::CompleteUserTask { task, variables, action }),
        (key(), changes, more).prop_map(|(task, changes, more)| Command::UpdateUserTask(UpdateUserTask {
            task,
            candidate_groups: changes.0,
            candidate_users: changes.1,
            due: changes.2,
            follow_up: more.0,
            priority: more.1,
            action: more.2,
        })),
    ]
}

pub(super) fn new_execution() -> impl Strategy<Value = NewExecution> {
    let on_conflict = prop::sample::select(vec![OnConflict::Reject, OnConflict::Return, OnConflict::Replace]);
    let unique = (text(), any::<Option<i64>>(), on_conflict);
    let unique = unique.prop_map(|(key, window, on_conflict)| NewUnique { key, window, on_conflict });
    (document(), any::<i32>(), any::<i32>(), any::<Option<i64>>(), prop::option::of(unique), document()).prop_map(
        |(input, priority, retries, run_at, unique, group)| NewExecution { input, priority, retries, run_at, unique, group },
    )
}

fn execution_command() -> impl Strategy<Value = Command> {
    let one = new_execution();
    prop_oneof![
        (text(), policy()).prop_map(|(reference, policy)| Command::PutPolicy(PutPolicy { reference, policy: Box::new(policy) })),
        (global_listener(), any::<bool>())
            .prop_map(|(listener, is_new)| Command::PutListener(crate::log::PutListener { listener, is_new })),
        text().prop_map(|id| Command::DeleteListener { id }),
        prop::collection::vec(global_listener(), 0..3).prop_map(|listeners| Command::ConfigureListeners { listeners }),
        text().prop_map(|reference| Command::DeletePolicy { reference }),
        (text(), text(), prop::collection::vec(one, 0..3)).prop_map(|(tenant, action, executions)| Command::Submit(Submit {
            tenant,
            action,
            executions
        })),
        prop::collection::vec((job_key(), document()), 0..3).prop_map(|jobs| Command::CompleteExecutions { jobs }),
        job_key().prop_map(|job| Command::CancelExecution { job }),
        (job_key(), any::<i32>()).prop_map(|(job, retries)| Command::RetryExecution { job, retries }),
        (job_key(), any::<i32>()).prop_map(|(job, retries)| Command::RetryJob { job, retries }),
        prop::collection::vec(some_jobs::report(), 0..3).prop_map(|reports| Command::Report { reports }),
        some_jobs::put_schedule().prop_map(|put| Command::PutSchedule(Box::new(put))),
        (text(), text()).prop_map(|(tenant, reference)| Command::DeleteSchedule { tenant, reference }),
        number().prop_map(|schedule| Command::ScheduleDue { schedule }),
    ]
}

pub(super) fn global_listener() -> impl Strategy<Value = model::GlobalListener> {
    let events = prop::collection::vec(prop::sample::select(model::ListenerEvent::ALL.to_vec()), 0..3);
    let texts = (text(), text());
    (texts, any::<i32>(), events, any::<bool>(), any::<i32>(), any::<bool>()).prop_map(
        |((id, job_type), retries, events, after_own, priority, configured)| model::GlobalListener {
            id,
            job_type,
            retries,
            events,
            after_own,
            priority,
            configured,
        },
    )
}

fn publish() -> impl Strategy<Value = Publish> {
    (text(), text(), text(), text(), any::<i64>(), document()).prop_map(
        |(tenant, name, correlation_key, id, time_to_live, variables)| Publish {
            tenant,
            name,
            correlation_key,
            id,
            time_to_live,
            variables,
        },
    )
}

fn waits_command() -> impl Strategy<Value = Command> {
    prop_oneof![
        publish().prop_map(Command::Publish),
        publish().prop_map(Command::Correlate),
        (text(), text(), document()).prop_map(|(tenant, name, variables)| Command::Broadcast { tenant, name, variables }),
        (text(), prop::option::of(number()), document()).prop_map(|(tenant, definition, variables)| {
            let definition = definition.map(DefinitionKey);
            Command::EvaluateConditions(EvaluateConditions { tenant, definition, variables })
        }),
        number().prop_map(|key| Command::FireTimer { timer: TimerKey(key) }),
        (number(), any::<i64>()).prop_map(|(key, due)| Command::RescheduleTimer { timer: TimerKey(key), due }),
        (number(), prop::option::of(number()))
            .prop_map(|(wait, instance)| Command::TimerDue { wait: WaitKey(wait), instance: instance.map(InstanceKey) }),
        number().prop_map(|signal| Command::SignalDue { signal }),
        number().prop_map(|message| Command::MessageExpired { message }),
        (element_key(), prop::collection::vec((text(), document()), 0..3), any::<bool>())
            .prop_map(|(element, activities, drop_rest)| Command::StartAdHoc(StartAdHoc { element, activities, drop_rest })),
    ]
}

pub(super) fn change_command() -> impl Strategy<Value = Command> {
    let scoped = || (text(), document()).prop_map(|(scope, variables)| ScopedVariables { scope, variables });
    let scoped = move || prop::collection::vec(scoped(), 0..3);
    let which = || prop_oneof![element_key().prop_map(Which::Key), text().prop_map(Which::Id)];
    let ancestor = prop_oneof![
        Just(Ancestor::Any),
        element_key().prop_map(Ancestor::Key),
        Just(Ancestor::OfSource),
        Just(Ancestor::ParentOfSource)
    ];
    let activation = (text(), prop::option::of(element_key()), scoped()).prop_map(|(element, ancestor, variables)| Activation {
        element,
        ancestor,
        variables,
    });
    let moved = (which(), text(), ancestor, scoped()).prop_map(|(source, target, ancestor, variables)| Move {
        source,
        target,
        ancestor,
        variables,
    });
    let modification =
        (prop::collection::vec(activation, 0..3), prop::collection::vec(which(), 0..3), prop::collection::vec(moved, 0..3));
    let modification = modification.prop_map(|(activate, terminate, moves)| Modification { activate, terminate, moves });
    let migrate = (number(), prop::collection::vec((text(), text()), 0..3))
        .prop_map(|(definition, mappings)| Migrate { definition: DefinitionKey(definition), mappings });
    let change = prop_oneof![modification.prop_map(Change::Modify), migrate.prop_map(Change::Migrate)];
    (number(), change).prop_map(|(instance, change)| Command::Change { instance: InstanceKey(instance), change })
}

fn workflow_command() -> impl Strategy<Value = Command> {
    let tell = (number(), text(), any::<bool>(), prop::option::of(text()), document(), any::<bool>());
    prop_oneof![
        tell.prop_map(|(instance, step, is_task, by, variables, keeps)| {
            Command::TellStep(TellStep { instance: InstanceKey(instance), step, is_task, by, variables, keeps })
        }),
        (job_key(), text(), any::<bool>(), text()).prop_map(|(job, worker, retryable, message)| {
            Command::FailAttempt(FailAttempt { job, worker, retryable, message })
        }),
        number().prop_map(|instance| Command::RetryInstance { instance: InstanceKey(instance) }),
        number().prop_map(|instance| Command::Suspend { instance: InstanceKey(instance) }),
        number().prop_map(|instance| Command::Resume { instance: InstanceKey(instance) }),
        number().prop_map(|instance| Command::DeleteInstance { instance: InstanceKey(instance) }),
        super::some_batch::batch_command().prop_map(Command::Batch),
    ]
}

pub(super) fn answer() -> impl Strategy<Value = Answer> {
    let process = (text(), any::<i32>(), number(), text()).prop_map(|(process_id, version, definition, resource_name)| {
        DeployedProcess { process_id, version, definition: DefinitionKey(definition), resource_name }
    });
    let form = (number(), text(), any::<i32>(), text()).prop_map(|(key, id, version, resource_name)| DeployedForm {
        key: FormKey(key),
        id,
        version,
        resource_name,
    });
    prop_oneof![
        (number(), text()).prop_map(|(key, kind)| Answer::BatchStarted { key, kind }),
        (
            number(),
            text(),
            prop::collection::vec(process, 0..3),
            prop::collection::vec(requirements(), 0..3),
            prop::collection::vec(form, 0..3)
        )
            .prop_map(|(key, tenant, processes, requirements, forms)| Answer::Deployed(Deployed {
                key,
                tenant,
                processes,
                requirements,
                forms
            })),
        evaluated().prop_map(Answer::Evaluated),
        number().prop_map(|key| Answer::ResourceDeleted { key }),
        (number(), number(), text(), any::<i32>(), text(), texts(), prop::option::of(text())).prop_map(
            |(instance, definition, process_id, version, tenant, tags, business_id)| {
                let (instance, definition) = (InstanceKey(instance), DefinitionKey(definition));
                Answer::Created(Created { instance, definition, process_id, version, tenant, tags, business_id })
            }
        ),
        (number(), text()).prop_map(|(key, tenant)| Answer::Published { key, tenant }),
        (number(), number(), text()).prop_map(|(key, instance, tenant)| Answer::Correlated {
            key,
            instance: InstanceKey(instance),
            tenant
        }),
        (number(), text(), prop::collection::vec((number(), number()), 0..3)).prop_map(|(key, tenant, instances)| {
            let instances = instances.into_iter().map(|(a, b)| (DefinitionKey(a), InstanceKey(b))).collect();
            Answer::Started { key, tenant, instances }
        }),
        Just(Answer::Done),
        (any::<i64>(), prop::collection::vec(some_jobs::submitted(), 0..3))
            .prop_map(|(at, executions)| Answer::Submitted(Submitted { at, executions })),
        (prop::collection::vec((job_key(), any::<String>()), 0..3), prop::collection::vec(job_key(), 0..3)).prop_map(
            |(refused, others)| {
                let rejection = |reason| Rejection { code: Code::NotFound, reason };
                let refused = refused.into_iter().map(|(job, reason)| (job, rejection(reason))).collect();
                Answer::CompletedExecutions(CompletedExecutions { refused, others })
            }
        ),
        number().prop_map(|key| Answer::VariablesSet { key }),
        prop::collection::vec(some_jobs::reported(), 0..3).prop_map(Answer::Reported),
        prop::collection::vec(activated(), 0..3).prop_map(Answer::Activated),
        listening().prop_map(Answer::Listening),
        number().prop_map(|key| Answer::Going { instance: InstanceKey(key) }),
        (some_jobs::code(), any::<String>()).prop_map(|(code, reason)| Answer::Rejected(Rejection { code, reason })),
    ]
}

pub(super) fn activated() -> impl Strategy<Value = ActivatedJob> {
    let keys = (job_key(), number(), number(), number(), element_key());
    let texts_of = (text(), text(), text(), text(), text(), any::<String>());
    let kind = prop_oneof![Just(JobKind::Element), Just(JobKind::AdHoc), listener_event().prop_map(JobKind::Listener)];
    let lease = (any::<u32>(), prop::option::of(text()), prop::option::of(text()));
    let rest = (any::<i32>(), any::<i32>(), any::<i64>(), text(), texts(), prop::option::of(text()), kind, lease);
    (keys, texts_of, rest).prop_map(|(keys, words, rest)| ActivatedJob {
        key: keys.0,
        job_type: words.0,
        instance: InstanceKey(keys.1),
        root: InstanceKey(keys.2),
        definition: DefinitionKey(keys.3),
        process_id: words.1,
        version: rest.0,
        element_id: words.2,
        element_instance: keys.4,
        headers: words.3,
        worker: words.4,
        retries: rest.1,
        deadline: rest.2,
        variables: words.5,
        tenant: rest.3,
        tags: rest.4,
        business_id: rest.5,
        kind: rest.6,
        lease: rest.7.0,
        progress: rest.7.1,
        trace: rest.7.2,
    })
}

pub(super) fn decision_ref() -> impl Strategy<Value = DecisionRef> {
    prop_oneof![number().prop_map(|key| DecisionRef::Key(DecisionKey(key))), text().prop_map(DecisionRef::Id)]
}

pub(super) fn requirements() -> impl Strategy<Value = DeployedRequirements> {
    (number(), text(), text(), any::<i32>(), text(), prop::collection::vec(decision(), 0..3)).prop_map(
        |(key, id, name, version, resource_name, decisions)| DeployedRequirements {
            key: RequirementsKey(key),
            id,
            name,
            version,
            resource_name,
            decisions,
        },
    )
}

pub(super) fn decision() -> impl Strategy<Value = DeployedDecision> {
    (number(), text(), text(), any::<i32>()).prop_map(|(key, id, name, version)| DeployedDecision {
        key: DecisionKey(key),
        id,
        name,
        version,
    })
}

pub(super) fn evaluated() -> impl Strategy<Value = Evaluated> {
    let failure = (text(), text()).prop_map(|(decision_id, message)| EvaluationFailure { decision_id, message });
    let names = (text(), text(), text());
    let decisions = prop::collection::vec(evaluated_decision(), 0..3);
    (number(), decision(), number(), names, prop::option::of(failure), decisions).prop_map(
        |(key, decision, requirements, names, failure, decisions)| Evaluated {
            key: EvaluationKey(key),
            decision,
            requirements: RequirementsKey(requirements),
            requirements_id: names.0,
            tenant: names.1,
            output: names.2,
            failure,
            decisions,
        },
    )
}

pub(super) fn evaluated_decision() -> impl Strategy<Value = EvaluatedDecision> {
    let keys = (number(), prop::option::of(number()), number(), number());
    let words = (text(), text(), text(), text(), text());
    let input = (text(), text(), text()).prop_map(|(id, name, value)| EvaluatedInput { id, name, value });
    let output = (text(), text(), text()).prop_map(|(id, name, value)| EvaluatedOutput { id, name, value });
    let rule = (text(), any::<u32>(), prop::collection::vec(output, 0..3)).prop_map(|(id, index, outputs)| MatchedRule {
        id,
        index,
        outputs,
    });
    let origin = (number(), number(), element_key()).prop_map(|(instance, definition, element_instance)| EvaluationOrigin {
        instance: InstanceKey(instance),
        definition: DefinitionKey(definition),
        element_instance,
    });
    let numbers = (any::<u32>(), any::<Option<i32>>(), any::<i64>());
    let lists = (prop::collection::vec(input, 0..3), prop::collection::vec(rule, 0..3), prop::option::of(origin));
    (keys, words, numbers, lists).prop_map(|(keys, words, numbers, lists)| EvaluatedDecision {
        evaluation: EvaluationKey(keys.0),
        place: numbers.0,
        decision: keys.1.map(DecisionKey),
        decision_id: words.0,
        name: words.1,
        version: numbers.1,
        kind: words.2,
        requirements: RequirementsKey(keys.2),
        root_decision: DecisionKey(keys.3),
        tenant: words.3,
        evaluated: numbers.2,
        output: words.4,
        inputs: lists.0,
        rules: lists.1,
        origin: lists.2,
    })
}
