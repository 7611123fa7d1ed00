//! One row of a search, cell by cell.

use super::Cells;
use crate::Error;
use crate::query::{Scalar, ScalarKind};

/// Reads cells from left to right.
pub(super) struct Row<'a, C> {
    pub(super) cells: &'a C,
    pub(super) column: usize,
}

impl<C: Cells> Row<'_, C> {
    fn next(&mut self) -> usize {
        self.column += 1;
        self.column - 1
    }

    pub(super) fn int_maybe(&mut self) -> Result<Option<i64>, Error> {
        let column = self.next();
        self.cells.int(column)
    }

    pub(super) fn text_maybe(&mut self) -> Result<Option<String>, Error> {
        let column = self.next();
        self.cells.text(column)
    }

    pub(super) fn bool_maybe(&mut self) -> Result<Option<bool>, Error> {
        let column = self.next();
        self.cells.bool(column)
    }

    pub(super) fn key_maybe(&mut self) -> Result<Option<u64>, Error> {
        Ok(self.int_maybe()?.map(|key| key as u64))
    }

    pub(super) fn int(&mut self) -> Result<i64, Error> {
        self.int_maybe()?.ok_or_else(|| self.missing())
    }

    pub(super) fn key(&mut self) -> Result<u64, Error> {
        Ok(self.int()? as u64)
    }

    pub(super) fn number(&mut self) -> Result<i32, Error> {
        i32::try_from(self.int()?).map_err(Error::corrupt)
    }

    pub(super) fn text(&mut self) -> Result<String, Error> {
        self.text_maybe()?.ok_or_else(|| self.missing())
    }

    pub(super) fn bool(&mut self) -> Result<bool, Error> {
        self.bool_maybe()?.ok_or_else(|| self.missing())
    }

    pub(super) fn scalar(&mut self, kind: ScalarKind) -> Result<Option<Scalar>, Error> {
        match kind {
            ScalarKind::Bool => Ok(self.bool_maybe()?.map(Scalar::Bool)),
            ScalarKind::Int => Ok(self.int_maybe()?.map(Scalar::Int)),
            ScalarKind::Text => Ok(self.text_maybe()?.map(Scalar::Text)),
        }
    }

    pub(super) fn bytes(&mut self) -> Result<Vec<u8>, Error> {
        let column = self.next();
        self.cells.bytes(column)?.ok_or_else(|| self.missing())
    }

    pub(super) fn number_maybe(&mut self) -> Result<Option<i32>, Error> {
        self.int_maybe()?.map(|number| i32::try_from(number).map_err(Error::corrupt)).transpose()
    }

    fn missing(&self) -> Error {
        Error::corrupt(format_args!("column {} of a search has no value", self.column - 1))
    }
}
