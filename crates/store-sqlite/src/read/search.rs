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
    let disorder = if sql::is_near(query) || sql::asks_when_begun(query) { disorder(connection)? } else { None };
    let begun = begun(connection, query, disorder)?;
    let search = statements(begun.as_ref().unwrap_or(query), Dialect::Sqlite);
    let total = (!query.uncounted).then(|| number(connection, &search.total)).transpose()?;
    // Where many match, many are found: that needs no other count.
    let is_many = total.is_some_and(|total| FEW_MAX < total);
    let few = match &search.few {
        Some(few) if !is_many && number(connection, &few.probe)? <= FEW_MAX => Some(&few.page),
        Some(_) | None => None,
    };
    let is_near = few.is_none() && !search.is_keyed && sql::is_near(query);
    let nearby = disorder.filter(|_| is_near).map(|disorder| sql::page_near(query, Dialect::Sqlite, disorder));
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

/// What keys say of when rows began.
fn disorder(connection: &Connection) -> Result<Option<Disorder>, Failure> {
    let mut select = connection.prepare_cached(&sql::disorder().text)?;
    Ok(select.query_row([], |row| Ok(Disorder { partition: row.get(0)?, back: row.get(1)? })).optional()?)
}

/// The search with the keys of what began when it asks for.
fn begun(connection: &Connection, query: &Query, disorder: Option<Disorder>) -> Result<Option<Query>, Failure> {
    let Some(disorder) = disorder.filter(|_| sql::asks_when_begun(query)) else { return Ok(None) };
    let mut select = connection.prepare_cached(&sql::keys_begun(query, disorder).text)?;
    let (behind, up_to) = select.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(Some(sql::between_keys(query, behind, up_to)))
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
