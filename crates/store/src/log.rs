//! Commands: what may be asked of a partition, who asks, and what they are told.

mod announced;
mod answer;
mod caller;
mod listener;
mod report;
mod trace;
mod variables;

use std::sync::Arc;
use std::time::Duration;

pub use announced::{Announced, Unannounced};
pub use answer::{
    ActivatedJob, Answer, Code, CompletedExecutions, Created, Deployed, DeployedDecision, DeployedForm, DeployedProcess,
    DeployedRequirements, Evaluated, EvaluationFailure, Listening, Rejection, Submitted, SubmittedExecution,
};
pub use caller::Caller;
use engine::{
    DecisionKey, DefinitionKey, Document, ElementKey, EvaluationKey, IncidentKey, InstanceKey, JobKey, TimerKey, UserTaskKey,
    WaitKey,
};
pub use listener::{ALL_EVENTS, NewListener, PutListener};
use model::GlobalListener;
use queue::policy::Policy;
pub use report::{Became, Failed, Report, Reported, Said, Thrown};
pub use trace::Trace;

use crate::Millis;
use crate::batch::BatchCommand;
use crate::change::Change;

/// What may be asked of a partition.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    Deploy(Deploy),
    /// Delete a process definition or decision requirements (their key is the resource's key for callers).
    DeleteResource {
        key: u64,
    },
    Create(Create),
    /// Create an instance that begins somewhere else, or ends before the end.
    CreateAt(CreateAt),
    Cancel {
        instance: InstanceKey,
    },
    CompleteJob {
        job: JobKey,
        variables: Document,
        result: Option<Box<JobResult>>,
    },
    FailJob(FailJob),
    ThrowError(ThrowError),
    UpdateJob(UpdateJob),
    SetVariables {
        scope: ElementKey,
        variables: Document,
        local: bool,
    },
    ResolveIncident {
        incident: IncidentKey,
    },
    AssignUserTask(AssignUserTask),
    UnassignUserTask {
        task: UserTaskKey,
        /// What the caller calls what happens, for those who listen.
        action: Arc<str>,
    },
    UpdateUserTask(UpdateUserTask),
    CompleteUserTask {
        task: UserTaskKey,
        variables: Document,
        action: Arc<str>,
    },
    /// Evaluate a decision on its own.
    Evaluate(Evaluate),
    /// Delete what an evaluation has left.
    DeleteEvaluation {
        evaluation: EvaluationKey,
    },
    /// Start activities of an ad-hoc sub-process.
    StartAdHoc(StartAdHoc),
    /// Publish a message: to those that wait for it, and, while it lives, to those that will.
    Publish(Publish),
    /// Give a message to those that wait for it now; somebody must.
    Correlate(Publish),
    /// Broadcast a signal to all that wait for it.
    Broadcast {
        tenant: Arc<str>,
        name: Arc<str>,
        variables: Document,
    },
    /// Start an instance of every process with a start condition that these variables make true.
    EvaluateConditions(EvaluateConditions),
    /// Let a timer fire now, or at another time.
    FireTimer {
        timer: TimerKey,
    },
    RescheduleTimer {
        timer: TimerKey,
        due: Millis,
    },
    /// An operator changes a running instance.
    Change {
        instance: InstanceKey,
        change: Change,
    },
    /// Hand out ready jobs to a worker that is connected to another server.
    Activate(Activate),
    /// Jobs a worker was given but never took: ready again at once.
    Release {
        jobs: Vec<Released>,
    },
    /// Work for workers that belongs to no process.
    Submit(Submit),
    /// Executions a worker has done, many at once; jobs of processes are left alone.
    CompleteExecutions {
        jobs: Vec<(JobKey, Document)>,
    },
    CancelExecution {
        job: JobKey,
    },
    /// Let an execution that failed be tried again, so often.
    RetryExecution {
        job: JobKey,
        retries: i32,
    },
    PutPolicy(PutPolicy),
    /// What the outbox held was told to a broker, or was not.
    Announced(Announced),
    DeletePolicy {
        reference: Arc<str>,
    },
    /// The time of a lease or a back-off has come.
    JobDue {
        job: JobKey,
    },
    /// An instance goes on with a step that took long.
    Turn {
        wait: WaitKey,
        instance: InstanceKey,
    },
    /// The time of a timer has come. Without an instance it starts one.
    TimerDue {
        wait: WaitKey,
        instance: Option<InstanceKey>,
    },
    /// A message is not kept any longer.
    MessageExpired {
        message: u64,
    },
    /// A signal goes on to those that have not had it yet.
    SignalDue {
        signal: u64,
    },
    /// Tell a step of a workflow, by its id, to go on.
    TellStep(TellStep),
    /// A worker could not do a job; how many retries that leaves is counted here, not by the worker.
    FailAttempt(FailAttempt),
    /// Try again whatever holds up an instance.
    RetryInstance {
        instance: InstanceKey,
    },
    /// Stop an instance and all it has called, where they are.
    Suspend {
        instance: InstanceKey,
    },
    /// Let an instance and all it has called go on.
    Resume {
        instance: InstanceKey,
    },
    /// Let a finished instance, with those it called, leave no trace.
    DeleteInstance {
        instance: InstanceKey,
    },
    /// An operation over many.
    Batch(BatchCommand),
    PutListener(PutListener),
    DeleteListener {
        id: Arc<str>,
    },
    /// Those that the configuration names, in place of those it named before.
    ConfigureListeners {
        listeners: Vec<GlobalListener>,
    },
    /// What workers say of jobs they have or had. Many at once are judged one by one.
    Report {
        reports: Vec<Report>,
    },
    /// Let a job without retries, of a process or of none, be tried again, so often.
    RetryJob {
        job: JobKey,
        retries: i32,
    },
    /// Make or change what is submitted again and again.
    PutSchedule(Box<PutSchedule>),
    DeleteSchedule {
        tenant: Arc<str>,
        reference: Arc<str>,
    },
    /// The time of a schedule has come.
    ScheduleDue {
        schedule: u64,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct PutSchedule {
    pub tenant: Arc<str>,
    pub reference: Arc<str>,
    pub action: Arc<str>,
    /// Cron, or an interval.
    pub cron: Arc<str>,
    pub time_zone: Option<Arc<str>>,
    pub execution: NewExecution,
    pub paused: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TellStep {
    pub instance: InstanceKey,
    pub step: Arc<str>,
    /// Whether the step is a task for a person, which this one has done, or one that waits.
    pub is_task: bool,
    pub by: Option<Arc<str>>,
    pub variables: Document,
    /// Whether what comes too early is kept until the step is reached, or refused.
    pub keeps: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FailAttempt {
    pub job: JobKey,
    /// Who had the lease: of anybody else nothing is taken.
    pub worker: Arc<str>,
    pub retryable: bool,
    pub message: Arc<str>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct PutPolicy {
    /// What people call it.
    pub reference: Arc<str>,
    /// Apart, since it is by far larger than other commands.
    pub policy: Box<Policy>,
}

/// All of it or nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Submit {
    pub tenant: Arc<str>,
    pub action: Arc<str>,
    pub executions: Vec<NewExecution>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct NewExecution {
    pub input: Document,
    pub priority: i32,
    pub retries: i32,
    /// Not before.
    pub run_at: Option<Millis>,
    pub unique: Option<NewUnique>,
    /// What puts it into a group, where that is not in the input.
    pub group: Document,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewUnique {
    pub key: Arc<str>,
    /// For how long there is to be no other, in milliseconds; if it says nothing, until this one has ended.
    pub window: Option<Millis>,
    pub on_conflict: OnConflict,
}

/// What happens to an execution whose unique key another has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnConflict {
    /// It is refused.
    Reject,
    /// The other one is the answer.
    Return,
    /// The other one is cancelled if it still waits; if it runs, this one is refused.
    Replace,
}

#[derive(Debug, Clone, PartialEq)]
pub struct StartAdHoc {
    /// The element instance of the sub-process.
    pub element: ElementKey,
    /// Ids of activities, each with variables of its own.
    pub activities: Vec<(Arc<str>, Document)>,
    /// Whether what runs in it is dropped first.
    pub drop_rest: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Publish {
    pub tenant: Arc<str>,
    pub name: Arc<str>,
    pub correlation_key: Arc<str>,
    /// Empty for none. With one, the same message is not taken twice while it lives.
    pub id: Arc<str>,
    /// In milliseconds.
    pub time_to_live: Millis,
    pub variables: Document,
}

#[derive(Debug, Clone, PartialEq)]
pub struct EvaluateConditions {
    pub tenant: Arc<str>,
    /// Of this definition alone.
    pub definition: Option<DefinitionKey>,
    pub variables: Document,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Deploy {
    pub tenant: Arc<str>,
    pub resources: Vec<DeployResource>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct DeployResource {
    pub name: Arc<str>,
    pub content: Arc<[u8]>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Create {
    pub process: ProcessRef,
    pub tenant: Arc<str>,
    pub variables: Document,
    pub tags: Vec<Arc<str>>,
    pub business_id: Option<Arc<str>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CreateAt {
    pub create: Create,
    /// Ids of the elements to begin at; without any, the none start event.
    pub start: Vec<Arc<str>>,
    /// Ids of elements: when the first of them is left or dropped, the instance is terminated.
    pub end_after: Vec<Arc<str>>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ProcessRef {
    Key(DefinitionKey),
    /// The latest version unless one is named.
    Id {
        id: Arc<str>,
        version: Option<i32>,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Evaluate {
    pub decision: DecisionRef,
    pub tenant: Arc<str>,
    pub variables: Document,
}

#[derive(Debug, Clone, PartialEq)]
pub enum DecisionRef {
    Key(DecisionKey),
    /// The latest version.
    Id(Arc<str>),
}

/// What a worker says of a job besides variables, where the job is not an element's own work.
#[derive(Debug, Clone, PartialEq)]
pub enum JobResult {
    UserTask(TaskResult),
    AdHoc(AdHocResult),
}

/// What the worker that directs an ad-hoc sub-process has decided.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AdHocResult {
    /// What is started, by its ids, each with variables of its own.
    pub activities: Vec<(Arc<str>, Document)>,
    /// Nothing more is started: it ends, at once or when what runs in it has ended.
    pub is_over: bool,
    /// Whether what runs in it is dropped first.
    pub drop_rest: bool,
}

/// What a listener says of what is to happen to a user task.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskResult {
    /// Why it refuses, if it does.
    pub denied: Option<Arc<str>>,
    pub corrections: Corrections,
}

/// What a listener changes of a user task; what is absent stays as it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Corrections {
    /// Some of none takes the task from whoever has it.
    pub assignee: Option<Option<Arc<str>>>,
    pub candidate_groups: Option<Vec<Arc<str>>>,
    pub candidate_users: Option<Vec<Arc<str>>>,
    pub due: Option<Option<Millis>>,
    pub follow_up: Option<Option<Millis>>,
    pub priority: Option<i32>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FailJob {
    pub job: JobKey,
    pub retries: i32,
    pub message: Arc<str>,
    pub backoff: Millis,
    pub variables: Document,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ThrowError {
    pub job: JobKey,
    pub code: Arc<str>,
    pub message: Arc<str>,
    pub variables: Document,
}

#[derive(Debug, Clone, PartialEq)]
pub struct UpdateJob {
    pub job: JobKey,
    pub retries: Option<i32>,
    /// A new lease, from now.
    pub timeout: Option<Millis>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AssignUserTask {
    pub task: UserTaskKey,
    pub assignee: Arc<str>,
    /// Whether it may be taken from somebody else.
    pub overrides: bool,
    pub action: Arc<str>,
}

/// What is absent stays as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct UpdateUserTask {
    pub task: UserTaskKey,
    pub candidate_groups: Option<Vec<Arc<str>>>,
    pub candidate_users: Option<Vec<Arc<str>>>,
    /// Some of none takes the date away.
    pub due: Option<Option<Millis>>,
    pub follow_up: Option<Option<Millis>>,
    pub priority: Option<i32>,
    pub action: Arc<str>,
}

/// A lease to give back, if it is still that one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Released {
    pub job: JobKey,
    pub deadline: Millis,
    /// The number of the lease; 0 where it is not known.
    pub lease: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Activate {
    pub job_type: Arc<str>,
    pub worker: Arc<str>,
    pub timeout: Millis,
    pub max: u32,
    pub tenants: Vec<Arc<str>>,
    /// Names of the variables wanted; empty for all.
    pub fetch: Vec<Arc<str>>,
}

impl Command {
    /// Creates an instance, with places to begin at and to end after if there are any.
    pub fn creating(create: Create, start: Vec<Arc<str>>, end_after: Vec<Arc<str>>) -> Self {
        if start.is_empty() && end_after.is_empty() {
            return Self::Create(create);
        }
        Self::CreateAt(CreateAt { create, start, end_after })
    }

    /// One word for logs and metrics.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Deploy(_) => "deploy",
            Self::DeleteResource { .. } => "delete-resource",
            Self::Create(_) | Self::CreateAt(_) => "create",
            Self::Cancel { .. } => "cancel",
            Self::CompleteJob { .. } => "complete-job",
            Self::FailJob(_) => "fail-job",
            Self::ThrowError(_) => "throw-error",
            Self::UpdateJob(_) => "update-job",
            Self::SetVariables { .. } => "set-variables",
            Self::ResolveIncident { .. } => "resolve-incident",
            Self::AssignUserTask(_) => "assign-user-task",
            Self::UnassignUserTask { .. } => "unassign-user-task",
            Self::UpdateUserTask(_) => "update-user-task",
            Self::CompleteUserTask { .. } => "complete-user-task",
            Self::Evaluate(_) => "evaluate",
            Self::DeleteEvaluation { .. } => "delete-evaluation",
            Self::StartAdHoc(_) => "start-ad-hoc",
            Self::Publish(_) => "publish",
            Self::Correlate(_) => "correlate",
            Self::Broadcast { .. } => "broadcast",
            Self::EvaluateConditions(_) => "evaluate-conditions",
            Self::FireTimer { .. } => "fire-timer",
            Self::RescheduleTimer { .. } => "reschedule-timer",
            Self::TimerDue { .. } => "timer-due",
            Self::MessageExpired { .. } => "message-expired",
            Self::SignalDue { .. } => "signal-due",
            Self::Activate(_) => "activate",
            Self::Release { .. } => "release",
            Self::Submit(_) => "submit",
            Self::CompleteExecutions { .. } => "complete-executions",
            Self::CancelExecution { .. } => "cancel-execution",
            Self::RetryExecution { .. } => "retry-execution",
            Self::PutPolicy(_) => "put-policy",
            Self::Announced(_) => "announced",
            Self::DeletePolicy { .. } => "delete-policy",
            Self::JobDue { .. } => "job-due",
            Self::Turn { .. } => "turn",
            Self::Change { change, .. } => change.kind(),
            Self::TellStep(_) => "tell-step",
            Self::FailAttempt(_) => "fail-attempt",
            Self::RetryInstance { .. } => "retry-instance",
            Self::Suspend { .. } => "suspend",
            Self::Resume { .. } => "resume",
            Self::DeleteInstance { .. } => "delete-instance",
            Self::Batch(batch) => batch.kind(),
            Self::PutListener(_) => "put-listener",
            Self::DeleteListener { .. } => "delete-listener",
            Self::ConfigureListeners { .. } => "configure-listeners",
            Self::Report { .. } => "report",
            Self::RetryJob { .. } => "retry-job",
            Self::PutSchedule(_) => "put-schedule",
            Self::DeleteSchedule { .. } => "delete-schedule",
            Self::ScheduleDue { .. } => "schedule-due",
        }
    }
}

fn texts(document: &Document) -> usize {
    document.iter().map(|(name, value)| name.len() + value.len() + 64).sum()
}

fn started(activities: &[(Arc<str>, Document)]) -> usize {
    activities.iter().map(|(id, own)| id.len() + texts(own)).sum()
}

impl JobResult {
    /// The bytes of its texts.
    fn texts(&self) -> usize {
        match self {
            Self::UserTask(TaskResult { denied, corrections }) => {
                let names = [&corrections.candidate_groups, &corrections.candidate_users].into_iter().flatten().flatten();
                let one = [denied.as_ref(), corrections.assignee.as_ref().and_then(Option::as_ref)];
                names.chain(one.into_iter().flatten()).map(|text| text.len() + 32).sum()
            }
            Self::AdHoc(result) => started(&result.activities),
        }
    }
}

/// A command with who sends it and what they want besides.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub caller: Caller,
    pub command: Command,
    pub idempotency: Option<IdempotencyKey>,
}

impl Request {
    /// About as many bytes as it takes in memory.
    pub fn bytes(&self) -> usize {
        let own = match &self.command {
            Command::Deploy(deploy) => deploy.resources.iter().map(|resource| resource.content.len()).sum(),
            Command::Create(create) => texts(&create.variables),
            Command::CreateAt(CreateAt { create, start, end_after }) => {
                texts(&create.variables) + start.iter().chain(end_after).map(|id| id.len() + 32).sum::<usize>()
            }
            Command::CompleteJob { variables, result, .. } => {
                texts(variables) + result.as_ref().map_or(0, |result| size_of::<JobResult>() + result.texts())
            }
            Command::SetVariables { variables, .. } => texts(variables),
            Command::CompleteUserTask { variables, action, .. } => texts(variables) + action.len(),
            Command::AssignUserTask(assign) => assign.assignee.len() + assign.action.len(),
            Command::UnassignUserTask { action, .. } => action.len(),
            Command::UpdateUserTask(update) => {
                let names = [&update.candidate_groups, &update.candidate_users].into_iter().flatten().flatten();
                names.map(|name| name.len() + 32).sum::<usize>() + update.action.len()
            }
            Command::FailJob(fail) => texts(&fail.variables) + fail.message.len(),
            Command::ThrowError(throw) => texts(&throw.variables) + throw.message.len(),
            Command::Evaluate(evaluate) => texts(&evaluate.variables),
            Command::StartAdHoc(start) => started(&start.activities),
            Command::Publish(publish) | Command::Correlate(publish) => {
                texts(&publish.variables) + publish.name.len() + publish.correlation_key.len() + publish.id.len()
            }
            Command::Broadcast { name, variables, .. } => texts(variables) + name.len(),
            Command::EvaluateConditions(evaluate) => texts(&evaluate.variables),
            Command::Change { change, .. } => change.bytes(),
            Command::Batch(batch) => batch.bytes(),
            Command::TellStep(tell) => texts(&tell.variables) + tell.step.len() + tell.by.as_ref().map_or(0, |by| by.len()),
            Command::FailAttempt(fail) => fail.message.len() + fail.worker.len(),
            Command::Submit(submit) => {
                let of_one = |one: &NewExecution| texts(&one.input) + texts(&one.group) + size_of::<NewExecution>();
                submit.action.len() + submit.executions.iter().map(of_one).sum::<usize>()
            }
            Command::CompleteExecutions { jobs } => jobs.iter().map(|(_, variables)| texts(variables) + 64).sum(),
            Command::Report { reports } => reports.iter().map(Report::texts).sum(),
            Command::DeleteResource { .. }
            | Command::PutPolicy(_)
            | Command::Announced(_)
            | Command::DeletePolicy { .. }
            | Command::CancelExecution { .. }
            | Command::RetryExecution { .. }
            | Command::Cancel { .. }
            | Command::UpdateJob(_)
            | Command::ResolveIncident { .. }
            | Command::DeleteEvaluation { .. }
            | Command::Activate(_)
            | Command::Release { .. }
            | Command::JobDue { .. }
            | Command::FireTimer { .. }
            | Command::RescheduleTimer { .. }
            | Command::TimerDue { .. }
            | Command::MessageExpired { .. }
            | Command::SignalDue { .. }
            | Command::Turn { .. }
            | Command::PutListener(_)
            | Command::DeleteListener { .. }
            | Command::ConfigureListeners { .. }
            | Command::RetryInstance { .. }
            | Command::Suspend { .. }
            | Command::Resume { .. }
            | Command::DeleteInstance { .. }
            | Command::RetryJob { .. }
            | Command::DeleteSchedule { .. }
            | Command::ScheduleDue { .. } => 0,
            Command::PutSchedule(put) => texts(&put.execution.input) + texts(&put.execution.group) + size_of::<PutSchedule>(),
        };
        size_of::<Self>() + own
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    pub tenant: Arc<str>,
    pub key: Arc<str>,
    pub fingerprint: u64,
}

/// A request about to be put into an inbox, as [`crate::format`] writes it.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRequest {
    pub kind: &'static str,
    pub request: Vec<u8>,
    /// Not to be processed after so long: nobody waits for it any more.
    pub lives: Option<Duration>,
}

/// A request in an inbox that is not processed yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Received {
    pub position: u64,
    pub request: Vec<u8>,
    /// When it came.
    pub at: Millis,
    /// Not to be processed from then on.
    pub expires: Option<Millis>,
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestStatus {
    pub position: u64,
    pub kind: String,
    pub at: Millis,
    /// The answer, once it is processed.
    pub answer: Option<Vec<u8>>,
}
