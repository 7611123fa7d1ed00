//! What went wrong inside, and how that looks from outside.

use rusqlite::ErrorCode;
use store::Error;

/// Either SQLite failed or what it gave made no sense.
#[derive(Debug)]
pub(crate) enum Failure {
    Sql(rusqlite::Error),
    Store(Error),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Sql(error) => from_sql(&error),
            Failure::Store(error) => error,
        }
    }
}

fn from_sql(error: &rusqlite::Error) -> Error {
    let Some(code) = error.sqlite_error_code() else {
        // A column of another type than expected, or a statement that gives more or fewer columns.
        return Error::corrupt(error);
    };
    match code {
        ErrorCode::DiskFull => Error::full(error),
        ErrorCode::ReadOnly => Error::read_only(error),
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            Error::unavailable("the database file is locked by another program")
        }
        ErrorCode::CannotOpen | ErrorCode::PermissionDenied => {
            Error::unavailable(format_args!("the database file cannot be opened: {error}"))
        }
        ErrorCode::SystemIoFailure => Error::unavailable(format_args!("the disk fails: {error}")),
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::ConstraintViolation => Error::corrupt(error),
        _ => Error::unavailable(error),
    }
}
