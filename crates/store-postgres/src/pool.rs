//! Connections of one kind, at most so many. Whoever finds none free waits in line without holding one.
//!
//! A pool of one is a lane: its calls follow each other. Connections are opened when they are wanted, given back when a call
//! ends or is abandoned (the driver reads away an answer nobody waits for), and dropped when they break; the next caller opens a
//! new one. So a database that comes back is found by the first call after that.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use store::Error;
use store::sql::Sql;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;

use crate::call::Call;
use crate::fault::Fault;
use crate::options::{Options, Target};
use crate::session::{Isolation, Role, Session};

/// How much later than the database's own timeout an answer may come.
const ANSWER_LATE_MAX: Duration = Duration::from_secs(2);

pub(crate) struct Pool {
    target: Target,
    options: Options,
    role: Role,
    size: usize,
    permits: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Session>>>,
}

impl Pool {
    pub(crate) fn new(target: &Target, options: &Options, role: Role, size: usize) -> Self {
        Self {
            target: target.clone(),
            options: options.clone(),
            role,
            size,
            permits: Arc::new(Semaphore::new(size)),
            idle: Arc::default(),
        }
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    pub(crate) fn in_use(&self) -> usize {
        self.size - self.permits.available_permits()
    }

    /// A connection of one's own until it is dropped. The deadline of whatever is done with it begins now.
    pub(crate) async fn take(&self) -> Result<Held, Fault> {
        let deadline = Instant::now() + self.options.call_timeout;
        let permit = match tokio::time::timeout_at(deadline, self.permits.clone().acquire_owned()).await {
            Ok(permit) => permit.map_err(|_| Fault::unavailable("the store is closed"))?,
            Err(_) => return Err(Fault::unavailable("all connections to PostgreSQL are in use")),
        };
        let session = match self.idle_session() {
            Some(session) => session,
            None => Session::open(&self.target, &self.options, self.role).await?,
        };
        Ok(Held { session: Some(session), idle: self.idle.clone(), deadline, _permit: permit })
    }

    /// One call on whichever connection is free.
    pub(crate) async fn query(&self, call: Call<'_>) -> Result<Vec<Row>, Fault> {
        self.take().await?.query(call).await
    }

    /// Searches on whichever connection is free. The database ends each of them in time; past that it does not answer.
    pub(crate) async fn search<const COUNT: usize>(&self, searches: [&Sql; COUNT]) -> Result<[Vec<Row>; COUNT], Fault> {
        let held = self.take().await?;
        let deadline = Instant::now() + self.options.search_timeout * COUNT as u32 + ANSWER_LATE_MAX;
        held.session().search(deadline, searches).await.map_err(|fault| match fault.code {
            Some(SqlState::QUERY_CANCELED) => Fault { error: Error::TooSlow { limit: self.options.search_timeout }, ..fault },
            _ => fault,
        })
    }

    fn idle_session(&self) -> Option<Session> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(Session::is_usable);
        idle.pop()
    }
}

/// A connection taken from its pool, with the time by which its user must be done.
pub(crate) struct Held {
    /// Taken only when dropped.
    session: Option<Session>,
    idle: Arc<Mutex<Vec<Session>>>,
    deadline: Instant,
    _permit: OwnedSemaphorePermit,
}

impl Held {
    pub(crate) async fn query(&self, call: Call<'_>) -> Result<Vec<Row>, Fault> {
        self.session().query(self.deadline, call).await
    }

    pub(crate) async fn transaction(&self, isolation: Isolation, calls: &[Call<'_>]) -> Result<Vec<Vec<Row>>, Fault> {
        self.session().transaction(self.deadline, isolation, calls).await
    }

    fn session(&self) -> &Session {
        self.session.as_ref().expect("a held connection is given up only when dropped")
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let Some(session) = self.session.take() else { return };
        if session.is_usable() {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(session);
        }
    }
}
