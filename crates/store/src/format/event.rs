//! Events and tokens. Numbers of variants are part of the format: new ones are added, none is given twice.

use std::sync::Arc;

use engine::{
    Compensation, ElementKey, Event, IncidentKind, MessageThrown, Migrated, On, Opened, Outcome, Parent, Progress, Recaught,
    Rejoined, Thrown, ThrownOut, Token, Turn, UserTask, VariableKey, WaitEnd, WaitKey, Waited,
};
use model::{ListenerEvent, TimerKind};
use schedule::Occurrence;

use super::EVENT_VALUE_MAX;
use super::bytes::{Reader, Stored, Writer, record, unknown};
use crate::Error;
use crate::row::{Attributes, Transition};

record!(Token { scope, gateway, flow });

impl Stored for Turn {
    fn put(&self, to: &mut Writer) {
        to.framed(|to| {
            self.work.put(to);
            self.entered.put(to);
            if !self.entered_by.is_empty() {
                self.entered_by.put(to);
            }
        });
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        from.framed(|from| {
            let (work, entered) = (Stored::take(from)?, Stored::take(from)?);
            Ok(Self { work, entered, entered_by: from.added()?.unwrap_or_default() })
        })
    }
}

record!(Occurrence { armed, number, at });
record!(Parent { instance, element });
record!(MessageThrown { element, name, correlation_key, id, time_to_live, variables });
record!(UserTask { assignee, candidate_groups, candidate_users, due, follow_up, priority, form, external_form });
record!(ThrownOut { element, job, what, code, message, variables });
record!(Progress { total, started, completed, terminated });
record!(Compensation { key, activity });
record!(Migrated { definition, elements, catches, tokens, compensations });
record!(Recaught { element, wait, catch });
record!(Rejoined { from, to, count });
record!(Transition { event, action, after });
record!(Attributes { assignee, candidate_groups, candidate_users, due, follow_up, priority });

/// An event as it was written, maybe without the value of a variable.
pub(super) enum Recorded {
    Whole(Event),
    Created { key: VariableKey, scope: ElementKey, name: Arc<str> },
    Updated { key: VariableKey, scope: ElementKey, name: Arc<str> },
}

impl Recorded {
    pub(super) fn whole(self, kept: impl Fn(VariableKey) -> Option<Arc<str>>) -> Result<Event, Error> {
        let value = |key| kept(key).ok_or_else(|| Error::corrupt(format_args!("the value of variable {key} is in no row")));
        Ok(match self {
            Self::Whole(event) => event,
            Self::Created { key, scope, name } => Event::VariableCreated { key, scope, name, value: value(key)? },
            Self::Updated { key, scope, name } => Event::VariableUpdated { key, scope, name, value: value(key)? },
        })
    }
}

impl Stored for Event {
    fn put(&self, to: &mut Writer) {
        to.framed(|to| {
            to.byte(number(self));
            put_body(self, to);
        });
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        Recorded::take(from)?.whole(|_| None)
    }
}

