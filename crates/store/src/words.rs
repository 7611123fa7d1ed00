//! The words under which states and kinds are stored. Searches compare and sort by them, so they are the same in every store.

use engine::{IncidentKind, InstanceKey, Phase, Progress};
use model::{Binding, ListenerEvent, StartForm};

use crate::row::{
    AuditEntity, Availability, BatchState, Candidates, ElementState, ExecutionState, InstanceState, ItemState, JobKind, JobState,
    Operation, SubscriptionKind, SubscriptionState, TimerKind, TimerState, UserTaskState,
};
use crate::{DueKind, Error, Millis};

impl InstanceState {
    pub fn word(self) -> &'static str {
        match self {
            Self::Active => "ACTIVE",
            Self::Suspended => "SUSPENDED",
            Self::Completed => "COMPLETED",
            Self::Terminated => "TERMINATED",
        }
    }

    /// The word of its column: what is suspended is active there, and another column says since when it stands still.
    pub fn stored(self) -> &'static str {
        match self {
            Self::Active | Self::Suspended => Self::Active.word(),
            Self::Completed | Self::Terminated => self.word(),
        }
    }

    /// What runs is suspended if there is a time since when.
    pub fn of_running(suspended: Option<Millis>) -> Self {
        if suspended.is_some() { Self::Suspended } else { Self::Active }
    }

    pub fn from_word(word: &str) -> Result<Self, Error> {
        match word {
            "ACTIVE" => Ok(Self::Active),
            "SUSPENDED" => Ok(Self::Suspended),
            "COMPLETED" => Ok(Self::Completed),
            "TERMINATED" => Ok(Self::Terminated),
            _ => Err(unknown("state of an instance", word)),
        }
    }
}

impl ElementState {
    /// As searches show it: whatever is alive is active.
    pub fn shown(self) -> InstanceState {
        match self {
            Self::Alive(_) => InstanceState::Active,
            Self::Completed => InstanceState::Completed,
            Self::Terminated => InstanceState::Terminated,
        }
    }

    pub fn word(self) -> &'static str {
        self.shown().word()
    }

    /// How far it has come, as a number; it says nothing once the element instance has ended.
    pub fn phase_number(self) -> i64 {
        match self {
            Self::Alive(phase) => phase_number(phase),
            Self::Completed | Self::Terminated => phase_number(Phase::Leaving),
        }
    }

    pub fn from_stored(word: &str, phase: i64) -> Result<Self, Error> {
        match InstanceState::from_word(word)? {
            InstanceState::Active | InstanceState::Suspended => Ok(Self::Alive(phase_from_number(phase)?)),
            InstanceState::Completed => Ok(Self::Completed),
            InstanceState::Terminated => Ok(Self::Terminated),
        }
    }
}

pub fn phase_number(phase: Phase) -> i64 {
    match phase {
        Phase::Entering => 0,
        Phase::Active => 1,
        Phase::Leaving => 2,
    }
}

pub fn phase_from_number(number: i64) -> Result<Phase, Error> {
    match number {
        0 => Ok(Phase::Entering),
        1 => Ok(Phase::Active),
        2 => Ok(Phase::Leaving),
        _ => Err(unknown("phase", &number.to_string())),
    }
}

impl JobState {
    pub const ALL: [Self; 8] = [
        Self::Created,
        Self::Completed,
        Self::Failed,
        Self::RetriesUpdated,
        Self::TimedOut,
        Self::Cancelled,
        Self::ErrorThrown,
        Self::Migrated,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Self::Created => "CREATED",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
            Self::RetriesUpdated => "RETRIES_UPDATED",
            Self::TimedOut => "TIMED_OUT",
            // One L, as clients of Camunda 8 write it.
            Self::Cancelled => "CANCELED",
            Self::ErrorThrown => "ERROR_THROWN",
            Self::Migrated => "MIGRATED",
        }
    }

    pub fn from_word(word: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|state| state.word() == word).ok_or_else(|| unknown("state of a job", word))
    }
}

