//! What may happen to an instance. The one list that is stored, shown and tested.

use std::sync::Arc;

use model::{ElementIx, FlowIx, ListenerEvent};

use crate::{
    Compensation, CompensationKey, DefinitionKey, Document, ElementKey, IncidentKey, InstanceKey, JobKey, Migrated, Opened,
    Progress, VariableKey, WaitEnd, WaitKey, Waited,
};

#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The instance began; its outermost element instance has the same key.
    Started {
        instance: InstanceKey,
        definition: DefinitionKey,
        /// The call activity that called it.
        parent: Option<Parent>,
    },
    /// An element instance came into being; it is about to work.
    Entered {
        key: ElementKey,
        element: ElementIx,
        scope: ElementKey,
    },
    /// Its inputs are mapped and it does, or waits for, its work.
    Activated {
        key: ElementKey,
    },
    /// Its work is done; outputs are about to be mapped.
    Leaving {
        key: ElementKey,
    },
    /// It completed.
    Left {
        key: ElementKey,
    },
    /// It was ended from outside: cancelled or interrupted.
    Dropped {
        key: ElementKey,
    },
    /// The body of a repeated activity has come so far.
    Progressed {
        key: ElementKey,
        progress: Progress,
    },
    /// An activity that can be undone completed in this scope.
    CompensationKept {
        scope: ElementKey,
        compensation: Compensation,
    },
    /// What completed inside a scope that leaves can be undone from the one around it.
    CompensationsHandedOn {
        from: ElementKey,
        to: ElementKey,
        /// What it has, in the order in which it completed.
        compensations: Vec<Compensation>,
    },
    /// It cannot be undone any more: it is being undone, or its scope is gone.
    CompensationTaken {
        key: CompensationKey,
        scope: ElementKey,
    },
    /// A token waits at a join for those of the other flows.
    TokenArrived(Token),
    /// A join took one token of each of its incoming flows.
    TokensTaken {
        scope: ElementKey,
        gateway: ElementIx,
    },
    /// The scope ended with a token still waiting.
    TokenDropped(Token),
    VariableCreated {
        key: VariableKey,
        scope: ElementKey,
        name: Arc<str>,
        value: Arc<str>,
    },
    VariableUpdated {
        key: VariableKey,
        scope: ElementKey,
        name: Arc<str>,
        value: Arc<str>,
    },
    /// An element waits for something.
    WaitOpened(Opened),
    /// It waits for it no longer.
    WaitClosed {
        key: WaitKey,
        element: ElementKey,
        on: Waited,
        end: WaitEnd,
    },
    /// An element needs a decision before it can go on; the host answers in the same command.
    DecisionCalled {
        element: ElementKey,
        /// The id of the decision.
        decision: Arc<str>,
    },
    /// A user task needs a form before it can go on; the host answers in the same command.
    FormSought {
        element: ElementKey,
        /// The id of the form.
        form: Arc<str>,
    },
    /// A call activity is to run a process; the host answers in the same command.
    Called {
        element: ElementKey,
        process: Arc<str>,
    },
    /// A message is to be published.
    MessageThrown(MessageThrown),
    /// A signal is to be broadcast.
    SignalThrown {
        /// Who waits with a lower key waited before it was thrown.
        key: u64,
        element: ElementKey,
        name: Arc<str>,
        variables: Document,
    },
    /// Nothing inside this instance catches an error or an escalation: the host asks those that called it, in the same command.
    ThrownOut(ThrownOut),
    IncidentRaised {
        key: IncidentKey,
        element: ElementKey,
        job: Option<JobKey>,
        kind: IncidentKind,
        message: Arc<str>,
    },
    IncidentResolved {
        key: IncidentKey,
        element: ElementKey,
    },
    /// It goes on as an instance of another definition.
    Migrated(Box<Migrated>),
    /// All that listen to this were heard: it happens to the user task.
    Listened {
        element: ElementKey,
        task: WaitKey,
        event: ListenerEvent,
    },
    /// The instance ended.
    Ended {
        outcome: Outcome,
    },
    /// An operator has suspended the instance: it keeps its waits, and nothing happens to it.
    Suspended,
    /// It goes on where it was.
    Resumed,
}

/// The call activity that runs an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parent {
    pub instance: InstanceKey,
    pub element: ElementKey,
}

#[derive(Debug, Clone, PartialEq)]
pub struct MessageThrown {
    pub element: ElementKey,
    pub name: Arc<str>,
    pub correlation_key: Arc<str>,
    /// Empty for none.
    pub id: Arc<str>,
    /// How long it is kept, in milliseconds.
    pub time_to_live: i64,
    pub variables: Document,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ThrownOut {
    /// Where it was thrown.
    pub element: ElementKey,
    /// The job whose worker threw it.
    pub job: Option<JobKey>,
    pub what: Thrown,
    pub code: Arc<str>,
    pub message: Arc<str>,
    pub variables: Document,
}

/// What travels outwards until something catches it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thrown {
    Error,
    Escalation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    pub scope: ElementKey,
    pub gateway: ElementIx,
    pub flow: FlowIx,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Completed,
    Terminated,
}

/// Why an element is stuck.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IncidentKind {
    /// A mapping could not be evaluated.
    IoMapping,
    /// An expression gave no value, or one of the wrong kind.
    ExtractValue,
    /// No condition is true and there is no default flow.
    Condition,
    /// A job has no retries left.
    JobNoRetries,
    /// The job of an execution listener has no retries left.
    ExecutionListenerNoRetries,
    /// The job of a task listener has no retries left.
    TaskListenerNoRetries,
    /// An error was thrown and nothing catches it.
    UnhandledError,
    /// The instance went on for too long without ever waiting.
    LoopLimit,
    /// There is no such process.
    CalledElement,
    /// There is no such decision.
    CalledDecision,
    /// A decision could not be evaluated.
    DecisionEvaluation,
    /// There is no such form.
    FormNotFound,
    /// The job of an ad-hoc sub-process's worker has no retries left.
    AdHocNoRetries,
    /// A command of this instance was refused because of a fault that is not the process's own.
    Fault,
}