fn put_body(event: &Event, to: &mut Writer) {
    match event {
        Event::Started { instance, definition, parent } => {
            instance.put(to);
            definition.put(to);
            if let Some(parent) = parent {
                parent.put(to);
            }
        }
        Event::Entered { key, element, scope } => {
            key.put(to);
            element.put(to);
            scope.put(to);
        }
        Event::Activated { key } | Event::Leaving { key } | Event::Left { key } | Event::Dropped { key } => key.put(to),
        Event::TokenArrived(token) | Event::TokenDropped(token) => token.put(to),
        Event::TokensTaken { scope, gateway } => {
            scope.put(to);
            gateway.put(to);
        }
        Event::VariableCreated { key, scope, name, value } | Event::VariableUpdated { key, scope, name, value } => {
            key.put(to);
            scope.put(to);
            name.put(to);
            if value.len() <= EVENT_VALUE_MAX {
                value.put(to);
            }
        }
        Event::WaitOpened(Opened { key, element, catch, on }) => {
            key.put(to);
            element.put(to);
            catch.put(to);
            on.put(to);
        }
        Event::WaitClosed { key, element, on, end } => {
            key.put(to);
            element.put(to);
            end.put(to);
            on.put(to);
        }
        Event::IncidentRaised { key, element, job, kind, message } => {
            key.put(to);
            element.put(to);
            job.put(to);
            kind.put(to);
            message.put(to);
        }
        Event::IncidentResolved { key, element } => {
            key.put(to);
            element.put(to);
        }
        Event::Ended { outcome } => outcome.put(to),
        Event::Suspended | Event::Resumed => {}
        Event::DecisionCalled { .. }
        | Event::FormSought { .. }
        | Event::Called { .. }
        | Event::MessageThrown(_)
        | Event::SignalThrown { .. }
        | Event::ThrownOut(_)
        | Event::Progressed { .. }
        | Event::CompensationKept { .. }
        | Event::CompensationsHandedOn { .. }
        | Event::CompensationTaken { .. }
        | Event::Migrated(_)
        | Event::Listened { .. } => put_asked(event, to),
    }
}

/// What an element asks of others, how far it has come, and what it can undo.
fn put_asked(event: &Event, to: &mut Writer) {
    match event {
        Event::DecisionCalled { element, decision: id }
        | Event::FormSought { element, form: id }
        | Event::Called { element, process: id } => {
            element.put(to);
            id.put(to);
        }
        Event::MessageThrown(thrown) => thrown.put(to),
        Event::SignalThrown { key, element, name, variables } => {
            element.put(to);
            name.put(to);
            variables.put(to);
            key.put(to);
        }
        Event::ThrownOut(thrown) => thrown.put(to),
        Event::Progressed { key, progress } => {
            key.put(to);
            progress.put(to);
        }
        Event::CompensationKept { scope, compensation } => {
            scope.put(to);
            compensation.put(to);
        }
        Event::CompensationsHandedOn { from, to: scope, compensations } => {
            from.put(to);
            scope.put(to);
            compensations.put(to);
        }
        Event::CompensationTaken { key, scope } => {
            key.put(to);
            scope.put(to);
        }
        Event::Migrated(migrated) => migrated.put(to),
        Event::Listened { element, task, event } => {
            element.put(to);
            task.put(to);
            event.put(to);
        }
        // Those that [`put_body`] writes itself.
        Event::Started { .. }
        | Event::Entered { .. }
        | Event::Activated { .. }
        | Event::Leaving { .. }
        | Event::Left { .. }
        | Event::Dropped { .. }
        | Event::TokenArrived(_)
        | Event::TokensTaken { .. }
        | Event::TokenDropped(_)
        | Event::VariableCreated { .. }
        | Event::VariableUpdated { .. }
        | Event::WaitOpened(_)
        | Event::WaitClosed { .. }
        | Event::IncidentRaised { .. }
        | Event::IncidentResolved { .. }
        | Event::Suspended
        | Event::Resumed
        | Event::Ended { .. } => {}
    }
}

impl Stored for Recorded {
    fn put(&self, to: &mut Writer) {
        if let Self::Whole(event) = self {
            event.put(to);
        }
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        from.framed(|from| {
            let tag = from.byte()?;
            Ok(match tag {
                17 => Self::Created { key: Stored::take(from)?, scope: Stored::take(from)?, name: Stored::take(from)? },
                18 => Self::Updated { key: Stored::take(from)?, scope: Stored::take(from)?, name: Stored::take(from)? },
                _ => Self::Whole(take_body(tag, from)?),
            })
        })
    }
}

