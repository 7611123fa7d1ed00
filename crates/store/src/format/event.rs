//! Events and tokens. Numbers of variants are part of the format: new ones are added, none is given twice.

use engine::{Event, IncidentKind, JobEnd, Opened, Outcome, Token};

use super::bytes::{Reader, Stored, Writer, record, unknown};
use crate::Error;

record!(Token { scope, gateway, flow });
record!(Opened { key, element, job_type, retries });

impl Stored for Event {
    fn put(&self, to: &mut Writer) {
        to.byte(number(self));
        match self {
            Self::Started { instance, definition } => {
                instance.put(to);
                definition.put(to);
            }
            Self::Entered { key, element, scope } => {
                key.put(to);
                element.put(to);
                scope.put(to);
            }
            Self::Activated { key } | Self::Leaving { key } | Self::Left { key } | Self::Dropped { key } => key.put(to),
            Self::TokenArrived(token) | Self::TokenDropped(token) => token.put(to),
            Self::TokensTaken { scope, gateway } => {
                scope.put(to);
                gateway.put(to);
            }
            Self::VariableCreated { key, scope, name, value } | Self::VariableUpdated { key, scope, name, value } => {
                key.put(to);
                scope.put(to);
                name.put(to);
                value.put(to);
            }
            Self::JobOpened(opened) => opened.put(to),
            Self::JobClosed { key, element, end } => {
                key.put(to);
                element.put(to);
                end.put(to);
            }
            Self::IncidentRaised { key, element, job, kind, message } => {
                key.put(to);
                element.put(to);
                job.put(to);
                kind.put(to);
                message.put(to);
            }
            Self::IncidentResolved { key, element } => {
                key.put(to);
                element.put(to);
            }
            Self::Ended { outcome } => outcome.put(to),
            Self::DecisionCalled { element, decision } => {
                element.put(to);
                decision.put(to);
            }
        }
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, Error> {
        Ok(match from.byte()? {
            0 => Self::Started { instance: Stored::take(from)?, definition: Stored::take(from)? },
            1 => Self::Entered { key: Stored::take(from)?, element: Stored::take(from)?, scope: Stored::take(from)? },
            2 => Self::Activated { key: Stored::take(from)? },
            3 => Self::Leaving { key: Stored::take(from)? },
            4 => Self::Left { key: Stored::take(from)? },
            5 => Self::Dropped { key: Stored::take(from)? },
            6 => Self::TokenArrived(Stored::take(from)?),
            7 => Self::TokensTaken { scope: Stored::take(from)?, gateway: Stored::take(from)? },
            8 => Self::TokenDropped(Stored::take(from)?),
            9 => Self::VariableCreated {
                key: Stored::take(from)?,
                scope: Stored::take(from)?,
                name: Stored::take(from)?,
                value: Stored::take(from)?,
            },
            10 => Self::VariableUpdated {
                key: Stored::take(from)?,
                scope: Stored::take(from)?,
                name: Stored::take(from)?,
                value: Stored::take(from)?,
            },
            11 => Self::JobOpened(Stored::take(from)?),
            12 => Self::JobClosed { key: Stored::take(from)?, element: Stored::take(from)?, end: Stored::take(from)? },
            13 => Self::IncidentRaised {
                key: Stored::take(from)?,
                element: Stored::take(from)?,
                job: Stored::take(from)?,
                kind: Stored::take(from)?,
                message: Stored::take(from)?,
            },
            14 => Self::IncidentResolved { key: Stored::take(from)?, element: Stored::take(from)? },
            15 => Self::Ended { outcome: Stored::take(from)? },
            16 => Self::DecisionCalled { element: Stored::take(from)?, decision: Stored::take(from)? },
            tag => return Err(unknown("event", tag)),
        })
    }
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
        Event::VariableCreated { .. } => 9,
        Event::VariableUpdated { .. } => 10,
        Event::JobOpened(_) => 11,
        Event::JobClosed { .. } => 12,
        Event::IncidentRaised { .. } => 13,
        Event::IncidentResolved { .. } => 14,
        Event::Ended { .. } => 15,
        Event::DecisionCalled { .. } => 16,
    }
}

impl Stored for JobEnd {
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
            tag => Err(unknown("end of a job", tag)),
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
            tag => Err(unknown("kind of incident", tag)),
        }
    }
}
