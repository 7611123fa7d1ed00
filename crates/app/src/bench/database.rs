//! A database of the bench's own in a PostgreSQL server that is there.

use tokio_postgres::{Client, NoTls};

pub(super) struct Database {
    /// Connected to the database named on the command line; it stays open.
    client: Client,
    named: String,
    name: String,
    /// The process of the connection, on the machine of the database.
    pub(super) backend: Option<u32>,
}

impl Database {
    pub(super) async fn create(named: &str) -> Result<Self, String> {
        let (client, connection) = tokio_postgres::connect(named, NoTls).await.map_err(|error| told(&error))?;
        tokio::spawn(connection);
        let here = client
            .query_one("SELECT pg_backend_pid(), inet_server_addr() IS NULL OR inet_server_addr() = inet_client_addr()", &[]);
        let here = here.await.map_err(|error| told(&error))?;
        let (pid, is_here): (i32, bool) = (here.get(0), here.get(1));
        let backend = u32::try_from(pid).ok().filter(|_| is_here);
        let name = format!("caudal_bench_{}", std::process::id());
        let database = Self { client, named: named.to_owned(), name, backend };
        database.recreate().await?;
        Ok(database)
    }

    pub(super) fn url(&self) -> String {
        beside(&self.named, &self.name)
    }

    pub(super) async fn recreate(&self) -> Result<(), String> {
        self.run(&format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name)).await?;
        self.run(&format!("CREATE DATABASE {}", self.name)).await
    }

    pub(super) async fn drop_it(self) -> Result<(), String> {
        self.run(&format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name)).await
    }

    async fn run(&self, statement: &str) -> Result<(), String> {
        self.client.batch_execute(statement).await.map_err(|error| told(&error))
    }
}

/// The driver's own words leave out what the server said.
fn told(error: &tokio_postgres::Error) -> String {
    error.as_db_error().map_or_else(|| format!("PostgreSQL: {error}"), |error| format!("PostgreSQL: {}", error.message()))
}

/// The URL with another database in it.
fn beside(url: &str, name: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("postgres", url));
    let (place, parameters) = rest.split_once('?').map_or((rest, None), |(place, parameters)| (place, Some(parameters)));
    let server = place.split('/').next().unwrap_or(place);
    let parameters = parameters.map(|parameters| format!("?{parameters}")).unwrap_or_default();
    format!("{scheme}://{server}/{name}{parameters}")
}

#[cfg(test)]
mod tests {
    use super::beside;

    #[test]
    fn only_the_database_differs() {
        assert_eq!(beside("postgres://me:pw@db:5432/app?sslmode=disable", "b"), "postgres://me:pw@db:5432/b?sslmode=disable");
        assert_eq!(beside("postgresql://db", "b"), "postgresql://db/b");
    }
}
