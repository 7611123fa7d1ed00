//! The threads that read, each with a connection of its own: a few for what is read by key, and a few for searches, which may be slow.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags};
use store::Error;
use tokio::sync::{mpsc, oneshot};

use crate::Plans;
use crate::failure::Failure;
use crate::gate::Gate;

/// How many reads may wait; past it callers do.
const WAITING_MAX: usize = 1_024;
/// Steps of SQLite's machine between two looks at the clock: some ten microseconds.
const STEPS_UNWATCHED: i32 = 1_000;

type Read = Box<dyn FnOnce(&Reader) + Send>;

/// Threads that take reads from one queue.
pub(crate) struct Readers {
    /// `None` only while it is being dropped.
    queue: Option<mpsc::Sender<Read>>,
    threads: Vec<JoinHandle<()>>,
    busy: Arc<AtomicUsize>,
}

/// What there is to be of a queue.
pub(crate) struct Lane {
    pub(crate) name: &'static str,
    pub(crate) threads: usize,
    /// Memory for pages each of its connections may take.
    pub(crate) cache_kilobytes: i64,
    pub(crate) plans: Plans,
}

impl Readers {
    pub(crate) fn start(path: &Path, lane: &Lane, gate: &Arc<Gate>) -> Result<Self, Error> {
        let (queue, waiting) = mpsc::channel(WAITING_MAX);
        let waiting = Arc::new(Mutex::new(waiting));
        let busy = Arc::new(AtomicUsize::new(0));
        let mut threads = Vec::with_capacity(lane.threads);
        for number in 0..lane.threads {
            let reader = Reader::connect(path, lane, gate.clone())?;
            let (waiting, busy) = (waiting.clone(), busy.clone());
            let thread = std::thread::Builder::new().name(format!("sqlite-{}-{number}", lane.name));
            threads.push(thread.spawn(move || read(&reader, &waiting, &busy)).map_err(Error::unavailable)?);
        }
        Ok(Self { queue: Some(queue), threads, busy })
    }

    /// Readers at work, and readers there are.
    pub(crate) fn in_use(&self) -> (usize, usize) {
        (self.busy.load(Ordering::Relaxed), self.threads.len())
    }

    /// Runs a read in one snapshot of the database.
    pub(crate) async fn run<T, F>(&self, operation: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, Failure> + Send + 'static,
    {
        self.ask(move |reader| reader.snapshot(operation).map_err(Error::from)).await
    }

    /// Runs a read that may take so long at most, in one snapshot of the database; maybe more than once.
    pub(crate) async fn run_within<T, F>(&self, limit: Duration, operation: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Fn(&Connection) -> Result<T, Failure> + Send + 'static,
    {
        let asked = Instant::now();
        self.ask(move |reader| {
            if limit < asked.elapsed() {
                return Err(Error::unavailable("searches that came before took all the time there was"));
            }
            reader.snapshot_within(limit, operation)
        })
        .await
    }

    async fn ask<T: Send + 'static>(&self, read: impl FnOnce(&Reader) -> Result<T, Error> + Send + 'static) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        let read: Read = Box::new(move |reader| {
            // Whoever asked may have gone, before or meanwhile.
            if !reply.is_closed() {
                let _ = reply.send(read(reader));
            }
        });
        let queue = self.queue.as_ref().expect("it is there until dropped");
        queue.send(read).await.map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }
}

fn stopped() -> Error {
    Error::unavailable("the readers have stopped")
}

impl Drop for Readers {
    fn drop(&mut self) {
        drop(self.queue.take());
        for thread in self.threads.drain(..) {
            // It has nobody left to report a panic to.
            let _ = thread.join();
        }
    }
}

fn read(reader: &Reader, waiting: &Mutex<mpsc::Receiver<Read>>, busy: &AtomicUsize) {
    loop {
        // One thread waits for the queue, the others for the lock.
        let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv();
        let Some(next) = next else { return };
        busy.fetch_add(1, Ordering::Relaxed);
        next(reader);
        busy.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A connection, and how long what runs on it may go on.
struct Reader {
    connection: Connection,
    gate: Arc<Gate>,
    /// Reads that have no end to keep to are not stopped for anybody.
    ends: Arc<Mutex<Option<Instant>>>,
}

impl Reader {
    fn connect(path: &Path, lane: &Lane, gate: Arc<Gate>) -> Result<Self, Failure> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, flags)?;
        crate::configure(&connection, lane.plans)?;
        connection.pragma_update(None, "cache_size", -lane.cache_kilobytes)?;
        let ends = Arc::new(Mutex::new(None));
        let watched = (ends.clone(), gate.clone());
        connection.progress_handler(STEPS_UNWATCHED, Some(move || is_to_stop(&watched.0, &watched.1)))?;
        Ok(Self { connection, gate, ends })
    }

    fn snapshot<T>(&self, operation: impl FnOnce(&Connection) -> Result<T, Failure>) -> Result<T, Failure> {
        let _pass = self.gate.pass();
        self.connection.prepare_cached("BEGIN")?.execute(())?;
        let result = operation(&self.connection);
        self.connection.prepare_cached("COMMIT")?.execute(())?;
        result
    }

    fn snapshot_within<T>(&self, limit: Duration, operation: impl Fn(&Connection) -> Result<T, Failure>) -> Result<T, Error> {
        let ends = Instant::now() + limit;
        loop {
            self.set_end(Some(ends));
            let result = self.snapshot(&operation);
            self.set_end(None);
            match result {
                Err(Failure::Sql(error)) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => {
                    if ends <= Instant::now() {
                        return Err(Error::TooSlow { limit });
                    }
                    // It made way for the log, and begins again with what is there by then.
                }
                result => return result.map_err(Error::from),
            }
        }
    }

    fn set_end(&self, ends: Option<Instant>) {
        *self.ends.lock().unwrap_or_else(PoisonError::into_inner) = ends;
    }
}

fn is_to_stop(ends: &Mutex<Option<Instant>>, gate: &Gate) -> bool {
    let ends = *ends.lock().unwrap_or_else(PoisonError::into_inner);
    ends.is_some_and(|ends| gate.is_closed() || ends <= Instant::now())
}

#[cfg(test)]
mod tests;
