//! Searches, as [`store::sql`] writes them.

use store::Error;
use store::query::{Counted, Counting, Query, QueryPage, TOTAL_MAX};
use store::sql::{self, Cells, Collected, Dialect, Disorder, Sql};
use tokio_postgres::Row;

use crate::Postgres;
use crate::reading::{cell, only};

/// What was found by a value of a search.
enum Amount {
    /// So few that the search begins with their keys.
    Few(Vec<i64>),
    /// With the total, if it is known by that.
    Many(Option<i64>),
}

impl Postgres {
    pub(crate) async fn search_page(&self, query: &Query) -> Result<QueryPage, Error> {
        let named = self.with_definitions(query).await?;
        let query = named.as_ref().unwrap_or(query);
        let disorder = if sql::is_near(query) || sql::asks_when_begun(query) { self.disorder().await? } else { None };
        let nearby = disorder.filter(|_| sql::is_near(query));
        let nearby = nearby.map(|disorder| sql::page_near(query, Dialect::Postgres, disorder));
        let begun = self.begun(query, disorder).await?;
        let query = begun.as_ref().unwrap_or(query);
        let search = sql::search(query, Dialect::Postgres);
        let (page, total) = match &search.found {
            None => {
                let nearby = nearby.as_ref().filter(|_| !search.is_keyed);
                self.run(query, &search, nearby.unwrap_or(&search.page), &search.total, None).await?
            }
            Some(found) => match self.amount(found).await? {
                Amount::Few(keys) if keys.is_empty() => (Vec::new(), (!query.uncounted).then_some(0)),
                Amount::Few(keys) => {
                    let (page, total) = sql::among(query, &keys, found.is_all);
                    self.run(query, &search, &page, &total, found.is_all.then_some(keys.len() as i64)).await?
                }
                Amount::Many(known) => {
                    let page = nearby.as_ref().or(found.many.as_ref()).unwrap_or(&search.page);
                    self.run(query, &search, page, &search.total, known).await?
                }
            },
        };
        let mut collected = Collected::of(query);
        for row in &page {
            collected.push(&Columns(row))?;
        }
        Ok(collected.finish(total))
    }

    /// A page with its total, unless that is known or nobody wants it.
    async fn run(
        &self,
        query: &Query,
        search: &sql::Search,
        page: &Sql,
        total: &Sql,
        known: Option<i64>,
    ) -> Result<(Vec<Row>, Option<i64>), Error> {
        let searches = if search.is_keyed { &self.lookups } else { &self.searches };
        if query.uncounted || known.is_some() {
            let [page] = searches.search([page]).await?;
            return Ok((page, known.filter(|_| !query.uncounted)));
        }
        let [page, total] = searches.search([page, total]).await?;
        let total = only(&total)?.get()?;
        Ok((page, Some(total)))
    }

    async fn amount(&self, found: &sql::Found) -> Result<Amount, Error> {
        let [rows] = self.searches.search([&found.rows]).await?;
        let mut row = only(&rows)?;
        let (rows, different) = (row.get::<i64>()?, row.get::<i64>()?);
        if rows <= sql::FEW_MAX {
            let mut keys = row.get::<Option<Vec<i64>>>()?.unwrap_or_default();
            keys.sort_unstable();
            keys.dedup();
            return Ok(Amount::Few(keys));
        }
        // Where the same key is in several rows, those not looked at may have more.
        let is_exact = rows <= TOTAL_MAX as i64 || different == rows;
        Ok(Amount::Many((found.is_all && is_exact).then_some(different)))
    }

    /// What keys say of when rows began.
    async fn disorder(&self) -> Result<Option<Disorder>, Error> {
        let [disorder] = self.searches.search([&sql::disorder()]).await?;
        let Some(disorder) = disorder.first() else { return Ok(None) };
        Ok(Some(Disorder { partition: cell(disorder, 0)?, back: cell(disorder, 1)? }))
    }

    /// The query with the keys of what began when it asks for.
    async fn begun(&self, query: &Query, disorder: Option<Disorder>) -> Result<Option<Query>, Error> {
        let Some(disorder) = disorder.filter(|_| sql::asks_when_begun(query)) else { return Ok(None) };
        let [keys] = self.searches.search([&sql::keys_begun(query, disorder)]).await?;
        let mut keys = only(&keys)?;
        Ok(Some(sql::between_keys(query, keys.get()?, keys.get()?)))
    }

    /// The query with the definitions it names, unless they are many.
    async fn with_definitions(&self, query: &Query) -> Result<Option<Query>, Error> {
        let named = self.of_definitions(query).await?;
        let query = named.as_ref().unwrap_or(query);
        let Some((number, elements)) = sql::elements_asked(query) else { return Ok(named) };
        match self.of_definitions(&elements).await? {
            Some(elements) => Ok(Some(sql::asking_elements(query, number, elements))),
            None => Ok(named),
        }
    }

    async fn of_definitions(&self, query: &Query) -> Result<Option<Query>, Error> {
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
