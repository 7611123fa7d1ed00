//! Answers, column by column in the order of the SELECT list.

use std::sync::Arc;

use store::Error;
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

/// Reads a row from left to right. What does not fit the type asked for is a bug or a damaged database.
pub(crate) struct Reading<'a> {
    row: &'a Row,
    column: usize,
}

impl<'a> Reading<'a> {
    pub(crate) fn of(row: &'a Row) -> Self {
        Self { row, column: 0 }
    }

    pub(crate) fn get<T: FromSql<'a>>(&mut self) -> Result<T, Error> {
        let value = cell(self.row, self.column);
        self.column += 1;
        value
    }

    /// Passes over that many columns.
    pub(crate) fn skip(&mut self, columns: usize) {
        self.column += columns;
    }

    pub(crate) fn key(&mut self) -> Result<u64, Error> {
        Ok(self.get::<i64>()? as u64)
    }

    pub(crate) fn key_maybe(&mut self) -> Result<Option<u64>, Error> {
        Ok(self.get::<Option<i64>>()?.map(|key| key as u64))
    }

    pub(crate) fn text(&mut self) -> Result<Arc<str>, Error> {
        Ok(self.get::<&str>()?.into())
    }

    pub(crate) fn text_maybe(&mut self) -> Result<Option<Arc<str>>, Error> {
        Ok(self.get::<Option<&str>>()?.map(Arc::from))
    }
}

pub(crate) fn cell<'a, T: FromSql<'a>>(row: &'a Row, column: usize) -> Result<T, Error> {
    row.try_get(column).map_err(|cause| Error::corrupt(crate::fault::with_causes(&cause)))
}

/// The first row of an answer that always has one.
pub(crate) fn only(rows: &[Row]) -> Result<Reading<'_>, Error> {
    rows.first().map(Reading::of).ok_or_else(|| Error::corrupt("PostgreSQL gave no row where there is always one"))
}
