//! The threads that read: a few, each with a connection of its own.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, available_parallelism};

use rusqlite::{Connection, OpenFlags};
use store::Error;
use tokio::sync::{mpsc, oneshot};

use crate::failure::Failure;

/// How many reads may wait; past it callers do.
const WAITING_MAX: usize = 1_024;
const READERS_MIN: usize = 2;
const READERS_MAX: usize = 8;

type Read = Box<dyn FnOnce(&Connection) + Send>;

pub(crate) struct Readers {
    /// `None` only while it is being dropped.
    queue: Option<mpsc::Sender<Read>>,
    threads: Vec<JoinHandle<()>>,
    busy: Arc<AtomicUsize>,
}

impl Readers {
    pub(crate) fn start(path: &Path) -> Result<Self, Error> {
        let (queue, waiting) = mpsc::channel(WAITING_MAX);
        let waiting = Arc::new(Mutex::new(waiting));
        let busy = Arc::new(AtomicUsize::new(0));
        let count = available_parallelism().map_or(READERS_MIN, usize::from).clamp(READERS_MIN, READERS_MAX);
        let mut threads = Vec::with_capacity(count);
        for number in 0..count {
            let connection = connect(path)?;
            let (waiting, busy) = (waiting.clone(), busy.clone());
            let thread = std::thread::Builder::new().name(format!("sqlite-reader-{number}"));
            threads.push(thread.spawn(move || read(&connection, &waiting, &busy)).map_err(Error::unavailable)?);
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
        let (reply, answer) = oneshot::channel();
        let read: Read = Box::new(move |connection| {
            // Whoever asked may have gone.
            let _ = reply.send(snapshot(connection, operation).map_err(Error::from));
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

fn connect(path: &Path) -> Result<Connection, Failure> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    crate::configure(&connection)?;
    connection.pragma_update(None, "cache_size", -16_384)?;
    Ok(connection)
}

fn read(connection: &Connection, waiting: &Mutex<mpsc::Receiver<Read>>, busy: &AtomicUsize) {
    loop {
        // One thread waits for the queue, the others for the lock.
        let next = waiting.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).blocking_recv();
        let Some(next) = next else { return };
        busy.fetch_add(1, Ordering::Relaxed);
        next(connection);
        busy.fetch_sub(1, Ordering::Relaxed);
    }
}

fn snapshot<T>(connection: &Connection, operation: impl FnOnce(&Connection) -> Result<T, Failure>) -> Result<T, Failure> {
    connection.prepare_cached("BEGIN")?.execute(())?;
    let result = operation(connection);
    connection.prepare_cached("COMMIT")?.execute(())?;
    result
}
