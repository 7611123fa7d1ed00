//! Searches, as [`store::sql`] writes them.

use store::Error;
use store::query::{Counted, Counting, Query, QueryPage};
use store::sql::{self, Cells, Collected, Dialect};
use tokio_postgres::Row;

use crate::Postgres;
use crate::reading::{cell, only};

impl Postgres {
    pub(crate) async fn search_page(&self, query: &Query) -> Result<QueryPage, Error> {
        let search = sql::search(query, Dialect::Postgres);
        let searches = if search.is_keyed { &self.lookups } else { &self.searches };
        let (page, total) = match query.uncounted {
            true => {
                let [page] = searches.search([&search.page]).await?;
                (page, None)
            }
            false => {
                let [page, total] = searches.search([&search.page, &search.total]).await?;
                (page, Some(only(&total)?.get()?))
            }
        };
        let mut collected = Collected::of(query);
        for row in &page {
            collected.push(&Columns(row))?;
        }
        Ok(collected.finish(total))
    }
}

impl Postgres {
    pub(crate) async fn count_groups(&self, counting: &Counting) -> Result<Vec<Counted>, Error> {
        let [groups] = self.searches.search([&sql::count(counting, Dialect::Postgres)]).await?;
        groups.iter().map(|row| sql::counted(counting, &Columns(row))).collect()
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
