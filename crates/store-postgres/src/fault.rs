//! Whose fault an error of the driver is: the database's state of the moment, or something that should never be.

use store::Error;
use tokio_postgres::error::SqlState;

/// What the driver reports, in our words, with the database's own code for those few who ask for it.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) error: Error,
    pub(crate) code: Option<SqlState>,
}

impl Fault {
    pub(crate) fn unavailable(reason: &str) -> Self {
        Self { error: Error::unavailable(reason), code: None }
    }

    pub(crate) fn passes(&self) -> bool {
        self.error.passes()
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        fault.error
    }
}

impl From<tokio_postgres::Error> for Fault {
    fn from(cause: tokio_postgres::Error) -> Self {
        let error = match cause.as_db_error() {
            Some(refused) if passes_by(refused.code()) => {
                let reason = format!("{} ({})", refused.message(), refused.code().code());
                match *refused.code() {
                    SqlState::DISK_FULL => Error::full(reason),
                    SqlState::READ_ONLY_SQL_TRANSACTION => Error::read_only(reason),
                    SqlState::INSUFFICIENT_PRIVILEGE => Error::unavailable(format_args!(
                        "{reason}; the user of the URL has to own the database, or a schema in it that comes first on its search path"
                    )),
                    _ => Error::unavailable(reason),
                }
            }
            Some(refused) => Error::corrupt(format!(
                "PostgreSQL refused a statement: {} ({}){}",
                refused.message(),
                refused.code().code(),
                refused.detail().map(|detail| format!(": {detail}")).unwrap_or_default(),
            )),
            None => Error::unavailable(with_causes(&cause)),
        };
        Self { error, code: cause.code().cloned() }
    }
}

/// Conditions that end by themselves or by an operator's hand, after which the same call succeeds.
fn passes_by(code: &SqlState) -> bool {
    const CLASSES: [&str; 7] = [
        "08", // connection exceptions
        "28", // refused to log in: passwords get rotated
        "40", // rolled back: deadlock, serialization
        "53", // disk full, out of memory, too many connections
        "55", // locked, in use
        "57", // cancelled, shut down, starting up
        "58", // the system beneath: I/O errors
    ];
    let read_only = *code == SqlState::READ_ONLY_SQL_TRANSACTION;
    let idle_in_transaction = *code == SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT;
    let no_such_database = *code == SqlState::INVALID_CATALOG_NAME;
    let not_allowed = *code == SqlState::INSUFFICIENT_PRIVILEGE;
    read_only
        || idle_in_transaction
        || no_such_database
        || not_allowed
        || CLASSES.iter().any(|class| code.code().starts_with(class))
}

/// The driver's own words are general; what really happened is in the causes.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_by_can_be_retried() {
        for code in [
            SqlState::DISK_FULL,
            SqlState::READ_ONLY_SQL_TRANSACTION,
            SqlState::ADMIN_SHUTDOWN,
            SqlState::CANNOT_CONNECT_NOW,
            SqlState::IO_ERROR,
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::QUERY_CANCELED,
            SqlState::INSUFFICIENT_PRIVILEGE,
        ] {
            assert!(passes_by(&code), "{code:?}");
        }
        for code in [SqlState::UNIQUE_VIOLATION, SqlState::UNDEFINED_TABLE, SqlState::SYNTAX_ERROR] {
            assert!(!passes_by(&code), "{code:?}");
        }
    }
}
