//! What can go wrong between a caller and a database.

/// A read or an append failed; nothing was changed, or it is not known whether something was.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The database cannot be reached or refuses for now (connection lost, shutting down). Try again.
    #[error("the store is not available: {reason}")]
    Unavailable { reason: String },
    /// There is no room left for what was to be written. Works again once somebody makes room.
    #[error("the disk of the store is full: {reason}")]
    Full { reason: String },
    /// The store takes no writes. Works again once somebody changes that.
    #[error("the store is read-only: {reason}")]
    ReadOnly { reason: String },
    /// A bound of the store was reached. Works again once there is less.
    #[error("{what} is full")]
    Exhausted { what: &'static str },
    /// A search did not end in time. The same one would take as long again.
    #[error("a search takes longer than {} ms", limit.as_millis())]
    TooSlow { limit: std::time::Duration },
    /// The schema was made by a newer server.
    #[error("the store's schema is version {found}, this server knows up to {known}: start a newer server")]
    SchemaTooNew { found: i64, known: i64 },
    /// The folder or file is used by another server.
    #[error("{what} is in use by another server")]
    InUse { what: String },
    /// Something that was in the store is not there any more.
    #[error("{what}")]
    Incomplete { what: String },
    /// What was read does not make sense: a bug or a damaged database.
    #[error("the store holds something unexpected: {what}")]
    Corrupt { what: String },
}

impl Error {
    pub fn unavailable(reason: impl std::fmt::Display) -> Self {
        Self::Unavailable { reason: reason.to_string() }
    }

    pub fn full(reason: impl std::fmt::Display) -> Self {
        Self::Full { reason: reason.to_string() }
    }

    pub fn read_only(reason: impl std::fmt::Display) -> Self {
        Self::ReadOnly { reason: reason.to_string() }
    }

    /// Whether it ends by itself or by an operator's hand, after which the same call succeeds.
    pub fn passes(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::Full { .. } | Self::ReadOnly { .. } | Self::Exhausted { .. })
    }

    pub fn corrupt(what: impl std::fmt::Display) -> Self {
        Self::Corrupt { what: what.to_string() }
    }
}

/// Why a tick was not written.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// Another owner has a newer epoch: this one cannot write any more. Nothing was written.
    #[error("another server owns the partition since epoch {epoch}")]
    Deposed { epoch: i64 },
    /// The commit before this one was not written, or this one was already: the key counter is somewhere else. Nothing was written.
    #[error("the partition's next key is {next_key}, which is not where the commit starts from")]
    OutOfOrder { next_key: u64 },
    /// The outcome is not known, and a commit that was sent may still arrive: acquire the partition again, which excludes that,
    /// and see by the key counter whether it went through.
    #[error(transparent)]
    Store(#[from] Error),
}