impl JobKind {
    /// As clients of Camunda 8 know it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Element => "BPMN_ELEMENT",
            Self::AdHoc => AD_HOC,
            Self::Listener(event) if event.is_of_task() => "TASK_LISTENER",
            Self::Listener(_) => "EXECUTION_LISTENER",
        }
    }

    pub fn event_word(self) -> &'static str {
        match self {
            Self::Element | Self::AdHoc => "UNSPECIFIED",
            Self::Listener(event) => listener_event_word(event),
        }
    }

    /// What it listens to, or that it directs; nothing for most jobs.
    pub fn stored(self) -> Option<&'static str> {
        match self {
            Self::Element => None,
            Self::AdHoc => Some(AD_HOC),
            Self::Listener(event) => Some(listener_event_word(event)),
        }
    }

    pub fn from_stored(word: Option<&str>) -> Result<Self, Error> {
        let Some(word) = word else { return Ok(Self::Element) };
        if word == AD_HOC {
            return Ok(Self::AdHoc);
        }
        let event = ListenerEvent::ALL.into_iter().find(|event| listener_event_word(*event) == word);
        event.map(Self::Listener).ok_or_else(|| unknown("kind of job", word))
    }
}

/// The job of the worker that directs an ad-hoc sub-process.
const AD_HOC: &str = "AD_HOC_SUB_PROCESS";

fn listener_event_word(event: ListenerEvent) -> &'static str {
    match event {
        ListenerEvent::Start => "START",
        ListenerEvent::End => "END",
        ListenerEvent::Creating => "CREATING",
        ListenerEvent::Assigning => "ASSIGNING",
        ListenerEvent::Updating => "UPDATING",
        ListenerEvent::Completing => "COMPLETING",
        ListenerEvent::Canceling => "CANCELING",
    }
}

impl ExecutionState {
    pub fn word(self) -> &'static str {
        match self {
            Self::Waiting => "WAITING",
            Self::Running => "RUNNING",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
            Self::Cancelled => "CANCELLED",
        }
    }

    pub fn from_word(word: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|state| state.word() == word).ok_or_else(|| unknown("state of an execution", word))
    }
}

impl BatchState {
    pub const ALL: [Self; 6] = [Self::Created, Self::Active, Self::Suspended, Self::Canceled, Self::Completed, Self::Failed];

    pub fn word(self) -> &'static str {
        match self {
            Self::Created => "CREATED",
            Self::Active => "ACTIVE",
            Self::Suspended => "SUSPENDED",
            Self::Canceled => "CANCELED",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
        }
    }

    pub fn from_word(word: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|state| state.word() == word).ok_or_else(|| unknown("state of an operation", word))
    }
}

impl ItemState {
    pub const ALL: [Self; 4] = [Self::Active, Self::Completed, Self::Failed, Self::Canceled];

    pub fn word(self) -> &'static str {
        match self {
            Self::Active => "ACTIVE",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
            Self::Canceled => "CANCELED",
        }
    }

    pub fn from_word(word: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|state| state.word() == word).ok_or_else(|| unknown("state of an item", word))
    }
}

impl Availability {
    pub fn word(self) -> &'static str {
        match self {
            Self::Ready => "READY",
            Self::Leased => "LEASED",
            // What is held waits for no time.
            Self::BackingOff { .. } | Self::Held => "BACKING_OFF",
            Self::Stuck => "STUCK",
            Self::Done => "DONE",
        }
    }

    /// When it ends by itself, given when the lease ends.
    pub fn due(self, deadline: Option<i64>) -> Option<i64> {
        match self {
            Self::Leased => deadline,
            Self::BackingOff { until } => Some(until),
            Self::Ready | Self::Held | Self::Stuck | Self::Done => None,
        }
    }

    pub fn from_stored(word: &str, due: Option<i64>) -> Result<Self, Error> {
        match (word, due) {
            ("READY", _) => Ok(Self::Ready),
            ("LEASED", _) => Ok(Self::Leased),
            ("BACKING_OFF", Some(until)) => Ok(Self::BackingOff { until }),
            ("BACKING_OFF", None) => Ok(Self::Held),
            ("STUCK", _) => Ok(Self::Stuck),
            ("DONE", _) => Ok(Self::Done),
            _ => Err(unknown("availability of a job", word)),
        }
    }
}

pub const TIMER_KINDS: [TimerKind; 3] = [TimerKind::Date, TimerKind::Duration, TimerKind::Cycle];

