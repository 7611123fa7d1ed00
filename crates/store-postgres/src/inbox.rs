//! The inbox: appending to it, and reading what is in it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use engine::PartitionId;
use store::log::{NewRequest, Received, RequestStatus};
use store::{Backlog, Error};
use tokio_postgres::error::SqlState;

use crate::Postgres;
use crate::call::Call;
use crate::fault::Fault;
use crate::ownership::{millis, open_partition};
use crate::reading::Reading;
use crate::session::Isolation;

impl Postgres {
    pub(crate) async fn append_requests(
        &self,
        partition: PartitionId,
        requests: &[NewRequest],
        backlog: Backlog,
    ) -> Result<Vec<u64>, Error> {
        if requests.is_empty() {
            return Ok(Vec::new());
        }
        let appender = self.appender.take().await?;
        let lock = || Call::new(include_str!("../sql/lock_inbox.sql")).int(partition.0.into());
        let append = || {
            Call::new(include_str!("../sql/append.sql"))
                .int(partition.0.into())
                .texts(requests.iter().map(|request| request.kind))
                .blobs(requests.iter().map(|request| request.request.as_slice()))
                .ints_opt(requests.iter().map(|request| request.lives.map(millis)))
                .int(bound(backlog.requests_max))
                .int(bound(backlog.bytes_max))
        };
        let answers = match appender.transaction(Isolation::ReadCommitted, &[lock(), append()]).await {
            // Nobody has ever named the partition.
            Err(Fault { code: Some(SqlState::DIVISION_BY_ZERO), .. }) => {
                appender.query(open_partition(partition)).await?;
                appender.transaction(Isolation::ReadCommitted, &[lock(), append()]).await?
            }
            answered => answered?,
        };
        let row = answers.last().and_then(|rows| rows.first()).ok_or(Error::Exhausted { what: "the inbox" })?;
        let tail = Reading::of(row).key()?;
        Ok((tail - requests.len() as u64 + 1..=tail).collect())
    }

    pub(crate) async fn waiting_requests(
        &self,
        partition: PartitionId,
        after: u64,
        limit: usize,
        bytes_max: usize,
    ) -> Result<Vec<Received>, Error> {
        let call = Call::new(include_str!("../sql/inbox.sql")).int(partition.0.into()).key(after).limit(limit).limit(bytes_max);
        let rows = self.owner.query(call).await?;
        let received = |row| {
            let mut row = Reading::of(row);
            Ok(Received { position: row.key()?, request: row.get()?, at: row.get()?, expires: row.get()? })
        };
        rows.iter().map(received).collect()
    }

    pub(crate) async fn request_statuses(&self, partition: PartitionId, positions: &[u64]) -> Result<Vec<RequestStatus>, Error> {
        let call = Call::new(include_str!("../sql/statuses.sql")).int(partition.0.into()).keys(positions.iter().copied());
        let rows = self.owner.query(call).await?;
        let status = |row| {
            let mut row = Reading::of(row);
            Ok(RequestStatus { position: row.key()?, kind: row.get()?, at: row.get()?, answer: row.get()? })
        };
        rows.iter().map(status).collect()
    }
}

/// Up to where nothing is left in the inbox of a partition, as far as this server knows. What is taken out of an index stays in the way
/// of those who come by until the database has swept up, so nobody begins to look before that.
#[derive(Default)]
pub(crate) struct Cleared(Mutex<HashMap<PartitionId, u64>>);

impl Cleared {
    pub(crate) fn to(&self, partition: PartitionId) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&partition).copied().unwrap_or(0)
    }

    pub(crate) fn set(&self, partition: PartitionId, to: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(partition, to);
    }
}

fn bound(most: u64) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}
