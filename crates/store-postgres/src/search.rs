//! Searches, as [`store::sql`] writes them.

use store::Error;
use store::query::{Counted, Counting, Query, QueryPage, TOTAL_MAX};
use store::sql::{self, Cells, Collected, Dialect};
use tokio_postgres::Row;

use crate::Postgres;
use crate::reading::{cell, only};

impl Postgres {
    pub(crate) async fn search_page(&self, query: &Query) -> Result<QueryPage, Error> {
        let named = self.with_definitions(query).await?;
        let query = named.as_ref().unwrap_or(query);
        let search = sql::search(query, Dialect::Postgres);
        let searches = if search.is_keyed { &self.lookups } else { &self.searches };
        let crowd = self.crowd(&search).await?;
        let statement = if crowd.is_some() { search.many.as_ref().map_or(&search.page, |many| &many.page) } else { &search.page };
        let (page, total) = match (query.uncounted, crowd.flatten()) {
            (true, _) => {
                let [page] = searches.search([statement]).await?;
                (page, None)
            }
            (false, Some(total)) => {
                let [page] = searches.search([statement]).await?;
                (page, Some(total))
            }
            (false, None) => {
                let [page, total] = searches.search([statement, &search.total]).await?;
                (page, Some(only(&total)?.get()?))
            }
        };
        let mut collected = Collected::of(query);
        for row in &page {
            collected.push(&Columns(row))?;
        }
        Ok(collected.finish(total))
    }

    /// Whether many rows are found by the values asked for; with the total, if that is known by it.
    async fn crowd(&self, search: &sql::Search) -> Result<Option<Option<i64>>, Error> {
        let Some(many) = &search.many else { return Ok(None) };
        let [counts] = self.searches.search([&many.counts]).await?;
        let mut counts = only(&counts)?;
        let (rows, keys) = (counts.get::<i64>()?, counts.get::<i64>()?);
        // Where the same key is in several rows, those not looked at may have more.
        let is_exact = rows <= TOTAL_MAX as i64 || keys == rows;
        Ok((sql::FEW_MAX < rows).then(|| (many.is_all && is_exact).then_some(keys)))
    }

    /// The query with the definitions it names, unless they are many.
    async fn with_definitions(&self, query: &Query) -> Result<Option<Query>, Error> {
        let Some(definitions) = sql::definitions(query) else { return Ok(None) };
        let [rows] = self.searches.search([&definitions]).await?;
        let keys = rows.iter().map(|row| cell(row, 0)).collect::<Result<Vec<i64>, Error>>()?;
        Ok((keys.len() <= sql::DEFINITIONS_MAX).then(|| sql::of_definitions(query, &keys)))
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
