//! The store on PostgreSQL, 14 and later.
//!
//! Reading order: [`Postgres`] (which connection does what), `commit` (one tick, one round trip), `inbox` and `ownership` (how
//! positions and leases are taken), `session` and `pool` (what happens when a connection breaks), `migrations/`, `sql/`.
//!
//! Invariants:
//! - a tick is one transaction sent whole before its first answer; its first statement fails unless the fence holds;
//! - positions of an inbox are taken under the lock of its row, in the transaction that commits them; ticks do not wait for it;
//! - ticks are written in the order in which they were handed over, one behind the other on one connection;
//! - no commit of ours is acknowledged before it is on disk, whatever default of `synchronous_commit` a role, a database or a server
//!   has: sessions set it for themselves, and behind a pooler, where no session is ours, every transaction does, in its round trip; only
//!   what was removed because it is old may come back after a crash, to be removed again;
//! - every call ends within its time, and a connection that failed is not used again: the next call opens a new one.
//!
//! Deliberately absent: sequences, triggers, foreign keys; advisory locks but for migrating; channel binding.

mod call;
mod commit;
mod contents;
mod contract;
mod decisions;
mod definitions;
mod documents;
mod export;
mod fault;
mod inbox;
mod load;
mod many;
mod migrate;
mod options;
mod outbox;
mod ownership;
mod pool;
mod queues;
mod reading;
mod retention;
mod schedules;
mod search;
mod session;
mod tls;
mod user_tasks;
mod waits;
mod wakeups;
mod windows;

use store::Error;

pub use contents::{is_current, read_all};
use inbox::Cleared;
pub use options::{Options, Path};
use pool::Pool;
use session::Role;
use wakeups::Wakeups;

/// Searches that find few rows by key, at the same time.
const LOOKUPS_MAX: usize = 4;

/// Reads the owner of a partition waits for never stand in line behind searches.
const OWNER_READS_MAX: usize = 2;

pub struct Postgres {
    /// Ticks and leases: they change the partition's row and would wait for each other anyway.
    writer: Pool,
    /// Requests of servers that do not own the partition.
    appender: Pool,
    /// What is read by key; a partition's owner waits for it.
    owner: Pool,
    /// Removing what is old, so that nobody who waits stands behind it.
    upkeep: Pool,
    /// Searches for one row, or for the rows of one instance.
    lookups: Pool,
    /// All other searches.
    searches: Pool,
    cleared: Cleared,
    wakeups: Wakeups,
}

impl Postgres {
    /// Connects, and creates or migrates the schema if need be. Must be called inside a tokio runtime with time enabled.
    pub async fn connect(url: &str, options: Options) -> Result<Self, Error> {
        let target = options::parse(url, &options)?;
        let listening = match &options.path {
            Path::Direct => Some(target.clone()),
            Path::TransactionPooler { direct_url: None } => None,
            Path::TransactionPooler { direct_url: Some(url) } => Some(options::parse(url, &options)?),
        };
        migrate::migrate(&target, &options).await?;
        Ok(Self {
            writer: Pool::new(&target, &options, Role::Keyed, 1),
            appender: Pool::new(&target, &options, Role::Keyed, 1),
            owner: Pool::new(&target, &options, Role::Keyed, OWNER_READS_MAX),
            upkeep: Pool::new(&target, &options, Role::Upkeep, 1),
            lookups: Pool::new(&target, &options, Role::Lookup, LOOKUPS_MAX),
            searches: Pool::new(&target, &options, Role::Search, options.searches_max),
            cleared: Cleared::default(),
            wakeups: Wakeups::listen(listening, &options),
        })
    }
}
