use std::time::Duration;

use crate::Raw;

/// What a request came to, other than an answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server refused it.
    #[error("{message} ({code}, {status})")]
    Refused {
        /// That of HTTP, also over gRPC.
        status: u16,
        /// The word to branch on.
        code: String,
        /// The server's own words.
        message: String,
    },
    /// The server is away or busy: the same request may work later.
    #[error("{message}")]
    Unavailable {
        /// What happened.
        message: String,
        /// How long the server asks to wait.
        retry_after: Option<Duration>,
    },
    /// What was waited for did not happen in time.
    #[error("it is not over after {0:?}")]
    TimedOut(Duration),
    /// Something cannot be written or read as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A file cannot be read, a program not be run, or an address or a header not be used.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl Error {
    /// There is no such thing.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Error::Refused { status: 404, .. })
    }

    /// It is there, but in a state in which this cannot be done.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Error::Refused { status: 409, .. })
    }

    /// The same request may work later.
    pub fn is_unavailable(&self) -> bool {
        matches!(self, Error::Unavailable { .. })
    }

    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Error::Unavailable { retry_after, .. } => *retry_after,
            Error::Refused { .. } | Error::TimedOut(_) | Error::Json(_) | Error::Io(_) => None,
        }
    }

    /// What was given cannot be used, now or later.
    pub(crate) fn unusable(message: String) -> Error {
        std::io::Error::new(std::io::ErrorKind::InvalidInput, message).into()
    }
}

/// How a handler ends that does not complete its job. Any error becomes [`Failure::Retryable`] by `?`.
#[derive(Debug)]
pub enum Failure {
    /// Try again while retries are left; after this time, or when the model says.
    Retryable {
        /// For people.
        message: String,
        /// How long to wait.
        after: Option<Duration>,
    },
    /// Trying again cannot help, whatever retries are left.
    NonRetryable(String),
    /// An error that the BPMN process may catch.
    Bpmn {
        /// Its code in the model.
        code: String,
        /// For people.
        message: String,
        /// Variables that come with it.
        variables: Raw,
    },
    /// Not now: the job comes again after this time, and no retry is used up.
    Snooze(Duration),
}

impl Failure {
    /// Trying again cannot help.
    pub fn non_retryable(why: impl std::fmt::Display) -> Failure {
        Failure::NonRetryable(why.to_string())
    }

    /// An error for the BPMN process. With variables that cannot be written as a JSON object it is a failure that is not retried.
    pub fn bpmn(code: impl Into<String>, message: impl Into<String>, variables: &impl serde::Serialize) -> Failure {
        match crate::registry::object(variables) {
            Ok(variables) => Failure::Bpmn { code: code.into(), message: message.into(), variables },
            Err(failure) => failure,
        }
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::Retryable { message: error.to_string(), after: None }
    }
}