pub fn timer_kind_word(kind: TimerKind) -> &'static str {
    match kind {
        TimerKind::Date => "DATE",
        TimerKind::Duration => "DURATION",
        TimerKind::Cycle => "CYCLE",
    }
}

pub fn timer_kind_from_word(word: &str) -> Result<TimerKind, Error> {
    TIMER_KINDS.into_iter().find(|one| timer_kind_word(*one) == word).ok_or_else(|| unknown("kind of timer", word))
}

impl TimerState {
    pub const ALL: [Self; 3] = [Self::Pending, Self::Fired, Self::Cancelled];

    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::Fired => "FIRED",
            // As jobs have it.
            Self::Cancelled => "CANCELED",
        }
    }

    pub fn from_word(word: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|one| one.word() == word).ok_or_else(|| unknown("state of a timer", word))
    }
}

impl SubscriptionKind {
    pub const ALL: [Self; 4] = [Self::Message, Self::Signal, Self::Condition, Self::Child];

    pub fn word(self) -> &'static str {
        match self {
            Self::Message => "MESSAGE",
            Self::Signal => "SIGNAL",
            Self::Condition => "CONDITION",
            Self::Child => "CHILD",
        }
    }

    pub fn from_word(word: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|one| one.word() == word).ok_or_else(|| unknown("kind of subscription", word))
    }
}

impl SubscriptionState {
    pub const ALL: [Self; 3] = [Self::Open, Self::Correlated, Self::Closed];

    pub fn word(self) -> &'static str {
        match self {
            // The words that clients of Camunda 8 know.
            Self::Open => "CREATED",
            Self::Correlated => "CORRELATED",
            Self::Closed => "DELETED",
        }
    }

    pub fn from_word(word: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|one| one.word() == word).ok_or_else(|| unknown("state of a subscription", word))
    }
}

impl UserTaskState {
    pub const ALL: [Self; 8] = [
        Self::Created,
        Self::Completed,
        Self::Cancelled,
        Self::Creating,
        Self::Assigning,
        Self::Updating,
        Self::Completing,
        Self::Canceling,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Self::Creating => "CREATING",
            Self::Created => "CREATED",
            Self::Assigning => "ASSIGNING",
            Self::Updating => "UPDATING",
            Self::Completing => "COMPLETING",
            Self::Completed => "COMPLETED",
            Self::Canceling => "CANCELING",
            // As jobs have it.
            Self::Cancelled => "CANCELED",
        }
    }

    pub fn from_word(word: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|one| one.word() == word).ok_or_else(|| unknown("state of a user task", word))
    }
}

impl Candidates {
    pub fn word(self) -> &'static str {
        match self {
            Self::Groups => "GROUP",
            Self::Users => "USER",
        }
    }
}

/// What is due, by the word for its kind in the stores' statements. Turns have their instance, timers may.
pub fn due_kind(word: &str, instance: Option<InstanceKey>) -> Result<DueKind, Error> {
    match (word, instance) {
        ("JOB", _) => Ok(DueKind::Job),
        ("TURN", Some(instance)) => Ok(DueKind::Turn { instance }),
        ("TIMER", instance) => Ok(DueKind::Timer { instance }),
        ("MESSAGE", _) => Ok(DueKind::MessageExpires),
        ("SIGNAL", _) => Ok(DueKind::Signal),
        ("BATCH", _) => Ok(DueKind::Batch),
        ("SCHEDULE", _) => Ok(DueKind::Schedule),
        _ => Err(unknown("kind of what is due", word)),
    }
}

/// What the body of a repeated activity is shown as; its own kind is that of what it repeats.
pub const BODY: &str = "MULTI_INSTANCE_BODY";

/// How far the body of a repeated activity has come, as four numbers: total, started, completed, terminated.
pub fn progress_text(progress: Progress) -> String {
    let Progress { total, started, completed, terminated } = progress;
    format!("{total} {started} {completed} {terminated}")
}

pub fn progress_from_text(text: &str) -> Result<Progress, Error> {
    let numbers: Result<Vec<u32>, _> = text.split(' ').map(str::parse).collect();
    match numbers.as_deref() {
        Ok(&[total, started, completed, terminated]) => Ok(Progress { total, started, completed, terminated }),
        Ok(_) | Err(_) => Err(unknown("progress", text)),
    }
}