fn take_body(tag: u8, from: &mut Reader<'_>) -> Result<Event, Error> {
    Ok(match tag {
        0 => Event::Started { instance: Stored::take(from)?, definition: Stored::take(from)?, parent: from.added()? },
        1 => Event::Entered { key: Stored::take(from)?, element: Stored::take(from)?, scope: Stored::take(from)? },
        2 => Event::Activated { key: Stored::take(from)? },
        3 => Event::Leaving { key: Stored::take(from)? },
        4 => Event::Left { key: Stored::take(from)? },
        5 => Event::Dropped { key: Stored::take(from)? },
        6 => Event::TokenArrived(Stored::take(from)?),
        7 => Event::TokensTaken { scope: Stored::take(from)?, gateway: Stored::take(from)? },
        8 => Event::TokenDropped(Stored::take(from)?),
        9 => Event::VariableCreated {
            key: Stored::take(from)?,
            scope: Stored::take(from)?,
            name: Stored::take(from)?,
            value: Stored::take(from)?,
        },
        10 => Event::VariableUpdated {
            key: Stored::take(from)?,
            scope: Stored::take(from)?,
            name: Stored::take(from)?,
            value: Stored::take(from)?,
        },
        11 => take_job_opened(from)?,
        12 => {
            let (key, element, end) = (Stored::take(from)?, Stored::take(from)?, Stored::take(from)?);
            Event::WaitClosed { key, element, end, on: from.added()?.unwrap_or(Waited::Job) }
        }
        13 => Event::IncidentRaised {
            key: Stored::take(from)?,
            element: Stored::take(from)?,
            job: Stored::take(from)?,
            kind: Stored::take(from)?,
            message: Stored::take(from)?,
        },
        14 => Event::IncidentResolved { key: Stored::take(from)?, element: Stored::take(from)? },
        15 => Event::Ended { outcome: Stored::take(from)? },
        16 => Event::DecisionCalled { element: Stored::take(from)?, decision: Stored::take(from)? },
        19 => Event::WaitOpened(Opened {
            key: Stored::take(from)?,
            element: Stored::take(from)?,
            catch: Stored::take(from)?,
            on: Stored::take(from)?,
        }),
        20 => Event::Called { element: Stored::take(from)?, process: Stored::take(from)? },
        21 => Event::MessageThrown(Stored::take(from)?),
        22 => {
            let (element, name, variables) = (Stored::take(from)?, Stored::take(from)?, Stored::take(from)?);
            Event::SignalThrown { key: Stored::take(from)?, element, name, variables }
        }
        23 => Event::ThrownOut(Stored::take(from)?),
        35 => Event::Listened { element: Stored::take(from)?, task: Stored::take(from)?, event: Stored::take(from)? },
        40 => Event::Progressed { key: Stored::take(from)?, progress: Stored::take(from)? },
        41 => Event::CompensationKept { scope: Stored::take(from)?, compensation: Stored::take(from)? },
        42 => Event::CompensationsHandedOn {
            from: Stored::take(from)?,
            to: Stored::take(from)?,
            compensations: Stored::take(from)?,
        },
        43 => Event::CompensationTaken { key: Stored::take(from)?, scope: Stored::take(from)? },
        60 => Event::FormSought { element: Stored::take(from)?, form: Stored::take(from)? },
        44 => Event::Migrated(Box::new(Stored::take(from)?)),
        45 => Event::Suspended,
        46 => Event::Resumed,
        tag => return Err(unknown("event", tag)),
    })
}

/// As it was written while jobs were the only waits.
fn take_job_opened(from: &mut Reader<'_>) -> Result<Event, Error> {
    let (key, element): (WaitKey, ElementKey) = (Stored::take(from)?, Stored::take(from)?);
    let on = On::Job { job_type: Stored::take(from)?, retries: Stored::take(from)?, headers: None, listener: None };
    Ok(Event::WaitOpened(Opened { key, element, catch: None, on }))
}

