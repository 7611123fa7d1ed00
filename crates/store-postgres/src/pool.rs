//! Connections of one kind, at most so many. Whoever finds none free waits in line without holding one.
//!
//! A pool of one is a lane: its calls follow each other. Connections are opened when they are wanted, given back when a call
//! ends or is abandoned (the driver reads away an answer nobody waits for), and dropped when they break; the next caller opens a
//! new one. So a database that comes back is found by the first call after that.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Config, Row};

use crate::call::Call;
use crate::fault::Fault;
use crate::options::Options;
use crate::session::{Isolation, Role, Session};

pub(crate) struct Pool {
    config: Config,
    options: Options,
    role: Role,
    size: usize,
    permits: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Session>>>,
}

impl Pool {
    pub(crate) fn new(config: &Config, options: &Options, role: Role, size: usize) -> Self {
        Self {
            config: config.clone(),
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
        self.take_for(self.options.call_timeout).await
    }

    pub(crate) async fn take_for(&self, patience: Duration) -> Result<Held, Fault> {
        let deadline = Instant::now() + patience;
        let permit = match tokio::time::timeout_at(deadline, self.permits.clone().acquire_owned()).await {
            Ok(permit) => permit.map_err(|_| Fault::unavailable("the store is closed"))?,
            Err(_) => return Err(Fault::unavailable("all connections to PostgreSQL are in use")),
        };
        let session = match self.idle_session() {
            Some(session) => session,
            None => Session::open(&self.config, &self.options, self.role).await?,
        };
        Ok(Held { session: Some(session), idle: self.idle.clone(), deadline, _permit: permit })
    }

    /// One call on whichever connection is free.
    pub(crate) async fn query(&self, call: Call<'_>) -> Result<Vec<Row>, Fault> {
        self.take().await?.query(call).await
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

    pub(crate) async fn search(&self, sql: &str, values: &[(&(dyn ToSql + Sync), Type)]) -> Result<Vec<Row>, Fault> {
        self.session().search(self.deadline, sql, values).await
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
