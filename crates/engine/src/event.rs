//! What may happen to an instance. The one list that is stored, shown and tested.

use std::sync::Arc;

use model::{ElementIx, FlowIx};

use crate::{
    Compensation, CompensationKey, DefinitionKey, ElementKey, IncidentKey, InstanceKey, JobKey, Opened, Progress, VariableKey,
    WaitEnd, WaitKey,
};

#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The instance began; its outermost element instance has the same key.
    Started {
        instance: InstanceKey,
        definition: DefinitionKey,
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
    },
    /// It is being undone, and will not be again.
    CompensationBegun {
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
        end: WaitEnd,
    },
    /// An element needs a decision before it can go on; the host answers in the same command.
    DecisionCalled {
        element: ElementKey,
        /// The id of the decision.
        decision: Arc<str>,
    },
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
    /// The instance ended.
    Ended {
        outcome: Outcome,
    },
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
    /// An error was thrown and nothing catches it.
    UnhandledError,
    /// The instance went on for too long without ever waiting.
    LoopLimit,
    /// There is no such decision.
    CalledDecision,
    /// A decision could not be evaluated.
    DecisionEvaluation,
    /// A command of this instance was refused because of a fault that is not the process's own.
    Fault,
}