fn number(event: &Event) -> u8 {
    match event {
        Event::Started { .. } => 0,
        Event::Entered { .. } => 1,
        Event::Activated { .. } => 2,
        Event::Leaving { .. } => 3,
        Event::Left { .. } => 4,
        Event::Dropped { .. } => 5,
        Event::TokenArrived(_) => 6,
        Event::TokensTaken { .. } => 7,
        Event::TokenDropped(_) => 8,
        Event::VariableCreated { value, .. } if EVENT_VALUE_MAX < value.len() => 17,
        Event::VariableUpdated { value, .. } if EVENT_VALUE_MAX < value.len() => 18,
        Event::VariableCreated { .. } => 9,
        Event::VariableUpdated { .. } => 10,
        Event::WaitOpened(_) => 19,
        Event::WaitClosed { .. } => 12,
        Event::IncidentRaised { .. } => 13,
        Event::IncidentResolved { .. } => 14,
        Event::Ended { .. } => 15,
        Event::DecisionCalled { .. } => 16,
        Event::Called { .. } => 20,
        Event::MessageThrown(_) => 21,
        Event::SignalThrown { .. } => 22,
        Event::ThrownOut(_) => 23,
        Event::Listened { .. } => 35,
        Event::Progressed { .. } => 40,
        Event::CompensationKept { .. } => 41,
        Event::CompensationsHandedOn { .. } => 42,
        Event::CompensationTaken { .. } => 43,
        Event::Migrated(_) => 44,
        Event::Suspended => 45,
        Event::Resumed => 46,
        Event::FormSought { .. } => 60,
    }
}

impl Stored for On {
    fn put(&self, to: &mut Writer) {
        to.framed(|to| match self {
            Self::Job { job_type, retries, headers, listener: None } => {
                to.byte(0);
                job_type.put(to);
                retries.put(to);
                if let Some(headers) = headers {
                    headers.put(to);
                }
            }
            Self::Job { job_type, retries, headers, listener: Some(event) } => {
                to.byte(35);
                event.put(to);
                job_type.put(to);
                retries.put(to);
                headers.put(to);
            }
            Self::Turn(turn) => {
                to.byte(1);
                turn.put(to);
            }
            Self::Timer { kind, text, at } => {
                to.byte(2);
                kind.put(to);
                text.put(to);
                at.put(to);
            }
            Self::Message { name, correlation_key } => {
                to.byte(3);
                name.put(to);
                correlation_key.put(to);
            }
            Self::Signal { name } => {
                to.byte(4);
                name.put(to);
            }
            Self::Condition => to.byte(5),
            Self::Child { instance } => {
                to.byte(6);
                instance.put(to);
            }
            Self::UserTask(task) => {
                to.byte(60);
                task.put(to);
            }
        });
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        from.framed(|from| match from.byte()? {
            0 => Ok(Self::Job {
                job_type: Stored::take(from)?,
                retries: Stored::take(from)?,
                headers: from.added()?,
                listener: None,
            }),
            35 => {
                let listener = Some(Stored::take(from)?);
                Ok(Self::Job {
                    job_type: Stored::take(from)?,
                    retries: Stored::take(from)?,
                    headers: Stored::take(from)?,
                    listener,
                })
            }
            1 => Ok(Self::Turn(Stored::take(from)?)),
            2 => Ok(Self::Timer { kind: Stored::take(from)?, text: Stored::take(from)?, at: Stored::take(from)? }),
            3 => Ok(Self::Message { name: Stored::take(from)?, correlation_key: Stored::take(from)? }),
            4 => Ok(Self::Signal { name: Stored::take(from)? }),
            5 => Ok(Self::Condition),
            6 => Ok(Self::Child { instance: Stored::take(from)? }),
            60 => Ok(Self::UserTask(Box::new(Stored::take(from)?))),
            tag => Err(unknown("thing to wait for", tag)),
        })
    }
}

impl Stored for Waited {
    fn put(&self, to: &mut Writer) {
        to.framed(|to| match self {
            Self::Job => to.byte(0),
            Self::Turn => to.byte(1),
            Self::Timer => to.byte(2),
            Self::Message => to.byte(3),
            Self::Signal => to.byte(4),
            Self::Condition => to.byte(5),
            Self::Child { instance } => {
                to.byte(6);
                instance.put(to);
            }
            Self::UserTask => to.byte(60),
        });
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        from.framed(|from| match from.byte()? {
            0 => Ok(Self::Job),
            1 => Ok(Self::Turn),
            2 => Ok(Self::Timer),
            3 => Ok(Self::Message),
            4 => Ok(Self::Signal),
            5 => Ok(Self::Condition),
            6 => Ok(Self::Child { instance: Stored::take(from)? }),
            60 => Ok(Self::UserTask),
            tag => Err(unknown("thing waited for", tag)),
        })
    }
}

