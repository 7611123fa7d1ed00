//! What may be asked of an instance.

use std::sync::Arc;

use model::{ElementIx, ListenerEvent};

use crate::{
    Document, ElementKey, FormKey, IncidentKey, IncidentKind, InstanceKey, JobKey, Modification, On, Parent, Thrown, ThrownOut,
    WaitKey,
};

/// A command against one instance.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Begin, at the none start event or at the one that was triggered. Only for an instance that has not begun.
    Start { at: Option<ElementIx>, parent: Option<Parent>, variables: Document },
    /// Begin somewhere else, or end before the end. Only for an instance that has not begun.
    StartAt(StartAt),
    /// Drop everything and end the instance.
    Cancel,
    /// A worker has done a job.
    CompleteJob { job: JobKey, element: ElementKey, variables: Document },
    /// A worker could not do a job and the host has decided what that means.
    FailJob(FailedJob),
    /// A worker throws a BPMN error.
    ThrowError(ThrownError),
    /// Set variables: in that scope alone, or where they exist seen from it.
    SetVariables { scope: ElementKey, variables: Document, local: bool },
    /// What came of a decision the instance called.
    Decide { element: ElementKey, verdict: Result<Arc<str>, Undecided> },
    /// There is no room for the decision in this command: the task asks again in a turn of its own.
    AskLater { element: ElementKey },
    /// What came of seeking a form for a user task.
    GiveForm { element: ElementKey, verdict: Result<FormKey, Undecided> },
    /// What an element, or an event for it, waits for has come; a person has done a user task.
    Trigger(Triggered),
    /// What came of calling a process: the instance that will run, or why none does.
    Call { element: ElementKey, verdict: Result<InstanceKey, Undecided> },
    /// The instance that a call activity runs has completed.
    ChildCompleted { element: ElementKey, child: InstanceKey, variables: Document },
    /// Nothing inside the instance that a call activity runs catches this, and something here does.
    ChildThrew { element: ElementKey, what: Thrown, code: Arc<str>, variables: Document },
    /// Nobody else catches what was thrown out: an error is an incident, after an escalation it goes on.
    Uncaught(ThrownOut),
    /// Start activities of an ad-hoc sub-process by their ids, each with variables of its own; what runs in it may be dropped first.
    StartAdHoc { element: ElementKey, activities: Vec<(Arc<str>, Document)>, drop_rest: bool },
    /// The worker that directs an ad-hoc sub-process has decided what is next.
    DirectAdHoc(Directed),
    /// Something is to happen to a user task that others listen to: they are asked first. The variables count once all were heard.
    Listen { element: ElementKey, event: ListenerEvent, variables: Document, local: bool },
    /// One that listens to what is to happen to a user task refuses it.
    Deny { job: JobKey, element: ElementKey },
    /// A step of a workflow that waits goes on.
    Tell { element: ElementKey, variables: Document },
    /// Try again what raised the incident.
    ResolveIncident { incident: IncidentKey },
    /// Go on with a step that stopped because it took long.
    Turn { wait: WaitKey },
    /// Show a person that a command of this instance was refused through no fault of the process.
    Mark { reason: Arc<str> },
    /// Enter elements, end element instances, move from one to the other: what an operator asks for.
    Modify(Modification),
    /// Stop: it keeps its waits, and nothing comes to them until it is resumed.
    Suspend,
    /// Go on where it was suspended.
    Resume,
}

/// Where to begin and to end, by the one who creates an instance.
#[derive(Debug, Clone, PartialEq)]
pub struct StartAt {
    /// What is entered at first; without any, the none start event.
    pub elements: Vec<ElementIx>,
    /// Ids of elements: when the first of them has been left or dropped, the instance is terminated.
    pub end_after: Vec<Arc<str>>,
    pub variables: Document,
}

/// A wait that is over, or has happened once more.
#[derive(Debug, Clone, PartialEq)]
pub struct Triggered {
    pub element: ElementKey,
    pub wait: WaitKey,
    pub variables: Document,
    /// Of a timer that does not interrupt: its next occurrence.
    pub next: Option<On>,
}

/// What the worker of an ad-hoc sub-process decided. Of any other job: that it is done.
#[derive(Debug, Clone, PartialEq)]
pub struct Directed {
    pub job: JobKey,
    /// The element instance that waits for it.
    pub element: ElementKey,
    pub variables: Document,
    /// Ids of what is started, each with variables of its own.
    pub activities: Vec<(Arc<str>, Document)>,
    /// It ends: at once, or when what runs in it has ended. Then nothing more is started.
    pub is_over: bool,
    /// What runs in it is dropped first.
    pub drop_rest: bool,
}

/// A job that failed: its variables stay with the task; without retries left the task is stuck.
#[derive(Debug, Clone, PartialEq)]
pub struct FailedJob {
    pub job: JobKey,
    /// The element instance that waits for it.
    pub element: ElementKey,
    pub variables: Document,
    /// The reason, if no retries are left.
    pub stuck: Option<Arc<str>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ThrownError {
    pub job: JobKey,
    /// The element instance that waits for it.
    pub element: ElementKey,
    pub code: Arc<str>,
    pub message: Arc<str>,
    pub variables: Document,
}

/// Why a called decision gave no output, a called process does not run, or there is no form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undecided {
    pub kind: IncidentKind,
    pub reason: Arc<str>,
}

/// The command does not fit the state of the instance; nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rejected {
    /// The instance has begun already.
    AlreadyStarted,
    /// The instance has ended, or never began.
    NotRunning,
    /// The process has no none start event, or none such.
    NoStartEvent,
    /// No element of this instance waits for that job.
    NoSuchJob,
    /// An incident holds that job.
    Stuck,
    /// No element of this instance waits for a decision under that key.
    NoSuchDecision,
    /// No element of this instance seeks a form under that key.
    NoSuchForm,
    /// No element of this instance waits for that.
    NoSuchWait,
    /// No active element instance has that key.
    NoSuchScope,
    /// There is no such element to start.
    NoSuchElement,
    /// No incident of this instance has that key.
    NoSuchIncident,
    /// What is over starts nothing more.
    OverAndMore,
    /// The instance waits for no such turn.
    NoSuchTurn,
    /// What was asked for does not fit the process, or what lives of it; the words are for who asked.
    Invalid(Arc<str>),
    /// It does not fit where the instance is now.
    Unfit(Arc<str>),
    /// Something else is happening to the user task.
    Listening,
    /// The job is a listener's, which cannot do that.
    IsListener,
    /// The instance is suspended.
    Suspended,
    /// The instance is not suspended.
    NotSuspended,
}
