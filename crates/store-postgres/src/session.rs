//! One connection: statements prepared once, calls with a deadline, several calls in one round trip.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use tokio::task::AbortHandle;
use tokio::time::Instant;
use tokio_postgres::{Client, Config, NoTls, Row, Statement};

use crate::call::Call;
use crate::fault::Fault;
use crate::options::{Options, Path};

/// A transaction is sent in one go. One whose COMMIT does not follow was begun by a server that is held up, and keeps the partition's
/// row locked for the server that is to take over.
const SILENCE_IN_TRANSACTION_MAX: Duration = Duration::from_secs(2);

/// What a connection is for; it decides about the planner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Statements of a fixed shape that find rows by key. A plan that ever reads a whole table is wrong, whatever the statistics of
    /// an empty or just filled table say, and planning each time would cost more than executing.
    Keyed,
    /// Searches: planned each time, for their own values.
    Search,
}

/// Transactions around several calls.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Isolation {
    /// Writes: each statement sees what is committed when it starts.
    ReadCommitted,
    /// Reads that must fit together.
    Snapshot,
}

pub(crate) struct Session {
    client: Client,
    named: bool,
    statements: Mutex<HashMap<&'static str, Statement>>,
    /// Set once nothing more may be sent: the connection is lost, stalled, or leads to a server that refuses.
    broken: AtomicBool,
    connection: AbortHandle,
}

impl Session {
    pub(crate) async fn open(config: &Config, options: &Options, role: Role) -> Result<Self, Fault> {
        let connecting = async {
            let (client, connection) = config.connect(NoTls).await?;
            // Ends by itself when the client is dropped or the connection is lost; whoever waits for an answer then gets the error.
            let connection = tokio::spawn(connection).abort_handle();
            if options.path == Path::Direct {
                client.batch_execute(&settings(options, role)).await?;
            }
            Ok((client, connection))
        };
        let (client, connection) = match tokio::time::timeout(options.connect_timeout(), connecting).await {
            Ok(connected) => connected.map_err(|cause: tokio_postgres::Error| Fault::from(cause))?,
            Err(_) => return Err(Fault::unavailable("PostgreSQL does not answer a new connection")),
        };
        let named = options.path == Path::Direct;
        Ok(Self { client, named, statements: Mutex::default(), broken: AtomicBool::new(false), connection })
    }

    pub(crate) fn is_usable(&self) -> bool {
        !self.broken.load(Ordering::Relaxed) && !self.client.is_closed()
    }

    /// One call, one round trip (and one more the first time).
    pub(crate) async fn query(&self, deadline: Instant, call: Call<'_>) -> Result<Vec<Row>, Fault> {
        self.run(deadline, async { self.send(&call, self.prepared(&call).await?).await }).await
    }

    /// A search: its text differs from time to time, so it is not kept prepared.
    pub(crate) async fn search(
        &self,
        deadline: Instant,
        sql: &str,
        values: &[(&(dyn tokio_postgres::types::ToSql + Sync), tokio_postgres::types::Type)],
    ) -> Result<Vec<Row>, Fault> {
        self.run(deadline, self.client.query_typed(sql, values)).await
    }

    /// All calls in one transaction and one round trip: every one is sent before the first answer comes. If one fails, those after
    /// it fail too and nothing is written; the answers are those of the calls, in order.
    pub(crate) async fn transaction(
        &self,
        deadline: Instant,
        isolation: Isolation,
        calls: &[Call<'_>],
    ) -> Result<Vec<Vec<Row>>, Fault> {
        self.run(deadline, async {
            let mut prepared = Vec::with_capacity(calls.len());
            for call in calls {
                prepared.push(self.prepared(call).await?);
            }
            let begin = match isolation {
                Isolation::ReadCommitted => "BEGIN",
                Isolation::Snapshot => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            };
            let mut sent: Vec<BoxFuture<'_, Result<Vec<Row>, tokio_postgres::Error>>> = Vec::with_capacity(calls.len() + 2);
            sent.push(Box::pin(self.bare(begin)));
            for (call, statement) in calls.iter().zip(prepared) {
                sent.push(Box::pin(self.send(call, statement)));
            }
            sent.push(Box::pin(self.bare("COMMIT")));
            // The first poll sends them all, in this order. A COMMIT after a failed statement rolls back and reports success,
            // which is why every answer is looked at.
            let mut answers = join_all(sent).await.into_iter().collect::<Result<Vec<_>, _>>()?;
            answers.pop();
            answers.remove(0);
            Ok(answers)
        })
        .await
    }

    /// Statements without parameters or answers, several if need be.
    pub(crate) async fn batch(&self, deadline: Instant, sql: &str) -> Result<(), Fault> {
        self.run(deadline, self.client.batch_execute(sql)).await
    }

    async fn bare(&self, sql: &str) -> Result<Vec<Row>, tokio_postgres::Error> {
        self.client.batch_execute(sql).await.map(|()| Vec::new())
    }

    async fn send(&self, call: &Call<'_>, prepared: Option<Statement>) -> Result<Vec<Row>, tokio_postgres::Error> {
        match prepared {
            Some(statement) => self.client.query(&statement, &call.values()).await,
            None => self.client.query_typed(call.sql, &call.typed_values()).await,
        }
    }

    async fn prepared(&self, call: &Call<'_>) -> Result<Option<Statement>, tokio_postgres::Error> {
        if !self.named {
            return Ok(None);
        }
        let known = self.statements.lock().unwrap_or_else(PoisonError::into_inner).get(call.sql).cloned();
        if known.is_some() {
            return Ok(known);
        }
        let statement = self.client.prepare_typed(call.sql, call.types()).await?;
        self.statements.lock().unwrap_or_else(PoisonError::into_inner).insert(call.sql, statement.clone());
        Ok(Some(statement))
    }

    async fn run<T>(&self, deadline: Instant, call: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Result<T, Fault> {
        let outcome = match tokio::time::timeout_at(deadline, call).await {
            Ok(answered) => answered.map_err(Fault::from),
            Err(_) => Err(Fault::unavailable("PostgreSQL does not answer in time")),
        };
        // A server that is read-only or shutting down may have a successor: only a new connection finds it.
        if outcome.as_ref().is_err_and(Fault::passes) {
            self.broken.store(true, Ordering::Relaxed);
        }
        outcome
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // A stalled connection would otherwise wait for its last answer, and the server would keep the session open as long.
        if self.broken.load(Ordering::Relaxed) {
            self.connection.abort();
        }
    }
}

fn settings(options: &Options, role: Role) -> String {
    let millis = |duration: Duration| duration.as_millis();
    let mut settings = format!(
        "SET statement_timeout = {timeout}; SET idle_in_transaction_session_timeout = {silence};
         SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';",
        timeout = millis(options.call_timeout),
        silence = millis(options.call_timeout.min(SILENCE_IN_TRANSACTION_MAX))
    );
    match role {
        Role::Keyed => settings.push_str(
            "SET plan_cache_mode = force_generic_plan; SET jit = off;
             SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;",
        ),
        Role::Search => settings.push_str("SET jit = off;"),
    }
    settings
}
