//! Searches, as `store::sql` writes them.

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params_from_iter};
use store::Error;
use store::query::{Counted, Counting, Query, QueryPage, Scalar};
use store::sql::{
    self, Cells, Collected, Dialect, Disorder, FEW_MAX, Sql, count as count_statement, counted, search as statements,
};

use crate::failure::Failure;

pub(crate) fn search(connection: &Connection, query: &Query) -> Result<QueryPage, Failure> {
    let search = statements(query, Dialect::Sqlite);
    let total = (!query.uncounted).then(|| number(connection, &search.total)).transpose()?;
    // Where many match, many are found: that needs no other count.
    let is_many = total.is_some_and(|total| FEW_MAX < total);
    let few = match &search.few {
        Some(few) if !is_many && number(connection, &few.probe)? <= FEW_MAX => Some(&few.page),
        Some(_) | None => None,
    };
    let nearby = if few.is_some() || search.is_keyed { None } else { nearby(connection, query)? };
    let statement = few.or(nearby.as_ref()).unwrap_or(&search.page);
    let mut select = connection.prepare_cached(&statement.text)?;
    let mut rows = select.query(params_from_iter(statement.params.iter().map(Param)))?;
    let mut page = Collected::of(query);
    while !page.is_full()
        && let Some(row) = rows.next()?
    {
        page.push(&Found(row))?;
    }
    Ok(page.finish(total))
}

/// The page of a search whose rows are found by their keys.
fn nearby(connection: &Connection, query: &Query) -> Result<Option<Sql>, Failure> {
    if !sql::is_near(query) {
        return Ok(None);
    }
    let mut select = connection.prepare_cached(&sql::disorder().text)?;
    let disorder = select.query_row([], |row| Ok(Disorder { partition: row.get(0)?, back: row.get(1)? })).optional()?;
    Ok(disorder.map(|disorder| sql::page_near(query, Dialect::Sqlite, disorder)))
}

/// What a statement counts.
fn number(connection: &Connection, sql: &Sql) -> Result<i64, Failure> {
    let mut count = connection.prepare_cached(&sql.text)?;
    Ok(count.query_row(params_from_iter(sql.params.iter().map(Param)), |row| row.get(0))?)
}

pub(crate) fn count(connection: &Connection, counting: &Counting) -> Result<Vec<Counted>, Failure> {
    let sql = count_statement(counting, Dialect::Sqlite);
    let mut select = connection.prepare_cached(&sql.text)?;
    let mut rows = select.query(params_from_iter(sql.params.iter().map(Param)))?;
    let mut groups = Vec::new();
    while let Some(row) = rows.next()? {
        groups.push(counted(counting, &Found(row))?);
    }
    Ok(groups)
}

struct Param<'a>(&'a Scalar);

impl ToSql for Param<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Scalar::Bool(flag) => ValueRef::Integer(i64::from(*flag)),
            Scalar::Int(number) => ValueRef::Integer(*number),
            Scalar::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

struct Found<'a>(&'a Row<'a>);

impl Cells for Found<'_> {
    fn int(&self, column: usize) -> Result<Option<i64>, Error> {
        self.0.get(column).map_err(Error::corrupt)
    }

    fn bool(&self, column: usize) -> Result<Option<bool>, Error> {
        self.0.get(column).map_err(Error::corrupt)
    }

    fn text(&self, column: usize) -> Result<Option<String>, Error> {
        self.0.get(column).map_err(Error::corrupt)
    }

    fn bytes(&self, column: usize) -> Result<Option<Vec<u8>>, Error> {
        self.0.get(column).map_err(Error::corrupt)
    }
}

#[cfg(test)]
mod tests;
