//! Stores for servers of tests, one of each kind.

use std::sync::atomic::{AtomicU32, Ordering};

/// Where a server keeps what it has; gone when this is dropped.
pub(crate) enum Place {
    Folder(tempfile::TempDir),
    Database { base: String, name: String },
}

impl Place {
    /// One of each kind.
    pub(crate) fn all() -> Vec<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("place_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let database = crate::given::postgres().map(|base| {
            execute(&base, &format!("CREATE DATABASE {name}"));
            Self::Database { base, name }
        });
        [Self::folder()].into_iter().chain(database).collect()
    }

    pub(crate) fn folder() -> Self {
        Self::Folder(tempfile::tempdir().unwrap())
    }

    pub(crate) fn url(&self) -> String {
        match self {
            Self::Folder(folder) => format!("sqlite:{}", folder.path().join("data").display()),
            Self::Database { base, name } => {
                let (scheme, rest) = base.split_once("://").unwrap();
                let (place, options) =
                    rest.split_once('?').map_or((rest, String::new()), |(place, options)| (place, format!("?{options}")));
                format!("{scheme}://{}/{name}{options}", place.split('/').next().unwrap())
            }
        }
    }

    /// Its address on another port of this machine, and where that is to lead.
    pub(crate) fn through(&self, port: u16) -> (String, String) {
        let url = self.url();
        let (before, rest) = url.split_once("://").unwrap();
        let (place, path) = rest.split_once('/').unwrap();
        let (user, place) = place.rsplit_once('@').map_or((String::new(), place), |(user, place)| (format!("{user}@"), place));
        let place = if place.contains(':') { place.to_owned() } else { format!("{place}:5432") };
        (format!("{before}://{user}127.0.0.1:{port}/{path}"), place)
    }

    /// Nothing can be written to a table until that is released.
    pub(crate) fn lock(&self, table: &str) -> Lock {
        self.lock_in(table, "SHARE")
    }

    /// Nothing can even be read from it.
    pub(crate) fn lock_wholly(&self, table: &str) -> Lock {
        self.lock_in(table, "ACCESS EXCLUSIVE")
    }

    fn lock_in(&self, table: &str, mode: &'static str) -> Lock {
        let (url, table) = (self.url(), table.to_owned());
        let (locked, is_locked) = std::sync::mpsc::channel();
        let (release, released) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
            runtime.block_on(async {
                let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
                let connection = tokio::spawn(connection);
                let lock = format!("SET lock_timeout = '120s'; BEGIN; LOCK TABLE {table} IN {mode} MODE");
                client.batch_execute(&lock).await.unwrap();
                locked.send(()).unwrap();
                released.recv().unwrap();
                let others = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                              WHERE datname = current_database() AND pid <> pg_backend_pid(); COMMIT";
                client.batch_execute(others).await.unwrap();
                connection.abort();
            });
        });
        is_locked.recv().expect("the table can be locked");
        Lock { release, thread }
    }

    /// Whether several servers can share it.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self, Self::Database { .. })
    }
}

pub(crate) struct Lock {
    release: std::sync::mpsc::Sender<()>,
    thread: std::thread::JoinHandle<()>,
}

impl Lock {
    /// Whoever waited for it is not there any more.
    pub(crate) fn release_to_nobody(self) {
        self.release.send(()).unwrap();
        self.thread.join().unwrap();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Self::Database { base, name } = self {
            execute(base, &format!("DROP DATABASE {name} WITH (FORCE)"));
        }
    }
}

pub(crate) fn execute(url: &str, sql: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
        let connection = tokio::spawn(connection);
        client.batch_execute(sql).await.unwrap();
        connection.abort();
    });
}
