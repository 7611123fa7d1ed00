//! What callers are told when they do not get what they asked for, decided once for both surfaces.

use store::log::{Code, Rejection};

use crate::document::DocumentError;
use crate::json::Malformed;

/// A request that was not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub reason: Reason,
    /// For the caller's eyes.
    pub detail: String,
}

/// Why, in the words clients branch on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The request cannot be read.
    Unreadable,
    InvalidArgument,
    NotFound,
    AlreadyExists,
    InvalidState,
    /// A bound was reached; the caller may try again.
    Exhausted,
    Unavailable,
    DeadlineExceeded,
    Internal,
    // what only HTTP knows
    /// A limit that somebody set for a queue was reached.
    TooMany,
    /// It is not there in the mode the server is in.
    Gone,
    Unauthorized,
    Forbidden,
    NoEndpoint,
    MethodNotAllowed,
    NotAcceptable,
    RequestTimeout,
    TooLarge,
    UnsupportedMediaType,
}

impl Failure {
    pub fn new(reason: Reason, detail: impl Into<String>) -> Self {
        Self { reason, detail: detail.into() }
    }

    pub fn unreadable(detail: impl Into<String>) -> Self {
        Self::new(Reason::Unreadable, detail)
    }

    pub fn invalid(detail: impl Into<String>) -> Self {
        Self::new(Reason::InvalidArgument, detail)
    }

    pub fn not_found(detail: impl Into<String>) -> Self {
        Self::new(Reason::NotFound, detail)
    }

    /// What the host said about a command. `intent` is the word for it that clients know: `CREATE`, `COMPLETE`.
    pub fn of_command(intent: &str, error: host::Error) -> Self {
        match error {
            host::Error::Rejected(rejection) => rejected(intent, &rejection),
            host::Error::Exhausted { .. } => Self::new(Reason::Exhausted, error.to_string()),
            host::Error::Unavailable { .. } => Self::new(Reason::Unavailable, error.to_string()),
            host::Error::Timeout => Self::new(Reason::DeadlineExceeded, format!("Command '{intent}': {error}")),
            host::Error::Internal { reason } => internal(&reason),
        }
    }
}

/// The command was understood and refused.
pub fn rejected(intent: &str, rejection: &Rejection) -> Failure {
    let reason = Reason::from(rejection.code);
    Failure::new(reason, format!("Command '{intent}' rejected with code '{}': {}", reason.title(), rejection.reason))
}

/// A fault of ours: the operator gets the detail, the caller does not.
fn internal(reason: &str) -> Failure {
    tracing::error!(reason, "a request failed by a fault of ours");
    Failure::new(Reason::Internal, "The server failed to handle the request; its log says why")
}

impl From<Code> for Reason {
    fn from(code: Code) -> Self {
        match code {
            Code::InvalidArgument => Self::InvalidArgument,
            Code::NotFound => Self::NotFound,
            Code::AlreadyExists => Self::AlreadyExists,
            Code::InvalidState => Self::InvalidState,
            Code::Exhausted => Self::Exhausted,
            Code::Expired => Self::Unavailable,
        }
    }
}

impl From<store::Error> for Failure {
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::Unavailable { .. } => Self::new(Reason::Unavailable, "The store is not available: try again"),
            store::Error::Full { .. } => Self::new(Reason::Exhausted, "The disk of the store is full: try again later"),
            store::Error::Exhausted { what } => Self::new(Reason::Exhausted, format!("{what} is full: try again later")),
            store::Error::ReadOnly { .. } => Self::new(Reason::Unavailable, "The store is read-only: try again later"),
            store::Error::TooSlow { limit } => Self::new(
                Reason::DeadlineExceeded,
                format!(
                    "The search takes longer than {} ms: narrow it by keys, a definition, a state or a time; \
                     or raise limits.search_timeout_millis in the server's configuration",
                    limit.as_millis()
                ),
            ),
            store::Error::SchemaTooNew { .. }
            | store::Error::InUse { .. }
            | store::Error::Incomplete { .. }
            | store::Error::Corrupt { .. } => internal(&error.to_string()),
        }
    }
}

impl From<Malformed> for Failure {
    fn from(malformed: Malformed) -> Self {
        Self::unreadable(format!("Failed to read request: {malformed}"))
    }
}

impl From<DocumentError> for Failure {
    fn from(error: DocumentError) -> Self {
        match error {
            DocumentError::Malformed(malformed) => malformed.into(),
            DocumentError::NotAnObject => Self::unreadable(error.to_string()),
            DocumentError::TooMany { .. } | DocumentError::TooLong { .. } => Self::invalid(error.to_string()),
        }
    }
}

