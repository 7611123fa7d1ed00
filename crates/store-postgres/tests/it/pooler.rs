//! Behind PgBouncer, which hands out a session of the database per transaction, and what each transaction brings with it there.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use store::conformance::TESTS;
use store::query::{Entity, Query, Tenants};
use store::{Commit, Error, Store};
use store_postgres::{Options, Path, Postgres};

use crate::database::{Begins, Database, patient, with_database};
use crate::tick::{ONE, ROOM, acquire, request, tick};

#[test]
fn the_suite_passes_through_a_pooler() {
    with_database(|database| async move {
        let pooler = Pooler::in_front_of(&database).await;
        let mut used = Vec::new();
        for test in TESTS {
            eprintln!("{}", test.name);
            let database = Database::create(Begins::Migrated).await;
            let store = Postgres::connect(&database.url_through(pooler.port), pooled(None)).await.expect("the store connects");
            (test.run)(Arc::new(store) as Arc<dyn Store>).await;
            used.push(database);
        }
        for database in used {
            database.drop().await;
        }
    });
}

#[test]
fn servers_behind_a_pooler_wake_each_other_by_a_direct_connection() {
    with_database(|database| async move {
        let pooler = Pooler::in_front_of(&database).await;
        let url = database.url_through(pooler.port);
        let store = Postgres::connect(&url, pooled(Some(database.url.clone()))).await.unwrap();
        let other = Postgres::connect(&url, pooled(None)).await.unwrap();
        let mut wakeups = store.wakeups();
        // It listens now.
        wakeups.changed().await.unwrap();
        let owned = acquire(&other, "other").await;
        other.commit(Commit { wake: true, ..tick(&owned) }).await.unwrap();
        wakeups.changed().await.unwrap();
    });
}

/// What a transaction that writes goes by: its own settings, not the defaults of the role, which would lose acknowledged commits.
#[test]
fn no_default_of_the_database_weakens_a_commit() {
    with_database(|database| async move {
        let client = database.client().await;
        client.batch_execute(NOTE_SETTINGS).await.unwrap();
        let weaken = "ALTER DATABASE {} SET synchronous_commit = off; ALTER DATABASE {} SET statement_timeout = 0";
        client.batch_execute(&weaken.replace("{}", &database.name)).await.unwrap();
        let pooler = Pooler::in_front_of(&database).await;
        for (url, path) in [(database.url.clone(), Path::Direct), (database.url_through(pooler.port), pooled(None).path)] {
            let options = Options { call_timeout: Duration::from_secs(77), path: path.clone(), ..Options::default() };
            let store = Postgres::connect(&url, options).await.unwrap();
            let owned = acquire(&store, "owner").await;
            store.commit(tick(&owned)).await.unwrap();
            store.append(ONE, vec![request("a")], ROOM).await.unwrap();
            store.renew(owned.fence, Duration::from_secs(60)).await.unwrap();
            let noted = client.query("SELECT settings FROM noted", &[]).await.unwrap();
            let noted: Vec<&str> = noted.iter().map(|row| row.get(0)).collect();
            assert_eq!(noted, ["on 77s 2s"; 4], "{path:?}");
            client.batch_execute("TRUNCATE noted").await.unwrap();
        }
    });
}

/// Writes down by which settings a transaction changes a partition or its inbox.
const NOTE_SETTINGS: &str = "
    CREATE TABLE noted (settings text);
    CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO noted VALUES (current_setting('synchronous_commit') || ' ' || current_setting('statement_timeout') || ' '
            || current_setting('idle_in_transaction_session_timeout'));
        RETURN NEW;
    END $$;
    CREATE TRIGGER note AFTER UPDATE ON partitions FOR EACH ROW EXECUTE FUNCTION note();
    CREATE TRIGGER note AFTER UPDATE ON inboxes FOR EACH ROW EXECUTE FUNCTION note()";

#[test]
fn a_search_that_takes_too_long_is_ended() {
    with_database(|database| async move {
        let pooler = Pooler::in_front_of(&database).await;
        for (url, path) in [(database.url.clone(), Path::Direct), (database.url_through(pooler.port), pooled(None).path)] {
            let limit = Duration::from_millis(300);
            let store = Postgres::connect(&url, Options { search_timeout: limit, path, ..patient() }).await.unwrap();
            let mut client = database.client().await;
            let holding = client.transaction().await.unwrap();
            holding.batch_execute("LOCK TABLE jobs").await.unwrap();
            match store.search(&Query::of(Entity::Jobs, Tenants::Everything)).await {
                Err(Error::TooSlow { limit: told }) => assert_eq!(told, limit),
                other => panic!("{other:?}"),
            }
            holding.rollback().await.unwrap();
            store.search(&Query::of(Entity::Jobs, Tenants::Everything)).await.expect("the next one is not concerned");
        }
    });
}

fn pooled(direct_url: Option<String>) -> Options {
    Options { path: Path::TransactionPooler { direct_url }, ..patient() }
}

/// A PgBouncer of our own, gone with the test.
struct Pooler {
    port: u16,
    process: Child,
    folder: PathBuf,
}

impl Pooler {
    /// In front of the server this database is on, with few sessions, so that they change hands.
    async fn in_front_of(database: &Database) -> Self {
        let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port").port();
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("pgbouncer-{port}"));
        std::fs::create_dir_all(&folder).expect("a folder");
        let server: tokio_postgres::Config = database.url.parse().expect("the URL was used before");
        let address = database.host_and_port();
        let (host, server_port) = address.rsplit_once(':').expect("host and port");
        let user = server.get_user().unwrap_or("postgres");
        std::fs::write(
            folder.join("pgbouncer.ini"),
            format!(
                "[databases]\n* = host={host} port={server_port} user={user}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
                 listen_port = {port}\nunix_socket_dir =\nauth_type = any\npool_mode = transaction\ndefault_pool_size = 4\n\
                 server_idle_timeout = 1\n"
            ),
        )
        .expect("a file");
        let mut program = Command::new(program());
        // It does not run as root.
        if std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0) {
            program.args(["-u", "nobody"]);
        }
        let log = std::fs::File::create(folder.join("log")).expect("a file");
        let process = program.arg("pgbouncer.ini").current_dir(&folder).stdout(Stdio::null()).stderr(log).spawn();
        let process = process.expect("PgBouncer can be run");
        let pooler = Self { port, process, folder };
        pooler.until_ready().await;
        pooler
    }

    async fn until_ready(&self) {
        let begun = std::time::Instant::now();
        while tokio::net::TcpStream::connect(("127.0.0.1", self.port)).await.is_err() {
            let log = std::fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            assert!(begun.elapsed() < Duration::from_secs(60), "PgBouncer does not listen: {log}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn program() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    folders
        .map(|folder| folder.join("pgbouncer"))
        .find(|program| program.is_file())
        .expect("these tests need PgBouncer: run `cargo xtask test`, which installs it, or install it with your package manager")
}
