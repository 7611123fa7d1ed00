//! One connection: statements prepared once, calls with a deadline, several calls in one round trip.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use store::query::Scalar;
use store::sql::Sql;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row, Statement};

use crate::call::Call;
use crate::fault::Fault;
use crate::options::{KEEPALIVES_AFTER, KEEPALIVES_EVERY, KEEPALIVES_MAX, Options, Path, Target};

/// A transaction is sent in one go. One whose COMMIT does not follow was begun by a server that is held up, and keeps the partition's
/// row locked for the server that is to take over.
const SILENCE_IN_TRANSACTION_MAX: Duration = Duration::from_secs(2);

/// Searches by key that one connection keeps prepared; clients have a few kinds of them.
const LOOKUPS_KEPT_MAX: usize = 100;

/// What a connection is for; it decides about the planner and about patience.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Statements of a fixed shape that find rows by key. A plan that ever reads a whole table is wrong, whatever the statistics of
    /// an empty or just filled table say, and planning each time would cost more than executing.
    Keyed,
    /// The same, for removing what is old, and for the place of who follows the log. What a crash brings back is found again, in the order in which it
    /// went; so these do not wait for the disk, which would be most of their time.
    Upkeep,
    /// Searches that find their rows by key alone: planned once for their text, as above, since that takes longer than finding them.
    Lookup,
    /// Searches: planned each time, for their own values, and ended by the database when they take too long.
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

/// A statement on its way, and its rows.
type Sending<'a> = BoxFuture<'a, Result<Vec<Row>, tokio_postgres::Error>>;

pub(crate) struct Session {
    client: Client,
    /// Absent where the session of the database is ours and has its settings: there statements are prepared by name. Elsewhere (a
    /// pooler) each transaction brings its settings with it, behind its BEGIN, and statements are not kept.
    settings: Option<String>,
    statements: Mutex<HashMap<&'static str, Statement>>,
    /// Of searches that are kept prepared: a few, by their texts.
    lookups: Mutex<HashMap<String, Statement>>,
    role: Role,
    /// Set once nothing more may be sent: the connection is lost, stalled, or leads to a server that refuses.
    broken: AtomicBool,
    connection: AbortHandle,
}

impl Session {
    pub(crate) async fn open(target: &Target, options: &Options, role: Role) -> Result<Self, Fault> {
        let direct = options.path == Path::Direct;
        let connecting = async {
            let (client, connection) = target.connect().await?;
            // Ends by itself when the client is dropped or the connection is lost; whoever waits for an answer then gets the error.
            let connection = tokio::spawn(connection).abort_handle();
            if direct {
                client.batch_execute(&settings(options, role, Lasting::Session)).await?;
            }
            Ok((client, connection))
        };
        let (client, connection) = match tokio::time::timeout(options.connect_timeout(), connecting).await {
            Ok(connected) => connected.map_err(|cause: tokio_postgres::Error| Fault::from(cause))?,
            Err(_) => return Err(Fault::unavailable("PostgreSQL does not answer a new connection")),
        };
        let settings = (!direct).then(|| settings(options, role, Lasting::Transaction));
        Ok(Self {
            client,
            settings,
            statements: Mutex::default(),
            lookups: Mutex::default(),
            role,
            broken: AtomicBool::new(false),
            connection,
        })
    }

    pub(crate) fn is_usable(&self) -> bool {
        !self.broken.load(Ordering::Relaxed) && !self.client.is_closed()
    }

    /// One call, one round trip (and one more the first time).
    pub(crate) async fn query(&self, deadline: Instant, call: Call<'_>) -> Result<Vec<Row>, Fault> {
        if self.settings.is_some() {
            let calls = [call];
            let answers = self.transaction(deadline, Isolation::ReadCommitted, &calls).await?;
            return Ok(answers.into_iter().next().unwrap_or_default());
        }
        self.run(deadline, async { self.send(&call, self.prepared(&call).await?).await }).await
    }

    /// A call inside a transaction that somebody has begun by hand.
    pub(crate) async fn query_within(&self, deadline: Instant, call: Call<'_>) -> Result<Vec<Row>, Fault> {
        self.run(deadline, self.send(&call, None)).await
    }