impl Reason {
    pub fn http_status(self) -> u16 {
        match self {
            Self::Unreadable | Self::InvalidArgument => 400,
            Self::Unauthorized => 401,
            Self::Forbidden => 403,
            Self::NotFound | Self::NoEndpoint => 404,
            Self::MethodNotAllowed => 405,
            Self::NotAcceptable => 406,
            Self::RequestTimeout => 408,
            Self::AlreadyExists | Self::InvalidState => 409,
            Self::Gone => 410,
            Self::TooLarge => 413,
            Self::UnsupportedMediaType => 415,
            Self::Internal => 500,
            Self::Exhausted | Self::Unavailable => 503,
            Self::TooMany => 429,
            Self::DeadlineExceeded => 504,
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Unreadable => "Bad Request",
            Self::InvalidArgument => "INVALID_ARGUMENT",
            Self::Unauthorized => "UNAUTHORIZED",
            Self::Forbidden => "FORBIDDEN",
            Self::NotFound => "NOT_FOUND",
            Self::NoEndpoint => "Not Found",
            Self::MethodNotAllowed => "Method Not Allowed",
            Self::NotAcceptable => "Not Acceptable",
            Self::RequestTimeout => "Request Timeout",
            Self::AlreadyExists => "ALREADY_EXISTS",
            Self::InvalidState => "INVALID_STATE",
            Self::Gone => "Gone",
            Self::TooLarge => "Content Too Large",
            Self::UnsupportedMediaType => "Unsupported Media Type",
            Self::Internal => "INTERNAL",
            Self::Exhausted | Self::TooMany => "RESOURCE_EXHAUSTED",
            Self::Unavailable => "UNAVAILABLE",
            Self::DeadlineExceeded => "DEADLINE_EXCEEDED",
        }
    }

    pub fn grpc_code(self) -> tonic::Code {
        match self {
            Self::Unreadable | Self::InvalidArgument | Self::NotAcceptable | Self::UnsupportedMediaType => {
                tonic::Code::InvalidArgument
            }
            Self::Unauthorized => tonic::Code::Unauthenticated,
            Self::Forbidden => tonic::Code::PermissionDenied,
            Self::NotFound => tonic::Code::NotFound,
            Self::NoEndpoint | Self::MethodNotAllowed => tonic::Code::Unimplemented,
            Self::AlreadyExists => tonic::Code::AlreadyExists,
            Self::InvalidState | Self::Gone => tonic::Code::FailedPrecondition,
            Self::TooLarge | Self::Exhausted | Self::TooMany => tonic::Code::ResourceExhausted,
            Self::Unavailable => tonic::Code::Unavailable,
            Self::RequestTimeout | Self::DeadlineExceeded => tonic::Code::DeadlineExceeded,
            Self::Internal => tonic::Code::Internal,
        }
    }
}

impl From<Failure> for tonic::Status {
    fn from(failure: Failure) -> Self {
        Self::new(failure.reason.grpc_code(), failure.detail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejection_names_the_command_and_the_code() {
        let rejection = Rejection { code: Code::InvalidState, reason: "it is in state 'FAILED'".into() };
        let failure = Failure::of_command("COMPLETE", host::Error::Rejected(rejection));
        assert_eq!(failure.detail, "Command 'COMPLETE' rejected with code 'INVALID_STATE': it is in state 'FAILED'");
        assert_eq!((failure.reason.http_status(), failure.reason.title()), (409, "INVALID_STATE"));
        assert_eq!(tonic::Status::from(failure).code(), tonic::Code::FailedPrecondition);
    }

    #[test]
    fn a_full_inbox_can_be_retried() {
        let failure = Failure::of_command("CREATE", host::Error::Exhausted { what: "the inbox" });
        assert_eq!((failure.reason.http_status(), failure.reason.title()), (503, "RESOURCE_EXHAUSTED"));
        assert_eq!(failure.reason.grpc_code(), tonic::Code::ResourceExhausted);
    }

    #[test]
    fn a_search_that_takes_too_long_says_what_to_do() {
        let failure = Failure::from(store::Error::TooSlow { limit: std::time::Duration::from_secs(10) });
        assert_eq!((failure.reason.http_status(), failure.reason.title()), (504, "DEADLINE_EXCEEDED"));
        assert!(failure.detail.contains("10000 ms: narrow it"), "{}", failure.detail);
    }

    #[test]
    fn a_full_disk_is_named_to_those_who_write_and_those_who_read() {
        let of_command = Failure::of_command("CREATE", host::Error::Exhausted { what: "the disk of the store" });
        let of_read = Failure::from(store::Error::Full { reason: "/secret/place: no space left on device".into() });
        for failure in [of_command, of_read] {
            assert_eq!((failure.reason.http_status(), failure.reason.title()), (503, "RESOURCE_EXHAUSTED"));
            let status = tonic::Status::from(failure);
            assert_eq!(status.code(), tonic::Code::ResourceExhausted);
            assert!(status.message().to_lowercase().starts_with("the disk of the store is full"), "{}", status.message());
            assert!(!status.message().contains("secret"));
        }
    }

    #[test]
    fn faults_of_ours_leak_nothing() {
        let failure = Failure::of_command("CREATE", host::Error::Internal { reason: "secret".into() });
        assert!(!failure.detail.contains("secret"));
    }
}
