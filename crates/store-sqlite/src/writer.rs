//! The one thread that writes.
//!
//! It takes everything that waits, runs it in one transaction, commits, and only then answers. While one transaction is being
//! flushed to disk the next group gathers, so that many small writes cost as few flushes as one large one.

use std::path::Path;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use store::Error;
use tokio::sync::{mpsc, oneshot};

use crate::Plans;
use crate::checkpoint::Log;
use crate::failure::Failure;
use crate::mark::{self, Mark};

/// What the writer keeps of the file in memory. Until the file has a gigabyte, SQLite goes through all of it after a commit that has put a page
/// in two, so more costs more than it saves.
const CACHE_KILOBYTES: i64 = 16_384;
/// How many writes may wait; past it callers do.
const WAITING_MAX: usize = 1_024;
/// How many writes share a transaction at most.
const GROUP_MAX: usize = 256;
/// Writes further apart than this are upkeep, not work.
const APART: Duration = Duration::from_millis(500);
/// After so long without work the page cache is given back.
const IDLE_AFTER: Duration = Duration::from_secs(10);

pub(crate) struct Writer {
    /// `None` only while it is being dropped.
    queue: Option<mpsc::Sender<Box<dyn Work>>>,
    thread: Option<JoinHandle<()>>,
}

pub(crate) fn connect(path: &Path) -> Result<Connection, Failure> {
    let connection = Connection::open(path)?;
    // Until it is known whether this is all of the store.
    mark::keep_log(&connection, true)?;
    crate::configure(&connection, Plans::Once)?;
    // A new file can give room back (`write/room.rs`); one that has tables stays as it is. Before anything is written.
    connection.pragma_update(None, "auto_vacuum", "incremental")?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    // Every commit reaches the disk before anybody is told of it.
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "cache_size", -CACHE_KILOBYTES)?;
    connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
    Ok(connection)
}

impl Writer {
    pub(crate) fn start(connection: Connection, log: Log, mark: Mark) -> Result<Self, Error> {
        let (queue, waiting) = mpsc::channel(WAITING_MAX);
        let thread = std::thread::Builder::new().name("sqlite-writer".to_owned());
        let thread = thread.spawn(move || write(&connection, log, mark, waiting)).map_err(Error::unavailable)?;
        Ok(Self { queue: Some(queue), thread: Some(thread) })
    }

    /// Runs a write and waits until it is on disk. A write that refuses to be done (as opposed to failing) says so in its result
    /// and has not changed anything by then.
    pub(crate) async fn run<T, F>(&self, operation: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, Failure> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let task = Task { operation: Some(operation), result: None, reply };
        let queue = self.queue.as_ref().expect("it is there until dropped");
        queue.send(Box::new(task)).await.map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }
}

fn stopped() -> Error {
    Error::unavailable("the writer has stopped")
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            // It has nobody left to report a panic to.
            let _ = thread.join();
        }
    }
}

fn write(connection: &Connection, mut log: Log, mut mark: Mark, mut waiting: mpsc::Receiver<Box<dyn Work>>) {
    let mut group = Vec::with_capacity(GROUP_MAX);
    let mut cache = Cache::default();
    while 0 < waiting.blocking_recv_many(&mut group, GROUP_MAX) {
        let committed = transact(connection, &mut group);
        if committed.is_err() && !connection.is_autocommit() {
            // If even that fails, the next BEGIN says so.
            let _ = connection.execute_batch("ROLLBACK");
        }
        for work in group.drain(..) {
            work.settle(committed.as_ref().err());
        }
        log.tend(connection);
        let now = Instant::now();
        mark.tend(connection, now);
        if cache.is_to_be_given_back(now) {
            // It can be asked for again; if it is not given back, that does no harm.
            let _ = connection.release_memory();
        }
    }
    mark.end(connection);
}

/// Whether the page cache is worth its memory: a server at rest only renews its lease.
#[derive(Default)]
struct Cache {
    last_write: Option<Instant>,
    /// The last write that followed another closely, if the cache was not given back since.
    last_work: Option<Instant>,
}

impl Cache {
    /// Asked after every write; true once after work has ended.
    fn is_to_be_given_back(&mut self, now: Instant) -> bool {
        let before = self.last_write.replace(now);
        if before.is_some_and(|before| now.duration_since(before) < APART) {
            self.last_work = Some(now);
        }
        self.last_work.take_if(|work| IDLE_AFTER <= now.duration_since(*work)).is_some()
    }
}

fn transact(connection: &Connection, group: &mut [Box<dyn Work>]) -> Result<(), Error> {
    let execute = |sql| {
        let executed = connection.prepare_cached(sql).and_then(|mut statement| statement.execute(()));
        executed.map(drop).map_err(|error| Failure::from(error).told_by(connection))
    };
    execute("BEGIN IMMEDIATE")?;
    if let [alone] = group {
        // A savepoint makes SQLite keep a copy of every page it changes: not for the one large write of a busy partition.
        return execute(if alone.run(connection).is_ok() { "COMMIT" } else { "ROLLBACK" });
    }
    for work in group {
        execute("SAVEPOINT work")?;
        if let Err(error) = work.run(connection) {
            // A full disk may have rolled back everything already: then it concerns all of the group.
            if connection.is_autocommit() {
                return Err(error);
            }
            execute("ROLLBACK TO work")?;
        }
        execute("RELEASE work")?;
    }
    execute("COMMIT")
}

/// Something to write, with somebody waiting for it.
trait Work: Send {
    fn run(&mut self, connection: &Connection) -> Result<(), Error>;
    /// Tells whoever waits, now that the transaction is committed, or why it is not.
    fn settle(self: Box<Self>, failed: Option<&Error>);
}

struct Task<F, T> {
    operation: Option<F>,
    result: Option<Result<T, Error>>,
    reply: oneshot::Sender<Result<T, Error>>,
}

impl<F, T> Work for Task<F, T>
where
    T: Send,
    F: FnOnce(&Connection) -> Result<T, Failure> + Send,
{
    fn run(&mut self, connection: &Connection) -> Result<(), Error> {
        let operation = self.operation.take().expect("it runs once");
        let result = self.result.insert(operation(connection).map_err(|failure| failure.told_by(connection)));
        result.as_ref().map(drop).map_err(Error::clone)
    }

    fn settle(self: Box<Self>, failed: Option<&Error>) {
        let result = match (self.result, failed) {
            (Some(Err(error)), _) => Err(error),
            (_, Some(error)) => Err(error.clone()),
            (Some(Ok(value)), None) => Ok(value),
            (None, None) => unreachable!("a committed group ran"),
        };
        // Whoever asked may have gone.
        let _ = self.reply.send(result);
    }
}

#[cfg(test)]
mod tests;