    /// Searches, in one round trip and from one snapshot: their texts differ from time to time, so they are not kept prepared, but for those
    /// by key. If one takes too long, those after it are not tried.
    pub(crate) async fn search<const COUNT: usize>(
        &self,
        deadline: Instant,
        searches: [&Sql; COUNT],
    ) -> Result<[Vec<Row>; COUNT], Fault> {
        let searches = searches.map(|sql| (sql.text.as_str(), sql.params.iter().map(typed).collect::<Vec<_>>()));
        self.run(deadline, async {
            let mut sent = Vec::with_capacity(COUNT);
            for (text, values) in &searches {
                sent.push(match self.looked_up(text, values).await? {
                    Some(statement) => self.send_prepared(statement, values),
                    None => Box::pin(self.client.query_typed(text, values)) as Sending<'_>,
                });
            }
            let mut answers = self.within(Isolation::Snapshot, sent).await?.into_iter();
            Ok(std::array::from_fn(|_| answers.next().unwrap_or_default()))
        })
        .await
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
            let sent = calls.iter().zip(prepared).map(|(call, statement)| Box::pin(self.send(call, statement)) as Sending<'_>);
            self.within(isolation, sent.collect()).await
        })
        .await
    }

    /// Statements without parameters or answers, several if need be.
    pub(crate) async fn batch(&self, deadline: Instant, sql: &str) -> Result<(), Fault> {
        self.run(deadline, self.client.batch_execute(sql)).await
    }

    async fn within<'a>(
        &'a self,
        isolation: Isolation,
        statements: Vec<Sending<'a>>,
    ) -> Result<Vec<Vec<Row>>, tokio_postgres::Error> {
        let mut sent = Vec::with_capacity(statements.len() + 2);
        sent.push(self.begin(isolation));
        sent.extend(statements);
        sent.push(self.bare("COMMIT".to_owned()));
        // The first poll sends them all, in this order. A COMMIT after a failed statement rolls back and reports success, which is
        // why every answer is looked at.
        let mut answers = join_all(sent).await.into_iter().collect::<Result<Vec<_>, _>>()?;
        answers.pop();
        answers.remove(0);
        Ok(answers)
    }

    fn begin(&self, isolation: Isolation) -> Sending<'_> {
        let begin = match isolation {
            Isolation::ReadCommitted => "BEGIN",
            Isolation::Snapshot => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        };
        self.bare(match &self.settings {
            None => begin.to_owned(),
            Some(settings) => format!("{begin}; {settings}"),
        })
    }

    fn bare(&self, sql: String) -> Sending<'_> {
        Box::pin(async move { self.client.batch_execute(&sql).await.map(|()| Vec::new()) })
    }

    async fn send(&self, call: &Call<'_>, prepared: Option<Statement>) -> Result<Vec<Row>, tokio_postgres::Error> {
        match prepared {
            Some(statement) => self.client.query(&statement, &call.values()).await,
            None => self.client.query_typed(call.sql, &call.typed_values()).await,
        }
    }

    async fn prepared(&self, call: &Call<'_>) -> Result<Option<Statement>, tokio_postgres::Error> {
        if self.settings.is_some() {
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

    fn send_prepared<'a>(&'a self, statement: Statement, values: &'a [(&'a (dyn ToSql + Sync), Type)]) -> Sending<'a> {
        Box::pin(async move {
            let values: Vec<_> = values.iter().map(|(value, _)| *value).collect();
            self.client.query(&statement, &values).await
        })
    }

    async fn looked_up(
        &self,
        text: &str,
        values: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<Option<Statement>, tokio_postgres::Error> {
        if self.settings.is_some() || self.role != Role::Lookup {
            return Ok(None);
        }
        let lookups = || self.lookups.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lookups().get(text).cloned();
        if known.is_some() {
            return Ok(known);
        }
        let types: Vec<Type> = values.iter().map(|(_, kind)| kind.clone()).collect();
        let statement = self.client.prepare_typed(text, &types).await?;
        let mut lookups = lookups();
        if LOOKUPS_KEPT_MAX <= lookups.len() {
            lookups.clear();
        }
        lookups.insert(text.to_owned(), statement.clone());
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

/// How long settings hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lasting {
    Session,
    Transaction,
}

/// One statement that makes the settings. It leaves no room to the defaults of a role, a database or a server: `synchronous_commit`
/// least of all, which may wait for more than the local disk, never for less.
fn settings(options: &Options, role: Role, lasting: Lasting) -> String {
    let is_local = lasting == Lasting::Transaction;
    let timeout = match role {
        Role::Keyed | Role::Upkeep => options.call_timeout,
        Role::Lookup | Role::Search => options.search_timeout,
    };
    let synchronous_commit = match role {
        Role::Upkeep => "'off'",
        Role::Keyed | Role::Lookup | Role::Search => "coalesce(nullif(current_setting('synchronous_commit'), 'off'), 'on')",
    };
    let mut settings = vec![
        ("statement_timeout", format!("'{}'", timeout.as_millis())),
        (
            "idle_in_transaction_session_timeout",
            format!("'{}'", options.call_timeout.min(SILENCE_IN_TRANSACTION_MAX).as_millis()),
        ),
        ("synchronous_commit", synchronous_commit.to_owned()),
        ("jit", "'off'".to_owned()),
    ];
    if role != Role::Search {
        settings.push(("plan_cache_mode", "'force_generic_plan'".to_owned()));
        let none = ["enable_seqscan", "enable_bitmapscan", "enable_hashjoin", "enable_mergejoin"];
        settings.extend(none.map(|way| (way, "'off'".to_owned())));
    }
    if lasting == Lasting::Session {
        // Should this server vanish in the middle of what it sends, the database notices as soon as this one would.
        settings.push(("tcp_keepalives_idle", format!("'{}'", KEEPALIVES_AFTER.as_secs())));
        settings.push(("tcp_keepalives_interval", format!("'{}'", KEEPALIVES_EVERY.as_secs())));
        settings.push(("tcp_keepalives_count", format!("'{KEEPALIVES_MAX}'")));
    }
    let settings = settings.iter().map(|(name, value)| format!("set_config('{name}', {value}, {is_local})"));
    format!("SELECT {}", settings.collect::<Vec<_>>().join(", "))
}

fn typed(value: &Scalar) -> (&(dyn ToSql + Sync), Type) {
    match value {
        Scalar::Bool(value) => (value, Type::BOOL),
        Scalar::Int(value) => (value, Type::INT8),
        Scalar::Text(value) => (value, Type::TEXT),
    }
}
