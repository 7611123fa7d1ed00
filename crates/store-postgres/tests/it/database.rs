//! A database of its own for each test: a copy of one that was migrated once, which is quicker than migrating each.

use std::future::Future;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use store_postgres::{Options, Postgres};
use tokio::sync::OnceCell;
use tokio_postgres::{Client, NoTls};

/// One database on the test server.
#[derive(Clone)]
pub(crate) struct Database {
    pub(crate) name: String,
    pub(crate) url: String,
}

/// What a database has before anything is done with it.
#[derive(Clone, Copy)]
pub(crate) enum Begins {
    Empty,
    /// All tables, in `public`.
    Migrated,
    /// All tables, in the schema [`ELSEWHERE`].
    MigratedElsewhere,
}

pub(crate) const ELSEWHERE: &str = "elsewhere";

/// Runs a test on a database that has all tables, and is dropped afterwards, however the test ends.
pub(crate) fn with_database<F>(test: impl FnOnce(Database) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    with_database_that(Begins::Migrated, test);
}

pub(crate) fn with_database_that<F>(begins: Begins, test: impl FnOnce(Database) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime starts").block_on(async {
        let database = Database::create(begins).await;
        let outcome = tokio::spawn(test(database.clone())).await;
        database.drop().await;
        if let Err(failed) = outcome {
            std::panic::resume_unwind(failed.into_panic());
        }
    });
}

impl Database {
    pub(crate) async fn create(begins: Begins) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("caudal_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let admin = raw(&server_url()).await;
        let like = match begins {
            Begins::Empty => "template1",
            Begins::Migrated => {
                static TEMPLATE: OnceCell<String> = OnceCell::const_new();
                TEMPLATE.get_or_init(|| template(&admin, "public")).await
            }
            Begins::MigratedElsewhere => {
                static TEMPLATE: OnceCell<String> = OnceCell::const_new();
                TEMPLATE.get_or_init(|| template(&admin, ELSEWHERE)).await
            }
        };
        Self::create_like(&admin, name, like).await
    }

    async fn create_like(admin: &Client, name: String, like: &str) -> Self {
        // Left behind by a process of the same number that was killed.
        admin.batch_execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await.expect("no old database");
        let create = format!("CREATE DATABASE {name} TEMPLATE {like}");
        admin.batch_execute(&create).await.expect("the user may create databases");
        let url = with_name(&server_url(), &name);
        Self { name, url }
    }

    pub(crate) async fn drop(self) {
        let drop = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        raw(&server_url()).await.batch_execute(&drop).await.expect("a database can be dropped");
    }

    /// A store as a server has it.
    pub(crate) async fn store(&self) -> Postgres {
        Postgres::connect(&self.url, patient()).await.expect("the store connects")
    }

    /// Leads to this database, with its tables in that schema.
    pub(crate) fn url_of_schema(&self, schema: &str) -> String {
        let parameters = if self.url.contains('?') { '&' } else { '?' };
        format!("{}{parameters}options=-csearch_path%3D{schema}", self.url)
    }

    /// Leads to this database; sessions are told from others by that name.
    pub(crate) fn url_of_application(&self, name: &str) -> String {
        let parameters = if self.url.contains('?') { '&' } else { '?' };
        format!("{}{parameters}application_name={}", self.url, name.replace(' ', "%20"))
    }

    /// Where the server listens, as `host:port`.
    pub(crate) fn host_and_port(&self) -> String {
        let config: tokio_postgres::Config = self.url.parse().expect("the URL was used before");
        let host = match config.get_hosts().first() {
            Some(tokio_postgres::config::Host::Tcp(host)) => host.clone(),
            _ => "127.0.0.1".to_owned(),
        };
        format!("{host}:{}", config.get_ports().first().copied().unwrap_or(5432))
    }

    /// Leads to this database by another port of this machine.
    pub(crate) fn url_through(&self, port: u16) -> String {
        let (before, after) = self.url.split_once(&self.host_and_port()).expect("the URL names host and port");
        format!("{before}127.0.0.1:{port}{after}")
    }

    /// A connection beside the store.
    pub(crate) async fn client(&self) -> Client {
        raw(&self.url).await
    }

    /// Cuts every connection to this database, as an operator or a failover would.
    pub(crate) async fn cut_connections(&self) {
        let cut = "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = $1";
        raw(&server_url()).await.query(cut, &[&self.name]).await.expect("a superuser may cut connections");
    }
}

/// A machine that runs tests may be busy for longer than any server should be.
pub(crate) fn patient() -> Options {
    let long = Duration::from_secs(120);
    Options { call_timeout: long, search_timeout: long, ..Options::default() }
}

/// The name of a database whose tables are in that schema, to make others like it. It is made once for all runs with the same migrations, under
/// another name until it is whole; nobody drops it.
async fn template(admin: &Client, schema: &str) -> String {
    let name = format!("caudal_template_{:016x}_{schema}", migrations());
    // Those who begin at once wait for each other; the lock goes with the connection.
    admin.query("SELECT pg_advisory_lock(hashtextextended($1, 0))", &[&name]).await.expect("a lock");
    let there = admin.query("SELECT FROM pg_database WHERE datname = $1", &[&name]).await.expect("databases are listed");
    if there.is_empty() {
        let making = Database::create_like(admin, format!("{name}_unfinished"), "template1").await;
        making.client().await.batch_execute(&format!("CREATE SCHEMA IF NOT EXISTS {schema}")).await.expect("a schema");
        drop(Postgres::connect(&making.url_of_schema(schema), patient()).await.expect("the store connects"));
        making.cut_connections().await;
        let finished = format!("ALTER DATABASE {} RENAME TO {name}", making.name);
        admin.batch_execute(&finished).await.expect("nobody is connected to it");
    }
    name
}

/// Tells sets of migrations apart.
fn migrations() -> u64 {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let mut hasher = DefaultHasher::new();
    files.iter().for_each(|file| std::fs::read(file).unwrap().hash(&mut hasher));
    hasher.finish()
}

async fn raw(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("the test server answers");
    tokio::spawn(connection);
    client
}

fn server_url() -> String {
    std::env::var("CAUDAL_TEST_POSTGRES").expect(
        "these tests need a PostgreSQL server: run `cargo xtask test`, which starts one, \
         or set CAUDAL_TEST_POSTGRES to the URL of a superuser on a server of your own",
    )
}

/// The same server, another database: what stands between the host and the question mark.
fn with_name(url: &str, name: &str) -> String {
    let (base, parameters) = url.split_once('?').map_or((url, None), |(base, rest)| (base, Some(rest)));
    let (scheme, rest) = base.split_once("://").expect("CAUDAL_TEST_POSTGRES is a postgres:// URL");
    let host = rest.split('/').next().unwrap_or_default();
    match parameters {
        Some(parameters) => format!("{scheme}://{host}/{name}?{parameters}"),
        None => format!("{scheme}://{host}/{name}"),
    }
}
