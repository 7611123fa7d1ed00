//! Searches, as [`store::sql`] writes them.

use store::Error;
use store::query::{Query, QueryPage, Scalar};
use store::sql::{self, Cells, Collected, Dialect, Sql};
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use crate::Postgres;
use crate::fault::Fault;
use crate::pool::Held;
use crate::reading::{cell, only};

impl Postgres {
    pub(crate) async fn search_page(&self, query: &Query) -> Result<QueryPage, Error> {
        let search = sql::search(query, Dialect::Postgres);
        let reader = self.readers.take().await?;
        // Both are under way at once. What commits between the two shows in the total only.
        let (page, total) = tokio::join!(run(&reader, &search.page), run(&reader, &search.total));
        let mut collected = Collected::of(query);
        for row in &page? {
            collected.push(&Columns(row))?;
        }
        Ok(collected.finish(only(&total?)?.get()?))
    }
}

async fn run(reader: &Held, sql: &Sql) -> Result<Vec<Row>, Fault> {
    let values: Vec<(&(dyn ToSql + Sync), Type)> = sql.params.iter().map(typed).collect();
    reader.search(&sql.text, &values).await
}

fn typed(value: &Scalar) -> (&(dyn ToSql + Sync), Type) {
    match value {
        Scalar::Bool(value) => (value, Type::BOOL),
        Scalar::Int(value) => (value, Type::INT8),
        Scalar::Text(value) => (value, Type::TEXT),
    }
}

struct Columns<'a>(&'a Row);

impl Cells for Columns<'_> {
    fn int(&self, column: usize) -> Result<Option<i64>, Error> {
        cell(self.0, column)
    }

    fn bool(&self, column: usize) -> Result<Option<bool>, Error> {
        cell(self.0, column)
    }

    fn text(&self, column: usize) -> Result<Option<String>, Error> {
        cell(self.0, column)
    }

    fn bytes(&self, column: usize) -> Result<Option<Vec<u8>>, Error> {
        cell(self.0, column)
    }
}