const INCIDENT_KINDS: [IncidentKind; 14] = [
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
];

pub fn incident_kind_word(kind: IncidentKind) -> &'static str {
    match kind {
        IncidentKind::IoMapping => "IO_MAPPING_ERROR",
        IncidentKind::ExtractValue => "EXTRACT_VALUE_ERROR",
        IncidentKind::Condition => "CONDITION_ERROR",
        IncidentKind::JobNoRetries => "JOB_NO_RETRIES",
        IncidentKind::ExecutionListenerNoRetries => "EXECUTION_LISTENER_NO_RETRIES",
        IncidentKind::TaskListenerNoRetries => "TASK_LISTENER_NO_RETRIES",
        IncidentKind::UnhandledError => "UNHANDLED_ERROR_EVENT",
        IncidentKind::LoopLimit => "LOOP_LIMIT",
        IncidentKind::CalledElement => "CALLED_ELEMENT_ERROR",
        IncidentKind::CalledDecision => "CALLED_DECISION_ERROR",
        IncidentKind::DecisionEvaluation => "DECISION_EVALUATION_ERROR",
        IncidentKind::FormNotFound => "FORM_NOT_FOUND",
        IncidentKind::AdHocNoRetries => "AD_HOC_SUB_PROCESS_NO_RETRIES",
        IncidentKind::Fault => "UNKNOWN",
    }
}

pub fn incident_kind_from_word(word: &str) -> Result<IncidentKind, Error> {
    let found = INCIDENT_KINDS.into_iter().find(|kind| incident_kind_word(*kind) == word);
    found.ok_or_else(|| unknown("kind of incident", word))
}

/// Java's `String.hashCode`, by which clients group incidents with the same message.
pub fn message_hash(message: &str) -> i32 {
    message.encode_utf16().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

/// Which version of a form is meant, beside its id; nothing for the latest.
pub fn binding_text(binding: &Binding) -> Option<String> {
    match binding {
        Binding::Latest => None,
        Binding::Deployment => Some("deployment".to_owned()),
        Binding::VersionTag(tag) => Some(format!("versionTag={tag}")),
    }
}

pub fn start_form(id: Option<std::sync::Arc<str>>, binding: Option<&str>) -> Result<Option<StartForm>, Error> {
    let Some(id) = id else { return Ok(None) };
    let binding = match binding {
        None => Binding::Latest,
        Some("deployment") => Binding::Deployment,
        Some(other) => match other.strip_prefix("versionTag=") {
            Some(tag) => Binding::VersionTag(tag.into()),
            None => return Err(unknown("binding", other)),
        },
    };
    Ok(Some(StartForm { id, binding }))
}

/// Tags as one text: a line each, with line ends and backslashes inside a tag escaped.
pub fn tags_text(tags: &[std::sync::Arc<str>]) -> String {
    let mut text = String::new();
    for tag in tags {
        text.push_str(&tag.replace('\\', "\\\\").replace('\n', "\\n"));
        text.push('\n');
    }
    text
}

pub fn tags_from_text(text: &str) -> Vec<String> {
    text.split_terminator('\n').map(tag_from_line).collect()
}

fn tag_from_line(line: &str) -> String {
    let mut tag = String::with_capacity(line.len());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => tag.extend(characters.next().map(|next| if next == 'n' { '\n' } else { next })),
            plain => tag.push(plain),
        }
    }
    tag
}

impl Operation {
    pub const ALL: [Self; 20] = [
        Self::Create,
        Self::Update,
        Self::Delete,
        Self::Assign,
        Self::Unassign,
        Self::Complete,
        Self::Cancel,
        Self::Modify,
        Self::Migrate,
        Self::Resolve,
        Self::Suspend,
        Self::Resume,
        Self::Retry,
        Self::Fire,
        Self::Reschedule,
        Self::Dispatch,
        Self::Fail,
        Self::Throw,
        Self::TimeOut,
        Self::Release,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
            Self::Assign => "ASSIGN",
            Self::Unassign => "UNASSIGN",
            Self::Complete => "COMPLETE",
            Self::Cancel => "CANCEL",
            Self::Modify => "MODIFY",
            Self::Migrate => "MIGRATE",
            Self::Resolve => "RESOLVE",
            Self::Suspend => "SUSPEND",
            Self::Resume => "RESUME",
            Self::Retry => "RETRY",
            Self::Fire => "FIRE",
            Self::Reschedule => "RESCHEDULE",
            Self::Dispatch => "DISPATCH",
            Self::Fail => "FAIL",
            Self::Throw => "THROW",
            Self::TimeOut => "TIME_OUT",
            Self::Release => "RELEASE",
        }
    }

    pub fn from_word(word: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|one| one.word() == word).ok_or_else(|| unknown("operation", word))
    }
}