impl Stored for TimerKind {
    fn put(&self, to: &mut Writer) {
        to.byte(match self {
            Self::Date => 0,
            Self::Duration => 1,
            Self::Cycle => 2,
        });
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        match from.byte()? {
            0 => Ok(Self::Date),
            1 => Ok(Self::Duration),
            2 => Ok(Self::Cycle),
            tag => Err(unknown("kind of timer", tag)),
        }
    }
}

impl Stored for ListenerEvent {
    fn put(&self, to: &mut Writer) {
        to.byte(match self {
            Self::Start => 1,
            Self::End => 2,
            Self::Creating => 3,
            Self::Assigning => 4,
            Self::Updating => 5,
            Self::Completing => 6,
            Self::Canceling => 7,
        });
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        match from.byte()? {
            1 => Ok(Self::Start),
            2 => Ok(Self::End),
            3 => Ok(Self::Creating),
            4 => Ok(Self::Assigning),
            5 => Ok(Self::Updating),
            6 => Ok(Self::Completing),
            7 => Ok(Self::Canceling),
            tag => Err(unknown("moment to listen to", tag)),
        }
    }
}

impl Stored for Thrown {
    fn put(&self, to: &mut Writer) {
        to.byte(match self {
            Self::Error => 0,
            Self::Escalation => 1,
        });
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        match from.byte()? {
            0 => Ok(Self::Error),
            1 => Ok(Self::Escalation),
            tag => Err(unknown("thing thrown", tag)),
        }
    }
}

impl Stored for WaitEnd {
    fn put(&self, to: &mut Writer) {
        to.byte(match self {
            Self::Completed => 0,
            Self::Cancelled => 1,
            Self::ErrorThrown => 2,
        });
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        match from.byte()? {
            0 => Ok(Self::Completed),
            1 => Ok(Self::Cancelled),
            2 => Ok(Self::ErrorThrown),
            tag => Err(unknown("end of a wait", tag)),
        }
    }
}

impl Stored for Outcome {
    fn put(&self, to: &mut Writer) {
        to.byte(match self {
            Self::Completed => 0,
            Self::Terminated => 1,
        });
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        match from.byte()? {
            0 => Ok(Self::Completed),
            1 => Ok(Self::Terminated),
            tag => Err(unknown("outcome", tag)),
        }
    }
}

impl Stored for IncidentKind {
    fn put(&self, to: &mut Writer) {
        to.byte(match self {
            Self::IoMapping => 0,
            Self::ExtractValue => 1,
            Self::Condition => 2,
            Self::JobNoRetries => 3,
            Self::UnhandledError => 4,
            Self::LoopLimit => 5,
            Self::CalledDecision => 6,
            Self::DecisionEvaluation => 7,
            Self::Fault => 8,
            Self::CalledElement => 9,
            Self::ExecutionListenerNoRetries => 35,
            Self::TaskListenerNoRetries => 36,
            Self::FormNotFound => 60,
            Self::AdHocNoRetries => 25,
        });
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        match from.byte()? {
            0 => Ok(Self::IoMapping),
            1 => Ok(Self::ExtractValue),
            2 => Ok(Self::Condition),
            3 => Ok(Self::JobNoRetries),
            4 => Ok(Self::UnhandledError),
            5 => Ok(Self::LoopLimit),
            6 => Ok(Self::CalledDecision),
            7 => Ok(Self::DecisionEvaluation),
            8 => Ok(Self::Fault),
            9 => Ok(Self::CalledElement),
            35 => Ok(Self::ExecutionListenerNoRetries),
            36 => Ok(Self::TaskListenerNoRetries),
            60 => Ok(Self::FormNotFound),
            25 => Ok(Self::AdHocNoRetries),
            tag => Err(unknown("kind of incident", tag)),
        }
    }
}
