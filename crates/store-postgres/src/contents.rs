//! Every row of every table, as it is stored, while servers go on.

use std::error::Error as Cause;
use std::pin::pin;

use futures_util::TryStreamExt as _;
use store::Error;
use store::contents::{Cell, Row, TABLES, Table, Visitor};
use tokio_postgres::Client;
use tokio_postgres::types::{FromSql, ToSql, Type};

use crate::fault::Fault;
use crate::migrate;
use crate::options::{self, Options};

/// One snapshot of all tables, for as long as it takes.
const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
    SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0";

/// Whether the tables are as this server makes them. Looks, and changes nothing.
pub async fn is_current(url: &str, options: &Options) -> Result<bool, Error> {
    migrate::is_current(&options::parse(url, options)?, options).await
}

/// Tells a visitor of every row; few rows are in memory at a time.
pub async fn read_all(url: &str, options: &Options, visitor: &mut dyn Visitor) -> Result<(), Error> {
    let target = options::parse(url, options)?;
    let (client, connection) = target.connect().await.map_err(Fault::from)?;
    let connection = tokio::spawn(connection);
    let read = read_tables(&client, visitor).await;
    connection.abort();
    Ok(read.map_err(Fault::from)?)
}

async fn read_tables(client: &Client, visitor: &mut dyn Visitor) -> Result<(), tokio_postgres::Error> {
    client.batch_execute(BEGIN).await?;
    for table in TABLES {
        visitor.begin(table);
        client.batch_execute("SAVEPOINT before").await?;
        if let Err(error) = read(client, table, visitor).await {
            if client.is_closed() {
                return Err(error);
            }
            visitor.unreadable(table, &Fault::from(error).into());
            client.batch_execute("ROLLBACK TO SAVEPOINT before").await?;
        }
        client.batch_execute("RELEASE SAVEPOINT before").await?;
    }
    client.batch_execute("COMMIT").await
}

async fn read(client: &Client, table: &'static Table, visitor: &mut dyn Visitor) -> Result<(), tokio_postgres::Error> {
    // One after the other as they come, rather than all of them.
    let none = Vec::<(&(dyn ToSql + Sync), Type)>::new();
    let mut rows = pin!(client.query_typed_raw(&format!("SELECT * FROM {}", table.name), none).await?);
    let mut columns = Vec::new();
    while let Some(row) = rows.try_next().await? {
        if columns.is_empty() {
            columns = row.columns().iter().map(|column| column.name().to_owned()).collect();
        }
        let cells = (0..columns.len()).map(|column| row.try_get::<_, Raw<'_>>(column).map(|raw| raw.0));
        let cells = cells.collect::<Result<Vec<_>, _>>()?;
        visitor.row(&Row { table, columns: &columns, cells: &cells });
    }
    Ok(())
}

/// A column of whatever type it is.
struct Raw<'a>(Cell<'a>);

impl<'a> FromSql<'a> for Raw<'a> {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Cause + Sync + Send>> {
        Ok(Self(match *kind {
            Type::INT8 => Cell::Number(i64::from_sql(kind, raw)?),
            Type::INT4 => Cell::Number(i32::from_sql(kind, raw)?.into()),
            Type::INT2 => Cell::Number(i16::from_sql(kind, raw)?.into()),
            Type::BOOL => Cell::Number(bool::from_sql(kind, raw)?.into()),
            Type::TEXT => Cell::Text(raw),
            Type::BYTEA => Cell::Bytes(raw),
            // When the schema was made is of no use to anybody who reads it here.
            _ => Cell::Null,
        }))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Cause + Sync + Send>> {
        Ok(Self(Cell::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}