impl AuditEntity {
    pub const ALL: [Self; 12] = [
        Self::Resource,
        Self::Decision,
        Self::ProcessInstance,
        Self::Incident,
        Self::Variable,
        Self::UserTask,
        Self::Job,
        Self::Batch,
        Self::Timer,
        Self::Policy,
        Self::Listener,
        Self::Schedule,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Self::Resource => "RESOURCE",
            Self::Decision => "DECISION",
            Self::ProcessInstance => "PROCESS_INSTANCE",
            Self::Incident => "INCIDENT",
            Self::Variable => "VARIABLE",
            Self::UserTask => "USER_TASK",
            Self::Job => "JOB",
            Self::Batch => "BATCH",
            Self::Timer => "TIMER",
            Self::Policy => "POLICY",
            Self::Listener => "LISTENER",
            Self::Schedule => "SCHEDULE",
        }
    }

    pub fn from_word(word: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|one| one.word() == word).ok_or_else(|| unknown("thing in the audit trail", word))
    }
}

fn unknown(what: &str, word: &str) -> Error {
    Error::corrupt(format_args!("`{word}` is no {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_hash_is_that_of_java() {
        for (message, hash) in [("", 0), ("a", 97), ("hello", 99_162_322)] {
            assert_eq!(message_hash(message), hash, "{message}");
        }
        // A character outside the basic plane counts as two units: "😀" is D83D DE00.
        assert_eq!(message_hash("😀"), 0xD83D * 31 + 0xDE00);
    }

    #[test]
    fn message_hash_wraps() {
        assert_eq!(message_hash("polygenelubricants"), i32::MIN);
    }

    #[test]
    fn tags_come_back() {
        for tags in [vec![], vec![""], vec!["a", ""], vec!["x\ny", "\\n", "\\", "ü"]] {
            let tags: Vec<std::sync::Arc<str>> = tags.into_iter().map(Into::into).collect();
            let back: Vec<std::sync::Arc<str>> = tags_from_text(&tags_text(&tags)).into_iter().map(Into::into).collect();
            assert_eq!(back, tags);
        }
    }

    #[test]
    fn progress_comes_back_or_is_refused() {
        let progress = Progress { total: u32::MAX, started: 3, completed: 2, terminated: 0 };
        assert_eq!(progress_from_text(&progress_text(progress)).unwrap(), progress);
        for odd in ["", "1 2 3", "1 2 3 4 5", "1 2 3 -4", "1  2 3"] {
            assert!(progress_from_text(odd).is_err(), "{odd}");
        }
    }

    #[test]
    fn words_come_back() {
        for state in JobState::ALL {
            assert_eq!(JobState::from_word(state.word()).unwrap(), state);
        }
        TIMER_KINDS.iter().for_each(|kind| assert_eq!(timer_kind_from_word(timer_kind_word(*kind)).unwrap(), *kind));
        TimerState::ALL.iter().for_each(|state| assert_eq!(TimerState::from_word(state.word()).unwrap(), *state));
        SubscriptionKind::ALL.iter().for_each(|kind| assert_eq!(SubscriptionKind::from_word(kind.word()).unwrap(), *kind));
        SubscriptionState::ALL.iter().for_each(|state| assert_eq!(SubscriptionState::from_word(state.word()).unwrap(), *state));
        UserTaskState::ALL.iter().for_each(|state| assert_eq!(UserTaskState::from_word(state.word()).unwrap(), *state));
        for kind in INCIDENT_KINDS {
            assert_eq!(incident_kind_from_word(incident_kind_word(kind)).unwrap(), kind);
        }
    }
}
